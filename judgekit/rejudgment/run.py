"""Judges the outputs of a stored run again with another judge.

Stores that as a run of its own; says whether the calibration still holds. The figures are in
`comparison`.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from judgekit.errors import JudgekitError, SettingsError
from judgekit.evaluation import (
    CALIBRATION_KEY,
    JUDGING_KEY,
    PARTS_KEY,
    UNASKED_FAILURE_KINDS,
    ObservationWriter,
    conclude_result,
    judging_of_judge,
    judging_of_run,
    on_common_scale,
    resolve_calibration,
    run_status,
)
from judgekit.fingerprint import fingerprint
from judgekit.judge import HEURISTIC, SyncRunner, gather_in_order
from judgekit.records import JudgeFailure, Judgment, Observation, Rubric, RunInfo, RunPanel
from judgekit.rejudgment.comparison import (
    NO_NEW_VERDICT,
    OUTPUT_ERROR,
    PairedVerdict,
    compare_verdicts,
    judged_side,
)
from judgekit.scoring import calibration_in_use

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from judgekit.evaluation import Run
    from judgekit.judge import Judge
    from judgekit.records import CalibrationInUse, CaseResult, JsonObject, RunStatus, Verdict
    from judgekit.rejudgment.comparison import Key, Rejudged
    from judgekit.store import RunStore


async def rejudge(
    run: Run, judge: Judge, *, rubric: Rubric | None = None, level: float = 0.95
) -> Rejudged:
    """Judge the outputs of a run again, and say what changes; no system under test is asked.

    What the new judge says is kept in the run's store, as a run of its own that names the old one.

    Args:
        run: The run that was judged before.
        judge: Who judges now; with a budget it stops when the money is used up.
        rubric: Another rubric; None takes the run's own.
        level: Confidence level of the intervals, in (0, 1).

    Returns:
        How many verdicts change, agreement of old and new, and the shift of each criterion.

    Raises:
        SettingsError: When the run has no rubric, so that no judge was asked.
        InputError: When the template does not fit an output.
        NotEnoughDataError: When no output has a verdict of both judges.
        StoreError: When something cannot be kept.

    Example:
        >>> async def churn(run, judge):  # doctest: +SKIP
        ...     found = await jk.rejudge(run, judge)
        ...     return found.churn.value, found.run_id
    """
    old, store = run.info, run.store
    planned = new_rejudgment(old, judge, rubric=rubric, now=datetime.now(UTC))
    ended = await rejudge_run(old, planned, judge, store)
    by_rubric = cast("Rubric", planned.rubric)  # without one no run is planned
    left_out: Counter[str] = Counter()
    return compare_verdicts(
        list(paired_verdicts(old, ended, store, left_out=left_out)),
        (old.rubric, by_rubric),
        (old.panel.judges, ended.panel.judges),
        calibration=describe_calibration(old, ended),
        level=level,
        runs=(old.id, ended.id),
        left_out=left_out,
    )


def rejudge_sync(
    run: Run, judge: Judge, *, rubric: Rubric | None = None, level: float = 0.95
) -> Rejudged:
    """`rejudge`, for callers that are not asynchronous; works inside a running loop too.

    Args:
        run: The run that was judged before.
        judge: Who judges now.
        rubric: Another rubric; None takes the run's own.
        level: Confidence level of the intervals, in (0, 1).

    Returns:
        What the new judge changes.

    Raises:
        SettingsError: When the run has no rubric, so that no judge was asked.
        InputError: When the template does not fit an output.
        NotEnoughDataError: When no output has a verdict of both judges.
        StoreError: When something cannot be kept.
    """
    sync_runner = SyncRunner()
    try:
        return sync_runner.run(rejudge(run, judge, rubric=rubric, level=level))
    finally:
        sync_runner.close()


REJUDGMENT_KEY = "rejudged"
"""The key of a run's `config` under which it says which run it judges again."""

_SUITE_SUFFIX = " (rejudged)"
"""Ends the suite's name of a run that judges another one again."""

_OF_THE_JUDGES = frozenset({"panel", JUDGING_KEY, CALIBRATION_KEY})
_FATAL = frozenset({"auth", "not_found", "quota"})


@dataclass(slots=True)
class RejudgeSession:
    """One session of judging again: its limits, its progress and how it ended."""

    in_flight: int = 32
    """Outputs in work at a time."""

    watch: Callable[[CaseResult], None] = field(default=lambda _: None)
    """Called with each output when it is judged."""

    stop: asyncio.Event = field(default_factory=asyncio.Event)
    """Once set, nothing new is begun; what was begun is finished."""

    status: RunStatus | None = None
    """How it ended early: `interrupted`, `stopped` at a limit of money, or `incomplete` where the
    model cannot be asked."""

    n_missed: int = 0
    """Outputs of which a frozen cache lacked a reply."""

    def end(self, status: RunStatus) -> None:
        """Begin nothing new."""
        self.status = self.status or status
        self.stop.set()


