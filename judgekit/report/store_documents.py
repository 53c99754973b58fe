"""The documents of what a store holds, with what refers to it; commands and the viewer show them.

Those of single results are built by the other modules.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from judgekit.evaluation import (
    approvals_resting_on,
    compare_stored_scores,
    relations_of_run,
    summarize_comparison,
)
from judgekit.records import ScoreComparisonInfo
from judgekit.report.comparison import comparison_document, score_comparison_document
from judgekit.report.document import Document, Lines, not_empty
from judgekit.report.listings import comparison_json, comparison_setup, score_comparison_setup
from judgekit.report.overview import relation_lines, relations_json
from judgekit.report.pair_cases import comparison_cases
from judgekit.report.run import run_document, run_json
from judgekit.report.run_cases import RunCases
from judgekit.report.run_setup import judging_and_cost
from judgekit.report.side_by_side import score_comparison_cases

if TYPE_CHECKING:
    from judgekit.evaluation import Run, SuiteFindings
    from judgekit.records import ComparisonInfo
    from judgekit.report.judge_replies import JudgeReplies
    from judgekit.store import RunStore


def stored_run_document(
    store: RunStore,
    run: Run,
    replies: JudgeReplies | None = None,
    *,
    followed: SuiteFindings | None = None,
    has_page: bool,
) -> Document:
    """A stored run with what refers to it; of a page also all its cases."""
    cases = RunCases(run.info, replies) if has_page else None
    summary = run.summary(watch=None if cases is None else cases.take)
    gate, related = run.gate(summary), relations_of_run(store, run.info, followed)
    table = () if cases is None else (cases.table(about=judging_and_cost(summary)),)
    document = run_document(summary, gate, answers=table)
    return replace(
        document,
        blocks=not_empty((*document.blocks, relation_lines(run.id, related))),
        data=lambda: {**run_json(summary, gate), **relations_json(related)},
    )


def stored_comparison_document(
    store: RunStore, info: ComparisonInfo | ScoreComparisonInfo, *, has_page: bool
) -> Document:
    """The result of a stored comparison with what was compared; of a page also all its cases."""
    if isinstance(info, ScoreComparisonInfo):
        found = compare_stored_scores(store, info)
        table = None
        if has_page:
            variants = (info.a.variant or "", info.b.variant or "")
            table = score_comparison_cases(store, found, variants, info.tags)[0]
        document = score_comparison_document(found.result, table)
        return _with_setup(store, document, info, score_comparison_setup(info))
    cases = comparison_cases(store, info) if has_page else None
    document = comparison_document(summarize_comparison(store, info), cases)
    return _with_setup(store, document, info, comparison_setup(info))


def _with_setup(
    store: RunStore, document: Document, info: ComparisonInfo | ScoreComparisonInfo, setup: Lines
) -> Document:
    """The result of a comparison with what was compared, and the approvals that rest on it."""
    resting = approvals_resting_on(store, (info.id,))
    names = ", ".join(f"{one.id} ({one.variant})" for one in resting)
    about = Lines((*setup.rows, *([("approvals", names)] if names else [])))
    summary = document.data()
    return replace(
        document,
        blocks=(*document.blocks, about),
        # The JSON has the stored record too; the page has only what follows from it.
        data=lambda: {
            "comparison": comparison_json(info),
            "summary": summary,
            "approvals": [one.id for one in resting],
        },
    )
