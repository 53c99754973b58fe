from __future__ import annotations

from judgekit.bias_audit.perturbation import SELF_PREFERENCE_PROBE
from tests.bias_audit.hearing import graded, many, material
from tests.factories import make_output


def test_a_judge_of_no_known_family_is_skipped_and_told_how_to_say_it() -> None:
    assert "--own-family" in str(SELF_PREFERENCE_PROBE.plan(material("x")).skipped)


def test_the_same_answer_is_shown_as_its_own_and_as_anothers() -> None:
    given = material(*["Yes."] * 20, family="claude")
    trials = SELF_PREFERENCE_PROBE.plan(given).trials
    assert all("written by claude" in str(t.arms["changed"]) for t in trials)
    others = {str(trial.arms["plain"]).partition("written by ")[2][:6] for trial in trials}
    assert len(others) > 3
    assert "Claude" not in others


def test_outputs_without_a_text_are_left_out() -> None:
    (case, _), = material("x").items  # fmt: skip
    given = material(items=((case, make_output(None, data=1)),), family="GPT")
    found = SELF_PREFERENCE_PROBE.plan(given)
    assert (found.n_left_out, found.skipped is None) == (1, False)


def test_the_effect_is_its_own_less_anothers() -> None:
    given = many(30, changed=graded(1.0), plain=graded(0.75))
    found = SELF_PREFERENCE_PROBE.find(given, material(family="GPT"))
    assert found.effects[0].name == "score as GPT's own"
    assert found.effects[0].estimate.value == 0.25
    assert found.effects[0].verdict == "material"
