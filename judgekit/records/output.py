"""The record of what a system produced for a case: text or data, trace, usage and error."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import AliasChoices, ConfigDict, Field, model_validator

from judgekit.fingerprint import omit_at_default
from judgekit.records.images import Content, EventContent, Image, images_in
from judgekit.records.record import Count, Finite, JsonObject, Name, Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.records.record import Coerced

    _Trace = Coerced[tuple["TraceEvent", ...], Sequence["TraceEvent" | Mapping[str, Any]]]

TargetErrorKind = Literal[
    "timeout", "exit", "signal", "unreadable", "too_large", "connection", "http_status",
    "exception", "not_recorded", "model", "refused", "cancelled",
]  # fmt: skip
"""Why a system under test gave no output; a closed list, so that errors can be counted by kind."""

# What chat APIs call the fields of usage, and how they are called here.
_PROVIDER_NAMES = MappingProxyType(
    {
        "prompt_tokens": "input_tokens",
        "completion_tokens": "output_tokens",
        "total_tokens": "total_tokens",
    }
)

# The details in chat APIs' usage: the group and the name there, and the field here.
_PROVIDER_DETAILS = (
    ("prompt_tokens_details", "cached_tokens", "cached_input_tokens"),
    ("prompt_tokens_details", "cache_write_tokens", "cache_write_tokens"),
    ("prompt_tokens_details", "cache_creation_tokens", "cache_write_tokens"),
    ("completion_tokens_details", "reasoning_tokens", "reasoning_tokens"),
)


class Usage(Record):
    """Tokens and money of one or more model calls."""

    input_tokens: Count = 0
    """Tokens sent, cached ones included."""

    output_tokens: Count = 0
    """Tokens received, hidden reasoning included."""

    cached_input_tokens: Count = 0
    """Of the tokens sent, those the provider had in its prompt cache."""

    cache_write_tokens: Count | None = None
    """Of the tokens sent, those the provider put into its prompt cache; None when unknown."""

    reasoning_tokens: Count = 0
    """Of the tokens received, hidden reasoning."""

    cost_usd: Finite | None = None
    """Cost in US dollars; None when unknown, which is not zero."""

    @model_validator(mode="before")
    @classmethod
    def _from_provider_names(cls, usage: object) -> object:
        """Accept usage as chat APIs report it; the total is dropped, as it is the sum."""
        if not isinstance(usage, dict) or usage.keys().isdisjoint(_PROVIDER_NAMES):
            return usage
        own: dict[str, object] = {}
        for name, value in usage.items():
            own[_PROVIDER_NAMES.get(name, name)] = value
        if len(own) < len(usage):  # one field under two names: validation reports it
            return usage
        for details, name, ours in _PROVIDER_DETAILS:
            part = usage.get(details)
            own.pop(details, None)
            if isinstance(part, dict) and part.get(name) is not None:
                own.setdefault(ours, part[name])
        own.pop("total_tokens", None)
        return own


def total_cost(costs: Iterable[float | None]) -> float | None:
    """The sum of some costs; None where one is unknown."""
    # A sum without the unknown ones would look like the whole cost.
    listed = list(costs)
    known = [cost for cost in listed if cost is not None]
    return sum(known) if len(known) == len(listed) else None


class TraceEvent(Record):
    """One thing that happened while the output was made (S1.6), in the order it happened.

    Further fields of an event are kept unchanged.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    type: Name
    """What happened: `message`, `tool_call`, `tool_result`, `agent:complete`, `error`, ….

    `recording:linked` names a recording and its mode (record, replay or live).
    """

    name: str | None = None
    """What it is called, such as the tool."""

    content: EventContent = None
    """Its content: a text, the arguments of a call, a result."""

    @model_validator(mode="after")
    def _links_a_recording(self) -> Self:
        fields = self.model_extra or {}
        if self.type != "recording:linked":
            return self
        if (mode := fields.get("mode", "live")) not in {"record", "replay", "live"}:
            raise ValueError(f"the `mode` of a recording is record, replay or live, not {mode!r}")
        for name in ("runId", "nodeId", "providerType", "recordingId"):
            if not isinstance(fields.get(name, ""), str):
                raise ValueError(f"the `{name}` of a recording must be a text")  # noqa: TRY004
        return self


_CONTENT = attrgetter("content")


class Output(Record):
    """What one variant produced for one case; never altered."""

    text: str | None = None
    """The answer."""

    data: Content = None
    """The structured result, instead of a text or in addition to it: also `{"messages": […]}`."""

    if TYPE_CHECKING:
        trace: _Trace = ()  # type: ignore[assignment]  # the type that it is read as
    else:
        trace: tuple[TraceEvent, ...] = ()
    """What happened while it was produced: messages, tool calls, errors."""

    usage: Usage | None = None
    """Tokens and cost of producing it."""

    duration_ms: Finite | None = None
    """Time it took, in milliseconds."""

    error: str | None = None
    """Why there is no output; an output with an error is not judged."""

    error_kind: TargetErrorKind | None = None
    """What kind of error it is, where judgekit ran the system under test."""

    case_id: str | None = None
    """The case it answers, where the output came from a file."""

    variant: str | None = None
    """The version that produced it, where the output came from a file."""

    run_id: str | None = None
    """The system's own id of the run that produced it."""

    metadata: JsonObject = Field(default_factory=dict)
    """Further fields of the file."""

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        if self.text is None and self.data is None and self.error is None and not self.trace:
            raise ValueError("an output needs a text, data, a trace or an error")
        return self

    @property
    def images(self) -> tuple[Image, ...]:
        """The images of its data and of its trace."""
        return images_in(self.data, *map(_CONTENT, self.trace))


MODEL_BY_NODE = AliasChoices("model_by_node", "modelByNode")
"""The names under which a variant's models are read; `modelByNode` is that of S1 files."""

PROVIDER_BY_NODE = AliasChoices("provider_by_node", "providerTypeByNode")
"""The names under which a variant's providers are read."""


class Variant(Record):
    """The version that produced outputs: a prompt, a model, an agent, a recorded file."""

    id: Name
    """Name of the variant; never shown to a judge."""

    model_by_node: dict[str, str] = Field(default_factory=dict, validation_alias=MODEL_BY_NODE)
    provider_by_node: dict[str, str] = Field(
        default_factory=dict, validation_alias=PROVIDER_BY_NODE
    )
    tags: tuple[str, ...] = ()
    prompt_version: str | None = None
    added_context_tokens: Count | None = None
    """Tokens of other text that it got in each case's context; None where none was added."""

    _without_defaults = omit_at_default("added_context_tokens")

    @property
    def base_id(self) -> str:
        """The variant of the suite that it is at one size of the context: `v1` of `v1@8k`."""
        if self.added_context_tokens is None:
            return self.id
        return self.id.removesuffix(f"@{size_name(self.added_context_tokens)}")


class VariantVersion(Record):
    """What distinguishes one version of a variant from the next."""

    fingerprint: Name
    """Fingerprint of everything that decides the variant's answers: its prompt with all includes,
    its model and parameters, its program, or the outputs themselves where they are recorded."""

    prompt_fingerprint: str | None = None
    """Fingerprint of the prompt with all includes; None where no prompt is named."""

    prompt: str | None = None
    model: str | None = None
    outputs: str | None = None


def size_name(n_tokens: int) -> str:
    """A number of tokens as suites write it: `8k` for 8,000."""
    return f"{n_tokens // 1000}k" if n_tokens and n_tokens % 1000 == 0 else str(n_tokens)
