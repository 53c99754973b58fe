from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import DatasetError
from judgekit.formats import downgrade_skill_tests, is_skill_tests_v1, upgrade_skill_tests
from tests.formats import FOREIGN
from tests.formats.writing import skill_test, skill_tests

TEXTS = st.text(max_size=5)
TESTS = st.lists(
    st.fixed_dictionaries(
        {"name": TEXTS, "input": TEXTS},
        optional={
            "description": TEXTS,
            "expectedOutput": TEXTS,
            "expectedPatterns": st.lists(TEXTS, max_size=2),
            "timeout": st.integers(1, 10**6),
            "owner": TEXTS,
        },
    ),
    max_size=4,
)


@settings(max_examples=60)
@given(tests=TESTS)
def test_tests_of_version_1_come_back_from_version_2(tests: list[Any]) -> None:
    assert downgrade_skill_tests(upgrade_skill_tests(tests)) == (tests, ())


def test_both_ways_of_listing_tests_are_version_1() -> None:
    tests = json.loads((FOREIGN / "tests_v1.json").read_text())
    assert upgrade_skill_tests({"version": "1.0", "tests": tests}) == upgrade_skill_tests(tests)
    assert is_skill_tests_v1(tests)
    assert is_skill_tests_v1({"tests": tests})
    assert not is_skill_tests_v1({"testCases": [], "tests": []})
    assert not is_skill_tests_v1("tests")


def test_settings_beside_the_tests_are_kept() -> None:
    assert upgrade_skill_tests({"tests": [], "profile": "creative"})["profile"] == "creative"


def test_a_file_without_a_list_of_tests_is_refused() -> None:
    with pytest.raises(DatasetError, match="`tests` must be a list, not a text"):
        upgrade_skill_tests({"tests": "none"})


def test_what_version_1_has_no_place_for_is_told() -> None:
    test = skill_test(
        tags=["x"],
        metadata={"author": "me"},
        input={"prompt": "Q", "context": {}},
        expected={"rubric": {}},
        evaluation={"strategy": "llm_judge", "timeout": 9},
    )
    tests, lost = downgrade_skill_tests(
        skill_tests(test, 3, profile="creative", suites=[{"name": "s"}])
    )
    assert tests == [{"name": "A test", "input": "Q", "timeout": 9}]
    assert sorted(lost) == sorted((
        "suites",
        "profile",
        "testCases[0].id",
        "testCases[0].tags",
        "testCases[0].metadata",
        "testCases[0].input.context",
        "testCases[0].expected.rubric",
        "testCases[0].evaluation.strategy",
    ))  # fmt: skip
    assert downgrade_skill_tests({"settings": {"failFast": True}}) == ([], ("settings",))
