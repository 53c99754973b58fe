"""What an audit is made on: outputs, pairs of them, the rubric, and what is known of the judge."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.attacks import shipped_corpus
from judgekit.evaluation.auditing.figures import Margins
from judgekit.evaluation.comparing.pairing import Paired

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.auditing.attacks import Attack
    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.records.rubric import Rubric

ASKINGS = 3
"""How often the probe of stability asks."""

ATTACKS = 3
"""Attacks that are tried on each output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
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

    n_askings: int = ASKINGS
    """How often the probe of stability asks."""

    attacks: tuple[Attack, ...] = field(default_factory=lambda: shipped_corpus().attacks)
    """What there is to attack the judge with."""

    n_attacks: int = ATTACKS
    """Attacks that are tried on each output."""

    margins: Margins = field(default_factory=Margins)
    """From which size on an effect matters."""

    level: float = 0.95
    """Confidence level of the intervals."""

    def draw(self, *about: str | None) -> random.Random:
        """The draws of one probe for one output; the same for the same seed."""
        return random.Random(f"judgekit audit {self.seed} {about}")

    @property
    def pairs(self) -> tuple[Paired, ...]:
        """Every two outputs of one case whose texts differ, in order."""
        by_case: dict[str, list[tuple[Case, Output]]] = {}
        for case, output in self.items:
            by_case.setdefault(case.id, []).append((case, output))
        return tuple(
            Paired(case, a, b)
            for group in by_case.values()
            for (case, a), (_, b) in combinations(group, 2)
            if (a.text, a.data) != (b.text, b.data)
        )


def chosen_cases(
    answers: Sequence[tuple[Case, Output]], *, limit: int | None, sample: int | None, seed: int
) -> tuple[tuple[Case, Output], ...]:
    """The outputs of some of the cases; all outputs of a case stay together."""
    names = list(dict.fromkeys(case.id for case, _ in answers))
    if sample is not None and sample < len(names):
        drawn = set(random.Random(seed).sample(names, sample))
        names = [name for name in names if name in drawn]
    wanted = set(names[:limit])
    return tuple((case, output) for case, output in answers if case.id in wanted)
