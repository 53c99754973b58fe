"""Anthropic and Gemini: the direct transport and litellm send and read the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import ModelError, SettingsError
from judgekit.models.pricing import litellm_folder
from judgekit.models.protocols import AnthropicProtocol, GeminiProtocol
from judgekit.models.request import ModelReply, close_model, open_model
from judgekit.models.transports import DirectModel, LitellmModel
from judgekit.testing import SERVER_FAULTS, ServedReply
from tests.models.asking import SCHEMA, ask, outcome
from tests.models.test_transports_agree import (
    IMAGE,
    READ_OTHERWISE,
    REQUESTS,
    SLOW,
    TOO_LARGE,
    WORDED_OTHERWISE,
    comparable as shown,
)
from tests.servers.answers import GOOD, refusing
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.models.request import ModelRequest
    from judgekit.testing import ServedRequest
    from judgekit.testing.chaos import ServerScript

CLAUDE, GEMINI = "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"
MODELS = (CLAUDE, "anthropic/claude-opus-4-7", GEMINI, "gemini/gemini-3-flash-preview")
KEYS = {"ANTHROPIC_API_KEY": "sentinel-a1", "GEMINI_API_KEY": "sentinel-g1"}
# Of the headers, those that decide how a request is answered.
HEADERS = ("x-api-key", "x-goog-api-key", "anthropic-version", "anthropic-beta", "content-type")

JUDGMENT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "evidence": {"type": "array", "items": {"type": "string"}},
        "score": {"anyOf": [{"type": "number", "enum": [0, 0.5, 1.0]}, {"type": "null"}]},
    },
    "required": ["evidence", "score"],
    "additionalProperties": False,
}
_OF_CRITERIA: dict[str, Any] = {
    "type": "object",
    "properties": {name: {"$ref": "#/$defs/answer_1"} for name in ("tone", "style")},
    "required": ["tone", "style"],
    "additionalProperties": False,
}
JOINT_JUDGMENT: dict[str, Any] = {
    "type": "object",
    "properties": {"criteria": _OF_CRITERIA},
    "required": ["criteria"],
    "additionalProperties": False,
    "$defs": {"answer_1": JUDGMENT},
}
CHAT = [("system", "Be brief."), ("user", "a"), ("assistant", "b "), ("user", "c ")]
WHOLE: dict[str, ModelRequest] = REQUESTS | {
    "schema of a judgment": ask(reply_schema=JUDGMENT, parameters={"temperature": 0.0}),
    "schema of a joint judgment": ask(reply_schema=JOINT_JUDGMENT),
    "without a system message": ask(messages=({"role": "user", "content": "2+2?"},)),
    "conversation": ask(messages=tuple({"role": r, "content": c} for r, c in CHAT)),
    "one stop sequence": ask(parameters={"stop": "x", "top_k": 3}),
    "image at the end of the shared part": ask(
        f"a {IMAGE.marker} b", images=(IMAGE,), shared_prefix=2 + len(IMAGE.marker)
    ),
}
# What only litellm writes, because it changes the request by rules of its own.
LEFT: dict[str, ModelRequest] = {
    name: WHOLE.pop(name) for name in ("vendor parameters", "reasoning")
} | {
    "bounds in the schema": ask(
        reply_schema={"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}}
    ),
    "open objects in the schema": ask(reply_schema={"type": "object", "properties": {}}),
    "an enumeration of another type": ask(
        reply_schema=SCHEMA | {"properties": {"a": {"type": "string", "enum": ["a", 1]}}}
    ),
    "a definition that refers to another": ask(
        reply_schema=SCHEMA
        | {
            "properties": {"a": {"$ref": "#/$defs/b"}},
            "$defs": {"b": {"$ref": "#/$defs/c"}, "c": {"type": "string"}},
        }
    ),
    "two limits": ask(parameters={"max_completion_tokens": 7, "max_tokens": 9}),
    "no stop sequence": ask(parameters={"stop": []}),
    "all image": ask(IMAGE.marker, images=(IMAGE,)),
    "another field of a message": ask(messages=({"role": "user", "content": "a", "name": "ada"},)),
    "image of the system": ask(
        messages=(
            {"role": "system", "content": f"Be like {IMAGE.marker}."},
            {"role": "user", "content": "a"},
        ),
        images=(IMAGE,),
    ),
    "no text": ask(" "),
    "no turn of the user": ask(messages=({"role": "system", "content": "Hi."},)),
    "two turns of the user": ask(messages=({"role": "user", "content": "a"},) * 2),
}


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


def comparable(result: ModelReply | ModelError) -> dict[str, Any]:
    fields = shown(result)
    # Gemini's key has two variables, of which the direct transport names both.
    hint = str(fields.get("hint")).replace("GOOGLE_API_KEY or ", "")
    return fields | {"hint": hint}


async def both(
    model: str, script: ServerScript, request: ModelRequest, *, timeout_s: float = 60
) -> tuple[list[list[ServedRequest]], list[ModelReply | ModelError]]:
    """What each of the transports sends, and what it makes of the answer."""
    sent, results = [], []
    with OpenAILikeServer(script) as server:
        for kind in (DirectModel, LitellmModel):
            before = server.n_requests
            server.restart()
            opened = kind(model, api_base=server.url, timeout_s=timeout_s)
            results.append(await outcome(opened, request))
            await opened.aclose()
            sent.append(server.requests[before:])
    return sent, results


def wire(seen: ServedRequest) -> tuple[object, ...]:
    return seen.path, seen.body, [seen.headers.get(name) for name in HEADERS]


def through_litellm(seen: ServedRequest) -> bool:
    return "litellm" in seen.headers["user-agent"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", WHOLE)
async def test_the_same_request_is_the_same_on_the_wire(model: str, name: str) -> None:
    (direct, litellm), results = await both(model, None, WHOLE[name])
    assert [wire(one) for one in direct] == [wire(one) for one in litellm]
    # litellm leaves penalties out for Gemini's newer models, without a word.
    is_left = model.startswith("gemini") and name in {"penalties", "logprobs"}
    assert [through_litellm(one) for one in direct + litellm] == [is_left, True]
    assert comparable(results[0]) == comparable(results[1])
    assert not isinstance(results[0], ModelError)


@pytest.mark.parametrize("model", [CLAUDE, GEMINI])
@pytest.mark.parametrize("name", LEFT)
async def test_what_litellm_changes_by_rules_of_its_own_is_left_to_it(
    model: str, name: str
) -> None:
    (direct, litellm), results = await both(model, None, LEFT[name])
    assert [wire(one) for one in direct] == [wire(one) for one in litellm]
    # Claude takes a message that is all image as it is.
    assert all(map(through_litellm, direct)) or (model, name) == (CLAUDE, "all image")
    assert comparable(results[0]) == comparable(results[1])


@pytest.mark.parametrize("listed", [{}, {"max_tokens": 9}])
async def test_claude_may_write_as_much_as_any_table_says(
    monkeypatch: pytest.MonkeyPatch, listed: dict[str, object]
) -> None:
    # From litellm 1.110 on, its table has no `max_tokens`.
    listed |= dict.fromkeys(AnthropicProtocol.features, True)
    listed |= {"mode": "chat", "max_output_tokens": 9}
    monkeypatch.setattr("judgekit.models.protocols.listed_facts", lambda _: listed)
    with OpenAILikeServer() as server:
        model = DirectModel(CLAUDE, api_base=server.url)
        await outcome(model, ask())
        await model.aclose()
        assert [one.body["max_tokens"] for one in server.requests] == [9]


RULES: dict[str, ServerScript] = {
    "no temperature": refusing("temperature"),
    "no schema": refusing("output_format", complaint="{}: structured outputs are not supported"),
}


@pytest.mark.parametrize("name", RULES)
async def test_what_an_endpoint_refuses_is_dropped_alike(name: str) -> None:
    request = ask(parameters={"temperature": 0.0, "max_tokens": 9}, reply_schema=SCHEMA)
    (direct, litellm), results = await both(CLAUDE, RULES[name], request)
    assert [wire(one) for one in direct] == [wire(one) for one in litellm]
    assert len(direct) == 2
    assert comparable(results[0]) == comparable(results[1])
    assert not isinstance(results[0], ModelError)


# Faults of OpenAI's body; those of the others are below.
OF_OPENAI = {name for name in SERVER_FAULTS if name.endswith(("_choices", "_message", "_content"))}
OF_OPENAI |= {"object_content", "refusal", "reasoning", "no_usage", "odd_usage", "negative_usage"}
FAULTS = sorted(SERVER_FAULTS.keys() - TOO_LARGE - SLOW - READ_OTHERWISE - OF_OPENAI)


@pytest.mark.parametrize("model", [CLAUDE, GEMINI])
@pytest.mark.parametrize("name", FAULTS)
async def test_every_fault_means_the_same(model: str, name: str) -> None:
    sent, results = await both(model, name, ask())
    assert [len(one) for one in sent] == [1, 1]
    direct, litellm = map(comparable, results)
    if name in WORDED_OTHERWISE and (model, name) != (GEMINI, "deep_json"):
        assert [direct["retryable"], litellm["retryable"]] == [True, True]
    elif name != "deep_json":  # litellm calls it a refused request, which it is not
        assert direct == litellm


@pytest.mark.parametrize("model", [CLAUDE, GEMINI])
@pytest.mark.parametrize("name", sorted(SLOW))
async def test_every_slow_answer_ends_at_the_same_deadline(model: str, name: str) -> None:
    _, results = await both(model, name, ask(), timeout_s=0.15)
    assert comparable(results[0]) == comparable(results[1])
    assert isinstance(results[0], ModelError)
    assert results[0].kind == "timeout"


def claude(*parts: Any, reason: Any = "end_turn", **fields: Any) -> dict[str, Any]:
    usage = {"input_tokens": 10, "output_tokens": 5}
    content = [{"type": "text", "text": one} if isinstance(one, str) else one for one in parts]
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x"}
    return message | {"content": content, "stop_reason": reason, "usage": usage} | fields


def gemini(*parts: Any, reason: Any = "STOP", usage: Any = None, **fields: Any) -> dict[str, Any]:
    counts = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    content = [{"text": one} if isinstance(one, str) else one for one in parts]
    candidate = {"content": {"role": "model", "parts": content}, "finishReason": reason}
    whole = {"candidates": [candidate], "modelVersion": "gemini-x@1"}
    return whole | {"usageMetadata": counts | (usage or {})} | fields


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}
USED = {"input_tokens": 10, "output_tokens": 50}
OF_CLAUDE: dict[str, Any] = {
    "two parts": claude("a", "b"),
    "cached": claude(
        "4",
        usage=USED
        | {"cache_read_input_tokens": 3, "cache_creation_input_tokens": 2}
        | {"cache_creation": {"ephemeral_5m_input_tokens": 2}, "service_tier": "standard"},
    ),
    "thought": claude(THOUGHT, "4", usage=USED | {"output_tokens_details": {"thinking_tokens": 7}}),
    "more thought than reply": claude(
        THOUGHT, "4", usage=USED | {"output_tokens_details": {"thinking_tokens": 70}}
    ),
    "hidden thought": claude({"type": "thinking", "thinking": "", "signature": "s"}, "4"),
    "redacted thought": claude({"type": "redacted_thinking", "data": "x"}, "<think>a</think>4"),
    "thought aloud": claude("<think>hm</think>4"),
    "refusal": claude("I cannot.", reason="refusal"),
    "refusal without a word": claude(reason="refusal"),
    "refusal with details": claude(reason="refusal", stop_details={"type": "refusal"}),
    "cut off": claude("{", reason="max_tokens"),
    "stop sequence": claude("a", reason="stop_sequence", stop_sequence="x"),
    "no reason": claude("a", reason=None),
    "unknown end": claude("a", reason="weird"),
    "a tool nobody offered": claude(
        "a", {"type": "tool_use", "id": "t", "name": "f", "input": {"b": 1}}, reason="tool_use"
    ),
    "part of another kind": claude("a", {"type": "container_upload", "file_id": "f"}),
    "no parts": claude(),
    "blank": claude(" \n"),
    "content is null": claude() | {"content": None},
    "content is a text": claude() | {"content": "4"},
    "content is a list of texts": claude() | {"content": ["4"]},
    "text is a number": claude({"type": "text", "text": 4}),
    "part without a kind": claude({"text": "4"}),
    "no content": {"type": "message", "model": "m", "usage": USED},
    "no usage": {name: value for name, value in claude("4").items() if name != "usage"},
    "no model": {name: value for name, value in claude("4").items() if name != "model"},
    "no reason at all": {k: value for k, value in claude("4").items() if k != "stop_reason"},
    "usage is a text": claude("4", usage="n/a"),
    "usage is odd": claude("4", usage={"input_tokens": "many", "output_tokens": None}),
    "usage is negative": claude("4", usage={"input_tokens": -3, "output_tokens": 2}),
    "cached is odd": claude("4", usage=USED | {"cache_read_input_tokens": "x"}),
    "cached is null": claude("4", usage=USED | {"cache_read_input_tokens": None}),
    "details are odd": claude(
        "4", usage=USED | {"output_tokens_details": {"thinking_tokens": "x"}}
    ),
    "error": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    "a completion": {"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}]},
}
BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}}
OF_GEMINI: dict[str, Any] = {
    "two parts": gemini("a", "b"),
    "cached": gemini("4", usage={"cachedContentTokenCount": 4, "promptTokensDetails": []}),
    "thought": gemini({"text": "hm", "thought": True}, "4", usage={"thoughtsTokenCount": 7}),
    "thoughts beside": gemini("4", usage={"thoughtsTokenCount": 7, "totalTokenCount": 22}),
    "thought aloud": gemini("<think>hm</think>4"),
    "signed": gemini({"text": "4", "thoughtSignature": "s"}),
    **{
        f"ended by {reason}": gemini("a", reason=reason)
        for reason in (
            "MAX_TOKENS",
            "SAFETY",
            "RECITATION",
            "LANGUAGE",
            "OTHER",
            "BLOCKLIST",
            "SPII",
            "PROHIBITED_CONTENT",
            "MALFORMED_FUNCTION_CALL",
            "IMAGE_SAFETY",
            "NO_IMAGE",
            "UNEXPECTED_TOOL_CALL",
            "FINISH_REASON_UNSPECIFIED",
            "WEIRD",
            None,
        )
    },
    "cut off without text": gemini(reason="MAX_TOKENS"),
    "prompt blocked": BLOCKED,
    "prompt blocked, without usage": {"promptFeedback": {"blockReason": "OTHER"}},
    "two candidates": gemini("a") | {"candidates": gemini("b")["candidates"] * 2},
    "no candidates": gemini(candidates=[]),
    "candidates are null": gemini(candidates=None),
    "nothing": {},
    "empty candidate": gemini(candidates=[{"index": 0}]),
    "no content": gemini(candidates=[{"finishReason": "STOP"}]),
    "no parts": gemini(candidates=[{"content": {"role": "model"}, "finishReason": "STOP"}]),
    "no reason": gemini(candidates=[{"content": {"parts": [{"text": "4"}]}}]),
    "text is a number": gemini({"text": 4}),
    "text is null": gemini({"text": None}),
    "picture": gemini("a", {"inlineData": {"mimeType": "image/png", "data": "eA=="}}),
    "no usage": {name: value for name, value in gemini("4").items() if name != "usageMetadata"},
    "model is a number": gemini("4", modelVersion=3),
    "no model": {name: value for name, value in gemini("4").items() if name != "modelVersion"},
    "usage is a text": gemini("4", usageMetadata="n/a"),
    "usage is odd": gemini("4", usageMetadata={"promptTokenCount": "many"}),
    "usage is negative": gemini("4", usageMetadata={"promptTokenCount": -3}),
    "usage is empty": gemini("4", usageMetadata={}),
    "error": {"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}},
}
BODIES = [(CLAUDE, name, one) for name, one in OF_CLAUDE.items()]
BODIES += [(GEMINI, name, one) for name, one in OF_GEMINI.items()]


@pytest.mark.parametrize(("model", "name", "body"), BODIES, ids=lambda one: str(one)[:40])
async def test_every_shape_of_a_reply_is_read_alike(
    model: str, name: str, body: dict[str, Any]
) -> None:
    _, results = await both(model, ServedReply(body=body), ask())
    assert comparable(results[0]) == comparable(results[1]), name


@pytest.mark.parametrize("reason", ["pause_turn", "model_context_window_exceeded"])
async def test_what_claude_did_not_finish_is_cut_short(reason: str) -> None:
    # litellm has these two as finished until 1.106.
    _, results = await both(CLAUDE, ServedReply(body=claude("a", reason=reason)), ask())
    assert comparable(results[0])["finish_reason"] == "length"


async def test_thoughts_are_counted_where_the_provider_counts_them() -> None:
    stopped = gemini("a", reason="SAFETY", usage={"thoughtsTokenCount": 7, "totalTokenCount": 22})
    shown = claude(THOUGHT, "4", usage=USED)
    counted: list[list[Any]] = []
    for model, body in ((GEMINI, stopped), (CLAUDE, shown)):
        _, results = await both(model, ServedReply(body=body), ask())
        counted.append(
            [
                one.usage and one.usage.reasoning_tokens
                for one in results
                if isinstance(one, ModelReply)
            ]
        )
    # litellm leaves the first ones out, and estimates the second ones from the text.
    assert counted[0] == [7, 0]
    assert counted[1][0] == 0
    assert counted[1][1] > 0


@pytest.mark.parametrize("candidate", ["4", {"content": "4", "finishReason": "STOP"}])
async def test_what_is_no_candidate_is_no_reply(candidate: object) -> None:
    # litellm looks for the fields of a candidate in a text, and finds none of them.
    _, results = await both(GEMINI, ServedReply(body=gemini(candidates=[candidate])), ask())
    assert comparable(results[0])["kind"] == "protocol"


@pytest.mark.parametrize(
    ("model", "usage"), [(CLAUDE, {"usage": "n/a"}), (GEMINI, {"usageMetadata": "n/a"})]
)
async def test_a_good_reply_with_unreadable_usage_is_kept_after_one_request(
    model: str, usage: dict[str, Any]
) -> None:
    body = (claude if model == CLAUDE else gemini)("4") | usage
    sent, results = await both(model, ServedReply(body=body), ask())
    assert [len(one) for one in sent] == [1, 1]
    assert [(getattr(one, "text", one), getattr(one, "usage", one)) for one in results] == [
        ("4", None)
    ] * 2


def listed_models() -> list[str]:
    """The models of litellm's table that are called directly."""
    folder = litellm_folder()
    assert folder is not None
    table = json.loads((folder / "model_prices_and_context_window_backup.json").read_text())
    protocols = {"anthropic": AnthropicProtocol, "gemini": GeminiProtocol}
    return sorted(
        f"{provider}/{bare}"
        for name, entry in table.items()
        for provider in {entry.get("litellm_provider")} & protocols.keys()
        for bare in {name.removeprefix(f"{provider}/")}
        if protocols[provider](bare, is_own=False).facts
    )


