from .assertion import (
    AssertionResult as AssertionResult,
    EmbeddingUsage as EmbeddingUsage,
    Score as Score,
    ScoreBreakdown as ScoreBreakdown,
    Weight as Weight,
)
from .calibration import (
    UNCALIBRATED as UNCALIBRATED,
    CalibratedJudge as CalibratedJudge,
    CalibratedPanel as CalibratedPanel,
    Calibration as Calibration,
    CalibrationFigure as CalibrationFigure,
    CalibrationInUse as CalibrationInUse,
    CalibrationMap as CalibrationMap,
    CalibrationState as CalibrationState,
    MapMethod as MapMethod,
    PassMarks as PassMarks,
    mark_for as mark_for,
)
from .case import (
    Case as Case,
    CaseEvaluation as CaseEvaluation,
    CaseSource as CaseSource,
    CaseStratum as CaseStratum,
    Dataset as Dataset,
    EvaluationProfileName as EvaluationProfileName,
    EvaluationStrategy as EvaluationStrategy,
)
from .comparison import (
    WINNER_POINTS as WINNER_POINTS,
    Comparison as Comparison,
    CriterionComparison as CriterionComparison,
    CriterionComparisons as CriterionComparisons,
    MemberComparison as MemberComparison,
    PairAnswer as PairAnswer,
    Preference as Preference,
    PreferenceFailure as PreferenceFailure,
    PreferenceSlot as PreferenceSlot,
    PresentationOrder as PresentationOrder,
    ReconciliationRule as ReconciliationRule,
    ScrubbedPassage as ScrubbedPassage,
    Winner as Winner,
)
from .comparison_run import (
    AnalysisFailure as AnalysisFailure,
    AnalysisPoint as AnalysisPoint,
    AnalysisSuggestion as AnalysisSuggestion,
    Approval as Approval,
    ComparedPair as ComparedPair,
    ComparedSide as ComparedSide,
    ComparisonAnalysis as ComparisonAnalysis,
    ComparisonInfo as ComparisonInfo,
    ComparisonStatus as ComparisonStatus,
    VariantVersion as VariantVersion,
)
from .encoding import (
    content_key as content_key,
    judgment_slot as judgment_slot,
    lookup_text as lookup_text,
    name_text as name_text,
    read_record as read_record,
    read_time as read_time,
    record_text as record_text,
    time_text as time_text,
    words_text as words_text,
)
from .judgment import (
    CriterionVerdict as CriterionVerdict,
    Evidence as Evidence,
    FailureKind as FailureKind,
    JudgeFailure as JudgeFailure,
    Judgment as Judgment,
    JudgmentSource as JudgmentSource,
    Label as Label,
    UncalibratedVerdict as UncalibratedVerdict,
    Verdict as Verdict,
)
from .output import (
    Output as Output,
    TargetErrorKind as TargetErrorKind,
    TraceEvent as TraceEvent,
    Usage as Usage,
    Variant as Variant,
)
from .record import (
    Count as Count,
    Finite as Finite,
    Fraction as Fraction,
    JsonObject as JsonObject,
    Name as Name,
    Record as Record,
)
from .rubric import (
    VALUE_TOLERANCE as VALUE_TOLERANCE,
    Criterion as Criterion,
    Example as Example,
    Level as Level,
    Rubric as Rubric,
    Scale as Scale,
    meets_threshold as meets_threshold,
)
from .run import (
    CaseResult as CaseResult,
    HumanItem as HumanItem,
    ItemKey as ItemKey,
    Observation as Observation,
    PanelCombination as PanelCombination,
    RunInfo as RunInfo,
    RunPanel as RunPanel,
    RunStatus as RunStatus,
)
