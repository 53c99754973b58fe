"""Options of an audit, and the inputs of its probes: outputs, pairs, rubric and attacks."""

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

DEFAULT_N_REPEATS = 3
"""Repeats in the stability probe."""

DEFAULT_N_ATTACKS = 3
"""Attacks tried on each output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """Probes, sizes and margins of an audit.

    Attributes:
        probes: Names of probes; empty for all.
        n_cases: Size of a random sample of cases; None takes all.
        paraphrases: Templates that paraphrase the judge's own; empty for those shipped.
        family: The judge's model family (GPT, Claude, …); None infers it from the model's name.
        n_askings: Repeats in the stability probe, 2 or more.
        attacks: Your own attacks, or a file that `read_attacks` accepts; None for those shipped.
        n_attacks: Attacks tried on each output, 1 or more.
        margins: The smallest effects that matter.
        level: Confidence level of the intervals, in (0, 1).
        seed: Seed of every random choice.
        max_cost_usd: The spending limit. A probe of known price that exceeds what the earlier
            probes leave is skipped.

    Raises:
        SettingsError: When one is out of its range.
    """

    probes: tuple[str, ...] = ()
    n_cases: int | None = None
    paraphrases: tuple[str, ...] = ()
    family: str | None = None
    n_askings: int = DEFAULT_N_REPEATS
    attacks: AttackCorpus | Path | str | None = None
    n_attacks: int = DEFAULT_N_ATTACKS
    margins: Margins = field(default_factory=Margins)
    level: float = 0.95
    seed: int = 0
    max_cost_usd: float | None = None

    def __post_init__(self) -> None:
        for name, least in (("n_askings", 2), ("n_attacks", 1), ("n_cases", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise SettingsError(f"{name} is {value}; it is {least} or more")
        if not 0 < self.level < 1:
            raise SettingsError(f"level is {self.level:g}; it lies between 0 and 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditInputs:
    """Everything a probe can use to plan its questions.

    Attributes:
        items: Cases with their outputs, in order, without outputs that record an error.
        family: The judge's model family, as a text would name it; None if unknown.
        is_recorded: Whether the judge's answers are recorded, so that there are none for changed
            texts.
    """

    items: tuple[tuple[Case, Output], ...]
    rubric: Rubric
    asks_all: bool = False
    paraphrases: tuple[str, ...] = ()
    family: str | None = None
    is_recorded: bool = False
    attacks: tuple[Attack, ...] = field(default_factory=lambda: shipped_corpus().attacks)
    options: AuditOptions = field(default_factory=AuditOptions)

    def draw(self, *about: str | None) -> random.Random:
        """The random generator of one probe for one output."""
        # One for each output, so that adding outputs or probes changes no other choice.
        return random.Random(f"judgekit audit {self.options.seed} {about}")

    @property
    def pairs(self) -> tuple[OutputPair, ...]:
        """All pairs of different outputs of one case, in order."""
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
        sampled = set(random.Random(seed).sample(names, sample))
        names = [name for name in names if name in sampled]
    wanted = set(names[:limit])
    return tuple((case, output) for case, output in answers if case.id in wanted)
