"""Compares the verdicts of two judges on the same outputs, from stored runs or from files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

from pydantic import ValidationError

from judgekit.calibration import level_of
from judgekit.errors import DatasetError, NotComparableError, NotEnoughDataError
from judgekit.formats import iter_rows, suffix_of
from judgekit.presentable import Presentable
from judgekit.records import CaseStratum, JudgeFailure, Judgment, Verdict, total_cost
from judgekit.stats.agreement import Kappa, cohen_kappa
from judgekit.stats.estimate import Estimate, undefined_estimate
from judgekit.stats.intervals import clustered_proportion
from judgekit.stats.multiplicity import adjust
from judgekit.stats.paired import VALUE_STEP, bounded_difference, paired_difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from judgekit.records import CalibratedPanel, Criterion, Rubric, Scale
    from judgekit.stats.agreement_coefficients import Weights
    from judgekit.stats.paired import PairedDifference

OUTPUT_ERROR = "an error of the system under test"
NO_OLD_VERDICT = "no verdict before"
NO_NEW_VERDICT = "not judged now"


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionAnswer:
    """A judge's answer to one criterion of one output."""

    value: float | None
    # The score of its first judgment
    raw: float | None
    # The reason it gave there; where it failed, what happened
    rationale: str | None
    # The combined value of all its answers and judges, without calibration maps
    own: float | None = None
    n: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSide:
    """One output as one judge judged it."""

    passed: bool | None
    value: float | None
    criteria: Mapping[str, CriterionAnswer]
    failures: tuple[str, ...] = ()
    # What its replies cost when they were fetched; None where that is not known
    price_usd: float | None = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedVerdict:
    """One output, judged by the old judge and the new one."""

    case_id: str
    variant: str
    repeat: int
    old: JudgedSide
    new: JudgedSide
    # Those of its case, where the case is known
    stratum: CaseStratum | None = None
    tags: tuple[str, ...] = ()

    @property
    def has_flipped(self) -> bool:
        """Whether it passed and no longer does, or the other way round."""
        sides = self.old.passed, self.new.passed
        return None not in sides and sides[0] != sides[1]

    @property
    def shift(self) -> float:
        if self.old.value is None or self.new.value is None:
            return 0.0
        return self.new.value - self.old.value


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionShift:
    """How the scores of one criterion differ."""

    shift: PairedDifference
    p_adjusted: float | None
    # Agreement of the scores beyond chance, with quadratic weights; of several answers or judges
    # the level nearest to their mean. None where the scale has no levels, or is that of a case's
    # own rubric
    kappa: Kappa | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentChange:
    """What another judge changes for a stratum or a tag; the figures are those of `Rejudged`."""

    n_cases: int
    churn: Estimate
    old_pass_rate: Estimate
    new_pass_rate: Estimate
    value: PairedDifference | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Rejudged(Presentable):
    """What another judge changes.

    Attributes:
        old_judges: Who judged.
        new_judges: Who judges now.
        rubric: Name of the rubric.
        same_rubric: Whether it is the one that was used before; else the old scores were weighed
            and passed by the new one.
        measured: That apart from the judge both sides measured the same, in words.
        n: Outputs that both judged.
        n_cases: Their cases.
        left_out: Outputs that only one judge has a verdict for, or that are errors, by why.
        n_undecided: Outputs of which a side has no verdict; they are in no figure of verdicts.
        churn: Share of outputs whose verdict changes; undefined where nothing is decided on both
            sides.
        kappa: Agreement of the verdicts beyond chance; None where nothing is decided on both sides.
        old_pass_rate: Share that passed, among those decided on both sides.
        new_pass_rate: Share that passes.
        value: The new value less the old; None where no output has both.
        criteria: By criterion that both sides have; those of the run's rubric first, then those of
            rubrics of the cases.
        flips: Outputs whose verdict changes, the largest shift first.
        strata: The same changes for the cases of each stratum.
        tags: The same for those of each tag.
        old_failures: What the old judge failed to say, by kind.
        new_failures: What the new one fails to say.
        old_price_usd: What the old replies cost when they were fetched; None where some price is
            not known.
        new_price_usd: What the new ones cost.
        calibration: Whether a calibration holds for the new judge, in words.
        run_id: The run the new judgments are kept in; None where they are not.
        old_run_id: The run that was judged again.
    """

    old_judges: tuple[str, ...]
    new_judges: tuple[str, ...]
    rubric: str
    same_rubric: bool
    n: int
    n_cases: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    n_undecided: int
    churn: Estimate
    kappa: Kappa | None
    old_pass_rate: Estimate
    new_pass_rate: Estimate
    value: PairedDifference | None
    criteria: Mapping[str, CriterionShift]
    flips: tuple[PairedVerdict, ...]
    old_failures: Mapping[str, int]
    new_failures: Mapping[str, int]
    old_price_usd: float | None
    new_price_usd: float | None
    measured: str
    calibration: str
    run_id: str | None = None
    old_run_id: str | None = None
    strata: Mapping[str, SegmentChange] = field(default_factory=dict)
    tags: Mapping[str, SegmentChange] = field(default_factory=dict)


