from __future__ import annotations

import pytest

from judgekit.report.message import compact_names
from judgekit.report.numbers import compact_duration, compact_number, compact_usd


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0"),
        (9_999, "9,999"),
        (10_000, "10k"),
        (412_345, "412k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (3_100_000, "3.1M"),
        (2_574_300_000, "2.6B"),
    ],
)
def test_a_number_is_whole_while_it_is_short(n: int, text: str) -> None:
    assert compact_number(n) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (45, "45 s"), (1560, "26 min"), (9400, "2.6 h"), (25 * 86_400, "25 days")],
)
def test_a_length_of_time_is_rough(seconds: float, text: str) -> None:
    assert compact_duration(seconds) == text


def test_large_amounts_have_no_cents() -> None:
    assert [compact_usd(n) for n in (0.0031, 4.04, 2067.4)] == ["$0.0031", "$4.04", "$2,067"]


def test_many_names_are_counted() -> None:
    assert compact_names(["v1", "v2"]) == "v1, v2"
    assert compact_names([f"variant {n}" for n in range(9)]) == "9 variants"
    assert compact_names(["x" * 80]) == "x" * 80
