"""How findings follow the cases of a suite, and when the fall of a pass rate is one."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from judgekit.evaluation import SuiteFindings
from judgekit.evaluation.findings import finding_changes
from judgekit.records import Case, CaseResult, Finding, FindingNote, RunInfo
from judgekit.report import Lines, finding_document
from judgekit.store import RunStore
from tests.factories import make_case, make_rubric
from tests.store.observing import START, answer, begun, key, part, said

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

RUBRIC = make_rubric("good")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    opened = RunStore(tmp_path / "runs.db")
    yield opened
    opened.close()


def ran(
    store: RunStore,
    day: int,
    outcomes: Mapping[str, bool | None],
    *,
    measure: str = "",
    cases: Mapping[str, Case] | None = None,
    **fields: Any,
) -> RunInfo:
    """A run whose cases passed, failed or (None) are undecided; `measure` is an assertion of it."""
    observed = [
        answer(
            key(case),
            place=place,
            case=(cases or {}).get(case) or make_case(id=case),
            said=() if passed is None else (said("good", float(passed)),),
        )
        for place, (case, passed) in enumerate(outcomes.items())
    ]
    config = {"name": "support", "assertions": [{"type": "contains", "value": measure}]}
    known = {"name": f"run-{day:03}", "started_at": START + timedelta(days=day), "rubric": RUBRIC}
    run = begun(store, *observed, **{"config": config} | known | fields)
    store.end(run.id, status="complete", at=run.started_at)
    return store.run(run.id)


def rates(store: RunStore, *n_passed: int, measures: str = "", **fields: Any) -> list[RunInfo]:
    """Runs of ten cases of which so many pass; `measures` has a letter for each run."""
    return [
        ran(
            store,
            day,
            {f"c{k}": k < n for k in range(10)},
            measure=measures[day] if measures else "",
            **fields,
        )
        for day, n in enumerate(n_passed)
    ]


def falls(store: RunStore) -> list[Finding]:
    found = SuiteFindings(store, "support").findings.values()
    return [one for one in found if one.type == "regression"]


def test_a_fall_is_found_across_a_run_by_another_judge(store: RunStore) -> None:
    rates(store, 10, 9, 5, measures="ABA")
    (found,) = falls(store)
    assert "fell from 100 % to 50 %" in found.description
    assert found.description.endswith("the run before is run-000")
    assert found.runs == ("run-002",)


def test_a_rate_by_another_threshold_is_no_fall(store: RunStore) -> None:
    strict = RUBRIC.model_copy(update={"pass_threshold": 0.9})
    for day, rubric in enumerate((RUBRIC, strict)):
        observed = [answer(key(f"c{k}"), place=k, said=(said("good", 0.8),)) for k in range(10)]
        run = begun(
            store,
            *observed,
            name=f"run-{day}",
            started_at=START + timedelta(days=day),
            rubric=rubric,
        )
        store.end(run.id, status="complete", at=START)
    assert falls(store) == []


def test_a_rate_of_the_cases_that_a_judge_left_is_no_fall(store: RunStore) -> None:
    passing: dict[str, bool | None] = {f"c{k}": k > 0 for k in range(10)}
    ran(store, 0, passing)
    # Of nine cases nothing is known, and the tenth failed before.
    ran(store, 1, {**dict.fromkeys(passing), "c0": False})
    assert falls(store) == []
    # It hides no fall: of two that are known one passed before.
    ran(store, 2, {**dict.fromkeys(passing), "c0": False, "c1": False})
    ran(store, 3, {**passing, "c1": False, "c2": False})
    assert [one.runs for one in falls(store)] == [("run-002", "run-003")]


def test_harder_cases_are_no_fall_but_a_fall_on_the_same_cases_is(store: RunStore) -> None:
    easy = {f"c{k}": True for k in range(10)}
    ran(store, 0, easy)
    ran(store, 1, easy | {f"hard{k}": False for k in range(10)})
    assert falls(store) == []
    ran(store, 2, {f"c{k}": k < 5 for k in range(10)})
    (found,) = falls(store)
    assert found.runs == ("run-002",)


def test_cases_that_only_got_other_tags_are_the_same_cases(store: RunStore) -> None:
    ran(store, 0, {f"c{k}": True for k in range(10)})
    tagged = {f"c{k}": make_case(id=f"c{k}", tags=("new",)) for k in range(10)}
    ran(store, 1, {f"c{k}": k < 5 for k in range(10)}, cases=tagged)
    assert len(falls(store)) == 1


def test_a_run_in_which_nothing_was_decided_hides_no_fall(store: RunStore) -> None:
    ran(store, 0, {f"c{k}": True for k in range(10)})
    ran(store, 1, {f"c{k}": None for k in range(10)})
    ran(store, 2, {f"c{k}": k < 5 for k in range(10)})
    (found,) = falls(store)
    assert "fell from 100 % to 50 %" in found.description


def test_a_fall_lasts_until_the_rate_comes_near_what_it_was(store: RunStore) -> None:
    rates(store, 10, 5, 6, 10)
    (found,) = falls(store)
    assert (found.runs, found.status) == (("run-001", "run-002"), "resolved")
    assert found.resolved_by == "run-003"


def test_a_finding_names_its_runs_and_a_run_its_findings(store: RunStore) -> None:
    ran(store, 0, {"a": False, "b": False})
    ran(store, 1, {"a": False, "b": True})
    ran(store, 2, {"a": None, "b": False})
    followed = SuiteFindings(store, "support")
    by_case = {one.case_id: one for one in followed.findings.values() if one.case_id}
    assert by_case["a"].runs == ("run-000", "run-001")
    assert (by_case["b"].runs, by_case["b"].status) == (("run-000", "run-002"), "recurring")
    for one in followed.findings.values():
        for run_id in one.runs:
            assert one in followed.of_run(run_id)
    # What a run resolved is its finding as well.
    assert by_case["b"] in followed.of_run("run-001")


def test_a_judge_that_let_a_case_fail_may_let_it_pass_although_another_failed_it_since(
    store: RunStore,
) -> None:
    for day, (measure, passed) in enumerate((("A", False), ("B", False), ("C", True), ("A", True))):
        ran(store, day, {"a": passed}, measure=measure)
    (found,) = SuiteFindings(store, "support").findings.values()
    assert (found.status, found.resolved_by) == ("resolved", "run-003")


def test_the_page_of_a_finding_names_its_latest_runs(store: RunStore) -> None:
    for day in range(7):
        ran(store, day, {"a": False})
    (found,) = SuiteFindings(store, "support").findings.values()
    lines = finding_document(found).blocks[0]
    assert isinstance(lines, Lines)
    runs = dict(lines.rows)["runs"]
    assert runs == "run-006, run-005, run-004, run-003, run-002 and 2 before"


def test_of_several_repeats_the_worst_counts_and_of_several_tries_the_last(store: RunStore) -> None:
    for name, repeats in (("repeated", 2), ("tried", 1)):
        run = begun(
            store,
            answer(key("a", repeat=0), said=(said("good", 0.0),)),
            answer(key("a", repeat=1), said=(said("good", 1.0),)),
            name=name,
            suite=name,
            rubric=RUBRIC,
            config={"name": name, "settings": {"repeats": repeats}},
        )
        store.end(run.id, status="complete", at=START)
    (found,) = SuiteFindings(store, "repeated").findings.values()
    assert found.status == "open"
    assert not SuiteFindings(store, "tried").findings


def test_answers_that_are_added_replace_the_stored_failures(store: RunStore) -> None:
    run = ran(store, 0, {"a": None, "b": False})
    assert len(SuiteFindings(store, "support").findings) == 1
    store.add(run.id, [part(key("a"), said=(said("good", 0.0),), is_done=True)])
    store.end(run.id, status="complete", at=START)
    found = SuiteFindings(store, "support").findings.values()
    assert {one.case_id for one in found} == {"a", "b"}


class _CountingStore(RunStore):
    """A store that notes of which runs the answers are read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.read: list[str] = []

    def results(self, run_id: str, **how: Any) -> Iterator[CaseResult]:
        self.read.append(run_id)
        return super().results(run_id, **how)


