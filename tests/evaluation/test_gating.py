from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.evaluation import Run, summarize_run
from judgekit.evaluation.comparability import EarlierRuns, compare_measures
from judgekit.records import AssertionResult, Output, RunInfo, RunPanel, Variant
from judgekit.scoring import calibration_in_use
from judgekit.store import RunStore
from tests.calibrations import ASKED, make_calibration
from tests.factories import make_criterion, make_rubric
from tests.store.observing import JUDGE, START, answer, begun, key, said

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from judgekit.evaluation import GateResult

NOBODY = RunPanel()
BROKEN = Output(error="it broke", error_kind="exit")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    opened = RunStore(tmp_path / "runs.db")
    yield opened
    opened.close()


def ran(
    store: RunStore,
    outcomes: Sequence[bool | None],
    gate: dict[str, Any] | None = None,
    *,
    day: int = 0,
    **fields: Any,
) -> GateResult | None:
    """A run whose answers passed, failed, or (None) broke; what its gate says of it."""
    name, status = f"run-{day}", fields.pop("status", "complete")
    config = {"name": "support", **({} if gate is None else {"gate": gate})}
    config |= fields.pop("config", {})
    observed = [
        answer(
            key(f"c{place}"),
            place=place,
            said=(),
            **({"output": BROKEN} if passed is None else {"checks": (held(passed=passed),)}),
        )
        for place, passed in enumerate(outcomes)
    ]
    known: dict[str, Any] = {"rubric": None, "panel": NOBODY, "config": config}
    run = begun(
        store, *observed, name=name, started_at=START + timedelta(days=day), **known | fields
    )
    store.end(run.id, status=status, at=START)
    run = store.run(run.id)
    return Run(run, store).gate()


def held(*, passed: bool) -> AssertionResult:
    return AssertionResult(type="contains", passed=passed, message="-")


def test_a_suite_without_a_gate_has_nothing_to_hold(store: RunStore) -> None:
    assert ran(store, [True]) is None
    assert ran(store, [True], {"require_calibration": True}, day=1) is None


def test_yes_and_no_have_the_interval_of_a_rate(store: RunStore) -> None:
    """Of a true rate of 0.8 ten of ten pass in 11 % of runs: no proof of the production tier."""
    gate = ran(store, [True] * 10, {"tier": "production"})
    assert gate is not None
    assert gate.held == "inconclusive"
    assert gate.tiers[0].value.low == pytest.approx(0.7225, abs=1e-4)  # Wilson's, by hand


@pytest.mark.parametrize(
    ("n_passed", "n_failed", "outcome"),
    [(60, 0, "passed"), (0, 20, "failed"), (4, 0, "inconclusive"), (17, 3, "inconclusive")],
)
def test_the_value_is_held_to_the_tier(
    store: RunStore, n_passed: int, n_failed: int, outcome: str
) -> None:
    gate = ran(store, [True] * n_passed + [False] * n_failed, {"tier": "production"})
    assert gate is not None
    (tier,) = gate.tiers
    assert (tier.held, gate.held, tier.least, tier.n_without) == (outcome, outcome, 0.8, 0)
    assert (tier.low, tier.high) == (tier.value.low, tier.value.high)


@pytest.mark.parametrize(
    ("n_passed", "n_failed", "outcome"),
    [(4, 0, "passed"), (4, 1, "passed"), (17, 4, "passed"), (3, 1, "failed"), (0, 1, "failed")],
)
def test_by_the_rule_point_the_value_alone_is_held_to_the_tier(
    store: RunStore, n_passed: int, n_failed: int, outcome: str
) -> None:
    # 0.8 is the production tier: 4 of 5 reach it, 3 of 4 do not, however wide the interval.
    settings = {"tier": "production", "rule": "point"}
    gate = ran(store, [True] * n_passed + [False] * n_failed, settings)
    assert gate is not None
    assert (gate.tiers[0].held, gate.held, gate.tiers[0].rule) == (outcome, outcome, "point")


def test_answers_without_a_value_keep_the_rule_point_from_deciding(store: RunStore) -> None:
    # 0.75 to 1 is possible; a broken answer counts neither as 0 nor as missing.
    gate = ran(store, [True] * 3 + [None], {"tier": "production", "rule": "point"})
    assert gate is not None
    assert (gate.held, gate.tiers[0].low, gate.tiers[0].high) == ("inconclusive", 0.75, 1.0)
    enough = ran(store, [True] * 9 + [None], {"tier": "production", "rule": "point"}, day=1)
    assert enough is not None
    assert enough.held == "passed"


