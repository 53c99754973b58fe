from __future__ import annotations

import math
import random
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from judgekit.evaluation import summarize_run
from judgekit.records import AssertionResult, CaseResult, Output, RunInfo, RunPanel, Usage, Variant
from judgekit.stats.multiplicity import adjust
from tests.evaluation.suites import NOW
from tests.factories import make_case, make_failure, make_judgment, make_rubric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation import RunSummary, VariantDifference, VariantFigures

RUBRIC = make_rubric("good", pass_threshold=0.5)
ERROR = Output(error="it broke", error_kind="exit")


def run(*variants: str, **fields: Any) -> RunInfo:
    known: dict[str, Any] = {"id": "r", "suite": "s", "started_at": NOW, "rubric": RUBRIC}
    panel = RunPanel(judges=("j",))
    named = tuple(Variant(id=name) for name in variants or ("v",))
    return RunInfo(**{**known, "panel": panel, "variants": named, **fields})


def result(
    place: int, value: float | None = None, variant: str = "v", repeat: int = 0, **fields: Any
) -> CaseResult:
    """An answer; without a value it is one that no judge could judge."""
    said = {"judge": "j", "n_calls": 1, "cost_usd": 0.0}
    judged = () if value is None else (make_judgment("good", value, **said),)
    failed = (make_failure("good", **said),) if value is None else ()
    if fields.get("output") is ERROR:
        judged, failed = (), ()
    known: dict[str, Any] = {
        "run_id": "r", "place": place, "case": make_case(id=f"c{place}"), "variant": variant,
        "repeat": repeat, "output": Output(text="a"), "judgments": judged, "failures": failed,
        "is_done": True,
    }  # fmt: skip
    return CaseResult(**{**known, **fields})


def figures(results: Sequence[CaseResult], **fields: Any) -> VariantFigures:
    return summarize_run(results, run(**fields)).variants[0]


def test_a_run_worked_out_by_hand() -> None:
    values = [1.0, 0.75, 0.5, 0.25]  # three reach 0.5
    found = figures([result(place, value) for place, value in enumerate(values)])
    assert (found.n_cases, found.n_answers, found.n_passed, found.n_failed) == (4, 4, 3, 1)
    rate = found.pass_rate
    assert (rate.value, rate.n, rate.worst, rate.best) == (0.75, 4, 0.75, 0.75)
    # Wilson: (3 + z²/2 ± z √(3·1/4 + z²/4)) / (4 + z²) with z = 1.959964
    assert (rate.low, rate.high) == pytest.approx((0.300642, 0.954413), abs=1e-6)
    assert (found.value.value, found.value.n) == (0.625, 4)
    assert found.value.low < 0.625 < found.value.high
    assert found.criteria["good"].value == 0.625


def test_failures_and_errors_stand_apart_and_bound_the_rate() -> None:
    found = figures(
        [result(0, 1.0), result(1, 1.0), result(2, 0.0), result(3), result(4, output=ERROR)]
    )
    assert (found.n_passed, found.n_failed, found.n_undecided, found.n_errors) == (2, 1, 1, 1)
    assert found.pass_rate.value == pytest.approx(2 / 3)
    assert (found.pass_rate.worst, found.pass_rate.best) == (2 / 5, 4 / 5)
    assert found.value.value == pytest.approx(2 / 3)
    assert found.value.n == 3
    assert (found.errors, found.failures) == ({"exit": 1}, {"unreadable": 1})


def test_a_rate_of_nothing_is_undefined_and_never_zero() -> None:
    nothing = figures([])
    assert math.isnan(nothing.pass_rate.value)
    assert math.isnan(nothing.value.value)
    assert (nothing.n_cases, nothing.latency_ms, nothing.n_flaky) == (0, {}, 0)
    errors = figures([result(0, output=ERROR)])
    assert math.isnan(errors.pass_rate.value)
    assert (errors.pass_rate.worst, errors.pass_rate.best) == (0.0, 1.0)


