"""The grader specs of OpenAI's evals, field for field as they have them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from judgekit.datasets.foreign.shape import SnakeRecord
from judgekit.records.record import Finite, Name  # noqa: TC001 - pydantic reads it


class StringCheck(SnakeRecord):
    """Compares two texts."""

    name: Name
    """Its name."""

    input: str
    """What is compared; `{{sample.output_text}}` is the output."""

    reference: str
    """What it is compared with."""

    operation: Literal["eq", "ne", "like", "ilike"]
    """How."""


class TextSimilarity(SnakeRecord):
    """Measures how alike two texts are."""

    name: Name
    """Its name."""

    input: str
    """What is compared."""

    reference: str
    """What it is compared with."""

    evaluation_metric: str
    """How it is measured."""

    pass_threshold: Finite | None = None
    """The similarity from which it passes."""


class Prompt(SnakeRecord):
    """One message to the model that grades."""

    role: Name
    """Who says it."""

    content: JsonValue
    """What is said."""


class ScoreModel(SnakeRecord):
    """Asks a model for a score."""

    name: Name
    """Its name."""

    input: Annotated[tuple[Prompt, ...], Field(min_length=1)]
    """The messages."""

    model: str | None = None
    """The model asked; here the suite names the judge."""

    sampling_params: JsonValue = None
    """How it is asked."""

    range: tuple[Finite, Finite] = (0.0, 1.0)
    """The worst and the best score."""

    pass_threshold: Finite | None = None
    """The score from which it passes, on its range."""


class LabelModel(SnakeRecord):
    """Asks a model for a label."""

    name: Name
    """Its name."""

    input: Annotated[tuple[Prompt, ...], Field(min_length=1)]
    """The messages."""

    model: str | None = None
    """The model asked; here the suite names the judge."""

    sampling_params: JsonValue = None
    """How it is asked."""

    labels: Annotated[tuple[Name, ...], Field(min_length=2)]
    """The labels there are."""

    passing_labels: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Those with which it passes."""


class Multi(SnakeRecord):
    """Combines graders."""

    name: Name | None = None
    """Its name; the graders in it have names of their own."""

    graders: dict[str, JsonValue]
    """The graders, by the name the sum has for them."""

    calculate_output: str
    """How they are combined."""
