"""Resolves options and the suite file to a judge, a rubric and the outputs to be graded.

`suite_setup` does so for runs.
"""

from __future__ import annotations

import itertools
import shlex
import warnings
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit import (
    calibration as calibrations,
    datasets as data_files,
    evaluation,
    formats,
    judge as judge_calls,
    models,
    records,
    report,
    store,
)
from judgekit.cli import console
from judgekit.cli.options import typed_options
from judgekit.cli.outputs import refuse_overwriting
from judgekit.errors import DatasetError, InputError, SettingsError, StoreError, UnknownNameError
from judgekit.extras import require_package
from judgekit.models import cache as reply_cache
from judgekit.report import message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from judgekit.calibration import OutputKey
    from judgekit.cli.judge_options import CallOptions, GradingOptions, InputOptions
    from judgekit.datasets import Suite
    from judgekit.judge import Judge
    from judgekit.models import Refresh
    from judgekit.models.cache import CacheLocation, ReplyCache
    from judgekit.records import Case, Output, Rubric

SUITE_FILE = "judgekit.yaml"
MISSING_INPUT_REMEDY = "name the file with the cases (--cases), or add an `input` column"
CALIBRATION_MAPS_FOLDER = Path("calibration", "maps")
"""Where maps are written unless a file is named."""

# Every reply is cached as it arrives, so that no command needs a state of its own to continue.
SAME_COMMAND = "run the same command again to continue; cached replies are not requested again"

# The first call may be refused already, so that nothing need have been spent.
LIMIT_REACHED = "the cost limit allows no further call"


@dataclass(frozen=True, slots=True)
class OutputSource:
    """A file of outputs and the requested variant, to which outputs that name none belong.

    The stem is their variant if several files were given without --variant.
    """

    path: Path
    variant: str | None
    stem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeInputs:
    """The outputs to be graded and the cases they answer, if these are in a file of their own."""

    sources: tuple[OutputSource, ...]
    options: InputOptions
    cases: records.Dataset | None = None

    # The part of the rubric that each output is judged by; outputs without one are left out. None
    # judges all outputs by the whole rubric.
    rubrics: Mapping[OutputKey, Rubric] | None = None

    # A run reports ids without a case; commands that examine a judge refuse them.
    is_lenient: bool = False
    left_out: dict[str, list[str]] = field(default_factory=dict)

    def answers(self) -> Iterator[tuple[Case, Output]]:
        """Cases with their outputs: filtered, then sampled, then limited."""
        return ((case, output) for _, case, output in self.with_sources())

    def every_answer(self) -> Iterator[tuple[Case, Output]]:
        """All cases with their outputs, whatever is selected of them."""
        return ((case, output) for _, case, output in self._all())

    def with_sources(self) -> Iterator[tuple[OutputSource, Case, Output]]:
        """The same with the file each output is from."""
        chosen: Iterator[tuple[OutputSource, Case, Output]] = (
            one
            for one in self._all()
            if self.is_wanted(one[1])
            and (self.rubrics is None or calibrations.output_key(*one[1:]) in self.rubrics)
        )
        if self.options.sample is not None:
            chosen = iter(data_files.draw_sample(chosen, self.options.sample, self.options.seed))
        return itertools.islice(chosen, self.options.limit)

    def check(self) -> None:
        """Read every file, so that an unreadable output is an error now."""
        if not sum(1 for _ in self.answers()):
            raise self.nothing_chosen()

    def nothing_chosen(self) -> SettingsError:
        """The error of a filter that leaves nothing, or of outputs that no case is about."""
        if unknown := next((ids[0] for ids in self.unmatched().values()), None):
            known = () if self.cases is None else [case.id for case in self.cases.cases]
            return SettingsError(
                f"no output belongs to a case: none has the id {unknown!r} or that of another one",
                hint=f"{formats.suggest_name(unknown, known)}; to grade the rows by inputs of "
                f"their own: --cases {shlex.quote(str(self.sources[0].path))}",
            )
        what = "no case" if self.rubrics is None else "no case with a labelled output"
        return SettingsError(
            f"{what} has the tag {' or '.join(sorted(set(self.options.filter_tag)))}",
            hint="see `tags` in the file of cases, or omit --filter-tag",
        )

    def unmatched(self) -> dict[str, tuple[str, ...]]:
        """Ids in the files read so far that no case has, by the name of the file."""
        return {name: tuple(dict.fromkeys(ids)) for name, ids in self.left_out.items() if ids}

    def is_wanted(self, case: Case) -> bool:
        tags = set(self.options.filter_tag)
        return not tags or bool(tags & set(case.tags))

    def _all(self) -> Iterator[tuple[OutputSource, Case, Output]]:
        first_files: dict[tuple[str, str], Path] = {}
        for source in self.sources:
            name = source.variant or source.path.stem
            skipped = self.left_out.setdefault(name, []) if self.is_lenient else None
            for case, output in data_files.iter_case_outputs(
                source.path,
                self.cases,
                variant=source.variant,
                needs_input=False,
                unmatched=skipped,
            ):
                if source.stem is not None and output.variant is None:
                    output = output.model_copy(update={"variant": source.stem})  # noqa: PLW2901
                # Within one file `iter_case_outputs` refuses it, with the line.
                variant = output.variant or source.path.stem
                first = first_files.setdefault((case.id, variant), source.path)
                if first is not source.path:
                    raise DatasetError(
                        f"a second output of variant {variant!r}; the first is in {first}",
                        path=source.path,
                        case_id=case.id,
                        hint="give each its own `variant`, or name one of the files",
                    )
                yield source, case, output


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeSetup(GradeInputs):
    """Outputs, a rubric and one judge, for commands that call the judge themselves."""

    judge: Judge
    rubric: Rubric
    budget: models.Budget | None
    refresh: bool
    calibration: Path | None = None
    requires_calibration: bool = False

    def gradings(self) -> Iterator[tuple[Case, Output, Rubric]]:
        """Cases with their outputs, and what each is judged by."""
        own = self.rubrics
        for case, output in self.answers():
            rubric = self.rubric if own is None else own[calibrations.output_key(case, output)]
            yield case, output, rubric


