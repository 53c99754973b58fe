"""Decides how each case is evaluated: strategy, checks, scorers, rubric (run by `check_runner`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from judgekit.assertions import (
    LEXICAL,
    PROFILES,
    SIMILAR_ASSERTION,
    SIMILARITY,
    WORDLLAMA,
    ScriptSettings,
    SimilaritySettings,
    assertion_registry,
    compares_variants,
    plan_evaluation,
    scorer_registry,
    script_entries,
    similar_entry,
)
from judgekit.datasets import (
    Suite,
    load_rubric,
    may_ask_judge,
    naming_place,
    scorer_name,
    shipped_rubrics,
)
from judgekit.errors import DatasetError, SettingsError
from judgekit.extras import is_installed, require_package
from judgekit.records import JUDGE_SCORER, OVERALL_SCORE

if TYPE_CHECKING:
    from judgekit.assertions import EvaluationPlan, EvaluationProfile
    from judgekit.models import Embeddings
    from judgekit.records import Case, Criterion, JsonObject, Rubric

# What a suite says of a scorer beside its parameters.
_SUITES_OWN = frozenset({"name", "weight"})
# How many plans are kept; an answer asks for its case's several times.
_MAX_CACHED_PLANS = 1024


class CasePlans:
    """The plans of a suite's cases, and what they are carried out with."""

    def __init__(
        self,
        suite: Suite,
        *,
        rubric: Rubric | None,
        is_judged: bool,
        allow_scripts: bool,
        open_embeddings: Callable[[str, str | None], Embeddings],
    ) -> None:
        self.suite = suite
        self._is_judged = is_judged
        with naming_place(suite, "extra_rubrics"):
            self._extra = tuple(_extra_criteria(suite, *suite.extra_rubrics))
        self.rubric = None if rubric is None else self._extended(rubric)
        self.defaults = DefaultRubrics(
            suite, rubric=rubric, is_judged=is_judged, extended=self._extended
        )
        self.scripts = ScriptSettings(
            folder=suite.folder, is_allowed=allow_scripts, environment=suite.settings.environment
        )
        self.by_default: dict[tuple[RubricReason, str], int] = {}
        """The rubrics that nobody named, with the cases of each; known once all were read."""
        self.measures_similarity = False
        """Whether any case is decided by how alike two texts are; known then, too."""
        self.script_versions: dict[str, str] = {}
        """The fingerprints of the scripts that the suite and its cases name; known then, too."""
        self.n_unasked = 0
        """Cases with a rubric where there is no judge to be asked; known then, too."""
        self.unmet_needs: tuple[str, ...] = ()
        """What criteria need of a case and no case has, in words; known then, too."""
        self.compares_variants = False
        """Whether any case has an assertion about the outputs of all variants; known then, too."""
        self.embeddings: dict[str, Embeddings] = {}
        self._open_embeddings = open_embeddings
        # The suite's own scorers as they are carried out, but for that of the judge
        self.suite_scorers = tuple(
            self._scorer(spec) for spec in suite.scorers if spec.get("type") != JUDGE_SCORER
        )
        # Two values under one name would be averaged in every table.
        if OVERALL_SCORE in map(scorer_name, suite.scorers):
            raise SettingsError(
                f"no scorer may be called {OVERALL_SCORE!r}: that is the mean of all scores"
            )
        self.means = self._similarity()
        script, score, code = script_entries(self.scripts)
        self.assertions = assertion_registry().plus(similar_entry(self.means), script, code)
        self.scorers = scorer_registry().plus(score)
        # By identity, for hashing a case reads all of it; the case is stored too, as an id may be
        # used again.
        self._plans: dict[int, tuple[Case, EvaluationPlan | None]] = {}
        self._rubrics: dict[str, Rubric] = {}

    @property
    def scorer_names(self) -> tuple[str, ...]:
        """What the scores of the suite's own scorers are called, in the order of `specs`."""
        return tuple(scorer_name(s) for s in self.suite.scorers if s.get("type") != JUDGE_SCORER)

    def plan(self, case: Case) -> EvaluationPlan | None:
        """How a case is evaluated that does not just take the suite's way; see `plan_of`."""
        if case.evaluation is None and self.suite.profile is None:
            return None
        cached = self._plans.get(id(case))
        if cached is not None and cached[0] is case:
            return cached[1]
        found = plan_evaluation(case, self.suite.profile, rubric=self.rubric)
        # Cleared as a whole: datasets are read in order, and a case is needed a few times in a row.
        if len(self._plans) >= _MAX_CACHED_PLANS:
            self._plans.clear()
        self._plans[id(case)] = (case, found)
        return found

    def own_checks(self, case: Case) -> tuple[JsonObject, ...]:
        plan = self.plan(case)
        return case.assertions if plan is None else plan.assertions

    def own_scorers(self, case: Case) -> tuple[dict[str, object], ...]:
        plan = self.plan(case)
        if plan is None:
            return ()
        return tuple(
            {**self.means.arguments(), **spec} if spec["type"] == SIMILARITY else {**spec}
            for spec in plan.scorers
        )

    def every_check(self, case: Case) -> list[JsonObject]:
        """The assertions of the suite, then those of a case."""
        return [*self.suite.assertions, *self.own_checks(case)]

    def variant_checks(self, case: Case) -> list[tuple[int, JsonObject]]:
        """The assertions that compare the outputs of variants, with their places among all."""
        every = enumerate(self.every_check(case))
        return [(n, spec) for n, spec in every if compares_variants(str(spec.get("type")))]

    def is_compared(self, case: Case) -> bool:
        """Whether the answers to a case of this run are compared with one another."""
        return self.compares_variants and bool(self.variant_checks(case))

    def every_scorer(self, case: Case) -> list[dict[str, object]]:
        """The scorers of the suite, then those of a case."""
        return [*self.suite_scorers, *self.own_scorers(case)]

    def as_run(self, case: Case) -> Case:
        """A case with the rubric it names in full, so that the run stands by itself."""
        named = case.rubric
        if named is None:
            found = self.defaults.of(case)
            return case if found is None else case.model_copy(update={"rubric": found})
        if not isinstance(named, str):
            full = self._extended(named)
            return case if full is named else case.model_copy(update={"rubric": full})
        if named not in self._rubrics:
            self._rubrics[named] = self._extended(load_rubric(self.suite.rubric_named(named)))
        return case.model_copy(update={"rubric": self._rubrics[named]})

    @cached_property
    def _feedback(self) -> tuple[Criterion, ...]:
        return tuple(_extra_criteria(self.suite, FEEDBACK_RUBRIC))

    def _extended(self, rubric: Rubric) -> Rubric:
        """A rubric with the criteria of the suite's extra rubrics, which decide nothing."""
        if not self._is_judged:
            return rubric
        own = {criterion.name for criterion in rubric.criteria}
        asked = (*self._extra, *(self._feedback if rubric.metadata.get("overallFeedback") else ()))
        # A stored case that is run again has them already.
        more = {one.name: one for one in asked if one.name not in own}.values()
        whole = (*rubric.criteria, *more)
        return rubric.model_copy(update={"criteria": whole}) if more else rubric

    def measures(self, case: Case) -> bool:
        """Whether a case is decided by how alike two texts are."""
        specs: list[Mapping[str, object]] = [*self.own_checks(case), *self.own_scorers(case)]
        return any(spec.get("type") in {SIMILAR_ASSERTION, SIMILARITY} for spec in specs)

    def rubric_of(self, case: Case) -> Rubric | None:
        plan = self.plan(case)
        if plan is not None and not plan.asks_judge:
            return None
        return self.rubric if case.rubric is None or isinstance(case.rubric, str) else case.rubric

    @property
    def similarity_measure(self) -> str:
        """How similarity is measured where a case wants it, as scores name it."""
        if self.means.embed is not None:
            return f"semantic: {getattr(self.means.embed, 'name', 'embeddings')}"
        # The default depends on an optional package; the run records which one measured, for scores
        # of the two differ.
        is_lexical = self.means.method == "lexical" or not is_installed("wordllama")
        return LEXICAL if is_lexical else WORDLLAMA

    async def aclose(self) -> None:
        for each in self.embeddings.values():
            await each.aclose()

    def _scorer(self, spec: JsonObject) -> dict[str, object]:
        found: dict[str, object] = {k: v for k, v in spec.items() if k not in _SUITES_OWN}
        if found.get("type") != SIMILARITY:
            return found
        method, model = found.get("method"), found.pop("model", None)
        api_base = found.pop("api_base", None)
        if method == "embedding":
            if not isinstance(model, str) or not isinstance(api_base, str | None):
                raise SettingsError(
                    f"the scorer {scorer_name(spec)!r} needs a `model` of embeddings",
                    hint="for example `model: openai/text-embedding-3-small`",
                )
            name = f"{model} {api_base or ''}"
            if name not in self.embeddings:
                self.embeddings[name] = self._open_embeddings(model, api_base)
            return {**found, "method": "semantic", "embed": self.embeddings[name]}
        if model is not None or api_base is not None:
            raise SettingsError(
                f"the scorer {scorer_name(spec)!r} calls a model only with `method: embedding`"
            )
        if method == "semantic":
            require_package("wordllama", "semantic similarity")
        return found

    def _similarity(self) -> SimilaritySettings:
        """How similarity is measured where a case wants it: as the suite's scorer does."""
        for spec in self.suite_scorers:
            if spec["type"] == SIMILARITY:
                method, embed = spec.get("method") or "lexical", spec.get("embed")
                return SimilaritySettings(method, embed)  # type: ignore[arg-type]  # read as a spec
        return SimilaritySettings()


