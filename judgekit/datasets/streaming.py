"""Cases one at a time, as often as wanted: a source, and what is chosen of it, in file order."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from judgekit.datasets.loading import iter_cases, load_dataset, no_cases, table_name
from judgekit.datasets.opening import is_whole
from judgekit.datasets.suite import Suite
from judgekit.datasets.texts import as_path
from judgekit.errors import SettingsError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from judgekit.records.case import Case


@dataclass(frozen=True, slots=True)
class CaseSource:
    """Cases that can be gone through any number of times, in file order."""

    name: str
    """Name of the dataset."""

    version: str
    """The version its owner gives it."""

    read: Callable[[], Iterator[Case]] = field(repr=False)
    """Begins at the first case; of rows in JSONL, CSV and Parquet it holds one at a time."""

    def __iter__(self) -> Iterator[Case]:
        """Every case, whatever its status."""
        return self.read()

    def count(self) -> int:
        """How many there are; reads all of them, so that they are known to be sound."""
        return sum(1 for _ in self)


@dataclass(frozen=True, slots=True)
class Tally:
    """What a selection takes of its source, and what it leaves out."""

    n_chosen: int
    """Cases that are taken."""

    n_draft: int = 0
    """Cases left out because they are drafts."""

    n_deprecated: int = 0
    """Cases left out because they are deprecated."""

    n_filtered: int = 0
    """Active cases left out by their tags, id or name."""

    n_undrawn: int = 0
    """Cases that pass the filters and were not drawn, or stand after the limit."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which active cases are wanted."""

    tags: frozenset[str] = frozenset()
    """Only cases with one of these tags; empty for all."""

    ids: frozenset[str] = frozenset()
    """Only these cases; empty for all."""

    name: re.Pattern[str] | None = None
    """Only cases in whose name it is found; of a case without a name the id is taken."""

    def take(self, case: Case) -> bool:
        """Whether a case passes, its status left aside."""
        if self.tags and not self.tags.intersection(case.tags):
            return False
        if self.ids and case.id not in self.ids:
            return False
        return self.name is None or self.name.search(case.name or case.id) is not None


@dataclass(slots=True)
class Selection:
    """The active cases of a source that pass the filters, drawn and limited; in file order.

    Of the source it keeps the places of a sample, no cases.
    """

    source: CaseSource
    """Where the cases come from."""

    filters: Filters = Filters()
    """Which are wanted."""

    sample: int | None = None
    """So many, drawn at random; None for all."""

    seed: int = 0
    """Seed of the drawing; the same seed draws the same cases."""

    limit: int | None = None
    """Only the first so many, after the drawing."""

    _drawn: frozenset[int] | None = field(default=None, init=False, repr=False)

    @property
    def name(self) -> str:
        """Name of the dataset."""
        return self.source.name

    @property
    def version(self) -> str:
        """The version its owner gives it."""
        return self.source.version

    def __iter__(self) -> Iterator[Case]:
        """The chosen cases; a sample goes through the source once more, the first time."""
        chosen = self._passing()
        if self.sample is not None:
            drawn = self._places(self.sample)
            chosen = (case for place, case in enumerate(chosen) if place in drawn)
        return islice(chosen, self.limit)

    def count(self) -> int:
        """How many are chosen; reads the whole source, so that it is known to be sound."""
        return self.tally().n_chosen

    def tally(self) -> Tally:
        """How many are chosen, and how many left out for which reason; reads the whole source."""
        n_all = n_draft = n_deprecated = n_passing = 0
        unseen = set(self.filters.ids)
        for case in self.source:
            n_all += 1
            unseen.discard(case.id)
            n_draft += case.status == "draft"
            n_deprecated += case.status == "deprecated"
            n_passing += case.status == "active" and self.filters.take(case)
        self._refuse_unseen(unseen)
        n_chosen = n_passing if self.sample is None else min(n_passing, self.sample)
        n_chosen = n_chosen if self.limit is None else min(n_chosen, self.limit)
        return Tally(
            n_chosen=n_chosen,
            n_draft=n_draft,
            n_deprecated=n_deprecated,
            n_filtered=n_all - n_draft - n_deprecated - n_passing,
            n_undrawn=n_passing - n_chosen,
        )

    def _passing(self) -> Iterator[Case]:
        unseen = set(self.filters.ids)
        for case in self.source:
            unseen.discard(case.id)
            if case.status == "active" and self.filters.take(case):
                yield case
        self._refuse_unseen(unseen)

    def _refuse_unseen(self, unseen: Collection[str]) -> None:
        if unseen:
            # Only now all ids are wanted, for the near ones.
            raise UnknownNameError("case", min(unseen), (case.id for case in self.source))

    def _places(self, size: int) -> frozenset[int]:
        if self._drawn is None:
            self._drawn = drawn_places(sum(1 for _ in self._passing()), size, self.seed)
        return self._drawn


def open_cases(
    source: Path | str | Suite, *, columns: Mapping[str, str] | None = None
) -> CaseSource:
    """The cases of a file or a suite."""
    # Rows in JSONL, CSV, TSV and Parquet are read anew each time, one in memory at a time, and of
    # all of them only the ids are kept. A JSON or YAML document, another tool's file and the cases
    # of a suite are read once and kept.
    if isinstance(source, Suite):
        return _suite_cases(source, columns)
    path = as_path(source)
    if not is_whole(path):
        return CaseSource(
            table_name(path), "1", lambda: _some(iter_cases(path, columns=columns), path)
        )
    dataset = load_dataset(path, columns=columns, unique=True)
    return CaseSource(dataset.name, dataset.version, lambda: iter(dataset.cases))


def select(
    source: CaseSource,
    *,
    tags: Iterable[str] = (),
    ids: Iterable[str] = (),
    name_pattern: str | None = None,
    sample: int | None = None,
    seed: int = 0,
    limit: int | None = None,
) -> Selection:
    """Choose cases: active ones that pass every filter, then a sample, then the first of it."""
    for what, number in (("sample", sample), ("limit", limit)):
        if number is not None and number < 1:
            raise SettingsError(f"the {what} must be 1 or more, not {number}")
    try:
        name = None if name_pattern is None else re.compile(name_pattern)
    except re.error as error:
        message = f"{name_pattern!r} is not a regular expression: {error}"
        raise SettingsError(message, hint="write \\ before a sign that means itself") from error
    filters = Filters(frozenset(tags), frozenset(ids), name)
    return Selection(source, filters, sample, seed, limit)


def drawn_places(n: int, size: int, seed: int) -> frozenset[int]:
    """The places that a sample without replacement takes of a stream (Vitter 1985, algorithm R)."""
    rng = random.Random(seed)
    kept = list(range(min(n, size)))
    for place in range(size, n):
        if (slot := rng.randrange(place + 1)) < size:
            kept[slot] = place
    return frozenset(kept)


def _some(cases: Iterable[Case], path: Path) -> Iterator[Case]:
    n_cases = 0
    for case in cases:
        n_cases += 1
        yield case
    if n_cases == 0:
        raise no_cases(path)


def _suite_cases(suite: Suite, columns: Mapping[str, str] | None) -> CaseSource:
    if suite.dataset_path is not None:
        return open_cases(suite.dataset_path, columns=columns or suite.columns or None)
    cases = suite.cases
    if cases is None:
        raise SettingsError(f"the suite {suite.name!r} has no cases", hint="name a `dataset`")
    return CaseSource(suite.name, str(suite.version), lambda: iter(cases))