@pytest.mark.parametrize("model", listed_models())
async def test_every_listed_model_gets_the_request_that_litellm_sends(model: str) -> None:
    parameters = {"temperature": 0.0, "top_p": 0.5, "seed": 7}
    for request in (ask(shared_prefix=5), ask(parameters=parameters, reply_schema=JUDGMENT)):
        (direct, litellm), results = await both(model, None, request)
        assert [wire(one) for one in direct] == [wire(one) for one in litellm]
        assert [through_litellm(one) for one in direct + litellm] == [False, True]
        assert comparable(results[0]) == comparable(results[1])


UNKNOWN = [
    "anthropic/m", "anthropic/claude-3-haiku-20240307", "anthropic/claude-sonnet-4-5@x",
    "gemini/m", "gemini/gemini-1.5-pro", "gemini/gemini-flash-latest", "gemini/gemma-3-27b-it",
]  # fmt: skip


@pytest.mark.parametrize("model", UNKNOWN)
async def test_a_model_that_litellm_calls_in_another_way_is_left_to_it(model: str) -> None:
    (direct, litellm), results = await both(model, None, ask(reply_schema=SCHEMA))
    assert [wire(one) for one in direct] == [wire(one) for one in litellm]
    assert all(map(through_litellm, direct))
    assert comparable(results[0]) == comparable(results[1])


