"""How numbers, money, durations and counts are rounded and written in reports.

Texts are in `message`, layout in `terminal`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from math import isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.evaluation import JudgeUsage
    from judgekit.records import Judgment
    from judgekit.stats.estimate import Estimate

_MINUTE_S, _HOUR_S = 60, 3600
_CENT = 0.01
_SECOND_MS = 1000

# Below this width two digits would show both ends of an interval as nearly the same number.
_NARROW = 0.02
_MORE_DIGITS = 4
# Never 0 and never "nan": what is missing must not look like a measurement.
DASH = "\N{EN DASH}"

PRICE_UNKNOWN = "price unknown"


def format_rate(estimate: Estimate, digits: int = 0) -> str:
    """A rate with its interval: `58 % [32, 81]`."""
    return _with_interval(estimate, digits, times=100, unit=" %")


def format_rate_words(estimate: Estimate) -> str:
    """The same in a sentence: `58 % (95 % interval 32 to 81 %)`."""
    value, low, high = _rounded(estimate, 0, times=100)
    level = f"{estimate.level * 100:g} % interval"
    return f"{value} %" if isnan(estimate.low) else f"{value} % ({level} {low} to {high} %)"


def format_rate_range(low: float, high: float, word: str = "to") -> str:
    """The least and the most that a rate can be: `32 to 81 %`."""
    digits = digits_beside((low * 100,), high * 100, 0)
    return f"{low * 100:.{digits}f} {word} {high * 100:.{digits}f} %"


def format_mean(estimate: Estimate, digits: int = 2) -> str:
    """A mean with its interval: `0.71 [0.55, 0.87]`."""
    return _with_interval(estimate, digits)


def format_mean_beside(estimate: Estimate, limit: float) -> str:
    """The same, written apart from a limit that its numbers are not: `0.696 [0.550, 0.870]`."""
    known = estimate.value, estimate.low, estimate.high
    return format_mean(estimate, digits_beside(known, limit, 2))


def format_difference(estimate: Estimate, digits: int = 2) -> str:
    """A difference with its interval: `+0.12 [-0.05, +0.29]`."""
    digits = max(digits, 3) if estimate.high - estimate.low < _NARROW else digits
    return _with_interval(estimate, _digits_of_difference(estimate, digits), sign="+,")


def format_rate_difference(estimate: Estimate) -> str:
    """A difference of shares in hundredths, with its interval: `+35 % [+20, +50]`."""
    digits = _digits_of_difference(estimate, 2) - 2
    return _with_interval(estimate, digits, sign="+", times=100, unit=" %")


def _digits_of_difference(estimate: Estimate, digits: int) -> int:
    """As many digits, or a few more, as it takes to show that an interval leaves out 0."""
    leaves_out = estimate.low > 0 or estimate.high < 0
    return digits_beside((estimate.low, estimate.high) if leaves_out else (), 0.0, digits)


def format_usd(amount: float | None, *, unknown: bool = False) -> str:
    """An amount of money: `$0.42`, `$0.0031`, `at least $0.42`, `price unknown`."""
    # An unknown price is never shown as $0: it would look like a free run.
    if amount is None or (unknown and amount == 0):
        return PRICE_UNKNOWN
    # Two significant digits without an exponent: `0.0031`, `0.000020`.
    small = f"${Decimal(f'{amount:.1e}'):f}" if amount else "$0"
    text = f"${amount:,.2f}" if amount >= _CENT else small
    return f"at least {text}" if unknown else text


def format_paid(amount: float) -> str:
    """An amount of money, or a dash where nothing was paid."""
    return format_usd(amount) if amount else DASH


def difference_unit(scales: Mapping[str, tuple[float, float]]) -> str:
    """In which unit the differences of rows stand, by the scale of each."""
    means = [name for name, scale in scales.items() if scale == (0.0, 1.0)]
    if len(means) == len(scales):
        return "judge - human: mean difference, from -1 to 1"
    points = "judge - human: mean difference, in points of the criterion's scale"
    return f"{points}; for {' and '.join(means)} from -1 to 1" if means else points


def format_duration(seconds: float) -> str:
    """A length of time: `8 s`, `2 min 05 s`, `1 h 20 min`."""
    whole = round(seconds)
    if whole < _MINUTE_S:
        return f"{whole} s"
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S} min {whole % _MINUTE_S:02d} s"
    return f"{whole // _HOUR_S} h {whole % _HOUR_S // _MINUTE_S:02d} min"


def format_milliseconds(amount: float) -> str:
    """A short length of time: `0.4 ms`, `320 ms`, `2.4 s`, `2 min 05 s`."""
    if amount < 1:
        return f"{amount:.1f} ms"
    if amount < _SECOND_MS:
        return f"{amount:.0f} ms"
    seconds = amount / _SECOND_MS
    return f"{seconds:.1f} s" if seconds < _MINUTE_S else format_duration(seconds)


def format_count(n: int, one: str, many: str | None = None) -> str:
    """A number of things: `1 reply`, `1,200 replies`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def format_spending(figures: JudgeUsage, replaced_usd: float = 0.0) -> str:
    """What a grading took: `36 replies, 36 from the cache, $0 spent, $0.0021 saved`."""
    parts = [format_count(figures.n_replies, "reply", "replies")]
    if figures.n_cached:
        parts.append(f"{figures.n_cached:,} from the cache")
    # With no known price at all, `at least $0` would be true and say nothing.
    nothing_known = figures.cost_unknown and not figures.cost_usd
    paid = format_usd(figures.cost_usd, unknown=figures.cost_unknown)
    parts.append("cost unknown" if nothing_known else f"{paid} spent")
    if figures.saved_usd:
        parts.append(f"{format_usd(figures.saved_usd)} saved")
    if replaced_usd:
        parts.append(f"{format_usd(replaced_usd)} more for answers replaced since")
    return ", ".join(parts)


