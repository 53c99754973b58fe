"""Regular expressions in the package behave alike on every supported version of Python."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import judgekit
from judgekit.assertions.selection import parse_path

# A group, then a quantifier, then the plus that makes it possessive. Python before 3.11.5 restores
# the wrong state when such a group is backtracked into (CPython issue 106052): `(?:\.\d++)?+`
# matches the dot of "5." there.
_POSSESSIVE_GROUP = re.compile(r"(?<!\\)(?:\\\\)*\)(?:[*+?]|\{[\d,]+\})\+")
_SOURCES = sorted(Path(judgekit.__file__).parent.rglob("*.py"))


def possessive_groups(source: str) -> list[str]:
    """Every text of a source, or part of an f-string, that has a possessive group."""
    return [
        f"line {node.lineno}: {node.value}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _POSSESSIVE_GROUP.search(node.value)
    ]


@pytest.mark.parametrize(
    "pattern",
    [
        r'r"(?:,\d{3})++"', r'r"(?:a|b)?+"', r'rf"(?:{x})*+"', r'r"(?P<n>ab){2,3}+"',
        r'r"(?:a|\\)*+"',
    ],
)  # fmt: skip
def test_a_possessive_group_is_found(pattern: str) -> None:
    assert possessive_groups(f"re.compile({pattern})")


@pytest.mark.parametrize("pattern", [r'r"\d++"', r'r"[^()]*+"', r'r"\(\)++"', r'r"(?:a)+ +"'])
def test_what_repeats_one_character_is_none(pattern: str) -> None:
    assert not possessive_groups(f"re.compile({pattern})")


def test_no_pattern_has_a_possessive_group() -> None:
    found = {
        str(path): groups
        for path in _SOURCES
        if (groups := possessive_groups(path.read_text(encoding="utf-8")))
    }
    assert not found


@pytest.mark.parametrize(
    ("text", "number"),
    [("5.E.1", 5), ("311.,3", 311), ("1,234.5e2.", 123450), ("12,34 and 1e2.5 and 7", 7)],
)
def test_a_number_ends_where_its_last_digit_is(text: str, number: float) -> None:
    spec = {"type": "text.number", "value": number, "which": "first"}
    [result] = judgekit.evaluate_assertions(judgekit.Output(text=text), [spec])
    assert (result.passed, result.actual) == (True, number)


def test_long_texts_without_an_end_take_linear_time() -> None:
    # Quadratic time would be hours.
    with pytest.raises(judgekit.InputError, match="cannot be read"):
        parse_path('"' + r"\a" * 1_000_000)
    numbers = judgekit.Output(text="1" + ",234" * 500_000 + "x " + "1," * 500_000 + " 1")
    spec = {"type": "text.number", "value": 1, "which": "last"}
    assert judgekit.evaluate_assertions(numbers, [spec])[0].passed is True
