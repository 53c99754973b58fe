from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import Suite
from judgekit.errors import DatasetError, SettingsError
from judgekit.evaluation import UNASKED_RUBRICS_KEY, needs_judge, plan_suite
from judgekit.evaluation.case_plans import DefaultRubrics
from judgekit.evaluation.run_config import DEFAULT_RUBRICS_KEY
from judgekit.evaluation.runner import new_run
from judgekit.records import CaseEvaluation, config_rows
from tests.evaluation.suites import NOW, RIGHT, Bench, rows
from tests.factories import make_case, make_rubric

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.records import Case

    MakeBench = Callable[..., Bench]

JUDGED = CaseEvaluation(strategy="llm_judge")
WEIGHED = CaseEvaluation(strategy="hybrid", weights={"llm_judge": 0.5, "exact_match": 0.5})


def suite(**fields: Any) -> Suite:
    return Suite.model_validate({"name": "s", "dataset": "x.jsonl", **fields})


def taken(case: Case, *, is_judged: bool = True, **fields: Any) -> str | None:
    """The name of the rubric that stands in for one that a case does not name."""
    found = DefaultRubrics(suite(**fields), rubric=None, is_judged=is_judged).of(case)
    return None if found is None else found.name


def lay(bench: MakeBench, *cases: dict[str, Any], **fields: Any) -> Bench:
    small = bench(**{"judge": "recorded:judge.jsonl", "assertions": None, **fields})
    folder = small.path.parent
    text = rows(*({"id": f"c{k}", "input": "?", **each} for k, each in enumerate(cases)))
    (folder / "cases.jsonl").write_text(text, encoding="utf-8")
    reply = {"case_id": "c0", "text": json.dumps({"rationale": "r", "score": 1})}
    (folder / "judge.jsonl").write_text(rows(reply), encoding="utf-8")
    return small


def test_a_case_that_only_a_judge_can_decide_is_held_against_its_reference() -> None:
    assert taken(make_case(reference="R")) == "reference_match"
    assert taken(make_case(reference=None)) is None
    assert taken(make_case(reference="R"), is_judged=False) is None


def test_what_is_decided_otherwise_needs_no_rubric() -> None:
    case = make_case(reference="R")
    assert taken(case, assertions=[RIGHT]) is None
    assert taken(case.model_copy(update={"assertions": (RIGHT,)})) is None
    assert taken(case, profile="deterministic") is None
    exact = case.model_copy(update={"evaluation": CaseEvaluation(strategy="exact_match")})
    assert taken(exact) is None


@pytest.mark.parametrize("evaluation", [JUDGED, WEIGHED])
def test_a_case_that_is_to_be_judged_is_held_against_its_reference(
    evaluation: CaseEvaluation,
) -> None:
    case = make_case(reference="R", evaluation=evaluation, assertions=(RIGHT,))
    assert taken(case, is_judged=False) == "reference_match"
    assert taken(case, profile="flexible") == "reference_match"


def test_the_profiles_rubric_comes_first() -> None:
    assert taken(make_case(reference="R"), profile="creative") == "creative"
    exact = make_case(reference="R", evaluation=CaseEvaluation(strategy="exact_match"))
    assert taken(exact, profile="creative") is None
    # What it lacks is told with all that is wrong with the cases.
    regex = make_case(reference=None, evaluation=CaseEvaluation(strategy="regex_match"))
    assert taken(regex, profile="creative") is None


def test_a_rubric_that_is_named_is_never_replaced() -> None:
    rubric = make_rubric("good")
    named = make_case(reference="R", rubric=rubric)
    defaults = DefaultRubrics(suite(), rubric=None, is_judged=True)
    assert defaults.of(named) is None
    assert defaults.reason_for(named) is None
    defaults = DefaultRubrics(suite(), rubric=rubric, is_judged=True)
    assert defaults.of(make_case(reference="R")) is None


def test_a_case_needs_a_judge_where_nothing_else_decides_it() -> None:
    plain, exact = make_case(), make_case(evaluation=CaseEvaluation(strategy="exact_match"))
    assert needs_judge(plain, suite())
    assert not needs_judge(plain, suite(assertions=[RIGHT]))
    assert not needs_judge(plain.model_copy(update={"assertions": (RIGHT,)}), suite())
    assert not needs_judge(exact, suite())
    assert needs_judge(exact, suite(rubric="helpfulness"))
    assert needs_judge(plain.model_copy(update={"evaluation": JUDGED}), suite())
    assert needs_judge(plain.model_copy(update={"rubric": "creative"}), suite())
    assert needs_judge(plain, suite(profile="creative"))
    assert not needs_judge(exact.model_copy(update={"reference": "R"}), suite(profile="creative"))


def test_a_run_keeps_which_rubrics_nobody_named(bench: MakeBench) -> None:
    small = lay(bench, {"reference": "R"}, {"reference": "S"}, {"rubric": "helpfulness"})
    run = new_run(small.open(), now=NOW)
    assert config_rows(run, DEFAULT_RUBRICS_KEY) == [
        {"rubric": "reference_match", "because": "reference", "n_cases": 2}
    ]
    assert (
        DEFAULT_RUBRICS_KEY not in new_run(lay(bench, {"rubric": "skill"}).open(), now=NOW).config
    )


async def test_a_plan_counts_the_questions_of_a_rubric_that_nobody_named(bench: MakeBench) -> None:
    opened = lay(bench, {"reference": "R"}).open()
    await plan_suite(opened)
    assert opened.plans.by_default == {("reference", "reference_match"): 1}


def test_where_nothing_says_what_is_good_every_way_out_is_named(bench: MakeBench) -> None:
    with pytest.raises(SettingsError) as raised:
        new_run(lay(bench, {}, {}).open(), now=NOW)
    assert "neither the suite nor any of its cases has one" in raised.value.message
    for way in ("--rubric FILE", "agent_quality", "`rubric:`", "(creative)", "`reference`"):
        assert way in (raised.value.hint or "")


def test_a_case_that_is_to_be_judged_by_nothing_is_told_by_its_id(bench: MakeBench) -> None:
    small = lay(bench, {"reference": "R"}, {"evaluation": {"strategy": "llm_judge"}})
    with pytest.raises(DatasetError, match=r"case 'c1': a judge is to grade it, .*--rubric FILE"):
        new_run(small.open(), now=NOW)


def test_a_case_with_a_rubric_and_nothing_else_needs_a_judge(bench: MakeBench) -> None:
    small = lay(bench, {"rubric": "helpfulness"}, judge=None)
    with pytest.raises(SettingsError, match="case 'c0' is to be graded by a judge"):
        new_run(small.open(), now=NOW)


def test_rubrics_that_no_judge_is_asked_are_counted(bench: MakeBench) -> None:
    small = lay(bench, {"rubric": "helpfulness"}, {}, judge=None, assertions=[RIGHT])
    assert new_run(small.open(), now=NOW).config[UNASKED_RUBRICS_KEY] == 1
