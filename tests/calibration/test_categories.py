"""Labels that are categories: equal or not, and nothing between."""

from __future__ import annotations

import random
from math import isnan
from typing import Any

import pytest

import judgekit as jk
from judgekit.calibration.maps import fit_map
from judgekit.errors import DatasetError, InputError, NotEnoughDataError

NAMES = ("family", "place", "time", "tool")
OPTIONS = jk.CalibrationOptions(categories=True, epsilon=0.1)


def rubric(*criteria: str, names: tuple[str, ...] = NAMES) -> jk.Rubric:
    levels = [{"value": at, "name": name} for at, name in enumerate(names)]
    asked = [
        {"name": name, "question": "Which is it?", "scale": {"levels": levels}}
        for name in criteria or ("kind",)
    ]
    return jk.Rubric.model_validate({"name": "kinds", "criteria": asked})


def crowd(*, permuted: dict[str, str] | None = None, n: int = 60) -> tuple[Any, Any]:
    """A judge and three people who are right four times out of five, by names of categories."""
    draw = random.Random(5)
    named = permuted or {name: name for name in NAMES}
    said, people = [], []
    for at in range(n):
        truth = NAMES[at % 4]

        def of(truth: str = truth) -> str:
            return named[truth if draw.random() < 0.8 else draw.choice(NAMES)]

        said.append({"case_id": f"c{at:02}", "raw": of()})
        people += [{"case_id": f"c{at:02}", "annotator": who, "raw": of()} for who in "xyz"]
    return said, people


def calibrated(said: Any, people: Any, **options: Any) -> jk.CalibrationReport:
    return jk.calibrate(said, people, rubric=options.pop("rubric", rubric()), options=OPTIONS)


def test_categories_have_kappa_and_alpha_and_neither_means_nor_ranks() -> None:
    found = calibrated(*crowd()).overall
    assert found.agreement.kappa.value == found.agreement.kappa_quadratic.value > 0.5
    assert found.agreement.within_one.value == found.agreement.exact.value
    assert found.people.alpha.value == found.people.alpha_nominal.value > 0.3
    undefined = (
        found.agreement.pearson, found.agreement.ccc, found.agreement.icc,
        found.people.alpha_ordinal, found.people.alpha_interval, found.people.mean_pearson,
        found.leniency.bias, found.leniency.judge_mean, found.corrected_mean.corrected,
    )  # fmt: skip
    assert all(isnan(one.value) for one in undefined)
    assert "no order" in str(found.agreement.pearson.reason)
    assert (found.pass_fail, found.corrected_rate, found.groupings) == (None, None, ())
    assert "no order" in str(found.why_no_recalibration)
    assert found.budget.n_needed is None
    assert [one.distance for one in found.disagreements] == [1.0] * len(found.disagreements)
    annotator = found.people.annotators[0]
    assert isnan(annotator.mean)
    assert annotator.kappa.value > 0.3


def test_what_categories_are_called_and_in_which_order_changes_no_agreement() -> None:
    renamed = dict(zip(NAMES, ("zebra", "apple", "maple", "coal"), strict=True))
    before = calibrated(*crowd()).overall
    names = tuple(renamed[name] for name in reversed(NAMES))
    after = calibrated(*crowd(permuted=renamed), rubric=rubric(names=names)).overall
    # Of a tied vote the first on the scale is taken, so that only votes that tie may differ.
    assert after.people.alpha_nominal.value == pytest.approx(before.people.alpha_nominal.value)
    assert after.people.fleiss_kappa.value == pytest.approx(before.people.fleiss_kappa.value)
    assert after.people.mean_pair_kappa == pytest.approx(before.people.mean_pair_kappa)
    for one, other in ((before, after), (after, before)):
        assert one.stand_in.test is not None
        assert other.stand_in.test is not None
        assert one.stand_in.scoring == "accuracy"
        assert one.stand_in.test.advantage_probability == pytest.approx(
            other.stand_in.test.advantage_probability
        )


def test_the_label_is_the_category_most_people_name_and_of_a_tie_the_first() -> None:
    people = [
        {"case_id": case, "annotator": who, "raw": raw}
        for case, raws in (("a", "time time place"), ("b", "tool place"))
        for who, raw in zip("xyz", raws.split(), strict=False)
    ]
    said = [{"case_id": "a", "raw": "time"}, {"case_id": "b", "raw": "place"}]
    report = calibrated(said, people)
    assert report.overall.agreement.exact.value == 1
    assert report.aligned["kind"].human.tolist() == [2, 1]


