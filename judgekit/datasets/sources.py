"""Finds suites and datasets, opens a path as a suite or a source of cases, and selects cases."""

from __future__ import annotations

import json
import os
import random
import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import JsonValue, ValidationError

from judgekit import formats
from judgekit.datasets.benchmarks import benchmarks_in, find_benchmark
from judgekit.datasets.judge_settings import may_ask_judge
from judgekit.datasets.loading import dataset_name, iter_cases, load_dataset, load_suite, no_cases
from judgekit.datasets.outputs import iter_described_cases
from judgekit.datasets.suite import RunSettings, Suite
from judgekit.errors import DatasetError, RetiredSuiteError, SettingsError, UnknownNameError
from judgekit.formats import as_path, folder_exists, foreign_shape, is_archive, read_whole_document
from judgekit.records import Case, CaseSource, Gate, JsonObject, memory_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from judgekit.formats import Benchmark, FileKind, Format, ParsedDocument, SkillTests

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class SelectionCount:
    """How many cases a selection takes of its source, and how many it leaves out."""

    n_chosen: int
    n_draft: int = 0
    n_deprecated: int = 0
    n_filtered: int = 0  # active cases left out by their tags, id or name
    n_undrawn: int = 0  # cases that pass the filters but are not in the sample, or after the limit


@dataclass(slots=True)
class CaseSelection:
    """The active cases of a source that pass every filter, then a sample, then the first of it.

    In memory are only the positions of a sample, no cases.
    """

    source: CaseSource
    tags: Collection[str] = ()  # only cases with one of these; empty for all
    ids: Collection[str] = ()
    name_pattern: str | None = None  # must match the name; of a case without one, the id
    sample: int | None = None  # the size of a random sample; None for all
    seed: int = 0
    limit: int | None = None  # only the first cases, after sampling
    where: Sequence[str] = ()  # `field=value`; of several values of a field any will do
    _sampled: frozenset[int] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        for what, number in (("sample", self.sample), ("limit", self.limit)):
            if number is not None and number < 1:
                raise SettingsError(f"the {what} must be 1 or more, not {number}")
        if bad := next((one for one in self.where if not one.partition("=")[1]), None):
            raise SettingsError(f"{bad!r} is not FIELD=VALUE", hint="for example priority=high")
        try:
            re.compile(self.name_pattern or "")
        except re.error as error:
            message = f"{self.name_pattern!r} is not a regular expression: {error}"
            raise SettingsError(message, hint="write \\ before a sign that means itself") from error

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def version(self) -> str:
        """The version its owner gives it."""
        return self.source.version

    def __iter__(self) -> Iterator[Case]:
        """The chosen cases; a sample goes through the source once more, the first time."""
        chosen = self._passing(self.source)
        # The sample is one of the cases that pass the filters, so it has the requested size.
        if self.sample is not None:
            if self._sampled is None:
                n_passing = sum(1 for _ in self._passing(self.source))
                self._sampled = frozenset(draw_sample(range(n_passing), self.sample, self.seed))
            places = self._sampled
            chosen = (case for place, case in enumerate(chosen) if place in places)
        return islice(chosen, self.limit)

    def tally(self) -> SelectionCount:
        """How many cases are chosen or left out, and why; reads the whole source."""
        counted: Counter[str] = Counter()

        def cases() -> Iterator[Case]:
            for case in self.source:
                counted[case.status] += 1
                yield case

        n_passing = sum(1 for _ in self._passing(cases()))
        n_chosen = n_passing if self.sample is None else min(n_passing, self.sample)
        n_chosen = n_chosen if self.limit is None else min(n_chosen, self.limit)
        return SelectionCount(
            n_chosen=n_chosen,
            n_draft=counted["draft"],
            n_deprecated=counted["deprecated"],
            n_filtered=counted["active"] - n_passing,
            n_undrawn=n_passing - n_chosen,
        )

    def _passing(self, cases: Iterable[Case]) -> Iterator[Case]:
        ids, tags, unseen = frozenset(self.ids), frozenset(self.tags), set(self.ids)
        pattern = re.compile(self.name_pattern or "")
        wanted: dict[str, list[str]] = {}
        for name, _, value in (one.partition("=") for one in self.where):
            wanted.setdefault(name, []).append(value)
        for case in cases:
            unseen.discard(case.id)
            is_named = pattern.search(case.name or case.id) is not None
            has_tag = not tags or not tags.isdisjoint(case.tags)
            fits = all(_field(case, name) in values for name, values in wanted.items())
            is_wanted = is_named and has_tag and fits and (not ids or case.id in ids)
            if case.status == "active" and is_wanted:
                yield case
        if unseen:
            # All ids are needed only now, for suggestions.
            raise UnknownNameError("case", min(unseen), (case.id for case in self.source))


