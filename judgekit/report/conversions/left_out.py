"""Finds what a file says beside its cases that a form of cases has no place for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from judgekit.datasets.streaming import open_cases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.report.conversions.source import Source

_OF_TESTS = ("profile", "settings", "setup", "teardown", "suites")
_SKILL_TESTS = frozenset({"skill-tests", "skill-tests-v1"})
"""Forms that hold all of that, or count it among what is lost."""

_OF_CASES = frozenset({"test-case", "rubric", "rubric-criterion"})


def left_out(source: Source, path: Path, form: str) -> tuple[str, ...]:
    """What the converted file says, and the written one does not, though its cases are the same."""
    return tuple(_found(source, path, form))


def _found(source: Source, path: Path, form: str) -> Iterator[str]:
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
    if form != "quality":
        kinds = Counter(str(record["type"]) for record in source.quality_records)
        others = {kind: n for kind, n in kinds.items() if kind not in _OF_CASES}
        yield from (f"{n} {kind} record{'' if n == 1 else 's'}" for kind, n in others.items())


def _names_of(path: Path) -> set[str]:
    """What cases are called that have no name of their own: as their file, or a folder round it."""
    whole = path.absolute()
    return {whole.stem, *whole.parts}
