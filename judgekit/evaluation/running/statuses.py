"""Decides how a run stands once nobody works on it: complete, incomplete, waiting for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from judgekit.records.judgment import JudgeFailure, Judgment
    from judgekit.records.run import CaseResult, Panel, RunInfo, RunStatus
    from judgekit.store.progress import Progress
    from judgekit.store.runs import RunStore

_HUMAN = "human"
_SETTLED = frozenset({"waiting", "complete", "incomplete"})
"""How a run ends when everything was begun; one that was stopped has more to do than this."""


def status_of(store: RunStore, run_id: str) -> RunStatus:
    """How a run stands by what is kept of it."""
    run = store.run(run_id)
    for seen in _counting(store.progress(run_id), run):
        if not seen.is_done or seen.error_kind == "model":
            return "incomplete"
        if seen.n_failures and not _is_made_up(store.result(run_id, seen.key), run.panel):
            return "incomplete"
    return "waiting" if next(iter(store.queue(run_id)), None) is not None else "complete"


def settle(store: RunStore, run_id: str, *, at: datetime) -> RunInfo:
    """Bring a run's status up to date after people have judged, or taken a judgment back."""
    run = store.run(run_id)
    if run.status not in _SETTLED:
        return run
    status = status_of(store, run_id)
    if status == run.status:
        return run
    store.end(run_id, status=status, at=at)
    return store.run(run_id)


def _counting(found: Iterable[Progress], run: RunInfo) -> Iterator[Progress]:
    """The answers that decide how a run stands: of several tries the last."""
    last: Progress | None = None
    for seen in found:
        is_other = last is None or (seen.place, seen.key.variant) != (last.place, last.key.variant)
        if last is not None and (is_other or run.repeats != 1):
            yield last
        last = seen
    if last is not None:
        yield last


def _is_made_up(result: CaseResult | None, panel: Panel) -> bool:
    """Whether for each failure a later judge of a cascade has answered."""
    if result is None or panel.combine != "cascade":
        return False
    return all(_has_later(failure, result.judgments, panel) for failure in result.failures)


def _has_later(failure: JudgeFailure, judgments: Sequence[Judgment], panel: Panel) -> bool:
    seats = {judge: place for place, judge in enumerate(panel.judges)}
    place = seats.get(failure.judge, -1)
    return any(
        one.criterion == failure.criterion
        and seats.get(_HUMAN if one.source == _HUMAN else one.judge, len(seats)) > place
        for one in judgments
    )
