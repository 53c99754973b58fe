"""The words and the rounding of every figure a person reads."""

from __future__ import annotations

from decimal import Decimal
from math import isnan
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.evaluation.figures.summary import Spent
    from judgekit.records.judgment import Judgment
    from judgekit.stats.estimate import Estimate

_MINUTE_S, _HOUR_S = 60, 3600
_CENT = 0.01
_SECOND_MS = 1000
_NARROW = 0.02
_MORE_DIGITS = 4

DASH = "\N{EN DASH}"
"""Stands where there is no number."""

PRICE_UNKNOWN = "price unknown"
"""Stands where there is no price; never 0."""

FAILURE_WORDS = {
    "auth": "the provider refused the key",
    "not_found": "no such model or endpoint",
    "bad_request": "the request was refused",
    "rate_limited": "rate limit",
    "quota": "quota used up",
    "overloaded": "provider overloaded",
    "timeout": "no answer in time",
    "connection": "no connection",
    "protocol": "garbled answer of the server",
    "content_filter": "content filter",
    "context_window": "too long for the model",
    "empty": "empty reply",
    "truncated": "reply cut off",
    "refusal": "the judge refused",
    "unreadable": "no verdict could be read",
    "cannot_assess": "the judge could not assess",
    "budget": "cost limit reached",
    "frozen_miss": "not in the frozen cache",
    "cancelled": "cancelled",
    "target_error": "no output to judge",
    "internal": "internal error",
}
"""What a kind of failure is called in tables."""

NOT_ASSESSED = (
    "what the judge cannot assess stays so when it is asked again: make the rubric clearer, or ask "
    "another judge"
)
"""What is said where nothing but that went wrong."""

FLAG_WORDS = {
    "degenerate_output": "the output repeats itself or is hardly a text",
    "smoke_model": "a smoke model, whose verdicts carry no information",
}
"""What a mark on a judgment is called."""


class VariantRow(Protocol):
    """The figures of a variant that a table shows, of a grading or of a run."""

    @property
    def variant(self) -> str:
        """Name of the variant; empty where there is only one without a name."""
        ...

    @property
    def n_passed(self) -> int:
        """Outputs that pass."""
        ...

    @property
    def n_failed(self) -> int:
        """Outputs that do not pass."""
        ...

    @property
    def n_undecided(self) -> int:
        """Outputs that are neither."""
        ...

    @property
    def pass_rate(self) -> Estimate:
        """Share of passed among decided outputs."""
        ...

    @property
    def value(self) -> Estimate:
        """Mean value."""
        ...

    @property
    def criteria(self) -> Mapping[str, Estimate]:
        """Mean value per criterion."""
        ...


def rate(estimate: Estimate) -> str:
    """A rate with its interval: `58 % [32, 81]`."""
    return _with_ends(estimate, 0, times=100, unit=" %")


def number(estimate: Estimate, digits: int = 2) -> str:
    """A mean with its interval: `0.71 [0.55, 0.87]`."""
    return _with_ends(estimate, digits)


def signed(estimate: Estimate) -> str:
    """A difference with its interval: `+0.12 [-0.05, +0.29]`."""
    return _with_ends(estimate, 3 if estimate.high - estimate.low < _NARROW else 2, sign="+")


def signed_points(estimate: Estimate) -> str:
    """A difference of shares in hundredths, with its interval: `+35 % [+20, +50]`."""
    return _with_ends(estimate, 0, sign="+", times=100, unit=" %")


def plain(estimate: Estimate, digits: int = 2) -> str:
    """A mean without its interval, for narrow columns."""
    return DASH if isnan(estimate.value) else f"{estimate.value:.{digits}f}"


def plain_or_dash(estimate: Estimate | None) -> str:
    """`plain`, for a variant that may not have the figure at all."""
    return DASH if estimate is None else plain(estimate)


def passed(variant: VariantRow) -> str:
    """How many passed of how many that were decided: `7/12`, or `7/11 +1?` with one undecided."""
    decided = variant.n_passed + variant.n_failed
    more = f" +{variant.n_undecided}?" if variant.n_undecided else ""
    return f"{variant.n_passed}/{decided}{more}"


