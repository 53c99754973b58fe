from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import Suite
from judgekit.evaluation import ExecutionOptions
from judgekit.evaluation.judges import SuiteJudges, open_suite_judges
from judgekit.models import PriceTable
from judgekit.records import AssertionResult, ItemKey
from tests.factories import make_case, make_failure, make_judgment, make_output, make_rubric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records import JsonObject

RUBRIC = make_rubric("good", "short")
AT = datetime(2026, 11, 21, tzinfo=UTC)
KEY = ItemKey("refund", "v1")
MODEL = {"model": "openai/m", "api_base": "http://127.0.0.1:1/v1"}
OTHER = {**MODEL, "model": "openai/n"}


def jury(*judges: Any, **suite: Any) -> SuiteJudges:
    """The jury of a suite with these judges."""
    needed = None if list(judges) == ["heuristic"] else "rubric.yaml"
    fields = {"name": "s", "cases": [make_case()], "rubric": needed, "judge": list(judges)}
    loaded = Suite.model_validate(fields | suite).in_folder(Path("/nowhere"))
    asking = ExecutionOptions(cache=None)
    return open_suite_judges(loaded, cache=None, execution=asking, prices=PriceTable(), budget=None)


def names(judges: SuiteJudges) -> tuple[str, ...]:
    return tuple(name.partition(" ")[0] for name in judges.panel.judges)


ASSERTIONS = {"assertions": [{"type": "contains", "value": "x", "criterion": "good"}]}


def test_a_suite_without_judges_has_a_jury_that_asks_nobody() -> None:
    nobody = jury(rubric=None)
    assert (nobody.panel.judges, nobody.asks_nobody, nobody.max_concurrency) == ((), True, 1)
    assert nobody.is_content(make_case(), make_output(), RUBRIC, ())


def test_judges_keep_their_order_and_their_weights() -> None:
    mixed = jury({**MODEL, "weight": 3}, "human", {"model": "heuristic", "weight": 0.5},
                 panel={"combine": "weighted"}, **ASSERTIONS)  # fmt: skip
    assert mixed.panel.judges[1:] == ("human", "heuristic")
    assert list(mixed.panel.weights.values()) == [3, 1, 0.5]
    assert not mixed.asks_nobody


def test_the_jury_goes_as_fast_as_its_fastest_judge_may() -> None:
    assert jury({**MODEL, "max_concurrency": 3}, {**OTHER, "max_concurrency": 50}).max_concurrency \
        == 50  # fmt: skip


def test_only_the_heuristic_judge_makes_a_rubric_of_assertions() -> None:
    found: list[JsonObject] = [{"type": "contains", "value": "x"}]
    implied = jury("heuristic", assertions=found).implied_rubric
    assert implied is not None
    assert [criterion.name for criterion in implied.criteria] == ["contains 1"]
    assert jury("human").implied_rubric is None


def check(*, passed: bool) -> AssertionResult:
    return AssertionResult(passed=passed, message="it does", type="contains")


def test_assertions_judge_once_what_they_stand_for() -> None:
    rules = jury("heuristic", MODEL, **ASSERTIONS)
    arguments: dict[str, Any] = {"checks": [check(passed=True)]}
    (found,) = rules.by_rule(make_case(), make_output(), RUBRIC, judge_answers=(), **arguments)
    assert (found.criterion, found.judge) == ("good", "heuristic")
    again = rules.by_rule(make_case(), make_output(), RUBRIC, judge_answers=[found], **arguments)
    assert again == ()
    assert (
        jury(MODEL).by_rule(make_case(), make_output(), RUBRIC, judge_answers=(), **arguments) == ()
    )


async def test_a_jury_without_models_has_nothing_to_observe() -> None:
    people = jury("human")
    assert [
        one async for one in people.observe(make_case(), make_output(), RUBRIC, judge_answers=())
    ] == []
    await people.aclose()


def unanswered(judges: SuiteJudges, said: Sequence[Any]) -> list[Any]:
    """The open questions about an output: judge, criterion and repeat."""
    found = judges.unanswered(make_case(), make_output(), RUBRIC, said)
    assert not any(turn for _, (_, _, turn) in found)
    return [(judge, criterion, repeat) for judge, (criterion, repeat, _) in found]


def is_content(judges: SuiteJudges, said: Sequence[Any]) -> bool:
    return judges.is_content(make_case(), make_output(), RUBRIC, said)


def test_what_is_unanswered_is_told_by_judge_criterion_and_repeat() -> None:
    twice = jury({**MODEL, "repeats": 2})
    (judge,) = twice.panel.judges
    said: list[Any] = [
        make_judgment("good", judge=judge),
        make_failure("short", judge=judge, repeat=1),
    ]
    assert unanswered(twice, said) == [(judge, "good", 1), (judge, "short", 0)]
    assert not is_content(twice, said)
    rest = [make_judgment("good", judge=judge, repeat=1), make_judgment("short", judge=judge)]
    assert is_content(twice, [*said, *rest])


def cascade(*judges: Any) -> SuiteJudges:
    return jury(*judges, panel={"combine": "cascade", "escalate_below": 0.7})


def test_in_a_cascade_only_the_next_judge_is_still_out() -> None:
    both = cascade(MODEL, OTHER)
    first, second = both.panel.judges
    assert unanswered(both, ()) == [(first, "good", 0), (first, "short", 0)]
    said = [make_judgment("good", judge=first), make_judgment("short", judge=first)]
    assert unanswered(both, said) == [(second, "good", 0), (second, "short", 0)]
    assert not is_content(both, said)


def wanted(judges: SuiteJudges, *said: Any) -> list[str]:
    items = judges.human_questions("r", KEY, RUBRIC, said, at=AT)
    return [item.criterion for item in items]


def test_a_person_is_asked_for_what_no_person_has_judged() -> None:
    people = jury("human", MODEL)
    ann = make_judgment("good", judge="ann", source="human")
    assert wanted(people) == ["good", "short"]
    assert wanted(people, ann) == ["short"]
    assert wanted(jury(MODEL)) == []


@pytest.mark.parametrize(("confidence", "asked"), [(0.9, ["short"]), (0.5, ["good", "short"])])
def test_a_cascade_asks_a_person_only_where_the_model_is_not_sure(
    confidence: float, asked: list[str]
) -> None:
    people = cascade(MODEL, "human")
    model = people.panel.judges[0]
    assert wanted(people, make_judgment("good", judge=model, confidence=confidence)) == asked


def test_a_cascade_asks_a_person_where_the_model_failed() -> None:
    people = cascade(MODEL, "human")
    sure = make_judgment("good", judge=people.panel.judges[0], confidence=1.0)
    failed = make_failure("short", judge=people.panel.judges[0])
    assert wanted(people, sure, failed) == ["short"]


def test_a_cascade_of_people_alone_asks_them_all() -> None:
    people = jury("human", "heuristic", panel={"combine": "cascade", "escalate_below": 0.7},
                  **ASSERTIONS)  # fmt: skip
    assert wanted(people) == ["good", "short"]
