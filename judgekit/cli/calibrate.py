"""`judgekit calibrate`: compares a judge with human labels, and fits calibration maps."""

from __future__ import annotations

import sys
from contextlib import ExitStack, aclosing, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from judgekit import (
    calibration as calibrations,
    datasets,
    evaluation,
    models,
    records,
    report as reports,
)
from judgekit.calibration import Alignment, CalibrationOptions, Rightness
from judgekit.cli import console
from judgekit.cli.compare import follow_comparisons
from judgekit.cli.exit_codes import Exit
from judgekit.cli.help import command
from judgekit.cli.judge_options import LabelledStudyOptions
from judgekit.cli.options import (
    EXISTING_FILE,
    StoreOptions,
    dry_run_option,
    flag,
    max_cost_option,
    option,
    outputs_option,
    refuse_others,
    typed_options,
)
from judgekit.cli.outputs import output_option, show_document, show_plan, sort_outputs
from judgekit.cli.progress import run_async, run_until_stopped
from judgekit.cli.run import grade_all
from judgekit.cli.setup import (
    CALIBRATION_MAPS_FOLDER,
    LIMIT_REACHED,
    SAME_COMMAND,
    fatal_words,
    grade_setup,
    make_judge,
)
from judgekit.cli.sides import SideArguments, no_common_case_error, pairing_of
from judgekit.errors import SettingsError
from judgekit.report import message, numbers
from judgekit.stats.estimate import LabelsAre

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence

    from judgekit.calibration import (
        CalibrationReport,
        LabelledShare,
        PairwiseData,
        PointwiseData,
        RecordedReplies,
    )
    from judgekit.cli.setup import GradeSetup
    from judgekit.datasets import LocatedLabel
    from judgekit.evaluation import ComparisonLoop, JudgedPair, OutputPair, QuestionChoice, Side
    from judgekit.judge import Judge, JudgeQuestion, Panel
    from judgekit.models import Budget
    from judgekit.records import Case, Comparison, Rubric
    from judgekit.report import KnownAnswers

_DEFAULTS = CalibrationOptions()


class _CalibrateOptions(LabelledStudyOptions, StoreOptions):
    run: str | None = option("Stored run (default: the latest).", metavar="RUN")
    results: Path | None = option(
        "Results of grade -o or compare -o, or rows with case_id and raw or winner.",
        kind=EXISTING_FILE,
    )
    outputs: tuple[Path, ...] = outputs_option("Grade these outputs now with --judge and --rubric.")
    sides: tuple[str, str] | None = option(
        "Compare these two now, named as for judgekit compare.", spelling="--compare", metavar="A B"
    )
    # Without a default: only whoever chose the items knows whether a correction is valid.
    labels_are: LabelsAre | None = option(
        "How labelled items were chosen: at random among the judged ones, or otherwise."
    )
    right: Rightness = option(
        "When the judge counts as right: same pass decision, same score, or within one.",
        _DEFAULTS.right,
    )
    max_error: float = option(
        "Acceptable error rate of judgments accepted without review.",
        _DEFAULTS.max_error,
        gt=0,
        lt=1,
    )
    categories: bool = flag("Treat levels as unordered categories: no means, no ranks.")
    epsilon: float = option(
        "Epsilon of the alternative-annotator test: 0.2 experts, 0.15 skilled, 0.1 crowd.",
        _DEFAULTS.epsilon,
        ge=0,
        lt=1,
    )
    alignment: Alignment | None = option(
        "Score of that test: equal labels (default for two levels) or squared errors."
    )
    half_width: float = option(
        "Report the number of labels needed for a corrected rate within this margin.",
        _DEFAULTS.half_width,
        gt=0,
        lt=1,
    )
    suggest: int = option("Suggest N items to label next.", _DEFAULTS.n_suggested, ge=0)
    worst: int = option(
        "Show the N worst disagreements of each criterion.", _DEFAULTS.n_worst, ge=0
    )
    by: tuple[str, ...] = option(
        "Also report by this metadata key; may be repeated.", (), metavar="KEY"
    )
    cluster: str = option(
        "Unit of independence: cases, single outputs, or a metadata key that cases share.",
        _DEFAULTS.cluster,
        metavar="case|item|KEY",
    )
    min_kappa: float | None = option(
        "Exit 1 if agreement is below K, 4 if that is inconclusive.", ge=-1, le=1, metavar="K"
    )
    require_stand_in: bool = flag(
        "Exit 1 if the judge cannot replace a human annotator, 4 if inconclusive."
    )
    judges_all: bool = flag(
        "Judge all outputs and criteria, not only the labelled ones: the corrected rate and the "
        "suggestions need them.",
        spelling="--all",
    )
    max_cost: float | None = max_cost_option("Stop at this cost of the judge. Exit code 5.")
    dry_run: bool = dry_run_option()
    output: tuple[Path, ...] = output_option(
        "Write the report to FILE: .json, .md, or .html with plots."
    )
    # The flag without a file means a name made from judge and rubric.
    write_map: str | None = option(
        "Write calibration maps: FILE.json, or calibration/maps/….json.",
        metavar="[FILE]",
        flag_value="",
    )


