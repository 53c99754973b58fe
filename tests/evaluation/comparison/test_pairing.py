from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from judgekit.errors import DatasetError
from judgekit.evaluation import Pairing, Side, SideOutput
from tests.evaluation.pairs import side
from tests.factories import make_case, make_output


def ids(pairing: Pairing) -> list[str]:
    return [pair.case.id for pair in pairing.pairs()]


def test_outputs_of_one_case_are_paired_in_whatever_order_they_come() -> None:
    pairing = Pairing(side("new", "a", "b", "c"), side("old", "c", "a", "b"))
    found = {pair.case.id: (pair.a.text, pair.b.text) for pair in pairing.pairs()}
    assert found == {case: (f"new {case}", f"old {case}") for case in "abc"}


def test_what_only_one_side_answers_is_counted_and_named() -> None:
    n, out, _ = Pairing(side("new", "a", *"vwxyz"), side("old", "a", "b")).survey()
    assert (n, out.n_only_a, out.n_only_b) == (1, 5, 1)
    assert (out.only_a, out.only_b) == (("v", "w", "x"), ("b",))


def test_answers_to_different_questions_are_not_compared() -> None:
    other = Side("old", lambda: iter([SideOutput(make_case(id="a", input="Else?"), make_output())]))
    n, out, _ = Pairing(side("new", "a"), other).survey()
    assert (n, out.n_other_input, out.other_input) == (0, 1, ("a",))


def test_a_side_that_answers_a_case_twice_is_unsound() -> None:
    pairing = Pairing(side("new", "a", "b", "a"), side("old", "b"))
    with pytest.raises(DatasetError, match=r"new has a second output(?s:.*)FILE::VARIANT"):
        pairing.survey()


def test_repeats_of_a_case_are_paired_each_with_its_own() -> None:
    def read() -> list[SideOutput]:
        return [SideOutput(make_case(), make_output(f"try {k}"), k) for k in range(3)]

    both = [Side(label, lambda: iter(read())) for label in ("new", "old")]
    assert all(pair.a == pair.b for pair in Pairing(*both).pairs())
    assert Pairing(*both).survey().n_pairs == 3


def test_only_cases_with_the_tag_are_paired() -> None:
    both = [side(label, "a", "b", tags=["refund"]) for label in ("new", "old")]
    assert ids(Pairing(*both, tags=["refund"])) == ["a", "b"]
    n, out, _ = Pairing(*both, tags=["other"]).survey()
    assert (n, out.n_only_a) == (0, 0)


@given(st.permutations("abcdefgh"), st.permutations("abcdefgh"), st.integers(0, 5))
def test_a_drawn_order_hangs_on_the_seed_alone(one: list[str], two: list[str], seed: int) -> None:
    first, second = (
        Pairing(side("new", *cases), side("old", *two), seed=seed, is_shuffled=True)
        for cases in (one, two)
    )
    assert ids(first) == ids(second)
    assert sorted(ids(first)) == list("abcdefgh")
    assert first.chosen == {"order_seed": seed}


def test_a_drawn_order_is_of_the_pairs_that_are_chosen() -> None:
    both = [side(label, *"abcdefgh") for label in ("new", "old")]
    orders = {tuple(ids(Pairing(*both, limit=3, seed=k, is_shuffled=True))) for k in range(20)}
    assert {frozenset(order) for order in orders} == {frozenset("abc")}
    assert len(orders) > 1


def test_a_limit_takes_the_first_and_a_sample_is_the_same_for_the_same_seed() -> None:
    both = [side(label, *"abcdefghij") for label in ("new", "old")]
    assert ids(Pairing(*both, limit=2)) == ["a", "b"]
    drawn = [ids(Pairing(*both, sample=4, seed=seed)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) == 4
    assert Pairing(*both, sample=4, limit=3).survey().n_pairs == 3


def test_names_that_give_a_side_away_are_gathered_once() -> None:
    sides = [Side(label, lambda: iter(()), ("gpt-9", label)) for label in ("new", "old")]
    assert Pairing(*sides).names == ("gpt-9", "new", "old")


@given(st.permutations("abcdef"), st.permutations("cdefgh"))
def test_which_side_is_called_the_first_changes_neither_pairs_nor_their_order(
    first: list[str], second: list[str]
) -> None:
    a, b = side("new", *first), side("old", *second)
    there, back = list(Pairing(a, b).pairs()), list(Pairing(b, a).pairs())
    assert there == [pair._replace(a=pair.b, b=pair.a) for pair in back]
    assert {pair.case.id for pair in there} == set("cdef")
