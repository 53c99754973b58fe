"""Says why a request is a miss: which part of it differs from the nearest request that is owned."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.errors import UnknownNameError
from judgekit.fingerprint import canonical_json
from judgekit.models.request import ModelRequest

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.models.cache.interface import ReplyCache
    from judgekit.records.record import JsonObject

_MAX_DIFF_LINES = 40
_MAX_DIFF_CHARACTERS = 40_000
_SHORT = 200
_ABSENT = "(absent)"


@dataclass(frozen=True, slots=True)
class KeyDifference:
    """One part of the key that is not the same."""

    part: str
    """Its name: `model`, `parameters.temperature`, `messages[1].content`, `reply_schema`, …."""

    asked: str
    """What is asked now, as JSON, shortened; `(absent)` where there is none."""

    held: str
    """What the nearest entry was asked, in the same form."""

    diff: str | None = None
    """For longer texts, a unified diff from held to asked, shortened."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether a request is owned, and if not, how far it is from what is."""

    key: str
    """The key of the request."""

    is_hit: bool
    """Whether a reply would be served."""

    n_rejected: int
    """Replies that were paid for under this key but may not be served."""

    nearest: str | None
    """The key of the nearest other entry; None when there is none."""

    differences: tuple[KeyDifference, ...]
    """The parts that differ from the nearest entry; empty when there is none."""

    n_compared: int
    """Entries that were compared."""


def explain(cache: ReplyCache, request: ModelRequest | str, *, limit: int = 20_000) -> Explanation:
    """Why a request is a hit or a miss."""
    # The nearest entry has the most equal parts; among equals, the longest common beginnings and
    # ends of the texts that differ.
    key, asked = _parts_of(cache, request)
    nearest: str | None = None
    nearest_parts: dict[str, str] = {}
    best = (-1, -1)
    n_compared = 0
    for other in cache.keys():  # noqa: SIM118 - a cache is no dict
        if n_compared == limit:
            break
        parts = None if other == key else cache.request_parts(other)
        if parts is None:
            continue
        n_compared += 1
        held = _named_parts(parts)
        score = _nearness(asked, held, best)
        if score > best:
            nearest, nearest_parts, best = other, held, score
    return Explanation(
        key=key,
        is_hit=key in cache,
        n_rejected=len(cache.rejected(key)),
        nearest=nearest,
        differences=() if nearest is None else _differences(asked, nearest_parts),
        n_compared=n_compared,
    )


def _parts_of(cache: ReplyCache, request: ModelRequest | str) -> tuple[str, dict[str, str]]:
    if isinstance(request, ModelRequest):
        return request.key, _named_parts(request.key_parts)
    parts = cache.request_parts(request)
    if parts is None:
        raise UnknownNameError("cached request", request, _first_keys(cache))
    return request, _named_parts(parts)


def _first_keys(cache: ReplyCache) -> list[str]:
    return [key for key, _ in zip(cache.keys(), range(5), strict=False)]


def _named_parts(parts: JsonObject) -> dict[str, str]:
    named: dict[str, str] = {}
    for name, value in parts.items():
        if name == "parameters" and isinstance(value, dict):
            named |= {f"parameters.{key}": canonical_json(each) for key, each in value.items()}
        elif name == "messages" and isinstance(value, list):
            named |= _message_parts(value)
        else:
            named[name] = canonical_json(value)
    return named


def _message_parts(messages: list[JsonValue]) -> dict[str, str]:
    return {
        f"messages[{number}].{field}": canonical_json(text)
        for number, message in enumerate(messages)
        if isinstance(message, dict)
        for field, text in message.items()
    }


def _nearness(
    asked: dict[str, str], held: dict[str, str], best: tuple[int, int]
) -> tuple[int, int]:
    names = asked.keys() | held.keys()
    differing = [name for name in names if asked.get(name) != held.get(name)]
    n_equal = len(names) - len(differing)
    if n_equal < best[0]:
        return n_equal, 0
    return n_equal, sum(_n_common(asked.get(name, ""), held.get(name, "")) for name in differing)


def _n_common(one: str, other: str) -> int:
    n_first = _n_first(one, other)
    return n_first + _n_first(one[n_first:][::-1], other[n_first:][::-1])


def _n_first(one: str, other: str) -> int:
    # Halving by slices: a loop over characters would take milliseconds for one long prompt.
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _differences(asked: dict[str, str], held: dict[str, str]) -> tuple[KeyDifference, ...]:
    return tuple(
        KeyDifference(
            part=name,
            asked=_shortened(asked.get(name, _ABSENT)),
            held=_shortened(held.get(name, _ABSENT)),
            diff=_diff(asked.get(name), held.get(name)),
        )
        for name in sorted(asked.keys() | held.keys())
        if asked.get(name) != held.get(name)
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}…"


def _diff(asked: str | None, held: str | None) -> str | None:
    if asked is None or held is None or max(len(asked), len(held)) <= _SHORT:
        return None
    lines = list(
        difflib.unified_diff(_lines(held), _lines(asked), "held", "asked", n=1, lineterm="")
    )
    if len(lines) > _MAX_DIFF_LINES:
        n_more = len(lines) - _MAX_DIFF_LINES
        lines = [*lines[:_MAX_DIFF_LINES], f"… and {n_more} more lines"]
    return "\n".join(map(_shortened, lines))


def _lines(canonical: str) -> list[str]:
    value = json.loads(canonical)
    text = value if isinstance(value, str) else json.dumps(value, indent=2, sort_keys=True)
    return text[:_MAX_DIFF_CHARACTERS].splitlines()
