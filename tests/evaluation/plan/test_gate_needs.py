"""How many cases a plan says that the gate needs, overall and of each stratum."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.evaluation import evaluate_sync
from judgekit.report import document_data, suite_plan_document
from judgekit.stats.power import sample_size_threshold
from judgekit.store import RunStore
from tests.evaluation.plans import RECORDED, planned, suite
from tests.report.test_plan_terminal import shown

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.datasets import Suite

GATE = {"tier": "production"}


def stratified(folder: Path, *strata: str | None, **fields: Any) -> Suite:
    """A suite of recorded sums, a case for each stratum that is named."""
    cases = [
        {"id": f"c{n}", "input": f"{n}+{n}"} | ({} if stratum is None else {"stratum": stratum})
        for n, stratum in enumerate(strata)
    ]
    return suite(folder, RECORDED, n_cases=len(strata), cases=cases, **fields)


def test_each_stratum_has_its_cases_and_what_is_missing(tmp_path: Path) -> None:
    made = stratified(tmp_path, *["simple"] * 30, *["medium"] * 60, None, gate=GATE)
    plan = planned(made)
    # The rubric has a graded criterion, so that a spread of 0.25 is assumed.
    needed = sample_size_threshold(0.9, 0.8, 0.25).value
    assert [(one.stratum, one.n_cases, one.n_needed, one.n_missing) for one in plan.needs] == [
        (None, 91, needed, 0),
        ("simple", 30, needed, needed - 30),
        ("medium", 60, needed, max(0, needed - 60)),
        ("complex", 0, needed, needed),
        ("very_complex", 0, needed, needed),
    ]
    text = shown(plan)
    assert "Cases for the gate to decide about production" in text
    assert f"simple 30 {needed} {needed - 30} 0.90 (assumed) 0.25" in text
    assert (
        "a 95 % interval that excludes 0.8 with 80 % power, if the true value is as stated" in text
    )
    found = json.loads(json.dumps(document_data(suite_plan_document(plan)), allow_nan=False))
    assert found["needs"][1] == {
        "stratum": "simple", "n_cases": 30, "n_needed": needed, "least": 0.8, "tier": "production",
        "value": 0.9, "sd": 0.25, "is_observed": False, "n_missing": needed - 30,
    }  # fmt: skip


def test_pass_rates_are_planned_with_their_own_spread(tmp_path: Path) -> None:
    checks: dict[str, Any] = {
        "rubric": None,
        "judge": "heuristic",
        "assertions": [{"type": "contains", "value": "is"}],
    }
    (need,) = planned(stratified(tmp_path, None, None, gate=GATE, **checks)).needs
    assert need.sd == pytest.approx(0.3)
    assert need.n_needed == sample_size_threshold(0.9, 0.8, 0.3).value


def test_an_earlier_run_replaces_the_assumption(tmp_path: Path) -> None:
    checks: dict[str, Any] = {
        "rubric": None,
        "judge": "heuristic",
        # The answers of the first five cases have one digit.
        "assertions": [{"type": "regex", "value": r"is \d\.$"}],
    }
    made = stratified(tmp_path, *["simple"] * 4, *["complex"] * 6, gate=GATE, **checks)
    store = RunStore(tmp_path / "runs.db")
    evaluate_sync(made, store=store, cache=None).close()
    needs = {one.stratum: one for one in planned(made, store=store).needs}
    checks["assertions"] = [{"type": "contains", "value": "1"}]
    other = stratified(tmp_path, *["simple"] * 4, *["complex"] * 6, gate=GATE, **checks)
    # What other assertions measured says nothing about these.
    assert not any(one.is_observed for one in planned(other, store=store).needs)
    store.close()
    # Five of ten pass, one of the six complex ones; the four simple ones are too few to be used.
    assert needs[None].value == pytest.approx(0.5)
    assert needs["complex"].value == pytest.approx(1 / 6)
    assert needs["simple"].value == needs["very_complex"].value == needs[None].value
    assert all(one.is_observed for one in needs.values())
    assert needs["complex"].n_needed < needs[None].n_needed


@pytest.mark.parametrize("gate", [None, {"max_drop": 0.1}, GATE | {"rule": "point"}])
def test_without_an_interval_to_wait_for_only_small_strata_are_named(
    tmp_path: Path, gate: dict[str, Any] | None
) -> None:
    text = shown(planned(stratified(tmp_path, *["simple"] * 10, "complex", gate=gate)))
    assert "Cases for the gate" not in text
    assert "strata fewer than 10 cases: complex 1; no case: medium, very_complex" in text
    bare = shown(planned(stratified(tmp_path, None, None, gate=gate)))
    assert "strata" not in bare


def test_a_threshold_is_planned_as_a_tier_is(tmp_path: Path) -> None:
    made = stratified(tmp_path, *["simple"] * 30, gate={"threshold": 0.96})
    plan = planned(made)
    # Above 0.96 there is no room for the usual distance of 0.1.
    needed = sample_size_threshold(0.98, 0.96, 0.25).value
    whole = plan.needs[0]
    assert (whole.least, whole.tier, whole.value, whole.n_needed) == (0.96, None, 0.98, needed)
    assert "Cases for the gate to decide about the threshold" in shown(plan)
