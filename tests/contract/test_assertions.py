"""The deterministic assertions: what passes, what fails, and what could not be measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk

if TYPE_CHECKING:
    from tests.contract.pinning import Pins

USAGE = {"inputTokens": 812, "outputTokens": 96}
EVENTS = [
    {"type": "node:start", "nodeId": "search"},
    {"type": "node:start", "nodeId": "search"},
    {"type": "recording:linked", "mode": "replay"},
    {"type": "agent:complete", "durationMs": 1730, "totalCostUsd": 0.004, "usage": USAGE},
]
OUTPUTS: dict[str, Any] = {
    "run": {
        "caseId": "hello",
        "runId": "run-7",
        "snapshot": {"outputs": {"main": {"text": "Hello Ada", "n": 1, "tags": ["a", "b"]}}},
        "events": EVENTS,
    },
    "broken": {
        "caseId": "hello",
        "runId": "run-8",
        "snapshot": {"outputs": {}},
        "events": [*EVENTS, {"type": "node:error", "nodeId": "search", "error": "timed out"}],
    },
    "text": {"case_id": "hello", "text": "Yes, within 30 days."},
}
S1: dict[str, dict[str, tuple[Any, Any]]] = {
    "output.contains": {"outputs.main.text": ("Ada", "Bo"), "outputs.main.tags": ("a", "c")},
    "output.equals": {"outputs.main.text": ("Hello Ada", "Hello"), "outputs.main.n": (1.0, 2)},
    "metric.latency_ms.max": {"": (2000, 1000)},
    "metric.total_cost_usd.max": {"": (0.004, 0.003)},
    "metric.tokens.input.max": {"": (812, 811)},
    "metric.tokens.output.max": {"": (100, 95)},
    "behavior.node_executed": {"": ("search", "write")},
    "behavior.node_invocations.max": {"": (2, 1)},
}
NODE = {"behavior.node_executed", "behavior.node_invocations.max"}
SPECS = [
    {"type": kind, "value": value} | ({"path": path} if path else {})
    for kind, by_path in S1.items()
    for path, values in by_path.items()
    for value in values
] + [{"type": "behavior.no_errors"}]


def spelt(spec: dict[str, Any]) -> dict[str, Any]:
    """A spec in the words of its type: a node is named, not valued."""
    if spec["type"] == "behavior.node_executed":
        return {"type": spec["type"], "nodeId": spec["value"]}
    if spec["type"] == "behavior.node_invocations.max":
        return spec | {"nodeId": "search"}
    return spec


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec['type']} {spec.get('value')}")
def test_an_assertion_concludes_as_pinned(output: str, spec: dict[str, Any], pins: Pins) -> None:
    (found,) = jk.evaluate_assertions(OUTPUTS[output], [spelt(spec)])
    concluded = {"passed": found.passed, "actual": found.actual, "is_error": bool(found.error)}
    name = f"{spec['type']} {spec.get('path', '')} {spec.get('value', '')} {output}"
    pins.check("assertions", name, concluded)
    assert found.message


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "output.contain", "value": "x"},
        {"type": "output.contains"},
        {"type": "metric.latency_ms.max", "value": "fast"},
        {"type": "contains", "value": "x", "valeu": "y"},
    ],
    ids=str,
)
def test_an_unsound_spec_is_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(jk.InputError, match="assertion"):
        jk.evaluate_assertions(jk.Output(text="x"), [spec])


GENERAL: list[dict[str, Any]] = [
    {"type": "contains", "value": "30 days"},
    {"type": "not-contains", "value": "30 days"},
    {"type": "icontains", "value": "YES"},
    {"type": "equals", "value": "Yes, within 30 days."},
    {"type": "regex", "value": r"\d+ days"},
    {"type": "starts-with", "value": "No"},
    {"type": "word-count", "value": {"max": 3}},
    {"type": "char-count", "value": {"min": 5}},
    {"type": "is-json"},
    {"type": "levenshtein", "value": "Yes: within 30 days!", "threshold": 3},
    {"type": "rouge-n", "value": "Within 30 days.", "n": 1, "threshold": 0.5},
    {"type": "bleu", "value": "Yes, within 30 days of delivery.", "threshold": 0.4},
    {"type": "is-refusal"},
    {"type": "any", "assertions": [{"type": "contains", "value": "no"}, {"type": "is-json"}]},
    {"type": "all", "threshold": 0.5, "assertions": [
        {"type": "contains", "value": "Yes", "weight": 2}, {"type": "is-json"}]},
    {"type": "none", "assertions": [{"type": "contains", "value": "no"}]},
    {"type": "trajectory.no_loop"},
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(GENERAL)), ids=lambda k: str(GENERAL[k]["type"]))
def test_a_text_assertion_concludes_as_pinned(place: int, pins: Pins) -> None:
    (found,) = jk.evaluate_assertions(jk.Output(text="Yes, within 30 days."), [GENERAL[place]])
    concluded = {"passed": found.passed, "value": found.value, "is_error": bool(found.error)}
    pins.check("assertions", f"{place} {GENERAL[place]['type']}", concluded)
