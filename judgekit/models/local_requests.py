"""What is changed in a request before a small model on this machine gets it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from judgekit.models.request import ModelRequest

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.records.record import JsonObject

_MOST_ITEMS = 3
_MOST_ITEM_CHARACTERS = 160
_MOST_CHARACTERS = 600
_JOINER = "\u2060"
_SPECIAL_TOKEN = re.compile(
    rf"""
      <[|\uff5c](?=[^\s|\uff5c])[^<>\n]{{1,64}}(?<=\S)>   # <|im_end|>, <|turn>
    | <(?!{_JOINER})[^<>\s|\uff5c]{{1,64}}[|\uff5c]>   # <turn|>
    | </?(?:s|bos|eos|pad|unk|sop|eop|mask|think|image|im_patch)>
    | </?(?:start|end)_of_(?:turn|image|audio)>
    | </?(?:tool_call|tool_response|tools|function_call)>
    | <</?SYS>>
    | <(?:BOS|EOS|EOD|PAD|UNK|CLS|SEP|MASK)_TOKEN>
    | <(?:unused|reserved_|extra_id_|SPECIAL_)\d{{1,6}}>
    | <0x[0-9A-Fa-f]{{2}}>                               # one byte, in SentencePiece
    | \[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CALLS|TOOL_CONTENT|ARGS|THINK
        |PREFIX|MIDDLE|SUFFIX|IMG|IMG_BREAK|IMG_END|BEGIN_AUDIO|AUDIO|CLS|SEP|PAD|MASK|UNK
        |gMASK|sMASK|BOS|EOS)\]
    """,
    re.VERBOSE,
)


def adapted(request: ModelRequest, model: str) -> ModelRequest:
    """The request as a local server gets it: special tokens neutralised, the reply bounded."""
    schema = request.reply_schema
    return ModelRequest(
        model=model,
        messages=tuple(
            {**message, "content": neutralise_special_tokens(message["content"])}
            for message in request.messages
        ),
        parameters=request.parameters,
        reply_schema=None if schema is None else bounded_schema(schema),
        subject=request.subject,
    )


def bounded_schema(schema: JsonObject) -> JsonObject:
    """The schema with an end to every list and text that has none."""
    # Small models fall into loops, and a list without an end is where they stay. A local server
    # holds the reply to its schema token by token, so that bounds in the schema end the loop;
    # providers' own models need none, and some of their strict modes refuse the keywords.
    return {key: _bounded(key, value) for key, value in _with_bounds(schema).items()}


def _bounded(key: str, value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        if key == "items" and value.get("type") == "string":
            return {"maxLength": _MOST_ITEM_CHARACTERS, **value}
        return bounded_schema(value)
    if isinstance(value, list):
        return [bounded_schema(item) if isinstance(item, dict) else item for item in value]
    return value


def _with_bounds(schema: JsonObject) -> JsonObject:
    if schema.get("type") == "array":
        return {"maxItems": _MOST_ITEMS, **schema}
    if schema.get("type") == "string" and "enum" not in schema:
        return {"maxLength": _MOST_CHARACTERS, **schema}
    return schema


def neutralise_special_tokens(text: str) -> str:
    """Make the special tokens of chat templates ordinary text, for servers that would obey them."""
    # An invisible WORD JOINER (U+2060) is put after the first character of every `<|…|>`, `<s>`,
    # `[INST]`, `<start_of_turn>` and their like, so that a reader sees the same and a tokeniser no
    # longer does. Everything else stays byte for byte.
    if "<" not in text and "[" not in text:
        return text
    return _SPECIAL_TOKEN.sub(lambda match: f"{match[0][0]}{_JOINER}{match[0][1:]}", text)
