from __future__ import annotations

import pytest

from judgekit.errors import InputError
from judgekit.models.request import ModelRequest, Subject
from judgekit.testing import Faults, FlawedModel
from tests.factories import make_case, make_judge, make_output, make_rubric

TEMPLATES = ("criterion", "joint", "fair_eval", "mt_bench", "letter", "llmbar", "llmbar_vanilla")
WORTH = {"a": 0.9, "b": 0.2}


@pytest.mark.parametrize("template", TEMPLATES)
async def test_a_fair_fake_judge_can_be_asked_by_every_shipped_template(template: str) -> None:
    judge = make_judge(FlawedModel(WORTH), template=f"pairwise/{template}")
    found = await judge.compare(make_case(), make_output("x"), make_output("y"), make_rubric())
    assert (found.winner, found.consistent, found.failures) == ("a", True, ())
    if template in {"criterion", "joint", "fair_eval"}:
        assert found.raw_winner == "a"
        assert not any("scores_disagree" in p.flags for p in found.preferences)


@pytest.mark.parametrize("template", TEMPLATES)
async def test_one_that_takes_the_first_slot_decides_nothing_in_any_form(template: str) -> None:
    model = FlawedModel(WORTH, faults=Faults(always_first=1))
    judge = make_judge(model, template=f"pairwise/{template}")
    found = await judge.compare(make_case(), make_output("x"), make_output("y"), make_rubric())
    assert (found.winner, found.consistent) == ("tie", False)


async def test_equal_worth_is_a_tie_where_ties_are_allowed() -> None:
    for template in ("criterion", "fair_eval", "mt_bench", "letter"):
        judge = make_judge(FlawedModel(0.5), template=f"pairwise/{template}")
        found = await judge.compare(make_case(), make_output("x"), make_output("y"), make_rubric())
        assert (found.winner, found.consistent) == ("tie", True)


async def test_a_form_it_does_not_know_is_refused() -> None:
    request = ModelRequest(
        model="m", messages=({"role": "user", "content": "Which?"},), subject=Subject(order="ab")
    )
    with pytest.raises(InputError, match="answers by a reply schema"):
        await FlawedModel(WORTH).complete(request)
