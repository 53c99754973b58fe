"""Counts tokens offline and works out what they cost, without importing litellm."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast
from urllib.parse import urlsplit

from judgekit.errors import SettingsError
from judgekit.models.request import Model, ModelAround, ModelReply, ModelRequest

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping, Sequence

    from tiktoken import Encoding

    from judgekit.records import Usage

_FILE = "model_prices_and_context_window_backup.json"
_FREE = ("local", "echo")
_FREE_PREFIXES = ("local/", "recorded:")

# Providers that run on the user's own machine, so that a listed price of 0 is one.
_FREE_PROVIDERS = frozenset({"ollama", "ollama_chat", "lemonade"})

# Providers whose names are also used for endpoints of others.
_GENERIC_PROVIDERS = frozenset(
    {"", "openai", "text-completion-openai", "custom_openai", "openai_like", "hosted_vllm"}
)

_MILLION = 1_000_000
_ABOVE = re.compile(r"^input_cost_per_token_above_(\d+)k_tokens$")

BATCH_PRICE_SHARE = 0.5
"""What a request mostly costs in a provider's batch, as a share of its price as a call."""

BATCH_PROVIDERS = ("openai", "anthropic", "gemini")
"""The providers whose batches are supported."""


def can_batch(model: str) -> bool:
    """Whether requests to a model can be sent as provider batches."""
    return model.partition("/")[0] in BATCH_PROVIDERS


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """What a model charges, in US dollars per token."""

    input_usd: float
    """A token sent."""

    output_usd: float
    """A token received."""

    cached_input_usd: float | None = None
    """A token sent that the provider had in its prompt cache; None means `input_usd`."""

    reasoning_usd: float | None = None
    """A token of hidden reasoning; None means `output_usd`."""

    cache_write_usd: float | None = None
    """A token sent that the provider puts into its prompt cache; None means `input_usd`."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            price = getattr(self, name)
            if price is not None and not (isinstance(price, int | float) and 0 <= price < math.inf):
                raise SettingsError(f"{name} is {price!r}", hint="give US dollars, 0 or more")

    @classmethod
    def per_million(
        cls,
        *,
        input_usd: float,
        output_usd: float,
        cached_input_usd: float | None = None,
        reasoning_usd: float | None = None,
        cache_write_usd: float | None = None,
    ) -> Self:
        """A price as price lists give it.

        Args:
            input_usd: US dollars for a million tokens sent.
            output_usd: US dollars for a million tokens received.
            cached_input_usd: The same for tokens in the provider's prompt cache.
            reasoning_usd: The same for hidden reasoning.
            cache_write_usd: The same for tokens that the provider puts into its prompt cache.

        Returns:
            The price per token.
        """
        optional = (cached_input_usd, reasoning_usd, cache_write_usd)
        return cls(
            input_usd / _MILLION,
            output_usd / _MILLION,
            *(None if price is None else price / _MILLION for price in optional),
        )

    def cost(self, usage: Usage) -> float:
        """What the tokens of one call cost.

        Args:
            usage: Its tokens; those read from a prompt cache or written to it are part of the
                input, reasoning of the output. Writes that are not known count as plain tokens.

        Returns:
            US dollars.
        """
        # Some providers report more cached or reasoning tokens than tokens; never a negative price.
        cached = min(usage.cached_input_tokens, usage.input_tokens)
        written = min(usage.cache_write_tokens or 0, usage.input_tokens - cached)
        reasoning = min(usage.reasoning_tokens, usage.output_tokens)
        return math.fsum(
            (
                (usage.input_tokens - cached - written) * self.input_usd,
                written * _or(self.cache_write_usd, self.input_usd),
                cached * _or(self.cached_input_usd, self.input_usd),
                (usage.output_tokens - reasoning) * self.output_usd,
                reasoning * _or(self.reasoning_usd, self.output_usd),
            )
        )


def most_cost(price: ModelPrice, n_sent: int, n_received: int) -> float:
    """What tokens cost at most, whatever a provider finds in its prompt cache or writes to it."""
    # Cached tokens cost more than fresh ones at some providers, as those that are written do, and
    # some write every long prompt to their cache. Hidden reasoning may have a price of its own.
    sent = max(price.input_usd, price.cached_input_usd or 0.0, price.cache_write_usd or 0.0)
    return n_sent * sent + n_received * max(price.output_usd, price.reasoning_usd or 0.0)


# The price of models on this machine and of recorded replies, known without a usage report.
_FREE_OF_CHARGE = ModelPrice(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class PriceRange:
    """The least and the most one call can cost, in US dollars."""

    low: float
    """Every token sent is in the provider's prompt cache, and next to nothing comes back."""

    high: float
    """Nothing is in the prompt cache, and the reply is as long as it may be."""


