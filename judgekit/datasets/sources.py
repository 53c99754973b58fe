"""Finds suites and datasets, opens what a path names as a suite or a source of cases.

Selects cases by tag, id, name or sample.
"""

from __future__ import annotations

import os
import random
import re
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from judgekit.datasets.loading import (
    dataset_name,
    iter_cases,
    load_dataset,
    load_suite,
    no_cases_error,
)
from judgekit.datasets.settings import RunSettings
from judgekit.datasets.suite import Suite
from judgekit.errors import DatasetError, SettingsError, UnknownNameError
from judgekit.formats import (
    DOCUMENT_SUFFIXES,
    LINE_SUFFIXES,
    TABLE_SUFFIXES,
    FileRow,
    FolderAttachments,
    as_path,
    attachments_of,
    document_kind,
    folder_exists,
    foreign_row_shape,
    foreign_shape,
    is_archive,
    is_read_whole,
    is_row_file,
    read_whole_document,
    row_kind,
    scan_rows,
    suffix_of,
    validation_faults,
)
from judgekit.records import CaseSource

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from pydantic import JsonValue

    from judgekit.formats import ParsedDocument, SkillSettings, SkillTests
    from judgekit.records import Case, EvaluationProfileName, JsonObject


@dataclass(frozen=True, slots=True)
class SelectionCount:
    """What a selection takes of its source, and what it leaves out."""

    n_chosen: int
    """Cases that are taken."""

    n_draft: int = 0
    """Cases left out because they are drafts."""

    n_deprecated: int = 0
    """Cases left out because they are deprecated."""

    n_filtered: int = 0
    """Active cases left out by their tags, id or name."""

    n_undrawn: int = 0
    """Cases that pass the filters and were not drawn, or stand after the limit."""


@dataclass(frozen=True, slots=True)
class CaseFilters:
    """Which active cases are wanted."""

    tags: frozenset[str] = frozenset()
    """Only cases with one of these tags; empty for all."""

    ids: frozenset[str] = frozenset()
    """Only these cases; empty for all."""

    name: re.Pattern[str] | None = None
    """Only cases in whose name it is found; of a case without a name the id is taken."""

    def take(self, case: Case) -> bool:
        """Whether a case passes, its status left aside."""
        if self.tags and not self.tags.intersection(case.tags):
            return False
        if self.ids and case.id not in self.ids:
            return False
        return self.name is None or self.name.search(case.name or case.id) is not None


@dataclass(slots=True)
class CaseSelection:
    """The active cases of a source that pass the filters, drawn and limited; in file order.

    Of the source it keeps the places of a sample, no cases.
    """

    source: CaseSource
    """Where the cases come from."""

    filters: CaseFilters = CaseFilters()
    """Which are wanted."""

    sample: int | None = None
    """So many, drawn at random; None for all."""

    seed: int = 0
    """Seed of the drawing; the same seed draws the same cases."""

    limit: int | None = None
    """Only the first so many, after the drawing."""

    _drawn: frozenset[int] | None = field(default=None, init=False, repr=False)

    @property
    def name(self) -> str:
        """Name of the dataset."""
        return self.source.name

    @property
    def version(self) -> str:
        """The version its owner gives it."""
        return self.source.version

    def __iter__(self) -> Iterator[Case]:
        """The chosen cases; a sample goes through the source once more, the first time."""
        # The sample is drawn from what passes the filters, so its size is the size that was asked
        # for.
        chosen = self._passing()
        if self.sample is not None:
            drawn = self._places(self.sample)
            chosen = (case for place, case in enumerate(chosen) if place in drawn)
        return islice(chosen, self.limit)

    def count(self) -> int:
        """How many are chosen; reads the whole source, so that it is known to be sound."""
        return self.tally().n_chosen

    def tally(self) -> SelectionCount:
        """How many are chosen, and how many left out for which reason; reads the whole source."""
        n_all = n_draft = n_deprecated = n_passing = 0
        unseen = set(self.filters.ids)
        for case in self.source:
            n_all += 1
            unseen.discard(case.id)
            n_draft += case.status == "draft"
            n_deprecated += case.status == "deprecated"
            n_passing += case.status == "active" and self.filters.take(case)
        self._refuse_unseen(unseen)
        n_chosen = n_passing if self.sample is None else min(n_passing, self.sample)
        n_chosen = n_chosen if self.limit is None else min(n_chosen, self.limit)
        return SelectionCount(
            n_chosen=n_chosen,
            n_draft=n_draft,
            n_deprecated=n_deprecated,
            n_filtered=n_all - n_draft - n_deprecated - n_passing,
            n_undrawn=n_passing - n_chosen,
        )

    def _passing(self) -> Iterator[Case]:
        unseen = set(self.filters.ids)
        for case in self.source:
            unseen.discard(case.id)
            if case.status == "active" and self.filters.take(case):
                yield case
        self._refuse_unseen(unseen)

    def _refuse_unseen(self, unseen: Collection[str]) -> None:
        if unseen:
            # Only now all ids are wanted, for the near ones.
            raise UnknownNameError("case", min(unseen), (case.id for case in self.source))

    def _places(self, size: int) -> frozenset[int]:
        if self._drawn is None:
            self._drawn = sample_places(sum(1 for _ in self._passing()), size, self.seed)
        return self._drawn