@command("calibrate", _CalibrateOptions)
@click.argument("labels", type=EXISTING_FILE)
def calibrate_command(options: _CalibrateOptions, *, labels: Path) -> None:
    """Measure a judge against human labels: how far can it be trusted, and what corrects it?

    LABELS has a row for each label: case_id, annotator, raw (a score or the name of a level) and,
    if there are several, variant and criterion. Labels of comparisons have winner (a, b, tie)
    instead of raw. They are compared with the latest run, another --run, the --results of an
    earlier command, or --outputs that the judge grades now (recorded replies and cached replies
    cost nothing). Labels are matched with the outputs before the first call, and only what has
    labels is judged, unless --all is given; --dry-run shows the calls and their cost.

    Confidence intervals are clustered by case. Results the labels cannot support are reported as
    inconclusive.

    Exit code 0 unless a requirement is set: --min-kappa and --require-stand-in exit with 1 if it is
    not met and with 4 if that is inconclusive; 3 if a judge failed, 5 at --max-cost.

    Examples:
        judgekit calibrate labels.jsonl
        judgekit calibrate labels.jsonl --results verdicts.jsonl -o report.html
        judgekit calibrate labels.jsonl --outputs o.jsonl --rubric r.yaml --dry-run
        judgekit calibrate labels.jsonl --min-kappa 0.6 --write-map
    """
    # Like the report's file: a path that cannot be written is an error before the calls.
    if options.write_map:
        reports.check_map_path(Path(options.write_map))
    files = sort_outputs(options.output, what="a calibration")
    # Invalid labels are reported before any call.
    located = [*calibrations.read_label_files([labels], options.store, note=console.note).labels]
    data, code, note, answers = _collect_judgments(options, located)
    report = calibrations.calibrate_and_release(
        data,
        located,
        options.fill(
            CalibrationOptions,
            # The command line speaks of tests, the report of intervals.
            level=1 - options.alpha,
            n_suggested=options.suggest,
            n_worst=options.worst,
            annotators=options.annotator,
        ),
    )
    known = answers() if files.has_page else None
    show_document(reports.calibration_document(report, known), options, files)
    if note is not None:
        console.note(note)
    if options.write_map is not None:
        _write_maps(report, options.write_map, is_partial=note is not None)
    sys.exit(code or _code(report, options))


