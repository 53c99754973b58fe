"""`judgekit label`: a person answers the open questions of a run, blind."""

from __future__ import annotations

import getpass
import json
import shutil
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from judgekit.cli import console, console as streams
from judgekit.cli.exit_codes import EXIT_INTERRUPTED
from judgekit.cli.help import HelpCommand
from judgekit.cli.options import json_option, store_option
from judgekit.errors import SettingsError
from judgekit.evaluation import (
    LabellingSession,
    import_labels,
    label_rows,
    parse_confidence,
    parse_score,
    update_run_status,
)
from judgekit.prompts import judged_text, scale_words, steps_text, to_text
from judgekit.report import message, numbers, print_passage, safe_text
from judgekit.store import RunStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console
    from rich.text import Text

    from judgekit.evaluation import LabelQuestion
    from judgekit.records import Criterion, RunInfo

_GIT_PATIENCE_S = 5


@click.command("label", cls=HelpCommand)
@click.argument("run", default="latest")
@click.option(
    "--annotator",
    metavar="NAME",
    envvar="JUDGEKIT_ANNOTATOR",
    help="Your name (default: asked once; git's user.name is suggested).",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Random seed of the order of questions."
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
    help="Write the human labels of the run as JSONL, in the same format.",
)
@store_option
@json_option
def label_command(
    *,
    run: str,
    annotator: str | None,
    seed: int,
    labels: Path | None,
    target: Path | None,
    store: str,
    as_json: bool,
) -> None:
    """Answer the questions of RUN that wait for a human (a suite with judge: human).

    RUN is the id of a run, the beginning of an id, latest (the default) or latest:SUITE. You see
    the input, the reference, the output and the question, but neither the variant nor what other
    judges decided. Type a score and Enter, then the reason (every judgment needs one), then your
    confidence from 0 to 1, or just Enter.

    Other keys: s skips the question, which keeps waiting; u takes your last answer back; ? helps;
    q quits. Each answer is stored at once, and the next session continues from there.

    Answers can also be piped in, one per line. After the last answer the run is complete: judgekit
    show RUN.

    Examples:
        judgekit label
        judgekit label latest --import labels.jsonl
        judgekit label latest --export labels.jsonl
    """
    if labels is not None and target is not None:
        raise SettingsError("--import and --export are two things to do: give one of them")
    with closing(RunStore(store, create=False)) as kept:
        found = kept.run(run)
        if target is not None:
            _export(kept, found, target, as_json=as_json)
        elif labels is not None:
            _import(kept, found, labels, annotator, as_json=as_json)
        else:
            sys.exit(_run_dialogue(kept, found, annotator, seed, as_json=as_json))


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


def _run_dialogue(
    store: RunStore, run: RunInfo, annotator: str | None, seed: int, *, as_json: bool
) -> int:
    _check_asks_people(store, run)
    console = streams.stderr() if as_json else streams.stdout()
    typed = TypedLines(
        console, is_edited=sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    )
    name = annotator or (typed.line(f"Who judges? [{suggested_name()}] ") if _is_tty() else "")
    labelling = LabellingSession(store, run, (name or "").strip() or suggested_name(), seed=seed)
    code = 0
    try:
        LabelDialogue(console, typed, labelling).hold()
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
        console.print()
    ended = update_run_status(store, run.id, at=datetime.now(UTC))
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
    taken = import_labels(store, run, labels, annotator=annotator, at=datetime.now(UTC))
    ended = update_run_status(store, run.id, at=datetime.now(UTC))
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
        for row in label_rows(store.results(run.id)):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            n += 1
    if as_json:
        console.print_json({"run": run.id, "n_labels": n, "file": str(target)})
    else:
        console.note(f"wrote {numbers.format_count(n, 'label')} to {target}")


def _report(store: RunStore, run: RunInfo, counts: dict[str, object], *, as_json: bool) -> None:
    n_waiting = sum(1 for _ in store.queue(run.id))
    if as_json:
        status = {"run": run.id, "status": run.status, **counts, "n_waiting": n_waiting}
        console.print_json(status)
        return
    said = [_WORDS[name](n) for name, n in counts.items() if name in _WORDS and isinstance(n, int)]
    lines = [", ".join(words for words in said if words)]
    waiting = numbers.format_count(n_waiting, "question waits", "questions wait")
    lines.append(f"{waiting} for a person" if n_waiting else "nothing waits for a person")
    lines.append(f"run {run.id}: {message.RUN_STATUS_WORDS[run.status]}; judgekit show {run.id}")
    for line in lines:
        console.stdout().print(line, markup=False)


