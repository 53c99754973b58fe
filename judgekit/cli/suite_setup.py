"""Resolves options and suite files to what `run` and `grade` carry out.

`grade` is a run whose variants are all recorded; `setup` reads its outputs.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeAlias
from urllib.parse import urlsplit

from judgekit import (
    calibration as calibrations,
    datasets,
    evaluation,
    formats,
    records,
    report,
    store as stores,
)
from judgekit.cli import console
from judgekit.cli.judge_options import (
    ContestOptions,
    GradingOptions,
    JudgeOptions,
    SelectionOptions,
    SuiteOptions,
)
from judgekit.cli.options import (
    EXISTING_PATH,
    ReplyOptions,
    StoreOptions,
    TalkOptions,
    baseline_option,
    dry_run_option,
    flag,
    max_cost_option,
    max_drop_option,
    option,
    root_option,
)
from judgekit.cli.outputs import output_option
from judgekit.cli.setup import (
    MISSING_INPUT_REMEDY,
    GradeInputs,
    cache_place,
    chosen_cluster,
    chosen_refresh,
    command_words,
    configured_suite,
    grade_inputs,
    grade_rubric,
    no_judge_error,
    protect_suite,
    suite_paths,
)
from judgekit.errors import DatasetError, SettingsError, StoreError
from judgekit.resources import shipped_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, MutableMapping, Sequence

    from judgekit.evaluation import OpenSuite
    from judgekit.records import CaseResult, Rubric, RunInfo, Verdict
    from judgekit.report import Block

# Which blocks of a report are shown, and which others with them.
Arrangement: TypeAlias = (
    "Callable[[tuple[Block, ...], Callable[[], Iterable[Verdict]]], tuple[Block, ...]]"
)

TARGET_OPTIONS = {
    "target_outputs": "--outputs",
    "target_command": "--target-command",
    "target_python": "--target-python",
    "target_http": "--target-http",
}
"""The options that add a variant, by their fields."""


class EngineOptions(JudgeOptions, StoreOptions, ReplyOptions, TalkOptions):
    """What `run` and `grade` have in common: both evaluate a suite and store a run."""

    output: tuple[Path, ...] = output_option(
        "Write every answer to FILE: .jsonl, .json, .csv or .parquet; or the report: .html or .md."
    )
    # For every variant: a good one must not hide one that fails.
    fail_under: float | None = option(
        "Exit 1 if the pass rate of a variant is below RATE, 4 if it has none.",
        ge=0,
        le=1,
        metavar="RATE",
    )
    baseline: str | None = baseline_option()
    max_drop: float | None = max_drop_option()
    alpha: float | None = option(
        "Significance level of a drop in pass rate (default 0.05).", gt=0, lt=1
    )
    fail_fast: bool = flag("Stop at the first failed answer.", spelling="-x/--fail-fast")
    # What is stored as the trigger is no part of what identifies a run.
    triggered_by: str | None = option(
        "Store who or what started the run (default: the CI job, if there is one).",
        has_variable=True,
    )
    retired: bool = flag("Run a suite or benchmark although it is retired.")
    review: float = option(
        "Share of the verdicts that a human reviews too (judgekit label); they stand meanwhile.",
        0.0,
        ge=0,
        le=1,
        metavar="SHARE",
    )
    dry_run: bool = dry_run_option()
    batch: bool = flag("Send what is not cached as provider batches, at half price. Exit code 4.")
    calibration: Path | None = option(
        "Calibration maps from calibrate --write-map; calibrated values decide.", kind=EXISTING_PATH
    )
    require_calibration: bool = flag("Make no call without a valid calibration. Exit code 4.")
    allow_scripts: bool = False
    max_time: float | None = None

    @property
    def resumes(self) -> bool:
        """Whether a stored run is to be continued."""
        return bool(getattr(self, "resume", None))


class RunOptions(SuiteOptions, EngineOptions):
    """The options of `run`."""

    strict: bool = flag("Exit 2 if a part of another tool's file is not imported.")
    root: Path | None = root_option()
    resume: str | None = option(
        "Resume a run of this suite: its id, the beginning of it, or the latest.",
        metavar="[RUN]",
        flag_value="latest",
    )
    retry_errors: bool = flag("With --resume: retry what failed.")
    max_cost: float | None = max_cost_option("Stop at this cost; --resume continues. Exit code 5.")
    max_time: float | None = option(
        "Start no new case after this time; --resume continues. Exit code 5.",
        gt=0,
        metavar="SECONDS",
        has_variable=True,
    )
    # Off by default: a suite from the network must not run programs.
    allow_scripts: bool = flag("Allow the setup and the scripts of the suite.")
    # Stored with the run, and no part of what identifies it.
    notes: str | None = option("Notes to store with the run.")
    engine: str | None = option(
        "Work on the cases with Ray, on this machine or on the nodes of a cluster.",
        metavar="ray[://ADDRESS]",
        has_variable=True,
    )
    workers: int | None = option(
        "Workers of --engine (default: one for each CPU).", ge=1, has_variable=True
    )


class GradeOptions(EngineOptions, GradingOptions):
    """The options of `grade`."""

    no_store: bool = flag(
        "Do not store the run: no later show, trend, baseline or --resume.", has_variable=True
    )
    output: tuple[Path, ...] = output_option(
        "Write the verdicts to FILE: .jsonl, .json, .csv or .parquet; or the report: .html or .md."
    )
    strict: bool = flag("Exit 2 if a part of another tool's file is not imported.")
    # A flag without an id: the options describe the outputs, which identify the run.
    resume: bool = flag(
        "Resume the stored run of the same outputs; without one, cached replies are used."
    )
    retry_errors: bool = flag(
        "Retry failed questions, including cached replies that cannot be parsed."
    )
    fail_fast: bool = flag(
        "Stop at the first failed output. Exit code 1.", spelling="-x/--fail-fast"
    )
    max_cost: float | None = max_cost_option(
        "Stop at this cost; run it again to continue. Exit code 5."
    )


@dataclass(slots=True)
class RunSetup:
    """Everything a run needs, resolved and checked.

    The outputs of a grading were recorded before, so that the options alone describe it; its
    answers are in `graded` as they arrive, unless they are many. A run that is not stored is in a
    temporary store during this command. The stack closes the store.
    """

    opened: OpenSuite
    store: stores.RunStore
    session: evaluation.Session
    resumed: RunInfo | None = None
    notes: str | None = None
    engine: evaluation.RemoteEngine | None = None
    info: RunInfo | None = None
    is_grading: bool = False
    graded: list[CaseResult] | None = None
    verb: tuple[str, str] = ("running", "done")
    is_stored: bool = True
    stack: ExitStack = field(default_factory=ExitStack)
    arrange: Arrangement = lambda blocks, _: blocks
    """Rearranges the blocks of the report."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stack.__exit__(*error)  # type: ignore[arg-type]  # as Python passes them

    def total(self) -> int:
        """How many answers are missing; tries of what failed are not counted."""
        n_all = self.opened.count_answers((self.info.n_cases if self.info else None) or 0)
        if self.resumed is None:
            return n_all
        retries = self.session.retry_errors
        return n_all - sum(
            stored.is_done and not (retries and (stored.has_error or stored.n_failures))
            for stored in self.store.progress(self.resumed.id)
            # A suite may have fewer repeats now than when the run began.
            if stored.key.repeat < self.opened.suite.settings.repeats
        )


