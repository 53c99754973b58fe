"""Runs that wait for a person, for tests; a test says only what matters to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.errors import StoreError
from judgekit.records import HumanItem, ItemKey, RunPanel
from judgekit.store import RunStore
from tests.store.observing import START, answer, begun, key

if TYPE_CHECKING:
    from datetime import datetime

    from judgekit.records import Judgment, RunInfo

HUMAN = RunPanel(judges=("human",))
"""One person, and nobody else."""


def question(
    criterion: str = "accuracy", of: ItemKey | None = None, run_id: str = "run-1"
) -> HumanItem:
    """What a person is asked."""
    return HumanItem(run_id=run_id, key=of or key(), criterion=criterion, asked_at=START)


def waiting_run(
    store: RunStore, *keys: ItemKey, criteria: tuple[str, ...] = ("accuracy",), **fields: Any
) -> RunInfo:
    """A run whose answers wait for a person's word on some criteria."""
    known: dict[str, Any] = {"panel": HUMAN}
    asked = keys or (key(),)
    observed = [answer(each, said=(), place=place) for place, each in enumerate(asked)]
    run = begun(store, *observed, **known | fields)
    store.ask_person(run.id, [question(c, each, run.id) for each in asked for c in criteria])
    store.end(run.id, status="waiting", at=START)
    return store.run(run.id)


class Contested(RunStore):
    """A store in which Grace answers whatever somebody is about to answer."""

    def answer_item(
        self,
        item: HumanItem,
        judgment: Judgment,
        *,
        at: datetime | None = None,
        replaces: bool = False,
    ) -> None:
        """Answer for Grace, then for the one who asked."""
        super().answer_item(item, judgment.model_copy(update={"judge": "Grace"}), at=at)
        super().answer_item(item, judgment, at=at, replaces=replaces)


class Full(RunStore):
    """A store that can keep no answer."""

    def answer_item(
        self,
        item: HumanItem,
        judgment: Judgment,
        *,
        at: datetime | None = None,
        replaces: bool = False,
    ) -> None:
        """Keep nothing."""
        raise StoreError(f"the disk is full: {item.criterion} {judgment.raw} {at} {replaces}")
