"""What another tool's results come to: the cases, what was produced, and what was said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.records.case import Dataset
    from judgekit.records.judgment import Judgment
    from judgekit.records.output import Output


@dataclass(frozen=True, slots=True)
class ForeignResults:
    """Results of another tool."""

    dataset: Dataset
    """The cases; empty where the file does not describe them."""

    outputs: tuple[Output, ...]
    """What was produced, in the file's order; `metadata` keeps what the tool concluded."""

    judgments: tuple[Judgment, ...]
    """What was said of the outputs; `repeat` counts outputs of one case and variant."""

    n_unread: Mapping[str, int]
    """How many objects there are of each type that is neither, such as trends."""
