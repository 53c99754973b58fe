"""`judgekit plan`: the calls and the cost of a run or a grading; no model is called."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit import assertions, datasets, evaluation, formats, report
from judgekit.cli import console
from judgekit.cli.exit_codes import Exit
from judgekit.cli.help import command
from judgekit.cli.judge_options import GradingOptions, JudgeOptions, SuiteOptions
from judgekit.cli.options import (
    OutputOptions,
    StoreOptions,
    cases_option,
    flag,
    max_cost_option,
    root_option,
    rubric_option,
    typed_options,
)
from judgekit.cli.outputs import (
    OutputFiles,
    note_list_prices,
    output_option,
    show_document,
    show_plan,
    sort_outputs,
)
from judgekit.cli.progress import run_async
from judgekit.cli.setup import SUITE_FILE, GradeSetup, grade_setup
from judgekit.cli.suite_setup import TARGET_OPTIONS, RunOptions, RunSetup, run_setup

if TYPE_CHECKING:
    from judgekit.datasets import Suite
    from judgekit.evaluation import SuitePlan
    from judgekit.records import Case, Output, Rubric

# The parts of a suite and what it runs; outputs have one variant, and are there.
_SUITE_ONLY = (
    "filter_case", "filter_name", "allow_scripts", "benchmark", "where", "extra_rubric",
    *TARGET_OPTIONS,
)  # fmt: skip


class JobOptions(SuiteOptions, JudgeOptions):
    """The options of a job that is a run of a suite or a grading of outputs."""

    rubric: str | None = rubric_option(
        "Rubric of OUTPUTS, or of cases that have none: a file or a shipped rubric."
    )
    cases: Path | None = cases_option("Cases of OUTPUTS (inputs, references).")
    max_cost: float | None = max_cost_option(
        "Exit with code 5 if SUITE is likely to cost more than this."
    )
    root: Path | None = root_option()
    allow_scripts: bool = flag("Run the code that makes the tests of SUITE.")


class _PlanOptions(JobOptions, StoreOptions, OutputOptions):
    output: tuple[Path, ...] = output_option("Write the plan to FILE: .json, .md or .html.")


@command("plan", _PlanOptions)
@click.argument("paths", nargs=-1, metavar="[SUITE | OUTPUTS]...", type=click.Path(path_type=Path))
def plan_command(options: _PlanOptions, *, paths: tuple[Path, ...]) -> None:
    """Estimate the calls and the cost of a run of SUITE or a grading of OUTPUTS; makes no call.

    SUITE is a suite file, or any file of cases with --outputs or one of the --target options. The
    estimate has the calls for each model, tokens, price, cached replies and duration; for a suite
    also the smallest difference between variants that its size can detect. It takes the options of
    judgekit run or judgekit grade. Without an argument judgekit.yaml is planned: as a run if it has
    variants that must still answer or a gate, else as a grading.

    Tokens are counted and prices looked up without a network. Exit code 0; 5 if --max-cost is less
    than the likely price.

    Examples:
        judgekit plan
        judgekit plan outputs.jsonl --rubric helpfulness --judge openai/gpt-4.1
        judgekit plan suite.yaml --max-cost 2 --no-cache
    """
    files = sort_outputs(options.output, what="a plan")
    for path in paths:
        if not path.exists():
            raise click.BadParameter(f"Path '{path}' does not exist.", param_hint="SUITE | OUTPUTS")
    if is_run(paths, options, also=("max_cost",)):  # a grading has no limit to exceed
        # A retired suite is only refused where something is run.
        setup = run_setup(next(iter(paths), None), RunOptions.of(options, output=(), retired=True))
        sys.exit(show_suite_plan(setup, options, files))
    variant = next(iter(options.variant), None)
    # Its price need not be known, as that of a model with a limit.
    grading = GradingOptions.of(options, outputs=paths, variant=variant, max_cost=None)
    show_grade_plan(grade_setup(grading), options, files)


def show_grade_plan(
    setup: GradeSetup,
    options: OutputOptions,
    files: OutputFiles | None = None,
    *,
    max_cost: float | None = None,
) -> int:
    """Estimate the calls and the cost of a grading and print them; the exit code."""
    checks = evaluation.CriterionChecks((), n_judges=1)

    def checked() -> Iterator[tuple[Case, Output, Rubric]]:
        for grading in setup.gradings():
            checks.take(grading[0], grading[2])
            yield grading

    with setup.judge as judge:
        setup.check()  # before the first request is built
        plan = evaluation.plan_grading(judge, checked(), refresh=setup.refresh)
    for words in checks.unmet_needs:
        console.note(words)
    if setup.calibration is not None or setup.requires_calibration:
        use = evaluation.resolve_calibration(
            setup.calibration, setup.rubric, evaluation.judging_of_judge(setup.judge, setup.rubric)
        )
        console.note(f"calibration: {use.words}")
    return show_plan(plan, options, [setup.judge.connection], files=files, max_cost=max_cost)


def show_suite_plan(
    setup: RunSetup, options: OutputOptions, files: OutputFiles | None = None
) -> int:
    """Estimate the calls and the cost of a run and print them; closes the setup."""

    async def planned() -> SuitePlan:
        in_flight = setup.session.in_flight
        try:
            return await evaluation.plan_suite(
                setup.opened, store=setup.store, begun=setup.resumed, in_flight=in_flight
            )
        finally:
            await setup.opened.aclose()

    with setup:
        plan = run_async(planned())
    suite = setup.opened.suite
    for words in report.default_rubric_lines(
        evaluation.default_rubric_records(setup.opened.plans.by_default)
    ):
        console.note(f"rubric: {words}")
    for words in setup.opened.plans.unmet_needs:
        console.note(words)
    if suite.calibration is not None or (suite.gate and suite.gate.require_calibration):
        console.note(f"calibration: {evaluation.calibration_of_suite(setup.opened).words}")
    note_list_prices(setup.opened.judges.connections)
    show_document(report.suite_plan_document(plan), options, files)
    return Exit.LIMIT if plan.sufficiency == "short" else 0


def is_run(paths: tuple[Path, ...], options: JobOptions, also: Sequence[str] = ()) -> bool:
    """Whether `run` is meant, and not `grade`; options of the other one are refused."""
    if _names_suite(paths, options):
        _refuse_options(("cases",), "a grading of outputs, and this is a suite")
        return True
    _refuse_options((*_SUITE_ONLY, *also), "a suite, and these are outputs")
    if len(options.variant) > 1:
        raise click.UsageError("Outputs have one --variant; only a suite has several.")
    return False


def _names_suite(paths: tuple[Path, ...], options: JobOptions) -> bool:
    if len(paths) == 1:
        return _is_suite(paths[0])
    # These two describe outputs that are graded.
    if paths or options.rubric is not None or options.cases is not None:
        return False
    named = options.config or Path(SUITE_FILE)
    if named.is_dir():
        return True
    if not named.is_file():
        return False
    suite = datasets.load_suite(named)
    # There is more to do than to have one model judge what is recorded, or a gate to decide.
    is_called = any(variant.kind != "outputs" for variant in suite.variants)
    return is_called or has_panel(suite) or suite.gate is not None


def _is_suite(path: Path) -> bool:
    """Whether a path is run: a suite, or cases, which become one; not outputs."""
    if path.is_dir():
        return True
    document = formats.read_whole_document(path)
    if document is None:
        # The first row is enough: files of one row per line do not mix cases and outputs.
        first = next(formats.iter_rows(path), None)
        return first is not None and formats.row_kind(first.fields) == "cases"
    # Files of other tools are suites if they have cases; else they hold outputs or results.
    shape = formats.foreign_shape(document.value)
    if shape is not None:
        return shape.has_cases
    return formats.document_kind(document.value) in {"suite", "cases"}


def has_panel(suite: Suite) -> bool:
    """Whether the judges of a suite are other than one model, or compare what variants answer."""
    # A grading plan knows one model only, which grades all criteria: panels, judges with a name,
    # humans, checks and comparisons need the plan of a run.
    if len(suite.judge) > 1 or any(j.kind != "llm" or j.name for j in suite.judge):
        return True
    cases = (case.assertions for case in (datasets.open_cases(suite) if suite.judge else ()))
    specs = chain(suite.assertions, chain.from_iterable(cases))
    return any(assertions.compares_variants(str(spec.get("type"))) for spec in specs)


def _refuse_options(names: Sequence[str], belongs_to: str) -> None:
    for name, spelling in typed_options().items():
        if name in names:
            raise click.UsageError(f"{spelling} belongs to {belongs_to}.")
