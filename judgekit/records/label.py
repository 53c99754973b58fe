"""What a person is asked to judge, and what people said of outputs."""

from __future__ import annotations

from typing import Self

from pydantic import AwareDatetime, model_validator

from judgekit.records.record import Count, Finite, Fraction, JsonObject, Name, Record
from judgekit.records.run import ItemKey


class Label(Record):
    """What one person said of one output, or of two."""

    case_id: Name
    """The case."""

    variant: Name | None = None
    """The variant; may be left out where there is only one."""

    criterion: Name | None = None
    """The criterion; may be left out where there is only one, or for the whole."""

    repeat: Count | None = None
    """Which of the variant's answers, from 0; may be left out where there is one."""

    annotator: Name | None = None
    """Who said it; None where the file does not say."""

    raw: Finite | Name | None = None
    """The score on the criterion's own scale, or the name of one of its levels (`good`, `yes`,
    `pass`); None where the person gave none."""

    winner: Name | None = None
    """Of two outputs the better one: `a`, `b`, `tie`, or the name of its variant."""

    rationale: Name | None = None
    """Why."""

    confidence: Fraction | None = None
    """How sure the person was."""

    metadata: JsonObject | None = None
    """Whatever else is known of the item; groups can be formed by it."""

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if self.raw is not None and self.winner is not None:
            raise ValueError("a label has `raw` or `winner`, not both")
        return self

    @property
    def is_missing(self) -> bool:
        """Whether the person gave neither a score nor a winner."""
        return self.raw is None and self.winner is None


class HumanItem(Record):
    """One criterion of one output that waits for a person's judgment (S0.13)."""

    run_id: Name
    """The run."""

    key: ItemKey
    """The answer that is to be judged."""

    criterion: Name
    """Name of the criterion."""

    judge: Name = "human"
    """The judge of the panel whose place the person takes."""

    repeat: Count = 0
    """Which time the judge is asked, from 0."""

    asked_at: AwareDatetime
    """When it was put in the queue (UTC)."""

    answered_at: AwareDatetime | None = None
    """When a person judged it (UTC); None while it waits."""
