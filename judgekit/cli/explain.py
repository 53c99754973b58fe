"""`judgekit explain`: what goes with the scores of stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit import evaluation, report
from judgekit.cli.help import command
from judgekit.cli.options import OutputOptions, StoreOptions, option
from judgekit.cli.outputs import output_option, show_document, sort_outputs

if TYPE_CHECKING:
    from judgekit.records import RunInfo

_THRESHOLD = 0.7


class _ExplainOptions(StoreOptions, OutputOptions):
    by: str | None = option(
        "Also the score over a size: input_tokens, output_tokens, tool_calls, duration_ms, or a "
        "path such as case.metadata.context_tokens.",
        metavar="SIZE",
    )
    threshold: float | None = option(
        "The score that is good enough (default: that of the gate, else the rubric's).", ge=0, le=1
    )
    output: tuple[Path, ...] = output_option("Write it to FILE: .json, .md or .html.")


@command("explain", _ExplainOptions)
@click.argument("runs", nargs=-1)
def explain_command(options: _ExplainOptions, *, runs: tuple[str, ...]) -> None:
    """Show what goes with the scores of RUNS (default: the last run).

    The variance of the scores is divided among tokens, tool calls, duration, model, variant and
    stratum (Shapley shares, with intervals clustered by case). With --by, the score is shown over a
    size such as that of the context: where it falls off (the cliff), and up to which size its
    interval stays above the threshold (the safe limit). A run at several sizes of the context
    (context: in the suite) has that curve without --by, one for each variant. Variants are shown
    side by side: quality, tokens, tool calls, time and cost.

    It shows association, not cause.

    Examples:
        judgekit explain
        judgekit explain latest --by input_tokens --threshold 0.8
        judgekit explain latest -o explain.html
    """
    files = sort_outputs(options.output, what="an explanation")
    with options.open_store() as store:
        chosen = [store.run(name) for name in runs or ("latest",)]
        rows = evaluation.answer_rows(store, chosen, by=options.by)
    threshold = options.threshold
    if threshold is None:
        threshold = _good_enough(chosen[-1])
    curves = evaluation.size_curves(rows, options.by, threshold)
    title = ", ".join(run.id for run in chosen)
    document = report.explain_document(
        title, evaluation.explain_variance(rows), curves, evaluation.variants_side_by_side(rows)
    )
    show_document(document, options, files)


def _good_enough(run: RunInfo) -> float:
    least = evaluation.required_value(evaluation.gate_of_run(run))
    if least is not None:
        return least
    # Without a rubric every assertion has to hold, which is no level of a mean.
    own = 1.0 if run.rubric is None else run.rubric.pass_threshold
    return own if own < 1 else _THRESHOLD