_WORDS = {
    "n_labels": lambda n: f"{numbers.format_count(n, 'label')} read",
    "n_answered": lambda n: f"{numbers.format_count(n, 'question')} answered",
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


_Answer = TypeVar("_Answer")
_SKIP, _UNDO, _HELP, _QUIT = _KEYS = ("s", "u", "?", "q")


class TypedLines:
    """Lines a person types, or that are piped in."""

    def __init__(self, console: Console, *, is_edited: bool) -> None:
        self._console = console
        self._is_edited = is_edited
        if is_edited:
            try:
                import readline  # noqa: F401, PLC0415 - `input` then edits lines, accents included
            except ImportError:  # Windows edits them by itself
                return

    def line(self, prompt: str) -> str | None:
        """One line."""
        if self._is_edited:
            try:
                return input(prompt)
            except EOFError:
                return None
        self._console.print(prompt, end="", markup=False)
        line = sys.stdin.readline()
        if not sys.stdin.isatty():  # nothing has echoed it
            self._console.print(line.rstrip("\r\n"), markup=False)
        return line.rstrip("\r\n") if line else None


class _KeyTypedError(Exception):
    """A key was typed where an answer was asked for."""

    def __init__(self, key: str, *, is_begun: bool) -> None:
        self.key = key
        self.is_begun = is_begun


class LabelDialogue:
    """Asks a person one question after the other."""

    def __init__(self, console: Console, typed: TypedLines, labelling: LabellingSession) -> None:
        self._console = console
        self._typed = typed
        self._labelling = labelling
        self._shown: object = None
        self._n_taken = 0

    def hold(self) -> None:
        """Ask until nothing is left, the person quits or the input ends."""
        goes_on = True
        while goes_on:
            question = self._labelling.current()
            self._note_taken()
            if question is None:
                goes_on = self._is_taken_back()
            else:
                self._show(question)
                goes_on = self._ask(question)

    def _show(self, question: LabelQuestion) -> None:
        answer = (question.case.id, question.output)
        print_question(self._console, question, with_answer=answer != self._shown)
        if self._shown is None:
            print_keys(self._console)
        self._shown = answer

    def _ask(self, question: LabelQuestion) -> bool:
        """Have a question answered; whether to go on."""
        try:
            score = self._until("score> ", lambda text: parse_score(text, question.criterion.scale))
            why = self._until("why> ", _reason, is_begun=True)
            sure = self._until(
                "how sure, 0 to 1 (or just Enter)> ", parse_confidence, is_begun=True, last=""
            )
        except _KeyTypedError as typed:
            return self._obey(typed, question)
        self._labelling.answer(score, why, sure)
        return True

    def _until(
        self,
        prompt: str,
        parse: Callable[[str], _Answer],
        *,
        is_begun: bool = False,
        last: str | None = None,
    ) -> _Answer:
        """Ask until what is typed can be read."""
        while True:
            line = self._typed.line(prompt)
            if line is None:
                line = _QUIT if last is None else last
            if line.strip().lower() in _KEYS:
                raise _KeyTypedError(line.strip().lower(), is_begun=is_begun)
            try:
                return parse(line)
            except ValueError as error:
                self._say(str(error))

    def _obey(self, typed: _KeyTypedError, question: LabelQuestion) -> bool:
        if typed.key == _SKIP:
            self._labelling.skip()
        elif typed.key == _HELP:
            print_keys(self._console, question.criterion)
            self._shown = ()
        elif typed.key == _UNDO and not typed.is_begun:
            self._undo()
        return typed.key != _QUIT

    def _undo(self) -> bool:
        is_taken_back = self._labelling.undo()
        name = self._labelling.annotator
        self._say("taken back" if is_taken_back else f"there is no answer of {name} to take back")
        return is_taken_back

    def _is_taken_back(self) -> bool:
        """At the end: whether the last answer is to be given anew."""
        self._say("no question is left in this sitting")
        line = self._typed.line("Enter to end, u to take your last answer back> ")
        return line is not None and line.strip().lower() == _UNDO and self._undo()

    def _note_taken(self) -> None:
        n = self._labelling.n_taken
        if n > self._n_taken:
            self._say("somebody else has answered a question meanwhile; here is the next")
        self._n_taken = n

    def _say(self, text: str) -> None:
        self._console.print(f"  {text}", style="yellow", markup=False)


def _reason(text: str) -> str:
    if not text.strip():
        raise ValueError("no judgment without a reason: say why in a few words")
    return text.strip()


_KEY_HELP: Sequence[tuple[str, str]] = (
    ("s", "skip: the question goes on waiting"),
    ("u", "undo: take your last answer back; after a score: give another score"),
    ("?", "this help, and the question again"),
    ("q", "quit: everything you said is kept"),
)
"""What a person can type instead of an answer."""


def print_question(console: Console, question: LabelQuestion, *, with_answer: bool = True) -> None:
    """Print what a person is to judge; who answered, and what others say, is not in it."""
    from rich.rule import Rule  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.text import Text  # noqa: PLC0415

    console.print()
    console.print(Rule(Text(f"{question.number:,} of {question.total:,}"), align="left"))
    if with_answer:
        _print_answer(console, question)
    criterion = question.criterion
    print_passage(console, criterion.name, _question_lines(criterion), style="bold cyan")


def print_keys(console: Console, criterion: Criterion | None = None) -> None:
    """Print what can be typed."""
    from rich.text import Text  # noqa: PLC0415

    lines = []
    if criterion is not None:
        lines.append(f"a score is {scale_words(criterion.scale)}; then why, then how sure")
    lines += [f"{key}  {words}" for key, words in _KEY_HELP]
    console.print(Text("\n".join(lines), style="dim"))


def _print_answer(console: Console, question: LabelQuestion) -> None:
    case, output = question.case, question.output
    texts = (("input", case.input), ("context", case.context), ("reference", case.reference))
    for title, value in texts:
        if value is not None:
            print_passage(console, title, safe_text(to_text(value)))
    if output.trace:
        print_passage(console, "steps", safe_text(steps_text(output)))
    text = judged_text(output) or "(no text; see the steps)"
    print_passage(console, "output", safe_text(text))


def _question_lines(criterion: Criterion) -> Text:
    text = safe_text(criterion.question)
    if criterion.scoring_guide:
        text.append("\n")
        text.append(safe_text(criterion.scoring_guide))
    text.append(f"\nscore: {scale_words(criterion.scale)}", style="dim")
    for level in criterion.scale.levels:
        words = ": ".join(word for word in (level.name, level.description) if word)
        text.append(f"\n  {level.value:g}  {message.printable(words)}", style="dim")
    return text
