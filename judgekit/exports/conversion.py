"""Converts a file to another format or to a suite, and reports what would be lost.

Also lists the formats that cases and runs can be written in.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING

from judgekit.assertions import PROFILES
from judgekit.atomic_write import check_output_path, write_text_atomically
from judgekit.datasets import open_cases, suite_from_path
from judgekit.errors import InputError, SettingsError, StoreError
from judgekit.exports import junit, quality_memory, skill_results, tabular, validation_report
from judgekit.exports.tabular import encodable_json, write_cases, write_json_list
from judgekit.fingerprint import canonical_json
from judgekit.formats import (
    FORMATS,
    RECORD_LISTS,
    SkillTests,
    document_kind,
    dump_yaml,
    foreign_shape,
    is_graders,
    is_quality_record,
    is_skill_tests_v1,
    read_graders,
    read_whole_document,
    upgrade_skill_tests,
)
from judgekit.records import CaseSource, Rubric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.datasets import Suite
    from judgekit.exports.tabular import RunFormat
    from judgekit.formats import Format
    from judgekit.records import Case, JsonObject

_SHOWN = 20


def convert_cases(
    source: ConversionSource, path: Path, form: str, *, lossy: bool = False
) -> tuple[str, ...]:
    """Write the cases of a file in another form; what is there is replaced as a whole or not."""
    found = CASE_FORMATS[form]
    check_output_path(path, found.suffixes, what=found.summary, may_be_folder=False)
    # The ending stays, for that says how it is read; the folder, for the files it may name.
    beside = path.with_name(f".part-{os.getpid()}-{path.name}")
    try:
        # Written beside and read again before it replaces anything: losses show only then.
        lost = found.write(beside, source)
        if found.keeps_ids:
            again = case_losses(source.cases, lambda: open_cases(beside))
            lost = (*lost, *(one.replace(beside.name, path.name) for one in again))
        if lost and not lossy:
            raise loss_error(path, lost)
        beside.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with suppress(OSError):  # it is in its place, or cannot be removed either
            beside.unlink()
    return lost


def loss_error(path: Path, lost: Sequence[str]) -> SettingsError:
    """The error that says what a conversion would lose."""
    more = f"\n  … and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    listed = "".join(f"\n  {one}" for one in lost[:_SHOWN])
    return SettingsError(
        f"{path.name} is not written, for this would be lost:{listed}{more}",
        hint="convert it nevertheless with --lossy",
    )


@dataclass(frozen=True, slots=True)
class ConversionSource:
    """A file whose cases are converted."""

    path: Path
    """The file, or a skill's folder or zip."""

    cases: CaseSource
    """Its cases, which can be gone through several times."""

    skill_tests: JsonObject | None = None
    """The whole file where it is an `eval/tests.json`, of version 1 converted to 2."""

    is_upgraded: bool = False
    """Whether that was of version 1, which says nothing beside its tests."""

    quality_records: tuple[JsonObject, ...] = ()
    """All objects of the file, with those that are no cases, where they are of a quality memory."""

    is_suite: bool = False
    """Whether it is one of judgekit's suites already."""


def open_conversion_source(
    path: Path, columns: Mapping[str, str] | None = None
) -> ConversionSource:
    """What a path holds, to be converted."""
    document = read_whole_document(path)
    if document is None or columns:
        return ConversionSource(path, open_cases(path, columns=columns))
    shape = foreign_shape(document.value)
    if shape is None:
        if document_kind(document.value) == "suite":
            return ConversionSource(path, open_cases(suite_from_path(path)), is_suite=True)
        return ConversionSource(path, open_cases(path))
    dataset = shape.read_or_refuse(document)
    cases = CaseSource(dataset.name, dataset.version, lambda: iter(dataset.cases))
    value = document.value
    if not shape.is_suite:
        return ConversionSource(path, cases, quality_records=tuple(_quality_records(value)))
    is_old = is_skill_tests_v1(value) or not isinstance(value, dict)
    whole = upgrade_skill_tests(value) if is_old or not isinstance(value, dict) else value
    return ConversionSource(path, cases, skill_tests=whole, is_upgraded=is_old)


