"""Verdicts to figures: rates with intervals, failures apart, money and time."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgekit.records.calibration_map import UNCALIBRATED
from judgekit.stats.estimate import Estimate, undefined
from judgekit.stats.intervals import proportion, rating_mean
from judgekit.verdicts import conclude

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.records.calibration_map import CalibrationInUse, CalibrationState
    from judgekit.records.judgment import JudgeFailure, Judgment
    from judgekit.records.rubric import Rubric
    from judgekit.records.verdict import Verdict


@dataclass(frozen=True, slots=True)
class VariantSummary:
    """What the verdicts of one variant come to."""

    variant: str
    """Name of the variant; empty where outputs name none."""

    n: int
    """Outputs."""

    n_passed: int
    """Outputs that pass."""

    n_failed: int
    """Outputs that do not pass."""

    n_undecided: int
    """Outputs whose missing judgments could decide either way."""

    n_errors: int
    """Outputs that are errors of the system under test; not judged."""

    pass_rate: Estimate
    """Share of passed among decided outputs, with Wilson's interval."""

    pass_rate_bounds: tuple[float, float]
    """The rate if all outputs without a verdict, errors included, had failed; had passed."""

    value: Estimate
    """Mean value of outputs that have one."""

    criteria: dict[str, Estimate]
    """Mean value per criterion."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What was asked and what it cost."""

    n_replies: int = 0
    """Replies that were used, owned ones included."""

    n_cached: int = 0
    """Of them, owned already."""

    cost_usd: float = 0.0
    """Paid now, as far as known."""

    saved_usd: float = 0.0
    """What the owned replies cost when they were bought, as far as known."""

    cost_unknown: bool = False
    """Whether some of what was paid now has no known price."""

    input_tokens: int = 0
    """Tokens sent for replies paid now."""

    output_tokens: int = 0
    """Tokens received for replies paid now."""


@dataclass(frozen=True, slots=True)
class GradeSummary:
    """What a grading comes to."""

    rubric: str
    """Name of the rubric."""

    pass_threshold: float
    """The value from which an output passes."""

    judges: tuple[str, ...]
    """Who judged: model and template."""

    models: tuple[str, ...]
    """The models that answered, in the providers' words."""

    variants: tuple[VariantSummary, ...]
    """Per variant, in order of appearance."""

    failures: dict[str, int]
    """Judge failures by kind."""

    failure_messages: dict[str, str]
    """For each kind, what the first of them says."""

    n_evidence: int
    """Passages that judges quoted."""

    n_evidence_found: int
    """Of them, those that the outputs hold."""

    spent: Spent
    """Calls and money."""

    flags: dict[str, int] = field(default_factory=dict)
    """Advisory marks, by name."""

    calibration_state: CalibrationState = "uncalibrated"
    """Whether the judge is calibrated."""

    calibration: str = UNCALIBRATED.words
    """The same in words."""

    uncalibrated: tuple[VariantSummary, ...] = ()
    """The variants by the judge's own values, where calibration maps decide."""

    @property
    def complete(self) -> bool:
        """Whether every criterion of every output has a judgment."""
        return not self.failures


def summarize(
    verdicts: Iterable[Verdict], rubric: Rubric, *, calibration: CalibrationInUse = UNCALIBRATED
) -> GradeSummary:
    """Sum up verdicts."""
    kept = list(verdicts)
    judgments = [judgment for verdict in kept for judgment in verdict.judgments]
    failures = [failure for verdict in kept for failure in verdict.failures]
    evidence = [piece for judgment in judgments for piece in judgment.evidence]
    return GradeSummary(
        rubric=rubric.name,
        pass_threshold=rubric.pass_threshold,
        judges=tuple(dict.fromkeys([j.judge for j in judgments] + [f.judge for f in failures])),
        models=tuple(dict.fromkeys(j.model for j in judgments if j.model)),
        variants=_variants(kept, rubric),
        failures=dict(Counter(failure.kind for failure in failures).most_common()),
        failure_messages={failure.kind: failure.message for failure in reversed(failures)},
        n_evidence=len(evidence),
        n_evidence_found=sum(piece.found for piece in evidence),
        spent=spent_on(judgments, failures),
        flags=dict(Counter(flag for j in judgments for flag in j.flags).most_common()),
        calibration_state=calibration.state,
        calibration=calibration.words,
        uncalibrated=_uncalibrated(kept, rubric),
    )


