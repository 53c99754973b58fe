from __future__ import annotations

from typing import Any

import pytest

from judgekit.assertions import EvaluationPlan, StrategyOutcome, combine_outcomes, plan_evaluation
from judgekit.errors import DatasetError
from judgekit.records import AssertionResult, CaseEvaluation, Score
from tests.factories import make_case, make_rubric

REGEX = {"type": "regex", "value": "a+"}
SCHEMA = {"type": "is-json", "value": {"type": "object"}}
CONTAINS = {"type": "contains", "value": "x"}


def plan_of(strategy: Any = None, *, profile: Any = None, **fields: Any) -> EvaluationPlan:
    own = {k: fields.pop(k) for k in ("weights", "threshold", "script") if k in fields}
    suite_rubric = fields.pop("suite_rubric", None)
    if strategy is not None:
        fields["evaluation"] = CaseEvaluation(strategy=strategy, **own)
    return plan_evaluation(make_case(**fields), profile, rubric=suite_rubric)


def weights_of(plan: EvaluationPlan) -> dict[str, float]:
    return {part.strategy: part.weight for part in plan.parts}


def found(passed: Any, **fields: Any) -> AssertionResult:
    error = "broken" if passed is None else None
    return AssertionResult(**{"passed": passed, "message": "why", "error": error} | fields)


def outcome(
    plan: EvaluationPlan, *passed: bool | None, judged: float | None = None
) -> StrategyOutcome:
    return combine_outcomes(plan, [found(one) for one in passed], [], judged)


def test_exact_match_compares_with_the_reference() -> None:
    plan = plan_of("exact_match", reference="4")
    assert plan.assertions == ({"type": "equals", "value": "4"},)
    assert outcome(plan, True).value == 1
    assert outcome(plan, False).passed is False
    assert outcome(plan, None).value is None
    assert outcome(plan, None).passed is None


def test_an_assertion_of_the_case_carries_out_its_strategy() -> None:
    plan = plan_of("exact_match", reference="4", assertions=[{"type": "equals", "value": "4"}])
    assert len(plan.assertions) == 1
    assert plan.guards == ()


def test_assertions_beside_the_strategy_must_hold_too() -> None:
    plan = plan_of("exact_match", reference="4", assertions=[CONTAINS])
    assert plan.guards == (0,)
    failed = outcome(plan, False, True)
    assert (failed.value, failed.passed) == (1, False)
    assert outcome(plan, None, True).passed is None
    assert outcome(plan, None, False).passed is False


def test_a_guard_of_weight_0_is_only_shown() -> None:
    plan = plan_of("exact_match", reference="4", assertions=[CONTAINS])
    checks = [found(False, weight=0), found(True)]
    assert combine_outcomes(plan, checks, [], None).passed is True


def test_all_patterns_must_match_and_those_that_do_are_named() -> None:
    plan = plan_of("regex_match", assertions=[REGEX, {"type": "regex", "value": "b"}])
    said = outcome(plan, True, False)
    assert (said.value, said.passed, said.matched_patterns) == (0, False, ("a+",))


def test_what_violates_the_schema_is_named() -> None:
    plan = plan_of("json_schema", assertions=[SCHEMA])
    said = combine_outcomes(plan, [found(False, message="`x` is missing")], [], None)
    assert said.schema_errors == ("`x` is missing",)
    assert said.feedback == "`x` is missing"


def test_a_check_for_json_without_a_schema_is_no_json_schema_strategy() -> None:
    with pytest.raises(DatasetError, match="json_schema needs an assertion `is-json`"):
        plan_of("json_schema", assertions=[{"type": "is-json"}])


def test_semantic_similarity_asks_the_scorer_and_holds_it_to_the_threshold() -> None:
    plan = plan_of("semantic_sim", reference="a text", threshold=0.8)
    assert plan.scorers == ({"type": "similarity"},)
    score = Score(name="similarity", value=0.79, method="lexical")
    said = combine_outcomes(plan, [], [score], None)
    assert (said.value, said.passed) == (0.79, False)
    assert said.feedback == "the similarity is 0.79, 0.8 wanted (lexical)"


def test_a_similarity_that_was_not_measured_leaves_it_undecided() -> None:
    plan = plan_of("semantic_sim", reference="a text")
    nothing = combine_outcomes(plan, [], [], None)
    broken = combine_outcomes(
        plan, [], [Score(name="similarity", value=None, error="no model")], None
    )
    assert (nothing.value, nothing.passed, nothing.feedback) == (
        None, None, "the similarity was not measured",
    )  # fmt: skip
    assert (broken.value, broken.passed, broken.feedback) == (None, None, "no model")