# The fields of a case itself by which cases are chosen; every other is one of its metadata.
_CHOSEN_BY = frozenset({"stratum", "agent", "skill", "prompt_version", "name", "status"})


def _field(case: Case, name: str) -> str | None:
    value = getattr(case, name) if name in _CHOSEN_BY else case.metadata.get(name)
    return value if isinstance(value, str | None) else json.dumps(value, ensure_ascii=False)


def open_cases(
    source: Path | str | Suite,
    *,
    columns: Mapping[str, str] | None = None,
    benchmark: str | None = None,
) -> CaseSource:
    # Rows in JSONL, CSV, TSV and Parquet are read again each time, one in memory at a time. A JSON
    # or YAML document, another tool's file and the cases of a suite are read once.
    if isinstance(source, Suite):
        named = source.dataset_path
        if named is not None and source.has_cases_in_outputs:
            return CaseSource(dataset_name(named), "1", lambda: iter_described_cases(named))
        if named is not None:
            mapped = columns or source.columns or None
            return open_cases(named, columns=mapped, benchmark=source.benchmark)
        cases = source.cases
        if cases is None:
            hint = "name a `dataset`"
            raise SettingsError(f"the suite {source.name!r} has no cases", hint=hint)
        return CaseSource(source.name, str(source.version), lambda: iter(cases))
    path = as_path(source)
    if not formats.is_read_whole(path) and benchmark is None:
        name = dataset_name(path)
        return CaseSource(name, "1", lambda: iter_cases(path, columns=columns))
    dataset = load_dataset(path, columns=columns, unique=True, benchmark=benchmark)
    return CaseSource(
        dataset.name, dataset.version, lambda: iter(dataset.cases), objects=memory_objects(dataset)
    )


def draw_sample(items: Iterable[_T], size: int, seed: int) -> list[_T]:
    """A random sample without replacement, in the order of the items (Vitter 1985, algorithm R)."""
    # A reservoir: files are read once and may be larger than memory. The order of the calls of the
    # generator is fixed: a seed must choose the same items for ever.
    rng = random.Random(seed)
    reservoir: list[tuple[int, _T]] = []
    for place, item in enumerate(items):
        if place < size:
            reservoir.append((place, item))
        elif (slot := rng.randrange(place + 1)) < size:
            reservoir[slot] = (place, item)
    return [item for _, item in sorted(reservoir, key=lambda pair: pair[0])]


def suite_from_path(path: Path | str, *, benchmark: str | None = None) -> Suite:
    """The suite of a path: a suite file, a skill's tests, or the cases of any other file."""
    # Of a quality memory it is one of its benchmarks, where one is named.
    path = as_path(path)
    document = read_whole_document(path)
    if document is not None:
        suite = foreign_suite(document)
        if suite is None and foreign_shape(document.value) is None:
            is_suite = formats.document_kind(document.value) == "suite"
            suite = _with_its_tests(load_suite(path)) if is_suite else None
        if suite is not None:
            named = {} if benchmark is None else {"benchmark": benchmark}
            return with_benchmark(suite.model_copy(update=named))
    elif benchmark is None:  # rows, which may be more than fit into memory
        open_cases(path).count()  # an invalid one is an error now
        return Suite(name=dataset_name(path), dataset=path.name).in_folder(path.parent)
    dataset = load_dataset(path, unique=True, benchmark=benchmark)
    if memory_objects(dataset):  # which are read with the cases when the suite is opened
        memory = Suite(name=dataset.name, dataset=path.name, benchmark=benchmark)
        return with_benchmark(memory.in_folder(path.parent))
    fields = {"name": dataset.name, "version": dataset.version, "cases": dataset.cases}
    return Suite.model_validate(fields).in_folder(path if folder_exists(path) else path.parent)


