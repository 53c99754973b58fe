"""Decides whether a calibration still applies to a rubric and a judge.

Applies its maps to verdicts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.records import CalibrationInUse, RunPanel, UncalibratedVerdict
from judgekit.scoring.aggregate import overall_bounds, tally_criteria

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from judgekit.records import (
        CalibratedJudge,
        CalibratedPanel,
        Calibration,
        CalibrationFigure,
        CalibrationState,
        Criterion,
        Rubric,
        Verdict,
    )

_MEAN = RunPanel()
_UNKNOWN = "with which parameters is not known"

_ASKED = {
    "question": "question",
    "scale": "scale",
    "scoring_guide": "scoring guide",
    "examples": "examples",
}


def calibration_in_use(
    calibration: Calibration, rubric: Rubric, asked: CalibratedPanel, *, path: str | None = None
) -> CalibrationInUse:
    """Whether a calibration holds for a rubric and a judge as they are now."""
    # Another judge, template, parameter, number of repeats or way to combine leaves no map. An
    # edited criterion loses its own; in a call that asks all criteria, every criterion does.
    # Weights, thresholds and what the judge never sees do not matter.
    changed = list(_of_judges(calibration.asked, asked))
    edited = list(_of_criteria(calibration, rubric))
    known = {m.criterion.name for m in calibration.maps}
    missing = [c for c in rubric.criteria if c.name not in known]
    kept = [c.name for c in rubric.criteria if calibration.map_of(c) is not None]
    if changed or (edited and calibration.asked.asks_all):
        kept = []
    state: CalibrationState = (
        "stale" if changed or edited else "partial" if missing else "calibrated"
    )
    words = _words(calibration)
    if state == "stale":
        words = f"stale: {'; '.join([*changed, *edited])}"
        raw = [criterion.name for criterion in rubric.criteria if criterion.name not in kept]
        if kept:
            words += f", so that the judge's own value decides {_and(raw)}, and maps {_and(kept)}"
    elif missing:
        names = ", ".join(criterion.name for criterion in missing)
        words = f"partly {words}; no map for {names}"
        if not kept:
            state, words = "uncalibrated", f"uncalibrated: these maps have none for {names}"
    return CalibrationInUse(
        state=state, words=words, path=path, calibration=calibration, applied=tuple(kept)
    )


def apply_calibration(
    verdict: Verdict, rubric: Rubric, use: CalibrationInUse, *, panel: RunPanel = _MEAN
) -> Verdict:
    """The verdict after the calibration maps that apply.

    The judgments stay as they are. `value`, `passed` and the criteria are concluded again
    from the calibrated values, and `uncalibrated` says what the judge's own came to.

    Args:
        verdict: A verdict by the judge's own values.
        rubric: The rubric it was drawn with.
        use: The maps.
        panel: The judges and how they are combined.

    Returns:
        The verdict; the same one where no map holds.
    """
    maps = use.maps(rubric)
    if not maps:
        return verdict
    own = tally_criteria(rubric, verdict.judgments, verdict.failures, panel)
    mapped = [
        one if (found := maps.get(one.verdict.name)) is None else one.mapped(found.value_of)
        for one in own
    ]
    drawn = overall_bounds(mapped, rubric)
    return verdict.model_copy(
        update={
            "value": drawn.value,
            "value_low": drawn.low,
            "value_high": drawn.high,
            "required_value": drawn.required_value,
            "passed": None if verdict.error is not None else drawn.passed,
            "criteria": tuple(one.verdict for one in mapped),
            "uncalibrated": UncalibratedVerdict(
                value=verdict.value,
                passed=verdict.passed,
                criteria={one.verdict.name: one.verdict.value for one in own},
            ),
        }
    )


def _of_judges(then: CalibratedPanel, now: CalibratedPanel) -> Iterator[str]:
    """What is different about the judges, in words."""
    if len(then.judges) != len(now.judges):
        yield f"the judges were {_names(then)}, are {_names(now)}"
        return
    for before, after in zip(then.judges, now.judges, strict=True):
        yield from _of_judge(before, after)
    if len(then.judges) > 1:
        if then.combine != now.combine:
            yield f"the judges were combined by {then.combine}, now by {now.combine}"
        if then.weights != now.weights:
            yield "the weights of the judges were changed"
        if then.escalate_below != now.escalate_below:
            yield f"escalate_below was {then.escalate_below}, is {now.escalate_below}"


def _names(asked: CalibratedPanel) -> str:
    return _and([judge.judge for judge in asked.judges])


def _and(names: Sequence[str]) -> str:
    return " and ".join(names)


def _of_judge(then: CalibratedJudge, now: CalibratedJudge) -> Iterator[str]:
    if then.model != now.model:
        yield f"the model was {then.model}, is {now.model}"
    if then.template != now.template:
        before, after = (one.template.partition("@")[0] for one in (then, now))
        same = before == after
        yield f"the template {before} edited" if same else f"the template was {before}, is {after}"
    if then.parameters is not None and now.parameters is not None:
        for name in sorted({*then.parameters, *now.parameters}):
            sides = [one.get(name) for one in (then.parameters, now.parameters)]
            if sides[0] != sides[1]:
                was, now_is = ("not set" if side is None else side for side in sides)
                yield f"{name} was {was}, is {now_is}"
    if None not in {then.repeats, now.repeats} and then.repeats != now.repeats:
        yield f"repeats were {then.repeats}, are {now.repeats}"


def _of_criteria(calibration: Calibration, rubric: Rubric) -> Iterator[str]:
    """Which criteria were edited since people labelled, in words."""
    before = {criterion.name: criterion for criterion in calibration.rubric.criteria}
    mapped = {m.criterion.name for m in calibration.maps}
    for place, criterion in enumerate(rubric.criteria, 1):
        old = before.get(criterion.name)
        matters = criterion.name in mapped or calibration.asked.asks_all
        if old is not None and matters and old.fingerprint != criterion.fingerprint:
            parts = [words for name, words in _ASKED.items() if _differs(old, criterion, name)]
            yield f"criterion {place} ({criterion.name}) edited: its {' and its '.join(parts)}"
    if calibration.asked.asks_all:
        names = [criterion.name for criterion in rubric.criteria]
        if list(before) != names:
            yield "the criteria that one call asks were changed"


def _differs(old: Criterion, new: Criterion, name: str) -> bool:
    return bool(getattr(old, name) != getattr(new, name))


def _words(calibration: Calibration) -> str:
    n = f"{calibration.n_labels:,} label{'' if calibration.n_labels == 1 else 's'}"
    words = f"calibrated on {n}, kappa {format_measurement(calibration.kappa)}"
    return words if calibration.asked.is_known else f"{words}; {_UNKNOWN}"


def format_measurement(found: CalibrationFigure) -> str:
    """A number with its interval."""
    if found.value is None:
        return "undefined"
    if found.low is None or found.high is None:
        return f"{found.value:.2f}"
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
