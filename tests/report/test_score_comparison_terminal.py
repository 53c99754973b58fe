from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console

from judgekit.evaluation import compare_side_scores
from judgekit.report import print_document, score_comparison_document
from tests.evaluation.comparison.test_scores import beside, scored

if TYPE_CHECKING:
    from judgekit.evaluation import ScoreComparison, SideScores


def test_differences_are_shown_with_what_they_rest_on() -> None:
    console = Console(file=io.StringIO(), width=120)
    print_document(
        console,
        score_comparison_document(beside(scored(0.2, 0.4, 0.6, None), scored(0.3, 0.5, 0.8))),
        verbose=True,
    )
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "A is new, B is old" in text
    assert "0.400   0.533   0.133" in text
    assert "left out  1 case only in A" in text


def test_a_measure_that_nobody_has_is_left_out() -> None:
    console = Console(file=io.StringIO(), width=120)
    print_document(
        console, score_comparison_document(beside(scored(None), scored(0.3))), verbose=True
    )
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "pass rate" not in text
    assert "left out  1 case with a missing value" in text


def test_a_criterion_may_be_named_like_a_measure() -> None:
    found = beside(scored(0.2, 0.4, 0.6), scored(0.3, 0.5, 0.9))
    (figure,) = found.criteria.values()
    text = printed(replace(found, criteria={"value": figure, "pass rate": figure}))
    heads = [line.split("  ")[0].strip() for line in text.splitlines()]
    for name in ("value", "(value)", "pass rate", "(pass rate)"):
        assert heads.count(name) == 1


def shown(a: SideScores, b: SideScores) -> str:
    return printed(beside(a, b))


def printed(compared: ScoreComparison) -> str:
    console = Console(file=io.StringIO(), width=120)
    print_document(console, score_comparison_document(compared), verbose=True)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_which_test_decides_is_said_with_what_others_say() -> None:
    text = shown(scored(*[0.2, 0.4] * 10), scored(*[0.3, 0.7, 0.2, 0.5] * 5))
    assert "test    values, by the paired t test (15 cases or more)" in text
    assert "also    Wilcoxon's signed ranks p" in text
    assert ": agrees" in text
    assert "bootstrap over cases 0." in text
    assert "B is higher on 88 %" in text
    assert "passes  0 cases only with A, 5 cases only with B" in text
    few = shown(scored(0.2, 0.4), scored(0.3, 0.5))
    assert "by an exact sign-flip test (fewer than 15 cases" in few


def test_a_confidence_sequence_is_shown_with_when_it_is_valid() -> None:
    sides = scored(*[0.2, 0.4] * 60), scored(*[0.3, 0.5, 0.4, 0.6] * 30)
    found = compare_side_scores(*sides, ("new", "old"), anytime=True)
    text = printed(found)
    assert (
        "old is better: a difference of +0.150 over 120 cases, 95 % confidence sequence [" in text
    )
    assert "a 95 % confidence sequence: it decides" in text
    assert "if cases come in an order unrelated to their scores" in text
    drifts = scored(*[0.0] * 450), scored(*[1.0] * 150, *[0.0] * 300)
    text = printed(compare_side_scores(*drifts, ("new", "old"), anytime=True))
    assert "the values drift" in text


def test_without_values_passing_decides() -> None:
    console = Console(file=io.StringIO(), width=120)
    found = beside(scored(*[1.0] * 8, 0.0), scored(*[0.0] * 8, 0.0))
    print_document(console, score_comparison_document(replace(found, value=None)), verbose=True)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "test    pass rates, by McNemar's test (mid-p), for pass or fail" in text
    assert "Wilcoxon" not in text
    assert "passes  8 cases only with A, 0 cases only with B" in text


def test_tests_that_disagree_are_said() -> None:
    one_far_off = shown(scored(*[0.5] * 20), scored(*[0.52] * 19, 0.0))
    assert "disagrees: check single cases" in one_far_off


def test_missing_values_are_bounded_and_groups_are_shown() -> None:
    text = shown(scored(0.2, 0.4, None, stratum="simple"), scored(0.3, None, 0.5, stratum="simple"))
    assert "left out  2 cases with a missing value (A for 1, B for 1)" in text
    assert "bounds    B - A would be -" in text
    assert "stratum simple" in text


def test_what_does_not_differ_needs_no_test() -> None:
    text = shown(scored(0.5, 0.5), scored(0.5, 0.5))
    assert "t test" not in text
    assert "no decision: no case differs" in text
