from __future__ import annotations

from typing import Any

import pytest

from judgekit.bias_audit.consistency import (
    CRITERION_ORDER_PROBE,
    PARAPHRASE_PROBE,
    SCALE_PROBE,
    STABILITY_PROBE,
    shipped_paraphrases,
)
from judgekit.prompts import PromptTemplate
from tests.bias_audit.hearing import by_name, graded, heard, many, material
from tests.factories import make_criterion, make_rubric


def test_the_shipped_templates_that_judge_one_output_have_paraphrases() -> None:
    for name in ("criterion", "joint", "no_reference"):
        found = shipped_paraphrases(f"pointwise/{name}")
        assert found == (f"paraphrases/{name}_1", f"paraphrases/{name}_2")
    assert shipped_paraphrases("pointwise/trajectory") == ()
    assert shipped_paraphrases("criterion") == ()


@pytest.mark.parametrize("name", ["criterion", "joint", "no_reference"])
def test_a_paraphrase_asks_for_the_same_reply_in_other_words(name: str) -> None:
    own = PromptTemplate(f"pointwise/{name}")
    items, rubric = material("Yes.").items, make_rubric("accuracy", "clarity")
    (case, output), = items  # fmt: skip
    (wanted, *_) = own.prompts(case, output, rubric)
    for other in shipped_paraphrases(f"pointwise/{name}"):
        (prompt, *_) = PromptTemplate(other).prompts(case, output, rubric)
        assert prompt.reply_schema == wanted.reply_schema
        assert prompt.messages[0] != wanted.messages[0]
        assert "<output " in prompt.messages[1]["content"]


def test_without_a_paraphrase_the_probe_says_how_to_name_one() -> None:
    assert "--paraphrase FILE.j2" in str(PARAPHRASE_PROBE.plan(material("x")).skipped)


def test_every_output_is_asked_with_every_paraphrase_and_once_more_without() -> None:
    found = PARAPHRASE_PROBE.plan(material("x", "y", paraphrases=("p1", "p2"))).trials
    changed: list[Any] = [one.arms["changed"] for one in found]
    assert [(one.case.id, one.template) for one in changed] == [
        ("c0", "p1"), ("c0", "p2"), ("c1", "p1"), ("c1", "p2"),
    ]  # fmt: skip
    arms: Any = found[1].arms
    assert (arms["plain"].repeat, arms["again"].repeat, arms["changed"].repeat) == (0, 1, 0)
    assert (arms["plain"].template, arms["changed"].template) == (None, "p2")


def test_what_asking_again_changes_is_not_laid_at_the_door_of_the_words() -> None:
    noisy = many(30, plain=graded(0.5), again=graded(0.75), changed=graded(0.25))
    moved = many(30, plain=graded(0.5), again=graded(0.5), changed=graded(1.0))
    quiet, loud = (PARAPHRASE_PROBE.find(given, material()) for given in (noisy, moved))
    assert quiet.effects[0].estimate.value == 0.0
    assert quiet.effects[0].verdict == "none_seen"
    assert loud.effects[0].estimate.value == 0.5
    assert loud.effects[0].verdict == "material"
    assert loud.effects[1].estimate.value == 1.0  # all of them pass now
    assert loud.effects[1].verdict is None


def test_an_arm_that_failed_leaves_the_trial_out() -> None:
    given = [
        *many(3, plain=graded(0.5), again=graded(0.5), changed=graded(0.5)),
        heard("x", plain=graded(0.5), changed=graded(0.5)),
    ]
    found = PARAPHRASE_PROBE.find(given, material())
    assert (found.effects[0].estimate.n, found.effects[0].estimate.n_missing) == (3, 1)


def test_the_order_of_criteria_is_asked_of_judges_who_see_one() -> None:
    assert "--mode joint" in str(CRITERION_ORDER_PROBE.plan(material("x")).skipped)
    alone = material("x", asks_all=True, rubric=make_rubric("accuracy"))
    assert CRITERION_ORDER_PROBE.plan(alone).skipped == "the rubric has one criterion"
    (trial,) = CRITERION_ORDER_PROBE.plan(material("x", asks_all=True)).trials
    names = [one.name for one in trial.arms["changed"].rubric.criteria]
    assert names == ["clarity", "accuracy"]


