"""Plans how a case is evaluated and combines the results into one outcome (S4.2, S4.5).

The plan names the strategies, assertions, scorers and judge. The five skill profiles (S4.3) are
here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, get_args

from judgekit.assertions.runner import conclude_group, decide_by_rule, weight_shares
from judgekit.assertions.scripts import SCRIPT_NAME
from judgekit.errors import DatasetError, UnknownNameError
from judgekit.records import EvaluationProfileName, EvaluationStrategy, Rubric, meets_threshold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.records import AssertionResult, Case, JsonObject, Score

SIMILARITY = "similarity"

# The value from which a case passes where neither it nor the profile nor the rubric sets one.
DEFAULT_THRESHOLD = 0.7

# The assertions of a case that a strategy takes over.
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
    """One strategy of a plan; never `hybrid`."""

    strategy: EvaluationStrategy
    weight: float
    # Positions of its assertions in the plan.
    checks: tuple[int, ...] = ()
    # Positions of its scorers in the plan.
    scorers: tuple[int, ...] = ()
    # None where there is only right and wrong, and for a judge whose rubric has the threshold.
    threshold: float | None = None
    # The thresholds of its scorers, where they differ.
    thresholds: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """How one case is evaluated."""

    # None where only assertions are checked.
    strategy: EvaluationStrategy | None
    # One strategy, or those that a hybrid one combines.
    parts: tuple[PlannedPart, ...]
    assertions: tuple[JsonObject, ...]
    # Positions of the assertions that belong to no strategy; all of them must pass besides.
    guards: tuple[int, ...]
    scorers: tuple[JsonObject, ...]
    # The value from which a hybrid evaluation passes, on [0, 1]; else that of its one part.
    threshold: float | None

    @property
    def asks_judge(self) -> bool:
        """Whether a judge is called."""
        return any(part.strategy == "llm_judge" for part in self.parts)


def plan_evaluation(
    case: Case,
    profile: EvaluationProfile | str | None = None,
    *,
    rubric: str | Rubric | None = None,
) -> EvaluationPlan:
    """Plan the evaluation of a case; no script is run and no file is opened."""
    # The case's own strategy comes first, then the first default of the profile whose material the
    # case has; without either, a judge is called where there is a rubric. Assertions that are no
    # part of the strategy must pass besides.
    if isinstance(profile, str):
        if profile not in PROFILES:
            raise UnknownNameError("profile", profile, get_args(EvaluationProfileName))
        profile = PROFILES[profile]
    planner = _Planner(case, profile, rubric)
    strategy = planner.strategy()
    parts = planner.parts(strategy)
    used = {place for part in parts for place in part.checks}
    n = len(planner.assertions)
    if strategy is None and not n:
        raise _impossible(case, "it has no strategy, no assertion and no rubric")
    threshold = parts[0].threshold if parts else None
    if strategy == "hybrid":
        threshold = planner.threshold(strategy)
    return EvaluationPlan(
        strategy=strategy,
        parts=tuple(parts),
        assertions=tuple(planner.assertions),
        guards=tuple(place for place in range(n) if place not in used),
        scorers=tuple(planner.scorers),
        threshold=threshold,
    )


class _Planner:
    """Plans one case, and adds the assertions that its strategies need."""

    def __init__(
        self, case: Case, profile: EvaluationProfile | None, rubric: str | Rubric | None
    ) -> None:
        self._case, self._profile = case, profile
        self._script = None if case.evaluation is None else case.evaluation.script
        self.assertions = list(case.assertions)
        self.scorers: list[JsonObject] = []
        self._stated: list[float | None] = []
        own = case.rubric if case.rubric is not None else rubric
        self.rubric = own if own is not None or profile is None else profile.rubric

    def strategy(self) -> EvaluationStrategy | None:
        own = self._case.evaluation
        if own is not None and own.strategy is not None:
            return own.strategy
        if self._profile is None:
            return "llm_judge" if self.rubric is not None else None
        # Without a fitting one the first is planned, so that the error names what is missing.
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

    def _measure_similarity(self) -> None:
        """Put the scorer in the place of assertions `similar`, because it has a value too."""
        similar = [self.assertions[place] for place in self._own("semantic_sim")]
        self.assertions = [spec for spec in self.assertions if spec not in similar]
        for spec in similar:
            if spec.get("transform"):
                raise DatasetError(
                    "the strategy semantic_sim measures the output as it is, and an assertion "
                    "`similar` of the case has a `transform`",
                    case_id=self._case.id,
                    hint="make it the `transform` of the case",
                )
            where = {"path": spec["path"]} if spec.get("path") is not None else {}
            self.scorers.append({"type": SIMILARITY, "reference": spec.get("value"), **where})
            stated = spec.get("threshold")
            self._stated.append(float(stated) if isinstance(stated, int | float) else None)
        if not similar:
            self.scorers.append({"type": SIMILARITY})
            self._stated.append(None)

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
        # Weights may name strategies without a check; the error names what each of them needs.
        own = {} if self._case.evaluation is None else self._case.evaluation.weights
        known = [name for name in get_args(EvaluationStrategy) if name != "hybrid"]
        if unknown := sorted(own.keys() - set(known)):
            raise _impossible(self._case, f"no strategy to combine is called {unknown[0]!r}")
        if own:
            return {name: own[name] for name in known if own.get(name, 0) > 0}
        return dict.fromkeys(self._at_hand(), 1.0)

    def _at_hand(self) -> list[EvaluationStrategy]:
        """The strategies for which the case has material of its own."""
        found: list[EvaluationStrategy] = [
            name for name in get_args(EvaluationStrategy) if name in _TYPES and self._own(name)
        ]
        if self._case.rubric is not None:
            found.append("llm_judge")
        if self._script is not None and "custom" not in found:
            found.append("custom")
        if not found and self.rubric is not None:
            return ["llm_judge"]
        return found or (["semantic_sim"] if isinstance(self._case.reference, str) else [])

    def _is_default_for(self, strategy: EvaluationStrategy) -> bool:
        if strategy == "hybrid":
            return len(self._at_hand()) > 1
        if strategy == "exact_match" and self._case.reference is not None:
            # Where the answer only has to satisfy a schema, the reference is there for the reader.
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
            or (strategy == "custom" and self._script is not None)
        )

    def _part(self, strategy: EvaluationStrategy, weight: float) -> PlannedPart:
        checks, threshold = self._own(strategy), self.threshold(strategy)
        if strategy == "llm_judge":
            return PlannedPart(strategy, weight, threshold=threshold)
        if strategy == "semantic_sim":
            # Each text has the threshold of its assertion, unless the case has one for this
            # strategy.
            own = self._case.evaluation
            is_free = own is None or own.threshold is None or own.strategy == "hybrid"
            stated = [each if is_free and each is not None else threshold for each in self._stated]
            limits = tuple(limit for limit in stated if limit is not None)
            return PlannedPart(
                strategy,
                weight,
                scorers=tuple(range(len(self.scorers))),
                threshold=max(limits, default=None),
                thresholds=limits if len(set(limits)) > 1 else (),
            )
        if checks:
            return PlannedPart(strategy, weight, checks, threshold=threshold)
        made: JsonObject = {"type": "equals", "value": self._case.reference}
        if strategy == "custom":
            made = {"type": SCRIPT_NAME, "script": self._script, "threshold": threshold}
        self.assertions.append(made)
        return PlannedPart(strategy, weight, (len(self.assertions) - 1,), threshold=threshold)

    def _own(self, strategy: EvaluationStrategy) -> tuple[int, ...]:
        """Positions of the case's own assertions that a strategy takes over."""
        types = _TYPES.get(strategy, frozenset())
        return tuple(
            place
            for place, spec in enumerate(self.assertions)
            if spec.get("type") in types
            # `is-json` without a schema checks the syntax only, which is no strategy.
            and (
                strategy != "json_schema" or isinstance(spec.get("value", spec.get("schema")), dict)
            )
        )


