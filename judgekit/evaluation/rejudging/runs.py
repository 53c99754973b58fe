"""Judges the outputs of a stored run again and keeps what is said as a run of its own."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from judgekit.errors import JudgekitError, SettingsError
from judgekit.evaluation.figures.concluding import conclude_result
from judgekit.evaluation.preparing.asked import ASKED
from judgekit.evaluation.preparing.calibrated import CALIBRATED, by_one_measure
from judgekit.evaluation.rejudging.calibration import calibrated_again
from judgekit.evaluation.rejudging.contrasting import side_of
from judgekit.evaluation.rejudging.figures import AN_ERROR, NOT_NOW, Twice
from judgekit.evaluation.running.answering import WITHHELD
from judgekit.evaluation.running.identity import PARTS
from judgekit.evaluation.running.keeping import Keeper
from judgekit.evaluation.running.statuses import status_of
from judgekit.fingerprint import fingerprint
from judgekit.judge.gathering import gathered
from judgekit.judge.heuristic import HEURISTIC
from judgekit.records.judgment import JudgeFailure, Judgment
from judgekit.records.rubric import Rubric
from judgekit.records.run import Observed, Panel, RunInfo

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator

    from judgekit.judge.judge import Judge
    from judgekit.records.record import JsonObject
    from judgekit.records.run import CaseResult, RunStatus
    from judgekit.store.runs import RunStore

REJUDGED = "rejudged"
"""The key of a run's `config` under which it says which run it judges again."""

_REJUDGED = " (rejudged)"
"""Ends the suite's name of a run that judges another one again."""

_OF_THE_JUDGES = frozenset({"panel", ASKED, CALIBRATED})
_FATAL = frozenset({"auth", "not_found", "quota"})


@dataclass(slots=True)
class Rejudging:
    """One sitting: what it is told, and what came of it."""

    in_flight: int = 32
    """Outputs in work at a time."""

    watch: Callable[[CaseResult], None] = field(default=lambda _: None)
    """Told of each output when it is judged."""

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


def rejudged_run(
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
    parts = config.get(PARTS)
    known = parts if isinstance(parts, dict) else {}
    config |= {
        "judge": [{"model": judge.connection.name, "template": judge.template.name}],
        PARTS: {**known, "judges": fingerprint([judge.id])},
        REJUDGED: {"run": old.id, "judges": list(old.panel.judges)},
    }
    config |= calibrated_again(old, judge, by_rubric)
    own = old.suite.removesuffix(_REJUDGED)
    slug = "".join(c if c.isalnum() else "-" for c in own.lower()).strip("-")[:40]
    return RunInfo(
        id=f"{now:%Y%m%dT%H%M%SZ}-{slug or 'run'}-rejudged-{token or secrets.token_hex(2)}",
        suite=f"{own}{_REJUDGED}",
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
        panel=Panel(judges=(judge.id,)),
        triggered_by="rejudge",
        notes=f"judges {old.id} again",
        tags=old.tags,
    )


def first_judged(run: RunInfo, store: RunStore) -> RunInfo:
    """The run whose outputs a run judges again."""
    while isinstance(noted := run.config.get(REJUDGED), dict):
        run = store.run(str(noted["run"]))
    return run


async def rejudge_run(
    old: RunInfo, new: RunInfo, judge: Judge, store: RunStore, sitting: Rejudging | None = None
) -> RunInfo:
    """Judge every output of a run again; no target is asked."""
    going = sitting or Rejudging()
    store.begin(new)
    status: RunStatus = "interrupted"
    reason: str | None = None
    try:
        async with Keeper(store, new.id) as keeper:
            source = store.results(old.id)
            work = _Work(new, judge, keeper, going)
            await gathered([work.take_from(source) for _ in range(max(1, going.in_flight))])
        status = going.status or ("incomplete" if work.n_open else status_of(store, new.id))
    except JudgekitError as error:
        reason = error.message
        raise
    finally:
        store.end(new.id, status=status, reason=reason, at=datetime.now(UTC))
    return store.run(new.id)


def judged_twice(
    old: RunInfo, new: RunInfo, store: RunStore, *, left_out: Counter[str] | None = None
) -> Iterator[Twice]:
    """The outputs that both runs have a verdict for."""
    then, now = by_one_measure(old, new)
    for result in store.results(old.id):
        again = store.result(new.id, result.key)
        before = conclude_result(result, then)
        after = None if again is None else conclude_result(again, now)
        if before.verdict is None:
            continue  # no judge was asked about it
        missing = AN_ERROR if result.output.error is not None else None
        if after is None or after.verdict is None:
            missing = missing or NOT_NOW
        if missing is not None and left_out is not None:
            left_out[missing] += 1
        if missing is None and after is not None and after.verdict is not None:
            yield Twice(
                case_id=result.case.id,
                variant=result.variant,
                repeat=result.repeat,
                old=side_of(before.verdict, passed=before.passed, value=before.value),
                new=side_of(after.verdict, passed=after.passed, value=after.value),
            )


class _Work:
    """Judges outputs one after the other; several of it share one source."""

    def __init__(self, run: RunInfo, judge: Judge, keeper: Keeper, sitting: Rejudging) -> None:
        self._run, self._judge, self._keeper, self._sitting = run, judge, keeper, sitting
        self.n_open = 0

    async def take_from(self, source: Iterator[CaseResult]) -> None:
        while not self._sitting.stop.is_set() and (result := next(source, None)) is not None:
            said = await self._said(result)
            kept = [one for one in said if not _is_withheld(one)]
            self.n_open += len(kept) < len(said)
            await self._keeper.keep(
                Observed(
                    key=result.key,
                    place=result.place,
                    at=datetime.now(UTC),
                    case=result.case,
                    output=result.output,
                    said=kept,
                    checks=result.checks,
                    scores=result.scores,
                    is_done=len(kept) == len(said),
                )
            )
            self._tell(result, said)

    async def _said(self, result: CaseResult) -> list[Judgment | JudgeFailure]:
        """What the judge says; nothing where the case is evaluated without a judge."""
        own = result.case.rubric
        rubric = own if isinstance(own, Rubric) else cast("Rubric", self._run.rubric)
        is_asked = conclude_result(result, self._run).verdict is not None
        if result.output.error is not None or not is_asked:
            return []
        said: list[Judgment | JudgeFailure] = []
        answers = self._judge.observe(result.case, result.output, rubric)
        async with aclosing(answers) as told:
            async for found in told:
                said += found
        return said

    def _tell(self, result: CaseResult, said: list[Judgment | JudgeFailure]) -> None:
        failures = tuple(one for one in said if isinstance(one, JudgeFailure))
        if any(one.kind == "budget" for one in failures):
            self._sitting.end("stopped")
        elif any(one.kind in _FATAL for one in failures):
            self._sitting.end("incomplete")
        self._sitting.n_missed += any(one.kind == "frozen_miss" for one in failures)
        judgments = tuple(one for one in said if isinstance(one, Judgment))
        self._sitting.watch(
            result.model_copy(update={"judgments": judgments, "failures": failures})
        )


def _is_withheld(one: Judgment | JudgeFailure) -> bool:
    return isinstance(one, JudgeFailure) and one.kind in WITHHELD
