"""What a calibration is asked for: levels, limits and policies, none of which data can decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from judgekit.errors import SettingsError

Consensus = Literal["median", "mean", "majority"]
"""How several annotators come to one label."""

Rightness = Literal["pass", "exact", "within_one"]
"""When a judge is right: it passes what people pass, gives their score, or one level off."""

Alignment = Literal["accuracy", "neg_rmse"]
"""What the alternative-annotator test goes by: equal labels, or squared errors."""

LabelsAre = Literal["random", "other"]

CASE, ITEM = "case", "item"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOptions:
    """Levels, limits and policies of a calibration.

    Raises:
        SettingsError: When one is out of its range.
    """

    level: float = 0.95
    """Confidence level of every interval, in (0, 1)."""

    consensus: Consensus = "median"
    """How several annotators come to the label a judge is held against; a half goes up. Biases
    and correlations are taken against their mean."""

    labels_are: LabelsAre | None = None
    """How the labelled items were chosen: `random` among those judged, or `other`; None assumes
    the first where the judge's scores do not speak against it, and says so."""

    right: Rightness = "pass"
    """When the judge counts as right; of comparisons it is the same winner."""

    max_error: float = 0.05
    """The share of errors that judgments taken over without review may have, in (0, 1)."""

    delta: float = 0.1
    """The chance that the review threshold does not keep `max_error`, in (0, 1)."""

    categories: bool = False
    """Whether the levels of every scale are categories, of which none is higher than another."""

    epsilon: float = 0.2
    """The advantage a judge gets in the alternative-annotator test for being cheaper: .2 against
    experts, .15 against skilled annotators, .1 against crowds."""

    alignment: Alignment | None = None
    """What that test goes by; None takes equal labels for two levels, squared errors else."""

    half_width: float = 0.05
    """The half-width of the corrected rate's interval that further labels are counted for."""

    n_suggested: int = 10
    """How many items to propose for labelling."""

    n_worst: int = 5
    """How many disagreements to show of each criterion."""

    cluster: str = CASE
    """What is independent: `case`, `item` (each output by itself), or an entry of the cases'
    metadata, such as a document several cases share."""

    by: tuple[str, ...] = ()
    """Entries of the metadata that segments and correlations within groups are formed by."""

    annotators: tuple[str, ...] = ()
    """Only these annotators; empty for all."""

    seed: int = 0
    """Seed of folds and simulations."""

    def __post_init__(self) -> None:
        for name in ("level", "max_error", "delta", "half_width"):
            if not 0 < getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name):g}; it lies between 0 and 1")
        if not 0 <= self.epsilon < 1:
            raise SettingsError(f"epsilon is {self.epsilon:g}; it lies in [0, 1)")
        for name in ("n_suggested", "n_worst"):
            if getattr(self, name) < 0:
                raise SettingsError(f"{name} is {getattr(self, name)}; it is 0 or more")
