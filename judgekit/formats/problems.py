"""Faults of fields; problems with file, line and remedy; thresholds off the scale; vague words."""

from __future__ import annotations

import difflib
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, get_args, get_origin

from pydantic import Field, JsonValue, ValidationError

from judgekit.errors import DatasetError, JudgekitError, known_names
from judgekit.formats.text import as_mapping, objects_in
from judgekit.records import Criterion, Name, Record, Scale

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

    from judgekit.formats.text import KeyPath


Severity = Literal["error", "left_out", "warning"]
"""An error makes a file unusable; a warning does not; what is left out is not imported."""


class Problem(Record):
    """One thing to fix in a file."""

    severity: Severity

    message: Name
    path: str | None = None
    line: Annotated[int, Field(ge=1)] | None = None
    """Counted from 1."""

    case_id: str | None = None
    remedy: str | None = None

    def __str__(self) -> str:
        """The problem on one line, as compilers write theirs."""
        line = "" if self.line is None else f"{self.line}:"
        where = "" if self.path is None else f"{self.path}:{line} "
        case = "" if self.case_id is None else f"case {self.case_id!r}: "
        remedy = "" if self.remedy is None else f"; {self.remedy}"
        severity = self.severity.replace("_", " ")
        return f"{where}{severity}: {case}{self.message}{remedy}"


def problem_from_error(error: JudgekitError) -> Problem:
    message = error.message
    path = line = case_id = None
    if isinstance(error, DatasetError):
        path, line, case_id = error.path, error.line, error.case_id
        # The message of a `DatasetError` begins with its place, which a problem has in fields.
        for lead in (f"{path}:", f"{line}:", f"case {case_id!r}:"):
            message = message.removeprefix(lead).lstrip()
    return Problem(
        severity="error", message=message, path=path, line=line, case_id=case_id, remedy=error.hint
    )


def problem_from_fault(
    fault: FieldFault,
    path: Path,
    line: int,
    *,
    case_id: str | None = None,
    severity: Severity = "error",
) -> Problem:
    return Problem(
        severity=severity,
        message=fault.message,
        path=str(path),
        line=line,
        case_id=case_id,
        remedy=fault.remedy,
    )


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "a truth value"),
    (str, "a text"),
    ((int, float), "a number"),
    ((list, tuple), "a list"),
    (dict, "a mapping"),
    (type(None), "null"),
)

# What to write in a field whose purpose others have in formats that users know.
_MISSING = {
    "question": "write what the judge is to decide; it does not see `description`",
    "scale": "for example `one_to_five` or {min: 1, max: 5, integer: true}",
}
# How fields are written that others know in other forms.
_FORMS = {
    "cases": "name a file of cases by `dataset`",
    "variants": "write `- {id: v1, outputs: outputs.jsonl}`",
    "criteria": 'write `- {name: polite, question: "Is it polite?", scale: binary}`',
    "scale": "write `- {value: 1, description: what a 1 is like}`",
    "rubric": "name the file of a rubric, or a shipped rubric",
}
# What a field must be, by the first word of pydantic's name of the error: `int_parsing`.
_WANTED = {
    "string": "a text", "float": "a number", "finite": "a finite number", "int": "a whole number",
    "bool": "true or false", "tuple": "a list", "list": "a list", "dict": "a mapping of fields",
    "model": "a mapping of fields",
}  # fmt: skip

_LIMITS = {
    "greater_than_equal": "must be {ge} or more, not {value}",
    "greater_than": "must be more than {gt}, not {value}",
    "less_than_equal": "must be {le} or less, not {value}",
    "literal_error": "must be {expected}, not {value}",
    "too_short": "must not be empty",
}

# How pydantic's name for a rubric among other forms ends.
_IN_FULL = "Rubric]"
_SHOWN = 40

# How many things wrong with one value are explained; a file may be of another kind altogether.
_MOST = 500


