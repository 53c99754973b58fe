"""The figures of a run: variant table, differences, notes, gate and JSON.

Single answers are in `answers`.
"""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING, cast

from judgekit.evaluation import (
    SIMILARITY_KEY,
    UNASKED_RUBRICS_KEY,
    calibration_of_run,
    default_rubrics_in,
    has_model_judges,
)
from judgekit.judge import HEURISTIC
from judgekit.report import message, numbers, tables
from judgekit.report.exports import verdict_json
from judgekit.report.message import RUN_STATUS_WORDS, TARGET_ERROR_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from judgekit.evaluation import (
        DropGateResult,
        GateResult,
        RunSummary,
        TierGateResult,
        VariantDifference,
        VariantFigures,
    )
    from judgekit.records import JsonObject, Rubric, RunInfo, Verdict
    from judgekit.report.tables import VariantRow


def print_run(
    console: Console,
    summary: RunSummary,
    gate: GateResult | None = None,
    *,
    is_stored: bool = True,
) -> None:
    """Print a run's table of variants, their differences, and the notes below."""
    rubric = summary.run.rubric
    passes = "" if rubric is None else f"; {_passes(summary.run, rubric)}"
    n = numbers.format_count(summary.run.n_cases or 0, "case")
    tables.print_variant_table(console, summary.variants, f"{summary.run.suite}: {n}{passes}")
    tables.print_lines(console, run_notes(summary, is_stored=is_stored))
    tables.print_lines(console, [] if gate is None else gate_lines(gate))


def run_json(
    summary: RunSummary,
    gate: GateResult | None = None,
    *,
    unmatched: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, object]:
    """A run's figures as JSON; what is undefined is null."""
    looked = {} if unmatched is None else {"unmatched_outputs": dict(unmatched)}
    whole = _nan_to_null(
        {
            "run": summary.run.to_json(),
            "variants": [asdict(variant) for variant in summary.variants],
            "differences": [asdict(difference) for difference in summary.differences],
            "n_waiting": summary.n_waiting,
            "replaced_usd": summary.replaced_usd,
            "gate": gate_json(gate),
            "calibration": _calibration_json(summary),
            **looked,
        }
    )
    return cast("dict[str, object]", whole)


def grading_json(summary: RunSummary, verdicts: Sequence[Verdict]) -> dict[str, object]:
    """What the JSON of a grading has beside a run's: one summary, and every verdict."""
    figures = {
        name: getattr(summary, name)
        for name in (
            "rubric", "pass_threshold", "judges", "models", "failures", "failure_messages",
            "n_evidence", "n_evidence_found", "flags", "calibration_state", "calibration",
        )
    }  # fmt: skip
    whole = {
        **figures,
        "spent": asdict(summary.spent),
        "variants": [_grading_variant(variant) for variant in summary.variants],
        "uncalibrated": [_grading_variant(variant) for variant in summary.uncalibrated],
    }
    return {"summary": _nan_to_null(whole), "verdicts": [verdict_json(one) for one in verdicts]}


def _grading_variant(variant: VariantFigures) -> dict[str, object]:
    return {"n": variant.n, "pass_rate_bounds": variant.pass_rate_bounds, **asdict(variant)}


def _calibration_json(summary: RunSummary) -> dict[str, object]:
    """Whether the judge is calibrated, which values decide, and what its own come to."""
    use = calibration_of_run(summary.run)
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
    return f"{message.printable(rubric.name)} passes from {rubric.pass_threshold:g}"


