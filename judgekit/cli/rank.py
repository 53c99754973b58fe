"""`judgekit rank`: ranks several variants by blind comparisons, new ones or from files."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

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
from judgekit.cli.options import (
    blind_options,
    cache_options,
    judges_options,
    limit_options,
    max_cost_option,
    side_options,
    store_option,
    talk_options,
)
from judgekit.cli.outputs import output_option, show_document, sort_outputs
from judgekit.cli.setup import note_unused_replies
from judgekit.cli.sides import (
    check_one_rubric,
    check_pair_judge,
    file_sides,
    is_file_argument,
    judges_and_rubric,
    open_pair_judges,
    parse_sides,
    rubric_of_runs,
    run_and_variant,
    run_side,
    show_pair_plan,
    suite_cases,
)
from judgekit.errors import DatasetError, SettingsError, UnknownNameError
from judgekit.evaluation import (
    Contest,
    Ranker,
    RankRules,
    holds_comparisons,
    make_match_selector,
    price_table,
    rank_matches,
    read_comparisons,
)
from judgekit.formats import suffix_of
from judgekit.models import Budget
from judgekit.report import (
    check_comparison_file,
    comparison_lines,
    printable,
    ranking_document,
)
from judgekit.store import RunStore

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import AbstractContextManager

    from judgekit.cli.outputs import OutputFiles
    from judgekit.cli.setup import Options
    from judgekit.cli.sides import SideArguments
    from judgekit.evaluation import PairChoice, RankingSummary, Side, Ties
    from judgekit.judge import Panel
    from judgekit.records import Comparison, Rubric


@click.command("rank", cls=HelpCommand)
@click.argument("sides", nargs=-1, required=True)
@side_options
@click.option(
    "-m",
    "--model",
    envvar="JUDGEKIT_MODEL",
    help="Model that answers prompt templates.",
)
@blind_options
@click.option(
    "--pairs",
    type=click.Choice(["round-robin", "adaptive"]),
    default="round-robin",
    show_default=True,
    help="All pairs, or the most uncertain ones until the top is decided.",
)
@click.option(
    "--top",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Number of first places to decide.",
)
@click.option(
    "--ties",
    type=click.Choice(["half", "davidson", "rao-kupper"]),
    default="half",
    show_default=True,
    help="Count a tie as half a win for each, or model it as a third outcome.",
)
@click.option("--max-comparisons", type=click.IntRange(1), help="Maximum number of comparisons.")
@max_cost_option("Stop at this cost, outputs included; run it again to continue. Exit code 5.")
@click.option(
    "--resume",
    metavar="RUN",
    help="Reuse the outputs of this run and produce only the missing ones.",
)
@click.option(
    "--allow-scripts", is_flag=True, help="Allow the setup and teardown scripts of the suite."
)
@output_option("Write every comparison to FILE (.jsonl, .json), or the report (.md, .html).")
@click.option("--dry-run", is_flag=True, help="Estimate calls and cost without making any.")
@store_option
@judges_options
@limit_options
@cache_options
@talk_options
def rank_command(
    *,
    sides: tuple[str, ...],
    alpha: float,
    pairs: PairChoice,
    top: int,
    ties: Ties,
    max_comparisons: int | None,
    output: tuple[Path, ...],
    store: str,
    dry_run: bool,
    **options: object,
) -> None:
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
    files = sort_outputs(output, what="comparisons", exports=(".jsonl", ".json"))
    rules = RankRules(ties=ties, top=top, alpha=alpha)
    if recorded := comparison_files(sides):
        asking = ("filter_tag", "limit", "sample", "rule", "resume")
        own = {"pairs": pairs, "max_comparisons": max_comparisons, "output": files.exports}
        own["dry_run"] = dry_run or None
        _refuse_for_given(own | {name: options.get(name) for name in asking})
        made = read_comparisons(recorded)
        found = rank_matches(made.matches, rules=rules, questioned=made.provenance())
        show_document(ranking_document(found), options, files)
        sys.exit(0 if found.decision.is_decided else EXIT_INCONCLUSIVE)
    for file in files.exports:
        check_comparison_file(file, sides)
    rules.check(len(sides))
    with ExitStack() as stack:
        ranked = _setup(sides, {**options, "dry_run": dry_run}, store, stack)
        if isinstance(ranked, int):
            sys.exit(ranked)
        panel, rubric, contest, run_id = ranked
        stack.callback(panel.close)
        if not contest.n_matches:
            raise SettingsError(
                "no case is answered by two of the sides",
                hint="they need the same case_id, and the same input for it; see --filter-tag",
            )
        if dry_run:
            planned = (match.pair for match in contest.in_rounds()[:max_comparisons])
            sys.exit(show_pair_plan(panel, planned, rubric, contest.names, options))
        ranker = Ranker(
            panel,
            contest,
            rubric,
            selector=make_match_selector(contest, rules, pairs, max_comparisons),
            # Enough at a time to keep every slot busy.
            in_flight=max(4, panel.max_concurrency),
        )
        job = _Job(panel, ranker, contest, rules, pairs == "adaptive", max_comparisons, files)
        sys.exit(_run(job, options, again=_again(run_id, keeps=panel.keeps)))


def _setup(
    names: Sequence[str], options: Options, store: str, stack: ExitStack
) -> RankingSetup | int:
    """Who is ranked, by whom and how; an exit code where the outputs could not be made."""
    named = parse_sides(names, options)
    resume = cast("str | None", options.get("resume"))
    if named.kind == "generated":
        if options["dry_run"]:
            raise SettingsError(
                "the outputs are still to be made, so that nobody knows what judging them costs",
                hint="judgekit plan says what a suite costs; --max-cost bounds a ranking",
            )
        opened = partial(_opened, store, stack)
        return rank_generated(named, options, opened, resume)
    if resume is not None:
        raise SettingsError(
            "--resume is for sides whose outputs are made first",
            hint="leave it out: replies that are owned are not asked again",
        )
    return rank_setup(names, options, stack.enter_context(_store(names, store)))


def _opened(store: str, stack: ExitStack) -> RunStore:
    return stack.enter_context(closing(RunStore(store)))


def _again(run_id: str | None, *, keeps: bool) -> str:
    """What to do to go on with what is not finished."""
    same = "the same command" if run_id is None else f"the same command with --resume {run_id}"
    kept = "nothing that was answered is asked twice" if keeps else "the judges begin anew"
    return f"run {same} again to go on: {kept}"


@dataclass(frozen=True, slots=True)
class _Job:
    """Everything a ranking needs."""

    panel: Panel
    ranker: Ranker
    contest: Contest
    rules: RankRules
    is_adaptive: bool
    most: int | None
    files: OutputFiles

    @property
    def total(self) -> int:
        """How many comparisons are made at most."""
        n = self.contest.n_matches
        return n if self.most is None else min(n, self.most)

    def summary(self) -> RankingSummary:
        """What came out."""
        return rank_matches(
            self.ranker.matches,
            self.contest.labels,
            rules=self.rules,
            questioned=self.ranker.provenance(is_adaptive=self.is_adaptive),
        )


def _run(job: _Job, options: Options, *, again: str) -> int:
    try:
        asyncio.run(_ask(job, options))
    except asyncio.CancelledError:  # the second Ctrl-C
        console.note(f"stopped at once; {again}")
        return EXIT_INTERRUPTED
    found = job.summary()
    show_document(ranking_document(found), options, job.files)
    for path in () if options.get("quiet") else job.files.exports:
        console.note(f"wrote the comparisons to {path}")
    if found.questioned.ended in {"interrupted", "cost"}:
        why = "interrupted" if found.questioned.ended == "interrupted" else "--max-cost is reached"
        console.note(f"{why}; {again}")
    elif found.questioned.ended == "all":
        note_unused_replies(job.panel.judges)
    return _code(found)


async def _ask(job: _Job, options: Options) -> None:
    """Ask until all is done or decided, or the user interrupts it."""
    async with job.panel:
        await follow_comparisons(
            job.ranker.ask(),
            total=job.total,
            outputs=job.files.exports,
            interrupt=job.ranker.interrupt,
            options=options,
            describe=_match_lines,
        )


def _match_lines(comparison: Comparison) -> str:
    a, b = (printable(name or "", 40) for name in (comparison.variant_a, comparison.variant_b))
    return f"A is {a}, B is {b}\n{comparison_lines(comparison)}"


def _code(found: RankingSummary) -> int:
    asked = found.questioned
    by_end = {"interrupted": EXIT_INTERRUPTED, "cost": EXIT_LIMIT}
    if asked.ended in by_end:
        return by_end[asked.ended]
    if asked.failures:
        return EXIT_FROZEN if "frozen_miss" in asked.failures else EXIT_INCOMPLETE
    return 0 if found.decision.is_decided else EXIT_INCONCLUSIVE


def _store(names: Sequence[str], store: str) -> AbstractContextManager[RunStore | None]:
    """The store, where it could be needed and is there."""
    if all(map(is_file_argument, names)) or not ("://" in store or Path(store).is_file()):
        return nullcontext()
    return closing(RunStore(store, create=False))


def _refuse_for_given(given: dict[str, object]) -> None:
    """Comparisons that were made are all there are: nothing is chosen, asked or written."""
    for name, value in given.items():
        if value not in (None, (), "round-robin"):
            raise SettingsError(
                f"--{name.replace('_', '-')} is for sides that a judge compares",
                hint="the arguments are comparisons that were made before",
            )


_FEWEST_SIDES = 2


def comparison_files(names: Sequence[str]) -> list[Path]:
    """The files of comparisons that all arguments name."""
    found = [Path(name) for name in names if _holds_comparisons(Path(name))]
    if found and len(found) < len(names):
        raise SettingsError(
            f"{found[0]} holds comparisons, and other arguments do not",
            hint="rank files of comparisons, or sides to compare",
        )
    if not found and len(names) < _FEWEST_SIDES:
        alone = f"there is nobody to rank {names[0]} against"
        missing = f"{names[0]} is no file of comparisons, and nobody else is named"
        raise SettingsError(
            alone if is_file_argument(names[0]) else missing,
            hint="name two sides or more (FILE, FILE::VARIANT, a suite's variant, RUN::VARIANT), "
            "or a file of comparisons",
        )
    return found


class RankingSetup(NamedTuple):
    """Who is ranked, by whom and how."""

    panel: Panel
    """Who compares."""

    rubric: Rubric
    """How."""

    contest: Contest
    """The matches."""

    run_id: str | None = None
    """The run in which outputs were made for it."""


def rank_setup(names: Sequence[str], options: Options, store: RunStore | None) -> RankingSetup:
    """Resolve who is ranked, by whom and how, where no output has to be made first."""
    named = parse_sides(names, options)
    check_pair_judge(named.suite, options)
    given = {**options, "budget": _budget(named, options)}
    if named.kind == "files":
        panel, rubric, sides = file_sides(named, given)
    else:
        panel, rubric, sides = _of_runs(named, given, store)
    ranked = _ranking_setup(panel, rubric, sides, options)
    with ExitStack() as stack:
        stack.callback(panel.close)
        cases = (match.pair.case for match in ranked.contest.in_rounds())
        check_one_rubric(cases, rubric, named.suite, options)
        stack.pop_all()
    return ranked


def rank_generated(
    names: SideArguments, options: Options, opened: Callable[[], RunStore], begun: str | None
) -> RankingSetup | int:
    """Have the sides answer the cases, and resolve who is ranked, by whom and how."""
    from judgekit.cli.side_outputs import (  # noqa: PLC0415
        answering_suite,
        generate_outputs,
    )

    check_pair_judge(names.suite, options)
    budget = _budget(names, options)
    answering = answering_suite(names, options)
    with ExitStack() as stack:
        panel, rubric = judges_and_rubric(names, {**options, "budget": budget})  # before any output
        stack.callback(panel.close)
        check_one_rubric(suite_cases(answering[0], options), rubric, names.suite, options)
        store = opened()
        made = generate_outputs(
            names, answering, options, store, None if begun is None else store.run(begun)
        )
        code = made.code()
        if code is not None:
            return code
        stack.pop_all()
    if budget is not None:
        budget.spend(made.spent_usd)
    return _ranking_setup(panel, rubric, made.sides, options)._replace(run_id=made.run.id)


def _ranking_setup(
    panel: Panel, rubric: Rubric, sides: Sequence[Side], options: Options
) -> RankingSetup:
    try:
        return RankingSetup(panel, rubric, _contest(sides, options))
    except BaseException:
        panel.close()
        raise


def _budget(names: SideArguments, options: Options) -> Budget | None:
    limit_usd = cast("float | None", options.get("max_cost"))
    if limit_usd is None:
        return None
    return Budget(limit_usd, None if names.suite is None else price_table(names.suite))


def _contest(sides: Sequence[Side], options: Options) -> Contest:
    return Contest(
        sides,
        tags=cast("Collection[str]", options.get("filter_tag") or ()),
        limit=cast("int | None", options.get("limit")),
        sample=cast("int | None", options.get("sample")),
        seed=cast("int", options.get("seed") or 0),
    )


def _of_runs(
    names: SideArguments, options: Options, store: RunStore | None
) -> tuple[Panel, Rubric, list[Side]]:
    there = [name for name in names.given if name in names.variants or is_file_argument(name)]
    if store is None:
        strange = next(name for name in names.given if name not in there)
        raise UnknownNameError("outputs file, template or variant", strange, list(names.variants))
    if there:
        other = "files" if is_file_argument(there[0]) else "variants of the suite"
        raise SettingsError(
            f"stored runs and {other} cannot be ranked together", hint="name sides of one kind"
        )
    found = [run_and_variant(name, store) for name in names.given]
    rubric = rubric_of_runs([run for run, _ in found], options)
    sides = [
        run_side(name, run, variant, store)
        for name, (run, variant) in zip(names.given, found, strict=True)
    ]
    return open_pair_judges(names.suite, options), rubric, sides


def _holds_comparisons(path: Path) -> bool:
    if not (path.is_file() and suffix_of(path)):
        return False
    try:
        return holds_comparisons(path)
    except DatasetError:  # it is read again as what it is, and what is wrong is said then
        return False
