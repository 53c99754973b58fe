"""Holds what a judge said about one criterion."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CriterionReply:
    """What a judge's reply says about one criterion."""

    raw: float | None
    rationale: str | None = None
    evidence: tuple[str, ...] = ()
    confidence: float | None = None
    cannot_assess: bool = False
