"""The words of a suite's gate: what it asks of a run, and whether the run reaches it."""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import view

if TYPE_CHECKING:
    from judgekit.evaluation.gating import DropHeld, GateHeld, TierHeld
    from judgekit.records.record import JsonObject

_TIER_WORDS = {"passed": "reaches", "failed": "is below", "inconclusive": "undecided for"}
_DROP_WORDS = {
    "passed": "within the drop allowed",
    "failed": "fell too far",
    "inconclusive": "undecided",
}


def gate_lines(gate: GateHeld) -> list[str]:
    """What a gate says of a run, a line for each variant and wish."""
    if gate.is_partial:
        return ["gate    not decided: the run did not come to its end"]
    lines = [f"gate    {_tier(one)}" for one in gate.tiers]
    if gate.calibration is not None:
        met = "met" if gate.calibration.held == "passed" else "not met"
        words = view.printable(gate.calibration.words)
        lines.append(f"gate    a calibration is required, {met}: {words}")
    if gate.drops and all(one.baseline is None for one in gate.drops):
        allowed = f"a drop of {gate.drops[0].max_drop:g} allowed"
        return [*lines, f"gate    pass rate: no earlier run of this suite, {allowed}"]
    return lines + [f"gate    {_drop(one)}" for one in gate.drops]


def gate_json(gate: GateHeld | None) -> JsonObject | None:
    """What a gate says of a run as JSON types, nan and all."""
    return None if gate is None else {"held": gate.held, **asdict(gate)}


def _tier(one: TierHeld) -> str:
    who = view.printable(one.variant)
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
        n = view.count(one.n_without, "answer")
        return f"{text}; {n} without a value counted as 0 and as 1: {one.low:.2f} to {one.high:.2f}"
    return f"{text}; more cases would tell"


def _drop(one: DropHeld) -> str:
    who = f"{view.printable(one.variant)}: pass rate"
    allowed = f"a drop of {one.max_drop:g} allowed"
    if one.baseline is None:
        return f"{who}: no earlier run of this suite has it, {allowed}"
    undecided = ""
    if one.n_undecided:
        n = view.count(one.n_undecided, "case is", "cases are")
        undecided = f"; {n} undecided that had a verdict then"
    if one.held is None:
        return f"{who}: no case in common with run {one.baseline}, {allowed}"
    said = _DROP_WORDS[one.held]
    if one.change is None:
        return f"{who} {said}: {allowed}{undecided}"
    e = one.change
    text = (
        f"{who} {said}: {view.signed(e)} since {one.baseline} "
        f"({view.count(e.n, 'case')}), {allowed}"
    )
    return text + (undecided if one.held == "inconclusive" else "")
