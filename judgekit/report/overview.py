"""Builds the document of all that is known of a skill or a suite, and what refers to a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, get_args

from judgekit.records import CaseStratum
from judgekit.report import numbers
from judgekit.report.document import Cell, Conclusion, Document, Lines, Notes, Table, not_empty
from judgekit.report.findings import changes_text, findings_table, open_findings_text
from judgekit.report.listings import (
    cases_table,
    comparison_json,
    comparisons_table,
    listing_table,
    runs_table,
)
from judgekit.report.trend import direction_cell, figure_text, trend_json

if TYPE_CHECKING:
    from judgekit.evaluation import Overview, QualityTrend, RunRelations
    from judgekit.records import Approval
    from judgekit.report.document import Tone

_UNSTRATIFIED = "none"


def overview_document(title: str, known: Overview, *, limit: int | None = None) -> Document:
    """All that is known of some cases; each table has at most `limit` rows, the JSON has all."""

    def title_of(name: str, items: Sequence[object]) -> str:
        # Nobody would notice that a table is cut: its title has how many rows there are.
        is_cut = limit is not None and len(items) > limit
        return f"{name}, {limit:,} of {len(items):,}" if is_cut else name

    of_version = title_of("runs with a variant of this prompt version", known.variant_runs)
    tables = (
        cases_table(known.cases[:limit], title_of("cases", known.cases)),
        runs_table(known.runs[:limit], title=title_of("runs", known.runs)),
        runs_table(known.variant_runs[:limit], title=of_version),
        _trends_table(known.trends),
        findings_table(known.findings[:limit], title_of("open findings", known.findings)),
        comparisons_table(known.comparisons[:limit], title_of("comparisons", known.comparisons)),
        _approvals_table(known.approvals[:limit], title_of("approvals", known.approvals)),
    )
    lines = tuple(
        (label, ", ".join(f"{n:,} {name}" for name, n in counts.items()))
        for label, counts in zip(("status", "strata"), _counts(known), strict=True)
        if counts.keys() - {_UNSTRATIFIED}
    )
    blocks = not_empty((Lines(lines), *tables, Notes(tuple(_commands(known)))))
    is_empty = not (known.cases or known.variant_runs)
    return Document(
        title, _conclusion(known), () if is_empty else blocks, lambda: overview_json(known)
    )


def _conclusion(known: Overview) -> Conclusion:
    cases = numbers.format_count(len(known.latest_cases), "case")
    n_runs = len({one.id for one in (*known.runs, *known.variant_runs)})
    text = f"{cases}, {numbers.format_count(n_runs, 'run')}, {open_findings_text(known.findings)}"
    escalated = [
        f"{one.suite} {one.variant} has been degrading for {one.escalation.n_degrading} runs"
        for one in known.trends
        if one.escalation
    ]
    is_critical = any(one.severity == "critical" for one in known.findings)
    tone: Tone = "fail" if escalated or is_critical else "neutral"
    return Conclusion(f"{'; '.join((text, *escalated))}.", tone)


def _counts(known: Overview) -> tuple[dict[str, int], dict[str, int]]:
    cases = known.latest_cases
    statuses = Counter(case.status for case in cases)
    strata = Counter(case.stratum or _UNSTRATIFIED for case in cases)
    order = (*get_args(CaseStratum), _UNSTRATIFIED)
    return dict(sorted(statuses.items())), {name: strata[name] for name in order if strata[name]}


def _trends_table(trends: Sequence[QualityTrend]) -> Table:
    rows: list[dict[str, str | Cell]] = []
    for one in trends:
        direction = direction_cell(one.direction)
        if one.escalation:
            n = one.escalation.n_degrading
            direction = Cell(f"degrading for {n} runs in a row: escalated", "fail")
        is_rate = one.measure == "pass_rate"
        last = figure_text(one.points[-1].figure, is_rate=is_rate) if one.points else numbers.DASH
        rows.append({
            "suite": one.suite,
            "variant": one.variant,
            "measure": "pass rate" if is_rate else one.measure,
            "last value": last,
            "direction": direction,
            "runs": str(len(one.since_break)),
        })  # fmt: skip
    # Without a run of all cases there is nothing to follow.
    return listing_table(rows, "trends")


def _approvals_table(approvals: Iterable[Approval], title: str) -> Table:
    rows = (
        {
            "approval": one.id,
            "variant": one.variant,
            "better than": one.baseline,
            "approved, UTC": f"{one.at:%Y-%m-%d %H:%M}",
            "by": one.by,
            "evidence": ", ".join(one.evidence),
        }
        for one in approvals
    )
    return listing_table(rows, title)


def _commands(known: Overview) -> Iterator[str]:
    if known.runs or known.variant_runs:
        yield "judgekit show RUN has the results of one run, with what refers to it"
    if known.trends:
        yield "judgekit trend SUITE has the whole series and its breaks"
    if known.findings:
        yield "judgekit findings show FINDING --suite SUITE has all of one finding"
    if known.comparisons:
        yield "judgekit show CMP has the result of one comparison"
    if known.approvals:
        yield "judgekit approve --list has the reasons, and says which approvals are stale"


def overview_json(known: Overview) -> dict[str, object]:
    """All that is known of some cases, as JSON."""
    by_status, by_stratum = _counts(known)
    rows = [{**case.to_json(), "runs": [run.id for run in of]} for case, of in known.cases]
    return {
        "cases": rows,
        "n_cases": len(known.latest_cases),
        "by_status": by_status,
        "by_stratum": by_stratum,
        "runs": [run.id for run in known.runs],
        "runs_with_variant": [run.to_json() for run in known.variant_runs],
        "trends": [{"suite": one.suite, **trend_json(one)} for one in known.trends],
        "findings": [one.to_json() for one in known.findings],
        "comparisons": [comparison_json(one) for one in known.comparisons],
        "approvals": [one.to_json() for one in known.approvals],
    }


def relation_lines(run: str, related: RunRelations) -> Lines:
    """What refers to a run."""
    changes = changes_text(related.changes)
    rows = (
        ("findings", f"{changes}; see `judgekit findings --run {run}`" if changes else ""),
        ("compared", ", ".join(one.id for one in related.comparisons)),
        ("approvals", ", ".join(f"{one.id} ({one.variant})" for one in related.approvals)),
    )
    return Lines(tuple(row for row in rows if row[1]))


def relations_json(related: RunRelations) -> dict[str, object]:
    """The ids of what refers to a run."""
    changes = related.changes
    return {
        "findings": {
            "opened": list(changes.opened),
            "continued": list(changes.continued),
            "resolved": list(changes.resolved),
        },
        "comparisons": [one.id for one in related.comparisons],
        "approvals": [one.id for one in related.approvals],
    }