def _code(report: CalibrationReport, options: _CalibrateOptions) -> int:
    """1 if a requirement is not met, 4 if that is inconclusive, else 0."""
    codes = [0]
    if options.min_kappa is not None:
        # Every criterion has to reach it: a good mean must not hide a criterion that is guessed.
        for part in list(report.criteria.values()) or [report.overall]:
            agreement = part.agreement.kappa_quadratic
            if agreement.low >= options.min_kappa:
                continue
            # Only an interval entirely below is a failure; an overlapping one lacks labels.
            is_below = agreement.high < options.min_kappa
            words = "is below" if is_below else "is not shown to reach"
            kappa = numbers.format_mean_beside(agreement, options.min_kappa)
            name = message.printable(part.name)
            text = f"{name}: kappa {kappa} {words} --min-kappa {options.min_kappa:g}"
            console.note(console.coloured(text, "red" if is_below else "yellow"))
            codes.append(Exit.QUALITY if is_below else Exit.INCONCLUSIVE)
    if options.require_stand_in and report.stand_in.answer != "yes":
        is_no = report.stand_in.answer == "no"
        console.note(f"--require-stand-in: {'not met' if is_no else 'inconclusive'}")
        codes.append(Exit.QUALITY if is_no else Exit.INCONCLUSIVE)
    return Exit.QUALITY if Exit.QUALITY in codes else max(codes)


class _Collected(NamedTuple):
    """Scores or choices of a judge, and how calling it ended."""

    data: PointwiseData | PairwiseData
    code: int = 0
    note: str | None = None

    # Reads the outputs again, which only a page shows.
    answers: Callable[[], KnownAnswers] = tuple


_OF_STORED = {
    "run", "results", "config", "labels_are", "right", "max_error", "categories", "epsilon",
    "alignment", "half_width", "suggest", "worst", "by", "cluster", "min_kappa",
    "require_stand_in", "write_map", "annotator", "consensus", "alpha", "cache_dir", "no_cache",
}  # fmt: skip
"""The options that hold for judgments which exist; the others choose the calls of a judge."""


def _collect_judgments(options: _CalibrateOptions, located: Sequence[LocatedLabel]) -> _Collected:
    """The judgments to compare with labels, from the source that is named, else the latest run."""
    sources = {
        "--run": options.run,
        "--results": options.results,
        "--outputs": options.outputs,
        "--compare": options.sides,
    }
    # Judgments of several sources could be of different judges, which one report would mix up.
    named = [name for name, value in sources.items() if value]
    if len(named) > 1:
        raise SettingsError(f"{' and '.join(named)} are two sources: name one")
    if options.outputs:
        return _from_outputs(options, located)
    if options.sides is not None:
        return _from_sides(options.sides, options, located)
    why = "chooses what is judged now, and these judgments exist: no calls are made"
    hint = "omit it, or name what to judge: --outputs FILE (or --compare A B)"
    model, typed = options.judge_model, typed_options()
    # Recorded replies bring the ids of their outputs; a model needs the outputs themselves.
    if model is not None and model.startswith(records.RECORDED_PREFIX) and not named:
        refuse_others(typed.keys() - {"dry_run"}, why, hint)
        return _from_replies(model, options)
    # JUDGEKIT_JUDGE is for commands that call one.
    if "judge_model" in typed and not named:
        raise SettingsError(
            "a judge is named, but no outputs for it to judge",
            hint="give the labelled outputs: --outputs FILE (or --compare A B)",
        )
    refuse_others(_OF_STORED | ({"rubric", "cases"} if options.results else set()), why, hint)
    if options.results is not None:
        rubric = None if options.rubric is None else datasets.load_rubric(options.rubric)
        data = calibrations.read_judged_file(
            options.results, rubric=rubric, cases=_cases_by_id(options.cases)
        )
        data.origin["file"] = str(options.results)
        return _Collected(data, answers=lambda: _answers_of_file(options))
    with options.open_store() as store:
        run = store.run(options.run or "latest")
        data = calibrations.judged_from_run(evaluation.Run(run, store))
    return _Collected(data, answers=lambda: _answers_of_run(run.id, options))


def _answers_of_run(run_id: str, options: _CalibrateOptions) -> KnownAnswers:
    with options.open_store() as store:
        yield from reports.stored_answers(store, run_id)


def _answers_of_file(options: _CalibrateOptions) -> KnownAnswers:
    cases = _cases_by_id(options.cases)
    for one in calibrations.iter_verdicts(options.results) if options.results is not None else ():
        if one.case_id is not None:
            known = reports.KnownAnswer(cases.get(one.case_id), judgments=one.judgments)
            yield calibrations.OutputKey(one.case_id, one.variant, one.repeat or 0), known


