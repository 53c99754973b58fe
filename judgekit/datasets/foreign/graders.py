"""Reads OpenAI's grader specs as assertions and criteria."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import ValidationError

from judgekit.datasets.documents import read_document
from judgekit.datasets.faults import suggestion
from judgekit.datasets.foreign.grader_format import (
    LabelModel,
    Multi,
    Prompt,
    ScoreModel,
    StringCheck,
    TextSimilarity,
)
from judgekit.datasets.foreign.reading import Reading
from judgekit.records.rubric import Criterion, Rubric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.datasets.documents import Document
    from judgekit.datasets.foreign.shape import SnakeRecord
    from judgekit.datasets.json_text import KeyPath
    from judgekit.records.record import JsonObject

_MODELS: Mapping[str, type[SnakeRecord]] = {
    "string_check": StringCheck,
    "text_similarity": TextSimilarity,
    "score_model": ScoreModel,
    "label_model": LabelModel,
    "multi": Multi,
}
_CODE = "python"
_OPERATIONS = {"eq": "equals", "ne": "not-equals", "like": "contains", "ilike": "icontains"}
_METRICS: Mapping[str, JsonObject] = {
    "bleu": {"type": "bleu"},
    "cosine": {"type": "similar"},
    "meteor": {"type": "meteor"},
    "rouge_l": {"type": "rouge-l"},
    **{f"rouge_{n}": {"type": "rouge-n", "n": n} for n in range(1, 6)},
}
_NO_METRICS = frozenset({"fuzzy_match", "gleu"})
_OUTPUT = re.compile(r"\s*\{\{\s*sample\.output_text\s*\}\}\s*")
_PLACEHOLDER = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")
_NUMBER = r"\d+(?:\.\d+)?"
_TERM = re.compile(rf"\s*(?:({_NUMBER})\s*\*\s*)?([A-Za-z_]\w*)(?:\s*\*\s*({_NUMBER}))?\s*")
_MAX_DEPTH = 5


@dataclass(frozen=True, slots=True)
class Graders:
    """What grader specs come to."""

    assertions: tuple[JsonObject, ...]
    """Those that need no model; a value may hold `{{item.name}}`, a field of the item graded."""

    rubric: Rubric | None
    """Those that ask a model, a criterion each; None where there are none."""


@dataclass(slots=True)
class _Found:
    reading: Reading
    assertions: list[JsonObject] = field(default_factory=list)
    criteria: list[Criterion] = field(default_factory=list)


def read_graders(path: Path | str) -> Graders:
    """The graders of a file."""
    found = _read(read_document(path))
    found.reading.refuse_errors()
    rubric = None
    if found.criteria:
        weighs = any(criterion.weight > 0 for criterion in found.criteria)
        criteria = found.criteria if weighs else [_weighed(c, 1.0) for c in found.criteria]
        rubric = Rubric(
            name=found.reading.document.path.stem or "graders", criteria=tuple(criteria)
        )
    return Graders(tuple(found.assertions), rubric)


def check_graders(document: Document) -> Reading:
    """What is wrong with a file of graders."""
    return _read(document).reading


def _read(document: Document) -> _Found:
    found = _Found(Reading(document))
    value = document.value
    if isinstance(value, dict) and "testing_criteria" in value:
        items = found.reading.objects(value["testing_criteria"], ("testing_criteria",))
    elif isinstance(value, dict):
        items = iter([((), value)])
    else:
        items = found.reading.objects(value, ())
    for at, item in items:
        _take(item, at, found, weight=1.0, depth=0)
    return found


def _take(item: JsonObject, at: KeyPath, found: _Found, *, weight: float, depth: int) -> None:
    kind = item.get("type")
    if kind == _CODE:
        message = "a python grader holds code, which is never run from a file of data"
        remedy = "write it as a check of your own (`judgekit.assertions`), or as a script"
        found.reading.add((*at, "source"), message, remedy)
        return
    if not isinstance(kind, str) or kind not in _MODELS:
        message = f"no grader is of the type {str(kind)[:40]!r}"
        found.reading.add((*at, "type"), message, suggestion(str(kind)[:40], _MODELS))
        return
    body = {name: value for name, value in item.items() if name != "type"}
    grader = found.reading.record(_MODELS[kind], body, at)
    match grader:
        case StringCheck() | TextSimilarity():
            _add_assertion(grader, at, found, weight)
        case ScoreModel() | LabelModel():
            _add_criterion(grader, at, found, weight)
        case Multi():
            _take_all(grader, at, found, weight=weight, depth=depth)


def _add_assertion(
    grader: StringCheck | TextSimilarity, at: KeyPath, found: _Found, weight: float
) -> None:
    if not _OUTPUT.fullmatch(grader.input):
        message = "`input` must be {{sample.output_text}}; what is checked here is the output"
        found.reading.add((*at, "input"), message)
        return
    spec: JsonObject = {"value": grader.reference, "description": grader.name}
    if weight != 1:
        spec["weight"] = weight
    if isinstance(grader, StringCheck):
        found.assertions.append({"type": _OPERATIONS[grader.operation], **spec})
        return
    measure = _METRICS.get(grader.evaluation_metric)
    if measure is None:
        found.reading.add((*at, "evaluation_metric"), *_no_measure(grader.evaluation_metric[:40]))
    elif grader.pass_threshold is None or not 0 <= grader.pass_threshold <= 1:
        message = "needs a `pass_threshold` on [0, 1], from which it passes"
        found.reading.add((*at, "pass_threshold"), message)
    else:
        found.assertions.append({**measure, "threshold": grader.pass_threshold, **spec})


def _no_measure(name: str) -> tuple[str, str]:
    if name in _NO_METRICS:
        return f"the measure {name!r} has no counterpart here", "use bleu or rouge_l"
    return f"no measure is called {name!r}", suggestion(name, _METRICS)


def _add_criterion(
    grader: ScoreModel | LabelModel, at: KeyPath, found: _Found, weight: float
) -> None:
    if any(criterion.name == grader.name for criterion in found.criteria):
        found.reading.add((*at, "name"), f"two graders are called {grader.name!r}", "rename one")
        return
    fields: JsonObject = {"name": grader.name, "weight": weight, "required": weight == 1}
    fields["question"] = _question(grader.input)
    fields |= _scored(grader) if isinstance(grader, ScoreModel) else _labelled(grader)
    try:
        found.criteria.append(Criterion.model_validate(fields))
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        found.reading.add(at, f"the grader {grader.name!r} makes no criterion: {reason}")


def _scored(grader: ScoreModel) -> JsonObject:
    low, high = grader.range
    found: JsonObject = {"scale": {"min": low, "max": high}}
    if grader.pass_threshold is not None and low < high:
        found["pass_value"] = (grader.pass_threshold - low) / (high - low)
    return found


def _labelled(grader: LabelModel) -> JsonObject:
    passing = [label for label in grader.labels if label in grader.passing_labels]
    failing = [label for label in grader.labels if label not in grader.passing_labels]
    levels: list[JsonValue] = [
        {"value": 1, "name": "passing", "description": f"Its label is {' or '.join(passing)}."},
        {"value": 0, "name": "failing", "description": f"Its label is {' or '.join(failing)}."},
    ]
    return {"scale": {"levels": levels}, "pass_value": 1.0}


def _question(messages: Iterable[Prompt]) -> str:
    """The prompt as a question about the output, which a judge is shown beside it."""
    texts = [_text(message.content) for message in messages]
    whole = "\n\n".join(text for text in texts if text.strip())
    return _PLACEHOLDER.sub(_named, whole) or "?"


def _text(content: JsonValue) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return _text(content.get("text", ""))
    return "\n".join(_text(part) for part in content) if isinstance(content, list) else ""


def _named(placeholder: re.Match[str]) -> str:
    path = placeholder.group(1)
    return "the output" if path.startswith("sample.") else f"the {path.removeprefix('item.')}"


def _take_all(grader: Multi, at: KeyPath, found: _Found, *, weight: float, depth: int) -> None:
    weights = _weights(grader.calculate_output)
    if weights is None or depth >= _MAX_DEPTH:
        message = "`calculate_output` is read only as a weighted sum, such as 0.7 * a + 0.3 * b"
        found.reading.add((*at, "calculate_output"), message)
        return
    for name in sorted(weights.keys() - grader.graders.keys()):
        message = f"`calculate_output` names {name!r}, and no grader is called so"
        near = suggestion(name, grader.graders)
        found.reading.add((*at, "calculate_output"), message, near)
    for name, item in grader.graders.items():
        place = (*at, "graders", name)
        if not isinstance(item, dict):
            found.reading.add(place, "must be a mapping of fields")
        elif name in weights:
            share = weight * weights[name]
            _take(item, place, found, weight=share, depth=depth + 1)
        else:
            message = f"the grader {name!r} has no part in `calculate_output`"
            found.reading.warn(place, message, "add it, or remove the grader")


def _weights(formula: str) -> dict[str, float] | None:
    weights: dict[str, float] = {}
    for term in formula.split("+"):
        match = _TERM.fullmatch(term)
        if match is None or (match.group(1) and match.group(3)) or match.group(2) in weights:
            return None
        weights[match.group(2)] = float(match.group(1) or match.group(3) or 1)
    return weights


def _weighed(criterion: Criterion, weight: float) -> Criterion:
    return criterion.model_copy(update={"weight": weight})