def test_tags_and_strata_are_reported_apart() -> None:
    cases = [
        make_case(id="a", tags=("x", "y"), stratum="complex"),
        make_case(id="b", tags=("y",), stratum="simple"),
        make_case(id="c"),
    ]
    found = figures([result(n, 1.0 - n / 2, case=case) for n, case in enumerate(cases)])
    assert {tag: group.value.value for tag, group in found.tags.items()} == {"x": 1.0, "y": 0.75}
    assert list(found.strata) == ["simple", "complex"]
    assert found.strata["simple"].n_cases == 1


def test_latency_percentiles_are_the_smallest_value_that_so_many_do_not_exceed() -> None:
    found = figures(
        [result(n, 1.0, output=Output(text="a", duration_ms=10.0 * (n + 1))) for n in range(10)]
    )
    assert found.latency_ms == {"p50": 50.0, "p90": 90.0, "p99": 100.0, "max": 100.0}


def paid(cost_usd: float | None, **metadata: Any) -> Output:
    usage = Usage(input_tokens=10, output_tokens=2, cost_usd=cost_usd)
    return Output(text="a", usage=usage, metadata=metadata)


def test_money_is_told_by_whom_it_was_paid_to() -> None:
    bought = make_judgment("good", 1.0, judge="j", cost_usd=0.5, usage=Usage(input_tokens=7))
    owned = make_judgment("good", 1.0, judge="j", cached=True, cost_usd=0.0, price_usd=0.25)
    found = figures(
        [
            result(0, output=paid(1.0), judgments=(bought,), failures=()),
            result(1, output=paid(2.0, cached=True), judgments=(owned,), failures=()),
        ]
    )
    money = found.money
    assert (money.targets_usd, money.judges_usd, money.saved_usd) == (1.0, 0.5, 2.25)
    assert (money.total_usd, money.is_complete) == (1.5, True)
    assert (found.input_tokens, found.output_tokens, found.judge_input_tokens) == (20, 4, 7)


def test_an_unknown_price_is_told_and_a_recorded_answer_is_not_paid_again() -> None:
    unpriced = make_judgment("good", 1.0, judge="j")
    config = {"variants": [{"id": "v", "outputs": "v.jsonl"}]}
    found = figures(
        [result(0, output=paid(3.0), judgments=(unpriced,), failures=())], config=config
    )
    assert (found.money.targets_usd, found.money.recorded_usd) == (0.0, 3.0)
    assert not found.money.is_complete


def test_an_answer_whose_tokens_have_no_price_makes_the_sum_incomplete() -> None:
    output = Output(text="a", usage=Usage(input_tokens=10, output_tokens=2))
    assert not figures([result(0, 1.0, output=output)]).money.is_complete
    assert figures([result(0, 1.0)]).money.is_complete


def test_assertions_have_their_own_rates() -> None:
    held = AssertionResult(passed=True, message="so", type="contains")
    broke = AssertionResult(passed=None, message="so", type="contains", error="it raised")
    found = figures([result(0, 1.0, checks=(held,)), result(1, 1.0, checks=(broke,))])
    rate = found.assertions["contains"]
    assert (rate.value, rate.n_missing, rate.worst, rate.best) == (1.0, 1, 0.5, 1.0)


def test_repeats_of_a_case_count_as_one() -> None:
    answers = [result(0, v, repeat=r) for r, v in enumerate((1.0, 1.0, 0.0))] + [result(1, 1.0)]
    found = figures(answers)
    assert (found.n_cases, found.n_answers, found.n_flaky) == (2, 4, 1)
    assert found.pass_rate.value == pytest.approx((2 / 3 + 1) / 2)
    assert found.value.n == 2


TRIES = {"config": {"settings": {"retry_failed": 2}}}


