from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import InputError, StoreError, UnknownNameError
from judgekit.records import (
    AnalysisPoint,
    AnalysisSuggestion,
    Approval,
    ComparedPair,
    ComparedSide,
    ComparisonAnalysis,
    ComparisonInfo,
    Preference,
    PreferenceFailure,
    ScoreComparisonInfo,
    VariantVersion,
)
from judgekit.store import RunStore
from tests.factories import make_case, make_output, make_rubric

if TYPE_CHECKING:
    from collections.abc import Iterator

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def store(location: str) -> Iterator[RunStore]:
    opened = RunStore(location)
    yield opened
    opened.close()


def info(name: str = "cmp-1", **fields: Any) -> ComparisonInfo:
    known: dict[str, Any] = {
        "id": name,
        "a": ComparedSide(label="new.jsonl", variant="new", run_id="run-7"),
        "b": ComparedSide(label="old.jsonl", variant="old"),
        "rubric": make_rubric(),
        "judge": "openai/m pairwise/criterion@1",
        "n_pairs": 2,
        "started_at": AT,
    }
    return ComparisonInfo(**known | fields)


def preference(order: str = "ab", choice: str = "first", **fields: Any) -> Preference:
    known: dict[str, Any] = {"order": order, "choice": choice, "rationale": "So.", "judge": "j"}
    return Preference(**known | fields)


def failure(order: str = "ba", **fields: Any) -> PreferenceFailure:
    known: dict[str, Any] = {"order": order, "kind": "timeout", "message": "late", "judge": "j"}
    return PreferenceFailure(**known | fields)


def approval(name: str = "apr-1", **fields: Any) -> Approval:
    known: dict[str, Any] = {
        "id": name, "at": AT, "variant": "v2", "baseline": "v1",
        "version": VariantVersion(fingerprint="f"), "by": "Ada", "because": "fewer errors",
        "kind": "blind", "evidence": ("cmp-1",), "rubric": "r", "rubric_fingerprint": "rf",
        "alpha": 0.05, "p": 0.01, "shown": "9 of 10 decided pairs",
    }  # fmt: skip
    return Approval(**known | fields)


def pair(place: int = 0, **fields: Any) -> ComparedPair:
    known: dict[str, Any] = {
        "place": place,
        "case": make_case(id=f"c{place}"),
        "a": make_output("Yes, within 30 days."),
        "b": make_output("Yes."),
        "is_done": True,
    }
    return ComparedPair(**known | fields)


def test_a_comparison_comes_back_as_it_was_kept(store: RunStore) -> None:
    store.begin_comparison(info())
    whole = pair(preferences=(preference(),), failures=(failure(),))
    store.add_pairs("cmp-1", [whole, pair(1)])
    assert store.comparison() == info()
    assert list(store.compared("cmp-1")) == [whole, pair(1)]
    store.end_comparison("cmp-1", status="complete", reason="all asked")
    ended = store.comparison("cmp-1")
    assert (ended.status, ended.reason) == ("complete", "all asked")
    assert ended.finished_at is not None


def test_a_later_answer_takes_the_place_of_a_failure_and_the_same_is_not_kept_twice(
    store: RunStore,
) -> None:
    store.begin_comparison(info())
    begun = pair(preferences=(preference(),), failures=(failure(),), is_done=False)
    store.add_pairs("cmp-1", [begun])
    later = pair(preferences=(preference(), preference("ba", "second")))
    store.add_pairs("cmp-1", [later])
    (found,) = store.compared("cmp-1")
    assert (found.preferences, found.failures, found.is_done) == (later.preferences, (), True)


def test_many_pairs_are_read_page_by_page_in_their_order(store: RunStore) -> None:
    store.begin_comparison(info())
    store.add_pairs("cmp-1", [pair(place) for place in range(203)])
    assert [one.place for one in store.compared("cmp-1")] == list(range(203))


