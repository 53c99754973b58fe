"""Reads OpenAI's graders (S5) as criteria and assertions; samples and evals of openai/evals."""

from __future__ import annotations

import ast
import json
import math
import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, cast

from pydantic import Field, JsonValue, ValidationError

from judgekit.errors import DatasetError
from judgekit.formats.attachments import AttachmentError, FolderAttachments
from judgekit.formats.documents import ParsedDocument, read_document
from judgekit.formats.foreign_file import ForeignFile, SnakeRecord, map_texts
from judgekit.formats.problems import suggest_name
from judgekit.formats.rows import iter_rows
from judgekit.formats.text import as_items, as_mapping, one_or_several, without_nulls
from judgekit.records import Case, Criterion, Finite, JsonObject, Name, Rubric

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from judgekit.formats.text import KeyPath


class _StringCheckGrader(SnakeRecord):
    name: Name
    input: str
    reference: str
    operation: Literal["eq", "ne", "like", "ilike"]


class _TextSimilarityGrader(SnakeRecord):
    name: Name
    input: str
    reference: str
    evaluation_metric: str
    pass_threshold: Finite | None = None


# One message of a conversation, or of the prompt to a model that grades.
class _ChatMessage(SnakeRecord):
    role: Name
    content: JsonValue


# A grader that asks a model; `model` is ignored, since the suite names the judge.
class _ModelGrader(SnakeRecord):
    name: Name
    input: Annotated[tuple[_ChatMessage, ...], Field(min_length=1)]
    model: str | None = None
    sampling_params: JsonValue = None


class _ScoreModelGrader(_ModelGrader):
    range: tuple[Finite, Finite] = (0.0, 1.0)
    pass_threshold: Finite | None = None  # on the range


class _LabelModelGrader(_ModelGrader):
    labels: Annotated[tuple[Name, ...], Field(min_length=2)]
    passing_labels: Annotated[tuple[Name, ...], Field(min_length=1)]


class _MultiGrader(SnakeRecord):
    name: Name | None = None  # ignored: the graders in it have names of their own
    graders: dict[str, JsonValue]  # the graders by their name in `calculate_output`
    calculate_output: str


_MODELS: Mapping[str, type[SnakeRecord]] = {
    "string_check": _StringCheckGrader,
    "text_similarity": _TextSimilarityGrader,
    "score_model": _ScoreModelGrader,
    "label_model": _LabelModelGrader,
    "multi": _MultiGrader,
}

# `like` and `ilike` look for a part of the output, with and without regard to case.
_OPERATIONS = {"eq": "equals", "ne": "not-equals", "like": "contains", "ilike": "icontains"}

_METRICS: Mapping[str, JsonObject] = {
    "bleu": {"type": "bleu"},
    "cosine": {"type": "similar"},
    "fuzzy_match": {"type": "text.character_ratio"},
    "gleu": {"type": "gleu"},
    "meteor": {"type": "meteor"},
    "rouge_l": {"type": "rouge-l"},
    **{f"rouge_{n}": {"type": "rouge-n", "n": n} for n in range(1, 6)},
}

# A grader may check any template; an assertion can check only the output itself, or a part of it.
_OUTPUT = re.compile(r"\s*\{\{\s*sample\.output_(?:text|json\.([\w.]+))\s*\}\}\s*")
_REFERENCES = ("reference_answer", "reference", "ideal", "expected", "expected_output", "answer")
_PLACEHOLDER = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")

# What of a formula is multiplied with no grader; no grader can be called so.
_CONSTANT = ""

# Real files nest graders once or twice; deeper nesting is meant to exhaust a reader.
_MAX_DEPTH = 5


@dataclass(frozen=True, slots=True)
class GraderCriteria:
    """The criteria and assertions of a file of graders."""

    # Those that need no model; a value may hold `{{item.name}}`, a field of the item graded.
    assertions: tuple[JsonObject, ...]
    rubric: Rubric | None  # those that ask a model, a criterion each; None where there are none


@dataclass(slots=True)
class _Graders(ForeignFile):
    assertions: list[JsonObject] = field(default_factory=list)
    criteria: list[Criterion] = field(default_factory=list)
    shown: frozenset[str] = frozenset()  # the fields of the item that the input of its case has


def read_graders(path: Path | str) -> GraderCriteria:
    found = check_graders(read_document(path))
    found.refuse_errors()
    found.warn_of_omissions()
    return GraderCriteria(tuple(found.assertions), _rubric(found, found.document.path.stem))


