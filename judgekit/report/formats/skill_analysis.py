"""Writes analyses as a skill's `analysis.json` (S3.5): unblinded, with changes to apply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report.formats.skill_comparison import file_name_of, write_each

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from judgekit.records.compared import (
        Analysis,
        ComparedPair,
        ComparedSide,
        ComparisonInfo,
        Point,
        Suggestion,
    )
    from judgekit.records.record import JsonObject


def skill_analysis(pair: ComparedPair, analysis: Analysis, info: ComparisonInfo) -> JsonObject:
    """An analysis as an `analysis.json`."""
    a, b = _name(info.a, pair.a.variant), _name(info.b, pair.b.variant)
    winner, loser = (a, b) if analysis.winner == "a" else (b, a)
    return {
        "winner_version": winner,
        "loser_version": loser,
        "strengths": [point.text for point in analysis.strengths],
        "weaknesses": [point.text for point in analysis.weaknesses],
        "suggestions": [_suggestion(one) for one in analysis.suggestions],
        "judgekit": {
            "comparison": info.id,
            "case_id": pair.case.id,
            "repeat": pair.repeat,
            "judge": analysis.judge,
            "strengths": [_evidence(point) for point in analysis.strengths],
            "weaknesses": [_evidence(point) for point in analysis.weaknesses],
        },
    }


def write_analyses(
    path: Path,
    info: ComparisonInfo,
    pairs: Iterable[ComparedPair],
    analyses: Mapping[int, Analysis],
) -> int:
    """Write analyses; every file is replaced as a whole or not at all."""
    found = [
        (file_name_of(pair), skill_analysis(pair, analyses[pair.place], info))
        for pair in pairs
        if pair.place in analyses
    ]
    return write_each(path, found)


def _name(side: ComparedSide, variant: str | None) -> str:
    return variant or side.variant or side.label


def _suggestion(one: Suggestion) -> JsonObject:
    # What stands nowhere is an addition; what should stand somewhere and does not is marked.
    is_verified = one.found or not one.before
    return {
        "area": one.area,
        "before": one.before,
        "after": one.after,
        "reasoning": one.reasoning,
        "verified": is_verified,
    }


def _evidence(point: Point) -> JsonObject:
    return {"text": point.text, "quote": point.quote, "found": point.found}
