"""`judgekit calibrate`: a judge held against people's labels."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judgekit.cli import console as streams
from judgekit.cli.calibrating.calibrate_judged import judged
from judgekit.cli.calibrating.calibrate_maps import write_maps
from judgekit.cli.calibrating.label_options import label_options
from judgekit.cli.main import EXIT_INCONCLUSIVE, EXIT_INTERRUPTED, EXIT_QUALITY
from judgekit.cli.options import (
    cache_options,
    judge_options,
    limit_options,
    max_cost_option,
    side_options,
    store_option,
    talk_options,
)
from judgekit.datasets.labels import read_labels
from judgekit.evaluation.calibrating.calibrate import calibrate as calibrated
from judgekit.evaluation.calibrating.options import CalibrationOptions
from judgekit.report import view
from judgekit.report.calibration_maps import check_map_place
from judgekit.report.calibration_page import check_calibration_place, write_calibration
from judgekit.report.calibration_terminal import print_calibration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.cli.setup import Options
    from judgekit.evaluation.calibrating.options import (
        Alignment,
        Consensus,
        LabelsAre,
        Rightness,
    )
    from judgekit.evaluation.calibrating.report import CalibrationReport

_DEFAULTS = CalibrationOptions()


@click.command()
@click.argument("labels", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--run", metavar="RUN", help="A stored run (the default: the latest).")
@click.option(
    "--results",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="What `grade -o` or `compare -o` wrote, or rows of case_id and raw or winner.",
)
@click.option(
    "--outputs",
    type=click.Path(path_type=Path, exists=True),
    multiple=True,
    metavar="FILE",
    help="Grade these outputs now, with --judge and --rubric; may be repeated.",
)
@click.option(
    "--compare",
    "sides",
    nargs=2,
    metavar="A B",
    help="Compare these now, blind and in both orders, as `judgekit compare` names them.",
)
@click.option(
    "--labels-are",
    type=click.Choice(["random", "other"]),
    help="How labelled items were chosen: drawn at random among those judged, or otherwise.",
)
@label_options
@click.option(
    "--right",
    type=click.Choice(["pass", "exact", "within_one"]),
    default=_DEFAULTS.right,
    show_default=True,
    help="The judge is right when it passes what people pass, gives their score, or one off.",
)
@click.option(
    "--max-error",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=_DEFAULTS.max_error,
    show_default=True,
    help="Errors allowed among judgments that are taken over without review.",
)
@click.option(
    "--categories",
    is_flag=True,
    help="Levels are categories, none higher than another: no means, no ranks.",
)
@click.option(
    "--epsilon",
    type=click.FloatRange(0, 1, max_open=True),
    default=_DEFAULTS.epsilon,
    show_default=True,
    help="Advantage of the judge in the alternative-annotator test: .2 experts, .15 skilled, .1.",
)
@click.option(
    "--alignment",
    type=click.Choice(["accuracy", "neg_rmse"]),
    help="That test goes by equal labels (the default of two levels), or by squared errors.",
)
@click.option(
    "--half-width",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=_DEFAULTS.half_width,
    show_default=True,
    help="Count the labels that a corrected rate this exact would take.",
)
@click.option(
    "--suggest",
    type=click.IntRange(0),
    default=_DEFAULTS.n_suggested,
    show_default=True,
    help="Propose N items to label next.",
)
@click.option(
    "--worst",
    type=click.IntRange(0),
    default=_DEFAULTS.n_worst,
    show_default=True,
    help="Keep the N worst disagreements of each criterion.",
)
@click.option(
    "--by", multiple=True, metavar="KEY", help="Segments by this metadata; may be repeated."
)
@click.option(
    "--cluster",
    metavar="case|item|KEY",
    default=_DEFAULTS.cluster,
    show_default=True,
    help="What is independent: cases, single outputs, or a metadata entry that cases share.",
)
@click.option(
    "--min-kappa",
    type=click.FloatRange(-1, 1),
    metavar="K",
    help="Exit 1 when agreement is shown to lie below K, 4 when that is open.",
)
@click.option(
    "--require-stand-in",
    is_flag=True,
    help="Exit 1 when the judge may not stand in for a person, 4 when that cannot be said.",
)
@max_cost_option("Never spend more than this on the judge. Exit code 5.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report to FILE: .json, .md, or .html with plots.",
)
@click.option(
    "--write-map",
    metavar="[FILE]",
    is_flag=False,
    flag_value="",
    help="Write the maps that bring the judge to people: FILE.json, or calibration/maps/….json.",
)
@store_option
@side_options
@judge_options
@limit_options
@cache_options
@talk_options
def calibrate(
    *, labels: Path, run: str | None, store: str, output: Path | None, **options: object
) -> None:
    """Hold a judge against people: how far can it be trusted, and what corrects it?"""
    # LABELS has a row for each label: case_id, annotator, raw (a score, or a level's name), and
    # where there are several variant and criterion; of two outputs winner (a, b, tie) in place of
    # raw. They are held against the latest run, another --run, --results of an earlier command, or
    # --outputs that the judge grades now (recorded:FILE and the cache cost nothing).
    # Every interval knows that outputs of one case are not independent. What cannot be said from
    # these labels is said to be open.
    # Exit 0 unless something is required: --min-kappa and --require-stand-in exit 1 when it is not
    # met and 4 when it is open; 3 when a judge asked now failed, 5 at --max-cost.
    _check_places(output, options)
    placed = read_labels(labels)  # sound, before anything is asked
    try:
        said = judged(options, run=run, store=store)
    except asyncio.CancelledError:  # the second Ctrl-C
        streams.note("stopped at once; run the same command again to go on")
        sys.exit(EXIT_INTERRUPTED)
    report = calibrated(said.found, placed, options=_wanted(options))
    _show(report, output, options)
    if said.note is not None:
        streams.note(said.note)
    if options["write_map"] is not None:
        write_maps(report, cast("str", options["write_map"]), asking=said.code)
    sys.exit(said.code or _code(report, _Required.of(options)))


def _check_places(output: Path | None, options: Options) -> None:
    if output is not None:
        check_calibration_place(output)
    if options["write_map"]:
        check_map_place(Path(cast("str", options["write_map"])))


def _show(report: CalibrationReport, output: Path | None, options: Options) -> None:
    if output is not None:
        write_calibration(output, report)
    if options["as_json"]:
        streams.print_json(report.to_json())
    else:
        print_calibration(streams.stdout(), report, full=bool(options["verbose"]))
    if output is not None and not options["quiet"]:
        streams.note(f"wrote the report to {output}")


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
        streams.note(f"--require-stand-in: {'not met' if is_no else 'cannot be said'}")
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
        kappa = view.number(found)
        streams.note(f"{view.printable(part.name)}: kappa {kappa} {words} --min-kappa {least:g}")
        codes.append(EXIT_QUALITY if is_below else EXIT_INCONCLUSIVE)
    return EXIT_QUALITY if EXIT_QUALITY in codes else max(codes)
