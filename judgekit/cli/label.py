"""`judgekit label`: an annotator answers the open questions of a run, blind."""

from __future__ import annotations

import getpass
import json
import shutil
import subprocess
import sys
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from judgekit.cli import console as streams
from judgekit.cli.exit_codes import Exit
from judgekit.cli.help import command
from judgekit.cli.options import EXISTING_FILE, NEW_FILE, OutputOptions, StoreOptions, option
from judgekit.cli.outputs import show_line
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

    from judgekit.evaluation import LabelQuestion
    from judgekit.records import Criterion, RunInfo

# The name is only suggested, which is not worth a longer wait.
_GIT_PATIENCE_S = 5


class _LabelCommandOptions(StoreOptions, OutputOptions):
    annotator: str | None = option(
        "Your name (default: asked once; git's user.name is suggested).",
        metavar="NAME",
        has_variable=True,
    )
    seed: int = option("Random seed of the order of questions.", 0)
    labels: Path | None = option(
        "Answer questions from a file: case_id, variant, criterion, annotator, raw, rationale.",
        spelling="--import",
        kind=EXISTING_FILE,
        metavar="LABELS.jsonl",
    )
    target: Path | None = option(
        "Write the human labels of the run as JSONL, in the same format.",
        spelling="--export",
        kind=NEW_FILE,
    )


