"""Reads chat messages in the shapes that providers and tracers write."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from judgekit.formats.text import as_mapping, objects_in, one_or_several

RawEvent = dict[str, "JsonValue"]  # one event, before it is validated as a `TraceEvent`
# Calls of OpenAI's responses; of tools that the provider runs, each is called after its tool.
_ITEM_CALLS = frozenset({
    "code_interpreter_call", "computer_call", "custom_tool_call", "file_search_call",
    "function_call", "image_generation_call", "local_shell_call", "mcp_call", "web_search_call",
})  # fmt: skip
_ITEM_RESULTS = frozenset({
    "computer_call_output", "custom_tool_call_output", "function_call_output",
    "local_shell_call_output",
})  # fmt: skip
_ITEMS = _ITEM_CALLS | _ITEM_RESULTS | {"reasoning"}
# Anthropic runs some tools itself, too.
_CALLS = _ITEM_CALLS | {"tool_call", "tool_use", "tool-call", "server_tool_use", "mcp_tool_use"}
_RESULTS = _ITEM_RESULTS | {
    "tool_call_response", "tool_result", "tool-result", "mcp_tool_result",
    "bash_code_execution_tool_result", "code_execution_tool_result",
    "text_editor_code_execution_tool_result", "web_fetch_tool_result", "web_search_tool_result",
}  # fmt: skip
_THOUGHTS = frozenset({"reasoning", "thinking", "redacted_thinking"})
_KNOWN = _CALLS | _RESULTS | _THOUGHTS
_GEMINI_PARTS = {
    "functionCall": "tool_call",
    "function_call": "tool_call",
    "functionResponse": "tool_result",
    "function_response": "tool_result",
}
_FAILED = frozenset({"error-text", "error-json"})  # of the AI SDK
# An item of OpenAI's responses has an `id` of its own beside that of the call.
_ID_NAMES = ("call_id", "toolCallId", "tool_call_id", "tool_use_id", "id")
_ARGUMENT_NAMES = ("arguments", "args", "input", "action", "code", "queries")
_RESULT_NAMES = ("response", "result", "content", "output")
_OWN_RESULT_NAMES = ("output", "outputs", "results", "error")  # beside the arguments of a call
_TOOL_ROLES = frozenset({"tool", "function"})
_CALL_ROLE = "assistant"


def is_message(value: JsonValue) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return False
    in_parts = isinstance(value.get("parts", value.get("content")), list)
    return "type" not in value or (value["type"] == "message" and in_parts)


def is_chat(value: list[JsonValue]) -> bool:
    """Whether a list holds chat messages, perhaps with the other items of OpenAI's responses."""
    return bool(value) and all(
        is_message(item) or (isinstance(item, dict) and str(item.get("type")) in _ITEMS)
        for item in value
    )


# What a reply of a provider has beside its text; such an object is never shown to a judge whole,
# because it names the model.
_ABOUT_REPLY = frozenset({"model", "model_name", "usage", "response_metadata", "llm_output"})
_REPLY_NAMES = ("text", "content", "completion", "output", "response", "answer")
_ABOUT_MESSAGE = frozenset({"id", "model", "source", "metadata", "response_metadata", "usage"})


def messages_in(value: JsonValue) -> list[JsonValue] | None:
    """The messages that an input or output consists of; None where it is something else."""
    value = decode_value(value)
    if isinstance(value, dict):
        names = ("messages", "choices", "generations", "output")
        listed = [value[name] for name in names if isinstance(value.get(name), list)]
        only = next(iter(value.values())) if len(value) == 1 else None
        if isinstance(only, dict):
            return messages_in(only)
        value = listed[0] if listed else [value]
    if not isinstance(value, list) or not value:
        return None
    # LangChain nests the messages of a batch in a list of their own.
    items = [each for item in value for each in one_or_several(item)]
    messages = [_as_message(item) for item in items]
    return None if None in messages else messages


def _as_message(item: JsonValue) -> JsonValue:
    """A message in the form with a `role`, from those of LangChain and of OpenAI's responses."""
    if not isinstance(item, dict):
        return None
    if isinstance(inner := item.get("message", item.get("kwargs")), dict):
        return _as_message(inner)
    kind = str(item.get("type"))
    if kind in _KNOWN:
        return {"role": "tool" if kind in _RESULTS else _CALL_ROLE, "content": [item]}
    if kind in {"human", "ai", "system", "tool"} and "content" in item:
        return {"role": kind} | {name: v for name, v in item.items() if name != "type"}
    return item if is_message(item) else None


