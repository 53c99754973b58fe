from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import InputError, StoreError
from judgekit.evaluation import LabellingSession, LabelQuestion
from judgekit.evaluation.human_labels import annotator_rank, blind_order
from judgekit.records import LabelPacket, Output, PacketItem, TraceEvent
from judgekit.store import RunStore
from tests.evaluation.waiting import Contested, Full, question, waiting_run
from tests.factories import make_case, make_output, make_rubric
from tests.store.observing import START, answer, begun, key, make_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.records import ItemKey

CASES = ("a", "b", "c", "d", "e", "f")


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[RunStore]:
    """An empty store."""
    with closing(RunStore(tmp_path / "judgekit.db", patience_s=0.1)) as store:
        yield store


def keys(*variants: str) -> list[ItemKey]:
    """An answer of each variant to each case."""
    return [key(case, variant) for case in CASES for variant in variants or ("v1",)]


def sitting(store: RunStore, annotator: str = "Ada", *, seed: int = 0) -> LabellingSession:
    """A person before the run."""
    return LabellingSession(store, store.run("run-1"), annotator, seed=seed)


def at_the_same_question(store: RunStore, annotator: str) -> LabellingSession:
    """Somebody else before the run, who has skipped to the first question of Ada."""
    first, other = asked(sitting(store)).case.id, sitting(store, annotator)
    while asked(other).case.id != first:
        other.skip()
    return other


def asked(labelling: LabellingSession) -> LabelQuestion:
    """The question that is asked now; there is one."""
    found = labelling.current()
    assert found is not None
    return found


def test_a_question_shows_case_and_output_and_nothing_of_who_answered(kept: RunStore) -> None:
    output = make_output(usage={"cost_usd": 3}, run_id="r", duration_ms=9, metadata={"model": "m"})
    run = begun(kept, answer(said=(), output=output))
    kept.ask_person(run.id, [question()])
    shown = asked(sitting(kept))
    assert shown.output == Output(text="Yes, within 30 days.")
    assert (shown.number, shown.total, shown.case.id) == (1, 1, "refund")
    assert "v1" not in repr(shown)


def test_steps_are_shown_without_the_model_that_took_them(kept: RunStore) -> None:
    step = TraceEvent.model_validate(
        {"type": "tool_call", "name": "look", "content": {"q": 1}, "model": "gpt", "depth": 2}
    )
    run = begun(kept, answer(said=(), output=make_output(trace=(step,))))
    kept.ask_person(run.id, [question()])
    (shown,) = asked(sitting(kept)).output.trace
    assert shown.model_dump() == {
        "type": "tool_call", "name": "look", "content": {"q": 1}, "depth": 2,
    }  # fmt: skip


def test_the_criterion_is_that_of_the_cases_own_rubric(kept: RunStore) -> None:
    own = make_case(rubric=make_rubric("tact"))
    run = begun(kept, answer(said=(), case=own))
    kept.ask_person(run.id, [question("tact")])
    assert asked(sitting(kept)).criterion.name == "tact"


def test_a_criterion_that_no_rubric_has_is_refused(kept: RunStore) -> None:
    waiting_run(kept, criteria=("charm",))
    with pytest.raises(StoreError, match="no criterion 'charm'"):
        sitting(kept).current()


def test_an_answer_is_kept_at_once_as_a_persons_judgment(kept: RunStore) -> None:
    waiting_run(kept)
    labelling = sitting(kept)
    assert labelling.answer(4, "Right but curt.", 0.9)
    (result,) = kept.results("run-1")
    (judgment,) = result.judgments
    assert (judgment.raw, judgment.value, judgment.rationale) == (4, 0.75, "Right but curt.")
    assert (judgment.judge, judgment.source, judgment.confidence) == ("Ada", "human", 0.9)
    assert (judgment.cost_usd, judgment.n_calls) == (0, 0)
    assert labelling.current() is None


def test_nothing_left_cannot_be_answered(kept: RunStore) -> None:
    waiting_run(kept)
    labelling = sitting(kept)
    labelling.skip()
    labelling.skip()
    with pytest.raises(InputError, match="no question is left"):
        labelling.answer(4, "Right.")


@pytest.mark.parametrize(("raw", "rationale"), [(6, "Right."), (4, "  ")])
def test_an_unsound_answer_is_refused_and_asked_again(
    kept: RunStore, raw: float, rationale: str
) -> None:
    waiting_run(kept)
    labelling = sitting(kept)
    with pytest.raises(ValueError, match=r"not a score|rationale"):
        labelling.answer(raw, rationale)
    assert (labelling.n_answered, asked(labelling).number) == (0, 1)


def test_the_criteria_of_an_answer_follow_each_other_in_the_rubrics_order(kept: RunStore) -> None:
    waiting_run(kept, *keys(), criteria=("clarity", "accuracy"))
    ordered = blind_order(kept.queue("run-1"), kept.run("run-1"), "Ada")
    assert [item.criterion for item in ordered] == ["accuracy", "clarity"] * len(CASES)
    assert [item.key for item in ordered[::2]] == [item.key for item in ordered[1::2]]


def test_the_order_says_nothing_of_variants_and_is_the_same_each_time(kept: RunStore) -> None:
    run = waiting_run(kept, *keys("v1", "v2"))
    items = list(kept.queue(run.id))
    ordered = [item.key for item in blind_order(items, run, "Ada", seed=1)]
    assert ordered == [item.key for item in blind_order(reversed(items), run, "Ada", seed=1)]
    assert ordered not in (
        [item.key for item in items],
        [i.key for i in blind_order(items, run, "Ada", seed=2)],
        # No two annotators see the answers in one order.
        [i.key for i in blind_order(items, run, "Ben", seed=1)],
    )
    assert [k.variant for k in ordered] != sorted(k.variant for k in ordered)