def open_cases(
    source: Path | str | Suite, *, columns: Mapping[str, str] | None = None
) -> CaseSource:
    """The cases of a file or a suite."""
    # Rows in JSONL, CSV, TSV and Parquet are read anew each time, one in memory at a time, and of
    # all of them only the ids are kept. A JSON or YAML document, another tool's file and the cases
    # of a suite are read once and kept.
    if isinstance(source, Suite):
        return _suite_cases(source, columns)
    path = as_path(source)
    if not is_read_whole(path):
        return CaseSource(
            dataset_name(path), "1", lambda: _some(iter_cases(path, columns=columns), path)
        )
    dataset = load_dataset(path, columns=columns, unique=True)
    return CaseSource(dataset.name, dataset.version, lambda: iter(dataset.cases))


def choose_cases(
    source: CaseSource,
    *,
    tags: Iterable[str] = (),
    ids: Iterable[str] = (),
    name_pattern: str | None = None,
    sample: int | None = None,
    seed: int = 0,
    limit: int | None = None,
) -> CaseSelection:
    """Choose cases: active ones that pass every filter, then a sample, then the first of it."""
    for what, number in (("sample", sample), ("limit", limit)):
        if number is not None and number < 1:
            raise SettingsError(f"the {what} must be 1 or more, not {number}")
    try:
        name = None if name_pattern is None else re.compile(name_pattern)
    except re.error as error:
        message = f"{name_pattern!r} is not a regular expression: {error}"
        raise SettingsError(message, hint="write \\ before a sign that means itself") from error
    filters = CaseFilters(frozenset(tags), frozenset(ids), name)
    return CaseSelection(source, filters, sample, seed, limit)


def sample_places(n: int, size: int, seed: int) -> frozenset[int]:
    """The places that a sample without replacement takes of a stream (Vitter 1985, algorithm R)."""
    # Reservoir sampling: the number of cases need not be known and none is kept.
    rng = random.Random(seed)
    kept = list(range(min(n, size)))
    for place in range(size, n):
        if (slot := rng.randrange(place + 1)) < size:
            kept[slot] = place
    return frozenset(kept)


def _some(cases: Iterable[Case], path: Path) -> Iterator[Case]:
    n_cases = 0
    for case in cases:
        n_cases += 1
        yield case
    if n_cases == 0:
        raise no_cases_error(path)


def _suite_cases(suite: Suite, columns: Mapping[str, str] | None) -> CaseSource:
    if suite.dataset_path is not None:
        return open_cases(suite.dataset_path, columns=columns or suite.columns or None)
    cases = suite.cases
    if cases is None:
        raise SettingsError(f"the suite {suite.name!r} has no cases", hint="name a `dataset`")
    return CaseSource(suite.name, str(suite.version), lambda: iter(cases))


def suite_from_path(path: Path | str) -> Suite:
    """The suite a path stands for."""
    path = as_path(path)
    document = read_whole_document(path)
    if document is not None:
        shape = foreign_shape(document.value)
        if shape is not None and shape.is_suite:
            return foreign_suite(document).suite
        if shape is None and document_kind(document.value) == "suite":
            return _with_its_tests(load_suite(path))
    dataset = load_dataset(path, unique=True)
    fields = {"name": dataset.name, "version": dataset.version, "cases": dataset.cases}
    return Suite.model_validate(fields).in_folder(path if folder_exists(path) else path.parent)


