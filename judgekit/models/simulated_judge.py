"""A simulated judge with one setting for each bias, on which the bias audit tests itself."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Literal, cast

from pydantic import JsonValue

from judgekit.errors import InputError
from judgekit.models.request import ModelReply, ModelRequest
from judgekit.records import JsonObject

OutputValue = float | Callable[[str | None], float]
"""What outputs are worth on [0, 1]: one for all, or by the id of the case."""

InjectedGoal = Literal["max", "min", "unscored", "chosen"]
"""The instruction in a text: give it the best score, the worst, no score, or choose it."""

_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_BULLET = re.compile(r"^[-*] ", re.MULTILINE)
_BOLD = re.compile(r"\*\*[^*\n]+\*\*")

_CLAIM = re.compile(
    r"\b(?:reviewed|verified|confirmed|approved|endorsed)\b[^.]{0,60}"
    r"\b(?:experts?|specialists?|professors?)\b",
    re.IGNORECASE,
)

# Words from which a text is long.
_LONG_WORDS = 120

# The value that a judge who keeps to one score gives.
_FAVOURITE = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Biases:
    """The biases of a judge, each with how often it shows, from 0 (never) to 1 (always)."""

    position: float = 0.0
    """Chooses the output shown first, whatever it is."""

    hairsplitting: float = 0.0
    """Finds one of two equal texts better."""

    verbosity: float = 0.0
    """Gives its best score to a text of 120 words or more."""

    formatting: float = 0.0
    """Gives its best score to a text with headings, bullets and bold words."""

    authority: float = 0.0
    """Gives its best score to a text that claims to be verified by experts."""

    self_preference: float = 0.0
    """Gives its best score to a text that claims to be written by the judge's own family."""

    wording: float = 0.0
    """Scores as the words of its instructions move it, in place of the output."""

    criterion_order: float = 0.0
    """Gives its best score to the criterion that is listed first of several."""

    alone: float = 0.0
    """Gives its best score to a criterion that is the only one of its call."""

    clumping: float = 0.0
    """Gives the same score to everything."""

    moods: float = 0.0
    """Scores at random at each request."""

    gullible: float = 0.0
    """Follows instructions in a text: gives its best score, its worst, or no answer."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if not 0 <= getattr(self, field.name) <= 1:
                value = getattr(self, field.name)
                raise InputError(f"the bias {field.name} is {value}, which is not in [0, 1]")


_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instruction|above|previous|prior|rubric)"
    r"|\b(?:give|award|assign|rate|score)\b.{0,40}\b(?:full|highest|maximum|perfect|top|best)\b"
    r'|"score"\s*:|\[\[',
    re.IGNORECASE | re.DOTALL,
)


def contains_instruction(text: str) -> bool:
    """Whether a text instructs its judge, as the simplest attacks do."""
    return _INSTRUCTION.search(text) is not None


class BiasedModel:
    """A judge who knows what outputs are worth, with a dial for each bias; needs no key.

    It scores every text of a case alike and calls every two texts of a case a tie, but for its
    biases. Whether one shows is drawn from the seed and the request, so that the same request
    always gets the same answer.
    """

    def __init__(
        self,
        worth: OutputValue = 0.5,
        *,
        biases: Biases | None = None,
        own: str = "GPT",
        seed: int = 0,
        obeys: Callable[[str], InjectedGoal | bool | None] = contains_instruction,
        name: str = "biased",
    ) -> None:
        self.worth = worth
        self.biases = biases or Biases()
        self.own = own
        self.seed = seed
        self.obeys = obeys
        self.name = name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Judge, with the biases it has."""
        return self.reply(request)

    def reply(self, request: ModelRequest) -> ModelReply:
        """`complete`, for callers that are not asynchronous."""
        if request.reply_schema is None:
            raise InputError(f"{self.name!r} answers by a reply schema, and the request has none")
        mind = _BiasedVerdict(self, request, request.reply_schema)
        if mind.is_silenced():
            return ModelReply(text="banana", model=self.name, cost_usd=0.0)
        filling = SchemaFiller(
            request.reply_schema, mind.score, mind.prefer, request.subject.criterion
        )
        return ModelReply(text=json.dumps(filling.fill()), model=self.name, cost_usd=0.0)


