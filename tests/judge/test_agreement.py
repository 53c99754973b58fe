from __future__ import annotations

from judgekit.judge.confidence import PanelAgreement, panel_agreement
from tests.factories import make_judgment


def test_agreement_is_told_for_each_criterion_that_several_have_judged() -> None:
    judged = [
        make_judgment("accuracy", value, judge=name)
        for name, value in (("a", 1.0), ("b", 1.0), ("c", 0.0), ("c", 0.5))
    ]
    alone = make_judgment("style", 1.0, judge="a")
    assert panel_agreement([*judged, alone]) == (PanelAgreement("accuracy", 3, 1 / 3, 0.75),)
