"""Holds the case tables of the pages opened last, and findings, until their results change.

A page has the index of its cases; their full contents are fetched when one is opened, which may be
long after the page was made.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from judgekit.evaluation import SuiteFindings
from judgekit.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.report import CaseTable
    from judgekit.store import RunStore

_MOST_BYTES = 256 * 1024 * 1024
# Sources hold nothing but how to make a page again.
_MOST_SOURCES = 10_000
_BYTES_OF_ROW = 1_000
_NAME_LENGTH = 24
_RUNS_LOOKED_AT = 10

_ResultT = TypeVar("_ResultT")


@dataclass(frozen=True, slots=True)
class CaseSource(Generic[_ResultT]):
    """How a result with its cases is made."""

    path: str
    """The path of its page."""

    state: Callable[[], str]
    """A text that differs after each change of the result."""

    make: Callable[[], tuple[_ResultT, CaseTable]]

    def name(self) -> str:
        """What its cases are called as they are now."""
        return fingerprint([self.path, self.state()])[:_NAME_LENGTH]


@dataclass(slots=True)
class HeldCases:
    """Results with their cases, the last ones that were opened; threads may share it."""

    most_bytes: int = _MOST_BYTES
    _tables: OrderedDict[str, tuple[object, CaseTable]] = field(default_factory=OrderedDict)
    _sources: OrderedDict[str, CaseSource[object]] = field(default_factory=OrderedDict)
    _making: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self, source: CaseSource[_ResultT]) -> tuple[str, _ResultT, CaseTable]:
        """The name of a result's cases, the result and its cases; made where they are not held."""
        name = source.name()
        with self._lock:
            making = self._making.setdefault(name, threading.Lock())
        # Two tabs that open one page wait for each other, and not for other pages.
        with making:
            found = self._held(name)
            if found is None:
                found = source.make()
                self._hold(name, source, found)
        result, table = found
        return name, result, table  # type: ignore[return-value]  # of the same source

    def table(self, name: str) -> CaseTable | None:
        """The cases of this name; None where they have changed since."""
        found = self._held(name)
        if found is not None:
            return found[1]
        with self._lock:
            source = self._sources.get(name)
        if source is None or source.name() != name:
            return None
        return self.open(source)[2]

    def _held(self, name: str) -> tuple[object, CaseTable] | None:
        with self._lock:
            if name in self._tables:
                self._tables.move_to_end(name)
            return self._tables.get(name)

    def _hold(
        self, name: str, source: CaseSource[_ResultT], found: tuple[_ResultT, CaseTable]
    ) -> None:
        with self._lock:
            self._tables[name] = found
            self._sources[name] = source  # type: ignore[assignment]  # whatever its result is
            self._making.pop(name, None)
            while len(self._sources) > _MOST_SOURCES:
                self._sources.popitem(last=False)
            # The one that is being shown stays, however large it is.
            while len(self._tables) > 1 and self._size() > self.most_bytes:
                self._tables.popitem(last=False)

    def _size(self) -> int:
        return sum(map(_size, (table for _, table in self._tables.values())))


class HeldFindings:
    """The findings of each suite, until its runs change; threads may share it.

    Those of a run that did not finish are stored nowhere: each time they follow from all of its
    answers. What a running run finds is looked at when it ends.
    """

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._known: dict[str, tuple[object, SuiteFindings]] = {}
        self._lock = threading.Lock()

    def of(self, suite: str) -> SuiteFindings:
        """The findings of a suite."""
        with self._lock:
            state = self._state(suite)
            known = self._known.get(suite)
            if known is None or known[0] != state:
                known = self._known[suite] = state, SuiteFindings(self._store, suite)
            return known[1]

    def _state(self, suite: str) -> object:
        runs = self._store.runs(suite=suite)
        ended = [run for run in runs if run.status != "running"]
        # Labels change a run after its end, and of old runs nobody labels anything.
        return (
            [(run.id, run.status, run.finished_at) for run in runs],
            [self._store.run_state(run.id) for run in ended[:_RUNS_LOOKED_AT]],
            len(self._store.finding_notes(suite)),
        )


def _size(table: CaseTable) -> int:
    n = table.index["n"]
    rows = n * _BYTES_OF_ROW if isinstance(n, int) else 0
    return rows + sum(map(len, table.chunks))
