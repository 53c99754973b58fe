"""What several judges come to, each with one vote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from judgekit.records import Preference, PreferenceFailure
from judgekit.scoring import Vote, conclude_comparison, reconcile
from judgekit.scoring.swap import vote_winner
from tests.factories import make_criterion, make_rubric

if TYPE_CHECKING:
    from judgekit.records import Comparison, PreferenceSlot, PresentationOrder

    Said = Preference | PreferenceFailure

RUBRIC = make_rubric(make_criterion("accuracy"), make_criterion("style"))
WAYS: dict[str, tuple[PreferenceSlot | None, PreferenceSlot | None]] = {
    "a": ("first", "second"),
    "b": ("second", "first"),
    "tie": ("tie", "tie"),
    "first": ("first", "first"),
    "second": ("second", "second"),
    "leans": ("first", "tie"),
    "open": ("first", None),
}
"""What a judge says with A shown first, and with B shown first."""

MIRROR = {"A": "B", "B": "A", "tie": "tie", None: None}
ANSWERS = st.lists(
    st.tuples(*[st.sampled_from(["first", "second", "tie", None])] * 2), min_size=1, max_size=6
)


def judged(*ways: str, **more: Any) -> Comparison:
    """What judges called j0, j1, … come to, each answering in one of the ways."""
    said: list[Said] = []
    for number, way in enumerate(ways):
        said += answers(f"j{number}", way)
    return concluded(said, **more)


def answers(judge: str, way: str, criterion: str | None = None) -> list[Said]:
    found: list[Said] = []
    orders: tuple[PresentationOrder, PresentationOrder] = ("ab", "ba")
    for order, choice in zip(orders, WAYS[way], strict=True):
        if choice is None:
            failed = PreferenceFailure(
                order=order, judge=judge, criterion=criterion, kind="refusal", message="no"
            )
            found.append(failed)
        else:
            known = {"judge": judge, "criterion": criterion, "rationale": "So it is."}
            found.append(Preference(order=order, choice=choice, **known))
    return found


def concluded(said: list[Said], **more: Any) -> Comparison:
    usable = [each for each in said if isinstance(each, Preference)]
    failed = [each for each in said if isinstance(each, PreferenceFailure)]
    return conclude_comparison(RUBRIC, usable, failed, **more)


@pytest.mark.parametrize(
    ("ways", "winner", "consistent"),
    [
        (["a", "a", "b"], "a", True),
        (["a", "b"], "tie", True),
        (["a", "tie", "tie"], "tie", True),
        (["a", "a", "first"], "a", True),
        (["first", "first", "a"], "tie", False),
        (["first", "second", "a"], "tie", False),
        (["b", "b", "open"], "b", True),
        (["a", "open"], None, None),
        (["a", "b", "open"], None, None),
    ],
)
def test_the_side_that_most_judges_name_wins(
    ways: list[str], winner: str | None, consistent: object
) -> None:
    found = judged(*ways)
    assert (found.winner, found.consistent) == (winner, consistent)


def test_each_judge_is_reconciled_by_itself_and_its_vote_is_kept() -> None:
    found = judged("a", "first", "b")
    assert [(one.judge, one.winner, one.consistent) for one in found.judges] == [
        ("j0", "a", True), ("j1", "tie", False), ("j2", "b", True),
    ]  # fmt: skip
    assert found.agreement == 0
    assert judged("a", "a", "b").agreement == pytest.approx(1 / 3)
    assert judged("a", "open").agreement is None


def test_one_judge_is_no_panel() -> None:
    found = judged("a")
    assert (found.judges, found.agreement) == ((), None)


def test_more_judges_of_one_mind_are_no_surer_than_one() -> None:
    one, five = judged("leans"), judged(*["leans"] * 5)
    assert (five.winner, five.probability) == (one.winner, one.probability)
    assert (five.probability_low, five.probability_high) == (0.75, 0.75)


def test_on_a_criterion_only_those_vote_who_were_asked_about_it() -> None:
    said = [
        *answers("j0", "a", "style"), *answers("j1", "a", "style"), *answers("j2", "b", "style"),
        *answers("j0", "a"), *answers("j1", "b"), *answers("j2", "b"),
        *answers("j0", "b", "accuracy"),
    ]  # fmt: skip
    found = concluded(said)
    assert [(c.name, c.winner, c.n) for c in found.criteria] == [
        ("accuracy", "b", 2), ("style", "a", 6),
    ]  # fmt: skip
    assert found.winner == "b"


def test_a_judge_that_was_asked_of_criteria_only_votes_by_them() -> None:
    said = [*answers("j0", "b", "accuracy"), *answers("j0", "b", "style"), *answers("j1", "b")]
    assert concluded(said).winner == "b"


def test_the_rule_is_applied_to_each_judge() -> None:
    assert judged("leans", "leans", "b").winner == "tie"
    found = judged("leans", "leans", "b", rule="average")
    assert (found.winner, found.rule) == ("a", "average")


@given(ANSWERS, st.sampled_from(["consistent", "average"]))
def test_swapping_a_and_b_mirrors_the_vote(said: Any, rule: Any) -> None:
    one = vote_winner([reconcile(ab, ba, rule) for ab, ba in said])
    other = vote_winner([reconcile(ba, ab, rule) for ab, ba in said])
    assert (other.value, other.consistent) == (MIRROR[one.value], one.consistent)
    assert other.low == pytest.approx(1 - one.high)
    if one.probability is not None:
        assert other.probability == pytest.approx(1 - one.probability)


@given(ANSWERS, st.data())
def test_what_a_panel_concludes_holds_whatever_failures_had_been(said: Any, data: Any) -> None:
    found = vote_winner([reconcile(*one) for one in said])
    slots = st.sampled_from(["first", "second", "tie"])
    whole = vote_winner([reconcile(*(each or data.draw(slots) for each in one)) for one in said])
    if found.value is not None:
        assert whole.value == found.value
    if found.consistent is not None:
        assert whole.consistent == found.consistent
    assert found.low - 1e-9 <= (whole.probability or 0) <= found.high + 1e-9


@given(st.permutations(["a", "b", "tie", "first", "open", "a"]))
def test_the_order_of_the_judges_changes_nothing(ways: list[str]) -> None:
    found, same = judged(*ways), judged("a", "b", "tie", "first", "open", "a")
    assert (found.winner, found.consistent, found.agreement) == (
        same.winner, same.consistent, same.agreement,
    )  # fmt: skip


@given(
    st.floats(-4, 4).filter(lambda x: abs(x) > 1e-3),
    st.floats(-6, 6),
    st.sampled_from(["log-odds", "probability"]),
)
def test_a_favour_for_a_place_does_not_turn_the_average(
    difference: float, favour: float, scale: str
) -> None:
    """A judge prefers the better side by `difference` log-odds, and any place by `favour`."""
    from math import exp  # noqa: PLC0415 - only here

    def sigma(x: float) -> float:
        return 1 / (1 + exp(-x))

    if scale == "log-odds":
        ab, ba = sigma(difference + favour), sigma(-difference + favour)
    else:
        p = sigma(difference)
        most = min(p, 1 - p)  # more would leave [0, 1]
        ab, ba = p + most * favour / 6, 1 - p + most * favour / 6
    one, other = (Vote("first" if share > 0.5 else "second", share) for share in (ab, ba))
    found = reconcile(one, other, "average")
    assert found.value == ("A" if difference > 0 else "B")
