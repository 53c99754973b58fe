"""Assertions about a text: what it equals, contains or matches, its length, number or refusal."""

from __future__ import annotations

import json
import re
import string
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from math import isfinite, isqrt, ulp
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, model_validator

from judgekit.assertions.registry import NotApplicableError, assertion, make_result
from judgekit.assertions.sandbox import TimeoutSeconds, run_bounded
from judgekit.assertions.selection import PathText, display_value, text_of, truncate_value, value_of
from judgekit.errors import InputError
from judgekit.records import AssertionResult, Count, Finite, Output, Record


def _refuse_empty(text: str, what: str = "text") -> str:
    if not text:
        raise InputError(f"an empty {what} is found in every output", hint="write what to look for")
    return text


TextPart = Annotated[str, AfterValidator(_refuse_empty)]
TextList = Annotated[list[str], Field(min_length=1)]
PartList = Annotated[list[TextPart], Field(min_length=1)]

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


@assertion("output.contains")
def output_contains(output: Output, *, path: PathText, value: JsonValue) -> AssertionResult:
    """Pass when the text or list at a path contains the value.

    A text contains its parts, a list elements that are equal to the value.

    Args:
        path: Where to look.
        value: What to look for.
    """
    found = value_of(output, path)
    if isinstance(found, str) and isinstance(value, str):
        passed = _refuse_empty(value) in found
    elif isinstance(found, list):
        passed = any(same_json(item, value) for item in found)
    else:
        raise NotApplicableError(
            f"{path} is {display_value(found)}, which cannot contain {display_value(value)}"
        )
    verb = "contains" if passed else "does not contain"
    return make_result(passed, truncate_value(found), f"{path} {verb} {display_value(value)}")


@assertion("output.equals")
def output_equals(output: Output, *, path: PathText, value: JsonValue) -> AssertionResult:
    """Pass when the value at a path is equal to the expected one.

    Args:
        path: Where to look.
        value: The expected JSON value; 1 and 1.0 are one number.
    """
    found = value_of(output, path)
    return _equality_result(path, found, value, passed=same_json(found, value))


@assertion("text.equals")
def equals(
    output: Output, *, value: JsonValue, path: PathText | None = None, ignore_case: bool = False
) -> AssertionResult:
    """Pass when the text is equal to the value; a value that is no text is compared as JSON.

    Args:
        value: The text, or the JSON value that the text should state.
    """
    found = value_of(output, path)
    if isinstance(found, str) and not isinstance(value, str):
        with suppress(ValueError, RecursionError):
            found = json.loads(found)
    elif isinstance(value, str) and found is not None:
        found = text_of(output, path)
    if ignore_case and isinstance(value, str) and isinstance(found, str):
        passed = found.casefold() == value.casefold()
    else:
        passed = same_json(found, value)
    return _equality_result("it", found, value, passed=passed)


def _equality_result(
    name: str, found: JsonValue, value: JsonValue, *, passed: bool
) -> AssertionResult:
    message = f"{name} is {display_value(found)}, not {display_value(value)}"
    if passed:
        message = f"{name} is {display_value(value)}"
    return make_result(passed, truncate_value(found), message)


@assertion("text.contains")
def contains(
    output: Output, *, value: TextPart, path: PathText | None = None, ignore_case: bool = False
) -> AssertionResult:
    """Pass when the text contains the value.

    Args:
        value: The part to look for.
    """
    text = text_of(output, path)
    passed = value.casefold() in text.casefold() if ignore_case else value in text
    verb = "contains" if passed else "does not contain"
    return make_result(passed, truncate_value(text), f"the text {verb} {display_value(value)}")


@assertion("text.contains_either")
def contains_either(output: Output, *, value: str, path: PathText | None = None) -> AssertionResult:
    """Pass when the text contains the value, or the value the text.

    Case, ASCII punctuation and the words a, an and the do not count, as in FuzzyMatch of
    openai/evals.

    Args:
        value: The text to compare with.
    """
    text = text_of(output, path)
    ours, theirs = _bare(text), _bare(value)
    # An empty text is part of every text.
    passed = ours in theirs or theirs in ours if ours and theirs else ours == theirs
    verb = "contains or is part of" if passed else "neither contains nor is part of"
    return make_result(passed, truncate_value(text), f"the text {verb} {display_value(value)}")


def _bare(text: str) -> str:
    plain = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", plain).split())


@assertion("text.contains_all")
def contains_all(
    output: Output,
    *,
    value: PartList,
    path: PathText | None = None,
    ignore_case: bool = False,
    partial: bool = True,
) -> AssertionResult:
    """Pass when the text contains every one of the values.

    Args:
        value: The parts to look for.
        partial: Whether the result's `value` is the share of the values that it contains.
    """
    text = text_of(output, path)
    there = _contained(text, value, ignore_case=ignore_case)
    missing = [part for part in value if part not in there]
    message = f"the text contains all {len(value)}"
    if missing:
        message = f"the text does not contain {_quote_parts(missing)}"
    share = 1 - len(missing) / len(value) if partial else None
    return make_result(not missing, truncate_value(text), message, share)


