"""Finds where a run came from: the CI job that started it, and the commit that is checked out."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# CI services, the variables that show them, and those with the number of a run and its occasion, as
# the services document them. None of them names a user or a repository.
_CI_SERVICES = (
    ("GitHub Actions", "GITHUB_ACTIONS", "GITHUB_RUN_ID", "GITHUB_EVENT_NAME"),
    ("GitLab CI", "GITLAB_CI", "CI_PIPELINE_ID", "CI_PIPELINE_SOURCE"),
    ("Azure Pipelines", "TF_BUILD", "BUILD_BUILDID", "BUILD_REASON"),
    ("CircleCI", "CIRCLECI", "CIRCLE_BUILD_NUM", ""),
    ("Buildkite", "BUILDKITE", "BUILDKITE_BUILD_NUMBER", "BUILDKITE_SOURCE"),
    ("Jenkins", "JENKINS_URL", "BUILD_NUMBER", ""),
    ("CI", "CI", "", ""),  # last, because most services set it as well
)
_OFF = frozenset({"", "0", "false", "no"})


def trigger_of_ci(environment: Mapping[str, str]) -> str | None:
    """The CI job this process belongs to, for example `GitHub Actions run 17 (push)` (S0.5)."""
    # Outside of CI there is no answer: the name of an account is private, and exports are shared.
    for service, shown_by, *about in _CI_SERVICES:
        if environment.get(shown_by, "").strip().lower() not in _OFF:
            number, occasion = (environment.get(name, "").strip() for name in about)
            run = f" run {number}" if number else ""
            return f"{service}{run}" + (f" ({occasion})" if occasion else "")
    return None


def git_revision(folder: Path) -> str | None:
    """The commit that is checked out in a folder or above it; None where there is none."""
    # Read from git's files: a process would take longer than many a run.
    with suppress(OSError, UnicodeDecodeError):
        for place in (folder.resolve(), *folder.resolve().parents):
            if (place / ".git").exists():
                return _checked_out(place / ".git")
    return None


def _checked_out(git: Path) -> str | None:
    if git.is_file():  # of a worktree or a submodule: a line that names the folder
        git = git.parent / git.read_text(encoding="utf-8").partition("gitdir:")[2].strip()
    head = (git / "HEAD").read_text(encoding="utf-8").strip()
    if not head.startswith("ref:"):
        return head or None
    name = head.partition(":")[2].strip()
    common = git / "commondir"
    shared = git / common.read_text(encoding="utf-8").strip() if common.is_file() else git
    for place in (git, shared):
        if (place / name).is_file():
            return (place / name).read_text(encoding="utf-8").strip() or None
    packed = shared / "packed-refs"
    lines = packed.read_text(encoding="utf-8").splitlines() if packed.is_file() else []
    return next((line.split(" ")[0] for line in lines if line.endswith(f" {name}")), None)