def _cases_by_id(path: Path | None) -> dict[str, Case]:
    return {} if path is None else {case.id: case for case in datasets.load_dataset(path).cases}


def _from_replies(model: str, options: _CalibrateOptions) -> _Collected:
    """Recorded replies without outputs; the questions and repeats follow from the replies."""
    recorded = calibrations.load_recorded_replies(model)
    if options.rubric is None and not recorded.compares:
        raise SettingsError(
            "no rubric is named, so the scale of the recorded scores is unknown",
            hint="give --rubric FILE",
        )
    cases = _cases_by_id(options.cases)
    if options.rubric is None:
        rubric = calibrations.whole_rubric()
    else:
        rubric = datasets.load_rubric(options.rubric)
    own = datasets.JudgeSettings(repeats=recorded.repeats, max_reasks=recorded.reasks)
    # Without the suite: its template and settings say nothing about replies that exist.
    with make_judge(options, None, model, own) as judge:
        chosen = _chosen(recorded, cases, options)
        data = run_async(calibrations.judged_from_replies(judge, chosen, rubric, cases))
    # The report names the source, so that a printed page can be reproduced.
    data.origin["file"] = str(recorded.path)
    return _Collected(data)


def _chosen(
    recorded: RecordedReplies, cases: Mapping[str, Case], options: _CalibrateOptions
) -> RecordedReplies:
    """The replies about the chosen outputs, which are chosen as they would be from a file."""
    tags = frozenset(options.filter_tag)
    if tags and not cases:
        raise SettingsError(
            "--filter-tag uses the tags of cases, and recorded replies have none",
            hint="give the file of the cases: --cases FILE",
        )
    outputs = [
        one
        for one in recorded.by_output()
        if not tags or (one[0] in cases and tags & set(cases[one[0]].tags))
    ]
    if not outputs:
        raise SettingsError(
            f"no recorded reply is about a case with the tag {' or '.join(sorted(tags))}",
            hint="see `tags` in the file of cases, or omit --filter-tag",
        )
    # Sampled first, then limited, as `grade` does with a file of outputs.
    if options.sample is not None:
        outputs = datasets.draw_sample(outputs, options.sample, options.seed)
    return recorded.only(set(outputs[: options.limit]))


def _from_outputs(options: _CalibrateOptions, located: Sequence[LocatedLabel]) -> _Collected:
    setup = grade_setup(options)
    with closing(setup.judge):
        setup, share = _labelled_setup(setup, located, options)
        if options.dry_run:
            setup.check()
            plan = evaluation.plan_grading(setup.judge, setup.gradings(), refresh=setup.refresh)
            sys.exit(
                show_plan(
                    plan, options, [setup.judge.connection], share=share, max_cost=options.max_cost
                )
            )
        _note_calls(setup.judge, share, options)
        graded, session = grade_all(setup, options)
    kinds = {failure.kind for one in graded for failure in one.verdict.failures}
    data = calibrations.judged_from_grading(
        graded, setup.rubric, evaluation.judging_of_judge(setup.judge, setup.rubric)
    )
    interrupted = session.reason == "interrupted"
    stopped = session.detail if session.reason == "model" else None
    code, note = _ended(kinds, setup.budget, interrupted=interrupted, stopped=stopped)

    def answers() -> KnownAnswers:
        for one in graded:
            known = reports.KnownAnswer(one.case, (one.output,), one.verdict.judgments)
            yield calibrations.output_key(one.case, one.output), known

    return _Collected(data, code, note, answers)


def _note_calls(judge: Judge, share: LabelledShare, options: _CalibrateOptions) -> None:
    """Report what the calls are for, before they are made."""
    if options.quiet or options.as_json or _is_recorded(judge):
        return
    n_other = (share.n_calls or 0) - (share.n_labelled_calls or 0)
    more = ""
    if n_other:
        more = "; only these are made; --all makes the others too, which the corrected rate needs"
        more = "; the others are made too (--all)" if options.judges_all else more
    console.note(f"labels {reports.labelled_share_words(share)}{more}")


