"""`judgekit watch`: samples and grades a growing file of production outputs."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path

import click

from judgekit import datasets, evaluation, records
from judgekit.atomic_write import make_folder, write_text_atomically
from judgekit.byte_lock import FileLocks
from judgekit.cli import console
from judgekit.cli.exit_codes import STOP_CODES, Exit
from judgekit.cli.help import command
from judgekit.cli.options import flag, option
from judgekit.cli.progress import run_async, run_until_stopped
from judgekit.cli.run import (
    note_reviews,
    prepared_run,
    record_run,
    refuse_uncalibrated,
    run_with_progress,
)
from judgekit.cli.setup import grade_inputs, stop_words
from judgekit.cli.suite_setup import GradeOptions, RunSetup, find_same_run, grade_run_setup
from judgekit.datasets import LogPosition
from judgekit.errors import DatasetError, SettingsError, StoreError, UnknownNameError
from judgekit.fingerprint import fingerprint
from judgekit.records import Alarm, Record
from judgekit.report import message, numbers
from judgekit.stats.estimate import cluster_means, known_observations

_POLL_S = 1.0
_CONTINUATION = "the same command resumes behind the last graded window"


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
    # No options: windows are stored, and `show`, `export` and `gate` take one from the store.
    with_replies: bool = False
    output: tuple[Path, ...] = ()
    fail_under: float | None = None
    max_drop: float | None = None
    baseline: str | None = None
    alpha: float | None = None


class PendingWindow(Record):
    """A window whose rows are in a file of their own, so that a kill loses and repeats none."""

    position: LogPosition | None
    n_seen: int
    n_damaged: int = 0


class WatchState(Record):
    """How far a file was graded, and the scores since the last change of the alert."""

    position: LogPosition | None = None
    pending: PendingWindow | None = None
    last_run: str | None = None
    n_windows: int = 0
    n_alerts: int = 0
    is_alerting: bool = False
    unsent: Alarm | None = None
    """An alarm that could not be sent; it is tried again after the next window."""

    values: tuple[tuple[float, ...], ...] = ()


@command("watch", _WatchOptions)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def watch_command(options: _WatchOptions, *, file: Path) -> None:
    """Follow FILE, a growing JSONL file of production outputs, and grade a share of its rows.

    Each row is an output with its input (and, where there are, context and reference), as grade
    reads it; of a suite the rubric, judge, assertions and notifications are used, not its cases.
    The file may be rotated or truncated, and a last line without its end is left for later. Which
    rows are sampled depends on their content alone. Every window of sampled rows is graded and
    stored as a run, so that trend and show have it; cached replies cost nothing, and --max-cost
    limits each window. Rows that cannot be read are reported, counted and left out.

    Stop it with Ctrl-C: the next watch of the same file resumes behind the last graded window.

    Exit code 0; with --once 1 while the score is below --alert-below; 3 if the judge failed, 4
    without the calibration that is required, 5 at the cost limit, 6 if --frozen found no reply, 130
    interrupted.

    Examples:
        judgekit watch production.jsonl --rubric helpfulness
        judgekit watch production.jsonl --rate 0.2 --alert-below 0.8 --once
        judgekit watch production.jsonl --rate 0.2 --window 100 --max-cost 0.50
    """
    if options.batch or options.resume or options.no_store or options.dry_run:
        raise SettingsError(
            "watch always stores its windows, each graded at once, and resumes behind the last one",
            hint="omit --batch, --resume, --no-store and --dry-run",
        )
    watching = _Watching(options, file)
    try:
        code = watching.run()
    except KeyboardInterrupt:
        console.note(f"interrupted; {_CONTINUATION}")
        code = Exit.INTERRUPTED
    finally:
        watching.log.close()
        watching.lock.close()
    sys.exit(code)


class _Watching:
    """A file that is watched, and what is known of it."""

    def __init__(self, options: _WatchOptions, file: Path) -> None:
        self._options, self._file = options, file
        state = Path(".judgekit") if "://" in options.store else Path(options.store).parent
        folder = state / "watch"
        name = f"{file.name}-{fingerprint([str(file.resolve())])[:8]}"
        self._state_file = folder / f"{name}.json"
        # Always the same path: a window that is taken up again is the same run.
        self._window_file = folder / name / f"{file.stem}.jsonl"
        make_folder(folder / name)
        # Two at once would store each window twice, or grade one's rows in the place of another's.
        self.lock = FileLocks(folder / name / "lock")
        if not self.lock.try_acquire(0):
            raise StoreError(f"{file} is being watched already", hint="wait for it, or stop it")
        self._state = self._stored_state()
        pending = self._state.pending
        self.log = datasets.GrowingLog(
            file, self._state.position if pending is None else pending.position
        )
        self._window = _Window(file, options)
        self._has_failures = False

    def run(self) -> int:
        """Follow the file until it is interrupted, or with --once to its present end."""
        options = self._options
        pending = self._state.pending
        if pending is not None and (code := self._grade(pending, is_resumed=True)):
            return code
        is_missed = False
        while True:
            for line in self.log.read():
                self._window.take(line)
                if len(self._window.rows) >= options.window and (code := self._begin_window()):
                    return code
            self._note_all()
            if options.once:
                return self._end_once()
            if not is_missed and self.log.position is None:
                is_missed = True
                console.note(f"there is no file {self._file} yet: waiting for it")
            time.sleep(_POLL_S)

    def _end_once(self) -> int:
        if self.log.position is None:
            raise DatasetError("there is no such file", path=self._file)
        if code := self._begin_window() if self._window.rows else 0:
            return code
        if self._window.n_seen:
            rows = numbers.format_count(self._window.n_seen, "more row")
            console.note(f"{rows} read, none of them in the sample")
        if self._state.is_alerting:
            return Exit.QUALITY
        return Exit.INCOMPLETE if self._has_failures else 0

    def _note_all(self) -> None:
        for note in (*self.log.notes, *self._window.notes):
            console.note(note)
        self.log.notes.clear()
        self._window.notes.clear()

    def _begin_window(self) -> int:
        """Keep the rows of a window and what is behind them, then grade it."""
        self._note_all()
        window, self._window = self._window, _Window(self._file, self._options)
        write_text_atomically(self._window_file, "".join(f"{row}\n" for row in window.rows))
        pending = PendingWindow(
            position=self.log.position, n_seen=window.n_seen, n_damaged=window.n_damaged
        )
        self._state = self._state.model_copy(update={"pending": pending})
        self._store_state()
        return self._grade(pending, is_resumed=False)

    def _grade(self, pending: PendingWindow, *, is_resumed: bool) -> int:
        """Grade the rows of a window and store them as a run; the exit code to stop at, if any."""
        chosen = self._options.model_copy(update={"outputs": (self._window_file,)})
        inputs = grade_inputs(chosen, None, is_lenient=True)
        # Its error would end every later watch of the file too; without --cases no row has tags.
        if chosen.cases and not any(True for _ in inputs.answers()):
            what = "a tag of --filter-tag" if chosen.filter_tag else "a case of --cases"
            console.note(f"{self._file.name}: no row of this window has {what}")
            done = {"position": pending.position, "pending": None}
            self._state = self._state.model_copy(update=done)
            self._store_state()
            return 0
        with grade_run_setup(chosen, tags=(records.WATCH_TAG,), has_cases_in_rows=True) as setup:
            return self._graded(setup, pending, is_resumed=is_resumed)

    def _graded(self, setup: RunSetup, pending: PendingWindow, *, is_resumed: bool) -> int:
        info = prepared_run(setup, resumes=is_resumed, triggered_by=self._options.triggered_by)
        same = find_same_run(setup.store, info) if is_resumed else None
        # Killed after its last answer, and before the state was stored.
        if same is not None and same.status == "complete":
            ended = same
        elif code := refuse_uncalibrated(setup, info):
            return code
        else:
            ended = run_until_stopped(run_with_progress(setup, self._options), _CONTINUATION)
        answers: list[tuple[str, float | None]] = []
        tally = evaluation.CaseTally(ended)

        def watch(answer: evaluation.Outcome) -> None:
            tally.take(answer)
            answers.append((answer.result.case.id, answer.value))

        summary = evaluation.Run(ended, setup.store).summary(watch=watch)
        record_run(setup, summary, None, tally)
        if (session := setup.session).words() is not None:
            console.note(f"{stop_words(session)}; the next watch resumes this window")
            return Exit.FROZEN if session.reason is None else STOP_CODES[session.reason]
        self._show(summary, pending, n_review=note_reviews(setup, ended))
        self._forget_other_measure(setup, ended)
        # The turns of a conversation are no independent evidence: the rows of an id, which after
        # its first are named `ID#2`, `ID#3` and so on (`_Window.take`), are one value.
        ids = {name for name, _ in answers}
        names = [first if (first := n.rpartition("#")[0]) in ids else n for n, _ in answers]
        known = known_observations([value for _, value in answers], names)
        state = self._state
        self._state = state.model_copy(
            update={
                "position": pending.position,
                "pending": None,
                "last_run": ended.id,
                "n_windows": state.n_windows + 1,
                "values": (*state.values, tuple(cluster_means(*known).values())),
            }
        )
        self._look(setup, summary)
        self._store_state()
        self._window_file.unlink(missing_ok=True)
        return 0

    def _forget_other_measure(self, setup: RunSetup, run: records.RunInfo) -> None:
        """Begin the scores again where the last window was measured differently."""
        try:
            before = None if self._state.last_run is None else setup.store.run(self._state.last_run)
        except UnknownNameError:  # another store, or one that was emptied
            before = None
        changes = () if before is None else evaluation.compare_measures(before, run).changes
        if before is not None and not changes and _scale(before) != _scale(run):
            changes = ("the weights or the calibration of the scores changed",)
        if changes:
            console.note(
                f"{self._file.name}: scores before {run.id} are not comparable and are no longer "
                f"included: {'; '.join(changes)}"
            )
            self._change(is_alerting=False, n_alerts=self._state.n_alerts)

    def _look(self, setup: RunSetup, summary: evaluation.RunSummary) -> None:
        """Alert once when the score is surely below the limit; and say when it no longer is."""
        if self._state.unsent is not None:
            self._send(setup, self._state.unsent)
        from judgekit.stats.sequential import restarted_sequence  # noqa: PLC0415 - numpy

        least, is_alerting = self._options.alert_below, self._state.is_alerting
        # Valid after every window: repeated tests raise no false alarm.
        found = None if least is None else restarted_sequence(self._state.values, least)
        if found is None or least is None or (found.high < least) is is_alerting:
            return
        n = numbers.format_count(found.n, "case")
        score = f"mean score {numbers.format_mean_beside(found, least)}"
        text = f"{self._file.name}: {score} over the last {n} is "
        if is_alerting:
            console.note(f"{text}above {least:g} again")
        else:
            console.note(f"ALERT {text}below {least:g}")
            alarm = evaluation.watch_alarm(
                summary.run, f"{text}below {least:g}", n=self._state.n_alerts + 1
            )
            self._send(setup, alarm)
        self._change(is_alerting=not is_alerting, n_alerts=self._state.n_alerts + (not is_alerting))

    def _send(self, setup: RunSetup, alarm: Alarm) -> None:
        problems = run_async(evaluation.send_alarm(setup.opened.suite, alarm))
        for problem in problems:
            console.note(problem)
        self._state = self._state.model_copy(update={"unsent": alarm if problems else None})

    def _change(self, *, is_alerting: bool, n_alerts: int) -> None:
        update = {"is_alerting": is_alerting, "n_alerts": n_alerts, "values": ()}
        self._state = self._state.model_copy(update=update)

    def _show(
        self, summary: evaluation.RunSummary, pending: PendingWindow, *, n_review: int
    ) -> None:
        """A line for each variant: rows of a log may name several."""
        for variant in summary.variants:
            line = {
                "window": self._state.n_windows + 1,
                "run": summary.run.id,
                "variant": variant.variant,
                "rows": pending.n_seen,
                "damaged": pending.n_damaged,
                "graded": variant.n_answers,
                "score": variant.value.value,
                "pass_rate": variant.pass_rate.value,
                "reviews": n_review,
            }
            if self._options.as_json:
                click.echo(json.dumps(numbers.nan_to_null(line)))
            else:
                name = message.printable(variant.variant)  # the log's own words
                name = f"  {name}" if len(summary.variants) > 1 else ""
                click.echo(
                    f"{summary.run.id}{name}  {variant.n_answers:,} of {pending.n_seen:,} rows  "
                    f"score {numbers.format_mean(variant.value)}  "
                    f"passed {numbers.format_rate(variant.pass_rate)}"
                )
        if summary.run.status == "incomplete":
            self._has_failures = True
            console.note(
                f"{summary.run.id}: some outputs have no verdict, because a judge failed: "
                f"judgekit show {summary.run.id}"
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
        write_text_atomically(self._state_file, self._state.model_dump_json())


def _scale(run: records.RunInfo) -> object:
    """What the scores of a run are computed with; a threshold is no part of it."""
    criteria = () if run.rubric is None else run.rubric.criteria
    return {criterion.name: criterion.weight for criterion in criteria}, run.calibration


class _Window:
    """The rows of a window so far, each with an id of its own."""

    def __init__(self, file: Path, options: _WatchOptions) -> None:
        self._file, self._options = file, options
        self.rows: list[str] = []
        self.n_seen = self.n_damaged = 0
        self.notes: list[str] = []
        self._seen: set[bytes] = set()
        self._ids: Counter[str] = Counter()

    def take(self, line: datasets.LogLine) -> None:
        """Look at a new line: whether it is in the sample, and what it holds."""
        self.n_seen += 1
        raw = line.raw.strip()
        if not raw or not datasets.is_sampled(line.raw, self._options.rate, self._options.seed):
            return
        if raw in self._seen:
            self.notes.append(f"{self._file.name}: a row that came twice is graded once")
            return
        self._seen.add(raw)
        try:
            fields, output = datasets.read_logged_row(line.raw, self._file, offset=line.offset)
        except DatasetError as error:
            # One damaged line must not end the watch of all that come after it.
            self.n_damaged += 1
            # A log is found by its bytes: nobody has counted its lines.
            fault = message.one_line(error.message).removeprefix(f"{self._file}:1: ")
            self.notes.append(
                f"{self._file.name}: a sampled row is left out, at byte {line.offset:,}: {fault}"
            )
            return
        # A conversation, or a request that was sent again, has several rows of one id.
        case_id = output.case_id or ""
        self._ids[case_id] += 1
        if self._ids[case_id] > 1:
            own = {name: value for name, value in fields.items() if name not in {"id", "caseId"}}
            fields = {**own, "case_id": f"{case_id}#{self._ids[case_id]}"}
        self.rows.append(json.dumps(fields))