def format_score(judgment: Judgment) -> str:
    """A raw score without trailing zeros: `4`, `3.5`."""
    return f"{judgment.raw:g}"


def _with_interval(
    estimate: Estimate, digits: int, *, sign: str = "", times: int = 1, unit: str = ""
) -> str:
    if isnan(estimate.value):
        return DASH
    value, low, high = _rounded(estimate, digits, sign=sign, times=times)
    return f"{value}{unit}{'' if isnan(estimate.low) else f' [{low}, {high}]'}"


def _rounded(estimate: Estimate, digits: int, *, sign: str = "", times: int = 1) -> list[str]:
    """The value and the ends of its interval."""
    # A rounded interval must not have the width 0, which would claim certainty.
    digits = digits_beside((estimate.low * times,), estimate.high * times, digits)

    def written(amount: float) -> str:
        rounded = round(amount * times, digits)
        # Zero has no sign: `-0.00` would look like an effect.
        return f"{rounded:{sign}.{digits}f}" if rounded else f"{0:.{digits}f}"

    return [written(amount) for amount in (estimate.value, estimate.low, estimate.high)]


def digits_beside(amounts: Iterable[float], limit: float, digits: int) -> int:
    """As many digits, or a few more, as it takes to show that amounts are not a limit."""
    # `0.70` that fails a limit of 0.7 would look like an error.
    others = [amount for amount in amounts if round(amount - limit, 9)]
    longer = range(digits, digits + _MORE_DIGITS)
    return next((n for n in longer if all(round(x, n) != round(limit, n) for x in others)), digits)


_NUMBER_UNITS = ((1_000_000_000, "B"), (1_000_000, "M"))
_THOUSAND, _EXACT_BELOW, _THOUSANDS_BELOW = 1_000, 10_000, 999_500

# A unit is used from two of it on: `90 s` is more exact than `2 min`.
_TWO_MINUTES_S, _TWO_HOURS_S, _TWO_DAYS_H = 120, 7200, 48
_NO_CENTS_USD = 100


def compact_number(n: int) -> str:
    """A number in few characters: `9,400`, `412k`, `3.1M`, `2.6B`."""
    if n < _EXACT_BELOW:
        return f"{n:,}"
    if n < _THOUSANDS_BELOW:
        return f"{n / _THOUSAND:.0f}k"
    size, unit = next((u for u in _NUMBER_UNITS if n >= u[0]), _NUMBER_UNITS[-1])
    return f"{n / size:,.1f}{unit}"


def compact_duration(seconds: float) -> str:
    """A length of time in few characters: `45 s`, `26 min`, `2.6 h`, `25 days`."""
    if seconds < _TWO_MINUTES_S:
        return f"{max(1, round(seconds))} s"
    if seconds < _TWO_HOURS_S:
        return f"{seconds / _MINUTE_S:.0f} min"
    hours = seconds / _HOUR_S
    return f"{hours:.1f} h" if hours < _TWO_DAYS_H else f"{hours / 24:.0f} days"


def compact_usd(amount: float) -> str:
    """Money, large amounts without cents: `$0.0031`, `$4.04`, `$2,067`."""
    return f"${amount:,.0f}" if amount >= _NO_CENTS_USD else format_usd(amount)


_SMALLEST_P, _USUAL_ALPHA = 0.001, 0.05


def nan_to_null(value: object) -> object:
    """A value with every nan as None, so that it is JSON."""
    if isinstance(value, dict):
        return {key: nan_to_null(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [nan_to_null(item) for item in value]
    return None if isinstance(value, float) and isnan(value) else value


def format_p_value(p: float | None, adjusted: float | None = None) -> str:
    """A p-value: `0.021`, `< 0.001`; a dash where there is none."""
    # Of several tests the adjusted p is the one to act on.
    p = p if adjusted is None else adjusted
    if p is None:
        return DASH
    digits = digits_beside((p,), _USUAL_ALPHA, 3)
    return f"< {_SMALLEST_P:g}" if p < _SMALLEST_P else f"{p:.{digits}f}"


def format_share(share: float) -> str:
    """A share without an interval: `62 %`."""
    return format_decimal(share, ".0%").replace("%", " %")


def format_decimal(number: float | None, form: str = ".2f") -> str:
    """A number of two digits, or a dash where there is none."""
    return DASH if number is None or isnan(number) else f"{number:{form}}"


_KIB = 1024
_FILE_SIZE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def format_file_size(n_bytes: int) -> str:
    """A size of files: `412 KiB`, `1.3 GiB`."""
    amount, unit = float(n_bytes), 0
    while amount >= _KIB and unit < len(_FILE_SIZE_UNITS) - 1:
        amount, unit = amount / _KIB, unit + 1
    digits = 1 if unit and amount < 10 else 0  # noqa: PLR2004 - two digits either way
    return f"{amount:.{digits}f} {_FILE_SIZE_UNITS[unit]}"
