from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from judgekit.errors import SettingsError
from judgekit.models import ModelPrice, PriceTable
from judgekit.models.pricing import PriceRange
from judgekit.records import Usage

if TYPE_CHECKING:
    from pathlib import Path

USAGE = Usage(input_tokens=1000, output_tokens=100)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A small table in litellm's format, with figures easy to work with."""
    entries = {
        "sample_spec": {"litellm_provider": "one of", "input_cost_per_token": 1.0},
        "plain": {
            "litellm_provider": "openai",
            "input_cost_per_token": 0.001,
            "output_cost_per_token": 0.01,
            "cache_read_input_token_cost": 0.0001,
            "output_cost_per_reasoning_token": 0.02,
            "max_tokens": 50,
        },
        "ft:plain": {
            "litellm_provider": "openai",
            "input_cost_per_token": 0.002,
            "output_cost_per_token": 0.02,
        },
        "long": {
            "litellm_provider": "vertex_ai-language-models",
            "input_cost_per_token": 1.0,
            "output_cost_per_token": 10.0,
            "input_cost_per_token_above_200k_tokens": 2.0,
            "output_cost_per_token_above_200k_tokens": 20.0,
        },
        "shop/tiers": {
            "litellm_provider": "shop",
            "tiered_pricing": [
                {"input_cost_per_token": 5.0, "output_cost_per_token": 6.0, "range": [100, 1000]},
                {"input_cost_per_token": 1.0, "output_cost_per_token": 2.0, "range": [0, 100]},
            ],
        },
        "shop/by-the-hour": {"litellm_provider": "shop"},
        "shop/free": {
            "litellm_provider": "shop",
            "input_cost_per_token": 0.0,
            "output_cost_per_token": 0.0,
        },
        "ollama/llama3": {
            "litellm_provider": "ollama",
            "input_cost_per_token": 0.0,
            "output_cost_per_token": 0.0,
        },
        "azure/plain": {
            "litellm_provider": "azure",
            "input_cost_per_token": 0.003,
            "output_cost_per_token": 0.03,
        },
    }
    path = tmp_path / "prices.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


@pytest.mark.parametrize("model", ["gpt-4.1-mini", "openai/gpt-4.1-mini"])
def test_a_bundled_price_is_found_with_and_without_the_provider(model: str) -> None:
    assert PriceTable().price_of(model, USAGE) == pytest.approx(1000 * 4e-7 + 100 * 1.6e-6)
    assert PriceTable().context_window(model) == 1047576


@pytest.mark.parametrize(
    "model",
    ["gemini/gemini-2.5-pro", "azure/gpt-4.1-mini", "anthropic/claude-sonnet-4-5",
     "deepseek/deepseek-chat", "vertex_ai/gemini-2.5-pro", "mistral/mistral-large-latest"],
)  # fmt: skip
def test_the_large_providers_have_prices_in_the_bundled_table(model: str) -> None:
    cost = PriceTable().price_of(model, USAGE)
    assert cost is not None
    assert cost > 0


@pytest.mark.parametrize("model", ["acme/unknown", "hosted_vllm/gpt-4o", "openai/nothing", ""])
def test_an_unknown_price_is_none_and_never_zero(model: str) -> None:
    assert PriceTable().price_of(model, USAGE) is None
    assert PriceTable().price_range(model, 10, 10) is None
    assert PriceTable().context_window(model) is None


@pytest.mark.parametrize("model", ["local", "local/smollm2@b179c9523d0e", "recorded:replies.jsonl"])
def test_models_on_this_machine_and_recorded_replies_cost_nothing(model: str) -> None:
    assert PriceTable().price_of(model, USAGE) == 0.0
    assert PriceTable().price_of(model, None) == 0.0
    assert PriceTable().price_range(model, 10, 10) == PriceRange(0.0, 0.0)


def test_without_usage_the_price_is_unknown() -> None:
    assert PriceTable().price_of("gpt-4.1-mini", None) is None


def test_another_endpoint_makes_the_price_unknown(table: Path) -> None:
    prices = PriceTable(path=table)
    for model in ("plain", "openai/plain"):
        assert prices.price_of(model, USAGE, api_base="http://127.0.0.1:8000/v1") is None
        assert prices.context_window(model, api_base="http://127.0.0.1:8000/v1") is None
        assert prices.price_of(model, USAGE, api_base="https://api.openai.com/v1") is not None


def test_a_provider_that_needs_an_endpoint_keeps_its_price(table: Path) -> None:
    prices = PriceTable(path=table)
    assert prices.price_of("azure/plain", USAGE, api_base="https://x.openai.azure.com") == 6.0
    assert prices.price_of("vertex_ai/long", USAGE, api_base="https://eu.example") is not None
    assert prices.price_of("long", USAGE, api_base="https://eu.example") is not None


def test_the_users_own_price_holds_at_any_endpoint(table: Path) -> None:
    own = ModelPrice.per_million(input_usd=1.0, output_usd=10.0)
    prices = PriceTable({"openai/mine": own, "local": own}, path=table)
    cost = prices.price_of("openai/mine", USAGE, api_base="http://127.0.0.1:1/v1")
    assert cost == pytest.approx(0.002)
    assert prices.price_of("local", USAGE) == pytest.approx(0.002)


def test_another_providers_price_is_not_taken(table: Path) -> None:
    assert PriceTable(path=table).price_of("openrouter/openai/plain", USAGE) is None
    assert PriceTable(path=table).price_of("azure/long", USAGE) is None


def test_the_tables_own_specimen_is_no_model(table: Path) -> None:
    assert PriceTable(path=table).price_of("sample_spec", USAGE) is None


