"""Builds the document of a suite's history: its versions with their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report import message, numbers
from judgekit.report.document import (
    Cell,
    Column,
    Conclusion,
    Document,
    Notes,
    Section,
    Table,
    not_empty,
    page_path,
)
from judgekit.report.trend import figure_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from judgekit.evaluation import ImportedRun, VersionFigures
    from judgekit.report.document import Block

_SHORT = 8


def history_document(
    suite: str, versions: Sequence[VersionFigures], imported: Sequence[ImportedRun] = ()
) -> Document:
    """The versions of a suite, oldest first, and the runs that came with its quality memory."""
    paths = {one.path for one in versions}
    # What is the same or unknown for all versions is no column.
    optional: list[tuple[Column, list[str]]] = []
    if len(paths) > 1:
        column = Column("path", "text", max_width=28, may_drop=True)
        optional.append((column, [message.without_folders(one.path or "") for one in versions]))
    if any(one.revision for one in versions):
        column = Column("commit", "id", may_drop=True)
        optional.append((column, [(one.revision or "")[:_SHORT] for one in versions]))
    columns = (
        Column("version", "text", max_width=24),
        Column("runs"),
        Column("cases"),
        Column("score"),
        Column("pass rate"),
        *(column for column, _ in optional),
        Column("last run", "id", may_drop=True),
    )
    rows: tuple[tuple[str | Cell, ...], ...] = tuple(
        (
            _version_text(one),
            str(one.n_runs),
            str(one.figures.n_cases),
            figure_cell(one.figures.score),
            figure_cell(one.figures.pass_rate, is_rate=True),
            *(texts[place] for _, texts in optional),
            Cell(one.last_run, link=page_path("runs", one.last_run)),
        )
        for place, one in enumerate(versions)
    )
    current = [one for one in versions if one.is_current]
    text = numbers.format_count(len(versions), "version")
    if current:
        best = ", ".join(f"{one.variant} version {one.number}" for one in current)
        text += f"; current: {best}"
    data = {
        "suite": suite,
        "versions": [_json(one) for one in versions],
        "imported": [{"id": one.id, **one.fields} for one in imported],
    }
    return Document(
        f"History of {suite}",
        Conclusion(text),
        not_empty((Table(columns, rows), Notes(_notes(versions)), *_imported(imported))),
        lambda: data,
        kind="History",
    )


def _notes(versions: Sequence[VersionFigures]) -> tuple[str, ...]:
    notes = ["* in the latest run"] if any(one.is_current for one in versions) else []
    if any(one.changes for one in versions):
        notes.append(
            "† measured differently than the latest run, so that figures are not comparable"
        )
    if len({one.path for one in versions}) == 1 and versions[0].path is not None:
        notes.append(f"path: {message.without_folders(versions[0].path)}")
    return tuple(notes)


def _imported(runs: Sequence[ImportedRun]) -> tuple[Block, ...]:
    if not runs:
        return ()
    columns = (
        Column("run", "id"),
        Column("benchmark", "id"),
        Column("ran at", "id"),
        Column("score"),
        Column("pass rate"),
        Column("started by", "text", max_width=20, may_move=True),
        Column("notes", "text", max_width=28, may_move=True),
    )
    names = ("benchmarkId", "ranAt", "overallScore", "passRate", "triggeredBy", "notes")
    rows = tuple((one.id, *(_text(one.fields.get(name)) for name in names)) for one in runs)
    note = "as the memory has them; without their answers they are part of no trend and no baseline"
    return (Section("Imported benchmark runs", (Table(columns, rows), Notes((note,)))),)


def _text(value: JsonValue) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is None else str(value)


def _version_text(one: VersionFigures) -> str:
    marks = f"{' *' if one.is_current else ''}{' †' if one.changes else ''}"
    return f"{one.variant} {one.number}{marks}"


def _json(one: VersionFigures) -> dict[str, object]:
    return {
        "variant": one.variant,
        "version": one.number,
        "fingerprint": one.fingerprint,
        "path": one.path,
        "revision": one.revision,
        "n_runs": one.n_runs,
        "first_at": one.first_at.isoformat(),
        "last_run": one.last_run,
        "last_at": one.last_at.isoformat(),
        **one.figures.model_dump(),
        "not_comparable": list(one.changes),
        "is_current": one.is_current,
    }
