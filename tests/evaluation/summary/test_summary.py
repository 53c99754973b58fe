from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from judgekit.evaluation import RunSummary, one_per_reply, summarize_verdicts
from judgekit.records import Evidence, Usage
from judgekit.scoring import conclude
from judgekit.stats.intervals import proportion
from tests.factories import make_criterion, make_failure, make_judgment, make_rubric

if TYPE_CHECKING:
    from judgekit.records import Verdict

RUBRIC = make_rubric("accuracy", "clarity", name="support", pass_threshold=0.7)


def judged(value: float | None, *, case: str = "a", variant: str | None = "v1") -> Verdict:
    """A verdict with the same value on both criteria; None is a judge that failed on both."""
    subject: dict[str, Any] = {"case_id": case, "variant": variant}
    names = ("accuracy", "clarity")
    if value is None:
        return conclude(RUBRIC, (), [make_failure(n, **subject) for n in names], **subject)
    return conclude(RUBRIC, [make_judgment(n, value, **subject) for n in names], **subject)


def summary_of(*verdicts: Verdict) -> RunSummary:
    return summarize_verdicts(verdicts, RUBRIC)


def test_a_summary_names_the_rubric_and_its_threshold() -> None:
    summary = summary_of(judged(1.0))
    assert (summary.rubric, summary.pass_threshold) == ("support", 0.7)


def test_passed_failed_undecided_and_errors_are_counted_apart() -> None:
    error = conclude(RUBRIC, (), case_id="d", variant="v1", error="timed out")
    (variant,) = summary_of(judged(0.9), judged(0.2), judged(None), error).variants
    assert (variant.n, variant.n_passed, variant.n_failed) == (4, 1, 1)
    assert (variant.n_undecided, variant.n_errors) == (1, 1)


def test_the_pass_rate_is_that_of_decided_outputs_with_wilsons_interval() -> None:
    (variant,) = summary_of(judged(0.9), judged(0.8), judged(0.2), judged(None)).variants
    assert variant.pass_rate == proportion(2, 3, n_missing=1)
    assert variant.pass_rate_bounds == (0.5, 0.75)


def test_variants_stand_in_order_of_appearance() -> None:
    found = summary_of(
        judged(0.9, variant="new"), judged(0.9, variant="base"), judged(0.1, variant="new")
    )
    assert [(v.variant, v.n) for v in found.variants] == [("new", 2), ("base", 1)]


def test_outputs_without_a_variant_are_one_without_a_name() -> None:
    (variant,) = summary_of(judged(0.9, variant=None)).variants
    assert variant.variant == ""


def test_a_failed_judgment_is_missing_and_not_zero() -> None:
    summary = summary_of(judged(0.8), judged(None))
    (variant,) = summary.variants
    assert variant.value.value == pytest.approx(0.8)
    assert (variant.value.n, variant.value.n_missing) == (1, 1)
    assert variant.criteria["clarity"].value == pytest.approx(0.8)
    assert summary.failures == {"unreadable": 2}
    assert summary.failure_messages == {"unreadable": "no"}
    assert not summary.complete


def test_without_any_judgment_a_mean_is_undefined() -> None:
    (variant,) = summary_of(judged(None)).variants
    assert isnan(variant.value.value)
    assert isnan(variant.pass_rate.value)
    assert variant.value.reason == "nothing is known"
    assert variant.pass_rate_bounds == (0.0, 1.0)


def test_errors_of_the_system_under_test_leave_the_summary_complete() -> None:
    summary = summary_of(conclude(RUBRIC, (), case_id="d", variant="v1", error="timed out"))
    assert summary.complete
    assert summary.variants[0].pass_rate_bounds == (0.0, 1.0)


def test_nothing_graded_has_no_variants() -> None:
    summary = summary_of()
    assert summary.variants == ()
    assert summary.spent.n_replies == 0


def test_the_first_message_of_each_kind_of_failure_is_kept() -> None:
    failures = [
        make_failure("accuracy", kind="timeout", message="first"),
        make_failure("clarity", kind="timeout", message="second"),
    ]
    assert summary_of(conclude(RUBRIC, (), failures)).failure_messages == {"timeout": "first"}


def test_quoted_passages_are_counted_with_those_found() -> None:
    found, invented = Evidence(quote="30 days", match="exact"), Evidence(quote="60 days")
    judgment = make_judgment(evidence=(found, invented))
    summary = summary_of(conclude(RUBRIC, [judgment]))
    assert (summary.n_evidence, summary.n_evidence_found) == (2, 1)


def test_judgments_are_counted_by_what_they_quote() -> None:
    found, invented = Evidence(quote="30 days", match="exact"), Evidence(quote="60 days")
    judgments = [
        make_judgment("accuracy", evidence=(invented, found)),
        make_judgment("clarity", evidence=(invented,)),
        make_judgment("accuracy", repeat=1),
        make_judgment("clarity", repeat=1, source="human"),  # nobody asks people for quotations
    ]
    summary = summary_of(conclude(RUBRIC, judgments))
    assert summary.evidence == {"found": 1, "not_found": 1, "none": 1}


