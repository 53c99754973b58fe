"""Resolves options and suite files to what `run` and `grade` carry out.

`grade` is a run whose variants are all recorded; `setup` reads its outputs.
"""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from judgekit.cli import console
from judgekit.cli.options import DEFAULT_STORE_FILE, TARGET_OPTIONS, given_judge_settings
from judgekit.cli.setup import (
    MISSING_INPUT_REMEDY,
    SUITE_FILE,
    cache_folder,
    configured_suite,
    grade_inputs,
    grade_rubric,
    no_judge_error,
    refresh_of,
)
from judgekit.datasets import (
    Gate,
    HttpTarget,
    Suite,
    SuiteJudge,
    VariantSettings,
    discover_datasets,
    discover_suites,
    iter_output_rows,
    load_suite,
    open_cases,
    rubric_path,
    scorer_name,
    suite_from_path,
)
from judgekit.errors import DatasetError, InputError, SettingsError, StoreError
from judgekit.evaluation import (
    JUDGE_SCORER,
    VERSIONS_KEY,
    Choice,
    ExecutionOptions,
    OpenSuite,
    RecordedAnswers,
    Session,
    choice_of_run,
    find_resumed_run,
    needs_judge,
    open_suite,
)
from judgekit.records import CaseSource
from judgekit.report import format_count
from judgekit.resources import shipped_file
from judgekit.store import RunStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judgekit.cli.setup import GradeInputs, Options
    from judgekit.records import Case, CaseResult, Output, RunInfo


@dataclass(slots=True)
class RunSetup:
    """Everything a run needs, resolved and checked."""

    opened: OpenSuite
    """The suite, ready to run."""

    store: RunStore
    """Where it is kept."""

    session: Session
    """How this sitting goes."""

    begun: RunInfo | None
    """The run that is gone on with."""

    notes: str | None
    """Notes to store with the run."""

    info: RunInfo | None = None
    """The run, once it is known."""

    is_grading: bool = False
    """Whether its outputs were recorded before, so that its options say all of it."""

    graded: list[CaseResult] = field(default_factory=list)
    """The answers of a grading, as they come."""

    is_stored: bool = True
    """Whether the run is kept after this command."""

    folder: TemporaryDirectory[str] | None = None
    """The folder of a store that is not kept."""

    verb: tuple[str, str] = ("running", "done")
    """The words of the progress bar: while it runs, and at its end."""

    def close(self) -> None:
        """Close the store; one that is not kept is deleted."""
        self.store.close()
        if self.folder is not None:
            self.folder.cleanup()

    def total(self) -> int:
        """How many answers are still to be had; tries of what failed are not counted."""
        n_all = self.opened.count_answers((self.info.n_cases if self.info else None) or 0)
        if self.begun is None:
            return n_all
        again = self.session.retry_errors
        return n_all - sum(
            seen.is_done and not (again and (seen.has_error or seen.n_failures))
            for seen in self.store.progress(self.begun.id)
            if seen.key.repeat < self.opened.suite.settings.repeats
        )


def run_setup(path: Path | None, options: Options) -> RunSetup:
    """Resolve the options of a run: command line first, then the suite file, then defaults."""
    _refuse_contradictions(options)
    suite = with_command_line_rubric(_suite(path, options), options)
    suite = with_command_line_variant(_judged(suite, options), options)
    suite = _with_given_calibration(suite, options)
    store = RunStore(cast("str | None", options.get("store")) or DEFAULT_STORE_FILE)
    begun = _begun(store, suite, options)
    chosen = _choice(options)
    if begun is not None and chosen == Choice():
        chosen = choice_of_run(begun)
    opened = open_suite(suite, chosen, asking_of(options))
    notes = cast("str | None", options.get("notes"))
    return RunSetup(opened, store, _session(options), begun, notes)


def _refuse_contradictions(options: Options) -> None:
    if options.get("refresh") and options.get("frozen"):
        raise SettingsError("--refresh and --frozen contradict each other")


def _session(options: Options) -> Session:
    return Session(
        max_seconds=cast("float | None", options.get("max_time")),
        fail_fast=bool(options.get("fail_fast")),
        in_flight=cast("int | None", options.get("max_concurrency")),
        retry_errors=bool(options.get("retry_errors")),
    )