def test_of_several_tries_the_last_decides_and_all_of_them_cost() -> None:
    tagged = make_case(id="c0", tags=("x",))
    found = figures(
        [
            result(0, output=ERROR, case=tagged),
            result(0, 0.0, repeat=1, case=tagged, output=paid(1.0)),
            result(0, 1.0, repeat=2, case=tagged, output=paid(2.0)),
            result(1, 0.0, repeat=0),
            result(1, 0.0, repeat=1),
        ],
        **TRIES,
    )
    assert (found.n_answers, found.n_passed, found.n_failed, found.n_errors) == (2, 1, 1, 0)
    assert (found.pass_rate.value, found.value.value, found.n_flaky) == (0.5, 0.5, 1)
    assert (found.errors, found.money.targets_usd) == ({}, 3.0)
    assert (found.tags["x"].n_answers, found.tags["x"].pass_rate.value) == (1, 1.0)


def test_a_cases_own_tries_count_in_the_same_way() -> None:
    own = make_case(id="c0", evaluation={"strategy": "exact_match", "retries": 1})
    found = figures([result(0, 0.0, case=own), result(0, 1.0, repeat=1, case=own)])
    assert (found.n_answers, found.pass_rate.value) == (1, 1.0)


def pair(a: Sequence[float], b: Sequence[float]) -> list[CaseResult]:
    first = [result(n, value, "a") for n, value in enumerate(a)]
    return first + [result(n, value, "b") for n, value in enumerate(b)]


def difference(summary: RunSummary, measure: str) -> VariantDifference:
    (found,) = [d for d in summary.differences if d.measure == measure]
    return found


def test_variants_differ_by_the_mean_over_the_cases_that_both_answered() -> None:
    results = [*pair([0.0, 0.25, 0.5, 1.0], [1.0, 0.75, 0.5, 1.0]), result(9, 1.0, "a")]
    summary = summarize_run(results, run("a", "b"))
    value = difference(summary, "value")
    assert (value.first, value.second, value.estimate.n) == ("a", "b", 4)
    assert value.estimate.value == pytest.approx((1.0 + 0.5 + 0 + 0) / 4)
    assert difference(summary, "pass_rate").estimate.value == pytest.approx(0.5)
    # sd of (1, .5, 0, 0) is 0.4787; with n 4 the detectable difference is (z.975 + z.8) sd / 2
    assert value.detectable is not None
    assert value.detectable > 2.8 * 0.4787 / 2


def test_cases_that_never_differ_have_no_p_and_nothing_detectable() -> None:
    value = difference(summarize_run(pair([1.0, 0.5], [1.0, 0.5]), run("a", "b")), "value")
    assert (value.estimate.value, value.p, value.p_adjusted, value.detectable) == (0, None, None,
                                                                                  None)  # fmt: skip


def test_variants_without_a_common_case_have_no_difference() -> None:
    results = [result(0, 1.0, "a"), result(1, 1.0, "b"), result(2, 1.0, "b", output=ERROR)]
    assert summarize_run(results, run("a", "b")).differences == ()


def test_shares_of_repeats_are_compared_case_by_case() -> None:
    results = [result(0, v, "a", r) for r, v in enumerate((1.0, 0.0))]
    results += [result(0, 1.0, "b", r) for r in range(2)]
    found = difference(summarize_run(results, run("a", "b")), "pass_rate")
    assert found.estimate.value == 0.5