@pytest.mark.parametrize(("rule", "outcome"), [("interval", "inconclusive"), ("point", "failed")])
def test_by_the_rule_point_a_drop_fails_however_few_the_cases(
    store: RunStore, rule: str, outcome: str
) -> None:
    ran(store, [True] * 10)
    gate = ran(store, [True] * 8 + [False] * 2, {"max_drop": 0.1, "rule": rule}, day=1)
    assert gate is not None
    assert (gate.drops[0].held, gate.drops[0].rule) == (outcome, rule)
    within = ran(store, [True] * 9 + [False], {"max_drop": 0.1, "rule": rule}, day=2)
    assert within is not None
    assert within.held == "passed"


def test_errors_cannot_lift_a_variant_over_its_tier(store: RunStore) -> None:
    gate = ran(store, [True] * 60 + [None] * 20, {"tier": "production"})
    assert gate is not None
    (tier,) = gate.tiers
    assert (tier.held, tier.n_without) == ("inconclusive", 20)
    assert tier.low == pytest.approx(tier.value.low * 0.75)
    assert tier.high == pytest.approx(tier.value.high * 0.75 + 0.25)


def repeated(
    store: RunStore, cases: Sequence[Sequence[bool | None]], gate: dict[str, Any], day: int = 0
) -> GateResult:
    """The same of a run with repeats: what became of each answer to each case."""
    config = {"name": "support", "gate": gate, "settings": {"repeats": len(cases[0])}}
    observed = [
        answer(
            key(f"c{place}", repeat=repeat),
            place=place,
            said=(),
            **({"output": BROKEN} if passed is None else {"checks": (held(passed=passed),)}),
        )
        for place, outcomes in enumerate(cases)
        for repeat, passed in enumerate(outcomes)
    ]
    started = START + timedelta(days=day)
    run = begun(
        store, *observed, name=f"run-{day}", started_at=started, rubric=None, panel=NOBODY,
        config=config,
    )  # fmt: skip
    store.end(run.id, status="complete", at=START)
    found = Run(store.run(run.id), store).gate()
    assert found is not None
    return found


def test_the_repeats_that_broke_count_as_0_however_the_others_of_their_case_ended(
    store: RunStore,
) -> None:
    """Hard cases that break twice and pass once, and easy ones that pass twice of three."""
    cases = [[True, None, None]] * 10 + [[True, True, False]] * 20
    gate = repeated(store, cases, {"threshold": 0.6, "rule": "point"})
    (tier,) = gate.tiers
    assert tier.value.value == pytest.approx((10 + 20 * 2 / 3) / 30)
    assert (tier.low, tier.high) == pytest.approx(((10 / 3 + 40 / 3) / 30, tier.value.value))
    assert (gate.held, tier.n_without) == ("inconclusive", 20)


def test_repeats_that_are_undecided_now_cannot_hide_a_drop(store: RunStore) -> None:
    settings = {"max_drop": 0.1, "rule": "point"}
    repeated(store, [[True, True, False]] * 20, settings)
    gate = repeated(store, [[True, None, None]] * 20, settings, day=1)
    (drop,) = gate.drops
    assert drop.change is not None
    assert drop.change.value == pytest.approx(1 / 3), "of the answers that have a verdict"
    assert (drop.held, drop.n_undecided) == ("inconclusive", 20)


def test_just_as_many_verdicts_as_are_wanted_are_enough(store: RunStore) -> None:
    """0.55 times 100 is more than 55 in floating point."""
    gate = ran(store, [True] * 55 + [None] * 45, {"min_coverage": 0.55})
    assert gate is not None
    assert (gate.coverages[0].n_decided, gate.held) == (55, "passed")
    fewer = ran(store, [True] * 54 + [None] * 46, {"min_coverage": 0.55}, day=1)
    assert fewer is not None
    assert fewer.held == "inconclusive"


def test_a_variant_of_errors_alone_meets_no_required_criterion(store: RunStore) -> None:
    rubric = make_rubric(make_criterion("good", required=True))
    outputs: list[dict[str, Any]] = [{"said": (said("good"),)}, {"said": (), "output": BROKEN}]
    observed = [answer(key("a", v), **one) for v, one in zip(("v1", "v2"), outputs, strict=True)]
    gate = {"gate": {"min_required": 0.5, "rule": "point"}}
    both = [Variant(id="v1"), Variant(id="v2")]
    run = begun(store, *observed, variants=both, rubric=rubric, config=gate)
    store.end(run.id, status="complete", at=START)
    found = Run(store.run(run.id), store).gate()
    assert found is not None
    outcomes = [(one.variant, one.criterion, one.held) for one in found.tiers]
    assert outcomes == [("v1", "good", "passed"), ("v2", "good", "inconclusive")]
    assert found.held == "inconclusive"