def grade_run_setup(options: Options) -> RunSetup:
    """Resolve the options of a grading to a run of recorded outputs, without a store yet."""
    _refuse_contradictions(options)
    named = configured_suite(options)
    inputs = grade_inputs(options, named)
    suite = named or _suite_of_outputs(inputs)
    if named is None or not (named.assertions or named.profile):
        grade_rubric(options, named)  # nothing to decide by is an error before the outputs are read
    suite = with_command_line_judge(with_command_line_rubric(suite, options), options)
    if suite.rubric is not None and not suite.judge:
        raise no_judge_error()
    suite = _with_given_calibration(suite, options)
    recorded, variants = read_recorded(inputs, is_suite=not options.get("outputs"))
    suite = suite.model_copy(update={"variants": variants})
    opened = open_suite(
        suite, _choice({**options, "variant": ()}), asking_of(options), recorded=recorded
    )
    store, folder = _grade_store(options)
    return RunSetup(
        opened,
        store,
        _session(options),
        begun=None,
        notes=None,
        is_grading=True,
        is_stored=folder is None,
        folder=folder,
        verb=("grading", "graded"),
    )


def _suite_of_outputs(inputs: GradeInputs) -> Suite:
    """The suite of outputs that no suite file names."""
    path = inputs.sources[0].path
    return Suite(name=path.stem or "outputs", dataset=str(path.resolve()))


def _grade_store(options: Options) -> tuple[RunStore, TemporaryDirectory[str] | None]:
    """The store of a grading; a temporary one where it is not to be kept, or cannot be."""
    if not options.get("no_store"):
        location = cast("str | None", options.get("store")) or DEFAULT_STORE_FILE
        try:
            store = RunStore(location)
            with store.writing():  # a file that may only be read opens all the same
                return store, None
        except StoreError as error:
            console.note(f"warning: the run is not stored: {error.message}")
    folder = TemporaryDirectory(prefix="judgekit-run-")
    return RunStore(Path(folder.name, "judgekit.db")), folder


def read_recorded(
    inputs: GradeInputs, *, is_suite: bool
) -> tuple[RecordedAnswers, tuple[VariantSettings, ...]]:
    """The chosen outputs and their cases, and the variants they are of."""
    files: dict[str, Path] = {}
    unnamed: set[str] = set()
    outputs: dict[str, dict[str, Output]] = {}
    cases: dict[str, Case] = {}
    n_unasked = n = 0
    for source, case, output in inputs.with_sources():
        variant = output.variant or source.path.stem
        if output.variant is None:
            unnamed.add(variant)
        files.setdefault(variant, source.path)
        own = outputs.setdefault(variant, {})
        if case.id in own:
            raise DatasetError(
                f"a second output of variant {variant!r}",
                path=source.path,
                case_id=case.id,
                hint="give each its own `variant`, or name one of the files",
            )
        own[case.id] = output.model_copy(update={"case_id": case.id, "variant": variant})
        cases[case.id] = _same_case(cases.get(case.id), case, source.path)
        n, n_unasked = n + 1, n_unasked + (case.input is None)
    if not n:
        raise inputs.nothing_chosen()
    if n_unasked:
        console.note(
            f"{n_unasked} of {format_count(n, 'output')} without what was asked: the judge sees "
            f"the output alone; {MISSING_INPUT_REMEDY}"
        )
    # A suite says which cases each variant is to answer; a file alone says only what was answered.
    is_whole = is_suite and inputs.takes_all and inputs.cases is not None
    found = inputs.tagged_cases() if is_whole else tuple(cases.values())
    name, version = (
        ("outputs", "1") if inputs.cases is None else (inputs.cases.name, inputs.cases.version)
    )
    recorded = RecordedAnswers(
        CaseSource(name, version, lambda: iter(found)),
        outputs,
        has_gaps=not is_whole,
        unnamed=frozenset(unnamed),
    )
    variants = tuple(VariantSettings(id=v, outputs=str(p.resolve())) for v, p in files.items())
    return recorded, variants


def _same_case(known: Case | None, case: Case, path: Path) -> Case:
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


def find_unfinished_run(store: RunStore, fresh: RunInfo) -> RunInfo | None:
    """The last stored run of the same outputs, where it did not come to its end."""
    found = store.runs(suite=fresh.suite, config_fingerprint=fresh.config_fingerprint, limit=1)
    same = [run for run in found if run.config.get(VERSIONS_KEY) == fresh.config.get(VERSIONS_KEY)]
    return next((run for run in same if run.status != "complete"), None)


