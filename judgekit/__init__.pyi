from . import stats as stats
from .api.functions import (
    compare as compare,
    compare_sync as compare_sync,
    grade as grade,
    grade_sync as grade_sync,
    rank as rank,
    rank_sync as rank_sync,
)
from .api.presentation import present as present
from .api.results import ComparisonResults as ComparisonResults, GradingResults as GradingResults
from .assertions.runner import (
    evaluate_assertions as evaluate_assertions,
    score_output as score_output,
    validate_dataset as validate_dataset,
)
from .bias_audit.api import audit as audit, audit_sync as audit_sync
from .bias_audit.inputs import AuditOptions as AuditOptions
from .bias_audit.results import Audit as Audit
from .calibration.inputs import CalibrationOptions as CalibrationOptions
from .calibration.report import CalibrationReport as CalibrationReport, calibrate as calibrate
from .calibration.sources import read_replies as read_replies
from .datasets.judge_settings import JudgeSettings as JudgeSettings, SuiteJudge as SuiteJudge
from .datasets.loading import (
    load_calibration as load_calibration,
    load_dataset as load_dataset,
    load_rubric as load_rubric,
)
from .datasets.sources import discover_datasets as discover_datasets
from .datasets.suite import Suite as Suite, VariantSettings as VariantSettings
from .errors import (
    ApprovalRefusedError as ApprovalRefusedError,
    BudgetExceededError as BudgetExceededError,
    DatasetError as DatasetError,
    DownloadError as DownloadError,
    FrozenCacheError as FrozenCacheError,
    InputError as InputError,
    JudgeError as JudgeError,
    JudgekitError as JudgekitError,
    ModelError as ModelError,
    NotComparableError as NotComparableError,
    NotEnoughDataError as NotEnoughDataError,
    NotImportedWarning as NotImportedWarning,
    RefusalError as RefusalError,
    ReplyFormatError as ReplyFormatError,
    RetiredSuiteError as RetiredSuiteError,
    RubricError as RubricError,
    ScriptsNeededWarning as ScriptsNeededWarning,
    SettingsError as SettingsError,
    StoreError as StoreError,
    TemplateError as TemplateError,
    UnknownNameError as UnknownNameError,
)
from .evaluation.judges import check_calibration as check_calibration
from .evaluation.ranking import rank_comparisons as rank_comparisons
from .evaluation.run import Run as Run, summarize as summarize
from .evaluation.session import Choice as Choice, Session as Session
from .evaluation.stored_comparison import summarize_comparison as summarize_comparison
from .evaluation.suite_evaluation import evaluate as evaluate, evaluate_sync as evaluate_sync
from .exports.trackers import log_run as log_run
from .judge.judge import Judge as Judge
from .judge.panel import Panel as Panel
from .models.cache.disk_cache import DiskCache as DiskCache
from .models.cache.reply_cache import MemoryCache as MemoryCache
from .models.pricing import ModelPrice as ModelPrice, PriceTable as PriceTable
from .models.request import ModelReply as ModelReply, ModelRequest as ModelRequest
from .prompts.parsing.resolve import parse_reply as parse_reply
from .records.assertion import (
    AssertionResult as AssertionResult,
    Score as Score,
    ScoreBreakdown as ScoreBreakdown,
)
from .records.calibration import (
    Calibration as Calibration,
    CalibrationInUse as CalibrationInUse,
    CalibrationMap as CalibrationMap,
)
from .records.case import Case as Case, Dataset as Dataset
from .records.comparison import (
    Approval as Approval,
    ComparedPair as ComparedPair,
    Comparison as Comparison,
    ComparisonInfo as ComparisonInfo,
    Preference as Preference,
    PreferenceFailure as PreferenceFailure,
)
from .records.judgment import (
    CriterionVerdict as CriterionVerdict,
    Evidence as Evidence,
    JudgeFailure as JudgeFailure,
    Judgment as Judgment,
    Label as Label,
    Verdict as Verdict,
)
from .records.output import (
    Output as Output,
    TraceEvent as TraceEvent,
    Usage as Usage,
    Variant as Variant,
)
from .records.rubric import (
    Criterion as Criterion,
    Example as Example,
    Level as Level,
    Rubric as Rubric,
    Scale as Scale,
)
from .records.run import CaseResult as CaseResult, Gate as Gate, RunInfo as RunInfo
from .rejudgment.comparison import Rejudged as Rejudged
from .rejudgment.run import rejudge as rejudge, rejudge_sync as rejudge_sync
from .report.calibration_maps import save_calibration as save_calibration
from .scoring.calibration import apply_calibration as apply_calibration
from .store.runs import RunStore as RunStore
from .testing.fake_models import ScriptedModel as ScriptedModel
from .tuning.inputs import TuneOptions as TuneOptions
from .tuning.results import Tuning as Tuning
from .tuning.search import tune as tune, tune_sync as tune_sync

__all__: list[str]
__version__: str
