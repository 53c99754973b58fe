"""Recorded judges: which there are, and what judgekit's own templates read of their words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import judgekit as jk
from tests.public_data.by_command import Judged, judged, of_pairs, template_of
from tests.public_data.door import own, replies
from tests.public_data.material import judges_of, rows_of, sets_below

if TYPE_CHECKING:
    from collections.abc import Iterator

PAIRS = {"llmbar": "pairwise", "summeval_llm": "pairwise_"}
SCORES = {"summeval_llm": "pointwise_", "topical_chat": "pointwise_", "ttcw": "pointwise"}


@dataclass(frozen=True)
class Read:
    """A reply, and what was read of it."""

    text: str
    """Its words."""

    theirs: Any
    """What its authors read."""

    ours: Any
    """What judgekit reads."""


def recorded_judges() -> list[tuple[str, str, str]]:
    """Every judge with words and labels: set, file and judge."""
    found = []
    for kinds in (SCORES, PAIRS):
        for name, start in kinds.items():
            for end in sets_below(name, start):
                stem = f"{start}{end}"
                found += [(name, stem, judge) for judge in judges_of(rows_of(f"{name}/{stem}"))]
    return found


def said_of(name: str, stem: str, judge: str) -> Judged:
    """What the command says of a judge."""
    return of_pairs(judge) if name == "llmbar" else judged(name, stem, judge)


def read_by(name: str, stem: str, judge: str) -> list[Read]:
    """What was read of each of a judge's replies."""
    if name == "prometheus_rubric":
        return list(_without_labels(name, stem, judge))
    one = said_of(name, stem, judge)
    return [Read(text, theirs, ours) for text, theirs, ours in one.replies]


def _without_labels(name: str, stem: str, judge: str) -> Iterator[Read]:
    verdicts = jk.read_replies(
        replies(name, stem, judge), template=template_of(name, judge),
        rubric=own(name, f"{stem}.rubric.json"),
    )  # fmt: skip
    read = {
        (one.case_id, one.variant, one.repeat): one.raw
        for verdict in verdicts
        if isinstance(verdict, jk.Verdict)
        for one in verdict.judgments
    }
    for row in rows_of(f"{name}/{stem}"):
        said = zip(row["judge"][judge], row["judge_parsed"][judge], strict=True)
        for repeat, (text, theirs) in enumerate(said):
            yield Read(text, theirs, read.get((row["doc_id"], row["system_id"], repeat)))
