"""Recorded replies, read by judgekit's own templates; skipped without `JUDGEKIT_DATA`.

The published readings are wrong in places, and these are known: of "a 4 out of 5" SummEval's
authors take the 5, of "1. Engagingness: 2" Topical-Chat's take the 1, and a blocked answer counts
as No in the tests of creative writing.
"""

from __future__ import annotations

import re

import pytest

from judgekit.stats.correlations import correlation
from tests.published.material import FOLDER, needs_data, needs_reference, reference, rows_of
from tests.published.replaying import read_of, recorded_judges, verdicts_of

pytestmark = needs_data

JUDGES = recorded_judges() if FOLDER else []
MISREAD = re.compile(r"out of|/ ?\d|\A\s*\d+\.\s|\bBlocked\b", re.IGNORECASE)
"""Replies that a published reader is known to take for another score."""


def replies(stem: str, judge: str) -> list[tuple[str, float | None, float | None]]:
    """Words, published reading and judgekit's reading of every reply to an output with a text."""
    stem_, _, template = next(one for one in JUDGES if one[:2] == (stem, judge))
    ours = read_of(verdicts_of(stem_, judge, template))
    found = []
    for row in rows_of(stem):
        said = zip(row["judge"].get(judge, ()), row["judge_parsed"].get(judge, ()), strict=True)
        for repeat, (text, theirs) in enumerate(said):
            key = (row["doc_id"], row["system_id"], row.get("criterion", "quality"), repeat)
            if key in ours:
                found.append((text, theirs, ours[key]))
    return found


@pytest.mark.parametrize(("stem", "judge", "template"), JUDGES)
def test_what_is_read_is_what_was_published_or_a_known_mistake(
    stem: str, judge: str, template: str
) -> None:
    del template
    found = replies(stem, judge)
    assert found
    both = [one for one in found if one[1] is not None and one[2] is not None]
    apart = [one for one in both if one[1] != one[2]]
    unexplained = [one for one in apart if not MISREAD.search(one[0])]
    assert len(unexplained) <= 0.001 * len(found), unexplained[:3]
    sound = [one for one in found if not MISREAD.search(one[0])]
    unread = [one for one in sound if one[1] is not None and one[2] is None]
    assert len(unread) <= 0.01 * len(found), unread[:3]


@needs_reference
@pytest.mark.parametrize(("stem", "judge", "template"), JUDGES)
def test_a_correlation_from_judgekits_own_reading_is_near_the_published_one(
    stem: str, judge: str, template: str
) -> None:
    folder, _, criterion = stem.partition("_llm/pointwise_")
    if not criterion or judge.startswith("llama"):
        folder, _, criterion = stem.partition("_chat/pointwise_")
    if not criterion:
        return  # the others have no correlation of scores, or were misread in every fifth reply
    ours = read_of(verdicts_of(stem, judge, template))
    pairs = []
    for row in rows_of(stem):
        key = (row["doc_id"], row["system_id"], row["criterion"])
        n = len(row["judge"].get(judge, ()))
        samples = [one for at in range(n) if (one := ours[(*key, at)]) is not None]
        if samples:
            pairs.append((sum(samples) / len(samples), row["human_mean"]))
    found = correlation([a for a, _ in pairs], [b for _, b in pairs], "pearson").value
    theirs = reference()[f"{folder}_{criterion}/{judge}/pooled_pearson"]["value"]
    assert found == pytest.approx(theirs, abs=0.01)
