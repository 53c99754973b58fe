from __future__ import annotations

import pytest

from judgekit.errors import SettingsError
from judgekit.targets.factory import expand_variables


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Bearer ${KEY}", "Bearer abc"),
        ("$KEY/$KEY", "abc/abc"),
        ("$$KEY", "$KEY"),
        ("5 $, $5", "5 $, $5"),
        ("plain", "plain"),
    ],
)
def test_variables_are_filled_in(text: str, value: str) -> None:
    expanded, _ = expand_variables({"A": text}, {"KEY": "abc"}, where="the header")
    assert expanded == {"A": value}


def test_a_variable_that_is_not_set_is_told_by_name() -> None:
    with pytest.raises(SettingsError, match="the header 'A' names the environment variable NONE"):
        expand_variables({"A": "$NONE"}, {}, where="the header")


def test_what_came_from_a_variable_may_not_be_shown() -> None:
    texts = {"A": "Bearer $KEY", "B": "plain", "C": "$$"}
    assert expand_variables(texts, {"KEY": "abc"}, where="the header") == (
        {"A": "Bearer abc", "B": "plain", "C": "$"},
        ("abc",),
    )
