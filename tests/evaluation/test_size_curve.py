"""The fall of scores over a size: answers of one case are no independent evidence of it."""

from __future__ import annotations

import numpy as np
import pytest

from judgekit.evaluation.explain import AnswerRow, size_curve

SIZES = (0.0, 2000.0, 8000.0, 16000.0)


def row(case: int, size: float, value: float) -> AnswerRow:
    return AnswerRow("run", f"c{case:02d}", float(np.clip(value, 0, 1)), {"size": size}, {})


def test_repeats_of_a_case_are_no_evidence_of_a_fall() -> None:
    """Good and bad cases of random sizes: as independent answers 45 % of them show a fall."""
    rng, n_falls = np.random.default_rng(1), 0
    for _ in range(40):
        cases = list(enumerate(zip(rng.beta(1, 0.6, 20), rng.integers(100, 5000, 20), strict=True)))
        # The sizes of repeats are nearly the same.
        rows = [
            row(case, size + repeat, mean + rng.normal(0, 0.05))
            for case, (mean, size) in cases
            for repeat in range(5)
        ]
        n_falls += size_curve(rows, "size", 0.7).cliff_at is not None
    assert n_falls <= 4


def test_scores_do_not_fall_among_answers_of_one_size() -> None:
    """Hard cases have the later ids: sorted by them, scores fell within each of the sizes."""
    rows = [
        row(case, size, (0.9 if case < 20 else 0.4) + 0.01 * (case % 3))
        for case in range(40)
        for size in SIZES[: 2 if case % 8 == 0 else 1]
    ]
    assert size_curve(rows, "size", 0.7).cliff_at is None


@pytest.mark.parametrize("fall", [8000.0, 16000.0])
def test_a_fall_is_at_the_size_where_it_begins(fall: float) -> None:
    rng = np.random.default_rng(3)
    rows = [
        row(case, size, (0.7 if size < fall else 0.4) + base + rng.normal(0, 0.1))
        for case, base in enumerate(rng.uniform(-0.2, 0.2, 20))
        for size in SIZES
    ]
    curve = size_curve(rows, "size", 0.7)
    assert curve.cliff_at == fall
    assert curve.cliff is not None
    assert curve.cliff.n == 80
