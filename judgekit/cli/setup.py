"""Resolves options and the suite file to a judge, a rubric and the outputs to be graded.

`suite_setup` does so for runs.
"""

from __future__ import annotations

import itertools
import random
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from judgekit.cli import console
from judgekit.cli.exit_codes import EXIT_INCONCLUSIVE
from judgekit.cli.options import given_judge_settings
from judgekit.datasets import (
    DEFAULT_CACHE_FOLDER,
    JudgeSettings,
    iter_case_outputs,
    load_dataset,
    load_rubric,
    load_suite,
    shipped_rubrics,
)
from judgekit.errors import DatasetError, SettingsError, StoreError, UnknownNameError
from judgekit.evaluation import refresh_mode
from judgekit.judge import (
    configured_judge,
    resolve_suite_model,
    resolve_suite_template,
    suite_template_folders,
)
from judgekit.models import RecordedModel
from judgekit.models.cache import CacheFolder, CacheWarning, DiskCache
from judgekit.records import Dataset
from judgekit.report import message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from judgekit.datasets import Suite, SuiteJudge
    from judgekit.judge import Judge
    from judgekit.models import Budget, Refresh
    from judgekit.records import CalibrationInUse, Case, Output, Rubric

_T = TypeVar("_T")
SUITE_FILE = "judgekit.yaml"
Options = dict[str, object]
"""The options of a command, by parameter name; None where one was not given."""


@dataclass(frozen=True, slots=True)
class OutputSource:
    """A file of outputs and the variant they belong to."""

    path: Path
    """The file."""

    variant: str | None
    """The variant wanted; outputs that name none belong to it."""

    stem: str | None = None
    """The variant of outputs that name none where none is wanted: one of several files."""

    def named(self, output: Output) -> Output:
        """An output, with the name of its file's variant where it says none itself."""
        if self.stem is None or output.variant is not None:
            return output
        return output.model_copy(update={"variant": self.stem})


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeInputs:
    """The outputs to be graded and the cases they answer."""

    sources: tuple[OutputSource, ...]
    """Where the outputs come from."""

    cases: Dataset | None = None
    """The cases they answer, where these are in a file of their own."""

    filter_tags: frozenset[str] = frozenset()
    """Only cases with one of these tags; empty for all."""

    limit: int | None = None
    """Only the first so many."""

    sample: int | None = None
    """So many, drawn at random."""

    seed: int = 0
    """Seed of the drawing."""

    def answers(self) -> Iterator[tuple[Case, Output]]:
        """Cases with their outputs, filtered, drawn and limited."""
        return ((case, output) for _, case, output in self.with_sources())

    def with_sources(self) -> Iterator[tuple[OutputSource, Case, Output]]:
        """The same with the file each output is from."""
        chosen = self._filtered()
        if self.sample is not None:
            chosen = draw_sample(chosen, self.sample, random.Random(self.seed))
        return itertools.islice(chosen, self.limit)

    def counts(self) -> tuple[int, int]:
        """How many there are, and how many without an input; reads and checks every file."""
        n = n_unasked = 0
        for case, _ in self.answers():
            n += 1
            n_unasked += case.input is None
        if n == 0:
            raise self.nothing_chosen()
        return n, n_unasked

    def nothing_chosen(self) -> SettingsError:
        """The error of a filter that leaves nothing."""
        return SettingsError(
            f"no case has the tag {' or '.join(sorted(self.filter_tags))}",
            hint="look at `tags` in the file of cases, or leave --filter-tag out",
        )

    @property
    def takes_all(self) -> bool:
        """Whether no output is left out by chance or number."""
        return self.sample is None and self.limit is None

    def tagged_cases(self) -> tuple[Case, ...]:
        """The cases with a wanted tag."""
        known = () if self.cases is None else self.cases.cases
        return tuple(case for case in known if self._is_wanted(case))

    def _is_wanted(self, case: Case) -> bool:
        return not self.filter_tags or bool(self.filter_tags & set(case.tags))

    def _filtered(self) -> Iterator[tuple[OutputSource, Case, Output]]:
        return (one for one in self._all() if self._is_wanted(one[1]))

    def _all(self) -> Iterator[tuple[OutputSource, Case, Output]]:
        seen: dict[tuple[str, str | None], Path] = {}
        for source in self.sources:
            for case, output in iter_case_outputs(
                source.path, self.cases, variant=source.variant, needs_input=False
            ):
                named = source.named(output)
                first = seen.setdefault((case.id, named.variant), source.path)
                if first is not source.path:
                    raise DatasetError(
                        f"a second output of variant {named.variant!r}; the first is in {first}",
                        path=source.path,
                        case_id=case.id,
                        hint="give each its own `variant`, or name one of the files",
                    )
                yield source, case, named


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeSetup(GradeInputs):
    """Outputs, a rubric and one judge, for commands that ask the judge themselves."""

    judge: Judge
    """Who grades."""

    rubric: Rubric
    """How outputs are judged."""

    refresh: bool
    """Whether replies that are cached are fetched again."""

    calibration: Path | None = None
    """The maps the judge's values are calibrated by."""

    requires_calibration: bool = False
    """Whether nothing is asked without maps that hold."""


