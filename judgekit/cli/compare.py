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
from typing import TYPE_CHECKING, cast

import click

from judgekit.cli import console
from judgekit.cli.comparison_job import ComparisonJob, compare_and_show
from judgekit.cli.exit_codes import EXIT_INCONCLUSIVE
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
from judgekit.cli.sides import (
    check_one_rubric,
    check_pair_judge,
    compare_setup,
    is_file_argument,
    judges_and_rubric,
    pairing_of,
    parse_sides,
    run_and_variant,
    suite_cases,
)
from judgekit.errors import SettingsError
from judgekit.evaluation import (
    COMPARISON_ID_PREFIX,
    ComparisonTerms,
    SideScores,
    compare_side_scores,
    new_comparison,
    on_common_scale,
    price_table,
    require_same_comparison,
)
from judgekit.models import Budget
from judgekit.report import check_comparison_file, score_comparison_document
from judgekit.store import LATEST_COMPARISON, RunStore

if TYPE_CHECKING:
    from collections.abc import Collection

    from judgekit.cli.outputs import OutputFiles
    from judgekit.cli.setup import Options
    from judgekit.cli.sides import SideArguments
    from judgekit.evaluation import Pairing, PairingSurvey
    from judgekit.judge import Panel
    from judgekit.records import ComparisonInfo, Rubric, RunInfo


@click.command("compare", cls=HelpCommand)
@click.argument("a")
@click.argument("b")
@side_options
@click.option(
    "-m",
    "--model",
    envvar="JUDGEKIT_MODEL",
    help="Model that answers prompt templates.",
)
@click.option(
    "--until-decided",
    is_flag=True,
    help="Test after every case and stop once significant (always-valid test).",
)
@click.option(
    "--max-cases", type=click.IntRange(1), help="With --until-decided: maximum number of cases."
)
@click.option(
    "--scores", is_flag=True, help="Compare the stored scores of two runs; calls no judge."
)
@blind_options
@max_cost_option("Stop at this cost, outputs included; --resume continues. Exit code 5.")
@click.option(
    "--resume",
    metavar="[ID]",
    is_flag=False,
    flag_value="latest",
    help="Resume a comparison of these sides: its id, the beginning of it, or the latest.",
)
@click.option("--dry-run", is_flag=True, help="Estimate calls and cost without making any.")
@click.option(
    "--allow-scripts", is_flag=True, help="Allow the setup and teardown scripts of the suite."
)
@click.option(
    "--analysis",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Ask the judge afterwards why outputs lost and how to improve them; write the answer to "
    "FILE (analysis.json).",
)
@output_option(
    "Write every comparison to FILE (.jsonl, .json; comparison.json gets the blind skill "
    "format), or the report (.md, .html)."
)
@store_option
@judges_options
@limit_options
@cache_options
@talk_options
def compare_command(
    *, a: str, b: str, scores: bool, output: tuple[Path, ...], store: str, **options: object
) -> None:
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
    files = sort_outputs(output, what="comparisons", exports=(".jsonl", ".json"))
    until_decided = bool(options["until_decided"])
    if options["max_cases"] is not None and not until_decided:
        raise SettingsError("--max-cases goes with --until-decided", hint="-n takes the first N")
    if scores and (until_decided or options["dry_run"]):
        raise SettingsError("--scores asks no judge: there is nothing to stop, and no price")
    if options["dry_run"] and options["resume"] is not None:
        raise SettingsError("--dry-run begins nothing anew", hint="leave out --resume")
    if scores:
        alpha = cast("float", options["alpha"])
        with ExitStack() as stack:
            kept = (
                None
                if is_file_argument(a) and is_file_argument(b)
                else _Place(store, stack).there()
            )
            sys.exit(compare_scores((a, b), kept, alpha=alpha, options=options, files=files))
    for file in (*files.exports, cast("Path | None", options["analysis"])):
        check_comparison_file(file, (a, b))
    with ExitStack() as stack:
        sys.exit(_blind(parse_sides((a, b), options), options, _Place(store, stack), files))


@dataclass(slots=True)
class _Place:
    """Where comparisons are kept; made only when there is something to keep."""

    name: str
    stack: ExitStack
    _opened: RunStore | None = None

    def there(self) -> RunStore | None:
        """The store, where there is one already."""
        if self._opened is None and ("://" in self.name or Path(self.name).is_file()):
            self._opened = self.stack.enter_context(closing(RunStore(self.name, create=False)))
        return self._opened

    def opened(self) -> RunStore:
        """The store, made where there was none."""
        if self.there() is None:
            self._opened = self.stack.enter_context(closing(RunStore(self.name)))
        return cast("RunStore", self._opened)


@dataclass(frozen=True, slots=True)
class _Begun:
    """What is gone on with."""

    comparison: ComparisonInfo | None = None
    run: RunInfo | None = None