def new_rejudgment(
    old: RunInfo,
    judge: Judge,
    *,
    rubric: Rubric | None = None,
    now: datetime,
    token: str | None = None,
) -> RunInfo:
    """What judging a run again sets out to do."""
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
    parts = config.get(PARTS_KEY)
    known = parts if isinstance(parts, dict) else {}
    # The identity of a run includes its judges: a rejudgment is never resumed as the old run.
    config |= {
        "judge": [{"model": judge.connection.name, "template": judge.template.name}],
        PARTS_KEY: {**known, "judges": fingerprint([judge.id])},
        REJUDGMENT_KEY: {"run": old.id, "judges": list(old.panel.judges)},
    }
    config |= calibration_config(old, judge, by_rubric)
    # A rejudgment of a rejudgment keeps one suffix.
    own = old.suite.removesuffix(_SUITE_SUFFIX)
    slug = "".join(c if c.isalnum() else "-" for c in own.lower()).strip("-")[:40]
    return RunInfo(
        id=f"{now:%Y%m%dT%H%M%SZ}-{slug or 'run'}-rejudged-{token or secrets.token_hex(2)}",
        suite=f"{own}{_SUITE_SUFFIX}",
        suite_version=old.suite_version,
        started_at=now,
        config=config,
        config_fingerprint=fingerprint(config),
        folder=old.folder,
        dataset=old.dataset,
        dataset_version=old.dataset_version,
        n_cases=old.n_cases,
        rubric=by_rubric,
        variants=old.variants,
        panel=RunPanel(judges=(judge.id,)),
        triggered_by="rejudge",
        notes=f"judges {old.id} again",
        tags=old.tags,
    )


def original_run(run: RunInfo, store: RunStore) -> RunInfo:
    """The run whose outputs a run judges again."""
    # A rejudgment may itself have been rejudged; outputs are those of the first run.
    while isinstance(origin := run.config.get(REJUDGMENT_KEY), dict):
        run = store.run(str(origin["run"]))
    return run


async def rejudge_run(
    old: RunInfo, new: RunInfo, judge: Judge, store: RunStore, session: RejudgeSession | None = None
) -> RunInfo:
    """Judge every output of a run again; no target is asked."""
    going = session or RejudgeSession()
    # The judgments are a run of their own: the old one stays as it was, with its verdicts and its
    # costs.
    store.begin(new)
    status: RunStatus = "interrupted"
    reason: str | None = None
    try:
        async with ObservationWriter(store, new.id) as keeper:
            # Read page by page while others are judged, so that memory does not grow with the run.
            source = store.results(old.id)
            work = _RejudgeWorker(new, judge, keeper, going)
            await gather_in_order([work.take_from(source) for _ in range(max(1, going.in_flight))])
        status = going.status or ("incomplete" if work.n_open else run_status(store, new.id))
    except JudgekitError as error:
        reason = error.message
        raise
    finally:
        store.end(new.id, status=status, reason=reason, at=datetime.now(UTC))
    return store.run(new.id)


def paired_verdicts(
    old: RunInfo, new: RunInfo, store: RunStore, *, left_out: Counter[str] | None = None
) -> Iterator[PairedVerdict]:
    """The outputs that both runs have a verdict for."""
    # Maps of one judge say nothing about another: unless both runs use the same, raw values are
    # compared.
    then, now = on_common_scale(old, new)
    for result in store.results(old.id):
        again = store.result(new.id, result.key)
        before = conclude_result(result, then)
        after = None if again is None else conclude_result(again, now)
        if before.verdict is None:
            continue  # no judge was asked about it
        missing = OUTPUT_ERROR if result.output.error is not None else None
        if after is None or after.verdict is None:
            missing = missing or NO_NEW_VERDICT
        if missing is not None and left_out is not None:
            left_out[missing] += 1
        if missing is None and after is not None and after.verdict is not None:
            yield PairedVerdict(
                case_id=result.case.id,
                variant=result.variant,
                repeat=result.repeat,
                old=judged_side(before.verdict, passed=before.passed, value=before.value),
                new=judged_side(after.verdict, passed=after.passed, value=after.value),
            )


