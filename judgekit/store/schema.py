"""The tables of the current schema version.

They hold observations and decisions, never what is concluded from them; `run_figures` is a cache.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

SCHEMA_VERSION = 7
"""The schema version these tables are of; a field added to a stored record raises it too, for
an older judgekit would refuse the field it does not know."""

metadata = MetaData()
_INTEGER = BigInteger().with_variant(Integer(), "sqlite")  # only INTEGER counts up in SQLite
ANSWER_COLUMNS = ("run_no", "place", "variant_no", "repeat")
"""The columns that tell one answer from every other, in the order results are read."""

PAIR_COLUMNS = ("comparison_no", "place")
"""The columns that tell one compared pair from every other."""


def _texts(*names: str, optional: bool = False) -> list[Column[str]]:
    return [Column(name, Text, nullable=optional) for name in names]


# Numbers instead of ids in foreign keys: they are much smaller, in every index.
def _number() -> Column[int]:
    return Column("no", _INTEGER, primary_key=True, autoincrement=True)


def _key_columns(names: tuple[str, ...]) -> tuple[Column[int], ...]:
    return tuple(Column(name, BigInteger, nullable=False) for name in names)


def _observations(
    name: str, of: Table, *own: Column[Any] | Index, unique: tuple[str, ...] = ()
) -> Table:
    """A table where one observation is current; those that it replaced stay, and say since when."""
    keys = tuple(column.name for column in of.primary_key)
    is_current = text("superseded_at IS NULL")
    return Table(
        name,
        metadata,
        _number(),
        *_key_columns(keys),
        *own,
        *_texts("json"),
        *_texts("superseded_at", optional=True),
        ForeignKeyConstraint(keys, list(of.primary_key)),
        Index(f"current_{name}", *keys, *unique, unique=True, sqlite_where=is_current),
    )


def declare_postgresql_indexes() -> None:
    """Tell PostgreSQL, too, that its unique indexes are of current observations only."""
    # `postgresql_where=` would import that dialect, of 20 modules, into every command.
    for index in (index for table in metadata.tables.values() for index in table.indexes):
        if index.unique:
            options = index.dialect_options
            options["postgresql"]["where"] = options["sqlite"]["where"]


schema_versions = Table(
    "judgekit_schema",
    metadata,
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    *_texts("judgekit", "applied_at"),
)
"""The versions this database has had, and which judgekit made them."""

# Stored by content: the same suite run every night is one row.
configs = Table("configs", metadata, Column("key", Text, primary_key=True), *_texts("json"))
"""Every suite as it was run, by its content."""

rubrics = Table(
    "rubrics",
    metadata,
    Column("key", Text, primary_key=True),
    *_texts("fingerprint", "name", "version", "first_seen_at", "json"),
    Index("rubrics_by_fingerprint", "fingerprint"),
    Index("rubrics_by_name", "name"),
)
"""Every rubric as it was, by its whole content; the fingerprint is of what decides a verdict."""

# Apart from the JSON text only what is searched for has columns; the text is the record.
criteria = Table(
    "criteria",
    metadata,
    Column("rubric_key", ForeignKey("rubrics.key"), nullable=False),
    Column("place", BigInteger, nullable=False),
    *_texts("name", "fingerprint"),
    Column("weight", Double, nullable=False),
    Column("is_required", Boolean, nullable=False),
    PrimaryKeyConstraint("rubric_key", "place"),
    Index("criteria_by_name", "name"),
)
"""The criteria of each rubric; their words are in the rubric's JSON."""

# `status` and `finished_at` are columns and not JSON, because they change.
runs = Table(
    "runs",
    metadata,
    _number(),
    Column("id", Text, nullable=False, unique=True),
    *_texts("suite", "suite_version", "started_at"),
    *_texts("finished_at", optional=True),
    *_texts("status"),
    *_texts("reason", optional=True),
    Column("config_key", ForeignKey("configs.key"), nullable=False),
    *_texts("config_fingerprint"),
    *_texts("dataset", optional=True),
    Column("rubric_key", ForeignKey("rubrics.key"), nullable=True),
    *_texts("host", optional=True),
    Column("pid", BigInteger, nullable=True),
    *_texts("json"),
    Index("runs_by_suite", "suite", "started_at"),
    Index("runs_by_start", "started_at"),
    Index("runs_by_config", "config_fingerprint"),
    Index("runs_by_rubric", "rubric_key"),
)
"""What each run set out to do and how it ended; host and pid are of who ran it last."""

variants = Table(
    "variants",
    metadata,
    Column("run_no", ForeignKey("runs.no"), nullable=False),
    Column("no", BigInteger, nullable=False),
    *_texts("variant", "json"),
    PrimaryKeyConstraint("run_no", "no"),
    UniqueConstraint("run_no", "variant"),
    Index("variants_by_name", "variant"),
)
"""The variants of each run, in its order."""

