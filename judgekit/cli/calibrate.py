"""`judgekit calibrate`: compares a judge with human labels, and fits calibration maps."""

from __future__ import annotations

import asyncio
import random
import sys
from contextlib import aclosing, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judgekit.calibration import (
    CalibrationOptions,
    calibrate as calibrated,
    judged_from_grading,
    judged_from_records,
    judged_from_replies,
    judged_from_run,
    load_recorded_replies,
    read_judged_file,
    whole_rubric,
)
from judgekit.cli import console
from judgekit.cli.exit_codes import (
    EXIT_FROZEN,
    EXIT_INCOMPLETE,
    EXIT_INCONCLUSIVE,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
    EXIT_QUALITY,
)
from judgekit.cli.grading import grade_all
from judgekit.cli.help import HelpCommand
from judgekit.cli.options import (
    cache_options,
    judge_model_options,
    label_options,
    limit_options,
    max_cost_option,
    side_options,
    store_option,
    talk_options,
)
from judgekit.cli.outputs import output_option, show_document, sort_outputs
from judgekit.cli.progress import show_progress
from judgekit.cli.setup import CALIBRATION_MAPS_FOLDER, draw_sample, grade_setup, make_judge
from judgekit.cli.sides import compare_setup
from judgekit.cli.signals import Interrupts
from judgekit.datasets import load_dataset, load_rubric, read_labels
from judgekit.errors import SettingsError
from judgekit.evaluation import Run, compare_pairs, judging_of_judge
from judgekit.models import RECORDED_PREFIX as RECORDED, Budget
from judgekit.report import (
    calibration_document,
    check_map_path,
    map_file_name,
    map_summary_lines,
    message,
    numbers,
    save_calibration,
)
from judgekit.store import RunStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judgekit.calibration import (
        Alignment,
        CalibrationReport,
        Consensus,
        PairwiseData,
        PointwiseData,
        RecordedReplies,
        Rightness,
    )
    from judgekit.cli.outputs import OutputFiles
    from judgekit.cli.setup import Options
    from judgekit.evaluation import JudgedPair, Pairing
    from judgekit.judge import Panel
    from judgekit.records import Case, Rubric
    from judgekit.stats.correction import LabelsAre

_DEFAULTS = CalibrationOptions()


