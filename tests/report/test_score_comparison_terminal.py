from __future__ import annotations

import io

from rich.console import Console

from judgekit.report.score_comparison_terminal import print_scores
from tests.evaluation.comparing.test_scores import beside, scored


def test_differences_are_shown_with_what_they_rest_on() -> None:
    console = Console(file=io.StringIO(), width=120)
    print_scores(console, beside(scored(0.2, 0.4, 0.6, None), scored(0.3, 0.5, 0.8)))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "A is new, B is old" in text
    assert "0.400   0.533   0.133" in text
    assert "without 1 case only A answers" in text


def test_a_measure_that_nobody_has_is_left_out() -> None:
    console = Console(file=io.StringIO(), width=120)
    print_scores(console, beside(scored(None), scored(0.3)))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "pass rate" not in text
    assert "without 1 case that a side has no value for" in text