def test_the_answers_of_a_run_are_read_once(tmp_path: Path) -> None:
    store = _CountingStore(tmp_path / "counted.db")
    rates(store, 10, 5)
    first = SuiteFindings(store, "support").findings
    # Once for the failures, once for the figures; then both are stored.
    assert sorted(store.read) == ["run-000"] * 2 + ["run-001"] * 2
    assert SuiteFindings(store, "support").findings == first
    assert len(store.read) == 4
    store.close()


_OUTCOMES = st.lists(
    st.tuples(
        st.sampled_from("AAB"),
        st.fixed_dictionaries({"a": st.sampled_from([True, False, None]), "b": st.booleans()}),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
)
_NUMBERS = count()


@given(history=_OUTCOMES)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_a_run_reports_is_what_the_list_says(
    history: list[tuple[str, dict[str, bool | None], bool]], tmp_path: Path
) -> None:
    """The fast way at the end of a run, by ids alone, and the whole list agree on every run.

    Judges change in between, answers are undecided, and findings are resolved by hand.
    """
    store = RunStore(tmp_path / f"{next(_NUMBERS)}.db")
    for day, (measure, outcomes, is_resolved) in enumerate(history):
        run = ran(store, day, outcomes, measure=measure)
        followed = SuiteFindings(store, "support")
        own, listed = finding_changes(store, run), followed.changes_of(run.id)
        cases = {one.id for one in followed.findings.values() if one.case_id is not None}
        for name in ("opened", "continued", "resolved"):
            assert set(getattr(own, name)) == set(getattr(listed, name)) & cases, name
        if is_resolved and cases:
            at = run.started_at + timedelta(hours=1)
            note = FindingNote(finding=min(cases), at=at, by="Ada", resolution="fixed")
            store.add_finding_note("support", note)
    store.close()


def test_a_case_that_was_edited_resolves_no_finding_of_what_it_was(store: RunStore) -> None:
    was, renamed = make_case(id="a", input="Old?"), make_case(id="a", input="Old?", name="A")
    ran(store, 0, {"a": False, "b": False}, cases={"a": was})
    edited = ran(store, 1, {"a": True, "b": True}, cases={"a": make_case(id="a", input="New?")})
    (b,) = finding_changes(store, edited).resolved
    (a,) = (one for one in SuiteFindings(store, "support").findings.values() if one.id != b)
    assert (a.case_id, a.status) == ("a", "open")
    assert a.passes_since == "in run-001, which is not comparable: the case was edited"
    again = ran(store, 2, {"a": True, "b": True}, cases={"a": renamed})
    assert finding_changes(store, again).resolved == (a.id,)
    assert all(
        one.status == "resolved" for one in SuiteFindings(store, "support").findings.values()
    )
