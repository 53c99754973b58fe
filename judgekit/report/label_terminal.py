"""How a question to a person looks in a terminal: the answer without its origin, the criterion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.prompts.rendering import as_text, judged_text, steps_text
from judgekit.prompts.schemas import scale_words
from judgekit.report import view
from judgekit.report.blocks import print_block, safe_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.text import Text

    from judgekit.evaluation.people.labelling import Question
    from judgekit.records.rubric import Criterion

KEYS: Sequence[tuple[str, str]] = (
    ("s", "skip: the question goes on waiting"),
    ("u", "undo: take your last answer back; after a score: give another score"),
    ("?", "this help, and the question again"),
    ("q", "quit: everything you said is kept"),
)
"""What a person can type instead of an answer."""


def print_question(console: Console, question: Question, *, with_answer: bool = True) -> None:
    """Print what a person is to judge; who answered, and what others say, is not in it."""
    from rich.rule import Rule  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.text import Text  # noqa: PLC0415

    console.print()
    console.print(Rule(Text(f"{question.number:,} of {question.total:,}"), align="left"))
    if with_answer:
        _print_answer(console, question)
    criterion = question.criterion
    print_block(console, criterion.name, _asked(criterion), style="bold cyan")


def print_keys(console: Console, criterion: Criterion | None = None) -> None:
    """Print what can be typed."""
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    lines = []
    if criterion is not None:
        lines.append(f"a score is {scale_words(criterion.scale)}; then why, then how sure")
    lines += [f"{key}  {words}" for key, words in KEYS]
    console.print(Text("\n".join(lines), style="dim"))


def _print_answer(console: Console, question: Question) -> None:
    case, output = question.case, question.output
    print_block(console, "input", as_text(case.input))
    for title, value in (("context", case.context), ("reference", case.reference)):
        if value is not None:
            print_block(console, title, as_text(value))
    if output.trace:
        print_block(console, "steps", steps_text(output))
    print_block(console, "output", judged_text(output) or "(no text; see the steps)")


def _asked(criterion: Criterion) -> Text:
    text = safe_text(criterion.question)
    if criterion.scoring_guide:
        text.append("\n")
        text.append(safe_text(criterion.scoring_guide))
    text.append(f"\nscore: {scale_words(criterion.scale)}", style="dim")
    for level in criterion.scale.levels:
        words = ": ".join(word for word in (level.name, level.description) if word)
        text.append(f"\n  {level.value:g}  {view.printable(words)}", style="dim")
    return text