class PriceTable:
    """Prices of models: the user's own first, then those bundled with litellm.

    A price is that of a direct, unhurried call: no batch discount, no priority surcharge, no
    off-peak hours. Long prompts are charged by their own price where the table has one. A listed
    price of 0 counts as unknown, except where the model runs on the user's own machine.

    Args:
        overrides: The user's own prices, by the model's name as it is given to judgekit; they
            hold at any endpoint.
        path: A price table in litellm's format; None means the one inside litellm.
    """

    def __init__(
        self, overrides: Mapping[str, ModelPrice] | None = None, *, path: Path | None = None
    ) -> None:
        self.overrides = dict(overrides or {})
        for model, price in self.overrides.items():
            # What is noticed after a call would cost its reply.
            if not isinstance(price, ModelPrice):
                raise SettingsError(f"the price of {model} is {price!r:.80}, no jk.ModelPrice")
        self.path = path

    def price_of(
        self, model: str, usage: Usage | None, *, api_base: str | None = None
    ) -> float | None:
        """What one call cost.

        Args:
            model: The model's name, with or without its provider: `openai/gpt-4.1-mini`.
            usage: Its tokens; None where the provider gave none.
            api_base: The endpoint, where it is not the provider's own. At another endpoint a
                name such as `openai/gpt-4o` does not determine the price.

        Returns:
            US dollars: 0.0 for models on this machine and for recorded replies, None where the
            price or the tokens are not known, which is not zero.
        """
        # Long prompts have prices of their own, so that the price depends on what was sent.
        n_sent = 0 if usage is None else usage.input_tokens
        price = self.price(model, input_tokens=n_sent, api_base=api_base)
        if usage is None:
            return 0.0 if price is _FREE_OF_CHARGE else None
        return None if price is None else price.cost(usage)

    def price(
        self, model: str, *, input_tokens: int = 0, api_base: str | None = None
    ) -> ModelPrice | None:
        """What a model charges for a call of that size.

        Args:
            model: As for `price_of`.
            input_tokens: Tokens sent; some models charge more for long prompts.
            api_base: As for `price_of`.

        Returns:
            Its price, or None where it is not known.
        """
        # Before everything else: contracts differ from list prices, also for models that are listed
        # as free.
        if model in self.overrides:
            return self.overrides[model]
        if model in _FREE or model.startswith(_FREE_PREFIXES):
            return _FREE_OF_CHARGE
        facts = listed_facts(model, api_base, table=self.path)
        price = _price_in(facts, input_tokens) if facts else None
        # A listed 0 mostly means "not entered yet", and a budget must not believe it.
        runs_here = model.partition("/")[0] in _FREE_PROVIDERS and not model.endswith("-cloud")
        if price is None or (price.output_usd == price.input_usd == 0.0 and not runs_here):
            return None
        return price

    def price_range(
        self, model: str, input_tokens: int, max_output_tokens: int, *, api_base: str | None = None
    ) -> PriceRange | None:
        """The least and the most one call can cost.

        Args:
            model: As for `price_of`.
            input_tokens: Tokens that will be sent.
            max_output_tokens: The most tokens that may come back, hidden reasoning included.
            api_base: As for `price_of`.

        Returns:
            US dollars, or None where the price is not known.
        """
        price = self.price(model, input_tokens=input_tokens, api_base=api_base)
        if price is None:
            return None
        cached = min(_or(price.cached_input_usd, price.input_usd), price.input_usd)
        most = most_cost(price, input_tokens, max_output_tokens)
        return PriceRange(low=input_tokens * cached, high=most)

    def context_window(self, model: str, *, api_base: str | None = None) -> int | None:
        """How many tokens a model takes.

        Args:
            model: As for `price_of`.
            api_base: As for `price_of`.

        Returns:
            Tokens, or None where it is not known.
        """
        facts = listed_facts(model, api_base, table=self.path)
        window = facts.get("max_input_tokens", facts.get("max_tokens"))
        return int(window) if isinstance(window, int | float) else None

    def takes_images(self, model: str, api_base: str | None = None) -> bool:
        """Whether a model may take images: it is not known to take none."""
        facts = listed_facts(model, api_base, table=self.path)
        is_local = model == "local" or model.startswith("local/")
        return not is_local and (not facts or facts.get("supports_vision") is True)

    def max_output_tokens(self, model: str) -> int | None:
        """How many tokens a model can answer with, by its name, at any endpoint.

        Args:
            model: As for `price_of`.

        Returns:
            Tokens, hidden reasoning included, or None where it is not known.
        """
        most = listed_facts(model, table=self.path).get("max_output_tokens")
        # Some entries hold 0 or text here.
        return int(most) if isinstance(most, int | float) and most >= 1 else None


