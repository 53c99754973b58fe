"""Fills the JSON schema of a judge's reply for fake judges: the scores and choices are theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import JsonValue

    from judgekit.records.record import JsonObject

PREFERENCES = frozenset({"first", "second", "tie"})
"""What a preference is enumerated as."""

_SIDES = ("score_first", "score_second")
_BETTER, _WORSE, _EVEN = 0.8, 0.35, 0.65
"""How far up the scale the preferred side stands, the other one, and two that are alike."""

_TEXT = "The answer deserves this and not the next better one."

_BARE, _WORDLESS = frozenset({"type", "items"}), ("string", "array", "boolean")
"""Keys of a part that leaves nothing to decide, and its types; most parts of a schema are so."""

_ANSWERS = frozenset({"score", "preference", "winner", "choice", "verdict", *_SIDES})
"""Keys that hold the answer itself; under any other key the key is the criterion's name."""


@dataclass(frozen=True, slots=True)
class Filling:
    """One reply in the making: walks the schema and fills it."""

    schema: JsonObject
    """The whole schema."""

    score: Callable[[JsonObject, str | None], float]
    """Gives a score, from the part of the schema that bounds it and the criterion it is of."""

    prefer: Callable[[str | None], str]
    """Gives a preference, from the criterion it is about."""

    criterion: str | None = None
    """The criterion, where the schema names none."""

    def filled(self) -> JsonValue:
        """The reply."""
        return self._fill(self.schema, ())

    def _fill(self, schema: JsonObject, path: tuple[str, ...]) -> JsonValue:
        if schema.keys() <= _BARE and (kind := schema.get("type")) in _WORDLESS:
            return _TEXT if kind == "string" else [] if kind == "array" else True
        schema = self._plain(schema)
        if isinstance(properties := schema.get("properties"), dict):
            return {
                name: self._fill(cast("JsonObject", part), (*path, name))
                for name, part in properties.items()
            }
        if {v for v in _listed(schema) if isinstance(v, str)} >= PREFERENCES:
            return self.prefer(self._criterion(path))
        kind, key = kind_of(schema), path[-1] if path else ""
        if key in _SIDES:
            return self._side_score(schema, self._criterion(path), _SIDES.index(key))
        if kind in {"integer", "number"} and key != "confidence":
            return self.score(schema, self._criterion(path))
        filled: dict[str, JsonValue] = {
            "number": 0.9, "boolean": True, "array": [], "null": None, "object": {},
        }  # fmt: skip
        return filled.get(kind, _TEXT)

    def _plain(self, schema: JsonObject) -> JsonObject:
        """The schema behind a reference, and the first alternative that is not null."""
        if isinstance(name := schema.get("$ref"), str):
            places = cast("JsonObject", self.schema.get("$defs", {}))
            return self._plain(cast("JsonObject", places[name.rpartition("/")[2]]))
        choices = cast("list[JsonObject]", schema.get("anyOf", []))
        plain = next((choice for choice in choices if choice.get("type") != "null"), None)
        return schema if plain is None else self._plain(plain)

    def _side_score(self, schema: JsonObject, criterion: str | None, side: int) -> float:
        """The score of one of two sides: the preferred one has the higher, so that none differ."""
        choice = self.prefer(criterion)
        if choice == "tie":
            place = _EVEN
        else:
            place = _BETTER if (choice == "second") == bool(side) else _WORSE
        return written(nearest_point(score_points(schema, place), place), schema)

    def _criterion(self, path: tuple[str, ...]) -> str | None:
        names = path[:-1] if path and path[-1] in _ANSWERS else path
        return names[-1] if names else self.criterion


def score_points(
    schema: JsonObject, value: float, scale: tuple[float, float] = (1.0, 5.0)
) -> list[float]:
    """The scores a schema allows."""
    listed = [v for v in _listed(schema) if isinstance(v, int | float) and v is not True]
    if listed:
        return sorted(listed)
    low = cast("float", schema.get("minimum", scale[0]))
    high = cast("float", schema.get("maximum", scale[1]))
    if kind_of(schema) == "integer":
        return [float(n) for n in range(int(low), int(high) + 1)]
    return sorted({low, low + value * (high - low), high})


def nearest_point(points: list[float], value: float) -> float:
    """The score that is nearest to a value."""
    target = points[0] + value * (points[-1] - points[0])
    return min(points, key=lambda point: abs(point - target))


def written(score: float, schema: JsonObject) -> float:
    """A score as the schema wants it written."""
    return int(score) if float(score).is_integer() and kind_of(schema) == "integer" else score


def kind_of(schema: JsonObject) -> str:
    """The type a schema asks for; of several the first that is not null."""
    kind = schema.get("type", "string")
    kinds = kind if isinstance(kind, list) else [kind]
    return next((str(k) for k in kinds if k != "null"), "null")


def _listed(schema: JsonObject) -> list[JsonValue]:
    return cast("list[JsonValue]", schema.get("enum", []))