@pytest.mark.parametrize(
    ("model", "variable", "path"),
    [
        (CLAUDE, "ANTHROPIC_API_BASE", ""),
        (CLAUDE, "ANTHROPIC_BASE_URL", ""),
        (CLAUDE, "ANTHROPIC_BASE_URL", "/v1/messages"),
        (GEMINI, "GEMINI_API_BASE", "/v1beta"),
    ],
)
async def test_both_find_the_address_in_the_same_variables(
    model: str, variable: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAILikeServer() as server:
        monkeypatch.setenv(variable, server.url.removesuffix("/v1") + path)
        for kind in (DirectModel, LitellmModel):
            opened = kind(model, api_base=None)
            await opened.complete(ask())
            await opened.aclose()
        direct, litellm = server.requests
    assert wire(direct) == wire(litellm)
    assert not through_litellm(direct)


@pytest.mark.parametrize("model", MODELS)
def test_both_call_the_same_address_of_the_provider(model: str) -> None:
    from litellm.llms.vertex_ai.common_utils import get_gemini_url  # noqa: PLC0415 - seconds

    provider, _, bare = model.partition("/")
    protocol = (AnthropicProtocol if provider == "anthropic" else GeminiProtocol)(
        bare, is_own=False
    )
    route, *_ = protocol.request([{"role": "user", "content": "a"}], {})
    if provider == "gemini":
        assert get_gemini_url("chat", bare, stream=False)[0].endswith(f".com/{route}")
    else:
        assert route == "v1/messages"


@pytest.mark.parametrize(
    ("model", "keys"),
    [
        (CLAUDE, {"ANTHROPIC_API_KEY": "sk-ant-oat01-abc"}),
        (CLAUDE, {"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "token-123"}),
        (CLAUDE, {"ANTHROPIC_API_KEY": "sentinel\n"}),
        (GEMINI, {"GOOGLE_API_KEY": "sentinel-o1"}),
    ],
)
async def test_both_authenticate_alike(
    model: str, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    with OpenAILikeServer() as server:
        monkeypatch.setenv(f"{model.partition('/')[0].upper()}_API_BASE", server.url)
        for name in ("auto", "litellm"):
            opened = open_model(name, model, api_base=None, timeout_s=60)
            await opened.complete(ask())
            await close_model(opened)
        direct, litellm = server.requests
    names = ("authorization", "x-api-key", "x-goog-api-key", "anthropic-beta")
    assert [direct.headers.get(one) for one in names] == [litellm.headers.get(one) for one in names]


@pytest.mark.parametrize("model", [CLAUDE, GEMINI])
async def test_without_a_key_both_say_so(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name)
    for kind in (DirectModel, LitellmModel):
        with pytest.raises(SettingsError, match="no API key for"):
            await kind(model, api_base=None).complete(ask())


@pytest.mark.parametrize("model", [CLAUDE, GEMINI])
async def test_an_address_of_ones_own_is_called_without_a_key(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in KEYS:
        monkeypatch.delenv(name)
    with OpenAILikeServer() as server:
        opened = DirectModel(model, api_base=server.url)
        assert (await opened.complete(ask())).text == GOOD
        await opened.aclose()
        assert "not-needed" in server.requests[0].headers.values()


def said(status: int, message: str, kind: str, **headers: str) -> ServedReply:
    """An error in the words of Anthropic."""
    error = {"type": kind, "message": message}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {"type": "error", "error": error, "request_id": "req_1"}
    return ServedReply(status=status, body=body, headers=named)


def google(status: int, message: str, word: str, **details: str) -> ServedReply:
    """An error in the words of Google."""
    error = {"code": status, "message": message, "status": word, "details": [details]}
    return ServedReply(status=status, body={"error": error})


ERRORS: list[tuple[str, ServedReply, str]] = [
    (CLAUDE, said(529, "Overloaded", "overloaded_error"), "overloaded"),
    (
        CLAUDE,
        said(429, "Too many tokens a minute", "rate_limit_error", retry_after="7"),
        "rate_limited",
    ),
    (
        CLAUDE,
        said(400, "prompt is too long: 9 tokens > 8 maximum", "invalid_request_error"),
        "context_window",
    ),
    (
        CLAUDE,
        said(400, "Output blocked by content filtering policy", "invalid_request_error"),
        "content_filter",
    ),
    (CLAUDE, said(400, "Your credit balance is too low", "invalid_request_error"), "quota"),
    (CLAUDE, said(401, "invalid x-api-key", "authentication_error"), "auth"),
    (CLAUDE, said(404, "model: claude-x", "not_found_error"), "not_found"),
    (CLAUDE, said(413, "Request exceeds the maximum size", "request_too_large"), "bad_request"),
    (CLAUDE, said(500, "Internal server error", "api_error"), "overloaded"),
    (
        GEMINI,
        google(400, "API key not valid.", "INVALID_ARGUMENT", reason="API_KEY_INVALID"),
        "auth",
    ),
    (
        GEMINI,
        google(
            400,
            "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            "INVALID_ARGUMENT",
        ),
        "context_window",
    ),
    (GEMINI, google(403, "Permission denied", "PERMISSION_DENIED"), "auth"),
    (GEMINI, google(404, "models/x is not found", "NOT_FOUND"), "not_found"),
    (
        GEMINI,
        google(429, "You exceeded your current quota", "RESOURCE_EXHAUSTED", retryDelay="34s"),
        "rate_limited",
    ),
    (GEMINI, google(500, "An internal error has occurred", "INTERNAL"), "overloaded"),
    (GEMINI, google(503, "The model is overloaded.", "UNAVAILABLE"), "overloaded"),
    (GEMINI, google(504, "Deadline expired", "DEADLINE_EXCEEDED"), "timeout"),
]


@pytest.mark.parametrize(("model", "reply", "kind"), ERRORS)
async def test_every_error_means_the_same(model: str, reply: ServedReply, kind: str) -> None:
    _, results = await both(model, reply, ask())
    assert comparable(results[0]) == comparable(results[1])
    assert comparable(results[0])["kind"] == kind