def run_setup(path: Path | None, options: RunOptions) -> RunSetup:
    """Resolve the options of a run: command line first, then the suite file, then defaults."""
    allowed, root = options.allow_scripts, options.root
    with console.strict_import(is_strict=options.strict, allow_scripts=allowed, root=root):
        how = execution_options(options)
        connect = chosen_cluster(options.engine, options.workers, batches=options.batch)
        named, *others = suite_paths(path, options.config)
        if others:
            raise SettingsError(
                f"{path} holds {1 + len(others)} datasets, among them {named.name}",
                hint="name one of them",
            )
        suite = datasets.suite_from_path(named, benchmark=options.benchmark)
        datasets.refuse_retired(suite, allowed=options.retired)
        suite = with_command_line_rubric(suite, options.rubric, options.extra_rubric)
        # What answers may be named for another tool's file, whose variants need not run here.
        is_free = not suite.variants or formats.is_foreign_file(named)
        suite = with_command_line_variant(_judged(suite, options), options, is_free=is_free)
        suite = _with_command_line_gate(suite, options)
        protect_suite(suite, options.output)
        # A suite that cannot run leaves no store open: a folder may hold more of them.
        with ExitStack() as stack:
            store = stack.enter_context(options.open_store(create=True))
            evaluation.check_baseline(suite.gate, store)
            resumed = None
            if options.resume is not None:
                resumed = evaluation.find_resumed_run(store, options.resume, suite)
            elif options.retry_errors:
                raise SettingsError("--retry-errors needs --resume", hint="give --resume as well")
            chosen = replace(
                selected_cases(options),
                variants=options.variant,
                case_ids=options.filter_case,
                name_pattern=options.filter_name,
            )
            # Without a choice of its own, a resumed run completes what it began.
            if resumed is not None and chosen == evaluation.Choice():
                chosen = evaluation.choice_of_run(resumed)
            opened = evaluation.open_suite(suite, chosen, how)
            for words in datasets.whole_memory_note(suite, opened.cases.source.objects):
                console.note(words)
            setup = RunSetup(opened, store, _session(options), resumed, options.notes)
            if connect is not None:
                called = partial(evaluation.called_models, opened, store, resumed)
                setup.engine = evaluation.RemoteEngine(connect, called)
            setup.stack = stack.pop_all()
        return setup


