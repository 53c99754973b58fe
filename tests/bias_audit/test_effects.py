from __future__ import annotations

from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from judgekit.bias_audit import ProbeResult
from judgekit.bias_audit.results import (
    adjust_p_values,
    share_effect,
    share_verdict,
    shift_effect,
    signed_verdict,
)
from judgekit.stats.estimate import Estimate

if TYPE_CHECKING:
    from judgekit.bias_audit import Effect, EffectVerdict


def estimate(low: float, high: float) -> Estimate:
    return Estimate(value=(low + high) / 2, low=low, high=high, n=20, method="t")


@pytest.mark.parametrize(
    ("low", "high", "either", "up"),
    [
        (-0.02, 0.03, "none_seen", "none_seen"),
        (0.01, 0.03, "small", "small"),
        (-0.03, -0.01, "small", "none_seen"),
        (0.06, 0.10, "material", "material"),
        (-0.10, -0.06, "material", "none_seen"),
        (-0.20, 0.02, "cannot_say", "none_seen"),
        (0.01, 0.20, "material", "material"),
        (0.01, 0.06, "cannot_say", "cannot_say"),
        (-0.02, 0.20, "cannot_say", "cannot_say"),
        (nan, nan, "cannot_say", "cannot_say"),
    ],
)
def test_the_interval_of_a_shift_says_what_may_be_said(
    low: float, high: float, either: str, up: str
) -> None:
    assert signed_verdict(estimate(low, high), 0.05) == either
    assert signed_verdict(estimate(low, high), 0.05, "up") == up


@pytest.mark.parametrize(
    ("low", "value", "high", "verdict"),
    [
        (0.0, 0.0, 0.08, "none_seen"),
        (0.01, 0.02, 0.08, "small"),
        (0.0, 0.0, 0.2, "cannot_say"),
        (0.05, 0.3, 0.5, "cannot_say"),
        (0.12, 0.3, 0.5, "material"),
        (nan, nan, nan, "cannot_say"),
    ],
)
def test_the_interval_of_a_share_says_what_may_be_said(
    low: float, value: float, high: float, verdict: str
) -> None:
    found = Estimate(value=value, low=low, high=high, n=20, method="wilson")
    assert share_verdict(found, 0.10) == verdict


@given(st.floats(-1, 1), st.floats(0.001, 1), st.floats(0.01, 0.5))
def test_a_wider_interval_never_makes_a_verdict_material(
    value: float, half: float, margin: float
) -> None:
    """Doubt takes certainty away: what is material with it is material without."""
    wide = Estimate(value=value, low=value - half, high=value + half, n=9, method="t")
    narrow = Estimate(value=value, low=value - half / 2, high=value + half / 2, n=9, method="t")
    if signed_verdict(wide, margin) == "material":
        assert signed_verdict(narrow, margin) == "material"


def test_a_shift_is_the_mean_over_cases_with_its_interval() -> None:
    effect = shift_effect(
        "padding", [0.5] * 40, [0.75] * 40, cases=[f"c{n}" for n in range(40)], margin=0.05
    )
    assert effect.estimate.value == 0.25
    assert 0.2 < effect.estimate.low < 0.25 < effect.estimate.high < 0.3
    assert (effect.verdict, effect.n_to_tell, effect.scale) == ("material", None, "value")
    assert effect.p is not None


def test_a_case_counts_once_however_often_it_was_tried() -> None:
    effect = shift_effect("x", [0.0, 0.0, 0.0], [1.0, 1.0, 0.0], cases=["a", "a", "b"], margin=0.05)
    assert effect.estimate.value == 0.5
    assert effect.estimate.n == 2


def test_a_drop_is_said_where_only_a_rise_would_be_a_bias() -> None:
    cases = [f"c{n}" for n in range(30)]
    effect = shift_effect("x", [0.9] * 30, [0.5] * 30, cases=cases, margin=0.05, harm="up")
    assert effect.verdict == "none_seen"
    assert effect.note == "it lowers the score, which is no bias"


