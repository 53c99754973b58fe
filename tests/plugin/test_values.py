from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.pytest_plugin.values import amount, count, flag, fraction, one_of

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (fraction, "0", 0.0),
        (fraction, "0.8", 0.8),
        (amount, "0.05", 0.05),
        (count, "3", 3),
        (flag, "Yes", True),
        (flag, "0", False),
        (one_of("a", "b"), "b", "b"),
    ],
)
def test_a_value_is_read(read: Callable[[str], object], text: str, value: object) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (fraction, "1.01", "1.01 is not a number from 0 to 1"),
        (fraction, "nan", "nan is not a number from 0 to 1"),
        (fraction, "much", "'much' is not a number"),
        (amount, "0", "0 is not an amount above 0"),
        (amount, "inf", "inf is not an amount above 0"),
        (count, "0", "0 is not a whole number from 1"),
        (count, "-1", "-1 is not a whole number from 1"),
        (count, "1.5", "1.5 is not a whole number from 1"),
        (flag, "maybe", "'maybe' is neither true nor false"),
        (one_of("a", "b"), "c", "'c' is none of a, b"),
    ],
)
def test_an_unsound_value_is_named(read: Callable[[str], object], text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(text)
