"""Whether two runs were measured the same way, and which earlier run is the baseline of a run.

Scores, approvals and gates compare runs through `paired_sides`; cases are compared by content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import TYPE_CHECKING, get_args

from judgekit import datasets  # loaded when used: for lists of configurations alone
from judgekit.errors import NotComparableError
from judgekit.evaluation.outcome import conclude_result, last_tries
from judgekit.evaluation.run_config import (
    SCRIPTS_KEY,
    SIMILARITY_KEY,
    calibration_changes,
    has_variant,
    judging_of_run,
    on_common_scale,
    recorded_judges,
    without_calibration,
)
from judgekit.evaluation.run_figures import FigureReader, case_content
from judgekit.fingerprint import canonical_json, fingerprint
from judgekit.records import FINISHED_STATUSES, BaselineName, config_part, has_own_cases
from judgekit.scoring import criterion_edits, judge_changes, portable_judge_name

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.records import CaseResult, JsonObject, Rubric, RunInfo
    from judgekit.stats.trend import Direction
    from judgekit.store import RunStore, StoredRuns

# The parts of a rubric that only decide what the judge's scores mean.
_CONCLUDING = {"weight": "weight", "required": "requirement", "pass_value": "pass value"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparability:
    """Whether two runs are comparable.

    Attributes:
        a: The first run, with the rubric and calibration that both are concluded by.
        b: The second run, likewise.
        changes: What was measured differently; empty where the runs are comparable.
        notes: What was done to make them comparable, and what it leaves out.
    """

    a: RunInfo
    b: RunInfo
    changes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def compare_measures(a: RunInfo, b: RunInfo, *, apart_from_judges: bool = False) -> Comparability:
    """Whether the judges, criteria and assertions of two runs were the same, or all but judges."""
    then, now = sorted((a, b), key=lambda run: (run.started_at, run.id))
    changes = (
        *(() if apart_from_judges else _judging_changes(then, now)),
        *rubric_changes(then.rubric, now.rubric),
        *_config_changes(then, now),
    )
    if changes:
        return Comparability(a=a, b=b, changes=changes)
    notes = []
    concluded = list(_concluding_changes(then.rubric, now.rubric))
    if concluded:
        # Raw scores are stored, so the older run can be scored again by the newer rubric.
        again = then.model_copy(update={"rubric": now.rubric})
        a, b = (again if run is then else run for run in (a, b))
        notes.append(f"{then.id} is scored again by the rubric of {now.id}: {'; '.join(concluded)}")
    scaled = on_common_scale(a, b)
    if scaled != (a, b):
        notes.append("the runs have different calibrations: uncalibrated values are compared")
    return Comparability(a=scaled[0], b=scaled[1], notes=tuple(notes))


# Known numbers by case.
CasePoints = dict[str, list[float]]


class SideScores:
    """The numbers of one side, a few bytes for each answer."""

    def __init__(
        self, results: Iterable[CaseResult], run: RunInfo, tags: Collection[str] = ()
    ) -> None:
        # One pass over the stored results: a run may be larger than memory.
        wanted = frozenset(tags)
        self.cases: set[str] = set()
        # Answers of each case, with those that lack a number
        self.n_answers: Counter[str] = Counter()
        self.contents: dict[str, str] = {}
        self.values: CasePoints = {}
        self.passed: CasePoints = {}
        self.criteria: dict[str, CasePoints] = {}
        self.tags: dict[str, set[str]] = {}
        self.strata: dict[str, set[str]] = {}
        for result in results:
            if wanted and not wanted & set(result.case.tags):
                continue
            case = result.case
            if case.id not in self.cases:
                self.contents[case.id] = case_content(case)
            self.cases.add(case.id)
            self.n_answers[case.id] += 1
            for tag in case.tags:
                self.tags.setdefault(tag, set()).add(case.id)
            if case.stratum is not None:
                self.strata.setdefault(case.stratum, set()).add(case.id)
            found = conclude_result(result, run)
            _add(self.values, case.id, found.value)
            _add(self.passed, case.id, found.passed)
            for criterion in () if found.verdict is None else found.verdict.criteria:
                points = self.criteria.setdefault(criterion.name, {})
                _add(points, case.id, criterion.value)

    def mean_with(self, points: CasePoints, case: str, missing: float) -> float:
        """The mean of a case's numbers if all that its answers lack were one value."""
        known, n = points.get(case, []), self.n_answers[case]
        return fsum([*known, missing * (n - len(known))]) / n

    def edited_cases(self, other: SideScores) -> set[str]:
        both = self.cases & other.cases
        return {case for case in both if self.contents[case] != other.contents[case]}

    def leave_out(self, cases: Collection[str]) -> None:
        """Drop cases, for example those that were edited between two runs."""
        self.cases -= set(cases)
        for points in (self.values, self.passed, *self.criteria.values()):
            for case in cases:
                points.pop(case, None)
        for members in (*self.tags.values(), *self.strata.values()):
            members -= set(cases)