def asked_of(value: JsonValue) -> JsonValue:
    """An input as a case has it: one message of the user is its text."""
    is_only = isinstance(value, list) or (isinstance(value, dict) and value.keys() <= {"messages"})
    messages = messages_in(value) if is_only else None
    if messages is None:
        return value
    bare: list[JsonValue] = [
        {name: each for name, each in one.items() if name not in _ABOUT_MESSAGE}
        for one in objects_in(messages)
    ]
    only = as_mapping(bare[0]) if len(bare) == 1 else {}
    is_text = only.keys() == {"role", "content"} and only["role"] in ("user", "human")
    return only["content"] if is_text else bare


def answer_of(value: JsonValue) -> RawEvent:
    """The fields of an output that a value fills: its text, data, or trace."""
    if value is None:
        return {}
    if (messages := messages_in(value)) is not None:
        events = read_messages(messages, role=_CALL_ROLE)
        text = final_text(events) if events else ""  # messages without content are an empty answer
        return {"text": text, "trace": messages} if text is not None else {"trace": messages}
    if isinstance(value, dict) and (about := value.keys() & _ABOUT_REPLY):
        reply = _first(value, _REPLY_NAMES)
        if isinstance(reply, str):
            return {"text": reply}
        # A `model` alone may be what the output is about, such as that of a car.
        if about != {"model"}:
            value = {name: each for name, each in value.items() if name not in about}
    return {"text" if isinstance(value, str) else "data": value}


def read_messages(value: JsonValue, *, role: str) -> list[RawEvent]:
    # Understood are the parts of the OpenTelemetry GenAI conventions, OpenAI's `tool_calls` and
    # `tool_call_id`, and Anthropic's content blocks.
    messages = one_or_several(decode_value(value))
    events = [event for message in messages for event in _message_events(message, role)]
    return named_results(events)


def named_results(events: list[RawEvent]) -> list[RawEvent]:
    """The events, with every nameless tool result named after the call it answers."""
    # An id may be of any type, also one that is not hashable.
    identified = [event for event in events if isinstance(event.get("id"), str)]
    names = {event["id"]: event.get("name") for event in identified if event["type"] == "tool_call"}
    for event in identified:
        if event["type"] == "tool_result" and event["id"] in names:
            event.setdefault("name", names[event["id"]])
    return events


def final_text(events: Iterable[RawEvent]) -> str | None:
    answers = [
        event.get("content")
        for event in events
        if event["type"] == "message" and event.get("role") == _CALL_ROLE
    ]
    texts = (text for text in reversed(answers) if isinstance(text, str) and text.strip())
    return next(texts, None)