@dataclass(frozen=True, slots=True)
class FieldFault:
    """One thing wrong with a value."""

    where: KeyPath  # the path of the field from the root of the value
    message: str  # a sentence that begins with the field, where there is one
    remedy: str | None = None

    def __str__(self) -> str:
        """The fault and its remedy on one line."""
        return self.message if self.remedy is None else f"{self.message}; {self.remedy}"


DUPLICATE_ID = "a duplicate id"
DUPLICATE_REMEDY = "rename one; ids name results and stored judgments"


def duplicate_id_fault(first_line: int) -> FieldFault:
    return FieldFault(("id",), f"{DUPLICATE_ID}; first in line {first_line}", DUPLICATE_REMEDY)


def first_message(message: str, n: int) -> str:
    """The first of several messages, with how many more there are."""
    return message if n == 1 else f"{message} (and {n - 1} more; `judgekit validate` lists them)"


def validation_faults(
    error: ValidationError,
    model: type[Record],
    value: JsonValue,
    *,
    synonyms: Mapping[str, str] | None = None,
) -> list[FieldFault]:
    """The faults that pydantic found, in plain words, each once."""
    faults: dict[tuple[KeyPath, str], FieldFault] = {}
    details = error.errors(include_url=False)
    # Explaining each takes time, and nobody reads more of them.
    for detail in details[:_MOST]:
        if detail["type"] == "too_short" and detail["input"]:
            continue  # its items are invalid, and each of them is reported
        if detail["type"] == "missing" and as_mapping(detail["input"]).get("levels"):
            continue  # an end of a scale, which its levels would give if they were valid
        where = _place(detail, value)
        fault = None
        if detail["type"] == "less_than_equal" and where[-1:] in _THRESHOLDS:
            fault = threshold_fault(where, detail["input"], _scales_beside(where, value))
        if fault is None:
            fault = _fault(detail, where, model, synonyms or {})
        faults.setdefault((fault.where, fault.message), fault)
    n_more = max(0, len(details) - _MOST)
    more = [FieldFault((), f"and {n_more:,} more are wrong with it")] if n_more else []
    return [*faults.values(), *more]


def suggest_name(name: str, known: Iterable[str], synonyms: Mapping[str, str] | None = None) -> str:
    """A hint with the names that a misspelt one may mean."""
    names = sorted(known)
    others = {alias: own for alias, own in (synonyms or {}).items() if own in names}
    if name in others:  # however different its spelling
        return f"did you mean `{others[name]}`?"
    folded = {_fold(candidate): candidate for candidate in (*others, *names)}
    if near := difflib.get_close_matches(_fold(name), folded, n=3):
        return f"did you mean {' or '.join(f'`{folded[key]}`' for key in near)}?"
    return known_names(names)


def is_near_name(name: str, known: Iterable[str]) -> bool:
    return bool(difflib.get_close_matches(_fold(name), [_fold(each) for each in known]))


def field_names(model: type[Record], where: KeyPath) -> tuple[str, ...]:
    here: type[Record] | None = model
    is_key = False  # of a mapping of records, whose keys are no fields
    for part in where:
        if here is None:
            return ()
        if isinstance(part, str) and not is_key:
            field = _by_name(here).get(part)
            here = None if field is None else _record_in(field.annotation)
            is_key = field is not None and get_origin(field.annotation) is dict
        else:
            is_key = False
    return tuple(_by_name(here)) if here is not None else ()


def json_kind(value: object) -> str:
    return next((name for types, name in _KINDS if isinstance(value, types)), "something else")


def _place(detail: ErrorDetails, value: JsonValue) -> KeyPath:
    """The part of pydantic's location that exists in the value itself."""
    where: list[str | int] = []
    here = value
    for part in detail["loc"]:
        if isinstance(here, dict) and isinstance(part, int):
            continue  # a single mapping was given where a list of them may stand
        if isinstance(here, list) and part == "levels":
            continue  # a scale was given as the bare list of its levels
        if isinstance(here, dict) and str(part).endswith(_IN_FULL) and part not in here:
            continue  # a rubric was given in full, where its name may stand too
        is_there, here = _step(here, part)
        if not is_there and (detail["type"] != "missing" or part != detail["loc"][-1]):
            break
        where.append(part)
    return tuple(where)


