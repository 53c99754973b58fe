"""Holds what the reader needs to know of a criterion: its name and the scores it may get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.prompts.replies.names import fold_name
from judgekit.records.rubric import Criterion, Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_POINTS = 11


@dataclass(frozen=True, slots=True)
class Wanted:
    """A criterion a score is wanted for."""

    name: str
    scale: Scale

    @property
    def is_binary(self) -> bool:
        """Whether the scale runs from 0 to 1."""
        return (self.scale.min, self.scale.max) == (0, 1)

    @property
    def ask(self) -> str:
        """What to answer, as the beginning of a message to the judge."""
        points = self.scale.points
        if points is not None and len(points) <= _MOST_POINTS:
            return f"Give one of {', '.join(f'{p:g}' for p in points)} for {self.name!r}"
        return f"Give a number between {self.scale.min:g} and {self.scale.max:g} for {self.name!r}"


@dataclass(frozen=True, slots=True)
class WantedNames:
    """All criteria scores are wanted for, found by the names a judge writes."""

    criteria: tuple[Wanted, ...]
    folded: Mapping[str, int]
    exact: Mapping[str, int]

    @property
    def single(self) -> bool:
        """Whether there is only one, so that a score need not be named."""
        return len(self.criteria) == 1

    def find(self, name: str) -> int | None:
        """The index of the criterion a name means."""
        found = self.exact.get(name)
        return self.folded.get(fold_name(name)) if found is None else found


def wanted_names(criteria: Sequence[Criterion | Mapping[str, object]]) -> WantedNames:
    """Criteria as the reader uses them."""
    wanted = tuple(_wanted(criterion) for criterion in criteria)
    exact = {criterion.name: index for index, criterion in enumerate(wanted)}
    folds = [fold_name(criterion.name) for criterion in wanted]
    folded = {fold: index for index, fold in enumerate(folds) if folds.count(fold) == 1}
    return WantedNames(wanted, folded, exact)


def _wanted(criterion: Criterion | Mapping[str, object]) -> Wanted:
    if isinstance(criterion, Criterion):
        return Wanted(criterion.name, criterion.scale)
    name, scale = criterion.get("name"), criterion.get("scale", criterion)
    if not isinstance(name, str):
        raise ValueError(f"a criterion needs a name: {dict(criterion)!r}")  # noqa: TRY004 - a value of the mapping
    if isinstance(scale, Scale):
        return Wanted(name, scale)
    ends = scale if isinstance(scale, Mapping) else {}
    if "min" not in ends or "max" not in ends:
        raise ValueError(f"criterion {name!r} needs min and max")
    known = {key: value for key, value in ends.items() if key in Scale.model_fields}
    return Wanted(name, Scale.model_validate(known))
