"""LLM-as-judge: grade outputs against a rubric, never pay twice, defend every number.

Everything here is imported when it is first used, so that `import judgekit` costs nothing.
(PYTEST_DONT_REWRITE: pytest knows this package as a plugin, and would warn where it was imported
before.)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.checks.assertions import evaluate_assertions
    from judgekit.datasets.calibrations import load_calibration
    from judgekit.datasets.discovery import discover_datasets
    from judgekit.datasets.loading import load_dataset, load_rubric
    from judgekit.datasets.validation import validate_dataset
    from judgekit.errors import (
        ApprovalRefusedError,
        BudgetExceededError,
        DatasetError,
        DownloadError,
        FrozenCacheError,
        InputError,
        JudgeError,
        JudgekitError,
        ModelError,
        NotEnoughDataError,
        RefusalError,
        ReplyFormatError,
        RubricError,
        SettingsError,
        StoreError,
        TemplateError,
        UnknownNameError,
    )
    from judgekit.evaluation.auditing.doors import audit, audit_sync
    from judgekit.evaluation.auditing.figures import Audit
    from judgekit.evaluation.auditing.options import AuditOptions
    from judgekit.evaluation.calibrating.calibrate import calibrate
    from judgekit.evaluation.calibrating.options import CalibrationOptions
    from judgekit.evaluation.calibrating.recorded import read_replies
    from judgekit.evaluation.calibrating.report import CalibrationReport
    from judgekit.evaluation.comparing.stored import summarize_comparison
    from judgekit.evaluation.evaluate import evaluate, evaluate_sync
    from judgekit.evaluation.preparing.asking import Choice
    from judgekit.evaluation.preparing.calibrated import check_calibration
    from judgekit.evaluation.ranking.rank import rank, rank_comparisons, rank_sync
    from judgekit.evaluation.rejudging.figures import Rejudged
    from judgekit.evaluation.rejudging.rejudge import rejudge, rejudge_sync
    from judgekit.evaluation.run import Run
    from judgekit.evaluation.running.runner import Session
    from judgekit.evaluation.summarizing import summarize
    from judgekit.evaluation.tuning.figures import Tuning
    from judgekit.evaluation.tuning.options import TuneOptions
    from judgekit.evaluation.tuning.tune import tune, tune_sync
    from judgekit.judge.judge import Judge
    from judgekit.judge.pair_panel import PairPanel
    from judgekit.models.cache.memory import MemoryCache
    from judgekit.models.cache.on_disk import DiskCache
    from judgekit.models.pricing import ModelPrice, PriceTable
    from judgekit.models.request import ModelReply, ModelRequest
    from judgekit.models.scripted import ScriptedModel
    from judgekit.prompts.replies import parse_reply
    from judgekit.records.calibration_map import Calibration, CalibrationInUse, CalibrationMap
    from judgekit.records.case import Case, Dataset
    from judgekit.records.check import AssertionResult, Score, ScoreBreakdown
    from judgekit.records.compared import Approval, ComparedPair, ComparisonInfo
    from judgekit.records.comparison import Comparison, Preference, PreferenceFailure
    from judgekit.records.judgment import Evidence, JudgeFailure, Judgment
    from judgekit.records.label import Label
    from judgekit.records.output import Output, TraceEvent, Usage, Variant
    from judgekit.records.rubric import Criterion, Example, Level, Rubric, Scale
    from judgekit.records.run import CaseResult, RunInfo
    from judgekit.records.verdict import CriterionVerdict, Verdict
    from judgekit.report.calibration_maps import save_calibration
    from judgekit.store.runs import RunStore
    from judgekit.verdicts.calibrating import apply_calibration

    __version__: str

__all__ = [
    "Approval",
    "ApprovalRefusedError",
    "AssertionResult",
    "Audit",
    "AuditOptions",
    "BudgetExceededError",
    "Calibration",
    "CalibrationInUse",
    "CalibrationMap",
    "CalibrationOptions",
    "CalibrationReport",
    "Case",
    "CaseResult",
    "Choice",
    "ComparedPair",
    "Comparison",
    "ComparisonInfo",
    "Criterion",
    "CriterionVerdict",
    "Dataset",
    "DatasetError",
    "DiskCache",
    "DownloadError",
    "Evidence",
    "Example",
    "FrozenCacheError",
    "InputError",
    "Judge",
    "JudgeError",
    "JudgeFailure",
    "JudgekitError",
    "Judgment",
    "Label",
    "Level",
    "MemoryCache",
    "ModelError",
    "ModelPrice",
    "ModelReply",
    "ModelRequest",
    "NotEnoughDataError",
    "Output",
    "PairPanel",
    "Preference",
    "PreferenceFailure",
    "PriceTable",
    "RefusalError",
    "Rejudged",
    "ReplyFormatError",
    "Rubric",
    "RubricError",
    "Run",
    "RunInfo",
    "RunStore",
    "Scale",
    "Score",
    "ScoreBreakdown",
    "ScriptedModel",
    "Session",
    "SettingsError",
    "StoreError",
    "TemplateError",
    "TraceEvent",
    "TuneOptions",
    "Tuning",
    "UnknownNameError",
    "Usage",
    "Variant",
    "Verdict",
    "__version__",
    "apply_calibration",
    "audit",
    "audit_sync",
    "calibrate",
    "check_calibration",
    "discover_datasets",
    "evaluate",
    "evaluate_assertions",
    "evaluate_sync",
    "load_calibration",
    "load_dataset",
    "load_rubric",
    "parse_reply",
    "rank",
    "rank_comparisons",
    "rank_sync",
    "read_replies",
    "rejudge",
    "rejudge_sync",
    "save_calibration",
    "summarize",
    "summarize_comparison",
    "tune",
    "tune_sync",
    "validate_dataset",
]

_HOMES = {
    "Approval": "judgekit.records.compared",
    "ApprovalRefusedError": "judgekit.errors",
    "AssertionResult": "judgekit.records.check",
    "Audit": "judgekit.evaluation.auditing.figures",
    "AuditOptions": "judgekit.evaluation.auditing.options",
    "BudgetExceededError": "judgekit.errors",
    "Calibration": "judgekit.records.calibration_map",
    "CalibrationInUse": "judgekit.records.calibration_map",
    "CalibrationMap": "judgekit.records.calibration_map",
    "CalibrationOptions": "judgekit.evaluation.calibrating.options",
    "CalibrationReport": "judgekit.evaluation.calibrating.report",
    "Case": "judgekit.records.case",
    "CaseResult": "judgekit.records.run",
    "Choice": "judgekit.evaluation.preparing.asking",
    "ComparedPair": "judgekit.records.compared",
    "Comparison": "judgekit.records.comparison",
    "ComparisonInfo": "judgekit.records.compared",
    "Criterion": "judgekit.records.rubric",
    "CriterionVerdict": "judgekit.records.verdict",
    "Dataset": "judgekit.records.case",
    "DatasetError": "judgekit.errors",
    "DiskCache": "judgekit.models.cache.on_disk",
    "DownloadError": "judgekit.errors",
    "Evidence": "judgekit.records.judgment",
    "Example": "judgekit.records.rubric",
    "FrozenCacheError": "judgekit.errors",
    "InputError": "judgekit.errors",
    "Judge": "judgekit.judge.judge",
    "JudgeError": "judgekit.errors",
    "JudgeFailure": "judgekit.records.judgment",
    "JudgekitError": "judgekit.errors",
    "Judgment": "judgekit.records.judgment",
    "Label": "judgekit.records.label",
    "Level": "judgekit.records.rubric",
    "MemoryCache": "judgekit.models.cache.memory",
    "ModelError": "judgekit.errors",
    "ModelPrice": "judgekit.models.pricing",
    "ModelReply": "judgekit.models.request",
    "ModelRequest": "judgekit.models.request",
    "NotEnoughDataError": "judgekit.errors",
    "Output": "judgekit.records.output",
    "PairPanel": "judgekit.judge.pair_panel",
    "Preference": "judgekit.records.comparison",
    "PreferenceFailure": "judgekit.records.comparison",
    "PriceTable": "judgekit.models.pricing",
    "RefusalError": "judgekit.errors",
    "Rejudged": "judgekit.evaluation.rejudging.figures",
    "ReplyFormatError": "judgekit.errors",
    "Rubric": "judgekit.records.rubric",
    "RubricError": "judgekit.errors",
    "Run": "judgekit.evaluation.run",
    "RunInfo": "judgekit.records.run",
    "RunStore": "judgekit.store.runs",
    "Scale": "judgekit.records.rubric",
    "Score": "judgekit.records.check",
    "ScoreBreakdown": "judgekit.records.check",
    "ScriptedModel": "judgekit.models.scripted",
    "Session": "judgekit.evaluation.running.runner",
    "SettingsError": "judgekit.errors",
    "StoreError": "judgekit.errors",
    "TemplateError": "judgekit.errors",
    "TraceEvent": "judgekit.records.output",
    "TuneOptions": "judgekit.evaluation.tuning.options",
    "Tuning": "judgekit.evaluation.tuning.figures",
    "UnknownNameError": "judgekit.errors",
    "Usage": "judgekit.records.output",
    "Variant": "judgekit.records.output",
    "Verdict": "judgekit.records.verdict",
    "apply_calibration": "judgekit.verdicts.calibrating",
    "audit": "judgekit.evaluation.auditing.doors",
    "audit_sync": "judgekit.evaluation.auditing.doors",
    "calibrate": "judgekit.evaluation.calibrating.calibrate",
    "check_calibration": "judgekit.evaluation.preparing.calibrated",
    "discover_datasets": "judgekit.datasets.discovery",
    "evaluate": "judgekit.evaluation.evaluate",
    "evaluate_assertions": "judgekit.checks.assertions",
    "evaluate_sync": "judgekit.evaluation.evaluate",
    "load_calibration": "judgekit.datasets.calibrations",
    "load_dataset": "judgekit.datasets.loading",
    "load_rubric": "judgekit.datasets.loading",
    "parse_reply": "judgekit.prompts.replies",
    "rank": "judgekit.evaluation.ranking.rank",
    "rank_comparisons": "judgekit.evaluation.ranking.rank",
    "rank_sync": "judgekit.evaluation.ranking.rank",
    "read_replies": "judgekit.evaluation.calibrating.recorded",
    "rejudge": "judgekit.evaluation.rejudging.rejudge",
    "rejudge_sync": "judgekit.evaluation.rejudging.rejudge",
    "save_calibration": "judgekit.report.calibration_maps",
    "summarize": "judgekit.evaluation.summarizing",
    "summarize_comparison": "judgekit.evaluation.comparing.stored",
    "tune": "judgekit.evaluation.tuning.tune",
    "tune_sync": "judgekit.evaluation.tuning.tune",
    "validate_dataset": "judgekit.datasets.validation",
}
"""The module each public name lives in; the imports above say the same to type checkers."""


if not TYPE_CHECKING:  # hidden from type checkers, so that a misspelt name is an error to them

    def __getattr__(name: str) -> object:
        """A public name, imported from its home and kept here."""
        if name == "__version__":
            value: object = import_module("importlib.metadata").version("judgekit-llm")
        elif name in _HOMES:
            value = getattr(import_module(_HOMES[name]), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """The public names, for completion and `help`."""
    return sorted(__all__)
