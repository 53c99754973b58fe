"""The results of `grade` and `compare`: verdicts and comparisons with their figures."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, overload

from judgekit.evaluation import judge_usage
from judgekit.presentable import Presentable
from judgekit.records import Comparison, Verdict
from judgekit.report import numbers

if TYPE_CHECKING:
    from judgekit.evaluation import ComparisonSummary, Outcome, RunSummary
    from judgekit.records import ComparedPair, ComparisonInfo, JudgeFailure, RunInfo
    from judgekit.stats.estimate import Estimate


class GradingResults(Sequence[Verdict], Presentable):
    """The verdicts of outputs, in the order of the outputs, and their figures.

    Attributes:
        summary: Pass rates, means and differences with their intervals, for each variant.
        outcomes: Case, output, judgments and verdict of each output, in the order of the run.
        stopped: Why not everything was judged, in words; None where it was.
        library: The library of the frame that was graded; None for other data.
    """

    def __init__(
        self,
        outcomes: Sequence[Outcome],
        *,
        places: Sequence[int],
        summary: RunSummary,
        stopped: str | None = None,
        unnamed: frozenset[str] = frozenset(),
        library: str | None = None,
    ) -> None:
        self.summary, self.stopped, self.library = summary, stopped, library
        self.outcomes = tuple(outcomes)
        self._places = tuple(places)
        self._verdicts = tuple(_verdict(outcomes[place], unnamed) for place in places)

    @property
    def run(self) -> RunInfo:
        """The run they are of, with its rubric and its judges."""
        return self.summary.run

    @property
    def in_input_order(self) -> tuple[Outcome, ...]:
        """The outcomes in the order of the outputs, as the verdicts are."""
        return tuple(self.outcomes[place] for place in self._places)

    @property
    def pass_rate(self) -> Estimate:
        """The share of outputs that pass, with its interval.

        Raises:
            ValueError: When there are several variants, each of which has its own in `summary`.
        """
        (only,) = self.summary.variants
        return only.pass_rate

    @property
    def failures(self) -> tuple[JudgeFailure, ...]:
        """Every question to which the judge gave no usable answer."""
        return tuple(failure for verdict in self for failure in verdict.failures)

    @property
    def cost_usd(self) -> float | None:
        """What the judge's replies cost now, cached ones nothing; None where that is unknown."""
        spent = self.summary.spent
        return None if spent.cost_unknown else spent.cost_usd

    @overload
    def __getitem__(self, place: int) -> Verdict: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Verdict]: ...
    def __getitem__(self, place: int | slice) -> Verdict | Sequence[Verdict]:
        return self._verdicts[place]

    def __len__(self) -> int:
        return len(self._verdicts)

    def __repr__(self) -> str:
        parts = [numbers.format_count(len(self), "output")]
        is_single = len(self.summary.variants) == 1
        for one in self.summary.variants:
            name = "" if is_single else f"{one.variant} "
            parts.append(f"{name}pass rate {numbers.format_rate(one.pass_rate)}")
        parts += [numbers.format_count(n, "judge failure")] if (n := len(self.failures)) else []
        parts += [f"stopped: {self.stopped}"] if self.stopped else []
        return f"<GradingResults: {', '.join(parts)}>"


def _verdict(outcome: Outcome, unnamed: frozenset[str]) -> Verdict:
    verdict = outcome.verdict
    assert verdict is not None  # noqa: S101 - a run with one rubric concludes by it
    # Outputs that name no variant keep none: labels are joined with verdicts by it.
    is_unnamed = outcome.result.variant in unnamed
    return verdict.model_copy(update={"variant": None}) if is_unnamed else verdict


class ComparisonResults(Sequence[Comparison], Presentable):
    """Pairs of outputs compared blind, in the order of the first side's outputs.

    Attributes:
        summary: Wins with their intervals, position bias, and the decision.
        info: What was compared, by whom and how.
        pairs: The case and both outputs of each comparison, and the comparison.
        library: The library of the frames that were compared; None for other data.
    """

    def __init__(
        self,
        pairs: Sequence[tuple[ComparedPair, Comparison]],
        *,
        info: ComparisonInfo,
        summary: ComparisonSummary,
        library: str | None = None,
    ) -> None:
        self.summary, self.info, self.library = summary, info, library
        self.pairs = tuple(pairs)
        self._comparisons = tuple(comparison for _, comparison in pairs)

    @property
    def winner(self) -> str | None:
        """The name of the better side; None where the comparison does not show one."""
        sides = {"a": self.summary.a, "b": self.summary.b}
        return sides.get(self.summary.decision.winner or "")

    @property
    def win_rate(self) -> Estimate:
        """How often the first side is preferred, a tie being half a win, with its interval."""
        return self.summary.whole.rate

    @property
    def cost_usd(self) -> float | None:
        """What the judge's replies cost now, cached ones nothing; None where that is unknown."""
        spent = judge_usage([one for pair in self for one in (*pair.preferences, *pair.failures)])
        return None if spent.cost_unknown else spent.cost_usd

    @overload
    def __getitem__(self, place: int) -> Comparison: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Comparison]: ...
    def __getitem__(self, place: int | slice) -> Comparison | Sequence[Comparison]:
        return self._comparisons[place]

    def __len__(self) -> int:
        return len(self._comparisons)

    def __repr__(self) -> str:
        rate, name = self.win_rate, self.summary.a
        shown = "" if isnan(rate.value) else f", share of {name} {numbers.format_rate(rate)}"
        who = "undecided" if self.winner is None else f"{self.winner} is better"
        pairs = numbers.format_count(len(self), "pair")
        return f"<ComparisonResults: {pairs}{shown}, {who}>"