class _BiasedVerdict:
    def __init__(self, judge: BiasedModel, request: ModelRequest, schema: JsonObject) -> None:
        self._judge = judge
        self._request = request
        self._texts = fenced_outputs(request)
        properties = cast("JsonObject", schema.get("properties", {}))
        criteria = cast("JsonObject", properties.get("criteria", {}))
        listed = cast("JsonObject", criteria.get("properties", {}))
        self._first = next(iter(listed)) if len(listed) > 1 else None
        self._is_joint = bool(listed)

    def is_silenced(self) -> bool:
        return self._is_moved("gullible", None) and any(
            self._judge.obeys(text) == "unscored" for text in self._texts
        )

    def score(self, schema: JsonObject, criterion: str | None) -> float:
        value = self._seen(self._texts[0], criterion)
        biases, case = self._judge.biases, self._request.subject.case_id
        # Drawn by case, not by request: rewording the prompt must not move this bias.
        early = f"{case}:{criterion}"
        is_early = criterion == self._first and criterion is not None
        if is_early and self._draw("criterion_order", early).random() < biases.criterion_order:
            value = 1.0
        is_alone = not self._is_joint and biases.alone > 0
        if is_alone and self._draw("alone", early).random() < biases.alone:
            value = 1.0
        # Drawn from the system message: only a change of wording changes the score.
        mood = f"{self._request.messages[0]['content']}:{case}:{criterion}"
        if self._draw("wording", mood).random() < biases.wording:
            value = self._draw("worded", mood).random()
        if self._is_moved("moods", criterion):
            value = self._draw("mood", f"{self._request.key}:{criterion}").random()
        if self._is_moved("clumping", criterion):
            value = _FAVOURITE
        return typed_score(nearest_score(allowed_scores(schema, value), value), schema)

    def prefer(self, criterion: str | None) -> str:
        first, second = self._texts[:2]
        # Two equal texts stay a tie, so that the probe for hair-splitting sees its own bias only.
        if self._is_moved("position", criterion) and first != second:
            return "first"
        if self._is_moved("hairsplitting", criterion) and first == second:
            return self._draw("hair", self._request.key).choice(["first", "second"])
        values = self._seen(first, criterion), self._seen(second, criterion)
        return "tie" if values[0] == values[1] else "first" if values[0] > values[1] else "second"

    def _seen(self, text: str, criterion: str | None) -> float:
        """What a text is worth to it; the best where the text appeals to a bias."""
        moved = [name for name in _APPEALS if self._is_moved(name, criterion)]
        if any(_APPEALS[name](text, self._judge.own) for name in moved):
            return 1.0
        if self._is_moved("gullible", criterion):
            goal = self._judge.obeys(text)
            if goal is True or goal == "max" or (goal == "chosen" and len(self._texts) > 1):
                return 1.0
            if goal == "min":
                return 0.0
        worth = self._judge.worth
        return worth(self._request.subject.case_id) if callable(worth) else worth

    def _is_moved(self, bias: str, criterion: str | None) -> bool:
        dial = cast("float", getattr(self._judge.biases, bias))
        # The same at each call: of two outputs both are seen so, or neither.
        return dial > 0 and self._draw(bias, f"{self._request.key}:{criterion}").random() < dial

    def _draw(self, what: str, on: str) -> random.Random:
        # A generator for each purpose: drawing one bias must not change what is drawn for the next.
        return random.Random(f"{self._judge.seed}:{what}:{on}")


# What a text has that appeals to a bias, from the text and the judge's own family.
_APPEALS: Mapping[str, Callable[[str, str], bool]] = {
    "verbosity": lambda text, _: len(text.split()) >= _LONG_WORDS,
    "formatting": lambda text, _: all(form.search(text) for form in (_HEADING, _BULLET, _BOLD)),
    "authority": lambda text, _: _CLAIM.search(text) is not None,
    "self_preference": lambda text, own: f"written by {own}" in text,
}

PREFERENCE_CHOICES = frozenset({"first", "second", "tie"})

_SIDES = ("score_first", "score_second")
_BETTER, _WORSE, _EVEN = 0.8, 0.35, 0.65
"""How far up the scale the preferred side stands, the other one, and two that are alike."""

_TEXT = "The answer deserves this and not the next better one."
_BARE, _WORDLESS = frozenset({"type", "items"}), ("string", "array", "boolean")
"""Keys of a part that leaves nothing to decide, and its types; most parts of a schema are so."""

# Keys that hold the answer itself; under any other key the key is the criterion's name.
_ANSWERS = frozenset({"score", "preference", "winner", "choice", "verdict", *_SIDES})


@dataclass(frozen=True, slots=True)
class SchemaFiller:
    """One reply in the making: walks the schema and fills it."""

    schema: JsonObject
    score: Callable[[JsonObject, str | None], float]
    """Gives a score, from the part of the schema that bounds it and the criterion it is of."""

    prefer: Callable[[str | None], str]
    criterion: str | None = None
    """The criterion, where the schema names none."""

    def fill(self) -> JsonValue:
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
        if {v for v in _enumerated(schema) if isinstance(v, str)} >= PREFERENCE_CHOICES:
            return self.prefer(self._criterion(path))
        kind, key = _schema_type(schema), path[-1] if path else ""
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
        return typed_score(nearest_score(allowed_scores(schema, place), place), schema)

    def _criterion(self, path: tuple[str, ...]) -> str | None:
        names = path[:-1] if path and path[-1] in _ANSWERS else path
        return names[-1] if names else self.criterion


def allowed_scores(
    schema: JsonObject, value: float, scale: tuple[float, float] = (1.0, 5.0)
) -> list[float]:
    listed = [v for v in _enumerated(schema) if isinstance(v, int | float) and v is not True]
    if listed:
        return sorted(listed)
    low = cast("float", schema.get("minimum", scale[0]))
    high = cast("float", schema.get("maximum", scale[1]))
    if _schema_type(schema) == "integer":
        return [float(n) for n in range(int(low), int(high) + 1)]
    return sorted({low, low + value * (high - low), high})


def nearest_score(points: list[float], value: float) -> float:
    target = points[0] + value * (points[-1] - points[0])
    return min(points, key=lambda point: abs(point - target))


def typed_score(score: float, schema: JsonObject) -> float:
    """A score as the schema wants it written."""
    return int(score) if float(score).is_integer() and _schema_type(schema) == "integer" else score


def _schema_type(schema: JsonObject) -> str:
    """The type a schema asks for; of several the first that is not null."""
    kind = schema.get("type", "string")
    kinds = kind if isinstance(kind, list) else [kind]
    return next((str(k) for k in kinds if k != "null"), "null")


def _enumerated(schema: JsonObject) -> list[JsonValue]:
    return cast("list[JsonValue]", schema.get("enum", []))


_FENCE = re.compile(
    r"^<(?:output[\w-]*|first|second) (\w+)>\n(.*?)\n</[\w-]+ \1>$", re.MULTILINE | re.DOTALL
)


def fenced_outputs(request: ModelRequest) -> list[str]:
    """The judged outputs in a request: what stands between their fences."""
    contents = [message["content"] for message in request.messages]
    found = [match[2] for content in contents for match in _FENCE.finditer(content)]
    return found or contents[-1:]