def _with_its_tests(suite: Suite) -> Suite:
    """The suite with the run settings of a skill's tests, where these are its dataset."""
    tests = None if suite.columns else _skill_tests(suite.dataset_path)
    if tests is None:
        return suite
    theirs = tests.settings.model_dump(exclude_unset=True)
    ours = suite.settings.model_dump(exclude_unset=True)
    # The two exclude each other; either in the suite replaces either in the tests.
    for one, other in (("in_sequence", "max_concurrency"), ("max_concurrency", "in_sequence")):
        if one in ours:
            theirs.pop(other, None)
    environment = {**theirs.pop("environment", {}), **ours.pop("environment", {})}
    settings = RunSettings.model_validate({**theirs, **ours, "environment": environment})
    is_one_folder = tests.folder.resolve() == suite.folder.resolve()
    for name in ("setup", "teardown"):
        # A command names files in the folder of its own file, and a suite runs it in the suite's.
        if getattr(settings, name) != getattr(suite.settings, name) and not is_one_folder:
            raise SettingsError(
                f"the {name} of {suite.dataset} runs in {tests.folder}, and the suite in "
                f"{suite.folder}",
                hint=f"move the suite's file there, or give it a `{name}` of its own in `settings`",
            )
    changes: dict[str, object] = {"settings": settings, "profile": suite.profile or tests.profile}
    if "suites" not in suite.model_fields_set:
        changes["suites"] = tests.suites
    return suite.model_copy(update=changes)


def with_benchmark(suite: Suite) -> Suite:
    """The suite with what its benchmark sets; any other suite as it is."""
    if suite.benchmark is None:
        return suite
    # Cases that stand in the suite itself are of no benchmark, which is then reported.
    path = suite.dataset_path or suite.folder
    objects = memory_objects(load_dataset(path, unique=True)) if suite.dataset_path else ()
    known = benchmarks_in(objects)
    key = find_benchmark(known, suite.benchmark, path)
    return merge_benchmark(suite, key, known[key])


def _skill_tests(path: Path | None) -> Suite | None:
    """A skill's tests as a suite; None for any other file, and an invalid one, reported later."""
    try:
        document = None if path is None else read_whole_document(path)
        return None if document is None else foreign_suite(document)
    except DatasetError:
        return None


# A script is started by a known program, never by its own first line.
_RUNNERS = {".py": "python", ".js": "node", ".mjs": "node", ".cjs": "node", ".sh": "sh"}


def foreign_suite(document: ParsedDocument) -> Suite | None:
    """The suite of a file that also says how its cases are run; None for any other file."""
    shape = foreign_shape(document.value)
    if shape is None or not shape.is_suite:
        return None
    from judgekit.formats import PromptfooRun, SkillTests  # noqa: PLC0415 - only for such a file

    reading = shape.read(document)
    dataset, head = reading.dataset(), reading.head
    place, _ = formats.attachments_of(document.path)
    fields: JsonObject = {"name": dataset.name, "version": dataset.version}
    if isinstance(head, SkillTests):
        is_folder = isinstance(place, formats.FolderAttachments)
        fields |= {"version": head.version, "profile": head.profile}
        fields["settings"] = _settings(head, document, is_folder=is_folder)
        fields["suites"] = [
            {
                "name": group.name,
                "case_ids": [*group.test_ids],
                "in_sequence": bool(group.run_in_sequence),
            }
            for group in head.suites
        ]
    elif isinstance(head, PromptfooRun):
        fields |= {"description": dataset.description, "variants": [*head.variants]}
        if head.judges and any(may_ask_judge(c.rubric, c.assertions) for c in dataset.cases):
            fields["judge"] = [*head.judges]
    if not dataset.cases:
        raise no_cases(document.path, reading.problems)
    try:
        suite = Suite.model_validate({**fields, "cases": dataset.cases})
    except ValidationError as error:
        fault = formats.validation_faults(error, Suite, fields)[0]
        raise SettingsError(f"{document.path}: {fault.message}", hint=fault.remedy) from error
    # Nothing can be run in a zip, so the folder is the one around it.
    zip_folder = next(folder for folder in document.path.parents if folder_exists(folder))
    folder = place.root if isinstance(place, formats.FolderAttachments) else zip_folder
    # Only a skill has its tests in a folder below its own.
    return suite.in_folder(folder if isinstance(head, SkillTests) else document.path.parent)


