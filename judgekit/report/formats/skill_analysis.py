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
    """An analysis as an `analysis.json`.

    Args:
        pair: The pair it is of.
        analysis: What was said of it.
        info: The comparison.

    Returns:
        The fields of the format, and under `judgekit` the passages that strengths and weaknesses
        rest on. A suggestion whose `before` does not stand in the output has `verified: false`.
    """
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
    """Write analyses; every file is replaced as a whole or not at all.

    Args:
        path: A folder, made where there is none, for a file `<case>.json` each; `.jsonl` for one
            a line; `.json` for the one analysis there is, or a list of several.
        info: The comparison.
        pairs: Its pairs.
        analyses: The analyses by the places of their pairs.

    Returns:
        How many were written.

    Raises:
        SettingsError: When the suffix is unknown or the folder above does not exist.
        StoreError: When a file cannot be written, or two would have the same name.
    """
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
