"""Reads an input and an output as one conversation, and cuts out what is to be graded.

A template shows each message in a fence of its own, so that no message can pass for another.
"""

from __future__ import annotations

import json
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from judgekit.errors import TemplateError
from judgekit.formats import is_message, read_messages
from judgekit.records import Case, Image, Output, show_images

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic import JsonValue

# How an image is shown in a prompt: it takes the place of its marker.
IMAGE_MARKER: Callable[[Image], str] = attrgetter("marker")

# Other roles are shown as `other`: the name of a role is part of a fence, and may come from anyone.
_SENT_ROLES = frozenset({"system", "developer", "user", "assistant"})
_ROLES = _SENT_ROLES | {"tool"}
_STEPS = {"tool_call": "tool-call", "tool_result": "tool-result", "reasoning": "reasoning"}
_INSTRUCTIONS = frozenset({"system", "developer"})
_ASSISTANTS = frozenset({"assistant", "tool-call"})


class Message(NamedTuple):
    """A message, or a step of the assistant: a call of a tool, its result, a thought."""

    role: str
    text: str


class ConversationPart(NamedTuple):
    """What of a conversation is graded at once, and the messages before it."""

    before: tuple[Message, ...]
    graded: tuple[Message, ...]
    turn: int | None = None
    """Which of the assistant's turns it is, from 1; None for all of them."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts under judgment; of a whole conversation also those of the user in it."""
        return tuple(message.text for message in self.graded if message.text)

    def data(self) -> dict[str, JsonValue]:
        """What a template may show of it."""
        labelled: list[JsonValue] = []
        for number, (role, text) in enumerate((*self.before, *self.graded), start=1):
            # Messages of the user within a conversation are shown, but are no output.
            is_output = number > len(self.before) and role not in _INSTRUCTIONS | {"user"}
            labelled.append({"label": f"{'output-' * is_output}{role}-{number}", "text": text})
        n = len(self.before)
        shown: dict[str, JsonValue] = {"conversation": labelled[:n], "turns": labelled[n:]}
        if self.turn is not None:
            # For templates that show no turns; in JSON no text can end its message.
            before = [{"role": role, "content": text} for role, text in self.before]
            shown["input"] = json.dumps(before, ensure_ascii=False, indent=2)
            shown["output"] = "\n\n".join(self.texts)
        return shown


def whole_conversation(case: Case, output: Output) -> ConversationPart:
    """The conversation with all that the output adds to it."""
    before, added = tuple(_messages(case.input, "user")), tuple(_output_messages(output))
    asked = tuple(message for message in before if message.role not in _INSTRUCTIONS)
    begin = next((n for n, one in enumerate(added) if one.role not in _INSTRUCTIONS), 0)
    # Agents often record the conversation from its beginning, with or without its instructions.
    if asked and added[begin : begin + len(asked)] == asked:
        own = before if len(before) > len(asked) else (*added[:begin], *asked)
        return ConversationPart(own, added[begin + len(asked) :])
    return ConversationPart(before, added)


def assistant_turns(whole: ConversationPart) -> list[ConversationPart]:
    """Each turn of the assistant with everything before it."""
    # A turn is all there is between two messages of the user: texts, calls of tools and results.
    turns: list[ConversationPart] = []
    begin = 0
    for end, message in enumerate((*whole.graded, Message("user", ""))):
        if message.role == "user":
            graded = whole.graded[begin:end]
            if any(one.role in _ASSISTANTS for one in graded):
                before = (*whole.before, *whole.graded[:begin])
                turns.append(ConversationPart(before, graded, len(turns) + 1))
            begin = end + 1
    return turns


def chat_messages(value: JsonValue) -> list[dict[str, str]]:
    """An input as the messages that a system under test is sent; a conversation as it is."""
    for message in (messages := list(_messages(value, "user"))):
        if message.role not in _SENT_ROLES:
            raise TemplateError(
                f"the conversation has a {message.role} message, which is not sent to a model",
                hint="take it out of the input, or show the input with a block `user`",
            )
    return [{"role": role, "content": text} for role, text in messages]


def _output_messages(output: Output) -> Iterator[Message]:
    found = list(_messages(output.data, "assistant", alone=False))
    if not found:
        events = (event.model_dump(mode="json", exclude_none=True) for event in output.trace)
        steps = [_message(one) for one in events if one["type"] in {"message", *_STEPS}]
        found = steps if any(message.role == "assistant" for message in steps) else []
    last = next((one.text for one in reversed(found) if one.role == "assistant"), "")
    yield from found
    # Beside its messages an output may have its last answer as text.
    if output.text and output.text != last:
        yield Message("assistant", output.text)
    if not found and output.data is not None:
        yield Message("assistant", _text(output.data))


def _messages(value: JsonValue, role: str, *, alone: bool = True) -> Iterator[Message]:
    """The messages of a conversation; of anything else the one that it is, if that is wanted."""
    listed = value.get("messages") if isinstance(value, dict) else value
    if isinstance(listed, list) and listed and all(map(is_message, listed)):
        yield from map(_message, read_messages(listed, role=role))
    elif alone and value is not None:
        yield Message(role, _text(value))


def _message(event: dict[str, JsonValue]) -> Message:
    text, kind = _text(event.get("content", "")), str(event["type"])
    if kind in _STEPS:
        return Message(_STEPS[kind], f"{event.get('name') or ''} {text}".strip())
    role = str(event.get("role"))
    return Message(role if role in _ROLES else "other", text)


def _text(value: JsonValue) -> str:
    """A text; parts of a content one below the other, anything else as JSON."""
    shown = show_images(value, IMAGE_MARKER)
    parts = shown if isinstance(shown, list) else [shown]
    texts = [part.get("text", part) if isinstance(part, dict) else part for part in parts]
    if all(isinstance(text, str) for text in texts):
        return "\n".join(map(str, texts))
    return json.dumps(shown, ensure_ascii=False, indent=2)