def _impossible(case: Case, why: str) -> DatasetError:
    return DatasetError(
        f"{why}, so the case cannot be evaluated",
        case_id=case.id,
        hint="add what is missing, or name another strategy in `evaluation`",
    )


@dataclass(frozen=True, slots=True)
class EvaluationProfile:
    """How a kind of skill is evaluated."""

    # The default strategies; a case takes the first one whose material it has.
    strategies: tuple[EvaluationStrategy, ...]
    # None where there is only right and wrong.
    threshold: float | None = None
    # The shipped rubric where case and suite have none.
    rubric: str | None = None


PROFILES: Mapping[str, EvaluationProfile] = MappingProxyType(
    {
        # Code execution, calculations, wrappers of an API: there is one right output.
        "deterministic": EvaluationProfile(("exact_match", "json_schema", "regex_match")),
        # Transformation of data, reports: the output has a form.
        "structured": EvaluationProfile(("json_schema", "regex_match")),
        # Summaries, translations, rewriting: the output means the same as the reference. By skill
        # the threshold is 0.7 to 0.85.
        "flexible": EvaluationProfile(("semantic_sim",), threshold=0.7),
        # Presentations, articles, other creative work: a judge grades it.
        "creative": EvaluationProfile(("llm_judge",), threshold=0.7, rubric="creative"),
        # Compliance and other expert domains: several strategies, or custom scripts.
        "enterprise": EvaluationProfile(("hybrid", "custom"), threshold=0.7),
    }
)


