"""Converts a file to another format or a suite, and reports losses; lists the formats."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from contextlib import suppress
from itertools import zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING

from judgekit import assertions, datasets, formats, records as recorded
from judgekit.atomic_write import check_output_path, make_folder
from judgekit.errors import InputError, SettingsError, write_error
from judgekit.exports import (
    junit,
    quality_memory,
    skill_results,
    tabular,
    tool_scores,
    validation_report,
)
from judgekit.exports.tabular import OWN_CASES, write_cases, write_json_list, write_object
from judgekit.fingerprint import canonical_json
from judgekit.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.exports.tabular import RunFormat
    from judgekit.formats import Format
    from judgekit.records import Case, JsonObject

_SHOWN = 20
_FIRST_VERSION = "skill-tests-v1"


def convert_cases(
    source: formats.ConversionSource, path: Path, form: str, *, lossy: bool = False
) -> tuple[str, ...]:
    """Write the cases of a file in another format, as a whole or not at all."""
    target = CASE_FORMATS[form]
    check_output_path(path, target.suffixes, what=target.summary, may_be_folder=False)
    # The suffix stays, since it determines how the file is read; the folder stays for the files
    # that cases name.
    beside = path.with_name(f".part-{os.getpid()}-{path.name}")
    try:
        # Written beside and read again before it replaces anything: losses show only then.
        if target is OWN_CASES:
            write_cases(beside, source.cases)
        elif isinstance(content := target.write(source), dict):
            others = source.other_fields if source.form == form else {}
            write_object(beside, {**content, **others})
        else:
            write_json_list(beside, content)
        if form == _FIRST_VERSION and source.skill_tests is not None:
            # Its tests get other ids, and some without what they expect could not be read again.
            lost = formats.downgrade_skill_tests(source.skill_tests)[1]
        else:
            again = case_losses(source.cases, lambda: datasets.open_cases(beside))
            lost = tuple(one.replace(beside.name, path.name) for one in again)
        if lost and not lossy:
            raise loss_error(path, lost)
        beside.replace(path)
    except OSError as error:
        raise write_error(f"cannot write {path}", error) from error
    finally:
        with suppress(OSError):  # it is in its place, or cannot be removed either
            beside.unlink()
    return lost


def loss_error(path: Path, lost: Sequence[str]) -> SettingsError:
    """The error that lists what a conversion would lose."""
    more = f"\n  … and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    listed = "".join(f"\n  {one}" for one in lost[:_SHOWN])
    return SettingsError(
        f"{path.name} is not written, for this would be lost:{listed}{more}",
        hint="convert it nevertheless with --lossy",
    )


def open_conversion_source(
    path: Path, columns: Mapping[str, str] | None = None
) -> formats.ConversionSource:
    document = formats.read_whole_document(path)
    # Columns are only mapped in judgekit's own rows; whoever names them says what the file is.
    if document is None or columns:
        return formats.ConversionSource(path, datasets.open_cases(path, columns=columns))
    shape, value = formats.foreign_shape(document.value), document.value
    if shape is None:
        if formats.document_kind(value) == "suite":
            return formats.ConversionSource(
                path, datasets.open_cases(datasets.suite_from_path(path)), is_suite=True
            )
        return formats.ConversionSource(path, datasets.open_cases(path))
    dataset = shape.read_or_refuse(document)
    cases = recorded.CaseSource(dataset.name, dataset.version, lambda: iter(dataset.cases))
    others: JsonObject = {}
    if isinstance(value, dict) and shape.fields:
        others = {name: item for name, item in value.items() if name not in shape.fields}
    if shape.name not in _SKILL_TESTS:
        if shape.is_suite:
            return formats.ConversionSource(path, cases, suite_fields=_suite_fields(path))
        listed: JsonValue = [value] if isinstance(value, dict) else value
        if isinstance(value, dict):
            listed = next((value[name] for name in formats.RECORD_LISTS if name in value), listed)
        records = tuple(filter(formats.is_quality_record, formats.objects_in(listed)))
        return formats.ConversionSource(
            path, cases, quality_records=records, form=shape.name, other_fields=others
        )
    whole = value if isinstance(value, dict) and not formats.is_skill_tests_v1(value) else None
    whole = formats.upgrade_skill_tests(value) if whole is None else whole
    return formats.ConversionSource(path, cases, skill_tests=whole, other_fields=others)


_LONGEST = 200
# Fields whose parts are compared one by one, so that a loss names the part.
_DEEP = ("rubric", "evaluation")


def case_losses(before: Iterable[Case], read_again: Callable[[], Iterable[Case]]) -> Iterator[str]:
    """The fields of cases that the same cases, written and read again, no longer have."""
    # A field that is there only afterwards, such as a strategy that the format requires, is no
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
    for name, item in before.items():
        again = after.get(name)
        if name in _DEEP:
            yield from _altered(item, again, name)
        elif name == "metadata" and isinstance(item, dict) and isinstance(again, dict):
            yield from (f"metadata.{key}" for key in item if not _same(item[key], again.get(key)))
        # An empty list and a missing one mean the same.
        elif item != [] and not _same(item, again):
            yield name


def _altered(before: JsonValue, after: JsonValue, path: str) -> Iterator[str]:
    """The places in a rubric or an evaluation that differ, as deep as both have the same shape."""
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


# Formats that have a place for all others of such tests, or report them as lost.
_SKILL_TESTS = frozenset({"skill-tests", _FIRST_VERSION})
_OF_CASES = frozenset({"test-case", "rubric", "rubric-criterion"})


def omitted_content(source: formats.ConversionSource, path: Path, form: str) -> tuple[str, ...]:
    """The content of the source, beside its cases, that is not in the written file."""
    lost: list[str] = []
    again = cases = source.cases
    with suppress(InputError):  # the losses name it where it could not be read again
        again = datasets.open_cases(path)
    whole = source.path.absolute()
    if source.is_suite or source.suite_fields is not None:
        lost.append("the suite's variants, judges and settings")
    # Cases without a name of their own are called like their file or a folder around it.
    elif cases.name not in {again.name, whole.stem, *whole.parts}:
        lost.append(f"the name {cases.name!r}")
    if cases.version != again.version and not (source.is_suite or source.skill_tests):
        lost.append(f"the version {cases.version!r}")
    if source.form != form and (source.skill_tests is None or form not in _SKILL_TESTS):
        whose = "file" if source.skill_tests is None else "tests"
        lost += [f"`{name}` of the {whose}" for name, item in source.other_fields.items() if item]
    # The quality format contains all objects unchanged.
    if form != "quality":
        kinds = Counter(str(record["type"]) for record in source.quality_records)
        others = {kind: n for kind, n in kinds.items() if kind not in _OF_CASES}
        lost += [f"{n} {kind} record{'' if n == 1 else 's'}" for kind, n in others.items()]
    return tuple(lost)


RUBRIC_SUFFIXES = (".yaml", ".yml", ".json")


def convert_to_rubric(path: Path) -> tuple[recorded.Rubric, tuple[str, ...]]:
    """The rubric in a file, and what is lost."""
    document = formats.read_whole_document(path)
    value = None if document is None else document.value
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, dict) and formats.is_graders(first):
        graders = formats.read_graders(path)
        checks = [json.dumps(spec, ensure_ascii=False) for spec in graders.assertions]
        if graders.rubric is None:
            hint = f"write them into a suite, as `assertions: [{', '.join(checks)}]`"
            if re.search(r"\{\{\s*item\b", " ".join(checks)):
                hint = (
                    "they name fields of items: load them as `testing_criteria` beside the items "
                    "(the `data_source` of a run); or, for equal texts, give each case its "
                    "`reference` and `evaluation: {strategy: exact_match}`"
                )
            raise SettingsError(
                f"{path} holds no criteria, only checks that need no model", hint=hint
            )
        return graders.rubric, tuple(f"the check {check}" for check in checks)
    rubrics: list[recorded.Rubric] = []
    for case in open_conversion_source(path).cases:
        if isinstance(case.rubric, recorded.Rubric) and case.rubric not in rubrics:
            rubrics.append(case.rubric)
    if len(rubrics) != 1:
        n = "no rubric" if not rubrics else f"{len(rubrics)} rubrics"
        raise SettingsError(f"{path} holds {n}", hint="a suite keeps each case's own: --to suite")
    return rubrics[0], ()


def write_rubric(path: Path, rubric: recorded.Rubric) -> None:
    """Write a rubric; `load_rubric` reads the same again."""
    check_output_path(path, RUBRIC_SUFFIXES, what="a rubric", may_be_folder=False)
    write_object(path, rubric.to_json())


SUITE_NAME, CASES_NAME, RUBRIC_NAME = "judgekit.yaml", "cases.jsonl", "rubric.yaml"


def write_own_suite(folder: Path, source: formats.ConversionSource) -> None:
    """Write a file into a folder as a suite, to be edited and run."""
    if source.is_suite:
        raise SettingsError(f"{source.path} is a suite already")
    if (folder / SUITE_NAME).exists():
        raise SettingsError(
            f"{folder / SUITE_NAME} is there already", hint="name another folder, or remove it"
        )
    make_folder(folder)
    fields: JsonObject = {
        "name": source.cases.name,
        "version": source.cases.version,
        "dataset": CASES_NAME,
    }
    fields |= source.suite_fields or {}
    if source.skill_tests is not None:
        # For cases that a judge grades and that have no rubric of their own.
        shipped = assertions.PROFILES[
            formats.SkillTests.model_validate(source.skill_tests).profile
        ].rubric
        fields |= {} if shipped is None else {"rubric": shipped}
        fields |= _suite_fields(source.path)
    cases: Sequence[Case] = list(source.cases)
    rubric = cases[0].rubric if cases else None
    # The rubric that all cases share stands in a file of its own; other cases keep theirs.
    if isinstance(rubric, recorded.Rubric) and all(case.rubric == rubric for case in cases):
        cases = [case.model_copy(update={"rubric": None}) for case in cases]
        fields["rubric"] = RUBRIC_NAME
        write_rubric(folder / RUBRIC_NAME, rubric)
    own = recorded.CaseSource(source.cases.name, source.cases.version, lambda: iter(cases))
    write_cases(folder / CASES_NAME, own)
    write_object(folder / SUITE_NAME, fields)


def _suite_fields(path: Path) -> JsonObject:
    """The fields of the suite that another tool's file is, without its cases and their names."""
    return datasets.suite_from_path(path).model_dump(
        mode="json", exclude_defaults=True, exclude={"cases", "name", "version", "dataset"}
    )


