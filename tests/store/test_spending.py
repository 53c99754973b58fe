from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.records import AssertionResult, EmbeddingUsage, Output, Score, Usage
from tests.factories import make_failure, make_output
from tests.store.observing import JUDGE, answer, begun, key, part, said

if TYPE_CHECKING:
    from judgekit.store import RunStore

PAID = EmbeddingUsage(n_calls=1, cost_usd=0.001)


def never(_variant: str, _output: Output) -> bool:
    return False


def costing(usd: float | None, **fields: Any) -> Output:
    return make_output(usage=Usage(cost_usd=usd), **fields)


def test_everything_that_was_paid_is_added_up(store: RunStore) -> None:
    check = AssertionResult(type="similar", passed=True, message="-", asked=PAID)
    score = Score(name="similarity", value=1.0, asked=EmbeddingUsage(n_calls=1, cost_usd=0.002))
    begun(
        store,
        answer(
            output=costing(0.25), said=(said(cost_usd=0.5),), checks=(check,), scores=(score,)
        ),
        answer(key("b"), place=1, output=costing(None), said=(make_failure(cost_usd=0.125),)),
    )  # fmt: skip
    assert store.spent_usd("run-1", is_owned=never) == pytest.approx(0.878)
    owned = store.spent_usd("run-1", is_owned=lambda variant, _: variant == "v1")
    assert owned == pytest.approx(0.628)


def test_what_was_replaced_was_paid_as_well(store: RunStore) -> None:
    failure = make_failure(judge=JUDGE, cost_usd=0.5)
    score = Score(name="similarity", error="not measured yet", asked=PAID)
    begun(store, answer(said=(failure,), output=costing(1.0), scores=(score,)))
    store.add("run-1", [part(said=(said(cost_usd=0.25),), scores=(Score(name="s", value=1.0),))])
    assert store.spent_usd("run-1", is_owned=never) == pytest.approx(1.751)
    store.add("run-1", [part(output=costing(2.0, text="another"))])
    assert store.spent_usd("run-1", is_owned=never) == pytest.approx(3.751)
    replaced = store.spent_usd("run-1", is_owned=never, only_replaced=True)
    assert replaced == pytest.approx(1.751)


def test_a_run_without_a_price_has_spent_nothing_that_is_known(store: RunStore) -> None:
    begun(store, answer())
    assert store.spent_usd("run-1", is_owned=never) == 0


def test_many_pages_are_read(sqlite_store: RunStore) -> None:
    many = [
        answer(key(f"c{n}"), place=n, output=costing(0.5), said=()) for n in range(300)
    ]  # more than a page
    begun(sqlite_store, *many)
    assert sqlite_store.spent_usd("run-1", is_owned=never) == 150
