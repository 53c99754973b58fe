"""Builds what only the page of a run has: its judges, its cost, and plots of its values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from judgekit.evaluation import has_model_judges, judging_of_run
from judgekit.records import HEURISTIC
from judgekit.report import message, numbers
from judgekit.report.document import (
    Axis,
    Block,
    CaseTable,
    Details,
    Lines,
    Plot,
    Section,
    Series,
    not_empty,
    table_of,
)

if TYPE_CHECKING:
    from judgekit.evaluation import RunSummary, VariantFigures
    from judgekit.records import CalibratedJudge

_BINS = 10
# More variants would be plots without end; their values are in the case table.
_MOST_VARIANTS = 6
_NAME_LENGTH = 14


def judging_and_cost(summary: RunSummary) -> tuple[Block, ...]:
    """The judges with their settings, whether they are calibrated, and what everything cost."""
    return not_empty((
        Details("Judges and calibration", _judging(summary)),
        Details("Cost and cache", _costs(summary)),
    ))  # fmt: skip


def _judging(summary: RunSummary) -> tuple[Block, ...]:
    asked = judging_of_run(summary.run)
    if asked is None:
        return ()
    calibration = [("calibration", summary.calibration)] if has_model_judges(summary.run) else []
    replied = [("replies of", ", ".join(summary.models))] if summary.models else []
    combined = [("combined by", asked.combine)] if len(asked.judges) > 1 else []
    judges = [judge for judge in asked.judges if judge.judge != HEURISTIC]
    return not_empty((
        table_of(
            judges,
            {
                "judge": lambda judge: judge.model,
                "template": lambda judge: judge.template or numbers.DASH,
                "asked": _mode,
                "repeats": lambda judge: f"{judge.repeats or numbers.DASH}",
                "parameters": _parameters,
            },
        ),
        Lines((*replied, *combined, *calibration)),
    ))  # fmt: skip


def _mode(judge: CalibratedJudge) -> str:
    if judge.asks_all is None:
        return numbers.DASH
    return "all criteria in one call" if judge.asks_all else "one call per criterion"


def _parameters(judge: CalibratedJudge) -> str:
    # Unknown settings are not the same as none.
    if judge.parameters is None:
        return "unknown"
    pairs = (f"{name} {value}" for name, value in judge.parameters.items())
    return ", ".join(pairs) or "of the provider"


def _costs(summary: RunSummary) -> tuple[Block, ...]:
    paid = numbers.format_paid
    table = table_of(
        summary.variants,
        {
            "variant": lambda one: one.variant or "all",
            "answers": lambda one: paid(one.money.targets_usd),
            "judges": lambda one: paid(one.money.judges_usd),
            "embeddings": lambda one: paid(one.money.checks_usd),
            "paid": lambda one: numbers.format_usd(
                one.money.total_usd, unknown=not one.money.is_complete
            ),
            "saved by the cache": lambda one: paid(one.money.saved_usd),
            "recorded answers had cost": lambda one: paid(one.money.recorded_usd),
        },
    )
    spent = summary.spent
    tokens = f"{spent.input_tokens:,} sent, {spent.output_tokens:,} received"
    lines = [
        *([("replies", numbers.format_spending(spent))] if spent.n_replies else []),
        *([("tokens paid", tokens)] if spent.input_tokens or spent.output_tokens else []),
    ]
    if summary.replaced_usd:
        replaced = f"{numbers.format_usd(summary.replaced_usd)} for what was replaced since"
        lines.append(("also paid", replaced))
    return not_empty((table, Lines(tuple(lines))))


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
    cases = Axis("cases", 0, most * 1.1, is_count=True)
    return Plot(words, Axis("value", 0, 1), cases, tuple(series))


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
