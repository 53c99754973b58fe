"""`judgekit rank`: ranks several variants by blind comparisons, new ones or from files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit import evaluation, formats, report
from judgekit.cli import console
from judgekit.cli.compare import follow_comparisons
from judgekit.cli.exit_codes import Exit, failures_code
from judgekit.cli.help import command
from judgekit.cli.judge_options import ContestOptions
from judgekit.cli.options import max_cost_option, option, refuse_others
from judgekit.cli.outputs import OutputFiles, output_option, show_document, sort_outputs
from judgekit.cli.progress import run_until_stopped
from judgekit.cli.setup import (
    LIMIT_REACHED,
    configured_suite,
    fatal_words,
    note_unused_replies,
    protect_suite,
)
from judgekit.cli.sides import (
    OpenSides,
    SideArguments,
    is_file_argument,
    note_grading_only,
    show_pair_plan,
)
from judgekit.errors import DatasetError, SettingsError
from judgekit.records import PairChoice, Ties

if TYPE_CHECKING:
    from judgekit.evaluation import Contest, RankingSummary, RankRules
    from judgekit.records import Comparison
    from judgekit.report import Document


class _RankOptions(ContestOptions):
    pairs: PairChoice = option(
        "All pairs, or the most uncertain ones until the top is decided.", "round-robin"
    )
    top: int = option("Number of first places to decide.", 1, ge=1)
    ties: Ties = option(
        "Count a tie as half a win for each, or model it as a third outcome.", "half"
    )
    max_comparisons: int | None = option("Maximum number of comparisons.", ge=1)
    seed: int = option("Random seed of the sample, and of the order of cases.", 0)
    max_cost: float | None = max_cost_option(
        "Stop at this cost, outputs included; run it again to continue. Exit code 5."
    )
    resume: str | None = option(
        "Reuse the outputs of this run and produce only the missing ones.", metavar="RUN"
    )
    output: tuple[Path, ...] = output_option(
        "Write every comparison to FILE (.jsonl, .json), or the report (.md, .html)."
    )


@command("rank", _RankOptions)
@click.argument("sides", nargs=-1, required=True)
def rank_command(options: _RankOptions, *, sides: tuple[str, ...]) -> None:
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
    rules = evaluation.RankRules(ties=options.ties, top=options.top, alpha=options.alpha)
    if recorded := _comparison_files(sides):
        why = "is for sides that a judge compares"
        hint = "the arguments are files of existing comparisons"
        refuse_others({"ties", "top", "alpha"}, why, hint)
        if files.exports:
            raise SettingsError(f"--output {why}", hint=hint)
        document, summary = recorded_ranking(recorded, rules, has_page=files.has_page)
        show_document(document, options, files)
        sys.exit(0 if summary.decision.is_decided else Exit.INCONCLUSIVE)
    for file in files.exports:
        report.check_comparison_file(file, sides)
    protect_suite(configured_suite(options.config), files.exports)
    # `--top 3` of three sides decides nothing, which is an error before the first call.
    rules.check(len(sides))
    with ExitStack() as stack:
        opened, contest = _open(sides, options, stack)
        if not contest.n_matches:
            raise SettingsError(
                "no case is answered by two of the sides",
                hint="they need the same case_id, and the same input for it; see --filter-tag",
            )
        if options.dry_run:
            matches = contest.in_rounds()[: options.max_comparisons]
            pairs = (match.pair for match in matches)
            about = opened.panel, pairs, opened.rubric, contest.names, options
            sys.exit(show_pair_plan(*about, opened.answers))
        sys.exit(_run(opened, contest, rules, options, files))


def recorded_ranking(
    paths: Sequence[Path], rules: evaluation.RankRules, *, has_page: bool
) -> tuple[Document, RankingSummary]:
    """The ranking of comparisons out of files; of a page also all of them, by case."""
    cases = report.RankingCases()
    source = evaluation.read_comparisons(paths, *([cases.take] if has_page else []))
    summary = evaluation.rank_matches(source.matches, rules=rules, questioned=source.provenance())
    return _ranking_document(summary, cases if has_page else None), summary


def _ranking_document(summary: RankingSummary, cases: report.RankingCases | None) -> Document:
    table = None if cases is None else cases.table([side.name for side in summary.sides])
    return report.ranking_document(summary, table)


def _open(
    names: Sequence[str], options: _RankOptions, stack: ExitStack
) -> tuple[OpenSides, evaluation.Contest]:
    sides = SideArguments(names, options, stack, store=options.store)
    if sides.kind == "generated":
        produced = sides.produce(options, options.resume)
        return produced, _contest(produced, options)
    if options.resume is not None:
        raise SettingsError(
            "--resume is for sides whose outputs are produced first",
            hint="omit it: cached replies are not requested again",
        )
    # Files need no store, and a store that does not exist has no run to rank.
    needs_store = not all(map(is_file_argument, names))
    if sides.kind is None and needs_store and sides.found_store is not None:
        known = next(one for one in names if one in sides.variants or is_file_argument(one))
        other = "files" if is_file_argument(known) else "variants of the suite"
        raise SettingsError(
            f"stored runs and {other} cannot be ranked together", hint="name sides of one kind"
        )
    opened = sides.open_existing()
    contest = _contest(opened, options)
    cases = (match.pair.case for match in contest.in_rounds())
    sides.check_one_rubric(cases, opened.rubric)
    return opened, contest


def _contest(opened: OpenSides, options: _RankOptions) -> evaluation.Contest:
    return options.fill(evaluation.Contest, sides=opened.sides, tags=options.filter_tag)


def _run(
    opened: OpenSides, contest: Contest, rules: RankRules, options: _RankOptions, files: OutputFiles
) -> int:
    panel, rubric, run_id = opened.panel, opened.rubric, opened.run_id
    note_grading_only(rubric)
    # Enough pairs in flight to keep every slot busy.
    about = {"judge": panel, "contest": contest, "in_flight": max(4, panel.max_concurrency)}
    ranker = options.fill(evaluation.Ranker, rubric=rubric, rules=rules, **about)
    same = "the same command" if run_id is None else f"the same command with --resume {run_id}"
    cached = "cached replies are not requested again"
    cached = cached if panel.keeps else "without a cache, the judges start over"
    again = f"run {same} again to continue: {cached}"

    def describe(comparison: Comparison) -> str:
        names = comparison.variant_a, comparison.variant_b
        a, b = (report.printable(name or "", 40) for name in names)
        return f"A is {a}, B is {b}\n{report.comparison_lines(comparison)}"

    async def compare() -> None:
        async with panel:
            await follow_comparisons(
                ranker.ask(),
                total=ranker.total,
                judges=panel.judges,
                outputs=files.exports,
                interrupt=ranker.interrupt,
                options=options,
                describe=describe,
            )

    # What a page needs of each comparison, collected while they are made.
    cases = report.RankingCases(contest.names) if files.has_page else None
    if cases is not None:
        ranker.watch = cases.take
    run_until_stopped(compare(), again)
    summary = ranker.summary()
    show_document(_ranking_document(summary, cases), options, files)
    for path in () if options.quiet else files.exports:
        console.note(f"wrote the comparisons to {path}")
    source = summary.questioned
    # How it ended goes first: the ranking so far may look decided.
    if ranker.fatal_error is not None:
        console.note(f"{fatal_words(ranker.fatal_error)}; {again}")
    elif source.ended in {"interrupted", "cost"}:
        is_interrupted = source.ended == "interrupted"
        console.note(f"{'interrupted' if is_interrupted else LIMIT_REACHED}; {again}")
        return Exit.INTERRUPTED if is_interrupted else Exit.LIMIT
    # Replies are unused for a reason if it ended early.
    if source.ended == "all":
        note_unused_replies(panel.judges)
    decided = 0 if summary.decision.is_decided else Exit.INCONCLUSIVE
    return failures_code(source.failures) or decided


_FEWEST_SIDES = 2


def _comparison_files(names: Sequence[str]) -> list[Path]:
    """The arguments as files of comparisons; empty if they are sides to compare."""
    files = []
    for path in map(Path, names):
        with suppress(DatasetError):  # reported when the file is read as outputs
            if path.is_file() and formats.suffix_of(path) and evaluation.holds_comparisons(path):
                files.append(path)
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
