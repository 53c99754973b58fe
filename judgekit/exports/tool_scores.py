"""Writes judgments as scores of other tools: by the tables of `tool_scores.toml`, or as spans."""

from __future__ import annotations

import re
import tomllib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.exports.tabular import RunFormat, write_json_list, write_object
from judgekit.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pydantic import JsonValue

    from judgekit.evaluation import Outcome
    from judgekit.records import JsonObject, Judgment, RunInfo

_HEX = re.compile(r"[0-9a-f]+")
_TRACE_DIGITS, _SPAN_DIGITS = 32, 16
_KINDS = {"human": ("HUMAN", "HUMAN"), "llm": ("LLM", "LLM_JUDGE")}
_CODE = ("CODE", "CODE")


def _rows(
    table: Mapping[str, Mapping[str, str]], run: RunInfo, answers: Iterable[Outcome]
) -> Iterator[JsonObject]:
    for answer in answers:
        for one in (None,) if "rows" in table else answer.result.judgments:
            yield _row(table["fields"], _values(run, answer, one))


def _row(fields: Mapping[str, str], values: JsonObject) -> JsonObject:
    row: JsonObject = {}
    for path, source in fields.items():
        *around, name = path.split(".")
        inner = row
        for level in around:
            inner = inner.setdefault(level, {})  # type: ignore[assignment] # a level is an object
        inner[name] = source[1:] if source.startswith("=") else values[source]
    return row


def _values(run: RunInfo, answer: Outcome, one: Judgment | None) -> JsonObject:
    """The values that a row may have: of an answer, and of one of its judgments."""
    result, output = answer.result, answer.result.output
    about: JsonObject = {"judgekit_run": run.id, "case_id": result.case.id}
    about |= {"variant": result.variant, "repeat": result.repeat}
    criteria = () if answer.verdict is None else answer.verdict.criteria
    values: JsonObject = {
        "input": result.case.input,
        "output": output.text if output.data is None else output.data,
        "reference": result.case.reference,
        "error": output.error,
        # A criterion without a judgment has no score, which is not 0.
        "values": {each.name: each.value for each in criteria},
        "tags": [*result.case.tags],
    }
    if one is not None:
        about |= {"judge": one.judge, "value": one.value, "confidence": one.confidence}
        about |= {"judge_repeat": one.repeat, "criterion": one.criterion}
        kind, mlflow_kind = _KINDS.get(one.source, _CODE)
        values |= {
            # The ids of what was judged in the tool it came from; of spans the case is the trace.
            "judged_id": output.run_id or result.case.id,
            "trace_id": _id(result.case.id, _TRACE_DIGITS) or output.run_id or result.case.id,
            "criterion": one.criterion,
            "raw": one.raw,
            "rationale": one.rationale,
            "judge": one.judge or "judgekit",
            "kind": kind,
            "mlflow_kind": mlflow_kind,
            "at": (one.judged_at or result.ran_at or run.started_at).isoformat(),
            # With one identifier the same judgment again takes the place of the first.
            "identifier": f"judgekit:{one.judge}:{one.repeat}",
            "about_in_texts": {name: str(v) for name, v in about.items() if v is not None},
        }
    values["about"] = {name: value for name, value in about.items() if value is not None}
    return values | {"score_id": fingerprint(about)[:_TRACE_DIGITS]}


def _spans(run: RunInfo, answers: Iterable[Outcome]) -> Iterator[JsonObject]:
    """A span for each answer with an event for each judgment, in OTLP's JSON."""
    lead = "gen_ai.evaluation"
    for answer in answers:
        result = answer.result
        key = fingerprint([run.id, *result.key])
        at = str(int((result.ran_at or run.started_at).timestamp() * 1_000_000) * 1_000)
        scores: list[JsonObject] = [
            {
                f"{lead}.name": one.criterion,
                f"{lead}.score.value": one.raw,
                f"{lead}.explanation": one.rationale,
            }
            for one in result.judgments
        ]
        scores += [
            {f"{lead}.name": one.criterion, "error.type": one.kind} for one in result.failures
        ]
        events: list[JsonValue] = [
            {"timeUnixNano": at, "name": f"{lead}.result", "attributes": _pairs(score)}
            for score in scores
        ]
        span: JsonObject = {
            # In the trace that was judged, where the case is one; else in a trace of its own.
            "traceId": _id(result.case.id, _TRACE_DIGITS) or key[:_TRACE_DIGITS],
            "spanId": key[-_SPAN_DIGITS:],
            "parentSpanId": _id(result.output.run_id or "", _SPAN_DIGITS),
            "name": "evaluate",
            "kind": 1,
            "startTimeUnixNano": at,
            "endTimeUnixNano": at,
            "attributes": _pairs({"case_id": result.case.id, "variant": result.variant}),
            "events": events,
        }
        resource: JsonObject = {"attributes": _pairs({"service.name": "judgekit"})}
        scope: JsonObject = {"spans": [span]}
        yield {"resource": resource, "scopeSpans": [scope]}


def _id(text: str, n_digits: int) -> str:
    return text if len(text) == n_digits and _HEX.fullmatch(text) else ""


def _pairs(attributes: JsonObject) -> list[JsonValue]:
    return [
        {"key": key, "value": {"doubleValue" if isinstance(v, float) else "stringValue": v}}
        for key, v in attributes.items()
        if v is not None
    ]


def _write(
    name: str,
    table: Mapping[str, Mapping[str, str]],
    path: Path,
    run: RunInfo,
    answers: Iterable[Outcome],
) -> None:
    wrapper, is_lines = str(table.get("list", "")), path.suffix.lower() == ".jsonl"
    items = _spans(run, answers) if name == "otel" else _rows(table, run, answers)
    if wrapper and not is_lines:
        write_object(path, {wrapper: [*items]})
    else:
        # The collector's file exporter writes a whole document in each line.
        write_json_list(path, ({wrapper: [one]} if name == "otel" else one for one in items))


def _formats() -> Iterator[RunFormat]:
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    for name, table in tables.items():
        summary = f"{table['summary']} (.json, .jsonl)"
        writer = partial(_write, name, table)
        yield RunFormat(name, summary, (".json", ".jsonl"), f"a file for {name}", writer)


TOOL_SCORES = tuple(_formats())