def judged_side(verdict: Verdict, *, passed: bool | None, value: float | None) -> JudgedSide:
    first_answers: dict[str, Judgment | JudgeFailure] = {}
    every: list[Judgment | JudgeFailure] = [*verdict.judgments, *verdict.failures]
    for answer in every:
        # The first judgment of a criterion is the one that is shown.
        first_answers.setdefault(answer.criterion, answer)
    # Raw answers are compared: maps of the old judge say nothing of the new one.
    plain = verdict.uncalibrated
    own = {one.name: one.value for one in verdict.criteria} if plain is None else plain.criteria
    criteria: dict[str, CriterionAnswer] = {}
    for one in verdict.criteria:
        first = first_answers.get(one.name)
        raw, why = (first.raw, first.rationale) if isinstance(first, Judgment) else (None, None)
        criteria[one.name] = CriterionAnswer(
            value=one.value,
            raw=raw,
            rationale=first.message if isinstance(first, JudgeFailure) else why,
            own=own.get(one.name),
            n=one.n,
        )
    return JudgedSide(
        passed=passed,
        value=value,
        criteria=criteria,
        failures=tuple(str(failure.kind) for failure in verdict.failures),
        price_usd=total_cost(answer.price_usd for answer in every),
    )


def uncalibrated_side(verdict: Verdict) -> JudgedSide:
    """The same by the judge's own values, without calibration maps."""
    own = verdict.uncalibrated
    if own is None:
        return judged_side(verdict, passed=verdict.passed, value=verdict.value)
    criteria = tuple(
        one.model_copy(update={"value": own.criteria.get(one.name)}) for one in verdict.criteria
    )
    plain = verdict.model_copy(update={"criteria": criteria})
    return judged_side(plain, passed=own.passed, value=own.value)


def compare_verdicts(
    pairs: Sequence[PairedVerdict],
    rubric: Rubric,
    judges: tuple[Iterable[str], Iterable[str]],
    *,
    measured: str,
    calibration: str,
    same_rubric: bool = True,
    level: float = 0.95,
    runs: tuple[str | None, str | None] = (None, None),
    left_out: Mapping[str, int] | None = None,
) -> Rejudged:
    if not pairs:
        raise NotEnoughDataError("no output was judged before")
    decided = _decided(pairs)
    cases = [one.case_id for one in decided]
    whole = _change(pairs, level)
    strata = {name: [one for one in pairs if one.stratum == name] for name in get_args(CaseStratum)}
    names = sorted({tag for one in pairs for tag in one.tags})
    tags = {tag: [one for one in pairs if tag in one.tags] for tag in names}
    return Rejudged(
        old_judges=tuple(dict.fromkeys(judges[0])),
        new_judges=tuple(dict.fromkeys(judges[1])),
        rubric=rubric.name,
        same_rubric=same_rubric,
        measured=measured,
        n=len(pairs),
        n_cases=len({one.case_id for one in pairs}),
        left_out=dict(left_out or {}),
        n_undecided=len(pairs) - len(decided),
        churn=whole.churn,
        kappa=_kappa(*_passed(decided), labels=(0.0, 1.0), cases=cases, level=level, weights=None),
        old_pass_rate=whole.old_pass_rate,
        new_pass_rate=whole.new_pass_rate,
        value=whole.value,
        criteria=_criteria(pairs, rubric, level),
        flips=tuple(
            sorted((one for one in pairs if one.has_flipped), key=lambda one: -abs(one.shift))
        ),
        old_failures=_kinds(one.old for one in pairs),
        new_failures=_kinds(one.new for one in pairs),
        old_price_usd=total_cost(one.old.price_usd for one in pairs),
        new_price_usd=total_cost(one.new.price_usd for one in pairs),
        calibration=calibration,
        old_run_id=runs[0],
        run_id=runs[1],
        strata={name: _change(own, level) for name, own in strata.items() if own},
        tags={tag: _change(own, level) for tag, own in tags.items()},
    )