def test_verdicts_of_other_cases_are_not_compared(store: RunStore) -> None:
    ran(store, [None, True, True])
    gate = ran(store, [False], {"max_drop": 0.1}, day=1)
    assert gate is not None
    (drop,) = gate.drops
    assert (drop.held, gate.held) == ("inconclusive", "inconclusive")
    assert "no case in common that has a verdict in run-0" in str(drop.problem)


def test_a_run_that_was_stopped_is_not_decided(store: RunStore) -> None:
    gate = ran(store, [True] * 60, {"tier": "production"}, status="stopped")
    assert gate is not None
    assert (gate.is_partial, gate.held, gate.tiers) == (True, "inconclusive", ())


def test_a_first_run_has_nothing_before_it(store: RunStore) -> None:
    gate = ran(store, [True], {"max_drop": 0.1})
    assert gate is not None
    assert (gate.drops[0].baseline, gate.drops[0].held, gate.held) == (None, None, "passed")


@pytest.mark.parametrize(
    ("now", "outcome"),
    [
        ([True] * 20, "passed"),
        ([True] * 19 + [False], "passed"),
        ([False] * 20, "failed"),
        ([True] * 17 + [False] * 3, "inconclusive"),
        ([True] * 17 + [None] * 3, "inconclusive"),
        ([None] * 20, "inconclusive"),
    ],
)
def test_the_pass_rate_is_held_to_the_run_before(
    store: RunStore, now: list[bool | None], outcome: str
) -> None:
    ran(store, [False] * 20, day=0)
    ran(store, [True] * 20, day=1)
    ran(store, [False] * 5, day=2, status="interrupted")
    gate = ran(store, now, {"max_drop": 0.1}, day=3)
    assert gate is not None
    (drop,) = gate.drops
    assert (drop.baseline, drop.held, gate.held) == ("run-1", outcome, outcome)
    assert drop.n_undecided == now.count(None)


def test_a_run_long_ago_is_held_to_the_run_before_it(store: RunStore) -> None:
    ran(store, [True] * 20, day=0)
    for day in range(2, 54):
        ran(store, [True], day=day)
    gate = ran(store, [False] * 20, {"max_drop": 0.1}, day=1)
    assert gate is not None
    assert (gate.drops[0].baseline, gate.held) == ("run-0", "failed")


@pytest.mark.parametrize(("n_others", "outcome"), [(0, "failed"), (4, "inconclusive")])
def test_the_best_of_many_runs_is_so_by_chance_too(
    store: RunStore, n_others: int, outcome: str
) -> None:
    """Six cases of 20 lost since the best run: p 0.016, of five runs 0.05 / 5 has to be reached."""
    ran(store, [True] * 20)
    for day in range(1, 1 + n_others):
        ran(store, [True] * 16 + [False] * 4, day=day)
    gate = ran(store, [True] * 14 + [False] * 6, {"max_drop": 0.1}, day=9)
    assert gate is not None
    assert [drop.held for drop in gate.drops] == ["passed"] * bool(n_others) + [outcome]
    assert gate.drops[-1].baseline == "run-0"


def test_pass_rates_by_other_maps_are_no_part_of_a_trend(store: RunStore) -> None:
    rubric = make_rubric("accuracy", "tone")
    use = calibration_in_use(make_calibration(rubric), rubric, ASKED)
    maps = {"config": {"calibrated": use.to_json()}}
    for day in range(3):
        ran(store, [True] * 20, day=day)
    gate = ran(store, [True] * 10 + [False] * 10, {"max_drop": 0.1}, day=3, **maps)
    assert gate is not None
    assert gate.trends[0].rates == (0.5,)
    again = ran(store, [True] * 10 + [False] * 10, {"max_drop": 0.1}, day=4, **maps)
    assert again is not None
    assert again.trends[0].rates == (0.5, 0.5)


