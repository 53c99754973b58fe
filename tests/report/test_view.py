from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import get_args

import pytest
from hypothesis import given, strategies as st

from judgekit.evaluation import JudgeUsage, VariantFigures, summarize_run
from judgekit.records import FailureKind
from judgekit.report import format_pass_count, message, numbers
from judgekit.stats.estimate import Estimate, undefined_estimate
from judgekit.stats.intervals import proportion
from tests.factories import make_judgment
from tests.report.test_run_view import run

NOTHING = undefined_estimate("no trials", n=0, method="wilson")


def estimate(value: float, low: float = nan, high: float = nan) -> Estimate:
    return Estimate(value=value, low=low, high=high, n=3, method="t")


def variant(n_passed: int, n_failed: int, n_undecided: int = 0) -> VariantFigures:
    (figures,) = summarize_run([], run()).variants
    return replace(figures, n_passed=n_passed, n_failed=n_failed, n_undecided=n_undecided)


def test_a_rate_is_whole_per_cents_with_its_interval() -> None:
    assert numbers.format_rate(proportion(7, 12)) == "58 % [32, 81]"
    assert numbers.format_rate(proportion(12, 12)) == "100 % [76, 100]"


def test_a_mean_has_two_digits_and_its_interval() -> None:
    assert numbers.format_mean(estimate(0.714, 0.5499, 0.87)) == "0.71 [0.55, 0.87]"
    assert numbers.format_mean(estimate(0.714, 0.5499, 0.87), digits=1) == "0.7 [0.5, 0.9]"


def test_a_mean_without_an_interval_has_no_bracket() -> None:
    assert numbers.format_mean(estimate(0.5)) == "0.50"


def test_what_is_undefined_is_a_dash_and_never_zero() -> None:
    said = (
        numbers.format_rate,
        numbers.format_mean,
        numbers.format_difference,
        numbers.format_rate_difference,
    )
    assert {one(NOTHING) for one in said} == {numbers.DASH}


def test_a_difference_has_a_sign_unless_it_rounds_to_nothing() -> None:
    assert numbers.format_difference(estimate(0.12, -0.05, 0.29)) == "+0.12 [-0.05, +0.29]"
    assert numbers.format_difference(estimate(-0.001, -0.2, 0.2)) == "0.00 [-0.20, +0.20]"
    assert numbers.format_difference(estimate(1.0)) == "+1.00"
    assert numbers.format_rate_difference(estimate(0.35, -0.001, 0.5)) == "+35 % [0, +50]"


def test_no_interval_is_rounded_until_it_has_no_width() -> None:
    assert numbers.format_rate(estimate(0.99912, 0.9988, 0.9994)) == "99.91 % [99.88, 99.94]"
    assert numbers.format_mean(estimate(0.7141, 0.7132, 0.7149)) == "0.714 [0.713, 0.715]"
    assert numbers.format_difference(estimate(0.0, -0.0042, 0.0042)) == "0.000 [-0.004, +0.004]"
    assert numbers.format_rate_difference(estimate(0.0, -0.001, 0.001)) == "0.0 % [-0.1, +0.1]"


def test_an_interval_that_leaves_out_0_does_not_seem_to_end_there() -> None:
    assert numbers.format_difference(estimate(0.15, 0.003, 0.3)) == "+0.150 [+0.003, +0.300]"
    assert numbers.format_difference(estimate(-0.15, -0.3, -0.0004)) == "-0.1500 [-0.3000, -0.0004]"
    assert numbers.format_rate_difference(estimate(0.15, 0.004, 0.3)) == "+15.0 % [+0.4, +30.0]"
    # Too near to tell apart from it.
    assert numbers.format_difference(estimate(0.15, 1e-8, 0.3)) == "+0.15 [0.00, +0.30]"


def test_a_mean_is_written_apart_from_a_limit_that_it_is_not() -> None:
    assert numbers.format_mean_beside(estimate(0.6962, 0.5, 0.8), 0.7) == "0.696 [0.500, 0.800]"
    assert numbers.format_mean_beside(estimate(0.75, 0.6999, 0.8), 0.7) == "0.7500 [0.6999, 0.8000]"
    assert numbers.format_mean_beside(estimate(0.7, 0.5, 0.8), 0.7) == "0.70 [0.50, 0.80]"
    # As floats 0.1 + 0.6 is not 0.7.
    assert numbers.format_mean_beside(estimate(0.1 + 0.6, 0.5, 0.8), 0.7) == "0.70 [0.50, 0.80]"


def test_a_p_value_beside_the_usual_level_is_not_rounded_to_it() -> None:
    said = [numbers.format_p_value(p) for p in (0.05, 0.04987, 0.0504, 0.0506, 0.0004)]
    assert said == ["0.050", "0.0499", "0.0504", "0.051", "< 0.001"]