def _settings(head: SkillTests, document: ParsedDocument, *, is_folder: bool) -> JsonObject:
    settings, setup, teardown = head.settings, head.setup, head.teardown
    found: JsonObject = {
        "fail_fast": bool(settings.fail_fast),
        "retry_failed": 1 if settings.retry_failed else 0,
    }
    if settings.default_timeout is not None:
        found["timeout_s"] = settings.default_timeout / 1000
    if settings.parallel_execution is False:
        found["in_sequence"] = True
    elif settings.max_concurrent_tests is not None:
        found["max_concurrency"] = settings.max_concurrent_tests
    if setup is not None and setup.environment:
        found["environment"] = {**setup.environment}
    if setup is not None and setup.dependencies:
        found["dependencies"] = [*setup.dependencies]
    for name, part in (("setup", setup), ("teardown", teardown)):
        if part is not None and part.script is not None:
            found[name] = _command(name, part.script, document, is_folder=is_folder)
    return found


def _command(
    name: str, script: str, document: ParsedDocument, *, is_folder: bool
) -> list[JsonValue]:
    where = f"{document.path}:{document.line_of(name, 'script')}"
    if not is_folder:
        raise SettingsError(
            f"{where}: the script {script!r} lies in a zip, from which nothing is run",
            hint="unpack the zip and name the folder",
        )
    # A path that leads out of the folder would run a file that nobody reviewed with the skill.
    parts = script.replace("\\", "/").split("/")
    if script.startswith("/") or ".." in parts:
        raise SettingsError(
            f"{where}: the script {script!r} lies outside of the skill's folder",
            hint="name a script by its path in the skill's folder",
        )
    runner = _RUNNERS.get(Path(script).suffix.lower())
    if runner is None:
        known = ", ".join(_RUNNERS)
        raise SettingsError(
            f"{where}: nothing runs the script {script!r}", hint=f"its name must end in {known}"
        )
    return [runner, script]


# A folder with more files is probably the wrong one, such as a home folder.
MAX_FILES = 10_000
_MAX_DOCUMENT_BYTES = 16 * 2**20
_SUFFIXES = frozenset(
    {
        *formats.DOCUMENT_SUFFIXES,
        *formats.LINE_SUFFIXES,
        *formats.TABLE_SUFFIXES,
        *formats.ARCHIVE_SUFFIXES,
    }
)

# Folders with installed packages, which may contain datasets of their tests.
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


def discover_datasets(folder: Path | str) -> list[Path]:
    """The files in a folder, and the folders in it, that hold cases.

    Hidden files and folders, `.judgekit` among them, and links to folders are left out; so are
    what is no file (a pipe), documents over 16 MiB and, with a warning each, files that cannot be
    read. A dataset of another tool counts, and so does a zip with an `eval/tests.json`.

    Args:
        folder: Where to look.

    Returns:
        Paths that begin with `folder`, sorted.

    Raises:
        DatasetError: When it is no folder, or holds more than `MAX_FILES` files.
    """
    unreadable: list[str] = []

    def holds_cases(path: Path) -> bool:
        shape, kind = _recognised(path, unreadable)
        return shape.has_cases if shape is not None else kind == "cases"

    found = _found(as_path(folder), holds_cases)
    for reason in unreadable:
        warnings.warn(f"passed over, because it cannot be read: {reason}", stacklevel=2)
    return found


def discover_suites(folder: Path | str) -> list[Path]:
    """The suite files in a folder and its folders, by the rules of `discover_datasets`."""
    return _found(as_path(folder), lambda path: _recognised(path, []) == (None, "suite"))


