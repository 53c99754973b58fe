"""What records of other tools' files have in common: camelCase names, and nothing is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from judgekit.records.record import JsonObject, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.datasets.json_text import KeyPath


class CamelRecord(Record):
    """A part of another tool's file; fields that are not known are kept as they came."""

    model_config = ConfigDict(
        frozen=True, extra="allow", alias_generator=to_camel, defer_build=True
    )

    additions: ClassVar[frozenset[str]] = frozenset()
    """Names beyond the format that judgekit writes itself."""

    @property
    def extra(self) -> JsonObject:
        """The fields that are not known, as they came."""
        return dict(self.model_extra or {})

    def as_given(self) -> JsonObject:
        """The record under the file's own names, with the fields that were given."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class SnakeRecord(Record):
    """As `CamelRecord`, for files with names_like_this."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    @property
    def extra(self) -> JsonObject:
        """The fields that are not known, as they came."""
        return dict(self.model_extra or {})


def unknown_fields(
    record: CamelRecord | SnakeRecord, at: KeyPath = ()
) -> Iterator[tuple[KeyPath, tuple[str, ...]]]:
    """The fields of a record, and of the records in it, that are not known."""
    fields = type(record).model_fields
    known = tuple(field.alias or name for name, field in fields.items())
    own = record.additions if isinstance(record, CamelRecord) else frozenset()
    for name in record.extra:
        if name not in own:
            yield (*at, name), known
    for name, field in fields.items():
        value = getattr(record, name)
        place = (*at, field.alias or name)
        if isinstance(value, CamelRecord | SnakeRecord):
            yield from unknown_fields(value, place)
        for index, item in enumerate(value if isinstance(value, tuple) else ()):
            if isinstance(item, CamelRecord | SnakeRecord):
                yield from unknown_fields(item, (*place, index))
