"""Faults by position and transport: outputs are judged while a server answers badly, then well.

A server knows which good replies it sent, and to whom. What must hold in every trial: no exception,
no score that the server did not give, no more requests than the retries allow, and after the server
has healed every reply that arrived is found in the cache.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import judgekit as jk
from judgekit.models import LimitedModel
from judgekit.models.cache import MemoryCache
from judgekit.models.transports import DirectModel, LitellmModel
from judgekit.testing import SERVER_FAULTS, ChaosServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from judgekit.testing import ServedReply, ServedRequest

N_OUTPUTS = 8
MAX_RETRIES, MAX_REASKS = 2, 2
MOST_REQUESTS = (1 + MAX_RETRIES) * (1 + MAX_REASKS)
GOOD_SCORE = 4
# Only the faults that end by the timeout need a short one: on a busy machine a good reply that
# comes too late is asked for again, as it must be, and looks like a lost one.
_TIMED_OUT = frozenset({"hang", "drip", "slow_headers"})
_SHORT_S, _LONG_S = 3.0, 30.0
_SPEED = 100
_TRANSPORTS = {
    "direct": (DirectModel, "openai/chaos"),
    "litellm": (LitellmModel, "openai/chaos"),
    "anthropic": (DirectModel, "anthropic/claude-sonnet-4-5"),
    "gemini": (DirectModel, "gemini/gemini-2.5-flash"),
}
_RUBRIC = jk.Rubric(
    name="chaos",
    criteria=[jk.Criterion(name="right", question="Is it right?", scale={"min": 1, "max": 5})],
)
# Unpacking megabytes takes long, shows nothing new at other positions, and through litellm it holds
# up every other call of the event loop.
HEAVY = frozenset({"10MiB_reply", "gzip_bomb", "endless"})


def _every(n: int) -> Callable[[int], bool]:
    return lambda number: number % n == 0


POSITIONS: dict[str, Callable[[int], bool]] = {
    "first": lambda number: number == 0,
    "middle": lambda number: number == N_OUTPUTS // 2,
    "last": lambda number: number == N_OUTPUTS - 1,
    "burst of 5": lambda number: 2 <= number < 7,
    "every 2nd": _every(2),
    "20 % at random": lambda number: random.Random(number).random() < 0.2,
    "all": lambda _: True,
}
"""At which requests of a trial the fault happens."""


@dataclass
class Trial:
    """One fault at one position through one transport, and what came of it."""

    fault: str
    position: str
    transport: str
    number: int = 0
    n_requests: int = 0
    n_healed_requests: int = 0
    n_scored: int = 0
    wrong_scores: int = 0
    raised: list[str] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    good: set[str] = field(default_factory=set)
    """The outputs that a good reply was sent for."""

    lost: set[str] = field(default_factory=set)
    """Those of them that were asked again after the server had healed."""

    is_healed: bool = False

    @property
    def complaints(self) -> list[str]:
        """What must not have happened."""
        found = [f"raised {one}" for one in self.raised]
        if self.wrong_scores:
            found.append(f"{self.wrong_scores} scores that no reply gave")
        if self.lost:
            found.append(f"{len(self.lost)} replies lost")
        if self.n_requests > N_OUTPUTS * MOST_REQUESTS:
            found.append(f"{self.n_requests} requests for {N_OUTPUTS} outputs")
        name = f"{self.fault}, {self.position}, {self.transport}"
        return [f"{name}: {one}" for one in found]

    def reply(self, request: ServedRequest) -> str:
        """The name of the fault for a request of this trial."""
        which = re.findall(r"Output number (\d+)\.", str(request.body))[-1]
        if self.is_healed:
            self.n_healed_requests += 1
            self.lost |= {which} & self.good
            return "ok"
        number, self.n_requests = self.n_requests, self.n_requests + 1
        if POSITIONS[self.position](number):
            return self.fault
        self.good.add(which)
        return "ok"


def trials(
    faults: Iterable[str], positions: Iterable[str], transports: Iterable[str]
) -> list[Trial]:
    """A trial for each combination."""
    places = tuple(positions)
    return [
        Trial(fault, position, transport)
        for transport in transports
        for fault in faults
        for position in (places[-1:] if fault in HEAVY else places)
    ]


def run_trials(wanted: list[Trial], *, at_once: int = 12) -> list[Trial]:
    """Run trials, several at a time, against one server."""
    for number, trial in enumerate(wanted):
        trial.number = number

    def script(request: ServedRequest) -> str | ServedReply:
        return wanted[int(request.path.split("/")[1])].reply(request)

    if any(trial.transport == "litellm" for trial in wanted):
        LitellmModel("openai/chaos", api_base="http://127.0.0.1").check()  # seconds of import

    async def run(port: int) -> None:
        slots = asyncio.Semaphore(at_once)

        async def one(trial: Trial) -> None:
            async with slots:
                await _run(trial, f"http://127.0.0.1:{port}/{trial.number}/v1")

        await asyncio.gather(*(one(trial) for trial in wanted if trial.fault not in HEAVY))
        for trial in wanted:
            if trial.fault in HEAVY:
                await one(trial)

    with ChaosServer(script, keep_requests=False) as server:
        asyncio.run(run(server.port))
    return wanted


async def _run(trial: Trial, url: str) -> None:
    kind, name = _TRANSPORTS[trial.transport]
    cache = MemoryCache()
    for trial.is_healed in (False, True):
        is_short = trial.fault in _TIMED_OUT and not trial.is_healed
        timeout_s = _SHORT_S if is_short else _LONG_S
        # The waits between retries are the real ones, in a time that runs faster.
        model = LimitedModel(
            kind(name, api_base=url, timeout_s=timeout_s),
            max_concurrency=4,
            max_retries=MAX_RETRIES,
            timeout_s=None,
            clock=lambda: time.monotonic() * _SPEED,
            sleep=lambda s: asyncio.sleep(s / _SPEED),
        )
        async with jk.Judge(model, cache=cache, max_retries=0, max_reasks=MAX_REASKS) as judge:
            await asyncio.gather(*(_grade(trial, judge, number) for number in range(N_OUTPUTS)))


async def _grade(trial: Trial, judge: jk.Judge, number: int) -> None:
    case = jk.Case(id=f"c{number}", input=f"Question {number}?")
    output = jk.Output(text=f"Output number {number}.")
    try:
        verdict = await judge.grade(case, output, _RUBRIC)
    except Exception as error:  # noqa: BLE001 - that nothing is raised is what is tested
        trial.raised.append(f"{type(error).__name__}: {error}"[:200])
        return
    scores = [judgment.raw for judgment in verdict.judgments]
    trial.wrong_scores += sum(score != GOOD_SCORE for score in scores)
    if not trial.is_healed:
        trial.n_scored += len(scores)
        trial.failures.update(failure.kind for failure in verdict.failures)


FAULT_NAMES = tuple(sorted(SERVER_FAULTS.keys() - {"ok"}))
