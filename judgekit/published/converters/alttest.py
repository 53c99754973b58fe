"""Turns the labels of the alternative annotator test (Calderon et al. 2025) into joined rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.published.source_tree import SourceTree
    from judgekit.records.record import JsonObject


def convert(tree: SourceTree) -> dict[str, Iterator[JsonObject]]:
    """The joined rows of each data set whose labels are in the tree."""
    names = sorted({path.split("/")[1] for path in tree.below("data/")})
    return {name: _rows(tree, name) for name in names}


def _rows(tree: SourceTree, name: str) -> Iterator[JsonObject]:
    people = cast("dict[str, Any]", tree.document(f"data/{name}/human_annotations.json"))
    judges = cast("dict[str, Any]", tree.document(f"data/{name}/llm_annotations.json"))
    for item in dict.fromkeys(item for labels in people.values() for item in labels):
        yield {
            "id": item,
            "human": {who: people[who][item] for who in sorted(people) if item in people[who]},
            "judge_parsed": {who: judges[who].get(item) for who in sorted(judges)},
        }