def decode_value(value: JsonValue) -> JsonValue:
    """The value of an attribute that was written as JSON text."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        decoded: JsonValue = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return decoded


def _message_events(message: JsonValue, role: str) -> list[RawEvent]:
    if isinstance(message, str):
        return [_message(role, message)] if message else []
    if not isinstance(message, dict):
        return []
    if isinstance(message.get("message"), str | dict | list):
        # The choice of a chat completion: the message and why it ended.
        inner = decode_value(message["message"])
        more = {k: v for k, v in message.items() if k == "finish_reason"}
        return _message_events({**inner, **more} if isinstance(inner, dict) else inner, role)
    role = str(message.get("role") or role)
    role = {"ai": _CALL_ROLE, "model": _CALL_ROLE, "human": "user"}.get(role, role)
    parts = _content(message)
    # Anthropic puts results into the parts of a message, the others into its content.
    if role in _TOOL_ROLES and not any(p.get("type") in _RESULTS for p in objects_in(parts)):
        events = [_result(message, parts, ("tool_call_id", "toolCallId", "id"))]
    elif isinstance(parts, list):
        events = _part_events(role, parts)
    else:
        events = [_message(role, parts)] if parts not in (None, "") else []
    events += map(_call, _calls_of(message))
    reason = message.get("finish_reason")
    if isinstance(reason, str) and events:
        events[0]["finish_reason"] = reason
    return events


def _content(message: RawEvent) -> JsonValue:
    content = decode_value(message.get("parts", message.get("content")))
    if content in (None, "", []) and isinstance(refusal := message.get("refusal"), str):
        return refusal
    if content is None and isinstance(listed := message.get("contents"), list):
        # OpenInference writes each part under a name of its own.
        return [part.get("message_content", part) for part in objects_in(listed)]
    return content


def _calls_of(message: RawEvent) -> list[RawEvent]:
    """The calls beside the content of a message."""
    if listed := objects_in(decode_value(_first(message, ("tool_calls", "toolCalls")))):
        return listed
    if isinstance(more := message.get("additional_kwargs"), dict):  # of LangChain
        return _calls_of(more)
    # Before it had tools, a message of OpenAI called one function; OpenInference has two fields.
    name, arguments = (message.get(f"function_call_{of}") for of in ("name", "arguments_json"))
    call = message.get("function_call") or {"name": name, "arguments": arguments}
    return [call] if isinstance(call, dict) and call.get("name") else []


def _part_events(role: str, parts: Sequence[JsonValue]) -> list[RawEvent]:
    events: list[RawEvent] = []
    texts: list[JsonValue] = []
    for part in map(_typed, parts):
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(part, dict) or not isinstance(kind, str) or kind not in _KNOWN:
            texts.append(part)
            continue
        # Text before a call is a message of its own, so that the order of the parts is kept.
        if texts:
            events.append(_message(role, _plain(texts)))
            texts = []
        if kind in _CALLS:
            events.append(_call(part))
            own = _first(part, _OWN_RESULT_NAMES) if kind in _ITEM_CALLS else None
            events += [] if own is None else [_result(part, own, _ID_NAMES)]
        elif kind in _THOUGHTS:
            thought = _first(part, ("content", "text", "thinking", "reasoning", "summary"))
            events.append({"type": "reasoning", "content": _plain(thought)})
        else:
            content = _first(part, _RESULT_NAMES)
            events.append(_result(part, content, _ID_NAMES))
    return [*events, _message(role, _plain(texts))] if texts else events


def _typed(part: JsonValue) -> JsonValue:
    """A part with its type, which Gemini states by the name of its one field."""
    named = ((kind, as_mapping(part).get(name)) for name, kind in _GEMINI_PARTS.items())
    return next(({**inner, "type": kind} for kind, inner in named if isinstance(inner, dict)), part)


def _result(fields: RawEvent, content: JsonValue, id_names: Sequence[str]) -> RawEvent:
    error = fields.get("error")
    # inspect_ai leaves the content empty then.
    what = error.get("message") if isinstance(error, dict) else error
    content = what if content in (None, "", []) and isinstance(what, str) else content
    event: RawEvent = {"type": "tool_result", "content": _plain(content)}
    if isinstance(name := fields.get("name", fields.get("function")), str):
        event["name"] = name
    if (call_id := _first(fields, id_names)) is not None:
        event["id"] = call_id
    is_error = error or any(fields.get(name) is True for name in ("is_error", "isError"))
    is_error = is_error or (isinstance(content, dict) and content.get("type") in _FAILED)
    return event | ({"is_error": True} if is_error or fields.get("status") == "error" else {})


def _call(call: RawEvent) -> RawEvent:
    call = inner if isinstance(inner := call.get("tool_call"), dict) else call
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    # inspect_ai writes the name of the tool as `function`.
    name = _first(inner, ("name", "toolName", "function"))
    if name is None and (kind := str(call.get("type"))) in _ITEM_CALLS:
        name = kind.removesuffix("_call")
    event: RawEvent = {"type": "tool_call", "name": name if isinstance(name, str) else "?"}
    if (arguments := _first(inner, _ARGUMENT_NAMES)) is not None:
        event["content"] = decode_value(arguments)
    if (call_id := _first(call, _ID_NAMES)) is not None:
        event["id"] = call_id
    return event


def _message(role: str, content: JsonValue) -> RawEvent:
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
    kind = str(part.get("type", "text")) if isinstance(part, dict) else ""
    if not isinstance(part, dict) or not kind.endswith(("text", "refusal")):
        return None
    text = _first(part, ("text", "content", "refusal"))
    return text if isinstance(text, str) else None


def unflattened(flat: Mapping[str, JsonValue]) -> JsonValue:
    """The list or object of which each value is an attribute of its own."""
    # OpenLLMetry writes a list as the attributes `gen_ai.prompt.0.role`, `gen_ai.prompt.0.content`.
    groups: dict[str, dict[str, JsonValue]] = {}
    whole: dict[str, JsonValue] = {}
    for key, value in flat.items():
        first, _, rest = key.partition(".")
        if rest:
            groups.setdefault(first, {})[rest] = value
        else:
            whole[first] = value
    found = whole | {key: unflattened(group) for key, group in groups.items()}
    if found and all(key.isdecimal() for key in found):
        return [found[key] for key in sorted(found, key=int)]
    return found


def _first(found: RawEvent, names: Sequence[str]) -> JsonValue:
    return next((found[name] for name in names if found.get(name) is not None), None)
