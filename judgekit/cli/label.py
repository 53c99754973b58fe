"""`judgekit label`: an annotator answers the open questions of a run, blind."""

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

# The name is only suggested, which is not worth a longer wait.
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

    Other keys: s skips the question, which keeps waiting; u removes your last answer; ? helps;
    q quits. Each answer is stored at once, and the next session continues from there.

    Answers can also be piped in, one per line. After the last answer the run is complete: judgekit
    show RUN.

    Examples:
        judgekit label
        judgekit label latest --import labels.jsonl
        judgekit label latest --export labels.jsonl
    """
    # Either alone; one after the other would export what was just imported.
    if labels is not None and target is not None:
        raise SettingsError("--import and --export exclude each other: give one of them")
    with closing(RunStore(store, create=False)) as opened:
        info = opened.run(run)
        if target is not None:
            _export(opened, info, target, as_json=as_json)
        elif labels is not None:
            _import(opened, info, labels, annotator, as_json=as_json)
        else:
            sys.exit(_run_dialogue(opened, info, annotator, seed, as_json=as_json))


def suggested_name() -> str:
    """The name of the user: that of git, which is a full name, else that of the account."""
    name = _git_name()
    if name:
        return name
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no account has this process's number
        return "anonymous"


def _git_name() -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    try:
        result = subprocess.run(  # noqa: S603 - git itself, found on the path
            [git, "config", "user.name"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=_GIT_PATIENCE_S,
        )
    except (OSError, subprocess.SubprocessError):  # a name is not worth an error
        return ""
    return result.stdout.strip()


def _run_dialogue(
    store: RunStore, run: RunInfo, annotator: str | None, seed: int, *, as_json: bool
) -> int:
    _check_has_questions(store, run)
    # With --json, stdout must hold nothing but the result.
    console = streams.stderr() if as_json else streams.stdout()
    typed = TypedLines(
        console, is_edited=sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    )
    # Piped lines are answers; none of them is a name.
    is_tty = sys.stdin.isatty()
    name = annotator or (typed.line(f"Your name? [{suggested_name()}] ") if is_tty else "")
    labelling = LabellingSession(store, run, (name or "").strip() or suggested_name(), seed=seed)
    code = 0
    try:
        LabelDialogue(console, typed, labelling).run()
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
        console.print()  # ends the line of the prompt
    # Also after Ctrl-C: the answers so far may have completed the run.
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
    _check_has_questions(store, run)
    imported = import_labels(store, run, labels, annotator=annotator, at=datetime.now(UTC))
    ended = update_run_status(store, run.id, at=datetime.now(UTC))
    counts: dict[str, object] = {
        "n_labels": imported.n_labels,
        "n_answered": imported.n_answered,
        "n_answered_before": imported.n_answered_before,
        "n_not_asked": imported.n_not_asked,
    }
    _report(store, ended, counts, as_json=as_json)


def _export(store: RunStore, run: RunInfo, target: Path, *, as_json: bool) -> None:
    n = 0
    # Atomic: half a file of labels would be a valid one.
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
    parts = [_WORDS[name](n) for name, n in counts.items() if name in _WORDS and isinstance(n, int)]
    lines = [", ".join(words for words in parts if words)]
    waiting = numbers.format_count(n_waiting, "question waits", "questions wait")
    lines.append(f"{waiting} for a human" if n_waiting else "no question waits for a human")
    lines.append(f"run {run.id}: {message.RUN_STATUS_WORDS[run.status]}; judgekit show {run.id}")
    for line in lines:
        console.stdout().print(line, markup=False)


_WORDS = {
    "n_labels": lambda n: f"{numbers.format_count(n, 'label')} read",
    "n_answered": lambda n: f"{numbers.format_count(n, 'question')} answered",
    "n_skipped": lambda n: f"{n:,} skipped" if n else "",
    "n_answered_by_others": lambda n: f"{n:,} answered by others meanwhile" if n else "",
    "n_answered_before": lambda n: f"{n:,} already answered, unchanged" if n else "",
    "n_not_asked": lambda n: f"{n:,} without a question in this run" if n else "",
}


def _check_has_questions(store: RunStore, run: RunInfo) -> None:
    if next(iter(store.queue(run.id, open_only=False)), None) is None:
        raise SettingsError(
            f"run {run.id} has no questions for a human",
            hint="give its suite `judge: human`, alone or among others, and a rubric",
        )


_Answer = TypeVar("_Answer")
_SKIP, _UNDO, _HELP, _QUIT = _KEYS = ("s", "u", "?", "q")


class TypedLines:
    """Lines that are typed, or piped in."""

    def __init__(self, console: Console, *, is_edited: bool) -> None:
        self._console = console
        self._is_edited = is_edited
        if is_edited:
            try:
                import readline  # noqa: F401, PLC0415 - `input` then edits lines, accents included
            except ImportError:  # Windows edits them by itself
                return

    def line(self, prompt: str) -> str | None:
        """One line; None at the end of the input."""
        if self._is_edited:
            try:
                return input(prompt)
            except EOFError:
                return None
        self._console.print(prompt, end="", markup=False)
        line = sys.stdin.readline()
        if not sys.stdin.isatty():  # only a terminal echoes what is typed
            self._console.print(line.rstrip("\r\n"), markup=False)
        return line.rstrip("\r\n") if line else None


class _KeyTypedError(Exception):
    """A key was typed instead of an answer."""

    def __init__(self, key: str, *, is_begun: bool) -> None:
        self.key = key
        self.is_begun = is_begun


class LabelDialogue:
    """Asks the annotator one question after the other."""

    def __init__(self, console: Console, typed: TypedLines, labelling: LabellingSession) -> None:
        self._console = console
        self._typed = typed
        self._labelling = labelling
        self._shown: object = None
        self._n_taken = 0

    def run(self) -> None:
        """Ask until no question is left, the annotator quits or the input ends."""
        continues = True
        while continues:
            question = self._labelling.current()
            self._note_answered_by_others()
            if question is None:
                continues = self._offer_undo()
            else:
                self._show(question)
                continues = self._ask(question)

    def _show(self, question: LabelQuestion) -> None:
        answer = (question.case.id, question.output)
        print_question(self._console, question, with_answer=answer != self._shown)
        # Once, and again after `?`, which resets what was shown.
        if self._shown is None:
            print_keys(self._console)
        self._shown = answer

    def _ask(self, question: LabelQuestion) -> bool:
        """Get the answer to a question; whether to continue."""
        try:
            score = self._until("score> ", lambda text: parse_score(text, question.criterion.scale))
            why = self._until("why> ", _reason, is_begun=True)
            sure = self._until(
                "how sure, 0 to 1 (or just Enter)> ", parse_confidence, is_begun=True, last=""
            )
        # A key works at each of the three prompts, so it leaves the question from any of them.
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
        """Ask until the line can be parsed."""
        while True:
            line = self._typed.line(prompt)
            # A piped file may end before the optional confidence of its last answer.
            if line is None:
                line = _QUIT if last is None else last
            if line.strip().lower() in _KEYS:
                raise _KeyTypedError(line.strip().lower(), is_begun=is_begun)
            try:
                return parse(line)
            except ValueError as error:
                self._print(str(error))

    def _obey(self, typed: _KeyTypedError, question: LabelQuestion) -> bool:
        if typed.key == _SKIP:
            self._labelling.skip()
        elif typed.key == _HELP:
            print_keys(self._console, question.criterion)
            self._shown = ()
        # After a score, undo takes back that score: the same question appears once more.
        elif typed.key == _UNDO and not typed.is_begun:
            self._undo()
        return typed.key != _QUIT

    def _undo(self) -> bool:
        is_undone = self._labelling.undo()
        name = self._labelling.annotator
        self._print(
            "last answer removed" if is_undone else f"there is no answer of {name} to remove"
        )
        return is_undone

    def _offer_undo(self) -> bool:
        """At the end: whether the last answer is replaced."""
        self._print("no question is left in this session")
        line = self._typed.line("Enter to end, u to remove your last answer> ")
        return line is not None and line.strip().lower() == _UNDO and self._undo()

    def _note_answered_by_others(self) -> None:
        n = self._labelling.n_taken
        if n > self._n_taken:
            self._print("somebody else has answered a question meanwhile; here is the next")
        self._n_taken = n

    def _print(self, text: str) -> None:
        self._console.print(f"  {text}", style="yellow", markup=False)


def _reason(text: str) -> str:
    if not text.strip():
        raise ValueError("every judgment needs a reason: a few words are enough")
    return text.strip()


_KEY_HELP: Sequence[tuple[str, str]] = (
    ("s", "skip: the question keeps waiting"),
    ("u", "undo: remove your last answer; after a score: give another score"),
    ("?", "this help, and the question again"),
    ("q", "quit: every answer is stored"),
)
"""The keys instead of an answer."""


def print_question(console: Console, question: LabelQuestion, *, with_answer: bool = True) -> None:
    """Print what is to be judged."""
    # Neither the variant nor other judgments are shown: knowing them would bias the answer.
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