@command("label", _LabelCommandOptions)
@click.argument("run", default="latest")
def label_command(options: _LabelCommandOptions, *, run: str) -> None:
    """Answer the questions of RUN that wait for a human.

    They are those of a suite with judge: human, whose answers decide; and the reviews of automated
    verdicts (--review), whose answers are labels for judgekit calibrate and change no verdict.

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
    if options.labels is not None and options.target is not None:
        raise SettingsError("--import and --export exclude each other: give one of them")
    with closing(RunStore(options.store, create=False)) as opened:
        info = opened.run(run)
        if options.target is not None:
            # Atomic: half a file of labels would be a valid one.
            with click.open_file(str(options.target), "w", "utf-8", atomic=True) as file:
                rows = [
                    json.dumps(row, ensure_ascii=False)
                    for row in label_rows(opened.results(info.id))
                ]
                file.writelines(f"{row}\n" for row in rows)
            line = f"wrote {numbers.format_count(len(rows), 'label')} to {options.target}"
            data = {"run": info.id, "n_labels": len(rows), "file": str(options.target)}
            show_line(line, data, options, is_note=True)
            return
        if next(iter(opened.queue(info.id, open_only=False)), None) is None:
            raise SettingsError(
                f"run {info.id} has no questions for a human",
                hint="give its suite `judge: human`, alone or among others, and a rubric; or run "
                "it with --review SHARE",
            )
        if options.labels is None:
            sys.exit(_run_dialogue(opened, info, options))
        now, annotator = datetime.now(UTC), options.annotator
        imported = import_labels(
            opened, info, options.labels, annotator=annotator, at=now, note=streams.note
        )
        names = ("n_labels", "n_answered", "n_answered_before", "n_not_asked")
        _report(opened, info, {name: getattr(imported, name) for name in names}, options)


def suggested_name() -> str:
    """The name of the user: that of git, which is a full name, else that of the account."""
    git = shutil.which("git")
    # A name is not worth an error.
    with suppress(OSError, subprocess.SubprocessError):
        if git is not None and (
            name := subprocess.run(  # noqa: S603 - git itself, found on the path
                [git, "config", "user.name"],
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                check=False,
                timeout=_GIT_PATIENCE_S,
            ).stdout.strip()
        ):
            return name
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no account has this process's number
        return "anonymous"


def _run_dialogue(store: RunStore, run: RunInfo, options: _LabelCommandOptions) -> int:
    # With --json, stdout must hold nothing but the result.
    console = streams.stderr() if options.as_json else streams.stdout()
    # Piped lines are answers; none of them is a name.
    is_tty = sys.stdin.isatty()
    typed = TypedLines(console, is_edited=is_tty and sys.stdout.isatty() and not options.as_json)
    name = options.annotator
    if name is None and is_tty:
        name = typed.line(f"Your name? [{suggested_name()}] ")
    name = (name or "").strip() or suggested_name()
    labelling = LabellingSession(store, run, name, seed=options.seed)
    code = 0
    try:
        LabelDialogue(console, typed, labelling).run()
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
        console.print()  # ends the line of the prompt
    counts = {
        "n_answered": labelling.n_answered,
        "n_skipped": labelling.n_skipped,
        "n_answered_by_others": labelling.n_taken,
    }
    # Also after Ctrl-C: the answers so far may have completed the run.
    _report(store, run, counts, options, annotator=labelling.annotator)
    return code


def _report(
    store: RunStore,
    run: RunInfo,
    counts: dict[str, int],
    options: _LabelCommandOptions,
    **about: str,
) -> None:
    """Update the status of a run, and print what was answered and what still waits."""
    run = update_run_status(store, run.id, at=datetime.now(UTC))
    n_waiting = sum(1 for _ in store.queue(run.id))
    waiting = numbers.format_count(n_waiting, "question waits", "questions wait")
    lines = [
        ", ".join(words for name, n in counts.items() if (words := _WORDS[name](n))),
        f"{waiting} for a human" if n_waiting else "no question waits for a human",
        f"run {run.id}: {message.RUN_STATUS_WORDS[run.status]}; judgekit show {run.id}",
    ]
    data = {"run": run.id, "status": run.status, **about, **counts, "n_waiting": n_waiting}
    show_line("\n".join(lines), data, options)


_WORDS = {
    "n_labels": lambda n: f"{numbers.format_count(n, 'label')} read",
    "n_answered": lambda n: f"{numbers.format_count(n, 'question')} answered",
    "n_skipped": lambda n: f"{n:,} skipped" if n else "",
    "n_answered_by_others": lambda n: f"{n:,} answered by others meanwhile" if n else "",
    "n_answered_before": lambda n: f"{n:,} already answered, unchanged" if n else "",
    "n_not_asked": lambda n: f"{n:,} without a question in this run" if n else "",
}


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
            n_taken = self._labelling.n_taken
            if n_taken > self._n_taken:
                self._print("somebody else has answered a question meanwhile; here is the next")
            self._n_taken = n_taken
            continues = self._offer_undo() if question is None else self._ask(question)

    def _ask(self, question: LabelQuestion) -> bool:
        """Get the answer to a question; whether to continue."""
        answer = (question.case.id, question.output)
        print_question(self._console, question, with_answer=answer != self._shown)
        # Once, and again after `?`, which resets what was shown.
        if self._shown is None:
            print_keys(self._console)
        self._shown = answer
        try:
            score = self._until("score> ", lambda text: parse_score(text, question.criterion.scale))
            why = self._until("why> ", _reason, is_begun=True)
            sure = self._until(
                "how sure, 0 to 1 (or just Enter)> ", parse_confidence, is_begun=True, last=""
            )
        # A key works at each of the three prompts, so it leaves the question from any of them.
        except _KeyTypedError as typed:
            if typed.key == _SKIP:
                self._labelling.skip()
            elif typed.key == _HELP:
                print_keys(self._console, question.criterion)
                self._shown = ()
            # After a score, undo takes back that score: the same question appears once more.
            elif typed.key == _UNDO and not typed.is_begun:
                self._undo()
            return typed.key != _QUIT
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

    def _undo(self) -> bool:
        is_undone = self._labelling.undo()
        missing = f"there is no answer of {self._labelling.annotator} to remove"
        self._print("last answer removed" if is_undone else missing)
        return is_undone

    def _offer_undo(self) -> bool:
        """At the end: whether the last answer is replaced."""
        self._print("no question is left in this session")
        line = self._typed.line("Enter to end, u to remove your last answer> ")
        return line is not None and line.strip().lower() == _UNDO and self._undo()

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
    # Neither the variant nor other judgments are shown: knowing them would bias the answer.
    from rich.rule import Rule  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.text import Text  # noqa: PLC0415

    console.print()
    console.print(Rule(Text(f"{question.number:,} of {question.total:,}"), align="left"))
    if with_answer:
        case, output = question.case, question.output
        for title in ("input", "context", "reference"):
            if (value := getattr(case, title)) is not None:
                print_passage(console, title, safe_text(to_text(value)))
        if output.trace:
            print_passage(console, "steps", safe_text(steps_text(output)))
        text = judged_text(output) or "(no text; see the steps)"
        print_passage(console, "output", safe_text(text))
    criterion = question.criterion
    asked = safe_text(criterion.question)
    if criterion.scoring_guide:
        asked.append("\n")
        asked.append(safe_text(criterion.scoring_guide))
    asked.append(f"\nscore: {scale_words(criterion.scale)}", style="dim")
    for level in criterion.scale.levels:
        words = ": ".join(word for word in (level.name, level.description) if word)
        asked.append(f"\n  {level.value:g}  {message.printable(words)}", style="dim")
    print_passage(console, criterion.name, asked, style="bold cyan")


def print_keys(console: Console, criterion: Criterion | None = None) -> None:
    from rich.text import Text  # noqa: PLC0415

    lines = []
    if criterion is not None:
        lines.append(f"a score is {scale_words(criterion.scale)}; then why, then how sure")
    lines += [f"{key}  {words}" for key, words in _KEY_HELP]
    console.print(Text("\n".join(lines), style="dim"))
