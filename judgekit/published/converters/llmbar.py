"""Turns LLMBar's results (Zeng et al. 2024) into pairs with a gold label and two orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from judgekit.published.source_tree import SourceTree
    from judgekit.records.record import JsonObject

_FOLDERS = {
    "Natural": "Natural",
    "Neighbor": "Adversarial/Neighbor",
    "GPTInst": "Adversarial/GPTInst",
    "GPTOut": "Adversarial/GPTOut",
    "Manual": "Adversarial/Manual",
}
_JUDGES = tuple(
    f"{model}/{style}"
    for model in ("ChatGPT", "GPT-4", "LLaMA2", "PaLM2")
    for style in ("CoT", "Vanilla", "Vanilla_NoRules")
)
_SIDES = {"1": "A", "2": "B"}
_ORDERS = {"ab": "swap = False", "ba": "swap = True"}


def convert(tree: SourceTree) -> dict[str, Iterator[JsonObject]]:
    """The joined rows of LLMBar."""
    return {"pairwise": _rows(tree)}


def _rows(tree: SourceTree) -> Iterator[JsonObject]:
    for subset, folder in _FOLDERS.items():
        root = f"Dataset/LLMBar/{folder}"
        answers: dict[str, list[Any]] = {
            judge: tree.objects(f"{root}/evaluators/{judge}/result.json") for judge in _JUDGES
        }
        for at, pair in enumerate(tree.objects(f"{root}/dataset.json")):
            orders = {judge: rows[at]["results"][0] for judge, rows in answers.items()}
            yield {
                "id": f"{subset}_{at:03}",
                "subset": subset,
                "input": pair["input"],
                "output_a": pair["output_1"],
                "output_b": pair["output_2"],
                "human": _SIDES[str(pair["label"])],
                "judge": {judge: _texts(said) for judge, said in orders.items()},
                "judge_parsed": {judge: _winners(said) for judge, said in orders.items()},
            }


def _texts(said: Mapping[str, Any]) -> JsonObject:
    return {order: said[key]["completion"][0] for order, key in _ORDERS.items()}


def _winners(said: Mapping[str, Any]) -> JsonObject:
    """The authors' reading; they fold it back to the two outputs themselves."""
    return {order: _SIDES.get(str(said[key]["winner"])) for order, key in _ORDERS.items()}
