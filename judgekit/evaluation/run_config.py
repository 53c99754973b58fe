"""What the `config` of a run says: its keys, and its variants, judges and calibration by it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from judgekit.records import (
    HEURISTIC,
    HUMAN_JUDGE,
    RECORDED_PREFIX,
    UNCALIBRATED,
    CalibratedJudge,
    CalibratedPanel,
    CalibrationInUse,
    RunInfo,
    VariantVersion,
    config_part,
    config_rows,
)
from judgekit.scoring import panel_configuration, portable_judge_name

if TYPE_CHECKING:
    from judgekit.records import Gate

# Whom questions wait for that only review automated verdicts; the verdicts stand meanwhile.
REVIEWER = "review"

# The keys of a run's `config` beside those of its suite.
PARTS_KEY = "parts"  # the fingerprints of what must be unchanged for a run to be resumed
VERSIONS_KEY = "versions"  # the version of each variant, as it was when the run was begun
UNASKED_CASES_KEY = "n_cases_unasked"  # how many cases are for other variants, by variant
MEMORY_KEY = "quality_memory"  # the objects of the quality memory that the cases are from
DEFAULT_RUBRICS_KEY = "rubrics_by_default"  # the rubrics that nobody named
UNASKED_RUBRICS_KEY = "n_rubrics_unasked"  # how many cases have a rubric that no judge is called
SIMILARITY_KEY = "similarity_measure"  # how similarity is measured, where it decides a case
SCRIPTS_KEY = "scripts"  # the fingerprints of the scripts that check answers
REVIEW_KEY = "review"  # which share of the answers is reviewed
JUDGING_KEY = "asked"  # how its judges were called
CALIBRATION_KEY = "calibrated"  # its calibration, maps and all
REJUDGMENT_KEY = "rejudged"  # the run that it judges again


def has_variant(run: RunInfo, variant: str) -> bool:
    return any(one.id == variant for one in run.variants)


def variant_version_in(run: RunInfo, variant: str) -> VariantVersion | None:
    mark = config_part(run, VERSIONS_KEY).get(variant)
    return None if mark is None else VariantVersion.model_validate(mark)


def judging_of_names(judges: Iterable[str]) -> CalibratedPanel | None:
    """What the names of judges tell of how they were asked: model and template."""
    named = [name for name in judges if name]
    if len(named) == 1:
        return CalibratedPanel(judges=(CalibratedJudge(judge=portable_judge_name(named[0])),))
    return None


def judging_of_run(run: RunInfo) -> CalibratedPanel | None:
    if recorded := config_part(run, JUDGING_KEY):
        return CalibratedPanel.model_validate(recorded)
    return panel_configuration(
        [CalibratedJudge(judge=portable_judge_name(name)) for name in run.panel.judges], run.panel
    )


def recorded_judges(run: RunInfo) -> list[str]:
    """The files of recorded replies that judged a run, as its suite names them."""
    models = [str(row.get("model")) for row in config_rows(run, "judge")]
    return [model for model in models if model.startswith(RECORDED_PREFIX)]


def without_human_judges(asked: CalibratedPanel | None) -> CalibratedPanel | None:
    """The same without reviewers: only models are calibrated."""
    if asked is None:
        return None
    judges = tuple(judge for judge in asked.judges if judge.judge != HUMAN_JUDGE)
    return asked.model_copy(update={"judges": judges}) if judges else None


def meets_calibration_gate(gate: Gate | None, run: RunInfo) -> bool:
    if gate is None or not gate.require_calibration:
        return True
    return not has_model_judges(run) or calibration_of_run(run).state == "calibrated"


def has_model_judges(run: RunInfo) -> bool:
    return bool(set(run.panel.judges) - {HUMAN_JUDGE, HEURISTIC})


def without_calibration(run: RunInfo) -> RunInfo:
    if run.calibration is None or not run.calibration.applied:
        return run
    config = {key: value for key, value in run.config.items() if key != CALIBRATION_KEY}
    return run.model_copy(update={"config": config})


def on_common_scale(a: RunInfo, b: RunInfo) -> tuple[RunInfo, RunInfo]:
    """Two runs by values that can be compared."""
    if _applied_maps(a) == _applied_maps(b):
        return (a, b)
    return (without_calibration(a), without_calibration(b))


def calibration_changes(then: RunInfo, now: RunInfo) -> tuple[str, ...]:
    """In words, that the values of two runs are not calibrated alike; empty where they are."""
    if _applied_maps(then) == _applied_maps(now):
        return ()
    return ("the calibration of the judge's values changed",)


def _applied_maps(run: RunInfo) -> tuple[str, ...] | None:
    use = run.calibration
    if use is None or use.calibration is None or not use.applied:
        return None
    return use.calibration.fingerprint, *use.applied


def calibration_of_run(run: RunInfo) -> CalibrationInUse:
    return run.calibration or UNCALIBRATED