def grade_inputs(
    options: InputOptions, suite: Suite | None, *, is_lenient: bool = False
) -> GradeInputs:
    """The outputs that are graded: those on the command line, else those of the suite."""
    # First, so that a command without any outputs reports that, whatever else is missing.
    sources = output_sources(options, suite)
    cases = None
    if options.cases is not None:
        # Named as cases, too, the outputs have them in their own rows.
        if options.cases.resolve() not in [source.path.resolve() for source in sources]:
            cases = data_files.load_dataset(options.cases, unique=True)
    elif suite is not None and suite.has_cases_in_outputs:
        cases = None
    elif suite is not None and suite.dataset_path is not None:
        columns = suite.columns or None
        cases = data_files.load_dataset(
            suite.dataset_path, columns=columns, unique=True, benchmark=suite.benchmark
        )
    elif suite is not None and suite.cases is not None:
        cases = records.Dataset(name=suite.name, cases=suite.cases)
    return GradeInputs(sources=sources, options=options, cases=cases, is_lenient=is_lenient)


def grade_setup(options: GradingOptions, *, is_lenient: bool = False) -> GradeSetup:
    """Resolve the options of a grading: command line first, then the suite file, then defaults."""
    suite = configured_suite(options.config)
    rubric = grade_rubric(options.rubric, suite)
    inputs = grade_inputs(options, suite, is_lenient=is_lenient)
    gate = None if suite is None else suite.gate
    calibration = options.calibration
    if calibration is None and suite is not None and suite.calibration is not None:
        calibration = suite.resolve(suite.calibration)
    budget = cost_budget(options)
    return GradeSetup(
        **{name: getattr(inputs, name) for name in GradeInputs.__slots__},
        judge=make_judge(options, suite, options.judge_model, budget=budget),
        rubric=rubric,
        budget=budget,
        refresh=bool(options.judge_settings.refresh),
        calibration=calibration,
        requires_calibration=options.require_calibration
        or (gate is not None and gate.require_calibration),
    )


