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
    ComparisonTally,
    LeftOut,
    analyse_pairs,
    compare_in_order,
    counted_pairs,
    stopping_rule_of,
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
    from collections.abc import Iterable
    from pathlib import Path

    from judgekit.cli.outputs import OutputFiles
    from judgekit.cli.setup import Options
    from judgekit.evaluation import ComparisonSummary, JudgedPair, Pairing, StoppingRule
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
    kept = ComparisonRecorder(job.store, info, job.panel)
    if job.resumed:
        paid = kept.look_back()
        if job.budget is not None:
            job.budget.spend(paid)
    tally = ComparisonTally(info.rubric, (info.a.label, info.b.label), alpha=info.alpha)
    looking = stopping_rule_of(info)
    told = _ComparisonProgress(job, kept, tally, looking)
    status: ComparisonStatus = "interrupted"
    try:
        interrupted = asyncio.run(told.all(options))
        summary = told.summary()
        status = _status(summary, looking, interrupted=interrupted)
    except asyncio.CancelledError:  # the second Ctrl-C
        console.note(_go_on("stopped at once", info.id))
        return EXIT_INTERRUPTED
    finally:
        kept.flush()
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
    # Of a comparison that goes on, what is kept was not asked for again.
    if not job.resumed and (looking is None or not looking.is_over):
        note_unused_replies(job.panel.judges)
    return code


class _ComparisonProgress:
    """What is told on the way, and what it comes to."""

    def __init__(
        self,
        job: ComparisonJob,
        kept: ComparisonRecorder,
        tally: ComparisonTally,
        looking: StoppingRule | None,
    ) -> None:
        self._job, self._kept, self._tally, self._looking = job, kept, tally, looking
        self._stop = asyncio.Event()

    def summary(self) -> ComparisonSummary:
        """The figures so far."""
        evidence = None if self._looking is None else self._looking.evidence()
        left_out = LeftOut(**self._job.info.left_out)  # type: ignore[arg-type]  # its own fields
        return self._tally.summary(left_out=left_out, evidence=evidence)

    async def all(self, options: Options) -> bool:
        """Compare until all is done or decided; whether the user broke it off."""
        interrupted = asyncio.Event()

        def interrupt() -> None:
            interrupted.set()
            self._stop.set()

        shown = not (options.get("quiet") or options.get("no_progress") or options.get("as_json"))
        verb, job = ("comparing", "compared"), self._job
        with (
            ExitStack() as stack,
            show_progress(console.stderr(), self._total(), shown=shown, verb=verb) as display,
            Interrupts(interrupt),
        ):
            writers = [
                stack.enter_context(comparison_writer(path))
                for path in job.files.exports
                if not is_skill_file(path)
            ]
            try:
                pairs = compare_in_order(
                    job.pairing.pairs(),
                    self._kept.compare,
                    in_flight=self._in_flight(),
                    stop=self._stop,
                )
                async with aclosing(pairs) as told:
                    async for one in told:
                        # What was in flight when all was decided is kept and not counted.
                        if self._looking is not None and self._looking.is_over:
                            continue
                        self._take(one)
                        for write in writers:
                            write(one.comparison)
                        _tell(one.comparison, options)
                        display.advance([], target_usd=_paid(one.comparison))
            finally:
                await job.panel.aclose()
        return interrupted.is_set()

    def _take(self, one: JudgedPair) -> None:
        self._tally.take(one)
        if self._looking is not None:
            self._looking.look(one.comparison)
            if self._looking.is_over:
                self._stop.set()
        if any(failure.kind == "budget" for failure in one.comparison.failures):
            self._stop.set()

    def _total(self) -> int:
        info = self._job.info
        return info.n_pairs if info.max_cases is None else min(info.n_pairs, info.max_cases)

    def _in_flight(self) -> int:
        """Enough pairs to keep every slot busy; few where one may stop at any of them."""
        slots = self._job.panel.max_concurrency
        return max(1, slots // 4) if self._looking is not None else max(4, slots)


def _write(job: ComparisonJob, options: Options) -> None:
    """What is written when all is known; the rest was written on the way."""
    for path in job.files.exports:
        if is_skill_file(path):
            write_comparisons(path, job.info, counted_pairs(job.store, job.info))
        if not options.get("quiet"):
            console.note(f"wrote the comparisons to {path}")


def _tell(found: Comparison, options: Options) -> None:
    if options.get("verbose") and not options.get("as_json"):
        console.stdout().print(comparison_lines(found), markup=False, soft_wrap=True)


def _paid(found: Comparison) -> float:
    said = [*found.preferences, *found.failures]
    return sum(one.cost_usd or 0.0 for one in said if not one.cached)


def _show(summary: ComparisonSummary, job: ComparisonJob, options: Options) -> None:
    info = job.info
    document = comparison_document(summary)
    data = replace(document, data=lambda: {"id": info.id, **comparison_data(summary)})
    show_document(data, options, job.files)
    if not options.get("quiet") and not options.get("as_json"):
        console.note(f"stored as {info.id}: judgekit show {info.id}")


def _status(
    summary: ComparisonSummary, looking: StoppingRule | None, *, interrupted: bool
) -> ComparisonStatus:
    if summary.failures.get("budget"):
        return "stopped"
    if interrupted:
        return "interrupted"
    if summary.failures:
        return "incomplete"
    return "decided" if looking is not None and looking.is_decided else "complete"


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
                store, info, judge, pairs, template_folders=tuple(folders), told=told
            )
        finally:
            await judge.aclose()
