from .attachments import (
    AttachmentError as AttachmentError,
    FolderAttachments as FolderAttachments,
    attachments_of as attachments_of,
    files_below as files_below,
)
from .detection import (
    FORMATS as FORMATS,
    RECORD_LISTS as RECORD_LISTS,
    REPLIES_OWN as REPLIES_OWN,
    ConversionSource as ConversionSource,
    FileKind as FileKind,
    Format as Format,
    document_kind as document_kind,
    foreign_row_shape as foreign_row_shape,
    foreign_shape as foreign_shape,
    is_foreign_file as is_foreign_file,
    is_graders as is_graders,
    is_quality_record as is_quality_record,
    is_read_whole as is_read_whole,
    is_row_file as is_row_file,
    read_whole_document as read_whole_document,
    row_kind as row_kind,
    rows_document as rows_document,
    unread_table as unread_table,
)
from .documents import (
    ParsedDocument as ParsedDocument,
    dump_yaml as dump_yaml,
    parse_document as parse_document,
    read_document as read_document,
)
from .foreign_file import (
    CASE_ALIASES as CASE_ALIASES,
    NEEDS_SCRIPTS as NEEDS_SCRIPTS,
    VALUE_COLUMNS as VALUE_COLUMNS,
    ForeignFile as ForeignFile,
    read_case as read_case,
)
from .frames import (
    MemoryRow as MemoryRow,
    frame_library as frame_library,
    make_frame as make_frame,
    memory_rows as memory_rows,
    with_row_ids as with_row_ids,
)
from .messages import (
    RawEvent as RawEvent,
    final_text as final_text,
    is_chat as is_chat,
    is_message as is_message,
    messages_in as messages_in,
    read_messages as read_messages,
)
from .openai_evals import read_graders as read_graders
from .problems import (
    DUPLICATE_ID as DUPLICATE_ID,
    DUPLICATE_REMEDY as DUPLICATE_REMEDY,
    FieldFault as FieldFault,
    Problem as Problem,
    Severity as Severity,
    duplicate_id_fault as duplicate_id_fault,
    first_message as first_message,
    is_near_name as is_near_name,
    json_kind as json_kind,
    problem_from_error as problem_from_error,
    problem_from_fault as problem_from_fault,
    suggest_name as suggest_name,
    vague_word as vague_word,
    validation_faults as validation_faults,
)
from .promptfoo import promptfoo_result_rows as promptfoo_result_rows
from .promptfoo_files import code_caller as code_caller
from .promptfoo_variants import PromptfooRun as PromptfooRun
from .promptfoo_vocabulary import (
    PROMPTFOO_ELSEWHERE as PROMPTFOO_ELSEWHERE,
    PROMPTFOO_SYNONYMS as PROMPTFOO_SYNONYMS,
    Synonym as Synonym,
)
from .quality_memory import (
    Benchmark as Benchmark,
    human_judgments as human_judgments,
    quality_rubrics as quality_rubrics,
    quality_run_rows as quality_run_rows,
)
from .quality_objects import (
    RubricIds as RubricIds,
    case_object as case_object,
    criterion_ids as criterion_ids,
    quality_object as quality_object,
    rubric_marks as rubric_marks,
    rubric_objects as rubric_objects,
)
from .rows import (
    DOCUMENT_SUFFIXES as DOCUMENT_SUFFIXES,
    LINE_SUFFIXES as LINE_SUFFIXES,
    TABLE_SUFFIXES as TABLE_SUFFIXES,
    TYPED_SUFFIX as TYPED_SUFFIX,
    Fields as Fields,
    FileRow as FileRow,
    as_texts as as_texts,
    document_rows as document_rows,
    iter_rows as iter_rows,
    json_row as json_row,
    raise_damaged as raise_damaged,
    read_cells as read_cells,
    rename_fields as rename_fields,
    require_pyarrow as require_pyarrow,
    scan_rows as scan_rows,
    suffix_of as suffix_of,
    write_csv as write_csv,
    write_parquet as write_parquet,
)
from .skill_evals import (
    CONVENTIONS as CONVENTIONS,
    HIGHEST_SCORE as HIGHEST_SCORE,
    LOWEST_SCORE as LOWEST_SCORE,
    PASS_SCORE as PASS_SCORE,
    read_skill_history as read_skill_history,
)
from .skill_tests import read_skill_tests as read_skill_tests, skill_tests_of as skill_tests_of
from .skill_tests_schema import (
    SkillTests as SkillTests,
    downgrade_skill_tests as downgrade_skill_tests,
    is_skill_tests_v1 as is_skill_tests_v1,
    upgrade_skill_tests as upgrade_skill_tests,
)
from .spans import (
    find_spans as find_spans,
    first_number as first_number,
    read_spans as read_spans,
    span_duration_ms as span_duration_ms,
    span_events as span_events,
    span_usage as span_usage,
    total_usage as total_usage,
)
from .text import (
    ARCHIVE_SUFFIXES as ARCHIVE_SUFFIXES,
    MAX_LINE_BYTES as MAX_LINE_BYTES,
    TEXT_REPAIRED as TEXT_REPAIRED,
    KeyPath as KeyPath,
    as_path as as_path,
    decode_utf8 as decode_utf8,
    escape_formula as escape_formula,
    file_exists as file_exists,
    folder_exists as folder_exists,
    is_archive as is_archive,
    iter_lines as iter_lines,
    javascript_text as javascript_text,
    objects_in as objects_in,
    open_file as open_file,
    packed_stream as packed_stream,
    parse_strict_json as parse_strict_json,
    read_text as read_text,
    text_in_place as text_in_place,
    typed_content as typed_content,
)
from .value_edits import EditKind as EditKind, edit_value as edit_value, row_lines as row_lines