def _change(pairs: Sequence[PairedVerdict], level: float) -> SegmentChange:
    decided = _decided(pairs)
    # Verdicts of one case are not independent: figures are clustered by case.
    cases = [one.case_id for one in decided]
    old, new = _passed(decided)
    return SegmentChange(
        n_cases=len({one.case_id for one in pairs}),
        # Flips in both directions count: two judges with the same pass rate can disagree on every
        # output.
        churn=_share([float(one.has_flipped) for one in decided], cases, level),
        old_pass_rate=_share(old, cases, level),
        new_pass_rate=_share(new, cases, level),
        value=_shift(
            [one.old.value for one in pairs], [one.new.value for one in pairs], pairs, level
        ),
    )


def _decided(pairs: Sequence[PairedVerdict]) -> list[PairedVerdict]:
    """The outputs decided on both sides: an open verdict is neither a flip nor agreement."""
    return [one for one in pairs if None not in (one.old.passed, one.new.passed)]


def _passed(decided: Sequence[PairedVerdict]) -> tuple[list[float], list[float]]:
    old, new = _sides(decided)
    return [float(bool(side.passed)) for side in old], [float(bool(side.passed)) for side in new]


def _criteria(
    pairs: Sequence[PairedVerdict], rubric: Rubric, level: float
) -> dict[str, CriterionShift]:
    asked = {criterion.name: criterion for criterion in rubric.criteria}
    # Criteria of rubrics that cases bring along come after those of the run.
    named = dict.fromkeys(name for one in pairs for name in one.new.criteria)
    found: dict[str, PairedDifference] = {}
    for name in {**asked, **named}:
        values = [
            [answer.value if (answer := side.criteria.get(name)) else None for side in both]
            for both in _sides(pairs)
        ]
        shift = _shift(values[0], values[1], pairs, level)
        if shift is not None:
            found[name] = shift
    # The criteria are tests of one question, whether the judge moved: Holm keeps the error over all
    # of them.
    adjusted = adjust([shift.p_value for shift in found.values()], "holm").known
    return {
        name: CriterionShift(
            shift=shift, p_adjusted=p, kappa=_raw_kappa(pairs, asked.get(name), level)
        )
        for (name, shift), p in zip(found.items(), adjusted, strict=True)
    }


def _sides(pairs: Sequence[PairedVerdict]) -> tuple[list[JudgedSide], list[JudgedSide]]:
    return [one.old for one in pairs], [one.new for one in pairs]


def _raw_kappa(
    pairs: Sequence[PairedVerdict], criterion: Criterion | None, level: float
) -> Kappa | None:
    points = None if criterion is None else criterion.scale.points
    if criterion is None or points is None:
        return None
    old, new = (
        [_level(side.criteria.get(criterion.name), criterion.scale) for side in both]
        for both in _sides(pairs)
    )
    cases = [one.case_id for one in pairs]
    return _kappa(old, new, labels=points, cases=cases, level=level, weights="quadratic")


def _level(answer: CriterionAnswer | None, scale: Scale) -> float | None:
    """The score nearest to the mean of the answers."""
    if answer is None or answer.own is None:
        return None
    # Several answers average to values between the levels; kappa needs one of them.
    return level_of(scale.min + answer.own * (scale.max - scale.min), scale.points)


def _kappa(
    old: Sequence[float | None],
    new: Sequence[float | None],
    *,
    labels: Sequence[float],
    cases: Sequence[str],
    level: float,
    weights: Weights | None,
) -> Kappa | None:
    try:
        return cohen_kappa(
            old, new, labels=labels, weights=weights, ci="smoothed", clusters=cases, level=level
        )
    except NotEnoughDataError:
        return None


def _shift(
    old: Sequence[float | None],
    new: Sequence[float | None],
    pairs: Sequence[PairedVerdict],
    level: float,
) -> PairedDifference | None:
    cases = [one.case_id for one in pairs]
    try:
        return bounded_difference(
            paired_difference(old, new, step=VALUE_STEP, clusters=cases, level=level)
        )
    except NotEnoughDataError:
        return None


def _share(outcomes: Sequence[float], cases: Sequence[str], level: float) -> Estimate:
    if not outcomes:
        return undefined_estimate(
            "no output has a verdict on both sides", n=0, method="none", level=level
        )
    return clustered_proportion(outcomes, cases, level=level)


