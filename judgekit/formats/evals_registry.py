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

# Arguments that change neither the samples nor what is checked.
_UNREAD = {
    "max_tokens": "it is a setting of the model under test",
    "eval_type": "the form of a reply belongs to the template of a judge",
    "num_few_shot": "write the examples into the prompt of the variant",
}
_READ = frozenset({
    "samples_jsonl", "few_shot_jsonl", "ignore_case", "modelgraded_spec", "modelgraded_spec_file",
    "modelgraded_spec_args",
})  # fmt: skip
_FIELD = re.compile(r"\{(\w+)\}")
_SHOWN = {"input": "the input", "ideal": "the reference", "completion": "the output"}


class _Eval(SnakeRecord):
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
    # The others are names, with a description, of those that have a class.
    declared = {n: v for n, v in entries.items() if isinstance(v, dict) and "class" in v}
    evals = {name: one for name, v in declared.items() if (one := _eval(name, v, reading))}
    reading.header = {"name": next(iter(evals), document.path.stem)}
    for name, one in evals.items():
        check = _CHECKS.get(one.kind.rpartition(":")[2])
        rubric = None if check else _rubric(name, one, reading)
        for case in _samples(name, one, reading) if check or rubric else ():
            case_id = f"{name}-{case.id}" if len(evals) > 1 else case.id
            fields: JsonObject = {**case.to_json(), "id": case_id, "tags": [name], "rubric": rubric}
            if check is not None:
                ideals = case.reference if isinstance(case.reference, list) else [case.reference]
                specs: list[JsonValue] = [check(str(ideal), one.args) for ideal in ideals]
                several: JsonObject = {"type": "any", "assertions": specs}
                fields["assertions"] = [several] if len(specs) > 1 else specs
            reading.add_case(fields, (name,))
    return reading


# docs/eval-templates.md of openai/evals defines them.
_CHECKS: Mapping[str, Callable[[str, JsonObject], JsonObject]] = {
    "Match": lambda ideal, _: {"type": "starts-with", "value": ideal},
    "Includes": lambda ideal, args: {
        "type": "icontains" if args.get("ignore_case") else "contains",
        "value": ideal,
    },
    "FuzzyMatch": lambda ideal, _: {"type": "text.contains_either", "value": ideal},
}


def _eval(name: str, value: JsonObject, reading: ForeignFile) -> _Eval | None:
    """An eval that can be read; None for others, which are listed."""
    one = reading.record(_Eval, value, (name,))
    if one is None:
        return None
    known = (*_CHECKS, "ModelBasedClassify")
    reason = f"{one.kind[:80]} is code, which is never run from a file of data"
    if one.kind.startswith("evals.") and one.kind.endswith(tuple(f":{kind}" for kind in known)):
        for argument in one.args.keys() & _UNREAD.keys():
            message = f"`{argument}` is not imported: {_UNREAD[argument]}"
            reading.leave_out((name, "args", argument), message)
        unknown = sorted(one.args.keys() - _UNREAD.keys() - _READ)
        if not unknown:
            return one
        reason = f"`{unknown[0][:60]}` has no counterpart here"
    message = f"the eval {name[:60]!r} is not imported: {reason}"
    reading.leave_out((name,), message, f"what is read: {', '.join(known)}")
    return None


def _samples(name: str, one: _Eval, reading: ForeignFile) -> list[Case]:
    at: KeyPath = (name, "args", "samples_jsonl")
    path = _locate("data", one.args.get("samples_jsonl"), at, reading)
    if path is None:
        return []
    try:
        rows = list(iter_rows(path))
    except DatasetError as error:
        # In a clone without Git LFS the file only says where the samples are.
        is_pointer = path.is_file() and path.read_bytes()[:20] == b"version https://git-"
        reading.add(at, error.message, "fetch it: git lfs pull" if is_pointer else error.hint)
        return []
    lines: dict[KeyPath, int] = {(place,): row.line for place, row in enumerate(rows)}
    found = read_message_samples(
        ParsedDocument(path, [row.fields for row in rows], (), lambda: lines)
    )
    for case in found.cases:
        if case.reference is None:
            found.add(found.places[case.id], "the sample has no `ideal`", case_id=case.id)
    reading.problems += found.problems
    return found.cases


def _rubric(name: str, one: _Eval, reading: ForeignFile) -> JsonValue:
    """The criterion of a model-graded eval, in a rubric; None where it is left out."""
    at: KeyPath = (name, "args")
    named = str(one.args.get("modelgraded_spec", one.args.get("modelgraded_spec_file")))
    path = _locate("modelgraded", f"{named}.yaml", at, reading)
    value = None if path is None else read_document(path).value
    if not isinstance(value, dict):
        return None
    # Newer files have the spec under its name.
    spec = reading.record(_ModelGradedSpec, value.get(named, value), at)
    if spec is None:
        return None
    reason = None
    if len(spec.input_outputs) > 1:
        reason = "it compares several answers, as judgekit compare does"
    elif not {*spec.choice_strings} <= spec.choice_scores.keys():
        reason = (
            f"the choices of {named[:60]!r} have no scores; for `fact`: --rubric reference_match"
        )
    if reason is not None:
        reading.leave_out(at, f"the eval {name[:60]!r} is not imported: {reason}")
        return None
    args = one.args.get("modelgraded_spec_args")
    texts = _SHOWN | {n: str(v) for n, v in (args if isinstance(args, dict) else {}).items()}
    levels: list[JsonValue] = [
        {"name": choice, "value": spec.choice_scores[choice], "description": f"It is {choice}."}
        for choice in spec.choice_strings
    ]
    question = _FIELD.sub(lambda field: texts.get(field[1], field[0]), spec.prompt)
    criterion: JsonObject = {"name": named, "question": question, "scale": {"levels": levels}}
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