cases = Table(
    "cases",
    metadata,
    Column("key", Text, primary_key=True),
    *_texts("case_id"),
    *_texts("agent", "skill", "prompt_version", optional=True),
    Column("rubric_key", ForeignKey("rubrics.key"), nullable=True),
    *_texts("rubric_name", optional=True),
    *_texts("first_seen_at", "json"),
    Index("cases_by_id", "case_id"),
    Index("cases_by_agent", "agent"),
    Index("cases_by_skill", "skill"),
    Index("cases_by_prompt_version", "prompt_version"),
)
"""Every case as it was, by its content; a case in a hundred runs is here once."""

case_tags = Table(
    "case_tags",
    metadata,
    Column("case_key", ForeignKey("cases.key"), nullable=False),
    *_texts("tag"),
    PrimaryKeyConstraint("case_key", "tag"),
    Index("cases_by_tag", "tag"),
)
"""The tags of each case."""

# Without a rowid, the primary key is the table: reading a run in order is one scan.
answers = Table(
    "answers",
    metadata,
    *_key_columns(ANSWER_COLUMNS),
    *_texts("case_id"),
    Column("case_key", ForeignKey("cases.key"), nullable=False),
    *_texts("begun_at"),
    Column("is_done", Boolean, nullable=False),
    PrimaryKeyConstraint(*ANSWER_COLUMNS),
    UniqueConstraint("run_no", "case_id", "variant_no", "repeat"),
    Index("answers_by_case", "case_key"),
    sqlite_with_rowid=False,
)
"""Every answer that was begun; its parts are in the tables below."""

outputs = _observations(
    "outputs",
    answers,
    *_texts("at"),
    Column("size", BigInteger, nullable=False),
    Column("is_error", Boolean, nullable=False),
    *_texts("error_kind", "agent_run", optional=True),
    Index("outputs_by_agent_run", "agent_run"),
)
"""What variants produced; never altered. `agent_run` is the agent's own run."""

judgments = _observations(
    "judgments",
    answers,
    *_texts("slot", "at", "criterion", "judge"),
    Column("judge_repeat", BigInteger, nullable=False),
    Column("raw", Double, nullable=False),
    Column("value", Double, nullable=False),
    Column("confidence", Double, nullable=True),
    *_texts("source"),
    Column("cost_usd", Double, nullable=True),
    Index("judgments_by_criterion", "criterion", "run_no"),
    unique=("slot",),
)
"""Judgments; `slot` identifies criterion, judge, repeat and turn."""

# Separate from `judgments`: a failure has no value and must not enter a mean by mistake.
failures = _observations(
    "judge_failures",
    answers,
    *_texts("slot", "at", "criterion", "judge"),
    Column("judge_repeat", BigInteger, nullable=False),
    *_texts("kind"),
    Column("cost_usd", Double, nullable=True),
    unique=("slot",),
)
"""Failures of judges."""

checks = _observations(
    "assertion_results",
    answers,
    Column("ordinal", BigInteger, nullable=False),
    *_texts("at", "type"),
    Column("passed", Boolean, nullable=True),
    Column("value", Double, nullable=True),
    unique=("ordinal",),
)
"""Results of assertions, in the suite's order."""

scores = _observations(
    "scores",
    answers,
    Column("ordinal", BigInteger, nullable=False),
    *_texts("at", "name"),
    Column("value", Double, nullable=True),
    Column("raw", Double, nullable=True),
    *_texts("unit", optional=True),
    unique=("ordinal",),
)
"""Scores, in the suite's order."""

# An annotator may answer weeks later, in another process; the item outlives the run.
queue = Table(
    "queue",
    metadata,
    _number(),
    *_key_columns(ANSWER_COLUMNS),
    *_texts("slot", "json", "asked_at"),
    *_texts("answered_at", "answer_slot", optional=True),
    ForeignKeyConstraint(ANSWER_COLUMNS, list(answers.primary_key)),
    UniqueConstraint(*ANSWER_COLUMNS, "slot"),
)
"""Items for human judgment; `answer_slot` is the slot of the judgment that closed the item."""

HAS_VARIANT = (variants.c.run_no == answers.c.run_no) & (variants.c.no == answers.c.variant_no)
"""The condition that a variant gave an answer."""

OBSERVATION_KEYS = {
    outputs: ANSWER_COLUMNS,
    judgments: (*ANSWER_COLUMNS, "slot"),
    failures: (*ANSWER_COLUMNS, "slot"),
    checks: (*ANSWER_COLUMNS, "ordinal"),
    scores: (*ANSWER_COLUMNS, "ordinal"),
}
"""The tables of observations, and the columns by which one supersedes another."""

