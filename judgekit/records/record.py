"""The base class of all records and the types their fields share.

Records are frozen pydantic models that refuse unknown fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A finite number in [0, 1]."""

Finite = Annotated[float, Field(allow_inf_nan=False)]
"""A finite number."""

Count = Annotated[int, Field(ge=0)]
"""A number of things; never negative."""

Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""A relative importance, 0 or more."""

Name = Annotated[str, Field(min_length=1, pattern=r"\S")]
"""A text that is not blank."""

JsonObject = dict[str, JsonValue]
"""A JSON object."""


if TYPE_CHECKING:
    _Read_co = TypeVar("_Read_co", covariant=True)
    _Taken_contra = TypeVar("_Taken_contra", contravariant=True)

    class Coerced(Generic[_Read_co, _Taken_contra]):
        """A field as type checkers see it: the type it is read as, and what a constructor takes."""

        def __get__(self, record: object, owner: object = None) -> _Read_co: ...
        def __set__(self, record: object, value: _Taken_contra) -> None: ...


class Record(BaseModel):
    """A frozen record; unknown fields are errors, so that a misspelt one cannot pass unseen."""

    # Validators are built at first use: no command needs those of all records.
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=False,
        ser_json_inf_nan="null",
        defer_build=True,
    )

    def to_json(self) -> JsonObject:
        """The record as plain JSON types; `type(self).model_validate` reads it back."""
        return self.model_dump(mode="json", exclude_none=True)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other fields; cached properties of the original are not copied."""
        copy = super().model_copy(update=update, deep=deep)
        for name in copy.__dict__.keys() - type(self).model_fields.keys():
            del copy.__dict__[name]
        return copy
