"""Turns recorded judges of SummEval's summaries (Shen et al. 2023) into joined rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.published.readings import letter, sentence_score, stars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from judgekit.published.source_tree import SourceTree
    from judgekit.records.record import JsonObject

_CRITERIA = ("coherence", "consistency")
_SYSTEMS = tuple(f"M{number}" for number in (8, 9, 10, 11, 12, 13, 14, 15, 17, 20, 22, 23))
_PAIRS = tuple(
    zip(
        ("M22", "M23", "M17", "M12", "M13", "M15", "M14", "M8", "M9", "M10", "M20"),
        ("M23", "M17", "M12", "M13", "M15", "M14", "M8", "M9", "M10", "M20", "M11"),
        strict=True,
    )
)
"""Neighbours in the order of their human scores: the challenge set of the paper."""

_SCORES = "ABCDE"
_CHATGPT = "gpt-3.5-turbo-0301"
_READERS: dict[str, Callable[[str], float | None]] = {
    f"{_CHATGPT}/mcq": lambda text: float(_SCORES.index(text.strip()) + 1),
    f"{_CHATGPT}/rts": sentence_score,
    f"{_CHATGPT}/stareval": stars,
    "gpt-4-0314/rts": sentence_score,
    "llama-2-70b-chat-hf/rts": sentence_score,
}
_HEAD_TO_HEAD = f"{_CHATGPT}/h2h"
_SHOWN = {"ab": {"A": "A", "B": "B", "C": "tie"}, "ba": {"A": "B", "B": "A", "C": "tie"}}
_SCALE = [1, 5]
_ROUNDED = 10

Summaries = dict[str, dict[str, Any]]


def convert(tree: SourceTree) -> dict[str, Iterator[JsonObject]]:
    """The joined rows: both criteria, summary by summary and head to head."""
    own: Summaries = {
        system: {
            str(row["id"]): row
            for row in tree.objects(f"model_output_annotations/{system}_outputs_annotations.jsonl")
        }
        for system in _SYSTEMS
    }
    joined = {f"pointwise_{name}": _summaries(tree, own, name) for name in _CRITERIA}
    return joined | {f"pairwise_{name}": _pairs(tree, own, name) for name in _CRITERIA}


def _summaries(tree: SourceTree, own: Summaries, criterion: str) -> Iterator[JsonObject]:
    said = {judge: _said(tree, judge, criterion) for judge in _READERS}
    for doc_id in sorted(own[_SYSTEMS[0]]):
        for system in _SYSTEMS:
            row = own[system][doc_id]
            texts = {judge: by[system][doc_id] for judge, by in said.items()}
            human = _scores(row, "expert_annotations", criterion)
            yield {
                "id": f"{doc_id}__{system}__{criterion}",
                "doc_id": doc_id,
                "system_id": system,
                "criterion": criterion,
                "scale": list(_SCALE),
                "input": row["text"],
                "output": row["decoded"],
                "human": [*human],
                "human_crowd": [*_scores(row, "turker_annotations", criterion)],
                "human_mean": round(sum(human) / len(human), _ROUNDED),
                "judge": {judge: [text] for judge, text in texts.items()},
                "judge_parsed": {judge: [_READERS[judge](text)] for judge, text in texts.items()},
            }


def _said(tree: SourceTree, judge: str, criterion: str) -> dict[str, dict[str, Any]]:
    """What a judge wrote, by system and document."""
    model, style = judge.split("/")
    return {
        system: {
            str(row["id"]): row["resp"]
            for row in tree.objects(
                f"eval_model_generations/{model}/eval_{system}_generations/{criterion}_{style}.txt"
            )
        }
        for system in _SYSTEMS
    }


def _pairs(tree: SourceTree, own: Summaries, criterion: str) -> Iterator[JsonObject]:
    for a, b in _PAIRS:
        root = f"comp_res/{_CHATGPT}/{a}-{b}_{criterion}"
        orders = {
            order: {str(row["id"]): row for row in tree.objects(f"{root}{ending}.result")}
            for order, ending in (("ab", ""), ("ba", "_toggle"))
        }
        for doc_id in sorted(orders["ab"]):
            both: dict[str, Any] = {order: rows[doc_id] for order, rows in orders.items()}
            yield _pair(both, own[a][doc_id], own[b][doc_id], criterion)


def _pair(both: dict[str, Any], one: Any, other: Any, criterion: str) -> JsonObject:
    a, b, doc_id = one["model_id"], other["model_id"], one["id"]
    scores = [both["ab"]["human_score_1"], both["ab"]["human_score_2"]]
    texts = {order: row["resp"] for order, row in both.items()}
    return {
        "id": f"{doc_id}__{a}__{b}__{criterion}",
        "doc_id": doc_id,
        "criterion": criterion,
        "system_a": a,
        "system_b": b,
        "input": one["text"],
        "output_a": one["decoded"],
        "output_b": other["decoded"],
        "human": "tie" if scores[0] == scores[1] else "A" if scores[0] > scores[1] else "B",
        "human_scores": [*scores],
        "judge": {_HEAD_TO_HEAD: texts},
        "judge_parsed": {
            _HEAD_TO_HEAD: {order: _SHOWN[order][letter(text)] for order, text in texts.items()}
        },
    }


def _scores(row: Any, raters: str, criterion: str) -> list[Any]:
    return [rater[criterion] for rater in row[raters]]
