"""Decides what a file is from what it holds: one of judgekit's own kinds or another tool's."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from judgekit.datasets.cases import CASE_ALIASES
from judgekit.datasets.fields import TYPED
from judgekit.datasets.foreign.marks import (
    is_graders,
    is_message_sample,
    is_promptfoo_config,
    is_promptfoo_results,
    is_quality_record,
)
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import JsonValue

    from judgekit.datasets.documents import Document
    from judgekit.datasets.foreign.reading import Reading
    from judgekit.records.case import Dataset

Kind = Literal["suite", "rubric", "cases", "outputs", "replies", "labels"]
"""The kinds of file that are judgekit's own."""

_SUITE_FIELDS = frozenset({"rubric", "judge", "variants", "gate", "assertions"})
_PRODUCED = frozenset(
    {"text", "data", "output", "response", "completion", "trace", "error", "snapshot"}
)
_ASKED = frozenset({"input", *(name for name, own in CASE_ALIASES.items() if own == "input")})


SKILL_TESTS = "skill_tests:read_skill_tests"
"""What reads an `eval/tests.json`, which is a suite too."""

_READERS = "judgekit.datasets.foreign"


@dataclass(frozen=True, slots=True)
class ForeignShape:
    """A file of another tool, and how it becomes a dataset."""

    title: str
    """What it is called in messages."""

    matches: Callable[[dict[str, JsonValue]], bool]
    """Whether an object has this shape; for a list its first item is asked."""

    has_cases: bool = True
    """Whether it describes cases, rather than results."""

    reader: str | None = None
    """What reads it, as `module:function`; imported when such a file is met, for its records take
    long to build. None where the shape is only recognised."""

    in_rows: bool = False
    """Whether it may stand one object a line, too."""

    remedy: str = "it holds results, not cases"
    """What to do with a file that has no cases."""

    def read(self, document: Document) -> Reading:
        """A file of this shape, with all that is wrong with it."""
        if self.reader is None:
            raise self._refusal(document)
        module, _, name = self.reader.partition(":")
        read: Callable[[Document], Reading] = getattr(import_module(f"{_READERS}.{module}"), name)
        return read(document)

    def read_or_refuse(self, document: Document, *, unique: bool = True) -> Dataset:
        """The dataset of a file of this shape."""
        if self.reader is not None and self.has_cases:
            return self.read(document).dataset(unique=unique)
        raise self._refusal(document)

    def _refusal(self, document: Document) -> DatasetError:
        message = f"this is {self.title}; it cannot be loaded as a dataset"
        return DatasetError(message, path=document.path, line=1, hint=self.remedy)


FOREIGN_SHAPES: tuple[ForeignShape, ...] = (
    ForeignShape(
        "a workflow dataset (workflowName, cases)",
        lambda v: {"workflowName", "cases"} <= v.keys(),
        reader="workflow:read_workflow_dataset",
    ),
    ForeignShape(
        "a skill's evals.json (skill, cases with expectations)",
        lambda v: "expectations" in _first(v.get("cases")) or {"skill", "cases"} <= v.keys(),
        reader="skill_evals:read_skill_evals",
    ),
    ForeignShape(
        "an eval/tests.json, version 2 (profile, testCases)",
        lambda v: "testCases" in v,
        reader=SKILL_TESTS,
    ),
    ForeignShape(
        "an eval/tests.json, version 1 (name, input, expectedOutput)",
        lambda v: _is_first_version(v) or _is_first_version(_first(v.get("tests"))),
        reader=SKILL_TESTS,
    ),
    ForeignShape(
        "an object of a quality memory (type, fields)",
        is_quality_record,
        reader="quality_records:read_quality_records",
        in_rows=True,
    ),
    ForeignShape(
        "results of promptfoo",
        is_promptfoo_results,
        has_cases=False,
        reader="promptfoo_results:check_promptfoo_results",
    ),
    ForeignShape(
        "a configuration of promptfoo", is_promptfoo_config, reader="promptfoo:read_promptfoo"
    ),
    ForeignShape(
        "samples with messages (input, ideal)",
        is_message_sample,
        reader="message_samples:read_message_samples",
        in_rows=True,
    ),
    ForeignShape(
        "a grader (type, name, input)",
        is_graders,
        has_cases=False,
        reader="graders:check_graders",
        remedy="it holds criteria and checks, not cases: `judgekit convert FILE --to rubric -o "
        "rubric.yaml` makes a rubric of it",
    ),
    ForeignShape(
        "an export of the judge cache",
        lambda v: {"checksum", "key", "request"} <= v.keys(),
        has_cases=False,
        in_rows=True,
        remedy="it holds replies of judges; read it with `judgekit cache import`",
    ),
    ForeignShape(
        "a history.json of skill versions",
        lambda v: {"versions", "current_version"} <= v.keys(),
        has_cases=False,
        reader="skill_history:check_history",
    ),
    ForeignShape(
        "a grading.json",
        lambda v: {"case_id", "results", "overall_score"} <= v.keys(),
        has_cases=False,
    ),
    ForeignShape(
        "a comparison.json",
        lambda v: {"winner", "reasoning", "scores"} <= v.keys(),
        has_cases=False,
    ),
    ForeignShape(
        "an analysis.json",
        lambda v: {"winner_version", "loser_version"} <= v.keys(),
        has_cases=False,
    ),
)
"""The files of other tools, told apart in this order."""


def foreign_shape(value: JsonValue) -> ForeignShape | None:
    """The other tool's shape a document has."""
    sample = value if isinstance(value, dict) else _first(value)
    return next((shape for shape in FOREIGN_SHAPES if sample and shape.matches(sample)), None)


def foreign_row_shape(fields: dict[str, JsonValue]) -> ForeignShape | None:
    """The other tool's shape a row has."""
    return next(
        (shape for shape in FOREIGN_SHAPES if shape.in_rows and shape.matches(fields)), None
    )


def document_kind(value: JsonValue) -> Kind | None:
    """What a JSON or YAML document is."""
    if isinstance(value, list):
        return row_kind(_first(value))
    if not isinstance(value, dict):
        return None
    if "criteria" in value:
        return "rubric"
    if "dataset" in value or ("cases" in value and _SUITE_FIELDS & value.keys()):
        return "suite"
    if "cases" in value:
        return "cases"
    lists = [item for item in value.values() if isinstance(item, list)]
    return row_kind(_first(lists[0])) if len(lists) == 1 else None


def row_kind(fields: dict[str, JsonValue]) -> Kind | None:
    """What a row is."""
    # A recorded reply is told from an output by its `criterion`, `order` or `repeat`.
    names = {name.removesuffix(TYPED) for name in fields}
    if "annotator" in names:
        return "labels"
    if "text" in names and names & {"criterion", "order", "repeat"}:
        return "replies"
    if names & _PRODUCED or ("answer" in names and "case_id" in names):
        return "outputs"
    if names & _ASKED and names & {"id", "case_id", "reference", "expected"}:
        return "cases"
    return None


def _first(value: JsonValue) -> dict[str, JsonValue]:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return value[0]
    return {}


def _is_first_version(fields: dict[str, JsonValue]) -> bool:
    names = fields.keys()
    return (
        "name" in names
        and "input" in names
        and bool(names & {"expectedOutput", "expectedPatterns"})
    )
