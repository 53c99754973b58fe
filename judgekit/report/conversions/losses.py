"""Finds what a conversion loses, by reading what was written and comparing case with case."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from judgekit.errors import InputError
from judgekit.fingerprint import canonical_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pydantic import JsonValue

    from judgekit.records.case import Case
    from judgekit.records.record import JsonObject

_LONGEST = 200
_DEEP = ("rubric", "evaluation")


def losses(before: Iterable[Case], read_again: Callable[[], Iterable[Case]]) -> Iterator[str]:
    """What cases say that the same cases, written and read again, do not."""
    # Something that is there only afterwards, such as a strategy that the form has to name, is no
    # loss.
    try:
        for case, again in zip_longest(before, read_again()):
            if case is None or again is None:
                what = "is not in the file" if again is None else "is only in the file"
                yield f"{(case or again).id}: the case {what}"
                return
            yield from (f"{case.id}: {path}" for path in _lost(case.to_json(), again.to_json()))
    except InputError as error:
        yield f"the file could not be read again: {error.message[:_LONGEST]}"


def _lost(before: JsonObject, after: JsonObject) -> Iterator[str]:
    """The fields of a case that are gone or altered; an empty one has nothing to lose."""
    for name, item in before.items():
        again = after.get(name)
        if name in _DEEP:
            yield from _altered(item, again, name)
        elif name == "metadata" and isinstance(item, dict) and isinstance(again, dict):
            yield from (f"metadata.{key}" for key in item if not _same(item[key], again.get(key)))
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
