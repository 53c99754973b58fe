"""Turns judges' probabilities for pairs (Jung et al. 2024) into joined rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.published.source_tree import SourceTree
    from judgekit.records.record import JsonObject

_SIDES = {1: "A", 2: "B"}
_SUFFIX = ".calibration.jsonl"


def convert(tree: SourceTree) -> dict[str, Iterator[JsonObject]]:
    """The joined rows, one a pair."""
    return {"pairwise": _rows(tree)}


def _rows(tree: SourceTree) -> Iterator[JsonObject]:
    answers: dict[str, list[Any]] = {
        path.removeprefix("result/").removesuffix(_SUFFIX): tree.objects(path)
        for path in sorted(tree.below("result/"))
    }
    for at, pair in enumerate(next(iter(answers.values()))):
        first, second = pair["outputs"]
        yield {
            "id": f"pref_{at:03}",
            "input": pair["instruction"],
            "output_a": first,
            "output_b": second,
            "human": _SIDES[pair["preferences"]["human"]],
            "judge_probability": {
                judge: dict(zip("AB", rows[at]["probs"], strict=True))
                for judge, rows in answers.items()
            },
        }
