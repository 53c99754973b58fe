"""Reads exports of other tools by the tables of `tool_shapes`: cases, traces, labels, judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.formats.foreign_file import ForeignFile
from judgekit.formats.judgments import PREPARE
from judgekit.formats.messages import answer_of, asked_of
from judgekit.formats.span_files import add_trace
from judgekit.formats.tool_shapes import Paths, ToolShape, tool_items, tool_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import JsonValue

    from judgekit.formats.documents import ParsedDocument
    from judgekit.formats.text import KeyPath
    from judgekit.records import JsonObject

_STATUSES = {"ARCHIVED": "deprecated", "ACTIVE": "active"}
_OF_CASE = ("input", "reference", "context", "name", "tags", "status", "assertions")
_OF_OUTPUT = ("input", "reference", "context", "variant", "repeat", "trace")
_SPAN_ATTRIBUTES = {
    "kind": "openinference.span.kind", "input": "input.value", "output": "output.value",
    "input_tokens": "llm.token_count.prompt", "output_tokens": "llm.token_count.completion",
    "cost_usd": "gen_ai.usage.cost",
}  # fmt: skip

# Levels of Langfuse that are no failure; every other tool names the error itself.
_LEVELS = frozenset({"DEFAULT", "DEBUG", "WARNING"})


def read_tool_export(document: ParsedDocument) -> ForeignFile:
    """The rows of an export as cases, outputs or labels, as the table of the tool says."""
    reading = ForeignFile(document)
    at, items = tool_items(document.value)
    rows = list(reading.objects(items, at))
    shape = tool_shape(rows[0][1]) if rows else None
    if shape is None:
        reading.add(at, "the first row is of no known export")
        return reading
    traces: dict[str, list[tuple[KeyPath, JsonObject]]] = {}
    for number, (place, row) in enumerate(rows, 1):
        if tool_shape(row) is not shape:
            reading.add(place, f"this row is not like the first, one of {shape.title}")
        elif shape.holds == "traces":
            # Of some tools each span of a trace is a row.
            trace_id = value_at(row, shape.trace_id) or f"row {number}"
            traces.setdefault(str(trace_id), []).append((place, row))
        else:
            prepare = PREPARE.get(shape.prepare or "")
            for item in [row] if prepare is None else prepare(row, reading):
                _take(shape, item, place, reading, number)
    for of_trace in traces.values():
        _take_trace(shape, of_trace, reading)
    return reading


def value_at(item: JsonValue, paths: Paths) -> JsonValue:
    """The first value under one of several dotted paths."""
    for path in paths.split():
        value = item
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value not in (None, "", [], {}):
            return value
    return None


def _found(item: JsonObject, paths: Mapping[str, Paths]) -> JsonObject:
    found = {own: value_at(item, places) for own, places in paths.items()}
    return {own: value for own, value in found.items() if value is not None}


def _take(
    shape: ToolShape, item: JsonObject, at: KeyPath, reading: ForeignFile, number: int
) -> None:
    """Add a row of labels, or of a case and perhaps its output."""
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
    if shape.holds == "cases":
        case: JsonObject = {"id": case_id, "metadata": None if answer else metadata}
        reading.add_case(case | {name: found.get(name) for name in _OF_CASE}, at)
    if answer:
        row: JsonObject = {"case_id": case_id, **answer, "metadata": metadata}
        row |= {name: found[name] for name in _OF_OUTPUT if name in found}
        reading.outputs.append((at, {name: v for name, v in row.items() if v is not None}))
        _add_labels(shape, item, at, reading, case_id)


def _metadata(shape: ToolShape, item: JsonObject, found: JsonObject) -> JsonValue:
    """What the row says besides, so that nothing is lost."""
    of_fields = (*shape.fields.values(), *shape.span.values())
    paths = " ".join((*of_fields, shape.trace_id, shape.children or "", shape.labels_in or ""))
    read = {path.partition(".")[0] for path in paths.split()}
    rest = {name: value for name, value in item.items() if name not in read and value is not None}
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
    add_trace(reading, case_id, spans, at, {n: v for n, v in known.items() if v is not None})
    for place, row in rows:
        _add_labels(shape, row, place, reading, case_id)


def _spans(
    shape: ToolShape, item: JsonObject, trace_id: str, parent: JsonValue = None
) -> Iterator[JsonObject]:
    """A row and what is in it as spans, in the words of OpenInference."""
    inner = value_at(item, shape.children or "")
    children = [one for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []
    if not shape.span:
        yield from children
        return
    found = _found(item, shape.span)
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
    for one in listed if isinstance(listed, list) else []:
        label = _found(one, shape.label) if isinstance(one, dict) else {}
        who = label.pop("annotator", "scores")
        if "raw" not in label and "winner" not in label:
            name = str(label.get("criterion", "a score"))[:60]
            reading.leave_out(at, f"`{name}` is not imported: it has no score")
        else:
            named: JsonObject = {"case_id": case_id} if case_id is not None else {}
            named["annotator"] = f"{shape.tool.lower()}:{who}"
            reading.labels.append((at, label | named))
