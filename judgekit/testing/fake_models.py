"""Fake judge models for tests, without network or keys.

`ScriptedModel` gives scripted replies, `FlawedModel` judges correctly but for the faults it is
given.
"""

from __future__ import annotations

import json
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields

from judgekit.errors import InputError
from judgekit.models import (
    PREFERENCE_CHOICES,
    BiasedModel,
    Biases,
    SchemaFiller,
    allowed_scores,
    contains_instruction,
    fenced_outputs,
    nearest_score,
    typed_score,
)
from judgekit.models.request import CHARACTERS_PER_TOKEN, ModelReply, ModelRequest
from judgekit.records import JsonObject, Usage

__all__ = ["BiasedModel", "Biases", "Faults", "FlawedModel", "Script", "ScriptedModel"]
ScriptedAnswer = str | ModelReply | Exception
"""One step of a script: a text, a whole reply, or an error that is raised."""

Script = (
    ScriptedAnswer
    | Sequence[ScriptedAnswer]
    | Mapping[str, ScriptedAnswer]
    | Callable[[ModelRequest], ScriptedAnswer]
)
"""The replies of a `ScriptedModel`: one, a sequence, by subject, or computed."""

TrueValues = float | Mapping[str, float] | Callable[[str | None, str | None, str | None], float]
"""True values on [0, 1]: one for all, by name, or from case, variant and criterion."""

# Characters from which a verbosity-loving judge is fully impressed.
_LONG_CHARACTERS = 2_000

_REFUSAL = "I'm sorry, but I can't help with evaluating this content."