@click.command("calibrate", cls=HelpCommand)
@click.argument("labels", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--run", metavar="RUN", help="Stored run (default: the latest).")
@click.option(
    "--results",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Results of grade -o or compare -o, or rows with case_id and raw or winner.",
)
@click.option(
    "--outputs",
    type=click.Path(path_type=Path, exists=True),
    multiple=True,
    metavar="FILE",
    help="Grade these outputs now with --judge and --rubric; may be repeated.",
)
@click.option(
    "--compare",
    "sides",
    nargs=2,
    metavar="A B",
    help="Compare these two now, named as for judgekit compare.",
)
@click.option(
    "--labels-are",
    type=click.Choice(["random", "other"]),
    help="How labelled items were chosen: at random among the judged ones, or otherwise.",
)
@label_options
@click.option(
    "--right",
    type=click.Choice(["pass", "exact", "within_one"]),
    default=_DEFAULTS.right,
    show_default=True,
    help="When the judge counts as right: same pass decision, same score, or within one.",
)
@click.option(
    "--max-error",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=_DEFAULTS.max_error,
    show_default=True,
    help="Acceptable error rate of judgments accepted without review.",
)
@click.option(
    "--categories",
    is_flag=True,
    help="Treat levels as unordered categories: no means, no ranks.",
)
@click.option(
    "--epsilon",
    type=click.FloatRange(0, 1, max_open=True),
    default=_DEFAULTS.epsilon,
    show_default=True,
    help="Epsilon of the alternative-annotator test: 0.2 experts, 0.15 skilled, 0.1 crowd.",
)
@click.option(
    "--alignment",
    type=click.Choice(["accuracy", "neg_rmse"]),
    help="Score of that test: equal labels (default for two levels) or squared errors.",
)
@click.option(
    "--half-width",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=_DEFAULTS.half_width,
    show_default=True,
    help="Report the number of labels needed for a corrected rate within this margin.",
)
@click.option(
    "--suggest",
    type=click.IntRange(0),
    default=_DEFAULTS.n_suggested,
    show_default=True,
    help="Suggest N items to label next.",
)
@click.option(
    "--worst",
    type=click.IntRange(0),
    default=_DEFAULTS.n_worst,
    show_default=True,
    help="Show the N worst disagreements of each criterion.",
)
@click.option(
    "--by", multiple=True, metavar="KEY", help="Also report by this metadata key; may be repeated."
)
@click.option(
    "--cluster",
    metavar="case|item|KEY",
    default=_DEFAULTS.cluster,
    show_default=True,
    help="Unit of independence: cases, single outputs, or a metadata key that cases share.",
)
@click.option(
    "--min-kappa",
    type=click.FloatRange(-1, 1),
    metavar="K",
    help="Exit 1 if agreement is below K, 4 if that is inconclusive.",
)
@click.option(
    "--require-stand-in",
    is_flag=True,
    help="Exit 1 if the judge cannot replace a human annotator, 4 if inconclusive.",
)
@max_cost_option("Stop at this cost of the judge. Exit code 5.")
@output_option("Write the report to FILE: .json, .md, or .html with plots.")
@click.option(
    "--write-map",
    metavar="[FILE]",
    is_flag=False,
    flag_value="",
    help="Write calibration maps: FILE.json, or calibration/maps/….json.",
)
@store_option
@side_options
@judge_model_options
@limit_options
@cache_options
@talk_options
def calibrate_command(
    *, labels: Path, run: str | None, store: str, output: tuple[Path, ...], **options: object
) -> None:
    """Measure a judge against human labels: how far can it be trusted, and what corrects it?

    LABELS has a row for each label: case_id, annotator, raw (a score or the name of a level) and,
    if there are several, variant and criterion. Labels of comparisons have winner (a, b, tie)
    instead of raw. They are compared with the latest run, another --run, the --results of an
    earlier command, or --outputs that the judge grades now (recorded replies and cached replies
    cost nothing).

    Confidence intervals are clustered by case. Results the labels cannot support are reported as
    inconclusive.

    Exit code 0 unless a requirement is set: --min-kappa and --require-stand-in exit with 1 if it is
    not met and with 4 if that is inconclusive; 3 if a judge failed, 5 at --max-cost.

    Examples:
        judgekit calibrate labels.jsonl
        judgekit calibrate labels.jsonl --results verdicts.jsonl -o report.html
        judgekit calibrate labels.jsonl --min-kappa 0.6 --write-map
    """
    files = _check_places(output, options)
    placed = read_labels(labels)  # sound, before anything is asked
    try:
        said = collect_judgments(options, run=run, store=store)
    except asyncio.CancelledError:  # the second Ctrl-C
        console.note("stopped at once; run the same command again to go on")
        sys.exit(EXIT_INTERRUPTED)
    report = calibrated(said.found, placed, options=_wanted(options))
    show_document(calibration_document(report), options, files)
    if said.note is not None:
        console.note(said.note)
    if options["write_map"] is not None:
        write_maps(report, cast("str", options["write_map"]), asking=said.code)
    sys.exit(said.code or _code(report, _Required.of(options)))


def _check_places(output: tuple[Path, ...], options: Options) -> OutputFiles:
    if options["write_map"]:
        check_map_path(Path(cast("str", options["write_map"])))
    return sort_outputs(output, what="a calibration")


@dataclass(frozen=True, slots=True)
class _Required:
    """What the judge has to come to."""

    min_kappa: float | None
    stand_in: bool

    @classmethod
    def of(cls, options: Options) -> _Required:
        kappa = cast("float | None", options["min_kappa"])
        return cls(kappa, bool(options["require_stand_in"]))


def _wanted(options: Options) -> CalibrationOptions:
    return CalibrationOptions(
        level=1 - cast("float", options["alpha"]),
        consensus=cast("Consensus", options["consensus"]),
        labels_are=cast("LabelsAre | None", options["labels_are"]),
        right=cast("Rightness", options["right"]),
        max_error=cast("float", options["max_error"]),
        categories=bool(options["categories"]),
        epsilon=cast("float", options["epsilon"]),
        alignment=cast("Alignment | None", options["alignment"]),
        half_width=cast("float", options["half_width"]),
        n_suggested=cast("int", options["suggest"]),
        n_worst=cast("int", options["worst"]),
        cluster=cast("str", options["cluster"]),
        by=tuple(cast("Iterable[str]", options["by"])),
        annotators=tuple(cast("Iterable[str]", options["annotator"])),
        seed=cast("int", options["seed"]),
    )


def _code(report: CalibrationReport, required: _Required) -> int:
    """1 where something required is not met, 4 where it is open, else 0."""
    codes = [_kappa_code(report, required.min_kappa)] if required.min_kappa is not None else []
    if required.stand_in and report.stand_in.answer != "yes":
        is_no = report.stand_in.answer == "no"
        console.note(f"--require-stand-in: {'not met' if is_no else 'cannot be said'}")
        codes.append(EXIT_QUALITY if is_no else EXIT_INCONCLUSIVE)
    return EXIT_QUALITY if EXIT_QUALITY in codes else max(codes, default=0)


def _kappa_code(report: CalibrationReport, least: float) -> int:
    """Every criterion has to reach the least agreement, and none may be shown to lie below."""
    codes = [0]
    for part in list(report.criteria.values()) or [report.overall]:
        found = part.agreement.kappa_quadratic
        if found.low >= least:
            continue
        is_below = found.high < least
        words = "lies below" if is_below else "is not shown to reach"
        kappa = numbers.format_mean(found)
        console.note(f"{message.printable(part.name)}: kappa {kappa} {words} --min-kappa {least:g}")
        codes.append(EXIT_QUALITY if is_below else EXIT_INCONCLUSIVE)
    return EXIT_QUALITY if EXIT_QUALITY in codes else max(codes)


@dataclass(frozen=True, slots=True)
class CollectedJudgments:
    """What judges said, and how asking them ended."""

    found: PointwiseData | PairwiseData
    """Scores, or choices between two."""

    code: int = 0
    """The exit code that asking calls for; 0 where all went well, or nothing was asked."""

    note: str | None = None
    """What to say of it."""


def collect_judgments(options: Options, *, run: str | None, store: str) -> CollectedJudgments:
    """What labels are held against, by what was named: else the latest run."""
    named = {
        "--run": run,
        "--results": options.get("results"),
        "--outputs": options.get("outputs"),
        "--compare": options.get("sides"),
    }
    given = [name for name, value in named.items() if value]
    if len(given) > 1:
        raise SettingsError(f"{' and '.join(given)} are two sources: name one")
    if given == ["--results"]:
        return _from_file(cast("Path", options["results"]), options)
    if given == ["--outputs"]:
        return _from_outputs(options)
    if given == ["--compare"]:
        return _from_sides(cast("tuple[str, str]", options["sides"]), options, store)
    if model := cast("str | None", options.get("judge_model")):
        if not model.startswith(RECORDED):
            raise SettingsError(
                "a judge is named, and nothing for it to judge",
                hint="give the labelled outputs: --outputs FILE (or --compare A B)",
            )
        return _from_replies(model, options)
    with closing(RunStore(store, create=False)) as kept:
        return CollectedJudgments(judged_from_run(Run(kept.run(run or "latest"), kept)))


def _from_file(path: Path, options: Options) -> CollectedJudgments:
    rubric = cast("str | None", options.get("rubric"))
    cases = cast("Path | None", options.get("cases"))
    by_id = {} if cases is None else {case.id: case for case in load_dataset(cases).cases}
    loaded = None if rubric is None else load_rubric(rubric)
    found = read_judged_file(path, rubric=loaded, cases=by_id)
    found.origin["file"] = str(path)
    return CollectedJudgments(found)


def _from_replies(model: str, options: Options) -> CollectedJudgments:
    """Recorded replies by themselves; what is asked, and how often, follows from them."""
    recorded = load_recorded_replies(model)
    named = cast("str | None", options.get("rubric"))
    if named is None and not recorded.compares:
        raise SettingsError(
            "no rubric is named, so that the scale of the recorded scores is not known",
            hint="give --rubric FILE",
        )
    cases = cast("Path | None", options.get("cases"))
    by_id = {} if cases is None else {case.id: case for case in load_dataset(cases).cases}
    rubric = whole_rubric() if named is None else load_rubric(named)
    own = {"repeats": recorded.repeats, "max_reasks": recorded.reasks}
    judge = make_judge(options, None, own)
    try:
        chosen = _chosen(recorded, by_id, options)
        found = asyncio.run(judged_from_replies(judge, chosen, rubric, by_id))
    finally:
        judge.close()
    found.origin["file"] = str(recorded.path)
    return CollectedJudgments(found)


def _chosen(
    recorded: RecordedReplies, cases: Mapping[str, Case], options: Options
) -> RecordedReplies:
    """The replies about the outputs that are wanted, chosen as they would be from a file."""
    tags = frozenset(cast("Iterable[str]", options.get("filter_tag") or ()))
    if tags and not cases:
        raise SettingsError(
            "--filter-tag goes by the tags of cases, and recorded replies have none",
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
            hint="look at `tags` in the file of cases, or leave --filter-tag out",
        )
    if (size := cast("int | None", options.get("sample"))) is not None:
        outputs = list(
            draw_sample(outputs, size, random.Random(cast("int", options.get("seed") or 0)))
        )
    return recorded.only(set(outputs[: cast("int | None", options.get("limit"))]))


def _from_outputs(options: Options) -> CollectedJudgments:
    budget = _budget(options)
    setup = grade_setup({**options, "budget": budget})
    try:
        graded, interrupted = grade_all(setup, options)
    finally:
        setup.judge.close()
    kinds = {failure.kind for one in graded for failure in one.verdict.failures}
    code, note = _ended(kinds, budget, interrupted=interrupted)
    return CollectedJudgments(
        judged_from_grading(graded, setup.rubric, judging_of_judge(setup.judge)), code, note
    )


def _from_sides(sides: tuple[str, str], options: Options, store: str) -> CollectedJudgments:
    budget = _budget(options)
    is_there = "://" in store or Path(store).is_file()
    kept = RunStore(store, create=False) if is_there else None
    try:
        panel, rubric, pairing = compare_setup(sides, {**options, "budget": budget}, kept)
        try:
            found, interrupted = asyncio.run(_compare_all(panel, rubric, pairing, options))
        finally:
            panel.close()
    finally:
        if kept is not None:
            kept.close()
    if not found:
        raise SettingsError(
            "no case is answered by both sides",
            hint="both need the same case_id, and the same input for it; see --filter-tag too",
        )
    kinds = {failure.kind for one in found for failure in one.comparison.failures}
    code, note = _ended(kinds, budget, interrupted=interrupted)
    cases = {one.pair.case.id: one.pair.case for one in found}
    return CollectedJudgments(
        judged_from_records([one.comparison for one in found], cases=cases), code, note
    )


async def _compare_all(
    judge: Panel, rubric: Rubric, pairing: Pairing, options: Options
) -> tuple[list[JudgedPair], bool]:
    """All comparisons that could be had, and whether the user broke it off."""
    stop = asyncio.Event()
    shown = not (options.get("quiet") or options.get("no_progress") or options.get("as_json"))
    total, _ = pairing.count()
    found: list[JudgedPair] = []
    verb = ("comparing", "compared")
    with (
        show_progress(console.stderr(), total, shown=shown, verb=verb) as display,
        Interrupts(stop.set),
    ):
        slots = max(4, judge.max_concurrency)
        async with judge:
            pairs = compare_pairs(
                judge, pairing.pairs(), rubric, names=pairing.names, in_flight=slots, stop=stop
            )
            async with aclosing(pairs) as told:
                async for one in told:
                    found.append(one)
                    said = [*one.comparison.preferences, *one.comparison.failures]
                    paid = sum(each.cost_usd or 0.0 for each in said if not each.cached)
                    display.advance([], target_usd=paid)
    return found, stop.is_set()


def _budget(options: Options) -> Budget | None:
    limit = cast("float | None", options.get("max_cost"))
    return None if limit is None else Budget(limit)


def _ended(
    kinds: Iterable[str], budget: Budget | None, *, interrupted: bool
) -> tuple[int, str | None]:
    """The exit code and the note that asking a judge ends with."""
    again = "run the same command again to go on: nothing that was answered is asked twice"
    if interrupted:
        return EXIT_INTERRUPTED, f"interrupted, so that figures are of a part; {again}"
    found = set(kinds)
    if "frozen_miss" in found:
        return EXIT_FROZEN, "the frozen cache does not hold every reply: figures are of a part"
    if budget is not None and budget.is_exhausted:
        return EXIT_LIMIT, f"--max-cost is reached, so that figures are of a part; {again}"
    return (EXIT_INCOMPLETE, None) if found else (0, None)


_BY_NAME = (
    "the judgments do not tell the judge's parameters (temperature, …): these maps are bound to "
    "model and template only; what `judgekit grade -o` writes tells them, and so does --outputs"
)


def write_maps(report: CalibrationReport, wanted: str, *, asking: int = 0) -> None:
    """Fit the maps, write them, and say on stderr what they do and how they are used."""
    if asking not in {0, EXIT_INCOMPLETE}:
        console.note("no maps were written: not everything was judged")
        return
    calibration = report.maps()
    path = Path(wanted) if wanted else CALIBRATION_MAPS_FOLDER / map_file_name(calibration)
    save_calibration(path, calibration)
    for line in map_summary_lines(calibration):
        console.note(line)
    if not calibration.asked.is_known:
        console.note(_BY_NAME)
    console.note(f"wrote the maps to {path}: judgekit grade … --calibration {path}")
