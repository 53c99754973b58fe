from __future__ import annotations

import math
from typing import Any
from unittest.mock import ANY

import pytest
from hypothesis import given, strategies as st

from judgekit.models.capabilities import LOWEST_LOGPROB, parse_completion
from judgekit.models.error_mapping import ProviderFault
from judgekit.models.request import ModelReply
from judgekit.records import Usage


def body_of(message: dict[str, Any], **choice: Any) -> dict[str, Any]:
    return {"model": "m-1", "choices": [{"message": message, "finish_reason": "stop"} | choice]}


def read(body: object, **how: Any) -> ModelReply:
    reply = parse_completion(body, provider="openai", duration_ms=2.0, **how)
    assert isinstance(reply, ModelReply)
    return reply


def test_a_plain_completion_is_read() -> None:
    reply = read(body_of({"content": "4"}))
    assert (reply.text, reply.finish_reason, reply.model, reply.duration_ms) == (
        "4", "stop", "m-1", 2.0,
    )  # fmt: skip
    assert (reply.usage, reply.logprobs, reply.dropped_parameters) == (None, None, ())


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "refusal": "I will not."},
        {"content": "", "provider_specific_fields": {"refusal": "I will not."}},
    ],
)
def test_a_refusal_is_a_filtered_reply_with_its_words(message: dict[str, Any]) -> None:
    reply = read(body_of(message))
    assert (reply.text, reply.finish_reason) == ("I will not.", "content_filter")


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (None, "stop"), ("eos", "stop"), ("end_turn", "stop"), ("weird", "stop"),
        ("length", "length"), ("max_tokens", "length"), ("SAFETY", "content_filter"),
        ("content_filter", "content_filter"), ("tool_use", "tool_calls"),
        ("model_length", "length"), ("model_context_window_exceeded", "length"),
        ("pause_turn", "length"), ("content_filtered", "content_filter"),
    ],
)  # fmt: skip
def test_the_reason_of_the_end_has_one_name(reason: str | None, expected: Any) -> None:
    assert read(body_of({"content": "4"}, finish_reason=reason)).finish_reason == expected


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (
            {"finish_reason": "error"},
            ("overloaded", 502, "it broke off in the middle of the reply"),
        ),
        (
            {"finish_reason": "error", "error": {"code": 429, "message": "slow down"}},
            ("rate_limited", 429, "slow down"),
        ),
        ({"finish_reason": "insufficient_system_resource"}, ("overloaded", 502, ANY)),
        ({"finish_reason": "network_error"}, ("overloaded", 502, ANY)),
    ],
)
def test_a_text_that_the_provider_broke_off_is_no_reply(choice: Any, expected: Any) -> None:
    fault = parse_completion(body_of({"content": '{"score": 1'}, **choice), provider="openrouter")
    assert isinstance(fault, ProviderFault)
    assert (fault.kind, fault.status, fault.text) == expected
    assert fault.to_error().retryable


UPSTREAM = {"upstream_inference_cost": 0.25}


@pytest.mark.parametrize(
    ("provider", "usage", "cost"),
    [
        ("openrouter", {"cost": 0.5}, 0.5),
        ("openrouter at gateway", {"cost": 0}, 0.0),
        ("openrouter", {"cost": 0.5, "is_byok": False, "cost_details": UPSTREAM}, 0.5),
        ("openrouter", {"cost": 0.5, "is_byok": True, "cost_details": UPSTREAM}, 0.75),
        ("openrouter", {"cost": 0.5, "is_byok": True}, None),
        ("openrouter", {"cost": math.nan}, None),
        ("openrouter", {"cost": "0.5"}, None),
        ("openrouter", {"cost": -1}, None),
        ("openrouter", {}, None),
        ("openrouter", "n/a", None),
        ("openai", {"cost": 0.5}, None),
    ],
)
def test_a_reply_of_openrouter_says_what_it_cost(provider: str, usage: Any, cost: Any) -> None:
    reply = parse_completion(body_of({"content": "4"}) | {"usage": usage}, provider=provider)
    assert isinstance(reply, ModelReply)
    assert reply.cost_usd == cost


def test_cached_tokens_are_read_under_deepseeks_name() -> None:
    counts = {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 4}
    usage = read(body_of({"content": "4"}) | {"usage": counts}).usage
    assert usage == Usage(input_tokens=9, output_tokens=1, cached_input_tokens=4)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "<think>5? no</think>4"}, "4"),
        ({"content": "<think>never ends"}, "<think>never ends"),
        ({"content": "4", "reasoning_content": "why"}, "4"),
        ({"content": "<think>a</think>4", "reasoning_content": "why"}, "<think>a</think>4"),
        ({"content": None}, None),
        ({}, None),
    ],
)
def test_reasoning_is_no_part_of_the_text(message: dict[str, Any], text: str) -> None:
    assert read(body_of(message)).text == text


