"""Judges the outputs of a stored run again with another judge, as a run of its own."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from judgekit.datasets import Suite
from judgekit.errors import NotComparableError, NotEnoughDataError, SettingsError
from judgekit.evaluation import (
    CALIBRATION_KEY,
    JUDGING_KEY,
    PARTS_KEY,
    REJUDGMENT_KEY,
    RecordedAnswers,
    Session,
    compare_measures,
    conclude_result,
    judging_of_judge,
    judging_of_run,
    last_tries,
    new_run_id,
    open_recorded,
    plan_grading,
    resolve_calibration,
    run_suite,
)
from judgekit.fingerprint import fingerprint, random_token
from judgekit.judge import Judge, synchronous
from judgekit.records import HEURISTIC, CaseSource, RunInfo, RunPanel, config_part
from judgekit.rejudgment.comparison import (
    NO_NEW_VERDICT,
    OUTPUT_ERROR,
    PairedVerdict,
    compare_verdicts,
    edited_templates,
    judged_side,
)
from judgekit.scoring import calibration_in_use

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from judgekit.evaluation import Comparability, GradePlan, OpenSuite, Run
    from judgekit.records import (
        CalibratedPanel,
        CalibrationInUse,
        Case,
        JsonObject,
        Rubric,
        Verdict,
    )
    from judgekit.rejudgment.comparison import Key, Rejudged
    from judgekit.store import RunStore


async def rejudge(
    run: Run, judge: Judge, *, rubric: Rubric | None = None, level: float = 0.95
) -> Rejudged:
    """Judge the outputs of a run again, and say what changes; no system under test is asked.

    What the new judge says is kept in the run's store, as a run of its own that names the old one.

    Args:
        run: The run that was judged before.
        judge: Who judges now; with a budget it stops when that is spent.
        rubric: The rubric with other weights or thresholds, by which the run is scored again too;
            None takes the run's own.
        level: Confidence level of the intervals, in (0, 1).

    Returns:
        How many verdicts change, agreement of old and new, and the shift of each criterion.

    Raises:
        SettingsError: When the run has no rubric, so that no judge was called.
        InputError: When the template does not fit an output.
        NotComparableError: When the rubric asks something else, so that differences would not be
            those of the judge (found before the first call).
        NotEnoughDataError: When no output was judged before (found before the first call), or none
            has a verdict of both judges.
        StoreError: When something cannot be kept.

    Example:
        >>> async def churn(run, judge):  # doctest: +SKIP
        ...     found = await jk.rejudge(run, judge)
        ...     return found.churn.value, found.run_id
    """
    old, store = run.info, run.store
    check_judged(old, store)
    cases = store.cases_of_run(old.id)
    planned = new_rejudgment(old, judge, rubric=rubric, cases=cases, now=datetime.now(UTC))
    ended = await rejudge_run(old, planned, judge, store)
    calibration = describe_calibration(old.calibration, ended.calibration)
    return compare_runs(old, ended, store, calibration=calibration, level=level)


rejudge_sync = synchronous(rejudge)

# Ends the suite's name of a run that judges another one again.
_SUITE_SUFFIX = " (rejudged)"
# What of a run another judge does not change
_OF_THE_OUTPUTS = (
    "suite_version", "folder", "dataset", "dataset_version", "n_cases", "variants", "tags"
)  # fmt: skip
_OF_THE_JUDGES = frozenset({"panel", JUDGING_KEY, CALIBRATION_KEY})


def new_rejudgment(
    old: RunInfo,
    judge: Judge,
    *,
    rubric: Rubric | None = None,
    cases: Iterable[Case] = (),
    now: datetime,
    token: str | None = None,
) -> RunInfo:
    """What judging a run again sets out to do; `cases` are those of the run."""
    # It is a run of a suite of its own name, so that no trend and no gate takes the change of the
    # judge for a change of what is judged.
    by_rubric = rubric or old.rubric
    if by_rubric is None and any(judge != HEURISTIC for judge in old.panel.judges):
        raise SettingsError(
            f"run {old.id} was judged by rubrics of its cases, and judging again goes by one",
            hint=f"run the cases again with its outputs: judgekit export {old.id} -o "
            "outputs.jsonl, then judgekit run CASES --outputs outputs.jsonl --judge MODEL",
        )
    if by_rubric is None or not old.panel.judges:
        raise SettingsError(
            f"run {old.id} was judged by assertions only", hint="there is nothing to judge again"
        )
    config: JsonObject = {k: v for k, v in old.config.items() if k not in _OF_THE_JUDGES}
    asked = _judging(_open_rejudgment(old, by_rubric, judge), judge, by_rubric, cases)
    # The identity of a run includes its judges: a rejudgment is never resumed as the old run.
    config |= {
        "judge": [{"model": judge.connection.name, "template": judge.template.name}],
        PARTS_KEY: {**config_part(old, PARTS_KEY), "judges": fingerprint([judge.id])},
        REJUDGMENT_KEY: {"run": old.id, "judges": list(old.panel.judges)},
        JUDGING_KEY: asked.to_json(),
    }
    if (use := old.calibration) is not None and use.calibration is not None:
        renewed = calibration_in_use(use.calibration, by_rubric, asked, path=use.path)
        config[CALIBRATION_KEY] = renewed.to_json()
    # A rejudgment of a rejudgment keeps one suffix.
    own = old.suite.removesuffix(_SUITE_SUFFIX)
    new = RunInfo(
        id=new_run_id(own, now, f"rejudged-{token or random_token()}"),
        suite=f"{own}{_SUITE_SUFFIX}",
        started_at=now,
        config=config,
        config_fingerprint=fingerprint(config),
        rubric=by_rubric,
        panel=RunPanel(judges=(judge.id,)),
        triggered_by="rejudge",
        notes=f"judges {old.id} again",
        **{name: getattr(old, name) for name in _OF_THE_OUTPUTS},
    )
    check_same_measure(old, new)  # before anything is paid for
    return new


def _judging(
    opened: OpenSuite, judge: Judge, rubric: Rubric, cases: Iterable[Case]
) -> CalibratedPanel:
    """How the judge is called, with the templates that only rubrics of cases name."""
    asked = judging_of_judge(judge, rubric)
    found = (opened.plans.rubric_of(case) for case in cases)
    own = {one.fingerprint: one for one in found if one is not None and one is not rubric}
    for one in own.values():
        opened.judges.check(one, is_of_case=True)
    return asked.model_copy(update={"templates": opened.judges.case_templates | asked.templates})


def check_same_measure(old: RunInfo, new: RunInfo) -> Comparability:
    """Refuse runs that differ in more than their judges: their differences would show neither."""
    if edited := edited_templates(judging_of_run(old), judging_of_run(new)):
        raise NotComparableError(
            f"not only the judge differs from that of {old.id}: {edited}",
            hint="restore the template; or run the cases again with its outputs: judgekit export "
            f"{old.id} -o outputs.jsonl, then judgekit run CASES --outputs outputs.jsonl",
        )
    measure = compare_measures(old, new, apart_from_judges=True)
    if measure.changes:
        raise NotComparableError(
            f"not only the judge differs from that of {old.id}: {'; '.join(measure.changes)}",
            hint="judge by the rubric of the run (leave out --rubric); or grade its outputs by the "
            f"other one: judgekit export {old.id} -o outputs.jsonl, then judgekit grade "
            "outputs.jsonl --rubric FILE --judge MODEL",
        )
    return measure


def original_run(run: RunInfo, store: RunStore) -> RunInfo:
    # A rejudgment may itself have been rejudged; outputs are those of the first run.
    while origin := config_part(run, REJUDGMENT_KEY):
        run = store.run(str(origin["run"]))
    return run


async def rejudge_run(
    old: RunInfo, new: RunInfo, judge: Judge, store: RunStore, session: Session | None = None
) -> RunInfo:
    """Judge every output of a run again; no target is asked."""
    opened = _open_rejudgment(old, cast("Rubric", new.rubric), judge)
    # The judgments are a run of their own: the old one stays as it was, with its verdicts and its
    # costs.
    answers = last_tries(store.results(old.id), old)
    return await run_suite(opened, store, new, session or Session(), answers=answers)


def plan_rejudgment(
    old: RunInfo, new: RunInfo, judge: Judge, store: RunStore, *, refresh: bool = False
) -> GradePlan:
    """Estimate the calls and cost of judging a run again; makes no calls."""
    plans = _open_rejudgment(old, cast("Rubric", new.rubric), judge).plans
    answers = (
        (result.case, result.output, rubric)
        for result in last_tries(store.results(old.id), old)
        if (rubric := plans.rubric_of(result.case)) is not None
    )
    return plan_grading(judge, answers, refresh=refresh)


def check_judged(old: RunInfo, store: RunStore) -> None:
    """Refuse a run without any judgment, which new ones could not be compared with."""
    for result in store.results(old.id):
        if result.output.error is None and (result.judgments or result.failures):
            return
    raise NotEnoughDataError(
        f"no output was judged before: run {old.id} has no judgment to compare with",
        hint=f"complete it first: judgekit run --resume {old.id}",
    )


def _open_rejudgment(old: RunInfo, rubric: Rubric, judge: Judge) -> OpenSuite:
    nothing_else = RecordedAnswers(CaseSource("outputs", "1", lambda: iter(())), {}, has_gaps=True)
    # The profile decides which cases are judged at all; checks were made when the old run was.
    profile = old.config.get("profile")
    suite = Suite.model_validate({"name": "outputs", "dataset": "outputs", "profile": profile})
    return open_recorded(judge, rubric, nothing_else, suite=suite)


def compare_runs(
    old: RunInfo, new: RunInfo, store: RunStore, *, calibration: str, level: float = 0.95
) -> Rejudged:
    left_out: Counter[str] = Counter()
    measure, rubric = check_same_measure(old, new), cast("Rubric", new.rubric)
    measured = "; ".join(("apart from the judge both runs measured the same", *measure.notes))
    return compare_verdicts(
        # Maps of one judge say nothing about another: `measure` has both runs on one scale.
        list(paired_verdicts(measure.a, measure.b, store, left_out)),
        rubric,
        (old.panel.judges, new.panel.judges),
        measured=measured,
        same_rubric=old.rubric is not None and old.rubric.fingerprint == rubric.fingerprint,
        calibration=calibration,
        level=level,
        runs=(old.id, new.id),
        left_out=left_out,
    )


def paired_verdicts(
    old: RunInfo, new: RunInfo, store: RunStore, left_out: Counter[str]
) -> Iterator[PairedVerdict]:
    """The outputs that both runs have a verdict for; the others are counted in `left_out`."""
    for result in last_tries(store.results(old.id), old):
        again = store.result(new.id, result.key)
        before = conclude_result(result, old)
        after = None if again is None else conclude_result(again, new)
        if before.verdict is None:
            continue  # no judge was called about it
        if result.output.error is not None:
            left_out[OUTPUT_ERROR] += 1
        elif after is None or after.verdict is None:
            left_out[NO_NEW_VERDICT] += 1
        else:
            yield PairedVerdict(
                case_id=result.case.id,
                variant=result.variant,
                repeat=result.repeat,
                old=judged_side(before.verdict, passed=before.passed, value=before.value),
                new=judged_side(after.verdict, passed=after.passed, value=after.value),
                stratum=result.case.stratum,
                tags=result.case.tags,
            )


_OWN_VALUES = (
    "the old values were calibrated, and the judges' own are compared here; --calibration MAPS "
    "says whether the maps hold for the new judge"
)


def describe_calibration(old: CalibrationInUse | None, new: CalibrationInUse | None) -> str:
    """Whether maps hold for the new judge, and whether they did for the old."""
    # A calibration belongs to a model, a template, the settings and a criterion's words; no
    # other judge inherits it.
    if new is None or (old is None and new.calibration is None):
        return "uncalibrated: neither judge was compared with human labels (judgekit calibrate)"
    if new.state == "calibrated":
        return f"the calibration holds for this judge too: {new.words}"
    before = "the maps may have held before" if old is None else f"the old judge was {old.words}"
    return f"{before}; for the new one that is {new.words}"


def describe_file_calibration(
    path: Path | None, old: Mapping[Key, Verdict], rubric: Rubric, judge: Judge
) -> str:
    """Whether a calibration holds for the new judge, where the old verdicts are out of a file."""
    if path is None:
        if any(one.uncalibrated is not None for one in old.values()):
            return _OWN_VALUES
        return describe_calibration(None, None)
    asked = next((one.asked for one in old.values() if one.asked is not None), None)
    return _describe_named(path, rubric, judge, rubric, asked)


def describe_run_calibration(path: Path, old: RunInfo, rubric: Rubric, judge: Judge) -> str:
    """Whether a calibration that is named holds for the new judge of a run, and for the old."""
    return _describe_named(path, rubric, judge, old.rubric, judging_of_run(old))


def _describe_named(
    path: Path, rubric: Rubric, judge: Judge, old: Rubric | None, asked: CalibratedPanel | None
) -> str:
    new = resolve_calibration(path, rubric, judging_of_judge(judge, rubric))
    if new.calibration is None or asked is None or old is None:
        return describe_calibration(None, new)
    return describe_calibration(calibration_in_use(new.calibration, old, asked), new)