def _nan_to_null(value: object) -> object:
    if isinstance(value, dict):
        return {key: _nan_to_null(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_nan_to_null(item) for item in value]
    return None if isinstance(value, float) and isnan(value) else value


_MEASURES = {"value": "value", "pass_rate": "pass rate"}
_SMALLEST_P = 0.001


def run_notes(summary: RunSummary, *, is_stored: bool = True) -> list[str]:
    """What has to be said of a run beside its table."""
    run = summary.run
    status = RUN_STATUS_WORDS[run.status] + (
        f": {message.one_line(run.reason)}" if run.reason else ""
    )
    name = run.id if is_stored else "not stored"
    lines = [f"run     {name} ({status})", *_partial(summary)]
    if measure := run.config.get(SIMILARITY_KEY):
        lines.append(f"similar {message.printable(str(measure))}")
    lines += [f"rubric  {words}" for words in default_rubric_lines(default_rubrics_in(run.config))]
    if n_unasked := run.config.get(UNASKED_RUBRICS_KEY):
        have = numbers.format_count(int(str(n_unasked)), "case has", "cases have")
        lines.append(f"rubric  {have} one that was not asked, for there is no judge: --judge MODEL")
    lines += [f"judge   {message.printable(judge)}" for judge in run.panel.judges]
    if len(run.panel.judges) > 1:
        lines.append(f"panel   {run.panel.combine}")
    if has_model_judges(run):
        lines += judge_calibration_lines(summary.calibration, summary.uncalibrated)
    lines += _reply_lines(summary)
    messages = dict(summary.failure_messages)
    for variant in summary.variants:
        lines += _variant_notes(variant, messages, has_tries=run.repeats == 1)
    if summary.replaced_usd:
        lines.append(
            f"spent   {numbers.format_usd(summary.replaced_usd)} more for what was replaced since"
        )
    lines += [difference_line(d) for d in summary.differences]
    if summary.n_waiting:
        question = numbers.format_count(summary.n_waiting, "question waits", "questions wait")
        lines.append(f"people  {question} for a person: judgekit label {run.id}")
    return lines


def _reply_lines(summary: RunSummary) -> list[str]:
    """What was asked of the judges, and what their judgments are marked with."""
    lines = [f"asked   {numbers.format_spending(summary.spent)}"] if summary.spent.n_replies else []
    if summary.n_evidence:
        lines.append(
            f"quotes  {summary.n_evidence_found} of {summary.n_evidence} passages that the judge "
            "quoted are in the outputs"
        )
    for flag, n in summary.flags.items():
        if flag != "evidence_not_found":  # the line above counts those
            words = message.FLAG_WORDS.get(flag, flag)
            lines.append(f"marked  {numbers.format_count(n, 'judgment')}: {words}")
    return lines


def default_rubric_lines(found: Sequence[JsonObject]) -> list[str]:
    """What cases are judged by that name no rubric, in words."""
    return [_default_rubric_line(one) for one in found]


def _default_rubric_line(one: JsonObject) -> str:
    name, cases = (
        message.printable(str(one["rubric"])),
        numbers.format_count(int(str(one["n_cases"])), "case"),
    )
    of = "of their profile" if one["because"] == "profile" else "which asks for their reference"
    return f"{name} (shipped), {of}, for {cases} without a rubric"


def judge_calibration_lines(words: str, own: Sequence[VariantRow]) -> list[str]:
    """Whether a judge is calibrated, and what its own values come to where maps decide."""
    lines = [f"trust   {message.printable(words)}"]
    if own:
        where = "" if words.startswith("calibrated") else " where maps hold"
        lines.append(f"        calibrated values decide{where}; by the judge's own values:")
    for variant in own:
        name = message.printable(variant.variant) or "all"
        rate, value = numbers.format_rate(variant.pass_rate), numbers.format_mean(variant.value)
        lines.append(f"        {name}: passed {rate}, value {value}")
    return lines


def undecided_reason(summary: RunSummary) -> str:
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


def difference_line(found: VariantDifference) -> str:
    """How two variants differ, on one line."""
    e, measure = found.estimate, _MEASURES.get(found.measure, found.measure)
    names = f"{message.printable(found.second)} less {message.printable(found.first)}"
    cases = numbers.format_count(e.n, "case")
    if found.p is None:
        return (
            f"differs {names}: {measure} {numbers.format_difference(e)}, no case differs, {cases}"
        )
    p = f"p {_p(found.p)}"
    if found.p_adjusted is not None and _p(found.p_adjusted) != _p(found.p):
        p += f" (Holm {_p(found.p_adjusted)})"
    seen = "" if found.detectable is None else f", {_power(found.detectable)}"
    return f"differs {names}: {measure} {numbers.format_difference(e)}, {p}, {cases}{seen}"


def _all(n: int, noun: str) -> str:
    return f"the only {noun}" if n == 1 else f"each of {numbers.format_count(n, noun)}"


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
        of_all = f"{variant.n_cases:,} of {numbers.format_count(n_cases, 'case')}"
        told = f"{of_all} answered; the figures are of these alone"
        if variant.n_unfinished:
            unfinished = numbers.format_count(variant.n_unfinished, "answer")
            told = f"{of_all} begun, {unfinished} not judged to the end; the figures are of these"
        lines.append(f"partial {message.printable(variant.variant)}: {told}")
    return lines


def _variant_notes(
    variant: VariantFigures, messages: dict[str, str], *, has_tries: bool
) -> list[str]:
    name, lines = message.printable(variant.variant), []
    lines.append(f"spent   {name}: {_spent(variant)}")
    if variant.n_undecided or variant.n_errors:
        rate = variant.pass_rate
        open_ones = numbers.format_count(variant.n_undecided + variant.n_errors, "answer")
        lines.append(
            f"bounds  {name}: {rate.worst * 100:.0f} to {rate.best * 100:.0f} % if the "
            f"{open_ones} without a verdict had failed or passed"
        )
    for kind, n in variant.errors.items():
        lines.append(
            f"errors  {name}: {numbers.format_count(n, 'answer')}: {TARGET_ERROR_WORDS[kind]}"
        )
    for kind, n in variant.failures.items():
        lines.append(
            f"failed  {name}: {numbers.format_count(n, 'judgment')}: {message.FAILURE_WORDS[kind]} "
            "(left out of the means, not counted as 0)"
        )
        if (first := messages.pop(kind, None)) is not None:  # once, though several variants have it
            lines.append(f"        {message.one_line(first, 300)}")
    if variant.scores:
        lines.append(f"scores  {name}: {_scores(variant)}")
    if variant.n_flaky:
        flaky = numbers.format_count(variant.n_flaky, "case")
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
    said = [f"{numbers.format_usd(amount)} {name}" for name, amount in ways.items() if amount]
    if len(said) > 1:
        parts[0] += f" ({', '.join(said)})"
    if money.saved_usd:
        parts.append(f"{numbers.format_usd(money.saved_usd)} saved")
    if money.recorded_usd:
        parts.append(f"its recorded answers had cost {numbers.format_usd(money.recorded_usd)}")
    if variant.latency_ms:
        p50, p90 = (
            numbers.format_milliseconds(variant.latency_ms[name]) for name in ("p50", "p90")
        )
        parts.append(f"answers took {p50} (p90 {p90})")
    return ", ".join(parts)


def _paid(variant: VariantFigures) -> str:
    """What was paid; where its answers say nothing of their cost, that is said."""
    money = variant.money
    if not money.n_unreported:
        return numbers.format_usd(money.total_usd, unknown=not money.is_complete)
    is_all = money.n_unreported >= variant.n_answers and not money.targets_usd
    who = "its answers" if is_all else numbers.format_count(money.n_unreported, "answer")
    unknown = f"{who} reported no cost"
    return f"{numbers.format_usd(money.total_usd)}, and {unknown}" if money.total_usd else unknown


def _scores(variant: VariantFigures) -> str:
    """The mean of each scorer; what could not be measured for some answers is told."""
    parts = []
    for name, e in variant.scores.items():
        shown = "not measured" if isnan(e.value) else f"{e.value:.2f}"
        gap = f" ({numbers.format_count(e.n_missing, 'answer')} without)" if e.n_missing else ""
        parts.append(f"{message.printable(name)} {shown}{gap}")
    return ", ".join(parts)


def _p(p: float) -> str:
    if p < _SMALLEST_P:
        return f"< {_SMALLEST_P}"
    return f"{p:.3f}" if p < 1 else "1"


_TIER_WORDS = {"passed": "reaches", "failed": "is below", "inconclusive": "undecided for"}

_DROP_WORDS = {
    "passed": "within the drop allowed",
    "failed": "fell too far",
    "inconclusive": "undecided",
}


def gate_lines(gate: GateResult) -> list[str]:
    """What a gate says of a run, a line for each variant and wish."""
    if gate.is_partial:
        return ["gate    not decided: the run did not come to its end"]
    lines = [f"gate    {_tier(one)}" for one in gate.tiers]
    if gate.calibration is not None:
        met = "met" if gate.calibration.held == "passed" else "not met"
        words = message.printable(gate.calibration.words)
        lines.append(f"gate    a calibration is required, {met}: {words}")
    if gate.drops and all(one.baseline is None for one in gate.drops):
        allowed = f"a drop of {gate.drops[0].max_drop:g} allowed"
        return [*lines, f"gate    pass rate: no earlier run of this suite, {allowed}"]
    return lines + [f"gate    {_drop(one)}" for one in gate.drops]


def gate_json(gate: GateResult | None) -> JsonObject | None:
    """What a gate says of a run as JSON types, nan and all."""
    return None if gate is None else {"held": gate.held, **asdict(gate)}


def _tier(one: TierGateResult) -> str:
    who = message.printable(one.variant)
    said = f"{who}: {_TIER_WORDS[one.held]} {one.tier}"
    if isnan(one.value.value):
        return f"{said}: no answer has a value, {one.least:g} asked"
    found = f"value {one.value.value:.2f}"
    if not isnan(one.value.low):
        found += f" [{one.value.low:.2f}, {one.value.high:.2f}]"
    text = f"{said}: {found}, {one.least:g} asked"
    if one.held != "inconclusive":
        return text
    if one.n_without:
        n = numbers.format_count(one.n_without, "answer")
        return f"{text}; {n} without a value counted as 0 and as 1: {one.low:.2f} to {one.high:.2f}"
    return f"{text}; more cases would tell"


def _drop(one: DropGateResult) -> str:
    who = f"{message.printable(one.variant)}: pass rate"
    allowed = f"a drop of {one.max_drop:g} allowed"
    if one.baseline is None:
        return f"{who}: no earlier run of this suite has it, {allowed}"
    undecided = ""
    if one.n_undecided:
        n = numbers.format_count(one.n_undecided, "case is", "cases are")
        undecided = f"; {n} undecided that had a verdict then"
    if one.held is None:
        return f"{who}: no case in common with run {one.baseline}, {allowed}"
    said = _DROP_WORDS[one.held]
    if one.change is None:
        return f"{who} {said}: {allowed}{undecided}"
    e = one.change
    text = (
        f"{who} {said}: {numbers.format_difference(e)} since {one.baseline} "
        f"({numbers.format_count(e.n, 'case')}), {allowed}"
    )
    return text + (undecided if one.held == "inconclusive" else "")
