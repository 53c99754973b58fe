"""The words of a run's figures: notes below its table, and how its variants differ."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from judgekit.evaluation.preparing.calibrated import calibration_of, has_models
from judgekit.evaluation.preparing.case_plans import MEASURE
from judgekit.evaluation.preparing.default_rubrics import UNASKED, by_default_in
from judgekit.report import view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.figures.run_figures import Difference, RunSummary, VariantFigures
    from judgekit.records.record import JsonObject
    from judgekit.report.view import VariantRow

_MEASURES = {"value": "value", "pass_rate": "pass rate"}
_SMALLEST_P = 0.001
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
    """What has to be said of a run beside its table."""
    run = summary.run
    status = STATUS_WORDS[run.status] + (f": {view.one_line(run.reason)}" if run.reason else "")
    lines = [f"run     {run.id} ({status})", *_partial(summary)]
    if measure := run.config.get(MEASURE):
        lines.append(f"similar {view.printable(str(measure))}")
    lines += [f"rubric  {words}" for words in default_rubrics(by_default_in(run.config))]
    if n_unasked := run.config.get(UNASKED):
        have = view.count(int(str(n_unasked)), "case has", "cases have")
        lines.append(f"rubric  {have} one that was not asked, for there is no judge: --judge MODEL")
    lines += [f"judge   {view.printable(judge)}" for judge in run.panel.judges]
    if len(run.panel.judges) > 1:
        lines.append(f"panel   {run.panel.combine}")
    if has_models(run):
        lines += trust_lines(calibration_of(run).words, summary.uncalibrated)
    for variant in summary.variants:
        lines += _variant_notes(variant, has_tries=run.repeats == 1)
    if summary.replaced_usd:
        lines.append(f"spent   {view.usd(summary.replaced_usd)} more for what was replaced since")
    lines += [difference(d) for d in summary.differences]
    if summary.n_waiting:
        question = view.count(summary.n_waiting, "question waits", "questions wait")
        lines.append(f"people  {question} for a person: judgekit label {run.id}")
    return lines


def default_rubrics(found: Sequence[JsonObject]) -> list[str]:
    """What cases are judged by that name no rubric, in words."""
    return [_default_rubric(one) for one in found]


def _default_rubric(one: JsonObject) -> str:
    name, cases = view.printable(str(one["rubric"])), view.count(int(str(one["n_cases"])), "case")
    of = "of their profile" if one["because"] == "profile" else "which asks for their reference"
    return f"{name} (shipped), {of}, for {cases} without a rubric"


def trust_lines(words: str, own: Sequence[VariantRow]) -> list[str]:
    """Whether a judge is calibrated, and what its own values come to where maps decide."""
    lines = [f"trust   {view.printable(words)}"]
    if own:
        where = "" if words.startswith("calibrated") else " where maps hold"
        lines.append(f"        calibrated values decide{where}; by the judge's own values:")
    for variant in own:
        name = view.printable(variant.variant) or "all"
        rate, value = view.rate(variant.pass_rate), view.number(variant.value)
        lines.append(f"        {name}: passed {rate}, value {value}")
    return lines


def nothing_found(summary: RunSummary) -> str:
    """Why nothing is known after a run, on one line."""
    variants = summary.variants
    n, n_errors = sum(v.n_answers for v in variants), sum(v.n_errors for v in variants)
    if n and n_errors == n:
        return f"nothing was decided: {_all(n, 'answer')} is an error of its variant"
    if summary.failures:
        n_failures = sum(summary.failures.values())
        return f"nothing was decided: {_all(n_failures, 'judgment')} failed"
    if any(variant.assertions for variant in variants):
        return "nothing was decided: no assertion could be checked"
    if summary.run.rubric is not None and not summary.run.panel.judges:
        return "nothing was decided: there is a rubric and no judge; add `judge:`, or give --judge"
    return (
        "nothing was decided, for the suite says nothing to decide by: give it `assertions`, or a "
        "`rubric` and a `judge` (--judge alone holds answers against their cases' references)"
    )


def difference(found: Difference) -> str:
    """How two variants differ, on one line."""
    e, measure = found.estimate, _MEASURES.get(found.measure, found.measure)
    names = f"{view.printable(found.second)} less {view.printable(found.first)}"
    cases = view.count(e.n, "case")
    if found.p is None:
        return f"differs {names}: {measure} {view.signed(e)}, no case differs, {cases}"
    p = f"p {_p(found.p)}"
    if found.p_adjusted is not None and _p(found.p_adjusted) != _p(found.p):
        p += f" (Holm {_p(found.p_adjusted)})"
    seen = "" if found.detectable is None else f", {_power(found.detectable)}"
    return f"differs {names}: {measure} {view.signed(e)}, {p}, {cases}{seen}"


def _all(n: int, noun: str) -> str:
    return f"the only {noun}" if n == 1 else f"each of {view.count(n, noun)}"


def _power(detectable: float) -> str:
    """From which difference on there is power; values differ by 1 at most."""
    if detectable > 1:
        return "too few cases for 80 % power"
    return f"80 % power from {detectable:.2f}"


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
    parts = [_paid(variant)]
    ways = {
        "answers": money.targets_usd,
        "judges": money.judges_usd,
        "embeddings": money.checks_usd,
    }
    said = [f"{view.usd(amount)} {name}" for name, amount in ways.items() if amount]
    if len(said) > 1:
        parts[0] += f" ({', '.join(said)})"
    if money.saved_usd:
        parts.append(f"{view.usd(money.saved_usd)} saved")
    if money.recorded_usd:
        parts.append(f"its recorded answers had cost {view.usd(money.recorded_usd)}")
    if variant.latency_ms:
        p50, p90 = (view.milliseconds(variant.latency_ms[name]) for name in ("p50", "p90"))
        parts.append(f"answers took {p50} (p90 {p90})")
    return ", ".join(parts)


def _paid(variant: VariantFigures) -> str:
    """What was paid; where its answers say nothing of their cost, that is said."""
    money = variant.money
    if not money.n_unreported:
        return view.usd(money.total_usd, unknown=not money.is_complete)
    is_all = money.n_unreported >= variant.n_answers and not money.targets_usd
    who = "its answers" if is_all else view.count(money.n_unreported, "answer")
    unknown = f"{who} reported no cost"
    return f"{view.usd(money.total_usd)}, and {unknown}" if money.total_usd else unknown


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