def _add(points: CasePoints, case: str, value: float | None) -> None:
    if value is not None:
        points.setdefault(case, []).append(float(value))


def paired_sides(
    store: StoredRuns, a: tuple[RunInfo, str], b: tuple[RunInfo, str], *, tags: Collection[str] = ()
) -> tuple[SideScores, SideScores, Comparability]:
    """The scores of a variant of each run, without the cases that were edited in between."""
    measure = compare_measures(a[0], b[0])
    if measure.changes:
        raise NotComparableError(
            f"{a[0].id} and {b[0].id} are not comparable: {'; '.join(measure.changes)}",
            hint=f"judge both the same way: judgekit rejudge {a[0].id}, or run the suite for both",
        )
    sides = [
        SideScores(last_tries(store.results(run.id, variant=variant), run), run, tags)
        for run, variant in ((measure.a, a[1]), (measure.b, b[1]))
    ]
    edited = sides[0].edited_cases(sides[1])
    if not edited:
        return sides[0], sides[1], measure
    for side in sides:
        side.leave_out(edited)
    n, both = len(edited), len(sides[0].cases & sides[1].cases)
    if not both:
        raise NotComparableError(
            f"{a[0].id} and {b[0].id} are not comparable: every case was edited in between",
            hint="run both variants on the same cases",
        )
    cases = "case that was edited is" if n == 1 else "cases that were edited are"
    others = "case is" if both == 1 else "cases are"
    note = f"{n} {cases} left out; {both} unchanged {others} compared"
    return sides[0], sides[1], replace(measure, notes=(*measure.notes, note))


def case_changes(store: StoredRuns, then: str, now: str) -> str:
    """How the cases of two runs differ, such as `cases: 2 added`; empty where they do not."""
    before, after = (
        {case.id: case_content(case) for case in store.cases_of_run(run)} for run in (then, now)
    )
    both = before.keys() & after.keys()
    counts = {
        "added": len(after.keys() - before.keys()),
        "removed": len(before.keys() - after.keys()),
        "edited": sum(before[case] != after[case] for case in both),
    }
    words = ", ".join(f"{n} {what}" for what, n in counts.items() if n)
    return f"cases: {words}" if words else ""


def describe_break(then: RunInfo, now: RunInfo, changes: Sequence[str]) -> str:
    """What changed between two runs, in a few words: `judge: A → B`."""
    before, after = judging_of_run(then), judging_of_run(now)
    parts = []
    rest = [*changes]
    if before is not None and after is not None:
        for name, words in (("model", "judge"), ("template", "template")):
            old, new = (
                ", ".join(str(getattr(judge, name)) for judge in panel.judges)
                for panel in (before, after)
            )
            if old != new:
                parts.append(f"{words}: {old} → {new}")
                rest = [
                    change
                    for change in rest
                    if not change.startswith((f"the {name}", "the judges were"))
                ]
    return "; ".join((*parts, *rest))


def has_other_cases(reader: FigureReader, then: RunInfo, now: RunInfo) -> bool:
    """Whether figures of two runs are of different cases, so that they are not comparable."""
    # Both are then samples of the same stream.
    have_own = has_own_cases(then) and has_own_cases(now)
    return not (have_own or reader.has_same_cases(then, now))


def _judging_changes(then: RunInfo, now: RunInfo) -> Iterator[str]:
    before, after = judging_of_run(then), judging_of_run(now)
    if before is None or after is None:
        if before is not after:
            yield "one was judged and the other was not"
    else:
        yield from judge_changes(before, after)
    # The names of judges leave out folders, so that two files of one name would look the same.
    files = recorded_judges(then), recorded_judges(now)
    if before == after and files[0] != files[1]:
        yield f"the recorded replies were {', '.join(files[0])}, are {', '.join(files[1])}"
    # Criteria name their judges: where another has the name, it grades them without any edit.
    own, new = (
        {name: portable_judge_name(judge) for name, judge in sorted(run.panel.named.items())}
        for run in (then, now)
    )
    if before == after:
        yield from (
            f"{n} was the judge {j}, is {new.get(n)}" for n, j in own.items() if j != new.get(n)
        )


