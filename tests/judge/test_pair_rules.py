"""Which rule decides, and what decides the whole where only criteria were answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.factories import make_case, make_criterion, make_judge, make_output, make_rubric
from tests.judge.comparing import by_order, prefers
from tests.judge.test_pairwise import A, B, compare, recorded, with_logprobs

if TYPE_CHECKING:
    from pathlib import Path


async def test_recorded_replies_on_criteria_only_decide_the_whole_by_their_weights(
    tmp_path: Path,
) -> None:
    rows = [
        {"order": order, "criterion": criterion, "text": prefers(choice)}
        for order, choices in (("ab", ("first", "second")), ("ba", ("second", "first")))
        for criterion, choice in zip(("accuracy", "style"), choices, strict=True)
    ]
    heavy = make_rubric(make_criterion("accuracy", weight=2), make_criterion("style", weight=1))
    rows += [{"text": "A reply on one output, of another file's kind."}]
    judge = make_judge(recorded(tmp_path, *rows))
    found = await judge.compare(make_case(), make_output(A), make_output(B), heavy)
    assert (found.winner, found.consistent, found.failures) == ("a", True, ())
    assert {one.criterion for one in found.preferences} == {"accuracy", "style"}


async def test_a_criterion_that_is_not_recorded_leaves_the_whole_open(tmp_path: Path) -> None:
    rows = [{"order": o, "criterion": "accuracy", "text": prefers()} for o in ("ab", "ba")]
    found = await compare(recorded(tmp_path, *rows))
    assert found.winner is None
    assert {failure.criterion for failure in found.failures} == {"style"}


async def test_a_template_that_asks_of_the_whole_needs_rows_without_a_criterion(
    tmp_path: Path,
) -> None:
    rows = [{"order": o, "criterion": "accuracy", "text": "[[A]]"} for o in ("ab", "ba")]
    found = await compare(recorded(tmp_path, *rows), template="pairwise/mt_bench")
    assert found.winner is None
    assert "where criterion is 'accuracy' instead of none" in found.failures[0].message


@pytest.mark.parametrize(("rule", "winner"), [("consistent", "tie"), ("average", "a")])
async def test_by_the_average_who_has_more_than_half_of_both_orders_wins(
    rule: str, winner: str
) -> None:
    model = by_order(ab=with_logprobs(prefers("first"), first=0.9, second=0.1),
                     ba=with_logprobs(prefers("first"), first=0.6, second=0.4))  # fmt: skip
    found = await compare(model, rule=rule, logprobs=True)
    assert (found.winner, found.consistent, found.rule) == (winner, False, rule)
    assert found.probability == pytest.approx((0.9 + 0.4) / 2)
