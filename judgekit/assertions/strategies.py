"""Plans how a case is evaluated (S4.2): its strategies, assertions, scorers and judge.

With the five skill profiles (S4.3). Results are combined in `outcomes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, get_args

from judgekit.assertions.scripts import SCRIPT_NAME
from judgekit.errors import DatasetError, UnknownNameError
from judgekit.records import EvaluationProfileName, EvaluationStrategy, Rubric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.records import Case, JsonObject

SIMILARITY = "similarity"
"""The scorer that measures `semantic_sim`."""

DEFAULT_THRESHOLD = 0.7
"""From which value a case passes where neither it nor the profile nor the rubric says."""

# The assertions of a case that say what a strategy compares with.
_TYPES: dict[str, frozenset[str]] = {
    "exact_match": frozenset({"equals", "text.equals", "output.equals"}),
    "regex_match": frozenset({"regex", "text.regex"}),
    "json_schema": frozenset({"is-json", "json_schema", "text.is_json"}),
    "semantic_sim": frozenset({"similar"}),
    "custom": frozenset({SCRIPT_NAME}),
}

_NEEDS = {
    "exact_match": "a reference, or an assertion `equals`",
    "regex_match": "an assertion `regex`",
    "json_schema": "an assertion `is-json` with a schema",
    "semantic_sim": "a reference that is a text, or an assertion `similar`",
    "llm_judge": "a rubric, its own, the suite's or the profile's",
    "custom": "a script",
}


@dataclass(frozen=True, slots=True)
class PlannedPart:
    """One strategy that takes part."""

    strategy: EvaluationStrategy
    """The strategy; never `hybrid`."""

    weight: float
    """Its share in a hybrid evaluation, 0 or more; 1 where it is the only one."""

    checks: tuple[int, ...] = ()
    """Places of its assertions in the plan's."""

    scorers: tuple[int, ...] = ()
    """Places of its scorers in the plan's."""

    threshold: float | None = None
    """The value from which it passes; None where there is only right and wrong, and for a judge
    whose rubric says it."""

    thresholds: tuple[float, ...] = ()
    """The value from which each of its scorers passes, where they differ."""


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What has to be done to evaluate one case."""

    case_id: str
    """The case."""

    strategy: EvaluationStrategy | None
    """The strategy; None where only its assertions are checked."""

    parts: tuple[PlannedPart, ...]
    """The strategies that take part: one, or those a hybrid one weighs."""

    assertions: tuple[JsonObject, ...]
    """Assertions to carry out, in the order in which `combine` wants their results."""

    guards: tuple[int, ...]
    """Places of the assertions that belong to no strategy: every one must hold besides."""

    scorers: tuple[JsonObject, ...]
    """Scorers to ask, as specs, in the order in which `combine` wants their scores."""

    rubric: str | Rubric | None
    """The rubric a judge is asked with; None where none is asked."""

    threshold: float | None
    """The value from which a hybrid evaluation passes, on [0, 1]; else that of its one part."""

    @property
    def asks_judge(self) -> bool:
        """Whether a judge is asked."""
        return any(part.strategy == "llm_judge" for part in self.parts)

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each strategy that takes part."""
        return {part.strategy: part.weight for part in self.parts}


def plan_evaluation(
    case: Case,
    profile: EvaluationProfile | str | None = None,
    *,
    rubric: str | Rubric | None = None,
) -> EvaluationPlan:
    """What has to be done to evaluate a case."""
    # The case's own strategy comes first, then the first default of the profile that the case has
    # what is needed for; without either, a judge is asked where there is a rubric. Assertions that
    # are no part of the strategy must hold besides. No script is run and no file is opened.
    profile = find_profile(profile) if isinstance(profile, str) else profile
    planner = _Planner(case, profile, rubric)
    strategy = planner.strategy()
    parts = planner.parts(strategy)
    used = {place for part in parts for place in part.checks}
    n = len(planner.assertions)
    if strategy is None and not n:
        raise _impossible(case, "it has no strategy, no assertion and no rubric")
    return EvaluationPlan(
        case_id=case.id,
        strategy=strategy,
        parts=tuple(parts),
        assertions=tuple(planner.assertions),
        guards=tuple(place for place in range(n) if place not in used),
        scorers=tuple(planner.scorers),
        rubric=planner.rubric if any(p.strategy == "llm_judge" for p in parts) else None,
        threshold=planner.threshold(strategy) if strategy == "hybrid" else _threshold_of(parts),
    )


