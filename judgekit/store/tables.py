"""The tables of schema version 3: what was observed, and nothing that is concluded from it."""

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
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

VERSION = 3
"""The schema version these tables are of; a field added to a stored record raises it too, for
an older judgekit would refuse the field it does not know."""

metadata = MetaData()

_WHOLE = BigInteger().with_variant(Integer(), "sqlite")  # only INTEGER counts up in SQLite
_ANSWER = ("run_no", "place", "variant_no", "repeat")


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


def _maybe(name: str) -> Column[str | None]:
    return Column(name, Text, nullable=True)


def _number() -> Column[int]:
    return Column("no", _WHOLE, primary_key=True, autoincrement=True)


def _answer() -> tuple[Column[int], ...]:
    """The columns that tell one answer from every other, in the order results are read."""
    return tuple(Column(name, BigInteger, nullable=False) for name in _ANSWER)


def _of_answer() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(_ANSWER, [f"answers.{name}" for name in _ANSWER])


def _current(table: Table, *columns: str) -> None:
    """One observation is current; those whose place it took stay, and say since when."""
    is_current = table.c.superseded_at.is_(None)
    Index(
        f"current_{table.name}",
        *(table.c[name] for name in (*_ANSWER, *columns)),
        unique=True,
        sqlite_where=is_current,
        postgresql_where=is_current,
    )


schema = Table(
    "judgekit_schema",
    metadata,
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    _text("judgekit"),
    _text("applied_at"),
)
"""The versions this database has had, and which judgekit made them."""

configs = Table(
    "configs",
    metadata,
    Column("key", Text, primary_key=True),
    _text("json"),
)
"""Every suite as it was run, by its content."""

rubrics = Table(
    "rubrics",
    metadata,
    Column("key", Text, primary_key=True),
    _text("fingerprint"),
    _text("name"),
    _text("version"),
    _text("first_seen_at"),
    _text("json"),
)
"""Every rubric as it was, by its whole content; the fingerprint is of what decides a verdict."""
Index("rubrics_by_fingerprint", rubrics.c.fingerprint)
Index("rubrics_by_name", rubrics.c.name)

criteria = Table(
    "criteria",
    metadata,
    Column("rubric_key", ForeignKey("rubrics.key"), nullable=False),
    Column("place", BigInteger, nullable=False),
    _text("name"),
    _text("fingerprint"),
    Column("weight", Double, nullable=False),
    Column("is_required", Boolean, nullable=False),
    PrimaryKeyConstraint("rubric_key", "place"),
)
"""The criteria of each rubric; their words are in the rubric's JSON."""
Index("criteria_by_name", criteria.c.name)

runs = Table(
    "runs",
    metadata,
    _number(),
    Column("id", Text, nullable=False, unique=True),
    _text("suite"),
    _text("suite_version"),
    _text("started_at"),
    _maybe("finished_at"),
    _text("status"),
    _maybe("reason"),
    Column("config_key", ForeignKey("configs.key"), nullable=False),
    _text("config_fingerprint"),
    _maybe("dataset"),
    Column("rubric_key", ForeignKey("rubrics.key"), nullable=True),
    _maybe("host"),
    Column("pid", BigInteger, nullable=True),
    _text("json"),
)
"""What each run set out to do and how it ended; host and pid are of who ran it last."""
Index("runs_by_suite", runs.c.suite, runs.c.started_at)
Index("runs_by_start", runs.c.started_at)
Index("runs_by_config", runs.c.config_fingerprint)
Index("runs_by_rubric", runs.c.rubric_key)

variants = Table(
    "variants",
    metadata,
    Column("run_no", ForeignKey("runs.no"), nullable=False),
    Column("no", BigInteger, nullable=False),
    _text("variant"),
    _text("json"),
    PrimaryKeyConstraint("run_no", "no"),
    UniqueConstraint("run_no", "variant"),
)
"""The variants of each run, in its order."""
Index("variants_by_name", variants.c.variant)

