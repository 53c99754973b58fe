"""`judgekit run`: evaluates a suite, or each suite of a folder; `grade` runs recorded outputs.

`suite_setup` makes the set-up of both.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
from click.core import ParameterSource

from judgekit import evaluation, records, report, store
from judgekit.cli import console
from judgekit.cli.batch_requests import (
    batches_document,
    send_requests,
    watch_requests,
    without_calls,
)
from judgekit.cli.exit_codes import STOP_CODES, Exit
from judgekit.cli.help import command
from judgekit.cli.judge_options import resume_command
from judgekit.cli.options import EXISTING_PATH, TalkOptions
from judgekit.cli.outputs import OutputFiles, check_replies, export_outputs, show_document
from judgekit.cli.plan import has_panel, show_grade_plan, show_suite_plan
from judgekit.cli.progress import attend, run_async, run_until_stopped
from judgekit.cli.setup import (
    SAME_COMMAND,
    GradeSetup,
    cache_place,
    configured_suite,
    grade_setup,
    page_replies,
    stop_words,
    suite_paths,
)
from judgekit.cli.suite_setup import (
    Arrangement,
    EngineOptions,
    GradeOptions,
    RunOptions,
    RunSetup,
    find_same_run,
    grade_run_setup,
    read_recorded,
    run_setup,
)
from judgekit.errors import InputError, RetiredSuiteError, SettingsError
from judgekit.report import message, numbers

if TYPE_CHECKING:
    from judgekit.evaluation import FindingChanges, GateResult, Outcome, RunSummary
    from judgekit.records import CaseResult, RunInfo, Verdict
    from judgekit.report import Block


@command("run", RunOptions)
@click.argument("suite", required=False, type=EXISTING_PATH)
def run_command(options: RunOptions, *, suite: Path | None) -> None:
    """Run SUITE: every variant answers every case, and each answer is checked, judged and stored.

    SUITE is a suite file (default: judgekit.yaml), the folder or zip file of a skill with
    eval/tests.json, any other file of cases, or a folder; of a folder, every suite and every other
    dataset is run, and --json prints a value for each. A suite without variants needs --outputs or
    one of the --target options. Cases without a rubric are judged by --rubric, else by the rubric
    of their profile, else against their reference.

    Every answer is stored as soon as it arrives, and every reply is cached. If the run is
    interrupted, continue it with --resume.

    Examples:
        judgekit run
        judgekit run suite.yaml --max-cost 2 --fail-under 0.8
        judgekit run --resume --retry-errors
    """
    files = export_outputs(options.output, what="a run")
    check_replies(options, files)
    options = without_calls(options) if options.batch and not options.dry_run else options
    paths = suite_paths(suite, options.config)
    options = options.model_copy(update={"config": None})  # it is among these paths
    if len(paths) == 1:
        sys.exit(_run_one(paths[0], options, files)[0])
    one_each = {
        "--output": options.output, "--resume": options.resume, "--benchmark": options.benchmark
    }  # fmt: skip
    if single := next((name for name, value in one_each.items() if value), None):
        names = ", ".join(path.name for path in paths[:3])
        raise SettingsError(
            f"{single} is for one dataset, and there are {len(paths)}", hint=f"name one: {names}, …"
        )
    sys.exit(_run_datasets(paths, options))


def _run_one(path: Path, options: RunOptions, files: OutputFiles) -> tuple[int, RunSetup]:
    setup = run_setup(path, options)
    # After the setup: a suite that cannot run has no price.
    if options.dry_run:
        return show_suite_plan(setup, options, files), setup
    with setup:
        return carry_out(setup, options, files), setup


_WORST_FIRST = (
    Exit.INTERRUPTED, Exit.INPUT, Exit.LIMIT, Exit.FROZEN, Exit.INCOMPLETE, Exit.QUALITY,
    Exit.INCONCLUSIVE, 0,
)  # fmt: skip
"""Exit codes: those that leave most unknown first, success last."""


def _run_datasets(paths: Sequence[Path], options: RunOptions) -> int:
    """Run several datasets in turn, within one limit of cost and time for all."""
    # An invalid dataset does not keep the others from running; an interrupted one does.
    codes: list[int] = []
    context = click.get_current_context()
    for number, path in enumerate(paths, 1):
        console.note(f"dataset {number} of {len(paths)}: {path}")
        started = time.monotonic()
        # The command that resumes this run names its dataset, not the folder of all of them.
        context.params["suite"] = path
        context.set_parameter_source("suite", ParameterSource.COMMANDLINE)
        context.set_parameter_source("config", ParameterSource.DEFAULT)
        try:
            code, setup = _run_one(path, options, OutputFiles())
        except RetiredSuiteError as error:
            console.note(f"skipped: {error.message}; to run it too: --retired")
            continue
        except InputError as error:
            console.note(f"error: {error}")
            codes.append(Exit.INPUT)
            continue
        codes.append(code)
        budget, reason = setup.opened.budget, setup.session.reason
        left = {
            "max_cost": _rest(options.max_cost, 0.0 if budget is None else budget.spent_usd),
            "max_time": _rest(options.max_time, time.monotonic() - started),
        }
        options = options.model_copy(update=left)
        # `fail_fast` in a suite ends its own run, not those of the other datasets.
        is_own = reason is None or (reason == "fail_fast" and not options.fail_fast)
        if not is_own or code == Exit.INTERRUPTED or 0 in left.values():
            if number < len(paths):
                console.note(f"not started: {', '.join(map(str, paths[number:]))}")
                codes.append(code or Exit.LIMIT)
            break
    # With all of them retired nothing was run, which is no success.
    return min(codes or [Exit.INPUT], key=_WORST_FIRST.index)


def _rest(limit: float | None, used: float) -> float | None:
    return None if limit is None else max(0.0, limit - used)


def carry_out(setup: RunSetup, options: EngineOptions, files: OutputFiles) -> int:
    """Evaluate, print and write the results; the exit code."""
    info = prepared_run(setup, resumes=options.resumes, triggered_by=options.triggered_by)
    if setup.resumed is not None:
        then = evaluation.calibration_of_run(info).words
        now = evaluation.calibration_of_suite(setup.opened).words
        if then != now:
            console.note(
                f"the run keeps the calibration it started with: {message.printable(then)}"
            )
    if code := refuse_uncalibrated(setup, info):
        return code
    missed = watch_requests(setup) if options.batch else {}
    ended = run_until_stopped(run_with_progress(setup, options), _how_to_resume(setup))
    folder = cache_place(options)
    # Nothing is decided before the replies are there, so that nothing is reported or gated.
    if missed and folder is not None and setup.session.reason is None:
        sent = send_requests(missed, setup, folder, options)
        if options.as_json:
            console.print_json(report.document_data(batches_document([*sent.sent, *sent.waiting])))
        console.note(f"once judgekit batch collect has them: {_command(setup)}")
        return Exit.INCONCLUSIVE
    return _report(setup, evaluation.Run(ended, setup.store), options, files)


def refuse_uncalibrated(setup: RunSetup, info: RunInfo) -> int:
    """The exit code where a valid calibration is required and missing, with a report; else 0."""
    # Checked before the first call: a stale calibration makes every verdict unusable.
    if evaluation.meets_calibration_gate(setup.opened.suite.gate, info):
        return 0
    run_async(setup.opened.aclose())
    use = evaluation.calibration_of_run(info)
    console.note(f"no calls made: a valid calibration is required. {message.printable(use.words)}")
    what = "label outputs of this judge again" if use.path else "label some outputs"
    place = use.path or "calibration/maps/…json"
    console.note(
        f"{what}, then write the maps: judgekit calibrate LABELS --run RUN --write-map {place}"
    )
    if not use.path:
        console.note("then name them: --calibration PATH, or `calibration: PATH` in the suite")
    return Exit.INCONCLUSIVE


def _report(
    setup: RunSetup, run: evaluation.Run, options: EngineOptions, files: OutputFiles
) -> int:
    ended = run.info
    # Of this session; None if some of them are only in the store.
    results = None if setup.graded is None else evaluation.ordered_results(setup.graded, ended)

    def verdicts() -> Iterator[Verdict]:
        return stored_verdicts(setup, ended, run.results() if results is None else results)

    # With -v every answer is printed: those that did not pass are not printed twice.
    # A page has all of them in its table.
    lists_all = options.verbose or any(path.suffix.lower() != ".html" for path in files.documents)
    answers = report.RunAnswers(ended, most=0 if options.verbose else 5, lists_all=lists_all)
    # The answers are read once for all of it.
    failures = evaluation.CaseTally(ended)
    with page_replies(cache_place(options), is_wanted=options.with_replies) as replies:
        cases = report.RunCases(ended, replies) if files.has_page else None
        watchers = [answers.take, failures.take, *([] if cases is None else [cases.take])]

        def watch(answer: Outcome) -> None:
            for take in watchers:
                take(answer)

        summary = run.summary(watch=watch, results=results)
        blocks = _answer_blocks(answers, cases, summary, is_quiet=options.quiet)
    gate = run.gate(summary)
    changes = record_run(setup, summary, gate, failures)
    note_reviews(setup, ended)

    def data() -> dict[str, object]:
        unmatched = {name: list(ids) for name, ids in setup.opened.unmatched.items()}
        whole = report.run_json(summary, gate, unmatched=unmatched)
        return (
            {**whole, **report.grading_json(summary, list(verdicts()))}
            if setup.is_grading
            else whole
        )

    document = report.run_document(
        summary, gate, answers=blocks, changes=changes, is_stored=setup.is_stored, data=data
    )
    document = replace(document, blocks=setup.arrange(document.blocks, verdicts))
    show_document(document, options, files)
    for path in files.exports:
        # Without a rubric there are assertions only, which a verdict has no place for.
        if setup.is_grading and ended.rubric is not None:
            n = numbers.format_count(report.write_verdicts(path, verdicts()), "verdict")
        else:
            n = numbers.format_count(report.write_results(path, run.results()), "answer")
        if not options.quiet:
            console.note(f"wrote {n} to {path}")
    return _conclude_run(setup, summary, gate, options)


def _answer_blocks(
    answers: report.RunAnswers,
    cases: report.RunCases | None,
    summary: RunSummary,
    *,
    is_quiet: bool,
) -> tuple[Block, ...]:
    blocks = answers.blocks()
    if is_quiet:  # in a file, not in the terminal
        blocks = report.not_empty([report.Details("Answers", blocks)])
    return blocks if cases is None else (cases.table(blocks, report.judging_and_cost(summary)),)


def record_run(
    setup: RunSetup, summary: RunSummary, gate: GateResult | None, failures: evaluation.CaseTally
) -> FindingChanges | None:
    """Store what the gate decided, and the figures and failures for later trends and findings."""
    if not setup.is_stored:
        return None
    ended = run_async(
        evaluation.complete_run(
            setup.opened.suite,
            setup.store,
            summary,
            gate,
            failures,
            at=setup.session.now(),
            reason="" if gate is None else report.gate_words(gate),
        )
    )
    for problem in ended.problems:
        console.note(problem)
    return ended.changes


def note_reviews(setup: RunSetup, run: RunInfo) -> int:
    """Say how many answers wait for a review; their number."""
    if not setup.opened.execution.review:
        return 0
    n = len({item.key for item in setup.store.queue(run.id) if item.judge == evaluation.REVIEWER})
    if n:
        answers = numbers.format_count(n, "answer waits", "answers wait")
        console.note(f"{answers} for a review: judgekit label {run.id}")
    return n


# Answers of a grading that are held until the report; each is about seven kilobytes.
_MOST_IN_MEMORY = 2000


def prepared_run(setup: RunSetup, *, resumes: bool, triggered_by: str | None = None) -> RunInfo:
    """The run to carry out; `grade --resume` takes the last one of the same outputs."""
    now = setup.session.now()
    info = evaluation.prepare_run(
        setup.opened,
        setup.store,
        setup.resumed,
        now=now,
        notes=setup.notes,
        triggered_by=triggered_by,
    )
    if setup.is_grading and resumes:
        same = find_same_run(setup.store, info)
        setup.resumed = None if same is None or same.status == "complete" else same
        info = setup.resumed or info
    setup.info = info
    # Reading answers back from the store would take as long as grading from the cache; those of a
    # long run would not fit into memory.
    # What variants are compared for is known only after the last answer.
    is_whole = setup.resumed is None and not setup.opened.plans.compares_variants
    if setup.is_grading and is_whole and setup.total() <= _MOST_IN_MEMORY:
        setup.graded = []
    return info


def stored_verdicts(
    setup: RunSetup, run: RunInfo, results: Iterable[CaseResult]
) -> Iterator[Verdict]:
    # Labels and earlier verdicts are joined with these by case and variant: outputs that name no
    # variant keep none here, though a run must call it something.
    unnamed = setup.opened.recorded.unnamed if setup.opened.recorded is not None else frozenset()
    for one in evaluation.run_verdicts(run, results):
        yield one.model_copy(update={"variant": None}) if one.variant in unnamed else one


async def run_with_progress(setup: RunSetup, options: TalkOptions) -> RunInfo:
    """Carry out a run with a progress bar; Ctrl-C ends it, and calls in flight are finished."""
    opened, session, info = setup.opened, setup.session, cast("RunInfo", setup.info)
    try:
        # Workers have keys of their own; what compares variants is asked by this process.
        calls_models = setup.engine is None or opened.plans.compares_variants
        if setup.is_stored and calls_models:
            await evaluation.check_keys(opened, setup.store, setup.resumed)
        with attend(
            options,
            setup.total(),
            interrupt=lambda: session.end("interrupted"),
            verb=setup.verb,
            judges=opened.judges.judges,
        ) as bar:

            def watch(result: CaseResult) -> None:
                if setup.graded is not None:
                    setup.graded.append(result)
                usage = result.output.usage
                # A recorded or cached output was paid for earlier.
                is_paid = usage is not None and not opened.is_free(result.variant, result.output)
                own_usd = (usage.cost_usd or 0.0) if usage is not None and is_paid else 0.0
                bar.advance(
                    [*result.judgments, *result.failures],
                    target_usd=own_usd + fsum(call.cost_usd or 0.0 for call in result.asked),
                    is_error=result.output.error is not None,
                )

            session.watch = watch
            session.note = lambda text: console.note(message.message_lines(text))
            return await evaluation.run_suite(
                opened,
                setup.store,
                info,
                session,
                resumed=setup.resumed is not None,
                engine=setup.engine,
            )
    finally:
        # It refers to the run, which would stay in memory with all its outputs.
        session.watch = lambda _: None
        await opened.aclose()


_NOT_GATED = (
    "nothing was gated, so the exit code is 0 whatever passed; to fail on low quality: "
    "--fail-under RATE, --max-drop POINTS, or `gate:` in the suite"
)


def _conclude_run(
    setup: RunSetup, summary: RunSummary, gate: GateResult | None, options: EngineOptions
) -> int:
    """The exit code of a run, with the note that explains it and names the next command."""
    run, session = summary.run, setup.session
    retry_note = f"retry what failed: {_command(setup, retry=True)}"
    n_errors = sum(variant.n_errors for variant in summary.variants)
    if session.reason is not None:
        what = stop_words(session)
        # The first failure may be in the last answer.
        is_complete = session.reason == "fail_fast" and run.status == "complete"
        retry = session.reason == "model"
        console.note(what if is_complete else f"{what}; {_how_to_resume(setup, retry=retry)}")
        return STOP_CODES[session.reason]
    if session.n_missed:
        console.note("some replies are not in the frozen cache, and no calls were made for them")
        console.note(f"to make these calls: {_command(setup)}")
        return Exit.FROZEN
    if run.status == "incomplete":
        if summary.is_blank:
            console.note(report.undecided_reason(summary))
        # Another try would get the same reply: the judge did answer.
        is_answered = summary.failures.keys() == {"cannot_assess"} and not n_errors
        console.note(message.NOT_ASSESSED if is_answered else retry_note)
        return Exit.INCOMPLETE
    if not summary.is_blank or run.status == "waiting":
        asks = not (setup.is_grading or options.quiet or options.as_json)
        return _quality(summary, gate, options.fail_under, asks_for_gate=asks)
    # No judge failed, but nothing is decided either: exit code 0 would look like a success.
    console.note(report.undecided_reason(summary))
    if not n_errors and not any(variant.assertions for variant in summary.variants):
        return Exit.INCONCLUSIVE
    if not setup.is_grading:  # an error recorded with an output cannot be retried
        console.note(retry_note)
    return Exit.INCOMPLETE


def _quality(
    summary: RunSummary, gate: GateResult | None, fail_under: float | None, *, asks_for_gate: bool
) -> int:
    if gate is None and fail_under is None and asks_for_gate:
        console.note(_NOT_GATED)
    codes = [0 if fail_under is None else _under(summary, fail_under)]
    if gate is not None and gate.held in {"failed", "inconclusive"}:
        is_failed = gate.held == "failed"
        words = f"the gate of the suite {'failed' if is_failed else 'is inconclusive'}"
        console.note(console.coloured(words, "red" if is_failed else "yellow"))
        codes.append(Exit.QUALITY if is_failed else Exit.INCONCLUSIVE)
    if Exit.QUALITY in codes:
        return Exit.QUALITY
    return Exit.INCONCLUSIVE if any(codes) or summary.run.status == "waiting" else 0


def _under(summary: RunSummary, fail_under: float) -> int:
    low = [v for v in summary.variants if v.pass_rate.value < fail_under]
    for variant in low:
        who = message.printable(variant.variant)
        digits = numbers.digits_beside((variant.pass_rate.value,), fail_under, 2)
        rate = numbers.format_rate(variant.pass_rate, digits - 2)
        words = f"{who}: pass rate {rate} is below --fail-under {fail_under:g}"
        console.note(console.coloured(words, "red"))
    for one in summary.variants:
        # Errors are excluded from the rate, which must not hide that they could change the answer.
        if one.n_errors and one.pass_rate.worst < fail_under <= one.pass_rate.value:
            n = numbers.format_count(one.n_errors, "error")
            console.note(
                f"{message.printable(one.variant)}: {n} excluded; counted as failures, the pass "
                f"rate would be {one.pass_rate.worst * 100:.0f} %, below --fail-under "
                f"{fail_under:g}"
            )
    if low:
        return Exit.QUALITY
    # An answer that lost a check is not known to pass.
    open_ones = [
        v for v in summary.variants
        # A share, as 0.55 times 100 is more than 55.
        if v.n_undecided and v.n_passed / (v.n_answers - v.n_errors) < fail_under
    ]  # fmt: skip
    for one in open_ones:
        n = numbers.format_count(one.n_undecided, "answer")
        console.note(
            f"--fail-under is inconclusive: {message.printable(one.variant)} has {n} without a "
            "verdict, which could decide it"
        )
    if open_ones:
        return Exit.INCONCLUSIVE
    if any(v.n_passed + v.n_failed == 0 for v in summary.variants):
        console.note("--fail-under is inconclusive: a variant has no decided answer")
        return Exit.INCONCLUSIVE
    return 0


def _how_to_resume(setup: RunSetup, *, retry: bool = False) -> str:
    if not setup.is_stored and setup.opened.cache is None:
        return "nothing is stored or cached"
    where = "every answer so far is stored" if setup.is_stored else "every reply so far is cached"
    return f"{where}. Resume with: {_command(setup, retry=retry)}"


def _command(setup: RunSetup, *, retry: bool = False) -> str:
    if not setup.is_grading and setup.info is not None:
        return resume_command(setup.info.id, retry=retry)
    # A grading is described by its options alone, so all of them are needed again.
    flags = ["--resume"] if setup.is_stored else []
    flags += ["--retry-errors"] if retry else []
    params = click.get_current_context().params
    against = next((name for name in ("no_cache", "refresh") if params.get(name)), None)
    without = f" without --{against.replace('_', '-')}" if setup.is_stored and against else ""
    return f"the same command {' '.join(['with', *flags]) if flags else 'again'}{without}"


def grade_all(
    setup: GradeSetup, options: TalkOptions, *, verb: tuple[str, str] = ("grading", "graded")
) -> tuple[Collection[evaluation.Graded], evaluation.Session]:
    """Grade the outputs of calibrate and rejudge; the session says whether it ended early."""
    # A store of its own: labels and verdicts are compared with these judgments now, and a run that
    # stayed in the user's store would be the latest there.
    recorded, variants = read_recorded(setup, is_suite=False)
    with store.temporary_store() as own:
        run = RunSetup(
            evaluation.open_recorded(setup.judge, setup.rubric, recorded, variants),
            own,
            evaluation.Session(in_flight=max(4, setup.judge.connection.max_concurrency)),
            is_grading=True,
            verb=verb,
            is_stored=False,
        )
        prepared_run(run, resumes=False)
        ended = run_until_stopped(run_with_progress(run, options), SAME_COMMAND)
        held = run.graded
        arrived = None if held is None else evaluation.ordered_results(held, ended)

        def results() -> Iterable[CaseResult]:
            return run.store.results(ended.id) if arrived is None else arrived

        graded: records.SpooledRecords[int, evaluation.Graded] = records.SpooledRecords(
            evaluation.Graded
        )
        verdicts = stored_verdicts(run, ended, results())
        for n, (one, verdict) in enumerate(zip(results(), verdicts, strict=True)):
            output = one.output.model_copy(update={"variant": verdict.variant})
            # Every part was checked when it was made.
            graded[n] = evaluation.Graded.model_construct(
                case=one.case, output=output, verdict=verdict
            )
    return graded.values(), run.session


@command("grade", GradeOptions)
@click.argument("outputs", nargs=-1, type=EXISTING_PATH)
def grade_command(options: GradeOptions) -> None:
    """Grade OUTPUTS against a rubric: a score, a rationale and evidence for each criterion.

    OUTPUTS are JSONL, JSON, CSV or Parquet files. Without them the recorded variants of the
    suite are graded (judgekit.yaml, if there is one). To have the outputs produced as
    well, by a prompt, a program or an endpoint, use judgekit run.

    Outputs that record an error are listed but excluded from statistics. If every output is an
    error, or if a judge failed, the exit code is 3.

    Examples:
        judgekit grade
        judgekit grade outputs.jsonl --rubric helpfulness --judge openai/gpt-4.1
        judgekit grade outputs.jsonl --cases cases.jsonl -o verdicts.jsonl
    """
    files = export_outputs(options.output, what="a grading")
    check_replies(options, files)
    options = without_calls(options) if options.batch and not options.dry_run else options
    # --resume uses what was answered before; these two would fetch it again.
    against = "no-cache" if options.no_cache else "refresh"
    if options.resume and (options.no_cache or options.judge_settings.refresh):
        raise SettingsError(
            f"--resume and --{against} contradict each other",
            hint="earlier replies are in the cache: omit one of the two",
        )
    sys.exit(grade_files(options, files))


def grade_files(
    options: GradeOptions, files: OutputFiles | None = None, *, arrange: Arrangement | None = None
) -> int:
    """Grade, print and write the results, or estimate the calls and the cost; the exit code."""
    if not options.dry_run:
        with grade_run_setup(options) as setup:
            setup.arrange = arrange or setup.arrange
            return carry_out(setup, options, files or OutputFiles())
    suite = configured_suite(options.config)
    if suite is not None and options.judge_model is None and has_panel(suite):
        unstored = options.model_copy(update={"no_store": True})
        return show_suite_plan(grade_run_setup(unstored), options, files)
    inputs = grade_setup(options, is_lenient=True)
    return show_grade_plan(inputs, options, files, max_cost=options.max_cost)
