"""Builds the document of a suite's history: its versions with their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report import numbers
from judgekit.report.document import Column, Conclusion, Document, Notes, Table, not_empty
from judgekit.report.trend import figure_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation import VersionFigures

_SHORT = 8


def history_document(suite: str, versions: Sequence[VersionFigures]) -> Document:
    """The versions of a suite, oldest first."""
    paths = {one.path for one in versions}
    # What is the same or unknown for all versions is no column.
    optional: list[tuple[Column, list[str]]] = []
    if len(paths) > 1:
        column = Column("path", "text", max_width=28, may_drop=True)
        optional.append((column, [one.path or "" for one in versions]))
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
    rows = tuple(
        (
            _version_text(one),
            str(one.n_runs),
            str(one.figures.n_cases),
            figure_text(one.figures.score),
            figure_text(one.figures.pass_rate, is_rate=True),
            *(texts[place] for _, texts in optional),
            one.last_run,
        )
        for place, one in enumerate(versions)
    )
    current = [one for one in versions if one.is_current]
    notes = ["* in the latest run"] if current else []
    if any(one.changes for one in versions):
        notes.append(
            "† measured differently than the latest run, so that figures are not comparable"
        )
    if len(paths) == 1 and versions[0].path is not None:
        notes.append(f"path: {versions[0].path}")
    text = numbers.format_count(len(versions), "version")
    if current:
        best = ", ".join(f"{one.variant} version {one.number}" for one in current)
        text += f"; current: {best}"
    data = {"suite": suite, "versions": [_json(one) for one in versions]}
    return Document(
        f"history of {suite}",
        Conclusion(text),
        not_empty((Table(columns, rows), Notes(tuple(notes)))),
        lambda: data,
    )


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
