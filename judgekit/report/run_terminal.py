"""What a run looks like in a terminal, and as JSON."""

from __future__ import annotations

import heapq
from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING

from judgekit.evaluation.preparing.calibrated import calibration_of
from judgekit.judge.heuristic import HEURISTIC
from judgekit.report import gate_view, run_view, terminal, view
from judgekit.report.hanging import Hanging

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console, RenderableType
    from rich.text import Text

    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.evaluation.figures.run_figures import RunSummary
    from judgekit.evaluation.gating import GateHeld
    from judgekit.records.check import AssertionResult
    from judgekit.records.rubric import Rubric
    from judgekit.records.run import RunInfo

_MOST_SHOWN = 5
_MESSAGE_LENGTH = 220


def print_run(console: Console, summary: RunSummary, gate: GateHeld | None = None) -> None:
    """Print a run's table of variants, their differences, and the notes below."""
    rubric = summary.run.rubric
    passes = "" if rubric is None else f"; {_passes(summary.run, rubric)}"
    n = view.count(summary.run.n_cases or 0, "case")
    terminal.print_variants(console, summary.variants, f"{summary.run.suite}: {n}{passes}")
    terminal.print_lines(console, run_view.notes(summary))
    terminal.print_lines(console, [] if gate is None else gate_view.gate_lines(gate))


class Weakest:
    """Keeps the answers that did not pass, worst first, while all of them are read."""

    def __init__(self, most: int = _MOST_SHOWN) -> None:
        self._most = most
        self._n_wanting = 0
        self._n_seen = 0
        self._worst: list[tuple[float, int, Concluded]] = []

    def take(self, answer: Concluded) -> None:
        """Look at one answer."""
        self._n_seen += 1
        result = answer.result
        if answer.passed is True or result.output.error is not None or not result.is_done:
            return
        self._n_wanting += 1
        value = answer.verdict.value_high if answer.verdict is not None else answer.value or 0.0
        heapq.heappush(self._worst, (-value, -self._n_seen, answer))
        if len(self._worst) > self._most:
            heapq.heappop(self._worst)

    def show(self, console: Console) -> None:
        """Print them, where there are any."""
        if not self._worst:
            return
        n = len(self._worst)
        more = f" ({n} of {self._n_wanting:,}; all with -v)" if self._n_wanting > n else ""
        console.print(f"\n[bold]Not passed[/bold][dim]{more}[/dim]", highlight=False)
        for _, _, answer in sorted(self._worst, key=lambda item: (-item[0], -item[1])):
            console.print(answer_lines(answer))


def answer_lines(answer: Concluded) -> RenderableType:
    """One answer with what judges and assertions say of it."""
    result = answer.result
    repeat = f" #{result.repeat + 1}" if result.repeat else ""
    text = terminal.headline(
        answer.passed, result.case.id, f"{result.variant}{repeat}", answer.value
    )
    terminal.append_own(text, answer.verdict)
    if result.output.error is not None:
        text.append(f"\n  no output: {view.printable(result.output.error, _MESSAGE_LENGTH)}")
    for check in result.checks:
        if check.passed is not True:
            _append_check(text, check)
    for part in () if answer.outcome is None else answer.outcome.parts:
        if part.strategy == "semantic_sim" and part.passed is not True:  # no check says it
            text.append(f"\n  {view.one_line(part.message, _MESSAGE_LENGTH)}")
    # What the heuristic judge says are the assertions' own words.
    judgments = [one for one in result.judgments if one.source != "heuristic"]
    failures = [one for one in result.failures if one.judge != HEURISTIC]
    terminal.append_said(text, judgments, failures)
    return Hanging(text, margin=2)


def run_json(
    summary: RunSummary,
    gate: GateHeld | None = None,
    *,
    unmatched: Mapping[str, Sequence[str]] | None = None,
) -> object:
    """A run's figures as JSON; what is undefined is null."""
    looked = {} if unmatched is None else {"unmatched_outputs": dict(unmatched)}
    return _plain(
        {
            "run": summary.run.to_json(),
            "variants": [asdict(variant) for variant in summary.variants],
            "differences": [asdict(difference) for difference in summary.differences],
            "n_waiting": summary.n_waiting,
            "replaced_usd": summary.replaced_usd,
            "gate": gate_view.gate_json(gate),
            "calibration": _calibration(summary),
            **looked,
        }
    )


def _calibration(summary: RunSummary) -> dict[str, object]:
    """Whether the judge is calibrated, which values decide, and what its own come to."""
    use = calibration_of(summary.run)
    return {
        "state": use.state,
        "words": use.words,
        "path": use.path,
        "criteria": list(use.applied),
        "decided_by": "calibrated" if summary.uncalibrated else "raw",
        "uncalibrated": [asdict(variant) for variant in summary.uncalibrated],
    }


def _passes(run: RunInfo, rubric: Rubric) -> str:
    if run.config.get("rubric") is None and run.panel.judges == (HEURISTIC,):
        return "an answer passes when every assertion holds"
    return f"{view.printable(rubric.name)} passes from {rubric.pass_threshold:g}"


def _append_check(text: Text, check: AssertionResult) -> None:
    text.append(f"\n  {view.printable(check.type)} ", style="dim")
    text.append("error  " if check.passed is None else "fails  ", style="yellow")
    text.append(view.one_line(check.error or check.message, _MESSAGE_LENGTH))


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and isnan(value) else value
