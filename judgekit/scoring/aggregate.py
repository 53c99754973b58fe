"""Aggregates the judgments of one output into a verdict: value, pass, and their bounds.

Several judges are combined in `panel`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

from judgekit.records import CriterionVerdict, RunPanel, Verdict
from judgekit.scoring.gate import reaches
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

    from judgekit.records import Criterion, JudgeFailure, Judgment, Rubric
    from judgekit.scoring.panel import Member

_SINGLE_JUDGE = RunPanel()


def conclude(
    rubric: Rubric,
    judgments: Sequence[Judgment],
    failures: Sequence[JudgeFailure] = (),
    *,
    panel: RunPanel = _SINGLE_JUDGE,
    case_id: str | None = None,
    variant: str | None = None,
    error: str | None = None,
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
    of_panel = is_panel(judgments, failures, panel)
    if of_panel:
        counted = _tally_panel(rubric, judgments, failures, panel)
    else:
        counted = [CriterionTally.of(c, rubric, judgments, failures) for c in rubric.criteria]
    drawn = overall_bounds(counted, rubric, is_whole=not failures and not of_panel)
    return Verdict(
        case_id=case_id,
        variant=variant,
        rubric=rubric.name,
        rubric_fingerprint=rubric.fingerprint,
        passed=None if error is not None else drawn.passed,
        value=drawn.value,
        value_low=drawn.low,
        value_high=drawn.high,
        required_value=drawn.required_value,
        criteria=tuple([found.verdict for found in counted]),
        judgments=tuple(judgments),
        failures=tuple(failures),
        error=error,
    )


def tally_criteria(
    rubric: Rubric,
    judgments: Sequence[Judgment],
    failures: Sequence[JudgeFailure],
    panel: RunPanel,
) -> list[CriterionTally]:
    """What is known of each criterion."""
    if is_panel(judgments, failures, panel):
        return _tally_panel(rubric, judgments, failures, panel)
    return [CriterionTally.of(c, rubric, judgments, failures) for c in rubric.criteria]


def _tally_panel(
    rubric: Rubric,
    judgments: Sequence[Judgment],
    failures: Sequence[JudgeFailure],
    panel: RunPanel,
) -> list[CriterionTally]:
    seats = panel_members(judgments, failures, panel)
    return [CriterionTally.of_panel(c, rubric, seats, panel) for c in rubric.criteria]


class Bounds(NamedTuple):
    """What all criteria come to together."""

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


def overall_bounds(
    counted: Sequence[CriterionTally], rubric: Rubric, *, is_whole: bool = False
) -> Bounds:
    """What criteria come to together."""
    criteria = [found.verdict for found in counted]
    required = [c for c in criteria if c.required]
    value = _known_mean(criteria)
    if value is not None and is_whole:
        low = high = value
    else:
        low = weighted_mean([(found.verdict.weight, found.low) for found in counted])
        high = weighted_mean([(found.verdict.weight, found.high) for found in counted])
    passed = _passed(counted, low, high, rubric.pass_threshold)
    return Bounds(value, low, high, _known_mean(required) if required else None, passed)


class CriterionTally(NamedTuple):
    """What is known of one criterion, and what it would be with its failures counted."""

    verdict: CriterionVerdict
    """What its usable judgments come to."""

    threshold: float
    """The value from which it passes."""

    low: float
    """Its value if every failure were the worst judgment."""

    high: float
    """Its value if every failure were the best judgment."""

    @classmethod
    def of(
        cls,
        criterion: Criterion,
        rubric: Rubric,
        judgments: Sequence[Judgment],
        failures: Sequence[JudgeFailure],
    ) -> Self:
        """From what one judge said, its repeats and failures included."""
        vote = MemberVote.of(criterion.name, judgments, failures)
        value = vote.value
        if vote.n_failed or value is None:
            found = PanelValue(value, vote.low, vote.high)
        else:
            found = PanelValue(value, value, value)  # nothing is missing
        return cls._from(criterion, rubric, found, len(vote.values), vote.n_failed)

    @classmethod
    def of_panel(
        cls, criterion: Criterion, rubric: Rubric, seats: Sequence[Member], panel: RunPanel
    ) -> Self:
        """From what the judges of a panel said."""
        votes = [seat.vote(criterion.name) for seat in seats]
        n, n_failed = sum(len(v.values) for v in votes), sum(v.n_failed for v in votes)
        found = combine_votes(votes, panel.combine, criterion.scale)
        if panel.combine == "cascade" and is_cascade_open(
            seats, criterion.name, panel.escalate_below
        ):
            found = PanelValue(found.value, 0, 1)
        return cls._from(criterion, rubric, found, n, n_failed)

    def mapped(self, map_value: Callable[[float], float]) -> Self:
        """The same by other values."""
        own = self.verdict.value
        value = None if own is None else map_value(own)
        passed = None if value is None else reaches(value, self.threshold)
        verdict = self.verdict.model_copy(update={"value": value, "passed": passed})
        return type(self)(verdict, self.threshold, map_value(self.low), map_value(self.high))

    @classmethod
    def _from(
        cls, criterion: Criterion, rubric: Rubric, found: PanelValue, n: int, n_failed: int
    ) -> Self:
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


def _known_mean(criteria: Sequence[CriterionVerdict]) -> float | None:
    """The weighted mean; None where something that counts is missing."""
    weighted = [c for c in criteria if c.weight > 0] or criteria
    known = [(c.weight, c.value) for c in weighted if c.value is not None]
    return weighted_mean(known) if len(known) == len(weighted) else None


def _passed(
    counted: Sequence[CriterionTally], low: float, high: float, threshold: float
) -> bool | None:
    """Pass or fail where the bounds agree, for the whole and for each required criterion."""
    bounds = [(low, high, threshold)]
    bounds += [(c.low, c.high, c.threshold) for c in counted if c.verdict.required]
    if not all(reaches(at_best, wanted) for _, at_best, wanted in bounds):
        return False
    return True if all(reaches(at_worst, wanted) for at_worst, _, wanted in bounds) else None


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