def one_per_answer(
    items: Iterable[Judgment | JudgeFailure],
) -> list[Judgment | JudgeFailure]:
    """One judgment or failure for each answer of a judge."""
    return list({_answer(item, place): item for place, item in enumerate(items)}.values())


def spent_on(judgments: Sequence[Judgment], failures: Sequence[JudgeFailure]) -> Spent:
    """What answers took; criteria that share a reply (joint mode) share its cost already."""
    items: list[Judgment | JudgeFailure] = [*judgments, *failures]
    answers = one_per_answer(items)
    bought = [item for item in items if not item.cached and item.n_calls]
    return Spent(
        n_replies=sum(item.n_calls for item in answers),
        n_cached=sum(item.n_calls for item in answers if item.cached),
        cost_usd=sum(item.cost_usd or 0.0 for item in bought),
        saved_usd=sum(item.price_usd or 0.0 for item in items if item.cached),
        cost_unknown=any(item.cost_usd is None for item in bought),
        input_tokens=sum(item.usage.input_tokens for item in bought if item.usage),
        output_tokens=sum(item.usage.output_tokens for item in bought if item.usage),
    )


def _uncalibrated(verdicts: Sequence[Verdict], rubric: Rubric) -> tuple[VariantSummary, ...]:
    """The variants by the judge's own values; nothing where these decide anyway."""
    if all(verdict.uncalibrated is None for verdict in verdicts):
        return ()
    return _variants([_by_own_values(verdict, rubric) for verdict in verdicts], rubric)


def _by_own_values(verdict: Verdict, rubric: Rubric) -> Verdict:
    if verdict.uncalibrated is None:
        return verdict
    return conclude(
        rubric,
        verdict.judgments,
        verdict.failures,
        case_id=verdict.case_id,
        variant=verdict.variant,
        error=verdict.error,
    )


def _variants(verdicts: Sequence[Verdict], rubric: Rubric) -> tuple[VariantSummary, ...]:
    by_variant: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_variant[verdict.variant or ""].append(verdict)
    return tuple(_variant(name, group, rubric) for name, group in by_variant.items())


def _variant(name: str, verdicts: Sequence[Verdict], rubric: Rubric) -> VariantSummary:
    judged = [verdict for verdict in verdicts if verdict.error is None]
    passed = sum(verdict.passed is True for verdict in judged)
    failed = sum(verdict.passed is False for verdict in judged)
    undecided = len(judged) - passed - failed
    return VariantSummary(
        variant=name,
        n=len(verdicts),
        n_passed=passed,
        n_failed=failed,
        n_undecided=undecided,
        n_errors=len(verdicts) - len(judged),
        pass_rate=proportion(passed, passed + failed, n_missing=undecided),
        pass_rate_bounds=_bounds(passed, len(verdicts) - passed - failed, len(verdicts)),
        value=_mean([verdict.value for verdict in judged]),
        criteria={
            criterion.name: _mean(
                [c.value for v in judged for c in v.criteria if c.name == criterion.name]
            )
            for criterion in rubric.criteria
        },
    )


def _bounds(passed: int, unknown: int, n: int) -> tuple[float, float]:
    return (passed / n, (passed + unknown) / n) if n else (0.0, 1.0)


def _mean(values: Sequence[float | None]) -> Estimate:
    known = [value for value in values if value is not None]
    if not known:
        return undefined("no judgments", n=0, method="t with one pseudo-rating")
    missing = [float("nan")] * (len(values) - len(known))
    return rating_mean([*known, *missing], (0.0, 1.0), continuous=True)


def _answer(item: Judgment | JudgeFailure, place: int) -> tuple[object, ...]:
    """What tells answers apart; without a key each counts for itself."""
    if item.reply_key is None:
        return (place,)
    return item.reply_key, item.case_id, item.variant, item.repeat
