from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from judgekit.errors import SettingsError
from judgekit.evaluation import OutputPair, plan_comparison
from judgekit.judge import Panel
from judgekit.models.cache import MemoryCache
from judgekit.testing import ScriptedModel
from tests.factories import make_case, make_judge, make_output, make_rubric
from tests.judge.comparing import fair_judge, prefers

if TYPE_CHECKING:
    from judgekit.judge import Judge

A, B = make_output("Good.", variant="v1"), make_output("Bad.", variant="v2")
CASE, RUBRIC = make_case(), make_rubric("accuracy")


def says(name: str, choice: str, **settings: Any) -> Judge:
    """A judge that gives the same answer in every order."""
    return make_judge(ScriptedModel(lambda _: prefers(choice), name=name), **settings)


def knows(name: str, **settings: Any) -> Judge:
    """A judge that knows which output is the better one."""
    model = fair_judge({"Good.": 2, "Bad.": 1})
    model.name = name
    return make_judge(model, **settings)


async def test_every_judge_sees_both_orders_and_has_one_vote() -> None:
    panel = Panel([knows("x/a"), knows("x/b"), says("x/c", "first")])
    async with panel:
        found = await panel.compare(CASE, A, B, RUBRIC)
    assert found.winner == "a"
    assert found.agreement == pytest.approx(1 / 3)
    assert [(one.judge.split()[0], one.winner) for one in found.judges] == [
        ("x/a", "a"), ("x/b", "a"), ("x/c", "tie"),
    ]  # fmt: skip
    assert len(found.preferences) == 3 * 2 * 2
    assert panel.id.startswith("majority of x/a pairwise/criterion@")


def test_a_panel_compares_for_callers_that_are_not_asynchronous() -> None:
    panel = jk.Panel([knows("x/a"), knows("x/b")])
    assert [panel.compare_sync(CASE, *pair, RUBRIC).winner for pair in ((A, B), (B, A))] == [
        "a", "b",
    ]  # fmt: skip
    panel.close()


async def test_a_judge_alone_is_a_panel_of_one_that_says_the_same() -> None:
    judge = knows("x/a")
    panel = Panel.of(judge)
    assert Panel.of(panel) is panel
    assert panel.id == judge.comparer.id
    assert await panel.compare(CASE, A, B, RUBRIC) == await judge.compare(CASE, A, B, RUBRIC)


async def test_an_output_that_is_an_error_is_not_judged() -> None:
    failed = make_output(None, error="late")
    panel = Panel([knows("x/a"), knows("x/b")])
    found = await panel.compare(CASE, failed, B, RUBRIC)
    assert (found.error, found.winner, found.preferences) == ("output a: late", None, ())


async def test_what_a_judge_has_said_it_is_not_asked_again() -> None:
    panel = Panel([knows("x/a"), says("x/b", "first")])
    whole = await panel.compare(CASE, A, B, RUBRIC)
    known = [one for one in whole.preferences if one.judge.startswith("x/a")]
    answers = panel.observe(CASE, A, B, RUBRIC, said=known)
    async with aclosing(answers):
        told = [one async for some in answers async for one in _each(some)]
    assert {one.judge.split()[0] for one in told} == {"x/b"}
    assert len(told) == 4


async def _each(some: tuple[Any, ...]) -> Any:
    for one in some:
        yield one


def test_a_panel_knows_how_many_calls_it_makes_and_whether_it_keeps_them() -> None:
    judges = [knows("x/a", max_concurrency=3), knows("x/b", max_concurrency=7)]
    assert Panel(judges).max_concurrency == 7
    assert not Panel(judges).keeps
    assert Panel([knows("x/a", cache=MemoryCache())]).keeps


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ([{}, {}], "their votes cannot be distinguished"),
        ([], "a panel needs a judge"),
        ([{"scrub": False}, {"template": "pairwise/letter"}], "are to see the same texts"),
        ([{"rule": "average"}, {"template": "pairwise/letter"}], "be reconciled by one rule"),
    ],
)
def test_judges_that_make_no_panel_are_refused(settings: list[Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        Panel([says("x/a", "first", **each) for each in settings])


def test_the_same_model_with_two_templates_is_two_judges() -> None:
    judges = [says("x/a", "first"), says("x/a", "first", template="pairwise/letter")]
    assert len(Panel(judges).comparers) == 2


def test_a_panels_plan_is_the_sum_of_its_judges() -> None:
    judges = [knows("x/a"), knows("x/b", repeats=2)]
    pairs = [OutputPair(CASE, A, B)]
    alone = [plan_comparison(judge, pairs, RUBRIC) for judge in judges]
    both = plan_comparison(Panel(judges), pairs, RUBRIC)
    assert both.n_questions == sum(plan.n_questions for plan in alone) == 4 + 8
    assert (both.n_pairs, both.price_usd, both.model) == (1, None, "x/a, x/b")


def test_a_rule_there_is_none_of_is_refused() -> None:
    with pytest.raises(SettingsError, match="not 'mean'"):
        make_judge("x/y", rule="mean")


def test_three_sides_are_ranked_by_a_panel() -> None:
    worth: dict[str, float] = {"Good.": 3, "Fair.": 2, "Bad.": 1}
    model = fair_judge(worth)
    model.name = "x/a"
    panel = jk.Panel([make_judge(model), says("x/b", "first")])
    cases = [make_case(id=f"c{k}", input=f"q{k}") for k in range(9)]
    sides = {f"v{n}": [(case, make_output(text)) for case in cases] for text, n in worth.items()}
    found = jk.rank_sync(panel, sides, RUBRIC)
    assert [side.name for side in found.sides] == ["v3", "v2", "v1"]
    assert found.questioned.panel is not None
    assert [one.flip_rate.value for one in found.questioned.panel.judges] == [0, 1]
    assert not found.decision.is_decided, "one vote of two is no majority"
