from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import UnknownNameError
from judgekit.evaluation import OutcomeFilter, select_outcomes
from judgekit.records import AssertionResult, Output, RunPanel
from judgekit.store import RunStore
from tests.factories import make_case, make_failure
from tests.store.observing import answer, begun, key, part, said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


GOOD = (said(), said("clarity", 0.5))
BAD = (said(value=0), said("clarity", 0))


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[RunStore]:
    """An empty store."""
    with closing(RunStore(tmp_path / "judgekit.db", patience_s=0.1)) as store:
        yield store


def found(store: RunStore, **wanted: object) -> list[str]:
    """Case and variant of what is picked."""
    picks = select_outcomes(store, store.run("run-1"), OutcomeFilter(**wanted))  # type: ignore[arg-type]  # by name
    return [f"{each.result.case.id} {each.result.variant}" for each in picks]


@pytest.fixture
def store(kept: RunStore) -> RunStore:
    """Two cases by three variants; `v2` is wrong about the first."""
    begun(
        kept,
        answer(key("a", "v1"), said=GOOD, case=make_case(id="a", tags=("hard",))),
        answer(key("a", "v2"), said=BAD, case=make_case(id="a", tags=("hard",))),
        answer(key("b", "v1"), said=GOOD, place=1),
        answer(key("b", "v3"), said=GOOD, place=1),
        variants=[{"id": "v1"}, {"id": "v2"}, {"id": "v3"}],
    )
    return kept


def test_everything_is_picked_unless_something_else_is_wished(store: RunStore) -> None:
    assert OutcomeFilter().is_all
    assert found(store) == ["a v1", "a v2", "b v1", "b v3"]


def test_variants_cases_and_tags_are_picked(store: RunStore) -> None:
    assert found(store, variants=("v2",)) == ["a v2"]
    assert found(store, variants=("v2", "v3")) == ["a v2", "b v3"]
    assert found(store, case_id="b") == ["b v1", "b v3"]
    assert found(store, tag="hard", variants=("v1",)) == ["a v1"]
    assert found(store, tag="easy") == []


def test_what_did_not_pass_is_picked(store: RunStore) -> None:
    assert found(store, failed=True) == ["a v2"]


def test_what_could_not_be_had_judged_or_decided_is_picked_too(kept: RunStore) -> None:
    open_check = AssertionResult(message="no such path", error="no such path")
    begun(
        kept,
        answer(key("error"), said=(), output=Output(error="boom")),
        answer(
            key("failed"), said=(said(), said("clarity"), make_failure(judge="second")), place=1
        ),
        answer(key("open"), said=(), checks=(open_check,), place=2),
        answer(key("good"), said=GOOD, place=3),
    )
    assert found(kept, failed=True) == ["error v1", "failed v1", "open v1"]


def test_what_nobody_was_to_judge_has_not_failed(kept: RunStore) -> None:
    begun(kept, answer(said=()), panel=RunPanel())
    assert found(kept, failed=True) == []


def test_a_variant_the_run_does_not_have_is_refused(store: RunStore) -> None:
    with pytest.raises(UnknownNameError, match=r"no variant of this run is called 'v9'"):
        found(store, variants=("v9",))


def test_a_case_the_run_does_not_have_is_refused_with_those_it_has(store: RunStore) -> None:
    with pytest.raises(UnknownNameError, match=r"no case of this run is called 'z'\n  known: a, b"):
        found(store, case_id="z")


def test_a_case_without_an_output_yet_is_no_error(store: RunStore) -> None:
    store.add("run-1", [part(key("c"), case=make_case(id="c"), place=2)])
    assert found(store, case_id="c") == []
