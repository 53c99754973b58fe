"""What started a run: the job of a CI service, by the variables that it sets (S0.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Service(NamedTuple):
    """A CI service, with the variables that show it, the number of a run, and its occasion."""

    name: str
    shown_by: str
    number: str | None = None
    occasion: str | None = None


# The services' own documentation names these variables. None of them names a user or a repository.
_SERVICES = (
    _Service("GitHub Actions", "GITHUB_ACTIONS", "GITHUB_RUN_ID", "GITHUB_EVENT_NAME"),
    _Service("GitLab CI", "GITLAB_CI", "CI_PIPELINE_ID", "CI_PIPELINE_SOURCE"),
    _Service("Azure Pipelines", "TF_BUILD", "BUILD_BUILDID", "BUILD_REASON"),
    _Service("CircleCI", "CIRCLECI", "CIRCLE_BUILD_NUM"),
    _Service("Buildkite", "BUILDKITE", "BUILDKITE_BUILD_NUMBER", "BUILDKITE_SOURCE"),
    _Service("Jenkins", "JENKINS_URL", "BUILD_NUMBER"),
    # Last, because most services set it as well.
    _Service("CI", "CI"),
)

_OFF = frozenset({"", "0", "false", "no"})


def trigger_of_ci(environment: Mapping[str, str]) -> str | None:
    """The CI job that this process belongs to, for example `GitHub Actions run 17 (push)`."""
    # Outside of CI there is no answer: the name of an account is private, and exports are shared.
    for service in _SERVICES:
        if environment.get(service.shown_by, "").strip().lower() in _OFF:
            continue
        number, occasion = (
            environment.get(name, "").strip() if name else ""
            for name in (service.number, service.occasion)
        )
        run = f" run {number}" if number else ""
        return f"{service.name}{run}" + (f" ({occasion})" if occasion else "")
    return None
