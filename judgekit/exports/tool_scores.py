"""Writes runs for other tools: scores by the tables of `tool_scores.toml`, spans, and results."""

from __future__ import annotations

import re
import tomllib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit import evaluation, records
from judgekit.exports.tabular import (
    RunFormat,
    checks_without_judgment,
    failure_reasons,
    write_json_list,
    write_object,
)
from judgekit.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pydantic import JsonValue

    from judgekit.evaluation import Outcome
    from judgekit.records import JsonObject, Judgment, Output, RunInfo

_HEX = re.compile(r"[0-9a-f]+")
_TRACE_DIGITS, _SPAN_DIGITS = 32, 16
_KINDS = {"human": ("HUMAN", "HUMAN"), "llm": ("LLM", "LLM_JUDGE")}
_CODE = ("CODE", "CODE")


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
        # Scores of several turns are several scores; without turns the ids stay as they were.
        about |= {"turn": one.turn} if one.turn else {}
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
            "identifier": f"judgekit:{one.judge}:{one.repeat}{f':{one.turn}' if one.turn else ''}",
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
        if result.output.error is not None:
            span["status"] = {"code": 2, "message": result.output.error}
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
    rows = (
        _row(table["fields"], _values(run, answer, one))
        for answer in answers
        for one in ((None,) if "rows" in table else answer.result.judgments)
    )
    items = _spans(run, answers) if name == "otel" else rows
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

# What promptfoo says of a result: it passed, an assertion failed, or it is an error.
_PASSED, _FAILED, _ERROR = range(3)


def _write_promptfoo(path: Path, run: RunInfo, answers: Iterable[Outcome]) -> None:
    columns = [variant.id for variant in run.variants]
    # promptfoo gives a test that is repeated another number each time; tries are no repeats.
    numbers: dict[tuple[int, int], int] = {}
    results: list[JsonObject] = []
    for answer in answers:
        key = answer.result.place, answer.result.repeat if run.repeats > 1 else 0
        number = numbers.setdefault(key, len(numbers))
        results.append(_promptfoo_result(answer, run, number, columns.index(answer.result.variant)))
    at = run.started_at.isoformat()
    inner: JsonObject = {"version": 3, "timestamp": at, "prompts": [*_prompts(run, results)]}
    stats = _counts(results, ("successes", "failures", "errors"))
    whole: JsonObject = {
        "evalId": run.id,
        "results": {**inner, "results": [*results], "stats": stats},
    }
    about: JsonObject = {"config": {"description": run.suite}, "shareableUrl": None}
    write_object(path, {**whole, **about, "metadata": {"evaluationCreatedAt": at}})


PROMPTFOO = RunFormat(
    "promptfoo", "results of promptfoo, for `promptfoo import` (.json)", (".json",),
    "results of promptfoo", _write_promptfoo,
)  # fmt: skip


def _promptfoo_result(answer: Outcome, run: RunInfo, number: int, column: int) -> JsonObject:
    result, output = answer.result, answer.result.output
    case, usage = result.case, output.usage
    reasons = "\n".join(failure_reasons(answer))
    kind = _ERROR if answer.passed is None else _PASSED if answer.passed else _FAILED
    error = output.error
    if error is None and kind == _ERROR:
        error = f"it is not known whether the answer passes\n{reasons}".strip()
    # A result of promptfoo always has a truth value and a score; what is known stays beside them.
    about: JsonObject = {"judgekit_run": run.id, "case_id": case.id, "variant": result.variant}
    about |= {"repeat": result.repeat, "passed": answer.passed, "value": answer.value}
    criteria = () if answer.verdict is None else answer.verdict.criteria
    named: JsonObject = {one.name: one.value for one in criteria if one.value is not None}
    # An input that is no object is the one variable of its test, which makes it readable again.
    is_object = isinstance(case.input, dict) and case.input.keys() != {"input"}
    variables = case.input if is_object else {"input": case.input}
    prompt, model = _column(run, result.variant)
    graded: JsonObject = {"score": answer.value or 0.0, "namedScores": named}
    reason = error or reasons
    return {
        "promptIdx": column,
        "testIdx": number,
        "testCase": {"description": case.name or case.id, "vars": variables},
        "vars": variables,
        "prompt": prompt,
        "provider": {"id": model, "label": result.variant},
        "response": _response(output),
        "success": kind == _PASSED,
        "failureReason": kind,
        "error": reason or None,
        "latencyMs": None if output.duration_ms is None else round(output.duration_ms),
        "cost": None if usage is None else usage.cost_usd,
        "gradingResult": {
            **graded,
            "pass": kind == _PASSED,
            "reason": reason or "it passes",
            "componentResults": [*_components(answer, run)],
        },
        "metadata": about,
        **graded,
    }


def _response(output: Output) -> JsonObject:
    if output.error is not None:
        return {"error": output.error}
    response: JsonObject = {"output": output.text if output.data is None else output.data}
    if (usage := output.usage) is not None:
        n_in, n_out = usage.input_tokens, usage.output_tokens
        response["tokenUsage"] = {"prompt": n_in, "completion": n_out, "total": n_in + n_out}
    return response


def _components(answer: Outcome, run: RunInfo) -> Iterator[JsonObject]:
    """What each assertion and criterion found; one that is open has neither pass nor score."""
    for check in checks_without_judgment(answer.result):
        if check.passed is not None:
            score = float(check.passed) if check.value is None else check.value
            assertion: JsonObject = {"type": check.type, "weight": check.weight}
            found: JsonObject = {"pass": check.passed, "score": score, "reason": check.message}
            yield {**found, "assertion": assertion}
    rubric = evaluation.rubric_of_result(answer.result, run)
    if answer.verdict is None or rubric is None:
        return
    for one in answer.verdict.criteria:
        if one.value is None or one.passed is None:
            continue
        whys = [each.rationale for each in answer.result.judgments if each.criterion == one.name]
        question = rubric.criterion(one.name).question
        assertion = {"type": "llm-rubric", "value": question, "metric": one.name}
        found = {"pass": one.passed, "score": one.value, "reason": "\n".join(filter(None, whys))}
        yield {**found, "assertion": assertion}


def _prompts(run: RunInfo, results: list[JsonObject]) -> Iterator[JsonObject]:
    """The columns of promptfoo's table, with the figures above them."""
    for column, variant in enumerate(run.variants):
        own = [one for one in results if one["promptIdx"] == column]
        metrics = _counts(own, ("testPassCount", "testFailCount", "testErrorCount"))
        metrics |= {"score": _sum(own, "score"), "cost": _sum(own, "cost")}
        metrics |= {"totalLatencyMs": _sum(own, "latencyMs")}
        prompt, model = _column(run, variant.id)
        yield {**prompt, "provider": model, "metrics": metrics}


def _counts(results: list[JsonObject], names: tuple[str, str, str]) -> JsonObject:
    kinds = [one["failureReason"] for one in results]
    return {name: kinds.count(kind) for kind, name in enumerate(names)}


def _sum(results: list[JsonObject], name: str) -> float:
    values = (one[name] for one in results)
    return sum(value for value in values if isinstance(value, int | float))


def _column(run: RunInfo, variant: str) -> tuple[JsonObject, str]:
    """The prompt and the model of a variant; where it has none, its name."""
    own = next(
        (row for row in records.config_rows(run, "variants") if row.get("id") == variant), {}
    )
    raw, model = own.get("prompt"), own.get("model")
    prompt: JsonObject = {"raw": raw if isinstance(raw, str) else variant, "label": variant}
    return prompt, model if isinstance(model, str) else variant
