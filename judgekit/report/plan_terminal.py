"""What the plan of a run looks like in a terminal, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from judgekit.report import plan_view, view

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from judgekit.evaluation.planning.figures import ModelPlan, SuitePlan


def print_suite_plan(console: Console, plan: SuitePlan) -> None:
    """Print what a run would ask and cost, and what it rests on."""
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    console.print()
    console.print(Text(plan_view.headline(plan), style="bold"))
    for line in plan_view.left_out(plan):
        console.print(Text(line, style="dim"))
    if plan.models:
        console.print(_models_table(plan))
    else:
        console.print()
    console.print(_lines(plan))


def plan_json(plan: SuitePlan) -> dict[str, object]:
    """A plan as JSON."""
    return {
        **asdict(plan),
        "is_scaled": plan.is_scaled,
        "has_all_prices": plan.has_all_prices,
        "likely_usd": plan.likely_usd,
        "most_usd": plan.most_usd,
        "saved_usd": plan.saved_usd,
        "sufficiency": plan.sufficiency,
    }


def _models_table(plan: SuitePlan) -> Table:
    """Two rows for each model: what is likely, and what there may be at most."""
    from rich import box  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.table import Table  # noqa: PLC0415

    table = Table(header_style="dim", box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    table.add_column("asked", overflow="fold", min_width=12)
    for name in ("owned", "calls", "sent", "back", "price", "time"):
        table.add_column(name, justify="right", no_wrap=True)
    for model in plan.models:
        table.add_row(_literal(plan_view.asked(model)), *plan_view.likely_cells(model))
        table.add_row(*_most_cells(model), style="dim", end_section=model is plan.models[-1])
    if len(plan.models) > 1:
        table.add_row("all", *plan_view.total_cells(plan))
        table.add_row("", *plan_view.total_most_cells(plan), style="dim")
    return table


def _most_cells(model: ModelPlan) -> tuple[Text | str, ...]:
    return (_literal(f"  {view.printable(model.model)}"), *plan_view.most_cells(model))


def _lines(plan: SuitePlan) -> Table:
    from rich.table import Table  # noqa: PLC0415 - a tenth of a second, only when printing

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    last = None
    for name, text in plan_view.lines(plan):
        table.add_row("" if name == last else name, _literal(text))
        last = name
    return table


def _literal(text: str) -> Text:
    """Foreign text as it stands: no markup in it is run."""
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    return Text(text)