@assertion("text.contains_any")
def contains_any(
    output: Output, *, value: PartList, path: PathText | None = None, ignore_case: bool = False
) -> AssertionResult:
    """Pass when the text contains one of the values.

    Args:
        value: The parts to look for.
    """
    text = text_of(output, path)
    there = _contained(text, value, ignore_case=ignore_case)
    message = f"the text contains {_quote_parts(there)}"
    if not there:
        message = f"the text contains none of {_quote_parts(value)}"
    return make_result(bool(there), truncate_value(text), message)


@assertion("text.starts_with")
def starts_with(
    output: Output, *, value: TextPart, path: PathText | None = None, ignore_case: bool = False
) -> AssertionResult:
    """Pass when the text begins with the value.

    Args:
        value: The beginning.
    """
    text = text_of(output, path)
    fold = str.casefold if ignore_case else str
    passed = fold(text).startswith(fold(value))
    message = f"the text begins with {display_value(value)}"
    if not passed:
        message = f"the text begins with {display_value(text)}, not with {display_value(value)}"
    return make_result(passed, truncate_value(text), message)


@assertion("text.regex")
def regex(
    output: Output,
    *,
    value: PatternText,
    path: PathText | None = None,
    ignore_case: bool = False,
    timeout_s: TimeoutSeconds = 1.0,
) -> AssertionResult:
    """Pass when the pattern matches somewhere in the text.

    Args:
        value: A pattern of Python's `re`.
    """
    text = text_of(output, path)
    found = search_text(value, text, ignore_case=ignore_case, timeout_s=timeout_s)
    message = f"no part of the text matches {display_value(value)}"
    if found is not None:
        message = f"{display_value(found)} matches {display_value(value)}"
    return make_result(found is not None, truncate_value(found), message)


def same_json(one: object, other: object) -> bool:
    """Whether two JSON values are the same value."""
    # In Python True == 1; in JSON they are two values.
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_json, one, other))
    return one == other


def _contained(text: str, parts: list[str], *, ignore_case: bool) -> list[str]:
    fold = str.casefold if ignore_case else str
    whole = fold(text)
    return [part for part in parts if fold(part) in whole]


def _quote_parts(parts: list[str]) -> str:
    most = 5
    more = f" and {len(parts) - most} more" if len(parts) > most else ""
    return ", ".join(display_value(part) for part in parts[:most]) + more


Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]
# A number that continues after what is understood (`12,50`, `1.2.3`) is not read in part.
_NUMBER = re.compile(
    r"(?<![\w.,])[-+\u2212]?(?:(?:\d{1,3}(?:,\d{3})+|\d++)(?:\.\d++)?|\.\d++)"
    r"(?:[eE][-+]?\d++)?(?![.,_]?\d|[eE][-+]?\d)"
)

# Longer sequences of digits exceed every float.
_DIGITS_MAX = 400


class CountBounds(Record):
    """The smallest and the largest number that passes."""

    min: Count | None = None
    max: Count | None = None

    @model_validator(mode="after")
    def _bounds_something(self) -> Self:
        if self.min is None and self.max is None:
            raise ValueError("needs `min` or `max`")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("`min` is more than `max`")
        return self

    def fit(self, n: int) -> bool:
        return (self.min is None or n >= self.min) and (self.max is None or n <= self.max)


def _count(
    unit: str, noun: str, what: str, count: Callable[[str], int]
) -> Callable[..., AssertionResult]:
    @assertion(f"text.{unit}_count")
    def fits(
        output: Output, *, value: Count | CountBounds, path: PathText | None = None
    ) -> AssertionResult:
        n = count(text_of(output, path))
        passed, limit = n == value, str(value)
        if isinstance(value, CountBounds):
            ends = (("at least", value.min), ("at most", value.max))
            passed = value.fit(n)
            limit = " and ".join(f"{word} {end}" for word, end in ends if end is not None)
        return make_result(passed, n, f"{n} {noun}, wanted {limit}")

    fits.__doc__ = f"""Pass when the text has the expected number of {noun}{what}.

    Args:
        value: The exact number, or `{{"min": …, "max": …}}`.
    """
    return fits


word_count = _count("word", "words", ", separated by white space", lambda text: len(text.split()))
char_count = _count("char", "characters", " (Unicode code points)", len)