def with_command_line_judge(suite: Suite, options: Mapping[str, object]) -> Suite:
    """The suite with the judge that the command line names, or its settings of asking."""
    named = cast("str | None", options.get("judge_model"))
    given = given_judge_settings(options)
    if isinstance(template := given.get("template"), str):
        given["template"] = _from_here(template, suite)
    judges = suite.judge
    if named is not None:
        same = [judge for judge in judges if judge.model == named]
        judges = tuple(same) or (_another_judge(named, suite),)
        suite = suite.model_copy(update={"panel": None})
    if named is None and not given:
        return suite
    merged = tuple(
        SuiteJudge.checked(**{**judge.model_dump(exclude_unset=True), **given})
        if judge.kind == "llm"
        else judge
        for judge in judges
    )
    return suite.model_copy(update={"judge": merged})


def _another_judge(model: str, suite: Suite) -> SuiteJudge:
    """Another model in the place of the suite's only judge: asked as that one is."""
    (only,) = suite.judge if len(suite.judge) == 1 else (None,)
    known = {} if only is None or only.kind != "llm" else only.model_dump(exclude_unset=True)
    known.pop("api_base", None)  # another model does not live at this one's address
    return SuiteJudge.model_validate({**known, "model": _recorded_here(model, suite)})


def asking_of(options: Options) -> ExecutionOptions:
    """How a suite's judges and targets are asked."""
    folders = cast("Iterable[Path]", options.get("template_folders") or ())
    return ExecutionOptions(
        cache=cache_folder(options),
        template_folders=tuple(folders),
        frozen=bool(options.get("frozen")),
        refresh=refresh_of(options),
        max_cost_usd=cast("float | None", options.get("max_cost")),
        allow_scripts=bool(options.get("allow_scripts")),
    )


def _judged(suite: Suite, options: Options) -> Suite:
    """The suite with the judge of the command line, where there is anything to ask it."""
    judged = with_command_line_judge(suite, options)
    is_asked = suite.judge or any(scorer_name(scorer) == JUDGE_SCORER for scorer in suite.scorers)
    if is_asked or not judged.judge:
        return judged
    cases = open_cases(suite)
    if any(needs_judge(case, suite) for case in cases):
        return judged
    console.note(
        f"the judge is not asked: every case of {cases.name} is decided by its own checks "
        "(--rubric FILE|NAME has it asked too)"
    )
    return suite


def with_command_line_rubric(suite: Suite, options: Mapping[str, object]) -> Suite:
    """The suite with the rubric that the command line names; cases keep their own."""
    named = cast("str | None", options.get("rubric"))
    if named is None:
        return suite
    # A shipped one stays its name; a file is looked for where it was typed.
    path = rubric_path(named)
    is_shipped = path.parent == shipped_file("prompts", "rubrics")
    return suite.model_copy(update={"rubric": path.stem if is_shipped else str(path.resolve())})


def _recorded_here(model: str, suite: Suite) -> str:
    """Recorded replies that the command line names are looked for where it was typed."""
    kind, colon, path = model.partition(":")
    return f"{kind}:{_from_here(path, suite)}" if kind == "recorded" and colon else model


def _from_here(path: str, suite: Suite) -> str:
    """A path that is found here; one that is not, or is the suite's own, stays as it is."""
    here = Path(path).resolve()
    return str(here) if here.is_file() and here != suite.resolve(path).resolve() else path


def _with_given_calibration(suite: Suite, options: Mapping[str, object]) -> Suite:
    given = cast("Path | None", options.get("calibration"))
    changes: dict[str, object] = {} if given is None else {"calibration": str(given.resolve())}
    if options.get("require_calibration"):
        gate = suite.gate or Gate()
        changes["gate"] = gate.model_copy(update={"require_calibration": True})
    return suite.model_copy(update=changes) if changes else suite


def _suite(path: Path | None, options: Options) -> Suite:
    named, *others = suite_paths(path, options)
    if others:
        raise SettingsError(
            f"{path} holds {1 + len(others)} datasets, among them {named.name}",
            hint="name one of them",
        )
    return suite_from_path(named)


def _begun(store: RunStore, suite: Suite, options: Options) -> RunInfo | None:
    named = cast("str | None", options.get("resume"))
    if named is None:
        if options.get("retry_errors"):
            raise SettingsError("--retry-errors needs --resume", hint="give --resume as well")
        return None
    return find_resumed_run(store, named, suite)


def _choice(options: Options) -> Choice:
    def several(name: str) -> tuple[str, ...]:
        return tuple(cast("Iterable[str]", options.get(name) or ()))

    sample = cast("int | None", options.get("sample"))
    return Choice(
        variants=several("variant"),
        tags=several("filter_tag"),
        case_ids=several("filter_case"),
        name_pattern=cast("str | None", options.get("filter_name")),
        sample=sample,
        seed=cast("int", options.get("seed") or 0) if sample is not None else 0,
        limit=cast("int | None", options.get("limit")),
    )


