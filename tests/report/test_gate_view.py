from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from judgekit.evaluation import DropGateResult, GateResult, TierGateResult
from judgekit.evaluation.gate import CalibrationGateResult, CoverageGateResult
from judgekit.report.run import gate_json, gate_lines
from judgekit.stats.estimate import Estimate

if TYPE_CHECKING:
    from judgekit.scoring import GateOutcome


def estimate(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, low=low, high=high, n=40, method="made up")


def tier(held: GateOutcome, **fields: Any) -> str:
    known: dict[str, Any] = {
        "variant": "v1", "tier": "production", "least": 0.8, "low": 0.4, "high": 0.9,
        "value": estimate(0.85, 0.7, 0.92), "n_without": 0, "held": held,
    }  # fmt: skip
    ((_, text),) = gate_lines(GateResult(tiers=(TierGateResult(**known | fields),)))
    return text


def drop(held: GateOutcome | None, **fields: Any) -> str:
    known: dict[str, Any] = {
        "variant": "v1", "max_drop": 0.1, "against": "previous", "baseline": "run-0",
        "change": estimate(-0.2, -0.3, -0.1), "held": held,
    }  # fmt: skip
    ((_, text),) = gate_lines(GateResult(drops=(DropGateResult(**known | fields),)))
    return text


def test_a_tier_is_told_with_the_value_and_what_is_asked() -> None:
    found = "value 0.85 [0.70, 0.92], 0.8 required"
    assert tier("passed") == f"v1: reaches production: {found}"
    assert tier("failed") == f"v1: is below production: {found}"
    by_point = tier("failed", rule="point")
    assert (
        by_point == f"v1: is below production: {found}, decided by the measured value (rule: point)"
    )
    undecided = f"v1: undecided for production: {found}"
    assert tier("inconclusive") == f"{undecided}; more cases are needed"
    assert tier("inconclusive", n_without=3) == (
        f"{undecided}; 3 answers without a value counted as 0 and as 1: 0.40 to 0.90"
    )


def test_a_tier_of_nothing_says_so() -> None:
    nothing = estimate(nan, nan, nan)
    assert "no answer has a value, 0.8 required" in tier("inconclusive", value=nothing)
    assert "value 0.85, 0.8 required" in tier("passed", value=estimate(0.85, nan, nan))


def test_a_narrow_interval_of_a_tier_has_more_digits() -> None:
    found = tier("passed", value=estimate(0.9, 0.8962, 0.9038))
    assert "value 0.900 [0.896, 0.904], 0.8 required" in found


def test_a_value_just_below_the_tier_does_not_look_equal_to_it() -> None:
    found = tier("failed", value=estimate(0.7957, 0.7012, 0.88), rule="point")
    assert "is below production: value 0.796 [0.701, 0.880], 0.8 required" in found
    found = tier("inconclusive", low=0.7, high=0.7999, n_without=2)
    assert "counted as 0 and as 1: 0.7000 to 0.7999" in found
    assert "value 0.80, 0.8 required" in tier("passed", value=estimate(0.8, nan, nan))


def test_a_coverage_is_told_as_it_was_asked() -> None:
    one = CoverageGateResult(
        variant="v1", least=0.995, n_decided=99, n_answers=100, held="inconclusive"
    )
    ((_, text),) = gate_lines(GateResult(coverages=(one,)))
    assert text == "v1: only 99 of 100 answers have a verdict, 99.5 % required"


def test_a_drop_is_told_with_the_run_it_is_measured_from() -> None:
    found = "-0.20 [-0.30, -0.10] since run-0 (40 cases), a drop of 0.1 allowed"
    assert drop("failed") == f"v1: pass rate dropped too far: {found}"
    assert drop("passed").startswith("v1: pass rate within the allowed drop: -0.20")
    assert drop("inconclusive", n_undecided=2).endswith(
        "allowed; 2 cases are undecided now and had a verdict then"
    )
    assert "undecided: a drop" in drop("inconclusive", change=None, n_undecided=1)
    assert "-0.20 since" in drop("failed", change=estimate(-0.2, nan, nan))


def test_a_drop_just_beyond_what_is_allowed_does_not_look_equal_to_it() -> None:
    change = estimate(-0.1034, -0.2, -0.02)
    found = drop("failed", change=change, relative=0.1034, is_critical=True)
    assert "dropped too far: -0.103 [-0.200, -0.020] since run-0" in found
    assert "10.3% of the rate (critical), a drop of 0.1 allowed" in found
    assert "-0.10 [-0.20, -0.02]" in drop("passed", change=estimate(-0.1, -0.2, -0.02))


def test_nothing_to_compare_with_is_told() -> None:
    first = {"baseline": None, "change": None}
    assert drop(None, **first).startswith("pass rate: no earlier run to compare with, a drop")
    drops = tuple(
        DropGateResult(variant=name, max_drop=0.1, against="previous", baseline=baseline)
        for name, baseline in (("v1", "run-0"), ("new", None))
    )
    assert (
        "new: pass rate: no earlier run to compare with"
        in gate_lines(GateResult(drops=drops))[1][1]
    )
    assert "no case with a verdict in run run-0" in drop(None, change=None)
    assert gate_lines(GateResult(is_partial=True)) == [
        ("gate", "not decided: the run is not complete")
    ]


def test_the_whole_stands_in_json() -> None:
    assert gate_json(None) is None
    found = gate_json(GateResult(is_partial=True))
    assert found is not None
    assert found["held"] == "inconclusive"
    assert found["is_partial"] is True


def test_a_required_calibration_is_told_with_its_state() -> None:
    words = "stale: criterion 1 (tone) edited: its scale"
    unmet = CalibrationGateResult(state="stale", words=words, held="inconclusive")
    assert gate_lines(GateResult(calibration=unmet)) == [
        ("gate", f"a calibration is required, not met: {words}")
    ]
    assert GateResult(calibration=unmet).held == "inconclusive"
