from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.records import PanelCombination, RunPanel
from judgekit.scoring import conclude
from tests.factories import make_criterion, make_failure, make_judgment, make_rubric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records import Verdict

BINARY = make_rubric(make_criterion(scale="binary"), pass_threshold=0.7)
POINTS = (0.0, 0.25, 0.5, 0.75, 1.0)
NAMES = ("a", "b", "c", "d")
RULES: tuple[PanelCombination, ...] = ("mean", "median", "majority", "weighted", "cascade")
ANSWER = st.none() | st.sampled_from(POINTS)
SAID = st.lists(st.tuples(st.sampled_from(NAMES), ANSWER), max_size=8)
"""Judge and value of each answer; None is a failure."""


@st.composite
def panels(draw: st.DrawFn) -> RunPanel:
    return RunPanel(
        combine=draw(st.sampled_from(RULES)),
        judges=draw(st.sampled_from([(), NAMES, NAMES[:2], NAMES[2:]])),
        weights=draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from([0.0, 1.0, 3.0]))),
        escalate_below=0.7,
    )


def verdict_of(
    said: Sequence[tuple[str, float | None]], panel: RunPanel, rubric: Any = None
) -> Verdict:
    judgments = [
        make_judgment(judge=name, value=value) for name, value in said if value is not None
    ]
    failures = [make_failure(judge=name) for name, value in said if value is None]
    return conclude(rubric or make_rubric(), judgments, failures, panel=panel)


def value_of(
    combine: PanelCombination, *said: tuple[str, float | None], **panel: Any
) -> float | None:
    return verdict_of(list(said), RunPanel(combine=combine, **panel)).value


@settings(max_examples=200)
@given(SAID, panels())
def test_the_bounds_of_a_panel_enclose_its_value(said: Any, panel: RunPanel) -> None:
    verdict = verdict_of(said, panel)
    assert 0 <= verdict.value_low <= verdict.value_high <= 1
    if verdict.value is not None:
        assert verdict.value_low <= verdict.value + 1e-12
        assert verdict.value <= verdict.value_high + 1e-12


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.sampled_from(NAMES), ANSWER), min_size=1, max_size=6), panels(), st.data()
)
def test_whatever_a_failure_would_have_been_the_value_lies_within_the_bounds(
    said: Any, panel: RunPanel, data: st.DataObject
) -> None:
    verdict = verdict_of(said, panel)
    mended = [
        (name, data.draw(st.sampled_from(POINTS)) if value is None else value)
        for name, value in said
    ]
    value = verdict_of(mended, panel).value
    assert value is not None
    assert verdict.value_low - 1e-12 <= value <= verdict.value_high + 1e-12


@settings(max_examples=100)
@given(st.lists(st.tuples(st.just("a"), ANSWER), max_size=6), panels(), st.sampled_from(["a", "z"]))
def test_one_judge_alone_is_its_own_panel(said: Any, panel: RunPanel, name: str) -> None:
    alone = panel.model_copy(update={"judges": (name,)})
    if alone.combine != "majority" and name == "a":
        assert verdict_of(said, alone) == verdict_of(said, RunPanel())
    assert verdict_of(said, alone.model_copy(update={"judges": ()})) == verdict_of(said, RunPanel())


@settings(max_examples=100)
@given(SAID, panels(), st.randoms(use_true_random=False))
def test_the_order_in_which_answers_came_does_not_matter(
    said: Any, panel: RunPanel, draw: Any
) -> None:
    named = panel.model_copy(update={"judges": NAMES})
    mixed = draw.sample(said, len(said))
    one, other = verdict_of(said, named), verdict_of(mixed, named)
    assert (one.value, one.passed, one.value_low, one.value_high) == (
        other.value, other.passed, other.value_low, other.value_high
    )  # fmt: skip


def test_each_judge_counts_once_however_often_it_was_asked() -> None:
    assert value_of("mean", ("a", 1.0), ("a", 1.0), ("a", 1.0), ("b", 0.0)) == 0.5


@pytest.mark.parametrize(
    ("combine", "value"),
    [("mean", 0.6875), ("median", 0.75), ("majority", 0.5), ("weighted", 0.7), ("cascade", 1.0)],
)
def test_each_rule_has_its_own_value(combine: PanelCombination, value: float) -> None:
    said = (("a", 0.5), ("b", 0.5), ("c", 0.75), ("d", 1.0))
    if combine == "median":
        said = (("a", 0.5), ("b", 0.5), ("c", 1.0), ("d", 1.0))
    weights = {"a": 1, "b": 0, "c": 0, "d": 2 / 3}
    assert value_of(combine, *said, weights=weights) == pytest.approx(value)


