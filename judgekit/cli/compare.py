"""`judgekit compare`: two variants blind in both orders, or two stored runs by their scores.

`comparison_job` carries it out.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit.cli import console
from judgekit.cli.comparison_job import ComparisonJob, compare_and_show
from judgekit.cli.exit_codes import EXIT_INCONCLUSIVE
from judgekit.cli.help import HelpCommand
from judgekit.cli.options import NEW_FILE, ContestOptions, max_cost_option, option, takes
from judgekit.cli.outputs import OutputFiles, output_option, show_document, sort_outputs
from judgekit.cli.sides import (
    SideArguments,
    answering_suite,
    check_one_rubric,
    check_pair_judge,
    compare_setup,
    generate_outputs,
    is_file_argument,
    judges_and_rubric,
    pairing_of,
    parse_sides,
    run_and_variant,
    show_pair_plan,
    side_budget,
    suite_cases,
    unpriced_error,
)
from judgekit.errors import SettingsError
from judgekit.evaluation import (
    COMPARISON_ID_PREFIX,
    ComparisonTerms,
    SideScores,
    compare_side_scores,
    new_comparison,
    on_common_scale,
    require_same_comparison,
)
from judgekit.report import check_comparison_file, score_comparison_document
from judgekit.store import LATEST_COMPARISON, RunStore

if TYPE_CHECKING:
    from judgekit.evaluation import Pairing
    from judgekit.judge import Panel
    from judgekit.models import Budget
    from judgekit.records import ComparisonInfo, Rubric, RunInfo


class CompareOptions(ContestOptions):
    """The options of `compare`."""

    until_decided: bool = option(
        "--until-decided",
        "Test after every case and stop once significant (always-valid test).",
        default=False,
    )
    max_cases: int | None = option(
        "--max-cases", "With --until-decided: maximum number of cases.", ge=1
    )
    scores: bool = option(
        "--scores", "Compare the stored scores of two runs; calls no judge.", default=False
    )
    max_cost: float | None = max_cost_option(
        "Stop at this cost, outputs included; --resume continues. Exit code 5."
    )
    resume: str | None = option(
        "--resume",
        "Resume a comparison of these sides: its id, the beginning of it, or the latest.",
        metavar="[ID]",
        flag_value="latest",
    )
    # Opt-in: an analysis unblinds the outputs and costs one more call per decided pair.
    analysis: Path | None = option(
        "--analysis",
        "Ask the judge afterwards why outputs lost and how to improve them; write the answer to "
        "FILE (analysis.json).",
        kind=NEW_FILE,
        metavar="FILE",
    )
    output: tuple[Path, ...] = output_option(
        "Write every comparison to FILE (.jsonl, .json; comparison.json gets the blind skill "
        "format), or the report (.md, .html)."
    )


@click.command("compare", cls=HelpCommand)
@click.argument("a")
@click.argument("b")
@takes(CompareOptions)
def compare_command(options: CompareOptions, *, a: str, b: str) -> None:
    """Compare A and B blind: the judge sees both orders and no names, so position cannot decide.

    A and B are output files, variants of a suite, prompt templates (.j2, with --cases and -m) or
    stored runs (an id, the beginning of an id, or latest). FILE::VARIANT and RUN::VARIANT select
    one of several variants. Missing outputs are produced first and stored. Cases that only one
    side answers are skipped and reported. With several judges, each has one vote.

    Every comparison is stored: judgekit show --comparisons. Exit code 0 if one side is better, 4 if
    the result is inconclusive, 3 if a judge failed.

    Examples:
        judgekit compare v1 v2
        judgekit compare old.jsonl new.jsonl --rubric helpfulness --judge local
        judgekit compare v1 v2 --until-decided --max-cases 200
    """
    files = sort_outputs(options.output, what="comparisons", exports=(".jsonl", ".json"))
    if options.max_cases is not None and not options.until_decided:
        raise SettingsError("--max-cases goes with --until-decided", hint="-n takes the first N")
    if options.scores and (options.until_decided or options.dry_run):
        raise SettingsError(
            "--scores calls no judge: --until-decided and --dry-run do not apply",
            hint="omit them, or omit --scores",
        )
    if options.dry_run and options.resume is not None:
        raise SettingsError("--dry-run starts nothing to resume", hint="omit --resume")
    with ExitStack() as stack:
        place = _LazyStore(options.store, stack)
        if options.scores:
            # Two files have no stored scores; that error needs no store.
            uses_store = not (is_file_argument(a) and is_file_argument(b))
            store = place.existing() if uses_store else None
            sys.exit(compare_scores((a, b), store, options, files))
        # Outputs are evidence: no option may overwrite a file that is compared.
        for file in (*files.exports, options.analysis):
            check_comparison_file(file, (a, b))
        sys.exit(_compare_blind(parse_sides((a, b), options.config), options, place, files))


@dataclass(slots=True)
class _LazyStore:
    """The store of comparisons; created only when there is something to store."""

    name: str
    stack: ExitStack
    _opened: RunStore | None = None

    def existing(self) -> RunStore | None:
        """The store, unless it does not exist yet."""
        if self._opened is None and ("://" in self.name or Path(self.name).is_file()):
            self._opened = self.stack.enter_context(closing(RunStore(self.name, create=False)))
        return self._opened

    def opened(self) -> RunStore:
        """The store, created if necessary."""
        store = self.existing() or self.stack.enter_context(closing(RunStore(self.name)))
        self._opened = store
        return store


def _compare_blind(
    sides: SideArguments, options: CompareOptions, place: _LazyStore, files: OutputFiles
) -> int:
    check_pair_judge(sides.suite, options, options.judge_model)
    is_generated = sides.kind == "generated"
    if is_generated and options.dry_run:
        raise unpriced_error("comparison")
    comparison, run = _resumed(place, options.resume, is_generated=is_generated)
    chosen = (options.filter_tag, options.limit, options.sample)
    # Without a choice of its own, a resumed comparison completes what it began.
    if comparison is not None and not any(chosen):
        names = {"tags": "filter_tag"}
        stored = {names.get(name, name): value for name, value in comparison.chosen.items()}
        options = CompareOptions.of(options, **stored)
    budget = side_budget(sides, options)
    prepared = _prepare(sides, options, place, run, budget)
    if isinstance(prepared, int):
        return prepared
    panel, rubric, pairing = prepared
    survey = pairing.survey()
    if not survey.n_pairs:
        raise no_common_case_error()
    if options.dry_run:
        # A comparison that stops early makes fewer calls.
        pairs = islice(pairing.pairs(), options.max_cases)
        return show_pair_plan(panel, pairs, rubric, pairing.names, options)
    terms = ComparisonTerms(
        alpha=options.alpha,
        until_decided=options.until_decided,
        max_cases=options.max_cases,
        suite=None if sides.suite is None else sides.suite.name,
    )
    info = new_comparison(pairing, survey, panel, rubric, terms=terms, now=datetime.now(UTC))
    job = ComparisonJob(
        panel=panel,
        pairing=pairing,
        info=info if comparison is None else require_same_comparison(comparison, info),
        store=place.opened(),
        resumed=comparison is not None,
        budget=budget,
        files=files,
        analysis=options.analysis,
    )
    return compare_and_show(job, options)


def _prepare(
    sides: SideArguments,
    options: CompareOptions,
    place: _LazyStore,
    run: RunInfo | None,
    budget: Budget | None,
) -> tuple[Panel, Rubric, Pairing] | int:
    """Who compares what, by which rubric; an exit code if outputs could not be produced."""
    judges = options.judge_model
    if sides.kind != "generated":
        panel, rubric, pairing = compare_setup(sides, options, judges, place.existing(), budget)
        place.stack.callback(panel.close)
        cases = (pair.case for pair in pairing.pairs())
        check_one_rubric(cases, rubric, sides.suite, options.rubric)
        return panel, rubric, pairing
    answering = answering_suite(sides, options)
    # The judges are checked before an output is paid for.
    panel, rubric = judges_and_rubric(sides, options, judges, budget)
    place.stack.callback(panel.close)
    suite = answering[0]
    check_one_rubric(suite_cases(suite, options.filter_tag), rubric, sides.suite, options.rubric)
    generated = generate_outputs(sides, answering, options, place.opened(), run)
    code = generated.code()
    if code is not None:
        return code
    # One limit for outputs and judges together.
    if budget is not None:
        budget.spend(generated.spent_usd)
    a, b = generated.sides
    return panel, rubric, pairing_of((a, b), options)


def _resumed(
    place: _LazyStore, name: str | None, *, is_generated: bool
) -> tuple[ComparisonInfo | None, RunInfo | None]:
    """The comparison to resume, and the run that has or is to get its outputs."""
    if name is None:
        return None, None
    store = place.existing()
    if store is None:
        raise SettingsError(f"{place.name} has nothing to resume: there is no store")
    if is_generated and name != LATEST_COMPARISON and not name.startswith(COMPARISON_ID_PREFIX):
        return None, store.run(name)  # interrupted while outputs were produced
    comparison = store.comparison(name)
    run_id = comparison.a.run_id
    return comparison, store.run(run_id) if is_generated and run_id is not None else None


def no_common_case_error() -> SettingsError:
    """The error of sides that answer no case in common."""
    return SettingsError(
        "no case is answered by both sides",
        hint="both need the same case_id, and the same input for it; see --filter-tag too",
    )


def compare_scores(
    names: tuple[str, str], store: RunStore | None, options: CompareOptions, files: OutputFiles
) -> int:
    """Compare two runs by their scores, and print the result."""
    if files.exports:
        raise SettingsError(
            "--scores makes no comparisons to write", hint="use --json, or -o FILE.html"
        )
    if store is None:
        raise SettingsError("--scores compares stored runs, and there is no store", hint="--store")
    (first, one), (second, other) = (run_and_variant(name, store) for name in names)
    # Values calibrated by different maps are not on one scale.
    runs = on_common_scale(first, second)
    if runs != (first, second):
        console.note("the runs have different calibrations: uncalibrated values are compared")
    sides = [
        SideScores(store.results(run.id, variant=variant), run, options.filter_tag)
        for run, variant in zip(runs, (one, other), strict=True)
    ]
    compared = compare_side_scores(sides[0], sides[1], names, alpha=options.alpha)
    show_document(score_comparison_document(compared), options, files)
    return 0 if compared.decision.winner is not None else EXIT_INCONCLUSIVE
