"""From one row or mapping of a file to a `Case`, or to everything that is wrong with it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from pydantic import ValidationError

from judgekit.datasets.faults import Fault, explain
from judgekit.datasets.fields import TYPED, Fields, as_texts, read_cells, rename, typed_columns
from judgekit.datasets.json_text import REPAIRED
from judgekit.records.case import Case

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

CASE_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "case_id": "id",
        "prompt": "input",
        "question": "input",
        "expected": "reference",
        "expected_output": "reference",
        "reference_answer": "reference",
        "answer": "reference",
    }
)
"""Names other tools give to the fields of a case, with judgekit's own."""

VALUE_COLUMNS = ("input", "reference", "context")
"""Fields that may be any JSON value; in a table also as a column `input.json`."""

_TYPED_COLUMNS = frozenset(f"{name}{TYPED}" for name in VALUE_COLUMNS)
_JSON_COLUMNS = ("assertions", "evaluation", "metadata")
_MIXED_COLUMNS = ("rubric",)
_LIST_COLUMNS = ("tags",)
_TEXTS = ("id", "name", "prompt_version")


def read_case(
    fields: Mapping[str, JsonValue], *, is_table: bool = False, is_repaired: bool = False
) -> Case | list[Fault]:
    """The case a row or mapping describes."""
    # Fields are those of `Case` or their aliases; anything else belongs under `metadata`. A whole
    # number as an id is taken as text.
    found, faults = rename(fields, CASE_ALIASES)
    if is_table:
        typed, typed_faults = typed_columns(found, VALUE_COLUMNS)
        found, cell_faults = read_cells(
            {name: cell for name, cell in found.items() if name not in _TYPED_COLUMNS},
            json_names=_JSON_COLUMNS,
            list_names=_LIST_COLUMNS,
            mixed_names=_MIXED_COLUMNS,
        )
        found |= typed
        faults += typed_faults + cell_faults
    found = as_texts(found, _TEXTS)
    if faults:
        return faults
    try:
        case = Case.model_validate(found)
    except ValidationError as error:
        faults = explain(error, Case, found, synonyms=CASE_ALIASES)
        return [_helpful(fault) for fault in faults if not _is_other_form(fault, found)]
    if is_repaired:
        return case.model_copy(update={"metadata": {**case.metadata, REPAIRED: True}})
    return case


def _is_other_form(fault: Fault, found: Fields) -> bool:
    """Whether a fault is that a rubric given in full is not the name of one."""
    is_name_wanted = fault.where == ("rubric",) and "must be a text" in fault.message
    return is_name_wanted and isinstance(found.get("rubric"), dict)


def _helpful(fault: Fault) -> Fault:
    """What a missing field is for; where else an unknown one can stand."""
    if fault.where == ("id",) and "missing" in fault.message:
        return Fault(fault.where, fault.message, "give every case an id of its own")
    if fault.where == ("input",) and "missing" in fault.message:
        return Fault(fault.where, fault.message, "give the case what the system is asked")
    if "is not known" in fault.message and len(fault.where) == 1:
        remedy = f"{fault.remedy} (fields of your own go under `metadata`)"
        return Fault(fault.where, fault.message, remedy)
    return fault