class ScriptedModel:
    """Gives scripted replies and keeps its requests.

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
            request: The request; it is appended to `requests`.

        Returns:
            The answer; a text ends with `stop`.

        Raises:
            InputError: When the script has no answer to it.
            Exception: The exception in the script.
        """
        # Recorded before anything can fail, so that a test sees refused requests too.
        self.requests.append(request)
        answer = self._answer(request)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, ModelReply) else ModelReply(text=answer)

    def _answer(self, request: ModelRequest) -> ScriptedAnswer:
        replies = self._replies
        if isinstance(replies, str | ModelReply | Exception):
            return replies
        if isinstance(replies, Mapping):
            case, criterion = request.subject.case_id, request.subject.criterion
            # From the special to the general, so that one case can differ from the rest.
            for key in (f"{case}/{criterion}", criterion, case):
                if key is not None and key in replies:
                    return replies[key]
            raise InputError(
                f"the script of {self.name!r} has no reply about {_about(request)}",
                hint=f"it has replies about {', '.join(sorted(replies))}",
            )
        if callable(replies):
            return replies(request)
        if len(self.requests) > len(replies):
            raise InputError(
                f"the script of {self.name!r} has {len(replies)} replies, and this is request "
                f"{len(self.requests)}, about {_about(request)}"
            )
        return replies[len(self.requests) - 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """The faults of a judge, each with how often it shows, from 0 (never) to 1 (always).

    Attributes:
        always_first: Prefers whatever it sees first.
        truncates: Is cut off in the middle of its reply.
        off_scale: Scores one above the top of the scale.
        refuses: Declines to judge.
        malformed: Writes JSON that does not close.
        echoes: Repeats the judged text in place of a verdict.
        two_answers: Gives two verdicts that differ.
        gullible: Gives its best score to a text that instructs it to.
        wrong: Gives another answer than the true one.
        verbosity: How far the length of a text, in place of its worth, decides: a weight, no rate.
        slow_s: How long a call takes, in seconds of virtual time.
    """

    always_first: float = 0.0
    truncates: float = 0.0
    off_scale: float = 0.0
    refuses: float = 0.0
    malformed: float = 0.0
    echoes: float = 0.0
    two_answers: float = 0.0
    gullible: float = 0.0
    wrong: float = 0.0
    verbosity: float = 0.0
    slow_s: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value < 0 or (field.name != "slow_s" and value > 1):
                raise InputError(f"the fault {field.name} is {value}, which is not in [0, 1]")


class FlawedModel:
    """A fair judge who knows the truth, with a dial for each fault; needs no network and no key.

    It reads from the request's schema what to answer: a score (listed or bounded points), a
    preference (an enumeration with `first`, `second` and `tie`), or several of them by
    criterion; and answers JSON of that shape. Whether a fault shows is drawn from the seed and
    the request, so that the same request always gets the same answer, in whatever order it comes.
    """

    def __init__(
        self,
        truth: TrueValues = 1.0,
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
        """Judge, with the faults it has."""
        self.requests.append(request)
        if self._sleep is not None and self.faults.slow_s:
            await self._sleep(self.faults.slow_s)
        schema = request.reply_schema
        if schema is None and _requested_form(request) is not None:
            schema = _FORM_SCHEMA
        if schema is None:
            raise InputError(f"{self.name!r} answers by a reply schema, and the request has none")
        # From the request and not from a sequence: concurrent calls finish in any order.
        draw = random.Random(f"{self.seed}:{request.key}:{request.subject.attempt}")
        text, finish_reason = self._say(request, schema, draw)
        return ModelReply(
            text=text,
            finish_reason=finish_reason,
            model=self.name,
            usage=Usage(
                input_tokens=request.n_characters // CHARACTERS_PER_TOKEN,
                output_tokens=len(text) // CHARACTERS_PER_TOKEN,
            ),
            duration_ms=self.faults.slow_s * 1000.0,
        )

    def _say(
        self, request: ModelRequest, schema: JsonObject, draw: random.Random
    ) -> tuple[str, str]:
        faults, verdict = self.faults, _FlawedVerdict(self, request, schema)
        if draw.random() < faults.refuses:
            return _REFUSAL, "stop"
        # Before the verdict is built: an echo must hold nothing but the judged text.
        if draw.random() < faults.echoes:
            return "\n".join(verdict.judged), "stop"
        text = verdict.text()
        if draw.random() < faults.truncates:
            # Two thirds of valid JSON is never valid JSON.
            return text[: len(text) * 2 // 3], "length"
        if draw.random() < faults.malformed:
            return text.rstrip("}"), "stop"
        if draw.random() < faults.two_answers:
            return f"{text}\n{verdict.text(other=True)}", "stop"
        return text, "stop"


class _FlawedVerdict:
    """One verdict in the making: what is scored and preferred, with the faults there are."""

    def __init__(self, model: FlawedModel, request: ModelRequest, schema: JsonObject) -> None:
        self._model = model
        self._request = request
        self._schema = schema
        self._salt = f"{model.seed}:{request.key}:{request.subject.attempt}"
        self.judged = list(model.judged(request))

    def text(self, *, other: bool = False) -> str:
        """The verdict as JSON; `other` gives one with different answers."""
        filling = SchemaFiller(
            self._schema,
            lambda schema, criterion: self._score(schema, criterion, other=other),
            lambda criterion: self._preference(criterion, other=other),
            self._request.subject.criterion,
        )
        answer = json.dumps(filling.fill(), ensure_ascii=False)
        form = _requested_form(self._request)
        if form is None:
            return answer
        verdict = json.loads(answer)
        # The text forms of published judge prompts, which have no JSON schema.
        why, choice = verdict["rationale"], verdict["preference"]
        if form == "two_scores":
            return (
                f"Evaluation evidence: {why}\nThe score of Assistant 1: {verdict['score_first']}\n"
                f"The score of Assistant 2: {verdict['score_second']}"
            )
        if form == "brackets":
            return f"{why} [[{_LETTERS[choice]}]]"
        if form == "letter":
            return _LETTERS[choice]
        output = "Output (b)" if choice == "second" else "Output (a)"  # no tie is allowed
        return output if form == "stated" else f"{why} Therefore, {output} is better."

    def _score(self, schema: JsonObject, criterion: str | None, *, other: bool) -> float:
        faults, subject = self._model.faults, self._request.subject
        # One generator for each criterion: a fault of one must not change the draws of the next.
        draw = random.Random(f"{self._salt}:{criterion}")
        value = self._seen_value(subject.variant, criterion, "\n".join(self.judged), draw)
        points = allowed_scores(schema, value, self._model.scale)
        score = nearest_score(points, value)
        if draw.random() < faults.off_scale:
            # One above the top: the most common slip of real judges, and never a valid point.
            score = points[-1] + 1
        if (draw.random() < faults.wrong) != other:
            # Another point than the true one, so that a rate of 1 means always wrong.
            score = draw.choice([point for point in points if point != score])
        return typed_score(score, schema)

    def _preference(self, criterion: str | None, *, other: bool) -> str:
        faults = self._model.faults
        draw = random.Random(f"{self._salt}:{criterion}")
        # In the second order the texts have changed places, and their variants with them.
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
            answer = draw.choice(sorted(PREFERENCE_CHOICES - {answer}))
        return answer

    def _seen_value(
        self, variant: str | None, criterion: str | None, text: str, draw: random.Random
    ) -> float:
        """The true value, bent by the faults that the text appeals to."""
        faults = self._model.faults
        if draw.random() < faults.gullible and contains_instruction(text):
            return 1.0
        fair = _true_value(self._model.truth, self._request.subject.case_id, variant, criterion)
        impressed = min(1.0, len(text) / _LONG_CHARACTERS)
        return (1.0 - faults.verbosity) * fair + faults.verbosity * impressed


def _true_value(
    truth: TrueValues, case: str | None, variant: str | None, criterion: str | None
) -> float:
    if isinstance(truth, Mapping):
        # The most specific name first: a test may state one exception to a general value.
        for key in (f"{case}/{variant}", variant, criterion, case):
            if key is not None and key in truth:
                return truth[key]
        raise InputError(
            f"the true value of case {case!r}, variant {variant!r}, criterion {criterion!r} "
            "is not known to the fake judge"
        )
    return truth(case, variant, criterion) if callable(truth) else truth


def _about(request: ModelRequest) -> str:
    subject = {k: v for k, v in request.subject.to_json().items() if v != 0}
    return ", ".join(f"{name} {value!r}" for name, value in subject.items()) or "nothing named"


_FORM_SCORES: JsonObject = {"type": "integer", "enum": [*range(1, 11)]}

_FORM_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "rationale": {"type": "string"},
        "score_first": _FORM_SCORES,
        "score_second": _FORM_SCORES,
        "preference": {"type": "string", "enum": ["first", "second", "tie"]},
    },
}

_LETTERS = {"first": "A", "second": "B", "tie": "C"}


def _requested_form(request: ModelRequest) -> str | None:
    if request.reply_schema is not None or request.subject.order is None:
        return None
    question = request.messages[-1]["content"]
    for mark, form in (
        ("The score of Assistant 1:", "two_scores"),
        ('"[[A]]"', "brackets"),
        ("Therefore, Output (a)", "reasoned"),
        ('"Output (a)"', "stated"),
        ("the letter A, B or C", "letter"),
    ):
        if mark in question:
            return form
    return None
