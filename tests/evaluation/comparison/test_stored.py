from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import ApprovalRefusedError, DatasetError, StoreError
from judgekit.evaluation import (
    ComparisonRecorder,
    ComparisonTerms,
    Pairing,
    analyse_pairs,
    approval_status,
    approve_version,
    check_version_current,
    compare_in_order,
    file_mark,
    find_approval_evidence,
    new_comparison,
    require_same_comparison,
    stored_pairs,
    summarize_comparison,
    unanalysed_pairs,
)
from judgekit.records import ComparedSide, VariantVersion
from judgekit.store import RunStore
from judgekit.testing import FlawedModel, ScriptedModel
from tests.evaluation.pairs import RUBRIC, side
from tests.factories import make_judge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.judge import Judge
    from judgekit.records import ComparisonInfo

TEN = [f"c{k}" for k in range(10)]
MARK = VariantVersion(fingerprint="one")
AT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    opened = RunStore(tmp_path / "kept.db")
    yield opened
    opened.close()


def marked(label: str, mark: VariantVersion | None = MARK) -> Any:
    return replace(side(label, *TEN), about=ComparedSide(label=label, version=mark))


async def kept(
    store: RunStore, judge: Judge, *, mark: VariantVersion | None = MARK, **terms: Any
) -> ComparisonInfo:
    """A comparison of `new` with `old`, made and kept."""
    pairing = Pairing(marked("new", mark), marked("old", mark))
    info = new_comparison(
        pairing,
        pairing.survey(),
        judge,
        RUBRIC,
        terms=ComparisonTerms(**terms),
        now=datetime.now(UTC),
    )
    store.begin_comparison(info)
    keeping = ComparisonRecorder(store, info, judge)
    async with judge:
        async for _ in compare_in_order(pairing.pairs(), keeping.compare):
            pass
    store.end_comparison(info.id, status="complete")
    return store.comparison(info.id)


async def test_what_is_kept_comes_to_the_same_later(store: RunStore) -> None:
    info = await kept(store, make_judge(FlawedModel({"a": 0.9, "b": 0.1})))
    seen: list[str | None] = []
    summary = summarize_comparison(store, watch=lambda found: seen.append(found.winner))
    assert seen == ["a"] * 10
    assert (summary.decision.winner, summary.a, summary.whole.wins) == ("a", "new", 10)
    strict = summarize_comparison(store, info.id, alpha=0.0001)
    assert strict.decision.winner is None


async def test_a_pair_that_was_not_asked_whole_has_no_conclusion(store: RunStore) -> None:
    info = await kept(store, make_judge(FlawedModel({"a": 0.9, "b": 0.1})))
    first = next(iter(store.compared(info.id)))
    store.add_pairs(info.id, [first.model_copy(update={"is_done": False})])
    assert len(list(stored_pairs(store, info))) == 9


async def test_what_was_called_off_is_kept_as_far_as_it_was_said(store: RunStore) -> None:
    never = asyncio.Event()

    class Slow(ScriptedModel):
        async def complete(self, request: Any) -> Any:
            if request.subject.order == "ba":
                await never.wait()
            return await super().complete(request)

    judge = make_judge(Slow('{"rationale": "So.", "preference": "first"}'))
    pairing = Pairing(marked("new"), marked("old"))
    info = new_comparison(pairing, pairing.survey(), judge, RUBRIC, terms=ComparisonTerms(), now=AT)
    store.begin_comparison(info)
    keeping = ComparisonRecorder(store, info, judge)
    task = asyncio.create_task(keeping.compare(0, next(pairing.pairs())))
    for _ in range(50):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    keeping.flush()
    (pair,) = store.compared(info.id)
    assert {one.order for one in pair.preferences} == {"ab"}
    assert not pair.is_done


async def test_only_the_same_comparison_can_be_gone_on_with(store: RunStore) -> None:
    judge = make_judge(FlawedModel(0.5))
    info = await kept(store, judge)
    pairing = Pairing(marked("new"), marked("old"))
    fresh = new_comparison(
        pairing, pairing.survey(), judge, RUBRIC, terms=ComparisonTerms(), now=AT
    )
    assert require_same_comparison(info, fresh) is info
    other = ComparisonTerms(until_decided=True)
    changed = new_comparison(pairing, pairing.survey(), judge, RUBRIC, terms=other, now=AT)
    with pytest.raises(Exception, match="when it stops"):
        require_same_comparison(info, changed)


async def test_only_pairs_with_a_winner_are_analysed_and_none_twice(store: RunStore) -> None:
    info = await kept(store, make_judge(FlawedModel({"a": 0.9, "b": 0.1})))
    pairs = unanalysed_pairs(store, info)
    assert len(pairs) == 10
    reply = '{"strengths": [], "weaknesses": [], "suggestions": []}'
    judge = make_judge(ScriptedModel(reply))
    assert await analyse_pairs(store, info, judge, pairs[:4]) == []
    assert len(unanalysed_pairs(store, info)) == 6
    store.close()
    with pytest.raises(StoreError):
        await analyse_pairs(RunStore(store.location.file or ""), info, judge, [
            (pairs[5][0].model_copy(update={"place": 99}), pairs[5][1])
        ])  # fmt: skip


async def test_nothing_is_approved_that_does_not_say_which_version_it_is(store: RunStore) -> None:
    await kept(store, make_judge(FlawedModel({"a": 0.9, "b": 0.1})), mark=None)
    evidence = find_approval_evidence(store, "new", "old")
    check_version_current(evidence, "new", "old", None)
    with pytest.raises(ApprovalRefusedError, match="does not say which version"):
        approve_version(store, evidence, "new", "old", by="Ada", because="x")


async def test_an_undecided_comparison_says_how_many_cases_would_decide(store: RunStore) -> None:
    await kept(store, make_judge(FlawedModel(0.5)))
    evidence = find_approval_evidence(store, "new", "old")
    with pytest.raises(ApprovalRefusedError, match="it is not shown that new is better than old"):
        approve_version(store, evidence, "new", "old", by="Ada", because="x")


def test_a_version_is_told_from_the_next_by_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    file.write_text("one", encoding="utf-8")
    mark = file_mark(file)
    assert approval_status(mark, "x", None) == "approved"
    file.write_text("two", encoding="utf-8")
    assert approval_status(mark, "x", None) == "stale"
    assert approval_status(MARK, "x", None) == "unknown"
    with pytest.raises(DatasetError, match="cannot be read"):
        file_mark(tmp_path / "none")
