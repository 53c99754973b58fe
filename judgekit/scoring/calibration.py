"""Decides whether a calibration still applies to a rubric and a judge, and applies its maps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePath

from judgekit.records import (
    RECORDED_PREFIX,
    VALUE_TOLERANCE,
    CalibratedJudge,
    CalibratedPanel,
    Calibration,
    CalibrationFigure,
    CalibrationInUse,
    CalibrationState,
    Rubric,
    RunPanel,
    UncalibratedVerdict,
    Verdict,
)
from judgekit.scoring.aggregate import overall_bounds, tally_criteria

_MEAN = RunPanel()

# How a criterion is asked, and of whom.
_PROMPT_PARTS = (
    "question", "scale", "scoring_guide", "examples", "needs", "template", "judge", "turns",
)  # fmt: skip


def calibration_in_use(
    calibration: Calibration, rubric: Rubric, panel: CalibratedPanel, *, path: str | None = None
) -> CalibrationInUse:
    """Whether a calibration applies to a rubric and a panel of judges as they are now."""
    # Another judge, template, parameter, number of repeats or way to combine leaves no map. An
    # edited criterion loses its own; in a call that asks all criteria, every criterion does.
    # Weights, thresholds and what the judge never sees do not matter.
    changed = list(judge_changes(calibration.asked, panel))
    edited = list(_criterion_edits(calibration, rubric))
    known = {m.criterion.name for m in calibration.maps}
    # Neither do criteria that have no say in a verdict need a map.
    missing = [c for c in rubric.criteria if c.name not in known and (c.weight or c.required)]
    applied = [c.name for c in rubric.criteria if calibration.map_of(c) is not None]
    if changed or (edited and calibration.asked.asks_all):
        applied = []
    state: CalibrationState = (
        "stale" if changed or edited else "partial" if missing else "calibrated"
    )
    n_labels = f"{calibration.n_labels:,} label{'' if calibration.n_labels == 1 else 's'}"
    words = f"calibrated on {n_labels}, kappa {format_measurement(calibration.kappa)}"
    if not calibration.asked.is_known:
        words += "; with which parameters is not known"
    if state == "stale":
        words = f"stale: {'; '.join([*changed, *edited])}"
        raw = [criterion.name for criterion in rubric.criteria if criterion.name not in applied]
        if applied:
            own, mapped = " and ".join(raw), " and ".join(applied)
            words += f"; the judge's own value decides {own}, and maps {mapped}"
    elif missing:
        names = ", ".join(criterion.name for criterion in missing)
        words = f"partly {words}; no map for {names}"
        if not applied:
            state, words = "uncalibrated", f"uncalibrated: these maps have none for {names}"
    use = CalibrationInUse(
        state=state, words=words, path=path, calibration=calibration, applied=tuple(applied)
    )
    mark, threshold = calibration.overall_mark(rubric, use.maps(rubric)), rubric.pass_threshold
    if not applied or abs(mark - threshold) <= VALUE_TOLERANCE:
        return use
    # A value below the rubric's threshold can pass: the reader of a run has to know why.
    words += f"; calibrated values pass from {mark:.2f} instead of {threshold:.2f}"
    return use.model_copy(update={"words": words})


def apply_calibration(
    verdict: Verdict, rubric: Rubric, use: CalibrationInUse, *, panel: RunPanel = _MEAN
) -> Verdict:
    """The verdict after the calibration maps that apply; the same one where none does."""
    # The judgments stay as they are: value, passed and criteria are computed again from calibrated
    # values, and `uncalibrated` keeps those of the judge's own.
    maps = use.maps(rubric)
    if use.calibration is None or not maps:
        return verdict
    own = tally_criteria(rubric, verdict.judgments, verdict.failures, panel)
    mapped = [
        one if (fitted := maps.get(one.verdict.name)) is None else one.mapped(fitted) for one in own
    ]
    bounds = overall_bounds(mapped, use.calibration.overall_mark(rubric, maps))
    return verdict.model_copy(
        update={
            "value": bounds.value,
            "value_low": bounds.low,
            "value_high": bounds.high,
            "required_value": bounds.required_value,
            "passed": None if verdict.error is not None else bounds.passed,
            "criteria": tuple(one.verdict for one in mapped),
            "uncalibrated": UncalibratedVerdict(
                value=verdict.value,
                passed=verdict.passed,
                criteria={one.verdict.name: one.verdict.value for one in own},
            ),
        }
    )


def panel_configuration(
    judges: Iterable[CalibratedJudge], panel: RunPanel
) -> CalibratedPanel | None:
    named = tuple(judges)
    if not named:
        return None
    weighted = panel.combine == "weighted"
    return CalibratedPanel(
        judges=named,
        combine=panel.combine if len(named) > 1 else "mean",
        weights=tuple(panel.weights.get(n, 1.0) for n in panel.judges) if weighted else (),
        escalate_below=panel.escalate_below,
    )


def portable_judge_name(judge: str) -> str:
    """A judge's name; recorded replies are named by their file without its folder."""
    model, _, template = judge.rpartition(" ")
    if not model.startswith(RECORDED_PREFIX):
        return judge
    # Moving the folder of recorded replies must not detach a calibration from its judge.
    return f"{RECORDED_PREFIX}{PurePath(model.removeprefix(RECORDED_PREFIX)).name} {template}"


