"""The probe of identical pairs: whether a text shown twice is a tie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.asking import PairAsk
from judgekit.evaluation.auditing.effects import share, shift
from judgekit.evaluation.auditing.probe import Findings, Heard, Probe, Trial, Trials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.auditing.material import Material


def plan_identical(material: Material) -> Trials:
    """Every output beside itself; both orders are the same question, so that one is asked."""
    return Trials(
        tuple(
            Trial(
                case.id,
                {
                    "same": PairAsk(
                        case=case, a=output, b=output, rubric=material.rubric, orders=("ab",)
                    )
                },
            )
            for case, output in material.items
        )
    )


def find_identical(heard: Sequence[Heard], material: Material) -> Findings:
    """How often it is not a tie, and which place is chosen then."""
    cases = [one.trial.case_id for one in heard]
    first = [one.first("same", "ab") for one in heard]
    split = share(
        "same text twice, no tie",
        [None if lean is None else float(lean != 0.5) for lean in first],  # noqa: PLR2004 - a tie
        cases=cases,
        margin=material.margins.share,
        level=material.level,
    )
    lean = shift(
        "first of the two preferred",
        [None if lean is None else 0.0 for lean in first],
        [None if lean is None else lean - 0.5 for lean in first],
        cases=cases,
        margin=material.margins.share,
        scale="lean",
        level=material.level,
    )
    return Findings((split, lean), {"ties": first.count(0.5)})


IDENTICAL = Probe(
    name="identical",
    question="Does it find a difference between a text and itself?",
    needs="nothing more",
    cost="1",
    plan=plan_identical,
    find=find_identical,
)
"""The probe."""
