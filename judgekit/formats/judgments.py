"""What the rows of deepeval, MT-Bench and Arena-Hard mean, where names of fields do not say it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.formats.foreign_file import ForeignFile
    from judgekit.formats.messages import RawEvent
    from judgekit.records import JsonObject

# The score of MT-Bench where a reply could not be read.
_NO_SCORE = -1
_SIDES = {"model_1": "a", "model_2": "b", "model_a": "a", "model_b": "b"}
_SWAPPED = {"a": "b", "b": "a", "tie": "tie"}
_ORDERS = {"ab": "ba", "ba": "ab"}


_READ_OF_GOLDENS = frozenset({
    "actual_output", "actualOutput", "retrieval_context", "retrievalContext", "tools_called",
    "toolsCalled", "expected_tools", "expectedTools", "turns", "scenario", "user_description",
})  # fmt: skip


def _text_of(value: JsonValue) -> str:
    """The name of a judge, which MT-Bench writes beside that of its prompt."""
    return str(value[0] if isinstance(value, list) and value else value)


def _of_turn(row: JsonObject) -> str:
    """The case of a question's turn: the first turn has the question's own id."""
    name, turn = row.get("question_id", row.get("uid")), row.get("turn", 1)
    return str(name) if turn in (1, None) else f"{name}-turn-{turn}"


def _golden(row: JsonObject, reading: ForeignFile) -> Iterator[JsonObject]:  # noqa: ARG001
    item = {name: value for name, value in row.items() if name not in _READ_OF_GOLDENS}
    item["answer"] = row.get("actual_output", row.get("actualOutput"))
    retrieved = row.get("retrieval_context", row.get("retrievalContext"))
    if retrieved:
        # Both are shown to the judge, and their names say which is which.
        ideal = row.get("context")
        item["context"] = {"context": ideal, "retrieval_context": retrieved} if ideal else retrieved
    called = row.get("tools_called", row.get("toolsCalled"))
    item["trace"] = [event for tool in _objects(called) for event in _tool_events(tool)]
    if expected := _objects(row.get("expected_tools", row.get("expectedTools"))):
        item["assertions"] = [
            {"type": "trajectory.tool_used", "tool": tool.get("name")} for tool in expected
        ]
    turns = _objects(row.get("turns"))
    if "scenario" in row:
        about = {name: row.get(name) for name in ("scenario", "user_description") if row.get(name)}
        item["input"] = about if len(about) > 1 else row["scenario"]
        # An open conversation is a case; one that the assistant ended has an answer, its last turn.
        messages: list[JsonValue] = [
            {
                "role": turn.get("role"),
                "content": turn.get("content"),
                "tool_calls": [
                    {"name": tool.get("name"), "arguments": _arguments(tool)}
                    for tool in _objects(turn.get("tools_called"))
                ],
            }
            for turn in turns
        ]
        item["answer"] = messages if turns and turns[-1].get("role") == "assistant" else None
    yield item


def _tool_events(tool: JsonObject) -> Iterator[RawEvent]:
    yield {"type": "tool_call", "name": tool.get("name"), "content": _arguments(tool)}
    if tool.get("output") is not None:
        yield {"type": "tool_result", "name": tool.get("name"), "content": tool["output"]}


def _arguments(tool: JsonObject) -> JsonValue:
    return tool.get("input_parameters", tool.get("inputParameters"))


def _objects(value: JsonValue) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _question(row: JsonObject, reading: ForeignFile) -> Iterator[JsonObject]:  # noqa: ARG001
    turns, references = row["turns"], row.get("reference")
    asked = turns if isinstance(turns, list) else [turns]
    known = references if isinstance(references, list) else []
    for turn, text in enumerate(asked, 1):
        messages: list[JsonValue] = [{"role": "user", "content": one} for one in asked[:turn]]
        yield {
            "case_id": _of_turn(row | {"turn": turn}),
            "input": text if turn == 1 else messages,
            "reference": known[turn - 1] if len(known) >= turn else None,
            "tags": [row["category"]] if isinstance(row.get("category"), str) else None,
        }


def _answer(row: JsonObject, reading: ForeignFile) -> Iterator[JsonObject]:  # noqa: ARG001
    choices = _objects(row["choices"])
    for repeat, choice in enumerate(choices):
        turns = choice.get("turns")
        for turn, text in enumerate(turns if isinstance(turns, list) else [], 1):
            item = {"case_id": _of_turn(row | {"turn": turn}), "model_id": row["model_id"]}
            yield item | {"answer": text} | ({"repeat": repeat} if len(choices) > 1 else {})


def _single(row: JsonObject, reading: ForeignFile) -> Iterator[JsonObject]:
    score, judge, reply = row["score"], _text_of(row["judge"]), row["judgment"]
    named: JsonObject = {"case_id": _of_turn(row), "variant": row["model"]}
    reading.replies.append(((), {**named, "text": reply}))
    raw = None if score == _NO_SCORE else score
    yield {**named, "annotator": judge, "raw": raw, "rationale": reply}


def _pair(row: JsonObject, reading: ForeignFile) -> Iterator[JsonObject]:
    replies = [row.get("g1_judgment"), row.get("g2_judgment")]
    # By the rule of MT-Bench a side wins only where it does in both orders.
    winners = {_SIDES.get(str(row.get(f"g{game}_winner")), "tie") for game in (1, 2)}
    failed = "error" in (row.get("g1_winner"), row.get("g2_winner"))
    winner = None if failed else winners.pop() if len(winners) == 1 else "tie"
    sides = (str(row["model_1"]), str(row["model_2"]))
    yield from _compared(row, sides, winner, replies, reading)


def _games(row: JsonObject, reading: ForeignFile) -> Iterator[JsonObject]:
    games = _objects(row["games"])
    replies = [game.get("judgment") for game in games]
    # In the first game the baseline is A, in the second the model is.
    won = [_side_of(str(game.get("score")), swapped=n == 1) for n, game in enumerate(games)]
    winner = None if None in won or not won else won[0] if len(set(won)) == 1 else "tie"
    sides = (str(row.get("baseline") or "baseline"), str(row["model"]))
    texts = [r.get("answer") if isinstance(r, dict) else r for r in replies]
    yield from _compared(row, sides, winner, texts, reading)


def _side_of(score: str, *, swapped: bool) -> str | None:
    words = {"A>>B": "a", "A>B": "a", "A=B": "tie", "B>A": "b", "B>>A": "b"}
    side = words.get(score)
    return _SWAPPED[side] if side is not None and swapped else side


def _vote(row: JsonObject, reading: ForeignFile) -> Iterator[JsonObject]:
    won = str(row["winner"])
    winner = _SIDES.get(won, "tie" if won.startswith("tie") else None)
    sides = (str(row["model_a"]), str(row["model_b"]))
    yield from _compared(row, sides, winner, [], reading)


def _compared(
    row: JsonObject,
    sides: tuple[str, str],
    winner: str | None,
    replies: list[JsonValue],
    reading: ForeignFile,
) -> Iterator[JsonObject]:
    """A label of two sides, always in the order of their names so that files can be matched."""
    a, b = sorted(sides)
    swapped = (a, b) != sides
    case_id = _of_turn(row)
    for order, reply in zip(_ORDERS, replies, strict=False):
        shown = _ORDERS[order] if swapped else order
        if isinstance(reply, str):
            fields: JsonObject = {"case_id": case_id, "variant": f"{a} vs {b}", "order": shown}
            reading.replies.append(((), {**fields, "text": reply}))
    won = _SWAPPED[winner] if winner is not None and swapped else winner
    judge = _text_of(row.get("judge", "votes"))
    yield {"case_id": case_id, "variant": f"{a}::{b}", "winner": won, "annotator": judge}


# What makes rows of the same shape out of one row of a tool; replies of judges are put aside.
PREPARE: dict[str, Callable[[JsonObject, ForeignFile], Iterator[JsonObject]]] = {
    "golden": _golden,
    "question": _question,
    "answer": _answer,
    "single": _single,
    "pair": _pair,
    "games": _games,
    "vote": _vote,
}
