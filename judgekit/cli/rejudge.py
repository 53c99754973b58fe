"""`judgekit rejudge`: grades stored outputs with another judge, and shows what changes."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit import (
    calibration as calibrations,
    datasets,
    evaluation,
    rejudgment,
    report,
    store as stores,
)
from judgekit.cli import console
from judgekit.cli.exit_codes import STOP_CODES, Exit, failures_code
from judgekit.cli.help import command
from judgekit.cli.judge_options import GradingOptions, JudgeOptions
from judgekit.cli.options import EXISTING_PATH, StoreOptions, TalkOptions, dry_run_option, option
from judgekit.cli.outputs import output_option, show_document, show_plan, sort_outputs
from judgekit.cli.progress import attend, run_until_stopped
from judgekit.cli.run import grade_all
from judgekit.cli.setup import (
    LIMIT_REACHED,
    SAME_COMMAND,
    cost_budget,
    grade_setup,
    make_judge,
    stop_words,
)
from judgekit.errors import NotEnoughDataError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judgekit.cli.outputs import OutputFiles
    from judgekit.cli.setup import GradeSetup
    from judgekit.records import Case, Output, RunInfo, Verdict
    from judgekit.rejudgment import Rejudged
    from judgekit.report import KnownAnswers

    _Verdicts = Mapping[tuple[str | None, str | None, int], Verdict]

# Not "grading": the outputs have verdicts, which stay as they are.
_VERB = ("judging again", "judged again")
_MOST_NAMED = 3


class _RejudgeOptions(JudgeOptions, StoreOptions, TalkOptions):
    outputs: tuple[Path, ...] = ()
    rubric: str | None = option(
        "The same criteria with other weights or thresholds; required for VERDICTS.",
        metavar="FILE|NAME",
    )
    cases: Path | None = option("Cases of OUTPUTS (inputs, references).", kind=EXISTING_PATH)
    calibration: Path | None = option(
        "Check whether these calibration maps (file or folder) fit the new judge.",
        kind=EXISTING_PATH,
        metavar="MAPS",
    )
    output: tuple[Path, ...] = output_option("Write the findings to FILE: .json, .md or .html.")
    dry_run: bool = dry_run_option()


@command("rejudge", _RejudgeOptions)
@click.argument("source", metavar="RUN | VERDICTS")
@click.argument("outputs", nargs=-1, type=EXISTING_PATH)
def rejudge_command(options: _RejudgeOptions, *, source: str) -> None:
    """Judge stored outputs again with --judge NEW and show what changes.

    RUN is a stored run: its id, the beginning of its id, or latest (the last run that produced its
    own outputs). Its outputs are judged again as they are, no system under test is called, and the
    result is stored as a new run that refers to the old one. VERDICTS is a file written by judgekit
    grade -o; it needs the OUTPUTS it is about and the --rubric. Outputs without a verdict in it are
    not judged.

    The rubric must ask the same as before: otherwise the differences would not be those of the
    judge, and nothing is judged (exit code 4). Exit code 0 whatever changes, 3 if the new judge
    failed, 5 if the cost limit was reached.

    Examples:
        judgekit rejudge latest --judge anthropic/claude-sonnet-4-5
        judgekit rejudge verdicts.jsonl outputs.jsonl --rubric r.yaml --judge local
        judgekit rejudge latest --judge openai/gpt-4.1 --dry-run
    """
    if options.judge_model is None:
        # A suite's judge is the old one, and would show no change at all.
        raise SettingsError(
            "no judge is named", hint="name the new one: --judge openai/gpt-4.1-mini"
        )
    files = sort_outputs(options.output, what="a rejudgment")
    if Path(source).is_file():
        rejudged, code, answers = _of_file(Path(source), options)
        _show(rejudged, answers, options, files)
    elif options.outputs or options.cases is not None:
        what = "OUTPUTS go" if options.outputs else "--cases goes"
        raise SettingsError(f"{what} with a file of verdicts, and {source} is not one")
    else:
        with options.open_store() as store:
            rejudged, code = _of_run(source, store, options)
            run_id = None if rejudged is None else rejudged.old_run_id
            _show(rejudged, report.stored_answers(store, run_id or ""), options, files)
    sys.exit(code)


def _show(
    rejudged: Rejudged | None, answers: KnownAnswers, options: _RejudgeOptions, files: OutputFiles
) -> None:
    if rejudged is not None:
        document = report.rejudgment_document(rejudged, answers if files.has_page else None)
        show_document(document, options, files)


def _of_run(
    name: str, store: stores.RunStore, options: _RejudgeOptions
) -> tuple[Rejudged | None, int]:
    old = store.run(name)
    if name == stores.LATEST_RUN:
        # The latest run may itself be a rejudgment, whose outputs are those of another run.
        old = rejudgment.original_run(old, store)
    rejudgment.check_judged(old, store)
    maps, rubric = options.calibration, options.rubric
    prices, budget = evaluation.price_table(old), cost_budget(options)
    with make_judge(options, None, options.judge_model, prices=prices, budget=budget) as judge:
        new = rejudgment.new_rejudgment(
            old,
            judge,
            rubric=None if rubric is None else datasets.load_rubric(rubric),
            cases=store.cases_of_run(old.id),
            now=datetime.now(UTC),
        )
        if options.dry_run:
            refresh = bool(options.judge_settings.refresh)
            plan = rejudgment.plan_rejudgment(old, new, judge, store, refresh=refresh)
            sys.exit(show_plan(plan, options, [judge.connection], max_cost=options.max_cost))
        session = evaluation.Session(in_flight=max(4, judge.connection.max_concurrency))
        total = sum(1 for _ in evaluation.last_tries(store.progress(old.id), old))
        stop = partial(session.end, "interrupted")

        async def judge_again() -> RunInfo:
            with attend(options, total, interrupt=stop, verb=_VERB, judges=[judge]) as display:
                session.watch = lambda one: display.advance([*one.judgments, *one.failures])
                async with judge:
                    return await rejudgment.rejudge_run(old, new, judge, store, session)

        ended = run_until_stopped(judge_again(), SAME_COMMAND)
        by_rubric = ended.rubric
        if maps is None or by_rubric is None:
            calibration = rejudgment.describe_calibration(old.calibration, new.calibration)
        else:
            calibration = rejudgment.describe_run_calibration(maps, old, by_rubric, judge)
    rejudged = None
    try:
        rejudged = rejudgment.compare_runs(old, ended, store, calibration=calibration)
    except NotEnoughDataError:
        # Nothing to compare is a result of a complete session, and only unfinished work of another.
        if session.reason is None:
            raise
    if session.reason is not None:
        console.note(f"{stop_words(session)}; {SAME_COMMAND}")
        return rejudged, STOP_CODES[session.reason]
    return rejudged, Exit.FROZEN if session.n_missed else failures_code(
        rejudged.new_failures if rejudged else ()
    )


def _of_file(path: Path, options: _RejudgeOptions) -> tuple[Rejudged | None, int, KnownAnswers]:
    if not options.outputs:
        raise SettingsError(
            f"{path.name} holds verdicts, and the outputs they are about are needed too",
            hint=f"judgekit rejudge {path.name} outputs.jsonl --rubric … --judge …",
        )
    old = rejudgment.read_verdicts(path)
    # The maps are checked against the new judge below, not applied to its values.
    setup = grade_setup(GradingOptions.of(options, calibration=None))
    with closing(setup.judge):
        asked = evaluation.judging_of_judge(setup.judge, setup.rubric)
        rejudgment.check_same_rubric(path, old, setup.rubric, asked)
        calibration = rejudgment.describe_file_calibration(
            options.calibration, old, setup.rubric, setup.judge
        )
        setup, n_other = _judged_before(setup, old, path)
        if options.dry_run:
            setup.check()
            plan = evaluation.plan_grading(setup.judge, setup.gradings(), refresh=setup.refresh)
            connections = [setup.judge.connection]
            sys.exit(show_plan(plan, options, connections, max_cost=options.max_cost))
        if n_other and not options.quiet:
            of = report.format_count(n_other, "output")
            console.note(f"{of} left out: no verdict in {path.name}")
        graded, session = grade_all(setup, options, verb=_VERB)
    keys = _keys(((one.case, one.output) for one in graded), old)
    again = [
        one.verdict.model_copy(update={"repeat": key.repeat})
        for one, key in zip(graded, keys, strict=True)
    ]
    pairs, left_out = rejudgment.pair_verdicts(old, again, n_without=n_other)
    known = (report.KnownAnswer(one.case, (one.output,)) for one in graded)
    answers = list(zip(keys, known, strict=True))
    judges = [one.judge for verdict in old.values() for one in verdict.judgments]
    rejudged = None
    if pairs:
        rejudged = rejudgment.compare_verdicts(
            pairs,
            setup.rubric,
            (judges, (setup.judge.id,)),
            measured=rejudgment.MEASURED_BY_FILE,
            calibration=calibration,
            left_out=left_out,
        )
    if session.reason in {"interrupted", "model"}:
        console.note(f"{stop_words(session)}; {SAME_COMMAND}")
        return rejudged, STOP_CODES[session.reason], answers
    # A file has no session that could report the limit, so it is read from the failures.
    code = failures_code(rejudged.new_failures if rejudged else ())
    if code == Exit.LIMIT:
        console.note(f"{LIMIT_REACHED}; the results are partial; {SAME_COMMAND}")
    return rejudged, code, answers


def _keys(answers: Iterable[tuple[Case, Output]], old: _Verdicts) -> list[calibrations.OutputKey]:
    """The keys of the outputs' verdicts; verdicts of single outputs name no repeat."""
    keys = [calibrations.output_key(*one) for one in answers]
    if any(verdict.repeat is not None for verdict in old.values()):
        return keys
    return [key._replace(repeat=0) for key in keys]