@pytest.mark.parametrize(("reason", "expected"), [("tool_calls", "stop"), ("length", "length")])
def test_the_arguments_of_the_forced_tool_are_the_text(reason: str | None, expected: Any) -> None:
    call = {"function": {"name": "reply", "arguments": '{"score": 4}'}}
    reply = read(
        body_of({"content": None, "tool_calls": [call]}, finish_reason=reason),
        by_tool=True,
        dropped=("seed",),
    )
    assert (reply.text, reply.finish_reason) == ('{"score": 4}', expected)
    assert reply.dropped_parameters == ("seed",)


def test_a_forced_tool_that_was_not_called_leaves_the_content() -> None:
    assert read(body_of({"content": "4", "tool_calls": []}), by_tool=True).text == "4"


@pytest.mark.parametrize("written", ["cache_write_tokens", "cache_creation_tokens"])
def test_tokens_are_counted_with_their_kinds(written: str) -> None:
    body = body_of({"content": "4"}) | {
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 4, written: 2},
            "completion_tokens_details": {"reasoning_tokens": 3},
        }
    }
    assert read(body).usage == Usage(
        input_tokens=9, output_tokens=5, cached_input_tokens=4, cache_write_tokens=2,
        reasoning_tokens=3,
    )  # fmt: skip


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": 0, "completion_tokens": None}])
def test_no_tokens_at_all_means_that_nobody_counted(usage: Any) -> None:
    assert read(body_of({"content": "4"}) | {"usage": usage}).usage is None


@pytest.mark.parametrize(
    "usage",
    ["n/a", [1], 7, {"prompt_tokens": -3}, {"prompt_tokens": "many", "completion_tokens": 4}],
)
def test_a_good_reply_is_kept_although_its_usage_cannot_be_read(usage: Any) -> None:
    reply = read(body_of({"content": "4"}) | {"usage": usage})
    assert (reply.text, reply.usage, reply.cost_usd) == ("4", None, None)


def test_unreadable_details_of_usage_are_left_out() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": "?"}
    assert read(body_of({"content": "4"}) | {"usage": usage}).usage == Usage(
        input_tokens=9, output_tokens=5
    )


@pytest.mark.parametrize("logprobs", [{"content": [{}]}, "none", {"content": 3}])
def test_a_good_reply_is_kept_although_its_log_probabilities_cannot_be_read(logprobs: Any) -> None:
    reply = read(body_of({"content": "4"}, logprobs=logprobs))
    assert (reply.text, reply.logprobs) == ("4", None)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "4"}], "4"),
        ([{"type": "text", "text": "Score"}, {"type": "output_text", "text": ": 4"}], "Score: 4"),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "5?"}]},
          {"type": "text", "text": "4"}], "4"),
        ([{"type": "reasoning", "text": "5?"}, {"text": "4"}], "4"),
        (["4"], "4"),
        ([], None),
        ([{"type": "image_url", "image_url": {"url": "x"}}], None),
    ],
)  # fmt: skip
def test_content_in_parts_is_their_text(content: Any, text: str | None) -> None:
    assert read(body_of({"content": content})).text == text


def test_a_refusal_in_parts_is_a_filtered_reply_with_its_words() -> None:
    reply = read(body_of({"content": [{"type": "refusal", "refusal": "I will not."}]}))
    assert (reply.text, reply.finish_reason) == ("I will not.", "content_filter")


def test_log_probabilities_are_read_and_kept_finite() -> None:
    entry = {"token": "4", "logprob": float("-inf"), "top_logprobs": [
        {"token": "4", "logprob": 0.1}, {"token": "5", "logprob": None}
    ]}  # fmt: skip
    last = {"token": "!", "logprob": float("nan"), "top_logprobs": None}
    reply = read(body_of({"content": "4"}, logprobs={"content": [entry, last]}))
    assert reply.logprobs is not None
    assert [token.logprob for token in reply.logprobs] == [LOWEST_LOGPROB] * 2
    assert reply.logprobs[0].top == (("4", 0.0), ("5", LOWEST_LOGPROB))


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ([1], "protocol"), ("text", "protocol"), ({}, "protocol"), ({"choices": {}}, "protocol"),
        ({"choices": []}, "empty"), ({"error": {"message": "x", "code": 503}}, "overloaded"),
        (body_of({"content": 4}), "protocol"), ({"choices": [4]}, "protocol"),
    ],
)  # fmt: skip
def test_what_is_no_reply_is_a_fault(body: Any, kind: str) -> None:
    fault = parse_completion(body, provider="openai")
    assert isinstance(fault, ProviderFault)
    assert fault.kind == kind


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["choices", "message", "content", "usage", "error", "logprobs",
                         "tool_calls", "function", "arguments", "refusal", "prompt_tokens"]),
        inner,
    ),
)  # fmt: skip


@given(JSON, st.booleans())
def test_whatever_is_sent_is_a_reply_or_a_fault(body: object, by_tool: bool) -> None:  # noqa: FBT001
    assert isinstance(
        parse_completion(body, provider="openai", by_tool=by_tool), ModelReply | ProviderFault
    )
    filled = {"choices": [body], "usage": body}
    assert isinstance(
        parse_completion(filled, provider="openai", by_tool=by_tool), ModelReply | ProviderFault
    )