def test_the_best_of_runs_by_different_maps_is_that_with_the_best_own_values(
    store: RunStore,
) -> None:
    rubric = make_rubric("accuracy", "tone")
    use = calibration_in_use(make_calibration(rubric), rubric, ASKED)
    maps = {"calibrated": use.to_json()}
    for day, n_good, config in ((0, 5, {}), (1, 8, maps), (2, 5, maps)):
        observed = [
            answer(key(f"c{k}"), place=k, said=tuple(said(c.name, float(k < n_good))
                                                     for c in rubric.criteria))
            for k in range(10)
        ]  # fmt: skip
        at = START + timedelta(days=day)
        asked = {"name": "support", "asked": ASKED.to_json(), **config}
        known = {"rubric": rubric, "panel": RunPanel(judges=(JUDGE,)), "config": asked}
        run = begun(store, *observed, name=f"run-{day}", started_at=at, **known)
        store.end(run.id, status="complete", at=at)
    # The maps halve all values, so that no case passes by them.
    best = EarlierRuns(store.run("run-2"), store).baseline("best", "v1")
    assert best is not None
    assert best.id == "run-1"


def test_a_run_of_other_cases_is_no_baseline(store: RunStore) -> None:
    ran(store, [None, None])
    gate = ran(store, [True, True], {"max_drop": 0.1}, day=1)
    assert gate is not None
    assert (gate.drops[0].baseline, gate.drops[0].change, gate.drops[0].held) == (
        "run-0", None, None,
    )  # fmt: skip


def test_of_several_tries_the_last_counts(store: RunStore) -> None:
    ran(store, [True, True], config={"settings": {"retry_failed": 1}})
    name = "run-1"
    tries = [
        answer(key("c0", repeat=n), place=0, said=(), checks=(held(passed=n > 0),))
        for n in range(2)
    ]
    config = {"name": "support", "gate": {"max_drop": 0.1}, "settings": {"retry_failed": 1}}
    run = begun(
        store, *tries, name=name, started_at=START + timedelta(days=1), rubric=None,
        panel=NOBODY, config=config,
    )  # fmt: skip
    store.end(name, status="complete", at=START)
    run = store.run(name)
    gate = Run(run, store).gate(summarize_run(store.results(name), run))
    assert gate is not None
    assert gate.drops[0].change is not None
    assert gate.drops[0].change.value == 0


@pytest.mark.parametrize(
    ("state", "outcome"), [("calibrated", "passed"), ("stale", "inconclusive")]
)
def test_a_judge_that_nobody_checked_decides_nothing(
    store: RunStore, state: str, outcome: str
) -> None:
    use = {"state": state, "words": "so it stands"}
    given: dict[str, Any] = {"panel": RunPanel(judges=("m t@1",)), "config": {"calibrated": use}}
    found = ran(store, [True, True], {"require_calibration": True}, **given)
    assert found is not None
    assert found.held == outcome
    assert found.calibration is not None
    assert (found.calibration.state, found.calibration.words) == (state, "so it stands")


def test_where_no_model_judges_no_calibration_is_asked_for(store: RunStore) -> None:
    assert ran(store, [True], {"require_calibration": True}) is None


def test_runs_of_which_one_requires_evidence_were_not_measured_the_same_way() -> None:
    strict, plain = (make_rubric(require_evidence=strict) for strict in (True, False))
    then = RunInfo(id="a", suite="s", started_at=START, rubric=plain)
    now = RunInfo(id="b", suite="s", started_at=START + timedelta(days=1), rubric=strict)
    assert compare_measures(then, now).changes == (
        "only the later run requires evidence for every score",
    )
    assert not compare_measures(then, now.model_copy(update={"rubric": plain})).changes


def test_runs_whose_similarity_was_measured_by_other_means_are_not_comparable() -> None:
    runs = [
        RunInfo(
            id=name, suite="s", started_at=START + timedelta(days=day),
            config={} if measure is None else {"similarity_measure": measure},
        )
        for day, (name, measure) in enumerate([("a", None), ("b", "lexical"), ("c", "semantic: m")])
    ]  # fmt: skip
    assert compare_measures(runs[1], runs[2]).changes == (
        "similarity was measured by lexical, is by semantic: m",
    )
    assert not compare_measures(runs[0], runs[1]).changes, "in one of them no case is decided by it"


def test_runs_whose_judges_swapped_their_names_are_not_comparable() -> None:
    """The rubric is the same, and now another judge grades what `strict` graded."""
    judges = "openai/a t@1", "openai/b t@1"
    runs = [
        RunInfo(
            id="".join(names), suite="s", started_at=START, rubric=make_rubric(),
            panel=RunPanel(judges=judges, named=dict(zip(names, judges, strict=True))),
        )
        for names in (("strict", "kind"), ("kind", "strict"))
    ]  # fmt: skip
    # The one is as old as the other, so that the first by its id counts as the earlier.
    assert compare_measures(*runs).changes == (
        "kind was the judge openai/a t@1, is openai/b t@1",
        "strict was the judge openai/b t@1, is openai/a t@1",
    )
    assert not compare_measures(runs[0], runs[0]).changes