def unreadable_files(folder: Path | str) -> list[Path]:
    """The files in a folder that may hold cases and cannot be read."""

    def is_unreadable(path: Path) -> bool:
        faults: list[str] = []
        _recognised(path, faults)
        return bool(faults)

    return _found(as_path(folder), is_unreadable)


def _found(folder: Path, is_wanted: Callable[[Path], bool]) -> list[Path]:
    if not folder_exists(folder):
        raise DatasetError("there is no such folder", path=folder)
    found: list[Path] = []
    n_files = 0
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(
            n for n in folders if not n.startswith(".") and n not in SKIPPED_FOLDERS
        )
        n_files += len(names)
        if n_files > MAX_FILES:
            message = f"holds more than {MAX_FILES} files"
            raise DatasetError(message, path=folder, hint="name the folder with the datasets")
        paths = (Path(root, name) for name in names if not name.startswith("."))
        known = (path for path in paths if formats.suffix_of(path) in _SUFFIXES)
        # A pipe would be waited for, and a device read without end.
        found += [path for path in known if path.is_file() and is_wanted(path)]
    return sorted(found)


def _recognised(path: Path, faults: list[str]) -> tuple[Format | None, FileKind | None]:
    """What a file is by its shape or its first row; nothing where it cannot be read."""
    try:
        return _recognise(path)
    except (DatasetError, OSError) as error:
        if not is_archive(path):  # most archives are not of a skill
            faults.append(str(error))
        return None, None


def _recognise(path: Path) -> tuple[Format | None, FileKind | None]:
    if formats.is_row_file(path):
        row = next(formats.scan_rows(path), None)
        if isinstance(row, DatasetError):
            raise row
        fields = {} if row is None else row.fields
        return formats.foreign_row_shape(fields), formats.row_kind(fields)
    # Discovery looks at every file; a large document would be parsed only to see what it is.
    if path.stat().st_size > _MAX_DOCUMENT_BYTES and not is_archive(path):
        return None, None
    document = read_whole_document(path)
    value = None if document is None else document.value
    return foreign_shape(value), formats.document_kind(value)


def merge_benchmark(suite: Suite, key: str, benchmark: Benchmark) -> Suite:
    """The suite with what it does not set itself: owner, status, description, threshold."""
    changes: dict[str, object] = {
        "benchmark": key,
        "owner": suite.owner or benchmark.owner_id or None,
        "description": suite.description or benchmark.description,
    }
    if "status" not in suite.model_fields_set:
        changes["status"] = benchmark.status
    gate, least = suite.gate, benchmark.passing_threshold
    if least is not None and (gate is None or (gate.tier is None and gate.threshold is None)):
        if not 0 <= least <= 1:
            raise SettingsError(
                f"the `passingThreshold` of the benchmark {key!r} is {least:g}, and overall scores "
                "lie between 0 and 1",
                hint="write it as a fraction (0.75), or set `gate: {threshold: …}` in a suite with "
                "this `dataset` and `benchmark`",
            )
        # In a memory a benchmark passes when its overall score reaches the threshold, however few
        # the cases; a suite with a gate of its own keeps its rule.
        changes["gate"] = (
            Gate(threshold=least, rule="point")
            if gate is None
            else gate.model_copy(update={"threshold": least})
        )
    return suite.model_copy(update=changes)


def whole_memory_note(suite: Suite, objects: Sequence[JsonObject]) -> Iterator[str]:
    """In words that a memory with several benchmarks is run as a whole; nothing for any other."""
    known = benchmarks_in(objects)
    if suite.benchmark is None and len(known) > 1:
        yield (
            f"all cases of {suite.dataset} are run; to run one of its {len(known)} benchmarks: "
            f"--benchmark {'|'.join(known)}"
        )


def refuse_retired(suite: Suite, *, allowed: bool = False) -> None:
    """Refuse to run a retired suite, unless that is asked for."""
    if suite.status == "retired" and not allowed:
        what = "suite" if suite.benchmark is None else "benchmark"
        owner = "" if suite.owner is None else f" (owner: {suite.owner})"
        raise RetiredSuiteError(
            f"the {what} {suite.name!r} is retired{owner}, so it is not run",
            hint="run it nevertheless with --retired (in Python `retired=True`), or set its "
            "`status` to active",
        )
