from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.models.cache import MemoryCache
from judgekit.models.embeddings import embedding_request
from tests.evaluation.plans import COMMAND, RECORDED, bought, opened, planned, suite

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.evaluation import ModelPlan

EMBEDDER = "openai/text-embedding-3-small"
SCORER = {"type": "similarity", "method": "embedding", "model": EMBEDDER}
CASES = [{"id": f"c{n}", "input": "?", "reference": "The answer."} for n in range(3)]
BARE: dict[str, Any] = {"judge": (), "rubric": None, "cases": CASES, "scorers": [SCORER]}
PRICES = {EMBEDDER: {"input_usd": 1_000_000, "output_usd": 0}}


def of_vectors(folder: Path, *variants: dict[str, Any], **fields: Any) -> ModelPlan:
    asking = {name: fields.pop(name) for name in ("cache", "refresh") if name in fields}
    plan = planned(suite(folder, *variants, **BARE | fields), **asking)
    (model,) = plan.models
    assert (model.role, model.name, model.model) == ("checks", EMBEDDER, EMBEDDER)
    return model


def test_vectors_of_recorded_outputs_are_counted_and_priced(tmp_path: Path) -> None:
    model = of_vectors(tmp_path, RECORDED, prices=PRICES)
    assert (model.n_questions, model.n_owned, model.likely.calls) == (4, 0, 4)  # one reference
    assert model.likely == model.most
    assert (model.likely.output_tokens, model.likely.price_usd) == (0, model.likely.input_tokens)


def test_vectors_that_are_owned_are_not_asked_for(tmp_path: Path) -> None:
    cache = MemoryCache()
    bought(cache, [embedding_request(EMBEDDER, "The answer.")], "AAAAAA==", cost_usd=0.5)
    model = of_vectors(tmp_path, RECORDED, cache=cache)
    assert (model.n_questions, model.n_owned, model.likely.calls) == (4, 1, 3)
    assert model.saved_usd == 0.5
    assert of_vectors(tmp_path, RECORDED, cache=cache, refresh=True).likely.calls == 4


def test_answers_that_are_not_there_yet_are_as_long_as_answers_are(tmp_path: Path) -> None:
    model = of_vectors(tmp_path, COMMAND)
    assert (model.n_questions, model.likely.calls) == (4, 4)
    assert model.most.input_tokens > model.likely.input_tokens > 3 * 200


def test_several_that_compare_the_same_text_ask_once(tmp_path: Path) -> None:
    similar = {"type": "similar", "threshold": 0.1}
    model = of_vectors(tmp_path, COMMAND, assertions=[similar, similar])
    assert model.n_questions == 4


def test_what_has_nothing_to_compare_asks_nothing(tmp_path: Path) -> None:
    cases = [{"id": "c0", "input": "?"}]
    assert of_vectors(tmp_path, RECORDED, cases=cases).n_questions == 0
    away = {**SCORER, "path": "nowhere"}
    assert of_vectors(tmp_path, RECORDED, scorers=[away]).n_questions == 0


def test_without_a_cache_each_answer_asks_for_the_reference(tmp_path: Path) -> None:
    assert of_vectors(tmp_path, RECORDED, cache=None).likely.calls == 6


def test_a_suite_without_a_model_of_embeddings_plans_none(tmp_path: Path) -> None:
    lexical = {"type": "similarity", "method": "lexical"}
    made = suite(tmp_path, RECORDED, **BARE | {"scorers": [lexical]})
    assert planned(made).models == ()
    ready = opened(made)
    with pytest.raises(StopIteration):
        next(iter(ready.plans.embeddings))
