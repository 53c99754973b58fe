"""`judgekit label`: a person answers the questions of a run that wait, blind."""

from __future__ import annotations

import getpass
import json
import shutil
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit.cli import console as streams
from judgekit.cli.main import EXIT_INTERRUPTED
from judgekit.cli.options import json_option, store_option
from judgekit.cli.stored.label_dialogue import Dialogue, Typed
from judgekit.errors import SettingsError
from judgekit.evaluation.people.label_files import labels_said, take_labels
from judgekit.evaluation.people.labelling import Labelling
from judgekit.evaluation.running.statuses import settle
from judgekit.report import run_view, view
from judgekit.store.runs import RunStore

if TYPE_CHECKING:
    from judgekit.records.run import RunInfo

_GIT_PATIENCE_S = 5


@click.command()
@click.argument("run", default="latest")
@click.option(
    "--annotator",
    metavar="NAME",
    envvar="JUDGEKIT_ANNOTATOR",
    help="Who judges (default: asked once, git's user.name suggested).",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of the order of questions."
)
@click.option(
    "--import",
    "labels",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="LABELS.jsonl",
    help="Answer questions from a file: case_id, variant, criterion, annotator, raw, rationale.",
)
@click.option(
    "--export",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write what people said of the run as JSONL, in the same form.",
)
@store_option
@json_option
def label(
    *,
    run: str,
    annotator: str | None,
    seed: int,
    labels: Path | None,
    target: Path | None,
    store: str,
    as_json: bool,
) -> None:
    """Answer the questions of RUN that wait for a person (a suite with `judge: human`)."""
    # RUN is a run's id, the beginning of one, `latest` (the default) or `latest:SUITE`. You see the
    # input, the reference, the output and what is asked; not which variant answered, nor what other
    # judges say. Type a score and Enter, then why (no judgment without a reason), then how sure you
    # are, 0 to 1, or just Enter.
    # Instead of an answer: s skips the question, which goes on waiting; u takes your last answer
    # back; ? helps; q quits. What you said is kept at once, and the next sitting goes on from
    # there.
    # Answers can be piped in, a line each. When the last question is answered, the run is complete
    # and its figures count what you said: judgekit show RUN.
    if labels is not None and target is not None:
        raise SettingsError("--import and --export are two things to do: give one of them")
    with closing(RunStore(store, create=False)) as kept:
        found = kept.run(run)
        if target is not None:
            _export(kept, found, target, as_json=as_json)
        elif labels is not None:
            _import(kept, found, labels, annotator, as_json=as_json)
        else:
            sys.exit(_sit(kept, found, annotator, seed, as_json=as_json))


def suggested_name() -> str:
    """The name of whoever sits here."""
    found = _known_to_git()
    if found:
        return found
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no account has this process's number
        return "anonymous"


def _known_to_git() -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    try:
        asked = subprocess.run(  # noqa: S603 - git itself, found on the path
            [git, "config", "user.name"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=_GIT_PATIENCE_S,
        )
    except (OSError, subprocess.SubprocessError):  # a name is not worth an error
        return ""
    return asked.stdout.strip()


def _sit(store: RunStore, run: RunInfo, annotator: str | None, seed: int, *, as_json: bool) -> int:
    _check_asks_people(store, run)
    console = streams.stderr() if as_json else streams.stdout()
    typed = Typed(console, is_edited=sys.stdin.isatty() and sys.stdout.isatty() and not as_json)
    name = annotator or (typed.line(f"Who judges? [{suggested_name()}] ") if _is_tty() else "")
    labelling = Labelling(store, run, (name or "").strip() or suggested_name(), seed=seed)
    code = 0
    try:
        Dialogue(console, typed, labelling).hold()
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
        console.print()
    ended = settle(store, run.id, at=datetime.now(UTC))
    _report(
        store,
        ended,
        {
            "annotator": labelling.annotator,
            "n_answered": labelling.n_answered,
            "n_skipped": labelling.n_skipped,
            "n_answered_by_others": labelling.n_taken,
        },
        as_json=as_json,
    )
    return code


def _import(
    store: RunStore, run: RunInfo, labels: Path, annotator: str | None, *, as_json: bool
) -> None:
    _check_asks_people(store, run)
    taken = take_labels(store, run, labels, annotator=annotator, at=datetime.now(UTC))
    ended = settle(store, run.id, at=datetime.now(UTC))
    counts: dict[str, object] = {
        "n_labels": taken.n_labels,
        "n_answered": taken.n_answered,
        "n_answered_before": taken.n_answered_before,
        "n_not_asked": taken.n_not_asked,
    }
    _report(store, ended, counts, as_json=as_json)


def _export(store: RunStore, run: RunInfo, target: Path, *, as_json: bool) -> None:
    n = 0
    with click.open_file(str(target), "w", encoding="utf-8", atomic=True) as file:
        for row in labels_said(store.results(run.id)):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            n += 1
    if as_json:
        streams.print_json({"run": run.id, "n_labels": n, "file": str(target)})
    else:
        streams.note(f"wrote {view.count(n, 'label')} to {target}")


def _report(store: RunStore, run: RunInfo, counts: dict[str, object], *, as_json: bool) -> None:
    n_waiting = sum(1 for _ in store.queue(run.id))
    if as_json:
        status = {"run": run.id, "status": run.status, **counts, "n_waiting": n_waiting}
        streams.print_json(status)
        return
    said = [_WORDS[name](n) for name, n in counts.items() if name in _WORDS and isinstance(n, int)]
    lines = [", ".join(words for words in said if words)]
    waiting = view.count(n_waiting, "question waits", "questions wait")
    lines.append(f"{waiting} for a person" if n_waiting else "nothing waits for a person")
    lines.append(f"run {run.id}: {run_view.STATUS_WORDS[run.status]}; judgekit show {run.id}")
    for line in lines:
        streams.stdout().print(line, markup=False)


_WORDS = {
    "n_labels": lambda n: f"{view.count(n, 'label')} read",
    "n_answered": lambda n: f"{view.count(n, 'question')} answered",
    "n_skipped": lambda n: f"{n:,} skipped" if n else "",
    "n_answered_by_others": lambda n: f"{n:,} answered by somebody else meanwhile" if n else "",
    "n_answered_before": lambda n: f"{n:,} had an answer, which stands" if n else "",
    "n_not_asked": lambda n: f"{n:,} of answers nobody was asked about" if n else "",
}


def _check_asks_people(store: RunStore, run: RunInfo) -> None:
    if next(iter(store.queue(run.id, open_only=False)), None) is None:
        raise SettingsError(
            f"run {run.id} asks people nothing",
            hint="give its suite `judge: human`, alone or among others, and a rubric",
        )


def _is_tty() -> bool:
    return sys.stdin.isatty()
