"""Holds what a judge said about one criterion."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CriterionReply:
    """What a judge's reply says about one criterion.

    Attributes:
        raw: The score on the criterion's own scale; None when the judge cannot assess it.
        rationale: Why, in the judge's words.
        evidence: Passages the judge quotes, in its order.
        confidence: How sure the judge says it is, in [0, 1].
        cannot_assess: Whether the judge says that the criterion cannot be judged.
    """

    raw: float | None
    rationale: str | None = None
    evidence: tuple[str, ...] = ()
    confidence: float | None = None
    cannot_assess: bool = False