def _judged_before(setup: GradeSetup, old: _Verdicts, path: Path) -> tuple[GradeSetup, int]:
    """The set-up for outputs that have a verdict, and how many have none."""
    # Judging an output without an earlier verdict would cost money and show no change.
    every = list(setup.every_answer())
    keys = _keys(every, old)
    answers = {key: output for key, (_, output) in zip(keys, every, strict=True)}
    if len(answers) < len(every):
        raise SettingsError(
            f"the outputs have repeats, and no verdict in {path.name} names its `repeat`",
            hint="grade them again, then rejudge that: judgekit grade OUTPUTS -o verdicts.jsonl",
        )
    judged = [key for key in answers if key in old]
    if not any(answers[key].error is None and old[key].error is None for key in judged):
        mine, theirs = (
            ", ".join(str(calibrations.OutputKey(*key)) for key in [*some][:_MOST_NAMED])
            for some in (answers, old)
        )
        raise SettingsError(
            f"no output has a verdict in {path.name}; outputs: {mine}, …; verdicts: {theirs}, …",
            hint="both need the same case_id and variant",
        )
    pairs = zip(keys, every, strict=True)
    rubrics = {calibrations.output_key(*one): setup.rubric for key, one in pairs if key in old}
    return replace(setup, rubrics=rubrics), len(answers) - len(judged)