def test_judges_models_and_marks_are_named_once_each() -> None:
    judgments = [
        make_judgment("accuracy", judge="j t@1", model="m-1", flags=("smoke_model",)),
        make_judgment("clarity", judge="j t@1", model="m-1", flags=("smoke_model",)),
    ]
    failure = make_failure("clarity", judge="k t@1")
    summary = summary_of(conclude(RUBRIC, judgments, [failure]))
    assert summary.judges == ("j t@1", "k t@1")
    assert summary.models == ("m-1",)
    assert summary.flags == {"smoke_model": 2}


def test_money_and_tokens_are_those_paid_now_and_savings_those_of_the_cache() -> None:
    usage = Usage(input_tokens=100, output_tokens=20)
    bought = make_judgment("accuracy", cost_usd=0.5, price_usd=0.5, usage=usage, reply_key="k1")
    owned = make_judgment(
        "clarity", cached=True, cost_usd=0.0, price_usd=0.25, usage=usage, reply_key="k2"
    )
    spent = summary_of(conclude(RUBRIC, [bought, owned])).spent
    assert (spent.n_replies, spent.n_cached) == (2, 1)
    assert (spent.cost_usd, spent.saved_usd, spent.cost_unknown) == (0.5, 0.25, False)
    assert (spent.input_tokens, spent.output_tokens) == (100, 20)


def test_criteria_answered_together_are_one_reply() -> None:
    shared: dict[str, Any] = {"case_id": "a", "reply_key": "k", "cost_usd": 0.1}
    both = [make_judgment("accuracy", **shared), make_judgment("clarity", **shared)]
    spent = summary_of(conclude(RUBRIC, both)).spent
    assert spent.n_replies == 1
    assert spent.cost_usd == pytest.approx(0.2)


def test_equal_outputs_use_a_reply_each_of_which_one_was_bought() -> None:
    shared: dict[str, Any] = {"case_id": "a", "reply_key": "k"}
    owned = make_judgment(variant="v1", cached=True, cost_usd=0.0, price_usd=0.1, **shared)
    bought = make_judgment(variant="v2", cost_usd=0.1, price_usd=0.1, **shared)
    spent = summary_of(conclude(RUBRIC, [owned]), conclude(RUBRIC, [bought])).spent
    assert (spent.n_replies, spent.n_cached) == (2, 1)


def test_replies_that_were_paid_for_and_not_usable_count_too() -> None:
    failure = make_failure(n_calls=3, cost_usd=0.3, reply_key="k")
    spent = summary_of(conclude(RUBRIC, (), [failure])).spent
    assert (spent.n_replies, spent.cost_usd) == (3, 0.3)


def test_a_failure_without_a_reply_costs_nothing_and_leaves_no_doubt() -> None:
    spent = summary_of(conclude(RUBRIC, (), [make_failure(kind="auth")])).spent
    assert (spent.n_replies, spent.cost_usd, spent.cost_unknown) == (0, 0.0, False)


def test_a_price_that_is_not_known_is_said() -> None:
    judgments = [make_judgment("accuracy", cost_usd=0.1), make_judgment("clarity")]
    spent = summary_of(conclude(RUBRIC, judgments)).spent
    assert (spent.cost_usd, spent.cost_unknown) == (0.1, True)


def test_answers_without_a_key_count_each_for_itself() -> None:
    assert len(one_per_reply([make_judgment(), make_judgment()])) == 2


def test_a_criterion_that_counts_nothing_is_summed_up_too() -> None:
    rubric = make_rubric(make_criterion("accuracy"), make_criterion("tone", weight=0.0))
    verdict = conclude(rubric, [make_judgment("accuracy", 1.0), make_judgment("tone", 0.0)])
    (variant,) = summarize_verdicts([verdict], rubric).variants
    assert variant.value.value == 1.0
    assert variant.criteria["tone"].value == 0.0


VALUES = st.lists(st.none() | st.floats(0, 1), max_size=12)


class TestLaws:
    """Whatever the verdicts are."""

    @given(VALUES)
    def test_every_output_is_in_exactly_one_count(self, values: list[float | None]) -> None:
        for variant in summary_of(*map(judged, values)).variants:
            counts = (variant.n_passed, variant.n_failed, variant.n_undecided, variant.n_errors)
            assert sum(counts) == variant.n == len(values)

    @given(VALUES)
    def test_the_rate_lies_within_its_bounds(self, values: list[float | None]) -> None:
        for variant in summary_of(*map(judged, values)).variants:
            low, high = variant.pass_rate_bounds
            assert 0 <= low <= high <= 1
            if variant.n_passed + variant.n_failed:
                assert low <= variant.pass_rate.value <= high

    @given(VALUES, st.randoms(use_true_random=False))
    def test_the_order_of_verdicts_changes_no_figure(
        self, values: list[float | None], rng: Any
    ) -> None:
        shuffled = list(values)
        rng.shuffle(shuffled)
        before, after = summary_of(*map(judged, values)), summary_of(*map(judged, shuffled))
        for one, other in zip(before.variants, after.variants, strict=True):
            assert (one.n_passed, one.pass_rate_bounds) == (other.n_passed, other.pass_rate_bounds)
            assert one.value.value == pytest.approx(other.value.value, nan_ok=True)