def grade_inputs(options: Options, suite: Suite | None) -> GradeInputs:
    """The outputs that are meant, and what is chosen of them."""
    return GradeInputs(
        sources=output_sources(options, suite),
        cases=_cases(options, suite),
        filter_tags=frozenset(cast("Iterable[str]", options.get("filter_tag") or ())),
        limit=cast("int | None", options.get("limit")),
        sample=cast("int | None", options.get("sample")),
        seed=cast("int", options.get("seed") or 0),
    )


def grade_setup(options: Options, judge: Judge | None = None) -> GradeSetup:
    """Resolve the options of a grading: command line first, then the suite file, then defaults."""
    suite = configured_suite(options)
    rubric = grade_rubric(options, suite)
    inputs = grade_inputs(options, suite)
    return GradeSetup(
        **{name: getattr(inputs, name) for name in GradeInputs.__slots__},
        judge=judge or make_judge(options, suite),
        rubric=rubric,
        refresh=bool(options.get("refresh")),
        calibration=_calibration(options, suite),
        requires_calibration=bool(
            options.get("require_calibration")
            or (suite is not None and suite.gate is not None and suite.gate.require_calibration)
        ),
    )


def make_judge(
    options: Options, suite: Suite | None, more: Mapping[str, object] | None = None
) -> Judge:
    """The judge that the options and the suite describe."""
    if options.get("refresh") and options.get("frozen"):
        raise SettingsError("--refresh and --frozen contradict each other")
    named = cast("str | None", options.get("judge_model"))
    own = _suite_judge(suite, named)
    model = named or (None if own is None else own.model)
    if model is None:
        raise no_judge_error()
    if named is None and suite is not None:
        model = resolve_suite_model(suite, model)
    settings = {} if own is None else own.overrides()
    if own is not None and named not in {None, own.model}:
        settings.pop("api_base", None)  # another model is not at this one's address
    if suite is not None and own is not None:
        settings["template"] = resolve_suite_template(suite, own.template)
    folders = cast("Iterable[Path]", options.get("template_folders") or ())
    settings |= {**given_judge_settings(options), **(more or {})} | {
        "template_folders": (*folders, *(suite_template_folders(suite) if suite else ())),
        "frozen": bool(options.get("frozen")),
        "refresh": refresh_of(options),
    }
    return configured_judge(
        model,
        JudgeSettings.checked(**settings),
        cache=cache_folder(options),
        budget=cast("Budget | None", options.get("budget")),
    )


def no_judge_error() -> SettingsError:
    """The error of a grading without a judge."""
    return SettingsError(
        "no judge is named",
        hint="give --judge openai/gpt-4.1-mini (key in OPENAI_API_KEY), any other model that "
        "litellm knows, recorded:FILE, or local",
    )


def cache_folder(options: Options) -> Path | None:
    """The folder of the reply cache."""
    if options.get("no_cache"):
        if options.get("frozen"):
            raise SettingsError("--no-cache and --frozen contradict each other")
        return None
    return cast("Path | None", options.get("cache_dir")) or Path(DEFAULT_CACHE_FOLDER)


def refresh_of(options: Options) -> Refresh:
    """What is asked anew although the cache holds it."""
    given = {name: bool(options.get(name)) for name in ("refresh", "retry_errors", "frozen")}
    return refresh_mode(**given)


def _calibration(options: Options, suite: Suite | None) -> Path | None:
    given = cast("Path | None", options.get("calibration"))
    if given is not None or suite is None or suite.calibration is None:
        return given
    return suite.resolve(suite.calibration)


def configured_suite(options: Options) -> Suite | None:
    """The suite file that is named, or the one in this folder."""
    config = cast("Path | None", options.get("config"))
    if config is None and Path(SUITE_FILE).is_file():
        config = Path(SUITE_FILE)
    return None if config is None else load_suite(config)


def grade_rubric(options: Options, suite: Suite | None) -> Rubric:
    """The rubric that is named, else the suite's."""
    named = cast("str | None", options.get("rubric"))
    if named is not None:
        return load_rubric(named)
    if suite is not None and suite.rubric_source is not None:
        return load_rubric(suite.rubric_source)
    shipped = ", ".join(shipped_rubrics())
    raise SettingsError(
        "no rubric is named",
        hint=f"give --rubric FILE, or a shipped one's name ({shipped}), for example --rubric "
        "helpfulness; cases with rubrics of their own are graded by these with `judgekit run "
        "CASES --outputs OUTPUTS`",
    )


def _cases(options: Options, suite: Suite | None) -> Dataset | None:
    path = cast("Path | None", options.get("cases"))
    if path is not None:
        return load_dataset(path, unique=True)
    if suite is None:
        return None
    if suite.dataset_path is not None:
        return load_dataset(suite.dataset_path, columns=suite.columns or None, unique=True)
    return None if suite.cases is None else Dataset(name=suite.name, cases=suite.cases)


