"""Probes of order: position of an output, a text compared with itself.

The order of criteria.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from judgekit.bias_audit.probe import (
    GradeProbe,
    PairProbe,
    Probe,
    ProbeEffects,
    Trial,
    TrialAnswers,
    Trials,
    excess_change,
    plain_question,
)
from judgekit.bias_audit.results import share_effect, shift_effect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.bias_audit.inputs import AuditInputs
    from judgekit.records import Rubric

_NO_PAIRS = (
    "no case has two different outputs (give the outputs of two variants; "
    "`identical` shows a liking for a place without them)"
)


def plan_position(material: AuditInputs) -> Trials:
    """Every two outputs of a case, in both orders."""
    trials = tuple(
        Trial(
            pair.case.id,
            {"both": PairProbe(case=pair.case, a=pair.a, b=pair.b, rubric=material.rubric)},
        )
        for pair in material.pairs
    )
    return Trials(trials, None if trials else _NO_PAIRS)


def find_position(heard: Sequence[TrialAnswers], material: AuditInputs) -> ProbeEffects:
    """How far the first place is preferred; which output is better cancels out."""
    sides = [(one.first("both", "ab"), one.first("both", "ba")) for one in heard]
    known = [(x, y) for x, y in sides if x is not None and y is not None]
    # 0 for a judge that goes by the output, ±½ for one that goes by the place alone.
    leans = [None if x is None or y is None else (x + y - 1) / 2 for x, y in sides]
    effect = shift_effect(
        "first place preferred",
        [None if lean is None else 0.0 for lean in leans],
        leans,
        cases=[one.trial.case_id for one in heard],
        margin=material.margins.share,
        scale="lean",
        level=material.level,
    )
    return ProbeEffects(
        (effect,),
        {
            "pairs": len(known),
            "contradict themselves": sum(x != 1 - y for x, y in known),
            "first both times": known.count((1.0, 1.0)),
            "second both times": known.count((0.0, 0.0)),
        },
    )


POSITION_PROBE = Probe(
    name="position",
    question="Does it prefer an output for being shown first?",
    needs="two variants' outputs for the same case",
    cost="2 a pair",
    plan=plan_position,
    find=find_position,
    changes_texts=False,
)
"""The probe."""


def plan_identical(material: AuditInputs) -> Trials:
    """Every output beside itself; both orders are the same question, so that one is asked."""
    return Trials(
        tuple(
            Trial(
                case.id,
                {
                    "same": PairProbe(
                        # One order suffices: turned round, the same text makes the same request.
                        case=case,
                        a=output,
                        b=output,
                        rubric=material.rubric,
                        orders=("ab",),
                    )
                },
            )
            for case, output in material.items
        )
    )


def find_identical(heard: Sequence[TrialAnswers], material: AuditInputs) -> ProbeEffects:
    """How often it is not a tie, and which place is chosen then."""
    cases = [one.trial.case_id for one in heard]
    first = [one.first("same", "ab") for one in heard]
    split = share_effect(
        "same text twice, no tie",
        [None if lean is None else float(lean != 0.5) for lean in first],  # noqa: PLR2004 - a tie
        cases=cases,
        margin=material.margins.share,
        level=material.level,
    )
    lean = shift_effect(
        "first of the two preferred",
        [None if lean is None else 0.0 for lean in first],
        [None if lean is None else lean - 0.5 for lean in first],
        cases=cases,
        margin=material.margins.share,
        scale="lean",
        level=material.level,
    )
    return ProbeEffects((split, lean), {"ties": first.count(0.5)})


IDENTICAL_PROBE = Probe(
    name="identical",
    question="Does it find a difference between a text and itself?",
    needs="nothing more",
    cost="1",
    plan=plan_identical,
    find=find_identical,
)
"""The probe."""

_ONE_BY_ONE = "the judge is asked one criterion at a time and sees no order (--mode joint shows it)"
_ONE_ONLY = "the rubric has one criterion"


def reversed_rubric(rubric: Rubric) -> Rubric:
    """The rubric with its criteria in the opposite order."""
    return rubric.model_copy(update={"criteria": tuple(reversed(rubric.criteria))})


def plan_criterion_order(material: AuditInputs) -> Trials:
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
                    "plain": plain_question(case, output, material),
                    "again": plain_question(case, output, material, asking=1),
                    "changed": GradeProbe(case=case, output=output, rubric=turned),
                },
            )
            for case, output in material.items
        )
    )


def find_criterion_order(heard: Sequence[TrialAnswers], material: AuditInputs) -> ProbeEffects:
    """How much higher a criterion scores when it is listed early.

    How far scores move at all.
    """
    cases = [one.trial.case_id for one in heard]
    sides = [_late_and_early(one, material.rubric) for one in heard]
    early = shift_effect(
        "score of a criterion listed early",
        [late for late, _ in sides],
        [early for _, early in sides],
        cases=cases,
        margin=material.margins.value,
        level=material.level,
    )
    again, other = excess_change(heard, "changed")
    moved = shift_effect(
        "scores moved by the order",
        again,
        other,
        cases=cases,
        margin=material.margins.value,
        harm="up",
        level=material.level,
    )
    return ProbeEffects((early, moved))


def _late_and_early(one: TrialAnswers, rubric: Rubric) -> tuple[float | None, float | None]:
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


CRITERION_ORDER_PROBE = Probe(
    name="criterion_order",
    question="Does the order in which criteria are listed change their scores?",
    needs="a judge that is asked all criteria at once (--mode joint), and two criteria",
    cost="1 grading and 2 (shared)",
    plan=plan_criterion_order,
    find=find_criterion_order,
)
"""The probe."""