def test_p_values_are_adjusted_over_all_pairs_of_a_measure() -> None:
    rng = random.Random(7)
    results = [
        result(n, min(1.0, max(0.0, shift + rng.random() / 2)), name)
        for name, shift in (("a", 0.0), ("b", 0.2), ("c", 0.5))
        for n in range(20)
    ]
    found = [d for d in summarize_run(results, run("a", "b", "c")).differences
             if d.measure == "value"]  # fmt: skip
    assert [(d.first, d.second) for d in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    raw = [d.p for d in found if d.p is not None]
    assert [d.p_adjusted for d in found] == pytest.approx(list(adjust(raw, "holm").value))
    assert all(d.p_adjusted >= d.p for d in found if d.p is not None and d.p_adjusted is not None)


def test_holms_adjustment_of_three_variants_by_hand() -> None:
    """Cases that differ all in one direction have a mid-p of 0.5 ** n (McNemar, n discordant)."""
    passing = {"a": 0, "b": 5, "c": 8}  # of 10 cases, always the first ones
    results = [
        result(place, float(place < n), name) for name, n in passing.items() for place in range(10)
    ]
    summary = summarize_run(results, run("a", "b", "c"))
    found = {(d.first, d.second): d for d in summary.differences if d.measure == "pass_rate"}
    assert {pair: d.p for pair, d in found.items()} == pytest.approx(
        {("a", "b"): 1 / 32, ("a", "c"): 1 / 256, ("b", "c"): 1 / 8}
    )
    # Smallest first: 3/256, then 2/32, then 1/8; each at least the one before.
    assert {pair: d.p_adjusted for pair, d in found.items()} == pytest.approx(
        {("a", "b"): 1 / 16, ("a", "c"): 3 / 256, ("b", "c"): 1 / 8}
    )


ANSWERS = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from([None, 0.0, 0.3, 0.5, 1.0])), max_size=14
)


def results_of(answers: Sequence[tuple[int, float | None]], variant: str = "v") -> list[CaseResult]:
    seen: dict[int, int] = {}
    made = []
    for place, value in answers:
        seen[place] = seen.get(place, -1) + 1
        made.append(result(place, value, variant, seen[place]))
    return made


def plain(summary: RunSummary) -> str:
    """Everything a summary says, with nan equal to nan."""
    return repr(asdict(replace(summary, run=run())))


@given(ANSWERS, st.randoms(use_true_random=False))
def test_the_order_of_the_answers_does_not_matter(
    answers: list[tuple[int, float | None]], rng: random.Random
) -> None:
    """A run read in any order comes to the same figures."""
    results = results_of(answers)
    shuffled = rng.sample(results, len(results))
    assert plain(summarize_run(results, run())) == plain(summarize_run(shuffled, run()))


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=9))
def test_repeats_that_say_the_same_again_make_nothing_surer(values: list[float]) -> None:
    """More repeats of the same cases never narrow an interval by themselves."""
    once = figures([result(n, v) for n, v in enumerate(values)])
    thrice = figures([result(n, v, repeat=r) for n, v in enumerate(values) for r in range(3)])
    for name in ("pass_rate", "value"):
        one, three = getattr(once, name), getattr(thrice, name)
        assert three.value == pytest.approx(one.value)
        assert three.high - three.low >= one.high - one.low - 1e-9


def test_a_rare_large_loss_widens_the_difference_downwards() -> None:
    """As in `compare --scores`: 19 gains of 0.05 and a loss of 0.6 show no gain of the mean."""
    gains = [0.05] * 19 + [-0.6]
    first = [result(k, 0.7, "a") for k in range(20)]
    second = [result(k, 0.7 + gain, "b") for k, gain in enumerate(gains)]
    found = summarize_run([*first, *second], run("a", "b")).differences[0].estimate
    assert found.value - found.low > 1.5 * (found.high - found.value)


@given(ANSWERS, ANSWERS)
def test_swapping_the_variants_mirrors_the_differences(
    a: list[tuple[int, float | None]], b: list[tuple[int, float | None]]
) -> None:
    """What b is less a is the negative of what a is less b."""
    results = [*results_of(a, "a"), *results_of(b, "b")]
    there = summarize_run(results, run("a", "b")).differences
    back = summarize_run(results, run("b", "a")).differences
    assert len(there) == len(back)
    for one, other in zip(there, back, strict=True):
        mirrored = (-other.estimate.value, -other.estimate.high, -other.estimate.low)
        found = (one.estimate.value, one.estimate.low, one.estimate.high)
        assert found == pytest.approx(mirrored, abs=1e-9, nan_ok=True)
        assert (one.p is None) == (other.p is None)
        # Values and pass rates lie in [0, 1], so that no difference leaves [-1, 1].
        assert math.isnan(found[1]) or -1 <= found[1] <= found[2] <= 1
