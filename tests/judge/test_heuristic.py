from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from judgekit.errors import UnknownNameError
from judgekit.judge import implied_rubric, judge_by_assertions
from judgekit.records import AssertionResult, JudgeFailure, Judgment
from judgekit.scoring import conclude
from tests.factories import make_criterion, make_rubric

CONTAINS: dict[str, Any] = {"type": "output.contains", "value": "30 days", "weight": 3}
QUIET: dict[str, Any] = {"type": "behavior.no_errors"}


def result(passed: bool | None = True, **fields: Any) -> AssertionResult:  # noqa: FBT001, FBT002
    known = {"message": "as wanted" if passed else "not there", "type": "output.contains"}
    error = "no such path" if passed is None else None
    return AssertionResult(**{"passed": passed, "error": error} | known | fields)


def about(*names: str | None) -> list[dict[str, Any]]:
    return [QUIET if name is None else QUIET | {"criterion": name} for name in names]


def test_each_assertion_is_a_yes_or_no_criterion_of_the_implied_rubric() -> None:
    rubric = implied_rubric([CONTAINS, QUIET, QUIET])
    names = [c.name for c in rubric.criteria]
    assert names == ["output.contains 1", "behavior.no_errors 2", "behavior.no_errors 3"]
    assert [c.weight for c in rubric.criteria] == [3, 1, 1]
    assert rubric.criteria[0].scale.points == (0.0, 1.0)
    assert '{"value": "30 days"}' in rubric.criteria[0].question
    assert rubric.pass_threshold == 1.0


def test_assertions_of_one_criterion_are_one_criterion_of_the_implied_rubric() -> None:
    rubric = implied_rubric([CONTAINS | {"criterion": "safe"}, QUIET | {"criterion": "safe"}])
    assert [(c.name, c.weight) for c in rubric.criteria] == [("safe", 4)]


def test_without_assertions_there_is_no_rubric() -> None:
    with pytest.raises(ValidationError, match="criteria"):
        implied_rubric([])


def test_what_assertions_found_goes_the_way_of_every_judgment() -> None:
    assertions = [CONTAINS, QUIET]
    rubric = implied_rubric(assertions, pass_threshold=0.7)
    said = judge_by_assertions(rubric, assertions, [result(), result(passed=False)], case_id="c")
    judgments = [found for found in said if isinstance(found, Judgment)]
    verdict = conclude(rubric, judgments, case_id="c")
    assert (verdict.value, verdict.passed) == (0.75, True)
    assert [j.rationale for j in judgments] == ["as wanted", "not there"]
    assert {(j.source, j.judge, j.cost_usd) for j in judgments} == {("heuristic", "heuristic", 0)}


def test_what_could_not_be_checked_is_a_failure() -> None:
    rubric = implied_rubric([CONTAINS])
    (failed,) = judge_by_assertions(rubric, [CONTAINS], [result(None)])
    assert isinstance(failed, JudgeFailure)
    assert (failed.kind, failed.message) == ("internal", "output.contains: no such path")
    assert conclude(rubric, (), [failed]).passed is None


def said_of(scale: Any, *results: AssertionResult) -> float:
    rubric = make_rubric(make_criterion(scale=scale), "style")
    (found,) = judge_by_assertions(rubric, about(*["accuracy"] * len(results)), results)
    assert isinstance(found, Judgment)
    return found.raw


@pytest.mark.parametrize(
    ("scale", "results", "raw"),
    [
        ("binary", [result(), result()], 1),
        ("binary", [result(), result(passed=False)], 0),
        ("binary", [result(passed=False, value=0.6)], 0),
        ({"min": 1, "max": 5, "integer": True}, [result(), result(passed=False)], 3),
        ({"min": 1, "max": 5, "integer": True}, [result(passed=False, value=0.625)], 3),
        ({"min": 0, "max": 10}, [result(value=0.25)], 2.5),
        ({"min": 0, "max": 100_000, "integer": True}, [result(value=0.333333)], 33333),
    ],
)
def test_a_criterion_gets_the_nearest_score_of_its_scale(
    scale: Any, results: Any, raw: float
) -> None:
    assert said_of(scale, *results) == raw


def test_assertions_count_by_their_weight_unless_none_has_any() -> None:
    rubric = make_rubric(make_criterion(scale={"min": 0, "max": 1}))
    for weights, value in (((3, 1), 0.75), ((0, 0), 0.5), ((0, 2), 0.0)):
        assertions = [QUIET | {"criterion": "accuracy", "weight": w} for w in weights]
        results = [result(), result(passed=False)]
        (found,) = judge_by_assertions(rubric, assertions, results)
        assert isinstance(found, Judgment)
        assert found.value == value


def test_an_assertion_that_names_no_criterion_judges_none() -> None:
    assert judge_by_assertions(make_rubric(), about(None), [result()]) == ()


def test_a_criterion_the_rubric_does_not_have_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="no criterion is called 'acuracy'"):
        judge_by_assertions(make_rubric(), about("acuracy"), [result()])
