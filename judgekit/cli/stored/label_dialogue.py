"""The conversation of a labelling sitting: a score, a reason, how sure; and keys besides."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

from judgekit.evaluation.people.persons_word import parse_confidence, parse_score
from judgekit.report.label_terminal import print_keys, print_question

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from judgekit.evaluation.people.labelling import Labelling, Question

T = TypeVar("T")

_SKIP, _UNDO, _HELP, _QUIT = _KEYS = ("s", "u", "?", "q")


class Typed:
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


class Dialogue:
    """Asks a person one question after the other."""

    def __init__(self, console: Console, typed: Typed, labelling: Labelling) -> None:
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

    def _show(self, question: Question) -> None:
        answer = (question.case.id, question.output)
        print_question(self._console, question, with_answer=answer != self._shown)
        if self._shown is None:
            print_keys(self._console)
        self._shown = answer

    def _ask(self, question: Question) -> bool:
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
        parse: Callable[[str], T],
        *,
        is_begun: bool = False,
        last: str | None = None,
    ) -> T:
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

    def _obey(self, typed: _KeyTypedError, question: Question) -> bool:
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