def test_a_tie_between_yes_and_no_is_in_the_middle() -> None:
    verdict = verdict_of([("a", 1.0), ("b", 0.0)], RunPanel(combine="majority"), BINARY)
    assert (verdict.value, verdict.value_low, verdict.value_high) == (0.5, 0.5, 0.5)
    assert verdict.passed is False


def test_the_vote_of_a_judge_is_the_score_nearest_to_its_repeats() -> None:
    said = [("a", 1.0), ("a", 1.0), ("a", 0.0), ("b", 1.0), ("c", 0.0), ("c", 1.0)]
    assert verdict_of(said, RunPanel(combine="majority"), BINARY).value == 1.0


def test_a_majority_stands_against_a_judge_that_failed() -> None:
    said = [("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", None)]
    assert verdict_of(said, RunPanel(combine="majority"), BINARY).passed is True
    assert verdict_of(said[1:], RunPanel(combine="majority"), BINARY).passed is True
    assert verdict_of(said[2:], RunPanel(combine="majority"), BINARY).passed is None


def test_a_judge_of_the_panel_that_was_not_heard_leaves_it_open() -> None:
    panel = RunPanel(judges=("a", "b"))
    verdict = verdict_of([("a", 1.0)], panel)
    assert (verdict.value, verdict.value_low, verdict.value_high) == (1.0, 0.5, 1.0)
    assert (verdict.criteria[0].n, verdict.criteria[0].n_failed) == (1, 0)


def test_in_a_cascade_only_who_was_asked_last_can_change_the_value() -> None:
    panel = RunPanel(combine="cascade", judges=("a", "b"), escalate_below=0.5)
    mended = verdict_of([("a", None), ("b", 0.75)], panel)
    assert (mended.value, mended.value_low, mended.value_high) == (0.75, 0.75, 0.75)
    failed = verdict_of([("a", 0.75), ("b", None)], panel)
    assert (failed.value, failed.value_low, failed.value_high) == (0.75, 0, 1)


def test_a_person_takes_the_seat_the_panel_has_for_one() -> None:
    panel = RunPanel(
        combine="weighted", judges=("a", "human"), weights={"human": 3.0}, escalate_below=None
    )
    judged = [make_judgment(value=0.0, judge="a")]
    waiting = conclude(make_rubric(), judged, panel=panel)
    assert (waiting.value_low, waiting.value_high) == (0.0, 0.75)
    person = make_judgment(value=1.0, judge="Ada", source="human")
    assert conclude(make_rubric(), [*judged, person], panel=panel).value_low == 0.75


def test_a_person_has_the_last_word_in_a_cascade() -> None:
    panel = RunPanel(combine="cascade", judges=("a", "b"), escalate_below=0.5)
    person = make_judgment(value=0.25, judge="Ada", source="human")
    judged = [person, make_judgment(value=1.0, judge="b")]
    assert conclude(make_rubric(), judged, panel=panel).value == 0.25


@pytest.mark.parametrize(
    ("confidence", "passed"), [(None, None), (0.4, None), (0.5, True), (0.9, True)]
)
def test_an_unsure_answer_of_a_cascade_is_open_until_a_person_has_said(
    confidence: float | None,
    passed: bool | None,  # noqa: FBT001
) -> None:
    panel = RunPanel(combine="cascade", judges=("a", "human"), escalate_below=0.5)
    judged = make_judgment(value=1.0, judge="a", confidence=confidence)
    verdict = conclude(make_rubric(), [judged], panel=panel)
    assert (verdict.value, verdict.passed) == (1.0, passed)
    person = make_judgment(value=0.0, judge="Ada", source="human", confidence=None)
    assert conclude(make_rubric(), [judged, person], panel=panel).passed is False


def test_rules_in_a_cascade_keep_nothing_open() -> None:
    panel = RunPanel(combine="cascade", judges=("heuristic", "a"), escalate_below=0.5)
    rule = make_judgment(value=1.0, judge="heuristic", source="heuristic", confidence=None)
    judged = make_judgment(value=1.0, judge="a", confidence=0.1)
    assert conclude(make_rubric(), [rule], panel=panel).passed is None
    assert conclude(make_rubric(), [rule, judged], panel=panel).passed is True


def test_rules_judge_what_they_check_and_leave_the_rest_alone() -> None:
    panel = RunPanel(judges=("a", "heuristic"))
    rubric = make_rubric("accuracy", "style")
    judged = [make_judgment(name, 1.0, judge="a") for name in ("accuracy", "style")]
    rule = make_judgment("style", 0.5, judge="heuristic", source="heuristic")
    verdict = conclude(rubric, [*judged, rule], panel=panel)
    assert [c.value for c in verdict.criteria] == [1.0, 0.75]
    assert verdict.value_low == verdict.value == verdict.value_high
