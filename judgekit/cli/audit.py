"""`judgekit audit`: measures a judge's biases with probes on your own outputs."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import click

from judgekit import bias_audit, records, report
from judgekit.bias_audit import DEFAULT_N_ATTACKS, DEFAULT_N_REPEATS, Margins
from judgekit.cli import console
from judgekit.cli.exit_codes import Exit
from judgekit.cli.help import command
from judgekit.cli.judge_options import StudyOptions
from judgekit.cli.options import (
    EXISTING_FILE,
    EXISTING_PATH,
    dry_run_option,
    flag,
    max_cost_option,
    option,
    refuse_others,
)
from judgekit.cli.outputs import note_list_prices, output_option, show_document, sort_outputs
from judgekit.cli.progress import attend, run_async, run_until_stopped, show_progress
from judgekit.cli.setup import fatal_words, grade_setup, how_to_continue
from judgekit.errors import SettingsError
from judgekit.report import message, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from judgekit.bias_audit import AuditInputs, AuditPlan
    from judgekit.bias_audit.api import ProbeAnswer
    from judgekit.cli.options import TalkOptions
    from judgekit.cli.outputs import OutputFiles
    from judgekit.cli.setup import GradeSetup
    from judgekit.judge import Judge

_Result = TypeVar("_Result")
# Every probe asks about every case again, so the calls grow fast.
_MOST_CASES = 60
"""Cases that are drawn by default: enough to detect material effects, and affordable."""


class _AuditCommandOptions(StudyOptions):
    probes: str | None = option(
        "Only these: scale, stability, position, identical, verbosity, formatting, authority, "
        "self_preference, paraphrase, mode, criterion_order, injection.",
        metavar="A,B",
    )
    paraphrases: tuple[str, ...] = option(
        "Template with the judge's prompt in other words; may be repeated.",
        (),
        spelling="--paraphrase",
        metavar="NAME",
    )
    own_family: str | None = option("Model family of the judge: GPT, Claude, ….", metavar="NAME")
    n_calls: int = option(
        "Number of calls per question of the stability probe.",
        DEFAULT_N_REPEATS,
        spelling="--askings",
        ge=2,
    )
    attacks: Path | None = option(
        "Your own attacks instead of the shipped ones; see docs/auditing.md.", kind=EXISTING_FILE
    )
    attacks_each: int = option("Number of attacks per output.", DEFAULT_N_ATTACKS, ge=1)
    margin: float = option(
        "Smallest material shift of the value, 0 to 1.", Margins().value, gt=0, le=1
    )
    share_margin: float = option(
        "Smallest material share of cases, 0 to 1.", Margins().share, gt=0, le=1
    )
    max_cost: float | None = max_cost_option(
        "Cost limit; probes that exceed it are skipped. Exit code 5."
    )
    output: tuple[Path, ...] = output_option(
        "Write the findings to FILE: .json, .md, or .html with every interval drawn."
    )
    fail_on: Literal["material"] | None = option("Exit 1 if a material bias is found.")
    dry_run: bool = dry_run_option()
    self_test: bool = flag("Run the probes on simulated judges; needs no key and no files.")


@command("audit", _AuditCommandOptions)
@click.argument("outputs", nargs=-1, type=EXISTING_PATH)
def audit_command(options: _AuditCommandOptions) -> None:
    """Probe a judge for twelve known biases on your own OUTPUTS.

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
    # Needs neither outputs nor a judge, so it comes before everything that looks for them.
    if options.self_test:
        sys.exit(_self_test(options))
    # A file that cannot be written is an error before the calls are paid for, not after.
    files = sort_outputs(options.output, what="an audit")
    # Whole cases are drawn, below: several variants of a case are compared with each other.
    every_case = options.model_copy(update={"limit": None, "sample": None})
    setup = grade_setup(every_case)
    with setup.judge:
        # Probes render their own variations of the prompt, from the same folders as the judge.
        bench = bias_audit.ProbeRunner(setup.judge, options.judge_settings.template_folders)
        material = _material(setup, options)
        probes = bias_audit.select_probes((options.probes or "").split(","))
        limit = options.max_cost
        plan = bias_audit.plan_audit(
            bench, material, probes, refresh=setup.refresh, max_cost_usd=limit
        )
        if options.dry_run:
            note_list_prices([setup.judge.connection])
            show_document(report.audit_plan_document(plan), options)
            sys.exit(Exit.LIMIT if any(one.is_too_dear for one in plan.probes) else 0)
        sys.exit(_run(bench, material, plan, options, files))


