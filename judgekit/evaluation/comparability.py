"""Whether two runs were measured the same way: the one place that decides it.

Scores, approvals and gates compare runs through `paired_sides`; cases are compared by content.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judgekit.errors import NotComparableError
from judgekit.evaluation.judges import judging_of_run, on_common_scale, recorded_judges
from judgekit.evaluation.outcome import last_tries
from judgekit.evaluation.score_comparison import SideScores
from judgekit.fingerprint import canonical_json
from judgekit.records import config_part
from judgekit.scoring import criterion_edits, judge_changes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from judgekit.records import Rubric, RunInfo
    from judgekit.store import StoredRuns

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
        *_rubric_changes(then.rubric, now.rubric),
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


def paired_sides(
    store: StoredRuns,
    a: tuple[RunInfo, str],
    b: tuple[RunInfo, str],
    *,
    tags: Collection[str] = (),
) -> tuple[SideScores, SideScores, Comparability]:
    """The scores of a variant of each run, without the cases that were edited in between.

    Raises:
        NotComparableError: When the runs were not measured the same way.
    """
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
    note = f"{n} {cases} left out; {both} unchanged cases are compared"
    return sides[0], sides[1], replace(measure, notes=(*measure.notes, note))


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


def _config_changes(then: RunInfo, now: RunInfo) -> Iterator[str]:
    for name, words in (("assertions", "assertions were"), ("profile", "profile was")):
        before, after = (canonical_json(run.config.get(name) or None) for run in (then, now))
        if before != after:
            yield f"the suite's {words} changed"
    tries = [config_part(run, "settings").get("retry_failed", 0) for run in (then, now)]
    if tries[0] != tries[1]:
        yield f"retry_failed was {tries[0]}, is {tries[1]}"


def _rubric_changes(then: Rubric | None, now: Rubric | None) -> Iterator[str]:
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
