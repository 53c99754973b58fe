"""Completes a run that has ended: stores gate decision, figures and failures, and sends alarms.

`judgekit.cli.run` and `evaluate` both end in `complete_run`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.evaluation.findings import FindingChanges, finding_changes
from judgekit.evaluation.gate import decide_gate
from judgekit.evaluation.run_figures import store_figures
from judgekit.records import FINISHED_STATUSES

if TYPE_CHECKING:
    from datetime import datetime

    from judgekit.datasets import Suite
    from judgekit.evaluation.findings import CaseTally
    from judgekit.evaluation.gate import GateResult
    from judgekit.evaluation.summary import RunSummary
    from judgekit.store import RunStore


@dataclass(frozen=True, slots=True)
class Completion:
    """What a run changed.

    Attributes:
        changes: The findings it opened, continued and resolved; None for a run that did not end.
        problems: What could not be notified, in words.
    """

    changes: FindingChanges | None = None
    problems: tuple[str, ...] = ()


async def complete_run(
    suite: Suite,
    store: RunStore,
    summary: RunSummary,
    gate: GateResult | None,
    failures: CaseTally,
    *,
    at: datetime,
    reason: str = "",
) -> Completion:
    """Store what follows from a run, and notify; `reason` is that of the gate, in words."""
    run = summary.run
    decision = decide_gate(gate, run, at, reason)
    known = store.gate_decisions(run.suite).get(run.id)
    # A run that failed its gate is no baseline of the next; one that was accepted stays accepted
    # when it is resumed.
    if decision is not None and (known is None or known.outcome != "accepted"):
        store.record_gate(decision)
    if run.status not in FINISHED_STATUSES:
        return Completion()
    store_figures(summary, store)
    failures.keep(store)
    problems: list[str] = []
    if suite.notify is not None:
        # It looks at all runs of the suite, so that it is only read where something is notified.
        from judgekit.evaluation.notify import notify  # noqa: PLC0415

        problems = await notify(suite, run, store, at=at)
    return Completion(finding_changes(store, run), tuple(problems))