def _with_its_tests(suite: Suite) -> Suite:
    """The suite with what a skill's tests say of how they are run, where they are its dataset."""
    tests = None if suite.columns else _skill_tests(suite.dataset_path)
    if tests is None:
        return suite
    settings = _merged(tests.settings, suite.settings)
    for name in ("setup", "teardown"):
        if getattr(settings, name) != getattr(suite.settings, name) and not _is_one_folder(
            tests.folder, suite.folder
        ):
            raise SettingsError(
                f"the {name} of {suite.dataset} runs in {tests.folder}, and the suite in "
                f"{suite.folder}",
                hint=f"move the suite's file there, or give it a `{name}` of its own in `settings`",
            )
    changes: dict[str, object] = {"settings": settings, "profile": suite.profile or tests.profile}
    if "suites" not in suite.model_fields_set:
        changes["suites"] = tests.suites
    return suite.model_copy(update=changes)


def _skill_tests(path: Path | None) -> Suite | None:
    """A skill's tests as a suite; None for any other file, and one whose faults are told later."""
    try:
        document = None if path is None else read_whole_document(path)
        shape = None if document is None else foreign_shape(document.value)
        if document is None or shape is None or not shape.is_suite:
            return None
        return foreign_suite(document).suite
    except DatasetError:
        return None


def _merged(tests: RunSettings, own: RunSettings) -> RunSettings:
    theirs, ours = tests.model_dump(exclude_unset=True), own.model_dump(exclude_unset=True)
    # The two exclude each other; what the suite says replaces either in the tests.
    for one, other in (("in_sequence", "max_concurrency"), ("max_concurrency", "in_sequence")):
        if one in ours:
            theirs.pop(other, None)
    environment = {**theirs.pop("environment", {}), **ours.pop("environment", {})}
    return RunSettings.model_validate({**theirs, **ours, "environment": environment})


