"""`judgekit compare`: two variants blind in both orders, or two stored runs by their scores."""

from __future__ import annotations

import sys
from contextlib import ExitStack, aclosing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit import calibration, evaluation, exports, records, report, store as stores
from judgekit.cli import console
from judgekit.cli.exit_codes import Exit, failures_code
from judgekit.cli.help import command
from judgekit.cli.judge_options import ContestOptions, resume_command
from judgekit.cli.options import (
    EXISTING_FILE,
    NEW_FILE,
    ReplyOptions,
    flag,
    max_cost_option,
    option,
    refuse_others,
)
from judgekit.cli.outputs import (
    OutputFiles,
    check_replies,
    output_option,
    show_document,
    sort_outputs,
)
from judgekit.cli.progress import attend, run_async, run_until_stopped, show_progress
from judgekit.cli.setup import (
    LIMIT_REACHED,
    cache_place,
    configured_suite,
    existing_store,
    fatal_words,
    note_unused_replies,
    page_replies,
    protect_suite,
)
from judgekit.cli.sides import (
    SideArguments,
    check_panel_keys,
    is_file_argument,
    no_common_case_error,
    note_grading_only,
    pairing_of,
    show_pair_plan,
)
from judgekit.errors import SettingsError, StoreError
from judgekit.records import DEFAULT_PRIOR
from judgekit.report import message, numbers
from judgekit.stats.estimate import LabelsAre

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Sequence

    from judgekit.calibration import LabelledComparison
    from judgekit.cli.options import TalkOptions
    from judgekit.datasets import LocatedLabel
    from judgekit.evaluation import ComparisonSummary, Pairing
    from judgekit.judge import Judge, Panel
    from judgekit.models import Budget
    from judgekit.report import Document
    from judgekit.store import RunStore


