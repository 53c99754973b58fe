"""Takes the CPU time of a block and of child processes, and speeds from both clocks."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

QUIET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOG": "ERROR",
}
"""What judgekit sets before it imports litellm; the bare reference gets it too."""


@dataclass(frozen=True, slots=True)
class Took:
    """What a block of work took."""

    n: int
    """Items of work."""

    cpu_s: float
    """CPU seconds of this process, all threads."""

    wall_s: float
    """Seconds on the clock."""

    @property
    def per_cpu_s(self) -> float:
        """Items for each second of CPU; hardly moved by what else the machine does."""
        return self.n / self.cpu_s

    @property
    def per_s(self) -> float:
        """Items for each second on the clock."""
        return self.n / self.wall_s

    @property
    def cpu_us(self) -> float:
        """Microseconds of CPU for each item."""
        return self.cpu_s / self.n * 1e6


class Stopwatch:
    """Starts when it is made."""

    def __init__(self) -> None:
        self._cpu = time.process_time()
        self._wall = time.perf_counter()

    def took(self, n: int) -> Took:
        """What passed since the start.

        Args:
            n: Items of work that were done.
        """
        return Took(n, time.process_time() - self._cpu, time.perf_counter() - self._wall)


def alternated(rounds: int, *measures: Callable[[], Took]) -> list[list[Took]]:
    """Run several measurements in turn, so that a busy machine is busy for all of them.

    Args:
        rounds: How often each is run; a further first round warms up and is not counted.
        measures: What to run.

    Returns:
        For each measure its results, round by round.
    """
    for measure in measures:
        measure()
    results: list[list[Took]] = [[] for _ in measures]
    for _ in range(rounds):
        for place, measure in enumerate(measures):
            results[place].append(measure())
    return results


def child_cpu_s(command: Sequence[str], folder: Path) -> float:
    """CPU seconds, user and system, of a process from its start to its end.

    Args:
        command: What to run; what it prints is discarded.
        folder: Where it runs.

    Returns:
        Seconds.

    Raises:
        subprocess.CalledProcessError: It ended with a signal, or as a command that was refused.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=folder, stdout=quiet, stderr=quiet, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode < 0 or process.returncode in {2, 3, 130}:
        raise subprocess.CalledProcessError(process.returncode, command)
    return used.ru_utime + used.ru_stime
