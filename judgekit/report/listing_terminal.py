"""Tables of what a store holds: runs, answers, cases and judgments, a row each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.prompts.rendering import judged_text
from judgekit.report import run_view, view

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console
    from rich.text import Text

    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.evaluation.figures.run_figures import RunSummary
    from judgekit.records.case import Case
    from judgekit.records.run import RunInfo
    from judgekit.store.relations import JudgmentOf

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


def print_answers(console: Console, answers: Iterable[tuple[RunInfo, Concluded]]) -> None:
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
                case.agent or view.DASH,
                case.skill or view.DASH,
                case.prompt_version or view.DASH,
                ", ".join(case.tags) or view.DASH,
                f"{len(runs):,}",
                runs[0].id if runs else view.DASH,
            ]
            for case, runs in cases
        ],
    )


def print_judgments(console: Console, judgments: Iterable[JudgmentOf]) -> None:
    """Print a row for each judgment."""
    heads = ["run", "case", "variant", "judge", "raw", "value", "why"]
    print_rows(console, heads, [_judgment_row(one) for one in judgments])


def _run_row(run: RunInfo) -> list[str]:
    names = ", ".join(variant.id for variant in run.variants)
    return [
        run.id,
        run.suite,
        f"{run.started_at:%Y-%m-%d %H:%M}",
        run_view.STATUS_WORDS[run.status],
        view.DASH if run.n_cases is None else f"{run.n_cases:,}",
        names,
    ]


def _rates(summary: RunSummary) -> str:
    return "; ".join(f"{v.variant} {view.rate(v.pass_rate)}" for v in summary.variants)


def _answer_row(run: RunInfo, answer: Concluded) -> list[str]:
    result = answer.result
    repeat = f" #{result.repeat + 1}" if result.repeat else ""
    output = result.output
    said = output.error or judged_text(output)
    return [
        run.id,
        result.case.id,
        f"{result.variant}{repeat}",
        output.run_id or view.DASH,
        "error" if output.error is not None else _PASS_WORDS[answer.passed],
        view.DASH if answer.value is None else f"{answer.value:.2f}",
        view.printable(said, _WORDS_SHOWN),
    ]


def _judgment_row(one: JudgmentOf) -> list[str]:
    judgment, key = one.judgment, one.key
    repeat = f" #{key.repeat + 1}" if key.repeat else ""
    return [
        one.run_id,
        key.case_id,
        f"{key.variant}{repeat}",
        judgment.judge or judgment.source,
        view.score(judgment),
        f"{judgment.value:.2f}",
        view.printable(judgment.rationale, _WORDS_SHOWN),
    ]


def print_rows(console: Console, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of plain texts."""
    from rich import box  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.table import Table  # noqa: PLC0415

    table = Table(header_style="dim", box=box.SIMPLE_HEAD, padding=(0, 1))
    for head in heads:
        is_number = head in {"cases", "pairs", "runs", "raw", "value"}
        is_name = head in {"run", "comparison"}
        table.add_column(
            head,
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=is_name,
        )
    for row in rows:
        table.add_row(*(_literal(cell) for cell in row))
    console.print(table)


def _literal(text: str) -> Text:
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    return Text(view.printable(text))