blind_comparisons = Table(
    "comparisons",
    metadata,
    _number(),
    Column("id", Text, nullable=False, unique=True),
    *_texts("suite", optional=True),
    Column("rubric_key", ForeignKey(rubrics.c.key), nullable=False),
    *_texts("judge", "started_at"),
    *_texts("finished_at", optional=True),
    *_texts("status"),
    *_texts("reason", optional=True),
    *_texts("json"),
    Index("comparisons_by_start", "started_at"),
)
"""The settings of each comparison and how it ended."""

comparison_sides = Table(
    "comparison_sides",
    metadata,
    Column("comparison_no", ForeignKey("comparisons.no"), nullable=False),
    *_texts("side", "label"),
    *_texts("variant", "run_id", "version", optional=True),
    PrimaryKeyConstraint("comparison_no", "side"),
    Index("comparison_sides_by_label", "label"),
    Index("comparison_sides_by_variant", "variant"),
    Index("comparison_sides_by_run", "run_id"),
)
"""The sides of each comparison, searchable from either end."""

compared_outputs = Table(
    "compared_outputs", metadata, Column("key", Text, primary_key=True), *_texts("json")
)
"""Every output that was compared, by its content."""

# A pair has its outputs by content: they need not come from a stored run.
compared_pairs = Table(
    "compared_pairs",
    metadata,
    *_key_columns(PAIR_COLUMNS),
    *_texts("case_id"),
    Column("case_key", ForeignKey(cases.c.key), nullable=False),
    Column("repeat", BigInteger, nullable=False),
    Column("a_key", ForeignKey(compared_outputs.c.key), nullable=False),
    Column("b_key", ForeignKey(compared_outputs.c.key), nullable=False),
    Column("is_done", Boolean, nullable=False),
    ForeignKeyConstraint(("comparison_no",), [blind_comparisons.c.no]),
    PrimaryKeyConstraint(*PAIR_COLUMNS),
    UniqueConstraint("comparison_no", "case_id", "repeat"),
)
"""Every pair that was started; its preferences are in the table below."""

preferences = _observations(
    "preferences",
    compared_pairs,
    *_texts("slot", "at", "shown"),
    *_texts("criterion", optional=True),
    *_texts("judge"),
    Column("judge_repeat", BigInteger, nullable=False),
    *_texts("choice", "failure_kind", optional=True),
    Column("cost_usd", Double, nullable=True),
    unique=("slot",),
)
"""Preferences and failures: one of `choice` and `failure_kind` is set. `shown` is the order;
`slot` identifies order, criterion, judge and repeat."""

analyses = _observations("analyses", compared_pairs, *_texts("at"))
"""Analyses of pairs, asked for after the verdict."""

# Its figures follow from the answers of the runs, which are stored already.
score_comparisons = Table(
    "score_comparisons",
    metadata,
    _number(),
    Column("id", Text, nullable=False, unique=True),
    *_texts("suite", optional=True),
    *_texts("started_at", "a_run", "a_variant", "b_run", "b_variant", "json"),
    Index("score_comparisons_by_start", "started_at"),
    Index("score_comparisons_by_a", "a_run"),
    Index("score_comparisons_by_b", "b_run"),
)
"""Which stored runs were compared by their scores, and how."""

approvals = Table(
    "approvals",
    metadata,
    _number(),
    Column("id", Text, nullable=False, unique=True),
    *_texts("at", "variant", "version", "json"),
    Index("approvals_by_variant", "variant"),
)
"""Approved versions with approver, reason and evidence."""

# A decision is no conclusion that could be derived again: it rests on the runs there were then.
gate_decisions = Table(
    "gate_decisions",
    metadata,
    _number(),
    Column("run_no", ForeignKey(runs.c.no), nullable=False),
    *_texts("at", "outcome", "json"),
    Index("gate_decisions_by_run", "run_no"),
)
"""What a gate decided about a run when it ended, and who accepted it in spite of that."""

run_figures = Table(
    "run_figures",
    metadata,
    Column("run_no", ForeignKey(runs.c.no), nullable=False),
    *_texts("key", "json"),
    PrimaryKeyConstraint("run_no", "key"),
)
"""Figures and failures of runs, computed from the tables above and deleted when a run changes; the
key says by which rubric and calibration."""

finding_notes = Table(
    "finding_notes", metadata, _number(), *_texts("suite", "finding", "at", "json")
)
"""Notes on findings; the findings themselves are derived from the runs."""

Index("finding_notes_by_suite", finding_notes.c.suite)

notifications = Table(
    "notifications",
    metadata,
    *_texts("suite", "episode", "at"),
    PrimaryKeyConstraint("suite", "episode"),
)
"""The episodes of which a notification was sent."""

label_packets = Table(
    "label_packets",
    metadata,
    _number(),
    Column("id", Text, nullable=False, unique=True),
    *_texts("source", "made_at", "json"),
    Index("label_packets_by_source", "source"),
)
"""What annotators were given to label, and what their items stand for."""