def _blind(names: SideArguments, options: Options, place: _Place, files: OutputFiles) -> int:
    check_pair_judge(names.suite, options)
    is_generated = names.kind == "generated"
    if is_generated and options["dry_run"]:
        raise SettingsError(
            "the outputs are still to be made, so that nobody knows what judging them costs",
            hint="judgekit plan says what a suite costs; --max-cost bounds a comparison",
        )
    begun = _begun(place, cast("str | None", options["resume"]), is_generated=is_generated)
    limit = cast("float | None", options["max_cost"])
    prices = None if names.suite is None else price_table(names.suite)
    budget = None if limit is None else Budget(limit, prices)
    given = _with_choice({**options, "budget": budget}, begun.comparison)
    if is_generated:
        from judgekit.cli.side_outputs import (  # noqa: PLC0415
            answering_suite,
            generate_outputs,
        )

        answering = answering_suite(names, given)
        panel, rubric = judges_and_rubric(names, given)  # sound, before an output is paid for
        place.stack.callback(panel.close)
        check_one_rubric(suite_cases(answering[0], given), rubric, names.suite, given)
        made = generate_outputs(names, answering, given, place.opened(), begun.run)
        code = made.code()
        if code is not None:
            return code
        if budget is not None:
            budget.spend(made.spent_usd)
        a, b = made.sides
        pairing = pairing_of((a, b), given)
    else:
        panel, rubric, pairing = compare_setup(names.given, given, place.there())
        place.stack.callback(panel.close)
        check_one_rubric((pair.case for pair in pairing.pairs()), rubric, names.suite, given)
    if options["dry_run"]:
        return _planned(panel, rubric, pairing, options)
    info = _info(names, pairing, panel, rubric, given)
    job = ComparisonJob(
        panel=panel,
        pairing=pairing,
        info=info if begun.comparison is None else require_same_comparison(begun.comparison, info),
        store=place.opened(),
        resumed=begun.comparison is not None,
        budget=budget,
        files=files,
        analysis=cast("Path | None", options["analysis"]),
    )
    return compare_and_show(job, given)


def _planned(panel: Panel, rubric: Rubric, pairing: Pairing, options: Options) -> int:
    """What would be asked; one that stops early may ask less."""
    from judgekit.cli.sides import show_pair_plan  # noqa: PLC0415 - only for a dry run

    _surveyed(pairing)
    pairs = islice(pairing.pairs(), cast("int | None", options["max_cases"]))
    return show_pair_plan(panel, pairs, rubric, pairing.names, options)


def _begun(place: _Place, name: str | None, *, is_generated: bool) -> _Begun:
    if name is None:
        return _Begun()
    store = place.there()
    if store is None:
        raise SettingsError(f"nothing is kept in {place.name} that could be gone on with")
    if is_generated and name != LATEST_COMPARISON and not name.startswith(COMPARISON_ID_PREFIX):
        return _Begun(run=store.run(name))  # broken off while outputs were made
    found = store.comparison(name)
    run_id = found.a.run_id
    return _Begun(found, store.run(run_id) if is_generated and run_id is not None else None)


def _with_choice(options: Options, begun: ComparisonInfo | None) -> Options:
    """The options, with what the comparison chose that is gone on with, where nothing else is."""
    given = [options.get(name) for name in ("filter_tag", "limit", "sample")]
    if begun is None or any(given):
        return options
    chosen = {"filter_tag" if name == "tags" else name: v for name, v in begun.chosen.items()}
    return {**options, **chosen}


def _info(
    names: SideArguments, pairing: Pairing, panel: Panel, rubric: Rubric, options: Options
) -> ComparisonInfo:
    survey = _surveyed(pairing)
    terms = ComparisonTerms(
        alpha=cast("float", options["alpha"]),
        until_decided=bool(options["until_decided"]),
        max_cases=cast("int | None", options["max_cases"]),
        suite=None if names.suite is None else names.suite.name,
    )
    return new_comparison(pairing, survey, panel, rubric, terms=terms, now=datetime.now(UTC))


def _surveyed(pairing: Pairing) -> PairingSurvey:
    survey = pairing.survey()
    if not survey.n_pairs:
        raise SettingsError(
            "no case is answered by both sides",
            hint="both need the same case_id, and the same input for it; see --filter-tag too",
        )
    return survey


def compare_scores(
    names: tuple[str, str],
    store: RunStore | None,
    *,
    alpha: float,
    options: Options,
    files: OutputFiles,
) -> int:
    """Compare two runs by their scores, and show what came of it."""
    if files.exports:
        raise SettingsError(
            "--scores makes no comparisons to write", hint="use --json, or -o FILE.html"
        )
    if store is None:
        raise SettingsError("--scores compares stored runs, and there is no store", hint="--store")
    tags = cast("Collection[str]", options.get("filter_tag") or ())
    (first, one), (second, other) = (run_and_variant(name, store) for name in names)
    runs = on_common_scale(first, second)
    if runs != (first, second):
        console.note("calibrated by other maps, or one of them by none: the judges' own values")
    found = [
        SideScores(store.results(run.id, variant=variant), run, tags)
        for run, variant in zip(runs, (one, other), strict=True)
    ]
    compared = compare_side_scores(found[0], found[1], names, alpha=alpha)
    show_document(score_comparison_document(compared), options, files)
    return 0 if compared.decision.winner is not None else EXIT_INCONCLUSIVE
