"""Turns the Torrance tests of creative writing (Chakrabarty et al. 2024) into joined rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.published.readings import opens_with_yes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from judgekit.published.source_tree import SourceTree
    from judgekit.records.record import JsonObject

_ROOT = "Art_or_Artifice"
_ANSWERS = f"{_ROOT}/data/annotations_"
_SCALE = [0, 1]
_ROUNDED = 10


def convert(tree: SourceTree) -> dict[str, Iterator[JsonObject]]:
    """The joined rows: judgments, and beside them the criteria, stories and experts' reasons."""
    tests: list[Any] = tree.objects(f"{_ROOT}/tests/ttcw_all_tests.json")
    stories: list[Any] = tree.objects(f"{_ROOT}/stories/ttcw_short_stories.json")
    votes = _votes(tree)
    order = sorted(stories, key=lambda story: f"story_{story['story_id']}_")
    items = [
        (f"story_{story['story_id']}_test{test['ttcw_idx']}", test, story)
        for test in sorted(tests, key=lambda test: int(test["ttcw_idx"]))
        for story in order
    ]
    return {
        "pointwise": _judgments(tree, items, votes),
        "criteria": (_criterion(test) for test in tests),
        "stories": (_story(story) for story in stories),
        "human_rationales": (_reasons(name, votes) for name, _, _ in items),
    }


def _votes(tree: SourceTree) -> dict[str, list[Any]]:
    votes: dict[str, list[Any]] = {}
    for vote in tree.objects(f"{_ROOT}/annotations/ttcw_annotations.json"):
        votes.setdefault(f"story_{vote['story_id']}_test{vote['ttcw_idx']}", []).append(vote)
    return votes


def _judgments(
    tree: SourceTree, items: Sequence[tuple[str, Any, Any]], votes: dict[str, list[Any]]
) -> Iterator[JsonObject]:
    answers: dict[str, dict[object, Any]] = {
        path.removeprefix(_ANSWERS).removesuffix(".jsonl"): {
            row["id"]: row["response"] for row in tree.objects(path)
        }
        for path in sorted(tree.below(_ANSWERS))
    }
    for name, test, story in items:
        human = _verdicts(votes[name])
        said = {judge: rows[name] for judge, rows in answers.items() if name in rows}
        yield {
            "id": name,
            "doc_id": story["story_id"],
            "system_id": story["story_id"].split("_", 1)[1],
            "criterion": test["category"],
            "dimension": test["torrance_dimension"],
            "scale": list(_SCALE),
            "input": story["plot"],
            "human": [*human],
            "human_annotator": [vote["expert_idx"] for vote in votes[name]],
            "human_mean": round(sum(human) / len(human), _ROUNDED),
            "judge": {judge: [text] for judge, text in said.items()},
            "judge_parsed": {judge: [opens_with_yes(text)] for judge, text in said.items()},
        }


def _criterion(test: Any) -> JsonObject:
    return {
        "criterion": test["category"],
        "dimension": test["torrance_dimension"],
        "question": test["question"],
        "background": test["full_prompt"],
    }


def _story(story: Any) -> JsonObject:
    """A story; one of the magazine's is a link, and its text belongs to the magazine."""
    text = story["content"]
    return {
        "doc_id": story["story_id"],
        "title": story["story_name"],
        "input": story["plot"],
        "output": None if text.startswith("https://") else text,
    }


def _reasons(name: str, votes: dict[str, list[Any]]) -> JsonObject:
    own = votes[name]
    return {
        "id": name,
        "human": [*_verdicts(own)],
        "human_rationale": [vote["explanation"] for vote in own],
    }


def _verdicts(votes: Sequence[Any]) -> list[int]:
    return [int(vote["binary_verdict"] == "Yes") for vote in votes]
