"""What an audit is asked for: probes, sizes, and the margins that no data can decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgekit.errors import SettingsError
from judgekit.evaluation.auditing.figures import Margins
from judgekit.evaluation.auditing.material import ASKINGS, ATTACKS

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.evaluation.auditing.attacks import Corpus


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """Probes, sizes and margins of an audit.

    Raises:
        SettingsError: When one is out of its range.
    """

    probes: tuple[str, ...] = ()
    """Names of probes; empty for all."""

    n_cases: int | None = None
    """So many cases, drawn at random; None takes all."""

    paraphrases: tuple[str, ...] = ()
    """Templates that say the same as the judge's in other words; empty for those shipped."""

    family: str | None = None
    """The judge's own family of models (GPT, Claude, …); None reads it from the model's name."""

    n_askings: int = ASKINGS
    """How often the probe of stability asks, 2 or more."""

    attacks: Corpus | Path | str | None = None
    """Attacks of your own, or a file of them as `read_attacks` takes it; None for those shipped."""

    n_attacks: int = ATTACKS
    """Attacks tried on each output, 1 or more."""

    margins: Margins = field(default_factory=Margins)
    """From which size on an effect matters."""

    level: float = 0.95
    """Confidence level of the intervals, in (0, 1)."""

    seed: int = 0
    """Seed of every draw."""

    max_cost_usd: float | None = None
    """What may be spent; a probe that would not fit into what those before it leave is skipped,
    where the price is known."""

    def __post_init__(self) -> None:
        for name, least in (("n_askings", 2), ("n_attacks", 1), ("n_cases", 1)):
            given = getattr(self, name)
            if given is not None and given < least:
                raise SettingsError(f"{name} is {given}; it is {least} or more")
        if not 0 < self.level < 1:
            raise SettingsError(f"level is {self.level:g}; it lies between 0 and 1")
