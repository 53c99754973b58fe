"""The run that a gate compares with, and the pass rates of the runs before it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, get_args

from judgekit.datasets import BaselineName
from judgekit.errors import NotComparableError, StoreError
from judgekit.evaluation.comparability import compare_measures
from judgekit.evaluation.judges import CALIBRATION_KEY
from judgekit.evaluation.outcome import last_tries
from judgekit.evaluation.score_comparison import SideScores
from judgekit.fingerprint import fingerprint
from judgekit.records import FINISHED_STATUSES, Record, config_part
from judgekit.stats.trend import direction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.records import RunInfo
    from judgekit.stats.trend import Direction
    from judgekit.store import RunStore

# So many earlier runs of a suite are looked at.
_MOST_RUNS = 50
# A trend is one of the last runs; older ones say little about it.
_TREND_RUNS = 10


class RunRate(Record):
    """The pass rate of a variant in a run; None where no answer was decided."""

    rate: float | None
    cases: str
    """Fingerprint of the cases by content."""


@dataclass(frozen=True, slots=True)
class PassRateTrend:
    """The pass rates of the last comparable runs of the same cases, oldest first."""

    variant: str
    rates: tuple[float, ...]
    direction: Direction


class EarlierRuns:
    """The runs of a suite before one run, newest first."""

    def __init__(self, run: RunInfo, store: RunStore) -> None:
        self._run = run
        self._store = store
        self._decisions = store.gate_decisions(run.suite)
        self._runs = [
            one
            for one in store.runs(suite=run.suite, limit=_MOST_RUNS)
            if (one.started_at, one.id) < (run.started_at, run.id)
        ]

    def baseline(self, name: str, variant: str) -> RunInfo | None:
        """The baseline of that name: `previous`, `best`, `accepted` or the id of a run.

        Raises:
            NotComparableError: When the run that is named cannot be one, or none is accepted.
        """
        if name not in get_args(BaselineName):
            return self._named(name, variant)
        usable = [one for one in self._of(variant) if self.problem_of(one) is None]
        if name == "accepted":
            usable = [one for one in usable if self._outcome(one) == "accepted"]
            if not usable:
                raise NotComparableError(
                    "no earlier run of this suite is accepted",
                    hint="accept one: judgekit gate accept RUN --because WHY",
                )
        return self.best(variant) if name == "best" else next(iter(usable), None)

    def best(self, variant: str) -> RunInfo | None:
        """The comparable run with the highest pass rate; of equals the newest."""
        best, highest = None, -1.0
        for one in self._comparable(variant):
            rate = None if self.problem_of(one) else self._rates(one)[variant].rate
            if rate is not None and rate > highest:
                best, highest = one, rate
        return best

    def trend(self, variant: str) -> PassRateTrend | None:
        """The direction of the pass rate over the last comparable runs of the same cases."""
        own = self._rates(self._run)[variant]
        if own.rate is None:
            return None
        found = [own.rate]
        # Failed runs are observations as well, although they are no baseline.
        for one in self._comparable(variant):
            before = self._rates(one)[variant]
            if before.rate is not None and before.cases == own.cases:
                found.append(before.rate)
            if len(found) == _TREND_RUNS:
                break
        rates = tuple(reversed(found))
        return PassRateTrend(variant, rates, direction(rates))

    def problem_of(self, one: RunInfo) -> str | None:
        """Why a run cannot be a baseline; None where it can."""
        if one.status not in FINISHED_STATUSES:
            return f"it did not finish ({one.status})"
        if not _is_whole(one, self._run):
            return "it ran only some of the cases"
        if self._outcome(one) == "failed":
            return "it failed its gate, and nobody accepted it"
        return None

    def _named(self, name: str, variant: str) -> RunInfo:
        run = self._store.run(name)
        problem = self.problem_of(run)
        if all(each.id != variant for each in run.variants):
            problem = f"it has no variant {variant}"
        if problem is None:
            return run
        hint = f"accept it all the same: judgekit gate accept {run.id} --because WHY"
        is_failed = self._outcome(run) == "failed"
        raise NotComparableError(
            f"{run.id} cannot be the baseline: {problem}", hint=hint * is_failed
        )

    def _outcome(self, one: RunInfo) -> str | None:
        decision = self._decisions.get(one.id)
        return None if decision is None else decision.outcome

    def _of(self, variant: str) -> Iterator[RunInfo]:
        for one in self._runs:
            if one.status in FINISHED_STATUSES and any(each.id == variant for each in one.variants):
                yield one

    def _comparable(self, variant: str) -> Iterator[RunInfo]:
        """As they are concluded for a comparison with the run."""
        for one in self._of(variant):
            measure = compare_measures(one, self._run)
            if not measure.changes:
                yield measure.a
            # Who accepts a lower rate accepts that the runs before it were better.
            if self._outcome(one) == "accepted":
                return

    def _rates(self, run: RunInfo) -> dict[str, RunRate]:
        # A run of thousands of answers takes seconds to read, and a gate looks at many runs.
        rubric = "" if run.rubric is None else run.rubric.fingerprint
        key = fingerprint([rubric, run.config.get(CALIBRATION_KEY)])
        known = self._store.figures(run.id, key)
        if known is None:
            known = {}
            for variant in (each.id for each in run.variants):
                results = last_tries(self._store.results(run.id, variant=variant), run)
                side = SideScores(results, run)
                passed = [fmean(points) for points in side.passed.values()]
                known[variant] = {
                    "rate": fmean(passed) if passed else None,
                    "cases": fingerprint(sorted(side.contents.items())),
                }
            with suppress(StoreError):  # a database that cannot be written to can still be gated
                self._store.keep_figures(run.id, key, known)
        return {name: RunRate.model_validate(rate) for name, rate in known.items()}


def _is_whole(one: RunInfo, run: RunInfo) -> bool:
    """Whether a run has all cases, or those that the other was to have."""
    own, other = (
        {name: value for name, value in config_part(each, "chosen").items() if name != "variants"}
        for each in (one, run)
    )
    return not own or own == other
