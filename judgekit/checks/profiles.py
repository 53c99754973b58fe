"""The five profiles of skills (S4.3): how a case is evaluated where it does not say itself."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

from judgekit.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.records.case import Strategy

ProfileName = Literal["deterministic", "structured", "flexible", "creative", "enterprise"]
"""The kinds of skills."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a kind of skill is evaluated by."""

    name: ProfileName
    """Its name."""

    description: str
    """Which skills it is for."""

    strategies: tuple[Strategy, ...]
    """The default strategies; a case takes the first that it has what is needed for."""

    threshold: float | None = None
    """The value from which a case passes; None where there is only right and wrong."""

    thresholds: tuple[float, float] | None = None
    """The range its threshold is chosen from, where that depends on the skill."""

    rubric: str | None = None
    """The shipped rubric a judge is asked with where case and suite have none."""


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            Profile(
                "deterministic",
                "Code execution, calculations, wrappers of an API: there is one right output.",
                ("exact_match", "json_schema", "regex_match"),
            ),
            Profile(
                "structured",
                "Transformation of data, reports: the output has a form.",
                ("json_schema", "regex_match"),
            ),
            Profile(
                "flexible",
                "Summaries, translations, rewriting: the output means the same as the reference.",
                ("semantic_sim",),
                threshold=0.7,
                thresholds=(0.7, 0.85),
            ),
            Profile(
                "creative",
                "Presentations, articles, other creative work: a judge grades it.",
                ("llm_judge",),
                threshold=0.7,
                rubric="creative",
            ),
            Profile(
                "enterprise",
                "Compliance and other expert domains: several strategies, or scripts of one's own.",
                ("hybrid", "custom"),
                threshold=0.7,
            ),
        )
    }
)
"""The profiles by name."""


def find_profile(name: str) -> Profile:
    """The profile of that name."""
    if name not in PROFILES:
        raise UnknownNameError("profile", name, get_args(ProfileName))
    return PROFILES[name]
