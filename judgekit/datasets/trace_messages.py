"""Chat messages, in the shapes providers and tracers write them, as the events of a trace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from pydantic import JsonValue

Event = dict[str, "JsonValue"]
"""One event, before it is validated as a `TraceEvent`."""

_CALLS = frozenset({"tool_call", "tool_use", "tool-call", "function_call"})
_RESULTS = frozenset({"tool_call_response", "tool_result", "tool-result", "function_call_output"})
_THOUGHTS = frozenset({"reasoning", "thinking"})
_ID_NAMES = ("id", "call_id", "toolCallId", "tool_call_id", "tool_use_id")
_ARGUMENT_NAMES = ("arguments", "args", "input")
_RESULT_NAMES = ("response", "result", "content", "output")
_TOOL_ROLES = frozenset({"tool", "function"})
_CALL_ROLE = "assistant"


def is_message(value: JsonValue) -> bool:
    """Whether a value looks like a chat message."""
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return False
    in_parts = isinstance(value.get("parts", value.get("content")), list)
    return "type" not in value or (value["type"] == "message" and in_parts)


def read_messages(value: JsonValue, *, role: str) -> list[Event]:
    """The events in one or several messages."""
    # Understood are the parts of the OpenTelemetry GenAI conventions, OpenAI's `tool_calls` and
    # `tool_call_id`, and Anthropic's content blocks.
    value = decoded(value)
    messages = value if isinstance(value, list) else [value]
    events = [event for message in messages for event in _events(message, role)]
    return named_results(events)


def named_results(events: Sequence[Event]) -> list[Event]:
    """The events, with every nameless tool result named after the call it answers."""
    names = {
        event["id"]: event.get("name")
        for event in events
        if event["type"] == "tool_call" and isinstance(event.get("id"), str)
    }
    return [
        {"type": event["type"], "name": names[event["id"]], **event}
        if event["type"] == "tool_result" and "name" not in event and _is_among(event, names)
        else event
        for event in events
    ]


def final_text(events: Iterable[Event]) -> str | None:
    """The last thing the assistant said."""
    found = None
    for event in events:
        content = event.get("content")
        is_answer = event["type"] == "message" and event.get("role") == _CALL_ROLE
        if is_answer and isinstance(content, str) and content.strip():
            found = content
    return found


def decoded(value: JsonValue) -> JsonValue:
    """A value that was written as JSON text into an attribute, as the value it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        held: JsonValue = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return held


def _events(message: JsonValue, role: str) -> list[Event]:
    if isinstance(message, str):
        return [_said(role, message)] if message else []
    if not isinstance(message, dict):
        return []
    if isinstance(message.get("message"), str | dict | list):
        inner = decoded(message["message"])  # a choice: the message and why it ended
        more = {k: v for k, v in message.items() if k == "finish_reason"}
        return _events({**inner, **more} if isinstance(inner, dict) else inner, role)
    role = str(message.get("role") or role)
    role = {"ai": _CALL_ROLE, "model": _CALL_ROLE, "human": "user"}.get(role, role)
    parts = decoded(message.get("parts", message.get("content")))
    events = _content_events(message, role, parts)
    events += [_call(call) for call in _objects(decoded(message.get("tool_calls")))]
    reason = message.get("finish_reason")
    if isinstance(reason, str) and events:
        events[0]["finish_reason"] = reason
    return events


def _content_events(message: Event, role: str, parts: JsonValue) -> list[Event]:
    """What a message says, apart from its `tool_calls`."""
    if role in _TOOL_ROLES and not _has_result(parts):
        event: Event = {"type": "tool_result", "content": _plain(parts)}
        if isinstance(message.get("name"), str):
            event["name"] = message["name"]
        if (call_id := _first(message, ("tool_call_id", "toolCallId", "id"))) is not None:
            event["id"] = call_id
        return [event | _error_mark(message)]
    if not isinstance(parts, list):
        return [_said(role, parts)] if parts not in (None, "") else []
    return _part_events(role, parts)


def _part_events(role: str, parts: Sequence[JsonValue]) -> list[Event]:
    events: list[Event] = []
    said: list[JsonValue] = []
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        is_known = isinstance(kind, str) and kind in _CALLS | _RESULTS | _THOUGHTS
        if not isinstance(part, dict) or not is_known:
            said.append(part)
            continue
        if said:
            events.append(_said(role, _plain(said)))
            said = []
        events.append(_part_event(part, str(kind)))
    return [*events, _said(role, _plain(said))] if said else events


def _is_among(event: Event, names: Container[JsonValue]) -> bool:
    """Whether an event has the id of one of the calls; ids of other kinds are nobody's."""
    call_id = event.get("id")
    return isinstance(call_id, str) and call_id in names


def _part_event(part: Event, kind: str) -> Event:
    if kind in _CALLS:
        return _call(part)
    if kind in _THOUGHTS:
        return {"type": "reasoning", "content": _first(part, ("content", "text", "thinking"))}
    event: Event = {"type": "tool_result", "content": _plain(_first(part, _RESULT_NAMES))}
    if isinstance(part.get("name"), str):
        event["name"] = part["name"]
    if (call_id := _first(part, ("tool_use_id", *_ID_NAMES))) is not None:
        event["id"] = call_id
    return event | _error_mark(part)


def _call(call: Event) -> Event:
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    name = _first(inner, ("name", "toolName"))
    event: Event = {"type": "tool_call", "name": name if isinstance(name, str) else "?"}
    if (arguments := _first(inner, _ARGUMENT_NAMES)) is not None:
        event["content"] = decoded(arguments)
    if (call_id := _first(call, _ID_NAMES)) is not None:
        event["id"] = call_id
    return event


def _error_mark(found: Event) -> Event:
    is_error = found.get("is_error") is True or found.get("isError") is True
    return {"is_error": True} if is_error or found.get("status") == "error" else {}


def _said(role: str, content: JsonValue) -> Event:
    return {"type": "message", "role": role, "content": content}


def _plain(content: JsonValue) -> JsonValue:
    """The text of a list of text parts; any other content as it is."""
    if not isinstance(content, list) or not content:
        return content
    texts = [_text_of(part) for part in content]
    return "\n".join(t for t in texts if t is not None) if None not in texts else content


def _text_of(part: JsonValue) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or not str(part.get("type", "text")).endswith("text"):
        return None
    text = _first(part, ("text", "content"))
    return text if isinstance(text, str) else None


def _has_result(parts: JsonValue) -> bool:
    return any(part.get("type") in _RESULTS for part in _objects(parts))


def _objects(value: JsonValue) -> list[Event]:
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, dict)]


def _first(found: Event, names: Sequence[str]) -> JsonValue:
    return next((found[name] for name in names if found.get(name) is not None), None)
