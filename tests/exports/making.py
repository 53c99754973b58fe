"""Answers of a run for tests of formats; a test says only what matters to it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from judgekit.evaluation import conclude_result
from judgekit.records import (
    AssertionResult,
    CaseResult,
    Evidence,
    RunInfo,
    RunPanel,
    Usage,
    Variant,
)
from tests.factories import make_case, make_criterion, make_judgment, make_output, make_rubric

if TYPE_CHECKING:
    from judgekit.evaluation import Outcome
    from judgekit.records import Judgment

START = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
JUDGE = "openai/m pointwise/default@1"
RUBRIC = make_rubric(make_criterion("accuracy", required=True), "clarity")

TEXTS = st.text(max_size=20)
NAMES = st.text(min_size=1, max_size=12).filter(lambda text: text.strip() and "\x00" not in text)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def make_run(*variants: str, **fields: Any) -> RunInfo:
    """A run of `v1`, or of the variants named."""
    known = {
        "id": "run-1",
        "suite": "support",
        "started_at": START,
        "status": "complete",
        "rubric": RUBRIC,
        "variants": [Variant(id=each) for each in variants or ("v1",)],
        "panel": RunPanel(judges=(JUDGE,)),
        "config": {"assertions": []},
    }
    return RunInfo(**known | fields)


def said(criterion: str, raw: float, **fields: Any) -> Judgment:
    """A judgment on the scale from 1 to 5, with a passage that was found."""
    found = Evidence(quote="30 days", match="exact", start=12, end=19)
    known: dict[str, Any] = {"raw": raw, "value": (raw - 1) / 4, "judge": JUDGE}
    return make_judgment(criterion, **known | {"evidence": (found,)} | fields)


def make_answer(
    accuracy: float | None = 4,
    clarity: float | None = 5,
    *,
    run: RunInfo | None = None,
    **fields: Any,
) -> Outcome:
    """An answer with a judgment of each criterion; None is a judgment that is missing."""
    pairs = (("accuracy", accuracy), ("clarity", clarity))
    usage = Usage(input_tokens=10, output_tokens=5, cost_usd=0.01)
    known: dict[str, Any] = {
        "run_id": "run-1",
        "place": 0,
        "case": make_case(reference="Within 30 days.", tags=("hard",), stratum="simple"),
        "variant": "v1",
        "output": make_output(usage=usage, duration_ms=12.5),
        "judgments": tuple(said(name, raw) for name, raw in pairs if raw is not None),
        "is_done": True,
        "ran_at": START,
    }
    return conclude_result(CaseResult.model_validate(known | fields), run or make_run())


def check(name: str = "contains", *, passed: bool | None = True, **fields: Any) -> AssertionResult:
    """What an assertion found; None is one that could not be checked."""
    error = "no path" if passed is None else None
    known = {"message": f"{name} says so", "type": name, "error": error}
    return AssertionResult(passed=passed, **known | fields)
