from .growing_log import (
    GrowingLog as GrowingLog,
    LogLine as LogLine,
    LogPosition as LogPosition,
    is_sampled as is_sampled,
)
from .judge_settings import (
    CallSettings as CallSettings,
    CommandOption as CommandOption,
    HumanSettings as HumanSettings,
    JudgeMode as JudgeMode,
    JudgeSettings as JudgeSettings,
    OptionGroup as OptionGroup,
    SuiteJudge as SuiteJudge,
    choices_of as choices_of,
    command_options as command_options,
)
from .labels import (
    YES_NO as YES_NO,
    LocatedLabel as LocatedLabel,
    locate_labels as locate_labels,
    parse_number as parse_number,
    raise_problems as raise_problems,
    read_labels as read_labels,
    score_on_scale as score_on_scale,
)
from .loading import (
    CaseData as CaseData,
    find_calibrations as find_calibrations,
    iter_cases as iter_cases,
    load_calibration as load_calibration,
    load_dataset as load_dataset,
    load_rubric as load_rubric,
    load_suite as load_suite,
    load_suite_rubric as load_suite_rubric,
    memory_rubric as memory_rubric,
    naming_place as naming_place,
    rubric_path as rubric_path,
    shipped_rubrics as shipped_rubrics,
    suite_place as suite_place,
)
from .outputs import (
    CaseOutput as CaseOutput,
    RecordedOutput as RecordedOutput,
    iter_case_outputs as iter_case_outputs,
    iter_output_rows as iter_output_rows,
    read_answer as read_answer,
    read_answers as read_answers,
    read_logged_row as read_logged_row,
    read_output as read_output,
    repeat_of as repeat_of,
    valid_output as valid_output,
)
from .sources import (
    CaseSelection as CaseSelection,
    SelectionCount as SelectionCount,
    discover_datasets as discover_datasets,
    discover_suites as discover_suites,
    draw_sample as draw_sample,
    open_cases as open_cases,
    refuse_retired as refuse_retired,
    suite_from_path as suite_from_path,
    unreadable_files as unreadable_files,
    whole_memory_note as whole_memory_note,
    with_benchmark as with_benchmark,
)
from .suite import (
    DEFAULT_CACHE_FOLDER as DEFAULT_CACHE_FOLDER,
    DEFAULT_STORE_FILE as DEFAULT_STORE_FILE,
    BaselineName as BaselineName,
    ContextSettings as ContextSettings,
    Gate as Gate,
    HttpTarget as HttpTarget,
    NotifySettings as NotifySettings,
    Suite as Suite,
    SuiteGroup as SuiteGroup,
    TargetKind as TargetKind,
    VariantSettings as VariantSettings,
    names_a_file as names_a_file,
    scorer_name as scorer_name,
    suite_file as suite_file,
)
from .validation import (
    RowCheck as RowCheck,
    dataset_problems as dataset_problems,
    validate_path as validate_path,
)
from .variants import choose_variants as choose_variants, expand_variants as expand_variants
