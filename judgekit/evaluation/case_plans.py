"""Decides how each case is evaluated: strategy, checks, scorers, rubric (run by `check_runner`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

from judgekit.assertions import (
    LEXICAL,
    PROFILES,
    SIMILAR_ASSERTION,
    SIMILARITY,
    WORDLLAMA,
    ScriptFailedError,
    ScriptSettings,
    SimilaritySettings,
    assertion_registry,
    check_specs,
    compares_variants,
    find_script,
    named_scripts,
    plan_evaluation,
    read_scorers,
    read_specs,
    scorer_registry,
    script_entries,
    similar_entry,
)
from judgekit.datasets import (
    Suite,
    criterion_place,
    load_rubric,
    may_ask_judge,
    naming_place,
    scorer_name,
    shipped_rubrics,
    suite_file,
    suite_place,
)
from judgekit.errors import DatasetError, InputError, SettingsError
from judgekit.evaluation.judges import CriterionChecks, choice_rubric
from judgekit.extras import is_installed, require_package
from judgekit.records import inactive_rubric_error

if TYPE_CHECKING:
    from judgekit.assertions import EvaluationPlan, EvaluationProfile
    from judgekit.evaluation.judges import SuiteJudges
    from judgekit.models import Embeddings
    from judgekit.records import Case, Criterion, JsonObject, Rubric

# The scorer that is worked out of the verdict, so that it is no observation.
JUDGE_SCORER = "judge"
# The key of a run's `config` that says how similarity is measured, where it decides a case.
SIMILARITY_KEY = "similarity_measure"
# What the weighted mean of a suite's scores is called.
OVERALL_SCORE = "overall"
# What a suite says of a scorer beside its parameters.
_SUITES_OWN = frozenset({"name", "weight"})
# How many plans are kept; an answer asks for its case's several times.
_MAX_CACHED_PLANS = 1024


def evaluation_plan_of(
    case: Case, profile: str | None, rubric: Rubric | None
) -> EvaluationPlan | None:
    """How a case is evaluated that does not just take the suite's way."""
    if case.evaluation is None and profile is None:
        return None
    return plan_evaluation(case, profile, rubric=rubric)


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
        found = evaluation_plan_of(case, self.suite.profile, self.rubric)
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
# The key of a run's `config` under which the rubrics are that nobody named.
DEFAULT_RUBRICS_KEY = "rubrics_by_default"
# The key under which it says how many cases have a rubric that no judge is called.
UNASKED_RUBRICS_KEY = "n_rubrics_unasked"
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


_MOST_SHOWN = 20
_MAX_CACHED_SPECS = 10_000


def check_suite_specs(plans: CasePlans) -> None:
    """Refuse assertions and scorers of a suite that are invalid or cannot be carried out."""
    suite, place = plans.suite, partial(suite_place, plans.suite)
    if suite.assertions:
        check_specs(suite.assertions, registry=plans.assertions, place=place)
    if plans.suite_scorers:
        read_scorers(plans.suite_scorers, registry=plans.scorers, place=place)
    # Scripts run code of the suite's author, so that they are refused before anything is paid for.
    for script in named_scripts([*suite.assertions, *suite.scorers]):
        fault = _script_fault(script, plans, f"the suite {suite.name!r}")
        if fault is not None:
            raise SettingsError(fault)