def make_judge(
    options: CallOptions,
    suite: Suite | None,
    name: str | None,
    more: data_files.JudgeSettings | None = None,
    *,
    prices: models.PriceTable | None = None,
    budget: models.Budget | None = None,
) -> Judge:
    """The judge of that name, or the suite's, with the settings of the options and the suite."""
    # What `more` sets goes before all of them.
    panel = () if suite is None else suite.judge
    if name is None and len(panel) > 1:
        raise SettingsError(
            "the suite has a panel of judges, but this command calls a single judge",
            hint=f"select one: --judge {panel[0].model}; `judgekit run` uses the whole panel",
        )
    only = panel[0] if len(panel) == 1 else None
    # Of a suite with one judge the settings hold for whatever model takes its place.
    own = next((judge for judge in panel if judge.model == name), only)
    model = name or (None if own is None else own.model)
    if model is None:
        raise no_judge_error()
    if name is None and suite is not None:
        model = data_files.resolve_suite_model(suite, model)
    settings = {} if own is None else own.overrides()
    if own is not None and name not in {None, own.model}:
        settings.pop("api_base", None)  # another model is not at this one's address
    # Paths in a suite are relative to it, those on the command line to the working folder.
    if suite is not None and own is not None:
        settings["template"] = data_files.resolve_suite_template(suite, own.template)
    own_settings = options.judge_settings
    settings |= own_settings.overrides()
    settings |= {} if more is None else more.model_dump(exclude_unset=True)
    # Folders of the command line go before those of the suite, whose templates they may replace.
    settings |= {
        "template_folders": (
            *own_settings.template_folders,
            *(data_files.suite_template_folders(suite) if suite else ()),
        ),
        "frozen": own_settings.frozen,
        "refresh": chosen_refresh(options),
    }
    return judge_calls.configured_judge(
        model,
        data_files.JudgeSettings.checked(**settings),
        cache=cache_place(options),
        prices=prices if suite is None else evaluation.price_table(suite),
        budget=budget,
    )


def no_judge_error() -> SettingsError:
    return SettingsError(
        "no judge is named",
        hint="give --judge openai/gpt-4.1-mini (key in OPENAI_API_KEY), any other model that "
        "litellm knows, recorded:FILE, or local",
    )


def how_to_continue(judge: Judge) -> str:
    is_cached = judge.connection.cache is not None
    return "run the same command again to continue: " + (
        "cached replies are not requested again" if is_cached else "without a cache, it starts over"
    )


def stop_words(session: evaluation.Session) -> str:
    """Why a session ended early, on one line."""
    if session.reason == "interrupted":
        return "interrupted"
    return f"stopped: {message.one_line(session.words() or '')}"


def fatal_words(error: str) -> str:
    """Why a command stopped at an error that every further call would end in, on one line."""
    return stop_words(evaluation.Session(reason="model", detail=error))


def existing_store(location: str, stack: ExitStack) -> store.RunStore | None:
    """The store, unless nothing is there yet: a search for runs must not create it."""
    try:
        return stack.enter_context(closing(store.RunStore(location, create=False)))
    except StoreError as error:
        if error.hint != store.NOTHING_STORED:
            raise
        return None


def cost_budget(options: CallOptions) -> models.Budget | None:
    return None if options.max_cost is None else models.Budget(options.max_cost)


def cache_place(options: CallOptions) -> CacheLocation | None:
    """Where the cache is; None without one."""
    if not options.no_cache:
        return options.cache_dir or Path(data_files.DEFAULT_CACHE_FOLDER)
    if options.judge_settings.frozen:
        raise SettingsError("--no-cache and --frozen contradict each other")
    return None


