"""What approvals look like in a terminal, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report import view
from judgekit.report.listing_terminal import print_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from judgekit.evaluation.comparing.approving import Standing
    from judgekit.records.compared import Approval
    from judgekit.records.record import JsonObject

STANDING_WORDS: dict[Standing, str] = {
    "approved": "approved",
    "stale": "no longer: changed",
    "unknown": "version not found",
}
"""What each standing is called."""

_WORDS_SHOWN = 60


def print_approvals(console: Console, found: Sequence[tuple[Approval, Standing]]) -> None:
    """Print a row for each approval."""
    heads = ["variant", "better than", "standing", "approved, UTC", "by", "because", "evidence"]
    rows = [
        [
            one.variant,
            one.baseline,
            STANDING_WORDS[standing],
            f"{one.at:%Y-%m-%d %H:%M}",
            one.by,
            view.printable(one.because, _WORDS_SHOWN),
            ", ".join(one.evidence),
        ]
        for one, standing in found
    ]
    print_rows(console, heads, rows)


def approval_json(found: Approval, standing: Standing) -> JsonObject:
    """An approval as JSON."""
    return {**found.to_json(), "standing": standing}
