from __future__ import annotations

from typing import Any

import pytest

from judgekit.assertions import evaluate_assertions, score_output
from judgekit.assertions.selection import unpack_artifact
from judgekit.errors import InputError
from judgekit.records import Output

EVENTS: list[dict[str, Any]] = [
    {
        "type": "agent:complete",
        "nodeId": "main",
        "durationMs": 1500,
        "totalCostUsd": 0.01,
        "usage": {"inputTokens": 100, "outputTokens": 20},
    }
]
SNAPSHOT: dict[str, Any] = {
    "outputs": {"main": {"text": "Say hello world"}}, "state": {}, "nodeStatus": {}
}  # fmt: skip
ARTIFACT: dict[str, Any] = {"runId": "test-run", "snapshot": SNAPSHOT, "events": EVENTS}
NINE: list[dict[str, Any]] = [
    {"type": "output.contains", "path": "outputs.main.text", "value": "hello"},
    {"type": "output.equals", "path": "outputs.main.text", "value": "Say hello world"},
    {"type": "metric.latency_ms.max", "value": 2000},
    {"type": "metric.total_cost_usd.max", "value": 0.02},
    {"type": "metric.tokens.input.max", "value": 150},
    {"type": "metric.tokens.output.max", "value": 50},
    {"type": "behavior.no_errors"},
    {"type": "behavior.node_executed", "nodeId": "main"},
    {"type": "behavior.node_invocations.max", "nodeId": "main", "value": 1},
]


@pytest.mark.parametrize(
    "given",
    [
        ARTIFACT,
        {"snapshot": SNAPSHOT, "events": EVENTS, "agent": "coder"},
        {"data": ARTIFACT},
        Output(data=ARTIFACT),
        Output(data={"snapshot": SNAPSHOT, "events": EVENTS}),
        Output(data={"snapshot": SNAPSHOT}, trace=EVENTS),
        Output(data={**SNAPSHOT, "events": EVENTS}),
        Output(data={"outputs": SNAPSHOT["outputs"], "events": EVENTS}),
        Output(data=SNAPSHOT, trace=EVENTS),
        Output(data=SNAPSHOT["outputs"], trace=EVENTS),
        Output(text="Say hello world", trace=EVENTS),
    ],
)
def test_an_artifact_is_checked_however_it_is_handed_over(given: Any) -> None:
    found = evaluate_assertions(given, NINE)

    assert [result.message for result in found if not result.passed] == []
    assert found[2].actual == 1500


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("runId", "test-run"),
        ("snapshot.outputs.main.text", "Say hello world"),
        ("data.snapshot.outputs.main.text", "Say hello world"),
        ("events.0.durationMs", 1500),
        ("flow", "coder"),
    ],
)
def test_paths_find_what_an_artifact_holds_under_its_own_names(path: str, value: object) -> None:
    output = Output(data={**ARTIFACT, "flow": "coder"})

    [found] = evaluate_assertions(output, [{"type": "output.equals", "path": path, "value": value}])

    assert found.passed, found.message


def test_an_artifact_is_not_altered() -> None:
    output = Output(data=ARTIFACT)
    before = output.model_dump_json()

    evaluate_assertions(output, NINE)

    assert output.model_dump_json() == before


def test_the_scorers_measure_an_artifact() -> None:
    breakdown = score_output(ARTIFACT, ["latency", "cost", "tokens"])

    assert [score.raw for score in breakdown.scores] == [1500, 0.01, 120]


def test_a_trace_of_its_own_comes_before_the_events_of_the_data() -> None:
    output = Output(data=ARTIFACT, trace=[{**EVENTS[0], "durationMs": 7}], run_id="mine")

    taken = unpack_artifact(output)

    assert evaluate_assertions(output, NINE)[2].actual == 7
    assert taken.run_id == "mine"


@pytest.mark.parametrize(
    "data",
    [
        ["snapshot"],
        {"events": EVENTS},
        {"snapshot": "of a garden", "events": [{"title": "a party"}]},
        {"outputs": {}, "events": []},
    ],
)
def test_data_of_another_kind_is_taken_as_it_is(data: Any) -> None:
    output = Output(data=data)

    assert unpack_artifact(output) is output


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("hello", "must be an Output, not str"),
        ({"txt": "hello"}, "is no output: txt: Extra inputs are not permitted"),
        ({}, "is no output: an output needs a text"),
        (Output(data={**ARTIFACT, "events": [{"type": ""}]}), "artifact's events: type: "),
    ],
)
def test_what_is_no_output_is_refused_by_name(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate_assertions(given, NINE)


def test_the_fields_of_an_output_are_one() -> None:
    [found] = evaluate_assertions({"text": "hello"}, [{"type": "contains", "value": "hell"}])
    assert found.passed


@pytest.mark.parametrize("path", [None, "outputs.main.text"])
def test_the_only_text_of_an_artifact_is_what_is_compared(path: str | None) -> None:
    spec = {"type": "similarity", "reference": "Say hello world"}
    found = score_output(ARTIFACT, [spec if path is None else {**spec, "path": path}])
    assert found.overall == 1.0


@pytest.mark.parametrize("outputs", [{"a": {"text": "x"}, "b": "y"}, {"a": {"n": 1}}, {}])
def test_of_several_texts_the_one_to_compare_must_be_named(outputs: dict[str, Any]) -> None:
    artifact = {**ARTIFACT, "snapshot": {**SNAPSHOT, "outputs": outputs}}
    (score,) = score_output(artifact, [{"type": "similarity", "reference": "x"}]).scores
    assert score.value is None
    assert "no `path` names the one to compare" in str(score.error)