def _quality_records(value: JsonValue) -> list[JsonObject]:
    listed: JsonValue = [value]
    if isinstance(value, dict):
        listed = next((value[name] for name in RECORD_LISTS if name in value), listed)
    elif isinstance(value, list):
        listed = value
    items = listed if isinstance(listed, list) else []
    return [item for item in items if isinstance(item, dict) and is_quality_record(item)]


_LONGEST = 200
_DEEP = ("rubric", "evaluation")


def case_losses(before: Iterable[Case], read_again: Callable[[], Iterable[Case]]) -> Iterator[str]:
    """What cases say that the same cases, written and read again, do not."""
    # Something that is there only afterwards, such as a strategy that the form has to name, is no
    # loss.
    try:
        for case, again in zip_longest(before, read_again()):
            if case is None or again is None:
                what = "is not in the file" if again is None else "is only in the file"
                yield f"{(case or again).id}: the case {what}"
                return
            yield from (
                f"{case.id}: {path}" for path in _lost_fields(case.to_json(), again.to_json())
            )
    except InputError as error:
        yield f"the file could not be read again: {error.message[:_LONGEST]}"


def _lost_fields(before: JsonObject, after: JsonObject) -> Iterator[str]:
    """The fields of a case that are gone or altered; an empty one has nothing to lose."""
    for name, item in before.items():
        again = after.get(name)
        if name in _DEEP:
            yield from _altered(item, again, name)
        elif name == "metadata" and isinstance(item, dict) and isinstance(again, dict):
            yield from (f"metadata.{key}" for key in item if not _same(item[key], again.get(key)))
        # An empty list and a missing one say the same.
        elif item != [] and not _same(item, again):
            yield name