class CaseChecks:
    """Looks at the cases one after the other as they are counted; what is equal is read once."""

    def __init__(self, plans: CasePlans, *, judges: SuiteJudges, is_whole: bool = True) -> None:
        self._plans = plans
        self._is_whole = is_whole  # whether these are all cases, so that an unused judge is a fault
        self._suite_judges, self._judges = judges, judges.panel.judges
        self._criteria = CriterionChecks(judges.panel.named, n_judges=len(self._judges))
        asked = [judge.connection for judge in judges.judges]
        self._blind = [c.name for c in asked if not c.prices.takes_images(c.name, c.api_base)]
        self._checked: set[str] = set()
        suite = plans.suite
        self._source = suite.dataset_path or suite_file(suite) or f"the suite {suite.name!r}"
        self._read: dict[str, tuple[str, ...]] = {}
        self._shown: list[tuple[str, str]] = []
        self._n_faults = 0
        self._n_judged = 0
        self._by_default: Counter[tuple[RubricReason, str]] = Counter()

    def take(self, case: Case) -> None:
        if self._plans.defaults.is_missing(case):
            what = "a judge is to grade it, and nothing says what is good: it has no rubric"
            self._note(case, (f"{what}; {rubric_hint()}",))
            return
        try:
            plan = self._plans.plan(case)
        except InputError as error:
            text = error.message.removeprefix(f"case {case.id!r}: ")
            self._note(case, (text if error.hint is None else f"{text}; {error.hint}",))
            return
        self._refuse_without_judge(case, plan)
        if self._blind and (plan is None or plan.asks_judge) and case.images:
            self._note(case, (f"it has an image, and {self._blind[0]} takes none",))
        self._count_judged(case)
        self._plans.measures_similarity |= self._plans.measures(case)
        if case.assertions:
            self._note(case, self._faults(case))
        self._count_compared(case)
        own = None if case.evaluation is None else case.evaluation.script
        if own is not None and plan is not None:  # everything else a plan adds is valid
            used = [spec for spec in plan.assertions if spec.get("script") == own]
            self._note(case, self._script_faults(used, case))

    def close(self) -> None:
        """Say what was found, once all cases were examined."""
        # All faults are reported at once: who edits a file of cases does not want to learn them one
        # run at a time.
        if self._n_faults:
            more = self._n_faults - len(self._shown)
            lines = [*self._placed(), *([f"and {more} more"] if more else [])]
            what = "a fault" if self._n_faults == 1 else f"{self._n_faults} faults"
            listed = "".join(f"\n  {line}" for line in lines)
            raise DatasetError(f"{what} in how the cases are evaluated:{listed}", path=self._source)
        is_unused = self._is_whole and self._judges and not self._n_judged
        if is_unused and self._judges != ("heuristic",):
            raise SettingsError(
                "a judge needs a `rubric`, and neither the suite nor any of its cases has one",
                hint=f"{rubric_hint()}; or leave out the judge",
            )
        if self._n_judged and self._is_whole:
            self._criteria.check_names()
        self._plans.unmet_needs = self._criteria.unmet_needs
        self._plans.by_default = dict(self._by_default)
        self._plans.n_unasked = 0 if self._judges else self._n_judged

    def _placed(self) -> Iterator[str]:
        """The faults shown, with the line of each case that stands in the suite's own file."""
        suite = self._plans.suite
        ids = [case.id for case in suite.cases or ()]
        for name, fault in self._shown:
            place = suite_place(suite, "cases", ids.index(name), "assertions") if ids else ""
            yield f"{place}case {name!r}: {fault}"

    def _count_judged(self, case: Case) -> None:
        rubric = self._plans.rubric_of(case)
        if rubric is None:
            return
        if self._judges and not rubric.active:
            error = inactive_rubric_error(rubric)
            # The suite's own rubric is one fault, and not one of every case.
            if rubric is self._plans.rubric:
                raise error
            self._note(case, (f"{error.message}; {error.hint}",))
        self._n_judged += 1
        try:
            self._criteria.take(case, rubric)
            if rubric.fingerprint not in self._checked:
                self._checked.add(rubric.fingerprint)
                self._suite_judges.check(rubric)
        except InputError as error:
            source, place = self._plans.suite.rubric_source, f"{self._source}: case {case.id!r}: "
            if rubric is self._plans.rubric:
                place = criterion_place(source, error.message)
            error.message = place + error.message
            raise
        if (reason := self._plans.defaults.reason_for(case)) is not None:
            self._by_default[reason] += 1

    def _count_compared(self, case: Case) -> None:
        """Count a case whose outputs are compared, and refuse it where no model can do that."""
        for _, spec in self._plans.variant_checks(case):
            self._plans.compares_variants = True
            if (rubric := choice_rubric(spec)) is None:
                continue
            self._n_judged += 1
            if not self._suite_judges.judges:
                raise SettingsError(
                    f"the case {case.id!r} has the outputs of its variants compared "
                    f"({spec['type']}), and the suite names no model that judges",
                    hint="add `judge:` to the suite, or name one with --judge",
                )
            self._criteria.take(case, rubric)

    def _refuse_without_judge(self, case: Case, plan: EvaluationPlan | None) -> None:
        """Refuse a case that only a judge can decide, where there is none."""
        if self._judges:
            return
        has_checks = case.assertions or self._plans.suite.assertions
        if (plan is None and case.rubric and not has_checks) or (plan and plan.asks_judge):
            raise SettingsError(
                f"the case {case.id!r} is to be graded by a judge, and the suite names none",
                hint="add `judge:` to the suite, for example `judge: openai/gpt-4.1-mini`, or "
                "name one with --judge",
            )

    def _faults(self, case: Case) -> tuple[str, ...]:
        # Datasets repeat the same assertions in thousands of cases; each distinct list is validated
        # once.
        written = repr(case.assertions)
        known = self._read.get(written)
        if known is None:
            if len(self._read) >= _MAX_CACHED_SPECS:
                self._read.clear()
            found = read_specs(case.assertions, registry=self._plans.assertions)[1]
            known = (*map(str, found), *self._script_faults(case.assertions, case))
            self._read[written] = known
        return known

    def _script_faults(self, specs: Sequence[JsonObject], case: Case) -> tuple[str, ...]:
        who = f"the case {case.id!r}"
        found = (_script_fault(script, self._plans, who) for script in named_scripts(specs))
        return tuple(fault for fault in found if fault is not None)

    def _note(self, case: Case, faults: tuple[str, ...]) -> None:
        self._n_faults += len(faults)
        room = _MOST_SHOWN - len(self._shown)
        self._shown += [(case.id, fault) for fault in faults[:room]]


def _script_fault(script: str, plans: CasePlans, who: str) -> str | None:
    """Why a script cannot be run once scripts are allowed; not being allowed ends it all."""
    if not plans.scripts.is_allowed:
        raise SettingsError(
            f"{who} runs the script {script!r}, and scripts are not allowed",
            hint="read it, then allow scripts with --allow-scripts (allow_scripts=True)",
        )
    try:
        find_script(script, plans.scripts)
    except ScriptFailedError as error:
        return str(error)
    return None
