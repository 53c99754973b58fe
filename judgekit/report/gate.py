"""The lines of a gate: each requirement, the run it was compared with, and the trend."""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import numbers

if TYPE_CHECKING:
    from judgekit.evaluation import DropGateResult, GateResult, TierGateResult
    from judgekit.records import JsonObject
    from judgekit.report.document import LabelledText


def gate_lines(gate: GateResult) -> list[LabelledText]:
    """The result of each requirement of a gate, for each variant."""
    # The cases that are missing could still turn the result either way.
    if gate.is_partial:
        return [("gate", "not decided: the run is not complete")]
    lines = [("gate", _tier_text(one)) for one in gate.tiers]
    if gate.calibration is not None:
        met = "met" if gate.calibration.held == "passed" else "not met"
        words = gate.calibration.words
        lines.append(("gate", f"a calibration is required, {met}: {words}"))
    if gate.drops and all(one.baseline is None and one.problem is None for one in gate.drops):
        allowed = f"a drop of {gate.drops[0].max_drop:g} allowed"
        return [*lines, ("gate", f"pass rate: no earlier run of this suite, {allowed}")]
    for drop in gate.drops:
        lines.append(("gate", _drop_text(drop)))
        lines += [("", note) for note in drop.notes]
        if drop.hint is not None:
            lines.append(("", drop.hint))
    for trend in gate.trends:
        if trend.direction.direction != "stable":
            rates = " → ".join(f"{rate * 100:.0f}" for rate in trend.rates[-trend.direction.n :])
            runs = numbers.format_count(len(trend.rates), "comparable run")
            words = f"pass rate {trend.direction.direction} over {runs}: {rates} %"
            lines.append(("trend", f"{trend.variant}: {words}"))
    return lines


def gate_words(gate: GateResult) -> str:
    """The result of a gate in one line."""
    return "; ".join(text for label, text in gate_lines(gate) if label == "gate")


def gate_json(gate: GateResult | None) -> JsonObject | None:
    """The result of a gate as JSON types, still with nan."""
    return None if gate is None else {"held": gate.held, **asdict(gate)}


# The interval decides by default; another rule is named.
_RULE_WORDS = {"interval": "", "point": ", decided by the measured value (rule: point)"}


def _tier_text(one: TierGateResult) -> str:
    words = {"passed": "reaches", "failed": "is below", "inconclusive": "undecided for"}[one.held]
    result = f"{one.variant}: {words} {one.tier}"
    if isnan(one.value.value):
        return f"{result}: no answer has a value, {one.least:g} required"
    value = f"value {one.value.value:.2f}"
    if not isnan(one.value.low):
        value += f" [{one.value.low:.2f}, {one.value.high:.2f}]"
    text = f"{result}: {value}, {one.least:g} required{_RULE_WORDS[one.rule]}"
    if one.held != "inconclusive":
        return text
    if one.n_without:
        n = numbers.format_count(one.n_without, "answer")
        return f"{text}; {n} without a value counted as 0 and as 1: {one.low:.2f} to {one.high:.2f}"
    return f"{text}; more cases are needed"


def _drop_text(one: DropGateResult) -> str:
    variant = f"{one.variant}: pass rate"
    allowed = f"a drop of {one.max_drop:g} allowed{_RULE_WORDS[one.rule]}"
    if one.problem is not None:
        return f"{variant} undecided: {one.problem}"
    if one.baseline is None:
        return f"{variant}: no earlier run of this suite has it, {allowed}"
    if one.held is None:
        return f"{variant}: no case in common with run {one.baseline}, {allowed}"
    undecided = ""
    if one.n_undecided:
        n = numbers.format_count(one.n_undecided, "case is", "cases are")
        undecided = f"; {n} undecided now and had a verdict then"
    words = {
        "passed": "within the allowed drop",
        "failed": "dropped too far",
        "inconclusive": "undecided",
    }[one.held]
    if one.change is None:
        return f"{variant} {words}: {allowed}{undecided}"
    e = one.change
    cases = numbers.format_count(e.n, "case")
    which = "the best run " if one.against == "best" else ""
    change = f"{numbers.format_difference(e)} since {which}{one.baseline} ({cases})"
    # The allowed drop is in points, the critical one a share of the earlier rate.
    lost = ""
    if one.relative is not None and one.relative > 0:
        lost = f", {one.relative:.0%} of the rate{' (critical)' if one.is_critical else ''}"
    text = f"{variant} {words}: {change}{lost}, {allowed}"
    return text + (undecided if one.held == "inconclusive" else "")