def test_an_assertion_similar_is_measured_by_the_scorer() -> None:
    similar = {"type": "similar", "value": "a text", "threshold": 0.6}
    plan = plan_of("semantic_sim", assertions=[CONTAINS, similar])
    assert (plan.assertions, plan.threshold) == ((CONTAINS,), 0.6)
    assert plan.scorers == ({"type": "similarity", "reference": "a text"},)
    said = combine_outcomes(plan, [found(True)], [Score(name="similarity", value=0.65)], None)
    assert (said.value, said.passed) == (0.65, True)
    assert plan_of("semantic_sim", assertions=[similar], threshold=0.9).threshold == 0.9


def test_of_several_similarities_the_least_counts() -> None:
    similar = [{"type": "similar", "value": text} for text in ("a", "b")]
    plan = plan_of("semantic_sim", assertions=similar)
    scores = [Score(name="similarity", value=value) for value in (0.9, 0.4)]
    assert combine_outcomes(plan, [], scores, None).value == 0.4
    assert combine_outcomes(plan, [], scores[:1], None).value is None


def test_each_of_several_similarities_is_held_to_its_own_threshold() -> None:
    limits = {"a": 0.9, "b": 0.5}
    similar = [{"type": "similar", "value": k, "threshold": v} for k, v in limits.items()]
    plan = plan_of("semantic_sim", assertions=similar)
    near, far = (
        combine_outcomes(plan, [], [Score(name="similarity", value=v) for v in (value, 0.6)], None)
        for value in (0.95, 0.7)
    )
    assert (near.value, near.passed, near.feedback) == (
        0.6,
        True,
        "the similarity is 0.6, 0.5 wanted",
    )
    assert (far.value, far.passed, far.feedback) == (
        0.6,
        False,
        "the similarity is 0.7, 0.9 wanted",
    )
    over = plan_of("semantic_sim", assertions=similar, threshold=0.55)
    scores = [Score(name="similarity", value=value) for value in (0.56, 0.6)]
    assert combine_outcomes(over, [], scores, None).passed is True


def test_an_assertion_similar_is_measured_where_it_looks() -> None:
    similar = {"type": "similar", "value": "a text", "path": "outputs.main.title"}
    plan = plan_of("semantic_sim", assertions=[similar])
    assert plan.scorers == (
        {"type": "similarity", "reference": "a text", "path": "outputs.main.title"},
    )


def test_a_hybrid_holds_similarity_to_the_threshold_of_its_assertion() -> None:
    similar = {"type": "similar", "value": "a", "threshold": 0.9}
    plan = plan_of("hybrid", assertions=[REGEX, similar], threshold=0.5)
    said = combine_outcomes(plan, [found(True)], [Score(name="similarity", value=0.8)], None)
    assert [part.passed for part in said.parts] == [True, False]
    assert (said.value, said.passed) == (0.9, True)


def test_a_judge_is_asked_with_the_cases_rubric_before_the_suites() -> None:
    own = make_rubric(name="own", pass_threshold=0.6)
    plan = plan_of("llm_judge", rubric=own, suite_rubric="suite")
    assert (plan.asks_judge, plan.threshold) == (True, 0.6)


def test_the_judges_verdict_decides_and_its_absence_does_not() -> None:
    plan = plan_of("llm_judge", suite_rubric=make_rubric(pass_threshold=0.6))
    assert outcome(plan, judged=0.6).passed is True
    assert outcome(plan, judged=0.6).feedback == "the judge gives 0.6, 0.6 wanted"
    assert outcome(plan, judged=None).passed is None
    assert outcome(plan, judged=None).feedback == "the judge gave no verdict"
    said = combine_outcomes(plan, [], [], 0.9, judged_passed=False, judged_feedback="Rude.")
    assert (said.passed, said.feedback) == (False, "Rude.")


def test_a_judge_without_a_rubric_cannot_be_asked() -> None:
    with pytest.raises(DatasetError, match=r"case 'refund': the strategy llm_judge needs a rubric"):
        plan_of("llm_judge")


def test_a_script_is_run_as_an_assertion() -> None:
    plan = plan_of("custom", script="checks/tone.py", threshold=0.5)
    assert plan.assertions == (
        {"type": "custom.script", "script": "checks/tone.py", "threshold": 0.5},
    )
    said = combine_outcomes(plan, [found(True, value=0.55)], [], None)
    assert (said.value, said.passed) == (0.55, True)