def suite_losses(folder: Path, source: formats.ConversionSource) -> tuple[str, ...]:
    """The content of a file for which a suite has no place."""
    scripts: list[str] = []
    own = source.path.parent
    if source.suite_fields is not None:
        every = [source.suite_fields, *(case.to_json() for case in source.cases)]
        scripts = sorted({*_code_files([*every])})
    elif source.skill_tests is not None:
        suite = datasets.suite_from_path(source.path)
        own = suite.folder
        named = [case.evaluation.script for case in source.cases if case.evaluation is not None]
        scripts = sorted({script for script in named if script is not None})
        scripts += [c[-1] for c in (suite.settings.setup, suite.settings.teardown) if c is not None]
    # Scripts run in the suite's folder, so moving the suite would lose them.
    if not scripts or folder.resolve() == own.resolve():
        return ()
    what = f"the place of {', '.join(scripts)}"
    return (f"{what}: they are looked for in the suite's own folder",)


def _code_files(value: JsonValue) -> Iterator[str]:
    """The files and programs that a suite of another tool calls, wherever it names them."""
    if isinstance(value, dict):
        if "language" in value and isinstance(file := value.get("file"), str):
            yield file
        yield from _code_files([*value.values()])
    elif isinstance(value, list):
        for item in value:
            yield from _code_files(item)
    elif isinstance(value, str) and value.startswith(assertions.CODE_PREFIX):
        yield assertions.CodeCall.named(value).title


# The formats by their names; `suite` is written by `write_own_suite`.
CASE_FORMATS: Mapping[str, Format] = MappingProxyType(
    {form.name: form for form in (OWN_CASES, *FORMATS) if form.name is not None}
)
_OF_RUNS = (
    junit.JUNIT, skill_results.GRADING, skill_results.HISTORY, validation_report.VALIDATION,
    tabular.STRATEGIES, quality_memory.QUALITY, *tool_scores.TOOL_SCORES,
    tool_scores.PROMPTFOO,
)  # fmt: skip
RUN_FORMATS: Mapping[str, RunFormat] = MappingProxyType({form.name: form for form in _OF_RUNS})


def run_format_for(path: Path) -> str | None:
    """The format that a file's name alone implies; None for an ambiguous one."""
    # The whole name decides before the suffix: `grading.json` is a grading, other JSON is not.
    forms = RUN_FORMATS.values()
    named = (form.name for form in forms if path.name in form.file_names)
    return next(named, None) or next(
        (form.name for form in forms if path.suffix.lower() in form.own_suffixes), None
    )
