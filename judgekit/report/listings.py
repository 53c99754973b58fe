"""What a store holds, a row each: runs, cases, answers, judgments, comparisons and approvals.

And one stored comparison in detail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.prompts import judged_text, pairwise_text, to_text
from judgekit.report import message, numbers
from judgekit.report.comparison import comparison_lines
from judgekit.report.tables import print_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

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

_PASS_WORDS = {True: "pass", False: "fail", None: "open"}
_WORDS_SHOWN = 60


def print_runs(
    console: Console, runs: Sequence[RunInfo], figures: Sequence[RunSummary] | None = None
) -> None:
    """Print a row for each run."""
    heads = ["run", "suite", "started, UTC", "status", "cases", "variants"]
    rows = [_run_row(run) for run in runs]
    if figures is not None:
        heads.append("passed")
        rows = [[*row, _rates(summary)] for row, summary in zip(rows, figures, strict=True)]
    print_rows(console, heads, rows)


def print_answers(console: Console, answers: Iterable[tuple[RunInfo, Outcome]]) -> None:
    """Print a row for each answer, of any run."""
    heads = ["run", "case", "variant", "agent run", "verdict", "value", "output"]
    print_rows(console, heads, [_answer_row(run, answer) for run, answer in answers])


def print_cases(console: Console, cases: Iterable[tuple[Case, Sequence[RunInfo]]]) -> None:
    """Print a row for each case."""
    heads = ["case", "agent", "skill", "prompt", "tags", "runs", "last run"]
    print_rows(
        console,
        heads,
        [
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
        ],
    )


def print_judgments(console: Console, judgments: Iterable[StoredJudgment]) -> None:
    """Print a row for each judgment."""
    heads = ["run", "case", "variant", "judge", "raw", "value", "why"]
    print_rows(console, heads, [_judgment_row(one) for one in judgments])


def _run_row(run: RunInfo) -> list[str]:
    names = ", ".join(variant.id for variant in run.variants)
    return [
        run.id,
        run.suite,
        f"{run.started_at:%Y-%m-%d %H:%M}",
        message.RUN_STATUS_WORDS[run.status],
        numbers.DASH if run.n_cases is None else f"{run.n_cases:,}",
        names,
    ]


def _rates(summary: RunSummary) -> str:
    return "; ".join(f"{v.variant} {numbers.format_rate(v.pass_rate)}" for v in summary.variants)


def _answer_row(run: RunInfo, answer: Outcome) -> list[str]:
    result = answer.result
    repeat = f" #{result.repeat + 1}" if result.repeat else ""
    output = result.output
    said = output.error or judged_text(output)
    return [
        run.id,
        result.case.id,
        f"{result.variant}{repeat}",
        output.run_id or numbers.DASH,
        "error" if output.error is not None else _PASS_WORDS[answer.passed],
        numbers.DASH if answer.value is None else f"{answer.value:.2f}",
        message.printable(said, _WORDS_SHOWN),
    ]


def _judgment_row(one: StoredJudgment) -> list[str]:
    judgment, key = one.judgment, one.key
    repeat = f" #{key.repeat + 1}" if key.repeat else ""
    return [
        one.run_id,
        key.case_id,
        f"{key.variant}{repeat}",
        judgment.judge or judgment.source,
        numbers.format_score(judgment),
        f"{judgment.value:.2f}",
        message.printable(judgment.rationale, _WORDS_SHOWN),
    ]


_COMPARISON_STATUS_WORDS: dict[ComparisonStatus, str] = {
    "running": "running, or killed",
    "complete": "complete",
    "incomplete": "the judge failed",
    "interrupted": "interrupted",
    "stopped": "stopped",
    "decided": "decided early",
}
"""What each status is called."""

_MOST_TEXT = 600


def print_comparisons(console: Console, found: Sequence[ComparisonInfo]) -> None:
    """Print a row for each comparison."""
    heads = ["comparison", "A", "B", "rubric", "judge", "started, UTC", "status", "pairs"]
    rows = [
        [
            info.id,
            info.a.label,
            info.b.label,
            info.rubric.name,
            info.judge.partition(" ")[0],
            f"{info.started_at:%Y-%m-%d %H:%M}",
            _COMPARISON_STATUS_WORDS[info.status],
            f"{info.n_pairs:,}",
        ]
        for info in found
    ]
    print_rows(console, heads, rows)


def print_comparison_setup(console: Console, info: ComparisonInfo) -> None:
    """Print what each side was and how they were shown."""
    scrubbed = "taken out" if info.scrub else "left in"
    labels = f"drawn, seed {info.label_seed}" if info.draw_labels else "none"
    status = _COMPARISON_STATUS_WORDS[info.status] + (f": {info.reason}" if info.reason else "")
    for line in (
        "",
        f"{info.id}, begun {info.started_at:%Y-%m-%d %H:%M} UTC, {status}",
        f"A       {_side(info.a)}",
        f"B       {_side(info.b)}",
        f"shown   in both orders; labels {labels}; names of makers {scrubbed}",
    ):
        console.print(line, markup=False, soft_wrap=True, style="dim")


def print_pair(
    console: Console,
    info: ComparisonInfo,
    pair: ComparedPair,
    found: Comparison,
    analysis: ComparisonAnalysis | None,
) -> None:
    """Print a pair: the input, both outputs, what the judge said, why the loser lost."""
    repeat = f" #{pair.repeat + 1}" if pair.repeat else ""
    texts = (
        f"case {message.printable(pair.case.id)}{repeat}",
        message.printable(to_text(pair.case.input), _MOST_TEXT),
        f"A, {message.printable(info.a.label)}:",
        message.printable(pair.a.error or pairwise_text(pair.a), _MOST_TEXT),
        f"B, {message.printable(info.b.label)}:",
        message.printable(pair.b.error or pairwise_text(pair.b), _MOST_TEXT),
        comparison_lines(found),
        *([] if analysis is None else _analysis_lines(analysis)),
    )
    for text in texts:
        console.print(text, markup=False, soft_wrap=True)


def _side(side: ComparedSide) -> str:
    parts = [message.printable(side.label)]
    if side.run_id is not None:
        parts.append(f"run {side.run_id}")
    if side.version is not None:
        parts.append(f"version {side.version.fingerprint[:12]}")
        if side.version.model is not None:
            parts.append(message.printable(side.version.model))
    return ", ".join(parts)


def _analysis_lines(analysis: ComparisonAnalysis) -> list[str]:
    lines = [f"      strength: {message.printable(one.text)}" for one in analysis.strengths]
    lines += [f"      weakness: {message.printable(one.text)}" for one in analysis.weaknesses]
    for one in analysis.suggestions:
        doubt = "" if one.found or not one.before else " (not found in the output)"
        before = message.printable(one.before) or "nothing"
        lines.append(f"      change {message.printable(one.area)}: {before}{doubt}")
        lines.append(
            f"        to: {message.printable(one.after)}  {message.printable(one.reasoning)}"
        )
    return lines


STANDING_WORDS: dict[ApprovalStatus, str] = {
    "approved": "approved",
    "stale": "no longer: changed",
    "unknown": "version not found",
}
"""What each standing is called."""

_REASON_LENGTH = 60


def print_approvals(console: Console, found: Sequence[tuple[Approval, ApprovalStatus]]) -> None:
    """Print a row for each approval."""
    heads = ["variant", "better than", "standing", "approved, UTC", "by", "because", "evidence"]
    rows = [
        [
            one.variant,
            one.baseline,
            STANDING_WORDS[standing],
            f"{one.at:%Y-%m-%d %H:%M}",
            one.by,
            message.printable(one.because, _REASON_LENGTH),
            ", ".join(one.evidence),
        ]
        for one, standing in found
    ]
    print_rows(console, heads, rows)


def approval_json(found: Approval, standing: ApprovalStatus) -> JsonObject:
    """An approval as JSON."""
    return {**found.to_json(), "standing": standing}