def test_cached_input_and_reasoning_have_their_own_prices(table: Path) -> None:
    usage = Usage(
        input_tokens=1000, cached_input_tokens=400, output_tokens=100, reasoning_tokens=60
    )
    cost = PriceTable(path=table).price_of("openai/plain", usage)
    assert cost == pytest.approx(600 * 0.001 + 400 * 0.0001 + 40 * 0.01 + 60 * 0.02)


def test_per_million_prices_keep_those_of_special_tokens() -> None:
    price = ModelPrice.per_million(
        input_usd=4, output_usd=8, cached_input_usd=1, reasoning_usd=16, cache_write_usd=5
    )
    assert price == ModelPrice(4e-6, 8e-6, 1e-6, 16e-6, 5e-6)


@pytest.mark.parametrize(("written", "n_dear"), [(None, 0), (0, 0), (20, 20), (500, 70)])
def test_tokens_written_to_a_prompt_cache_have_their_own_price(
    written: int | None, n_dear: int
) -> None:
    price = ModelPrice(1.0, 10.0, cached_input_usd=0.1, cache_write_usd=1.25)
    usage = Usage(input_tokens=100, cached_input_tokens=30, cache_write_tokens=written)
    assert price.cost(usage) == pytest.approx(30 * 0.1 + n_dear * 1.25 + (70 - n_dear))
    assert ModelPrice(1.0, 10.0).cost(usage) == pytest.approx(100)


def test_a_fine_tuned_model_is_priced_as_its_base_says(table: Path) -> None:
    cost = PriceTable(path=table).price_of("openai/ft:plain:acme::abc123", USAGE)
    assert cost == pytest.approx(1000 * 0.002 + 100 * 0.02)


def test_a_long_prompt_is_charged_by_its_own_price(table: Path) -> None:
    prices = PriceTable(path=table)
    assert prices.price("long", input_tokens=200_000) == ModelPrice(1.0, 10.0)
    assert prices.price("long", input_tokens=200_001) == ModelPrice(2.0, 20.0)


def test_a_tier_charges_every_token_of_the_call(table: Path) -> None:
    prices = PriceTable(path=table)
    assert prices.price("shop/tiers", input_tokens=100) == ModelPrice(1.0, 2.0)
    assert prices.price("shop/tiers", input_tokens=101) == ModelPrice(5.0, 6.0)
    assert prices.price("shop/tiers", input_tokens=5000) == ModelPrice(5.0, 6.0)


def test_a_listed_price_of_zero_is_believed_only_of_models_run_at_home(table: Path) -> None:
    prices = PriceTable(path=table)
    assert prices.price_of("shop/free", USAGE) is None
    assert prices.price_of("shop/by-the-hour", USAGE) is None
    assert prices.price_of("ollama/llama3", USAGE) == 0.0


def test_the_range_goes_from_all_cached_to_the_longest_reply(table: Path) -> None:
    found = PriceTable(path=table).price_range("plain", 1000, 100)
    assert found is not None
    assert found.low == pytest.approx(0.1)
    assert found.high == pytest.approx(1.0 + 2.0)


def test_an_older_entry_gives_its_window_as_max_tokens(table: Path) -> None:
    assert PriceTable(path=table).context_window("openai/plain") == 50


def test_without_a_table_prices_are_unknown(tmp_path: Path) -> None:
    assert PriceTable(path=tmp_path / "none.json").price_of("gpt-4.1-mini", USAGE) is None


_COUNTS = st.integers(0, 10**6)


@given(
    _COUNTS,
    _COUNTS,
    st.none() | _COUNTS,
    _COUNTS,
    _COUNTS,
    st.sampled_from(["openai/gpt-5", "anthropic/claude-sonnet-4-5"]),
)
def test_a_call_never_costs_less_or_more_than_its_range(
    sent: int, cached: int, written: int | None, received: int, reasoning: int, model: str
) -> None:
    usage = Usage(
        input_tokens=sent,
        cached_input_tokens=min(cached, sent),
        cache_write_tokens=written,
        output_tokens=received,
        reasoning_tokens=min(reasoning, received),
    )
    cost = PriceTable().price_of(model, usage)
    found = PriceTable().price_range(model, sent, received)
    assert cost is not None
    assert found is not None
    assert found.low * (1 - 1e-9) <= cost <= found.high * (1 + 1e-9)


def test_prices_need_no_litellm_import() -> None:
    code = (
        "import sys\n"
        "from judgekit.models.pricing import PriceTable\n"
        "print(PriceTable().context_window('openai/gpt-4.1-mini'))\n"
        "assert 'litellm' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1047576\n"


@pytest.mark.parametrize(
    ("model", "most"), [("openai/gpt-4.1-mini", 32_768), ("gpt-4", 4096), ("nobody/knows", None)]
)
def test_how_much_a_model_can_say_is_known_by_its_name(model: str, most: int | None) -> None:
    assert PriceTable().max_output_tokens(model) == most


def test_writing_to_a_prompt_cache_has_a_price_where_one_is_listed() -> None:
    price = PriceTable().price("anthropic/claude-sonnet-4-5")
    assert price is not None
    assert price.cache_write_usd == 3.75e-6
    other = PriceTable().price("openai/gpt-4.1-mini")
    assert other is not None
    assert other.cache_write_usd is None


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf"), "1"])
def test_a_price_is_0_or_more(price: Any) -> None:
    with pytest.raises(SettingsError, match=f"output_usd is {price!r}"):
        ModelPrice(1e-6, price)


def test_a_table_holds_prices_and_nothing_else() -> None:
    prices: Any = {"openai/m": {"input_usd": 1, "output_usd": 2}}
    with pytest.raises(SettingsError, match="the price of openai/m is"):
        PriceTable(prices)
