"""Aggregates the judgments of one output into a verdict: value, pass, and their bounds.

Several judges are combined in `panel`.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, Self

from judgekit.records import CriterionVerdict, RunPanel, Verdict, meets_threshold
from judgekit.scoring.panel import (
    MemberVote,
    PanelValue,
    combine_votes,
    is_cascade_open,
    members_for,
    panel_members,
    weighted_mean,
)

if TYPE_CHECKING:
    from judgekit.records import (
        CalibratedPanel,
        CalibrationMap,
        Criterion,
        JudgeFailure,
        Judgment,
        Rubric,
    )
    from judgekit.scoring.panel import Member

_SINGLE_JUDGE = RunPanel()
_JUDGE = attrgetter("judge")
_VERDICT = attrgetter("verdict")


def conclude(
    rubric: Rubric,
    judgments: Sequence[Judgment],
    failures: Sequence[JudgeFailure] = (),
    *,
    panel: RunPanel = _SINGLE_JUDGE,
    case_id: str | None = None,
    variant: str | None = None,
    repeat: int | None = None,
    error: str | None = None,
    asked: CalibratedPanel | None = None,
) -> Verdict:
    # A criterion's value is the mean over its judgments; with several judges, first each judge's
    # mean over its repeats is taken, then these are combined as the panel is set:
    # - `mean`, and `weighted` by the panel's weights (equal ones if all that answered have 0);
    # - `median`: of an even number the mean of the two in the middle;
    # - `majority`: the score most judges give, each judge's mean taken to the nearest score of the
    #   scale (the worse of two); of several that as many give, their median, so that a tie between
    #   yes and no is 0.5;
    # - `cascade`: the last judge that answered; undecided while the next one, such as a human
    #   reviewer, has not answered yet. A judge the panel does not name comes after those it names.
    # A judge that failed has no vote, and the votes of the others count. The bounds include every
    # vote it could have given, as well as that of a judge of the panel with no answer at all
    # (except in a cascade, and except for `heuristic`, which answers only for what it checks).
    # The overall value is the weighted mean over the criteria. An output passes when that value
    # reaches the rubric's threshold and every required criterion passes. Where a weighted criterion
    # has no judgment, the value is None; `value_low` and `value_high` are what it would be if all
    # that is missing, failed repeats included, were worst or best. `passed` is decided only where
    # both agree, so that a judge who fails on the bad outputs cannot improve a verdict.
    tallies = tally_criteria(rubric, judgments, failures, panel)
    bounds = overall_bounds(tallies, rubric.pass_threshold)
    return Verdict(
        case_id=case_id,
        variant=variant,
        repeat=repeat,
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
    rubric: Rubric, judgments: Sequence[Judgment], failures: Sequence[JudgeFailure], panel: RunPanel
) -> list[CriterionTally]:
    """The value and the bounds of each criterion."""
    if max(len(panel.judges), len({*map(_JUDGE, judgments), *map(_JUDGE, failures)})) > 1:
        members = panel_members(judgments, failures, panel)
        return [CriterionTally.of_panel(c, rubric, members, panel) for c in rubric.criteria]
    tallies: list[CriterionTally] = []
    for criterion in rubric.criteria:
        vote = MemberVote.of(criterion.name, judgments, failures)
        n, n_failed, value = len(vote.values), vote.n_failed, vote.value
        # The plain path of one judge without failures: its bounds are its value.
        if n_failed or value is None:
            result = PanelValue(value, vote.low, vote.high)
        else:
            result = PanelValue(value, value, value)
        tallies.append(CriterionTally.of(criterion, rubric, result, n=n, n_failed=n_failed))
    return tallies


class Bounds(NamedTuple):
    """The overall value of a verdict, and what it would be if all that is missing were known."""

    value: float | None
    """The weighted mean; None where something that counts is missing."""

    low: float
    high: float
    required_value: float | None
    """The weighted mean over required criteria; None where there are none, or one is missing."""

    passed: bool | None
    """Whether the verdict passes; None where what is missing could decide."""


def overall_bounds(tallies: Sequence[CriterionTally], pass_threshold: float) -> Bounds:
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
    value, low = _known_mean(weighted), weighted_mean(lows)
    high = low if lows == highs else weighted_mean(highs)
    thresholds.append((low, high, pass_threshold))
    # Decided only where the worst and the best case agree, overall and for each required criterion.
    passed: bool | None = True
    for at_worst, at_best, threshold in thresholds:
        if not meets_threshold(at_best, threshold):
            passed = False
        elif passed and not meets_threshold(at_worst, threshold):
            passed = None
    return Bounds(value, low, high, _known_mean(required) if required else None, passed)


class CriterionTally(NamedTuple):
    """One criterion by its usable judgments, and its value if all failures were worst or best."""

    verdict: CriterionVerdict
    threshold: float
    """The value from which it passes."""

    low: float
    high: float

    @classmethod
    def of(
        cls, criterion: Criterion, rubric: Rubric, result: PanelValue, *, n: int, n_failed: int
    ) -> Self:
        threshold = rubric.pass_threshold if criterion.pass_value is None else criterion.pass_value
        value = result.value
        verdict = CriterionVerdict(
            name=criterion.name,
            value=value,
            passed=None if value is None else meets_threshold(value, threshold),
            weight=criterion.weight,
            required=criterion.required,
            n=n,
            n_failed=n_failed,
        )
        return cls(verdict, threshold, result.low, result.high)

    @classmethod
    def of_panel(
        cls, criterion: Criterion, rubric: Rubric, members: Sequence[Member], panel: RunPanel
    ) -> Self:
        """From the votes of the judges of a panel."""
        members = members_for(criterion, members, panel)
        votes = [member.vote(criterion.name) for member in members]
        n, n_failed = sum(len(v.values) for v in votes), sum(v.n_failed for v in votes)
        result = combine_votes(votes, panel.combine, criterion.scale)
        if panel.combine == "cascade" and is_cascade_open(
            members, criterion.name, panel.escalate_below
        ):
            # The judge still to come replaces the value, whatever it is.
            result = PanelValue(result.value, 0, 1)
        return cls.of(criterion, rubric, result, n=n, n_failed=n_failed)

    def mapped(self, fitted: CalibrationMap) -> Self:
        """The tally with its value, bounds and threshold mapped."""
        own, threshold = self.verdict.value, fitted.mark_of(self.threshold)
        value = None if own is None else fitted.value_of(own)
        # Mapped values spread less than labels: by the labels' threshold too few would pass.
        passed = None if value is None else meets_threshold(value, threshold)
        verdict = self.verdict.model_copy(update={"value": value, "passed": passed})
        low, high = fitted.value_of(self.low), fitted.value_of(self.high)
        return type(self)(verdict, threshold, low, high)


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
    """The verdict with `passed` by votes: each repeat gives a verdict of its own and has one."""
    votes = []
    repeats = {each.repeat for each in verdict.judgments} | {f.repeat for f in verdict.failures}
    for repeat in repeats:
        judgments = [judgment for judgment in verdict.judgments if judgment.repeat == repeat]
        failures = [failure for failure in verdict.failures if failure.repeat == repeat]
        votes.append(conclude(rubric, judgments, failures).passed)
    n_passed, n_open = votes.count(True), votes.count(None)
    passed = True if n_passed >= min_pass else None if n_passed + n_open >= min_pass else False
    return verdict.model_copy(update={"passed": passed})
