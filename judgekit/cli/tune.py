"""`judgekit tune`: improves a rubric by labels, and tests it on held-out cases."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit import bias_audit, calibration, datasets, exports, report, tuning
from judgekit.cli import console
from judgekit.cli.audit import run_probes
from judgekit.cli.exit_codes import Exit
from judgekit.cli.help import command
from judgekit.cli.judge_options import LabelledStudyOptions
from judgekit.cli.options import EXISTING_FILE, dry_run_option, flag, option, outputs_option
from judgekit.cli.outputs import note_list_prices, output_option, show_document, sort_outputs
from judgekit.cli.setup import fatal_words, grade_setup, how_to_continue
from judgekit.errors import SettingsError
from judgekit.report import message
from judgekit.tuning import TuneOptions

if TYPE_CHECKING:
    from judgekit.cli.outputs import OutputFiles
    from judgekit.cli.setup import GradeSetup
    from judgekit.records import Rubric
    from judgekit.report import KnownAnswers
    from judgekit.tuning import Tuning, TuningSetup

_DEFAULTS = TuneOptions()


class _TuneCommandOptions(LabelledStudyOptions):
    outputs: tuple[Path, ...] = outputs_option("File of labelled outputs.")
    candidates: tuple[str, ...] = option(
        "Reworded rubric with the same criteria and scales; may be repeated.",
        (),
        metavar="FILE|NAME",
    )
    # Text, not a number: several counts are tried, each as a candidate of its own.
    few_shot: str = option(
        "Try each wording with N labelled outputs as examples; 0: none.", "0", metavar="N,N"
    )
    anchors: bool = flag("Try each wording with three labelled outputs as anchors.")
    holdout: float = option(
        "Share of cases held out; all reported figures come from them.",
        _DEFAULTS.holdout,
        gt=0,
        lt=1,
    )
    cluster: str = option(
        "Unit that is never split: cases, or a metadata key that cases share.",
        _DEFAULTS.cluster,
        metavar="case|KEY",
    )
    output: tuple[Path, ...] = output_option(
        "Write the better rubric to FILE (.yaml or .json), or the report (.md, .html)."
    )
    write_anyway: bool = flag("Write the best candidate even if it is not significantly better.")
    dry_run: bool = dry_run_option()


@command("tune", _TuneCommandOptions)
@click.argument("labels", type=EXISTING_FILE)
def tune_command(options: _TuneCommandOptions, *, labels: Path) -> None:
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
        judgekit tune labels.jsonl --outputs outputs.jsonl --few-shot 0,2,4
    """
    files = sort_outputs(options.output, what="a rubric", exports=exports.RUBRIC_SUFFIXES)
    if options.write_anyway and not files.exports:
        raise SettingsError("--write-anyway needs a file to write", hint="name it: -o tuned.yaml")
    setup = grade_setup(options)
    with setup.judge:
        prepared = _prepare(setup, labels, options)
        # Always: the number of calls grows with candidates times examples, which surprises.
        plan = tuning.plan_tuning(prepared, refresh=setup.refresh)
        if options.dry_run:
            note_list_prices([setup.judge.connection])
            limit = options.max_cost
            document = report.tuning_plan_document(plan, prepared.share, max_cost_usd=limit)
            show_document(document, options)
            sys.exit(Exit.LIMIT if plan.sufficiency(limit) == "short" else 0)
        if not options.quiet and not options.as_json:
            share = report.labelled_share_words(prepared.share)
            console.note(f"labels {share}; only these are judged")
            console.note(report.tuning_plan_line(plan))
        answers = [
            (calibration.output_key(case, output), report.KnownAnswer(case, (output,)))
            for case, output in setup.every_answer()
        ]
        sys.exit(_run(prepared, answers, options, files))


def _run(
    prepared: TuningSetup, answers: KnownAnswers, options: _TuneCommandOptions, files: OutputFiles
) -> int:
    judge = prepared.runner.judge
    again = how_to_continue(judge)
    work, total = partial(tuning.run_tuning, prepared), prepared.n_gradings
    result, session = run_probes(work, judge, options, total=total, continuation=again)
    show_document(report.tuning_document(result, prepared.rubric, answers), options, files)
    # After the report: a reader of stdout learns first whether the rubric is better at all.
    for path in files.exports:
        _write(result, path, options)
    if result.decision == "incomplete":
        if session.detail is not None:
            console.note(fatal_words(session.detail))
        is_short = result.reason == "budget"
        more = "; the next call needs a higher --max-cost" if is_short else ""
        console.note(f"{again}{more}")
    if result.reason is not None:
        codes = {"interrupted": Exit.INTERRUPTED, "budget": Exit.LIMIT, "frozen": Exit.FROZEN}
        return codes.get(result.reason, Exit.INCOMPLETE)
    return Exit.INCOMPLETE if result.failures else 0


def _prepare(setup: GradeSetup, labels: Path, options: _TuneCommandOptions) -> TuningSetup:
    others: dict[str, Rubric] = {}
    for source in options.candidates:
        # Files of one name in several folders keep their paths.
        name = Path(source).stem
        others[source if name in others else name] = datasets.load_rubric(source)
    parts = [part.strip() for part in options.few_shot.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise SettingsError(
            f"--few-shot is {options.few_shot!r}", hint="give whole numbers: --few-shot 0,2,4"
        )
    return tuning.prepare_tuning(
        bias_audit.ProbeRunner(setup.judge, options.judge_settings.template_folders),
        list(setup.every_answer()),
        labels,
        setup.rubric,
        others=others,
        only={calibration.output_key(case, output) for case, output in setup.answers()},
        options=options.fill(
            TuneOptions, few_shot=tuple(int(part) for part in parts), annotators=options.annotator
        ),
        note=console.note,
    )


def _write(result: Tuning, output: Path, options: _TuneCommandOptions) -> None:
    """Write the tuned rubric if it is significantly better, and report how to use it."""
    is_forced = options.write_anyway and result.decision != "incomplete"
    if result.tuned is None or not (result.decision == "better" or is_forced):
        why = "" if result.tuned is None else "; --write-anyway writes it regardless"
        console.note(f"{output} is not written{why}")
        return
    exports.write_rubric(output, result.tuned)
    if options.quiet:
        return
    # The examples and anchors are in the template, without which the rubric is another judge.
    template = result.template or options.judge_settings.template
    is_joint = template is None and options.judge_settings.mode == "joint"
    flags = {
        "--template": template,
        "--mode": "joint" * is_joint,
        "--judge": options.judge_model,
        "--api-base": options.judge_settings.api_base,
    }
    more = "".join(f" {name} {value}" for name, value in flags.items() if value)
    console.note(f"wrote {message.printable(result.chosen or '')} to {output}; use it with:")
    console.note(f"  judgekit grade OUTPUTS --rubric {output}{more}")
