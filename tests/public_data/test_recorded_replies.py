"""Recorded replies, read by judgekit's own templates; skipped without `JUDGEKIT_DATA`.

The published readings are wrong in places, and these are known: of "a 4 out of 5" SummEval's
authors take the 5, of "1. Engagingness: 2" Topical-Chat's take the 1, a blocked answer counts as
No in the tests of creative writing, and of PaLM 2's answers to LLMBar, which state the verdict
first, the output named last is taken.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.public_data.material import FOLDER, needs_data, needs_reference, reference
from tests.public_data.places import at
from tests.public_data.replaying import read_by, recorded_judges, said_of

if TYPE_CHECKING:
    from tests.public_data.replaying import Read

pytestmark = needs_data

JUDGES = recorded_judges() if FOLDER else []
SCORING = [one for one in JUDGES if one[0] in ("summeval_llm", "topical_chat")]
MISREAD = re.compile(r"out of|/ ?\d|\A\s*\d+\.\s|\bBlocked\b", re.IGNORECASE)
"""Replies that a published reader is known to take for another score."""

READ_OTHERWISE = {"PaLM2/CoT": 147, "LLaMA2/CoT": 1}
"""How many of LLMBar's replies its authors read otherwise than they are written."""

SHOWN = {"ab": {"a": "a", "b": "b"}, "ba": {"a": "b", "b": "a"}}
STATED = re.compile(r"(?<!or )Output \((a|b)\) is better", re.IGNORECASE)


def unread(found: list[Read]) -> list[Read]:
    return [one for one in found if one.theirs is not None and one.ours is None]


@pytest.mark.parametrize(("name", "stem", "judge"), JUDGES)
def test_what_is_read_is_what_was_published_or_a_known_mistake(
    name: str, stem: str, judge: str
) -> None:
    found = read_by(name, stem, judge)
    assert found
    if judge in READ_OTHERWISE:
        return  # told apart below
    apart = [one for one in found if None not in (one.theirs, one.ours) and one.theirs != one.ours]
    unexplained = [one for one in apart if not MISREAD.search(one.text)]
    assert len(unexplained) <= 0.001 * len(found), unexplained[:3]
    missed = unread([one for one in found if not MISREAD.search(one.text)])
    assert len(missed) <= 0.01 * len(found), missed[:3]


@pytest.mark.parametrize("judge", READ_OTHERWISE)
def test_where_llmbars_authors_read_otherwise_the_reply_says_what_judgekit_reads(
    judge: str,
) -> None:
    partings = said_of("llmbar", "pairwise", judge).partings
    assert len(partings) == READ_OTHERWISE[judge]
    for one in partings:
        stated = [letter.lower() for letter in STATED.findall(one.text or "")]
        if one.ours is None:
            assert len(set(stated)) != 1, "it states none, or both"
        else:
            assert SHOWN[str(one.reading[3])][stated[0]] == one.ours


@needs_reference
@pytest.mark.parametrize(("name", "stem", "judge"), SCORING)
def test_a_correlation_from_judgekits_own_reading_is_near_the_published_one(
    name: str, stem: str, judge: str
) -> None:
    if judge.startswith("llama") or not stem.startswith("pointwise_"):
        return  # every fifth reply of Llama 2 was misread; pairs have no correlation of scores
    found = at(said_of(name, stem, judge).told.report, "overall.agreement.pearson.value")
    place = f"{name.partition('_')[0]}_{stem.removeprefix('pointwise_')}"
    theirs = reference()[f"{place}/{judge}/pooled_pearson"]["value"]
    assert found == pytest.approx(theirs, abs=0.01)
