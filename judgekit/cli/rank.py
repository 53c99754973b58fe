"""`judgekit rank`: ranks several variants by blind comparisons, new ones or from files."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from judgekit.cli import console
from judgekit.cli.comparison_job import follow_comparisons
from judgekit.cli.exit_codes import (
    EXIT_FROZEN,
    EXIT_INCOMPLETE,
    EXIT_INCONCLUSIVE,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
)
from judgekit.cli.help import HelpCommand
from judgekit.cli.options import ContestOptions, max_cost_option, option, takes
from judgekit.cli.outputs import OutputFiles, output_option, show_document, sort_outputs
from judgekit.cli.setup import note_unused_replies
from judgekit.cli.sides import (
    SideArguments,
    answering_suite,
    check_one_rubric,
    check_pair_judge,
    file_sides,
    generate_outputs,
    is_file_argument,
    judges_and_rubric,
    open_pair_judges,
    parse_sides,
    run_sides,
    show_pair_plan,
    side_budget,
    suite_cases,
    unknown_side_error,
    unpriced_error,
)
from judgekit.errors import DatasetError, SettingsError
from judgekit.evaluation import (
    Contest,
    PairChoice,
    Ranker,
    RankRules,
    Ties,
    holds_comparisons,
    rank_matches,
    read_comparisons,
)
from judgekit.formats import suffix_of
from judgekit.report import (
    check_comparison_file,
    comparison_lines,
    printable,
    ranking_document,
)
from judgekit.store import RunStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from judgekit.evaluation import RankingSummary, Side
    from judgekit.judge import Panel
    from judgekit.records import Comparison, Rubric


class RankOptions(ContestOptions):
    """The options of `rank`."""

    pairs: PairChoice = option(
        "--pairs",
        "All pairs, or the most uncertain ones until the top is decided.",
        "round-robin",
    )
    top: int = option("--top", "Number of first places to decide.", 1, ge=1)
    ties: Ties = option(
        "--ties", "Count a tie as half a win for each, or model it as a third outcome.", "half"
    )
    max_comparisons: int | None = option(
        "--max-comparisons", "Maximum number of comparisons.", ge=1
    )
    max_cost: float | None = max_cost_option(
        "Stop at this cost, outputs included; run it again to continue. Exit code 5."
    )
    resume: str | None = option(
        "--resume",
        "Reuse the outputs of this run and produce only the missing ones.",
        metavar="RUN",
    )
    output: tuple[Path, ...] = output_option(
        "Write every comparison to FILE (.jsonl, .json), or the report (.md, .html)."
    )


@click.command("rank", cls=HelpCommand)
@click.argument("sides", nargs=-1, required=True)
@takes(RankOptions)
def rank_command(options: RankOptions, *, sides: tuple[str, ...]) -> None:
    """Rank SIDES: each pair is compared blind, in both orders, on the cases that both answer.

    SIDES are named as for judgekit compare: output files, variants of a suite, prompt templates
    (.j2, with --cases and -m) or stored runs (FILE::VARIANT, RUN::VARIANT). Missing outputs are
    produced first and stored. SIDES can also be files with existing comparisons (written by
    compare -o or rank -o, or rows with variant_a, variant_b, winner and case_id); then no judge is
    called. With several judges, each has one vote.

    Exit code 0 if the first places are decided, 4 if not, 3 if a judge failed, 5 if the cost limit
    was reached.

    Examples:
        judgekit rank v1 v2 v3
        judgekit rank a.jsonl b.jsonl c.jsonl --rubric helpfulness --judge local
        judgekit rank comparisons.jsonl --ties davidson
    """
    files = sort_outputs(options.output, what="comparisons", exports=(".jsonl", ".json"))
    rules = RankRules(ties=options.ties, top=options.top, alpha=options.alpha)
    if recorded := comparison_files(sides):
        _refuse_judging_options(options, files)
        source = read_comparisons(recorded)
        summary = rank_matches(source.matches, rules=rules, questioned=source.provenance())
        show_document(ranking_document(summary), options, files)
        sys.exit(0 if summary.decision.is_decided else EXIT_INCONCLUSIVE)
    for file in files.exports:
        check_comparison_file(file, sides)
    # `--top 3` of three sides decides nothing, which is an error before the first call.
    rules.check(len(sides))
    with ExitStack() as stack:
        ranked = _setup(sides, options, stack)
        if isinstance(ranked, int):
            sys.exit(ranked)
        stack.callback(ranked.panel.close)
        contest = ranked.contest
        if not contest.n_matches:
            raise SettingsError(
                "no case is answered by two of the sides",
                hint="they need the same case_id, and the same input for it; see --filter-tag",
            )
        if options.dry_run:
            matches = contest.in_rounds()[: options.max_comparisons]
            pairs = (match.pair for match in matches)
            sys.exit(show_pair_plan(ranked.panel, pairs, ranked.rubric, contest.names, options))
        sys.exit(_run(ranked, rules, options, files))


class RankingSetup(NamedTuple):
    """Who is ranked, by whom and how."""

    panel: Panel
    rubric: Rubric
    contest: Contest

    # The run in which outputs were produced for it, to be named in the command that resumes.
    run_id: str | None = None


def _setup(names: Sequence[str], options: RankOptions, stack: ExitStack) -> RankingSetup | int:
    """Who is ranked, by whom and how; an exit code if the outputs could not be produced."""
    sides = parse_sides(names, options.config)
    if sides.kind == "generated":
        if options.dry_run:
            raise unpriced_error("ranking")

        def open_store() -> RunStore:
            return stack.enter_context(closing(RunStore(options.store)))

        return rank_generated(sides, options, open_store)
    if options.resume is not None:
        raise SettingsError(
            "--resume is for sides whose outputs are produced first",
            hint="omit it: cached replies are not requested again",
        )
    # Files need no store, and a store that does not exist has no run to rank.
    is_there = "://" in options.store or Path(options.store).is_file()
    store: AbstractContextManager[RunStore | None] = nullcontext()
    if is_there and not all(map(is_file_argument, names)):
        store = closing(RunStore(options.store, create=False))
    return rank_setup(sides, options, stack.enter_context(store))


@dataclass(frozen=True, slots=True)
class _Job:
    """A ranking as it is made."""

    ranker: Ranker
    options: RankOptions


def _run(ranked: RankingSetup, rules: RankRules, options: RankOptions, files: OutputFiles) -> int:
    panel, rubric, contest, run_id = ranked
    ranker = Ranker(
        panel,
        contest,
        rubric,
        rules,
        pairs=options.pairs,
        max_comparisons=options.max_comparisons,
        # Enough at a time to keep every slot busy.
        in_flight=max(4, panel.max_concurrency),
    )
    job = _Job(ranker, options)
    same = "the same command" if run_id is None else f"the same command with --resume {run_id}"
    cached = "cached replies are not requested again"
    if not panel.keeps:
        cached = "without a cache, the judges start over"
    again = f"run {same} again to continue: {cached}"
    try:
        asyncio.run(_compare(job, panel, files))
    except asyncio.CancelledError:  # the second Ctrl-C
        console.note(f"stopped at once; {again}")
        return EXIT_INTERRUPTED
    summary = ranker.summary()
    show_document(ranking_document(summary), options, files)
    for path in () if options.quiet else files.exports:
        console.note(f"wrote the comparisons to {path}")
    ended = summary.questioned.ended
    if ended in {"interrupted", "cost"}:
        why = "interrupted" if ended == "interrupted" else "the budget is spent"
        console.note(f"{why}; {again}")
    # Replies are unused for a reason if it ended early.
    elif ended == "all":
        note_unused_replies(panel.judges)
    return _code(summary)


async def _compare(job: _Job, panel: Panel, files: OutputFiles) -> None:
    """Compare until everything is done or decided, or the user interrupts it."""

    def describe(comparison: Comparison) -> str:
        a, b = (printable(name or "", 40) for name in (comparison.variant_a, comparison.variant_b))
        return f"A is {a}, B is {b}\n{comparison_lines(comparison)}"

    async with panel:
        await follow_comparisons(
            job.ranker.ask(),
            total=job.ranker.total,
            outputs=files.exports,
            interrupt=job.ranker.interrupt,
            options=job.options,
            describe=describe,
        )


def _code(summary: RankingSummary) -> int:
    source = summary.questioned
    # How it ended goes first: the ranking so far may look decided.
    by_end = {"interrupted": EXIT_INTERRUPTED, "cost": EXIT_LIMIT}
    if source.ended in by_end:
        return by_end[source.ended]
    if source.failures:
        return EXIT_FROZEN if "frozen_miss" in source.failures else EXIT_INCOMPLETE
    return 0 if summary.decision.is_decided else EXIT_INCONCLUSIVE


def _refuse_judging_options(options: RankOptions, files: OutputFiles) -> None:
    """Refuse options that would be ignored: no case is chosen and no judge called."""
    values: dict[str, bool] = {
        # It has a default, so it is only known to be given if it differs.
        "pairs": options.pairs != "round-robin",
        "max-comparisons": options.max_comparisons is not None,
        "output": bool(files.exports),
        "dry-run": options.dry_run,
        "filter-tag": bool(options.filter_tag),
        "limit": options.limit is not None,
        "sample": options.sample is not None,
        "rule": "rule" in options.judge_settings.model_fields_set,
        "resume": options.resume is not None,
    }
    for name in (name for name, is_given in values.items() if is_given):
        raise SettingsError(
            f"--{name} is for sides that a judge compares",
            hint="the arguments are files of existing comparisons",
        )


_FEWEST_SIDES = 2


def comparison_files(names: Sequence[str]) -> list[Path]:
    """The arguments as files of comparisons; empty if they are sides to compare."""
    files = [Path(name) for name in names if _holds_comparisons(Path(name))]
    # Sides are compared by a judge now; files are only read, without judge and cache.
    if files and len(files) < len(names):
        raise SettingsError(
            f"{files[0]} holds comparisons, and other arguments do not",
            hint="rank files of comparisons, or sides to compare",
        )
    if not files and len(names) < _FEWEST_SIDES:
        problem = f"{names[0]} is the only side; ranking needs at least two"
        if not is_file_argument(names[0]):
            problem = f"{names[0]} is not a file of comparisons, and no other side is named"
        raise SettingsError(
            problem,
            hint="name two sides or more (FILE, FILE::VARIANT, a suite's variant, RUN::VARIANT), "
            "or a file of comparisons",
        )
    return files


def rank_setup(sides: SideArguments, options: RankOptions, store: RunStore | None) -> RankingSetup:
    """Resolve who is ranked, by whom and how, if all outputs exist."""
    judges = options.judge_model
    check_pair_judge(sides.suite, options, judges)
    budget = side_budget(sides, options)
    if sides.kind == "files":
        panel, rubric, ranked_sides = file_sides(sides, options, judges, budget)
    else:
        known = [one for one in sides.names if one in sides.variants or is_file_argument(one)]
        if store is None:
            raise unknown_side_error(sides)
        if known:
            other = "files" if is_file_argument(known[0]) else "variants of the suite"
            raise SettingsError(
                f"stored runs and {other} cannot be ranked together", hint="name sides of one kind"
            )
        rubric, ranked_sides = run_sides(sides, options.rubric, store)
        panel = open_pair_judges(sides.suite, options, judges, budget)
    with ExitStack() as stack:
        stack.callback(panel.close)
        contest = _contest(ranked_sides, options)
        cases = (match.pair.case for match in contest.in_rounds())
        check_one_rubric(cases, rubric, sides.suite, options.rubric)
        stack.pop_all()  # the panel stays open for the caller
    return RankingSetup(panel, rubric, contest)


def rank_generated(
    sides: SideArguments, options: RankOptions, open_store: Callable[[], RunStore]
) -> RankingSetup | int:
    """Produce the outputs of the sides, and resolve who is ranked, by whom and how."""
    judges = options.judge_model
    check_pair_judge(sides.suite, options, judges)
    budget = side_budget(sides, options)
    answering = answering_suite(sides, options)
    with ExitStack() as stack:
        # The judges are checked before an output is paid for.
        panel, rubric = judges_and_rubric(sides, options, judges, budget)
        stack.callback(panel.close)
        cases = suite_cases(answering[0], options.filter_tag)
        check_one_rubric(cases, rubric, sides.suite, options.rubric)
        store = open_store()
        resumed = None if options.resume is None else store.run(options.resume)
        generated = generate_outputs(sides, answering, options, store, resumed)
        code = generated.code()
        if code is not None:
            return code
        if budget is not None:
            budget.spend(generated.spent_usd)
        contest = _contest(generated.sides, options)
        stack.pop_all()
    return RankingSetup(panel, rubric, contest, generated.run.id)


def _contest(sides: Sequence[Side], options: RankOptions) -> Contest:
    return Contest(
        sides,
        tags=options.filter_tag,
        limit=options.limit,
        sample=options.sample,
        seed=options.seed,
    )


def _holds_comparisons(path: Path) -> bool:
    if not (path.is_file() and suffix_of(path)):
        return False
    try:
        return holds_comparisons(path)
    except DatasetError:  # reported when the file is read as outputs
        return False
