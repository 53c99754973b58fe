"""Whole documents checked as a rubric, a suite or a dataset, with every fault at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import JsonValue, ValidationError

from judgekit.datasets.cases import read_case
from judgekit.datasets.faults import Fault, explain, kind_of
from judgekit.datasets.fields import Fields, as_texts
from judgekit.datasets.suite import Suite
from judgekit.datasets.thresholds import threshold_fault
from judgekit.errors import UnknownNameError
from judgekit.records.case import Case, Dataset
from judgekit.records.rubric import Rubric, Scale
from judgekit.shipped import shipped_scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.datasets.documents import Document
    from judgekit.datasets.json_text import KeyPath

_RUBRIC_SYNONYMS = {
    "threshold": "pass_threshold",
    "passingThreshold": "pass_threshold",
    "passing_threshold": "pass_threshold",
    "scoringGuide": "scoring_guide",
    "guide": "scoring_guide",
    "prompt": "question",
    "dimensions": "criteria",
    "label": "name",
    "score": "value",
}
_SUITE_SYNONYMS = {"judges": "judge", "targets": "variants", "checks": "assertions"}
_KEY_NAMES = frozenset({"api_key", "apiKey", "key", "token"})


def check_rubric(document: Document) -> Rubric | list[Fault]:
    """A document as a rubric."""
    value = document.value
    if not isinstance(value, dict):
        return [_not_a_mapping(value, "a rubric", "name, criteria, pass_threshold")]
    # Scales by a wrong name and thresholds off [0, 1] are named first, in the rubric's own terms.
    faults = [*_unknown_scales(value), *_thresholds(value)]
    told = {fault.where for fault in faults}
    try:
        rubric = Rubric.model_validate(_mended(value, told))
    except ValidationError as error:
        return faults + explain(error, Rubric, value, synonyms=_RUBRIC_SYNONYMS)
    return faults or rubric


def check_suite(document: Document) -> Suite | list[Fault]:
    """A document as a suite."""
    value = document.value
    if not isinstance(value, dict):
        return [_not_a_mapping(value, "a suite", "name, dataset, rubric, judge, variants")]
    fields, faults = _with_cases(value)
    try:
        suite = Suite.model_validate(fields)
    except ValidationError as error:
        found = explain(error, Suite, value, synonyms=_SUITE_SYNONYMS)
        return faults + [_about_keys(fault) for fault in found]
    return faults or suite.in_folder(document.path.parent)


def dataset_header(document: Document) -> Dataset | list[Fault]:
    """What a document says of a dataset beside its cases."""
    stem = document.path.stem
    value = document.value
    if isinstance(value, list):
        return Dataset(name=stem, cases=())
    if not isinstance(value, dict):
        return [_not_a_mapping(value, "a dataset", "name, version, cases")]
    if not isinstance(value.get("cases"), list):
        remedy = "write `cases:` with a list of cases, or a file with one case a line (.jsonl)"
        return [Fault((), "a dataset needs a list of `cases`", remedy)]
    header: Fields = {name: item for name, item in value.items() if item is not None}
    version = header.get("version")
    if isinstance(version, float):
        header["version"] = str(version)
    try:
        return Dataset.model_validate(
            {"name": stem, **as_texts(header, ("name", "version")), "cases": ()}
        )
    except ValidationError as error:
        return explain(error, Dataset, value)


def _not_a_mapping(value: JsonValue, what: str, names: str) -> Fault:
    given = "an empty file" if value is None else kind_of(value)
    return Fault((), f"{what} is a mapping of fields, not {given}", f"write {names}")


def _criteria(rubric: Fields) -> Iterator[tuple[int, Fields]]:
    criteria = rubric.get("criteria")
    for index, criterion in enumerate(criteria if isinstance(criteria, list) else ()):
        if isinstance(criterion, dict):
            yield index, criterion


def _unknown_scales(rubric: Fields) -> Iterator[Fault]:
    for index, criterion in _criteria(rubric):
        scale = criterion.get("scale")
        if isinstance(scale, str):
            try:
                shipped_scale(scale)
            except UnknownNameError as error:
                where = ("criteria", index, "scale")
                yield Fault(where, error.message, error.hint)


def _thresholds(rubric: Fields) -> Iterator[Fault]:
    scales = [_scale_of(criterion) for _, criterion in _criteria(rubric)]
    known = [scale for scale in scales if scale is not None]
    if fault := threshold_fault(("pass_threshold",), rubric.get("pass_threshold"), known):
        yield fault
    for (index, criterion), scale in zip(_criteria(rubric), scales, strict=True):
        own = [] if scale is None else [scale]
        where = ("criteria", index, "pass_value")
        if fault := threshold_fault(where, criterion.get("pass_value"), own):
            yield fault


def _scale_of(criterion: Fields) -> Scale | None:
    scale = criterion.get("scale")
    try:
        if isinstance(scale, str):
            return Scale.model_validate(shipped_scale(scale))
        return Scale.model_validate({"levels": scale} if isinstance(scale, list) else scale)
    except (ValidationError, UnknownNameError):
        return None


def _mended(rubric: Fields, told: set[KeyPath]) -> Fields:
    """The rubric with something sound where a fault was named, so that the others are found."""
    criteria = rubric.get("criteria")
    if not told or not isinstance(criteria, list):
        return {name: item for name, item in rubric.items() if (name,) not in told}
    mended = [
        _mended_criterion(item, index, told) if isinstance(item, dict) else item
        for index, item in enumerate(criteria)
    ]
    kept = {name: item for name, item in rubric.items() if (name,) not in told}
    return {**kept, "criteria": mended}


def _mended_criterion(criterion: Fields, index: int, told: set[KeyPath]) -> Fields:
    kept = {n: item for n, item in criterion.items() if ("criteria", index, n) not in told}
    return {"scale": "unit", **kept} if "scale" in criterion else kept


def _with_cases(suite: Fields) -> tuple[dict[str, object], list[Fault]]:
    """The suite with its inline cases read, and their faults; an unsound case is left as it is."""
    given = suite.get("cases")
    if not isinstance(given, list):
        return dict(suite), []
    cases: list[Case] = []
    faults: list[Fault] = []
    first: dict[str, int] = {}
    for index, item in enumerate(given):
        case = read_case(item) if isinstance(item, dict) else [_not_a_mapping(item, "a case", "id")]
        if isinstance(case, list):
            faults += [Fault(("cases", index, *f.where), f.message, f.remedy) for f in case]
        elif case.id in first:
            message = f"the id {case.id!r} is a duplicate; first in case {first[case.id] + 1}"
            faults.append(Fault(("cases", index, "id"), message, "rename one"))
        else:
            first[case.id] = index
            cases.append(case)
    # A stand-in keeps "cases is empty" from being said where the cases are there but unsound.
    sound = cases or [Case(id="unsound", input=None)] if given else []
    return {**suite, "cases": tuple(sound)}, faults


def _about_keys(fault: Fault) -> Fault:
    if fault.where and fault.where[-1] in _KEY_NAMES:
        return Fault(
            fault.where, fault.message, "keys come from the environment, never from a file"
        )
    return fault
