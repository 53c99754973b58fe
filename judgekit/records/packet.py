"""The record of a labelling packet: the items annotators were given, and what each stands for.

The items that an annotator gets have ids that say nothing; this record is their key, and stays in
the store.
"""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field, PositiveFloat

from judgekit.records.comparison import PresentationOrder
from judgekit.records.judgment import Label
from judgekit.records.record import Count, Name, Record
from judgekit.records.rubric import Rubric

CHOSEN_FIELD = "chosen"
"""The key, in the metadata of a label, of how its item was chosen."""


class PacketItem(Record):
    """One output, or one pair of outputs, and the id under which annotators see it."""

    id: Name
    case_id: Name
    variant: Name | None = None
    """The variant of a single output; of a pair see `LabelPacket.variants`."""

    repeat: Count = 0
    order: PresentationOrder | None = None
    """Of a pair, which side was shown first."""

    chosen: Literal["random", "informative"] = "random"
    """Whether it was drawn, or chosen because its label helps calibration most."""

    probability: PositiveFloat | None = Field(default=None, le=1)
    """The chance that it was drawn; None for one that was not drawn, so that rates over drawn items
    can be weighted by its inverse."""

    repeats: Name | None = None
    """The item that it shows once more, to measure how an annotator agrees with themselves."""


class LabelPacket(Record):
    """What was given to annotators, and from which run or comparison it came."""

    id: Name
    source: Name
    """The id of the run or the comparison."""

    made_at: AwareDatetime
    seed: int = 0
    criteria: tuple[Name, ...]
    """The criteria that are asked about; empty where a pair is judged as a whole."""

    rubric: Rubric | None = None
    variants: tuple[Name, Name] | None = None
    """The variants of sides a and b; None where single outputs are labelled."""

    requires_reason: bool = False
    items: tuple[PacketItem, ...]
    labels: tuple[Label, ...] = ()
    """Answers given in the viewer for which the source has no place: choices between pairs, and
    answers about items that are shown again. Their case is the item's id."""

    @property
    def is_pairwise(self) -> bool:
        """Whether each item is a pair of outputs."""
        return self.variants is not None
