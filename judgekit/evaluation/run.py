"""A run as users hold it: what it set out to do, what was observed, what that comes to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

from judgekit.evaluation.figures.concluding import conclude_result
from judgekit.evaluation.figures.run_summary import RunTally
from judgekit.evaluation.gating import hold_to_gate
from judgekit.evaluation.preparing.calibrated import uncalibrated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.evaluation.figures.run_figures import RunSummary
    from judgekit.evaluation.gating import GateHeld
    from judgekit.records.run import CaseResult, RunInfo, RunStatus
    from judgekit.store.runs import RunStore


class Run:
    """A run in a store; its observations are read when they are asked for.

    Args:
        info: What it set out to do and how it ended.
        store: Where its observations are.
        owns_store: Whether closing the run closes the store.
    """

    def __init__(self, info: RunInfo, store: RunStore, *, owns_store: bool = False) -> None:
        self.info = info
        self.store = store
        self._owns_store = owns_store

    @property
    def id(self) -> str:
        """Name of the run."""
        return self.info.id

    @property
    def status(self) -> RunStatus:
        """How it ended."""
        return self.info.status

    def results(
        self, *, variant: str | None = None, case_id: str | None = None, tag: str | None = None
    ) -> Iterator[CaseResult]:
        """What was observed, one answer at a time.

        Args:
            variant: Only this variant.
            case_id: Only this case.
            tag: Only cases with this tag.

        Yields:
            Answers in the order of the cases.
        """
        yield from self.store.results(self.id, variant=variant, case_id=case_id, tag=tag)

    def concluded(
        self, *, variant: str | None = None, case_id: str | None = None, tag: str | None = None
    ) -> Iterator[Concluded]:
        """Answers with what they come to: verdict, value, whether they pass.

        Args:
            variant: Only this variant.
            case_id: Only this case.
            tag: Only cases with this tag.

        Yields:
            Answers in the order of the cases.
        """
        for result in self.results(variant=variant, case_id=case_id, tag=tag):
            yield conclude_result(result, self.info)

    def summary(
        self, *, level: float = 0.95, watch: Callable[[Concluded], None] | None = None
    ) -> RunSummary:
        """What the run comes to, worked out now.

        Args:
            level: Confidence level of all intervals, in (0, 1).
            watch: Told of each answer on the way, in the order of the cases.

        Returns:
            Figures per variant, criterion, tag and stratum, and the variants' differences.
        """
        tally = RunTally(self.info)
        own = uncalibrated(self.info)
        raw = None if own is self.info else RunTally(own)
        for concluded in self.concluded():
            tally.take(concluded)
            if raw is not None:
                raw.take(conclude_result(concluded.result, own))
            if watch is not None:
                watch(concluded)
        n_waiting = sum(1 for _ in self.store.queue(self.id))
        replaced = self.store.spent_usd(self.id, is_owned=tally.is_owned, only_replaced=True)
        found = tally.summary(n_waiting=n_waiting, replaced_usd=replaced, level=level)
        if raw is None:
            return found
        return replace(found, uncalibrated=raw.summary(level=level).variants)

    def gate(self, summary: RunSummary | None = None) -> GateHeld | None:
        """What the suite's gate says of the run: of each variant's value, and of its pass rate.

        Args:
            summary: The run's figures, where they are at hand; None works them out.

        Returns:
            The gate, whose `held` is `passed`, `failed` or `inconclusive`; None where the suite
            has none that says something of figures.

        Raises:
            StoreError: When this run, or one before it, cannot be read.
        """
        return hold_to_gate(summary or self.summary(), self.store)

    def close(self) -> None:
        """Close the store, where the run opened it."""
        if self._owns_store:
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
