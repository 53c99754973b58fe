"""Verdicts in five forms, as the judges of Arena-Hard give them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import ReplyFormatError, TemplateError
from judgekit.prompts import PairTemplate
from judgekit.prompts.parsing import parse_formatted_preference

if TYPE_CHECKING:
    from pathlib import Path

FORM = PairTemplate("pairwise/arena_hard").reply


@pytest.mark.parametrize(
    ("verdict", "choice"),
    [
        ("A>>B", "first"), ("A>B", "first"), ("A=B", "tie"), ("B>A", "second"), ("B>>A", "second"),
        (" b>>a ", "second"),
    ],
)  # fmt: skip
def test_each_of_the_five_forms_is_read(verdict: str, choice: str) -> None:
    text = f"My own answer is 30 days, and only one of them agrees.\n\n[[{verdict}]]"
    assert parse_formatted_preference(text, FORM).choice == choice


@pytest.mark.parametrize("verdict", ["[[A]]", "[[A>>>B]]", "A>>B", "[[A<B]]"])
def test_any_other_form_is_no_verdict_and_the_message_names_the_five(verdict: str) -> None:
    named = r"\[\[A>>B\]\], \[\[A>B\]\], \[\[A=B\]\], \[\[B>A\]\], \[\[B>>A\]\]"
    with pytest.raises(ReplyFormatError) as raised:
        parse_formatted_preference(f"One of them is a little better: {verdict}", FORM)
    assert re.search(named, raised.value.instruction)


def test_a_choice_still_needs_a_slot(tmp_path: Path) -> None:
    path = tmp_path / "own.j2"
    path.write_text(
        "{# judgekit\njudges: pair\nasks: overall\nreply: brackets\nchoices: A=B=C\n#}\n"
    )
    with pytest.raises(TemplateError, match="'A=B=C' is not of the form word=first"):
        PairTemplate(str(path))