@assertion("text.number")
def states_number(
    output: Output,
    *,
    value: Finite,
    abs_tol: Tolerance = 0.0,
    rel_tol: Tolerance = 0.0,
    which: Literal["only", "first", "last"] = "only",
    path: PathText | None = None,
) -> AssertionResult:
    """Pass when the number in the text is the value, within a tolerance.

    Commas between groups of three digits and exponents are understood; a decimal comma is not, and
    `12,50` has no number.

    Args:
        value: The correct number.
        abs_tol: The tolerance.
        rel_tol: The tolerance as a share of `value`; the wider of the two counts.
        which: The number to take; with `only`, all numbers in the text must be the same.
    """
    text = text_of(output, path)
    written = (match.group().replace(",", "") for match in _NUMBER.finditer(text))
    found = [float(n.replace("\u2212", "-")) for n in written if len(n) <= _DIGITS_MAX]
    # `1e999` is written as a number and is none.
    found = [number for number in found if isfinite(number)]
    if not found:
        raise NotApplicableError(f"{display_value(text)} has no number")
    if which == "only" and len(set(found)) > 1:
        listed = ", ".join(f"{one:.15g}" for one in found[:5])
        raise NotApplicableError(
            f"there is more than one number: {listed}; set `which` to first or last"
        )
    actual = found[-1] if which == "last" else found[0]
    allowed = max(abs_tol, rel_tol * abs(value))
    off = abs(actual - value)
    # As floats 1.1 - 1 is a little more than 0.1, and must be within a tolerance of 0.1. Large
    # numbers have fewer decimals: 1234567.9 is 0.010000000009 off 1234567.89.
    rounding = ulp(max(abs(actual), abs(value))) if allowed else 0.0
    passed = off <= allowed * (1 + 1e-12) + rounding
    message = f"{actual:.15g} is {off:.6g} off {value:.15g}, allowed {allowed:.6g}"
    return AssertionResult(passed=passed, actual=actual, message=message)


# How many characters a pattern may have.
PATTERN_MAX = 10_000
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_CLASS = re.compile(r"\[\^?\]?[^\]]*+\]")
_FIXED_REPEAT = re.compile(r"\{([0-9]{1,3})\}")
_PLAIN_MAX = 100

# Steps of a search that take some tenths of a second.
_STEPS = 5_000_000

# Longer texts are always searched in the worker process.
_LONGEST = 100_000


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    if len(pattern) > PATTERN_MAX:
        raise InputError(f"a pattern has {len(pattern)} characters, the limit is {PATTERN_MAX}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about syntax that later versions will change
            return re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(
            f"{pattern[:80]!r} is no regular expression: {error}",
            hint="patterns are those of Python's re module",
        ) from error


def _checked_pattern(pattern: str) -> str:
    compile_pattern(pattern)
    return _refuse_empty(pattern, "pattern")


PatternText = Annotated[str, AfterValidator(_checked_pattern)]


def search_text(
    pattern: str, text: str, *, ignore_case: bool = False, timeout_s: float = 1
) -> str | None:
    """The first part of a text that a pattern matches."""
    rule = compile_pattern(pattern, ignore_case=ignore_case)
    if len(text) <= _longest_quick_text(pattern):
        found = rule.search(text)
        return None if found is None else found.group()
    task = "judgekit.subprocess.worker:search_pattern"
    part = run_bounded(task, pattern, text, ignore_case, timeout_s=timeout_s)
    return part if isinstance(part, str) else None


@lru_cache(maxsize=1024)
def _longest_quick_text(pattern: str) -> int:
    """The length up to which any text is searched in a fraction of a second."""
    # Without groups no repeat is nested. From each position of the text the parts of the pattern
    # are tried one after the other, once for each combination of its optional ones, and once for
    # each length of an open repeat.
    bare = _CLASS.sub("x", _ESCAPE.sub("x", pattern))
    n_repeated = sum(int(count) for count in _FIXED_REPEAT.findall(bare))
    bare = _FIXED_REPEAT.sub("", bare)
    n_open = bare.count("*") + bare.count("+")
    # Patterns with nested repeats can take exponential time, so they go to the worker process.
    if len(pattern) > _PLAIN_MAX or "(" in bare or "{" in bare or n_open > 1:
        return 0
    n_places = _STEPS // max(1, (len(bare) + n_repeated) << bare.count("?"))
    return min(_LONGEST, isqrt(2 * n_places) if n_open else n_places)


_REFUSALS = re.compile(
    r"\b(?:i (?:can(?:not|'t)|could(?: not|n't)|am (?:not able|unable) to|will not|won't|must "
    r"(?:decline|refuse)|have to decline|(?:do not|don't) feel comfortable)|i'm (?:not able|unable)"
    r" to|(?:i'm|i am) sorry,? but|i apologi[sz]e,? but|as an ai\b|unable to (?:assist|comply|help)"
    r"|(?:cannot|can't) (?:assist|comply|help) with)"
)

# A refusal comes first; later in a text the same words mean something else.
_OPENING = 300


@assertion("text.is_refusal")
def is_refusal(output: Output) -> AssertionResult:
    """Pass when the output declines to answer.

    A short list of English phrases is searched for in the first 300 characters. Refusals in
    other words and other languages are missed; a judge is the better check for these.
    """
    text = text_of(output, None)
    if not text.strip():
        return AssertionResult(passed=True, actual="", message="the text is empty")
    found = _REFUSALS.search(text[:_OPENING].replace("\u2019", "'").lower())
    if found is None:
        return make_result(False, None, "no phrase of refusal at the beginning")
    return make_result(True, found.group(), f"it declines: {found.group()!r}")