class _Planner:
    """Works out the plan of one case, and adds the assertions that the strategies need."""

    def __init__(
        self, case: Case, profile: EvaluationProfile | None, rubric: str | Rubric | None
    ) -> None:
        self._case, self._profile = case, profile
        self.assertions = list(case.assertions)
        self.scorers: list[JsonObject] = []
        self._stated: list[float | None] = []
        own = case.rubric if case.rubric is not None else rubric
        self.rubric = own if own is not None or profile is None else profile.rubric

    def strategy(self) -> EvaluationStrategy | None:
        if self._case.evaluation is not None:
            return self._case.evaluation.strategy
        if self._profile is None:
            return "llm_judge" if self.rubric is not None else None
        # Without a fitting one the first is planned, so that the error says what is missing.
        fitting = [name for name in self._profile.strategies if self._is_default_for(name)]
        return (fitting or self._profile.strategies)[0]

    def parts(self, strategy: EvaluationStrategy | None) -> list[PlannedPart]:
        if strategy is None:
            return []
        weights = self._weights() if strategy == "hybrid" else {strategy: 1.0}
        if not weights:
            raise _impossible(self._case, "the strategy hybrid has nothing to combine")
        for name in weights:
            if not self._is_possible(name):
                raise _impossible(self._case, f"the strategy {name} needs {_NEEDS[name]}")
        # Before the parts, because it moves assertions and so changes their places.
        if "semantic_sim" in weights:
            self._measure_similarity()
        return [self._part(name, weight) for name, weight in weights.items()]

    def threshold(self, strategy: EvaluationStrategy | None) -> float | None:
        """The threshold of a strategy: the case's, the rubric's, the profile's."""
        own = self._case.evaluation
        # A hybrid case's threshold is that of the whole, not of each part.
        if own is not None and own.threshold is not None and strategy == own.strategy:
            return own.threshold
        if strategy in {"exact_match", "regex_match", "json_schema"}:
            return None
        if strategy == "llm_judge" and self.rubric is not None:
            return self.rubric.pass_threshold if isinstance(self.rubric, Rubric) else None
        set_by_profile = None if self._profile is None else self._profile.threshold
        return DEFAULT_THRESHOLD if set_by_profile is None else set_by_profile

    def _weights(self) -> dict[EvaluationStrategy, float]:
        # Weights may name strategies without a check; each then says what it needs.
        own = {} if self._case.evaluation is None else self._case.evaluation.weights
        known = [name for name in get_args(EvaluationStrategy) if name != "hybrid"]
        if strange := sorted(own.keys() - set(known)):
            raise _impossible(self._case, f"no strategy to combine is called {strange[0]!r}")
        if own:
            return {name: own[name] for name in known if own.get(name, 0) > 0}
        return dict.fromkeys(self._at_hand(), 1.0)

    def _at_hand(self) -> list[EvaluationStrategy]:
        """The strategies a case says something for itself."""
        found: list[EvaluationStrategy] = [name for name in _with_assertions() if self._own(name)]
        if self._case.rubric is not None:
            found.append("llm_judge")
        if self._script() is not None and "custom" not in found:
            found.append("custom")
        if not found and self.rubric is not None:
            return ["llm_judge"]
        return found or (["semantic_sim"] if isinstance(self._case.reference, str) else [])

    def _is_default_for(self, strategy: EvaluationStrategy) -> bool:
        if strategy == "hybrid":
            return len(self._at_hand()) > 1
        if strategy == "exact_match" and self._case.reference is not None:
            # An answer that only has to match a pattern or a schema has a reference to read.
            return self._own("exact_match") != () or not self._own("json_schema")
        return self._is_possible(strategy)

    def _is_possible(self, strategy: EvaluationStrategy) -> bool:
        if strategy == "llm_judge":
            return self.rubric is not None
        reference = self._case.reference
        return bool(
            self._own(strategy)
            or (strategy == "exact_match" and reference is not None)
            or (strategy == "semantic_sim" and isinstance(reference, str))
            or (strategy == "custom" and self._script() is not None)
        )

    def _part(self, strategy: EvaluationStrategy, weight: float) -> PlannedPart:
        checks, threshold = self._own(strategy), self.threshold(strategy)
        if strategy == "llm_judge":
            return PlannedPart(strategy, weight, threshold=threshold)
        if strategy == "semantic_sim":
            return self._similarity_part(weight, threshold)
        if checks:
            return PlannedPart(strategy, weight, checks, threshold=threshold)
        made: JsonObject = {"type": "equals", "value": self._case.reference}
        if strategy == "custom":
            made = {"type": SCRIPT_NAME, "script": self._script(), "threshold": threshold}
        self.assertions.append(made)
        return PlannedPart(strategy, weight, (len(self.assertions) - 1,), threshold=threshold)

    def _similarity_part(self, weight: float, threshold: float | None) -> PlannedPart:
        """The part of `semantic_sim`; each text is held to the threshold of its assertion."""
        # The threshold of the case, if it has one, overrides those of its assertions.
        stated = self._stated if self._states_its_own() else [None]
        own = [
            limit for each in stated if (limit := threshold if each is None else each) is not None
        ]
        places = tuple(range(len(self.scorers)))
        return PlannedPart(
            "semantic_sim",
            weight,
            scorers=places,
            threshold=max(own, default=None),
            thresholds=tuple(own) if len(set(own)) > 1 else (),
        )

    def _measure_similarity(self) -> None:
        """Ask the scorer in place of assertions `similar`, for it says how alike the texts are."""
        similar = [self.assertions[place] for place in self._own("semantic_sim")]
        self.assertions = [spec for spec in self.assertions if spec not in similar]
        for spec in similar:
            where = {"path": spec["path"]} if spec.get("path") is not None else {}
            self.scorers.append({"type": SIMILARITY, "reference": spec.get("value"), **where})
            stated = spec.get("threshold")
            self._stated.append(float(stated) if isinstance(stated, int | float) else None)
        if not similar:
            self.scorers.append({"type": SIMILARITY})
            self._stated.append(None)

    def _states_its_own(self) -> bool:
        """Whether the threshold of its similarity is not that of the case."""
        own = self._case.evaluation
        return own is None or own.threshold is None or own.strategy == "hybrid"

    def _own(self, strategy: EvaluationStrategy) -> tuple[int, ...]:
        """Places of the case's own assertions that carry out a strategy."""
        types = _TYPES.get(strategy, frozenset())
        return tuple(
            place
            for place, spec in enumerate(self.assertions)
            if spec.get("type") in types and (strategy != "json_schema" or _has_schema(spec))
        )

    def _script(self) -> str | None:
        return None if self._case.evaluation is None else self._case.evaluation.script


