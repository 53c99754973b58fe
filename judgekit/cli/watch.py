"""`judgekit watch`: samples and grades a growing file of production outputs."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from judgekit.atomic_write import write_text_atomically
from judgekit.cli import console
from judgekit.cli.exit_codes import STOP_CODES, Exit
from judgekit.cli.help import command
from judgekit.cli.options import flag, option
from judgekit.cli.run import note_reviews, prepared_run, record_run, run_with_progress
from judgekit.cli.suite_setup import GradeOptions, grade_run_setup
from judgekit.datasets import GrowingLog, LogPosition, is_sampled
from judgekit.errors import DatasetError, SettingsError
from judgekit.evaluation import WATCH_TAG, CaseTally, Run, send_alarm, watch_alarm
from judgekit.fingerprint import fingerprint
from judgekit.records import Record
from judgekit.report import message, numbers
from judgekit.stats.sequential import restarted_sequence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from judgekit.cli.suite_setup import RunSetup
    from judgekit.evaluation import Outcome, RunSummary

_POLL_S = 1.0


class _WatchOptions(GradeOptions):
    rate: float = option("Share of the rows to grade, chosen by their content.", 0.05, gt=0, le=1)
    window: int = option("Rows that are graded together and stored as a run.", 50, ge=1)
    alert_below: float | None = option(
        "Alert when the mean score is below this, by a test that stays valid "
        "however often it is repeated.",
        ge=0,
        le=1,
        metavar="SCORE",
    )
    once: bool = flag("Grade what is there, then stop; rows of an unfinished window too.")


class WatchState(Record):
    """How far a file was graded, and the scores since the last change of the alert."""

    position: LogPosition | None = None
    n_windows: int = 0
    n_alerts: int = 0
    is_alerting: bool = False
    values: tuple[tuple[float, ...], ...] = ()


@command("watch", _WatchOptions)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def watch_command(options: _WatchOptions, *, file: Path) -> None:
    """Follow FILE, a growing JSONL file of production outputs, and grade a share of its rows.

    Each row is an output with its input (and, where there are, context and reference), as grade
    reads it. The file may be rotated or truncated, and a last line without its end is left for
    later. Which rows are sampled depends on their content alone. Every window of sampled rows is
    graded and stored as a run, so that trend and show have it; cached replies cost nothing, and
    --max-cost limits each window.

    Stop it with Ctrl-C: the next watch of the same file resumes behind the last graded window.

    Exit code 0; with --once 1 while the score is below --alert-below; 3 if the judge failed, 5 at
    the cost limit, 130 interrupted.

    Examples:
        judgekit watch production.jsonl --rubric helpfulness
        judgekit watch production.jsonl --rate 0.2 --alert-below 0.8 --once
    """
    if options.resume or options.no_store or options.dry_run:
        raise SettingsError(
            "watch always stores its windows and resumes behind the last one",
            hint="omit --resume, --no-store and --dry-run",
        )
    watching = _Watching(options, file)
    try:
        code = watching.run()
    except KeyboardInterrupt:
        console.note("interrupted; the same command resumes behind the last graded window")
        code = Exit.INTERRUPTED
    finally:
        watching.log.close()
    sys.exit(code)


class _Watching:
    """A file that is watched, and what is known of it."""

    def __init__(self, options: _WatchOptions, file: Path) -> None:
        self._options, self._file = options, file
        name = f"{file.name}-{fingerprint([str(file.resolve())])[:8]}.json"
        self._state_file = Path(options.store).parent / "watch" / name
        if "://" in options.store:
            self._state_file = Path(".judgekit") / "watch" / name
        self._state = self._stored_state()
        self.log = GrowingLog(file, self._state.position)

    def run(self) -> int:
        """Follow the file until it is interrupted, or with --once to its present end."""
        options = self._options
        rows: list[bytes] = []
        n_seen = 0
        while True:
            for row in self._sampled():
                rows += [] if row is None else [row]
                n_seen += 1
                if len(rows) >= options.window:
                    if code := self._grade(rows, n_seen):
                        return code
                    rows, n_seen = [], 0
            for note in self.log.notes:
                console.note(note)
            self.log.notes.clear()
            if options.once:
                code = self._grade(rows, n_seen) if rows else 0
                return code or (Exit.QUALITY if self._state.is_alerting else 0)
            time.sleep(_POLL_S)

    def _sampled(self) -> Iterator[bytes | None]:
        """Each new line: its bytes where it is in the sample, else None."""
        for line in self.log.read():
            row = None
            if line.raw.strip() and is_sampled(line.raw, self._options.rate, self._options.seed):
                # One damaged line must not end the watch of all that come after it.
                fault = _fault(line.raw)
                row = line.raw if fault is None else None
                if fault is not None:
                    console.note(f"{self._file.name}: a sampled row is left out: {fault}")
            yield row

    def _grade(self, rows: Sequence[bytes], n_seen: int) -> int:
        """Grade a window and store it as a run; the exit code to stop at, if any."""
        with TemporaryDirectory(prefix="judgekit-watch-") as folder:
            outputs = Path(folder) / f"{self._file.stem}.jsonl"
            outputs.write_bytes(b"".join(row + b"\n" for row in rows))
            chosen = self._options.model_copy(update={"outputs": (outputs,)})
            try:
                setup = grade_run_setup(chosen, tags=(WATCH_TAG,))
            except DatasetError as error:
                # The line in the window's file is no place that anybody could look at.
                raise DatasetError(
                    f"a sampled row cannot be read: {error.message}",
                    path=self._file,
                    hint=error.hint,
                ) from error
            with closing(setup):
                return self._graded(setup, n_seen)

    def _graded(self, setup: RunSetup, n_seen: int) -> int:
        prepared_run(setup, resumes=False, triggered_by=self._options.triggered_by)
        ended = asyncio.run(run_with_progress(setup, self._options))
        values: list[float] = []
        tally = CaseTally(ended)

        def watch(answer: Outcome) -> None:
            tally.take(answer)
            if answer.value is not None:
                values.append(answer.value)

        summary = Run(ended, setup.store).summary(watch=watch)
        record_run(setup, summary, None, tally)
        if setup.session.reason is not None:
            return STOP_CODES[setup.session.reason]
        self._show(summary, n_seen, n_review=note_reviews(setup, ended))
        state = self._state
        self._state = state.model_copy(
            update={
                "position": self.log.position,
                "n_windows": state.n_windows + 1,
                "values": (*state.values, tuple(values)),
            }
        )
        self._look(setup, summary)
        self._store_state()
        return 0

    def _look(self, setup: RunSetup, summary: RunSummary) -> None:
        """Alert once when the score is surely below the limit; and say when it no longer is."""
        least, is_alerting = self._options.alert_below, self._state.is_alerting
        # Valid after every window: repeated tests raise no false alarm.
        found = None if least is None else restarted_sequence(self._state.values, least)
        if found is None or least is None or (found.high < least) is is_alerting:
            return
        n = numbers.format_count(found.n, "output")
        text = f"{self._file.name}: mean score {numbers.format_mean(found)} over the last {n} is "
        if is_alerting:
            console.note(f"{text}above {least:g} again")
        else:
            console.note(f"ALERT {text}below {least:g}")
            alarm = watch_alarm(summary.run, f"{text}below {least:g}", n=self._state.n_alerts + 1)
            for problem in asyncio.run(send_alarm(setup.opened.suite, alarm)):
                console.note(problem)
        self._change(is_alerting=not is_alerting, n_alerts=self._state.n_alerts + (not is_alerting))

    def _change(self, *, is_alerting: bool, n_alerts: int) -> None:
        update = {"is_alerting": is_alerting, "n_alerts": n_alerts, "values": ()}
        self._state = self._state.model_copy(update=update)

    def _show(self, summary: RunSummary, n_seen: int, *, n_review: int) -> None:
        (variant, *_) = summary.variants
        line = {
            "window": self._state.n_windows + 1,
            "run": summary.run.id,
            "rows": n_seen,
            "graded": variant.n_answers,
            "score": variant.value.value,
            "pass_rate": variant.pass_rate.value,
            "reviews": n_review,
        }
        if self._options.as_json:
            click.echo(json.dumps(numbers.nan_to_null(line)))
            return
        score = numbers.format_mean(variant.value)
        rate = numbers.format_rate(variant.pass_rate)
        click.echo(
            f"{summary.run.id}  {variant.n_answers:,} of {n_seen:,} rows  score {score}  "
            f"passed {rate}"
        )

    def _stored_state(self) -> WatchState:
        try:
            return WatchState.model_validate_json(self._state_file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return WatchState()
        except ValueError as error:
            raise SettingsError(
                f"{self._state_file} cannot be read: {message.one_line(str(error))}",
                hint="delete it to begin at the start of the file again",
            ) from error

    def _store_state(self) -> None:
        self._state_file.parent.mkdir(parents=True, exist_ok=True)
        write_text_atomically(self._state_file, self._state.model_dump_json())


def _fault(raw: bytes) -> str | None:
    """Why a line is no row; None if it is one."""
    try:
        return None if isinstance(json.loads(raw), dict) else "it is no JSON object"
    except ValueError as error:
        return f"it is no JSON: {message.one_line(str(error))}"
