"""Holds the documents of the pages opened last, and findings, until their results change.

A page has the index of its cases; their full contents are fetched when one is opened, which may be
long after the page was made.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from typing import TYPE_CHECKING

from judgekit.evaluation import SuiteFindings
from judgekit.fingerprint import fingerprint
from judgekit.report import case_table_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.report import CaseTable, Document
    from judgekit.store import RunStore

_MOST_BYTES = 256 * 1024 * 1024
_BYTES_OF_ROW = 1_000
_NAME_LENGTH = 24
_RUNS_LOOKED_AT = 10


class DocumentCache:
    """The documents of results that were opened last, with their cases; threads may share it."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._known: OrderedDict[str, Document] = OrderedDict()
        self._making: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()

    def open(self, path: str, state: object, make: Callable[[], Document]) -> Document:
        """The document of a path, made where it is not held.

        The `state` is JSON that differs after each change of the result.
        """
        name = fingerprint([path, state])[:_NAME_LENGTH]
        with self._lock:
            making = self._making[name]
        # Two tabs that open one page wait for each other, and not for other pages.
        with making:
            found = self._known.get(name) or make()
        with self._lock:
            self._known[name] = found
            self._known.move_to_end(name)
            self._making.pop(name, None)
            # The one that is being shown stays, however large it is.
            while len(self._known) > 1 and self._n_bytes() > self._most_bytes:
                self._known.popitem(last=False)
        return found

    def name_of(self, document: Document) -> str:
        """The name by which the cases of a document are fetched; empty where it is not held."""
        with self._lock:
            return next((name for name, one in self._known.items() if one is document), "")

    def table(self, name: str) -> CaseTable | None:
        """The cases of the document of this name, where they are still held."""
        with self._lock:
            found = self._known.get(name)
        return None if found is None else case_table_of(found)

    def _n_bytes(self) -> int:
        tables = [table for one in self._known.values() if (table := case_table_of(one))]
        n_rows = sum(int(str(table.index["n"])) for table in tables)
        return n_rows * _BYTES_OF_ROW + sum(len(part) for one in tables for part in one.chunks)


class FindingsCache:
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
        ended = [run.id for run in runs if run.status != "running"]
        # Labels change a run after its end, and of old runs nobody labels anything.
        states = [self._store.run_state(name) for name in ended[:_RUNS_LOOKED_AT]]
        n_notes = len(self._store.finding_notes(suite))
        return [(run.id, run.status, run.finished_at) for run in runs], states, n_notes
