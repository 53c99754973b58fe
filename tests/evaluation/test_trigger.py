"""Who or what started a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import judgekit as jk
from judgekit.evaluation.provenance import trigger_of_ci
from tests.evaluation.suites import lay_suite

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("variables", "trigger"),
    [
        (
            {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "17",
             "GITHUB_EVENT_NAME": "push", "GITHUB_ACTOR": "ada"},
            "GitHub Actions run 17 (push)",
        ),
        ({"GITLAB_CI": "true", "CI_PIPELINE_ID": "9", "CI_PIPELINE_SOURCE": "schedule"},
         "GitLab CI run 9 (schedule)"),
        ({"TF_BUILD": "True", "BUILD_BUILDID": "4"}, "Azure Pipelines run 4"),
        ({"JENKINS_URL": "http://ci/", "BUILD_NUMBER": "3"}, "Jenkins run 3"),
        ({"CI": "1", "USER": "ada"}, "CI"),
        ({"CI": "false", "GITHUB_ACTIONS": "", "USER": "ada"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_a_ci_job_is_named_by_its_number_and_never_by_a_user(
    variables: dict[str, str], trigger: str | None
) -> None:
    assert trigger_of_ci(variables) == trigger


def started(folder: Path, **options: object) -> str | None:
    with jk.evaluate_sync(
        folder / "judgekit.yaml", store=folder / "runs.db", cache=None, **options  # type: ignore[arg-type] # options of a test
    ) as run:  # fmt: skip
        return run.info.triggered_by


def test_a_run_records_what_it_is_told_or_the_ci_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_suite(tmp_path, n=1)
    assert started(tmp_path) is None
    monkeypatch.setenv("GITLAB_CI", "true")
    assert started(tmp_path) == "GitLab CI"
    assert started(tmp_path, triggered_by="nightly") == "nightly"


def test_a_resumed_run_keeps_what_started_it(tmp_path: Path) -> None:
    lay_suite(tmp_path, n=2)
    assert started(tmp_path, triggered_by="first", choice=jk.Choice(limit=1)) == "first"
    assert started(tmp_path, triggered_by="second", resume="latest") == "first"
