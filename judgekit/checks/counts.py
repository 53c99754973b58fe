"""Assertions on how long a text is, and on the number it gives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from judgekit.checks.paths import PathText  # noqa: TC001 - the seam reads the hints
from judgekit.checks.seam import UnmetError, assertion
from judgekit.checks.subjects import shown, text_of
from judgekit.records.check import AssertionResult
from judgekit.records.record import Count, Finite, Record

if TYPE_CHECKING:
    from judgekit.records.output import Output

Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""How far a number may be off."""

_NUMBER = re.compile(
    r"(?<![\w.,])[-+\u2212]?(?:\d{1,3}(?:,\d{3})++|\d++)(?:\.\d++)?+(?:[eE][-+]?\d{1,3})?+"
    r"|(?<![\w.,\d])[-+\u2212]?\.\d++"
)
_DIGITS_MAX = 400
"""Longer rows of digits are no number that a float holds."""


class Bounds(Record):
    """A least and a most."""

    min: Count | None = None
    """The least that passes."""

    max: Count | None = None
    """The most that passes."""

    @model_validator(mode="after")
    def _bounds_something(self) -> Self:
        if self.min is None and self.max is None:
            raise ValueError("needs `min` or `max`")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("`min` is more than `max`")
        return self

    def fit(self, n: int) -> bool:
        """Whether a count is within the bounds."""
        return (self.min is None or n >= self.min) and (self.max is None or n <= self.max)


@assertion("text.word_count")
def word_count(
    output: Output, *, value: Count | Bounds, path: PathText | None = None
) -> AssertionResult:
    """Pass when the text has so many words, counted by the white space between them."""
    return _counted(len(text_of(output, path).split()), "words", value)


@assertion("text.char_count")
def char_count(
    output: Output, *, value: Count | Bounds, path: PathText | None = None
) -> AssertionResult:
    """Pass when the text has so many characters (Unicode code points)."""
    return _counted(len(text_of(output, path)), "characters", value)


@assertion("text.number")
def number(
    output: Output,
    *,
    value: Finite,
    abs_tol: Tolerance = 0.0,
    rel_tol: Tolerance = 0.0,
    which: Literal["only", "first", "last"] = "only",
    path: PathText | None = None,
) -> AssertionResult:
    """Pass when the number in the text is near enough to the value."""
    # Commas between groups of three digits are read, and so are exponents; a decimal comma is not.
    found = _numbers(text_of(output, path))
    if not found:
        raise UnmetError(f"{shown(text_of(output, path))} holds no number")
    if which == "only" and len(set(found)) > 1:
        listed = ", ".join(f"{one:.15g}" for one in found[:5])
        raise UnmetError(f"there is more than one number: {listed}; set `which` to first or last")
    actual = found[-1] if which == "last" else found[0]
    allowed = max(abs_tol, rel_tol * abs(value))
    off = abs(actual - value)
    passed = off <= allowed * (1 + 1e-12)
    message = f"{actual:.15g} is {off:.6g} off {value:.15g}, allowed {allowed:.6g}"
    return AssertionResult(passed=passed, actual=actual, message=message)


def _counted(n: int, unit: str, wanted: int | Bounds) -> AssertionResult:
    if isinstance(wanted, Bounds):
        ends = (("at least", wanted.min), ("at most", wanted.max))
        limit = " and ".join(f"{word} {end}" for word, end in ends if end is not None)
        return AssertionResult(
            passed=wanted.fit(n), actual=n, message=f"{n} {unit}, wanted {limit}"
        )
    return AssertionResult(passed=n == wanted, actual=n, message=f"{n} {unit}, wanted {wanted}")


def _numbers(text: str) -> list[float]:
    found = []
    for match in _NUMBER.finditer(text):
        written = match.group().replace(",", "").replace("\u2212", "-")
        if len(written) <= _DIGITS_MAX:
            found.append(float(written))
    return [number for number in found if abs(number) != float("inf")]