def _suite_judge(suite: Suite | None, named: str | None) -> SuiteJudge | None:
    """The judge of a suite whose settings hold: the one that is named, or the only one."""
    panel = () if suite is None else suite.judge
    if named is None and len(panel) > 1:
        raise SettingsError(
            "the suite names a panel of judges, and here one judge is asked",
            hint=f"name the one to ask: --judge {panel[0].model}; `judgekit run` asks a panel",
        )
    same = next((judge for judge in panel if judge.model == named), None)
    return same or (panel[0] if len(panel) == 1 else None)


def draw_sample(items: Iterable[_T], size: int, rng: random.Random) -> Iterator[_T]:
    """A sample without replacement, in file order (Vitter 1985, algorithm R)."""
    kept: list[tuple[int, _T]] = []
    for place, item in enumerate(items):
        if place < size:
            kept.append((place, item))
        elif (slot := rng.randrange(place + 1)) < size:
            kept[slot] = (place, item)
    return iter([item for _, item in sorted(kept, key=lambda pair: pair[0])])


def output_sources(options: Mapping[str, object], suite: Suite | None) -> tuple[OutputSource, ...]:
    """The files of outputs that are meant: those named, else those of the suite's variants."""
    paths = cast("tuple[Path, ...]", options.get("outputs") or ())
    variant = cast("str | None", options.get("variant"))
    if paths:
        stems = _stems(paths) if variant is None and len(paths) > 1 else [None] * len(paths)
        return tuple(
            OutputSource(path, variant, stem) for path, stem in zip(paths, stems, strict=True)
        )
    found = () if suite is None else _recorded_variants(suite, variant)
    if not found and suite is not None and variant is not None:
        raise UnknownNameError(
            "variant", variant, [v.id for v in suite.variants if v.outputs is not None]
        )
    if not found:
        raise SettingsError(
            "no outputs are named",
            hint="give the files with the outputs, for example outputs.jsonl, or a suite that "
            "has variants with `outputs`",
        )
    return found


def _stems(paths: tuple[Path, ...]) -> list[str | None]:
    """A name for each file: its own without the suffix, with its folders where two are alike."""
    short = [path.stem for path in paths]
    return [*short] if len(set(short)) == len(short) else [str(p.with_suffix("")) for p in paths]


def _recorded_variants(suite: Suite, wanted: str | None) -> tuple[OutputSource, ...]:
    """The suite's variants whose outputs are in files; grade makes no outputs of its own."""
    return tuple(
        OutputSource(suite.resolve(variant.outputs), variant.id)
        for variant in suite.variants
        if variant.outputs is not None and wanted in {None, variant.id}
    )


MISSING_INPUT_REMEDY = "name the file with the cases (--cases), or add an `input` column"
"""What gives a judge the tasks as well."""


def note_missing_inputs(setup: GradeSetup) -> None:
    """Say which files of outputs do not begin with an input, where no cases are named."""
    if setup.cases is not None:
        return
    for source in setup.sources:
        case, _ = next(iter_case_outputs(source.path, variant=source.variant, needs_input=False))
        if case.input is None:
            alone = "the judge sees the outputs alone"
            console.note(
                f"{source.path} does not say what was asked: {alone}; {MISSING_INPUT_REMEDY}"
            )


def note_unused_replies(judges: Iterable[Judge]) -> None:
    """Say which recorded replies were not asked for, once everything has been asked."""
    for judge in judges:
        model = judge.connection.model
        if isinstance(model, RecordedModel) and (told := model.unused_rows()) is not None:
            console.note(message.message_lines(told))


@contextmanager
def open_cache(folder: Path, *, writing: bool = False) -> Iterator[DiskCache]:
    """Open a cache; what it warns of goes to stderr, once."""
    if not writing and CacheFolder(folder).identity() is None:
        raise StoreError(
            f"there is no cache in {folder}",
            hint="grade something first, or name the folder with --cache-dir",
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CacheWarning)
        try:
            with DiskCache(folder, read_only=not writing) as cache:
                yield cache
        finally:
            said = dict.fromkeys(str(each.message) for each in caught)
            for message in said:
                console.note(f"warning: {message}")


CALIBRATION_MAPS_FOLDER = Path("calibration", "maps")
"""Where maps are written when nothing says otherwise."""


def refuse_uncalibrated(use: CalibrationInUse) -> int:
    """Say that nothing is asked, for a calibration that holds is required and there is none."""
    console.note(f"nothing was asked: a calibration is required. {message.printable(use.words)}")
    what = "label outputs of this judge again, and" if use.path else "label some outputs, and"
    again = "judgekit calibrate LABELS --run RUN --write-map"
    place = use.path or "calibration/maps/…json"
    console.note(f"{what} write the maps: {again} {place}")
    if not use.path:
        console.note("then name them: --calibration PATH, or `calibration: PATH` in the suite")
    return EXIT_INCONCLUSIVE
