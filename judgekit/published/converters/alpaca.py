"""Turns AlpacaEval's annotations (Li et al. 2023) into one row of preferences a system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.published.source_tree import SourceTree
    from judgekit.records.record import JsonObject

_BOARDS = "src/alpaca_eval/leaderboards/"
_BOARD = "_leaderboard.csv"
_FIGURES = (
    "length_controlled_winrate", "n_draws", "n_total", "n_wins", "n_wins_base", "standard_error",
    "win_rate",
)  # fmt: skip


def convert(tree: SourceTree) -> dict[str, Iterator[JsonObject]]:
    """The joined rows: all preferences of a judge for one system, and its leaderboard row."""
    return {"preferences": _rows(tree)}


def _rows(tree: SourceTree) -> Iterator[JsonObject]:
    results = [path.split("/") for path in tree.below("results/")]
    for board in sorted(tree.below(_BOARDS), reverse=True):
        judge = board.rsplit("/", 1)[1].removesuffix(_BOARD)
        lines = {line[""]: line for line in tree.table(board)}
        for system in sorted(system for _, system, by, _ in results if by == judge):
            pairs = tree.objects(f"results/{system}/{judge}/annotations.json")
            yield _row(judge, system, pairs, lines[system])


def _row(judge: str, system: str, pairs: list[Any], line: dict[str, str]) -> JsonObject:
    return {
        "id": f"{judge}__{system}",
        "judge_name": judge,
        "system_a": pairs[0]["generator_1"],
        "system_b": pairs[0]["generator_2"],
        "preference": [pair["preference"] for pair in pairs],
        "len_a": [len(pair["output_1"]) for pair in pairs],
        "len_b": [len(pair["output_2"]) for pair in pairs],
        "published": {name: float(line[name]) for name in _FIGURES},
    }