def test_an_effect_that_cannot_be_told_says_how_many_cases_would_tell() -> None:
    before = [0.5] * 12
    after = [0.5 + (0.25 if n % 3 else -0.25) for n in range(12)]
    cases = [f"c{n}" for n in range(12)]
    effect = shift_effect("x", before, after, cases=cases, margin=0.05)
    assert effect.verdict == "cannot_say"
    assert effect.n_to_tell is not None
    assert effect.n_to_tell > 12


def test_nobody_knows_how_many_cases_would_tell_at_the_very_margin() -> None:
    effect = share_effect("x", [1.0] + [0.0] * 9, cases=list("abcdefghij"), margin=0.1)
    assert (effect.estimate.value, effect.verdict) == (0.1, "cannot_say")
    assert effect.n_to_tell is not None  # it is material then, and the way to 0 is left
    far = share_effect("x", [1.0] * 8 + [0.0] * 2, cases=list("abcdefghij"), margin=0.80000001)
    assert far.n_to_tell is None


def test_without_any_answer_an_effect_is_undefined_and_cannot_be_said() -> None:
    for effect in (
        shift_effect("x", [None, 0.5], [0.5, None], cases=["a", "b"], margin=0.05),
        share_effect("x", [None, None], cases=["a", "b"], margin=0.05),
    ):
        assert isnan(effect.estimate.value)
        assert effect.estimate.n_missing == 2
        assert effect.estimate.reason == "no case has both answers"
        assert (effect.verdict, effect.n_to_tell) == ("cannot_say", None)


def test_a_figure_that_decides_nothing_has_no_verdict() -> None:
    effect = share_effect("x", [1.0, 1.0], cases=["a", "b"], margin=0.05, decides=False)
    assert effect.verdict is None


def test_p_values_are_adjusted_over_all_probes_and_missing_ones_stay_missing() -> None:
    cases = [f"c{n}" for n in range(20)]
    moved = shift_effect(
        "x", [0.0] * 20, [0.1 * (n % 5) for n in range(20)], cases=cases, margin=0.05
    )
    still = shift_effect("y", [0.0] * 20, [0.0] * 20, cases=cases, margin=0.05)
    weak = shift_effect(
        "z", [0.0] * 20, [0.1 * (n % 2) for n in range(20)], cases=cases, margin=0.05
    )
    alone = shift_effect("u", [0.0], [1.0], cases=["a"], margin=0.05)
    probes = [
        ProbeResult(name="a", question="?", status="done", effects=(moved, still)),
        ProbeResult(name="b", question="?", status="done", effects=(weak, alone), parts=(moved,)),
    ]
    first, second = adjust_p_values(probes, level=0.95)
    assert moved.p is not None
    assert weak.p is not None
    assert first.effects[0].p_adjusted == pytest.approx(4 * moved.p)
    assert (still.p, first.effects[1].p_adjusted) == (1.0, 1.0)  # a look that saw nothing
    assert second.effects[0].p_adjusted == pytest.approx(2 * weak.p)
    assert (alone.p, second.effects[1].p_adjusted) == (None, None)
    assert second.parts[0].p_adjusted == first.effects[0].p_adjusted


def test_a_rate_has_the_exact_p_of_no_more_than_its_margin() -> None:
    """P(X >= 4) of ten tries at 0.1 is 0.0128 (R: pbinom(3, 10, 0.1, lower.tail = FALSE))."""
    cases = list("abcdefghij")

    def p(*outcomes: float, decides: bool = True) -> float | None:
        return share_effect("x", outcomes, cases=cases, margin=0.1, decides=decides).p

    assert p(*[1.0] * 4, *[0.0] * 6) == pytest.approx(0.012795, abs=1e-6)
    assert p(*[0.0] * 10) == 1.0
    assert p(*[1.0] * 10) == pytest.approx(1e-10)
    assert p(*[1.0] * 10, decides=False) is None


