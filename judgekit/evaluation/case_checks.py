"""Checks a suite's specs and its cases before anything is paid (planned by `case_plans`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from judgekit import assertions
from judgekit.datasets import criterion_place, suite_file, suite_place
from judgekit.errors import DatasetError, InputError, SettingsError
from judgekit.evaluation.case_plans import CasePlans, RubricReason, rubric_hint
from judgekit.records import (
    Case,
    Criterion,
    CriterionNeed,
    JsonObject,
    Rubric,
    inactive_rubric_error,
)

if TYPE_CHECKING:
    from judgekit.evaluation.judges import SuiteJudges

# The criterion by which a judge compares the outputs of all variants to a case.
BEST_CRITERION = "best"

_MOST_SHOWN = 20
_MAX_CACHED_SPECS = 10_000


def check_suite_specs(plans: CasePlans) -> None:
    """Refuse assertions and scorers of a suite that are invalid or cannot be carried out."""
    suite, place = plans.suite, partial(suite_place, plans.suite)
    if suite.assertions:
        assertions.check_specs(suite.assertions, registry=plans.assertions, place=place)
    if plans.suite_scorers:
        assertions.read_scorers(plans.suite_scorers, registry=plans.scorers, place=place)
    # Scripts run code of the suite's author, so that they are refused before anything is paid for.
    for script in assertions.named_scripts([*suite.assertions, *suite.scorers]):
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
                self._suite_judges.check(rubric, is_of_case=rubric is not self._plans.rubric)
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

    def _refuse_without_judge(self, case: Case, plan: assertions.EvaluationPlan | None) -> None:
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
            found = assertions.read_specs(case.assertions, registry=self._plans.assertions)[1]
            known = (*map(str, found), *self._script_faults(case.assertions, case))
            self._read[written] = known
        return known

    def _script_faults(self, specs: Sequence[JsonObject], case: Case) -> tuple[str, ...]:
        who = f"the case {case.id!r}"
        found = (
            _script_fault(script, self._plans, who) for script in assertions.named_scripts(specs)
        )
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
        content = assertions.find_script(script, plans.scripts).read_bytes()
    except (assertions.ScriptFailedError, OSError) as error:
        return str(error)
    plans.script_versions[script] = sha256(content).hexdigest()
    return None


def choice_rubric(spec: JsonObject) -> Rubric | None:
    """What outputs are compared by for an assertion; None for one that asks no judge."""
    question, judge = spec.get("value"), spec.get("judge")
    is_judged = assertions.full_name(str(spec.get("type"))) == assertions.JUDGED_CHOICE
    # A spec that is invalid is reported as such.
    if not (is_judged and isinstance(question, str) and question and isinstance(judge, str | None)):
        return None
    asked = {"name": BEST_CRITERION, "question": question, "judge": judge, "scale": "binary"}
    return Rubric(name=assertions.JUDGED_CHOICE, criteria=(Criterion.model_validate(asked),))


class CriterionChecks:
    """Checks that every criterion has a judge, every named judge a criterion, and needs a case."""

    def __init__(self, names: Collection[str], *, n_judges: int) -> None:
        self._names, self._n_judges = names, n_judges
        self._used: set[str] = set()
        # Cases that are judged by a criterion, and those of them that have what it needs
        self._n_needing: Counter[tuple[str, CriterionNeed]] = Counter()
        self._n_having: Counter[tuple[str, CriterionNeed]] = Counter()

    def take(self, case: Case, rubric: Rubric) -> None:
        for criterion in rubric.criteria:
            self._check_judge(criterion)
            for need in criterion.needs:
                if need != "trace":  # outputs have it, which may not exist yet
                    self._n_needing[criterion.name, need] += 1
                    self._n_having[criterion.name, need] += getattr(case, need) is not None

    def check_names(self) -> None:
        """Refuse a judge that no criterion names, once all cases were examined."""
        for name in sorted(self._names):
            if name not in self._used:
                raise SettingsError(
                    f"the suite's judge {name!r} has nothing to grade: no criterion names it",
                    hint=f"add `judge: {name}` to a criterion of the rubric; or remove the judge's "
                    "`name`, so that it grades all criteria that name no judge",
                )

    @property
    def unmet_needs(self) -> tuple[str, ...]:
        """What criteria need of a case and no case has, in words."""
        return tuple(
            f"criterion {criterion!r} needs `{need}`, and no case has it: it will not be judged "
            "(cannot_assess)"
            for criterion, need in self._n_needing
            if not self._n_having[criterion, need]
        )

    def _check_judge(self, criterion: Criterion) -> None:
        name = criterion.judge
        if name is not None:
            self._used.add(name)
        if name is not None and self._n_judges and name not in self._names:
            known = ", ".join(self._names)
            known = f"its judges are named {known}" if known else "no judge has a name"
            raise SettingsError(
                f"criterion {criterion.name!r} is to be graded by the judge {name!r}, and {known}",
                hint=f"define it in the suite, beside the other judges: `judge: [{{model: …}}, "
                f"{{name: {name}, model: …}}]`; or remove `judge` from the criterion",
            )
        if name is None and self._names and len(self._names) == self._n_judges:
            raise SettingsError(
                f"criterion {criterion.name!r} names no judge, and every judge has a name: such a "
                "judge grades only the criteria that name it",
                hint="name a further judge for it (--judge MODEL, or one without a `name` in the "
                "suite), or add `judge: NAME` to the criterion",
            )
