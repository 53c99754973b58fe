from .answers import (
    WorstAnswers as WorstAnswers,
    answer_json as answer_json,
    answer_lines as answer_lines,
    print_answer as print_answer,
    print_case as print_case,
)
from .audit import (
    check_audit_path as check_audit_path,
    write_audit as write_audit,
)
from .calibration_maps import (
    check_map_path as check_map_path,
    map_file_name as map_file_name,
    map_summary_lines as map_summary_lines,
    save_calibration as save_calibration,
)
from .calibration_page import (
    check_calibration_path as check_calibration_path,
    print_calibration as print_calibration,
    write_calibration as write_calibration,
)
from .comparison import (
    comparison_json as comparison_json,
    comparison_lines as comparison_lines,
    print_comparison as print_comparison,
    print_score_comparison as print_score_comparison,
    score_comparison_json as score_comparison_json,
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
    plan_json as plan_json,
    print_suite_plan as print_suite_plan,
)
from .ranking import (
    print_ranking as print_ranking,
    ranking_json as ranking_json,
)
from .run import (
    default_rubric_lines as default_rubric_lines,
    grading_json as grading_json,
    print_run as print_run,
    run_json as run_json,
    undecided_reason as undecided_reason,
)
from .tables import (
    print_block as print_block,
    print_rows as print_rows,
)
