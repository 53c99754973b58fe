"""Commands that are killed at random moments and started again.

What must hold: the end is the result of a run that nobody disturbed; no more calls were repeated
than were in flight at the kills; cache and store are intact; nothing shows a traceback.
"""

from __future__ import annotations

import random
import signal
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.chaos.commands import IN_FLIGHT, serving

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from judgekit.testing import ServedRequest
    from tests.chaos.commands import Bench

_PATIENCE_S = 60


@dataclass
class Kills:
    """What a command went through, and what was counted."""

    command: str
    n_kills: int = 0
    n_keys: int = 0
    """Requests of a run that nobody disturbed: distinct ones."""

    n_paid: int = 0
    is_equal: bool = True
    damage: list[str] = field(default_factory=list)
    tracebacks: list[str] = field(default_factory=list)

    @property
    def n_repeated(self) -> int:
        """Calls that were made a second time."""
        return self.n_paid - self.n_keys

    @property
    def complaints(self) -> list[str]:
        """What must not have happened."""
        found = [*self.damage, *self.tracebacks]
        if not self.is_equal:
            found.append("the result differs from that of an undisturbed run")
        if self.n_repeated > IN_FLIGHT * self.n_kills:
            found.append(f"{self.n_repeated} calls repeated at {self.n_kills} kills")
        return [f"{self.command}: {one}" for one in found]


def kill_command(
    command: str,
    folder: Path,
    *,
    n_kills: int,
    n_cases: int,
    seed: int,
    number: int = signal.SIGKILL,
) -> Kills:
    """Kill a command again and again, let it end, and compare."""
    rng = random.Random(f"{seed}:{command}")
    alarm = _Alarm()
    server, laying = serving(folder, alarm.seen, n_cases=n_cases)
    kills = Kills(command)
    with server:
        bench = laying()
        undisturbed = bench.result(command)
        kills.n_keys = server.n_requests
        bench.forget()
        for _ in range(n_kills):
            # A kill within the first requests also meets the start-up of the command.
            alarm.set(server.n_requests + rng.randrange(max(2, kills.n_keys // n_kills)))
            process = bench.start(command, *_resuming(bench, command))
            kills.n_kills += _killed(process, alarm, number, kills)
        kills.is_equal = bench.result(command, *_resuming(bench, command)) == undisturbed
        kills.n_paid = server.n_requests - kills.n_keys
        kills.damage = bench.damage()
    return kills


def _resuming(bench: Bench, command: str) -> tuple[str, ...]:
    """`run` goes on with its stored run; the other commands find their replies in the cache."""
    is_resumable = command == "run" and (bench.folder / ".judgekit" / "judgekit.db").exists()
    return ("--resume",) if is_resumable else ()


def _killed(process: subprocess.Popen[str], alarm: _Alarm, number: int, kills: Kills) -> bool:
    """Kill a process when the alarm rings; False where it had ended by then."""
    ended = threading.Thread(target=_ring_at_the_end, args=(process, alarm))
    ended.start()
    assert alarm.rung.wait(_PATIENCE_S), "the command makes no requests"
    process.send_signal(number)
    _, err = process.communicate(timeout=_PATIENCE_S)
    ended.join()
    if "Traceback" in err:
        kills.tracebacks.append(err[-500:])
    return process.returncode < 0


def _ring_at_the_end(process: subprocess.Popen[str], alarm: _Alarm) -> None:
    process.wait()
    alarm.rung.set()


class _Alarm:
    """Rings when the server has seen so many requests."""

    def __init__(self) -> None:
        self.rung = threading.Event()
        self._at = float("inf")

    def set(self, at: int) -> None:
        self._at = at
        self.rung.clear()

    def seen(self, request: ServedRequest) -> str:
        if request.number >= self._at:
            self.rung.set()
        return "ok"
