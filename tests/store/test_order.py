"""Every listing is in an order of its own: in which order things were stored changes nothing."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from judgekit.records import FindingNote
from judgekit.store import CaseFilter, RunStore
from tests.factories import make_case, make_rubric
from tests.store.observing import START, answer, key, make_run, said
from tests.store.test_comparisons import approval, info, pair, scores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_NUMBERS = count()
DAYS = {"run-a": 0, "run-b": 1, "run-c": 1, "run-d": 1, "run-e": 2}
"""Three of the runs began at the same moment."""

RUBRICS = [make_rubric("accuracy", name=name) for name in ("zeal", "amity")]


def store_run(store: RunStore, name: str) -> None:
    at = START + timedelta(days=DAYS[name])
    run = make_run(name, "v2", "v1", started_at=at, rubric=RUBRICS[DAYS[name] % 2])
    store.begin(run)
    ids = ("tc-10", "tc-2", "tc-1")
    found = {
        case: make_case(id=case, agent="clerk", skill="refunds", reference=name if k else None)
        for k, case in enumerate(ids)
    }
    store.add(
        name,
        [
            answer(key(case, variant), place=k, case=found[case], said=(said(),), at=at)
            for variant in ("v1", "v2")
            for k, case in reversed(list(enumerate(ids)))
        ],
    )
    store.end(name, status="complete", at=START)


def store_comparison(store: RunStore, name: str) -> None:
    store.begin_comparison(info(name, started_at=START))
    store.add_pairs(name, [pair(case=make_case(id="tc-1"))])
    store.end_comparison(name, status="complete")


def note(store: RunStore, hour: int) -> None:
    at = START + timedelta(hours=hour)
    store.add_finding_note("support", FindingNote(finding="f-1", at=at, by=str(hour)))


def writes() -> list[Callable[[RunStore], object]]:
    """Everything that is stored, each part by itself."""
    of_runs = [lambda s, n=name: store_run(s, n) for name in DAYS]
    blind = [lambda s, n=n: store_comparison(s, f"cmp-{n}") for n in "xyz"]
    of_scores = [lambda s, n=n: s.add_score_comparison(scores(f"cmp-s{n}")) for n in "123"]
    approvals = [lambda s, n=n: s.approve(approval(f"apr-{n}", at=START)) for n in "xyz"]
    notes = [lambda s, h=h: note(s, h) for h in range(3)]
    return [*of_runs, *blind, *of_scores, *approvals, *notes]


def listings(store: RunStore) -> dict[str, Any]:
    """Everything that a store lists."""
    return {
        "runs": [run.id for run in store.runs()],
        "latest": store.run().id,
        "runs of a case": [run.id for run in store.runs_of_case("tc-1")],
        "runs of a variant": [run.id for run in store.runs_of_variant("v1")],
        "runs of a rubric": [run.id for run in store.runs_of_rubric("zeal")],
        "suites": store.suites(),
        "cases": [one.to_json() for one in store.cases_of(agent="clerk")],
        "cases of a run": [one.id for one in store.cases_of_run("run-b")],
        "cases with runs": [
            (one.to_json(), [run.id for run in of])
            for one, of in store.cases_with_runs(CaseFilter(skill="refunds"))
        ],
        "agents": store.names_of_cases("agent"),
        "results": [(one.run_id, one.key) for one in store.results_of_case("tc-1")],
        "judgments": [(one.run_id, one.key) for one in store.judgments_of_criterion("accuracy")],
        "comparisons": [one.id for one in store.comparisons()],
        "comparisons of a case": [one.id for one in store.comparisons_of_cases({"tc-1"})],
        "score comparisons": [one.id for one in store.score_comparisons(run_id="run-8")],
        "approvals": [one.id for one in store.approvals()],
        "notes": [one.by for one in store.finding_notes("support")],
    }


EXPECTED = {
    "runs": ["run-e", "run-d", "run-c", "run-b", "run-a"],
    "latest": "run-e",
    "runs of a case": ["run-e", "run-d", "run-c", "run-b", "run-a"],
    "runs of a variant": ["run-e", "run-d", "run-c", "run-b", "run-a"],
    "runs of a rubric": ["run-e", "run-a"],
    "suites": ["support"],
    "cases of a run": ["tc-1", "tc-10", "tc-2"],
    "agents": ["clerk"],
    "comparisons": ["cmp-z", "cmp-y", "cmp-x"],
    "comparisons of a case": ["cmp-z", "cmp-y", "cmp-x"],
    "score comparisons": ["cmp-s3", "cmp-s2", "cmp-s1"],
    "approvals": ["apr-z", "apr-y", "apr-x"],
    "notes": ["0", "1", "2"],
}


@pytest.mark.no_cover
@given(order=st.permutations(range(len(writes()))))
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_listing_depends_on_the_order_of_storing(order: Sequence[int], tmp_path: Path) -> None:
    """Newest first for runs, comparisons and approvals, of one time by their ids; else by ids."""
    every = writes()
    straight, shuffled = (RunStore(tmp_path / f"{next(_NUMBERS)}.db") for _ in range(2))
    for write in every:
        write(straight)
    for place in order:
        every[place](shuffled)
    found = listings(shuffled)
    assert found == listings(straight)
    assert {name: found[name] for name in EXPECTED} == EXPECTED
    assert [one["id"] for one in found["cases"]] == ["tc-1"] * 5 + ["tc-10"] + ["tc-2"] * 5
    for opened in (straight, shuffled):
        opened.close()
