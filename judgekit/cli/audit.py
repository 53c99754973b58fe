"""`judgekit audit`: measures a judge's biases with probes on your own outputs."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judgekit.bias_audit import (
    DEFAULT_N_ATTACKS,
    DEFAULT_N_REPEATS,
    AuditOptions,
    Margins,
    ProbeRunner,
    ProbeSession,
    build_audit_inputs,
    plan_audit,
    read_attacks,
    run_audit,
    select_cases,
    select_probes,
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
from judgekit.cli.help import HelpCommand
from judgekit.cli.options import (
    cache_options,
    judge_model_options,
    limit_options,
    max_cost_option,
    side_options,
    talk_options,
)
from judgekit.cli.outputs import output_option, show_document, sort_outputs
from judgekit.cli.progress import show_progress
from judgekit.cli.setup import grade_setup
from judgekit.cli.signals import Interrupts
from judgekit.errors import SettingsError
from judgekit.models import Budget
from judgekit.records import Verdict
from judgekit.report import (
    audit_document,
    audit_plan_document,
    message,
    numbers,
    self_test_document,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.bias_audit import AttackCorpus, Audit, AuditInputs, AuditPlan
    from judgekit.bias_audit.session import ProbeAnswer
    from judgekit.cli.outputs import OutputFiles
    from judgekit.cli.progress import ProgressReporter
    from judgekit.cli.setup import GradeSetup, Options

_MOST_CASES = 60
"""Cases that are drawn where nothing says how many: enough to see what matters, and affordable."""


@click.command("audit", cls=HelpCommand)
@click.argument("outputs", nargs=-1, type=click.Path(path_type=Path, exists=True))
@side_options
@judge_model_options
@limit_options
@cache_options
@talk_options
@click.option(
    "--probes",
    metavar="A,B",
    help="Only these: scale, stability, position, identical, verbosity, formatting, authority, "
    "self_preference, paraphrase, criterion_order, injection.",
)
@click.option(
    "--paraphrase",
    "paraphrases",
    metavar="NAME",
    multiple=True,
    help="Template with the judge's prompt in other words; may be repeated.",
)
@click.option("--own-family", metavar="NAME", help="Model family of the judge: GPT, Claude, ….")
@click.option(
    "--askings",
    type=click.IntRange(2),
    default=DEFAULT_N_REPEATS,
    show_default=True,
    help="Number of calls per question of the stability probe.",
)
@click.option(
    "--attacks",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Your own attacks instead of the shipped ones; see docs/auditing.md.",
)
@click.option(
    "--attacks-each",
    type=click.IntRange(1),
    default=DEFAULT_N_ATTACKS,
    show_default=True,
    help="Number of attacks per output.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True),
    default=Margins().value,
    show_default=True,
    help="Smallest material shift of the value, 0 to 1.",
)
@click.option(
    "--share-margin",
    type=click.FloatRange(0, 1, min_open=True),
    default=Margins().share,
    show_default=True,
    help="Smallest material share of cases, 0 to 1.",
)
@max_cost_option("Cost limit; probes that exceed it are skipped. Exit code 5.")
@output_option("Write the findings to FILE: .json, .md, or .html with every interval drawn.")
@click.option(
    "--fail-on", type=click.Choice(["material"]), help="Exit 1 if a material bias is found."
)
@click.option("--dry-run", is_flag=True, help="Estimate calls and cost without making any.")
@click.option(
    "--self-test",
    is_flag=True,
    help="Run the probes on simulated judges; needs no key and no files.",
)
def audit_command(
    *, self_test: bool, output: tuple[Path, ...], dry_run: bool, **options: object
) -> None:
    """Probe a judge for eleven known biases on your own OUTPUTS.

    OUTPUTS are files as for judgekit grade; without them, the recorded variants of the suite. Each
    probe changes one thing that should not matter, calls the same judge again and reports the
    effect with its confidence interval and whether it is material. Without -n or --sample, 60 cases
    are drawn at random.

    Exit code 0 whatever the result. With --fail-on material: 1 if there is a material bias, 4 if no
    probe could be made. 3 if a judge failed, 5 if the cost limit was reached.

    Examples:
        judgekit audit --dry-run
        judgekit audit outputs.jsonl --rubric helpfulness -o audit.html
        judgekit audit --probes position,verbosity --fail-on material
    """
    if self_test:
        _check_alone(output, options, dry_run=dry_run)
        sys.exit(_self_test(options))
    files = sort_outputs(output, what="an audit")
    job = _job(options)
    if dry_run:
        with job.setup.judge:
            show_document(audit_plan_document(job.plan), options)
        return
    sys.exit(_run(job, options, files))


def _check_alone(output: tuple[Path, ...], options: Options, *, dry_run: bool) -> None:
    """Refuse what a self-test would pass over in silence."""
    given = {
        "OUTPUTS": options["outputs"],
        "--probes": options["probes"],
        "--attacks": options["attacks"],
        "--sample": options["sample"],
        "-o": output,
        "--dry-run": dry_run,
    }
    names = [name for name, value in given.items() if value]
    if names:
        raise SettingsError(
            f"--self-test tries all probes on judges of its own; {', '.join(names)} is not for it",
            hint="leave it out; --json prints everything, --seed draws other judges",
        )


@dataclass(frozen=True, slots=True)
class _Job:
    """Everything an audit needs."""

    setup: GradeSetup
    bench: ProbeRunner
    material: AuditInputs
    plan: AuditPlan


def _job(options: Options) -> _Job:
    limit = cast("float | None", options["max_cost"])
    budget = None if limit is None else Budget(limit)
    wanted = {"limit": None, "sample": None, "variant": None, "budget": budget}
    setup = grade_setup({**options, **wanted})
    folders = tuple(cast("Iterable[Path]", options.get("template_folders") or ()))
    bench = ProbeRunner(setup.judge, folders)
    material = _material(setup, options)
    probes = select_probes((cast("str | None", options["probes"]) or "").split(","))
    plan = plan_audit(bench, material, probes, refresh=setup.refresh, max_cost_usd=limit)
    return _Job(setup, bench, material, plan)


def _material(setup: GradeSetup, options: Options) -> AuditInputs:
    answers = [(case, output) for case, output in setup.answers() if output.error is None]
    if not answers:
        raise SettingsError(
            "there is no output to audit the judge with",
            hint="errors of the system under test are not judged; see --filter-tag too",
        )
    limit = cast("int | None", options["limit"])
    sample = cast("int | None", options["sample"])
    seed = cast("int", options["seed"])
    n_all = len({case.id for case, _ in answers})
    if limit is None and sample is None and n_all > _MOST_CASES:
        sample = _MOST_CASES
        console.note(
            f"{_MOST_CASES} of {n_all:,} cases are drawn with seed {seed} (--sample N for others)"
        )
    wanted = AuditOptions(
        paraphrases=tuple(cast("Iterable[str]", options["paraphrases"])),
        family=cast("str | None", options["own_family"]),
        n_askings=cast("int", options["askings"]),
        attacks=_corpus(options),
        n_attacks=cast("int", options["attacks_each"]),
        margins=Margins(cast("float", options["margin"]), cast("float", options["share_margin"])),
        level=1 - cast("float", options["alpha"]),
        seed=seed,
    )
    items = select_cases(answers, limit=limit, sample=sample, seed=seed)
    return build_audit_inputs(setup.judge, items, setup.rubric, wanted)


def _corpus(options: Options) -> AttackCorpus | None:
    path = cast("Path | None", options["attacks"])
    if path is None:
        return None
    found = read_attacks(path)
    if not options["quiet"]:
        attacks, kinds = numbers.format_count(len(found.attacks), "attack"), len(found.families)
        without = (
            f"; {numbers.format_count(found.n_left_out, 'row')} hold none"
            if found.n_left_out
            else ""
        )
        console.note(f"{path}: {attacks} of {numbers.format_count(kinds, 'kind')}{without}")
    return found


def _run(job: _Job, options: Options, files: OutputFiles) -> int:
    sitting = ProbeSession(in_flight=max(4, job.setup.judge.connection.max_concurrency))
    if not options["quiet"] and not options["as_json"]:
        calls, model = (
            numbers.format_count(job.plan.n_calls, "call"),
            message.printable(job.plan.model),
        )
        console.note(f"{calls} to {model}, {job.plan.n_owned:,} replies already cached")
    try:
        found = asyncio.run(_ask(job, sitting, options))
    except asyncio.CancelledError:  # the second Ctrl-C
        console.note(_interrupted("stopped at once", job))
        return EXIT_INTERRUPTED
    finally:
        job.setup.judge.close()
    show_document(audit_document(found), options, files)
    if sitting.reason == "interrupted":
        console.note(_interrupted("interrupted", job))
    return _code(found, job.plan, sitting, fails_on_material=options["fail_on"] is not None)


async def _ask(job: _Job, sitting: ProbeSession, options: Options) -> Audit:
    shown = not (options["quiet"] or options["no_progress"] or options["as_json"])
    total = len(job.plan.wanted)
    with (
        show_progress(console.stderr(), total, shown=shown, verb=("auditing", "asked")) as display,
        Interrupts(lambda: sitting.end("interrupted")),
    ):
        sitting.watch = lambda said: _advance(display, said)
        async with job.setup.judge:
            return await run_audit(job.bench, job.material, job.plan, sitting)


def _advance(display: ProgressReporter, said: ProbeAnswer) -> None:
    if isinstance(said, Verdict):
        display.advance([*said.judgments, *said.failures])
    else:
        paid = sum(one.cost_usd or 0.0 for one in said if not one.cached)
        display.advance([], target_usd=paid)


def _interrupted(what: str, job: _Job) -> str:
    keeps = job.setup.judge.connection.cache is not None
    again = "nothing that was answered is asked twice" if keeps else "from the beginning"
    return f"{what}; run the same command again to go on: {again}"


def _code(found: Audit, plan: AuditPlan, sitting: ProbeSession, *, fails_on_material: bool) -> int:
    if sitting.reason == "interrupted":
        return EXIT_INTERRUPTED
    if sitting.reason == "budget" or any(one.is_too_dear for one in plan.probes):
        return EXIT_LIMIT
    if "frozen_miss" in found.failures:
        return EXIT_FROZEN
    if not found.is_complete:
        return EXIT_INCOMPLETE
    return _quality(found) if fails_on_material else 0


def _quality(found: Audit) -> int:
    if all(one.status == "skipped" for one in found.probes):
        console.note("no probe could be run, so --fail-on is inconclusive")
        return EXIT_INCONCLUSIVE
    return EXIT_QUALITY if found.found_material else 0


def _self_test(options: Options) -> int:
    from judgekit.bias_audit import (  # noqa: PLC0415
        FAIR_JUDGE,
        PLANTED_BIASES,
        SELF_TEST_CASES,
        SELF_TEST_HALVES,
        run_self_test,
    )

    shown = not (options["quiet"] or options["no_progress"] or options["as_json"])
    total = len((FAIR_JUDGE, *PLANTED_BIASES)) + SELF_TEST_HALVES
    n_cases = cast("int | None", options["limit"]) or SELF_TEST_CASES
    with show_progress(console.stderr(), total, shown=shown, verb=("testing", "tested")) as display:
        found = asyncio.run(
            run_self_test(
                seed=cast("int", options["seed"]),
                n_cases=n_cases,
                watch=lambda _: display.advance([]),
            )
        )
    show_document(self_test_document(found), options)
    return EXIT_QUALITY if found.wrong else 0
