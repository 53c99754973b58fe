"""Segments, correlations within groups, and which items to look at."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import pytest

from judgekit.calibration import CalibrationOptions, OutputKey
from judgekit.calibration.breakdown import (
    build_groupings,
    build_segments,
    largest_disagreements,
    suggest_labels,
)
from judgekit.records import Scale
from tests.calibration.items import OPTIONS, YES_NO, aligned, item


def test_groups_have_figures_of_their_own() -> None:
    items = [
        item(4, 4, place=OutputKey("a", "v1"), groups={"stratum": ("simple",)}),
        item(4, 1, place=OutputKey("b", "v2"), groups={"stratum": ("complex",)}),
    ]
    found = {segment.name: segment for segment in build_segments(aligned(*items), OPTIONS)}
    assert found["v1"].right.value == 1
    assert found["v2"].right.value == 0
    assert found["v2"].corrected is not None
    assert found["simple"].corrected is None


def test_correlations_within_cases_hide_nothing_between_them() -> None:
    """Within each case the order is turned, between the cases it holds."""
    scores = {"a": [(1, 2), (2, 1)], "b": [(4, 5), (5, 4)]}
    items = [
        item(j, h, case=case, place=OutputKey(case, f"v{k}"), groups={"doc": (case,)})
        for case, pairs in scores.items()
        for k, (j, h) in enumerate(pairs)
    ]
    found = {g.kind: g for g in build_groupings(aligned(*items), CalibrationOptions(by=("doc",)))}
    assert list(found) == ["case", "variant", "doc"]
    assert found["case"].within["pearson"].value == pytest.approx(-1)
    assert found["case"].between["pearson"].value == pytest.approx(1)
    assert found["doc"].within == found["case"].within or isnan(found["doc"].within["pearson"].low)
    assert found["case"].order_accuracy.value == 0


def test_numbers_in_a_group_have_no_kappa() -> None:
    items = [item(0.1, 0.2, place=OutputKey("a", v)) for v in ("v1", "v2")]
    found = build_segments(aligned(*items, scale=Scale(min=0, max=1)), OPTIONS)
    assert isnan(found[0].kappa.value)


def test_the_worst_disagreements_come_first_and_of_equals_the_sure_ones() -> None:
    items = [
        item(4, 4, case="same"),
        item(5, 4, case="near"),
        item(5, 1, case="far", confidence=0.5),
        item(1, 5, case="sure", confidence=0.9, rationale="No.", reasons={"p0": "Yes."}),
    ]
    found = largest_disagreements(aligned(*items), 3)
    assert [each.case_id for each in found] == ["sure", "far", "near"]
    assert (found[0].distance, found[0].rationale, found[0].reasons) == (-1, "No.", {"p0": "Yes."})


def test_labels_are_wanted_where_the_judge_is_unsure_or_people_are_split() -> None:
    part = aligned(
        item(3, 1, 5, case="split"),
        item(3, 3, 3, case="agreed"),
        unlabelled=(
            item(4, case="unsure", confidence=0.4),
            item(4, case="sure", confidence=0.9),
            item(3.7, case="near"),
            item(1, case="clear"),
        ),
    )
    found = {each.case_id: each.why for each in suggest_labels([part], 9)}
    assert found["split"] == "two annotators disagree; a third label would decide"
    assert found["unsure"] == "not labelled; the judge is uncertain: confidence 0.40"
    assert found["sure"] == "not labelled; the judge has confidence 0.90"
    assert found["near"] == "its score 0.68 is close to the pass threshold 0.7"
    assert found["clear"] == "not labelled"
    assert "agreed" not in found
    assert len(suggest_labels([part], 2)) == 2


def test_yes_and_no_have_no_near() -> None:
    part = aligned(unlabelled=(item(1, case="a"),), scale=YES_NO)
    assert suggest_labels([part], 1)[0].why == "not labelled"


def test_cases_of_one_document_are_left_out_together() -> None:
    """Twelve cases of three documents: correlations know no more than three."""
    items = [
        item(
            1 + (k + n + d) % 5, 1 + (k * (1 + d % 2) + n) % 5,
            place=OutputKey(f"c{d}{k}", f"v{n}"), cluster=f"d{d}",
        )
        for d in range(3)
        for k in range(4)
        for n in range(3)
    ]  # fmt: skip
    whole = {each.kind: each for each in build_groupings(aligned(*items), OPTIONS)}["case"]
    alone = [replace(each, cluster=each.place.case_id) for each in items]
    single = {each.kind: each for each in build_groupings(aligned(*alone), OPTIONS)}["case"]
    pairs = [
        (whole.within["spearman"], single.within["spearman"]),
        (whole.between["pearson"], single.between["pearson"]),
        (whole.order_accuracy, single.order_accuracy),
    ]
    for by_document, by_case in pairs:
        assert by_document.value == pytest.approx(by_case.value)
        assert (by_document.n_clusters, by_document.low) != (by_case.n_clusters, by_case.low)
        assert by_document.n_clusters == 3
        assert -1 <= by_document.low < by_document.high <= 1
    assert 0 <= whole.order_accuracy.low < whole.order_accuracy.high <= 1
