"""Aggregates the judgments of one output into a verdict: value, pass, and their bounds.

Several judges are combined in `panel`.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, Self

from judgekit.records import VALUE_TOLERANCE, CriterionVerdict, RunPanel, Verdict
from judgekit.scoring.panel import (
    MemberVote,
    PanelValue,
    combine_votes,
    is_cascade_open,
    is_panel,
    panel_members,
    weighted_mean,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from judgekit.records import CalibratedPanel, Criterion, JudgeFailure, Judgment, Rubric
    from judgekit.scoring.panel import Member

_SINGLE_JUDGE = RunPanel()
_VERDICT = attrgetter("verdict")


def conclude(
    rubric: Rubric,
    judgments: Sequence[Judgment],
    failures: Sequence[JudgeFailure] = (),
    *,
    panel: RunPanel = _SINGLE_JUDGE,
    case_id: str | None = None,
    variant: str | None = None,
    error: str | None = None,
    asked: CalibratedPanel | None = None,
) -> Verdict:
    """What a rubric concludes from what judges said of one output."""
    # A criterion's value is the mean over its judgments; with several judges, first each judge's
    # mean over its repeats is taken, then these are combined as the panel says:
    # - `mean`, and `weighted` by the panel's weights (equal ones if all that answered have 0);
    # - `median`: of an even number the mean of the two in the middle;
    # - `majority`: the score most judges give, each judge's mean taken to the nearest score of the
    #   scale (the worse of two); of several that as many give, their median, so that a tie between
    #   yes and no is 0.5;
    # - `cascade`: the last of the judges asked that answered; undecided while the next one, such as
    #   a person, is still to be heard. A judge the panel does not name comes after those it names.
    # A judge that failed has no vote, and those of the others stand; the bounds say what its vote
    # could have done, and that of a judge of the panel who was not heard at all (except in a
    # cascade, and but for `heuristic`, which answers for what it checks only).
    # The overall value is the weighted mean over the criteria. An output passes when that value
    # reaches the rubric's threshold and every required criterion passes by itself. Where a weighted
    # criterion has no judgment, the value is None; `value_low` and `value_high` say what it would
    # be if all that is missing, failed repeats included, were worst or best, and `passed` is
    # decided only where both agree, so that a judge who fails on the bad outputs cannot lift a
    # verdict.
    tallies = tally_criteria(rubric, judgments, failures, panel)
    bounds = overall_bounds(tallies, rubric)
    return Verdict(
        case_id=case_id,
        variant=variant,
        rubric=rubric.name,
        rubric_fingerprint=rubric.fingerprint,
        passed=None if error is not None else bounds.passed,
        value=bounds.value,
        value_low=bounds.low,
        value_high=bounds.high,
        required_value=bounds.required_value,
        criteria=tuple(map(_VERDICT, tallies)),
        judgments=tuple(judgments),
        failures=tuple(failures),
        error=error,
        asked=asked,
    )


def tally_criteria(
    rubric: Rubric,
    judgments: Sequence[Judgment],
    failures: Sequence[JudgeFailure],
    panel: RunPanel,
) -> list[CriterionTally]:
    """What is known of each criterion."""
    if is_panel(judgments, failures, panel):
        members = panel_members(judgments, failures, panel)
        return [CriterionTally.of_panel(c, rubric, members, panel) for c in rubric.criteria]
    tallies: list[CriterionTally] = []
    for criterion in rubric.criteria:
        vote = MemberVote.of(criterion.name, judgments, failures)
        value = vote.value
        found = PanelValue(value, value, value) if value is not None else PanelValue(None, 0, 1)
        if vote.n_failed:
            found = PanelValue(value, vote.low, vote.high)
        tallies.append(
            CriterionTally.of(criterion, rubric, found, n=len(vote.values), n_failed=vote.n_failed)
        )
    return tallies


class Bounds(NamedTuple):
    """The overall value of a verdict and its bounds."""

    value: float | None
    """The weighted mean; None where something that counts is missing."""

    low: float
    """The value if everything missing were worst."""

    high: float
    """The value if everything missing were best."""

    required_value: float | None
    """The weighted mean over required criteria; None where there are none, or one is missing."""

    passed: bool | None
    """Whether that passes; None where what is missing could decide."""


def overall_bounds(tallies: Sequence[CriterionTally], rubric: Rubric) -> Bounds:
    """The overall value of the criteria, its bounds, and whether it passes."""
    weighted: list[tuple[float, float | None]] = []
    required: list[tuple[float, float | None]] = []
    lows: list[tuple[float, float]] = []
    highs: list[tuple[float, float]] = []
    thresholds: list[tuple[float, float, float]] = []
    for verdict, threshold, low, high in tallies:
        weighted.append((verdict.weight, verdict.value))
        lows.append((verdict.weight, low))
        highs.append((verdict.weight, high))
        if verdict.required:
            required.append((verdict.weight, verdict.value))
            thresholds.append((low, high, threshold))
    value, low, high = _known_mean(weighted), weighted_mean(lows), weighted_mean(highs)
    thresholds.append((low, high, rubric.pass_threshold))
    # Decided only where the worst and the best case agree, overall and for each required criterion.
    passed: bool | None = True
    for at_worst, at_best, threshold in thresholds:
        if not reaches(at_best, threshold):
            passed = False
        elif passed and not reaches(at_worst, threshold):
            passed = None
    return Bounds(value, low, high, _known_mean(required) if required else None, passed)


class CriterionTally(NamedTuple):
    """What is known of one criterion, and what it would be with its failures counted."""

    verdict: CriterionVerdict
    """Its value from the usable judgments."""

    threshold: float
    """The value from which it passes."""

    low: float
    """Its value if every failure were the worst judgment."""

    high: float
    """Its value if every failure were the best judgment."""

    @classmethod
    def of(
        cls, criterion: Criterion, rubric: Rubric, found: PanelValue, *, n: int, n_failed: int
    ) -> Self:
        """From the value of a criterion and its bounds."""
        threshold = rubric.pass_threshold if criterion.pass_value is None else criterion.pass_value
        value = found.value
        verdict = CriterionVerdict(
            name=criterion.name,
            value=value,
            passed=None if value is None else reaches(value, threshold),
            weight=criterion.weight,
            required=criterion.required,
            n=n,
            n_failed=n_failed,
        )
        return cls(verdict, threshold, found.low, found.high)

    @classmethod
    def of_panel(
        cls, criterion: Criterion, rubric: Rubric, members: Sequence[Member], panel: RunPanel
    ) -> Self:
        """From what the judges of a panel said."""
        votes = [member.vote(criterion.name) for member in members]
        n, n_failed = sum(len(v.values) for v in votes), sum(v.n_failed for v in votes)
        found = combine_votes(votes, panel.combine, criterion.scale)
        if panel.combine == "cascade" and is_cascade_open(
            members, criterion.name, panel.escalate_below
        ):
            found = PanelValue(found.value, 0, 1)
        return cls.of(criterion, rubric, found, n=n, n_failed=n_failed)

    def mapped(self, map_value: Callable[[float], float]) -> Self:
        """The same by other values."""
        own = self.verdict.value
        value = None if own is None else map_value(own)
        passed = None if value is None else reaches(value, self.threshold)
        verdict = self.verdict.model_copy(update={"value": value, "passed": passed})
        return type(self)(verdict, self.threshold, map_value(self.low), map_value(self.high))


def reaches(value: float, threshold: float) -> bool:
    """Whether a value reaches a threshold; a sum of floats that should be 0.7 does reach 0.7."""
    return value >= threshold - VALUE_TOLERANCE


def _known_mean(parts: Sequence[tuple[float, float | None]]) -> float | None:
    """The weighted mean; None where something that counts is missing."""
    counts_all = not any(weight for weight, _ in parts) if len(parts) > 1 else True
    known: list[tuple[float, float]] = []
    for weight, value in parts:
        if value is not None:
            known.append((weight, value))
        elif weight > 0 or counts_all:
            return None
    return weighted_mean(known)


def passes_by_votes(verdict: Verdict, rubric: Rubric, min_pass: int) -> Verdict:
    """The verdict with `passed` by votes: each repeat is concluded by itself and has one."""
    repeats = {each.repeat for each in verdict.judgments} | {f.repeat for f in verdict.failures}
    votes = [_repeat_passes(verdict, rubric, repeat) for repeat in repeats]
    n_passed, n_open = votes.count(True), votes.count(None)
    passed = True if n_passed >= min_pass else None if n_passed + n_open >= min_pass else False
    return verdict.model_copy(update={"passed": passed})


def _repeat_passes(verdict: Verdict, rubric: Rubric, repeat: int) -> bool | None:
    judgments = [judgment for judgment in verdict.judgments if judgment.repeat == repeat]
    failures = [failure for failure in verdict.failures if failure.repeat == repeat]
    return conclude(rubric, judgments, failures).passed
