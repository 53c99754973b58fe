"""How each case of a run is evaluated: its plan, the checks and scorers there are, its rubric."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from judgekit.checks.builtin import assertion_registry, scorer_registry
from judgekit.checks.custom import ScriptSettings, script_entries
from judgekit.checks.scorers.similarity import LEXICAL, WORDLLAMA
from judgekit.checks.similar import SIMILAR, SimilarityMeans, similar_entry
from judgekit.checks.strategies import SIMILARITY, plan_evaluation
from judgekit.datasets.loading import load_rubric
from judgekit.datasets.suite import names_a_file, scorer_name
from judgekit.errors import SettingsError
from judgekit.evaluation.preparing.default_rubrics import DefaultRubrics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judgekit.checks.strategies import EvaluationPlan
    from judgekit.datasets.suite import Suite
    from judgekit.evaluation.preparing.default_rubrics import Reason
    from judgekit.models.embeddings import Embeddings
    from judgekit.records.case import Case
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Rubric

JUDGE = "judge"
"""The scorer that is worked out of the verdict, so that it is no observation."""

MEASURE = "similarity_measure"
"""The key of a run's `config` that says how similarity is measured, where it decides a case."""

OVERALL = "overall"
"""What the weighted mean of a suite's scores is called."""

_SUITES_OWN = frozenset({"name", "weight"})
"""What a suite says of a scorer beside its parameters."""

_KEPT = 1024
"""How many plans are kept; an answer asks for its case's several times."""


def plan_of(case: Case, profile: str | None, rubric: Rubric | None) -> EvaluationPlan | None:
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
        self.rubric = rubric
        self.defaults = DefaultRubrics(suite, rubric=rubric, is_judged=is_judged)
        self.scripts = ScriptSettings(
            folder=suite.folder,
            is_allowed=allow_scripts,
            environment=suite.settings.environment,
        )
        self.by_default: dict[tuple[Reason, str], int] = {}
        """The rubrics that nobody named, with the cases of each; known once all were read."""
        self.measures_similarity = False
        """Whether any case is decided by how alike two texts are; known then, too."""
        self.n_unasked = 0
        """Cases with a rubric where there is no judge to be asked; known then, too."""
        self.embeddings: dict[str, Embeddings] = {}
        self._open_embeddings = open_embeddings
        self._suite_scorers = tuple(
            self._scorer(spec) for spec in suite.scorers if spec.get("type") != JUDGE
        )
        _refuse_taken_names(suite)
        self.means = self._similarity()
        check, score = script_entries(self.scripts)
        self.assertions = assertion_registry().plus(similar_entry(self.means), check)
        self.scorers = scorer_registry().plus(score)
        self._plans: dict[int, tuple[Case, EvaluationPlan | None]] = {}
        self._rubrics: dict[str, Rubric] = {}

    @property
    def scorer_names(self) -> tuple[str, ...]:
        """What the scores of the suite's own scorers are called, in the order of `specs`."""
        return tuple(scorer_name(s) for s in self.suite.scorers if s.get("type") != JUDGE)

    @property
    def suite_scorers(self) -> tuple[dict[str, object], ...]:
        """The suite's own scorers as they are carried out, but for that of the judge."""
        return self._suite_scorers

    def plan(self, case: Case) -> EvaluationPlan | None:
        """How a case is evaluated that does not just take the suite's way; see `plan_of`."""
        if case.evaluation is None and self.suite.profile is None:
            return None
        kept = self._plans.get(id(case))
        if kept is not None and kept[0] is case:
            return kept[1]
        found = plan_of(case, self.suite.profile, self.rubric)
        if len(self._plans) >= _KEPT:
            self._plans.clear()
        self._plans[id(case)] = (case, found)
        return found

    def own_checks(self, case: Case) -> tuple[JsonObject, ...]:
        """The assertions of a case, its plan's where it has one."""
        plan = self.plan(case)
        return case.assertions if plan is None else plan.assertions

    def own_scorers(self, case: Case) -> tuple[dict[str, object], ...]:
        """The scorers that the plan of a case asks."""
        plan = self.plan(case)
        if plan is None:
            return ()
        return tuple(
            {**self.means.arguments(), **spec} if spec["type"] == SIMILARITY else {**spec}
            for spec in plan.scorers
        )

    def as_run(self, case: Case) -> Case:
        """A case with the rubric it names in full, so that the run stands by itself."""
        named = case.rubric
        if named is None:
            found = self.defaults.of(case)
            return case if found is None else case.model_copy(update={"rubric": found})
        if not isinstance(named, str):
            return case
        if named not in self._rubrics:
            source = self.suite.resolve(named) if names_a_file(named) else named
            self._rubrics[named] = load_rubric(source)
        return case.model_copy(update={"rubric": self._rubrics[named]})

    def measures(self, case: Case) -> bool:
        """Whether a case is decided by how alike two texts are."""
        specs: list[Mapping[str, object]] = [*self.own_checks(case), *self.own_scorers(case)]
        return any(spec.get("type") in {SIMILAR, SIMILARITY} for spec in specs)

    def rubric_of(self, case: Case) -> Rubric | None:
        """The rubric a case is judged by."""
        plan = self.plan(case)
        if plan is not None and not plan.asks_judge:
            return None
        return self.rubric if case.rubric is None or isinstance(case.rubric, str) else case.rubric

    @property
    def similarity_measure(self) -> str:
        """How similarity is measured where a case wants it, as scores name it."""
        if self.means.embed is not None:
            return f"semantic: {getattr(self.means.embed, 'name', 'embeddings')}"
        is_lexical = self.means.method == "lexical" or find_spec("wordllama") is None
        return LEXICAL if is_lexical else WORDLLAMA

    async def aclose(self) -> None:
        """Close the models of embeddings in the running event loop."""
        for each in self.embeddings.values():
            await each.aclose()

    def _scorer(self, spec: JsonObject) -> dict[str, object]:
        """A suite's scorer as it is carried out."""
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
            return {**found, "method": "semantic", "embed": self._embeddings(model, api_base)}
        if model is not None or api_base is not None:
            raise SettingsError(
                f"the scorer {scorer_name(spec)!r} asks a model only with `method: embedding`"
            )
        if method == "semantic" and find_spec("wordllama") is None:  # pragma: no cover - an extra
            raise SettingsError(
                "semantic similarity is not installed", hint="pip install 'judgekit-llm[semantic]'"
            )
        return found

    def _embeddings(self, model: str, api_base: str | None) -> Embeddings:
        name = f"{model} {api_base or ''}"
        if name not in self.embeddings:
            self.embeddings[name] = self._open_embeddings(model, api_base)
        return self.embeddings[name]

    def _similarity(self) -> SimilarityMeans:
        """How similarity is measured where a case wants it: as the suite's scorer does."""
        for spec in self._suite_scorers:
            if spec["type"] == SIMILARITY:
                method, embed = spec.get("method") or "lexical", spec.get("embed")
                return SimilarityMeans(method, embed)  # type: ignore[arg-type]  # read as a spec
        return SimilarityMeans()


def _refuse_taken_names(suite: Suite) -> None:
    if OVERALL in map(scorer_name, suite.scorers):
        raise SettingsError(f"no scorer may be called {OVERALL!r}: that is the mean of all scores")


def weights_of(scorers: Sequence[JsonObject]) -> dict[str, float]:
    """The weight of each scorer of a suite in the overall score."""
    return {scorer_name(s): float(str(s.get("weight", 1))) for s in scorers}
