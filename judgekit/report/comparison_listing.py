"""What stored comparisons look like in a terminal: a row each, how one was made, one pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.prompts.pair_rendering import shown_text
from judgekit.prompts.rendering import as_text
from judgekit.report import view
from judgekit.report.comparison_terminal import comparison_lines
from judgekit.report.listing_terminal import print_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from judgekit.records.compared import (
        Analysis,
        ComparedPair,
        ComparedSide,
        ComparisonInfo,
        ComparisonStatus,
    )
    from judgekit.records.comparison import Comparison

STATUS_WORDS: dict[ComparisonStatus, str] = {
    "running": "running, or killed",
    "complete": "complete",
    "incomplete": "the judge failed",
    "interrupted": "interrupted",
    "stopped": "stopped",
    "decided": "decided early",
}
"""What each status is called."""

_MOST_TEXT = 600


def print_comparisons(console: Console, found: Sequence[ComparisonInfo]) -> None:
    """Print a row for each comparison."""
    heads = ["comparison", "A", "B", "rubric", "judge", "started, UTC", "status", "pairs"]
    rows = [
        [
            info.id,
            info.a.label,
            info.b.label,
            info.rubric.name,
            info.judge.partition(" ")[0],
            f"{info.started_at:%Y-%m-%d %H:%M}",
            STATUS_WORDS[info.status],
            f"{info.n_pairs:,}",
        ]
        for info in found
    ]
    print_rows(console, heads, rows)


def print_how(console: Console, info: ComparisonInfo) -> None:
    """Print what each side was and how they were shown."""
    scrubbed = "taken out" if info.scrub else "left in"
    labels = f"drawn, seed {info.label_seed}" if info.draw_labels else "none"
    status = STATUS_WORDS[info.status] + (f": {info.reason}" if info.reason else "")
    for line in (
        "",
        f"{info.id}, begun {info.started_at:%Y-%m-%d %H:%M} UTC, {status}",
        f"A       {_side(info.a)}",
        f"B       {_side(info.b)}",
        f"shown   in both orders; labels {labels}; names of makers {scrubbed}",
    ):
        console.print(line, markup=False, soft_wrap=True, style="dim")


def print_pair(
    console: Console,
    info: ComparisonInfo,
    pair: ComparedPair,
    found: Comparison,
    analysis: Analysis | None,
) -> None:
    """Print a pair: the input, both outputs, what the judge said, why the loser lost."""
    repeat = f" #{pair.repeat + 1}" if pair.repeat else ""
    texts = (
        f"case {view.printable(pair.case.id)}{repeat}",
        view.printable(as_text(pair.case.input), _MOST_TEXT),
        f"A, {view.printable(info.a.label)}:",
        view.printable(pair.a.error or shown_text(pair.a), _MOST_TEXT),
        f"B, {view.printable(info.b.label)}:",
        view.printable(pair.b.error or shown_text(pair.b), _MOST_TEXT),
        comparison_lines(found),
        *([] if analysis is None else _analysis_lines(analysis)),
    )
    for text in texts:
        console.print(text, markup=False, soft_wrap=True)


def _side(side: ComparedSide) -> str:
    parts = [view.printable(side.label)]
    if side.run_id is not None:
        parts.append(f"run {side.run_id}")
    if side.version is not None:
        parts.append(f"version {side.version.fingerprint[:12]}")
        if side.version.model is not None:
            parts.append(view.printable(side.version.model))
    return ", ".join(parts)


def _analysis_lines(analysis: Analysis) -> list[str]:
    lines = [f"      strength: {view.printable(one.text)}" for one in analysis.strengths]
    lines += [f"      weakness: {view.printable(one.text)}" for one in analysis.weaknesses]
    for one in analysis.suggestions:
        doubt = "" if one.found or not one.before else " (not found in the output)"
        before = view.printable(one.before) or "nothing"
        lines.append(f"      change {view.printable(one.area)}: {before}{doubt}")
        lines.append(f"        to: {view.printable(one.after)}  {view.printable(one.reasoning)}")
    return lines
