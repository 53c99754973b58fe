"""A fair judge with a dial for each bias that `judgekit audit` looks for, to try the audit on."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, cast

from judgekit.errors import InputError
from judgekit.models.request import ModelReply, ModelRequest
from judgekit.models.schema_filling import Filling, nearest_point, score_points, written
from judgekit.models.scripted import fenced_outputs, looks_like_an_order

if TYPE_CHECKING:
    from judgekit.records.record import JsonObject

Worth = float | Callable[[str | None], float]
"""What outputs are worth on [0, 1]: one for all, or by the id of the case."""

Order = Literal["max", "min", "unscored", "chosen"]
"""What a text tells a judge to do: give it the best score, the worst, no score, or choose it."""

_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_BULLET = re.compile(r"^[-*] ", re.MULTILINE)
_BOLD = re.compile(r"\*\*[^*\n]+\*\*")
_CLAIM = re.compile(
    r"\b(?:reviewed|verified|confirmed|approved|endorsed)\b[^.]{0,60}"
    r"\b(?:experts?|specialists?|professors?)\b",
    re.IGNORECASE,
)
_LONG_WORDS = 120
"""Words from which a text is long."""

_FAVOURITE = 0.75
"""The value that a judge who keeps to one score gives."""


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
    """Gives its best score to a text that says experts have verified it."""

    self_preference: float = 0.0
    """Gives its best score to a text that says it was written by the judge's own family."""

    wording: float = 0.0
    """Scores as the words of its instructions move it, in place of the output."""

    criterion_order: float = 0.0
    """Gives its best score to the criterion that is listed first of several."""

    clumping: float = 0.0
    """Gives the same score to everything."""

    moods: float = 0.0
    """Scores at random, each time it is asked anew."""

    gullible: float = 0.0
    """Does what a text tells it to: gives its best score, its worst, or no answer."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if not 0 <= getattr(self, field.name) <= 1:
                value = getattr(self, field.name)
                raise InputError(f"the bias {field.name} is {value}, which is not in [0, 1]")


class BiasedModel:
    """A judge who knows what outputs are worth, with a dial for each bias; needs no key.

    It scores every text of a case alike and calls every two texts of a case a tie, but for its
    biases. Whether one shows is drawn from the seed and the request, so that the same request
    always gets the same answer.
    """

    def __init__(
        self,
        worth: Worth = 0.5,
        *,
        biases: Biases | None = None,
        own: str = "GPT",
        seed: int = 0,
        obeys: Callable[[str], Order | bool | None] = looks_like_an_order,
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
        mind = _Mind(self, request, request.reply_schema)
        if mind.is_silenced():
            return ModelReply(text="banana", model=self.name, cost_usd=0.0)
        filling = Filling(request.reply_schema, mind.score, mind.prefer, request.subject.criterion)
        return ModelReply(text=json.dumps(filling.filled()), model=self.name, cost_usd=0.0)


class _Mind:
    """What a biased judge makes of one request."""

    def __init__(self, judge: BiasedModel, request: ModelRequest, schema: JsonObject) -> None:
        self._judge = judge
        self._request = request
        self._texts = fenced_outputs(request)
        self._first = _first_of_several(schema)
        self._choices: dict[str | None, str] = {}
        self._moved: dict[tuple[str, str | None], bool] = {}

    def is_silenced(self) -> bool:
        if not self._is_moved("gullible", None):
            return False
        return any(self._judge.obeys(text) == "unscored" for text in self._texts)

    def score(self, schema: JsonObject, criterion: str | None) -> float:
        value = self._seen(self._texts[0], criterion)
        biases, case = self._judge.biases, self._request.subject.case_id
        early = f"{case}:{criterion}"
        is_early = criterion == self._first and criterion is not None
        if is_early and self._draw("criterion_order", early).random() < biases.criterion_order:
            value = 1.0
        mood = f"{self._request.messages[0]['content']}:{case}:{criterion}"
        if self._draw("wording", mood).random() < biases.wording:
            value = self._draw("worded", mood).random()
        if self._is_moved("moods", criterion):
            value = self._draw("mood", f"{self._request.key}:{criterion}").random()
        if self._is_moved("clumping", criterion):
            value = _FAVOURITE
        return written(nearest_point(score_points(schema, value), value), schema)

    def prefer(self, criterion: str | None) -> str:
        if criterion not in self._choices:  # a schema wants it once, and for a score of each side
            self._choices[criterion] = self._choice(criterion)
        return self._choices[criterion]

    def _choice(self, criterion: str | None) -> str:
        first, second = self._texts[:2]
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
            told = self._judge.obeys(text)
            if told is True or told == "max" or (told == "chosen" and len(self._texts) > 1):
                return 1.0
            if told == "min":
                return 0.0
        worth = self._judge.worth
        return worth(self._request.subject.case_id) if callable(worth) else worth

    def _is_moved(self, bias: str, criterion: str | None) -> bool:
        dial = cast("float", getattr(self._judge.biases, bias))
        if dial <= 0:
            return False
        if (bias, criterion) not in self._moved:  # of two outputs both are seen so, or neither
            drawn = self._draw(bias, f"{self._request.key}:{criterion}").random()
            self._moved[bias, criterion] = drawn < dial
        return self._moved[bias, criterion]

    def _draw(self, what: str, on: str) -> random.Random:
        return random.Random(f"{self._judge.seed}:{what}:{on}")


_APPEALS: Mapping[str, Callable[[str, str], bool]] = {
    "verbosity": lambda text, _: len(text.split()) >= _LONG_WORDS,
    "formatting": lambda text, _: all(form.search(text) for form in (_HEADING, _BULLET, _BOLD)),
    "authority": lambda text, _: _CLAIM.search(text) is not None,
    "self_preference": lambda text, own: f"written by {own}" in text,
}
"""What a text has that appeals to a bias, from the text and the judge's own family."""


def _first_of_several(schema: JsonObject) -> str | None:
    """The criterion a schema lists first; None where it asks about one thing only."""
    properties = cast("JsonObject", schema.get("properties", {}))
    criteria = cast("JsonObject", properties.get("criteria", {}))
    listed = cast("JsonObject", criteria.get("properties", {}))
    return next(iter(listed)) if len(listed) > 1 else None
