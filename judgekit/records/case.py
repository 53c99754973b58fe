"""The record of a test case, how it is evaluated, and datasets of cases.

`judgekit.datasets` loads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field, PrivateAttr

from judgekit.fingerprint import omit_at_default
from judgekit.records.images import Content, Image, images_in
from judgekit.records.record import Count, Fraction, JsonObject, Name, Record, Weight
from judgekit.records.rubric import Rubric

EvaluationStrategy = Literal[
    "exact_match", "regex_match", "json_schema", "semantic_sim", "llm_judge", "hybrid", "custom"
]
"""How a case is evaluated (S4.2)."""

EvaluationProfileName = Literal["deterministic", "structured", "flexible", "creative", "enterprise"]
"""The kinds of skills (S4.3)."""


class CaseEvaluation(Record):
    """How one case is evaluated, where the case sets it (S4.2)."""

    strategy: EvaluationStrategy | None = None
    """How the answer is compared with the reference or judged; None leaves it to the profile."""

    weights: dict[str, Weight] = Field(default_factory=dict)
    """For `hybrid`: the weight of each strategy, by its name."""

    threshold: Fraction | None = None
    """The value from which the case passes, for strategies with a value between 0 and 1."""

    timeout_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """How long the system under test may take, in seconds."""

    retries: Count = 0
    """How often a case that did not pass is tried again."""

    script: str | None = None
    """For `custom`: the script's path, relative to the dataset's file; runs only where allowed."""


CaseStratum = Literal["simple", "medium", "complex", "very_complex"]


class Case(Record):
    """One thing to be answered."""

    id: Name
    """Stable name of the case; unique in its dataset."""

    input: Content
    """What the system got: a text, a list of chat messages, or any other JSON value."""

    reference: Content = None
    """A good answer, where one is known."""

    context: Content = None
    """Material for the answer (a document, a policy), shown to the judge with the input."""

    name: str | None = None
    """A title for readers."""

    description: str | None = None
    """What the case tests."""

    tags: tuple[str, ...] = ()
    """Groups that are also reported separately."""

    stratum: CaseStratum | None = None
    """How complex the task is; strata are also reported separately."""

    status: Literal["active", "draft", "deprecated"] = "active"
    """Only active cases are run."""

    agent: str | None = None
    """The agent under test."""

    skill: str | None = None
    """The skill under test."""

    prompt_version: str | None = None
    """The version of the prompt under test."""

    assertions: tuple[JsonObject, ...] = ()
    """Deterministic checks of this case, as written in the file."""

    rubric: str | Rubric | None = None
    """A rubric of its own, by name or path or in full; None takes the suite's."""

    evaluation: CaseEvaluation | None = None
    """How the case is evaluated; None takes the suite's strategy."""

    transform: tuple[JsonObject, ...] = ()
    """Steps that an output goes through before it is checked and judged, such as
    `[{"parse_json": true}, {"path": ["answer"]}]`."""

    metadata: JsonObject = Field(default_factory=dict)
    """Further fields of the file (difficulty, priority, author, created_at)."""

    variants: tuple[Name, ...] | None = None
    """The variants that answer it, by their ids; None for all. The others are not asked."""

    _without_defaults = omit_at_default("transform", "variants")

    def is_answered_by(self, variant: str) -> bool:
        """Whether a variant is asked for an answer."""
        return self.variants is None or variant in self.variants

    @property
    def images(self) -> tuple[Image, ...]:
        """The images of its input, context and reference."""
        return images_in(self.input, self.context, self.reference)

    def to_json(self) -> JsonObject:
        """The case as plain JSON types; an input of null is written."""
        whole = super().to_json()
        whole.setdefault("input", None)
        return whole


@dataclass(frozen=True, slots=True)
class CaseSource:
    """Cases in file order, which can be iterated any number of times."""

    name: str
    version: str
    read: Callable[[], Iterator[Case]] = field(repr=False)
    """Iterates from the first case; rows of JSONL, CSV and Parquet are read one at a time."""

    objects: tuple[JsonObject, ...] = field(default=(), repr=False)
    """The objects of the quality memory they are from: `memory_objects`."""

    def __iter__(self) -> Iterator[Case]:
        """Every case, whatever its status."""
        return self.read()

    def count(self) -> int:
        """The number of cases; reads and validates all of them."""
        return sum(1 for _ in self)


class Dataset(Record):
    """Versioned cases."""

    name: Name
    version: str = "1"
    cases: tuple[Case, ...]
    description: str | None = None

    # No field: in a file of judgekit's own it would be an unknown one.
    _memory: tuple[JsonObject, ...] = PrivateAttr(default=())

    def to_json(self) -> JsonObject:
        """The dataset as plain JSON types.

        Returns:
            A dict of JSON types, without the optional fields that are None.
        """
        return {**super().to_json(), "cases": [case.to_json() for case in self.cases]}


def memory_objects(dataset: Dataset) -> tuple[JsonObject, ...]:
    """Of a dataset from a quality memory the memory's objects, without answers; else none."""
    return dataset._memory  # noqa: SLF001 - not of the public record


def with_memory_objects(dataset: Dataset, objects: tuple[JsonObject, ...]) -> Dataset:
    """The same dataset as one that was read from a quality memory with these objects."""
    copy = dataset.model_copy()
    copy._memory = objects  # noqa: SLF001 - of the copy made above
    return copy


def objects_of(objects: Iterable[JsonObject], kind: str) -> Iterator[tuple[str, JsonObject]]:
    """Ids and fields of objects of a quality memory; one without an id is called by its name."""
    for item in objects:
        fields = item.get("fields")
        if item.get("type") == kind and isinstance(fields, dict):
            names = (item.get("id"), fields.get("id"), fields.get("name"))
            yield next((str(name) for name in names if name not in {None, ""}), ""), fields
