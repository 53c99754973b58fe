"""What moves when labels, orders, annotators or replies change; skipped without `JUDGEKIT_DATA`."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from tests.published.material import needs_data, needs_reference, reference, rows_of
from tests.published.replaying import compared

if TYPE_CHECKING:
    from judgekit.evaluation.calibrating.report import CalibrationReport, CriterionCalibration
    from tests.published.material import Rows

pytestmark = needs_data

JUDGE, PAIR_JUDGE = "gpt-4-0314/rts", "GPT-4/CoT"
CRITERION = jk.Criterion(name="coherence", question="Does it hold together?", scale="one_to_five")
RUBRIC = jk.Rubric(name="r", criteria=[CRITERION])
OTHER = {"A": "B", "B": "A"}


@pytest.fixture(scope="module")
def rows() -> Rows:
    """The summaries of a quarter of the articles."""
    return rows_of("summeval_llm/pointwise_coherence")[:300]


def judged(rows: Rows) -> list[dict[str, Any]]:
    return [
        {"case_id": row["doc_id"], "variant": row["system_id"], "criterion": "coherence",
         "raw": row["judge_parsed"][JUDGE][0]}
        for row in rows
    ]  # fmt: skip


def labelled(rows: Rows) -> list[dict[str, Any]]:
    return [
        {"case_id": row["doc_id"], "variant": row["system_id"], "criterion": "coherence",
         "annotator": f"expert {at}", "raw": score}
        for row in rows
        for at, score in enumerate(row["human"])
    ]  # fmt: skip


def calibrated(
    said: list[dict[str, Any]], labels: list[dict[str, Any]], **options: Any
) -> CriterionCalibration:
    report = jk.calibrate(said, labels, rubric=RUBRIC, options=jk.CalibrationOptions(**options))
    return report.criteria["coherence"]


def test_permuted_labels_bring_agreement_near_chance(rows: Rows) -> None:
    labels = labelled(rows)
    as_is = calibrated(judged(rows), labels).agreement
    assert as_is.pearson.low > 0.2
    order = list(range(len(rows)))
    random.Random(1).shuffle(order)
    mixed = [{**label, "raw": labels[3 * order[at // 3] + at % 3]["raw"]}
             for at, label in enumerate(labels)]  # fmt: skip
    chance = calibrated(judged(rows), mixed).agreement
    assert abs(chance.kappa_quadratic.value) < 0.1
    assert chance.pearson.low < 0 < chance.pearson.high


def test_an_annotator_less_changes_the_ceiling_and_not_much_else(rows: Rows) -> None:
    whole = calibrated(judged(rows), labelled(rows))
    two = calibrated(judged(rows), labelled(rows), annotators=("expert 0", "expert 1"))
    assert (whole.people.n_annotators, two.people.n_annotators) == (3, 2)
    assert whole.people.alpha_ordinal.value != two.people.alpha_ordinal.value
    assert (two.n, two.n_judge_missing) == (whole.n, 0)
    pearson = two.agreement.pearson
    assert pearson.low < whole.agreement.pearson.value < pearson.high


def test_blanked_replies_are_counted_and_not_taken_for_scores(rows: Rows) -> None:
    said = judged(rows)
    whole = calibrated(said, labelled(rows))
    blank = [{**row, "raw": None} if at % 20 == 0 else row for at, row in enumerate(said)]
    less = calibrated(blank, labelled(rows))
    assert (less.n, less.n_judge_missing) == (285, 15)
    kept = less.agreement.pearson
    assert kept.low < whole.agreement.pearson.value < kept.high
    assert less.pass_fail is not None
    assert less.pass_fail.accuracy_of_all.value < less.pass_fail.accuracy.value


def mirrored(row: dict[str, Any]) -> dict[str, Any]:
    """The same pair with the two outputs called by each other's name."""
    said = row["judge"][PAIR_JUDGE]
    return {
        **row, "output_a": row["output_b"], "output_b": row["output_a"],
        "human": OTHER[row["human"]], "judge": {PAIR_JUDGE: {"ab": said["ba"], "ba": said["ab"]}},
    }  # fmt: skip


def of_pairs(rows: Rows) -> CalibrationReport:
    labels = [{"case_id": row["id"], "annotator": "authors", "winner": row["human"].lower()}
              for row in rows]  # fmt: skip
    return jk.calibrate(compared(rows, PAIR_JUDGE, "pairwise/llmbar"), labels)


@needs_reference
def test_pairs_come_to_the_published_figures_and_mirror_when_the_orders_are_swapped() -> None:
    rows = [row for row in rows_of("llmbar/pairwise") if row["subset"] == "Natural"]
    found, swapped = of_pairs(rows).overall.orders, of_pairs([*map(mirrored, rows)]).overall.orders
    assert found is not None
    assert swapped is not None
    published = {
        name: reference()[f"llmbar_Natural/{PAIR_JUDGE}/{name}"]["value"]
        for name in ("accuracy_ab", "accuracy_ba", "accuracy_both", "position_conflict")
    }
    ours = {name: getattr(found, name).value for name in published}
    assert ours == pytest.approx(published, abs=1e-6)
    assert swapped.accuracy_ab.value == found.accuracy_ba.value
    assert swapped.position_conflict.value == found.position_conflict.value
    assert swapped.first_shown.value == found.first_shown.value
    assert swapped.win_rate_a.value == pytest.approx(1 - found.win_rate_a.value)


@needs_reference
def test_all_scores_come_to_the_published_figures() -> None:
    rows = rows_of("summeval_llm/pointwise_coherence")
    found = calibrated(judged(rows), labelled(rows))
    by_document = next(one for one in found.groupings if one.kind == "case").within
    between = next(one for one in found.groupings if one.kind == "variant").between
    agreed, people = found.agreement, found.people
    ours = {
        f"{JUDGE}/qwk": agreed.kappa_quadratic,
        f"{JUDGE}/cohen_kappa": agreed.kappa,
        f"{JUDGE}/exact_agreement_with_median": agreed.exact,
        f"{JUDGE}/pooled_pearson": agreed.pearson,
        f"{JUDGE}/pooled_spearman": agreed.spearman,
        f"{JUDGE}/pooled_kendall": agreed.kendall,
        f"{JUDGE}/mean_bias": found.leniency.bias,
        f"{JUDGE}/mean_absolute_error": found.leniency.mae,
        f"{JUDGE}/per_document_kendall": by_document["kendall"],
        f"{JUDGE}/per_system_spearman": between["spearman"],
        "experts/alpha_ordinal": people.alpha_ordinal,
        "experts/alpha_interval": people.alpha_interval,
        "experts/alpha_nominal": people.alpha_nominal,
    }
    known = {name: reference()[f"summeval_coherence/{name}"]["value"] for name in ours}
    assert {name: one.value for name, one in ours.items()} == pytest.approx(known, abs=1e-6)
