"""Reads an input and an output as one conversation, and cuts out what is to be graded.

A template shows each message in a fence of its own, so that no message can pass for another.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from judgekit.datasets import is_message, read_messages
from judgekit.errors import TemplateError
from judgekit.records import Case, Image, Output, show_images

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pydantic import JsonValue

# Other roles are shown as `other`: the name of a role is part of a fence, and may come from anyone.
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
_SENT_ROLES = frozenset({"system", "developer", "user", "assistant"})
_STEPS = {"tool_call": "tool-call", "tool_result": "tool-result", "reasoning": "reasoning"}


class Message(NamedTuple):
    """What somebody said, or a step of the assistant: a call of a tool, its result, a thought."""

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
        """The texts under judgment; of a whole conversation also what the user said in it."""
        return tuple(message.text for message in self.graded if message.text)

    def data(self) -> dict[str, JsonValue]:
        """What a template may show of it."""
        conversation = _labelled(self.before, "", 1)
        turns = _labelled(self.graded, "output-", len(self.before) + 1)
        shown: dict[str, JsonValue] = {"conversation": [*conversation], "turns": [*turns]}
        if self.turn is None:
            return shown
        # Templates that show no turns get the same as JSON, in which no text can end a message.
        before = [{"role": message.role, "content": message.text} for message in self.before]
        shown["input"] = json.dumps(before, ensure_ascii=False, indent=2) if before else ""
        shown["output"] = "\n\n".join(self.texts)
        return shown


def _labelled(
    messages: Sequence[Message], prefix: str, first: int
) -> Iterator[dict[str, JsonValue]]:
    for number, message in enumerate(messages, start=first):
        # What the user said within a conversation is shown, but is no output.
        lead = "" if message.role in {"user", "system", "developer"} else prefix
        yield {"label": f"{lead}{message.role}-{number}", "text": message.text}


def is_conversation(value: JsonValue) -> bool:
    """Whether a value is a list of chat messages, or an object that has one as `messages`."""
    messages = value.get("messages") if isinstance(value, dict) else value
    return isinstance(messages, list) and bool(messages) and all(map(is_message, messages))


def chat_messages(value: JsonValue, show: Callable[[Image], str]) -> Iterator[dict[str, str]]:
    """An input as the messages that a system under test is sent; a conversation as it is."""
    if not is_conversation(value):
        yield {"role": "user", "content": "" if value is None else _text(value, show)}
        return
    listed = value["messages"] if isinstance(value, dict) else value
    for message in _messages(listed, "user", show):
        if message.role not in _SENT_ROLES:
            raise TemplateError(
                f"the conversation has a message of {message.role!r}, which is not sent to a model",
                hint="take it out of the input, or show the input with a block `user`",
            )
        yield {"role": message.role, "content": message.text}


def whole_conversation(
    case: Case, output: Output, show: Callable[[Image], str]
) -> ConversationPart:
    """The conversation with all that the output adds to it."""
    before, added = _messages(case.input, "user", show), _output_messages(output, show)
    # Agents often record the conversation from its beginning.
    if tuple(added[: len(before)]) == before:
        added = added[len(before) :]
    return ConversationPart(before, added)


def assistant_turns(whole: ConversationPart) -> list[ConversationPart]:
    """Each turn of the assistant with everything before it."""
    # A turn is all there is between two messages of the user: texts, calls of tools and results.
    turns: list[ConversationPart] = []
    begin = 0
    for place in range(len(whole.graded) + 1):
        if place < len(whole.graded) and whole.graded[place].role != "user":
            continue
        graded = whole.graded[begin:place]
        if any(message.role in {"assistant", "tool-call"} for message in graded):
            before = (*whole.before, *whole.graded[:begin])
            turns.append(ConversationPart(before, graded, len(turns) + 1))
        begin = place + 1 if place < len(whole.graded) else place
    return turns


def _output_messages(output: Output, show: Callable[[Image], str]) -> tuple[Message, ...]:
    if is_conversation(output.data):
        found = _messages(output.data, "assistant", show)
    elif any(
        _is_reply(event.type, (event.model_extra or {}).get("role")) for event in output.trace
    ):
        events = (event.model_dump(mode="json", exclude_none=True) for event in output.trace)
        found = tuple(_message(event, show) for event in events if event["type"] in _KINDS)
    else:
        data = () if output.data is None else (_text(output.data, show),)
        texts = filter(None, (output.text, *data))
        return (Message("assistant", text),) if (text := "\n\n".join(texts)) else ()
    last = next((each.text for each in reversed(found) if each.role == "assistant"), None)
    # Beside its messages an output may have its last answer as text.
    return (
        found
        if output.text in {None, "", last}
        else (*found, Message("assistant", output.text or ""))
    )


_KINDS = frozenset({"message", *_STEPS})


def _is_reply(kind: str, role: object) -> bool:
    return kind == "message" and role == "assistant"


def _messages(value: JsonValue, role: str, show: Callable[[Image], str]) -> tuple[Message, ...]:
    if value is None:
        return ()
    if not is_conversation(value):
        return (Message(role, _text(value, show)),)
    listed = value["messages"] if isinstance(value, dict) else value
    return tuple(_message(event, show) for event in read_messages(listed, role=role))


def _message(event: dict[str, JsonValue], show: Callable[[Image], str]) -> Message:
    content, kind = event.get("content"), str(event["type"])
    text = "" if content is None else _text(content, show)
    if kind in _STEPS:
        named = str(event.get("name") or "")
        return Message(_STEPS[kind], " ".join(filter(None, (named, text))))
    role = str(event.get("role"))
    return Message(role if role in _ROLES else "other", text)


def _text(value: JsonValue, show: Callable[[Image], str]) -> str:
    """A text; parts of a content one below the other, anything else as JSON."""
    if isinstance(value, str):
        return value
    shown = show_images(value, show)
    parts = shown if isinstance(shown, list) else [shown]
    texts = [
        part["text"]
        if isinstance(part, dict) and part.keys() <= {"type", "text"} and "text" in part
        else part
        for part in parts
    ]
    if all(isinstance(text, str) for text in texts):
        return "\n".join(map(str, texts))
    return json.dumps(shown, ensure_ascii=False, indent=2)
