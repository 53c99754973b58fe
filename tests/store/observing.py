"""Runs and observations for tests; a test says only what matters to it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from judgekit.records import ItemKey, Observation, RunInfo, RunPanel, Variant
from tests.factories import make_case, make_judgment, make_output, make_rubric

if TYPE_CHECKING:
    from judgekit.records import CaseResult
    from judgekit.store import RunStore

START = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
JUDGE = "openai/m pointwise/default@1"


def make_run(name: str = "run-1", *variants: str, **fields: Any) -> RunInfo:
    """A run of `v1`, or of the variants named."""
    known = {
        "suite": "support",
        "started_at": START,
        "rubric": make_rubric("accuracy", "clarity"),
        "variants": [Variant(id=each) for each in variants or ("v1",)],
        "panel": RunPanel(judges=(JUDGE,)),
        "config": {"name": "support", "judge": {"model": "openai/m"}},
    }
    return RunInfo(**{"id": name} | known | fields)


def key(case_id: str = "refund", variant: str = "v1", repeat: int = 0) -> ItemKey:
    """An answer."""
    return ItemKey(case_id, variant, repeat)


def said(criterion: str = "accuracy", value: float = 1.0, **fields: Any) -> Any:
    """A judgment by the judge of the run, as it is read back from an answer at the start."""
    return make_judgment(criterion, value, **{"judge": JUDGE, "judged_at": START} | fields)


def answer(answer_key: ItemKey | None = None, **fields: Any) -> Observation:
    """A whole answer at place 0: its case, an output and a judgment of each criterion."""
    answer_key = answer_key or key()
    known: dict[str, Any] = {
        "place": 0,
        "at": START,
        "case": make_case(id=answer_key.case_id),
        "output": make_output(),
        "said": (said("accuracy"), said("clarity", 0.5)),
        "is_done": True,
    }
    return Observation(**known | {"key": answer_key} | fields)


def part(answer_key: ItemKey | None = None, **fields: Any) -> Observation:
    """Something more of an answer that was begun."""
    known: dict[str, Any] = {"place": 0, "at": START + timedelta(minutes=1)}
    return Observation(**{"key": answer_key or key()} | known | fields)


def begun(store: RunStore, *observed: Observation, **fields: Any) -> RunInfo:
    """A run that was begun, with observations."""
    run = make_run(**fields)
    store.begin(run)
    store.add(run.id, observed)
    return run


def only(store: RunStore, run_id: str = "run-1") -> CaseResult:
    """The one result of a run."""
    (result,) = store.results(run_id)
    return result
