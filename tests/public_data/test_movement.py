"""What the command says when labels, orders, annotators, replies or rows change.

Skipped without `JUDGEKIT_DATA`.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from tests.public_data.door import own, replies, rows_in, told, written
from tests.public_data.material import needs_data
from tests.public_data.places import at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.public_data.material import Rows

pytestmark = needs_data

SET, STEM, JUDGE = "summeval_llm", "pointwise_coherence", "gpt-4-0314/rts"
PAIR_JUDGE, SUBSET = "GPT-4/CoT", "Natural_"
MIRRORED = {"a": "b", "b": "a", "tie": "tie"}
TURNED = {"ab": "ba", "ba": "ab"}
BLANK_EVERY = 20
Report = dict[str, Any]


@pytest.fixture(scope="module")
def labels() -> Rows:
    """What three experts said of the summaries of a quarter of the articles."""
    return _of_some(rows_in(own(SET, f"{STEM}.labels.jsonl")))


@pytest.fixture(scope="module")
def said() -> Rows:
    """What GPT-4 replied about the same."""
    return _of_some(rows_in(replies(SET, STEM, JUDGE)))


@pytest.fixture(scope="module")
def pair_labels() -> Rows:
    """Which of two outputs is better, of a subset of LLMBar."""
    return [row for row in rows_in(own("llmbar", "pairwise.labels.jsonl")) if _is_wanted(row)]


@pytest.fixture(scope="module")
def pair_said() -> Rows:
    """What GPT-4 replied about the same, in both orders."""
    return [row for row in rows_in(replies("llmbar", "pairwise", PAIR_JUDGE)) if _is_wanted(row)]


def calibrated(labels: Iterable[Any], said: Iterable[Any], *options: object) -> Report:
    return told(
        written(labels), "--rubric", own(SET, f"{STEM}.rubric.json"),
        "--judge", f"recorded:{written(said)}", "--template", "pointwise/reason_then_score",
        "--cluster", "case", *options,
    ).report  # fmt: skip


def compared(labels: Iterable[Any], said: Iterable[Any]) -> Report:
    return told(
        written(labels), "--judge", f"recorded:{written(said)}", "--template", "pairwise/llmbar"
    ).report


def test_permuted_labels_bring_agreement_near_chance(labels: Rows, said: Rows) -> None:
    as_is = calibrated(labels, said)
    assert at(as_is, "overall.agreement.pearson.low") > 0.2
    order = list(range(len(said)))
    random.Random(1).shuffle(order)
    raws = [label["raw"] for label in labels]  # three of each summary, one after the other
    mixed = [
        {**label, "raw": raws[3 * order[place // 3] + place % 3]}
        for place, label in enumerate(labels)
    ]
    chance = calibrated(mixed, said)
    for name in ("kappa_quadratic", "pearson", "spearman", "kendall", "ccc"):
        found = at(chance, f"overall.agreement.{name}")
        assert found["low"] < 0 < found["high"], name
        assert abs(found["value"]) < 0.1, name
    assert at(chance, "stand_in.answer") != "yes"
    for name in ("leniency.judge_mean.value", "leniency.human_mean.value"):
        same = at(as_is, f"overall.{name}")
        assert at(chance, f"overall.{name}") == pytest.approx(same), "only who has which changed"
    people = at(as_is, "overall.people.alpha_ordinal.value")
    assert at(chance, "overall.people.alpha_ordinal.value") == pytest.approx(people)


def test_an_annotator_less_changes_the_ceiling_and_not_much_else(labels: Rows, said: Rows) -> None:
    whole = calibrated(labels, said)
    two = calibrated([one for one in labels if one["annotator"] != "expert 3"], said)
    assert at(whole, "overall.people.n_annotators") == 3
    assert at(two, "overall.people.n_annotators") == 2
    ceilings = [at(one, "overall.people.alpha_ordinal.value") for one in (whole, two)]
    assert ceilings[0] != ceilings[1]
    assert at(two, "overall.n") == at(whole, "overall.n") == len(said)
    assert at(two, "joined.n_labels") == 2 * len(said)
    pearson = at(two, "overall.agreement.pearson")
    assert pearson["low"] < at(whole, "overall.agreement.pearson.value") < pearson["high"]
    named = calibrated(labels, said, "--annotator", "expert 1", "--annotator", "expert 2")
    assert named["overall"] == two["overall"], "leaving out and not asking for are the same"


def test_blanked_replies_are_failures_and_never_scores(labels: Rows, said: Rows) -> None:
    whole = calibrated(labels, said)
    blank = [
        {**row, "text": ""} if place % BLANK_EVERY == 0 else row for place, row in enumerate(said)
    ]
    less = calibrated(labels, blank)
    n, n_blank = len(said), len(said) // BLANK_EVERY
    assert (at(less, "overall.n"), at(less, "overall.n_judge_missing")) == (n - n_blank, n_blank)
    assert at(less, "joined.failures") == {"empty": n_blank}
    assert at(less, "joined.n_answers") == n
    n_same = round(n * at(whole, "overall.agreement.exact.value"))
    exact = at(less, "overall.agreement.exact.value")
    assert (n_same - n_blank) / (n - n_blank) <= exact <= n_same / (n - n_blank)
    n_right = round(n * at(whole, "overall.pass_fail.accuracy.value"))
    of_all = at(less, "overall.pass_fail.accuracy_of_all.value")
    assert (n_right - n_blank) / n <= of_all <= n_right / n
    assert of_all < at(less, "overall.pass_fail.accuracy.value")
    kept = at(less, "overall.agreement.pearson")
    assert kept["low"] < at(whole, "overall.agreement.pearson.value") < kept["high"]


def test_the_order_of_rows_changes_nothing(labels: Rows, said: Rows) -> None:
    as_is = calibrated(labels, said)
    draw = random.Random(2)
    mixed = calibrated(draw.sample(labels, len(labels)), draw.sample(said, len(said)))
    for report in (as_is, mixed):
        assert report["overall"]["recalibration"] is not None
        report.pop("origin")  # names the files
        report.pop("judges")
    assert mixed == as_is


def test_pairs_are_mirrored_when_both_outputs_change_places(
    pair_labels: Rows, pair_said: Rows
) -> None:
    found = at(compared(pair_labels, pair_said), "overall.orders")
    mirrored = compared(
        ({**row, "winner": MIRRORED[row["winner"]]} for row in pair_labels),
        ({**row, "order": TURNED[row["order"]]} for row in pair_said),
    )
    swapped = at(mirrored, "overall.orders")
    assert swapped["accuracy_ab"] == found["accuracy_ba"]
    assert swapped["accuracy_ba"] == found["accuracy_ab"]
    same = ("accuracy_both", "swap_accuracy", "reconciled_accuracy", "position_conflict",
            "first_shown", "kappa", "kappa_orders", "n_unusable")  # fmt: skip
    assert {name: swapped[name] for name in same} == {
        name: pytest.approx(found[name], nan_ok=True) if isinstance(found[name], dict)
        else found[name]
        for name in same
    }  # fmt: skip
    for name in ("win_rate_a", "human_win_rate_a"):
        assert swapped[name]["value"] == pytest.approx(1 - found[name]["value"])
        assert swapped[name]["low"] == pytest.approx(1 - found[name]["high"])


def test_a_judge_whose_orders_are_mixed_up_says_the_opposite(
    pair_labels: Rows, pair_said: Rows
) -> None:
    found = at(compared(pair_labels, pair_said), "overall.orders")
    mixed_up = ({**row, "order": TURNED[row["order"]]} for row in pair_said)
    turned = at(compared(pair_labels, mixed_up), "overall.orders")
    usable = found["accuracy_usable"]["value"]
    assert usable > 0.9
    assert turned["accuracy_usable"]["value"] == pytest.approx(1 - usable)
    assert turned["first_shown"]["value"] == found["first_shown"]["value"]
    assert turned["position_conflict"]["value"] == found["position_conflict"]["value"]
    assert turned["win_rate_a"]["value"] == pytest.approx(1 - found["win_rate_a"]["value"])


def test_blanked_replies_about_pairs_count_as_wrong_and_are_counted(
    pair_labels: Rows, pair_said: Rows
) -> None:
    whole = at(compared(pair_labels, pair_said), "overall.orders")
    blank = [
        {**row, "text": None} if place % BLANK_EVERY == 0 else row
        for place, row in enumerate(pair_said)
    ]
    less = at(compared(pair_labels, blank), "overall.orders")
    n, n_blank = len(pair_labels), len(pair_said) // BLANK_EVERY
    assert less["n_unusable"] == whole["n_unusable"] + n_blank
    assert less["n_answers"] == whole["n_answers"] == 2 * n
    for name in ("accuracy_ab", "accuracy_ba", "accuracy_both"):
        before, after = whole[name]["value"], less[name]["value"]
        assert before - n_blank / n <= after <= before, name
    assert less["accuracy_usable"]["value"] > 0.9


def test_the_order_of_rows_about_pairs_changes_nothing(pair_labels: Rows, pair_said: Rows) -> None:
    as_is, mixed = compared(pair_labels, pair_said), compared(pair_labels[::-1], pair_said[::-1])
    for report in (as_is, mixed):
        report.pop("origin")
        report.pop("judges")
    assert mixed == as_is


def _of_some(rows: Rows) -> Rows:
    """The rows of the first quarter of the articles."""
    cases = list(dict.fromkeys(row["case_id"] for row in rows))
    wanted = set(cases[: len(cases) // 4])
    return [row for row in rows if row["case_id"] in wanted]


def _is_wanted(row: dict[str, Any]) -> bool:
    return str(row["case_id"]).startswith(SUBSET)
