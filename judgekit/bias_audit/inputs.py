"""Options of an audit and what its probes work on: outputs, pairs, rubric, attacks.

What is known of the judge.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from judgekit.bias_audit.attacks import shipped_corpus
from judgekit.bias_audit.results import Margins
from judgekit.errors import SettingsError
from judgekit.evaluation import OutputPair

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judgekit.bias_audit.attacks import Attack, AttackCorpus
    from judgekit.records import Case, Output, Rubric

DEFAULT_N_ASKINGS = 3
"""How often the probe of stability asks."""

DEFAULT_N_ATTACKS = 3
"""Attacks that are tried on each output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditInputs:
    """Everything that a probe may look at before it asks."""

    items: tuple[tuple[Case, Output], ...]
    """Cases with their outputs, in order; none is an error of the system under test."""

    rubric: Rubric
    """How they are judged."""

    asks_all: bool = False
    """Whether the judge is asked about all criteria at once."""

    paraphrases: tuple[str, ...] = ()
    """Templates that say the same as the judge's in other words."""

    family: str | None = None
    """The judge's own family of models, as a text would name it; None where it is not known."""

    is_recorded: bool = False
    """Whether the judge's answers are recorded, so that they say nothing of changed texts."""

    seed: int = 0
    """Seed of every draw."""

    n_askings: int = DEFAULT_N_ASKINGS
    """How often the probe of stability asks."""

    attacks: tuple[Attack, ...] = field(default_factory=lambda: shipped_corpus().attacks)
    """What there is to attack the judge with."""

    n_attacks: int = DEFAULT_N_ATTACKS
    """Attacks that are tried on each output."""

    margins: Margins = field(default_factory=Margins)
    """From which size on an effect matters."""

    level: float = 0.95
    """Confidence level of the intervals."""

    def draw(self, *about: str | None) -> random.Random:
        """The draws of one probe for one output; the same for the same seed."""
        return random.Random(f"judgekit audit {self.seed} {about}")

    @property
    def pairs(self) -> tuple[OutputPair, ...]:
        """Every two outputs of one case whose texts differ, in order."""
        by_case: dict[str, list[tuple[Case, Output]]] = {}
        for case, output in self.items:
            by_case.setdefault(case.id, []).append((case, output))
        return tuple(
            OutputPair(case, a, b)
            for group in by_case.values()
            for (case, a), (_, b) in combinations(group, 2)
            if (a.text, a.data) != (b.text, b.data)
        )


def select_cases(
    answers: Sequence[tuple[Case, Output]], *, limit: int | None, sample: int | None, seed: int
) -> tuple[tuple[Case, Output], ...]:
    """The outputs of some of the cases; all outputs of a case stay together."""
    names = list(dict.fromkeys(case.id for case, _ in answers))
    if sample is not None and sample < len(names):
        drawn = set(random.Random(seed).sample(names, sample))
        names = [name for name in names if name in drawn]
    wanted = set(names[:limit])
    return tuple((case, output) for case, output in answers if case.id in wanted)


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

    n_askings: int = DEFAULT_N_ASKINGS
    """How often the probe of stability asks, 2 or more."""

    attacks: AttackCorpus | Path | str | None = None
    """Attacks of your own, or a file of them as `read_attacks` takes it; None for those shipped."""

    n_attacks: int = DEFAULT_N_ATTACKS
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
