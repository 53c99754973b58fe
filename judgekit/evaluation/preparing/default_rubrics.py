"""Decides what a case is judged by where neither it nor the suite names a rubric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from judgekit.checks.profiles import PROFILES
from judgekit.checks.strategies import plan_evaluation
from judgekit.datasets.loading import load_rubric, shipped_rubrics
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.checks.profiles import Profile
    from judgekit.datasets.suite import Suite
    from judgekit.records.case import Case
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Rubric

Reason = Literal["profile", "reference"]
"""Why a rubric was taken that nobody named."""

BY_DEFAULT = "rubrics_by_default"
"""The key of a run's `config` under which the rubrics are that nobody named."""

UNASKED = "n_rubrics_unasked"
"""The key under which it says how many cases have a rubric that no judge is asked."""

REFERENCE_RUBRIC = "reference_match"
"""The shipped rubric that holds an output against its case's reference."""


class DefaultRubrics:
    """The shipped rubrics that stand in where a suite and its case name none."""

    def __init__(self, suite: Suite, *, rubric: Rubric | None, is_judged: bool) -> None:
        self._suite = suite
        self._is_open = rubric is None
        self._is_judged = is_judged
        self._profile = None if suite.profile is None else PROFILES[suite.profile]
        self._loaded: dict[tuple[Reason, str], Rubric] = {}

    def of(self, case: Case) -> Rubric | None:
        """The rubric that stands in for one that a case does not name."""
        if not self._is_open or case.rubric is not None:
            return None
        profile = self._profile
        if profile is not None and profile.rubric is not None:
            return self._load("profile", profile.rubric) if _asks_judge(case, profile) else None
        if case.reference is not None and (_wants_judge(case) or self._has_no_other_way(case)):
            return self._load("reference", REFERENCE_RUBRIC)
        return None

    def is_missing(self, case: Case) -> bool:
        """Whether a case is to be graded by a judge, and nothing says what by."""
        has_own = case.rubric is not None or not self._is_open
        has_profiles = self._profile is not None and self._profile.rubric is not None
        return _wants_judge(case) and not has_own and not has_profiles

    def reason_for(self, case: Case) -> tuple[Reason, str] | None:
        """Why a case has the rubric it has, where nobody named it."""
        return next((key for key, one in self._loaded.items() if one is case.rubric), None)

    def _has_no_other_way(self, case: Case) -> bool:
        """Whether only a judge can decide a case that says nothing of how it is evaluated."""
        says = case.assertions or case.evaluation is not None or self._profile is not None
        return self._is_judged and not says and not self._suite.assertions

    def _load(self, reason: Reason, name: str) -> Rubric:
        key = (reason, name)
        if key not in self._loaded:
            self._loaded[key] = load_rubric(name)
        return self._loaded[key]


def needs_judge(case: Case, suite: Suite) -> bool:
    """Whether a judge is asked about a case, or nothing else decides it."""
    if suite.rubric is not None or case.rubric is not None or _wants_judge(case):
        return True
    if suite.profile is not None:
        return _asks_judge(case, PROFILES[suite.profile])
    return not (case.assertions or case.evaluation is not None or suite.assertions)


def ways_to_a_rubric() -> str:
    """What can be done where nothing says what a judge is to look for."""
    with_rubric = ", ".join(name for name, profile in PROFILES.items() if profile.rubric)
    return (
        f"give --rubric FILE or the name of a shipped one ({', '.join(shipped_rubrics())}), "
        "`rubric:` in the suite or in the cases, a `profile:` that has a rubric "
        f"({with_rubric}), or the cases a `reference` to be held against"
    )


def listed(found: Mapping[tuple[Reason, str], int]) -> list[JsonObject]:
    """The rubrics that nobody named, as they are kept with a run."""
    return [
        {"rubric": name, "because": reason, "n_cases": n} for (reason, name), n in found.items()
    ]


def by_default_in(config: JsonObject) -> Sequence[JsonObject]:
    """The rubrics of a run that nobody named."""
    kept = config.get(BY_DEFAULT)
    return [one for one in kept if isinstance(one, dict)] if isinstance(kept, list) else []


def _asks_judge(case: Case, profile: Profile) -> bool:
    try:
        return plan_evaluation(case, profile).asks_judge
    except DatasetError:  # what it lacks is told with all that is wrong with the cases
        return False


def _wants_judge(case: Case) -> bool:
    own = case.evaluation
    if own is None:
        return False
    return own.strategy == "llm_judge" or (
        own.strategy == "hybrid" and own.weights.get("llm_judge", 0) > 0
    )
