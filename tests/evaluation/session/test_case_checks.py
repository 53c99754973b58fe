from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import DatasetError, InputError, SettingsError
from judgekit.evaluation import plan_suite
from judgekit.evaluation.runner import new_run
from tests.evaluation.suites import NOW, RIGHT, Bench, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeBench = Callable[..., Bench]

SCRIPT = {"type": "custom.script", "script": "look.py"}


def cases(small: Bench, *fields: dict[str, Any]) -> Bench:
    """The suite with these cases, called c0 and so on."""
    text = rows(*({"id": f"c{k}", "input": "?", **each} for k, each in enumerate(fields)))
    (small.path.parent / "cases.jsonl").write_text(text, encoding="utf-8")
    return small


def test_every_fault_of_every_case_is_told_at_once_with_its_place(bench: MakeBench) -> None:
    wrong = {"assertions": [RIGHT, {"type": "contains", "vlaue": "x"}]}
    small = cases(bench(), {"assertions": [{"type": "contians", "value": 1}]}, {}, wrong)
    with pytest.raises(DatasetError) as raised:
        new_run(small.open(), now=NOW)
    told = str(raised.value)
    assert "cases.jsonl: 3 faults in how the cases are evaluated" in told
    assert "case 'c0': assertions[0] (contians): no assertion is called so" in told
    assert "case 'c2': assertions[1] (contains): takes no `vlaue`; did you mean `value`?" in told


async def test_a_plan_finds_them_too(bench: MakeBench) -> None:
    small = cases(bench(), {"assertions": [{"type": "contians", "value": 1}]})
    with pytest.raises(DatasetError, match="a fault in how the cases are evaluated"):
        await plan_suite(small.open())


def test_of_many_faults_the_first_are_shown(bench: MakeBench) -> None:
    small = cases(bench(), *({"assertions": [{"type": f"wrong-{k}"}]} for k in range(30)))
    with pytest.raises(DatasetError, match=r"30 faults .*\n(.*\n){20}  and 10 more"):
        new_run(small.open(), now=NOW)


def test_cases_that_are_not_chosen_are_not_looked_at(bench: MakeBench) -> None:
    small = cases(bench(), {}, {"assertions": [{"type": "x"}], "status": "draft"})
    assert new_run(small.open(), now=NOW).n_cases == 1


def test_a_case_that_lacks_what_its_strategy_compares_with_is_a_fault(bench: MakeBench) -> None:
    small = cases(bench(), {"evaluation": {"strategy": "exact_match"}})
    with pytest.raises(DatasetError, match=r"\n  case 'c0': the strategy exact_match needs a ref"):
        new_run(small.open(), now=NOW)


def test_similarities_are_no_faults_also_within_groups(bench: MakeBench) -> None:
    similar = {"type": "similar", "value": "right"}
    group = {"type": "any", "assertions": [similar, {"type": "not-similar", "value": "x"}]}
    small = cases(bench(), {"assertions": [similar, group]})
    assert new_run(small.open(), now=NOW).n_cases == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"evaluation": {"strategy": "custom", "script": "look.py"}},
        {"assertions": [SCRIPT]},
        {"assertions": [{"type": "all", "assertions": [{**SCRIPT, "type": "not-custom.script"}]}]},
    ],
)
def test_a_script_needs_leave_and_must_be_there(bench: MakeBench, fields: dict[str, Any]) -> None:
    small = cases(bench(), fields)
    with pytest.raises(SettingsError, match=r"'c0' runs the script 'look\.py'.*not allowed"):
        new_run(small.open(), now=NOW)
    small = cases(bench({"allow_scripts": True}), fields)
    with pytest.raises(DatasetError, match=r"there is no script 'look\.py'"):
        new_run(small.open(), now=NOW)
    (small.path.parent / "look.py").write_text("", encoding="utf-8")
    assert new_run(small.open(), now=NOW).n_cases == 1


def test_a_suites_own_scripts_need_leave_too(bench: MakeBench) -> None:
    with pytest.raises(SettingsError, match=r"the suite 'small' runs the script 'look\.py'"):
        bench(scorers=[SCRIPT]).open()
    with pytest.raises(SettingsError, match=r"there is no script 'look\.py'"):
        bench({"allow_scripts": True}, assertions=[SCRIPT]).open()


def test_a_scorer_that_is_unsound_is_found_at_once(bench: MakeBench) -> None:
    with pytest.raises(InputError, match=r"scorers\[0\].*takes no `max`"):
        bench(scorers=[{"type": "latency", "max": 3}]).open()


def test_a_judge_with_nothing_to_judge_by_is_refused(bench: MakeBench) -> None:
    small = bench(judge="recorded:replies.jsonl", assertions=None)
    folder = small.path.parent
    (folder / "replies.jsonl").write_text(rows({"case_id": "c0", "text": "{}"}), encoding="utf-8")
    with pytest.raises(SettingsError, match="needs a `rubric`, and neither the suite nor any"):
        new_run(small.open(), now=NOW)
    cases(small, {"rubric": "rubric.yaml"}, {})
    assert new_run(small.open(), now=NOW).n_cases == 2


def test_a_case_that_needs_a_judge_is_named(bench: MakeBench) -> None:
    judged = {"evaluation": {"strategy": "llm_judge"}, "rubric": "rubric.yaml"}
    small = cases(bench(judge=None, assertions=None), {}, judged)
    with pytest.raises(SettingsError, match="'c1' is to be graded by a judge, and the suite name"):
        new_run(small.open(), now=NOW)


def test_equal_assertions_are_read_once(bench: MakeBench) -> None:
    small = cases(bench(), *({"assertions": [RIGHT]} for _ in range(50)))
    checks = small.open().case_checks()
    for case in small.open().cases:
        checks.take(case)
    assert list(checks._read) == [repr((json.loads(json.dumps(RIGHT)),))]