def _with_assertions() -> list[EvaluationStrategy]:
    return [name for name in get_args(EvaluationStrategy) if name in _TYPES]


def _has_schema(spec: JsonObject) -> bool:
    return isinstance(spec.get("value", spec.get("schema")), dict)


def _threshold_of(parts: Sequence[PlannedPart]) -> float | None:
    return parts[0].threshold if parts else None


def _impossible(case: Case, why: str) -> DatasetError:
    return DatasetError(
        f"{why}, so the case cannot be evaluated",
        case_id=case.id,
        hint="add what is missing, or name another strategy in `evaluation`",
    )


@dataclass(frozen=True, slots=True)
class EvaluationProfile:
    """What a kind of skill is evaluated by."""

    name: EvaluationProfileName
    """Its name."""

    description: str
    """Which skills it is for."""

    strategies: tuple[EvaluationStrategy, ...]
    """The default strategies; a case takes the first that it has what is needed for."""

    threshold: float | None = None
    """The value from which a case passes; None where there is only right and wrong."""

    thresholds: tuple[float, float] | None = None
    """The range its threshold is chosen from, where that depends on the skill."""

    rubric: str | None = None
    """The shipped rubric a judge is asked with where case and suite have none."""


PROFILES: Mapping[str, EvaluationProfile] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            EvaluationProfile(
                "deterministic",
                "Code execution, calculations, wrappers of an API: there is one right output.",
                ("exact_match", "json_schema", "regex_match"),
            ),
            EvaluationProfile(
                "structured",
                "Transformation of data, reports: the output has a form.",
                ("json_schema", "regex_match"),
            ),
            EvaluationProfile(
                "flexible",
                "Summaries, translations, rewriting: the output means the same as the reference.",
                ("semantic_sim",),
                threshold=0.7,
                thresholds=(0.7, 0.85),
            ),
            EvaluationProfile(
                "creative",
                "Presentations, articles, other creative work: a judge grades it.",
                ("llm_judge",),
                threshold=0.7,
                rubric="creative",
            ),
            EvaluationProfile(
                "enterprise",
                "Compliance and other expert domains: several strategies, or scripts of one's own.",
                ("hybrid", "custom"),
                threshold=0.7,
            ),
        )
    }
)
"""The profiles by name."""


def find_profile(name: str) -> EvaluationProfile:
    """The profile of that name."""
    if name not in PROFILES:
        raise UnknownNameError("profile", name, get_args(EvaluationProfileName))
    return PROFILES[name]