_SKILL_MARKS = ("eval/tests.json", "SKILL.md")


def suite_paths(path: Path | None, options: Options) -> tuple[Path, ...]:
    """The files, folders and zips that are run, each as a suite of its own."""
    # A folder is its `judgekit.yaml`, or a skill with its tests, or every suite that is found in it
    # and every dataset that none of these suites is about.
    named = path or cast("Path | None", options.get("config"))
    if named is None and Path(SUITE_FILE).is_file():
        named = Path(SUITE_FILE)
    if named is None:
        raise SettingsError(
            f"no suite is named, and there is no {SUITE_FILE} here",
            hint="name one: judgekit run suite.yaml; or begin one: judgekit init my-suite",
        )
    if not named.is_dir():
        return (named,)
    if (named / SUITE_FILE).is_file():
        return (named / SUITE_FILE,)
    if any((named / mark).is_file() for mark in _SKILL_MARKS):
        return (named,)
    found = _suites_and_datasets(named)
    if not found:
        raise SettingsError(
            f"{named} holds neither a suite nor a dataset",
            hint="name a suite, a file of cases, or a skill with eval/tests.json",
        )
    return found


def _suites_and_datasets(folder: Path) -> tuple[Path, ...]:
    suites = discover_suites(folder)
    theirs = {path.resolve() for suite in suites if (path := _dataset_of(suite)) is not None}
    datasets = [path for path in discover_datasets(folder) if path.resolve() not in theirs]
    return (*suites, *datasets)


def _dataset_of(suite: Path) -> Path | None:
    try:
        return load_suite(suite).dataset_path
    except InputError:  # what is wrong with it is said when its turn has come
        return None


def with_command_line_variant(suite: Suite, options: Mapping[str, object]) -> Suite:
    """The suite with the variant that the command line names, where it has none of its own."""
    # A file of outputs whose rows name their variants stands for all of these.
    given = {name: str(options[name]) for name in TARGET_OPTIONS if options.get(name)}
    if not given:
        return suite
    if len(given) > 1:
        both = " and ".join(TARGET_OPTIONS[name] for name in given)
        raise SettingsError(f"{both} are given, and one variant is run", hint="give one of them")
    ((name, value),) = given.items()
    if suite.variants:
        raise SettingsError(
            f"{TARGET_OPTIONS[name]} is for a suite without variants, and {suite.name!r} has some",
            hint="leave it out, or add the variant to the suite",
        )
    wanted = tuple(cast("Iterable[str]", options.get("variant") or ()))
    if name == "given_outputs" and len(wanted) != 1:
        return suite.model_copy(update={"variants": _recorded(Path(value))})
    variant = _variant(name, value, suite, id_=wanted[0] if len(wanted) == 1 else None)
    return suite.model_copy(update={"variants": (variant,)})


def _recorded(path: Path) -> tuple[VariantSettings, ...]:
    """The variants whose outputs a file holds; one called as the file, where its rows name none."""
    named = dict.fromkeys(row.fields.get("variant") for row in iter_output_rows(path))
    ids = [str(name) for name in named if name not in {None, ""}] if None not in named else []
    return tuple(VariantSettings(id=id_, outputs=str(path.resolve())) for id_ in ids or [path.stem])


def _variant(name: str, value: str, suite: Suite, *, id_: str | None) -> VariantSettings:
    if name == "given_outputs":
        path = Path(value)
        return VariantSettings(id=id_ or path.stem, outputs=str(path.resolve()))
    if name == "given_command":
        return VariantSettings(id=id_ or "command", command=_command(value, suite))
    if name == "given_python":
        here = str(Path.cwd())
        if here not in sys.path:  # as for a command, a module here is meant before all others
            sys.path.insert(0, here)
        return VariantSettings(id=id_ or value.rpartition(":")[2], python=value)
    return VariantSettings(id=id_ or urlsplit(value).netloc, http=HttpTarget(url=value))


def _command(value: str, suite: Suite) -> tuple[str, ...]:
    """The words of a command; a file named from here is found from the suite's folder too."""
    try:
        words = shlex.split(value)
    except ValueError as error:
        raise SettingsError(f"--target-command cannot be read: {error}") from error
    if not words:
        raise SettingsError("--target-command is empty", hint="for example 'python agent.py'")
    here = [
        str(Path(word).resolve())
        if Path(word).is_file() and not (suite.folder / word).is_file()
        else word
        for word in words
    ]
    return tuple(here)
