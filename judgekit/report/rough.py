"""Rough figures in few characters, for what is only estimated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report import view

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNITS = ((1_000_000_000, "B"), (1_000_000, "M"))
_THOUSAND, _EXACT_BELOW, _THOUSANDS_BELOW = 1_000, 10_000, 999_500
_MINUTE_S, _HOUR_S = 60, 3600
_TWO_MINUTES_S, _TWO_HOURS_S, _TWO_DAYS_H = 120, 7200, 48
_NO_CENTS_USD = 100
_LONGEST_LIST = 60


def short_number(n: int) -> str:
    """A number in few characters: `9,400`, `412k`, `3.1M`, `2.6B`."""
    if n < _EXACT_BELOW:
        return f"{n:,}"
    if n < _THOUSANDS_BELOW:
        return f"{n / _THOUSAND:.0f}k"
    size, unit = next((u for u in _UNITS if n >= u[0]), _UNITS[-1])
    return f"{n / size:,.1f}{unit}"


def short_duration(seconds: float) -> str:
    """A length of time in few characters: `45 s`, `26 min`, `2.6 h`, `25 days`."""
    if seconds < _TWO_MINUTES_S:
        return f"{max(1, round(seconds))} s"
    if seconds < _TWO_HOURS_S:
        return f"{seconds / _MINUTE_S:.0f} min"
    hours = seconds / _HOUR_S
    return f"{hours:.1f} h" if hours < _TWO_DAYS_H else f"{hours / 24:.0f} days"


def short_usd(amount: float) -> str:
    """Money, large amounts without cents: `$0.0031`, `$4.04`, `$2,067`."""
    return f"${amount:,.0f}" if amount >= _NO_CENTS_USD else view.usd(amount)


def short_names(names: Sequence[str], many: str = "variants") -> str:
    """Names in a row, or how many there are where they would fill lines."""
    listed = ", ".join(view.printable(name) for name in names)
    return listed if len(names) == 1 or len(listed) <= _LONGEST_LIST else f"{len(names)} {many}"