def _extra_criteria(suite: Suite, *names: str) -> Iterator[Criterion]:
    for rubric in map(load_rubric, map(suite.rubric_named, names)):
        for one in rubric.criteria:
            # Without a mark of its own its rubric's counts, not that of the case.
            mark = rubric.pass_threshold if one.pass_value is None else one.pass_value
            silent = {"weight": 0.0, "required": False, "pass_value": mark}
            yield one.model_copy(update={"name": f"{rubric.name}.{one.name}", **silent})


# Why a rubric was taken that nobody named.
RubricReason = Literal["profile", "reference"]
# The shipped rubric that holds an output against its case's reference.
REFERENCE_RUBRIC = "reference_match"
# The shipped rubric of what the rubric of a skill's test asks for by `overallFeedback`.
FEEDBACK_RUBRIC = "feedback"


class DefaultRubrics:
    """The shipped rubrics that stand in where a suite and its case name none."""

    def __init__(
        self,
        suite: Suite,
        *,
        rubric: Rubric | None,
        is_judged: bool,
        extended: Callable[[Rubric], Rubric] = lambda rubric: rubric,
    ) -> None:
        self._suite, self._extended = suite, extended
        self._is_open = rubric is None
        self._is_judged = is_judged
        self._profile = None if suite.profile is None else PROFILES[suite.profile]
        self._loaded: dict[tuple[RubricReason, str], Rubric] = {}

    def of(self, case: Case) -> Rubric | None:
        """The rubric that stands in for one that a case does not name."""
        if not self._is_open or case.rubric is not None:
            return None
        profile = self._profile
        if profile is not None and profile.rubric is not None:
            return self._load("profile", profile.rubric) if _asks_judge(case, profile) else None
        # A judge is called for a reference alone only if nothing else decides: it would cost money
        # unasked.
        says = case.assertions or case.evaluation is not None or profile is not None
        decides = says or self._suite.assertions
        if case.reference is not None and (_wants_judge(case) or (self._is_judged and not decides)):
            return self._load("reference", REFERENCE_RUBRIC)
        return None

    def is_missing(self, case: Case) -> bool:
        """Whether a case is to be graded by a judge, and nothing says what by."""
        has_own = case.rubric is not None or not self._is_open
        has_profiles = self._profile is not None and self._profile.rubric is not None
        return _wants_judge(case) and not has_own and not has_profiles

    def reason_for(self, case: Case) -> tuple[RubricReason, str] | None:
        """Why a case has the rubric it has, where nobody named it."""
        return next((key for key, one in self._loaded.items() if one is case.rubric), None)

    def _load(self, reason: RubricReason, name: str) -> Rubric:
        key = (reason, name)
        if key not in self._loaded:
            self._loaded[key] = self._extended(load_rubric(name))
        return self._loaded[key]