def _rubric(found: _Graders, name: str) -> Rubric | None:
    criteria = found.criteria
    if not criteria:
        return None
    # A rubric needs a weight above 0; graders that all have weight 0 then count alike.
    if not any(criterion.weight > 0 for criterion in criteria):
        criteria = [criterion.model_copy(update={"weight": 1.0}) for criterion in criteria]
    return Rubric(name=name or "graders", criteria=tuple(criteria))


def check_graders(document: ParsedDocument) -> _Graders:
    found = _Graders(document)
    value = document.value
    if isinstance(value, dict) and "testing_criteria" not in value:
        _take(value, (), found, weight=1.0, depth=0)
        return found
    at: KeyPath = ("testing_criteria",) if isinstance(value, dict) else ()
    listed = value["testing_criteria"] if isinstance(value, dict) else value
    for place, item in found.objects(listed, at):
        _take(item, place, found, weight=1.0, depth=0)
    return found


def read_evaluation(document: ParsedDocument) -> ForeignFile:
    """The items of a run as cases, each with the graders in which its fields are put in."""
    reading, value = ForeignFile(document), cast("JsonObject", document.value)
    at: KeyPath = ("data_source", "source", "content")
    content: JsonValue = value
    for name in at:
        content = as_mapping(content).get(str(name))
    asked_about: set[str] = set()

    def note(text: str, where: KeyPath) -> str:
        asked_about.update(() if where[-1:] == ("reference",) else _PLACEHOLDER.findall(text))
        return text

    map_texts(value["testing_criteria"], (), note)
    for place, row in reading.objects(content, at):
        inner = row.get("item")
        item = inner if isinstance(inner, dict) else row
        reference = next((name for name in _REFERENCES if name in item), None)
        # Another such field that a grader asks about, as `answer`, is what it compares with it.
        hidden = {n for n in _REFERENCES if n == reference or f"item.{n}" not in asked_about}
        shown = {name: value for name, value in item.items() if name not in hidden}
        found, number = _Graders(document, shown=frozenset(shown)), int(place[-1]) + 1
        rendered = map_texts(value["testing_criteria"], (), partial(_rendered, item, found, place))
        for where, grader in found.objects(rendered, ("testing_criteria",)):
            _take(grader, where, found, weight=1.0, depth=0)
        # What is wrong with a grader is so for each item, and is reported once.
        known = {(one.line, one.message) for one in reading.problems}
        reading.problems += [one for one in found.problems if (one.line, one.message) not in known]
        case_id = str(item.get("id", f"item-{number}"))
        asked: JsonObject = {"input": shown, "reference": item.get(reference or "")}
        rubric = _rubric(found, case_id)
        fields: JsonObject = {"id": case_id, **asked, "assertions": [*found.assertions]}
        fields["rubric"] = None if rubric is None else rubric.to_json()
        reading.add_case(fields, place)
        sample = row.get("sample")
        if isinstance(sample, dict):
            answer = {"text": sample.get("output_text"), "data": sample.get("output_json")}
            row_of_output = {"case_id": case_id, **asked, **answer}
            reading.outputs.append((place, without_nulls(row_of_output)))
    return reading


def _rendered(
    item: JsonObject, found: _Graders, place: KeyPath, text: str, at: KeyPath
) -> JsonValue:
    """The reference of a grader with the fields of an item; any other text as it is."""
    # A judge is shown the item; put into the question, its text could not be fenced.
    if at[-1:] != ("reference",):
        return text

    def put_in(placeholder: re.Match[str]) -> str:
        value: JsonValue = {"item": item}
        for name in placeholder[1].split("."):
            value = as_mapping(value).get(name)
        if value is None:
            found.add(place, f"the item has no `{placeholder[1]}`, which a grader names")
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    return _PLACEHOLDER.sub(put_in, text)


def _take(item: JsonObject, at: KeyPath, found: _Graders, *, weight: float, depth: int) -> None:
    kind = item.get("type")
    if kind == "python":
        reason = "it is code, which is never run from a file of data"
        remedy = "write it as a check of your own (`judgekit.assertions`), or as a script"
        # No answer passes without the check that was lost.
        found.assertions.append(found.not_imported("python", (*at, "source"), reason, remedy))
        return
    if not isinstance(kind, str) or kind not in _MODELS:
        message = f"no grader is of the type {str(kind)[:40]!r}"
        found.add((*at, "type"), message, suggest_name(str(kind)[:40], _MODELS))
        return
    body = {name: value for name, value in item.items() if name != "type"}
    grader = found.record(_MODELS[kind], body, at)
    match grader:
        case _StringCheckGrader() | _TextSimilarityGrader():
            if _PLACEHOLDER.search(grader.reference):
                message = "`reference` is a field of the item that is graded, and there are none"
                found.warn(
                    (*at, "reference"), message, "give them beside, as a run's `data_source`"
                )
            _add_assertion(grader, at, found, weight)
        case _ScoreModelGrader() | _LabelModelGrader():
            _add_criterion(grader, at, found, weight)
        case _MultiGrader():
            _take_all(grader, at, found, weight=weight, depth=depth)