@dataclass(frozen=True, slots=True)
class PartOutcome:
    """The result of one strategy; value and pass are None where they are not known."""

    strategy: EvaluationStrategy
    weight: float
    value: float | None
    passed: bool | None
    message: str


@dataclass(frozen=True, slots=True)
class StrategyOutcome:
    """The result of the evaluation of one output."""

    # None where only assertions were checked.
    strategy: EvaluationStrategy | None
    # The value on [0, 1]; None where a part that counts is not known.
    value: float | None
    # None where what is not known could decide it either way.
    passed: bool | None
    parts: tuple[PartOutcome, ...]
    feedback: str
    matched_patterns: tuple[str, ...] = ()
    schema_errors: tuple[str, ...] = ()


def combine_outcomes(
    plan: EvaluationPlan,
    checks: Sequence[AssertionResult],
    scores: Sequence[Score],
    judged_value: float | None,
    *,
    judged_passed: bool | None = None,
    judged_feedback: str | None = None,
) -> StrategyOutcome:
    # What is missing never counts as 0: the value is None, and the output passes or fails only
    # where it would do so whatever the missing parts were.
    if len(checks) != len(plan.assertions):
        raise ValueError(f"{len(checks)} results for {len(plan.assertions)} assertions")
    judged = (judged_value, judged_passed, judged_feedback)
    parts = tuple(_outcome(part, checks, scores, judged) for part in plan.parts)
    guards = [checks[place] for place in plan.guards]
    whole = conclude_group(guards, rule="all")
    # Guards have no weight beside a strategy: they can only fail the case.
    value = whole.value if not parts and any(guard.weight for guard in guards) else None
    # A mean without the missing parts would be the mean of something else.
    if parts and all(part.value is not None for part in parts):
        value = min(1.0, fsum(share * (part.value or 0.0) for part, share in _weighed(parts)))
    passed = whole.passed
    if parts:
        passed = decide_by_rule("all", {_passed(plan, parts), passed})
    patterns = (p for p in _checks_of(plan, "regex_match") if checks[p].passed)
    violations = (p for p in _checks_of(plan, "json_schema") if checks[p].passed is not True)
    messages = [
        part.message if len(parts) == 1 else f"{part.strategy}: {part.message}" for part in parts
    ]
    messages += [guard.message for guard in guards if guard.passed is not True]
    return StrategyOutcome(
        strategy=plan.strategy,
        value=value,
        passed=passed,
        parts=parts,
        feedback="; ".join(messages or [guard.message for guard in guards]),
        matched_patterns=tuple(str(plan.assertions[p].get("value")) for p in patterns),
        schema_errors=tuple(checks[p].message for p in violations),
    )


