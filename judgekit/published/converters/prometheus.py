"""Turns Prometheus' MT-Bench prompts and GPT-4's answers (Kim et al. 2024) into joined rows."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.published.source_tree import SourceTree
    from judgekit.records.record import JsonObject

_FILE = "eval/benchmark/data/mt_bench_eval.json"
_JUDGE = "gpt-4"
_SCALE = [1, 5]


def convert(tree: SourceTree) -> dict[str, Iterator[JsonObject]]:
    """The joined rows; feedback and score are joined in the form the prompt asks for."""
    return {"mt_bench_eval": _rows(tree)}


def _rows(tree: SourceTree) -> Iterator[JsonObject]:
    for at, row in enumerate(tree.objects(_FILE)):
        scores, feedback = _listed(row["gpt4_score"]), _listed(row["gpt4_feedback"])
        said = [
            f"Feedback: {why} [RESULT] {score}" for why, score in zip(feedback, scores, strict=True)
        ]
        yield {
            "id": f"mt_bench_eval_{at:03}",
            "doc_id": str(row["idx"]),
            "system_id": row["response_source"],
            "category": row["category"],
            "scale": list(_SCALE),
            "prompt": row["instruction"],
            "human": [],
            "judge": {_JUDGE: [*said]},
            "judge_feedback": {_JUDGE: feedback},
            "judge_parsed": {_JUDGE: scores},
        }


def _listed(value: object) -> list[Any]:
    """A list that the file holds as the text of a Python literal."""
    try:
        found: object = ast.literal_eval(value) if isinstance(value, str) else value
    except (ValueError, SyntaxError) as error:
        raise DatasetError(f"{_FILE} holds a list that cannot be read: {error}") from error
    if not isinstance(found, list):
        raise DatasetError(f"{_FILE} holds {type(found).__name__} where a list belongs")
    return found
