"""The probe of position: whether the output shown first is preferred for being first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.asking import PairAsk
from judgekit.evaluation.auditing.effects import shift
from judgekit.evaluation.auditing.probe import Findings, Heard, Probe, Trial, Trials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.auditing.material import Material

_NO_PAIRS = (
    "no case has two different outputs (give the outputs of two variants; "
    "`identical` shows a liking for a place without them)"
)


def plan_position(material: Material) -> Trials:
    """Every two outputs of a case, in both orders."""
    trials = tuple(
        Trial(
            pair.case.id,
            {"both": PairAsk(case=pair.case, a=pair.a, b=pair.b, rubric=material.rubric)},
        )
        for pair in material.pairs
    )
    return Trials(trials, None if trials else _NO_PAIRS)


def find_position(heard: Sequence[Heard], material: Material) -> Findings:
    """How far the first place is preferred; which output is better cancels out."""
    sides = [(one.first("both", "ab"), one.first("both", "ba")) for one in heard]
    known = [(x, y) for x, y in sides if x is not None and y is not None]
    leans = [None if x is None or y is None else (x + y - 1) / 2 for x, y in sides]
    effect = shift(
        "first place preferred",
        [None if lean is None else 0.0 for lean in leans],
        leans,
        cases=[one.trial.case_id for one in heard],
        margin=material.margins.share,
        scale="lean",
        level=material.level,
    )
    return Findings(
        (effect,),
        {
            "pairs": len(known),
            "contradict themselves": sum(x != 1 - y for x, y in known),
            "first both times": known.count((1.0, 1.0)),
            "second both times": known.count((0.0, 0.0)),
        },
    )


POSITION = Probe(
    name="position",
    question="Does it prefer an output for being shown first?",
    needs="two variants' outputs for the same case",
    cost="2 a pair",
    plan=plan_position,
    find=find_position,
    changes_texts=False,
)
"""The probe."""
