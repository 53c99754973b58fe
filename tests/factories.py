"""Records for tests; a test says only what matters to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from judgekit.judge import Judge
from judgekit.models.request import Model, ModelReply, ModelRequest
from judgekit.records import Case, Criterion, JudgeFailure, Judgment, Output, Rubric

DATA = Path(__file__).parent / "data"


def make_case(**fields: Any) -> Case:
    """A question with an answer."""
    return Case(**{"id": "refund", "input": "Can I return it?"} | fields)


def make_output(text: str | None = "Yes, within 30 days.", **fields: Any) -> Output:
    """An answer."""
    return Output(text=text, **fields)


def make_criterion(name: str = "accuracy", **fields: Any) -> Criterion:
    """A criterion on the scale from 1 to 5."""
    known = {"question": f"How good is its {name}?", "scale": {"min": 1, "max": 5, "integer": True}}
    return Criterion(**{"name": name} | known | fields)


def make_rubric(*criteria: Criterion | str, **fields: Any) -> Rubric:
    """A rubric of the given criteria, by name or whole; of `accuracy` without any."""
    made = [c if isinstance(c, Criterion) else make_criterion(c) for c in criteria or ("accuracy",)]
    return Rubric(**{"name": "support", "criteria": made} | fields)


def make_judgment(criterion: str = "accuracy", value: float = 1.0, **fields: Any) -> Judgment:
    """A judgment on the scale from 0 to 1."""
    known = {"raw": value, "value": value, "rationale": "It says so."}
    return Judgment(**{"criterion": criterion} | known | fields)


def make_failure(criterion: str = "accuracy", **fields: Any) -> JudgeFailure:
    """A judge's failure to answer."""
    return JudgeFailure(**{"criterion": criterion, "kind": "unreadable", "message": "no"} | fields)


def make_request(text: str = "How good is it?", **fields: Any) -> ModelRequest:
    """A request with one message."""
    messages = ({"role": "user", "content": text},)
    return ModelRequest(**{"model": "scripted", "messages": messages} | fields)


def make_judge(model: str | Model, **settings: Any) -> Judge:
    """A judge without a cache, unless one is given."""
    return Judge(model, **{"cache": None} | settings)


def answer(score: float | None = 4, **fields: Any) -> dict[str, Any]:
    """What a judge says of one criterion, in the order it is asked for."""
    known = {
        "evidence": [],
        "rationale": "The policy is quoted.",
        "assessable": score is not None,
        "score": score,
        "confidence": 0.8,
    }
    return known | fields


def reply(score: float | None = 4, **fields: Any) -> str:
    """A judge's reply about one criterion."""
    return json.dumps(answer(score, **fields))


def joint_reply(**scores: float | None) -> str:
    """A judge's reply about several criteria."""
    return json.dumps({"criteria": {name: answer(score) for name, score in scores.items()}})


def priced(text: str, cost_usd: float = 0.002, **fields: Any) -> ModelReply:
    """A reply with a price."""
    return ModelReply(text=text, cost_usd=cost_usd, **fields)


def attacks() -> list[dict[str, Any]]:
    """Outputs that try to move the verdict, and honest ones that look like it; `text` is whole."""
    lines = (DATA / "injection_dev.jsonl").read_text(encoding="utf-8").splitlines()
    return [record | {"text": _text(record)} for record in map(json.loads, lines)]


def _text(record: dict[str, Any]) -> str:
    recipe = record.get("attacked_output_recipe")
    if recipe is not None:
        body = recipe["repeat"] * recipe["times"]
        return str(recipe["prefix"] + body + recipe["suffix"])
    return str(record["attacked_output"] or record["clean_output"])
