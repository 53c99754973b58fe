"""Carries out a blind comparison: calls the judges, stores, analyses and prints the result.

`compare` sets it up.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

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
from judgekit.cli.progress import attend, show_progress
from judgekit.cli.setup import note_unused_replies
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

    from judgekit.cli.options import ContestOptions, TalkOptions
    from judgekit.cli.outputs import OutputFiles
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
    pairing: Pairing
    info: ComparisonInfo
    store: RunStore
    resumed: bool
    budget: Budget | None
    files: OutputFiles

    analysis: Path | None
    """Where analyses are written; None for no analysis."""


def compare_and_show(job: ComparisonJob, options: ContestOptions) -> int:
    """Compare until everything is done or decided, and print the result; the exit code."""
    info = job.info
    if job.resumed:
        job.store.resume_comparison(info.id)
    else:
        job.store.begin_comparison(info)
    recorder = ComparisonRecorder(job.store, info, job.panel)
    if job.resumed:
        # The limit is for the whole comparison, not for each session of it.
        paid = recorder.look_back()
        if job.budget is not None:
            job.budget.spend(paid)
    comparer = SideComparer(job.pairing, recorder, n_slots=job.panel.max_concurrency)
    status: ComparisonStatus = "interrupted"
    try:
        asyncio.run(_compare(job, comparer, options))
        summary = comparer.summary()
        status = comparer.status(summary)
    except asyncio.CancelledError:  # the second Ctrl-C
        console.note(_resume_note("stopped at once", info.id))
        return EXIT_INTERRUPTED
    finally:
        # Also after an error: every answer that was paid for must be found by --resume.
        recorder.flush()
        job.store.end_comparison(info.id, status=status)
    _show(summary, job, options)
    code = _code(summary, status, info.id)
    if code not in {0, EXIT_INCOMPLETE, EXIT_INCONCLUSIVE}:
        return code
    if job.analysis is not None:
        # One analysis of a pair is enough: it comes from the first judge of a panel.
        first = job.panel.judges[0]
        code = analyse_and_write(job.store, info, first, job.analysis, options) or code
    # Replies that an earlier session used would be reported as unused.
    if not job.resumed and not comparer.is_over:
        note_unused_replies(job.panel.judges)
    return code


async def _compare(job: ComparisonJob, comparer: SideComparer, options: ContestOptions) -> None:
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
    options: TalkOptions,
    describe: Callable[[Comparison], str] = comparison_lines,
) -> None:
    """Write, print and count comparisons as they arrive; Ctrl-C calls `interrupt`."""
    is_verbose = options.verbose and not options.as_json
    with (
        ExitStack() as stack,
        attend(options, total, interrupt=interrupt, verb=("comparing", "compared")) as display,
    ):
        # A file in the skill format needs the counted pairs, and is written at the end.
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


def _show(summary: ComparisonSummary, job: ComparisonJob, options: ContestOptions) -> None:
    info = job.info
    document = comparison_document(summary)
    data = replace(document, data=lambda: {"id": info.id, **comparison_data(summary)})
    show_document(data, options, job.files)
    if not options.quiet and not options.as_json:
        console.note(f"stored as {info.id}: judgekit show {info.id}")
    for path in job.files.exports:
        # The others were written as the comparisons arrived.
        if is_skill_file(path):
            write_comparisons(path, info, counted_pairs(job.store, info))
        if not options.quiet:
            console.note(f"wrote the comparisons to {path}")


def _code(summary: ComparisonSummary, status: ComparisonStatus, comparison_id: str) -> int:
    if status == "interrupted":
        console.note(_resume_note("interrupted", comparison_id))
        return EXIT_INTERRUPTED
    if status == "stopped":
        console.note(_resume_note("the budget is spent", comparison_id))
        return EXIT_LIMIT
    # A frozen miss is also a failure, but retrying it with the same flags fails again.
    if summary.failures.get("frozen_miss"):
        return EXIT_FROZEN
    if summary.failures:
        console.note(f"retry what failed: {_command(comparison_id)}")
        return EXIT_INCOMPLETE
    return 0 if summary.decision.winner is not None else EXIT_INCONCLUSIVE


def _resume_note(what: str, name: str) -> str:
    return f"{what}; every answer so far is stored. Resume with: {_command(name)}"


def _command(name: str) -> str:
    return resume_command(click.get_current_context(), name, command="compare")


_CODES = {"budget": EXIT_LIMIT, "frozen_miss": EXIT_FROZEN}


def analyse_and_write(
    store: RunStore, info: ComparisonInfo, judge: Judge, path: Path, options: ContestOptions
) -> int:
    """Analyse every pair that has a winner and no analysis yet, and write all analyses."""
    try:
        failures = asyncio.run(_analyse(store, info, judge, options))
    except KeyboardInterrupt:
        console.note("interrupted; analyses so far are stored")
        return EXIT_INTERRUPTED
    n = write_analyses(path, info, store.compared(info.id), store.analyses(info.id))
    if not options.quiet:
        console.note(f"wrote {numbers.format_count(n, 'analysis', 'analyses')} to {path}")
    if not failures:
        return 0
    n_failed = numbers.format_count(len(failures), "analysis", "analyses")
    first = failures[0]
    console.note(f"{n_failed} failed: {message.one_line(first.message, 300)}")
    return _CODES.get(first.kind, EXIT_INCOMPLETE)


async def _analyse(
    store: RunStore, info: ComparisonInfo, judge: Judge, options: ContestOptions
) -> list[AnalysisFailure]:
    pairs = unanalysed_pairs(store, info)
    # Ctrl-C ends it at once: each analysis is stored as it arrives, and none depends on another.
    with show_progress(
        console.stderr(),
        len(pairs),
        shown=options.shows_progress,
        verb=("analysing", "analysed"),
    ) as bar:

        def advance(result: ComparisonAnalysis | AnalysisFailure) -> None:
            bar.advance([], target_usd=result.cost_usd or 0.0)

        folders = options.judge_settings.template_folders
        try:
            return await analyse_pairs(
                store, info, judge, pairs, template_folders=folders, on_analysis=advance
            )
        finally:
            await judge.aclose()