def _add_assertion(
    grader: _StringCheckGrader | _TextSimilarityGrader, at: KeyPath, found: _Graders, weight: float
) -> None:
    checked = _OUTPUT.fullmatch(grader.input)
    if checked is None:
        message = "`input` must be {{sample.output_text}}; what is checked here is the output"
        found.add((*at, "input"), message)
        return
    more: JsonObject = {"path": checked[1], "weight": None if weight == 1 else weight}
    spec: JsonObject = {"value": grader.reference, "description": grader.name}
    spec |= without_nulls(more)
    if isinstance(grader, _StringCheckGrader):
        found.assertions.append({"type": _OPERATIONS[grader.operation], **spec})
        return
    name, measure = grader.evaluation_metric[:40], _METRICS.get(grader.evaluation_metric)
    # The library has ten measures, which give other numbers.
    if name == "fuzzy_match":
        message = f"{name!r} is read as `fuzz.ratio` of rapidfuzz: OpenAI names only the library"
        remedy = "check the threshold on some outputs, or use gleu or rouge_l"
        found.warn((*at, "evaluation_metric"), message, remedy)
    if measure is None:
        remedy = suggest_name(name, _METRICS)
        found.add((*at, "evaluation_metric"), f"no measure is called {name!r}", remedy)
    elif grader.pass_threshold is None or not 0 <= grader.pass_threshold <= 1:
        message = "needs a `pass_threshold` on [0, 1], from which it passes"
        found.add((*at, "pass_threshold"), message)
    else:
        found.assertions.append({**measure, "threshold": grader.pass_threshold, **spec})


def _add_criterion(
    grader: _ScoreModelGrader | _LabelModelGrader, at: KeyPath, found: _Graders, weight: float
) -> None:
    # Judgments are stored by the name of their criterion, so it must be unique.
    if any(criterion.name == grader.name for criterion in found.criteria):
        found.add((*at, "name"), f"two graders are called {grader.name!r}", "rename one")
        return
    # The prompt is a question about the output, which a judge sees beside it.
    texts = [_text(message.content) for message in grader.input]
    whole = "\n\n".join(text for text in texts if text.strip())
    fields: JsonObject = {"name": grader.name, "weight": weight, "required": weight == 1}
    fields["question"] = _PLACEHOLDER.sub(partial(_named, found.shown), whole) or "?"
    if isinstance(grader, _ScoreModelGrader):
        low, high = grader.range
        fields["scale"] = {"min": low, "max": high}
        if grader.pass_threshold is not None and low < high:
            fields["pass_value"] = (grader.pass_threshold - low) / (high - low)
    else:
        # Several labels become two levels, because only passing or not is known of a label.
        passing = [label for label in grader.labels if label in grader.passing_labels]
        failing = [label for label in grader.labels if label not in grader.passing_labels]
        levels: list[JsonValue] = [
            {"value": value, "name": name, "description": f"Its label is {' or '.join(labels)}."}
            for value, name, labels in ((1, "passing", passing), (0, "failing", failing))
        ]
        fields |= {"scale": {"levels": levels}, "pass_value": 1.0}
    try:
        found.criteria.append(Criterion.model_validate(fields))
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        found.add(at, f"the grader {grader.name!r} makes no criterion: {reason}")


def _text(content: JsonValue) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return _text(content.get("text", ""))
    return "\n".join(map(_text, as_items(content)))


def _named(shown: frozenset[str], placeholder: re.Match[str]) -> str:
    path = placeholder.group(1)
    field = path.removeprefix("item.")
    # What a judge is shown under this name.
    known = "the reference" if field in {*_REFERENCES} - shown else f"the {field}"
    return "the output" if path.startswith("sample.") else known


