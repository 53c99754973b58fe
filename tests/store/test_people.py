from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import InputError, StoreError
from judgekit.records import HumanItem
from tests.store.observing import START, answer, begun, key, make_run, only, said

if TYPE_CHECKING:
    from judgekit.records import ItemKey
    from judgekit.store import RunStore

LATER = START + timedelta(hours=1)


def item(
    criterion: str = "accuracy", of: ItemKey | None = None, run_id: str = "run-1"
) -> HumanItem:
    """What a person is asked."""
    return HumanItem(run_id=run_id, key=of or key(), criterion=criterion, asked_at=START)


def human(criterion: str = "accuracy", value: float = 0.75) -> object:
    """What a person says."""
    return said(criterion, value, source="human", judge="Ada", judged_at=LATER)


@pytest.fixture
def asked(store: RunStore) -> RunStore:
    """A run that waits for a person's word on two criteria."""
    begun(store, answer(said=(), is_done=False))
    store.ask_person("run-1", [item(), item("clarity")])
    return store


def test_what_waits_for_a_person_is_listed(asked: RunStore) -> None:
    assert list(asked.queue()) == [item(), item("clarity")]
    assert list(asked.queue("run-1")) == [item(), item("clarity")]


def test_asking_twice_puts_nothing_in_the_queue_twice(asked: RunStore) -> None:
    asked.ask_person("run-1", [item(), item()])
    assert len(list(asked.queue())) == 2


def test_an_answer_becomes_a_judgment_and_closes_its_item(asked: RunStore) -> None:
    asked.answer_item(item(), human(), at=LATER)  # type: ignore[arg-type]  # a judgment
    assert only(asked).judgments == (human(),)
    assert [each.criterion for each in asked.queue()] == ["clarity"]
    closed = next(iter(asked.queue(open_only=False)))
    assert (closed.criterion, closed.answered_at) == ("accuracy", LATER)


def test_an_answer_taken_back_waits_again_and_stays_as_history(asked: RunStore) -> None:
    asked.answer_item(item(), human(), at=LATER)  # type: ignore[arg-type]  # a judgment
    asked.withdraw_answer(item())
    assert only(asked).judgments == ()
    assert list(asked.queue()) == [item(), item("clarity")]
    assert [earlier.what for earlier in asked.history("run-1", key())] == [human()]


def test_an_item_is_answered_once(asked: RunStore) -> None:
    asked.answer_item(item(), human())  # type: ignore[arg-type]  # a judgment
    with pytest.raises(StoreError, match=r"answered already[\s\S]*withdraw that answer"):
        asked.answer_item(item(), human(value=0.1))  # type: ignore[arg-type]  # a judgment


def test_an_answer_is_replaced_whole_or_not_at_all(
    asked: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scores() -> list[float | None]:
        (result,) = asked.results("run-1")
        return [judgment.raw for judgment in result.judgments if judgment.source == "human"]

    def full(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    asked.answer_item(item(), human())  # type: ignore[arg-type]  # a judgment
    before = scores()
    with monkeypatch.context() as disk:
        disk.setattr("judgekit.store.runs.insert_new", full)
        with pytest.raises(StoreError, match="full"):
            asked.answer_item(item(), human(value=0.1), replaces=True)  # type: ignore[arg-type]  # a judgment
    assert scores() == before
    asked.answer_item(item(), human(value=0.1), replaces=True)  # type: ignore[arg-type]  # a judgment
    assert len(scores()) == 1
    assert scores() != before


def test_only_what_was_asked_is_answered(asked: RunStore) -> None:
    with pytest.raises(StoreError, match="'tone' of case 'refund' is not in the queue"):
        asked.answer_item(item("tone"), human("tone"))  # type: ignore[arg-type]  # a judgment
    with pytest.raises(InputError, match="no answer of variant"):
        asked.ask_person("run-1", [item(of=key("nowhere"))])


def test_only_an_answer_is_taken_back(asked: RunStore) -> None:
    with pytest.raises(StoreError, match="was not answered yet"):
        asked.withdraw_answer(item())


def test_only_a_person_answers_what_a_person_was_asked(asked: RunStore) -> None:
    with pytest.raises(InputError, match="a judgment of 'accuracy' by llm"):
        asked.answer_item(item(), said())
    with pytest.raises(InputError, match=r"the item is about .* a judgment of .clarity. by human"):
        asked.answer_item(item(), human("clarity"))  # type: ignore[arg-type]  # a judgment


def test_the_queue_keeps_runs_and_the_order_of_the_dataset(store: RunStore) -> None:
    for name in ("a", "b"):
        store.begin(make_run(name))
        store.add(name, [answer(key("c1"), place=1), answer(key("c0"), place=0)])
        items = [item(of=key(case_id), run_id=name) for case_id in ("c1", "c0")]
        store.ask_person(name, items)
    assert [(each.run_id, each.key.case_id) for each in store.queue()] == [
        ("a", "c0"), ("a", "c1"), ("b", "c0"), ("b", "c1"),
    ]  # fmt: skip
    assert len(list(store.queue("b"))) == 2


def test_a_long_queue_is_read_page_by_page(store: RunStore) -> None:
    begun(store, answer(said=()))
    items = [item(f"criterion {n:03}") for n in range(510)]
    store.ask_person("run-1", items)
    assert list(store.queue()) == items