def _step(here: JsonValue, part: str | int) -> tuple[bool, JsonValue]:
    if isinstance(here, dict) and isinstance(part, str) and part in here:
        return True, here[part]
    if isinstance(here, list | tuple) and isinstance(part, int) and part < len(here):
        return True, here[part]
    return False, None


def _fault(
    detail: ErrorDetails, where: KeyPath, model: type[Record], synonyms: Mapping[str, str]
) -> FieldFault:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in where)
    field = f"`{''.join(parts).removeprefix('.')}`" if where else "the whole"
    value, kind = detail["input"], detail["type"]
    remedy: str | None = None
    if kind == "missing":
        return FieldFault(where, f"the field {field} is missing", _MISSING.get(str(where[-1])))
    if kind == "extra_forbidden":
        remedy = _meant_field(where, model, synonyms)
        return FieldFault(where, f"the field {field} is not known", remedy)
    if kind == "value_error":
        message, _, hint = detail["msg"].removeprefix("Value error, ").partition("\n  ")
        place = (*where, *_named_field(message, detail["input"]))
        return FieldFault(place, f"{field}: {message}" if where else message, hint or None)
    # YAML reads an unquoted 1.0 as a number where a text is wanted.
    if kind == "string_type" and isinstance(value, int | float) and not _is_huge(value):
        remedy = f'put it in quotes: "{str(value)[:_SHOWN]}"'
    elif kind in _FORM_FAULTS:
        is_list = kind in {"tuple_type", "list_type"}
        names = (str(part) for part in reversed(where) if isinstance(part, str))
        fallback = "write it as a list" if is_list and isinstance(value, str) else None
        remedy = _FORMS.get(next(names, ""), fallback)
    return FieldFault(where, f"{field} {_demand(detail)}", remedy)


def _meant_field(where: KeyPath, model: type[Record], synonyms: Mapping[str, str]) -> str:
    """A hint with the fields that an unknown one may mean, in its place or elsewhere."""
    name = str(where[-1])
    here = [known for known in field_names(model, where[:-1]) if known != name]
    paths = {path: path.rpartition(".")[2] for path in _field_paths(model)}
    is_near = is_near_name(name, (*here, *synonyms))
    meant = {name} & set(paths.values()) if not is_near or len(where) == 1 else set()
    if not meant and not is_near:
        meant = set(difflib.get_close_matches(name, set(paths.values()), n=1, cutoff=0.8))
    if name in synonyms or not meant:
        return suggest_name(name, here, synonyms)
    there = sorted((path for path in paths if paths[path] in meant), key=lambda at: at.count("."))
    listed = [f"`{path}`" + ("" if "." in path else " at the top level") for path in there]
    return f"did you mean {' or '.join(listed[:3])}?"


_FORM_FAULTS = frozenset({"tuple_type", "list_type", "model_type", "dict_type", "string_type"})
_QUOTED = re.compile(r"`([\w.\[\]]+)`")


def _named_field(message: str, value: JsonValue) -> KeyPath:
    """The field of a value that a message about it names, as `a`, or more exactly as `a[1].b`."""
    for quoted in sorted(_QUOTED.finditer(message), key=lambda found: "[" not in found[1]):
        parts = re.findall(r"\w+", quoted[1])
        where = tuple(int(part) if part.isdigit() else part for part in parts)
        here, is_there = value, bool(where)
        for part in where:
            is_there, here = _step(here, part) if is_there else (False, None)
        if is_there:
            return where
    return ()


