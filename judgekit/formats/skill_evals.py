"""Reads and writes `evals.json` (S3.1), workflow datasets (S1.1); reads results (S3.2 to S3.5)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import AwareDatetime, Field, JsonValue

from judgekit.formats.attachments import (
    MAX_CASE_FILES,
    AttachmentError,
    AttachmentReader,
    FolderAttachments,
    MissingAttachmentError,
)
from judgekit.formats.documents import ParsedDocument, read_document
from judgekit.formats.foreign_file import AnyRecord, CamelRecord, ForeignFile, SnakeRecord
from judgekit.formats.skill_tests_schema import OTHER_FIELDS
from judgekit.formats.text import as_items, as_mapping, one_or_several
from judgekit.records import Count, Finite, JsonObject, Name, Rubric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from judgekit.formats.detection import ConversionSource, WrittenCases
    from judgekit.formats.text import KeyPath

PASS_VALUE = 0.5  # score 3 of 1 to 5, from which an expectation is met, on [0, 1]
_KEBAB = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_IN_IDS = re.compile(r"[\W_]+")


class _Expectation(SnakeRecord):
    criterion: Name
    description: Name
    required: bool = False


class _EvalCase(SnakeRecord):
    id: Name
    prompt: str
    files: tuple[str, ...] = ()
    expectations: tuple[_Expectation, ...] = Field(default=())


class _SkillEvals(SnakeRecord):
    version: str | int | float = "1.0"
    skill: str | None = None
    cases: JsonValue = None  # unread: each case is read by itself, so that one fault hides no other


def read_skill_evals(document: ParsedDocument) -> ForeignFile:
    """The cases of an `evals.json`; each has a rubric of its own, a criterion per expectation."""
    # A criterion has the scale from 1 to 5 and is met from score 3; a case passes when every
    # required one is met.
    reading = ForeignFile(document)
    fields = as_mapping(document.value)
    header = reading.record(_SkillEvals, document.value)
    skill = None if header is None else header.skill
    if header is not None:
        # A skill may be named by its path; its last part is the name.
        parts = [part for part in (skill or "").replace("\\", "/").split("/") if part.strip()]
        name = parts[-1] if parts else document.path.stem
        reading.header = {"name": name, "version": str(header.version)}
    # Files are named relative to `evals.json` or to the skill's folder above it; both occur.
    folder = document.path.parent
    readers = (
        AttachmentReader(FolderAttachments(folder)),
        AttachmentReader(FolderAttachments(folder.parent)),
    )
    for at, case in reading.records(_EvalCase, fields.get("cases"), ("cases",)):
        _check_id(case.id, at, reading)
        files = _files(case, at, reading, readers)
        if _can_fail(case, at, reading):
            criteria: list[JsonValue] = [
                {
                    "name": expectation.criterion,
                    "question": expectation.description,
                    "scale": "one_to_five",
                    "required": expectation.required,
                    "pass_value": PASS_VALUE,
                }
                for expectation in case.expectations
            ]
            # The required expectations decide; the others are only reported.
            rubric: JsonObject = {"name": case.id, "criteria": criteria, "pass_threshold": 0.0}
            if own := {one.criterion: one.extra for one in case.expectations if one.extra}:
                rubric["metadata"] = {OTHER_FIELDS: {**own}}
            case_fields: JsonObject = {
                "id": case.id,
                "input": case.prompt,
                "context": {"files": files} if files else None,
                "rubric": rubric,
                "skill": skill,
                "metadata": {**case.extra, "files": [*case.files]} if case.files else case.extra,
            }
            reading.add_case(case_fields, at)
    return reading


def _check_id(name: str, at: KeyPath, reading: ForeignFile) -> None:
    """Warn about an id that is not in kebab-case, which S3 wants and nothing depends on."""
    if name == name.lower() and _KEBAB.fullmatch(name):
        return
    better = _NOT_IN_IDS.sub("-", _HUMP.sub("-", name)).strip("-").lower()
    message = f"the id {name[:80]!r} is not in kebab-case"
    remedy = "small letters and digits, one hyphen between words"
    named = f"call it `{better[:80]}`: {remedy}" if better else f"{remedy}, such as `case-01`"
    reading.warn((*at, "id"), message, named, case_id=name[:80])


def _can_fail(case: _EvalCase, at: KeyPath, reading: ForeignFile) -> bool:
    """Whether the expectations make a rubric under which an output can fail."""
    for index, expectation in enumerate(case.expectations):
        place = (*at, "expectations", index)
        reading.check_description(expectation.description, place, case_id=case.id)
    # Labels become names of criteria, by which judgments are stored.
    labels = [expectation.criterion for expectation in case.expectations]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        message = f"two expectations are called {', '.join(twice)}"
        reading.add((*at, "expectations"), message, "rename one", case_id=case.id)
    if not any(expectation.required for expectation in case.expectations):
        message = "no expectation is required, so the case can never fail"
        remedy = "write `required: true` at what an output must have"
        reading.add((*at, "expectations"), message, remedy, case_id=case.id)
        return False
    return not twice


def _files(
    case: _EvalCase, at: KeyPath, reading: ForeignFile, readers: Sequence[AttachmentReader]
) -> list[JsonValue]:
    if len(case.files) > MAX_CASE_FILES:
        message = f"a case may name {MAX_CASE_FILES} files, not {len(case.files)}"
        reading.add((*at, "files"), message, case_id=case.id)
        return []
    found: list[JsonValue] = []
    for index, name in enumerate(case.files):
        try:
            try:
                found.append(readers[0].take(name))
            except MissingAttachmentError:
                found.append(readers[1].take(name))
        except AttachmentError as error:
            reading.add((*at, "files", index), str(error), error.remedy, case_id=case.id)
    return found


LOWEST_SCORE, HIGHEST_SCORE = 1, 5  # the ends of the scale of gradings and histories


class _SkillVersion(SnakeRecord):
    version: Count
    timestamp: AwareDatetime
    description: str = ""
    git_hash: str | None = None
    path: str | None = None  # the folder with its files, relative to the workspace
    # The mean over all cases, from 1 to 5; None where nothing was graded.
    average_score: Annotated[Finite, Field(ge=LOWEST_SCORE, le=HIGHEST_SCORE)] | None = None


class _SkillHistory(SnakeRecord):
    versions: Annotated[tuple[_SkillVersion, ...], Field(min_length=1)]
    current_version: Count


def read_skill_history(path: Path | str) -> JsonObject:
    """The versions of a skill in a valid `history.json`."""
    reading = check_history(read_document(path))
    reading.refuse_errors()
    return as_mapping(reading.document.value)


def check_history(document: ParsedDocument) -> ForeignFile:
    reading = ForeignFile(document)
    reading.record(_SkillHistory, document.value)
    fields = as_mapping(document.value)
    versions = fields.get("versions")
    numbers: list[JsonValue] = []
    # An invalid version must not hide the faults of the others.
    for index, version in enumerate(as_items(versions)):
        number = as_mapping(version).get("version")
        if isinstance(number, int) and number in numbers:
            reading.add(("versions", index, "version"), f"the version {number} appears twice")
        numbers.append(number)
    current = fields.get("current_version")
    if isinstance(current, int) and current not in numbers:
        known = ", ".join(str(number) for number in numbers[:20])
        message = f"no version has the number {current}"
        reading.add(("current_version",), message, f"known: {known}")
    return reading


Convention = Literal[
    "frontmatter", "description_field", "token_efficiency", "progressive_disclosure",
    "type_alignment",
]  # fmt: skip
CONVENTIONS: tuple[Convention, ...] = get_args(Convention)
"""The conventions in a grading; its keys are fixed."""
# S3 counts an expectation as met from 3 of 5.
PASS_SCORE = 3


class _GradedExpectation(SnakeRecord):
    criterion: Name
    score: Annotated[int, Field(ge=LOWEST_SCORE, le=HIGHEST_SCORE)] | None  # null: not judged
    passed: bool | None
    reasoning: str


class _ConventionCheck(SnakeRecord):
    passed: bool | None
    details: str


class _CheckedClaim(SnakeRecord):
    claim: str
    verified: bool | None
    evidence: str


class _Grading(SnakeRecord):
    case_id: Name
    version: Count
    run: Annotated[int, Field(ge=1)]
    overall_score: Finite | None
    required_score: Finite | None
    results: tuple[_GradedExpectation, ...]
    overall: Literal["pass", "fail"] | None
    convention_compliance: dict[Convention, _ConventionCheck]
    claims: tuple[_CheckedClaim, ...]
    user_notes_summary: str
    eval_feedback: str
    execution_metrics: JsonObject


def check_grading(document: ParsedDocument) -> ForeignFile:
    reading = ForeignFile(document)
    for at, grading in _results(_Grading, reading):
        for index, one in enumerate(grading.results):
            # `passed` is derived: a reader that trusts it must not see another result.
            if one.score is not None and one.passed is not (one.score >= PASS_SCORE):
                message = f"`passed` contradicts the score {one.score}: {PASS_SCORE} and more pass"
                reading.add((*at, "results", index, "passed"), message)
    return reading


def _results(model: type[AnyRecord], reading: ForeignFile) -> Iterator[tuple[KeyPath, AnyRecord]]:
    value = reading.document.value
    for place, item in enumerate(one_or_several(value)):
        at = (place,) if isinstance(value, list) else ()
        record = reading.record(model, item, at)
        if record is not None:
            yield at, record


_DimensionScore = Annotated[int, Field(ge=1, le=10)] | None  # null: not judged


class _SideScores(SnakeRecord):
    A: _DimensionScore
    B: _DimensionScore


class _BlindComparison(SnakeRecord):
    eval_prompt: str
    winner: Literal["A", "B", "tie"] | None
    reasoning: str
    scores: dict[Name, _SideScores]


def check_comparison(document: ParsedDocument) -> ForeignFile:
    reading = ForeignFile(document)
    list(_results(_BlindComparison, reading))  # no field follows from another
    return reading


class _Suggestion(SnakeRecord):
    area: Name
    before: str
    after: str
    reasoning: str


class _ImprovementAnalysis(SnakeRecord):
    winner_version: Name
    loser_version: Name
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    suggestions: tuple[_Suggestion, ...]


def check_analysis(document: ParsedDocument) -> ForeignFile:
    reading = ForeignFile(document)
    for at, one in _results(_ImprovementAnalysis, reading):
        if one.winner_version == one.loser_version:
            reading.add(at, f"the winner and the loser are both {one.winner_version[:80]!r}")
        for index, suggestion in enumerate(one.suggestions):
            # Whoever applies it could not tell what to change.
            if suggestion.before == suggestion.after:
                place = (*at, "suggestions", index)
                reading.add(place, "`before` and `after` are the same, so nothing is suggested")
    return reading


def write_skill_evals(source: ConversionSource) -> WrittenCases:
    cases, dataset = list(source.cases), source.cases
    listed: list[JsonValue] = []
    for case in cases:
        files = case.metadata.get("files")
        rubric = case.rubric if isinstance(case.rubric, Rubric) else None
        other = as_mapping(rubric.metadata.get(OTHER_FIELDS)) if rubric else {}
        fields: JsonObject = {
            "id": case.id,
            "prompt": case.input if isinstance(case.input, str) else str(case.input),
            "files": as_items(files),
            "expectations": [
                {
                    **as_mapping(other.get(c.name)),
                    "criterion": c.name,
                    "description": c.question,
                    "required": c.required,
                }
                for c in (rubric.criteria if rubric else ())
            ],
        }
        rest = {name: item for name, item in case.metadata.items() if name not in fields}
        listed.append({**fields, **rest})
    # A file is about one skill; of cases of several it has the name of the dataset.
    skill = _only({case.skill for case in cases}) or dataset.name
    header: JsonObject = {"version": dataset.version, "skill": skill}
    return {**header, "cases": listed}


def _only(names: set[str | None]) -> str | None:
    return next(iter(names)) if len(names) == 1 else None


# The assertions of the format, with the fields each needs. Other types pass through, and are
# checked when they run.
_NEEDS: dict[str, tuple[str, ...]] = {
    "output.contains": ("path", "value"),
    "output.equals": ("path", "value"),
    "metric.latency_ms.max": ("value",),
    "metric.total_cost_usd.max": ("value",),
    "metric.tokens.input.max": ("value",),
    "metric.tokens.output.max": ("value",),
    "behavior.no_errors": (),
    "behavior.node_executed": ("nodeId",),
    "behavior.node_invocations.max": ("nodeId", "value"),
}

# Results are kept in files named after cases; `.` and `..` are folders.
_FILE_NAME = re.compile(r"\w[\w.-]{0,98}\w|\w")


class _WorkflowCase(CamelRecord):
    id: Name
    name: str | None = None
    input: JsonValue
    assertions: tuple[JsonObject, ...] = ()
    tags: tuple[str, ...] = ()


class _WorkflowDataset(CamelRecord):
    id: Name
    workflow_name: Name
    version: str
    cases: JsonValue = None  # unread, as in `_SkillEvals`


def read_workflow_dataset(document: ParsedDocument) -> ForeignFile:
    """The cases of a workflow dataset; the workflow's name is each case's `agent`."""
    reading = ForeignFile(document)
    header = reading.record(_WorkflowDataset, document.value)
    fields = as_mapping(document.value)
    if header is not None:
        reading.header = {"name": header.id, "version": header.version}
    workflow = fields.get("workflowName")
    for at, case in reading.records(_WorkflowCase, fields.get("cases"), ("cases",)):
        if not _FILE_NAME.fullmatch(case.id):
            message = f"the id {case.id[:80]!r} cannot be the name of a file"
            remedy = "use letters, digits, hyphens, dots and underscores, at most 100"
            reading.add((*at, "id"), message, remedy, case_id=case.id[:80])
        _check_assertions(case, at, reading)
        known = case.model_dump(mode="json", include={*_WorkflowCase.model_fields})
        agent = workflow if isinstance(workflow, str) else None
        reading.add_case({**known, "agent": agent, "metadata": case.extra}, at)
    return reading


def _check_assertions(case: _WorkflowCase, at: KeyPath, reading: ForeignFile) -> None:
    if not case.assertions:
        message = "the case has no assertions, so it cannot fail"
        remedy = "add one, for example {type: behavior.no_errors}, or grade it with a rubric"
        reading.warn(at, message, remedy, case_id=case.id)
    for index, assertion in enumerate(case.assertions):
        where = (*at, "assertions", index)
        named = assertion.get("type")
        if not isinstance(named, str):
            remedy = "for example `output.contains`"
            reading.add(where, "an assertion needs a `type`", remedy, case_id=case.id)
            continue
        for name in _NEEDS.get(named, ()):
            if name not in assertion:
                message = f"`{named}` needs the field `{name}`"
                reading.add(where, message, case_id=case.id)


def write_workflow_dataset(source: ConversionSource) -> WrittenCases:
    cases, dataset = list(source.cases), source.cases
    listed: list[JsonValue] = []
    for case in cases:
        fields: JsonObject = {"id": case.id, "input": case.input, "assertions": [*case.assertions]}
        if case.name is not None:
            fields["name"] = case.name
        if case.tags:
            fields["tags"] = [*case.tags]
        # Metadata under these names would overwrite the fields of the format.
        own = {*fields, "name", "tags"}
        listed.append({**{k: v for k, v in case.metadata.items() if k not in own}, **fields})
    workflow = _only({case.agent for case in cases}) or dataset.name
    header: JsonObject = {"id": dataset.name, "workflowName": workflow, "version": dataset.version}
    return {**header, "cases": listed}