def judge_changes(then: CalibratedPanel, now: CalibratedPanel) -> Iterator[str]:
    """The differences between two panels of judges, in words."""
    if len(then.judges) != len(now.judges):
        before, after = (" and ".join(judge.judge for judge in one.judges) for one in (then, now))
        yield f"the judges were {before}, are {after}"
        return
    for old, new in zip(then.judges, now.judges, strict=True):
        yield from _member_changes(old, new)
    # Templates that were not recorded count as unchanged.
    yield from (
        # Those that rubrics of cases name are listed by their own names.
        ("a criterion of a case" if was.partition("@")[0] == name else f"criterion {name}")
        + f" was asked with {was}, is with {now.templates[name]}"
        for name, was in sorted(then.templates.items())
        if now.templates.get(name, was) != was
    )
    if len(then.judges) > 1:
        if then.combine != now.combine:
            yield f"the judges were combined by {then.combine}, now by {now.combine}"
        if then.weights != now.weights:
            yield "the weights of the judges were changed"
        if then.escalate_below != now.escalate_below:
            yield f"escalate_below was {then.escalate_below}, is {now.escalate_below}"


def _member_changes(then: CalibratedJudge, now: CalibratedJudge) -> Iterator[str]:
    if then.model != now.model:
        yield f"the model was {then.model}, is {now.model}"
    if then.template != now.template:
        before, after = (one.template.partition("@")[0] for one in (then, now))
        same = before == after
        yield f"the template {before} edited" if same else f"the template was {before}, is {after}"
    # Parameters and repeats that were not recorded count as unchanged.
    if then.parameters is not None and now.parameters is not None:
        for name in sorted({*then.parameters, *now.parameters}):
            sides = [one.get(name) for one in (then.parameters, now.parameters)]
            if sides[0] != sides[1]:
                was, now_is = ("not set" if side is None else side for side in sides)
                yield f"{name} was {was}, is {now_is}"
    if None not in {then.repeats, now.repeats} and then.repeats != now.repeats:
        yield f"repeats were {then.repeats}, are {now.repeats}"


def _criterion_edits(calibration: Calibration, rubric: Rubric) -> Iterator[str]:
    """Which criteria were edited since they were labelled, in words."""
    mapped = {m.criterion.name for m in calibration.maps}
    asks_all = calibration.asked.asks_all
    yield from criterion_edits(calibration.rubric, rubric, None if asks_all else mapped)
    if asks_all:
        names = [criterion.name for criterion in rubric.criteria]
        if [criterion.name for criterion in calibration.rubric.criteria] != names:
            yield "the criteria that one call asks were changed"


def criterion_edits(
    then: Rubric, now: Rubric, names: Collection[str] | None = None
) -> Iterator[str]:
    """Which criteria of both rubrics ask the judge something else, in words."""
    before = {criterion.name: criterion for criterion in then.criteria}
    for place, criterion in enumerate(now.criteria, 1):
        old = before.get(criterion.name)
        matters = names is None or criterion.name in names
        if old is not None and matters and old.fingerprint != criterion.fingerprint:
            changed = (n for n in _PROMPT_PARTS if getattr(old, n) != getattr(criterion, n))
            parts = [name.replace("_", " ") for name in changed]
            yield f"criterion {place} ({criterion.name}) edited: its {' and its '.join(parts)}"


def format_measurement(figure: CalibrationFigure) -> str:
    if figure.value is None:
        return "undefined"
    if figure.low is None or figure.high is None:
        return f"{figure.value:.2f}"
    return f"{figure.value:.2f} [{figure.low:.2f}, {figure.high:.2f}]"