def test_a_packet_is_asked_in_the_order_of_its_page_the_random_part_first(kept: RunStore) -> None:
    waiting_run(kept, *keys())
    late = {"a", "b", "c"}
    items = [
        PacketItem(
            id=f"i-{k.case_id}", case_id=k.case_id, variant=k.variant,
            chosen="informative" if k.case_id in late else "random",
        )
        for k in keys()
    ]  # fmt: skip
    packet = LabelPacket(
        id="p-1", source="run-1", made_at=START, criteria=("accuracy",), items=tuple(items)
    )
    kept.add_packet(packet)
    labelling, order = sitting(kept), []
    while (question := labelling.current()) is not None:
        order.append(question.case.id)
        labelling.skip()
    assert (set(order[:3]), set(order[3:])) == ({"d", "e", "f"}, late)
    # What `ordered` of `label_file.js` gives for this packet and annotator.
    assert annotator_rank("p-1", "Ada", "i-a") == 643392978
    assert annotator_rank("p-1", "B\u00e9e \U0001f600", "i-a") == 1364951096


def test_a_run_without_a_rubric_orders_its_questions_too() -> None:
    items = [question("b"), question("a")]
    assert blind_order(items, make_run(rubric=None), "Ada") == items


def test_a_skipped_question_goes_on_waiting(kept: RunStore) -> None:
    waiting_run(kept, *keys())
    labelling = sitting(kept)
    first = asked(labelling).case.id
    labelling.skip()
    assert (asked(labelling).number, labelling.n_skipped) == (2, 1)
    assert asked(sitting(kept)).case.id == first


def test_the_next_sitting_goes_on_where_the_last_one_ended(kept: RunStore) -> None:
    waiting_run(kept, *keys())
    first = sitting(kept)
    first.answer(4, "Right.")
    upcoming = asked(first)
    second = sitting(kept)
    assert asked(second) == upcoming
    assert (upcoming.number, second.total) == (2, 6)


def test_undo_takes_the_last_answer_back_and_asks_again(kept: RunStore) -> None:
    waiting_run(kept, *keys())
    labelling = sitting(kept)
    first = asked(labelling)
    labelling.answer(4, "Right.")
    assert labelling.undo()
    assert asked(labelling) == first
    assert (labelling.n_answered, len(list(kept.queue("run-1")))) == (0, 6)


def test_undo_after_a_skip_takes_back_what_was_answered_not_skipped(kept: RunStore) -> None:
    waiting_run(kept, *keys())
    labelling = sitting(kept)
    first = asked(labelling).case.id
    labelling.answer(4, "Right.")
    labelling.skip()
    third = asked(labelling).case.id
    assert labelling.undo()
    assert (asked(labelling).case.id, labelling.n_skipped) == (first, 1)
    labelling.answer(5, "Right after all.")
    assert asked(labelling).case.id == third


def test_undo_reaches_back_into_an_earlier_sitting_of_the_same_person(kept: RunStore) -> None:
    waiting_run(kept, *keys())
    sitting(kept, "Grace").answer(3, "Hm.")
    before = sitting(kept)
    before.answer(4, "Right.")
    last = asked(before)
    before.answer(2, "Wrong.")
    labelling = sitting(kept)
    assert labelling.undo()
    assert asked(labelling) == last
    assert labelling.undo()
    assert not labelling.undo()
    assert len(list(kept.queue("run-1"))) == len(CASES) - 1


def test_what_somebody_else_has_answered_is_passed_over(kept: RunStore) -> None:
    waiting_run(kept, *keys())
    mine, theirs = sitting(kept), at_the_same_question(kept, "Grace")
    theirs.answer(4, "Right.")
    assert asked(mine).number == 2
    assert (mine.n_taken, mine.n_skipped, mine.n_answered) == (1, 0, 0)


def test_an_answer_is_of_the_question_that_was_asked_not_of_the_next(kept: RunStore) -> None:
    waiting_run(kept, *keys())
    mine, theirs = sitting(kept), at_the_same_question(kept, "Grace")
    asked(mine)
    theirs.answer(4, "Right.")
    assert not mine.answer(1, "Wrong.")
    assert (asked(mine).number, mine.n_taken) == (2, 1)
    assert len(list(kept.queue("run-1"))) == len(CASES) - 1


def test_somebody_who_is_quicker_keeps_the_question(kept: RunStore, tmp_path: Path) -> None:
    waiting_run(kept, *keys())
    with closing(Contested(tmp_path / "judgekit.db")) as contested:
        mine = sitting(contested)
        assert not mine.answer(1, "Wrong.")
    assert (mine.n_taken, mine.n_answered, mine.n_skipped) == (1, 0, 0)
    judges = [judgment.judge for result in kept.results("run-1") for judgment in result.judgments]
    assert judges == ["Grace"]


def test_a_store_that_fails_is_not_somebody_who_is_quicker(kept: RunStore, tmp_path: Path) -> None:
    waiting_run(kept)
    with closing(Full(tmp_path / "judgekit.db")) as full:
        labelling = sitting(full)
        with pytest.raises(StoreError, match="disk is full"):
            labelling.answer(4, "Right.")
    assert (labelling.n_taken, labelling.n_answered) == (0, 0)