def test_a_rate_that_is_above_its_margin_by_chance_among_so_many_cannot_be_said() -> None:
    seen = share_effect("x", [1.0] * 4 + [0.0] * 6, cases=list("abcdefghij"), margin=0.1)
    assert seen.verdict == "material"
    looks = [ProbeResult(name="a", question="?", status="done", effects=(seen,) * 5)]
    (found,) = adjust_p_values(looks, level=0.95)
    assert {one.verdict for one in found.effects} == {"cannot_say"}
    note = found.effects[0].note or ""
    assert note.startswith("not significant after Holm's adjustment for 5 tests (p 0.06)")


def test_an_interval_ends_where_no_shift_can_be_and_one_case_has_none() -> None:
    wide = shift_effect("x", [0.0, 0.0], [1.0, 0.0], cases=["a", "b"], margin=0.05)
    assert (wide.estimate.low, wide.estimate.high) == (-1.0, 1.0)
    lean = shift_effect("x", [0.0, 0.0], [0.5, 0.0], cases=["a", "b"], margin=0.1, scale="lean")
    assert (lean.estimate.low, lean.estimate.high) == (-0.5, 0.5)
    alone = shift_effect("x", [0.0], [1.0], cases=["a"], margin=0.05)
    assert isnan(alone.estimate.low)
    assert (alone.verdict, alone.n_to_tell) == ("cannot_say", None)


def test_what_is_material_by_chance_among_so_many_looks_cannot_be_said() -> None:
    cases = [f"c{n}" for n in range(20)]
    weak = shift_effect(
        "x", [0.0] * 20, [0.3 * (n % 5 - 1) for n in range(20)], cases=cases, margin=0.05
    )
    assert weak.verdict == "material"
    assert weak.p is not None
    assert 0.005 < weak.p < 0.01
    looks = [ProbeResult(name="a", question="?", status="done", effects=(weak,) * 20)]
    (found,) = adjust_p_values(looks, level=0.95)
    assert {one.verdict for one in found.effects} == {"cannot_say"}
    assert found.verdict == "cannot_say"
    assert "not significant after Holm's adjustment for 20 tests (p 0.1" in (
        found.effects[0].note or ""
    )
    assert found.effects[0].p_adjusted == pytest.approx(20 * weak.p)
    (alone,) = adjust_p_values(
        [ProbeResult(name="a", question="?", status="done", effects=(weak,))], level=0.95
    )
    assert alone.effects[0].verdict == "material"


def test_a_part_counts_where_it_is_material_or_nothing_was_measured_on_the_whole() -> None:
    none, doubt, bad = (
        shift_effect(
            "x", [0.0] * 20, [size] * 20, cases=[f"c{n}" for n in range(20)], margin=margin
        )
        for size, margin in ((0.0, 0.05), (0.1, 0.1), (0.5, 0.05))
    )
    assert [one.verdict for one in (none, doubt, bad)] == ["none_seen", "material", "material"]
    unclear = replace(none, verdict="cannot_say")

    def said(*effects: Effect, parts: tuple[Effect, ...]) -> EffectVerdict | None:
        found = ProbeResult(name="a", question="?", status="done", effects=effects, parts=parts)
        return found.verdict

    assert said(none, parts=(unclear, none)) == "none_seen"
    assert said(none, parts=(unclear, bad)) == "material"
    assert said(parts=(unclear, none)) == "cannot_say"
    assert said(parts=(none, none)) == "none_seen"


def test_where_most_have_the_best_value_already_nothing_is_said_of_a_rise() -> None:
    cases = [f"c{n}" for n in range(30)]

    def found(n_best: int, after: float) -> Effect:
        before = [1.0] * n_best + [0.5] * (30 - n_best)
        later = [1.0] * n_best + [after] * (30 - n_best)
        return shift_effect("x", before, later, cases=cases, margin=0.05, harm="up", best=1.0)

    assert found(15, 0.5).verdict == "none_seen"
    full = found(16, 0.5)
    assert (full.verdict, full.n_to_tell) == ("cannot_say", None)
    assert full.note == "16 of 30 have the best value without it and cannot rise"
    assert found(16, 1.0).verdict == "material"
