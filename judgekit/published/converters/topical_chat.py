"""Turns sampled ratings of Topical-Chat answers (Chiang and Lee 2023) into joined rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.published.readings import rating

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.published.source_tree import SourceTree
    from judgekit.records.record import JsonObject

_CRITERIA = {"engagingness": "eng", "naturalness": "nat"}
_STYLES = ("analyze_rate", "geval", "rate_explain")
_SCALE = [1, 3]
_N_RATERS = 3


def convert(tree: SourceTree) -> dict[str, Iterator[JsonObject]]:
    """The joined rows of both criteria."""
    return {f"pointwise_{name}": _rows(tree, name, short) for name, short in _CRITERIA.items()}


def _rows(tree: SourceTree, criterion: str, short: str) -> Iterator[JsonObject]:
    samples: dict[str, dict[tuple[object, ...], Any]] = {
        style: {
            _key(row): row["all_responses"]
            for row in tree.objects(f"results/topical_chat/gpt3.5_{short}_{style}.json")
        }
        for style in _STYLES
    }
    dialogues: dict[object, str] = {}
    for at, row in enumerate[Any](tree.objects("data/topical_chat.json")):
        doc_id = dialogues.setdefault(row["source"], f"dialogue_{len(dialogues):02}")
        said = {f"gpt-3.5/{s}": by[_key(row)] for s, by in samples.items() if _key(row) in by}
        score = row["scores"][criterion]
        yield {
            "id": f"topical_{at:03}__{criterion}",
            "doc_id": doc_id,
            "system_id": row["system_id"],
            "criterion": criterion,
            "scale": list(_SCALE),
            "input": row["source"],
            "context": row["context"],
            "output": row["system_output"],
            "human": [score],
            "human_is_mean_of": _N_RATERS,
            "human_mean": score,
            "judge": {**said},
            "judge_parsed": {judge: [rating(one) for one in all_] for judge, all_ in said.items()},
        }


def _key(row: JsonObject) -> tuple[object, ...]:
    return row["source"], row["system_id"], row["system_output"]