class _RejudgeWorker:
    """Judges outputs one after the other; several of it share one source."""

    def __init__(
        self, run: RunInfo, judge: Judge, keeper: ObservationWriter, session: RejudgeSession
    ) -> None:
        self._run, self._judge, self._keeper, self._session = run, judge, keeper, session
        self.n_open = 0

    async def take_from(self, source: Iterator[CaseResult]) -> None:
        while not self._session.stop.is_set() and (result := next(source, None)) is not None:
            judge_answers = await self._judge_answers(result)
            to_store = [one for one in judge_answers if not _is_unasked(one)]
            self.n_open += len(to_store) < len(judge_answers)
            await self._keeper.keep(
                Observation(
                    key=result.key,
                    place=result.place,
                    at=datetime.now(UTC),
                    case=result.case,
                    output=result.output,
                    said=to_store,
                    checks=result.checks,
                    scores=result.scores,
                    is_done=len(to_store) == len(judge_answers),
                )
            )
            self._tell(result, judge_answers)

    async def _judge_answers(self, result: CaseResult) -> list[Judgment | JudgeFailure]:
        """What the judge says; nothing where the case is evaluated without a judge."""
        own = result.case.rubric
        rubric = own if isinstance(own, Rubric) else cast("Rubric", self._run.rubric)
        # A case whose plan needs no judge had none before, and gets none now.
        is_asked = conclude_result(result, self._run).verdict is not None
        # An output in error is never shown to a judge; it is copied, so that both runs have the
        # same answers.
        if result.output.error is not None or not is_asked:
            return []
        judge_answers: list[Judgment | JudgeFailure] = []
        answers = self._judge.observe(result.case, result.output, rubric)
        async with aclosing(answers) as stream:
            async for found in stream:
                judge_answers += found
        return judge_answers

    def _tell(self, result: CaseResult, judge_answers: list[Judgment | JudgeFailure]) -> None:
        failures = tuple(one for one in judge_answers if isinstance(one, JudgeFailure))
        if any(one.kind == "budget" for one in failures):
            self._session.end("stopped")
        elif any(one.kind in _FATAL for one in failures):
            self._session.end("incomplete")
        self._session.n_missed += any(one.kind == "frozen_miss" for one in failures)
        judgments = tuple(one for one in judge_answers if isinstance(one, Judgment))
        self._session.watch(
            result.model_copy(update={"judgments": judgments, "failures": failures})
        )


def _is_unasked(one: Judgment | JudgeFailure) -> bool:
    return isinstance(one, JudgeFailure) and one.kind in UNASKED_FAILURE_KINDS


_OWN_VALUES = (
    "the old values were calibrated, and the judges' own are compared here; --calibration MAPS "
    "says whether the maps hold for the new judge"
)


def calibration_config(old: RunInfo, judge: Judge, rubric: Rubric) -> JsonObject:
    """What a run that judges again notes of how it asks, and of the old run's maps."""
    asked = judging_of_judge(judge)
    config: JsonObject = {JUDGING_KEY: asked.to_json()}
    use = old.calibration
    if use is not None and use.calibration is not None:
        config[CALIBRATION_KEY] = calibration_in_use(
            use.calibration, rubric, asked, path=use.path
        ).to_json()
    return config


def describe_calibration(old: RunInfo | None, new: RunInfo | None) -> str:
    """Whether the figures of the new judge are calibrated."""
    # A calibration belongs to a model, a template, the settings and a criterion's words; no
    # other judge inherits it.
    sides = [None if run is None else run.calibration for run in (old, new)]
    return _calibration_message(sides[0], sides[1])


def _calibration_message(old: CalibrationInUse | None, new: CalibrationInUse | None) -> str:
    """Whether maps hold for the new judge, and whether they did for the old."""
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
        return _calibration_message(None, None)
    new = resolve_calibration(path, rubric, judging_of_judge(judge))
    known = [one.asked for one in old.values() if one.asked is not None]
    prints = {one.rubric_fingerprint for one in old.values()}
    if new.calibration is None or not known or prints != {rubric.fingerprint}:
        return _calibration_message(None, new)
    return _calibration_message(calibration_in_use(new.calibration, rubric, known[0]), new)


def describe_run_calibration(path: Path, old: RunInfo, rubric: Rubric, judge: Judge) -> str:
    """Whether a calibration that is named holds for the new judge of a run, and for the old."""
    new = resolve_calibration(path, rubric, judging_of_judge(judge))
    asked = judging_of_run(old)
    if new.calibration is None or asked is None or old.rubric is None:
        return _calibration_message(None, new)
    return _calibration_message(calibration_in_use(new.calibration, old.rubric, asked), new)
