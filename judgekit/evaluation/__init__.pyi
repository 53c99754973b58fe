from .approval import (
    ApprovalStatus as ApprovalStatus,
    approval_status as approval_status,
    approve_version as approve_version,
    check_version_current as check_version_current,
    find_approval_evidence as find_approval_evidence,
)
from .case_checks import CriterionChecks as CriterionChecks, choice_rubric as choice_rubric
from .case_plans import (
    CasePlans as CasePlans,
    default_rubric_records as default_rubric_records,
    needs_judge as needs_judge,
)
from .comparability import (
    Comparability as Comparability,
    PassRateTrend as PassRateTrend,
    SideScores as SideScores,
    case_changes as case_changes,
    compare_measures as compare_measures,
    config_changes as config_changes,
    config_versions as config_versions,
    paired_sides as paired_sides,
)
from .comparison_result import (
    BetterSide as BetterSide,
    ComparisonDecision as ComparisonDecision,
    ComparisonSummary as ComparisonSummary,
    PanelFigures as PanelFigures,
    WinFigures as WinFigures,
)
from .comparison_summary import ComparisonTally as ComparisonTally
from .completion import (
    complete_run as complete_run,
    notify as notify,
    send_alarm as send_alarm,
    watch_alarm as watch_alarm,
)
from .cost_plan import (
    CallLoad as CallLoad,
    ComparisonPlan as ComparisonPlan,
    GradePlan as GradePlan,
    JudgePlan as JudgePlan,
    RequestCounter as RequestCounter,
    Sufficiency as Sufficiency,
    estimate_judge_reply_tokens as estimate_judge_reply_tokens,
    judge_plan_fields as judge_plan_fields,
    plan_comparison as plan_comparison,
    plan_grading as plan_grading,
)
from .explain import (
    AnswerRow as AnswerRow,
    ExplainedVariance as ExplainedVariance,
    SideDifference as SideDifference,
    SizeBin as SizeBin,
    SizeCurve as SizeCurve,
    answer_rows as answer_rows,
    explain_variance as explain_variance,
    size_curves as size_curves,
    variants_side_by_side as variants_side_by_side,
)
from .findings import (
    CaseTally as CaseTally,
    DecidedCases as DecidedCases,
    FindingChanges as FindingChanges,
    ObservedRuns as ObservedRuns,
    RunFailures as RunFailures,
    SuiteFindings as SuiteFindings,
    failure_of as failure_of,
    finding_changes as finding_changes,
    finding_id as finding_id,
)
from .gate import (
    ASSUMED_DISTANCE as ASSUMED_DISTANCE,
    CLOSEST_DISTANCE as CLOSEST_DISTANCE,
    CoverageGateResult as CoverageGateResult,
    DropGateResult as DropGateResult,
    GateResult as GateResult,
    StratumNeed as StratumNeed,
    TierGateResult as TierGateResult,
    check_baseline as check_baseline,
    check_gate as check_gate,
    gate_of_run as gate_of_run,
    required_value as required_value,
    small_strata as small_strata,
    tier_bounds as tier_bounds,
)
from .human_labels import (
    LabelImport as LabelImport,
    LabellingSession as LabellingSession,
    LabelQuestion as LabelQuestion,
    blind_output as blind_output,
    check_adjudicator as check_adjudicator,
    import_labels as import_labels,
    label_rows as label_rows,
    parse_confidence as parse_confidence,
    parse_score as parse_score,
    queue_packet as queue_packet,
    record_labels as record_labels,
    requires_reason as requires_reason,
)
from .judges import (
    ExecutionOptions as ExecutionOptions,
    check_calibration as check_calibration,
    judging_of_judge as judging_of_judge,
    refresh_mode as refresh_mode,
    resolve_calibration as resolve_calibration,
)
from .outcome import (
    Graded as Graded,
    Outcome as Outcome,
    OutcomeFilter as OutcomeFilter,
    conclude_result as conclude_result,
    judge_feedback as judge_feedback,
    last_tries as last_tries,
    needs_attention as needs_attention,
    ordered_results as ordered_results,
    rubric_of_result as rubric_of_result,
    run_verdicts as run_verdicts,
    select_outcomes as select_outcomes,
)
from .pairing import (
    ORDER_SEED_KEY as ORDER_SEED_KEY,
    ComparisonLoop as ComparisonLoop,
    Contest as Contest,
    JudgedPair as JudgedPair,
    OutputPair as OutputPair,
    Pairing as Pairing,
    PairQuestion as PairQuestion,
    QuestionChoice as QuestionChoice,
    Side as Side,
    SideOutput as SideOutput,
    chosen_pair_question as chosen_pair_question,
    compare_in_order as compare_in_order,
)
from .planner import (
    ASSUMED_ANSWER as ASSUMED_ANSWER,
    called_models as called_models,
    plan_suite as plan_suite,
)
from .ranking import Ranker as Ranker, rank_comparisons as rank_comparisons
from .ranking_result import (
    RankDecision as RankDecision,
    RankedSide as RankedSide,
    RankingSummary as RankingSummary,
    RankRules as RankRules,
    SegmentWins as SegmentWins,
)
from .ranking_summary import (
    holds_comparisons as holds_comparisons,
    rank_matches as rank_matches,
    read_comparisons as read_comparisons,
)
from .ray_engine import ray_address as ray_address, ray_cluster as ray_cluster
from .relations import (
    Overview as Overview,
    RunRelations as RunRelations,
    approvals_resting_on as approvals_resting_on,
    findings_of_case as findings_of_case,
    newest_comparisons as newest_comparisons,
    overview as overview,
    relations_of_run as relations_of_run,
)
from .remote import Cluster as Cluster, OpenCluster as OpenCluster, RemoteEngine as RemoteEngine
from .run import (
    VERDICTS_RUN as VERDICTS_RUN,
    Run as Run,
    summarize as summarize,
    summarize_verdicts as summarize_verdicts,
    update_run_status as update_run_status,
    verdict_outcomes as verdict_outcomes,
)
from .run_config import (
    CALIBRATION_KEY as CALIBRATION_KEY,
    DEFAULT_RUBRICS_KEY as DEFAULT_RUBRICS_KEY,
    JUDGING_KEY as JUDGING_KEY,
    MEMORY_KEY as MEMORY_KEY,
    PARTS_KEY as PARTS_KEY,
    REJUDGMENT_KEY as REJUDGMENT_KEY,
    REVIEWER as REVIEWER,
    SIMILARITY_KEY as SIMILARITY_KEY,
    UNASKED_CASES_KEY as UNASKED_CASES_KEY,
    UNASKED_RUBRICS_KEY as UNASKED_RUBRICS_KEY,
    VERSIONS_KEY as VERSIONS_KEY,
    calibration_of_run as calibration_of_run,
    has_model_judges as has_model_judges,
    judging_of_names as judging_of_names,
    judging_of_run as judging_of_run,
    meets_calibration_gate as meets_calibration_gate,
    variant_version_in as variant_version_in,
    without_human_judges as without_human_judges,
)
from .run_figures import (
    FigureReader as FigureReader,
    RunFigures as RunFigures,
    StoredFigure as StoredFigure,
    StoredRecords as StoredRecords,
    case_content as case_content,
)
from .runner import (
    calibration_of_suite as calibration_of_suite,
    choice_of_run as choice_of_run,
    find_resumed_run as find_resumed_run,
    new_run_id as new_run_id,
    prepare_run as prepare_run,
    run_suite as run_suite,
)
from .schedule import file_mark as file_mark
from .score_comparison import (
    VARIANT_SEPARATOR as VARIANT_SEPARATOR,
    ScoreComparison as ScoreComparison,
    ScoreDifference as ScoreDifference,
    compare_side_scores as compare_side_scores,
    run_and_variant as run_and_variant,
)
from .session import (
    Choice as Choice,
    OpenSuite as OpenSuite,
    RecordedAnswers as RecordedAnswers,
    RunStopReason as RunStopReason,
    Session as Session,
    open_recorded as open_recorded,
    open_suite as open_suite,
    price_table as price_table,
)
from .stored_comparison import (
    ComparedScores as ComparedScores,
    ComparisonRecorder as ComparisonRecorder,
    ComparisonTerms as ComparisonTerms,
    SideComparer as SideComparer,
    analyse_pairs as analyse_pairs,
    compare_stored_scores as compare_stored_scores,
    counted_pairs as counted_pairs,
    new_comparison as new_comparison,
    new_score_comparison as new_score_comparison,
    require_same_comparison as require_same_comparison,
    stored_pairs as stored_pairs,
    summarize_comparison as summarize_comparison,
    unanalysed_pairs as unanalysed_pairs,
    with_rule as with_rule,
)
from .suite_evaluation import (
    check_keys as check_keys,
    evaluate as evaluate,
    evaluate_sync as evaluate_sync,
    record_answers as record_answers,
)
from .suite_plan import (
    TARGET_DIFFERENCE as TARGET_DIFFERENCE,
    AnswersPlan as AnswersPlan,
    DetectableEffect as DetectableEffect,
    ModelPlan as ModelPlan,
    SuitePlan as SuitePlan,
    with_answer_calls as with_answer_calls,
)
from .summary import (
    GroupFigures as GroupFigures,
    RunSummary as RunSummary,
    RunTally as RunTally,
    VariantDifference as VariantDifference,
    VariantFigures as VariantFigures,
    summarize_run as summarize_run,
)
from .trend import (
    ImportedRun as ImportedRun,
    QualityTrend as QualityTrend,
    TrendPoint as TrendPoint,
    VersionFigures as VersionFigures,
    criterion_trends as criterion_trends,
    imported_runs as imported_runs,
    trend_of_suite as trend_of_suite,
    version_history as version_history,
)
from .usage import (
    JudgeUsage as JudgeUsage,
    judge_usage as judge_usage,
    one_per_reply as one_per_reply,
)