def chosen_refresh(options: CallOptions) -> Refresh:
    """Which cached replies are fetched again."""
    # Either could win silently: one costs money, the other serves old replies.
    if options.judge_settings.refresh and options.judge_settings.frozen:
        raise SettingsError("--refresh and --frozen contradict each other")
    return evaluation.refresh_mode(
        refresh=bool(options.judge_settings.refresh),
        retry_errors=options.retry_errors,
        frozen=options.judge_settings.frozen,
    )


_SKILL_MARKS = ("eval/tests.json", "SKILL.md")


def suite_paths(path: Path | None, config: Path | None) -> tuple[Path, ...]:
    """The files, folders and zips that are run, each as a suite of its own."""
    # A folder is its `judgekit.yaml`, or a skill with its tests, or every suite that is found in it
    # and every dataset that none of these suites is about.
    if path is not None and config is not None and "config" in typed_options():
        raise SettingsError("SUITE and --config name two suites", hint="give one of them")
    named = path or config
    if named is None and Path(SUITE_FILE).is_file():
        named = Path(SUITE_FILE)
    if named is None:
        raise SettingsError(
            f"no suite is named, and there is no {SUITE_FILE} here",
            hint="name one: judgekit run suite.yaml; or create one: judgekit init my-suite",
        )
    if (named / SUITE_FILE).is_file():
        return (named / SUITE_FILE,)
    if not named.is_dir() or any((named / mark).is_file() for mark in _SKILL_MARKS):
        return (named,)
    return _folder_paths(named)


def _folder_paths(folder: Path) -> tuple[Path, ...]:
    suites = data_files.discover_suites(folder)
    theirs = set()
    for suite in suites:
        with suppress(InputError):  # reported when the suite itself is run
            if (path := data_files.load_suite(suite).dataset_path) is not None:
                theirs.add(path.resolve())
    with warnings.catch_warnings():  # each unreadable file is an error below
        warnings.simplefilter("ignore", UserWarning)
        datasets = [
            path for path in data_files.discover_datasets(folder) if path.resolve() not in theirs
        ]
    if not suites and not datasets:
        raise SettingsError(
            f"{folder} holds neither a suite nor a dataset",
            hint="name a suite, a file of cases, or a skill with eval/tests.json",
        )
    # A broken file may be a dataset, which nobody would miss in the results: it is an error.
    return (*suites, *datasets, *data_files.unreadable_files(folder))


def configured_suite(config: Path | None) -> Suite | None:
    """The suite file that is named, or the one in this folder."""
    if config is None and Path(SUITE_FILE).is_file():
        config = Path(SUITE_FILE)
    return None if config is None else data_files.load_suite(config)


def protect_suite(suite: Suite | None, outputs: Iterable[Path]) -> None:
    """Refuse to write a result over a file of the suite: cases, outputs, recorded replies."""
    if suite is None:
        return
    replies = [one.model for one in suite.judge if one.model.startswith(records.RECORDED_PREFIX)]
    names = [suite.dataset, suite.rubric, *(one.outputs for one in suite.variants)]
    names += [name.removeprefix(records.RECORDED_PREFIX) for name in replies]
    refuse_overwriting(outputs, map(suite.resolve, filter(None, names)))


def grade_rubric(name: str | None, suite: Suite | None) -> Rubric:
    """The rubric that is named, else the suite's."""
    source = name if suite is None or name is not None else suite.rubric_source
    if source is not None:
        rubric = data_files.load_rubric(source)
        # Before the outputs are read and a cache is opened.
        if not rubric.active:
            raise records.inactive_rubric_error(rubric)
        return rubric
    # A newcomer has no rubric yet, so the error lists those that need no file.
    shipped = ", ".join(data_files.shipped_rubrics())
    raise SettingsError(
        "no rubric is named",
        hint=f"give --rubric FILE, or the name of a shipped rubric ({shipped}), for example "
        "--rubric helpfulness; to use the rubrics of the cases: `judgekit run CASES --outputs "
        "OUTPUTS`, or `judgekit compare A B --cases CASES` where each case has one",
    )


