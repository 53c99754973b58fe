"""Finds what is wrong with how cases are to be evaluated, before anything is asked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from judgekit.checks.custom import ScriptFailedError, find_script, named_scripts
from judgekit.checks.scoring import check_scorers
from judgekit.checks.specs import check_specs, read_specs
from judgekit.errors import DatasetError, InputError, SettingsError
from judgekit.evaluation.preparing.default_rubrics import ways_to_a_rubric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.checks.strategies import EvaluationPlan
    from judgekit.evaluation.preparing.case_plans import CasePlans
    from judgekit.evaluation.preparing.default_rubrics import Reason
    from judgekit.records.case import Case
    from judgekit.records.record import JsonObject

_MOST_SHOWN = 20
_KEPT = 10_000


def check_suite_specs(plans: CasePlans) -> None:
    """Refuse assertions and scorers of a suite that are unsound or cannot be carried out."""
    suite = plans.suite
    if suite.assertions:
        check_specs(suite.assertions, registry=plans.assertions)
    if plans.suite_scorers:
        check_scorers(plans.suite_scorers, registry=plans.scorers)
    for script in named_scripts([*suite.assertions, *suite.scorers]):
        fault = _script_fault(script, plans, f"the suite {suite.name!r}")
        if fault is not None:
            raise SettingsError(fault)


class CaseChecks:
    """Looks at the cases one after the other as they are counted; what is equal is read once."""

    def __init__(self, plans: CasePlans, *, judges: tuple[str, ...], source: str) -> None:
        self._plans = plans
        self._judges = judges
        self._source = source
        self._read: dict[str, tuple[str, ...]] = {}
        self._shown: list[str] = []
        self._n_faults = 0
        self._n_judged = 0
        self._by_default: Counter[tuple[Reason, str]] = Counter()

    def take(self, case: Case) -> None:
        """Look at one case."""
        if self._plans.defaults.is_missing(case):
            what = "a judge is to grade it, and nothing says what is good: it has no rubric"
            self._note(case, (f"{what}; {ways_to_a_rubric()}",))
            return
        try:
            plan = self._plans.plan(case)
        except InputError as error:
            told = error.message.removeprefix(f"case {case.id!r}: ")
            self._note(case, (told if error.hint is None else f"{told}; {error.hint}",))
            return
        self._refuse_without_judge(case, plan)
        self._count_judged(case)
        self._plans.measures_similarity |= self._plans.measures(case)
        if case.assertions:
            self._note(case, self._faults(case))
        own = None if case.evaluation is None else case.evaluation.script
        if own is not None and plan is not None:  # what else a plan adds is sound
            used = [spec for spec in plan.assertions if spec.get("script") == own]
            self._note(case, self._script_faults(used, case))

    def close(self) -> None:
        """Say what was found, once all cases were looked at."""
        if self._n_faults:
            more = self._n_faults - len(self._shown)
            lines = [*self._shown, *([f"and {more} more"] if more else [])]
            what = "a fault" if self._n_faults == 1 else f"{self._n_faults} faults"
            listed = "".join(f"\n  {line}" for line in lines)
            raise DatasetError(f"{what} in how the cases are evaluated:{listed}", path=self._source)
        if self._judges and not self._n_judged and self._judges != ("heuristic",):
            raise SettingsError(
                "a judge needs a `rubric`, and neither the suite nor any of its cases has one",
                hint=f"{ways_to_a_rubric()}; or leave out the judge",
            )
        self._plans.by_default = dict(self._by_default)
        self._plans.n_unasked = 0 if self._judges else self._n_judged

    def _count_judged(self, case: Case) -> None:
        if self._plans.rubric_of(case) is None:
            return
        self._n_judged += 1
        if (reason := self._plans.defaults.reason_for(case)) is not None:
            self._by_default[reason] += 1

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
        written = repr(case.assertions)
        known = self._read.get(written)
        if known is None:
            if len(self._read) >= _KEPT:
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
        self._shown += [f"case {case.id!r}: {fault}" for fault in faults[:room]]


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
