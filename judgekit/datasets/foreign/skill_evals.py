"""Reads a skill's `evals.json` (S3): prompts with files, and expectations as each case's rubric."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import Field, JsonValue

from judgekit.datasets.foreign.attachments import (
    MAX_CASE_FILES,
    AttachmentError,
    FolderAttachments,
    MissingAttachmentError,
    Shelf,
)
from judgekit.datasets.foreign.reading import Reading
from judgekit.datasets.foreign.shape import SnakeRecord
from judgekit.datasets.vagueness import vague_word
from judgekit.records.record import JsonObject, Name  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judgekit.datasets.documents import Document
    from judgekit.datasets.json_text import KeyPath

PASS_VALUE = 0.5
"""Score 3 of 1 to 5, from which an expectation is met, on [0, 1]."""


_KEBAB = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_IN_IDS = re.compile(r"[\W_]+")


class Expectation(SnakeRecord):
    """One thing an output is expected to have."""

    criterion: Name
    """A short label."""

    description: Name
    """What is expected."""

    required: bool = False
    """Whether the case fails with it."""


class EvalCase(SnakeRecord):
    """One case of an `evals.json`."""

    id: Name
    """Name of the case."""

    prompt: str
    """What the skill is asked."""

    files: tuple[str, ...] = ()
    """Files given with it."""

    expectations: tuple[Expectation, ...] = Field(default=())
    """What its output is expected to have."""


class SkillEvals(SnakeRecord):
    """An `evals.json` without its cases."""

    version: str | int | float = "1.0"
    """Version of the format."""

    skill: str | None = None
    """The skill under test."""

    cases: JsonValue = None
    """Its cases, as they stand."""


def read_skill_evals(document: Document) -> Reading:
    """The cases of an `evals.json`; each has a rubric of its own, a criterion per expectation."""
    # A criterion has the scale from 1 to 5 and is met from score 3; a case passes when every
    # required one is met.
    reading = Reading(document)
    fields = document.value if isinstance(document.value, dict) else {}
    header = reading.record(SkillEvals, document.value)
    skill = None if header is None else header.skill
    if header is not None:
        reading.header = {"name": _name(skill, document.path), "version": str(header.version)}
    folder = document.path.parent
    shelves = (Shelf(FolderAttachments(folder)), Shelf(FolderAttachments(folder.parent)))
    for at, item in reading.objects(fields.get("cases"), ("cases",)):
        reading.claim(item, at)
        _check_id(item.get("id"), at, reading)
        case = reading.record(EvalCase, item, at)
        if case is None:
            continue
        files = _files(case, at, reading, shelves)
        if _can_fail(case, at, reading):
            reading.add_case(_fields(case, skill, files), at)
    return reading


def _name(skill: str | None, path: Path) -> str:
    parts = [part for part in (skill or "").replace("\\", "/").split("/") if part.strip()]
    return parts[-1] if parts else path.stem


def _check_id(name: JsonValue, at: KeyPath, reading: Reading) -> None:
    """Tell of an id that is not in kebab-case, which S3 asks for and nothing depends on."""
    if not isinstance(name, str) or not name.strip():
        return
    if name == name.lower() and _KEBAB.fullmatch(name):
        return
    better = _NOT_IN_IDS.sub("-", _HUMP.sub("-", name)).strip("-").lower()
    message = f"the id {name[:80]!r} is not in kebab-case"
    remedy = "small letters and digits, one hyphen between words"
    named = f"call it `{better[:80]}`: {remedy}" if better else f"{remedy}, such as `case-01`"
    reading.warn((*at, "id"), message, named, case_id=name[:80])


def _fields(case: EvalCase, skill: str | None, files: list[JsonValue]) -> JsonObject:
    return {
        "id": case.id,
        "input": case.prompt,
        "context": {"files": files} if files else None,
        "rubric": _rubric(case),
        "skill": skill,
        "metadata": {**case.extra, "files": list(case.files)} if case.files else case.extra,
    }


def _can_fail(case: EvalCase, at: KeyPath, reading: Reading) -> bool:
    """Whether the expectations make a rubric under which an output can fail."""
    for index, expectation in enumerate(case.expectations):
        if word := vague_word(expectation.description):
            message = f"the description says {word!r}, which nothing can contradict"
            remedy = "say what would be seen in the output, so that it can be false"
            place = (*at, "expectations", index, "description")
            reading.warn(place, message, remedy, case_id=case.id)
    labels = [expectation.criterion for expectation in case.expectations]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        message = f"two expectations are called {', '.join(twice)}"
        reading.add((*at, "expectations"), message, "rename one", case_id=case.id)
    if not any(expectation.required for expectation in case.expectations):
        message = "no expectation is required, so the case can never fail"
        remedy = "write `required: true` at what an output must have"
        reading.add((*at, "expectations"), message, remedy, case_id=case.id)
        return False
    return not twice


def _rubric(case: EvalCase) -> JsonObject:
    return {
        "name": case.id,
        "criteria": [
            {
                "name": expectation.criterion,
                "question": expectation.description,
                "scale": "one_to_five",
                "required": expectation.required,
                "pass_value": PASS_VALUE,
            }
            for expectation in case.expectations
        ],
        # What decides is the required expectations; the others are noted.
        "pass_threshold": 0.0,
    }


def _files(
    case: EvalCase, at: KeyPath, reading: Reading, shelves: Sequence[Shelf]
) -> list[JsonValue]:
    if len(case.files) > MAX_CASE_FILES:
        message = f"a case may name {MAX_CASE_FILES} files, not {len(case.files)}"
        reading.add((*at, "files"), message, case_id=case.id)
        return []
    found: list[JsonValue] = []
    for index, name in enumerate(case.files):
        try:
            found.append(_file(name, shelves))
        except AttachmentError as error:
            reading.add((*at, "files", index), str(error), error.remedy, case_id=case.id)
    return found


def _file(name: str, shelves: Sequence[Shelf]) -> JsonObject:
    """A file beside `evals.json`, or in the skill's folder above it."""
    try:
        return shelves[0].take(name)
    except MissingAttachmentError:
        return shelves[1].take(name)