def _material(setup: GradeSetup, options: _AuditCommandOptions) -> AuditInputs:
    # An output that is an error of its producer has nothing a probe could change.
    answers = [(case, output) for case, output in setup.answers() if output.error is None]
    if not answers:
        raise SettingsError(
            "there is no output to audit the judge with",
            hint="errors of the system under test are not judged; see --filter-tag too",
        )
    sample, seed = options.sample, options.seed
    n_all = len({case.id for case, _ in answers})
    if options.limit is None and sample is None and n_all > _MOST_CASES:
        sample = _MOST_CASES
        console.note(
            f"{_MOST_CASES} of {n_all:,} cases drawn at random with seed {seed} (--sample N "
            "changes the number)"
        )
    corpus = None if options.attacks is None else bias_audit.read_attacks(options.attacks)
    if corpus is not None and not options.quiet:
        attacks = numbers.format_count(len(corpus.attacks), "attack")
        kinds = numbers.format_count(len(corpus.families), "kind")
        rest = numbers.format_count(corpus.n_left_out, "row")
        without = f"; {rest} without an attack" if corpus.n_left_out else ""
        console.note(f"{options.attacks}: {attacks} of {kinds}{without}")
    audit_options = options.fill(
        bias_audit.AuditOptions,
        family=options.own_family,
        n_askings=options.n_calls,
        attacks=corpus,
        n_attacks=options.attacks_each,
        margins=Margins(options.margin, options.share_margin),
        level=1 - options.alpha,
    )
    # The same seed draws the same cases, so that two judges can be audited on one sample.
    items = bias_audit.select_cases(answers, limit=options.limit, sample=sample, seed=seed)
    return bias_audit.build_audit_inputs(setup.judge, items, setup.rubric, audit_options)


def _run(
    bench: bias_audit.ProbeRunner,
    material: AuditInputs,
    plan: AuditPlan,
    options: _AuditCommandOptions,
    files: OutputFiles,
) -> int:
    judge = bench.judge
    if not options.quiet and not options.as_json:
        calls = numbers.format_count(plan.calls.n_calls, "call")
        model = message.printable(plan.calls.model)
        console.note(f"{calls} to {model}, {plan.calls.n_owned:,} replies already cached")
    again = how_to_continue(judge)
    audit, session = run_probes(
        partial(bias_audit.run_audit, bench, material, plan),
        judge,
        options,
        total=len(plan.wanted),
        continuation=again,
        verb=("auditing", "asked"),
    )
    show_document(report.audit_document(audit), options, files)
    if session.reason == "interrupted":
        console.note(f"interrupted; {again}")
        return Exit.INTERRUPTED
    if session.reason == "budget" or any(one.is_too_dear for one in plan.probes):
        return Exit.LIMIT
    if session.detail is not None:
        console.note(f"{fatal_words(session.detail)}; {again}")
    # Before "incomplete": what is missing is known, and a run without --frozen completes it.
    if "frozen_miss" in audit.failures:
        return Exit.FROZEN
    if not audit.is_complete:
        return Exit.INCOMPLETE
    if options.fail_on is not None and all(one.status == "skipped" for one in audit.probes):
        console.note("no probe could be run, so --fail-on is inconclusive")
        return Exit.INCONCLUSIVE
    return Exit.QUALITY if options.fail_on is not None and audit.found_material else 0


def run_probes(
    work: Callable[[bias_audit.ProbeSession], Coroutine[object, object, _Result]],
    judge: Judge,
    options: TalkOptions,
    *,
    total: int,
    continuation: str,
    verb: tuple[str, str] = ("grading", "graded"),
) -> tuple[_Result, bias_audit.ProbeSession]:
    """Carry out probes with progress; Ctrl-C ends the session, and calls in flight are finished."""
    session = bias_audit.ProbeSession(in_flight=max(4, judge.connection.max_concurrency))
    stop = partial(session.end, "interrupted")

    async def probe() -> _Result:
        with attend(options, total, interrupt=stop, verb=verb, judges=[judge]) as display:

            def advance(answer: ProbeAnswer) -> None:
                if isinstance(answer, records.Verdict):
                    display.advance([*answer.judgments, *answer.failures])
                else:
                    display.advance(answer)

            session.watch = advance
            async with judge:
                return await work(session)

    return run_until_stopped(probe(), continuation), session


def _self_test(options: _AuditCommandOptions) -> int:
    why = "does not go with --self-test, which runs all probes on simulated judges"
    hint = "omit it; --json prints everything, --seed draws other judges"
    if options.outputs or options.output:
        raise SettingsError(f"{'OUTPUTS' if options.outputs else '--output'} {why}", hint=hint)
    refuse_others({"self_test", "seed", "limit"}, why, hint)
    # Besides the fair judge and the others, each half of the false-alarm test is a step.
    total = 1 + len(bias_audit.PLANTED_BIASES) + bias_audit.SELF_TEST_HALVES
    with show_progress(
        console.stderr(), total, shown=options.shows_progress, verb=("testing", "tested")
    ) as display:
        result = run_async(
            bias_audit.run_self_test(
                seed=options.seed,
                n_cases=options.limit or bias_audit.SELF_TEST_CASES,
                watch=lambda _: display.advance(),
            )
        )
    show_document(report.self_test_document(result), options)
    return Exit.QUALITY if result.wrong else 0
