from .answers import (
    WorstAnswers as WorstAnswers,
    answer_json as answer_json,
    answer_lines as answer_lines,
    print_answer as print_answer,
    print_case as print_case,
)
from .audit import (
    audit_document as audit_document,
    audit_plan_document as audit_plan_document,
    self_test_document as self_test_document,
)
from .cache import (
    cache_entries_document as cache_entries_document,
    cache_stats_document as cache_stats_document,
)
from .calibration import (
    calibration_document as calibration_document,
)
from .calibration_maps import (
    check_map_path as check_map_path,
    map_file_name as map_file_name,
    map_summary_lines as map_summary_lines,
    save_calibration as save_calibration,
)
from .comparison import (
    comparison_data as comparison_data,
    comparison_document as comparison_document,
    comparison_lines as comparison_lines,
    score_comparison_document as score_comparison_document,
)
from .document import (
    Conclusion as Conclusion,
    Document as Document,
)
from .exports import (
    check_comparison_file as check_comparison_file,
    check_export_suffix as check_export_suffix,
    comparison_writer as comparison_writer,
    verdict_json as verdict_json,
    verdict_line as verdict_line,
    write_results as write_results,
    write_verdicts as write_verdicts,
)
from .files import (
    REPORT_SUFFIXES as REPORT_SUFFIXES,
    check_document_path as check_document_path,
    write_document as write_document,
)
from .json import (
    document_data as document_data,
)
from .listings import (
    approval_json as approval_json,
    print_approvals as print_approvals,
    print_comparison_setup as print_comparison_setup,
    print_comparisons as print_comparisons,
    print_pair as print_pair,
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
    nan_to_null as nan_to_null,
)
from .plan import (
    judging_plan_document as judging_plan_document,
    suite_plan_document as suite_plan_document,
)
from .ranking import (
    ranking_document as ranking_document,
)
from .rejudgment import (
    rejudgment_document as rejudgment_document,
)
from .run import (
    default_rubric_lines as default_rubric_lines,
    grading_json as grading_json,
    print_run as print_run,
    run_json as run_json,
    undecided_reason as undecided_reason,
)
from .run_document import (
    run_document as run_document,
)
from .tables import (
    print_block as print_block,
    print_rows as print_rows,
)
from .terminal import (
    print_document as print_document,
)