def output_sources(options: InputOptions, suite: Suite | None) -> tuple[OutputSource, ...]:
    """The files of outputs: those of the command line, else those of the suite's variants."""
    paths, variant = options.outputs, options.variant
    if paths:
        stems: list[str | None] = [None] * len(paths)
        if variant is None and len(paths) > 1:
            stems = [path.stem for path in paths]
            # Files of one name in several folders are distinguished by their folders.
            if len(set(stems)) < len(stems):
                stems = [str(path.with_suffix("")) for path in paths]
        return tuple(
            OutputSource(path, variant, stem) for path, stem in zip(paths, stems, strict=True)
        )
    # Other kinds of variants produce outputs, which is `judgekit run`.
    recorded = [] if suite is None else [(v.id, v.outputs) for v in suite.variants if v.outputs]
    sources = tuple(
        OutputSource(suite.resolve(outputs), name)
        for name, outputs in recorded
        if suite is not None and variant in {None, name}
    )
    if not sources and suite is not None and variant is not None:
        raise UnknownNameError("variant", variant, [name for name, _ in recorded])
    if not sources:
        raise SettingsError(
            "no outputs are named",
            hint="give the files with the outputs, for example outputs.jsonl, or a suite that "
            "has variants with `outputs`",
        )
    return sources


def note_unused_replies(judges: Iterable[Judge]) -> None:
    """Report recorded replies that were never requested, once everything was judged."""
    for judge in judges:
        model = judge.connection.model
        if isinstance(model, models.RecordedModel) and (warning := model.unused_rows()) is not None:
            console.note(message.message_lines(warning))


@contextmanager
def open_cache(place: CacheLocation, *, writing: bool = False) -> Iterator[ReplyCache]:
    """Open a cache; its warnings are printed to stderr, each once."""
    # A command that only reads must not leave an empty cache behind where a path was misspelt.
    if not writing and not _is_there(place):
        raise StoreError(
            f"there is no cache in {place}",
            hint="grade something first, or name the folder with --cache",
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", reply_cache.CacheWarning)
        try:
            with reply_cache.open_reply_cache(place, read_only=not writing) as cache:
                yield cache
        finally:
            for text in dict.fromkeys(str(each.message) for each in caught):
                console.note(f"warning: {text}")


def _is_there(place: CacheLocation) -> bool:
    """Whether there is a cache in a folder; opening a server finds out."""
    return not isinstance(place, Path) or reply_cache.CacheFolder(place).identity() is not None


@contextmanager
def page_replies(
    place: CacheLocation | None, *, is_wanted: bool
) -> Iterator[report.JudgeReplies | None]:
    """The prompts and replies in a cache for a page; None without `--with-replies`."""
    if not is_wanted:
        yield None
    # Recorded replies leave no cache; the page says that they are not there.
    elif place is None or not _is_there(place):
        yield report.JudgeReplies(reply_cache.MemoryCache())
    else:
        with open_cache(place) as cache:
            yield report.JudgeReplies(cache)


def command_words(value: str, suite: Suite) -> tuple[str, ...]:
    """The words of a command, with files of the working folder as absolute paths."""
    try:
        words = shlex.split(value)
    except ValueError as error:
        raise SettingsError(f"--target-command cannot be read: {error}") from error
    if not words:
        raise SettingsError("--target-command is empty", hint="for example 'python agent.py'")
    # Programs are started in the suite's folder.
    return tuple(
        str(Path(word).resolve())
        if Path(word).is_file() and not (suite.folder / word).is_file()
        else word
        for word in words
    )


def chosen_cluster(
    engine: str | None, n_workers: int | None, *, batches: bool
) -> evaluation.OpenCluster | None:
    """What opens the cluster of the workers; None where this process does their work."""
    if engine is None:
        if n_workers is not None and "workers" in typed_options():
            raise SettingsError("--workers is for --engine ray", hint="give both, or neither")
        return None
    address = evaluation.ray_address(engine)
    require_package("ray", "--engine ray")
    if batches:
        raise SettingsError(
            "--batch and --engine contradict each other: a batch is one file for the provider",
            hint="omit one of the two",
        )
    return partial(evaluation.ray_cluster, address, n_workers)
