"""What a tuning is asked for: what is tried, how labels are split, and the error it may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.errors import SettingsError
from judgekit.evaluation.calibrating.options import CASE, ITEM

if TYPE_CHECKING:
    from judgekit.evaluation.calibrating.options import Consensus

MOST_EXAMPLES = 16
"""More examples than this crowd the output that is to be graded out of the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneOptions:
    """What is tried, how labels are split, and the error the decision may have.

    Raises:
        SettingsError: When one is out of its range.
    """

    few_shot: tuple[int, ...] = (0,)
    """How many examples to try with each wording; 0 is the wording without any."""

    anchors: bool = False
    """Whether to try each wording with anchors: quoted outputs in its scoring guide."""

    holdout: float = 0.4
    """The share of cases that nothing is chosen by, in (0, 1)."""

    alpha: float = 0.05
    """The error the decision may have; intervals are of 1 - alpha."""

    consensus: Consensus = "median"
    """How several annotators come to the label a judge is held against."""

    annotators: tuple[str, ...] = ()
    """Only these annotators; empty for all."""

    cluster: str = CASE
    """What is never split: `case`, or an entry of the metadata that several cases share."""

    seed: int = 0
    """Seed of the split and of the choice among examples that are equally good."""

    def __post_init__(self) -> None:
        for name in ("holdout", "alpha"):
            if not 0 < getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name):g}; it lies between 0 and 1")
        for n in self.few_shot:
            if not 0 <= n <= MOST_EXAMPLES:
                raise SettingsError(f"few_shot has {n}; it goes from 0 to {MOST_EXAMPLES}")
        if self.cluster == ITEM:
            raise SettingsError(
                "outputs of one case are never split", hint="cluster is case, or a metadata entry"
            )
