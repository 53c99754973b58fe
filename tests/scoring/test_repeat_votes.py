from __future__ import annotations

import pytest

from judgekit.scoring import conclude, passes_by_votes
from tests.factories import make_failure, make_judgment, make_rubric


@pytest.mark.parametrize(
    ("values", "n_unanswered", "min_pass", "passed"),
    [
        ([1.0, 0.0, 1.0], 0, 2, True),
        ([1.0, 0.0, 0.0], 0, 2, False),
        ([1.0], 2, 2, None),
        ([1.0, 1.0], 1, 2, True),
        ([0.0, 0.0], 1, 2, False),
        ([], 3, 1, None),
    ],
)
def test_each_repeat_has_one_vote(
    values: list[float], n_unanswered: int, min_pass: int, passed: object
) -> None:
    rubric, n = make_rubric(), len(values)
    judgments = [make_judgment(value=value, repeat=i) for i, value in enumerate(values)]
    failures = [make_failure(repeat=n + i) for i in range(n_unanswered)]
    verdict = passes_by_votes(conclude(rubric, judgments, failures), rubric, min_pass)
    assert verdict.passed is passed
    assert len(verdict.judgments) == n