def _take_all(
    grader: _MultiGrader, at: KeyPath, found: _Graders, *, weight: float, depth: int
) -> None:
    weights = _weights(grader.calculate_output)
    if weights is None or depth >= _MAX_DEPTH:
        message = "`calculate_output` is read only as a weighted sum, such as 0.7 * a + 0.3 * b"
        found.add((*at, "calculate_output"), message)
        return
    for name in sorted(weights.keys() - grader.graders.keys()):
        message = f"`calculate_output` names {name!r}, and no grader is called so"
        near = suggest_name(name, grader.graders)
        found.add((*at, "calculate_output"), message, near)
    for name, item in grader.graders.items():
        place = (*at, "graders", name)
        if not isinstance(item, dict):
            found.add(place, "must be a mapping of fields")
        elif name in weights:
            share = weight * weights[name]
            _take(item, place, found, weight=share, depth=depth + 1)
        else:
            message = f"the grader {name!r} has no part in `calculate_output`"
            found.warn(place, message, "add it, or remove the grader")


def _weights(formula: str) -> dict[str, float] | None:
    """The weight of each grader in a formula that is a weighted sum; None for any other."""
    try:
        weights = _linear(ast.parse(formula.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, ArithmeticError):
        return None
    if _CONSTANT in weights or any(not 0 <= weight < math.inf for weight in weights.values()):
        return None
    return weights


def _linear(node: ast.expr) -> dict[str, float]:
    """The factor of each name, and of the constant; a ValueError where it is no sum of these."""
    match node:
        case ast.Name(name):
            return {name: 1.0}
        case ast.Constant(int() | float() as number) if type(number) is not bool:
            return {_CONSTANT: float(number)}
        case ast.BinOp(left, ast.Add(), right):
            one, other = _linear(left), _linear(right)
            return {name: one.get(name, 0) + other.get(name, 0) for name in one | other}
        case ast.BinOp(left, ast.Mult() | ast.Div() as operator, right):
            one, other = _linear(left), _linear(right)
            if isinstance(operator, ast.Mult) and one.keys() == {_CONSTANT}:
                one, other = other, one
            if other.keys() == {_CONSTANT}:
                by = other[_CONSTANT]
                factor = by if isinstance(operator, ast.Mult) else 1 / by
                return {name: value * factor for name, value in one.items()}
    raise ValueError("no weighted sum")


class _MessageSample(SnakeRecord):
    id: str | int | None = None
    input: str | Annotated[tuple[_ChatMessage, ...], Field(min_length=1)]
    ideal: str | tuple[str, ...] | None = None  # a good answer, or several


def read_message_samples(document: ParsedDocument) -> ForeignFile:
    """The samples as cases, called `sample-1`, `sample-2`, … where they have no id."""
    # Several good answers become a list as reference; the output may equal any of them.
    reading = ForeignFile(document)
    value = document.value
    for at, item in reading.objects(one_or_several(value), ()):
        sample = reading.record(_MessageSample, item, at)
        if sample is None:
            continue
        prompt, reference = item["input"], item.get("ideal")
        # A conversation of one message from the user is shown to a judge as plain text.
        if isinstance(prompt, list) and len(prompt) == 1 and not isinstance(sample.input, str):
            only = sample.input[0]
            if isinstance(only.content, str) and only.role == "user" and not only.extra:
                prompt = only.content
        if isinstance(reference, list) and len(reference) == 1:
            reference = reference[0]
        fields: JsonObject = {
            "id": f"sample-{int(at[-1]) + 1}" if sample.id is None else sample.id,
            "input": prompt,
            "reference": reference,
            "metadata": sample.extra,
        }
        reading.add_case(fields, at)
    return reading


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
_PLACE = re.compile(r"\{(\w+)\}")
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
    entries = as_mapping(document.value)
    # The others are names, with a description, of those that have a class.
    declared = {n: v for n, v in entries.items() if isinstance(v, dict) and "class" in v}
    evals = {name: one for name, v in declared.items() if (one := _eval(name, v, reading))}
    reading.header = {"name": next(iter(evals), document.path.stem)}
    for name, one in evals.items():
        check = _CHECKS.get(one.kind.rpartition(":")[2])
        rubric = None if check else _graded_by(name, one, reading)
        for case in _samples(name, one, reading) if check or rubric else ():
            case_id = f"{name}-{case.id}" if len(evals) > 1 else case.id
            fields: JsonObject = {**case.to_json(), "id": case_id, "tags": [name], "rubric": rubric}
            if check is not None:
                ideals = one_or_several(case.reference)
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


def _graded_by(name: str, one: _Eval, reading: ForeignFile) -> JsonValue:
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
    args = as_mapping(one.args.get("modelgraded_spec_args"))
    texts = _SHOWN | {name: str(value) for name, value in args.items()}
    levels: list[JsonValue] = [
        {"name": choice, "value": spec.choice_scores[choice], "description": f"It is {choice}."}
        for choice in spec.choice_strings
    ]
    question = _PLACE.sub(lambda field: texts.get(field[1], field[0]), spec.prompt)
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
