from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.pytest_plugin.options import (
    choice_parser,
    parse_amount,
    parse_count,
    parse_flag,
    parse_fraction,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (parse_fraction, "0", 0.0),
        (parse_fraction, "0.8", 0.8),
        (parse_amount, "0.05", 0.05),
        (parse_count, "3", 3),
        (parse_flag, "Yes", True),
        (parse_flag, "0", False),
        (choice_parser("a", "b"), "b", "b"),
    ],
)
def test_a_value_is_read(read: Callable[[str], object], text: str, value: object) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (parse_fraction, "1.01", "1.01 is not a number from 0 to 1"),
        (parse_fraction, "nan", "nan is not a number from 0 to 1"),
        (parse_fraction, "much", "'much' is not a number"),
        (parse_amount, "0", "0 is not an amount above 0"),
        (parse_amount, "inf", "inf is not an amount above 0"),
        (parse_count, "0", "0 is not a whole number from 1"),
        (parse_count, "-1", "-1 is not a whole number from 1"),
        (parse_count, "1.5", "1.5 is not a whole number from 1"),
        (parse_flag, "maybe", "'maybe' is neither true nor false"),
        (choice_parser("a", "b"), "c", "'c' is not one of a, b"),
    ],
)
def test_an_unsound_value_is_named(read: Callable[[str], object], text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(text)
