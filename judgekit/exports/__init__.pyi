from .conversion import (
    CASE_FORMATS as CASE_FORMATS,
    RUBRIC_SUFFIXES as RUBRIC_SUFFIXES,
    RUN_FORMATS as RUN_FORMATS,
    SUITE_NAME as SUITE_NAME,
    convert_cases as convert_cases,
    convert_to_rubric as convert_to_rubric,
    loss_error as loss_error,
    omitted_content as omitted_content,
    open_conversion_source as open_conversion_source,
    run_format_for as run_format_for,
    suite_losses as suite_losses,
    write_own_suite as write_own_suite,
    write_rubric as write_rubric,
)
from .lessons import (
    Lesson as Lesson,
    lesson_of as lesson_of,
    read_lessons as read_lessons,
    write_lessons as write_lessons,
)
from .quality_memory import blind_comparison_object as blind_comparison_object
from .skill_results import (
    check_comparison_place as check_comparison_place,
    is_skill_file as is_skill_file,
    write_analyses as write_analyses,
    write_comparisons as write_comparisons,
)
from .tabular import write_json_list as write_json_list
from .trackers import TRACKERS as TRACKERS, log_run as log_run