def _config_changes(then: RunInfo, now: RunInfo) -> Iterator[str]:
    for name, words in (("assertions", "assertions were"), ("profile", "profile was")):
        before, after = (canonical_json(run.config.get(name) or None) for run in (then, now))
        if before != after:
            yield f"the suite's {words} changed"
    measures = [run.config.get(SIMILARITY_KEY) for run in (then, now)]
    if None not in measures and measures[0] != measures[1]:
        yield f"similarity was measured by {measures[0]}, is by {measures[1]}"
    scripts = [config_part(run, SCRIPTS_KEY) for run in (then, now)]
    for name in sorted(scripts[0].keys() & scripts[1].keys()):
        if scripts[0][name] != scripts[1][name]:
            yield f"the script {name} was edited"
    tries = [config_part(run, "settings").get("retry_failed", 0) for run in (then, now)]
    if tries[0] != tries[1]:
        yield f"retry_failed was {tries[0]}, is {tries[1]}"


def rubric_changes(then: Rubric | None, now: Rubric | None) -> Iterator[str]:
    """The differences in what two rubrics have judged, in words; weights are left out."""
    if then is None or now is None:
        if then is not now:
            yield "one has no rubric"
        return
    before, after = ({c.name for c in one.criteria} for one in (then, now))
    if removed := sorted(before - after):
        yield f"removed criteria: {', '.join(removed)}"
    if added := sorted(after - before):
        yield f"added criteria: {', '.join(added)}"
    yield from criterion_edits(then, now)
    if then.require_evidence != now.require_evidence:
        # Scores without evidence are missing in one of them, and those are not missing at random.
        which = "earlier" if then.require_evidence else "later"
        yield f"only the {which} run requires evidence for every score"


def _concluding_changes(then: Rubric | None, now: Rubric | None) -> Iterator[str]:
    if then is None or now is None or then.fingerprint == now.fingerprint:
        return
    if then.pass_threshold != now.pass_threshold:
        yield f"the pass threshold was {then.pass_threshold:g}, is {now.pass_threshold:g}"
    before = {criterion.name: criterion for criterion in then.criteria}
    for criterion in now.criteria:
        old = before[criterion.name]
        changed = [
            words
            for name, words in _CONCLUDING.items()
            if getattr(old, name) != getattr(criterion, name)
        ]
        if changed:
            yield f"{criterion.name} has another {' and another '.join(changed)}"


# So many earlier runs of a suite are examined.
_MOST_RUNS = 50
# A trend is one of the last runs; older ones say little about it.
_TREND_RUNS = 10


@dataclass(frozen=True, slots=True)
class PassRateTrend:
    """The pass rates of the last comparable runs of the same cases, oldest first."""

    variant: str
    rates: tuple[float, ...]
    direction: Direction


