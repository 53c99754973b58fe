"""`judgekit rank`: three sides and more in one order, blind, or comparisons made before."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack, aclosing, closing, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judgekit.cli import console as streams
from judgekit.cli.comparing.comparison_file import check_comparison_file, written
from judgekit.cli.comparing.pair_options import blind_options, judges_options
from judgekit.cli.comparing.pair_plan import show_pair_plan
from judgekit.cli.comparing.rank_sides import given_comparisons, rank_generated, rank_setup
from judgekit.cli.comparing.side_names import is_file, named_sides
from judgekit.cli.display import progress
from judgekit.cli.interrupts import Interrupts
from judgekit.cli.main import (
    EXIT_FROZEN,
    EXIT_INCOMPLETE,
    EXIT_INCONCLUSIVE,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
)
from judgekit.cli.options import (
    cache_options,
    limit_options,
    max_cost_option,
    side_options,
    store_option,
    talk_options,
)
from judgekit.cli.running.unasked import note_unasked_replies
from judgekit.errors import SettingsError
from judgekit.evaluation.ranking.asking import Ranker
from judgekit.evaluation.ranking.figures import RankRules
from judgekit.evaluation.ranking.rank import make_chooser
from judgekit.evaluation.ranking.reading import read_comparisons
from judgekit.evaluation.ranking.summary import rank_meetings
from judgekit.report.comparison_terminal import comparison_lines
from judgekit.report.ranking_terminal import print_ranking, ranking_json
from judgekit.report.view import printable
from judgekit.store.runs import RunStore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from judgekit.cli.comparing.rank_sides import Ranked
    from judgekit.cli.setup import Options
    from judgekit.evaluation.ranking.asking import Told
    from judgekit.evaluation.ranking.choosing import PairChoice
    from judgekit.evaluation.ranking.contest import Contest
    from judgekit.evaluation.ranking.figures import RankingSummary, Ties
    from judgekit.judge.pair_panel import PairPanel


@click.command()
@click.argument("sides", nargs=-1, required=True)
@side_options
@click.option(
    "-m",
    "--model",
    envvar="JUDGEKIT_MODEL",
    help="The model that prompt templates are sent to.",
)
@blind_options
@click.option(
    "--pairs",
    type=click.Choice(["round-robin", "adaptive"]),
    default="round-robin",
    show_default=True,
    help="Compare all, or ask where the order is most uncertain until the top is decided.",
)
@click.option(
    "--top",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many of the first places are to be decided.",
)
@click.option(
    "--ties",
    type=click.Choice(["half", "davidson", "rao-kupper"]),
    default="half",
    show_default=True,
    help="A tie is half a win for each, or an outcome of its own with a modelled chance.",
)
@click.option("--max-comparisons", type=click.IntRange(1), help="Make N comparisons at most.")
@max_cost_option(
    "Never spend more than this, outputs included; run it again to go on. Exit code 5."
)
@click.option(
    "--resume",
    metavar="RUN",
    help="Take the outputs that were made before, and make those that are missing: their run.",
)
@click.option("--allow-scripts", is_flag=True, help="Let the suite run its setup and teardown.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write every comparison to FILE: .jsonl or .json.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be asked and what it costs.")
@store_option
@judges_options
@limit_options
@cache_options
@talk_options
def rank(
    *,
    sides: tuple[str, ...],
    alpha: float,
    pairs: PairChoice,
    top: int,
    ties: Ties,
    max_comparisons: int | None,
    output: Path | None,
    store: str,
    dry_run: bool,
    **options: object,
) -> None:
    """Rank SIDES: every two are compared blind, in both orders, on the cases that both answer."""
    # SIDES are named as for `judgekit compare`: outputs files, variants of a suite, prompt
    # templates (.j2, with --cases and -m) or stored runs (FILE::VARIANT, RUN::VARIANT). Outputs
    # that are not there yet are made first and kept. Or they are files of comparisons that were
    # made before (what `compare -o` and `rank -o` write, or rows of variant_a, variant_b, winner
    # and case_id): then no judge is asked. With several judges each has one vote.
    # Exit 0 when the first places are decided, 4 when they are not, 3 when a judge failed, 5 when
    # the money is used up.
    rules = RankRules(ties=ties, top=top, alpha=alpha)
    if files := given_comparisons(sides):
        asking = ("filter_tag", "limit", "sample", "rule", "resume")
        own = {"pairs": pairs, "max_comparisons": max_comparisons, "output": output}
        own["dry_run"] = dry_run or None
        _refuse_for_given(own | {name: options.get(name) for name in asking})
        pile = read_comparisons(files)
        found = rank_meetings(pile.meetings, rules=rules, questioned=pile.questioned())
        _show(found, options)
        sys.exit(0 if found.decision.is_decided else EXIT_INCONCLUSIVE)
    check_comparison_file(output, sides)
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
            chooser=make_chooser(contest, rules, pairs, max_comparisons),
            # Enough at a time to keep every slot busy.
            in_flight=max(4, panel.max_concurrency),
        )
        job = _Job(panel, ranker, contest, rules, pairs == "adaptive", max_comparisons, output)
        sys.exit(_run(job, options, again=_again(run_id, keeps=panel.keeps)))


def _setup(names: Sequence[str], options: Options, store: str, stack: ExitStack) -> Ranked | int:
    """Who is ranked, by whom and how; an exit code where the outputs could not be made."""
    named = named_sides(names, options)
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

    panel: PairPanel
    ranker: Ranker
    contest: Contest
    rules: RankRules
    is_adaptive: bool
    most: int | None
    output: Path | None

    @property
    def total(self) -> int:
        """How many comparisons are made at most."""
        n = self.contest.n_matches
        return n if self.most is None else min(n, self.most)

    def summary(self) -> RankingSummary:
        """What came out."""
        return rank_meetings(
            self.ranker.meetings,
            self.contest.labels,
            rules=self.rules,
            questioned=self.ranker.questioned(is_adaptive=self.is_adaptive),
        )


def _run(job: _Job, options: Options, *, again: str) -> int:
    try:
        asyncio.run(_ask(job, options))
    except asyncio.CancelledError:  # the second Ctrl-C
        streams.note(f"stopped at once; {again}")
        return EXIT_INTERRUPTED
    found = job.summary()
    _show(found, options)
    if job.output is not None and not options.get("quiet"):
        streams.note(f"wrote the comparisons to {job.output}")
    if found.questioned.ended in {"interrupted", "cost"}:
        why = "interrupted" if found.questioned.ended == "interrupted" else "--max-cost is reached"
        streams.note(f"{why}; {again}")
    elif found.questioned.ended == "all":
        note_unasked_replies(job.panel.judges)
    return _code(found)


async def _ask(job: _Job, options: Options) -> None:
    """Ask until all is done or decided, or the user breaks it off."""
    stop = asyncio.Event()
    shown = not (options.get("quiet") or options.get("no_progress") or options.get("as_json"))
    verb = ("comparing", "compared")
    with (
        written(job.output) as write,
        progress(streams.stderr(), job.total, shown=shown, verb=verb) as display,
        Interrupts(stop.set),
    ):
        async with job.ranker, aclosing(job.ranker.ask(stop)) as told:
            async for one in told:
                write(one.comparison)
                _tell(one, options)
                said = (*one.comparison.preferences, *one.comparison.failures)
                paid = sum(each.cost_usd or 0.0 for each in said if not each.cached)
                display.advance([], target_usd=paid)


def _tell(told: Told, options: Options) -> None:
    if options.get("verbose") and not options.get("as_json"):
        who = f"A is {printable(told.match.a, 40)}, B is {printable(told.match.b, 40)}"
        lines = comparison_lines(told.comparison)
        streams.stdout().print(f"{who}\n{lines}", markup=False, soft_wrap=True)


def _show(found: RankingSummary, options: Options) -> None:
    if options.get("as_json"):
        streams.print_json(ranking_json(found))
    else:
        print_ranking(streams.stdout(), found)


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
    if all(map(is_file, names)) or not ("://" in store or Path(store).is_file()):
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
