"""Reads samples of OpenAI's evals: messages as `input`, one or more good answers as `ideal`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, JsonValue

from judgekit.datasets.foreign.reading import Reading
from judgekit.datasets.foreign.shape import SnakeRecord
from judgekit.records.record import JsonObject, Name  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from judgekit.datasets.documents import Document


class Message(SnakeRecord):
    """One message of a conversation."""

    role: Name
    """Who says it."""

    content: JsonValue
    """What is said: a text, or a list of parts."""


class MessageSample(SnakeRecord):
    """One sample."""

    id: str | int | None = None
    """Its id, where it has one."""

    input: str | Annotated[tuple[Message, ...], Field(min_length=1)]
    """The conversation, or its only message."""

    ideal: str | tuple[str, ...] | None = None
    """A good answer, or several."""


def read_message_samples(document: Document) -> Reading:
    """The samples as cases, called `sample-1`, `sample-2`, … where they have no id."""
    # A conversation of one message becomes that message's text; of several good answers the
    # reference is a list, and the output may equal any.
    reading = Reading(document)
    value = document.value
    listed: JsonValue = value if isinstance(value, list) else [value]
    for at, item in reading.objects(listed, ()):
        sample = reading.record(MessageSample, item, at)
        if sample is not None:
            fallback = f"sample-{int(at[-1]) + 1}"
            reading.add_case(_fields(sample, item, fallback), at)
    return reading


def _fields(sample: MessageSample, item: JsonObject, fallback: str) -> JsonObject:
    asked = item["input"]
    if isinstance(sample.input, tuple) and len(sample.input) == 1:
        only = sample.input[0]
        if isinstance(only.content, str) and only.role == "user" and not only.extra:
            asked = only.content
    ideal = sample.ideal
    reference: JsonValue = [*ideal] if isinstance(ideal, tuple) else ideal
    if isinstance(reference, list) and len(reference) == 1:
        reference = reference[0]
    return {
        "id": fallback if sample.id is None else sample.id,
        "input": asked,
        "reference": reference,
        "metadata": sample.extra,
    }