def _kinds(sides: Iterable[JudgedSide]) -> Mapping[str, int]:
    return dict(Counter(kind for side in sides for kind in side.failures).most_common())


if TYPE_CHECKING:
    Key = tuple[str | None, str | None, int]

_SUFFIXES = (".jsonl", ".json")


def verdict_key(verdict: Verdict) -> Key:
    """What a verdict is about; a verdict of one of several repeats names it."""
    return verdict.case_id, verdict.variant, verdict.repeat or 0


def read_verdicts(path: Path) -> dict[Key, Verdict]:
    if suffix_of(path) not in _SUFFIXES:
        raise DatasetError(
            "verdicts are read from .jsonl and .json",
            path=path,
            hint="write them so: judgekit grade … -o verdicts.jsonl",
        )
    found: dict[Key, Verdict] = {}
    for row in iter_rows(path):
        try:
            verdict = Verdict.model_validate(row.fields)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise DatasetError(
                f"no verdict: {where}: {first['msg']}",
                path=path,
                line=row.line,
                hint="give a file that `judgekit grade -o` wrote",
            ) from error
        key = verdict_key(verdict)
        # Verdicts are matched by case, variant and repeat; a second one would silently win.
        if key in found:
            raise DatasetError(
                "a second verdict of one output", path=path, line=row.line, case_id=key[0]
            )
        found[key] = verdict
    return found


# A file of verdicts has the fingerprint of its rubric, and of its cases no more than the ids.
MEASURED_BY_FILE = (
    "apart from the judge the rubric is the same; a file of verdicts holds no more of cases and "
    "outputs than their ids, so that nothing else could be compared"
)


def edited_templates(then: CalibratedPanel | None, now: CalibratedPanel | None) -> str:
    """In words, which templates of criteria were edited between two panels; empty for none."""
    # A judge's own template is part of it, and may differ.
    if then is None or now is None:
        return ""
    panels = then, now
    named = {t.partition("@")[0] for panel in panels for t in panel.templates.values()}
    before, after = (
        {t.partition("@")[0]: t for t in (*(j.template for j in p.judges), *p.templates.values())}
        for p in panels
    )
    both = sorted(named & before.keys() & after.keys())
    edited = [name for name in both if before[name] != after[name]]
    return f"criteria were asked with another version of {' and '.join(edited)}" if edited else ""


def check_same_rubric(
    path: Path, old: Mapping[Key, Verdict], rubric: Rubric, asked: CalibratedPanel
) -> None:
    """Refuse verdicts by another rubric: differences from them would not be those of the judge."""
    others = {one.rubric for one in old.values() if one.rubric_fingerprint != rubric.fingerprint}
    if others:
        edited = "another version of it" if others == {rubric.name} else None
        raise NotComparableError(
            f"not only the judge differs: the verdicts in {path.name} were not made by the rubric "
            f"{rubric.name} as it is now, but by {edited or ' and '.join(sorted(others))}",
            hint="name the rubric they were made by: --rubric FILE; or grade the outputs by this "
            "one with both judges: judgekit grade",
        )
    for one in old.values():
        if edited := edited_templates(one.asked, asked):
            raise NotComparableError(
                f"not only the judge differs from that of {path.name}: {edited}",
                hint="restore the template; or grade the outputs with both judges: judgekit grade",
            )


def pair_verdicts(
    old: Mapping[Key, Verdict], new: Iterable[Verdict], *, n_without: int = 0
) -> tuple[list[PairedVerdict], Mapping[str, int]]:
    """Old verdicts beside new ones, by the judges' own values, and what is left out, by why."""
    # So many outputs were not judged again, because they have no old verdict.
    pairs: list[PairedVerdict] = []
    left_out = Counter({NO_OLD_VERDICT: n_without} if n_without else {})
    met: set[Key] = set()
    for after in new:
        key = verdict_key(after)
        before = old.get(key)
        met.add(key)
        if after.error is not None or (before is not None and before.error is not None):
            left_out[OUTPUT_ERROR] += 1
        elif before is None:
            left_out[NO_OLD_VERDICT] += 1
        else:
            pairs.append(
                PairedVerdict(
                    case_id=after.case_id or "",
                    variant=after.variant or "",
                    repeat=key[2],
                    old=uncalibrated_side(before),
                    new=uncalibrated_side(after),
                )
            )
    if unmet := len(old.keys() - met):
        left_out[NO_NEW_VERDICT] = unmet
    return pairs, left_out
