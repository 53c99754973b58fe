"""Decides which parameters and which form of reply a model is sent, and learns what it refuses."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from judgekit.models.provider_errors import Fault
from judgekit.models.reply_shape import read_reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import JsonValue

    from judgekit.models.request import ModelReply, ModelRequest
    from judgekit.records.record import JsonObject

ReplyForm = Literal["json_schema", "tool", "plain"]
"""How a reply schema is made known: natively, as the one tool to call, or by the prompt alone."""

TOOL_NAME = "reply"
"""The name of the schema, and of the tool whose arguments are the reply."""

_UNPROCESSABLE = frozenset({400, 422})
_ABOUT_THE_SCHEMA = re.compile(
    r"response_format|json[_ ]schema|structured output|guided|grammar", re.IGNORECASE
)
_ABOUT_TOOLS = re.compile(r"\btools?\b|tool_choice|function call", re.IGNORECASE)
_ABOUT_THE_VALUE = re.compile(
    r"\b(less|greater|at most|at least|between|out of range|minimum|maximum)\b|[<>]=?",
    re.IGNORECASE,
)
_COMMON_WORDS = frozenset({"stop", "n", "user"})


@dataclass(frozen=True, slots=True)
class Plan:
    """What is sent beside the messages."""

    parameters: dict[str, JsonValue]
    """Sampling parameters and, by the form, `response_format` or `tools` and `tool_choice`."""

    form: ReplyForm
    """How the reply schema is made known."""

    dropped: tuple[str, ...]
    """What was asked for and is not sent."""


class Send(Protocol):
    """Sends one plan once."""

    async def __call__(self, plan: Plan) -> object | Fault:
        """The parsed body of a successful answer, or the fault."""
        ...


class Negotiation:
    """What one model has refused so far."""

    def __init__(
        self, forms: tuple[ReplyForm, ...], accepts: Callable[[str], bool] = lambda _: True
    ) -> None:
        self._forms = forms
        self._accepts = accepts
        self._refused: set[str] = set()
        self._renamed: dict[str, str] = {}

    def plan(self, request: ModelRequest) -> Plan:
        """What to send for a request, as far as is known now."""
        parameters: dict[str, JsonValue] = {}
        dropped: list[str] = []
        for asked, value in request.parameters.items():
            name = self._renamed.get(asked, asked)
            if value is None:
                continue
            if name in self._refused or not self._accepts(name):
                dropped.append(asked)
            else:
                parameters[name] = value
        if "logprobs" in dropped and parameters.pop("top_logprobs", None) is not None:
            dropped.append("top_logprobs")  # it is an error without logprobs
        form = self._form(request.reply_schema)
        if request.reply_schema is not None:
            parameters |= _form_parameters(form, request.reply_schema)
            dropped += ["response_format"] if form == "plain" else []
        return Plan(parameters, form, tuple(dropped))

    def learns(self, fault: Fault, request: ModelRequest, plan: Plan) -> bool:
        """Take in why a plan was refused."""
        if fault.kind == "bad_request" and fault.status in _UNPROCESSABLE:
            if _blames_form(fault, plan.form):
                left = tuple(form for form in self._forms if form != plan.form)
                self._forms = left or self._forms
            else:
                self._refuse(_blamed(fault, plan))
        return self.plan(request) != plan

    def _form(self, schema: JsonObject | None) -> ReplyForm:
        if schema is None:
            return "plain"
        is_object = schema.get("type") == "object"
        return next((f for f in self._forms if is_object or f != "tool"), "plain")

    def _refuse(self, name: str | None) -> None:
        if name == "max_tokens":  # the newer name of it is worth a try before it goes
            self._renamed[name] = "max_completion_tokens"
        elif name is not None:
            self._refused.add(name)


async def converse(
    negotiation: Negotiation, request: ModelRequest, send: Send, *, provider: str
) -> ModelReply:
    """Ask once; again only where the provider refused a parameter or the form of the reply."""
    while True:
        plan = negotiation.plan(request)
        started = time.perf_counter()
        body = await send(plan)
        duration_ms = (time.perf_counter() - started) * 1000
        if isinstance(body, Fault):
            outcome: ModelReply | Fault = body
        else:
            outcome = read_reply(
                body,
                provider=provider,
                by_tool=plan.form == "tool",
                dropped=plan.dropped,
                duration_ms=duration_ms,
            )
        if not isinstance(outcome, Fault):
            return outcome
        if not negotiation.learns(outcome, request, plan):
            raise outcome.to_error()


def _form_parameters(form: ReplyForm, schema: JsonObject) -> dict[str, JsonValue]:
    if form == "json_schema":
        named: JsonObject = {"name": TOOL_NAME, "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    if form == "tool":
        function: JsonObject = {
            "name": TOOL_NAME,
            "description": "Give the whole reply by calling this function once.",
            "parameters": schema,
        }
        choice: JsonObject = {"type": "function", "function": {"name": TOOL_NAME}}
        return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
    return {}


def _blames_form(fault: Fault, form: ReplyForm) -> bool:
    words = f"{fault.parameter or ''} {fault.text}"
    if form == "json_schema":
        return _ABOUT_THE_SCHEMA.search(words) is not None
    return form == "tool" and _ABOUT_TOOLS.search(words) is not None


def _blamed(fault: Fault, plan: Plan) -> str | None:
    """The parameter a fault refuses; None when it objects to no name, or only to a value."""
    if _ABOUT_THE_VALUE.search(fault.text):
        return None
    if fault.parameter in plan.parameters:
        return fault.parameter
    plainly = {
        name: re.search(rf"[\"'`]{name}[\"'`]|\b{name}=", fault.text) for name in plan.parameters
    }
    loosely = {
        name: re.search(rf"\b{name}\b", fault.text)
        for name in plan.parameters
        if name not in _COMMON_WORDS
    }
    for found in (plainly, loosely):
        places = {name: match.start() for name, match in found.items() if match}
        if places:
            return min(places, key=lambda name: places[name])
    return None
