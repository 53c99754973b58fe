"""Records by key that are in a temporary file where they are many."""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterator, MutableMapping
from functools import cached_property
from os import SEEK_END
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, TypeVar

from judgekit.records.encoding import read_record, record_text
from judgekit.records.record import Record

_KeyT = TypeVar("_KeyT", bound=Hashable)
_RecordT = TypeVar("_RecordT", bound=Record)
# Two kilobytes each, so that a run of ordinary size never touches the disk.
_MOST_IN_MEMORY = 4096


class SpooledRecords(MutableMapping[_KeyT, _RecordT]):
    """Records by key, in the order they came; after the first thousands only keys are in memory.

    Reading one of the others takes about ten microseconds. Threads may share it.
    """

    def __init__(self, kind: type[_RecordT]) -> None:
        self._kind = kind
        # The record, or the byte at which its line begins
        self._places: dict[_KeyT, _RecordT | int] = {}
        self._lock = Lock()

    @cached_property
    def _file(self) -> IO[bytes]:
        file = TemporaryFile()  # noqa: SIM115 - closed when these records are not used any more
        weakref.finalize(self, file.close)
        return file

    def __setitem__(self, key: _KeyT, record: _RecordT) -> None:
        known = self._places.get(key)
        if len(self._places) < _MOST_IN_MEMORY or isinstance(known, Record):
            self._places[key] = record
            return
        line = record_text(record).encode() + b"\n"  # JSON has no line breaks in it
        with self._lock:
            self._places[key] = self._file.seek(0, SEEK_END)
            self._file.write(line)

    def __getitem__(self, key: _KeyT) -> _RecordT:
        place = self._places[key]
        if not isinstance(place, int):
            return place
        with self._lock:
            self._file.seek(place)
            line = self._file.readline()
        return read_record(self._kind, line.decode())

    def __delitem__(self, key: _KeyT) -> None:
        del self._places[key]

    def __iter__(self) -> Iterator[_KeyT]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: object) -> bool:
        return key in self._places