def _is_one_folder(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


# A script is started by a known program, never by its own first line.
_RUNNERS = {".py": "python", ".js": "node", ".mjs": "node", ".cjs": "node", ".sh": "sh"}


@dataclass(frozen=True, slots=True)
class ForeignSuite:
    """A suite made of a skill's tests, and what a suite has no place for."""

    suite: Suite
    """Cases, settings and groups; without judges and variants, which the file does not name."""

    profile: EvaluationProfileName
    """The kind of skill, which decides what its tests leave open."""

    dependencies: tuple[str, ...]
    """What must be installed before it is run."""

    whole: JsonObject
    """The file as it stands, of version 1 converted to 2, its tests left out."""


def foreign_suite(document: ParsedDocument) -> ForeignSuite:
    """The suite of an `eval/tests.json`."""
    from judgekit.formats import read_whole_skill_tests  # noqa: PLC0415 - only for a skill

    reading, head = read_whole_skill_tests(document)
    dataset = reading.dataset()
    if head is None:  # pragma: no cover - then there was an error
        raise AssertionError
    place, _ = attachments_of(document.path)
    fields: JsonObject = {
        "name": dataset.name,
        "version": head.version,
        "profile": head.profile,
        "settings": _settings(head, document, is_folder=isinstance(place, FolderAttachments)),
        "suites": [
            {
                "name": group.name,
                "case_ids": [*group.test_ids],
                "in_sequence": bool(group.run_in_sequence),
            }
            for group in head.suites
        ],
    }
    try:
        suite = Suite.model_validate({**fields, "cases": dataset.cases})
    except ValidationError as error:
        fault = validation_faults(error, Suite, fields)[0]
        raise SettingsError(f"{document.path}: {fault.message}", hint=fault.remedy) from error
    # In a zip nothing can be run, so its folder is the one it lies in.
    beside = next(folder for folder in document.path.parents if folder_exists(folder))  # of a zip
    folder = place.root if isinstance(place, FolderAttachments) else beside
    whole = head.as_given()
    whole.pop("testCases", None)
    setup = head.setup
    return ForeignSuite(
        suite=suite.in_folder(folder),
        profile=head.profile,
        dependencies=() if setup is None else setup.dependencies or (),
        whole=whole,
    )


def _settings(head: SkillTests, document: ParsedDocument, *, is_folder: bool) -> JsonObject:
    given = head.settings
    found: JsonObject = {
        "fail_fast": bool(given.fail_fast),
        "retry_failed": 1 if given.retry_failed else 0,
    }
    if given.default_timeout is not None:
        found["timeout_s"] = given.default_timeout / 1000
    found |= _concurrency(given)
    if head.setup is not None and head.setup.environment:
        found["environment"] = {**head.setup.environment}
    scripts = {
        "setup": None if head.setup is None else head.setup.script,
        "teardown": None if head.teardown is None else head.teardown.script,
    }
    for name, script in scripts.items():
        if script is not None:
            found[name] = _command(name, script, document, is_folder=is_folder)
    return found


def _concurrency(given: SkillSettings) -> JsonObject:
    if given.parallel_execution is False:
        return {"in_sequence": True}
    limit = given.max_concurrent_tests
    return {} if limit is None else {"max_concurrency": limit}


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


MAX_FILES = 10_000
"""How many files are looked at before the folder is taken to be the wrong one."""

_MAX_DOCUMENT_BYTES = 16 * 2**20
_SUFFIXES = frozenset({*DOCUMENT_SUFFIXES, *LINE_SUFFIXES, *TABLE_SUFFIXES, ".zip"})

# Folders with other people's files, which may hold datasets of their tests.
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


def discover_datasets(folder: Path | str) -> list[Path]:
    """The files in a folder, and the folders in it, that hold cases.

    Hidden files and folders, `.judgekit` among them, and links to folders are left out; so are
    files that cannot be read, what is no file (a pipe), and documents over 16 MiB. A dataset of
    another tool counts, and so does a zip with an `eval/tests.json`.

    Args:
        folder: Where to look.

    Returns:
        Paths that begin with `folder`, sorted.

    Raises:
        DatasetError: When it is no folder, or holds more than `MAX_FILES` files.
    """
    return _found(as_path(folder), holds_cases)


def discover_suites(folder: Path | str) -> list[Path]:
    """The suite files in a folder, and in the folders in it; looked for as datasets are."""
    return _found(as_path(folder), _is_suite)


def _found(folder: Path, is_wanted: Callable[[Path], bool]) -> list[Path]:
    if not folder_exists(folder):
        raise DatasetError("there is no such folder", path=folder)
    found: list[Path] = []
    n_files = 0
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_skipped(name))
        n_files += len(names)
        if n_files > MAX_FILES:
            message = f"holds more than {MAX_FILES} files"
            raise DatasetError(message, path=folder, hint="name the folder with the datasets")
        paths = (Path(root, name) for name in names if not name.startswith("."))
        known = (path for path in paths if suffix_of(path) in _SUFFIXES)
        # A pipe would be waited for, and a device read without end.
        found += [path for path in known if path.is_file() and is_wanted(path)]
    return sorted(found)


def holds_cases(path: Path) -> bool:
    """Whether a file is a dataset, judged by its first row or its shape."""
    try:
        if is_row_file(path):
            rows = [row for row in islice(scan_rows(path), 1) if isinstance(row, FileRow)]
            return bool(rows) and _is_case(rows[0])
        value = _document(path)
    except (DatasetError, OSError):
        return False
    shape = foreign_shape(value)
    return shape.has_cases if shape is not None else document_kind(value) == "cases"


def _is_suite(path: Path) -> bool:
    try:
        value = None if is_row_file(path) else _document(path)
    except (DatasetError, OSError):
        return False
    return foreign_shape(value) is None and document_kind(value) == "suite"


def _document(path: Path) -> JsonValue:
    # Discovery looks at every file; a large document would be parsed only to see what it is.
    if path.stat().st_size > _MAX_DOCUMENT_BYTES and not is_archive(path):
        return None
    document = read_whole_document(path)
    return None if document is None else document.value


def _is_case(row: FileRow) -> bool:
    shape = foreign_row_shape(row.fields)
    return shape.has_cases if shape is not None else row_kind(row.fields) == "cases"


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED
