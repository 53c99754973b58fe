"""Models for tests: one that says what it is told, and a fair judge with a dial for each fault."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, cast

from judgekit.errors import InputError
from judgekit.models.request import ModelReply, ModelRequest
from judgekit.records.output import Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from pydantic import JsonValue

    from judgekit.records.record import JsonObject

Answer = str | ModelReply | Exception
"""What a script says at one point: a text, a whole reply, or an error that is raised."""

Script = Answer | Sequence[Answer] | Mapping[str, Answer] | Callable[[ModelRequest], Answer]
"""What a `ScriptedModel` says: one thing, one after the other, by subject, or as computed."""

Truth = float | Mapping[str, float] | Callable[[str | None, str | None, str | None], float]
"""True values on [0, 1]: one for all, by name, or from case, variant and criterion."""

_PREFERENCES = frozenset({"first", "second", "tie"})
_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instruction|above|previous|prior|rubric)"
    r"|\b(?:give|award|assign|rate|score)\b.{0,40}\b(?:full|highest|maximum|perfect|top|best)\b"
    r'|"score"\s*:|\[\[',
    re.IGNORECASE | re.DOTALL,
)
_FENCE = re.compile(
    r"^<(?:output[\w-]*|first|second) (\w+)>\n(.*?)\n</[\w-]+ \1>$", re.MULTILINE | re.DOTALL
)
_LONG = 2_000
"""Characters from which a verbosity-loving judge is fully impressed."""
_REFUSAL = "I'm sorry, but I can't help with evaluating this content."
_CHARACTERS_PER_TOKEN = 4
_ANSWERS = frozenset({"score", "preference", "winner", "choice", "verdict"})
"""Keys that hold the answer itself; under any other key the key is the criterion's name."""


class ScriptedModel:
    """Says what it is told and keeps what it was asked.

    Args:
        replies: One answer, given every time; or a sequence, one answer for each request; or a
            mapping from `case/criterion`, criterion or case id, looked up in this order; or a
            function of the request. An exception is raised instead of returned.
        name: How the model is called.
    """

    def __init__(self, replies: Script, *, name: str = "scripted") -> None:
        self._replies = replies
        self.name = name
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Give the next answer.

        Args:
            request: What is asked; it is kept in `requests`.

        Returns:
            The answer; a text ends with `stop`.

        Raises:
            InputError: When the script has no answer to it.
            Exception: Whatever the script says is to be raised.
        """
        self.requests.append(request)
        answer = self._answer(request)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, ModelReply) else ModelReply(text=answer)

    def _answer(self, request: ModelRequest) -> Answer:
        replies = self._replies
        if isinstance(replies, str | ModelReply | Exception):
            return replies
        if isinstance(replies, Mapping):
            return self._by_subject(replies, request)
        if callable(replies):
            return replies(request)
        if len(self.requests) > len(replies):
            raise InputError(
                f"the script of {self.name!r} has {len(replies)} replies, and this is request "
                f"{len(self.requests)}, about {_about(request)}"
            )
        return replies[len(self.requests) - 1]

    def _by_subject(self, replies: Mapping[str, Answer], request: ModelRequest) -> Answer:
        case, criterion = request.subject.case_id, request.subject.criterion
        for key in (f"{case}/{criterion}", criterion, case):
            if key is not None and key in replies:
                return replies[key]
        raise InputError(
            f"the script of {self.name!r} has no reply about {_about(request)}",
            hint=f"it has replies about {', '.join(sorted(replies))}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """The faults of a judge, each with how often it shows, from 0 (never) to 1 (always)."""

    always_first: float = 0.0
    """Prefers whatever it sees first."""

    truncates: float = 0.0
    """Is cut off in the middle of its reply."""

    off_scale: float = 0.0
    """Scores one above the top of the scale."""

    refuses: float = 0.0
    """Declines to judge."""

    malformed: float = 0.0
    """Writes JSON that does not close."""

    echoes: float = 0.0
    """Repeats the judged text in place of a verdict."""

    two_answers: float = 0.0
    """Gives two verdicts that differ."""

    gullible: float = 0.0
    """Gives its best score to a text that tells it to."""

    wrong: float = 0.0
    """Gives another answer than the true one."""

    verbosity: float = 0.0
    """How far the length of a text, in place of its worth, decides: not a rate but a weight."""

    slow_s: float = 0.0
    """How long a call takes, in seconds of virtual time."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value < 0 or (field.name != "slow_s" and value > 1):
                raise InputError(f"the fault {field.name} is {value}, which is not in [0, 1]")


class FlawedModel:
    """A fair judge who knows the truth, with a dial for each fault; needs no network and no key.

    It reads from the request's schema what is asked: a score (listed or bounded points), a
    preference (an enumeration with `first`, `second` and `tie`), or several of them by
    criterion; and answers JSON of that shape. Whether a fault shows is drawn from the seed and
    the request, so that the same request always gets the same answer, in whatever order it comes.

    Args:
        truth: True values on [0, 1]. As a mapping: by `case/variant`, variant, criterion or case
            id, looked up in this order. In comparisons the variants are `a` and `b`, and `ab`
            means that `a` is shown first.
        faults: Its faults; none by default.
        seed: Seed of the draws.
        scale: Lowest and highest score, where the schema names no bounds.
        judged: The judged texts of a request in the order shown; by default what stands between
            the fences of outputs in the messages.
        sleep: Awaited with `faults.slow_s` before each answer; a fake clock's sleep. Without it
            no time passes, and only the reply's duration says that the call was slow.
        name: How the model is called.
    """

    def __init__(
        self,
        truth: Truth = 1.0,
        *,
        faults: Faults | None = None,
        seed: int = 0,
        scale: tuple[float, float] = (1.0, 5.0),
        judged: Callable[[ModelRequest], Sequence[str]] | None = None,
        sleep: Callable[[float], Awaitable[None]] | None = None,
        name: str = "flawed",
    ) -> None:
        self.truth = truth
        self.faults = faults or Faults()
        self.seed = seed
        self.scale = scale
        self.judged = judged or fenced_outputs
        self._sleep = sleep
        self.name = name
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Judge, with the faults it has.

        Args:
            request: What is asked; it needs a reply schema.

        Returns:
            The verdict as JSON, or what a fault makes of it.

        Raises:
            InputError: When the request has no schema, or the truth is not known.
        """
        self.requests.append(request)
        if self._sleep is not None and self.faults.slow_s:
            await self._sleep(self.faults.slow_s)
        if request.reply_schema is None:
            raise InputError(f"{self.name!r} answers by a reply schema, and the request has none")
        draw = random.Random(f"{self.seed}:{request.key}:{request.subject.attempt}")
        text, finish_reason = self._say(request, request.reply_schema, draw)
        return ModelReply(
            text=text,
            finish_reason=finish_reason,
            model=self.name,
            usage=_usage(request, text),
            duration_ms=self.faults.slow_s * 1000.0,
        )

    def _say(
        self, request: ModelRequest, schema: JsonObject, draw: random.Random
    ) -> tuple[str, str]:
        faults, verdict = self.faults, _Verdict(self, request, schema)
        if draw.random() < faults.refuses:
            return _REFUSAL, "stop"
        if draw.random() < faults.echoes:
            return "\n".join(verdict.judged), "stop"
        text = verdict.text()
        if draw.random() < faults.truncates:
            return text[: len(text) * 2 // 3], "length"
        if draw.random() < faults.malformed:
            return text.rstrip("}"), "stop"
        if draw.random() < faults.two_answers:
            return f"{text}\n{verdict.text(other=True)}", "stop"
        return text, "stop"


def fenced_outputs(request: ModelRequest) -> list[str]:
    """The judged outputs in a request: what stands between their fences.

    Args:
        request: A request whose texts are fenced as `output…`, `first` or `second`.

    Returns:
        The texts in the order shown; the last message as a whole where there are no fences.
    """
    contents = [message["content"] for message in request.messages]
    found = [match[2] for content in contents for match in _FENCE.finditer(content)]
    return found or contents[-1:]


class _Verdict:
    """One verdict in the making: walks the schema and fills it."""

    def __init__(self, model: FlawedModel, request: ModelRequest, schema: JsonObject) -> None:
        self._model = model
        self._request = request
        self._schema = schema
        self._salt = f"{model.seed}:{request.key}:{request.subject.attempt}"
        self.judged = list(model.judged(request))

    def text(self, *, other: bool = False) -> str:
        """The verdict as JSON; `other` gives one with different answers."""
        return json.dumps(self._fill(self._schema, (), other=other), ensure_ascii=False)

    def _fill(self, schema: JsonObject, path: tuple[str, ...], *, other: bool) -> JsonValue:
        schema = self._plain(schema)
        if isinstance(properties := schema.get("properties"), dict):
            return {
                name: self._fill(cast("JsonObject", part), (*path, name), other=other)
                for name, part in properties.items()
            }
        if {v for v in _listed(schema) if isinstance(v, str)} >= _PREFERENCES:
            return self._preference(path, other=other)
        kind, key = _kind(schema), path[-1] if path else ""
        if kind in {"integer", "number"} and key != "confidence":
            return self._score(schema, path, other=other)
        filled: dict[str, JsonValue] = {
            "number": 0.9, "boolean": True, "array": [], "null": None, "object": {},
        }  # fmt: skip
        return filled.get(kind, "The answer deserves this and not the next better one.")

    def _plain(self, schema: JsonObject) -> JsonObject:
        """The schema behind a reference, and the first alternative that is not null."""
        if isinstance(name := schema.get("$ref"), str):
            places = cast("JsonObject", self._schema.get("$defs", {}))
            return self._plain(cast("JsonObject", places[name.rpartition("/")[2]]))
        choices = cast("list[JsonObject]", schema.get("anyOf", []))
        plain = next((choice for choice in choices if choice.get("type") != "null"), None)
        return schema if plain is None else self._plain(plain)

    def _score(self, schema: JsonObject, path: tuple[str, ...], *, other: bool) -> float:
        faults, subject = self._model.faults, self._request.subject
        criterion = self._criterion(path)
        draw = self._draw(criterion)
        value = self._seen_value(subject.variant, criterion, "\n".join(self.judged), draw)
        points = _points(schema, value, self._model.scale)
        target = points[0] + value * (points[-1] - points[0])
        score = min(points, key=lambda point: abs(point - target))
        if draw.random() < faults.off_scale:
            score = points[-1] + 1
        if (draw.random() < faults.wrong) != other:
            score = draw.choice([point for point in points if point != score])
        return int(score) if float(score).is_integer() and _kind(schema) == "integer" else score

    def _preference(self, path: tuple[str, ...], *, other: bool) -> str:
        faults = self._model.faults
        criterion = self._criterion(path)
        draw = self._draw(criterion)
        sides = "ba" if self._request.subject.order == "ba" else "ab"
        texts = (*self.judged, "", "")[:2]
        first, second = (
            self._seen_value(side, criterion, text, draw)
            for side, text in zip(sides, texts, strict=True)
        )
        answer = "tie" if first == second else "first" if first > second else "second"
        if draw.random() < faults.always_first:
            answer = "first"
        if (draw.random() < faults.wrong) != other:
            answer = draw.choice(sorted(_PREFERENCES - {answer}))
        return answer

    def _criterion(self, path: tuple[str, ...]) -> str | None:
        names = path[:-1] if path and path[-1] in _ANSWERS else path
        return names[-1] if names else self._request.subject.criterion

    def _draw(self, criterion: str | None) -> random.Random:
        return random.Random(f"{self._salt}:{criterion}")

    def _seen_value(
        self, variant: str | None, criterion: str | None, text: str, draw: random.Random
    ) -> float:
        """The true value, bent by the faults that the text appeals to."""
        faults = self._model.faults
        if draw.random() < faults.gullible and _INSTRUCTION.search(text):
            return 1.0
        fair = _true_value(self._model.truth, self._request.subject.case_id, variant, criterion)
        impressed = min(1.0, len(text) / _LONG)
        return (1.0 - faults.verbosity) * fair + faults.verbosity * impressed


def _true_value(
    truth: Truth, case: str | None, variant: str | None, criterion: str | None
) -> float:
    if isinstance(truth, Mapping):
        for key in (f"{case}/{variant}", variant, criterion, case):
            if key is not None and key in truth:
                return truth[key]
        raise InputError(
            f"the true value of case {case!r}, variant {variant!r}, criterion {criterion!r} "
            "is not known to the fake judge"
        )
    return truth(case, variant, criterion) if callable(truth) else truth


def _points(schema: JsonObject, value: float, scale: tuple[float, float]) -> list[float]:
    """The scores a schema allows, worst first; without a list, its ends and the true one."""
    listed = [v for v in _listed(schema) if isinstance(v, int | float) and v is not True]
    if listed:
        return sorted(listed)
    low = cast("float", schema.get("minimum", scale[0]))
    high = cast("float", schema.get("maximum", scale[1]))
    if _kind(schema) == "integer":
        return [float(n) for n in range(int(low), int(high) + 1)]
    return sorted({low, low + value * (high - low), high})


def _listed(schema: JsonObject) -> list[JsonValue]:
    return cast("list[JsonValue]", schema.get("enum", []))


def _kind(schema: JsonObject) -> str:
    kind = schema.get("type", "string")
    kinds = kind if isinstance(kind, list) else [kind]
    return next((str(k) for k in kinds if k != "null"), "null")


def _usage(request: ModelRequest, text: str) -> Usage:
    sent = sum(len(message["content"]) for message in request.messages)
    return Usage(
        input_tokens=sent // _CHARACTERS_PER_TOKEN, output_tokens=len(text) // _CHARACTERS_PER_TOKEN
    )


def _about(request: ModelRequest) -> str:
    said = {k: v for k, v in request.subject.to_json().items() if v != 0}
    return ", ".join(f"{name} {value!r}" for name, value in said.items()) or "nothing named"
