from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import suite_from_path
from judgekit.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.datasets import Suite

CASE = {
    "id": "tc-1",
    "name": "sum",
    "input": {"prompt": "2 + 2"},
    "expected": {"output": "4"},
    "evaluation": {"strategy": "exact_match"},
}
TESTS: dict[str, Any] = {
    "version": "2.0",
    "profile": "deterministic",
    "settings": {"defaultTimeout": 5000, "maxConcurrentTests": 2, "failFast": True},
    "setup": {"environment": {"A": "1", "B": "2"}},
    "testCases": [CASE],
    "suites": [{"name": "smoke", "testIds": ["tc-1"]}],
}


def opened(folder: Path, *, tests: dict[str, Any] | None = None, **fields: Any) -> Suite:
    (folder / "eval").mkdir()
    (folder / "eval" / "tests.json").write_text(json.dumps(tests or TESTS), "utf-8")
    path = folder / "judgekit.json"
    suite = {"name": "s", "dataset": "eval/tests.json", "variants": []} | fields
    path.write_text(json.dumps(suite), "utf-8")
    return suite_from_path(path)


def test_a_suite_takes_from_its_tests_how_they_are_run(tmp_path: Path) -> None:
    suite = opened(tmp_path)
    settings = suite.settings
    assert (settings.timeout_s, settings.max_concurrency, settings.fail_fast) == (5, 2, True)
    assert (suite.profile, [group.name for group in suite.suites]) == ("deterministic", ["smoke"])
    assert suite.dataset_path == tmp_path / "eval" / "tests.json"


def test_what_a_suite_says_itself_comes_first(tmp_path: Path) -> None:
    own = {"timeout_s": 9, "in_sequence": True, "environment": {"B": "3"}}
    suite = opened(tmp_path, settings=own, profile="flexible", suites=[])
    settings = suite.settings
    assert (settings.timeout_s, settings.in_sequence, settings.max_concurrency) == (9, True, None)
    assert settings.environment == {"A": "1", "B": "3"}
    assert (suite.profile, suite.suites) == ("flexible", ())


def test_a_number_of_its_own_ends_a_sequence_of_the_tests(tmp_path: Path) -> None:
    tests = {**TESTS, "settings": {"parallelExecution": False}}
    settings = opened(tmp_path, tests=tests, settings={"max_concurrency": 4}).settings
    assert (settings.in_sequence, settings.max_concurrency) == (False, 4)


def test_a_setup_runs_only_in_the_skills_own_folder(tmp_path: Path) -> None:
    tests = {**TESTS, "setup": {"script": "scripts/begin.py"}}
    assert opened(tmp_path, tests=tests).settings.setup == ("python", "scripts/begin.py")

    (elsewhere := tmp_path / "other").mkdir()
    suite = {"name": "s", "dataset": "../eval/tests.json", "variants": []}
    path = elsewhere / "judgekit.json"
    path.write_text(json.dumps(suite), "utf-8")
    with pytest.raises(SettingsError, match=r"the setup of \.\./eval/tests\.json runs in"):
        suite_from_path(path)
    path.write_text(json.dumps({**suite, "settings": {"setup": ["true"]}}), "utf-8")
    assert suite_from_path(path).settings.setup == ("true",)


@pytest.mark.parametrize("tests", [[{"id": "a", "input": "x"}], {"testCases": 3}])
def test_another_dataset_or_an_unsound_one_changes_nothing(tmp_path: Path, tests: Any) -> None:
    suite = opened(tmp_path, tests=tests)
    assert (suite.profile, suite.suites, suite.settings.fail_fast) == (None, (), False)
