"""Builds the documents of what a store lists: runs, cases, answers, judgments, approvals.

And the pairs of one case of a stored comparison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.prompts import judged_text, pairwise_text, to_text
from judgekit.report import message, numbers
from judgekit.report.comparison import comparison_lines
from judgekit.report.document import (
    Block,
    Column,
    ColumnKind,
    Conclusion,
    Document,
    LabelledText,
    Lines,
    Notes,
    Passage,
    Section,
    Table,
    not_empty,
)
from judgekit.report.run import ANSWER_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from judgekit.evaluation import ApprovalStatus, Outcome, RunSummary
    from judgekit.records import (
        Approval,
        Case,
        ComparedPair,
        ComparedSide,
        Comparison,
        ComparisonAnalysis,
        ComparisonInfo,
        ComparisonStatus,
        JsonObject,
        RunInfo,
    )
    from judgekit.store import StoredJudgment

# In a listing a text only has to be recognised; `show RUN CASE` has all of it.
_TEXT_LENGTH = 60

_KINDS: dict[str, ColumnKind] = {
    **dict.fromkeys(("run", "comparison", "last run", "set"), "id"),
    **dict.fromkeys(("cases", "pairs", "runs", "raw", "value", "size", "rows"), "number"),
    **dict.fromkeys(("judge", "output", "rationale"), "ellipsis"),
}
"""How columns are laid out; the others hold texts."""


def listing_table(heads: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> Table:
    """A table of plain texts; ids are never wrapped, so that they can be copied."""
    # Ids contain the time, so that a narrow terminal needs no other column for it.
    columns = tuple(
        Column(head, _KINDS.get(head, "text"), may_drop=head == "started, UTC") for head in heads
    )
    return Table(columns, tuple(map(tuple, rows)), title)


def listing_document(
    title: str, count: str, *blocks: Block, data: Callable[[], object]
) -> Document:
    """A listing; its conclusion is how many there are."""
    return Document(title, Conclusion(f"{count}."), not_empty(blocks), data)


def runs_table(
    runs: Sequence[RunInfo], figures: Sequence[RunSummary] | None = None, title: str = ""
) -> Table:
    """A row for each run."""
    heads = ["run", "suite", "started, UTC", "status", "cases", "variants"]
    rows = [
        [
            run.id,
            run.suite,
            f"{run.started_at:%Y-%m-%d %H:%M}",
            message.RUN_STATUS_WORDS[run.status],
            numbers.DASH if run.n_cases is None else f"{run.n_cases:,}",
            ", ".join(variant.id for variant in run.variants),
        ]
        for run in runs
    ]
    if figures is not None:
        heads.append("passed")
        for row, summary in zip(rows, figures, strict=True):
            rates = (f"{v.variant} {numbers.format_rate(v.pass_rate)}" for v in summary.variants)
            row.append("; ".join(rates))
    return listing_table(heads, rows, title)


def answers_table(answers: Iterable[tuple[RunInfo, Outcome]]) -> Table:
    """A row for each answer, of any run."""
    rows = []
    for run, answer in answers:
        result, output = answer.result, answer.result.output
        rows.append([
            run.id,
            result.case.id,
            _variant(result.variant, result.repeat),
            output.run_id or numbers.DASH,
            "error" if output.error is not None else ANSWER_WORDS[answer.passed][0],
            numbers.format_decimal(answer.value),
            message.printable(output.error or judged_text(output), _TEXT_LENGTH),
        ])  # fmt: skip
    heads = ["run", "case", "variant", "agent run", "verdict", "value", "output"]
    # Only traces of agents have a run of their own; a column of dashes would cost width.
    if all(row[3] == numbers.DASH for row in rows):
        heads, rows = heads[:3] + heads[4:], [row[:3] + row[4:] for row in rows]
    return listing_table(heads, rows)


def cases_table(cases: Iterable[tuple[Case, Sequence[RunInfo]]]) -> Table:
    """A row for each case."""
    rows = [
        [
            case.id,
            case.agent or numbers.DASH,
            case.skill or numbers.DASH,
            case.prompt_version or numbers.DASH,
            ", ".join(case.tags) or numbers.DASH,
            f"{len(runs):,}",
            runs[0].id if runs else numbers.DASH,
        ]
        for case, runs in cases
    ]
    return listing_table(("case", "agent", "skill", "prompt", "tags", "runs", "last run"), rows)


def judgments_table(judgments: Iterable[StoredJudgment]) -> Table:
    """A row for each judgment."""
    rows = [
        [
            one.run_id,
            one.key.case_id,
            _variant(one.key.variant, one.key.repeat),
            one.judgment.judge.partition(" ")[0] or one.judgment.source,
            numbers.format_score(one.judgment),
            f"{one.judgment.value:.2f}",
            message.printable(one.judgment.rationale, _TEXT_LENGTH),
        ]
        for one in judgments
    ]
    return listing_table(("run", "case", "variant", "judge", "raw", "value", "rationale"), rows)


def _variant(variant: str, repeat: int) -> str:
    return f"{variant} #{repeat + 1}" if repeat else variant


_COMPARISON_STATUS_WORDS: dict[ComparisonStatus, str] = {
    "running": "running, or killed",
    "complete": "complete",
    "incomplete": "the judge failed",
    "interrupted": "interrupted",
    "stopped": "stopped",
    "decided": "decided early",
}


def comparisons_table(comparisons: Sequence[ComparisonInfo]) -> Table:
    """A row for each comparison."""
    rows = [
        [
            info.id,
            info.a.label,
            info.b.label,
            info.rubric.name,
            # Without the template, whose fingerprint would take half of a narrow terminal.
            info.judge.partition(" ")[0],
            f"{info.started_at:%Y-%m-%d %H:%M}",
            _COMPARISON_STATUS_WORDS[info.status],
            f"{info.n_pairs:,}",
        ]
        for info in comparisons
    ]
    heads = ("comparison", "A", "B", "rubric", "judge", "started, UTC", "status", "pairs")
    return listing_table(heads, rows)


def comparison_setup(info: ComparisonInfo) -> Lines:
    """When a comparison was made, of what, and how the outputs were shown."""
    reason = f": {info.reason}" if info.reason else ""
    status = f"{_COMPARISON_STATUS_WORDS[info.status]}{reason}"
    labels = f"drawn with seed {info.label_seed}" if info.draw_labels else "none"
    names = "hidden" if info.scrub else "left in"
    return Lines((
        ("comparison", f"{info.id}, started {info.started_at:%Y-%m-%d %H:%M} UTC, {status}"),
        ("A", _side_text(info.a)),
        ("B", _side_text(info.b)),
        ("shown", f"in both orders; labels {labels}; model names {names}"),
    ))  # fmt: skip


def _side_text(side: ComparedSide) -> str:
    parts = [message.printable(side.label)]
    if side.run_id is not None:
        parts.append(f"run {side.run_id}")
    if side.version is not None:
        parts.append(f"version {side.version.fingerprint[:12]}")
        if side.version.model is not None:
            parts.append(message.printable(side.version.model))
    return ", ".join(parts)


def pairs_document(
    info: ComparisonInfo,
    pairs: Sequence[tuple[ComparedPair, Comparison]],
    analyses: Mapping[int, ComparisonAnalysis],
    *,
    data: Callable[[], object],
) -> Document:
    """The pairs of one case: both outputs, all preferences, and why one lost.

    `analyses` has the analyses of losing outputs by the place of the pair.
    """
    labels = {"a": info.a.label, "b": info.b.label}
    results, blocks = [], []
    for pair, comparison in pairs:
        # The first line is the case and the winner, which title and conclusion have.
        lines = comparison_lines(comparison).splitlines()[1:]
        outputs = (
            Passage(pair.a.error or pairwise_text(pair.a), f"A, {info.a.label}"),
            Passage(pair.b.error or pairwise_text(pair.b), f"B, {info.b.label}"),
        )
        analysis = analyses.get(pair.place)
        about = (
            Notes(tuple(line.strip() for line in lines), "judgments"),
            None if analysis is None else Lines(_analysis_rows(analysis), "analysis"),
        )
        winner = labels.get(comparison.winner or "")
        words = "a tie" if comparison.winner == "tie" else "undecided"
        result = f"{message.printable(winner)} is preferred" if winner else words
        if comparison.consistent is False:
            result += " (the two orders conflict)"
        results.append(result)
        title = f"repeat {pair.repeat + 1}" if len(pairs) > 1 else ""
        blocks.append(Section(title, not_empty((*outputs, *about))))
    case = pairs[0][0].case
    return Document(
        title=f"case {case.id}",
        conclusion=Conclusion("; ".join(results)),
        blocks=(Passage(to_text(case.input), "input"), *blocks),
        data=data,
    )


def _analysis_rows(analysis: ComparisonAnalysis) -> tuple[LabelledText, ...]:
    rows = [("strength", one.text) for one in analysis.strengths]
    rows += [("weakness", one.text) for one in analysis.weaknesses]
    for one in analysis.suggestions:
        # A judge may propose to change a passage that the output does not have.
        missing = "" if one.found or not one.before else " (not found in the output)"
        rows += [
            ("change", f"{one.area}: {one.before or 'nothing'}{missing}"),
            ("", f"to: {one.after}  {one.reasoning}"),
        ]
    return tuple(rows)


_STATUS_WORDS: dict[ApprovalStatus, str] = {
    "approved": "approved",
    "stale": "stale: the version changed",
    "unknown": "version not found",
}


def approvals_table(approvals: Sequence[tuple[Approval, ApprovalStatus]]) -> Table:
    """A row for each approval."""
    rows = [
        [
            one.variant,
            one.baseline,
            _STATUS_WORDS[status],
            f"{one.at:%Y-%m-%d %H:%M}",
            one.by,
            message.printable(one.because, _TEXT_LENGTH),
            ", ".join(one.evidence),
        ]
        for one, status in approvals
    ]
    heads = ("variant", "better than", "status", "approved, UTC", "by", "reason", "evidence")
    return listing_table(heads, rows)


def approval_json(approval: Approval, status: ApprovalStatus) -> JsonObject:
    """An approval as JSON."""
    return {**approval.to_json(), "standing": status}
