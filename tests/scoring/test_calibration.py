"""When a calibration holds, how it is told that it does not, and what verdicts come to by it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from judgekit.records import (
    CalibratedJudge,
    CalibratedPanel,
    CalibrationFigure,
    CalibrationInUse,
    Criterion,
    Example,
    Rubric,
    RunPanel,
)
from judgekit.scoring import apply_calibration, calibration_in_use, conclude, format_measurement
from tests.calibrations import ASKED, JUDGE, make_calibration, make_map
from tests.factories import make_criterion, make_failure, make_judgment, make_rubric

RUBRIC = make_rubric("accuracy", "tone")
MAPS = make_calibration(RUBRIC)
HOLDS = calibration_in_use(MAPS, RUBRIC, ASKED)


def with_judge(**fields: Any) -> CalibratedPanel:
    return CalibratedPanel(judges=(JUDGE.model_copy(update=fields),))


def with_criterion(place: int, **fields: Any) -> Rubric:
    criteria = list(RUBRIC.criteria)
    criteria[place] = Criterion.model_validate({**criteria[place].model_dump(), **fields})
    return RUBRIC.model_copy(update={"criteria": tuple(criteria)})


def test_what_was_not_changed_holds() -> None:
    use = calibration_in_use(MAPS, RUBRIC, ASKED, path="m.json")
    assert use.state == "calibrated"
    assert use.words == "calibrated on 120 labels, kappa 0.71 [0.60, 0.81]"
    assert (use.applied, use.path) == (("accuracy", "tone"), "m.json")


@pytest.mark.parametrize(
    "rubric",
    [
        with_criterion(0, weight=3, required=True, pass_value=0.4, description="a note"),
        RUBRIC.model_copy(update={"pass_threshold": 0.1, "name": "other", "version": 2}),
    ],
)
def test_weights_thresholds_and_notes_change_no_map(rubric: Rubric) -> None:
    assert calibration_in_use(MAPS, rubric, ASKED).state == "calibrated"


EXAMPLE = Example(output="So.", raw=2)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"question": "Is it kind?"}, "its question"),
        ({"scoring_guide": "Look twice."}, "its scoring guide"),
        ({"scale": "one_to_ten"}, "its scale"),
        ({"examples": [EXAMPLE.model_dump()]}, "its examples"),
        ({"turns": "each"}, "its turns"),
        ({"question": "Is it kind?", "scale": "binary"}, "its question and its scale"),
    ],
)
def test_an_edited_criterion_loses_its_map_and_is_named(fields: Any, words: str) -> None:
    use = calibration_in_use(MAPS, with_criterion(1, **fields), ASKED)
    assert use.state == "stale"
    assert use.words == (
        f"stale: criterion 2 (tone) edited: {words}; the judge's own value decides tone, and maps "
        "accuracy"
    )
    assert use.applied == ("accuracy",)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            with_judge(judge="openai/n pointwise/criterion@1f3c"),
            "the model was openai/m, is openai/n",
        ),
        (
            with_judge(judge="openai/m pointwise/criterion@9"),
            "the template pointwise/criterion edited",
        ),
        (
            with_judge(judge="openai/m own/strict@9"),
            "the template was pointwise/criterion, is own/strict",
        ),
        (with_judge(parameters={"temperature": 0.7}), "temperature was 0.0, is 0.7"),
        (
            with_judge(parameters={"temperature": 0.0, "top_p": 0.5}),
            "top_p was not set, is 0.5",
        ),
        (with_judge(repeats=3), "repeats were 1, are 3"),
        (
            CalibratedPanel(judges=(JUDGE, CalibratedJudge(judge="human"))),
            f"the judges were {JUDGE.judge}, are {JUDGE.judge} and human",
        ),
    ],
)  # fmt: skip
def test_another_judge_has_no_map(asked: CalibratedPanel, words: str) -> None:
    use = calibration_in_use(MAPS, RUBRIC, asked)
    assert (use.state, use.words, use.applied) == ("stale", f"stale: {words}", ())


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"combine": "median"}, "the judges were combined by mean, now by median"),
        ({"weights": (1.0, 2.0)}, "the weights of the judges were changed"),
        ({"escalate_below": 0.5}, "escalate_below was None, is 0.5"),
    ],
)
def test_judges_combined_otherwise_have_no_map(fields: Any, words: str) -> None:
    two = CalibratedPanel(judges=(JUDGE, JUDGE.model_copy(update={"judge": "b t@1"})))
    maps = make_calibration(RUBRIC, asked=two)
    assert calibration_in_use(maps, RUBRIC, two).state == "calibrated"
    assert (
        calibration_in_use(maps, RUBRIC, two.model_copy(update=fields)).words == f"stale: {words}"
    )


def test_a_criterion_asked_with_another_text_of_its_template_has_no_map() -> None:
    then, now = (
        ASKED.model_copy(update={"templates": {"tone": f"own@{n}", "accuracy": "a@1"}})
        for n in (1, 2)
    )
    maps = make_calibration(RUBRIC, asked=then)
    assert calibration_in_use(maps, RUBRIC, then).state == "calibrated"
    words = "stale: criterion tone was asked with own@1, is with own@2"
    assert calibration_in_use(maps, RUBRIC, now).words == words
    # Files of before do not know the templates of criteria.
    assert calibration_in_use(MAPS, RUBRIC, now).state == "calibrated"
    assert "templates" not in ASKED.to_json()


def test_what_is_not_known_of_a_judge_is_not_held_against_it() -> None:
    unknown = with_judge(parameters=None, repeats=None)
    use = calibration_in_use(make_calibration(RUBRIC, asked=unknown), RUBRIC, ASKED)
    assert use.state == "calibrated"
    assert use.words.endswith("; with which parameters is not known")
    assert "not known" not in calibration_in_use(MAPS, RUBRIC, ASKED).words
    assert calibration_in_use(MAPS, RUBRIC, unknown).state == "calibrated"


def test_criteria_that_nobody_labelled_are_named() -> None:
    maps = make_calibration(RUBRIC, maps=(make_map(RUBRIC.criteria[0]),))
    use = calibration_in_use(maps, RUBRIC, ASKED)
    assert use.state == "partial"
    assert use.words.startswith("partly calibrated on 120 labels")
    assert use.words.endswith("no map for tone")
    assert use.applied == ("accuracy",)


def test_maps_of_other_criteria_are_no_calibration() -> None:
    maps = make_calibration(RUBRIC, maps=(make_map(RUBRIC.criteria[0]),))
    others = RUBRIC.model_copy(update={"criteria": RUBRIC.criteria[1:]})
    use = calibration_in_use(maps, others, ASKED)
    assert (use.state, use.applied) == ("uncalibrated", ())
    assert use.words == "uncalibrated: these maps have none for tone"


def test_where_one_call_asks_all_criteria_an_edit_of_one_touches_all() -> None:
    joint = with_judge(asks_all=True)
    maps = make_calibration(RUBRIC, asked=joint, maps=(make_map(RUBRIC.criteria[0]),))
    use = calibration_in_use(maps, with_criterion(1, question="Is it kind?"), joint)
    assert (use.state, use.applied) == ("stale", ())
    fewer = RUBRIC.model_copy(update={"criteria": RUBRIC.criteria[:1]})
    assert (
        calibration_in_use(maps, fewer, joint).words
        == "stale: the criteria that one call asks were changed"
    )
    assert calibration_in_use(MAPS, fewer, ASKED).state == "calibrated"


def test_the_calibrated_value_decides_and_the_judges_own_stays() -> None:
    judged = [make_judgment("accuracy", 1.0), make_judgment("tone", 0.8)]
    raw = conclude(RUBRIC, judged)
    found = apply_calibration(raw, RUBRIC, HOLDS)
    assert raw.value == pytest.approx(0.9)
    assert (raw.passed, raw.decided_by) == (True, "raw")
    assert found.value == pytest.approx(0.45)
    assert (found.passed, found.decided_by) == (False, "calibrated")
    assert [c.value for c in found.criteria] == [0.5, pytest.approx(0.4)]
    assert found.uncalibrated is not None
    assert (found.uncalibrated.value, found.uncalibrated.passed) == (raw.value, True)
    assert found.uncalibrated.criteria == {"accuracy": 1.0, "tone": 0.8}
    assert found.judgments == raw.judgments
    assert raw.to_json().keys() | {"uncalibrated"} == found.to_json().keys()


def test_a_criterion_without_a_map_keeps_the_judges_own_value() -> None:
    use = calibration_in_use(MAPS, with_criterion(1, question="Is it kind?"), ASKED)
    raw = conclude(RUBRIC, [make_judgment("accuracy", 1.0), make_judgment("tone", 0.8)])
    assert [c.value for c in apply_calibration(raw, RUBRIC, use).criteria] == [0.5, 0.8]


def test_maps_that_do_not_hold_leave_the_verdict_as_it_is() -> None:
    raw = conclude(RUBRIC, [make_judgment("accuracy", 1.0)])
    assert (
        apply_calibration(raw, RUBRIC, calibration_in_use(MAPS, RUBRIC, with_judge(repeats=2)))
        is raw
    )


def test_a_failure_may_be_anything_that_the_map_can_give() -> None:
    raw = conclude(RUBRIC, [make_judgment("accuracy", 1.0)], [make_failure("tone")])
    found = apply_calibration(raw, RUBRIC, HOLDS)
    assert (found.value, found.value_low, found.value_high) == (None, 0.25, 0.5)
    assert raw.passed is None
    assert found.passed is False


def test_the_panel_is_combined_before_the_map() -> None:
    judged = [
        make_judgment("accuracy", v, judge=j) for j, v in (("a", 1.0), ("b", 0.0), ("c", 0.0))
    ]
    one = make_rubric("accuracy")
    use = calibration_in_use(make_calibration(one), one, ASKED)
    panel = RunPanel(combine="median", judges=("a", "b", "c"))
    found = apply_calibration(conclude(one, judged, panel=panel), one, use, panel=panel)
    assert found.value == 0


def test_an_output_in_error_stays_undecided() -> None:
    found = apply_calibration(conclude(RUBRIC, [], error="no output"), RUBRIC, HOLDS)
    assert found.passed is None
    assert found.error == "no output"


@given(st.floats(0, 1), st.floats(0, 1))
def test_an_output_that_the_judge_finds_better_never_becomes_worse(
    one: float, other: float
) -> None:
    rubric = make_rubric("accuracy")
    use = calibration_in_use(make_calibration(rubric), rubric, ASKED)
    found = [
        apply_calibration(conclude(rubric, [make_judgment(value=v)]), rubric, use).value
        for v in sorted((one, other))
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0] <= found[1]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (CalibrationFigure(value=0.5, low=0.4, high=0.6, level=0.95), "0.50 [0.40, 0.60]"),
        (CalibrationFigure(value=0.5, level=0.95), "0.50"),
        (CalibrationFigure(level=0.95), "undefined"),
    ],
)
def test_a_figure_in_words(found: CalibrationFigure, words: str) -> None:
    assert format_measurement(found) == words


def test_the_use_reads_back_from_json() -> None:
    assert CalibrationInUse.model_validate(HOLDS.to_json()) == HOLDS


def test_one_label_is_told_in_the_singular() -> None:
    rubric = Rubric(name="r", criteria=(make_criterion(),))
    assert (
        "1 label," in calibration_in_use(make_calibration(rubric, n_labels=1), rubric, ASKED).words
    )
