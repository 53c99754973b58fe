"""The plots of a run's page: how the values of each variant are distributed, and what they cost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from judgekit.report import message, numbers
from judgekit.report.document import Axis, CaseTable, Plot, Section, Series

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.evaluation import VariantFigures
    from judgekit.report.document import Block

_BINS = 10
# More variants would be plots without end; their values are in the case table.
_MOST_VARIANTS = 6
_NAME_LENGTH = 14


def run_plots(
    variants: Sequence[VariantFigures], answers: Iterable[Block], pass_mark: float | None
) -> Section:
    """The distributions and the cost; values are read from the case table, where there is one."""
    tables = [block for block in answers if isinstance(block, CaseTable)]
    plots = [plot for table in tables for plot in _distributions(table, pass_mark)]
    return Section("Distribution and cost", (*plots, *_cost_plot(variants)))


def _distributions(table: CaseTable, pass_mark: float | None) -> list[Plot]:
    index: Any = table.index
    counts = []
    for name, cells in zip(index["columns"], index["cells"], strict=True):
        values = [value for value in cells["value"] if value is not None]
        # A value of 1 belongs to the last bin, which has no other one above it.
        found = Counter(min(int(value * _BINS + 1e-9), _BINS - 1) for value in values)
        counts.append((name, found, len(cells["value"]) - len(values)))
    most = max((n for _, found, _ in counts for n in found.values()), default=0)
    return [
        _distribution(name, found, n_missing, most, pass_mark)
        for name, found, n_missing in counts[:_MOST_VARIANTS]
        if found
    ]


def _distribution(
    name: str, found: Counter[int], n_missing: int, most: int, pass_mark: float | None
) -> Plot:
    points = tuple(((n + 0.5) / _BINS, float(found[n])) for n in range(_BINS))
    ranges = tuple(f"{n / _BINS:g} to {(n + 1) / _BINS:g}" for n in range(_BINS))
    series = [Series(points, "bars", name="cases", labels=ranges, width=0.9 / _BINS)]
    if pass_mark is not None:
        limit = ((pass_mark, 0.0), (pass_mark, most * 1.1))
        series.append(Series(limit, "rule", name=f"passes from {pass_mark:g}", style=1))
    missing = f"; {numbers.format_count(n_missing, 'case')} without a value" if n_missing else ""
    n = numbers.format_count(found.total(), "case")
    words = f"{name}: values of {n}{missing}."
    return Plot(words, Axis("value", 0, 1), Axis("cases", 0, most * 1.1), tuple(series))


def _cost_plot(variants: Sequence[VariantFigures]) -> list[Plot]:
    parts = {
        "answers": [one.money.targets_usd for one in variants],
        "judges": [one.money.judges_usd for one in variants],
        "embeddings": [one.money.checks_usd for one in variants],
    }
    paid = {name: amounts for name, amounts in parts.items() if any(amounts)}
    # One amount is a figure, not a plot.
    if not paid or len(variants) > _MOST_VARIANTS or len(paid) * len(variants) == 1:
        return []
    width = 0.8 / len(paid)
    series = tuple(
        Series(
            tuple((k + (n + 0.5) * width - 0.4, usd) for k, usd in enumerate(amounts, 1)),
            "bars",
            name=name,
            style=n,
            labels=tuple(numbers.format_usd(usd) for usd in amounts),
            width=0.85 * width,
        )
        for n, (name, amounts) in enumerate(paid.items())
    )
    top = max(usd for amounts in paid.values() for usd in amounts) * 1.1
    names = tuple(message.printable(one.variant or "all", _NAME_LENGTH) for one in variants)
    x = Axis("variant", 0.5, len(variants) + 0.5, names=names)
    known = all(one.money.is_complete for one in variants)
    words = f"Cost of {' and '.join(paid)}{'.' if known else '; what is unknown is not drawn.'}"
    return [Plot(words, x, Axis("US dollars", 0, top), series)]
