from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from judgekit.fingerprint import canonical_json, fingerprint, text_fingerprint
from judgekit.models.cache import CacheEntry, is_servable
from judgekit.models.cache.entries import (
    DamagedEntryError,
    decode_entry,
    decode_line,
    decode_request,
    decode_row,
    encode_entry,
    encode_line,
    is_intact_row,
)
from judgekit.models.request import ModelReply, TokenLogprob
from judgekit.records import Usage
from tests.models.cache.buying import make_reply, make_request

AT = "2026-11-21T12:00:00.000+00:00"


def make_entry(reply: ModelReply | None = None, *, rejected: bool = False) -> CacheEntry:
    request = make_request()
    return CacheEntry(
        key=request.key,
        request=request.key_parts,
        reply=reply or make_reply(),
        created_at=AT,
        rejected=rejected,
    )


def sealed_line(**changes: object) -> str:
    body = json.loads(encode_line(make_entry()))
    del body["checksum"]
    body |= changes
    return json.dumps(body | {"checksum": fingerprint(body)})


@given(st.text(st.characters(), min_size=1))
def test_any_text_comes_back_as_it_was(text: str) -> None:
    entry = make_entry(make_reply(text))
    assert decode_row(encode_entry(entry), entry.key)[0].text == text


@pytest.mark.parametrize("text", ["NaN", "\ud800 alone", "a\x00b", "\u2028", '"}'])
def test_awkward_text_comes_back_as_it_was(text: str) -> None:
    entry = make_entry(make_reply(text))
    written = encode_entry(entry)
    assert written.isascii()
    assert decode_row(written, entry.key)[0].text == text


def test_every_field_of_a_reply_comes_back() -> None:
    reply = make_reply(finish_reason=None).model_copy(
        update={
            "logprobs": (TokenLogprob(token="4", logprob=-0.1, top=(("4", -0.1), ("5", -2.5))),),
            "dropped_parameters": ("seed",),
        }
    )
    entry = make_entry(reply)
    found, _ = decode_row(encode_entry(entry), entry.key)
    assert found == reply.model_copy(update={"cached": True, "key": entry.key})


def test_the_written_text_is_canonical_json() -> None:
    text = encode_entry(make_entry())
    assert canonical_json(json.loads(text)) == text


def test_every_flipped_byte_is_noticed() -> None:
    entry = make_entry()
    text = encode_entry(entry)
    for place in range(len(text)):
        flipped = text[:place] + chr(ord(text[place]) ^ 1) + text[place + 1 :]
        with pytest.raises(DamagedEntryError, match="checksum"):
            decode_row(flipped, entry.key)


def test_a_reply_under_another_key_is_refused() -> None:
    with pytest.raises(DamagedEntryError, match="another entry"):
        decode_row(encode_entry(make_entry()), "0" * 64)
    with pytest.raises(DamagedEntryError, match="another entry"):
        decode_entry(encode_entry(make_entry()), "0" * 64, None)


def test_a_rejected_reply_is_never_served() -> None:
    entry = make_entry(rejected=True)
    with pytest.raises(DamagedEntryError, match="another entry"):
        decode_row(encode_entry(entry), entry.key)
    assert decode_entry(encode_entry(entry), entry.key, entry.request).rejected


@pytest.mark.parametrize(
    ("text", "finish_reason", "served"),
    [
        ("4", "stop", True),
        ("4", "tool_calls", True),
        ("4", None, True),
        ("4", "length", False),
        ("4", "content_filter", False),
        ("4", "something_new", False),
        (" \n", "stop", False),
        ("", "stop", False),
        (None, "stop", False),
    ],
)
def test_only_whole_replies_are_served(
    text: str | None, finish_reason: str | None, *, served: bool
) -> None:
    assert is_servable(make_reply(text, finish_reason=finish_reason)) is served


def test_a_request_must_have_the_fingerprint_it_is_kept_under() -> None:
    request = make_request()
    text = canonical_json(request.key_parts)
    assert decode_request(text, request.key) == request.key_parts
    with pytest.raises(DamagedEntryError, match="does not match its key"):
        decode_request(text.replace("right", "wrong"), request.key)


def test_a_line_comes_back_whole_and_without_provenance() -> None:
    entry = make_entry()
    found = decode_line(encode_line(entry))
    assert (found.key, found.request, found.created_at) == (entry.key, entry.request, AT)
    assert found.imported is None
    assert found.reply.text == entry.reply.text


@pytest.mark.parametrize("written", [None, 0, 40])
def test_tokens_written_to_a_prompt_cache_are_in_a_line_where_they_are_known(
    written: int | None,
) -> None:
    usage = Usage(input_tokens=90, cache_write_tokens=written)
    line = encode_line(make_entry(make_reply().model_copy(update={"usage": usage})))
    # Lines of older releases do not have the count; they are written again as they were.
    assert ("cache_write_tokens" in line) is (written is not None)
    assert decode_line(line).reply.usage == usage


def test_a_request_that_is_named_in_texts_is_read_whole() -> None:
    schema = {"type": "object", "properties": {"request": {"type": "string"}}}
    request = make_request().model_copy(update={"reply_schema": schema})
    reply = make_reply('{"reply":1,"request":{"a":2}}, "request":')
    line = encode_line(CacheEntry(request.key, request.key_parts, reply, AT))
    assert line == canonical_json(json.loads(line))
    found = decode_line(line)
    assert (found.request, found.canonical_request) == (request.key_parts, request.key_text)
    assert found.reply.text == reply.text


@pytest.mark.parametrize("text", ["no JSON", "[1]", "[" * 100_000])
def test_a_request_is_an_object(text: str) -> None:
    with pytest.raises(DamagedEntryError, match="is not"):
        decode_request(text, text_fingerprint(text))


def test_a_line_may_be_formatted_anew() -> None:
    line = encode_line(make_entry(rejected=True))
    assert decode_line(json.dumps(json.loads(line), indent=1)).rejected


def test_a_line_needs_its_request() -> None:
    entry = CacheEntry(key="0" * 64, request=None, reply=make_reply(), created_at=AT)
    with pytest.raises(ValueError, match="request is lost"):
        encode_line(entry)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1]", "not an entry"),
        ('{"case_id": "a"}', "not an entry"),
        ('{"key": NaN, "checksum": "0", "request": {}}', "not an entry"),
        (encode_line(make_entry()).replace("4", "5"), "altered"),
        (sealed_line(request={"model": "another"}), "fingerprint of the request"),
        (sealed_line(request=["no", "object"]), "fingerprint of the request"),
        (sealed_line(reply=None), "another form"),
        (sealed_line(reply={"text": 4}), "another form"),
        (sealed_line(reply={"text": "4", "finish_reason": "length"}), "may not be served"),
        (sealed_line(created_at="yesterday"), "the time it was fetched"),
    ],
)
def test_an_unsound_line_is_refused(line: str, message: str) -> None:
    with pytest.raises(DamagedEntryError, match=message):
        decode_line(line)


def test_rows_of_a_damaged_file_are_trusted_only_when_they_prove_themselves() -> None:
    entry = make_entry()
    rejected = make_entry(rejected=True)
    assert is_intact_row(entry.key, encode_entry(entry))
    assert is_intact_row(f"{entry.key}:request", canonical_json(entry.request))
    assert is_intact_row(f"{entry.key}:rejected:0", encode_entry(rejected))
    assert not is_intact_row(entry.key, encode_entry(rejected))
    assert not is_intact_row(f"{entry.key}:request", "{}")
    assert not is_intact_row("counts", "{}")