class _CompareOptions(ContestOptions, ReplyOptions):
    until_decided: bool = flag(
        "Test after every case, in random order, and stop once significant (always-valid test)."
    )
    max_cases: int | None = option("With --until-decided: maximum number of cases.", ge=1)
    prior: float | None = option(
        "With --until-decided: the test's prior is Beta(N, N); 10 suits small differences, 1 large "
        f"ones (default {DEFAULT_PRIOR:g}).",
        gt=0,
        metavar="N",
    )
    seed: int = option("Random seed of the sample, and of the --until-decided order.", 0)
    scores: bool = flag("Compare the stored scores of two runs; calls no judge.")
    no_store: bool = flag("With --scores: do not store the comparison.")
    anytime: bool = flag(
        "With --scores: decide by a confidence sequence, valid at any number of looks."
    )
    labels: Path | None = option(
        "Human labels of some cases, as for calibrate: they correct the result, and the corrected "
        "figure decides.",
        kind=EXISTING_FILE,
    )
    # Without a default: only whoever chose the cases knows whether a correction is valid.
    labels_are: LabelsAre | None = option(
        "How labelled cases were chosen: at random among the compared ones, or otherwise."
    )
    max_cost: float | None = max_cost_option(
        "Stop at this cost, outputs included; --resume continues. Exit code 5."
    )
    resume: str | None = option(
        "Resume a comparison of these sides: its id, the beginning of it, or the latest.",
        metavar="[ID]",
        flag_value="latest",
    )
    # Opt-in: an analysis unblinds the outputs and costs one more call per decided pair.
    analysis: Path | None = option(
        "Ask the judge afterwards why outputs lost and how to improve them; write the answer to "
        "FILE (analysis.json).",
        kind=NEW_FILE,
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

    Comparisons are stored: judgekit show --comparisons. Those of scores are computed again from
    their runs when shown; --no-store leaves them out. Exit code 0 if one side is better, 4 if
    the result is inconclusive, 3 if a judge failed. With --labels, the figure corrected by human
    labels decides; fewer than 20 labelled cases are inconclusive.

    Examples:
        judgekit compare v1 v2
        judgekit compare old.jsonl new.jsonl --rubric helpfulness --judge local
        judgekit compare v1 v2 --until-decided --max-cases 200
    """
    files = sort_outputs(options.output, what="comparisons", exports=(".jsonl", ".json"))
    check_replies(options, files)
    _check_options(options)
    # Invalid labels are reported before any call.
    labels = None
    if options.labels is not None:
        found = calibration.read_label_files([options.labels], options.store, note=console.note)
        labels = found.labels
    with ExitStack() as stack:
        if options.scores:
            # Two files have no stored scores; that error needs no store.
            uses_store = not (is_file_argument(a) and is_file_argument(b))
            store = existing_store(options.store, stack) if uses_store else None
            sys.exit(_compare_scores((a, b), store, labels, options, files))
        # Outputs are evidence: no option may overwrite a file that is compared.
        for file in (*files.exports, options.analysis):
            report.check_comparison_file(file, (a, b))
        protect_suite(configured_suite(options.config), files.exports)
        sides = SideArguments((a, b), options, stack, store=options.store)
        sys.exit(_compare_blind(sides, labels, options, files))


_OF_SCORES = {
    "scores", "no_store", "anytime", "alpha", "filter_tag", "labels", "labels_are",
    "with_replies", "cache_dir", "no_cache",
}  # fmt: skip


def _check_options(options: _CompareOptions) -> None:
    if options.max_cases is not None and not options.until_decided:
        raise SettingsError("--max-cases goes with --until-decided", hint="-n takes the first N")
    if options.prior is not None and not options.until_decided:
        raise SettingsError(
            "--prior goes with --until-decided", hint="add --until-decided, or omit --prior"
        )
    if (options.anytime or options.no_store) and not options.scores:
        raise SettingsError(
            f"{'--anytime' if options.anytime else '--no-store'} goes with --scores",
            hint="a blind comparison has --until-decided, and is always stored: it was paid for",
        )
    if options.scores:
        why = "does not apply to --scores, which calls no judge"
        refuse_others(_OF_SCORES, why, "omit it, or omit --scores")
    if options.dry_run and options.resume is not None:
        raise SettingsError("--dry-run starts nothing to resume", hint="omit --resume")
    if options.labels_are is not None and options.labels is None:
        raise SettingsError("--labels-are describes --labels", hint="give --labels FILE too")
    if options.labels is not None and (options.until_decided or options.anytime):
        raise SettingsError(
            "--labels corrects a fixed number of cases: its interval does not hold for a "
            "comparison that looks until it is decided",
            hint="omit --labels, or omit --until-decided and --anytime",
        )


def _correction_options(options: _CompareOptions) -> calibration.CalibrationOptions:
    return calibration.CalibrationOptions(level=1 - options.alpha, labels_are=options.labels_are)


@dataclass(frozen=True, slots=True)
class _Job:
    panel: Panel
    pairing: Pairing
    info: records.ComparisonInfo
    store: RunStore
    resumed: bool
    budget: Budget | None
    files: OutputFiles
    labels: Sequence[LocatedLabel] | None
    options: _CompareOptions


def _compare_blind(
    sides: SideArguments,
    labels: Sequence[LocatedLabel] | None,
    options: _CompareOptions,
    files: OutputFiles,
) -> int:
    comparison, run = _resumed(sides, options)
    # Without a choice of its own, a resumed comparison completes what it began.
    if comparison is not None and not (options.filter_tag or options.limit or options.sample):
        names = {"tags": "filter_tag", evaluation.ORDER_SEED_KEY: "seed"}
        stored = {names.get(name, name): value for name, value in comparison.chosen.items()}
        options = _CompareOptions.of(options, **stored)
    is_generated = sides.kind == "generated"
    opened = sides.produce(options, run) if is_generated else sides.open_existing()
    panel, rubric, (a, b) = opened.panel, opened.rubric, opened.sides
    pairing = pairing_of((a, b), options, is_shuffled=options.until_decided)
    if not is_generated:
        sides.check_one_rubric((pair.case for pair in pairing.pairs()), rubric)
    survey = pairing.survey()
    if not survey.n_pairs:
        raise no_common_case_error()
    if labels is not None:
        calibration.check_winner_labels(
            pairing.pairs(), rubric, labels, _correction_options(options)
        )
    if options.dry_run:
        # A comparison that stops early makes fewer calls.
        pairs = islice(pairing.pairs(), options.max_cases)
        return show_pair_plan(panel, pairs, rubric, pairing.names, options, opened.answers)
    suite = None if sides.suite is None else sides.suite.name
    terms = options.fill(
        evaluation.ComparisonTerms, prior=options.prior or DEFAULT_PRIOR, suite=suite
    )
    info = evaluation.new_comparison(
        pairing, survey, panel, rubric, terms=terms, now=datetime.now(UTC)
    )
    info = info if comparison is None else evaluation.require_same_comparison(comparison, info)
    is_resumed, budget = comparison is not None, sides.budget
    job = _Job(panel, pairing, info, sides.store, is_resumed, budget, files, labels, options)
    return _compare_and_show(job)


def _resumed(
    sides: SideArguments, options: _CompareOptions
) -> tuple[records.ComparisonInfo | None, str | None]:
    """The comparison to resume, and the id of the run that has or is to get its outputs."""
    name = options.resume
    if name is None:
        return None, None
    store, is_generated = sides.found_store, sides.kind == "generated"
    if store is None:
        raise SettingsError(f"{options.store} has nothing to resume: there is no store")
    if (
        is_generated
        and name != stores.LATEST_COMPARISON
        and not name.startswith(records.COMPARISON_ID_PREFIX)
    ):
        return None, store.run(name).id  # interrupted while outputs were produced
    comparison = store.comparison(name)
    return comparison, comparison.a.run_id


def _compare_scores(
    names: tuple[str, str],
    store: RunStore | None,
    labels: Sequence[LocatedLabel] | None,
    options: _CompareOptions,
    files: OutputFiles,
) -> int:
    if files.exports:
        raise SettingsError(
            "--scores makes no comparisons to write", hint="use --json, or -o FILE.html"
        )
    if store is None:
        raise SettingsError("--scores compares stored runs, and there is no store", hint="--store")
    first, second = (evaluation.run_and_variant(name, store) for name in names)
    about = {"a": first, "b": second, "tags": options.filter_tag, "now": datetime.now(UTC)}
    info = options.fill(evaluation.new_score_comparison, **about)
    found = evaluation.compare_stored_scores(store, info, names)
    cases = None
    if files.has_page:
        with page_replies(cache_place(options), is_wanted=options.with_replies) as replies:
            variants = first[1], second[1]
            cases = report.score_comparison_cases(store, found, variants, info.tags, replies)
    decision = found.result.decision
    document = report.score_comparison_document(found.result, cases)
    if not options.no_store:
        data = {"id": info.id, **asdict(found.result)}
        document = replace(document, data=lambda: data)
    if labels is not None:
        measure, variants = found.measure, (first[1], second[1])
        judged = (
            calibration.judged_from_run(evaluation.Run(measure.a, store), variants[0]),
            calibration.judged_from_run(evaluation.Run(measure.b, store), variants[1]),
        )
        own = calibration.labels_of_sides(labels, variants, names)
        how = _correction_options(options)
        corrected = calibration.correct_scores(found.result, (found.a, found.b), judged, own, how)
        document = report.with_human_labels(document, corrected, *names)
        decision = corrected.decision
    if not options.no_store:
        _store_scores(store, info)
    show_document(document, options, files)
    if not (options.no_store or options.quiet or options.as_json):
        console.note(f"stored as {info.id}: judgekit show {info.id}")
    return 0 if decision.winner is not None else Exit.INCONCLUSIVE


def _store_scores(store: RunStore, info: records.ScoreComparisonInfo) -> None:
    try:
        store.add_score_comparison(info)
    except StoreError as error:
        # The figures follow from the runs, so that nothing is lost by not storing it.
        raise StoreError(error.message, hint="compare without storing: --no-store") from error


def _compare_and_show(job: _Job) -> int:
    """Compare until everything is done or decided, and print the result; the exit code."""
    info, options = job.info, job.options
    note_grading_only(info.rubric)
    pairing = job.pairing
    check_panel_keys(job.panel, pairing.pairs, info.rubric, pairing.names, options)
    if job.resumed:
        job.store.resume_comparison(info.id)
    else:
        job.store.begin_comparison(info)
    recorder = evaluation.ComparisonRecorder(job.store, info, job.panel)
    if job.resumed:
        # The limit is for the whole comparison, not for each session of it.
        paid = recorder.look_back()
        if job.budget is not None:
            job.budget.spend(paid)
    comparer = evaluation.SideComparer(job.pairing, recorder, n_slots=job.panel.max_concurrency)
    status: records.ComparisonStatus = "interrupted"

    async def compare() -> None:
        try:
            await follow_comparisons(
                comparer.ask(),
                total=comparer.total,
                judges=job.panel.judges,
                outputs=job.files.exports,
                interrupt=comparer.interrupt,
                options=options,
            )
        finally:
            await job.panel.aclose()

    command = resume_command(info.id)
    try:
        run_until_stopped(compare(), f"{_RESUME} {command}")
        summary = comparer.summary()
        status = comparer.status(summary)
    finally:
        # Also after an error: every answer that was paid for must be found by --resume.
        recorder.flush()
        job.store.end_comparison(info.id, status=status)
    summary, labelled = _corrected(summary, job)
    _show(summary, labelled, job)
    code = _code(summary, status, command, comparer.fatal_error)
    if code not in {0, Exit.INCOMPLETE, Exit.INCONCLUSIVE}:
        return code
    if options.analysis is not None:
        code = _analyse(job, options.analysis) or code
        _write_again(summary, labelled, job)
    # Replies that an earlier session used would be reported as unused.
    if not job.resumed and not comparer.is_over:
        note_unused_replies(job.panel.judges)
    return code


_RESUME = "every answer so far is stored. Resume with:"


def _code(
    summary: ComparisonSummary, status: records.ComparisonStatus, command: str, fatal: str | None
) -> int:
    if status in {"interrupted", "stopped"}:
        is_stopped = status == "stopped"
        what = LIMIT_REACHED if is_stopped else status
        console.note(f"{what}; {_RESUME} {command}")
        return Exit.LIMIT if is_stopped else Exit.INTERRUPTED
    code = failures_code(summary.failures)
    if code == Exit.INCOMPLETE and fatal is not None:
        console.note(f"{fatal_words(fatal)}; {_RESUME} {command}")
    elif code == Exit.INCOMPLETE:
        console.note(f"retry what failed: {command}")
    return code or (Exit.INCONCLUSIVE if summary.decision.winner is None else 0)


_VERB = ("comparing", "compared")


async def follow_comparisons(
    comparisons: AsyncGenerator[records.Comparison, None],
    *,
    total: int,
    judges: Iterable[Judge],
    outputs: Iterable[Path] = (),
    interrupt: Callable[[], None],
    options: TalkOptions,
    describe: Callable[[records.Comparison], str] | None = None,
) -> None:
    """Write, print and count comparisons as they arrive; Ctrl-C calls `interrupt`."""
    is_verbose = options.verbose and not options.as_json
    words = describe or report.comparison_lines
    with (
        ExitStack() as stack,
        attend(options, total, interrupt=interrupt, verb=_VERB, judges=judges) as display,
    ):
        # A file in the skill format needs the counted pairs, and is written at the end.
        writers = [
            stack.enter_context(report.comparison_writer(path))
            for path in outputs
            if not exports.is_skill_file(path)
        ]
        async with aclosing(comparisons) as judged:
            async for comparison in judged:
                for write in writers:
                    write(comparison)
                if is_verbose:
                    console.stdout().print(words(comparison), markup=False, soft_wrap=True)
                display.advance([*comparison.preferences, *comparison.failures])


def _corrected(
    summary: ComparisonSummary, job: _Job
) -> tuple[ComparisonSummary, LabelledComparison | None]:
    """The result, and its correction by human labels where there are some, which then decides."""
    if job.labels is None:
        return summary, None
    judged = evaluation.counted_pairs(job.store, job.info)
    how = _correction_options(job.options)
    pairs, rubric = job.pairing.pairs(), job.info.rubric
    labelled = calibration.correct_wins(pairs, judged, rubric, job.labels, summary, how)
    return replace(summary, decision=labelled.decision), labelled


def _show(summary: ComparisonSummary, labelled: LabelledComparison | None, job: _Job) -> None:
    info, options = job.info, job.options
    show_document(_result_document(summary, labelled, job), options, job.files)
    if not options.quiet and not options.as_json:
        console.note(f"stored as {info.id}: judgekit show {info.id}")
    for path in job.files.exports:
        # The others were written as the comparisons arrived.
        if exports.is_skill_file(path):
            exports.write_comparisons(path, info, evaluation.counted_pairs(job.store, info))
        if not options.quiet:
            console.note(f"wrote the comparisons to {path}")


def _write_again(
    summary: ComparisonSummary, labelled: LabelledComparison | None, job: _Job
) -> None:
    """Write the pages with the analyses; without them they were written before the first call."""
    document = _result_document(summary, labelled, job)
    for path in job.files.documents if job.files.has_page else ():
        report.write_document(path, document)


def _result_document(
    summary: ComparisonSummary, labelled: LabelledComparison | None, job: _Job
) -> Document:
    cases, folder = None, cache_place(job.options)
    if job.files.has_page:
        with page_replies(folder, is_wanted=job.options.with_replies) as replies:
            cases = report.comparison_cases(job.store, job.info, replies)
    document = report.comparison_document(summary, cases)
    document = replace(document, data=lambda: {"id": job.info.id, **asdict(summary)})
    if labelled is None:
        return document
    return report.with_human_labels(document, labelled, summary.a, summary.b)


def _analyse(job: _Job, path: Path) -> int:
    """Analyse every pair that has a winner and no analysis yet, and write all analyses."""
    store, info, options = job.store, job.info, job.options
    # One analysis of a pair is enough: it comes from the first judge of a panel.
    judge = job.panel.judges[0]
    pairs = evaluation.unanalysed_pairs(store, info)

    async def analyse() -> list[records.AnalysisFailure]:
        shown, verb = options.shows_progress, ("analysing", "analysed")
        with show_progress(console.stderr(), len(pairs), shown=shown, verb=verb) as bar:

            def advance(result: records.ComparisonAnalysis | records.AnalysisFailure) -> None:
                bar.advance(target_usd=result.cost_usd or 0.0)

            folders = options.judge_settings.template_folders
            try:
                return await evaluation.analyse_pairs(
                    store, info, judge, pairs, template_folders=folders, on_analysis=advance
                )
            finally:
                await judge.aclose()

    # Ctrl-C ends it at once: each analysis is stored as it arrives, and none depends on another.
    try:
        failures = run_async(analyse())
    except KeyboardInterrupt:
        console.note("interrupted; analyses so far are stored")
        return Exit.INTERRUPTED
    n = exports.write_analyses(path, info, store.compared(info.id), store.analyses(info.id))
    if not options.quiet:
        console.note(f"wrote {numbers.format_count(n, 'analysis', 'analyses')} to {path}")
    if not failures:
        return 0
    n_failed = numbers.format_count(len(failures), "analysis", "analyses")
    first = failures[0]
    console.note(f"{n_failed} failed: {message.one_line(first.message, 300)}")
    return failures_code({first.kind})