def _from_sides(
    names: tuple[str, str], options: _CalibrateOptions, located: Sequence[LocatedLabel]
) -> _Collected:
    with ExitStack() as stack:
        sides = SideArguments(names, options, stack, store=options.store)
        opened = sides.open_existing()
        panel, rubric, (a, b) = opened.panel, opened.rubric, opened.sides
        judge = panel.judges[0]
        pairing, choice, share = _labelled_pairs((a, b), (judge, rubric), located, options)
        if options.dry_run:
            hidden, again = pairing.names, bool(options.judge_settings.refresh)
            plan = evaluation.plan_comparison(
                panel, pairing.pairs(), rubric, names=hidden, refresh=again, choice=choice
            )
            sys.exit(
                show_plan(plan, options, [judge.connection], share=share, max_cost=options.max_cost)
            )
        _note_calls(judge, share, options)
        ask = evaluation.chosen_pair_question(judge, rubric, pairing.names, choice)
        # Enough pairs at a time to keep every slot of the judges busy. A pair that the money does
        # not suffice for is a failure in the report.
        slots = max(4, panel.max_concurrency)
        loop = evaluation.ComparisonLoop(ask, in_flight=slots, ends_at_cost=False)
        pairs = run_until_stopped(_compare(loop, pairing, panel, options), SAME_COMMAND)
    if not pairs:
        raise no_common_case_error()
    # Comparisons have only the ids of their cases; the report needs their metadata too.
    cases = {one.pair.case.id: one.pair.case for one in pairs}
    data = calibrations.judged_from_records([one.comparison for one in pairs], cases=cases)
    kinds = {failure.kind for one in pairs for failure in one.comparison.failures}
    interrupted = loop.ended == "interrupted"
    code, note = _ended(kinds, sides.budget, interrupted=interrupted, stopped=loop.fatal_error)
    known = [
        (_key_of(one.pair), reports.KnownAnswer(one.pair.case, (one.pair.a, one.pair.b)))
        for one in pairs
    ]
    return _Collected(data, code, note, lambda: known)


async def _compare(
    loop: ComparisonLoop, pairing: evaluation.Pairing, panel: Panel, options: _CalibrateOptions
) -> list[JudgedPair]:
    pairs: list[JudgedPair] = []
    rounds = iter([pairing.pairs()])

    async def comparisons() -> AsyncGenerator[Comparison, None]:
        async with aclosing(loop.run(lambda: next(rounds, None))) as stream:
            async for one in stream:
                pairs.append(one)
                yield one.comparison

    # With -v the report is longer; its pairs are not printed too.
    plain = options.model_copy(update={"verbose": False})
    total = pairing.survey().n_pairs
    async with panel:
        await follow_comparisons(
            comparisons(), total=total, judges=panel.judges, interrupt=loop.interrupt, options=plain
        )
    return pairs


def _ended(
    kinds: Collection[str], budget: Budget | None, *, interrupted: bool, stopped: str | None
) -> tuple[int, str | None]:
    if interrupted:
        return Exit.INTERRUPTED, f"interrupted; the results are partial; {SAME_COMMAND}"
    if "frozen_miss" in kinds:
        return Exit.FROZEN, "some replies are not in the frozen cache; the results are partial"
    if budget is not None and budget.is_exhausted:
        return (Exit.LIMIT, f"{LIMIT_REACHED}; the results are partial; {SAME_COMMAND}")
    if stopped is not None:
        return Exit.INCOMPLETE, f"{fatal_words(stopped)}; the results are partial; {SAME_COMMAND}"
    return (Exit.INCOMPLETE, None) if kinds else (0, None)


def _write_maps(report: CalibrationReport, wanted: str, *, is_partial: bool) -> None:
    """Fit the maps, write them, and report on stderr what they do and how they are used."""
    # A part of the outputs may be a biased one; failures of single answers are not.
    if is_partial:
        console.note("no maps were written: not everything was judged")
        return
    calibration = report.maps()
    path = Path(wanted) if wanted else CALIBRATION_MAPS_FOLDER / reports.map_file_name(calibration)
    reports.save_calibration(path, calibration)
    # Notes, not results: stdout may be the JSON of the report.
    for line in reports.map_summary_lines(calibration):
        console.note(line)
    if not calibration.asked.is_known:
        console.note(
            "the judgments do not include the judge's parameters (temperature, …): these maps are "
            "bound to model and template only; to bind them to the parameters, use verdicts of "
            "`judgekit grade -o`, or --outputs"
        )
    console.note(f"wrote the maps to {path}: judgekit grade … --calibration {path}")


