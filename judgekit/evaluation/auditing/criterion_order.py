"""The probe of the order of criteria, for judges that are asked about all of them at once."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.asking import GradeAsk
from judgekit.evaluation.auditing.effects import shift
from judgekit.evaluation.auditing.probe import (
    Findings,
    Heard,
    Probe,
    Trial,
    Trials,
    excess_change,
    plain_ask,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.auditing.material import Material
    from judgekit.records.rubric import Rubric

_ONE_BY_ONE = "the judge is asked one criterion at a time and sees no order (--mode joint shows it)"
_ONE_ONLY = "the rubric has one criterion"


def reversed_rubric(rubric: Rubric) -> Rubric:
    """The rubric with its criteria in the opposite order."""
    return rubric.model_copy(update={"criteria": tuple(reversed(rubric.criteria))})


def plan_criterion_order(material: Material) -> Trials:
    """Every output with the criteria in the opposite order, and again in their own."""
    if not material.asks_all:
        return Trials(skipped=_ONE_BY_ONE)
    if len(material.rubric.criteria) == 1:
        return Trials(skipped=_ONE_ONLY)
    turned = reversed_rubric(material.rubric)
    return Trials(
        tuple(
            Trial(
                case.id,
                {
                    "plain": plain_ask(case, output, material),
                    "again": plain_ask(case, output, material, asking=1),
                    "changed": GradeAsk(case=case, output=output, rubric=turned),
                },
            )
            for case, output in material.items
        )
    )


def find_criterion_order(heard: Sequence[Heard], material: Material) -> Findings:
    """How much higher a criterion scores when it is listed early, and how far scores move at all."""
    cases = [one.trial.case_id for one in heard]
    sides = [_late_and_early(one, material.rubric) for one in heard]
    early = shift(
        "score of a criterion listed early",
        [late for late, _ in sides],
        [early for _, early in sides],
        cases=cases,
        margin=material.margins.value,
        level=material.level,
    )
    again, other = excess_change(heard, "changed")
    moved = shift(
        "scores moved by the order",
        again,
        other,
        cases=cases,
        margin=material.margins.value,
        harm="up",
        level=material.level,
    )
    return Findings((early, moved))


def _late_and_early(one: Heard, rubric: Rubric) -> tuple[float | None, float | None]:
    """The mean value of the criteria where they are listed late, and where early."""
    # The one in the middle stands in the same place both times and says nothing.
    plain, turned = one.criterion_values("plain"), one.criterion_values("changed")
    names = [criterion.name for criterion in rubric.criteria]
    late, early = [], []
    for place, name in enumerate(names):
        if name not in plain or name not in turned or 2 * place == len(names) - 1:
            continue
        is_early = 2 * place < len(names) - 1
        early.append(plain[name] if is_early else turned[name])
        late.append(turned[name] if is_early else plain[name])
    if not early:
        return None, None
    return fsum(late) / len(late), fsum(early) / len(early)


CRITERION_ORDER = Probe(
    name="criterion_order",
    question="Does the order in which criteria are listed change their scores?",
    needs="a judge that is asked all criteria at once (--mode joint), and two criteria",
    cost="1 grading and 2 (shared)",
    plan=plan_criterion_order,
    find=find_criterion_order,
)
"""The probe."""
