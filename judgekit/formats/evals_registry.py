"""Reads the registry of openai/evals: evals declared in YAML, with the samples they name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, JsonValue

from judgekit.errors import DatasetError
from judgekit.formats.attachments import AttachmentError, FolderAttachments
from judgekit.formats.documents import ParsedDocument, read_document
from judgekit.formats.foreign_file import ForeignFile, SnakeRecord
from judgekit.formats.openai_evals import read_message_samples
from judgekit.formats.rows import iter_rows
from judgekit.records import Case, Finite, JsonObject, Name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from judgekit.formats.text import KeyPath

PACKAGE = "evals."
"""With what the class of an eval of the framework begins."""

_MODEL_GRADED = "ModelBasedClassify"
_SETTINGS = "it is a setting of the model under test"
# Arguments that change neither the samples nor what is checked.
_UNREAD = {
    "max_tokens": _SETTINGS,
    "eval_type": "the form of a reply belongs to the template of a judge",
    "num_few_shot": "write the examples into the prompt of the variant",
}
_READ = frozenset({"samples_jsonl", "ignore_case", "modelgraded_spec", "modelgraded_spec_args"})
# These belong to one that is listed already.
_WITH_OTHERS = frozenset({"few_shot_jsonl", "modelgraded_spec_file"})
_FIELD = re.compile(r"\{(\w+)\}")
_SHOWN = {"input": "the input", "ideal": "the reference", "completion": "the output"}


class _Eval(SnakeRecord):
    # `class` is a word of Python.
    kind: Annotated[str, Field(alias="class")]
    args: JsonObject = Field(default_factory=dict)


class _ModelGradedSpec(SnakeRecord):
    prompt: Name
    choice_strings: str | tuple[str, ...]
    choice_scores: dict[str, Finite] = Field(default_factory=dict)
    input_outputs: dict[str, str] = Field(default_factory=dict)


def read_registry(document: ParsedDocument) -> ForeignFile:
    """The samples of every eval that needs no code of the framework, with its check."""
    reading = ForeignFile(document)
    entries = document.value if isinstance(document.value, dict) else {}
    evals = {
        name: one
        for name, value in entries.items()
        # The others are names, with a description, of those that have a class.
        if isinstance(value, dict) and "class" in value
        if (one := reading.record(_Eval, value, (name,))) is not None
        if _can_be_read(name, one, reading)
    }
    reading.header = {"name": next(iter(evals), document.path.stem)}
    for name, one in evals.items():
        check = _CHECKS.get(one.kind.rpartition(":")[2])
        rubric = None if check else _rubric(name, one, reading)
        if check is None and rubric is None:
            continue
        for case in _samples(name, one, reading):
            case_id = f"{name}-{case.id}" if len(evals) > 1 else case.id
            fields: JsonObject = {**case.to_json(), "id": case_id, "tags": [name], "rubric": rubric}
            if check is not None:
                ideals = case.reference if isinstance(case.reference, list) else [case.reference]
                specs: list[JsonValue] = [check(str(ideal), one.args) for ideal in ideals]
                if len(specs) > 1:
                    specs = [{"type": "any", "assertions": specs}]
                fields["assertions"] = specs
            reading.add_case(fields, (name,))
    return reading


def _includes(ideal: str, args: JsonObject) -> JsonObject:
    return {"type": "icontains" if args.get("ignore_case") else "contains", "value": ideal}


# docs/eval-templates.md of openai/evals defines them.
_CHECKS: Mapping[str, Callable[[str, JsonObject], JsonObject]] = {
    "Match": lambda ideal, _: {"type": "starts-with", "value": ideal},
    "Includes": _includes,
    "FuzzyMatch": lambda ideal, _: {"type": "text.contains_either", "value": ideal},
}


def _can_be_read(name: str, one: _Eval, reading: ForeignFile) -> bool:
    known = {*_CHECKS, _MODEL_GRADED}
    if not one.kind.startswith(PACKAGE) or one.kind.rpartition(":")[2] not in known:
        reason = f"{one.kind[:80]} is code, which is never run from a file of data"
        remedy = f"read are {', '.join(sorted(known))}"
        reading.leave_out((name,), f"the eval {name[:60]!r} is not imported: {reason}", remedy)
        return False
    unknown = one.args.keys() - _UNREAD.keys() - _READ - _WITH_OTHERS
    for argument in sorted(unknown | (one.args.keys() & _UNREAD.keys())):
        reason = _UNREAD.get(argument, "judgekit has no counterpart of it, so neither is the eval")
        reading.leave_out((name, "args"), f"`{argument[:60]}` is not imported: {reason}")
    return not unknown


def _samples(name: str, one: _Eval, reading: ForeignFile) -> list[Case]:
    named, at = one.args.get("samples_jsonl"), (name, "args", "samples_jsonl")
    path = _locate("data", named, at, reading)
    if path is None:
        return []
    try:
        rows = list(iter_rows(path))
    except DatasetError as error:
        # Of a clone without Git LFS; its samples are stored there.
        is_pointer = path.is_file() and path.read_bytes()[:20] == b"version https://git-"
        reading.add(at, error.message, "fetch it: git lfs pull" if is_pointer else error.hint)
        return []
    lines: dict[KeyPath, int] = {(place,): row.line for place, row in enumerate(rows)}
    samples = ParsedDocument(path, [row.fields for row in rows], (), lambda: lines)
    found = read_message_samples(samples)
    for case in found.cases:
        if case.reference is None:
            found.add(found.places[case.id], "the sample has no `ideal`", case_id=case.id)
    reading.problems += found.problems
    return found.cases


def _rubric(name: str, one: _Eval, reading: ForeignFile) -> JsonValue:
    """The criterion of a model-graded eval, in a rubric; None where it is left out."""
    at: KeyPath = (name, "args", "modelgraded_spec")
    named = one.args.get("modelgraded_spec", one.args.get("modelgraded_spec_file"))
    path = _locate("modelgraded", f"{named}.yaml", at, reading)
    if path is None:
        return None
    document = read_document(path)
    # Newer files have the spec under its name.
    value = document.value if isinstance(document.value, dict) else {}
    spec = reading.record(_ModelGradedSpec, value.get(str(named), value), at)
    if spec is None:
        return None
    lost = f"the eval {name[:60]!r} is not imported: "
    if len(spec.input_outputs) > 1:
        reading.leave_out(at, f"{lost}it compares several answers", "use judgekit compare")
        return None
    choices = [choice for choice in spec.choice_strings if choice in spec.choice_scores]
    if len(choices) < len(spec.choice_strings):
        reason = f"{lost}not every choice of {str(named)[:60]!r} has a score (`choice_scores`)"
        reading.leave_out(at, reason, "for `fact`: --rubric reference_match, with the samples")
        return None
    args = one.args.get("modelgraded_spec_args")
    texts = _SHOWN | {n: str(v) for n, v in (args if isinstance(args, dict) else {}).items()}
    levels: list[JsonValue] = [
        {"name": choice, "value": spec.choice_scores[choice], "description": f"It is {choice}."}
        for choice in choices
    ]
    question = _FIELD.sub(lambda field: texts.get(field[1], field[0]), spec.prompt)
    criterion: JsonObject = {"name": str(named), "question": question, "scale": {"levels": levels}}
    return {"name": name, "criteria": [criterion]}


def _locate(kind: str, named: JsonValue, at: KeyPath, reading: ForeignFile) -> Path | None:
    """A file of the registry, or one beside the file that names it."""
    folder = reading.document.path.absolute().parent
    try:
        # A registry has the folders `evals`, `data` and `modelgraded` beside each other.
        for root in (folder.parent / kind, folder):
            path = FolderAttachments(root).locate(str(named))
            if path.is_file():
                return path
    except AttachmentError as error:
        reading.add(at, str(error), error.remedy)
        return None
    reading.add(at, f"there is no file {str(named)[:80]!r} in {folder.parent / kind} or {folder}")
    return None
