"""Judges with a name, which grade only the criteria that name them; needs that no case meets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from judgekit.datasets import Suite
from judgekit.errors import SettingsError, TemplateError
from judgekit.evaluation import Outcome, Session, conclude_result, plan_suite
from judgekit.evaluation.runner import new_run
from judgekit.records import RunPanel
from judgekit.scoring import conclude
from tests.evaluation.suites import NOW, Bench, rows
from tests.factories import (
    make_case,
    make_criterion,
    make_failure,
    make_judgment,
    make_rubric,
    reply,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeBench = Callable[..., Bench]

PLAIN = {"model": "recorded:plain.jsonl"}
STRONG = {"model": "recorded:strong.jsonl", "name": "strong"}
RUBRIC = """\
name: answers
criteria:
  - {name: good, question: "Is it good?", scale: one_to_five}
  - {name: safe, question: "Is it safe?", scale: one_to_five, judge: strong}
"""


def judged_by(make: MakeBench, *judges: Any, rubric: str = RUBRIC, **suite: Any) -> Bench:
    """A suite whose judge `plain` always gives 2, and whose judge `strong` always gives 5."""
    known = {"judge": list(judges or (PLAIN, STRONG)), "rubric": "rubric.yaml"}
    small = make(**known | {"assertions": None} | suite)
    folder = small.path.parent
    (folder / "rubric.yaml").write_text(rubric, encoding="utf-8")
    for name, score in {"plain": 2, "strong": 5}.items():
        replies = ({"case_id": f"c{k}", "text": reply(score, confidence=0.9)} for k in range(4))
        (folder / f"{name}.jsonl").write_text(rows(*replies), encoding="utf-8")
    return small


def outcomes(small: Bench) -> list[Outcome]:
    assert small.run is not None
    return [conclude_result(result, small.run) for result in small.results()]


def scores(small: Bench) -> set[tuple[tuple[str, float], ...]]:
    """By criterion what was judged of each case."""
    return {
        tuple(sorted((j.criterion, j.raw) for j in outcome.result.judgments))
        for outcome in outcomes(small)
    }


async def test_each_criterion_is_graded_by_its_own_judge_alone(bench: MakeBench) -> None:
    small = judged_by(bench)
    run = await small.sit()
    assert (run.status, scores(small)) == ("complete", {(("good", 2.0), ("safe", 5.0))})
    # (0.25 + 1) / 2: the other judge of each criterion is no missing vote.
    assert {(o.value, o.verdict.value_low) for o in outcomes(small) if o.verdict} == {
        (0.625, 0.625)
    }


async def test_a_resumed_run_asks_nobody_again(bench: MakeBench) -> None:
    small = judged_by(bench)
    await small.sit()
    before = small.results()
    for name in ("plain", "strong"):  # whoever asks again gets another score
        wrong = rows(*({"case_id": f"c{k}", "text": reply(1)} for k in range(4)))
        (small.path.parent / f"{name}.jsonl").write_text(wrong, encoding="utf-8")
    await small.sit()
    assert small.results() == before


async def test_a_cascade_leaves_named_judges_out(bench: MakeBench) -> None:
    other = {"model": "recorded:strong.jsonl", "template": "pointwise/no_reference"}
    settings = {"combine": "cascade", "escalate_below": 0.5}
    small = judged_by(bench, PLAIN, other, STRONG, panel=settings)
    run = await small.sit()
    assert (run.status, scores(small)) == ("complete", {(("good", 2.0), ("safe", 5.0))})


async def test_a_plan_counts_each_judge_for_its_own_criteria(bench: MakeBench) -> None:
    plan = await plan_suite(judged_by(bench, PLAIN, {**STRONG, "repeats": 2}).open())
    assert [model.n_questions for model in plan.models] == [4, 8]


async def test_a_person_with_a_name_is_asked_for_that_criterion_only(bench: MakeBench) -> None:
    small = judged_by(bench, PLAIN, {"model": "human", "name": "strong"})
    run = await small.sit()
    waiting = small.store.queue(run.id)
    assert run.status == "waiting"
    assert {item.criterion for item in waiting} == {"safe"}
    plan = await plan_suite(small.open())
    assert plan.people == (4, 4)


@pytest.mark.parametrize(
    ("judges", "message"),
    [
        ([PLAIN], "criterion 'safe' is to be graded by the judge 'strong', and no judge has a nam"),
        (
            [PLAIN, {**STRONG, "name": "weak"}],
            "graded by the judge 'strong', and its judges are named weak",
        ),
        ([STRONG], "criterion 'good' names no judge, and every judge has a name"),
        (
            [PLAIN, STRONG, {"model": "human", "name": "ann"}],
            "the suite's judge 'ann' has nothing to grade: no criterion names it",
        ),
    ],
)
async def test_judges_and_criteria_must_fit_before_the_first_call(
    bench: MakeBench, judges: list[Any], message: str
) -> None:
    small = judged_by(bench, *judges)
    with pytest.raises(SettingsError, match=message):
        new_run(small.open(), now=NOW)
    with pytest.raises(SettingsError, match=message):
        await plan_suite(small.open())


@pytest.mark.parametrize(
    ("judges", "message"),
    [
        ([{"model": "a/b", "name": "x"}, {"model": "a/c", "name": "x"}], "two judges have the nam"),
        ([{"model": "heuristic", "name": "x"}], "the judge `heuristic` takes no `name`"),
    ],
)
def test_names_of_judges_are_checked_with_the_suite(judges: list[Any], message: str) -> None:
    fields = {"name": "s", "cases": [make_case(reference="x")], "rubric": "helpfulness"}
    with pytest.raises(ValidationError, match=message):
        Suite.model_validate({**fields, "judge": judges, "assertions": [{"type": "x"}]})


PANEL = RunPanel(judges=("m", "s"), named={"strong": "s"})
OWN = make_rubric("good", make_criterion("safe", judge="strong"))


def test_a_judge_votes_only_on_its_own_criteria() -> None:
    judgments = [make_judgment("good", 0.5, judge="m"), make_judgment("safe", 1.0, judge="s")]
    verdict = conclude(OWN, judgments, panel=PANEL)
    assert [c.value for c in verdict.criteria] == [0.5, 1.0]
    assert (verdict.value, verdict.value_low, verdict.value_high) == (0.75, 0.75, 0.75)


def test_a_missing_vote_of_a_named_judge_bounds_its_criterion_only() -> None:
    failures = [make_failure("safe", judge="s")]
    verdict = conclude(OWN, [make_judgment("good", 0.5, judge="m")], failures, panel=PANEL)
    assert (verdict.value_low, verdict.value_high) == (0.25, 0.75)


def test_a_panel_without_names_is_stored_as_before() -> None:
    assert "named" not in RunPanel(judges=("m",)).to_json()
    assert RunPanel.model_validate(PANEL.to_json()) == PANEL


NEEDY = """\
name: answers
criteria:
  - {name: right, question: "Is it right?", scale: one_to_five, needs: reference}
  - {name: good, question: "Is it good?", scale: one_to_five}