def _labelled_setup(
    setup: GradeSetup, located: Sequence[LocatedLabel], options: _CalibrateOptions
) -> tuple[GradeSetup, LabelledShare]:
    """Match labels with outputs; the set-up for the labelled ones, and their share."""
    judge, rubric = setup.judge, setup.rubric
    # Whether each output is chosen, and whether a judge is called: not where there is an error.
    places = {
        calibrations.output_key(case, output): (setup.is_wanted(case), output.error is None)
        for case, output in setup.every_answer()
    }
    coverage = calibrations.cover_outputs(places, located, rubric, annotators=options.annotator)
    asks_all = judge.template.header.asks == "all"
    rubrics = coverage.rubrics(rubric, asks_all=asks_all)

    def n_calls(*parts: Rubric) -> int:
        return judge.grader.repeats * sum(1 if asks_all else len(one.criteria) for one in parts)

    chosen = [key for key, (is_wanted, _) in places.items() if is_wanted]
    asked = [key for key, state in places.items() if all(state)]
    share = coverage.share(
        chosen,
        rubric,
        n_calls=n_calls(*[rubric] * len(asked)),
        n_labelled_calls=n_calls(*(rubrics[key] for key in asked if key in rubrics)),
    )
    # Recorded replies cost nothing, and judgments of the other outputs sharpen the figures.
    if options.judges_all or _is_recorded(judge):
        return setup, share
    return replace(setup, rubrics=rubrics), share


def _is_recorded(judge: Judge) -> bool:
    """Whether a judge's replies are in a file, so that they cost nothing."""
    return isinstance(judge.connection.model, models.RecordedModel)


def _labelled_pairs(
    sides: tuple[Side, Side],
    asked: tuple[Judge, Rubric],
    located: Sequence[LocatedLabel],
    options: _CalibrateOptions,
) -> tuple[evaluation.Pairing, QuestionChoice, LabelledShare]:
    """Match labels with pairs; what is asked about which, and the share of the labels."""
    judge, rubric = asked
    every = evaluation.Pairing(*sides)
    cases = {_key_of(pair): pair.case for pair in every.pairs()}
    if not cases:
        raise no_common_case_error()
    coverage = calibrations.cover_pairs(cases, located, rubric, annotators=options.annotator)
    tags = frozenset(options.filter_tag)
    chosen = [key for key, case in cases.items() if not tags or tags & set(case.tags)]
    comparer = judge.comparer
    # What is asked about a pair does not depend on its texts, so that one pair is rendered for all.
    questions: list[JudgeQuestion] = []
    n_calls = n_labelled_calls = 0
    for pair in evaluation.Pairing(*sides, tags=tags).pairs():
        blind = comparer.blind_pair(pair.a, pair.b, every.names)
        if blind.is_identical or pair.a.error is not None or pair.b.error is not None:
            continue
        questions = questions or comparer.questions(pair.case, blind, rubric)
        n_calls += len(questions)
        n_labelled_calls += len(coverage.questions(pair, questions))
    share = coverage.share(
        chosen, rubric, unit="pair", n_calls=n_calls, n_labelled_calls=n_labelled_calls
    )
    if options.judges_all or _is_recorded(judge):
        return pairing_of(sides, options), lambda _, every_one: [*every_one], share
    labelled = pairing_of(sides, options, is_wanted=lambda pair: _key_of(pair) in coverage.criteria)
    return labelled, coverage.questions, share


def _key_of(pair: OutputPair) -> calibrations.OutputKey:
    return calibrations.pair_key(pair.case.id, pair.a.variant, pair.b.variant, pair.repeat)
