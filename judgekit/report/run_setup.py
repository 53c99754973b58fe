"""Builds the part of a run's page about its judges and its cost; a terminal has `run_notes`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation import has_model_judges, judging_of_run
from judgekit.judge import HEURISTIC
from judgekit.report import message, numbers
from judgekit.report.document import Block, Cell, Details, Lines, not_empty, table_of

if TYPE_CHECKING:
    from judgekit.evaluation import RunSummary, VariantFigures
    from judgekit.records import CalibratedJudge


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
    return message.printable(", ".join(pairs)) or "of the provider"


def _costs(summary: RunSummary) -> tuple[Block, ...]:
    def usd(amount: float) -> str:
        return numbers.format_usd(amount) if amount else numbers.DASH

    def total(variant: VariantFigures) -> Cell:
        money = variant.money
        return Cell(numbers.format_usd(money.total_usd, unknown=not money.is_complete))

    table = table_of(
        summary.variants,
        {
            "variant": lambda one: one.variant or "all",
            "answers": lambda one: usd(one.money.targets_usd),
            "judges": lambda one: usd(one.money.judges_usd),
            "embeddings": lambda one: usd(one.money.checks_usd),
            "paid": total,
            "saved by the cache": lambda one: usd(one.money.saved_usd),
            "recorded answers had cost": lambda one: usd(one.money.recorded_usd),
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
