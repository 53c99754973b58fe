"""The shape of a JSON value, and the figures and decisions in it."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 2
"""Of a longer list, the values of its first entries are pinned; its shape is that of all."""

_UNREPEATED = re.compile(
    r"(_at|_on|duration_ms|duration_s|seconds|elapsed|bytes|size|pid|folder|fingerprint|version)$"
)
_PROSE = re.compile(
    r"(config|case|cases|input|reference|context|question|scoring_guide|description|rationale|text"
    r"|title|message|hint|note|notes|reason|name|tags|method|scale|environment|versions)$"
)
"""What is no decision of judgekit's, or words that may be put better."""

_WORD = re.compile(r"[\w.@:+/-]{1,64}")


def plain(value: Any) -> Any:
    """A record or a result of statistics as JSON; of another object its type."""
    if hasattr(value, "to_json"):
        return json.loads(json.dumps(value.to_json()))
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if isinstance(value, str | int | float | None) else type(value).__name__


def shape(value: object) -> dict[str, str]:
    """Every path in a JSON value and the types found there; the entries of a list are one path."""
    kinds: dict[str, set[str]] = {}
    for path, kind in _kinds(value, ""):
        kinds.setdefault(path, set()).add(kind)
    return {path: " | ".join(sorted(found)) for path, found in sorted(kinds.items())}


def merged(one: dict[str, str], other: dict[str, str]) -> dict[str, str]:
    """The shape of two answers of one command: what is in either."""
    both = {
        path: {*one.get(path, "").split(" | "), *other.get(path, "").split(" | ")} - {""}
        for path in one | other
    }
    return {path: " | ".join(sorted(kinds)) for path, kinds in sorted(both.items())}


def figures(value: object) -> dict[str, Any]:
    """The numbers, truth values and one-word answers in a JSON value, by path; nulls are not."""
    return dict(_figures(value, ""))


def _kinds(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        yield path or ".", "object"
        for name, item in value.items():
            yield from _kinds(item, f"{path}.{name}")
    elif isinstance(value, list):
        yield path or ".", "list"
        for item in value:
            yield from _kinds(item, f"{path}[]")
    else:
        kind = "null" if value is None else type(value).__name__
        yield path or ".", "number" if kind in {"int", "float"} else kind


def _figures(value: object, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and {"value", "low", "high"} <= value.keys():
        yield path or ".", _estimate(value)
    elif isinstance(value, dict):
        for name, item in value.items():
            if not _UNREPEATED.search(name) and not _PROSE.fullmatch(name):
                yield from _figures(item, f"{path}.{name}")
    elif isinstance(value, list):
        yield f"{path}.length", len(value)
        for place, item in enumerate(value[:MOST]):
            yield from _figures(item, f"{path}[{place}]")
    elif not isinstance(value, str | None) or _WORD.fullmatch(value or ""):
        yield path or ".", value


_NOTHING = 1e-14
"""What is nearer to 0 is what a machine's rounding leaves of it."""


def _estimate(value: dict[str, Any]) -> str:
    """An estimate in one line: what of it is a number."""
    numbers = {name: item for name, item in value.items() if isinstance(item, int | float)}
    found = {name: 0.0 if abs(item) < _NOTHING else float(item) for name, item in numbers.items()}
    shown = (f"{name} {number:.8g}" for name, number in found.items() if name != "level")
    return ", ".join(shown) or "none"