def test_a_hybrid_evaluation_weighs_its_strategies() -> None:
    plan = plan_of(
        "hybrid", assertions=[REGEX, SCHEMA], suite_rubric="r", threshold=0.75,
        weights={"regex_match": 1, "json_schema": 1, "llm_judge": 2, "custom": 0},
    )  # fmt: skip
    assert weights_of(plan) == {"regex_match": 1, "json_schema": 1, "llm_judge": 2}
    said = outcome(plan, True, False, judged=1.0)
    assert (said.value, said.passed) == (0.75, True)
    assert said.feedback.startswith("regex_match: why; json_schema: why; llm_judge:")


def test_a_missing_part_of_a_hybrid_is_undecided_unless_it_cannot_matter() -> None:
    plan = plan_of(
        "hybrid", assertions=[REGEX, SCHEMA], suite_rubric="r", threshold=0.7,
        weights={"regex_match": 1, "json_schema": 1, "llm_judge": 2},
    )  # fmt: skip
    assert outcome(plan, True, True).passed is None
    assert outcome(plan, True, False).value is None
    light = plan_of(
        "hybrid", assertions=[REGEX, SCHEMA], suite_rubric="r", threshold=0.7,
        weights={"regex_match": 5, "json_schema": 4, "llm_judge": 1},
    )  # fmt: skip
    assert outcome(light, True, True).passed is True
    assert outcome(light, False, True).passed is False


def test_a_hybrid_without_weights_takes_what_the_case_has_to_the_same_parts() -> None:
    plan = plan_of("hybrid", assertions=[REGEX, SCHEMA], rubric="own", script="a.py")
    assert weights_of(plan) == dict.fromkeys(
        ("regex_match", "json_schema", "llm_judge", "custom"), 1.0
    )
    assert weights_of(plan_of("hybrid", reference="a")) == {"semantic_sim": 1.0}
    assert weights_of(plan_of("hybrid", suite_rubric="r")) == {"llm_judge": 1.0}


def test_a_hybrid_of_nothing_or_of_an_unknown_strategy_is_an_error() -> None:
    with pytest.raises(DatasetError, match="hybrid has nothing to combine"):
        plan_of("hybrid")
    with pytest.raises(DatasetError, match="no strategy to combine is called 'magic'"):
        plan_of("hybrid", weights={"magic": 1})


@pytest.mark.parametrize(
    ("profile", "fields", "expected"),
    [
        ("deterministic", {"reference": "4"}, "exact_match"),
        ("deterministic", {"assertions": [SCHEMA]}, "json_schema"),
        ("deterministic", {"reference": "4", "assertions": [SCHEMA]}, "json_schema"),
        ("structured", {"assertions": [SCHEMA]}, "json_schema"),
        ("flexible", {"reference": "a text"}, "semantic_sim"),
        ("creative", {}, "llm_judge"),
        ("enterprise", {"assertions": [SCHEMA, REGEX]}, "hybrid"),
        ("enterprise", {"reference": "a"}, "hybrid"),
    ],
)
def test_a_profile_chooses_the_strategy(profile: str, fields: Any, expected: str) -> None:
    assert plan_of(profile=profile, **fields).strategy == expected


def test_the_creative_profile_asks_a_judge() -> None:
    assert plan_of(profile="creative").asks_judge


def test_a_case_that_lacks_what_its_profile_needs_is_an_error() -> None:
    with pytest.raises(DatasetError, match="json_schema needs an assertion"):
        plan_of(profile="structured", reference="4")


def test_without_strategy_and_profile_the_assertions_are_checked() -> None:
    plan = plan_of(assertions=[CONTAINS, REGEX])
    said = outcome(plan, True, False)
    assert (said.strategy, said.value, said.passed) == (None, 0.5, False)
    assert outcome(plan, True, None).value is None
    assert plan_of(suite_rubric="r").strategy == "llm_judge"
    with pytest.raises(DatasetError, match="no strategy, no assertion and no rubric"):
        plan_of()


def test_results_must_fit_the_plan() -> None:
    with pytest.raises(ValueError, match="0 results for 1 assertions"):
        combine_outcomes(plan_of(assertions=[CONTAINS]), [], [], None)


def test_a_transform_is_not_lost_where_a_scorer_takes_the_place_of_its_assertion() -> None:
    similar = {"type": "similar", "value": "a", "transform": [{"parse_json": True}]}
    with pytest.raises(DatasetError, match="semantic_sim measures the output as it is"):
        plan_of("semantic_sim", assertions=[similar])
