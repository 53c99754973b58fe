"""`judgekit tune`: improves a rubric by labels, and tests it on held-out cases."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judgekit.bias_audit import ProbeRunner, ProbeSession
from judgekit.cli import console
from judgekit.cli.exit_codes import EXIT_FROZEN, EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_LIMIT
from judgekit.cli.help import HelpCommand
from judgekit.cli.options import (
    cache_options,
    judge_model_options,
    label_options,
    limit_options,
    max_cost_option,
    side_options,
    talk_options,
)
from judgekit.cli.outputs import output_option, show_document, sort_outputs
from judgekit.cli.progress import show_progress
from judgekit.cli.setup import grade_setup
from judgekit.cli.signals import Interrupts
from judgekit.datasets import load_rubric
from judgekit.errors import SettingsError
from judgekit.exports import RUBRIC_SUFFIXES, write_rubric
from judgekit.models import Budget
from judgekit.records import Verdict
from judgekit.report import Conclusion, Document, message, tuning
from judgekit.tuning import TuneOptions, plan_tuning, prepare_tuning, run_tuning

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.calibration import Consensus
    from judgekit.cli.outputs import OutputFiles
    from judgekit.cli.setup import GradeSetup, Options
    from judgekit.records import Rubric
    from judgekit.tuning import TunePlan, Tuning, TuningSetup

_DEFAULTS = TuneOptions()


@click.command("tune", cls=HelpCommand)
@click.argument("labels", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--outputs",
    type=click.Path(path_type=Path, exists=True),
    multiple=True,
    metavar="FILE",
    help="File of labelled outputs; may be repeated.",
)
@click.option(
    "--candidates",
    metavar="FILE|NAME",
    multiple=True,
    help="Reworded rubric with the same criteria and scales; may be repeated.",
)
@click.option(
    "--few-shot",
    metavar="N,N",
    default="0",
    show_default=True,
    help="Try each wording with N labelled outputs as examples; 0: none.",
)
@click.option(
    "--anchors", is_flag=True, help="Try each wording with three labelled outputs as anchors."
)
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=_DEFAULTS.holdout,
    show_default=True,
    help="Share of cases held out; all reported figures come from them.",
)
@label_options
@click.option(
    "--cluster",
    metavar="case|KEY",
    default=_DEFAULTS.cluster,
    show_default=True,
    help="Unit that is never split: cases, or a metadata key that cases share.",
)
@max_cost_option()
@output_option("Write the better rubric to FILE (.yaml or .json), or the report (.md, .html).")
@click.option(
    "--write-anyway",
    is_flag=True,
    help="Write the best candidate even if it is not significantly better.",
)
@click.option("--dry-run", is_flag=True, help="Estimate calls and cost without making any.")
@side_options
@judge_model_options
@limit_options
@cache_options
@talk_options
def tune_command(
    *, labels: Path, output: tuple[Path, ...], write_anyway: bool, dry_run: bool, **options: object
) -> None:
    """Improve a judge using human labels: wording, anchors, examples; verified on held-out cases.

    LABELS and --outputs are files as for judgekit calibrate. The cases are split in two. Every
    candidate is tried on one part, where no output serves as an example for itself. The candidate
    that agrees best with the labels is then compared with the present rubric on the other part, and
    all reported figures come from that part.

    Exit code 0 whatever the result; 3 if the judge failed, 4 if there are too few labels, 5 at
    --max-cost. All replies are cached: the same command continues where it stopped.

    Examples:
        judgekit tune labels.jsonl --outputs outputs.jsonl --anchors --dry-run
        judgekit tune labels.jsonl --outputs outputs.jsonl -o tuned.yaml
    """
    files = sort_outputs(output, what="a rubric", exports=RUBRIC_SUFFIXES)
    if write_anyway and not files.exports:
        raise SettingsError("--write-anyway needs a place", hint="name it: -o tuned.yaml")
    limit = cast("float | None", options["max_cost"])
    budget = None if limit is None else Budget(limit)
    setup = grade_setup({**options, "variant": None, "budget": budget})
    with setup.judge:
        bout = _bout(setup, labels, options)
        plan = plan_tuning(bout, refresh=setup.refresh)
        if dry_run:
            _show_plan(plan, options)
            return
        if not options["quiet"] and not options["as_json"]:
            console.note(tuning.tuning_plan_line(plan))
        sys.exit(_run(bout, options, files, anyway=write_anyway))


def _run(bout: TuningSetup, options: Options, files: OutputFiles, *, anyway: bool) -> int:
    try:
        found = asyncio.run(_ask(bout, options))
    except asyncio.CancelledError:  # the second Ctrl-C
        console.note(f"stopped at once; {_again(bout, 'interrupted')}")
        return EXIT_INTERRUPTED
    show_document(tuning.tuning_document(found), options, files)
    for path in files.exports:
        _write(found, path, options, anyway=anyway)
    if found.decision == "incomplete":
        console.note(_again(bout, found.reason))
    return _code(found)


def _bout(setup: GradeSetup, labels: Path, options: Options) -> TuningSetup:
    folders = tuple(cast("Iterable[Path]", options.get("template_folders") or ()))
    others: dict[str, Rubric] = {}
    for source in cast("Iterable[str]", options["candidates"]):
        name = Path(source).stem
        others[source if name in others else name] = load_rubric(source)
    return prepare_tuning(
        ProbeRunner(setup.judge, folders),
        setup.answers(),
        labels,
        setup.rubric,
        others=others,
        options=TuneOptions(
            few_shot=_numbers(cast("str", options["few_shot"])),
            anchors=bool(options["anchors"]),
            holdout=cast("float", options["holdout"]),
            alpha=cast("float", options["alpha"]),
            consensus=cast("Consensus", options["consensus"]),
            annotators=tuple(cast("Iterable[str]", options["annotator"])),
            cluster=cast("str", options["cluster"]),
            seed=cast("int", options["seed"]),
        ),
    )


def _numbers(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise SettingsError(f"--few-shot is {text!r}", hint="give whole numbers: --few-shot 0,2,4")
    return tuple(int(part) for part in parts)


def _show_plan(plan: TunePlan, options: Options) -> None:
    conclusion = Conclusion(tuning.tuning_plan_line(plan))
    show_document(Document("Plan of a tuning", conclusion, (), lambda: asdict(plan)), options)


async def _ask(bout: TuningSetup, options: Options) -> Tuning:
    sitting = ProbeSession(in_flight=max(4, bout.runner.judge.connection.max_concurrency))
    shown = not (options["quiet"] or options["no_progress"] or options["as_json"])
    with (
        show_progress(console.stderr(), bout.n_gradings, shown=shown) as display,
        Interrupts(lambda: sitting.end("interrupted")),
    ):
        sitting.watch = lambda said: (
            display.advance([*said.judgments, *said.failures])
            if isinstance(said, Verdict)
            else None
        )
        async with bout.runner.judge:
            return await run_tuning(bout, sitting)


def _write(found: Tuning, output: Path, options: Options, *, anyway: bool) -> None:
    """Write what is shown to be better, and say how to use it."""
    is_wanted = found.decision == "better" or (anyway and found.decision != "incomplete")
    if found.tuned is None or not is_wanted:
        why = "" if found.tuned is None else "; --write-anyway writes it regardless"
        console.note(f"{output} is not written{why}")
        return
    write_rubric(output, found.tuned)
    if options["quiet"]:
        return
    said = {
        "--template": found.template or options["template"],
        "--judge": options["judge_model"],
        "--api-base": options["api_base"],
    }
    more = "".join(f" {name} {value}" for name, value in said.items() if value)
    console.note(f"wrote {message.printable(found.chosen or '')} to {output}; use it with:")
    console.note(f"  judgekit grade OUTPUTS --rubric {output}{more}")


def _again(bout: TuningSetup, reason: str | None) -> str:
    keeps = bout.runner.judge.connection.cache is not None
    again = "nothing that was answered is asked twice" if keeps else "from the beginning"
    more = "; a call dearer than --max-cost takes a higher one" if reason == "budget" else ""
    return f"run the same command again to go on: {again}{more}"


def _code(found: Tuning) -> int:
    if found.reason is not None:
        codes = {"interrupted": EXIT_INTERRUPTED, "budget": EXIT_LIMIT, "frozen": EXIT_FROZEN}
        return codes.get(found.reason, EXIT_INCOMPLETE)
    return EXIT_INCOMPLETE if found.failures else 0