class EarlierRuns:
    """The runs of a suite before one run, newest first."""

    def __init__(self, run: RunInfo, store: RunStore) -> None:
        self._run = run
        self._store = store
        self._reader = FigureReader(store, run.suite)
        self._decisions = store.gate_decisions(run.suite)
        self._runs = store.runs(suite=run.suite, before=run, limit=_MOST_RUNS)

    def baseline(self, name: str, variant: str) -> RunInfo | None:
        """The baseline of that name: `previous`, `best`, `accepted` or the id of a run."""
        if name not in get_args(BaselineName):
            return self._named(name, variant)
        usable = [one for one in self._of(variant) if self.problem_of(one) is None]
        if name == "accepted":
            usable = [one for one in usable if self._outcome(one) == "accepted"]
            if not usable:
                raise NotComparableError(
                    "no earlier run of this suite is accepted",
                    hint="accept one: judgekit gate accept RUN --because WHY",
                )
        # Where no earlier run is comparable, the newest says what was changed: a gate that found
        # nothing to compare with would pass.
        best = next(iter(self.ranked(variant)), None) if name == "best" else None
        return best or next(iter(usable), None)

    def ranked(self, variant: str) -> list[RunInfo]:
        """The comparable runs, the highest pass rate first; of equals the newest."""
        usable = [one for one in self._comparable(variant) if self.problem_of(one) is None]
        # Rates by different maps are on different scales.
        is_mixed = any(calibration_changes(one, self._run) for one in usable)
        alike = [without_calibration(one) if is_mixed else one for one in usable]
        rates = [self._rate(one, variant) for one in alike]
        known = [(rate, one) for rate, one in zip(rates, usable, strict=True) if rate is not None]
        return [one for _, one in sorted(known, key=lambda pair: -pair[0])]

    def trend(self, variant: str) -> PassRateTrend | None:
        """The direction of the pass rate over the last comparable runs of the same cases."""
        own = self._rate(self._run, variant)
        if own is None:
            return None
        found = [own]
        cases = self._reader.figures(self._run).cases
        # Failed runs are observations as well, although they are no baseline.
        for one in self._comparable(variant):
            before = self._rate(one, variant)
            is_same = self._reader.figures(one).cases == cases or not case_changes(
                self._store, one.id, self._run.id
            )
            # A rate by other maps, or by none, is on another scale than that of the run.
            if before is not None and is_same and not calibration_changes(one, self._run):
                found.append(before)
            if len(found) == _TREND_RUNS:
                break
        # It imports numpy, a sixth of the time of grading from the cache.
        from judgekit.stats.trend import direction  # noqa: PLC0415

        rates = tuple(reversed(found))
        return PassRateTrend(variant, rates, direction(rates))

    def problem_of(self, one: RunInfo) -> str | None:
        """Why a run cannot be a baseline; None where it can."""
        if one.status not in FINISHED_STATUSES:
            return f"it did not finish ({one.status})"
        if not _is_whole(one, self._run):
            return "it ran only some of the cases"
        if has_own_cases(one) or has_own_cases(self._run):
            return "each has cases of its own"
        if self._outcome(one) == "failed":
            return "it failed its gate, and nobody accepted it"
        return None

    def _named(self, name: str, variant: str) -> RunInfo:
        run = self._store.run(name)
        problem = self.problem_of(run)
        if not has_variant(run, variant):
            problem = f"it has no variant {variant}"
        if problem is None:
            return run
        hint = f"accept it all the same: judgekit gate accept {run.id} --because WHY"
        is_failed = self._outcome(run) == "failed"
        raise NotComparableError(
            f"{run.id} cannot be the baseline: {problem}", hint=hint * is_failed
        )

    def _outcome(self, one: RunInfo) -> str | None:
        decision = self._decisions.get(one.id)
        return None if decision is None else decision.outcome

    def _of(self, variant: str) -> Iterator[RunInfo]:
        for one in self._runs:
            if one.status in FINISHED_STATUSES and has_variant(one, variant):
                yield one

    def _comparable(self, variant: str) -> Iterator[RunInfo]:
        """As they are concluded for a comparison with the run."""
        for one in self._of(variant):
            measure = compare_measures(one, self._run)
            if not measure.changes:
                yield measure.a
            # Who accepts a lower rate accepts that the runs before it were better.
            if self._outcome(one) == "accepted":
                return

    def _rate(self, run: RunInfo, variant: str) -> float | None:
        return self._reader.figures(run).variants[variant].pass_rate.value


def _is_whole(one: RunInfo, run: RunInfo) -> bool:
    own, other = (
        {name: value for name, value in config_part(each, "chosen").items() if name != "variants"}
        for each in (one, run)
    )
    return not own or own == other


def suite_config(run: RunInfo) -> JsonObject:
    """The suite as it was run, with its rubric in full and the versions of judges' templates."""
    # What a run notes beside it (versions of outputs, fingerprints) is no configuration.
    config = {
        name: part for name, part in run.config.items() if name in datasets.Suite.model_fields
    }
    if (asked := judging_of_run(run)) is not None:
        config["templates"] = {"judges": [one.template for one in asked.judges], **asked.templates}
    return config if run.rubric is None else {**config, "rubric": run.rubric.to_json()}


def config_versions(runs: Iterable[RunInfo]) -> Iterator[tuple[str, list[RunInfo]]]:
    """The configurations of runs, oldest first as the runs are: fingerprint and runs of each."""
    found: dict[str, list[RunInfo]] = {}
    for run in runs:
        found.setdefault(fingerprint([run.suite, suite_config(run)]), []).append(run)
    yield from found.items()


def config_changes(then: RunInfo, now: RunInfo) -> list[tuple[str, JsonValue, JsonValue]]:
    """Where the configurations of two runs differ: the setting, its value then and now."""
    return list(_differences(suite_config(then), suite_config(now), ""))


def _differences(
    then: JsonValue, now: JsonValue, at: str
) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    before, after = _by_name(then), _by_name(now)
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            where = f"{at}.{name}" if at else name
            yield from _differences(before.get(name), after.get(name), where)
    elif then != now:
        yield at, then, now


def _by_name(value: JsonValue) -> JsonValue:
    """A list of cases, variants or criteria by their names: one more changes no other.

    Judges and assertions, which have none, are numbered.
    """
    items = value if isinstance(value, list) else []
    if not items or not all(isinstance(item, dict) for item in items):
        return value
    names = [i.get("id", i.get("name")) for i in items if isinstance(i, dict)]
    is_named = None not in names and len(set(map(str, names))) == len(items)
    keys = map(str, names if is_named else range(1, len(items) + 1))
    return dict(zip(keys, items, strict=True))