def test_a_criterion_that_gains_by_being_first_shows_in_both_orders() -> None:
    given = many(30, plain=graded(1.0, 0.5), again=graded(1.0, 0.5), changed=graded(0.5, 1.0))
    effects = by_name(CRITERION_ORDER_PROBE.find(given, material()).effects)
    assert effects["score of a criterion listed early"].estimate.value == 0.5
    assert effects["scores moved by the order"].estimate.value == 0.5


def test_the_criterion_in_the_middle_says_nothing_of_the_order() -> None:
    rubric = make_rubric("accuracy", "clarity", "tone")
    given = many(
        30, plain=graded(0.5, 1.0, 0.5), again=graded(0.5, 1.0, 0.5), changed=graded(0.5, 0.0, 0.5)
    )
    found = CRITERION_ORDER_PROBE.find(given, material(rubric=rubric))
    assert found.effects[0].estimate.value == 0.0
    empty = CRITERION_ORDER_PROBE.find([heard("x")], material(rubric=rubric))
    assert [effect.verdict for effect in empty.effects] == ["cannot_say", "cannot_say"]


def test_stability_asks_as_often_as_it_is_told() -> None:
    (trial,) = STABILITY_PROBE.plan(material("x", n_askings=4)).trials
    assert [one.repeat for one in trial.arms.values()] == [0, 1, 2, 3]  # type: ignore[union-attr]


def test_stability_is_the_share_of_two_askings_that_disagree() -> None:
    trial = STABILITY_PROBE.plan(material("x")).trials[0]
    given = heard("c0")
    one = type(given)(trial, {"0": graded(1.0), "1": graded(1.0), "2": graded(0.0)})
    found = STABILITY_PROBE.find([one], material())
    assert found.effects[0].estimate.value == pytest.approx(2 / 3)
    assert found.counts["sd within an output"] == pytest.approx(0.5774)
    assert found.counts["outputs with one value throughout"] == "0 of 1"


def test_one_asking_says_nothing_of_stability() -> None:
    trial = STABILITY_PROBE.plan(material("x")).trials[0]
    one = type(heard())(trial, {"0": graded(1.0), "1": graded(None)})
    found = STABILITY_PROBE.find([one], material())
    assert found.effects[0].verdict == "cannot_say"
    assert found.counts == {"askings": 3}


def test_scores_can_clump_only_where_there_are_three_levels() -> None:
    binary = make_rubric(make_criterion(scale="binary"))
    assert "three or more levels" in str(SCALE_PROBE.plan(material("x", rubric=binary)).skipped)
    (trial,) = SCALE_PROBE.plan(material("x")).trials
    assert list(trial.arms) == ["plain"]


def test_a_judge_with_one_score_is_told_with_the_levels_it_uses() -> None:
    rubric = make_rubric("accuracy")
    found = SCALE_PROBE.find(many(40, plain=graded(1.0)), material(rubric=rubric))
    clumped, top = found.effects
    assert (clumped.estimate.value, clumped.verdict) == (1.0, "material")
    assert (top.estimate.value, top.verdict) == (1.0, None)
    assert found.counts["accuracy"] == "1 of 5 levels used, as varied as 1.0 used evenly"


def test_a_judge_who_uses_its_scale_is_not_blamed_for_its_commonest_score() -> None:
    values = (0.0, 0.25, 0.5, 0.75, 1.0, None)
    given = [heard(f"c{n}", plain=graded(values[n % 6])) for n in range(60)]
    found = SCALE_PROBE.find(given, material(rubric=make_rubric("accuracy")))
    assert found.effects[0].estimate.value == pytest.approx(0.2)
    assert found.effects[0].verdict == "none_seen"
    assert found.effects[0].estimate.n_missing == 10


def test_a_criterion_nobody_scored_is_in_no_figure() -> None:
    given = many(5, plain=graded(0.5, None))
    found = SCALE_PROBE.find(given, material())
    assert list(found.counts) == ["accuracy"]
    wide = make_rubric(make_criterion(scale={"min": 1, "max": 5}))
    smooth = SCALE_PROBE.find(many(5, plain=graded(0.5, rubric=wide)), material(rubric=wide))
    assert smooth.counts == {"accuracy": "1 different scores, as varied as 1.0 used evenly"}