def test_confidence_counts_as_right_what_names_the_same_category() -> None:
    said, people = crowd()
    sure = [{**row, "confidence": 0.9} for row in said]
    found = calibrated(sure, people).overall
    assert found.trust is not None
    assert found.trust.right == "exact"
    assert found.trust.accuracy.value == found.agreement.exact.value


def test_yes_and_no_are_a_scale_even_among_categories() -> None:
    asked = jk.Rubric.model_validate(
        {"name": "y", "criteria": [{"name": "done", "question": "Done?", "scale": "binary"}]}
    )
    said = [{"case_id": f"c{n}", "raw": n % 2} for n in range(6)]
    people = [{**row, "annotator": "x"} for row in said]
    assert calibrated(said, people, rubric=asked).overall.pass_fail is not None


def test_categories_of_several_criteria_are_pooled_where_they_are_the_same() -> None:
    said, people = crowd()
    both = [
        [{**row, "criterion": name} for name in ("now", "then") for row in rows]
        for rows in (said, people)
    ]
    found = calibrated(*both, rubric=rubric("now", "then"))
    assert found.pooled.n == 120
    assert found.mean_of_criteria is not None
    assert found.mean_of_criteria.kappa == pytest.approx(
        found.criteria["now"].agreement.kappa.value
    )
    assert isnan(found.mean_of_criteria.bias)
    mixed = rubric("now", "then")
    other = mixed.criteria[1].model_copy(
        update={"scale": rubric(names=NAMES[:3]).criteria[0].scale}
    )
    unlike = mixed.model_copy(update={"criteria": (mixed.criteria[0], other)})
    kept = [[row for row in rows if row["criterion"] == "now" or row["raw"] != "tool"]
            for rows in both]  # fmt: skip
    apart = calibrated(*kept, rubric=unlike)
    assert apart.pooled.name == "now", "unlike categories are not pooled"


def test_segments_and_samples_of_categories_have_no_means() -> None:
    said, people = crowd(n=12)
    again = [
        {**row, "variant": f"v{at % 2}", "repeat": repeat}
        for at, row in enumerate(said)
        for repeat in (0, 1)
    ]
    found = calibrated(again, people).overall
    assert {segment.name for segment in found.segments} == {"v0", "v1"}
    assert all(isnan(segment.bias.value) for segment in found.segments)
    assert found.steadiness is not None
    assert isnan(found.steadiness.within_sd)
    assert found.steadiness.alpha_nominal.value == 1
    assert isnan(found.steadiness.alpha_ordinal.value)


def test_no_map_is_fitted_to_categories() -> None:
    found = calibrated(*crowd())
    kappa = found.overall.agreement.kappa
    with pytest.raises(NotEnoughDataError, match="no order"):
        fit_map(found.aligned["kind"], kappa, rubric().criteria[0], level=0.95, seed=0)


@pytest.mark.parametrize(
    ("raw", "asked", "problem"),
    [
        ("famly", rubric(), "'famly' is not a score of 'kind'"),
        ("family", None, "'family' is a name, and its scale is not known"),
    ],
)
def test_a_name_that_no_scale_has_is_an_error(
    raw: str, asked: jk.Rubric | None, problem: str
) -> None:
    people: list[dict[str, Any]] = [{"case_id": "a", "annotator": "x", "raw": 1}]
    with pytest.raises(DatasetError, match=problem):
        jk.calibrate([{"case_id": "a", "raw": raw}], people, rubric=asked)
    with pytest.raises(InputError, match="2 rows cannot be used"):
        jk.calibrate([{"case_id": c, "raw": raw} for c in "ab"], people, rubric=asked)


def test_every_disagreement_about_a_category_is_suggested_for_a_third_label() -> None:
    names = tuple("abcdefgh")  # neighbours are a seventh of the scale apart
    said = [{"case_id": "c0", "raw": "a"}, {"case_id": "c1", "raw": "h"}]
    people = [
        {"case_id": case, "annotator": who, "raw": raw}
        for case, labels in (("c0", "ab"), ("c1", "hh"))
        for who, raw in zip("xy", labels, strict=True)
    ]
    report = calibrated(said, people, rubric=rubric(names=names))
    assert [(one.case_id, one.why) for one in report.suggestions] == [
        ("c0", "two annotators disagree; a third label would decide")
    ]