def _demand(detail: ErrorDetails) -> str:
    value, kind = detail["input"], detail["type"]
    if kind in _LIMITS:
        limits = {
            name: int(limit) if isinstance(limit, float) and limit.is_integer() else limit
            for name, limit in detail.get("ctx", {}).items()
        }
        return _LIMITS[kind].format(value=_shown(value), **limits)
    if kind in {"string_pattern_mismatch", "string_too_short"}:
        blank = isinstance(value, str) and not value.strip()
        return "must not be blank" if blank else f"is not of the right form: {_shown(value)}"
    if (wanted := _WANTED.get(kind.partition("_")[0])) is not None:
        return f"must be {wanted}, not {_shown(value)}"
    return f"is not valid: {detail['msg']}"


def _shown(value: object) -> str:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        text = "a huge number" if _is_huge(value) else repr(value)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return json_kind(value)


def _is_huge(value: object) -> bool:
    # Python refuses to print an integer of more than 4,300 digits.
    return isinstance(value, int) and abs(value) >= 10**_SHOWN


def _fold(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def _by_name(model: type[Record]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _field_paths(model: type[Record], above: str = "") -> Iterator[str]:
    """The paths of a record's fields and of those of the records in it, as `settings.repeats`."""
    for name, field in _by_name(model).items():
        yield above + name
        if (record := _record_in(field.annotation)) is not None:
            yield from _field_paths(record, f"{above}{name}.")


def _record_in(annotation: object) -> type[Record] | None:
    """The first record named in an annotation such as `tuple[Level, ...] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return annotation
    inner = (_record_in(argument) for argument in get_args(annotation))
    return next((record for record in inner if record is not None), None)


# No scale reaches so far, so a number beyond it gets the plain message about its range.
_HUGE = 1e9


def threshold_fault(where: KeyPath, value: JsonValue, scales: Iterable[Scale]) -> FieldFault | None:
    """The fault of a threshold above 1, which was meant on a scale."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 1 < value < _HUGE:
        return None
    message = f"`{where[-1]}` is {value:g}, but thresholds are on [0, 1]"
    ends = dict.fromkeys((scale.min, scale.max) for scale in scales if value <= scale.max)
    ways = [
        f"{value:g} on the scale {low:g}..{high:g} is {(value - low) / (high - low):.4g}"
        for low, high in ends
        if value >= low
    ]
    if not ways and value <= 100:  # noqa: PLR2004 - a percentage
        ways = [f"{value:g} % is {value / 100:.4g}"]
    remedy = f"(score - min) / (max - min): {', '.join(ways)}" if ways else "write 0.7, not 70"
    return FieldFault(where, message, remedy)


_THRESHOLDS = (("pass_threshold",), ("pass_value",), ("threshold",))


def _scales_beside(where: KeyPath, value: JsonValue) -> Iterator[Scale]:
    holder = value
    for part in where[:-1]:
        _, holder = _step(holder, part)
    fields = as_mapping(holder)
    criteria = objects_in(fields.get("criteria", [fields]))
    return valid_scales(item.get("scale") for item in criteria)


def valid_scales(values: Iterable[object]) -> Iterator[Scale]:
    """The scales among values, in any form that a criterion may give; others are skipped."""
    for value in values:
        with suppress(ValidationError):
            yield Criterion.model_validate({"name": "-", "question": "-", "scale": value}).scale


VAGUE_WORDS = ("appropriate", "reasonable", "adequate", "suitable", "proper", "sensible")
"""Words in a description that nothing can contradict."""

_STEMS = "|".join(word.removesuffix("e") for word in VAGUE_WORDS)
_VAGUE = re.compile(rf"\b(?:in|un)?(?:{_STEMS})(?:e|y|ly|ely)?\b", re.IGNORECASE)


def vague_word(text: str | None) -> str | None:
    """The first word of a text that nothing can contradict."""
    match = _VAGUE.search(text or "")
    return None if match is None else match.group()
