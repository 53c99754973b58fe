"""An output that a program has at hand is judged and stored by one call, inside its own loop."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from judgekit.store import RunStore
from tests.evaluation.suites import RIGHT, lay_suite, rows

if TYPE_CHECKING:
    from pathlib import Path

CASE = jk.Case(id="task-7", input="Can I return it?", context="Within 30 days.")
STEP = {"type": "tool_call", "name": "search"}


def arguments(folder: Path) -> dict[str, Any]:
    return {"store": folder / "runs.db", "cache": folder / "cache"}


def lay_judged(folder: Path, score: int = 4) -> Path:
    """A suite whose judge gives one score to all, and which has a program as its variant."""
    text = json.dumps({"score": score, "rationale": "It is so."})
    (folder / "judge.jsonl").write_text(rows({"case_id": "task-7", "text": text}), "utf-8")
    return lay_suite(
        folder,
        judge={"model": "recorded:judge.jsonl"},
        rubric="rubric.yaml",
        variants=[{"id": "agent", "python": "nowhere:at_all"}],
        gate={"tier": "development", "rule": "point"},
    )


async def test_an_agent_run_is_judged_from_inside_its_loop(tmp_path: Path) -> None:
    path = lay_judged(tmp_path)
    output = jk.Output(text="right", run_id="agentrun-7", trace=[STEP])
    with await jk.evaluate(path, outputs=[(CASE, output)], **arguments(tmp_path)) as run:
        (outcome,) = run.concluded()
        assert outcome.verdict is not None
        assert (outcome.verdict.value, outcome.passed) == (0.75, True)
        assert (outcome.result.case, outcome.result.variant) == (CASE, "agent")
        assert (run.status, run.info.tags) == ("complete", ("outputs",))
        assert run.info.triggered_by == "agent run agentrun-7"
        gate = run.gate()
        assert gate is not None
        assert gate.held == "passed"
        assert run.findings() == ()
        name = run.id
    # It is in the store, with what its gate decided.
    store = RunStore(tmp_path / "runs.db")
    try:
        assert next(iter(store.results(name))).output.run_id == "agentrun-7"
        assert store.gate_decisions("small")[name].outcome == "passed"
    finally:
        store.close()


def test_a_failure_is_a_finding_and_is_notified(tmp_path: Path) -> None:
    path = lay_judged(tmp_path, score=1)
    suite = json.loads(path.read_text("utf-8")) | {"notify": {"file": "alarms.jsonl"}}
    path.write_text(json.dumps(suite), encoding="utf-8")
    output = jk.Output(text="wrong", variant="v9")
    with jk.evaluate_sync(path, outputs=[(CASE, output)], **arguments(tmp_path)) as run:
        (finding,) = run.findings()
        assert (finding.variant, finding.case_id, finding.type) == ("v9", "task-7", "wrong-output")
        gate = run.gate()
        assert gate is not None
        assert gate.held == "failed"
        assert run.store.gate_decisions("small")[run.id].outcome == "failed"


def test_rows_and_cases_of_the_suite_are_taken_too(tmp_path: Path) -> None:
    path = lay_suite(tmp_path)
    outputs: list[Any] = [
        {"id": "log-1", "input": "Who?", "output": "right", "latency": 3},
        jk.Output(case_id="c2", text="wrong"),
    ]
    with jk.evaluate_sync(path, outputs=outputs, **arguments(tmp_path)) as run:
        found = {one.result.case.id: (one.result.case.input, one.passed) for one in run.concluded()}
    assert found == {"log-1": ("Who?", True), "c2": ("Question c2?", False)}


def test_every_agent_run_may_be_judged_at_once(tmp_path: Path) -> None:
    path = lay_suite(tmp_path, variants=[])

    async def judged(k: int) -> bool | None:
        case = jk.Case(id=f"task-{k}", input="?")
        output = jk.Output(text="right" if k % 2 else "wrong")
        with await jk.evaluate(path, outputs=[(case, output)], **arguments(tmp_path)) as run:
            (outcome,) = run.concluded()
            return outcome.passed

    async def all_of_them() -> list[bool | None]:
        return await asyncio.gather(*map(judged, range(6)))

    assert asyncio.run(all_of_them()) == [False, True] * 3
    store = RunStore(tmp_path / "runs.db")
    try:
        assert {v.id for run in store.runs(suite="small") for v in run.variants} == {"outputs"}
        assert len(store.runs(suite="small")) == 6
    finally:
        store.close()


def test_replies_that_are_cached_cost_nothing(tmp_path: Path) -> None:
    path = lay_judged(tmp_path)
    for frozen in (False, True):
        with jk.evaluate_sync(
            path, outputs=[(CASE, jk.Output(text="right"))], frozen=frozen, **arguments(tmp_path)
        ) as run:
            assert run.status == "complete"


@pytest.mark.parametrize(
    ("outputs", "told"),
    [
        ([], "there are no outputs to judge"),
        ([jk.Output(text="x")], r"outputs\[0\]: the output names no case"),
        ([jk.Output(case_id="c9", text="x")], "no case has the id 'c9'"),
        ([(CASE, jk.Output(text="x"))] * 2, r"outputs\[1\]: the case 'task-7' comes twice"),
        ([{"id": "a", "input": "x"}], r"outputs\[0\].*needs a text"),
        ([{"output": "x"}], r"outputs\[0\].*`case_id` is missing"),
    ],
)
def test_what_is_no_output_is_refused_before_any_call(
    tmp_path: Path, outputs: list[Any], told: str
) -> None:
    path = lay_suite(tmp_path, assertions=[RIGHT])
    with pytest.raises(jk.InputError, match=told):
        jk.evaluate_sync(path, outputs=outputs, **arguments(tmp_path))


def test_a_choice_is_of_cases_and_not_of_outputs(tmp_path: Path) -> None:
    path = lay_suite(tmp_path)
    given = [(CASE, jk.Output(text="right"))]
    with pytest.raises(jk.SettingsError, match="`outputs` and `choice` exclude each other"):
        jk.evaluate_sync(path, outputs=given, choice=jk.Choice(limit=1), **arguments(tmp_path))