def _session(options: EngineOptions) -> evaluation.Session:
    return options.fill(
        evaluation.Session, max_seconds=options.max_time, in_flight=options.max_concurrency
    )


def grade_run_setup(
    options: GradeOptions, *, tags: tuple[str, ...] = (), has_cases_in_rows: bool = False
) -> RunSetup:
    """Resolve the options of a grading to a run of recorded outputs, with its store."""
    with console.strict_import(is_strict=options.strict):
        chosen, how = selected_cases(options), execution_options(options)
        if options.review and options.no_store:
            raise SettingsError("--no-store leaves nothing to review", hint="omit it, or --review")
        named = configured_suite(options.config)
        if named is not None:
            named = datasets.with_benchmark(named)
            datasets.refuse_retired(named, allowed=options.retired)
        cases_of = None if has_cases_in_rows else named
        inputs = grade_inputs(options, cases_of, is_lenient=True)
        first = inputs.sources[0].path
        suite = named or datasets.Suite(name=first.stem or "outputs", dataset=str(first.resolve()))
        if named is None or not (named.assertions or named.profile):
            # Outputs may be many; a missing rubric is reported before they are read.
            grade_rubric(options.rubric, named)
        suite = with_command_line_judge(with_command_line_rubric(suite, options.rubric), options)
        if suite.rubric is not None and not suite.judge:
            raise no_judge_error()
        protect_suite(suite, options.output)
        # Reading the outputs comes last: it takes longest, and everything above may be an error.
        suite = _with_command_line_gate(suite, options)
        recorded, variants = read_recorded(inputs, is_suite=not options.outputs)
        # Recorded outputs have the context that they were made with.
        changes = {"variants": variants, "tags": (*suite.tags, *tags), "context": None}
        suite = recorded.with_repeats(suite.model_copy(update=changes))
        opened = evaluation.open_suite(suite, chosen, how, recorded=recorded)
        with ExitStack() as stack:
            store, is_stored = _grading_store(options, stack)
            evaluation.check_baseline(suite.gate, store)
            return RunSetup(
                opened,
                store,
                _session(options),
                is_grading=True,
                verb=("grading", "graded"),
                is_stored=is_stored,
                stack=stack.pop_all(),
            )