def _altered(before: JsonValue, after: JsonValue, path: str) -> Iterator[str]:
    """The places in a rubric or an evaluation that differ, as deep as both have one shape."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name, item in before.items():
            yield from _altered(item, after.get(name), f"{path}.{name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from _altered(*pair, f"{path}[{index}]")
    elif before not in ([], {}) and not _same(before, after):
        yield path


def _same(before: JsonValue, after: JsonValue) -> bool:
    """Whether two values are the same JSON; true is not 1."""
    return canonical_json(before) == canonical_json(after) if before == after else False


_OF_TESTS = ("profile", "settings", "setup", "teardown", "suites")

# Forms that hold all of that, or count it among what is lost.
_SKILL_TESTS = frozenset({"skill-tests", "skill-tests-v1"})
_OF_CASES = frozenset({"test-case", "rubric", "rubric-criterion"})


def omitted_content(source: ConversionSource, path: Path, form: str) -> tuple[str, ...]:
    """What the converted file says, and the written one does not, though its cases are the same."""
    return tuple(_found(source, path, form))


def _found(source: ConversionSource, path: Path, form: str) -> Iterator[str]:
    again = open_cases(path)
    if source.is_suite:
        yield "the suite's variants, judges and settings"
    elif source.cases.name not in {again.name, *_names_of(source.path)}:
        yield f"the name {source.cases.name!r}"
    if source.cases.version != again.version and not (source.is_suite or source.skill_tests):
        yield f"the version {source.cases.version!r}"
    if source.skill_tests is not None and not (source.is_upgraded or form in _SKILL_TESTS):
        given = [name for name in _OF_TESTS if source.skill_tests.get(name)]
        yield from (f"`{name}` of the tests" for name in given)
    # The quality form keeps all objects as they are.
    if form != "quality":
        kinds = Counter(str(record["type"]) for record in source.quality_records)
        others = {kind: n for kind, n in kinds.items() if kind not in _OF_CASES}
        yield from (f"{n} {kind} record{'' if n == 1 else 's'}" for kind, n in others.items())


def _names_of(path: Path) -> set[str]:
    """What cases are called that have no name of their own: as their file, or a folder round it."""
    whole = path.absolute()
    return {whole.stem, *whole.parts}


RUBRIC_SUFFIXES = (".yaml", ".yml", ".json")
"""The files a rubric can be written to."""


def convert_to_rubric(path: Path) -> tuple[Rubric, tuple[str, ...]]:
    """The rubric a file comes to."""
    document = read_whole_document(path)
    value = None if document is None else document.value
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, dict) and is_graders(first):
        found = read_graders(path)
        lost = tuple(f"the check {_shown(spec)}" for spec in found.assertions)
        if found.rubric is None:
            listed = ", ".join(map(_shown, found.assertions))
            raise SettingsError(
                f"{path} holds no criteria, only checks that need no model",
                hint=f"write them into a suite, as `assertions: [{listed}]`",
            )
        rubrics = [found.rubric]
    else:
        lost = ()
        rubrics = []
        for case in open_conversion_source(path).cases:
            if isinstance(case.rubric, Rubric) and case.rubric not in rubrics:
                rubrics.append(case.rubric)
    if len(rubrics) != 1:
        n = "no rubric" if not rubrics else f"{len(rubrics)} rubrics"
        raise SettingsError(f"{path} holds {n}", hint="a suite keeps each case's own: --to suite")
    return rubrics[0], lost


def _shown(spec: JsonObject) -> str:
    """An assertion as it is written into a suite."""
    return json.dumps(spec, ensure_ascii=False)


def write_rubric(path: Path, rubric: Rubric) -> None:
    """Write a rubric; `load_rubric` reads the same again."""
    check_output_path(path, RUBRIC_SUFFIXES, what="a rubric", may_be_folder=False)
    fields = rubric.to_json()
    is_json = path.suffix.lower() == ".json"
    write_text_atomically(
        path, encodable_json(fields, indent=2) + "\n" if is_json else dump_yaml(fields)
    )


SUITE_NAME, CASES_NAME, RUBRIC_NAME = "judgekit.yaml", "cases.jsonl", "rubric.yaml"
"""The files of a suite."""


def write_own_suite(folder: Path, source: ConversionSource) -> None:
    """Write the suite a file stands for into a folder, to be edited and run."""
    # The rubric that all cases share stands in a file of its own; cases with several keep theirs.
    if source.is_suite:
        raise SettingsError(f"{source.path} is a suite already")
    if (folder / SUITE_NAME).exists():
        raise SettingsError(
            f"{folder / SUITE_NAME} is there already", hint="name another folder, or remove it"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {folder}: {error.strerror}") from error
    suite = None if source.skill_tests is None else suite_from_path(source.path)
    rubric, cases = _shared_rubric(list(source.cases))
    fields = _fields(source, suite)
    if rubric is not None:
        fields["rubric"] = RUBRIC_NAME
        write_rubric(folder / RUBRIC_NAME, rubric)
    kept = CaseSource(source.cases.name, source.cases.version, lambda: iter(cases))
    write_cases(folder / CASES_NAME, kept)
    write_text_atomically(folder / SUITE_NAME, dump_yaml(fields))


def suite_losses(folder: Path, source: ConversionSource) -> tuple[str, ...]:
    """What a file says that the suite made of it would have no place for."""
    if source.skill_tests is None:
        return ()
    return tuple(_lost_settings(SkillTests.model_validate(source.skill_tests), source, folder))


def _fields(source: ConversionSource, suite: Suite | None) -> JsonObject:
    fields: JsonObject = {
        "name": source.cases.name,
        "version": source.cases.version,
        "dataset": CASES_NAME,
    }
    if suite is None:
        return fields
    profile = _profile(source)
    shipped = None if profile is None else PROFILES[profile].rubric
    if shipped is not None:
        fields["rubric"] = shipped  # for cases that are judged and have no rubric of their own
    dumped: JsonObject = suite.model_dump(
        mode="json", exclude_defaults=True, exclude={"cases", "name", "version", "dataset"}
    )
    return {**fields, **dumped}


def _profile(source: ConversionSource) -> str | None:
    if source.skill_tests is None:
        return None
    return SkillTests.model_validate(source.skill_tests).profile


def _shared_rubric(cases: Sequence[Case]) -> tuple[Rubric | None, Sequence[Case]]:
    """The rubric that every case has, and the cases without it."""
    rubrics = [case.rubric for case in cases]
    first = rubrics[0] if rubrics else None
    if not isinstance(first, Rubric) or any(other != first for other in rubrics):
        return None, cases
    return first, [case.model_copy(update={"rubric": None}) for case in cases]


def _lost_settings(head: SkillTests, source: ConversionSource, folder: Path) -> Iterator[str]:
    if head.setup is not None and head.setup.dependencies:
        yield f"setup.dependencies ({', '.join(head.setup.dependencies)})"
    suite = suite_from_path(source.path)
    named = [case.evaluation.script for case in source.cases if case.evaluation is not None]
    scripts = sorted({script for script in named if script is not None})
    scripts += [c[-1] for c in (suite.settings.setup, suite.settings.teardown) if c is not None]
    # Scripts run in the suite's folder, so moving the suite would lose them.
    if scripts and folder.resolve() != suite.folder.resolve():
        yield f"the place of {', '.join(scripts)}: they are looked for in the suite's own folder"


@dataclass(frozen=True, slots=True)
class CaseFormat:
    """A form cases can be converted to."""

    summary: str
    """What it is, for the help."""

    suffixes: tuple[str, ...]
    """The endings of its files."""

    write: Callable[[Path, ConversionSource], tuple[str, ...]]
    """Writes the file, and says what it already knows to be lost."""

    keeps_ids: bool = True
    """Whether its cases have ids of their own, so that they can be compared when read again."""


def _write_own(path: Path, source: ConversionSource) -> tuple[str, ...]:
    tabular.write_cases(path, source.cases)
    return ()


def _write_foreign(path: Path, source: ConversionSource, *, form: Format) -> tuple[str, ...]:
    written = form.write(source)
    if isinstance(written.content, dict):
        write_text_atomically(path, encodable_json(written.content, indent=2) + "\n")
    else:
        write_json_list(path, written.content)
    return written.lost


_OWN_CASES = CaseFormat(
    "judgekit's own cases (.jsonl, .json, .yaml, .csv, .parquet)",
    tabular.CASE_SUFFIXES,
    _write_own,
)

CASE_FORMATS: Mapping[str, CaseFormat] = MappingProxyType(
    {
        "cases": _OWN_CASES,
        **{
            form.name: CaseFormat(
                form.summary, form.suffixes, partial(_write_foreign, form=form), form.keeps_ids
            )
            for form in FORMATS
            if form.name is not None
        },
    }
)
"""The forms by their names; `suite` is written by `write_own_suite`."""

RUN_FORMATS: Mapping[str, RunFormat] = MappingProxyType(
    {
        form.name: form
        for form in (
            junit.JUNIT,
            skill_results.GRADING,
            skill_results.HISTORY,
            validation_report.VALIDATION,
            tabular.STRATEGIES,
            quality_memory.QUALITY,
        )
    }
)
"""The forms in which a run can be written, by their names."""


def run_format_for(path: Path) -> str | None:
    """The form that is meant by a file's name alone."""
    # A file's whole name says more than its ending: `grading.json` is a grading, other JSON is not.
    forms = RUN_FORMATS.values()
    named = (form.name for form in forms if path.name in form.file_names)
    return next(named, None) or next(
        (form.name for form in forms if path.suffix.lower() in form.own_suffixes), None
    )
