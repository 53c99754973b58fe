"""Reads files of OpenTelemetry spans (OTLP JSON, exports of SDKs): a case and an output a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.formats.foreign_file import ForeignFile
from judgekit.formats.messages import answer_of, asked_of
from judgekit.formats.spans import (
    Span,
    find_spans,
    list_under,
    nested_items,
    read_spans,
    span_messages,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from judgekit.formats.documents import ParsedDocument
    from judgekit.formats.text import KeyPath
    from judgekit.records import JsonObject

_OF_CASE = ("input", "reference", "context")
_EVALUATION = "gen_ai.evaluation.result"


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
        for span in find_spans(_data_of(item)) or []:
            fields = span if isinstance(span, dict) else {}
            (read,) = read_spans([fields])
            trace_id = (read.trace_id or "").removeprefix("0x")
            if trace_id:
                places.setdefault(trace_id, at)
                traces.setdefault(trace_id, []).append({**fields})
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


def _logged_events(
    item: JsonValue, at: KeyPath, reading: ForeignFile
) -> Iterator[tuple[str, JsonValue]]:
    """The events of spans that were written as logs, as the conventions for generative AI do."""
    if isinstance(item, dict) and "resourceMetrics" in item:
        reading.leave_out(at, "`resourceMetrics` is not imported: metrics are no spans")
    n_others = 0
    for record in nested_items(item, ("resourceLogs",), ("scopeLogs",), ("logRecords",)):
        fields = record if isinstance(record, dict) else {}
        name, span_id, body = (fields.get(n) for n in ("eventName", "spanId", "body"))
        if isinstance(name, str) and name.startswith("gen_ai.") and span_id:
            # The body of an event holds pairs, as its attributes are.
            whole = body.get("kvlistValue") if isinstance(body, dict) else None
            pairs = [*list_under(fields, ("attributes",)), *list_under(whole, ("values",))]
            yield str(span_id), {"name": name, "attributes": pairs}
        else:
            n_others += 1
    if n_others:
        message = f"{n_others} log records are not imported: they are no events of a model's span"
        reading.leave_out(at, message)


def _data_of(item: JsonValue) -> JsonValue:
    # Phoenix answers with a page, `{"data": [spans], "next_cursor": …}`.
    return item["data"] if isinstance(item, dict) and "next_cursor" in item else item


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
    if root.error is not None and root.answered is None:
        fields["error"] = root.error
    fields |= known or {}
    # The events of all spans say more than the messages of the last.
    fields["trace"] = raw
    reading.add_case({"id": case_id} | {n: fields.get(n) for n in _OF_CASE}, at)
    reading.outputs.append((at, {n: value for n, value in fields.items() if value is not None}))
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
