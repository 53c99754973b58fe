"""The conversation in which an annotator answers questions on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

from judgekit.evaluation import parse_confidence, parse_score
from judgekit.prompts import judged_text, scale_words, steps_text, to_text
from judgekit.report import message, print_passage, safe_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from judgekit.evaluation import LabellingSession, LabelQuestion
    from judgekit.records import Criterion

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

    def __init__(
        self,
        console: Console,
        typed: TypedLines,
        labelling: LabellingSession,
        *,
        needs_reason: bool,
    ) -> None:
        self._console = console
        self._needs_reason = needs_reason
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
            if self._needs_reason:
                why = self._until("why> ", _reason, is_begun=True)
            else:
                why = self._until("why (or just Enter)> ", str.strip, is_begun=True)
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