def _grading_store(options: GradeOptions, stack: ExitStack) -> tuple[stores.RunStore, bool]:
    if not options.no_store:
        try:
            store = stack.enter_context(options.open_store(create=True))
            with store.writing():  # a read-only file opens without an error
                return store, True
        except StoreError as error:
            console.note(f"warning: the run is not stored: {error.message}")
    return stack.enter_context(stores.temporary_store()), False


def read_recorded(
    inputs: GradeInputs, *, is_suite: bool
) -> tuple[evaluation.RecordedAnswers, tuple[datasets.VariantSettings, ...]]:
    """The chosen outputs and their cases, and the variants they are of."""
    files, unnamed = dict[str, Path](), set[str]()
    # Outputs may be many, and are in memory as far as they fit; a file of cases is there already.
    outputs: dict[str, MutableMapping[tuple[str, int], records.Output]] = {}
    cases: MutableMapping[str, records.Case] = (
        records.SpooledRecords(records.Case) if inputs.cases is None else {}
    )
    rubrics: dict[tuple[str, str, int], Rubric] = {}
    n_without_input = n = 0
    for source, case, output in inputs.with_sources():
        variant = output.variant or source.path.stem
        if output.variant is None:
            unnamed.add(variant)
        files.setdefault(variant, source.path)
        named, key = {"case_id": case.id, "variant": variant}, calibrations.output_key(case, output)
        own = outputs.setdefault(variant, records.SpooledRecords(records.Output))
        own[case.id, key.repeat] = output.model_copy(update=named)
        if inputs.rubrics is not None:
            rubrics[case.id, variant, key.repeat] = inputs.rubrics[key]
        # A case without --cases is described by the rows of its outputs, once for each variant.
        cases[case.id] = _same_case(cases.get(case.id), case, source.path)
        n, n_without_input = n + 1, n_without_input + (case.input is None)
    if not n:
        raise inputs.nothing_chosen()
    if datasets.number_single_outputs(outputs.values()):
        rubrics = {(one, variant, 0): own for (one, variant, _), own in rubrics.items()}
    if n_without_input:  # the judge does not see the task
        console.note(
            f"{n_without_input} of {report.format_count(n, 'output')} without an input: the judge "
            f"sees only the output; {MISSING_INPUT_REMEDY}"
        )
    # A suite lists the cases each variant must answer; a file alone only those that were answered.
    takes_all = inputs.options.sample is None and inputs.options.limit is None
    is_complete = is_suite and takes_all and inputs.cases is not None
    if is_complete and inputs.cases is not None:
        cases = {case.id: case for case in inputs.cases.cases if inputs.is_wanted(case)}
    whole = inputs.cases
    name, version = ("outputs", "1") if whole is None else (whole.name, whole.version)
    objects = () if whole is None else records.memory_objects(whole)
    recorded = evaluation.RecordedAnswers(
        records.CaseSource(name, version, lambda: iter(cases.values()), objects=objects),
        outputs,
        has_gaps=not is_complete,
        unnamed=frozenset(unnamed),
        unmatched=inputs.unmatched(),
        rubrics=None if inputs.rubrics is None else rubrics,
    )
    variants = tuple(
        datasets.VariantSettings(id=v, outputs=str(p.resolve())) for v, p in files.items()
    )
    return recorded, variants


def _same_case(known: records.Case | None, case: records.Case, path: Path) -> records.Case:
    """A case as the rows of several variants describe it; a row may leave the input out."""
    if known is None or known == case or known.input is None:
        return case
    if case.input is None:
        return known
    raise DatasetError(
        "two rows describe this case differently",
        path=path,
        case_id=case.id,
        hint="give each case its own id, or name the file with the cases (--cases)",
    )


