"""The store of comparisons: what judges preferred is added as it comes, and never lost."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy.exc import IntegrityError

from judgekit.errors import StoreError
from judgekit.store.approvals import add_approval, read_approvals
from judgekit.store.comparison_rows import (
    LATEST,
    add_analysis,
    add_pair,
    begin_comparison,
    comparison_numbers,
    end_comparison,
    find_comparison,
    read_analyses,
    read_comparison,
    read_pairs,
)
from judgekit.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from judgekit.records.compared import (
        Analysis,
        Approval,
        ComparedPair,
        ComparisonInfo,
        ComparisonStatus,
    )

_LOCKS_FROM = 1 << 40
"""Comparisons are held by numbers that no run reaches."""


class StoredComparisons(Database):
    """Blind comparisons, analyses and approvals that are kept; see `Database`."""

    def comparison(self, name: str = LATEST) -> ComparisonInfo:
        """What a comparison set out to do, and how it ended."""
        with self.reading() as connection:
            return read_comparison(connection, find_comparison(connection, name))

    def comparisons(
        self, *, variant: str | None = None, run_id: str | None = None, limit: int | None = None
    ) -> list[ComparisonInfo]:
        """The comparisons, newest first."""
        with self.reading() as connection:
            numbers = comparison_numbers(connection, variant=variant, run_id=run_id, limit=limit)
            return [read_comparison(connection, number) for number in numbers]

    def compared(self, comparison_id: str) -> Iterator[ComparedPair]:
        """The pairs of a comparison as they were, with what was said in either order."""
        yield from read_pairs(self.reading, self._comparison_number(comparison_id))

    def analyses(self, comparison_id: str) -> dict[int, Analysis]:
        """Why pairs came out as they did, where that was asked for."""
        number = self._comparison_number(comparison_id)
        with self.reading() as connection:
            return read_analyses(connection, number)

    def approvals(self, variant: str | None = None) -> list[Approval]:
        """Who approved what, newest first."""
        with self.reading() as connection:
            return read_approvals(connection, variant)

    def begin_comparison(self, info: ComparisonInfo) -> None:
        """Keep what a comparison sets out to do; it then belongs to this store."""
        with self.writing() as connection:
            try:
                number = begin_comparison(connection, info)
            except IntegrityError as error:  # another process was quicker by a hair
                raise StoreError(f"the comparison {info.id} was begun already") from error
        self._hold(info.id, number)

    def resume_comparison(self, comparison_id: str) -> None:
        """Take a comparison up again; it then belongs to this store."""
        number = self._comparison_number(comparison_id)
        self._hold(comparison_id, number)
        with self.writing() as connection:
            end_comparison(connection, number, "running", None, None)

    def add_pairs(self, comparison_id: str, pairs: Sequence[ComparedPair]) -> None:
        """Keep pairs and what was said of them; when it returns they are on disk."""
        number = self._comparison_number(comparison_id)
        now = datetime.now(UTC)
        with self.writing() as connection:
            for pair in pairs:
                add_pair(connection, number, pair, now)

    def add_analysis(self, comparison_id: str, place: int, analysis: Analysis) -> None:
        """Keep why a pair came out as it did."""
        number = self._comparison_number(comparison_id)
        with self.writing() as connection:
            add_analysis(connection, number, place, analysis, datetime.now(UTC))

    def end_comparison(
        self, comparison_id: str, *, status: ComparisonStatus, reason: str | None = None
    ) -> None:
        """Keep how a comparison ended, and give it up."""
        number = self._comparison_number(comparison_id)
        with self.writing() as connection:
            end_comparison(connection, number, status, reason, datetime.now(UTC))
        self._unlock(_LOCKS_FROM + number)
        self.checkpoint()

    def approve(self, approval: Approval) -> None:
        """Keep an approval."""
        with self.writing() as connection:
            add_approval(connection, approval)

    def _comparison_number(self, comparison_id: str) -> int:
        with self.reading() as connection:
            return find_comparison(connection, comparison_id)

    def _hold(self, comparison_id: str, number: int) -> None:
        if not self._try_lock(_LOCKS_FROM + number):
            raise StoreError(
                f"the comparison {comparison_id} is still running",
                hint="wait for it or stop it; then go on with --resume",
            )
