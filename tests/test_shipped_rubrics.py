from __future__ import annotations

import pytest

from judgekit.datasets import load_rubric, shipped_rubrics, validate_path
from judgekit.formats.problems import VAGUE_WORDS
from judgekit.resources import shipped_file

NAMES = ("agent_quality", "creative", "helpfulness", "reference_match", "skill")


def test_these_rubrics_are_shipped() -> None:
    assert set(NAMES) <= set(shipped_rubrics())


@pytest.mark.parametrize("name", shipped_rubrics())
def test_a_shipped_rubric_is_sound_and_called_as_its_file(name: str) -> None:
    assert load_rubric(name).name == name
    assert validate_path(shipped_file("prompts", "rubrics", f"{name}.yaml")) == []


@pytest.mark.parametrize("name", shipped_rubrics())
def test_every_criterion_asks_a_question_and_guides_the_score(name: str) -> None:
    for criterion in load_rubric(name).criteria:
        words = f"{criterion.question} {criterion.scoring_guide}".lower()
        assert criterion.question.endswith("?")
        assert len((criterion.scoring_guide or "").split()) >= 30
        assert not any(vague in words.split() for vague in VAGUE_WORDS)


@pytest.mark.parametrize("name", ["agent_quality", "creative", "helpfulness"])
def test_every_level_is_described_in_words_of_its_criterion(name: str) -> None:
    said = [
        level.description
        for criterion in load_rubric(name).criteria
        for level in criterion.scale.levels
    ]
    assert None not in said
    assert len(set(said)) == len(said) == 5 * len(load_rubric(name).criteria)


def test_the_rubric_for_agents_has_the_five_levels_and_weights() -> None:
    rubric = load_rubric("agent_quality")
    assert [criterion.weight for criterion in rubric.criteria] == [0.25, 0.25, 0.25, 0.15, 0.1]
    assert all(c.scale.points == (0.0, 0.3, 0.5, 0.7, 1.0) for c in rubric.criteria)
    assert rubric.pass_threshold == 0.7


def test_the_creative_rubric_has_its_weights_on_one_to_five() -> None:
    rubric = load_rubric("creative")
    weights = {criterion.name: criterion.weight for criterion in rubric.criteria}
    assert weights == {
        "completeness": 0.3, "coherence": 0.25, "professionalism": 0.25, "accuracy": 0.2
    }  # fmt: skip
    assert all(c.scale.points == (1, 2, 3, 4, 5) for c in rubric.criteria)
    assert rubric.pass_threshold == 0.7


def test_a_criterion_of_the_skill_rubric_passes_at_three() -> None:
    rubric = load_rubric("skill")
    assert all(c.scale.value_of(3) == c.pass_value == 0.5 for c in rubric.criteria)
    assert {criterion.required for criterion in rubric.criteria} == {True, False}


def test_a_match_with_the_reference_is_yes_or_no() -> None:
    assert all(c.scale.points == (0, 1) for c in load_rubric("reference_match").criteria)
