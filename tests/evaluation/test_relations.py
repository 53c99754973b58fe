"""What refers to a run, and all that is known of a skill, an agent, a prompt version or a suite."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import InputError, NotComparableError, UnknownNameError
from judgekit.evaluation import (
    approve_version,
    compare_stored_scores,
    find_approval_evidence,
    new_score_comparison,
    overview,
    paired_sides,
    relations_of_run,
)
from judgekit.evaluation.run_config import VERSIONS_KEY
from judgekit.records import ComparedPair, ComparedSide, Variant
from judgekit.report import overview_document
from judgekit.store import CaseFilter, RunStore
from tests.factories import make_case, make_output
from tests.store.observing import START, answer, begun, key, said
from tests.store.test_comparisons import info

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.records import RunInfo

SKILLS = ("refunds", "refunds", "refunds", "billing")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    opened = RunStore(tmp_path / "runs.db")
    yield opened
    opened.close()


def case(place: int, **fields: Any) -> Any:
    known = {"id": f"c{place}", "skill": SKILLS[place % 4], "agent": "clerk", "stratum": "simple"}
    return make_case(**known | fields)


def ran(store: RunStore, day: int, *failing: int, n: int = 8, **fields: Any) -> RunInfo:
    """A run of `v1`, of which these places fail, and of `v2`, of which none does."""
    observed = [
        answer(
            key(f"c{place}", variant),
            place=place,
            case=case(place),
            said=(said("accuracy", value), said("clarity", value)),
        )
        for place in range(n)
        for variant, value in (("v1", float(place not in failing)), ("v2", 1.0))
    ]
    versions = {name: {"fingerprint": f"{name}-text"} for name in ("v1", "v2")}
    config = {"name": "support", "judge": {"model": "openai/m"}, VERSIONS_KEY: versions}
    known = {"name": f"run-{day}", "started_at": START + timedelta(days=day), "config": config}
    variants = [Variant(id="v1"), Variant(id="v2", prompt_version="p9")]
    run = begun(store, *observed, **{"variants": variants} | known | fields)
    store.end(run.id, status="complete", at=run.started_at)
    return store.run(run.id)


def side(variant: str) -> ComparedSide:
    return ComparedSide(label=f"{variant}.jsonl", variant=variant)


def compared(store: RunStore, run: RunInfo) -> str:
    """The id of a stored comparison of the scores of both variants of a run."""
    found = new_score_comparison((run, "v1"), (run, "v2"), now=datetime.now(UTC))
    store.add_score_comparison(found)
    return found.id


def test_a_run_leads_to_its_findings_comparisons_and_approvals(store: RunStore) -> None:
    ran(store, 0, 0, 1, 2, 3, 4, 5, 6)
    run = ran(store, 1, 0, 1, 2, 3, 4, 5)
    name = compared(store, run)
    evidence = find_approval_evidence(store, "v2", "v1")
    approval = approve_version(store, evidence, "v2", "v1", by="Ada", because="better")
    related = relations_of_run(store, run)
    assert len(related.changes.continued) == 6
    assert len(related.changes.resolved) == 1
    assert [one.id for one in related.comparisons] == [approval.evidence[0], name]
    assert related.approvals == (approval,)
    assert approval.evidence[1] == run.id
    earlier = relations_of_run(store, store.run("run-0"))
    assert (earlier.comparisons, earlier.approvals) == ((), ())


def test_a_comparison_of_scores_is_computed_from_its_runs(store: RunStore) -> None:
    a, b = ran(store, 0, 0, 1, 2, 3, 4, 5), ran(store, 1, 0)
    found = new_score_comparison((a, "v1"), (b, "v1"), alpha=0.1, now=START)
    store.add_score_comparison(found)
    stored = store.any_comparison(found.id[:-1])
    assert stored == found
    result = compare_stored_scores(store, found).result
    assert (result.a, result.b, result.decision.winner) == ("run-0", "run-1", "b")
    assert result.value is not None
    assert result.value.estimate.value == pytest.approx(5 / 8)
    assert result.decision.alpha == 0.1


def test_runs_of_which_every_case_was_edited_are_not_compared(store: RunStore) -> None:
    before = ran(store, 0, n=1)
    edited = answer(key("c0", "v1"), case=case(0, input="Something else?"), said=(said(),))
    when = START + timedelta(days=1)
    after = begun(store, edited, name="run-1", started_at=when, variants=[Variant(id="v1")])
    store.end(after.id, status="complete", at=when)
    sides = (before, "v1"), (store.run(after.id), "v1")
    with pytest.raises(NotComparableError, match="every case was edited in between"):
        paired_sides(store, *sides)


def test_a_comparison_of_a_run_that_is_gone_says_so(store: RunStore, tmp_path: Path) -> None:
    found = new_score_comparison((ran(store, 0), "v1"), (ran(store, 1), "v1"), now=START)
    with closing(RunStore(tmp_path / "other.db")) as other:
        # Its id is the beginning of another one.
        ran(other, 0, name="run-00")
        with pytest.raises(InputError, match=r"cmp-\S+ compares the run run-0, which is not in"):
            compare_stored_scores(other, found)


def test_only_cases_with_a_tag_are_compared_again(store: RunStore) -> None:
    observed = [
        answer(key(f"c{k}"), place=k, case=make_case(id=f"c{k}", tags=("hard",) if k else ()))
        for k in range(3)
    ]
    for name in ("a", "b"):
        run = begun(store, *observed, name=name)
        store.end(run.id, status="complete", at=START)
    runs = ((store.run("a"), "v1"), (store.run("b"), "v1"))
    found = new_score_comparison(*runs, tags=("hard",), now=START)
    result = compare_stored_scores(store, found).result
    assert result.value is not None
    assert result.value.estimate.n == 2


def test_all_that_is_known_of_a_skill(store: RunStore) -> None:
    for day in range(7):
        ran(store, day, *range(day + 1))
    name = compared(store, store.run("run-6"))
    known = overview(store, CaseFilter(skill="refunds"))
    assert [case.id for case in known.latest_cases] == ["c0", "c1", "c2", "c4", "c5", "c6"]
    assert [run.id for run in known.runs] == [f"run-{day}" for day in range(6, -1, -1)]
    trend = {one.variant: one for one in known.trends}["v1"]
    # Of six cases of the skill 1, 2, 3, 3, 4, 5 and 6 fail: c3 is of another skill.
    values = [point.figure.value for point in trend.points]
    assert values == pytest.approx([1 - n / 6 for n in (1, 2, 3, 3, 4, 5, 6)])
    assert (trend.direction.direction, bool(trend.escalation)) == ("degrading", True)
    assert all(point.n_cases == 6 and point.change is None for point in trend.points)
    assert {one.case_id for one in known.findings} == {"c0", "c1", "c2", "c4", "c5", "c6"}
    assert [one.id for one in known.comparisons] == [name]
    page = overview_document("Refunds", known, limit=2)
    assert page.conclusion.text == (
        "6 cases, 7 runs, 6 open findings (6 major); support v1 has been degrading for 3 runs."
    )
    assert page.conclusion.tone == "fail"


def test_of_all_cases_of_a_suite_the_whole_trend_and_its_falls_count(store: RunStore) -> None:
    ran(store, 0)
    ran(store, 1, *range(5))
    for wanted in (CaseFilter(agent="clerk"), CaseFilter(suite="support")):
        known = overview(store, wanted)
        assert [point.n_cases for point in known.trends[0].points] == [8, 8]
        assert known.findings[0].type == "regression"
    skill = overview(store, CaseFilter(skill="billing"))
    assert {one.case_id for one in skill.findings} == {"c3"}


def test_a_prompt_version_is_that_of_a_variant_too(store: RunStore) -> None:
    ran(store, 0)
    known = overview(store, CaseFilter(prompt_version="p9"))
    assert (known.cases, [run.id for run in known.variant_runs]) == ((), ["run-0"])
    assert [one.variant for one in known.trends] == ["v2"]


def test_an_edited_case_counts_once_as_it_was_last(store: RunStore) -> None:
    ran(store, 0, n=1)
    run = begun(
        store,
        answer(key("c0"), case=case(0, reference="new", status="deprecated")),
        name="run-9",
        started_at=START + timedelta(days=9),
    )
    known = overview(store, CaseFilter(skill="refunds"))
    assert len(known.cases) == 2
    assert [one.status for one in known.latest_cases] == ["deprecated"]
    assert {one.reference: [r.id for r in of] for one, of in known.cases} == {
        None: ["run-0"], "new": [run.id],
    }  # fmt: skip


def test_a_blind_comparison_of_a_case_belongs_to_its_skill(store: RunStore) -> None:
    ran(store, 0)
    store.begin_comparison(info("cmp-1"))
    pair = ComparedPair(place=0, case=case(1), a=make_output("a"), b=make_output("b"))
    store.add_pairs("cmp-1", [pair])
    store.end_comparison("cmp-1", status="complete")
    # It names the suite, and so it belongs to it whichever cases it has.
    store.begin_comparison(info("cmp-2", suite="support", a=side("v1"), b=side("v2")))
    known = overview(store, CaseFilter(suite="support"))
    assert [one.id for one in known.comparisons] == ["cmp-2", "cmp-1"]
    version = overview(store, CaseFilter(prompt_version="p9"))
    assert [one.id for one in version.comparisons] == ["cmp-2"]
    skills = {
        skill: [one.id for one in overview(store, CaseFilter(skill=skill)).comparisons]
        for skill in ("refunds", "billing")
    }
    assert skills == {"refunds": ["cmp-1"], "billing": []}


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"skill": "refnds"}, r"no skill is called 'refnds'[\s\S]*refunds"),
        ({"agent": "clark"}, r"no agent is called 'clark'[\s\S]*clerk"),
        ({"prompt_version": "p8"}, r"no prompt version is called 'p8'[\s\S]*p9"),
        ({"suite": "suport"}, r"no suite is called 'suport'[\s\S]*support"),
    ],
)
def test_an_unknown_name_is_an_error_with_near_ones(
    store: RunStore, wanted: dict[str, str], message: str
) -> None:
    ran(store, 0)
    with pytest.raises(UnknownNameError, match=message):
        overview(store, CaseFilter(**wanted))