def listed_facts(
    model: str, api_base: str | None = None, *, table: Path | None = None
) -> Mapping[str, object]:
    """What a table, by default litellm's, says of a model, in its words; nothing if not listed."""
    # Looked up as litellm does: by the whole name, then without the provider.
    entries = _read_table(table)
    prefix, slash, bare = model.rpartition("/")
    if bare.startswith("ft:"):  # a tuned model is priced as its base: `ft:gpt-4o:org::id`
        model = prefix + slash + ":".join(bare.split(":")[:2])
    entry = entries.get(model) if model != "sample_spec" else None
    provider, slash, bare = model.partition("/")
    if entry is None and slash and bare in entries:
        # Only where the entry is that provider's (`vertex_ai-language-models` is by
        # `vertex_ai`): an Azure deployment or a reseller has prices of its own.
        owner = str(entries[bare].get("litellm_provider", ""))
        if owner == provider or owner.startswith((f"{provider}-", f"{provider}_")):
            entry = entries[bare]
    if entry is None or not api_base:
        return entry or {}
    # Azure and its like need an endpoint and are priced by their own names; OpenAI's names are
    # also what every compatible server is called by.
    provider = provider if slash else ""
    is_generic = provider in _GENERIC_PROVIDERS
    is_openai = bool(provider) or entry.get("litellm_provider") == "openai"
    is_elsewhere = urlsplit(api_base).hostname != "api.openai.com"
    return {} if is_generic and is_openai and is_elsewhere else entry


@lru_cache(maxsize=1)
def litellm_folder() -> Path | None:
    """Where litellm is installed; found without importing it, which takes seconds."""
    spec = find_spec("litellm")
    places = None if spec is None else spec.submodule_search_locations
    return Path(places[0]) if places else None


@lru_cache(maxsize=4)
def _read_table(path: Path | None) -> dict[str, dict[str, object]]:
    """The parsed table; an empty one where litellm is not installed, so that prices are unknown."""
    if path is None and (folder := litellm_folder()) is not None:
        path = folder / _FILE
    if path is None or not path.is_file():
        return {}
    return cast("dict[str, dict[str, object]]", json.loads(path.read_text(encoding="utf-8")))


def _price_in(entry: Mapping[str, object], input_tokens: int) -> ModelPrice | None:
    tier = _tier(entry, input_tokens)
    above = ""
    if tier is None:
        # The suffix of the prices for long prompts, where this prompt is one.
        limits = [int(match[1]) for key in entry if (match := _ABOVE.match(key))]
        crossed = [limit for limit in limits if input_tokens > limit * 1000]
        above = f"_above_{max(crossed)}k_tokens" if crossed else ""
    source = entry if tier is None else {**entry, **tier}

    def rate(name: str) -> float | None:
        value = source.get(f"{name}{above}", source.get(name))
        return float(value) if isinstance(value, int | float) else None

    sent, received = rate("input_cost_per_token"), rate("output_cost_per_token")
    if sent is None or received is None:
        return None
    # A tier that names no price for cached tokens charges them in full.
    stale = tier is not None and "cache_read_input_token_cost" not in tier
    cached = None if stale else rate("cache_read_input_token_cost")
    return ModelPrice(
        sent,
        received,
        cached,
        rate("output_cost_per_reasoning_token"),
        rate("cache_creation_input_token_cost") or None,
    )


