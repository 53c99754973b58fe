"""Whether a text is, or holds, SQL that sqlglot can parse; run by the worker process."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot.expressions import Expr

_STATEMENTS = (
    "Query", "DML", "DDL", "Drop", "Alter", "Set", "Use", "Pragma", "Describe", "Transaction",
    "Commit", "Rollback", "Analyze", "Show", "TruncateTable", "Merge", "Copy",
)  # fmt: skip
_FENCED = re.compile(r"```[ \t]*(?:sql)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_BEGINS = re.compile(
    r"^[ \t]*(?:select|with|insert|update|delete|create|alter|drop|merge)\b",
    re.IGNORECASE | re.MULTILINE,
)
_BREAK = re.compile(r";|\n[ \t]*\n")
_TRIED = 20


def sql_fault(text: str, dialect: str | None, tables: list[str] | None) -> str | None:
    """Why a text is no SQL."""
    from sqlglot import parse  # noqa: PLC0415 - slow to import
    from sqlglot.errors import SqlglotError  # noqa: PLC0415 - slow to import

    try:
        parsed = [statement for statement in parse(text, dialect=dialect) if statement is not None]
    except SqlglotError as error:
        return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", str(error)).split())[:200]
    if not parsed:
        return "there is no statement"
    for statement in parsed:
        if not _is_statement(statement):
            return f"{statement.sql()[:60]!r} is no statement"
    return None if tables is None else _foreign_table(parsed, tables)


def contained_sql_fault(text: str, dialect: str | None, tables: list[str] | None) -> str | None:
    """Why a text holds no SQL."""
    # Fenced code is tried first, then what follows a line that begins with a word like `SELECT`.
    first = None
    for n, candidate in enumerate(_candidates(text)):
        fault = sql_fault(candidate, dialect, tables)
        if fault is None:
            return None
        first = first or fault
        if n == _TRIED:
            break
    return first or "nothing begins like a statement"


def _candidates(text: str) -> Iterator[str]:
    for fenced in _FENCED.finditer(text):
        yield fenced.group(1)
    for found in _BEGINS.finditer(text):
        end = _BREAK.search(text, found.end())
        yield text[found.start() : len(text) if end is None else end.start()]


def _is_statement(statement: Expr) -> bool:
    """Sqlglot reads any name as an expression, and "select what you like" as columns of nothing."""
    from sqlglot import expressions  # noqa: PLC0415 - slow to import

    kinds = tuple(getattr(expressions, n) for n in _STATEMENTS if hasattr(expressions, n))
    if not isinstance(statement, expressions.Select):
        return isinstance(statement, kinds)
    columns = [c for part in statement.expressions for c in part.find_all(expressions.Column)]
    has_table = bool(statement.args.get("from_") or statement.args.get("from"))
    return bool(statement.expressions) and (has_table or not columns)


def _foreign_table(parsed: list[Expr], tables: list[str]) -> str | None:
    from sqlglot import expressions  # noqa: PLC0415 - slow to import

    allowed = {name.lower() for name in tables}
    for statement in parsed:
        own = {cte.alias.lower() for cte in statement.find_all(expressions.CTE)}
        for table in statement.find_all(expressions.Table):
            names = {table.name.lower(), f"{table.db}.{table.name}".lower().strip(".")}
            if not names & (allowed | own):
                return f"it names the table {table.name}, which is not among {', '.join(tables)}"
    return None
