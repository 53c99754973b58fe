from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.stats.agreement_coefficients import list_ratings
from judgekit.stats.alpha import _alphas, _ranked_alphas, krippendorff_alpha

ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.lists(st.integers(0, 9), min_size=2, max_size=5)),
    min_size=2,
    max_size=12,
)


def by_matrix(rows: list[list[int]]) -> float:
    """Alpha from coincidences and the ordinal differences, as Krippendorff 2011 writes them."""
    levels = sorted({label for row in rows for label in row})
    q = len(levels)
    met = np.zeros((q, q))
    for row in rows:
        for i, one in enumerate(row):
            for j, other in enumerate(row):
                if i != j:
                    met[levels.index(one), levels.index(other)] += 1 / (len(row) - 1)
    n = met.sum(axis=1)
    apart = np.array(
        [
            [(n[min(c, k) : max(c, k) + 1].sum() - (n[c] + n[k]) / 2) ** 2 for k in range(q)]
            for c in range(q)
        ]
    )
    expected = float((np.outer(n, n) * apart).sum() / (n.sum() - 1))
    return float(1 - (met * apart).sum() / expected) if expected > 0 else float("nan")


@settings(max_examples=60)
@given(ROWS, st.booleans())
def test_counts_and_ranks_give_the_alpha_of_the_matrix(
    rows: list[tuple[int, list[int]]],
    clustered: bool,  # noqa: FBT001 - drawn
) -> None:
    """Whole, and without each unit: an item, or all items of a case."""
    ratings, cases = [row for _, row in rows], [name for name, _ in rows] if clustered else None
    table = list_ratings(ratings, clusters=cases)
    parts = [
        [row for row, unit in zip(ratings, table.units, strict=True) if unit != gone]
        for gone in range(table.n)
    ]
    wanted = [by_matrix(part) if part else float("nan") for part in [ratings, *parts]]
    for whole, left in (
        _alphas(list_ratings(ratings, clusters=cases), "ordinal"),
        _ranked_alphas(table),
    ):
        assert [whole, *left] == pytest.approx(wanted, abs=1e-9, nan_ok=True)


def test_scores_without_steps_take_ranks() -> None:
    """Two hundred distinct scores go by ranks; rounding leaves their order, and so alpha, alone."""
    rng = np.random.default_rng(1)
    scores = rng.permutation(200).reshape(100, 2) / 7
    found = krippendorff_alpha(scores.tolist(), "ordinal")
    assert found.value == pytest.approx(by_matrix((scores * 7).round().astype(int).tolist()))
    assert krippendorff_alpha((scores**3).tolist(), "ordinal").low == pytest.approx(found.low)


def test_thousands_of_distinct_scores_need_no_matrix() -> None:
    """The matrix of 4,000 scores took five seconds and 600 MiB."""
    x = np.random.default_rng(2).normal(size=(2000, 1))
    ratings = (x + np.random.default_rng(3).normal(size=(2000, 2))).tolist()
    found = krippendorff_alpha(ratings, "ordinal")
    assert 0.3 < found.low < found.value < found.high < 0.6


def test_a_nominal_alpha_without_each_item_is_the_alpha_of_the_others() -> None:
    rng = np.random.default_rng(4)
    ratings = [[f"label {k}" for k in rng.integers(0, 3, 3)] for _ in range(12)]
    whole = krippendorff_alpha(ratings, "nominal")
    parts = [krippendorff_alpha(ratings[:i] + ratings[i + 1 :], "nominal").value for i in range(12)]
    se = np.sqrt(11 / 12 * ((np.array(parts) - np.mean(parts)) ** 2).sum())
    half = 2.2009851600916386 * se / (1 - whole.value**2)  # t(11)
    assert np.arctanh(whole.high) - np.arctanh(whole.value) == pytest.approx(half)
