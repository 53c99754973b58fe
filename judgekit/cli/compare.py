"""`judgekit compare`: two variants blind in both orders, or two stored runs by their scores."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack, aclosing, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit.cli import console
from judgekit.cli.exit_codes import Exit, failures_code
from judgekit.cli.help import command
from judgekit.cli.options import (
    NEW_FILE,
    ContestOptions,
    max_cost_option,
    option,
    resume_command,
)
from judgekit.cli.outputs import OutputFiles, output_option, show_document, sort_outputs
from judgekit.cli.progress import attend, run_until_stopped, show_progress
from judgekit.cli.setup import existing_store, fatal_words, note_unused_replies
from judgekit.cli.sides import (
    SideArguments,
    check_one_rubric,
    check_pair_judge,
    existing_sides,
    is_file_argument,
    no_common_case_error,
    pairing_of,
    parse_sides,
    produced_sides,
    run_and_variant,
    show_pair_plan,
    side_budget,
)
from judgekit.errors import SettingsError
from judgekit.evaluation import (
    COMPARISON_ID_PREFIX,
    ComparisonRecorder,
    ComparisonTerms,
    SideComparer,
    SideScores,
    analyse_pairs,
    compare_side_scores,
    counted_pairs,
    new_comparison,
    on_common_scale,
    require_same_comparison,
    unanalysed_pairs,
)
from judgekit.exports import is_skill_file, write_analyses, write_comparisons
from judgekit.report import (
    check_comparison_file,
    comparison_data,
    comparison_document,
    comparison_lines,
    comparison_writer,
    message,
    numbers,
    score_comparison_document,
)
from judgekit.store import LATEST_COMPARISON, RunStore

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable

    from judgekit.cli.options import TalkOptions
    from judgekit.evaluation import ComparisonSummary, Pairing
    from judgekit.judge import Panel
    from judgekit.models import Budget
    from judgekit.records import (
        AnalysisFailure,
        Comparison,
        ComparisonAnalysis,
        ComparisonInfo,
        ComparisonStatus,
    )


class _CompareOptions(ContestOptions):
    until_decided: bool = option(
        "--until-decided",
        "Test after every case and stop once significant (always-valid test).",
        default=False,
    )
    max_cases: int | None = option(
        "--max-cases", "With --until-decided: maximum number of cases.", ge=1
    )
    scores: bool = option(
        "--scores", "Compare the stored scores of two runs; calls no judge.", default=False
    )
    max_cost: float | None = max_cost_option(
        "Stop at this cost, outputs included; --resume continues. Exit code 5."
    )
    resume: str | None = option(
        "--resume",
        "Resume a comparison of these sides: its id, the beginning of it, or the latest.",
        metavar="[ID]",
        flag_value="latest",
    )
    # Opt-in: an analysis unblinds the outputs and costs one more call per decided pair.
    analysis: Path | None = option(
        "--analysis",
        "Ask the judge afterwards why outputs lost and how to improve them; write the answer to "
        "FILE (analysis.json).",
        kind=NEW_FILE,
        metavar="FILE",
    )
    output: tuple[Path, ...] = output_option(
        "Write every comparison to FILE (.jsonl, .json; comparison.json gets the blind skill "
        "format), or the report (.md, .html)."
    )


@command("compare", _CompareOptions)
@click.argument("a")
@click.argument("b")
def compare_command(options: _CompareOptions, *, a: str, b: str) -> None:
    """Compare A and B blind: the judge sees both orders and no names, so position cannot decide.

    A and B are output files, variants of a suite, prompt templates (.j2, with --cases and -m) or
    stored runs (an id, the beginning of an id, or latest). FILE::VARIANT and RUN::VARIANT select
    one of several variants. Missing outputs are produced first and stored. Cases that only one
    side answers are skipped and reported. With several judges, each has one vote.

    Every comparison is stored: judgekit show --comparisons. Exit code 0 if one side is better, 4 if
    the result is inconclusive, 3 if a judge failed.

    Examples:
        judgekit compare v1 v2
        judgekit compare old.jsonl new.jsonl --rubric helpfulness --judge local
        judgekit compare v1 v2 --until-decided --max-cases 200
    """
    files = sort_outputs(options.output, what="comparisons", exports=(".jsonl", ".json"))
    if options.max_cases is not None and not options.until_decided:
        raise SettingsError("--max-cases goes with --until-decided", hint="-n takes the first N")
    if options.scores and (options.until_decided or options.dry_run):
        raise SettingsError(
            "--scores calls no judge: --until-decided and --dry-run do not apply",
            hint="omit them, or omit --scores",
        )
    if options.dry_run and options.resume is not None:
        raise SettingsError("--dry-run starts nothing to resume", hint="omit --resume")
    with ExitStack() as stack:
        if options.scores:
            # Two files have no stored scores; that error needs no store.
            uses_store = not (is_file_argument(a) and is_file_argument(b))
            store = existing_store(options.store, stack) if uses_store else None
            sys.exit(_compare_scores((a, b), store, options, files))
        # Outputs are evidence: no option may overwrite a file that is compared.
        for file in (*files.exports, options.analysis):
            check_comparison_file(file, (a, b))
        sys.exit(_compare_blind(parse_sides((a, b), options.config), options, files, stack))


@dataclass(frozen=True, slots=True)
class _Job:
    panel: Panel
    pairing: Pairing
    info: ComparisonInfo
    store: RunStore
    resumed: bool
    budget: Budget | None
    files: OutputFiles


def _compare_blind(
    sides: SideArguments, options: _CompareOptions, files: OutputFiles, stack: ExitStack
) -> int:
    check_pair_judge(sides.suite, options, options.judge_model)
    is_generated = sides.kind == "generated"
    found = existing_store(options.store, stack)

    @cache
    def open_store() -> RunStore:
        # Created only when there is something to store.
        return found or stack.enter_context(closing(RunStore(options.store)))

    comparison, run = _resumed(found, options, is_generated=is_generated)
    # Without a choice of its own, a resumed comparison completes what it began.
    if comparison is not None and not (options.filter_tag or options.limit or options.sample):
        names = {"tags": "filter_tag"}
        stored = {names.get(name, name): value for name, value in comparison.chosen.items()}
        options = _CompareOptions.of(options, **stored)
    budget = side_budget(sides, options)
    if is_generated:
        produced = produced_sides(sides, options, budget, stack, open_store, run)
        panel, rubric, (a, b) = produced.panel, produced.rubric, produced.sides
        pairing = pairing_of((a, b), options)
    else:
        panel, rubric, (a, b) = existing_sides(
            sides, options, options.judge_model, found, budget, stack
        )
        pairing = pairing_of((a, b), options)
        cases = (pair.case for pair in pairing.pairs())
        check_one_rubric(cases, rubric, sides.suite, options.rubric)
    survey = pairing.survey()
    if not survey.n_pairs:
        raise no_common_case_error()
    if options.dry_run:
        # A comparison that stops early makes fewer calls.
        pairs = islice(pairing.pairs(), options.max_cases)
        return show_pair_plan(panel, pairs, rubric, pairing.names, options)
    terms = ComparisonTerms(
        alpha=options.alpha,
        until_decided=options.until_decided,
        max_cases=options.max_cases,
        suite=None if sides.suite is None else sides.suite.name,
    )
    info = new_comparison(pairing, survey, panel, rubric, terms=terms, now=datetime.now(UTC))
    info = info if comparison is None else require_same_comparison(comparison, info)
    job = _Job(panel, pairing, info, open_store(), comparison is not None, budget, files)
    return _compare_and_show(job, options)


def _resumed(
    store: RunStore | None, options: _CompareOptions, *, is_generated: bool
) -> tuple[ComparisonInfo | None, str | None]:
    """The comparison to resume, and the id of the run that has or is to get its outputs."""
    name = options.resume
    if name is None:
        return None, None
    if store is None:
        raise SettingsError(f"{options.store} has nothing to resume: there is no store")
    if is_generated and name != LATEST_COMPARISON and not name.startswith(COMPARISON_ID_PREFIX):
        return None, store.run(name).id  # interrupted while outputs were produced
    comparison = store.comparison(name)
    return comparison, comparison.a.run_id


def _compare_scores(
    names: tuple[str, str], store: RunStore | None, options: _CompareOptions, files: OutputFiles
) -> int:
    if files.exports:
        raise SettingsError(
            "--scores makes no comparisons to write", hint="use --json, or -o FILE.html"
        )
    if store is None:
        raise SettingsError("--scores compares stored runs, and there is no store", hint="--store")
    (first, one), (second, other) = (run_and_variant(name, store) for name in names)
    # Values calibrated by different maps are not on one scale.
    runs = on_common_scale(first, second)
    if runs != (first, second):
        console.note("the runs have different calibrations: uncalibrated values are compared")
    sides = [
        SideScores(store.results(run.id, variant=variant), run, options.filter_tag)
        for run, variant in zip(runs, (one, other), strict=True)
    ]
    compared = compare_side_scores(sides[0], sides[1], names, alpha=options.alpha)
    show_document(score_comparison_document(compared), options, files)
    return 0 if compared.decision.winner is not None else Exit.INCONCLUSIVE


def _compare_and_show(job: _Job, options: _CompareOptions) -> int:
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

    async def compare() -> None:
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

    command = resume_command(click.get_current_context(), info.id, command="compare")
    try:
        run_until_stopped(compare(), f"{_RESUME} {command}")
        summary = comparer.summary()
        status = comparer.status(summary)
    finally:
        # Also after an error: every answer that was paid for must be found by --resume.
        recorder.flush()
        job.store.end_comparison(info.id, status=status)
    _show(summary, job, options)
    code = _code(summary, status, command, comparer.fatal_error)
    if code not in {0, Exit.INCOMPLETE, Exit.INCONCLUSIVE}:
        return code
    if options.analysis is not None:
        code = _analyse(job, options.analysis, options) or code
    # Replies that an earlier session used would be reported as unused.
    if not job.resumed and not comparer.is_over:
        note_unused_replies(job.panel.judges)
    return code


_RESUME = "every answer so far is stored. Resume with:"


def _code(
    summary: ComparisonSummary, status: ComparisonStatus, command: str, fatal: str | None
) -> int:
    if status in {"interrupted", "stopped"}:
        is_stopped = status == "stopped"
        what = "the budget is spent" if is_stopped else status
        console.note(f"{what}; {_RESUME} {command}")
        return Exit.LIMIT if is_stopped else Exit.INTERRUPTED
    code = failures_code(summary.failures)
    if code == Exit.INCOMPLETE and fatal is not None:
        console.note(f"{fatal_words(fatal)}; {_RESUME} {command}")
    elif code == Exit.INCOMPLETE:
        console.note(f"retry what failed: {command}")
    return code or (Exit.INCONCLUSIVE if summary.decision.winner is None else 0)


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


def _show(summary: ComparisonSummary, job: _Job, options: ContestOptions) -> None:
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


def _analyse(job: _Job, path: Path, options: ContestOptions) -> int:
    """Analyse every pair that has a winner and no analysis yet, and write all analyses."""
    store, info = job.store, job.info
    # One analysis of a pair is enough: it comes from the first judge of a panel.
    judge = job.panel.judges[0]
    pairs = unanalysed_pairs(store, info)

    async def analyse() -> list[AnalysisFailure]:
        shown, verb = options.shows_progress, ("analysing", "analysed")
        with show_progress(console.stderr(), len(pairs), shown=shown, verb=verb) as bar:

            def advance(result: ComparisonAnalysis | AnalysisFailure) -> None:
                bar.advance([], target_usd=result.cost_usd or 0.0)

            folders = options.judge_settings.template_folders
            try:
                return await analyse_pairs(
                    store, info, judge, pairs, template_folders=folders, on_analysis=advance
                )
            finally:
                await judge.aclose()

    # Ctrl-C ends it at once: each analysis is stored as it arrives, and none depends on another.
    try:
        failures = asyncio.run(analyse())
    except KeyboardInterrupt:
        console.note("interrupted; analyses so far are stored")
        return Exit.INTERRUPTED
    n = write_analyses(path, info, store.compared(info.id), store.analyses(info.id))
    if not options.quiet:
        console.note(f"wrote {numbers.format_count(n, 'analysis', 'analyses')} to {path}")
    if not failures:
        return 0
    n_failed = numbers.format_count(len(failures), "analysis", "analyses")
    first = failures[0]
    console.note(f"{n_failed} failed: {message.one_line(first.message, 300)}")
    return failures_code({first.kind})
