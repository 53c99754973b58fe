"""Completes a run that has ended: stores gate decision, figures and failures, and sends alarms.

`judgekit.cli.run` and `evaluate` both end in `complete_run`. A program, a file or a webhook gets
one alarm for each episode: a critical drop of a pass rate until the rate recovers, and a degrading
trend from when it escalates until it ends. What could not be delivered is reported, and sent after
the next run; it never blocks one.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from judgekit.errors import JudgekitError, SettingsError
from judgekit.evaluation.findings import CaseTally, FindingChanges, SuiteFindings, finding_changes
from judgekit.evaluation.gate import GateResult, decide_gate
from judgekit.evaluation.run_figures import store_figures
from judgekit.http_session import http_sessions
from judgekit.records import FINISHED_STATUSES, Alarm, RunInfo, has_own_cases
from judgekit.subprocess import ProcessLimits, run_process, scrub_environment
from judgekit.targets import expand_variables

if TYPE_CHECKING:
    from judgekit.datasets import NotifySettings, Suite
    from judgekit.evaluation.summary import RunSummary
    from judgekit.store import RunStore


@dataclass(frozen=True, slots=True)
class Completion:
    """What a run changed.

    Attributes:
        changes: The findings it opened, continued and resolved; None for a run that did not end.
        problems: What could not be notified, in words.
    """

    changes: FindingChanges | None = None
    problems: tuple[str, ...] = ()


async def complete_run(
    suite: Suite,
    store: RunStore,
    summary: RunSummary,
    gate: GateResult | None,
    failures: CaseTally,
    *,
    at: datetime,
    reason: str = "",
) -> Completion:
    """Store what follows from a run, and notify; `reason` is that of the gate, in words."""
    run = summary.run
    decision = decide_gate(gate, run, at, reason)
    known = store.gate_decisions(run.suite).get(run.id)
    # A run that failed its gate is no baseline of the next; one that was accepted stays accepted
    # when it is resumed.
    if decision is not None and (known is None or known.outcome != "accepted"):
        store.record_gate(decision)
    if run.status not in FINISHED_STATUSES:
        return Completion()
    store_figures(summary, store)
    failures.keep(store)
    problems: list[str] = []
    if suite.notify is not None:
        problems = await notify(suite, run, store, at=at)
    return Completion(finding_changes(store, run), tuple(problems))


_LIMITS = ProcessLimits(timeout_s=30)
_TIMEOUT_S = 10.0
_SUCCESS = 2


async def notify(suite: Suite, run: RunInfo, store: RunStore, *, at: datetime) -> list[str]:
    """Send the alarms of a run that were not sent before; what could not be sent, in words."""
    # An interrupted run is resumed, and has not been concluded. Runs with cases of their own are
    # compared with no other; `watch` has an alarm for its windows.
    if suite.notify is None or run.status not in FINISHED_STATUSES or has_own_cases(run):
        return []
    sent = store.notified(run.suite)
    problems = []
    for alarm in _alarms(run, store, SuiteFindings(store, run.suite)):
        if alarm.episode in sent:
            continue
        failed = await send_alarm(suite, alarm)
        problems += failed
        if not failed:
            store.record_notification(run.suite, alarm.episode, at)
    return problems


async def send_alarm(suite: Suite, alarm: Alarm) -> list[str]:
    """Send an alarm as the suite says; what could not be sent, in words."""
    if suite.notify is None:
        return []
    body = json.dumps(alarm.to_json(), ensure_ascii=False)
    try:
        await _send(suite, suite.notify, body)
    except (JudgekitError, OSError, TimeoutError) as error:
        return [f"not notified: {error} ({alarm.text})"]
    return []


def watch_alarm(run: RunInfo, text: str, *, n: int) -> Alarm:
    """The alarm of a watched file whose score is too low; `n` counts its episodes."""
    episode = f"watch/{n}"
    return Alarm(kind="watch", episode=episode, suite=run.suite, run=run.id, text=text)


def _alarms(run: RunInfo, store: RunStore, findings: SuiteFindings) -> Iterator[Alarm]:
    for finding in findings.findings.values():
        # A case that fails is followed by its finding; a run of many would send a message for each.
        is_of_run = finding.case_id is None and finding.severity == "critical"
        if is_of_run and finding.status != "resolved":
            yield Alarm(
                kind="critical-finding",
                # Resolved and back again is another episode.
                episode=f"{finding.id}/{finding.n_resolved}",
                suite=run.suite,
                run=run.id,
                text=f"{run.suite}, {finding.variant}: {finding.description}",
                finding=finding,
            )
    # It imports numpy, and looks at all runs of the suite: only where something is notified.
    from judgekit.evaluation.trend import trend_of_suite  # noqa: PLC0415

    for trend in trend_of_suite(store, run.suite):
        if trend.escalation:
            n = trend.escalation.n_degrading
            first = trend.points[-n]
            yield Alarm(
                kind="escalation",
                episode=f"degrading/{trend.variant}/{first.run}",
                suite=run.suite,
                run=run.id,
                text=f"{run.suite}, {trend.variant}: degrading for {n} runs in a row",
                trend={
                    "variant": trend.variant,
                    "measure": trend.measure,
                    "values": [point.figure.value for point in trend.since_break],
                },
            )


async def _send(suite: Suite, settings: NotifySettings, body: str) -> None:
    folder = suite.folder
    if settings.command is not None:
        own, _ = expand_variables(settings.environment, os.environ, where="notify: the variable")
        environment = scrub_environment({**suite.settings.environment, **own})
        await run_process(
            settings.command, body.encode(), limits=_LIMITS, environment=environment, folder=folder
        )
    elif settings.file is not None:
        with (folder / settings.file).open("a", encoding="utf-8") as file:
            file.write(body + "\n")
    elif settings.webhook is not None:
        await _post(settings.webhook, body)


async def _post(address: str, body: str) -> None:
    texts, _ = expand_variables({"webhook": address}, os.environ, where="notify")
    url = texts["webhook"]
    sessions = http_sessions(url, timeout_s=_TIMEOUT_S, connect_s=_TIMEOUT_S)
    try:
        session = await sessions.current()
        headers = {"Content-Type": "application/json"}
        try:
            async with (
                asyncio.timeout(_TIMEOUT_S),
                session.client.post(
                    url, data=body.encode(), headers=headers, allow_redirects=False
                ) as response,
            ):
                if response.status // 100 != _SUCCESS:
                    raise SettingsError(f"the webhook answered HTTP {response.status}")
        # Without the error's own words: they name the address, which is a key.
        except TimeoutError:
            raise SettingsError(f"the webhook did not answer within {_TIMEOUT_S:g} s") from None
        except session.errors as error:
            raise SettingsError(f"the webhook: {type(error).__name__}") from None
    finally:
        await sessions.aclose()
