from __future__ import annotations

import pytest

from judgekit.assertions import PROFILES, plan_evaluation
from judgekit.errors import UnknownNameError
from judgekit.resources import shipped_file
from tests.factories import make_case


def test_there_are_the_five_profiles_with_their_default_strategies() -> None:
    first = {name: profile.strategies[0] for name, profile in PROFILES.items()}
    assert first == {
        "deterministic": "exact_match",
        "structured": "json_schema",
        "flexible": "semantic_sim",
        "creative": "llm_judge",
        "enterprise": "hybrid",
    }


def test_without_one_right_output_a_threshold_decides() -> None:
    thresholds = {name: profile.threshold for name, profile in PROFILES.items()}
    assert thresholds == {
        "deterministic": None, "structured": None, "flexible": 0.7, "creative": 0.7,
        "enterprise": 0.7,
    }  # fmt: skip


def test_the_creative_profile_names_a_shipped_rubric() -> None:
    rubric = PROFILES["creative"].rubric
    path = shipped_file("prompts", "rubrics", f"{rubric}.yaml")
    assert path.is_file()


def test_an_unknown_profile_is_an_error_that_lists_near_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"no profile is called 'creativ'(.|\n)*creative"):
        plan_evaluation(make_case(), "creativ")
