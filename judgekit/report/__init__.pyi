from .answers import (
    RunAnswers as RunAnswers,
    answer_entry as answer_entry,
    answer_json as answer_json,
    asked_criterion as asked_criterion,
    case_document as case_document,
    judgment_facts as judgment_facts,
)
from .audit import (
    audit_document as audit_document,
    audit_plan_document as audit_plan_document,
    self_test_document as self_test_document,
)
from .calibration import (
    calibration_document as calibration_document,
    with_human_labels as with_human_labels,
)
from .calibration_maps import (
    check_map_path as check_map_path,
    map_file_name as map_file_name,
    map_summary_lines as map_summary_lines,
    save_calibration as save_calibration,
)
from .case_table import JudgeReplies as JudgeReplies
from .comparison import (
    comparison_document as comparison_document,
    ranking_document as ranking_document,
    score_comparison_document as score_comparison_document,
)
from .document import (
    PASS_TONES as PASS_TONES,
    Block as Block,
    CaseTable as CaseTable,
    Cell as Cell,
    Column as Column,
    Conclusion as Conclusion,
    Details as Details,
    Document as Document,
    Entries as Entries,
    Entry as Entry,
    IntervalBar as IntervalBar,
    Labelling as Labelling,
    Lines as Lines,
    Notes as Notes,
    Passage as Passage,
    Plot as Plot,
    Section as Section,
    Table as Table,
    TextChange as TextChange,
    Tone as Tone,
    case_table_of as case_table_of,
    mean_cell as mean_cell,
    not_empty as not_empty,
    page_path as page_path,
    rate_cell as rate_cell,
)
from .explain import explain_document as explain_document
from .exports import (
    EXPORT_SUFFIXES as EXPORT_SUFFIXES,
    REPORT_SUFFIXES as REPORT_SUFFIXES,
    case_result_rows as case_result_rows,
    check_comparison_file as check_comparison_file,
    check_export_suffix as check_export_suffix,
    comparison_writer as comparison_writer,
    document_data as document_data,
    verdict_json as verdict_json,
    verdict_line as verdict_line,
    write_document as write_document,
    write_results as write_results,
    write_verdicts as write_verdicts,
)
from .findings import (
    changes_text as changes_text,
    finding_document as finding_document,
    findings_document as findings_document,
    findings_table as findings_table,
    open_findings_text as open_findings_text,
)
from .html import (
    PageLinks as PageLinks,
    SitePages as SitePages,
    asset_text as asset_text,
    html_parts as html_parts,
    render_fragment as render_fragment,
)
from .item_cases import (
    KnownAnswer as KnownAnswer,
    KnownAnswers as KnownAnswers,
    stored_answers as stored_answers,
)
from .judge_changes import (
    rejudgment_document as rejudgment_document,
    tuning_document as tuning_document,
    tuning_plan_document as tuning_plan_document,
    tuning_plan_line as tuning_plan_line,
)
from .label_page import (
    agreement_document as agreement_document,
    label_document as label_document,
    packet_labelling as packet_labelling,
)
from .listings import (
    answers_table as answers_table,
    approval_json as approval_json,
    approvals_table as approvals_table,
    cache_entries_document as cache_entries_document,
    cache_stats_document as cache_stats_document,
    cases_table as cases_table,
    comparison_json as comparison_json,
    comparison_setup as comparison_setup,
    comparisons_table as comparisons_table,
    judgments_table as judgments_table,
    listing_document as listing_document,
    listing_table as listing_table,
    pairs_document as pairs_document,
    print_key_differences as print_key_differences,
    request_summary as request_summary,
    runs_table as runs_table,
    score_comparison_setup as score_comparison_setup,
)
from .message import (
    FAILURE_WORDS as FAILURE_WORDS,
    TARGET_ERROR_WORDS as TARGET_ERROR_WORDS,
    message_lines as message_lines,
    printable as printable,
    safe_text as safe_text,
)
from .numbers import (
    format_count as format_count,
    format_file_size as format_file_size,
    format_mean as format_mean,
    format_milliseconds as format_milliseconds,
)
from .overview import (
    overview_document as overview_document,
    relation_lines as relation_lines,
    relations_json as relations_json,
)
from .pair_cases import (
    RankingCases as RankingCases,
    comparison_cases as comparison_cases,
    comparison_lines as comparison_lines,
    pair_table as pair_table,
)
from .plan import (
    judge_plan_document as judge_plan_document,
    judging_plan_document as judging_plan_document,
    labelled_share_words as labelled_share_words,
    suite_plan_document as suite_plan_document,
)
from .run import (
    default_rubric_lines as default_rubric_lines,
    gate_document as gate_document,
    gate_words as gate_words,
    grading_json as grading_json,
    run_document as run_document,
    run_json as run_json,
    stored_run_document as stored_run_document,
    undecided_reason as undecided_reason,
)
from .run_cases import RunCases as RunCases
from .run_setup import judging_and_cost as judging_and_cost
from .segments import format_pass_count as format_pass_count, stratum_note as stratum_note
from .store_documents import (
    score_comparison_cases as score_comparison_cases,
    side_by_side_document as side_by_side_document,
    stored_comparison_document as stored_comparison_document,
)
from .terminal import print_document as print_document, print_passage as print_passage
from .trend import (
    figure_cell as figure_cell,
    figure_text as figure_text,
    history_document as history_document,
    trend_document as trend_document,
)
