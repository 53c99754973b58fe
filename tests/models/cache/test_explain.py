from __future__ import annotations

import pytest

from judgekit.errors import UnknownNameError
from judgekit.models.cache import CacheExplanation, MemoryCache, explain_request
from judgekit.models.cache.entries import request_row
from judgekit.models.request import ModelRequest
from tests.models.cache.buying import make_reply, make_request

PROMPT = "\n".join(f"Line {number} of a long prompt about refunds." for number in range(30))


def cache_of(*requests: ModelRequest) -> MemoryCache:
    cache = MemoryCache()
    for request in requests:
        cache.put(request, make_reply())
    return cache


def parts(explanation: CacheExplanation) -> list[str]:
    return [difference.part for difference in explanation.differences]


def with_fields(**fields: object) -> ModelRequest:
    return ModelRequest.model_validate(make_request(PROMPT).model_dump() | fields)


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"model": "openai/large"}, "model"),
        ({"api_base": "http://127.0.0.1:1/v1"}, "api_base"),
        ({"parameters": {"temperature": 1.0}}, "parameters.temperature"),
        ({"reply_schema": {"type": "object"}}, "reply_schema"),
        ({"subject": {"repeat": 3}}, "repeat"),
    ],
)
def test_the_part_that_differs_is_named(fields: dict[str, object], part: str) -> None:
    found = explain_request(cache_of(make_request(PROMPT)), with_fields(**fields))
    assert parts(found) == [part]
    assert not found.is_hit
    assert found.nearest == make_request(PROMPT).key


def test_a_changed_line_of_a_prompt_is_shown_as_a_diff() -> None:
    changed = PROMPT.replace("Line 17 of", "Line seventeen of")
    found = explain_request(cache_of(make_request(PROMPT)), make_request(changed))
    difference = found.differences[0]
    assert difference.part == "messages[1].content"
    assert difference.diff is not None
    assert "-Line 17 of a long" in difference.diff
    assert "+Line seventeen of" in difference.diff
    assert difference.asked.endswith("…")


def test_a_changed_schema_is_shown_as_a_diff() -> None:
    schema = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(20)}}
    other = schema | {"required": ["p1"]}
    found = explain_request(
        cache_of(with_fields(reply_schema=schema)), with_fields(reply_schema=other)
    )
    assert '+    "p1"' in (found.differences[0].diff or "")


def test_a_part_that_is_not_there_is_absent() -> None:
    asked = make_request(PROMPT, parameters={"temperature": 0.0, "seed": 7})
    difference = explain_request(cache_of(make_request(PROMPT)), asked).differences[0]
    assert (difference.part, difference.asked, difference.held) == (
        "parameters.seed",
        "7",
        "(absent)",
    )
    assert difference.diff is None


def test_the_nearest_has_the_most_equal_parts_and_then_the_most_common_text() -> None:
    far = make_request("Something else entirely", model="openai/large")
    near = make_request("The answer is polite and short.")
    nearest = make_request("The answer is polite and long.")
    cache = cache_of(far, near, nearest)
    assert (
        explain_request(cache, make_request("The answer is polite and large.")).nearest
        == nearest.key
    )


def test_text_in_common_at_the_end_counts_as_well() -> None:
    cache = cache_of(make_request("A: judge this text."), make_request("B: quite another"))
    asked = make_request("C: judge this text.")
    assert explain_request(cache, asked).nearest == make_request("A: judge this text.").key


def test_a_hit_is_called_a_hit() -> None:
    found = explain_request(cache_of(make_request()), make_request())
    assert (found.is_hit, found.nearest, found.differences) == (True, None, ())


def test_a_rejected_reply_is_mentioned() -> None:
    cache = cache_of(make_request("other"))
    cache.put_rejected(make_request(), make_reply(finish_reason="length"))
    found = explain_request(cache, make_request().key)
    assert (found.is_hit, found.n_rejected) == (False, 1)
    assert parts(found) == ["messages[1].content"]


def test_a_key_the_cache_does_not_know_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="no cached request is called '0000"):
        explain_request(cache_of(make_request()), "0" * 64)


def test_an_empty_cache_has_nothing_near() -> None:
    found = explain_request(MemoryCache(), make_request())
    assert (found.nearest, found.n_compared) == (None, 0)


def test_the_work_is_bounded() -> None:
    cache = cache_of(*(make_request(str(number)) for number in range(20)))
    assert explain_request(cache, make_request(), limit=5).n_compared == 5


def test_a_long_diff_is_shortened() -> None:
    other = "\n".join(f"Another line {number}" for number in range(100))
    found = explain_request(cache_of(make_request(PROMPT)), make_request(other))
    assert (found.differences[0].diff or "").endswith("more lines")


def test_entries_whose_request_is_lost_are_passed_over() -> None:
    cache = cache_of(make_request("a"), make_request("b"))
    cache._rows.write({request_row(make_request("a").key): "{}"})
    assert explain_request(cache, make_request("a")).nearest == make_request("b").key