def usd(amount: float | None, *, unknown: bool = False) -> str:
    """An amount of money: `$0.42`, `$0.0031`, `at least $0.42`, `price unknown`."""
    if amount is None or (unknown and amount == 0):
        return PRICE_UNKNOWN
    text = f"${amount:,.2f}" if amount >= _CENT else f"${_two_digits(amount)}" if amount else "$0"
    return f"at least {text}" if unknown else text


def duration(seconds: float) -> str:
    """A length of time: `8 s`, `2 min 05 s`, `1 h 20 min`."""
    whole = round(seconds)
    if whole < _MINUTE_S:
        return f"{whole} s"
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S} min {whole % _MINUTE_S:02d} s"
    return f"{whole // _HOUR_S} h {whole % _HOUR_S // _MINUTE_S:02d} min"


def milliseconds(amount: float) -> str:
    """A short length of time: `0.4 ms`, `320 ms`, `2.4 s`, `2 min 05 s`."""
    if amount < 1:
        return f"{amount:.1f} ms"
    if amount < _SECOND_MS:
        return f"{amount:.0f} ms"
    seconds = amount / _SECOND_MS
    return f"{seconds:.1f} s" if seconds < _MINUTE_S else duration(seconds)


def count(n: int, one: str, many: str | None = None) -> str:
    """A number of things: `1 reply`, `1,200 replies`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def spent(figures: Spent) -> str:
    """What a grading took: `36 replies, 36 from the cache, $0 spent, $0.0021 saved`."""
    parts = [count(figures.n_replies, "reply", "replies")]
    if figures.n_cached:
        parts.append(f"{figures.n_cached:,} from the cache")
    nothing_known = figures.cost_unknown and not figures.cost_usd
    paid = usd(figures.cost_usd, unknown=figures.cost_unknown)
    parts.append("cost unknown" if nothing_known else f"{paid} spent")
    if figures.saved_usd:
        parts.append(f"{usd(figures.saved_usd)} saved")
    return ", ".join(parts)


def score(judgment: Judgment) -> str:
    """A raw score as a person writes it: `4`, `3.5`."""
    return f"{judgment.raw:g}"


def printable(text: str, limit: int | None = None) -> str:
    r"""Foreign text on one line, safe for a terminal: no control or direction characters."""
    flat = " ".join(text.split())
    if limit is not None and len(flat) > limit:
        flat = flat[: limit - 1].rstrip() + "…"
    return _escaped(flat)


def message_lines(message: str) -> str:
    """A message on its own lines, safe for a terminal."""
    return "\n".join(_escaped(line) for line in message.split("\n"))


def one_line(message: str, limit: int | None = None) -> str:
    """A message and its hint, which stand on lines of their own, on one line."""
    return printable("; ".join(line.strip() for line in message.splitlines()), limit)


def _with_ends(
    estimate: Estimate, digits: int, *, sign: str = "", times: int = 1, unit: str = ""
) -> str:
    if isnan(estimate.value):
        return DASH
    longer = range(digits, digits + _MORE_DIGITS)
    digits = next((n for n in longer if _differ(estimate, n, times)), digits)

    def said(amount: float) -> str:
        rounded = round(amount * times, digits)
        return f"{rounded:{sign}.{digits}f}" if rounded else f"{0:.{digits}f}"

    ends = "" if isnan(estimate.low) else f" [{said(estimate.low)}, {said(estimate.high)}]"
    return f"{said(estimate.value)}{unit}{ends}"


def _differ(estimate: Estimate, digits: int, times: int) -> bool:
    """Whether an interval still has a width when it is rounded."""
    return round(estimate.low * times, digits) != round(estimate.high * times, digits)


def _escaped(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _two_digits(amount: float) -> str:
    """Two significant digits without an exponent: `0.0031`, `0.000020`."""
    return f"{Decimal(f'{amount:.1e}'):f}"