def test_undecided_outputs_stand_beside_those_decided() -> None:
    assert format_pass_count(variant(7, 5)) == "7/12"
    assert format_pass_count(variant(7, 4, 1)) == "7/11 +1?"


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (None, "price unknown"),
        (0, "$0"),
        (0.42, "$0.42"),
        (1234.5, "$1,234.50"),
        (0.01, "$0.01"),
        (0.0031, "$0.0031"),
        (0.002, "$0.0020"),
        (0.0000042, "$0.0000042"),
    ],
)
def test_money_is_written_without_an_exponent(amount: float | None, text: str) -> None:
    assert numbers.format_usd(amount) == text


def test_money_of_which_a_part_is_unknown_is_at_least_the_known_part() -> None:
    assert numbers.format_usd(0.42, unknown=True) == "at least $0.42"
    assert numbers.format_usd(0.0, unknown=True) == "price unknown"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (8.4, "8 s"),
        (59.6, "1 min 00 s"),
        (125, "2 min 05 s"),
        (3599.9, "1 h 00 min"),
        (4800, "1 h 20 min"),
    ],
)
def test_a_duration_has_at_most_two_parts(seconds: float, text: str) -> None:
    assert numbers.format_duration(seconds) == text


def test_things_are_counted_in_their_own_plural() -> None:
    assert numbers.format_count(1, "reply", "replies") == "1 reply"
    assert numbers.format_count(1200, "reply", "replies") == "1,200 replies"
    assert numbers.format_count(0, "output") == "0 outputs"


def test_what_was_spent_names_replies_cache_and_money() -> None:
    figures = JudgeUsage(n_replies=36, n_cached=36, saved_usd=0.0021)
    assert (
        numbers.format_spending(figures) == "36 replies, 36 from the cache, $0 spent, $0.0021 saved"
    )


def test_an_unknown_price_is_not_nothing_spent() -> None:
    assert (
        numbers.format_spending(JudgeUsage(n_replies=1, cost_unknown=True))
        == "1 reply, cost unknown"
    )


def test_a_part_that_is_known_is_said_with_the_doubt() -> None:
    figures = JudgeUsage(n_replies=2, cost_usd=0.5, cost_unknown=True)
    assert numbers.format_spending(figures) == "2 replies, at least $0.50 spent"


def test_a_score_has_no_needless_zeros() -> None:
    assert numbers.format_score(make_judgment(raw=4.0, value=0.75)) == "4"
    assert numbers.format_score(make_judgment(raw=3.5, value=0.5)) == "3.5"


def test_every_kind_of_failure_has_words() -> None:
    assert set(message.FAILURE_WORDS) == set(get_args(FailureKind))


def test_control_and_direction_characters_are_shown_and_not_run() -> None:
    hostile = "a\x1b[31mred\x07\u202eevil\ud800\x00"
    assert message.printable(hostile) == r"a\x1b[31mred\x07\u202eevil\ud800\x00"


def test_lines_are_folded_into_one() -> None:
    assert message.printable("  one\r\n\ttwo\u2028three ") == "one two three"


def test_a_long_text_ends_with_an_ellipsis() -> None:
    assert message.printable("word " * 100, 12) == "word word w…"
    assert message.printable("short", 5) == "short"


def test_a_message_keeps_its_lines_and_loses_its_control_characters() -> None:
    assert message.message_lines("no\x1b[2J file\n  give one") == "no\\x1b[2J file\n  give one"


def test_a_message_and_its_hint_fit_on_one_line() -> None:
    assert message.one_line("no file\n  give one", 40) == "no file; give one"


@given(st.text(), st.none() | st.integers(1, 50))
def test_printable_text_is_one_printable_line(text: str, limit: int | None) -> None:
    shown = message.printable(text, limit)
    assert shown.isprintable()
    assert "\n" not in shown


@given(st.floats(1e-9, 1e7))
def test_money_above_nothing_is_never_shown_as_nothing(amount: float) -> None:
    shown = numbers.format_usd(amount)
    assert "e" not in shown
    assert float(shown.removeprefix("$").replace(",", "")) > 0


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("recorded:/srv/ada/replies.jsonl a/b@1", "recorded:…/replies.jsonl a/b@1"),
        (r"file C:\work\ada\labels.jsonl", "file …/labels.jsonl"),
        ("recorded:replies/judge.jsonl a/b@1", "recorded:replies/judge.jsonl a/b@1"),
        ("openai/gpt-4.1 at http://127.0.0.1:8080/v1", "openai/gpt-4.1 at http://127.0.0.1:8080/v1"),
    ],
)  # fmt: skip
def test_a_name_is_shown_without_the_folders_of_the_machine(name: str, shown: str) -> None:
    assert message.without_folders(name) == shown
