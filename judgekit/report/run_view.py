"""The words of a run's figures: notes below its table, and how its variants differ."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import view

if TYPE_CHECKING:
    from judgekit.evaluation.figures.run_figures import Difference, RunSummary, VariantFigures
    from judgekit.records.run import RunInfo
    from judgekit.stats.estimate import Estimate

_MEASURES = {"value": "value", "pass_rate": "pass rate"}
_SMALLEST_P = 0.001
_NARROW = 0.02
TARGET_ERROR_WORDS = {
    "timeout": "took too long",
    "exit": "ended with an error code",
    "signal": "was killed",
    "unreadable": "answered what cannot be read",
    "too_large": "answered too much",
    "connection": "could not be reached",
    "http_status": "answered with an HTTP error",
    "exception": "raised an exception",
    "not_recorded": "has no recorded output",
    "model": "its model answered with an error",
    "refused": "its model refused",
    "cancelled": "was not asked",
    "error": "recorded as an error",
}
"""What a kind of error of the system under test is called."""

STATUS_WORDS = {
    "running": "running, or killed",
    "complete": "complete",
    "incomplete": "incomplete",
    "interrupted": "interrupted",
    "stopped": "stopped",
    "waiting": "waits for a person",
}
"""What a run's status is called."""


def notes(summary: RunSummary) -> list[str]:
    """What has to be said of a run beside its table.

    Args:
        summary: The run's figures.

    Returns:
        Lines for a terminal.
    """
    run = summary.run
    status = STATUS_WORDS[run.status] + (f": {run.reason}" if run.reason else "")
    lines = [f"run     {run.id} ({status})", *_partial(summary)]
    lines += [f"judge   {view.printable(judge)}" for judge in run.panel.judges]
    if len(run.panel.judges) > 1:
        lines.append(f"panel   {run.panel.combine}")
    for variant in summary.variants:
        lines += _variant_notes(variant, has_tries=_has_tries(run))
    lines += [difference(d) for d in summary.differences]
    if summary.n_waiting:
        question = view.count(summary.n_waiting, "question waits", "questions wait")
        lines.append(f"people  {question} for a person: judgekit label {run.id}")
    return lines


def difference(found: Difference) -> str:
    """How two variants differ, on one line.

    Args:
        found: The difference.

    Returns:
        For example `differs v2 less v1: value +0.12 [0.03, 0.21], p 0.008 (Holm 0.016), 40 cases`.
    """
    e, measure = found.estimate, _MEASURES.get(found.measure, found.measure)
    names = f"{view.printable(found.second)} less {view.printable(found.first)}"
    interval = "" if isnan(e.low) else f" [{_signed(e.low, e)}, {_signed(e.high, e)}]"
    cases = view.count(e.n, "case")
    if found.p is None:
        return (
            f"differs {names}: {measure} {_signed(e.value, e)}{interval}, no case differs, {cases}"
        )
    p = f"p {_p(found.p)}"
    if found.p_adjusted is not None and _p(found.p_adjusted) != _p(found.p):
        p += f" (Holm {_p(found.p_adjusted)})"
    seen = "" if found.detectable is None else f", {_power(found.detectable)}"
    return f"differs {names}: {measure} {_signed(e.value, e)}{interval}, {p}, {cases}{seen}"


def _power(detectable: float) -> str:
    """From which difference on there is power; values differ by 1 at most."""
    if detectable > 1:
        return "too few cases for 80 % power"
    return f"80 % power from {detectable:.2f}"


def _has_tries(run: RunInfo) -> bool:
    """Whether repeats of a run are tries of what failed."""
    settings = run.config.get("settings")
    return not isinstance(settings, dict) or settings.get("repeats", 1) == 1


def _partial(summary: RunSummary) -> list[str]:
    """How much of a run that did not come to its end is there."""
    n_cases = summary.run.n_cases
    lines = []
    for variant in summary.variants:
        if n_cases is None or (variant.n_cases >= n_cases and not variant.n_unfinished):
            continue
        of_all = f"{variant.n_cases:,} of {view.count(n_cases, 'case')}"
        told = f"{of_all} answered; the figures are of these alone"
        if variant.n_unfinished:
            unfinished = view.count(variant.n_unfinished, "answer")
            told = f"{of_all} begun, {unfinished} not judged to the end; the figures are of these"
        lines.append(f"partial {view.printable(variant.variant)}: {told}")
    return lines


def _variant_notes(variant: VariantFigures, *, has_tries: bool) -> list[str]:
    name, lines = view.printable(variant.variant), []
    lines.append(f"spent   {name}: {_spent(variant)}")
    if variant.n_undecided or variant.n_errors:
        rate = variant.pass_rate
        open_ones = view.count(variant.n_undecided + variant.n_errors, "answer")
        lines.append(
            f"bounds  {name}: {rate.worst * 100:.0f} to {rate.best * 100:.0f} % if the "
            f"{open_ones} without a verdict had failed or passed"
        )
    for kind, n in variant.errors.items():
        lines.append(f"errors  {name}: {view.count(n, 'answer')}: {TARGET_ERROR_WORDS[kind]}")
    for kind, n in variant.failures.items():
        lines.append(
            f"failed  {name}: {view.count(n, 'judgment')}: {view.FAILURE_WORDS[kind]} "
            "(left out of the means, not counted as 0)"
        )
    if variant.scores:
        lines.append(f"scores  {name}: {_scores(variant)}")
    if variant.n_flaky:
        flaky = view.count(variant.n_flaky, "case")
        told = "passed only when tried again" if has_tries else "both passed and did not"
        lines.append(f"flaky   {name}: {flaky} {told}")
    return lines


def _spent(variant: VariantFigures) -> str:
    money = variant.money
    parts = [view.usd(money.total_usd, unknown=not money.is_complete)]
    if money.targets_usd and money.judges_usd:
        parts[0] += f" ({view.usd(money.targets_usd)} answers, {view.usd(money.judges_usd)} judges)"
    if money.saved_usd:
        parts.append(f"{view.usd(money.saved_usd)} saved")
    if money.recorded_usd:
        parts.append(f"its recorded answers had cost {view.usd(money.recorded_usd)}")
    if variant.latency_ms:
        p50, p90 = (view.milliseconds(variant.latency_ms[name]) for name in ("p50", "p90"))
        parts.append(f"answers took {p50} (p90 {p90})")
    return ", ".join(parts)


def _scores(variant: VariantFigures) -> str:
    """The mean of each scorer; what could not be measured for some answers is told."""
    parts = []
    for name, e in variant.scores.items():
        shown = "not measured" if isnan(e.value) else f"{e.value:.2f}"
        gap = f" ({view.count(e.n_missing, 'answer')} without)" if e.n_missing else ""
        parts.append(f"{view.printable(name)} {shown}{gap}")
    return ", ".join(parts)


def _p(p: float) -> str:
    if p < _SMALLEST_P:
        return f"< {_SMALLEST_P}"
    return f"{p:.3f}" if p < 1 else "1"


def _signed(value: float, estimate: Estimate) -> str:
    """A difference, with digits enough to show its interval; what rounds to 0 has no sign."""
    digits = 3 if estimate.high - estimate.low < _NARROW else 2
    shown = f"{value:+.{digits}f}"
    return shown if float(shown) else shown[1:]