cases = Table(
    "cases",
    metadata,
    Column("key", Text, primary_key=True),
    _text("case_id"),
    _maybe("agent"),
    _maybe("skill"),
    _maybe("prompt_version"),
    Column("rubric_key", ForeignKey("rubrics.key"), nullable=True),
    _maybe("rubric_name"),
    _text("first_seen_at"),
    _text("json"),
)
"""Every case as it was, by its content; a case in a hundred runs is here once."""
Index("cases_by_id", cases.c.case_id)
Index("cases_by_agent", cases.c.agent)
Index("cases_by_skill", cases.c.skill)
Index("cases_by_prompt_version", cases.c.prompt_version)

case_tags = Table(
    "case_tags",
    metadata,
    Column("case_key", ForeignKey("cases.key"), nullable=False),
    _text("tag"),
    PrimaryKeyConstraint("case_key", "tag"),
)
"""The tags of each case."""
Index("cases_by_tag", case_tags.c.tag)

answers = Table(
    "answers",
    metadata,
    *_answer(),
    _text("case_id"),
    Column("case_key", ForeignKey("cases.key"), nullable=False),
    _text("begun_at"),
    Column("is_done", Boolean, nullable=False),
    PrimaryKeyConstraint(*_ANSWER),
    UniqueConstraint("run_no", "case_id", "variant_no", "repeat"),
    sqlite_with_rowid=False,
)
"""Every answer that was begun; its parts are in the tables below."""
Index("answers_by_case", answers.c.case_key)

outputs = Table(
    "outputs",
    metadata,
    _number(),
    *_answer(),
    _text("at"),
    Column("size", BigInteger, nullable=False),
    Column("is_error", Boolean, nullable=False),
    _maybe("error_kind"),
    _maybe("agent_run"),
    _text("json"),
    _maybe("superseded_at"),
    _of_answer(),
)
"""What variants produced; never altered. `agent_run` is the agent's own run."""
_current(outputs)
Index("outputs_by_agent_run", outputs.c.agent_run)

judgments = Table(
    "judgments",
    metadata,
    _number(),
    *_answer(),
    _text("slot"),
    _text("at"),
    _text("criterion"),
    _text("judge"),
    Column("judge_repeat", BigInteger, nullable=False),
    Column("raw", Double, nullable=False),
    Column("value", Double, nullable=False),
    Column("confidence", Double, nullable=True),
    _text("source"),
    Column("cost_usd", Double, nullable=True),
    _text("json"),
    _maybe("superseded_at"),
    _of_answer(),
)
"""What judges said; `slot` names criterion, judge and repeat in one."""
_current(judgments, "slot")
Index("judgments_by_criterion", judgments.c.criterion, judgments.c.run_no)

failures = Table(
    "judge_failures",
    metadata,
    _number(),
    *_answer(),
    _text("slot"),
    _text("at"),
    _text("criterion"),
    _text("judge"),
    Column("judge_repeat", BigInteger, nullable=False),
    _text("kind"),
    Column("cost_usd", Double, nullable=True),
    _text("json"),
    _maybe("superseded_at"),
    _of_answer(),
)
"""What judges failed to say."""
_current(failures, "slot")

checks = Table(
    "assertion_results",
    metadata,
    _number(),
    *_answer(),
    Column("ordinal", BigInteger, nullable=False),
    _text("at"),
    _text("type"),
    Column("passed", Boolean, nullable=True),
    Column("value", Double, nullable=True),
    _text("json"),
    _maybe("superseded_at"),
    _of_answer(),
)
"""What assertions found, in the suite's order."""
_current(checks, "ordinal")

scores = Table(
    "scores",
    metadata,
    _number(),
    *_answer(),
    Column("ordinal", BigInteger, nullable=False),
    _text("at"),
    _text("name"),
    Column("value", Double, nullable=True),
    Column("raw", Double, nullable=True),
    _maybe("unit"),
    _text("json"),
    _maybe("superseded_at"),
    _of_answer(),
)
"""What scorers measured, in the suite's order."""
_current(scores, "ordinal")

queue = Table(
    "queue",
    metadata,
    _number(),
    *_answer(),
    _text("slot"),
    _text("json"),
    _text("asked_at"),
    _maybe("answered_at"),
    _maybe("answer_slot"),
    _of_answer(),
    UniqueConstraint(*_ANSWER, "slot"),
)
"""What a person is asked to judge; `answer_slot` is the slot of the judgment that closed it."""

PARTS = (outputs, judgments, failures, checks, scores)
"""The tables of what was observed of an answer."""
