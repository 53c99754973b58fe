"""Turns the Vicuna blog's GPT-4 reviews, and FairEval's labels of one pairing, into joined rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.published.source_tree import SourceTree
    from judgekit.records.record import JsonObject

_TABLE = "eval/table/"
_JUDGE = "gpt-4-0328"
_LABELLED = "gpt35_vicuna-13b"
_LABELS = "review/review_gpt35_vicuna-13b_human.txt"
_LABELLERS = "i-Eval/FairEval"
_SIDES = {"CHATGPT": "A", "VICUNA13B": "B", "TIE": "tie"}


def convert(tree: SourceTree) -> dict[str, Iterator[JsonObject]]:
    """The joined rows of all pairings, and of the one with people's labels."""
    return {
        "pairwise_all_models": _reviews(tree),
        "pairwise_gpt35_vicuna13b": _labelled(tree),
    }


def _reviews(tree: SourceTree) -> Iterator[JsonObject]:
    questions, answers = _questions(tree), _answers(tree)
    for path in tree.below(f"{_TABLE}review/"):
        pairing = path.rsplit("/review_", 1)[1].removesuffix(".jsonl")
        for review in tree.objects(path):
            yield _row(pairing, review, questions, answers)


def _labelled(tree: SourceTree) -> Iterator[JsonObject]:
    labels = tree.text(_LABELS, repository=_LABELLERS).split()
    answers = _answers(tree)
    rows = [row for row in _with_answers(tree) if str(row[0]["id"]).startswith(f"{_LABELLED}__")]
    if len(labels) != len(rows):
        raise DatasetError(f"{_LABELS} has {len(labels)} labels for {len(rows)} reviews")
    for (row, review), label in zip(rows, labels, strict=True):
        sides = {
            f"output_{side}": answers[str(review[f"answer{place}_id"])]["text"]
            for side, place in (("a", 1), ("b", 2))
        }
        yield {**row, **sides, "human": _SIDES[label]}


def _with_answers(tree: SourceTree) -> Iterator[tuple[JsonObject, JsonObject]]:
    questions, answers = _questions(tree), _answers(tree)
    for path in tree.below(f"{_TABLE}review/"):
        if path.endswith(f"/review_{_LABELLED}.jsonl"):
            for review in tree.objects(path):
                yield _row(_LABELLED, review, questions, answers), review


def _questions(tree: SourceTree) -> dict[object, Any]:
    return {row["question_id"]: row for row in tree.objects(f"{_TABLE}question.jsonl")}


def _answers(tree: SourceTree) -> dict[str, Any]:
    return {
        str(row["answer_id"]): row
        for path in tree.below(f"{_TABLE}answer/")
        for row in tree.objects(path)
    }


def _row(
    pairing: str, review: Any, questions: dict[object, Any], answers: dict[str, Any]
) -> JsonObject:
    number = review["question_id"]
    question = questions[number]
    return {
        "id": f"{pairing}__q{number:02}",
        "question_id": number,
        "category": question["category"],
        "input": question["text"],
        "system_a": answers[review["answer1_id"]]["model_id"],
        "system_b": answers[review["answer2_id"]]["model_id"],
        "judge": {_JUDGE: {"ab": review["text"]}},
        "judge_parsed": {_JUDGE: {"ab": [float(score) for score in review["score"]]}},
    }