"""
UNMET = "criterion 'right' needs `reference`, and no case has it: it will not be judged"


async def test_a_need_that_no_case_meets_is_reported_before_anything_is_paid(
    bench: MakeBench,
) -> None:
    small = judged_by(bench, PLAIN, rubric=NEEDY)
    opened, notes = small.open(), list[str]()
    await plan_suite(opened)
    assert opened.plans.unmet_needs == (f"{UNMET} (cannot_assess)",)
    run = await small.sit(session=Session(note=notes.append))
    assert any(note.startswith(UNMET) for note in notes)
    failures = [failure.kind for result in small.results() for failure in result.failures]
    assert (failures, run.status) == (["cannot_assess"] * 4, "incomplete")


async def test_a_need_that_some_cases_meet_is_no_reason_for_a_message(bench: MakeBench) -> None:
    small = judged_by(bench, PLAIN, rubric=NEEDY)
    cases = ({"id": f"c{k}", "input": "?", **({"reference": "x"} if k else {})} for k in range(4))
    (small.path.parent / "cases.jsonl").write_text(rows(*cases), encoding="utf-8")
    opened = small.open()
    await plan_suite(opened)
    assert opened.plans.unmet_needs == ()
    await opened.aclose()


async def test_a_rubric_that_no_template_can_ask_is_an_error_before_the_first_call(
    bench: MakeBench,
) -> None:
    wrong = RUBRIC.replace("judge: strong", "judge: strong, template: pointwise/yes_no")
    small = judged_by(bench, rubric=wrong)
    with pytest.raises(TemplateError, match="pointwise/yes_no"):
        new_run(small.open(), now=NOW)