def _tier(entry: Mapping[str, object], input_tokens: int) -> dict[str, object] | None:
    """The tier that charges every token of a call of that size, where prices go by tiers."""
    tiers = cast("list[dict[str, object]]", entry.get("tiered_pricing") or [])
    ranges = [(cast("list[float]", tier["range"]), tier) for tier in tiers if "range" in tier]
    if not ranges:
        return None
    ranges.sort(key=lambda pair: pair[0][0])
    return next((tier for (_, end), tier in ranges if input_tokens <= end), ranges[-1][1])


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


# Prompt caches of providers begin at 1,024 tokens, and keep a prompt for five minutes or more.
_SHORTEST_CACHED = 1024  # tokens, each of a character or more
_CACHED_FOR_S = 240
_MOST_PREFIXES = 10_000


class PricedModel(ModelAround):
    """A model whose replies have their cost; inside the cache, so that the cost is cached too.

    Of requests with a long prefix in common the first goes alone: a provider has a prompt in its
    cache when it begins to reply, and requests that are sent before all pay for writing it.
    """

    def __init__(
        self, model: Model, prices: PriceTable, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(model)
        self._prices = prices
        self._clock = clock
        # By the hash of a prefix: when it was last sent, and the first request while it is out.
        self._sent_at: dict[int, float] = {}
        self._first: dict[tuple[asyncio.AbstractEventLoop, int], asyncio.Event] = {}

    async def complete(self, request: ModelRequest) -> ModelReply:
        if request.images and not self._prices.takes_images(request.model, request.api_base):
            raise SettingsError(
                f"case {request.subject.case_id!r} has an image, and {request.model} takes none",
                hint="name a model that takes images, such as openai/gpt-4.1-mini",
            )
        if (request.shared_prefix or 0) < _SHORTEST_CACHED:
            reply = await self._model.complete(request)
        else:
            reply = await self._in_turn(request)
        # A local model and a recorded reply know their cost better than a table.
        if reply.cost_usd is not None:
            return reply
        cost = self._prices.price_of(request.model, reply.usage, api_base=request.api_base)
        return reply if cost is None else reply.model_copy(update={"cost_usd": cost})

    async def _in_turn(self, request: ModelRequest) -> ModelReply:
        import asyncio  # noqa: PLC0415 - commands that only count tokens need none

        *before, last = (message["content"] for message in request.messages)
        shared = last[: request.shared_prefix]
        n_tokens = len(shared.encode("utf-8", "surrogatepass")) / _BYTES_PER_TOKEN
        price = self._prices.price(request.model, api_base=request.api_base)
        saves = price is not None and _or(price.cached_input_usd, price.input_usd) < price.input_usd
        # Claude's requests are marked, and pay for writing whatever the price list has.
        saves = saves or "claude" in request.model.lower()
        if not saves or n_tokens < _SHORTEST_CACHED:
            return await self._model.complete(request)
        prefix = hash((*before, shared))
        place, ended = (asyncio.get_running_loop(), prefix), None
        if self._clock() - self._sent_at.get(prefix, -math.inf) > _CACHED_FOR_S:
            if place in self._first:
                await self._first[place].wait()
            else:
                self._first[place] = ended = asyncio.Event()
        try:
            reply = await self._model.complete(request)
        finally:
            if ended is not None:
                del self._first[place]
                ended.set()
        if len(self._sent_at) >= _MOST_PREFIXES:
            self._sent_at.clear()
        self._sent_at[prefix] = self._clock()
        return reply


_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
_BYTES_PER_TOKEN = 4

# Encoding time grows faster than the length of a text without spaces; longer texts are cut.
_PIECE = 16_384

_PER_MESSAGE = 3
_PER_REPLY = 3
_FALLBACKS = ("o200k_base", "cl100k_base")

# The file of each encoding in a cache folder of tiktoken, and the SHA-256 of its content. tiktoken
# deletes a file with another content and downloads it again, so both are checked first.
_FILES = {
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "p50k_base": (
        "ec7223a39ce59f226a68acc30dc1af2788490e15",
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    ),
    "r50k_base": (
        "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4",
        "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    ),
}
_FILES |= {"o200k_harmony": _FILES["o200k_base"], "p50k_edit": _FILES["p50k_base"]}

_loading = threading.Lock()


@dataclass(frozen=True, slots=True)
class TokenCount:
    """A number of tokens and how it was found."""

    n: int
    source: str
    """`tiktoken:<encoding>` for the model's own encoding, `fallback:<encoding>` where the model's
    own is not known or not at hand, `estimate:bytes/4` where no encoding is at hand."""


def count_tokens(text: str, model: str, *, folders: Sequence[Path] | None = None) -> TokenCount:
    """Count the tokens of a text as a model would see them; offline, always."""
    # Special tokens written in the text count as the ordinary text they are.
    encoding, source = _encoding_for(model, folders)
    return TokenCount(_count(text, encoding), source)


def count_messages(
    messages: Sequence[Mapping[str, str]], model: str, *, folders: Sequence[Path] | None = None
) -> TokenCount:
    # To the tokens of every role and content come three for each message and three that open the
    # reply: the overhead OpenAI documents for its chat format. Other providers' overhead differs by
    # a few tokens a message, and schemas and tools are not counted.
    encoding, source = _encoding_for(model, folders)
    total = _PER_REPLY
    for message in messages:
        total += _PER_MESSAGE + sum(_count(text, encoding) for text in message.values())
    return TokenCount(total, source)


def encoding_folders() -> tuple[Path, ...]:
    """The folders where encodings may lie: the user's own, then the one inside litellm."""
    # litellm is looked up but not imported.
    own, litellm = os.environ.get(_CACHE_VARIABLE), litellm_folder()
    folders = (Path(own),) if own else ()
    shipped = () if litellm is None else (litellm / "litellm_core_utils" / "tokenizers",)
    return (*folders, *shipped)


def token_source(model: str, *, folders: Sequence[Path] | None = None) -> str:
    """How the tokens of a model are counted; loads no encoding, which takes 0.2 seconds."""
    return _encoding_file(model, folders)[0]


def _encoding_for(model: str, folders: Sequence[Path] | None) -> tuple[Encoding | None, str]:
    source, folder = _encoding_file(model, folders)
    name = source.partition(":")[2]
    return None if folder is None else _load(name, folder), source


def _encoding_file(model: str, folders: Sequence[Path] | None) -> tuple[str, Path | None]:
    """How the tokens of a model are counted, and the folder that has the file for it."""
    places = tuple(encoding_folders() if folders is None else folders)
    own = _encoding_name(model)
    for name in (own, *_FALLBACKS):
        if name is not None and (folder := _folder_of(name, places)) is not None:
            return f"{'tiktoken' if name == own else 'fallback'}:{name}", folder
    return f"estimate:bytes/{_BYTES_PER_TOKEN}", None


@lru_cache(maxsize=1024)
def _encoding_name(model: str) -> str | None:
    """The encoding tiktoken's own table has for a model; providers are stripped one by one."""
    from tiktoken import encoding_name_for_model  # noqa: PLC0415 - not needed to start

    name = model
    while True:
        try:
            return encoding_name_for_model(name)
        except KeyError:
            _, slash, name = name.partition("/")
            if not slash:
                return None


@lru_cache(maxsize=64)
def _folder_of(name: str, folders: tuple[Path, ...]) -> Path | None:
    """The first folder that holds the file of an encoding whole."""
    if name not in _FILES:
        return None
    file_name, digest = _FILES[name]
    for folder in folders:
        with suppress(OSError):
            if hashlib.sha256((folder / file_name).read_bytes()).hexdigest() == digest:
                return folder
    return None


@lru_cache(maxsize=64)
def _load(name: str, folder: Path) -> Encoding:
    from tiktoken import get_encoding  # noqa: PLC0415 - not needed to start

    with _loading:
        # The one variable tiktoken takes its folder from; the user's own value comes back.
        before = os.environ.get(_CACHE_VARIABLE)
        os.environ[_CACHE_VARIABLE] = str(folder)
        try:
            return get_encoding(name)
        finally:
            del os.environ[_CACHE_VARIABLE]
            if before is not None:
                os.environ[_CACHE_VARIABLE] = before


def _count(text: str, encoding: Encoding | None) -> int:
    if encoding is None:
        return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)
    n, start = 0, 0
    while start < len(text):
        end = start + _PIECE
        # Cut at a space where there is one; each cut can move the count by a token or two.
        space = text.rfind(" ", start + _PIECE // 2, end) if end < len(text) else -1
        end = space if space > 0 else end
        n += len(encoding.encode(text[start:end], disallowed_special=()))
        start = end
    return n