def test_comparisons_are_found_by_the_variant_the_label_and_the_run(store: RunStore) -> None:
    store.begin_comparison(info())
    other = ComparedSide(label="x")
    store.begin_comparison(info("cmp-2", a=other, started_at=AT.replace(hour=13)))
    ids = [one.id for one in store.comparisons()]
    assert ids == ["cmp-2", "cmp-1"]
    assert [one.id for one in store.comparisons(limit=1)] == ["cmp-2"]
    assert [one.id for one in store.comparisons(variant="new")] == ["cmp-1"]
    assert [one.id for one in store.comparisons(variant="new.jsonl")] == ["cmp-1"]
    assert [one.id for one in store.comparisons(run_id="run-7")] == ["cmp-1"]
    assert store.comparison("latest").id == "cmp-2"


def test_a_name_that_fits_none_or_several_is_refused(store: RunStore) -> None:
    with pytest.raises(UnknownNameError, match="comparison is called 'latest'"):
        store.comparison()
    store.begin_comparison(info("cmp-a1"))
    store.begin_comparison(info("cmp-a2"))
    with pytest.raises(InputError, match="several comparisons begin with 'cmp-a'"):
        store.comparison("cmp-a")
    with pytest.raises(UnknownNameError, match="cmp-a1"):
        store.comparison("cmp-b")
    with pytest.raises(StoreError, match="exists already"):
        store.begin_comparison(info("cmp-a1"))


def test_a_comparison_that_is_made_belongs_to_one_store(store: RunStore, location: str) -> None:
    store.begin_comparison(info())
    other = RunStore(location)
    with pytest.raises(StoreError, match="is still running"):
        other.resume_comparison("cmp-1")
    store.end_comparison("cmp-1", status="interrupted")
    other.resume_comparison("cmp-1")
    assert store.comparison().status == "running"
    other.close()


def test_an_analysis_is_kept_with_its_pair_and_the_last_one_counts(store: RunStore) -> None:
    store.begin_comparison(info())
    store.add_pairs("cmp-1", [pair()])
    said = ComparisonAnalysis(
        case_id="c0",
        winner="a",
        strengths=(AnalysisPoint(text="Names it.", quote="30 days", found=True),),
        suggestions=(AnalysisSuggestion(area="x", before="", after="y", reasoning="z"),),
        judge="m analysis/pair@1",
    )
    store.add_analysis("cmp-1", 0, said.model_copy(update={"winner": "b"}))
    store.add_analysis("cmp-1", 0, said)
    store.add_analysis("cmp-1", 0, said)
    assert store.analyses("cmp-1") == {0: said}


def test_approvals_are_listed_newest_first(store: RunStore) -> None:
    first = approval()
    second = first.model_copy(update={"id": "apr-2", "at": AT.replace(hour=13), "variant": "v3"})
    store.approve(first)
    store.approve(second)
    assert store.approvals() == [second, first]
    assert store.approvals("v2") == [first]


def scores(name: str = "cmp-s1", **fields: Any) -> ScoreComparisonInfo:
    known: dict[str, Any] = {
        "id": name,
        "a": ComparedSide(label="v1", variant="v1", run_id="run-7"),
        "b": ComparedSide(label="v2", variant="v2", run_id="run-8"),
        "started_at": AT,
    }
    return ScoreComparisonInfo(**known | fields)


def test_a_comparison_of_scores_is_found_by_its_id_and_from_its_runs(store: RunStore) -> None:
    one, other = scores(tags=("hard",), anytime=True), scores("cmp-s2", alpha=0.1)
    for each in (one, other):
        store.add_score_comparison(each)
    store.begin_comparison(info())
    assert store.any_comparison("cmp-s1") == one
    assert store.any_comparison("cmp-1") == info()
    assert store.score_comparisons() == [other, one]
    assert store.score_comparisons(run_id="run-8", limit=1) == [other]
    assert store.score_comparisons(run_id="run-9") == []
    assert [each.id for each in store.comparisons()] == ["cmp-1"]
    with pytest.raises(InputError, match=r"several comparisons begin with 'cmp-s': cmp-s2, cmp-s1"):
        store.any_comparison("cmp-s")
    with pytest.raises(InputError, match="several comparisons begin with 'cmp-'"):
        store.any_comparison("cmp-")
    with pytest.raises(InputError, match="cmp-s1 compares stored scores: it has no pairs"):
        store.comparison("cmp-s1")
    with pytest.raises(UnknownNameError, match=r"'cmp-s3'[\s\S]*cmp-s1"):
        store.any_comparison("cmp-s3")