def find_same_run(store: stores.RunStore, fresh: RunInfo) -> RunInfo | None:
    """The last stored run of the same outputs."""
    runs = store.runs(suite=fresh.suite, config_fingerprint=fresh.config_fingerprint, limit=1)
    # The configuration names files; their versions show whether the outputs are still the same.
    same = (
        run
        for run in runs
        if run.config.get(evaluation.VERSIONS_KEY) == fresh.config.get(evaluation.VERSIONS_KEY)
    )
    return next(same, None)


def with_command_line_judge(suite: datasets.Suite, options: JudgeOptions) -> datasets.Suite:
    """The suite with the judge of the command line, or with its settings for the suite's own."""
    name = options.judge_model
    changes = options.judge_settings.overrides()
    if isinstance(template := changes.get("template"), str):
        changes["template"] = _from_here(template, suite)
    if name is None and not changes:
        return suite
    judges = suite.judge
    if name is not None:
        # Judges with a name stay: the rubric chooses them, and not the command line.
        own = tuple(judge for judge in judges if judge.name is None)
        same = tuple(judge for judge in own if judge.model == name)
        # Another model takes the place of the suite's only judge, with the settings of that one.
        (only,) = own if len(own) == 1 else (None,)
        settings = {} if only is None or only.kind != "llm" else only.model_dump(exclude_unset=True)
        settings.pop("api_base", None)  # another model is not at this one's address
        # Recorded replies here are relative to the working folder, as a path is there.
        kind, colon, path = name.partition(":")
        if kind == "recorded" and colon:
            name = f"{kind}:{_from_here(path, suite)}"
        named = tuple(judge for judge in judges if judge.name is not None)
        judges = (
            *(same or (datasets.SuiteJudge.model_validate({**settings, "model": name}),)),
            *named,
        )
        suite = suite.model_copy(update={"panel": None})
    merged = tuple(
        datasets.SuiteJudge.checked(**{**judge.model_dump(exclude_unset=True), **changes})
        if judge.kind == "llm"
        else judge
        for judge in judges
    )
    return suite.model_copy(update={"judge": merged})


def execution_options(options: EngineOptions | ContestOptions) -> evaluation.ExecutionOptions:
    """How a suite's judges and targets are called."""
    return options.fill(
        evaluation.ExecutionOptions,
        cache=cache_place(options),
        template_folders=options.judge_settings.template_folders,
        frozen=options.judge_settings.frozen,
        refresh=chosen_refresh(options),
        max_cost_usd=options.max_cost,
    )


def _judged(suite: datasets.Suite, options: JudgeOptions) -> datasets.Suite:
    """The suite with the judge of the command line, unless no case needs a judge."""
    judged = with_command_line_judge(suite, options)
    uses_judge = suite.judge or any(
        datasets.scorer_name(one) == records.JUDGE_SCORER for one in suite.scorers
    )
    if uses_judge or not judged.judge:
        return judged
    # JUDGEKIT_JUDGE may be set for all suites; one decided by its checks must not cost anything.
    cases = datasets.open_cases(suite)
    if any(evaluation.needs_judge(case, suite) for case in cases):
        return judged
    console.note(
        f"the judge is not used: every case of {cases.name} is decided by its own checks "
        "(to use it too: --rubric FILE|NAME)"
    )
    return suite


def with_command_line_rubric(
    suite: datasets.Suite, name: str | None, extra: Sequence[str] = ()
) -> datasets.Suite:
    """The suite with the rubrics that the command line names; cases keep their own."""
    more = dict.fromkeys((*suite.extra_rubrics, *map(_rubric_from_here, extra)))
    own = suite.rubric if name is None else _rubric_from_here(name)
    return suite.model_copy(update={"rubric": own, "extra_rubrics": tuple(more)})


