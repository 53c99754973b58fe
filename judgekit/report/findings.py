"""Builds the documents of findings: the list of a suite's failures, and one of them in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, get_args

from judgekit.records import Finding, FindingSeverity
from judgekit.report import numbers
from judgekit.report.document import (
    Cell,
    Column,
    Conclusion,
    Document,
    Lines,
    Notes,
    Passage,
    Table,
    not_empty,
    page_path,
    table_of,
)

if TYPE_CHECKING:
    from judgekit.evaluation import FindingChanges
    from judgekit.report.document import LabelledText, Tone

_TONES: Mapping[str, Tone] = {"open": "fail", "recurring": "fail", "resolved": "pass"}
_WHOLE_RUN = "whole run"


def findings_document(suite: str, every: Sequence[Finding], shown: Sequence[Finding]) -> Document:
    """The findings of a suite: all of them counted, some of them listed."""
    hint = () if not shown else ("judgekit findings show FINDING has all of one finding",)
    blocks = not_empty((findings_table(shown, among=every), Notes(hint)))
    return Document(
        kind="Findings",
        title=f"Findings of {suite}",
        conclusion=_conclusion(every),
        blocks=blocks,
        data=lambda: {"suite": suite, "findings": [one.to_json() for one in shown]},
    )


def findings_table(
    shown: Sequence[Finding], title: str = "", *, among: Sequence[Finding] = ()
) -> Table:
    """A row for each finding."""
    columns: dict[str | Column, Callable[[Finding], str | Cell]] = {
        Column("finding", "id"): lambda one: Cell(
            one.id, link=page_path("findings", one.id, suite=one.suite)
        ),
        Column("severity", "id"): lambda one: one.severity,
        Column("status", "id"): lambda one: Cell(one.status, tone=_TONES[one.status]),
        Column("type", "id"): lambda one: one.type,
        Column("case", "text", max_width=24): lambda one: one.case_id or _WHOLE_RUN,
    }
    # A name that all rows have says nothing.
    if len({one.variant for one in among or shown}) > 1:
        columns[Column("variant", "text", max_width=16)] = lambda one: one.variant
    if len({one.suite for one in among or shown}) > 1:
        columns[Column("suite", "text", max_width=16)] = lambda one: one.suite
    columns[Column("runs")] = lambda one: str(one.n_runs)
    columns[Column("what", "ellipsis")] = _what
    return table_of(shown, columns, title)


def _conclusion(every: Sequence[Finding]) -> Conclusion:
    if not every:
        return Conclusion("no finding: every decided answer of every run passed", "pass")
    counts = Counter(one.status for one in every)
    if counts["resolved"] == len(every):
        return Conclusion(f"all {numbers.format_count(len(every), 'finding')} resolved", "pass")
    text = open_findings_text(every)
    if counts["recurring"]:
        text += f", {counts['recurring']} of them recurring"
    if counts["resolved"]:
        text += f"; {counts['resolved']} resolved"
    return Conclusion(text, "fail")


def open_findings_text(findings: Iterable[Finding]) -> str:
    """How many findings are open, and how severe: `3 open findings (1 critical, 2 major)`."""
    counts = Counter(one.severity for one in findings if one.status != "resolved")
    parts = [f"{counts[name]} {name}" for name in get_args(FindingSeverity) if counts[name]]
    text = numbers.format_count(counts.total(), "open finding")
    return f"{text} ({', '.join(parts)})" if parts else text


def _what(one: Finding) -> str:
    names = ", ".join(one.criteria)
    line = one.description.partition("\n")[0]
    # A failed assertion is named in its message, and a rationale begins with its criterion.
    is_named = any(line.startswith(name.partition(" ")[0]) for name in one.criteria)
    return line if not names or is_named else f"{names}: {line}"


def finding_document(one: Finding) -> Document:
    """A finding in full."""
    since = f"{one.first_run} ({one.first_seen_at:%Y-%m-%d %H:%M})"
    last = f"{one.last_run} ({one.last_seen_at:%Y-%m-%d %H:%M})"
    lines: list[LabelledText] = [
        ("type", f"{one.type}, {one.severity}"),
        ("criteria", ", ".join(one.criteria)),
        ("first seen", since),
        ("last seen", f"{last}, in {numbers.format_count(one.n_runs, 'run')}"),
        ("runs", _runs(one)),
        ("resolved", _resolved(one)),
        ("passes", one.passes_since or ""),
        ("failing step", one.step or ""),
        ("root cause", one.root_cause or ""),
        ("resolution", one.resolution or ""),
        ("note", one.note or ""),
    ]
    blocks = not_empty(
        (
            Lines(tuple((label, text) for label, text in lines if text)),
            Passage(one.description, "what failed"),
            Notes(tuple(f"“{quote}”" for quote in one.quotes), title="quoted from the output"),
        )
    )
    where = f"{one.case_id or _WHOLE_RUN}, {one.variant}"
    conclusion = Conclusion(f"{where}: {one.status}", _TONES[one.status])
    return Document(f"Finding {one.id}", conclusion, blocks, one.to_json, "Finding")


# A finding of a hundred runs would fill a terminal; the JSON has all of them.
_MOST_RUNS = 5


def _runs(one: Finding) -> str:
    if one.n_runs < 3:  # noqa: PLR2004 - the first and the last are there
        return ""
    more = f" and {one.n_runs - _MOST_RUNS} before" if one.n_runs > _MOST_RUNS else ""
    return ", ".join(one.runs[: -_MOST_RUNS - 1 : -1]) + more


def _resolved(one: Finding) -> str:
    times = "" if one.n_resolved < 2 else f" ({one.n_resolved} times so far)"  # noqa: PLR2004 - again
    if one.resolved_at is None:
        return f"before, and failed again{times}" if one.n_resolved else ""
    return f"by {one.resolved_by}, {one.resolved_at:%Y-%m-%d %H:%M}{times}"


def changes_text(changes: FindingChanges) -> str:
    """How a run changed the findings of its suite: `2 new, 1 continued, 3 resolved`."""
    counts = {
        "new": len(changes.opened),
        "continued": len(changes.continued),
        "resolved": len(changes.resolved),
    }
    return ", ".join(f"{n} {what}" for what, n in counts.items() if n)
