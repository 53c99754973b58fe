"""Reads exports of other tools: spans of OpenTelemetry, and tables by the shapes of `tool_shapes`.

Each becomes cases, outputs with traces, labels and judgments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from judgekit.formats.detection import unread_table
from judgekit.formats.foreign_file import ForeignFile
from judgekit.formats.messages import answer_of, asked_of
from judgekit.formats.spans import (
    Span,
    find_spans,
    list_under,
    nested_items,
    read_spans,
    span_events,
    span_messages,
)
from judgekit.formats.text import as_items, as_mapping, objects_in, one_or_several, without_nulls
from judgekit.formats.tool_shapes import Paths, ToolShape, tool_items, tool_shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from judgekit.formats.documents import ParsedDocument
    from judgekit.formats.messages import RawEvent
    from judgekit.formats.text import KeyPath
    from judgekit.records import JsonObject

_EVALUATION = "gen_ai.evaluation.result"
_STATUSES = {"ARCHIVED": "deprecated", "ACTIVE": "active"}
_OF_CASE = ("input", "reference", "context", "name", "tags", "status", "assertions")
_OF_OUTPUT = ("input", "reference", "context", "variant", "repeat", "trace", "usage")
_ANSWERS = ("answer", "output")
_SPAN_ATTRIBUTES = {
    "kind": "openinference.span.kind", "input": "input.value", "output": "output.value",
    "input_tokens": "llm.token_count.prompt", "output_tokens": "llm.token_count.completion",
    "cached_input_tokens": "llm.token_count.prompt_details.cache_read",
    "reasoning_tokens": "llm.token_count.completion_details.reasoning",
    "cost_usd": "gen_ai.usage.cost",
}  # fmt: skip

# What the names of Langfuse's tokens have in them.
_LANGFUSE_TOKENS = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cached_input_tokens": "input_cached|cache_read_input",
}

# Levels of Langfuse that are no failure; every other tool names the error itself.
_LEVELS = frozenset({"DEFAULT", "DEBUG", "WARNING"})

# The score of MT-Bench where a reply could not be read.
_NO_SCORE = -1
_SIDES = {"model_1": "a", "model_2": "b", "model_a": "a", "model_b": "b"}
_VERDICTS = {"A>>B": "a", "A>B": "a", "A=B": "tie", "B>A": "b", "B>>A": "b"}
_SWAPPED = {"a": "b", "b": "a", "tie": "tie"}
_ORDERS = {"ab": "ba", "ba": "ab"}
_READ_OF_GOLDENS = frozenset({
    "actual_output", "actualOutput", "retrieval_context", "retrievalContext", "tools_called",
    "toolsCalled", "expected_tools", "expectedTools", "turns", "scenario", "user_description",
})  # fmt: skip


def read_tool_export(document: ParsedDocument) -> ForeignFile:
    """The rows of an export as cases, outputs or labels, as the table of the tool says."""
    reading = ForeignFile(document)
    at, items = tool_items(document.value)
    rows = list(reading.objects(items, at))
    shape = tool_shape(rows[0][1]) if rows else None
    if shape is None:
        remedy = unread_table(rows[0][1]) if rows else None
        reading.add(at, "the first row is of no known export", remedy)
        return reading
    for name, others in as_mapping(document.value).items() if at else ():
        if name != at[0] and isinstance(others, list) and others:
            reading.leave_out((name,), f"`{name[:60]}` is not imported: one list of a file is read")
    _take_rows(shape, rows, reading)
    return reading


def _take_rows(
    shape: ToolShape, rows: list[tuple[KeyPath, JsonObject]], reading: ForeignFile
) -> None:
    traces: dict[str, list[tuple[KeyPath, JsonObject]]] = {}
    for number, (place, row) in enumerate(rows, 1):
        if tool_shape(row) is not shape:
            reading.add(place, f"this row is not like the first, one of {shape.title}")
        elif shape.holds == "traces":
            # Of some tools each span of a trace is a row.
            trace_id = value_at(row, shape.trace_id) or f"row {number}"
            traces.setdefault(str(trace_id), []).append((place, row))
        else:
            prepare = _PREPARE.get(shape.prepare or "")
            for item in [row] if prepare is None else prepare(row, reading):
                _take(shape, item, place, reading, number)
    for of_trace in traces.values():
        _take_trace(shape, of_trace, reading)


def value_at(item: JsonValue, paths: Paths) -> JsonValue:
    """The first value under one of several dotted paths, or an empty text."""
    empty = None
    for path in paths.split():
        value = item
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value not in (None, "", [], {}):
            return value
        empty = "" if value == "" else empty
    return empty


def _found(item: JsonObject, paths: Mapping[str, Paths]) -> JsonObject:
    found = {own: value_at(item, places) for own, places in paths.items()}
    # An empty answer is an answer; every other field that is empty is missing.
    return {k: v for k, v in found.items() if v is not None and (v != "" or k in _ANSWERS)}


def _take(
    shape: ToolShape, item: JsonObject, at: KeyPath, reading: ForeignFile, number: int
) -> None:
    if shape.holds == "labels":
        _add_labels(shape, item, at, reading, None)
        return
    found = _found(item, shape.fields)
    case_id = str(found.pop("case_id", f"row-{number}"))
    if "input" in found:
        found["input"] = asked_of(found["input"])
    if isinstance(status := found.get("status"), str):
        found["status"] = _STATUSES.get(status, status)
    metadata = _metadata(shape, item, found)
    answer = answer_of(found.get("answer"))
    answer |= {"error": found["error"]} if "error" in found else {}
    if shape.holds == "cases":
        case: JsonObject = {"id": case_id, "metadata": None if answer else metadata}
        reading.add_case(case | {name: found.get(name) for name in _OF_CASE}, at)
    if answer:
        row: JsonObject = {"case_id": case_id, **answer, "metadata": metadata}
        row |= {name: found[name] for name in _OF_OUTPUT if name in found}
        reading.outputs.append((at, without_nulls(row)))
        _add_labels(shape, item, at, reading, case_id)


def _metadata(shape: ToolShape, item: JsonObject, found: JsonObject) -> JsonValue:
    """What the row says besides, so that nothing is lost."""
    of_fields = (*shape.fields.values(), *shape.span.values())
    paths = " ".join((*of_fields, shape.trace_id, shape.children or "", shape.labels_in or ""))
    read = {path.partition(".")[0] for path in paths.split()}
    rest = {name: value for name, value in item.items() if name not in read and value is not None}
    if shape.holds == "cases":
        # Of a mapping from which one field is read the others are left.
        left: dict[str, JsonObject] = {}
        for places in shape.fields.values():
            used = next((path for path in places.split() if value_at(item, path) is not None), "")
            name, *inner = used.split(".")
            if inner and isinstance(part := item[name], dict):
                left[name] = without_nulls(left.get(name, part))
                left[name].pop(inner[0], None)
        rest |= {name: part for name, part in left.items() if part}
    own = found.get("metadata")
    return {**rest, **(own if isinstance(own, dict) else {} if own is None else {"metadata": own})}


def _take_trace(
    shape: ToolShape, rows: list[tuple[KeyPath, JsonObject]], reading: ForeignFile
) -> None:
    roots = [row for row in rows if not value_at(row[1], shape.span.get("parent_id", ""))]
    at, item = (roots or rows)[0]
    found = _found(item, shape.fields)
    case_id = str(found.pop("case_id", "?"))
    spans: list[JsonValue] = [span for _, row in rows for span in _spans(shape, row, case_id)]
    if not spans:
        reading.add(at, "the trace has no spans", case_id=case_id)
        return
    seconds, cost = found.get("seconds"), found.get("cost_usd")
    known: JsonObject = {
        "run_id": found.get("run_id"),
        "reference": found.get("reference"),
        "duration_ms": seconds * 1000 if isinstance(seconds, int | float) else None,
        "usage": None if cost is None or len(spans) > 1 else {"cost_usd": cost},
        "metadata": _metadata(shape, item, found),
    }
    add_trace(reading, case_id, spans, at, without_nulls(known))
    for place, row in rows:
        _add_labels(shape, row, place, reading, case_id)


def _spans(
    shape: ToolShape, item: JsonObject, trace_id: str, parent: JsonValue = None
) -> Iterator[JsonObject]:
    """A row and what is in it as spans, in the words of OpenInference."""
    children = objects_in(value_at(item, shape.children or ""))
    if not shape.span:
        yield from children
        return
    found = _found(item, shape.span) | _langfuse_tokens(item.get("usageDetails"))
    own_parent = found.get("parent_id", parent)
    own_parent = own_parent[0] if isinstance(own_parent, list) else own_parent
    span: JsonObject = {name: found.get(name) for name in ("span_id", "start_time", "end_time")}
    failed = found.get("failed")
    if failed is not None and str(failed) not in _LEVELS:
        span["status"] = {"code": "error", "message": found.get("error")}
    attributes = {name: found[own] for own, name in _SPAN_ATTRIBUTES.items() if own in found}
    named: JsonObject = {"trace_id": trace_id, "parent_id": own_parent, "name": found.get("name")}
    yield {**named, **span, "attributes": attributes}
    for child in children:
        yield from _spans(shape, child, trace_id, span["span_id"])


def _langfuse_tokens(details: JsonValue) -> JsonObject:
    """All tokens of an observation: those from a cache have names of their own beside `input`."""
    numbers = [
        (name, n)
        for name, n in as_mapping(details).items()
        if isinstance(n, int) and not isinstance(n, bool)
    ]
    found = {
        own: [n for name, n in numbers if re.search(pattern, name)]
        for own, pattern in _LANGFUSE_TOKENS.items()
    }
    return {own: sum(parts) for own, parts in found.items() if parts}


def _add_labels(
    shape: ToolShape, item: JsonObject, at: KeyPath, reading: ForeignFile, case_id: str | None
) -> None:
    if shape.labels_in is None:
        return
    listed: JsonValue = [item]
    if shape.labels_in:
        listed = value_at(item, shape.labels_in)
    if isinstance(listed, dict):
        # Braintrust has a mapping of names to scores, which it computes itself.
        listed = [{"name": name, "value": value} for name, value in listed.items()]
    for one in as_items(listed):
        label = _found(as_mapping(one), shape.label)
        who = label.pop("annotator", "scores")
        faults = {
            "it was overridden": label.pop("valid", True) is False,
            "it is of a span inside the trace": label.pop("span", None) is not None,
            "it has no score": isinstance(
                label.get("winner", label.get("raw")), dict | list | None
            ),
        }
        if why := next((why for why, is_so in faults.items() if is_so), None):
            name = str(label.get("criterion", "a score"))[:60]
            reading.leave_out(at, f"`{name}` is not imported: {why}")
        else:
            named: JsonObject = {"case_id": case_id} if case_id is not None else {}
            named["annotator"] = f"{shape.tool.lower()}:{who}"
            reading.labels.append((at, label | named))


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
    item["trace"] = [event for tool in objects_in(called) for event in _tool_events(tool)]
    if expected := objects_in(row.get("expected_tools", row.get("expectedTools"))):
        item["assertions"] = [
            {"type": "trajectory.tool_used", "tool": tool.get("name")} for tool in expected
        ]
    turns = objects_in(row.get("turns"))
    if "scenario" in row:
        about = {name: row.get(name) for name in ("scenario", "user_description") if row.get(name)}
        item["input"] = about if len(about) > 1 else row["scenario"]
        # An open conversation is a case; one that the assistant ended has an answer, its last turn.
        messages: list[JsonValue] = [message for turn in turns for message in _messages(turn)]
        item["answer"] = messages if turns and turns[-1].get("role") == "assistant" else None
    yield item


def _messages(turn: JsonObject) -> list[JsonValue]:
    """A turn as a message, and the results of the tools that it called."""
    events = [
        event for tool in objects_in(turn.get("tools_called")) for event in _tool_events(tool)
    ]
    calls, results = ([e for e in events if e["type"] == f"tool_{k}"] for k in ("call", "result"))
    made: list[JsonValue] = [{"name": e["name"], "arguments": e["content"]} for e in calls]
    whole: JsonObject = {"role": turn.get("role"), "content": turn.get("content")}
    came = ({"role": "tool", "name": e["name"], "content": e["content"]} for e in results)
    return [{**whole, "tool_calls": made}, *came]


def _tool_events(tool: JsonObject) -> Iterator[RawEvent]:
    arguments = tool.get("input_parameters", tool.get("inputParameters"))
    yield {"type": "tool_call", "name": tool.get("name"), "content": arguments}
    if tool.get("output") is not None:
        yield {"type": "tool_result", "name": tool.get("name"), "content": tool["output"]}


def _question(row: JsonObject, reading: ForeignFile) -> Iterator[JsonObject]:  # noqa: ARG001
    turns, references = row["turns"], row.get("reference")
    # Arena-Hard writes a turn as an object with its content.
    asked = [one.get("content") if isinstance(one, dict) else one for one in one_or_several(turns)]
    known = as_items(references)
    for turn, text in enumerate(asked, 1):
        messages: list[JsonValue] = [{"role": "user", "content": one} for one in asked[:turn]]
        yield {
            "case_id": _of_turn(row | {"turn": turn}),
            "input": text if turn == 1 else messages,
            "reference": known[turn - 1] if len(known) >= turn else None,
            "tags": [row["category"]] if isinstance(row.get("category"), str) else None,
        }


def _answer(row: JsonObject, reading: ForeignFile) -> Iterator[JsonObject]:  # noqa: ARG001
    choices = objects_in(row["choices"])
    for repeat, choice in enumerate(choices):
        for turn, text in enumerate(as_items(choice.get("turns")), 1):
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
    games = objects_in(row["games"])
    # In the first game the baseline is A, in the second the model is.
    won = [_VERDICTS.get(str(game.get("score"))) for game in games]
    won[1:2] = [_SWAPPED.get(side or "") for side in won[1:2]]
    winner = None if None in won or not won else won[0] if len(set(won)) == 1 else "tie"
    sides = (str(row.get("baseline") or "baseline"), str(row["model"]))
    replies = [game.get("judgment") for game in games]
    texts = [one.get("answer") if isinstance(one, dict) else one for one in replies]
    yield from _compared(row, sides, winner, texts, reading)


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
_PREPARE: dict[str, Callable[[JsonObject, ForeignFile], Iterator[JsonObject]]] = {
    "golden": _golden, "question": _question, "answer": _answer, "single": _single, "pair": _pair,
    "games": _games, "vote": _vote,
}  # fmt: skip


def read_span_file(document: ParsedDocument) -> ForeignFile:
    """The traces as cases called by their ids, each with its output and its evaluations."""
    reading, value = ForeignFile(document), document.value
    # What the collector writes has a line for each batch, of one signal; a trace may be in several.
    items = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
    traces: dict[str, list[JsonObject]] = {}
    places: dict[str, KeyPath] = {}
    events: dict[str, list[JsonValue]] = {}
    for index, item in items:
        at: KeyPath = () if index is None else (index,)
        for span_id, event in _logged_events(item, at, reading):
            events.setdefault(span_id, []).append(event)
        for span in _span_objects(item, at, reading):
            (read,) = read_spans([span])
            trace_id = (read.trace_id or "").removeprefix("0x")
            if trace_id:
                places.setdefault(trace_id, at)
                traces.setdefault(trace_id, []).append({**span})
            else:
                reading.add(at, f"the span {read.name!r} has no trace id")
    # Phoenix's annotations name the span that they are about, and not its trace.
    is_phoenix = _data_of(value) is not value
    for trace_id, spans in traces.items():
        for span in spans:
            logged = events.get(str(span.get("spanId")), [])
            span["events"] = [*list_under(span, ("events",)), *logged]
        add_trace(reading, None if is_phoenix else trace_id, [*spans], places[trace_id])
    if not traces and not reading.errors:
        reading.add((), "the file holds no spans", "export traces; judgekit reads no other signal")
    return reading


def _span_objects(item: JsonValue, at: KeyPath, reading: ForeignFile) -> Iterator[JsonObject]:
    for span in find_spans(_data_of(item)) or []:
        if isinstance(span, dict):
            yield span
        else:
            reading.add(at, "a span must be an object", "OTLP JSON has objects")


def _logged_events(
    item: JsonValue, at: KeyPath, reading: ForeignFile
) -> Iterator[tuple[str, JsonValue]]:
    """The events of spans that were written as logs, as the conventions for generative AI do."""
    if isinstance(item, dict) and "resourceMetrics" in item:
        reading.leave_out(at, "`resourceMetrics` is not imported: metrics are no spans")
    n_others = 0
    for record in nested_items(item, ("resourceLogs",), ("scopeLogs",), ("logRecords",)):
        fields = as_mapping(record)
        name, span_id, body = (fields.get(n) for n in ("eventName", "spanId", "body"))
        if isinstance(name, str) and name.startswith("gen_ai.") and span_id:
            # The body of an event holds pairs, as its attributes are.
            whole = as_mapping(body).get("kvlistValue")
            pairs = [*list_under(fields, ("attributes",)), *list_under(whole, ("values",))]
            yield str(span_id), {"name": name, "attributes": pairs}
        else:
            n_others += 1
    if n_others:
        message = f"{n_others} log records are not imported: they are no events of a model's span"
        reading.leave_out(at, message)


def _data_of(item: JsonValue) -> JsonValue:
    # Phoenix answers with a page, `{"data": [spans], "next_cursor": …}`, or a flat table.
    if not isinstance(item, dict):
        return item
    if "context.span_id" not in item:
        return item["data"] if "next_cursor" in item else item
    nested: dict[str, JsonObject] = {"context": {}, "attributes": {}, "": {}}
    for name, value in item.items():
        group, _, inner = name.partition(".")
        if value is not None:
            place, own = (group, inner) if inner and group in nested else ("", name)
            nested[place][own] = value
    return {**nested[""], "context": nested["context"], "attributes": nested["attributes"]}


def add_trace(
    reading: ForeignFile,
    trace_id: str | None,
    raw: list[JsonValue],
    at: KeyPath,
    known: JsonObject | None = None,
) -> None:
    """Add the spans of a trace as a case, an output and labels; what is known goes before."""
    spans = read_spans(raw)
    ids = {span.id for span in spans}
    # The outermost span is what the caller saw; where its parent is in another service it is the
    # first span whose parent is not in the file.
    root = next((span for span in spans if span.parent not in ids), spans[0])
    case_id = root.id if trace_id is None else trace_id
    fields: JsonObject = {
        "case_id": case_id,
        "run_id": root.id.removeprefix("0x"),
        "input": _asked(spans, root),
    }
    fields |= answer_of(root.answered)
    if root.answered is None and (root.error is not None or not span_events(spans)):
        fields["error"] = root.error or "the trace has no output"
    fields |= known or {}
    # The events of all spans say more than the messages of the last.
    fields["trace"] = raw
    reading.add_case(
        {"id": case_id} | {n: fields.get(n) for n in ("input", "reference", "context")}, at
    )
    reading.outputs.append((at, without_nulls(fields)))
    for span in spans:
        for event in span.events:
            if event.name == _EVALUATION:
                reading.labels.append((at, _label(case_id, event.attributes)))


def _asked(spans: list[Span], root: Span) -> JsonValue:
    if root.asked is not None:
        return asked_of(root.asked)
    prompts = (span_messages(span)[0] for span in spans)
    first = next((prompt for prompt in prompts if prompt), [])
    # The system prompt is a part of what is judged, and not of what it was asked.
    messages: list[JsonValue] = [
        {"role": event["role"], "content": event["content"]}
        for event in first
        if event["type"] == "message" and event["role"] != "system"
    ]
    return asked_of(messages) if messages else None


def _label(case_id: str, fields: JsonObject) -> JsonObject:
    name, score, word, reason = (
        fields.get(f"gen_ai.evaluation.{part}")
        for part in ("name", "score.value", "score.label", "explanation")
    )
    label = {"criterion": name, "raw": word if score is None else score, "rationale": reason}
    known = {own: value for own, value in label.items() if value not in (None, "")}
    return {"case_id": case_id, "annotator": "otel", **known}