def _rubric_from_here(name: str) -> str:
    # A shipped one stays its name; a file is relative to the working folder, not to the suite.
    path = datasets.rubric_path(name)
    return path.stem if path.parent == shipped_file("prompts", "rubrics") else str(path.resolve())


def _from_here(path: str, suite: datasets.Suite) -> str:
    """A path as the working folder has it; one not found here, or the suite's own, unchanged."""
    here = Path(path).resolve()
    return str(here) if here.is_file() and here != suite.resolve(path).resolve() else path


def _with_command_line_gate(suite: datasets.Suite, options: EngineOptions) -> datasets.Suite:
    """The suite with the maps and the gate of the command line, or with its settings for both."""
    names = ("baseline", "max_drop", "alpha")
    drop = {name: value for name in names if (value := getattr(options, name)) is not None}
    if drop and getattr(options, "no_store", False):
        raise SettingsError(
            "--no-store leaves no earlier run to compare the pass rate with",
            hint="omit --no-store, or use --fail-under RATE",
        )
    changes = drop | ({"require_calibration": True} if options.require_calibration else {})
    gate = (suite.gate or records.Gate()).model_copy(update=changes)
    if drop and gate.max_drop is None:
        raise SettingsError(
            "--baseline and --alpha are about the drop in pass rate, and no drop is limited",
            hint="give --max-drop POINTS as well, or `gate: {max_drop: …}` in the suite",
        )
    maps = options.calibration
    own: dict[str, object] = {} if maps is None else {"calibration": str(maps.resolve())}
    own |= {"gate": gate} if changes else {}
    return suite.model_copy(update=own) if own else suite


def selected_cases(options: SelectionOptions) -> evaluation.Choice:
    # The choice is stored with the run, where a seed without a sample would be a difference.
    seed = options.seed if options.sample is not None else 0
    return options.fill(evaluation.Choice, tags=options.filter_tag, seed=seed)


def with_command_line_variant(
    suite: datasets.Suite, options: SuiteOptions, *, is_free: bool
) -> datasets.Suite:
    targets = {name: str(value) for name in TARGET_OPTIONS if (value := getattr(options, name))}
    if not targets:
        return suite
    if len(targets) > 1:
        both = " and ".join(TARGET_OPTIONS[name] for name in targets)
        raise SettingsError(f"{both} exclude each other: they set one variant", hint="give one")
    ((name, value),) = targets.items()
    # Replacing them would store another suite's results under this suite's name.
    if not is_free:
        raise SettingsError(
            f"{TARGET_OPTIONS[name]} is for a suite without variants, and {suite.name!r} has some",
            hint="omit it, or add the variant to the suite",
        )
    ids = options.variant if len(options.variant) == 1 else ()
    return suite.model_copy(update={"variants": _variants(name, value, suite, ids)})


def _variants(
    name: str, value: str, suite: datasets.Suite, ids: tuple[str, ...]
) -> tuple[datasets.VariantSettings, ...]:
    id_ = next(iter(ids), None)
    if name == "target_command":
        words = command_words(value, suite)
        return (datasets.VariantSettings(id=id_ or "command", command=words),)
    if name == "target_python":
        here = str(Path.cwd())
        if here not in sys.path:  # as with `python script.py`, modules here go first
            sys.path.insert(0, here)
        return (datasets.VariantSettings(id=id_ or value.rpartition(":")[2], python=value),)
    if name == "target_http":
        http = datasets.HttpTarget(url=value)
        return (datasets.VariantSettings(id=id_ or urlsplit(value).netloc, http=http),)
    path = Path(value)
    if not ids:
        # The rows may name several variants; if one row names none, they are all of one variant,
        # which is named after the file.
        named = dict.fromkeys(row.fields.get("variant") for row in datasets.iter_output_rows(path))
        ids = () if None in named else tuple(str(one) for one in named if one not in {None, ""})
    return tuple(
        datasets.VariantSettings(id=one, outputs=str(path.resolve())) for one in ids or [path.stem]
    )
