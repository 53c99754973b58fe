"""Turns what a judge concluded into a score, so that it stands beside the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.checks.seam import UndecidedError, scorer
from judgekit.records.check import Score
from judgekit.records.record import Finite, Fraction  # noqa: TC001 - the seam reads the hints
from judgekit.records.verdict import Verdict  # noqa: TC001 - the seam reads the hints

if TYPE_CHECKING:
    from judgekit.records.output import Output


@scorer("judge")
def judge(
    output: Output,  # noqa: ARG001 - every scorer is handed the output
    *,
    verdict: Verdict | None = None,
    value: Fraction | None = None,
    raw: Finite | None = None,
    method: str | None = None,
) -> Score:
    """Score an output by what a judge concluded; no judge is asked here."""
    if verdict is None:
        if value is None:
            raise UndecidedError("no judge has been asked")
        return Score(name="judge", value=value, raw=raw, method=method)
    if verdict.value is None:
        why = verdict.error or f"{len(verdict.failures)} judgments are missing"
        raise UndecidedError(f"the verdict is open: {why}")
    judges = ", ".join(dict.fromkeys(j.judge for j in verdict.judgments if j.judge))
    return Score(
        name="judge",
        value=verdict.value,
        raw=verdict.value if raw is None else raw,
        method=method or f"{judges or 'judge'}, rubric {verdict.rubric}",
        message=f"rubric {verdict.rubric}: {verdict.value:.3f}",
    )
