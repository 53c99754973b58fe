from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.tuning.inputs import MIN_CASES_PER_SIDE, seeded_draw, split_cases
from tests.tuning.school import labels, material, quality


@settings(max_examples=50)
@given(n=st.integers(30, 60), holdout=st.floats(0.34, 0.6), seed=st.integers(0, 99))
def test_every_case_stands_on_one_side_and_in_one_fold(n: int, holdout: float, seed: int) -> None:
    found = split_cases(material(n), holdout=holdout, seed=seed)
    everything = [one for fold in found.folds for one in fold] + list(found.held_out)
    assert sorted(map(str, everything)) == sorted(f"c{k}" for k in range(n))
    assert abs(len(found.held_out) - n * holdout) <= 1


def test_either_side_has_its_share_of_every_level() -> None:
    found = split_cases(material(50), holdout=0.4, seed=3)
    held = Counter(quality(int(str(one)[1:])) for one in found.held_out)
    assert all(3 <= held[level] <= 5 for level in range(1, 6))
    assert max(map(len, found.folds)) - min(map(len, found.folds)) <= 1


@settings(max_examples=25)
@given(order=st.permutations(range(30)))
def test_the_order_of_labels_does_not_matter(order: list[int]) -> None:
    rows = labels(30)
    shuffled = material(30, rows=[rows[k] for k in order])
    assert split_cases(shuffled, holdout=0.4, seed=1) == split_cases(
        material(30), holdout=0.4, seed=1
    )


def test_another_seed_splits_otherwise() -> None:
    sides = {split_cases(material(40), holdout=0.4, seed=seed).held_out for seed in range(20)}
    assert len(sides) == 20


def test_too_few_cases_are_refused_with_how_many_are_missing() -> None:
    with pytest.raises(NotEnoughDataError, match=r"15 labelled cases .* each side needs") as told:
        split_cases(material(15), holdout=0.4, seed=0)
    missing = re.search(r"label (\d+) more", str(told.value))
    assert missing is not None
    enough = 15 + int(missing[1])
    for seed in range(10):
        found = split_cases(material(enough), holdout=0.4, seed=seed)
        assert min(len(found.held_out), len(found.training)) >= MIN_CASES_PER_SIDE


@pytest.mark.parametrize(
    ("n", "holdout", "more", "shares"),
    [(30, 0.99, "970", "0.34 to 0.66"), (30, 0.1, "70", "0.34 to 0.66"), (15, 0.4, "10", None)],
)
def test_the_fewest_cases_that_do_and_the_shares_that_do_are_named(
    n: int, holdout: float, more: str, shares: str | None
) -> None:
    with pytest.raises(NotEnoughDataError) as told:
        split_cases(material(n), holdout=holdout, seed=0)
    hint = str(told.value)
    assert f"label {more} more cases" in hint
    assert (f"or hold out a share from {shares}" in hint) if shares else ("share" not in hint)
    for share in (0.34, 0.66) if shares else ():
        split_cases(material(n), holdout=share, seed=0)


def test_what_cases_share_is_never_split() -> None:
    rows = [row | {"metadata": {"doc": f"d{k // 2}"}} for k, row in enumerate(labels(60))]
    found = material(60, rows=rows, cluster="doc")
    parts = split_cases(found, holdout=0.4, seed=0)
    training, held = found.cases_of(parts.training), found.cases_of(parts.held_out)
    assert {int(c[1:]) // 2 for c in training}.isdisjoint(int(c[1:]) // 2 for c in held)
    assert len(training) + len(held) == 60


def test_draws_are_even_and_differ_by_what_is_drawn_for() -> None:
    drawn = [seeded_draw(0, "order", k) for k in range(2000)]
    assert all(0 <= x < 1 for x in drawn)
    assert abs(sum(drawn) / 2000 - 0.5) < 0.03
    assert seeded_draw(0, "order", 1) == drawn[1] != seeded_draw(1, "order", 1)
