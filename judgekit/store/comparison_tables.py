"""The tables of blind comparisons, their analyses and approvals: what was observed and decided."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

from judgekit.store.tables import cases, metadata, rubrics

_WHOLE = BigInteger().with_variant(Integer(), "sqlite")  # only INTEGER counts up in SQLite
_PAIR = ("comparison_no", "place")


def _text(name: str, *, nullable: bool = False) -> Column[str]:
    return Column(name, Text, nullable=nullable)


def _number() -> Column[int]:
    return Column("no", _WHOLE, primary_key=True, autoincrement=True)


def _pair() -> tuple[Column[int], ...]:
    return tuple(Column(name, BigInteger, nullable=False) for name in _PAIR)


def _of_pair() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(_PAIR, [f"compared_pairs.{name}" for name in _PAIR])


def _current(table: Table, *columns: str) -> None:
    is_current = table.c.superseded_at.is_(None)
    Index(
        f"current_{table.name}",
        *(table.c[name] for name in (*_PAIR, *columns)),
        unique=True,
        sqlite_where=is_current,
        postgresql_where=is_current,
    )


comparisons = Table(
    "comparisons",
    metadata,
    _number(),
    Column("id", Text, nullable=False, unique=True),
    _text("suite", nullable=True),
    Column("rubric_key", ForeignKey(rubrics.c.key), nullable=False),
    _text("judge"),
    _text("started_at"),
    _text("finished_at", nullable=True),
    _text("status"),
    _text("reason", nullable=True),
    _text("json"),
)
"""What each comparison set out to do and how it ended."""
Index("comparisons_by_start", comparisons.c.started_at)

comparison_sides = Table(
    "comparison_sides",
    metadata,
    Column("comparison_no", ForeignKey("comparisons.no"), nullable=False),
    _text("side"),
    _text("label"),
    _text("variant", nullable=True),
    _text("run_id", nullable=True),
    _text("version", nullable=True),
    PrimaryKeyConstraint("comparison_no", "side"),
)
"""Who was which side, to be found from either end."""
Index("comparison_sides_by_label", comparison_sides.c.label)
Index("comparison_sides_by_variant", comparison_sides.c.variant)
Index("comparison_sides_by_run", comparison_sides.c.run_id)

compared_outputs = Table(
    "compared_outputs",
    metadata,
    Column("key", Text, primary_key=True),
    _text("json"),
)
"""Every output that was compared, by its content."""

compared_pairs = Table(
    "compared_pairs",
    metadata,
    *_pair(),
    _text("case_id"),
    Column("case_key", ForeignKey(cases.c.key), nullable=False),
    Column("repeat", BigInteger, nullable=False),
    Column("a_key", ForeignKey(compared_outputs.c.key), nullable=False),
    Column("b_key", ForeignKey(compared_outputs.c.key), nullable=False),
    Column("is_done", Boolean, nullable=False),
    ForeignKeyConstraint(("comparison_no",), [comparisons.c.no]),
    PrimaryKeyConstraint(*_PAIR),
    UniqueConstraint("comparison_no", "case_id", "repeat"),
)
"""Every pair that was begun; what was said of it is in the table below."""

preferences = Table(
    "preferences",
    metadata,
    _number(),
    *_pair(),
    _text("slot"),
    _text("at"),
    _text("shown"),
    _text("criterion", nullable=True),
    _text("judge"),
    Column("judge_repeat", BigInteger, nullable=False),
    _text("choice", nullable=True),
    _text("failure_kind", nullable=True),
    Column("cost_usd", Double, nullable=True),
    _text("json"),
    _text("superseded_at", nullable=True),
    _of_pair(),
)
"""What judges chose, or failed to say: one of `choice` and `failure_kind` is there. `shown` is the
order, `slot` names order, criterion, judge and repeat in one."""
_current(preferences, "slot")

analyses = Table(
    "analyses",
    metadata,
    _number(),
    *_pair(),
    _text("at"),
    _text("json"),
    _text("superseded_at", nullable=True),
    _of_pair(),
)
"""Why a pair came out as it did, asked for after the verdict."""
_current(analyses)

approvals = Table(
    "approvals",
    metadata,
    _number(),
    Column("id", Text, nullable=False, unique=True),
    _text("at"),
    _text("variant"),
    _text("version"),
    _text("json"),
)
"""Which versions may be used, who says so, why, and on what evidence."""
Index("approvals_by_variant", approvals.c.variant)

every_table = metadata
"""All tables of a store: those of `tables`, and these."""
