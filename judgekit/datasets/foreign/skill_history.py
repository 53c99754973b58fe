"""Reads a skill's `history.json` (S3): its versions, their average scores, the current one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AwareDatetime, Field

from judgekit.datasets.documents import read_document
from judgekit.datasets.foreign.reading import Reading
from judgekit.datasets.foreign.shape import SnakeRecord
from judgekit.records.record import Count, Finite  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.datasets.documents import Document
    from judgekit.datasets.json_text import KeyPath
    from judgekit.records.record import JsonObject

_WORST, _BEST = 1.0, 5.0
_HUGE = 1e9


class SkillVersion(SnakeRecord):
    """One version of a skill."""

    version: Count
    """Its number, from 0."""

    timestamp: AwareDatetime
    """When it was made."""

    description: str = ""
    """What it stands for."""

    git_hash: str | None = None
    """The commit, where there was one."""

    path: str | None = None
    """The folder with its files, relative to the workspace."""

    average_score: Finite | None = None
    """Mean score over all cases, 1 to 5; None where nothing was graded."""

    @property
    def value(self) -> float | None:
        """The average score on [0, 1]; None where nothing was graded."""
        if self.average_score is None:
            return None
        return (self.average_score - _WORST) / (_BEST - _WORST)


class SkillHistory(SnakeRecord):
    """The versions of a skill."""

    versions: Annotated[tuple[SkillVersion, ...], Field(min_length=1)]
    """Every version, in the file's order."""

    current_version: Count
    """The number of the version being worked on."""

    @property
    def current(self) -> SkillVersion:
        """The version being worked on."""
        return next(v for v in self.versions if v.version == self.current_version)


def read_history(path: Path | str) -> SkillHistory:
    """The history of a skill."""
    history, reading = _read(read_document(path))
    reading.refuse_errors()
    if history is None:  # pragma: no cover - then there was an error
        raise AssertionError
    return history


def check_history(document: Document) -> Reading:
    """What is wrong with a `history.json`."""
    return _read(document)[1]


def _read(document: Document) -> tuple[SkillHistory | None, Reading]:
    reading = Reading(document)
    history = reading.record(SkillHistory, document.value)
    fields = document.value if isinstance(document.value, dict) else {}
    given = fields.get("versions")
    numbers: list[JsonValue] = []
    for index, version in enumerate(given if isinstance(given, list) else ()):
        if isinstance(version, dict):
            _check_version(version, numbers, ("versions", index), reading)
            numbers.append(version.get("version"))
    current = fields.get("current_version")
    if isinstance(current, int) and current not in numbers:
        known = ", ".join(str(number) for number in numbers[:20])
        message = f"no version has the number {current}"
        reading.add(("current_version",), message, f"known: {known}")
    return history, reading


def _check_version(
    version: JsonObject, before: list[JsonValue], at: KeyPath, reading: Reading
) -> None:
    number, score = version.get("version"), version.get("average_score")
    if isinstance(number, int) and number in before:
        reading.add((*at, "version"), f"the version {number} stands twice")
    if isinstance(score, int | float) and not _WORST <= score <= _BEST:
        shown = f"{score:g}" if abs(score) < _HUGE else "a huge number"
        message = f"`average_score` is {shown}, but scores are from 1 to 5"
        reading.add((*at, "average_score"), message)
