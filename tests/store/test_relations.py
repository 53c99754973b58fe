from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import UnknownNameError
from tests.factories import make_case, make_output, make_rubric
from tests.store.observing import START, answer, begun, key, make_run, said

if TYPE_CHECKING:
    from judgekit.records import RunInfo
    from judgekit.store import RunStore

OWN = make_rubric("tone", name="own")


@pytest.fixture
def two(store: RunStore) -> RunStore:
    """Two runs: `a` of support with two cases, `b` of billing with one of them and its own."""
    agent = make_case(id="agent", agent="clerk", skill="refunds", prompt_version="p2")
    tagged = make_case(id="tagged", tags=("hard", "hard"), rubric=OWN)
    named = make_case(id="named", rubric="house-style")
    store.begin(make_run("a", config_fingerprint="f1"))
    store.add(
        "a",
        [
            answer(key("agent"), case=agent, output=make_output(run_id="agent-run-7")),
            answer(key("tagged"), place=1, case=tagged, said=[said("tone")]),
        ],
    )
    later = START + timedelta(hours=1)
    rubric = make_rubric("accuracy", name="billing")
    store.begin(make_run("b", "v2", suite="billing", started_at=later, rubric=rubric))
    store.add(
        "b",
        [answer(key("agent", "v2"), case=agent), answer(key("named", "v2"), place=1, case=named)],
    )
    return store


def ids(runs: list[RunInfo]) -> list[str]:
    """The runs' ids."""
    return [run.id for run in runs]


def test_runs_are_found_from_a_case_and_cases_from_a_run(two: RunStore) -> None:
    assert ids(two.runs_of_case("agent")) == ["b", "a"]
    assert ids(two.runs_of_case("tagged")) == ["a"]
    assert ids(two.runs_of_case("nowhere")) == []
    assert [result.case.id for result in two.results("a")] == ["agent", "tagged"]


def test_answers_to_a_case_are_found_in_every_run(two: RunStore) -> None:
    found = [(result.run_id, result.variant) for result in two.results_of_case("agent")]
    assert found == [("b", "v2"), ("a", "v1")]


def test_runs_are_found_from_a_variant(two: RunStore) -> None:
    assert ids(two.runs_of_variant("v2")) == ["b"]
    assert ids(two.runs_of_variant("v3")) == []


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ({"agent": "clerk"}, {"agent"}),
        ({"skill": "refunds", "prompt_version": "p2"}, {"agent"}),
        ({"skill": "refunds", "prompt_version": "p1"}, set()),
        ({"tag": "hard"}, {"tagged"}),
        ({"case_id": "named"}, {"named"}),
        ({"rubric": "own"}, {"tagged"}),
        ({"rubric": "house-style"}, {"named"}),
        ({"rubric": "support"}, {"agent"}),
        ({"rubric": "billing"}, {"agent"}),
        ({}, {"agent", "tagged", "named"}),
    ],
)
def test_cases_are_found_from_what_they_have(
    two: RunStore, wish: dict[str, str], expected: set[str]
) -> None:
    assert {case.id for case in two.cases_of(**wish)} == expected


def test_a_case_in_many_runs_is_kept_once_and_a_changed_one_twice(two: RunStore) -> None:
    assert len(list(two.cases_of(case_id="agent"))) == 1
    changed = make_case(id="agent", agent="clerk", reference="now with a reference")
    two.begin(make_run("c"))
    two.add("c", [answer(key("agent"), case=changed)])
    found = list(two.cases_of(case_id="agent"))
    assert len(found) == 2
    assert changed in found


def test_many_cases_are_found_page_by_page(store: RunStore) -> None:
    begun(store, *(answer(key(f"c{n}"), place=n, said=()) for n in range(510)))
    assert len({case.id for case in store.cases_of()}) == 510


def test_runs_are_found_from_a_rubric_by_name_and_fingerprint(two: RunStore) -> None:
    assert ids(two.runs_of_rubric("support")) == ["a"]
    assert ids(two.runs_of_rubric(make_rubric("accuracy", name="x").fingerprint)) == ["b"]
    assert ids(two.runs_of_rubric("own")) == ["a"]
    assert ids(two.runs_of_rubric("house-style")) == ["b"]


def test_a_rubric_is_found_as_it_was(two: RunStore) -> None:
    assert two.rubric("own") == OWN
    assert two.rubric(OWN.fingerprint) == OWN
    with pytest.raises(UnknownNameError, match=r"'suport'[\s\S]*did you mean support"):
        two.rubric("suport")


def test_the_last_rubric_of_a_name_is_meant(two: RunStore) -> None:
    newer = make_rubric("accuracy", "clarity", pass_threshold=0.9, version=2)
    two.begin(make_run("c", rubric=newer, started_at=START + timedelta(hours=2)))
    assert two.rubric("support") == newer
    assert ids(two.runs_of_rubric("support")) == ["c", "a"]


def test_rubrics_are_found_from_a_criterion(two: RunStore) -> None:
    assert [rubric.name for rubric in two.rubrics_of_criterion("accuracy")] == [
        "support",
        "billing",
    ]
    assert two.rubrics_of_criterion("tone") == [OWN]


def test_judgments_are_found_from_a_criterion(two: RunStore) -> None:
    found = list(two.judgments_of_criterion("accuracy"))
    assert [(each.run_id, each.key) for each in found] == [
        ("b", key("agent", "v2")),
        ("b", key("named", "v2")),
        ("a", key("agent")),
    ]
    assert found[-1].judgment == said()


@pytest.mark.parametrize(
    ("criterion", "rubric", "n"),
    [
        ("accuracy", "support", 1),
        ("accuracy", "billing", 1),
        ("accuracy", "house-style", 1),
        ("tone", "own", 1),
        ("tone", "support", 0),
        ("tone", OWN.fingerprint, 1),
    ],
)
def test_judgments_of_a_criterion_belong_to_a_rubric(
    two: RunStore, criterion: str, rubric: str, n: int
) -> None:
    assert len(list(two.judgments_of_criterion(criterion, rubric=rubric))) == n


def test_many_judgments_are_found_page_by_page(store: RunStore) -> None:
    voices = [said(repeat=n) for n in range(510)]
    begun(store, answer(said=voices))
    found = list(store.judgments_of_criterion("accuracy"))
    assert [each.judgment.repeat for each in found] == list(range(510))


def test_results_are_found_from_the_run_of_an_agent(two: RunStore) -> None:
    (result,) = two.results_of_agent_run("agent-run-7")
    assert (result.run_id, result.output.run_id) == ("a", "agent-run-7")
    assert list(two.results_of_agent_run("agent-run-8")) == []


def test_a_config_is_kept_for_ever_and_finds_its_runs(two: RunStore) -> None:
    assert two.config("f1") == make_run().config
    assert ids(two.runs(config_fingerprint="f1")) == ["a"]
    computed = two.run("b").config_fingerprint
    assert computed == ""
    with pytest.raises(UnknownNameError, match="no config is called 'f2'"):
        two.config("f2")
