from .growing_log import (
    GrowingLog as GrowingLog,
    LogLine as LogLine,
    LogPosition as LogPosition,
    is_sampled as is_sampled,
)
from .judge_settings import (
    CallSettings as CallSettings,
    HumanSettings as HumanSettings,
    JudgeMode as JudgeMode,
    JudgeSettings as JudgeSettings,
    PriceSettings as PriceSettings,
    SuiteJudge as SuiteJudge,
    may_ask_judge as may_ask_judge,
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
    criterion_place as criterion_place,
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
from .options import (
    DEFAULT_CACHE_FOLDER as DEFAULT_CACHE_FOLDER,
    DEFAULT_STORE_FILE as DEFAULT_STORE_FILE,
    CommandOption as CommandOption,
    OptionGroup as OptionGroup,
    choices_of as choices_of,
    command_options as command_options,
)
from .outputs import (
    CaseOutput as CaseOutput,
    RecordedOutput as RecordedOutput,
    has_repeats as has_repeats,
    iter_case_outputs as iter_case_outputs,
    iter_output_rows as iter_output_rows,
    number_single_outputs as number_single_outputs,
    read_answer as read_answer,
    read_answers as read_answers,
    read_logged_row as read_logged_row,
    read_output as read_output,
    repeat_of as repeat_of,
    valid_output as valid_output,
)
from .sources import (
    SKIPPED_FOLDERS as SKIPPED_FOLDERS,
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
    ContextSettings as ContextSettings,
    HttpTarget as HttpTarget,
    NotifySettings as NotifySettings,
    Suite as Suite,
    SuiteGroup as SuiteGroup,
    TargetKind as TargetKind,
    VariantSettings as VariantSettings,
    names_a_file as names_a_file,
    resolve_suite_model as resolve_suite_model,
    resolve_suite_template as resolve_suite_template,
    scorer_name as scorer_name,
    suite_file as suite_file,
    suite_template_folders as suite_template_folders,
)
from .validation import (
    RowCheck as RowCheck,
    dataset_problems as dataset_problems,
    validate_path as validate_path,
)
from .variants import choose_variants as choose_variants, expand_variants as expand_variants
