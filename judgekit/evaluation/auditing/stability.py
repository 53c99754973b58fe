"""The probe of stability: the same question again, at the judge's own temperature."""

from __future__ import annotations

from itertools import combinations
from math import fsum, sqrt
from statistics import variance
from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.effects import share
from judgekit.evaluation.auditing.probe import Findings, Heard, Probe, Trial, Trials, plain_ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.auditing.material import Material

_TWO = 2


def plan_stability(material: Material) -> Trials:
    """Every output several times, each time a question of its own in the cache."""
    return Trials(
        tuple(
            Trial(
                case.id,
                {
                    str(asking): plain_ask(case, output, material, asking=asking)
                    for asking in range(material.n_askings)
                },
            )
            for case, output in material.items
        )
    )


def find_stability(heard: Sequence[Heard], material: Material) -> Findings:
    """How often two askings come to another verdict, and how far their values lie apart."""
    effect = share(
        "verdict changes when asked again",
        [_disagreement(one) for one in heard],
        cases=[one.trial.case_id for one in heard],
        margin=material.margins.share,
        level=material.level,
    )
    values = [[v for arm in one.trial.arms if (v := one.value(arm)) is not None] for one in heard]
    within = [variance(row) for row in values if len(row) >= _TWO]
    same = [row for row in values if len(row) >= _TWO and len(set(row)) == 1]
    counts: dict[str, float | int | str] = {"askings": material.n_askings}
    if within:
        counts["sd within an output"] = round(sqrt(fsum(within) / len(within)), 4)
        counts["outputs with one value throughout"] = f"{len(same)} of {len(within)}"
    return Findings((effect,), counts)


def _disagreement(one: Heard) -> float | None:
    """The share of two askings that disagree; None with fewer than two verdicts."""
    verdicts = [found for arm in one.trial.arms if (found := one.passed(arm)) is not None]
    pairs = list(combinations(verdicts, _TWO))
    return None if not pairs else sum(x != y for x, y in pairs) / len(pairs)


STABILITY = Probe(
    name="stability",
    question="Does it change its verdict when it is asked again?",
    needs="nothing more",
    cost="3 gradings (2 shared)",
    plan=plan_stability,
    find=find_stability,
    changes_texts=False,
)
"""The probe."""