def needs_judge(case: Case, suite: Suite) -> bool:
    """Whether a judge is called about a case, or nothing else decides it."""
    is_asked = may_ask_judge(suite.rubric or case.rubric, (*suite.assertions, *case.assertions))
    if is_asked or _wants_judge(case):
        return True
    if suite.profile is not None:
        return _asks_judge(case, PROFILES[suite.profile])
    return not (case.assertions or case.evaluation is not None or suite.assertions)


def rubric_hint() -> str:
    """What can be done where nothing says what a judge is to look for."""
    with_rubric = ", ".join(name for name, profile in PROFILES.items() if profile.rubric)
    return (
        f"give --rubric FILE or the name of a shipped one ({', '.join(shipped_rubrics())}), "
        "`rubric:` in the suite or in the cases, a `profile:` that has a rubric "
        f"({with_rubric}), or the cases a `reference` to be compared with"
    )


def default_rubric_records(found: Mapping[tuple[RubricReason, str], int]) -> list[JsonObject]:
    return [
        {"rubric": name, "because": reason, "n_cases": n} for (reason, name), n in found.items()
    ]


def _asks_judge(case: Case, profile: EvaluationProfile) -> bool:
    try:
        return plan_evaluation(case, profile).asks_judge
    except DatasetError:  # reported with every other fault of the cases
        return False


def _wants_judge(case: Case) -> bool:
    own = case.evaluation
    if own is None:
        return False
    return own.strategy == "llm_judge" or (
        own.strategy == "hybrid" and own.weights.get("llm_judge", 0) > 0
    )
