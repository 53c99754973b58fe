"""Carries out a blind comparison: asks, stores, analyses and shows it.

`compare` sets it up.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import click

from judgekit.cli import console
from judgekit.cli.exit_codes import (
    EXIT_FROZEN,
    EXIT_INCOMPLETE,
    EXIT_INCONCLUSIVE,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
)
from judgekit.cli.options import resume_command
from judgekit.cli.outputs import show_document
from judgekit.cli.progress import show_progress
from judgekit.cli.setup import note_unused_replies
from judgekit.cli.signals import Interrupts
from judgekit.evaluation import (
    ComparisonRecorder,
    SideComparer,
    analyse_pairs,
    counted_pairs,
    unanalysed_pairs,
)
from judgekit.exports import is_skill_file, write_analyses, write_comparisons
from judgekit.report import (
    comparison_data,
    comparison_document,
    comparison_lines,
    comparison_writer,
    message,
    numbers,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable
    from pathlib import Path

    from judgekit.cli.outputs import OutputFiles
    from judgekit.cli.setup import Options
    from judgekit.evaluation import ComparisonSummary, Pairing
    from judgekit.judge import Judge, Panel
    from judgekit.models import Budget
    from judgekit.records import (
        AnalysisFailure,
        Comparison,
        ComparisonAnalysis,
        ComparisonInfo,
        ComparisonStatus,
    )
    from judgekit.store import RunStore


@dataclass(frozen=True, slots=True)
class ComparisonJob:
    """Everything a comparison needs."""

    panel: Panel
    """Who compares."""

    pairing: Pairing
    """What is compared."""

    info: ComparisonInfo
    """What it sets out to do, as it is kept."""

    store: RunStore
    """Where it is kept."""

    resumed: bool
    """Whether it was begun before."""

    budget: Budget | None
    """What may be spent."""

    files: OutputFiles
    """Where every comparison and the report are written."""

    analysis: Path | None
    """Where analyses are written; None where none are wanted."""


def compare_and_show(job: ComparisonJob, options: Options) -> int:
    """Compare until all is done or decided, and show what came of it."""
    info = job.info
    if job.resumed:
        job.store.resume_comparison(info.id)
    else:
        job.store.begin_comparison(info)
    recorder = ComparisonRecorder(job.store, info, job.panel)
    if job.resumed:
        paid = recorder.look_back()
        if job.budget is not None:
            job.budget.spend(paid)
    comparer = SideComparer(job.pairing, recorder, n_slots=job.panel.max_concurrency)
    status: ComparisonStatus = "interrupted"
    try:
        asyncio.run(_ask(job, comparer, options))
        summary = comparer.summary()
        status = comparer.status(summary)
    except asyncio.CancelledError:  # the second Ctrl-C
        console.note(_go_on("stopped at once", info.id))
        return EXIT_INTERRUPTED
    finally:
        recorder.flush()
        job.store.end_comparison(info.id, status=status)
    _show(summary, job, options)
    _write(job, options)
    code = _code(summary, status, info.id)
    if code not in {0, EXIT_INCOMPLETE, EXIT_INCONCLUSIVE}:
        return code
    if job.analysis is not None:
        # One answer to why is enough: of a panel the first judge is asked.
        first = job.panel.judges[0]
        code = analyse_and_write(job.store, info, first, job.analysis, options) or code
    # What earlier sessions stored was not asked for again, so it would seem unused.
    if not job.resumed and not comparer.is_over:
        note_unused_replies(job.panel.judges)
    return code


async def _ask(job: ComparisonJob, comparer: SideComparer, options: Options) -> None:
    try:
        await follow_comparisons(
            comparer.ask(),
            total=comparer.total,
            outputs=job.files.exports,
            interrupt=comparer.interrupt,
            options=options,
        )
    finally:
        await job.panel.aclose()


async def follow_comparisons(
    comparisons: AsyncGenerator[Comparison, None],
    *,
    total: int,
    outputs: Iterable[Path] = (),
    interrupt: Callable[[], None],
    options: Options,
    describe: Callable[[Comparison], str] = comparison_lines,
) -> None:
    """Write, show and count comparisons as they come; Ctrl-C calls `interrupt`."""
    shown = not (options.get("quiet") or options.get("no_progress") or options.get("as_json"))
    is_verbose = options.get("verbose") and not options.get("as_json")
    with (
        ExitStack() as stack,
        show_progress(
            console.stderr(), total, shown=shown, verb=("comparing", "compared")
        ) as display,
        Interrupts(interrupt),
    ):
        # A file in the skill format is written when all is known.
        writers = [
            stack.enter_context(comparison_writer(path))
            for path in outputs
            if not is_skill_file(path)
        ]
        async with aclosing(comparisons) as judged:
            async for comparison in judged:
                for write in writers:
                    write(comparison)
                if is_verbose:
                    console.stdout().print(describe(comparison), markup=False, soft_wrap=True)
                answers = [*comparison.preferences, *comparison.failures]
                paid = sum(one.cost_usd or 0.0 for one in answers if not one.cached)
                display.advance([], target_usd=paid)


def _write(job: ComparisonJob, options: Options) -> None:
    """What is written when all is known; the rest was written on the way."""
    for path in job.files.exports:
        if is_skill_file(path):
            write_comparisons(path, job.info, counted_pairs(job.store, job.info))
        if not options.get("quiet"):
            console.note(f"wrote the comparisons to {path}")


def _show(summary: ComparisonSummary, job: ComparisonJob, options: Options) -> None:
    info = job.info
    document = comparison_document(summary)
    data = replace(document, data=lambda: {"id": info.id, **comparison_data(summary)})
    show_document(data, options, job.files)
    if not options.get("quiet") and not options.get("as_json"):
        console.note(f"stored as {info.id}: judgekit show {info.id}")


def _code(summary: ComparisonSummary, status: ComparisonStatus, comparison_id: str) -> int:
    if status == "interrupted":
        console.note(_go_on("interrupted", comparison_id))
        return EXIT_INTERRUPTED
    if status == "stopped":
        console.note(_go_on("the money that may be spent is used up", comparison_id))
        return EXIT_LIMIT
    if summary.failures.get("frozen_miss"):
        return EXIT_FROZEN
    if summary.failures:
        console.note(f"ask again what failed: {_command(comparison_id)}")
        return EXIT_INCOMPLETE
    return 0 if summary.decision.winner is not None else EXIT_INCONCLUSIVE


def _go_on(what: str, name: str) -> str:
    return f"{what}; everything is kept. Go on with: {_command(name)}"


def _command(name: str) -> str:
    return resume_command(click.get_current_context(), name, command="compare")


_CODES = {"budget": EXIT_LIMIT, "frozen_miss": EXIT_FROZEN}


def analyse_and_write(
    store: RunStore, info: ComparisonInfo, judge: Judge, path: Path, options: Options
) -> int:
    """Ask about every pair that has a winner and was not asked about yet, and write all answers."""
    try:
        failures = asyncio.run(_ask_why(store, info, judge, options))
    except KeyboardInterrupt:
        console.note("interrupted; analyses so far are kept")
        return EXIT_INTERRUPTED
    n = write_analyses(path, info, store.compared(info.id), store.analyses(info.id))
    if not options.get("quiet"):
        console.note(f"wrote {numbers.format_count(n, 'analysis', 'analyses')} to {path}")
    if not failures:
        return 0
    n_failed = numbers.format_count(len(failures), "analysis", "analyses")
    first = failures[0]
    console.note(f"{n_failed} failed: {message.one_line(first.message, 300)}")
    return _CODES.get(first.kind, EXIT_INCOMPLETE)


async def _ask_why(
    store: RunStore, info: ComparisonInfo, judge: Judge, options: Options
) -> list[AnalysisFailure]:
    pairs = unanalysed_pairs(store, info)
    shown = not (options.get("quiet") or options.get("no_progress") or options.get("as_json"))
    folders = cast("Iterable[Path]", options.get("template_folders") or ())
    with show_progress(
        console.stderr(), len(pairs), shown=shown, verb=("analysing", "analysed")
    ) as bar:

        def told(said: ComparisonAnalysis | AnalysisFailure) -> None:
            bar.advance([], target_usd=said.cost_usd or 0.0)

        try:
            return await analyse_pairs(
                store, info, judge, pairs, template_folders=tuple(folders), on_analysis=told
            )
        finally:
            await judge.aclose()