def _outcome(
    part: PlannedPart,
    checks: Sequence[AssertionResult],
    scores: Sequence[Score],
    judged: tuple[float | None, bool | None, str | None],
) -> PartOutcome:
    if part.strategy == "llm_judge":
        value, passed, feedback = judged
        if passed is None:
            passed = _reaches(value, part.threshold)
        message = feedback or "the judge gave no verdict"
        if value is not None and not feedback:
            message = _valued("the judge gives", value, part.threshold)
        return PartOutcome(part.strategy, part.weight, value, passed, message)
    if part.scorers:
        return _scored_part(part, scores)
    found = [checks[place] for place in part.checks]
    passed = decide_by_rule("all", {one.passed for one in found})
    value = None if passed is None else float(passed)
    graded = [one.value for one in found if one.value is not None]
    # Of several scripts the worst counts, as every one must pass.
    if graded and passed is not None and part.strategy == "custom":
        value = min(graded)
    shown = [one for one in found if one.passed is not True] or found
    message = "; ".join(one.message for one in shown)
    return PartOutcome(part.strategy, part.weight, value, passed, message)


def _scored_part(part: PlannedPart, scores: Sequence[Score]) -> PartOutcome:
    found = [scores[place] for place in part.scorers if place < len(scores)]
    known = [score.value for score in found if score.value is not None]
    if len(known) < len(part.scorers):
        errors = [score.error for score in found if score.error is not None]
        message = "; ".join(errors) or "the similarity was not measured"
        return PartOutcome(part.strategy, part.weight, None, None, message)
    limits = part.thresholds or (part.threshold,) * len(known)
    each = list(zip(known, limits, strict=True))
    passed = decide_by_rule("all", {_reaches(*pair) for pair in each})
    # With one threshold the lowest score explains the result; with several, those that missed.
    missed = [pair for pair in each if part.thresholds and _reaches(*pair) is False]
    shown = missed or [min(each, key=itemgetter(0))]
    values = "; ".join(_valued("the similarity is", *pair) for pair in shown)
    message = f"{values}{f' ({found[0].method})' if found[0].method else ''}"
    return PartOutcome(part.strategy, part.weight, min(known), passed, message)


def _passed(plan: EvaluationPlan, parts: Sequence[PartOutcome]) -> bool | None:
    """Whether the parts pass: a hybrid evaluation by its threshold, if the bounds agree."""
    if plan.strategy != "hybrid":
        return parts[0].passed
    weighed = _weighed(parts)
    # What is missing is taken as 0 and as 1; only if both agree is the outcome known.
    known = fsum(share * part.value for part, share in weighed if part.value is not None)
    unknown = fsum(share for part, share in weighed if part.value is None)
    at_worst = _reaches(known, plan.threshold)
    return at_worst if at_worst == _reaches(known + unknown, plan.threshold) else None


def _weighed(parts: Sequence[PartOutcome]) -> list[tuple[PartOutcome, float]]:
    return list(zip(parts, weight_shares([part.weight for part in parts]), strict=True))


def _reaches(value: float | None, threshold: float | None) -> bool | None:
    return None if value is None or threshold is None else meets_threshold(value, threshold)


def _valued(what: str, value: float, threshold: float | None) -> str:
    return f"{what} {value:.3g}" + ("" if threshold is None else f", {threshold:g} wanted")


def _checks_of(plan: EvaluationPlan, strategy: EvaluationStrategy) -> list[int]:
    return [place for part in plan.parts if part.strategy == strategy for place in part.checks]
