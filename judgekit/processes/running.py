"""Runs a stranger's program once, within limits, and says how it ended."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from judgekit.errors import JudgekitError
from judgekit.processes.child import Child, n_tasks_of_user
from judgekit.processes.environment import scrubbed_environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ProcessFailure = Literal["timeout", "exit", "signal", "too_large", "not_found", "memory"]
"""Why a program gave nothing."""

_SHELL = "/bin/sh"
_OUT_OF_MEMORY = re.compile(
    r"MemoryError|Cannot allocate memory|[Oo]ut of memory|bad_alloc|OutOfMemoryError"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may use."""

    timeout_s: float = 30
    """How long it may run, in seconds of the clock."""

    memory_bytes: int | None = 1 << 30
    """Memory of its own, for each of its processes; None leaves it to the system."""

    output_bytes: int = 10 << 20
    """How much it may write to stdout."""

    stderr_bytes: int | None = None
    """How much it may write to stderr; None sets no limit, for only the end of it is kept."""

    cpu_s: int | None = None
    """Seconds of CPU time for each of its processes; None leaves it to the system."""

    n_processes: int | None = None
    """How many processes and threads it may have beside those its user has already.

    The system counts them by user, and does not hold its administrator to it. None leaves it to
    the system.
    """


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that ended well."""

    stdout: bytes
    """What it wrote to stdout, whole."""

    stderr: str
    """The end of what it wrote to stderr, at most `STDERR_TAIL_BYTES`, fit for a terminal."""

    exit_code: int = 0
    """Its exit code; a program that ends with any but 0 has failed."""


class ProcessFailedError(JudgekitError):
    """A program did not end well, or could not be begun."""

    def __init__(
        self,
        message: str,
        *,
        kind: ProcessFailure,
        stderr: str = "",
        exit_code: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind: ProcessFailure = kind
        self.stderr = stderr
        self.exit_code = exit_code


async def run_process(
    command: Sequence[str],
    stdin: bytes,
    *,
    limits: Limits,
    environment: Mapping[str, str] | None,
    folder: Path | None,
) -> Finished:
    """Run a program to its end."""
    # It gets a session of its own. However it ends (in time or not, by cancelling too), all
    # processes of its group are killed, and on Linux also those that left the group and kept its
    # environment. It may be called in any event loop of any thread.
    environment = scrubbed_environment() if environment is None else environment
    program = find_program(command, environment=environment, folder=folder)
    arguments = [*_limiting(limits), program, *command[1:]]
    try:
        child = Child(
            arguments,
            stdin,
            most_bytes=(limits.output_bytes, limits.stderr_bytes),
            environment=environment,
            folder=folder,
        )
    except (OSError, ValueError) as error:
        raise ProcessFailedError(f"it could not be begun: {error}", kind="not_found") from error
    try:
        child.follow()
        async with asyncio.timeout(limits.timeout_s):
            await child.ended
        child.kill()  # what it left running would hold the pipes open
        await child.drain()
    except TimeoutError:
        message = f"it was stopped after {limits.timeout_s:g} s"
        raise ProcessFailedError(message, kind="timeout", stderr=child.stderr_tail) from None
    finally:
        exit_code = child.bury()
    if child.is_too_large:
        raise _too_large(child.most_written, child.stderr_tail)
    if exit_code != 0:
        raise _bad_ending(exit_code, child.stderr_tail, limits)
    return Finished(bytes(child.stdout), child.stderr_tail, exit_code)


def find_program(
    command: Sequence[str], *, environment: Mapping[str, str], folder: Path | None
) -> str:
    """The path of the program a command begins with."""
    name = command[0] if command else ""
    place = Path(folder or Path.cwd()).absolute()
    if not place.is_dir():
        raise ProcessFailedError(f"there is no folder {place}", kind="not_found")
    if "/" in name:
        found = shutil.which(str(place / name), path="")
    else:
        found = shutil.which(name, path=environment.get("PATH", os.defpath))
    if found is None:
        hint = "give the full path, or a path relative to the folder it runs in"
        message = f"no program {name!r} that can be run was found"
        raise ProcessFailedError(message, kind="not_found", hint=hint)
    return str(Path(found).absolute())


def _limiting(limits: Limits) -> list[str]:
    """A shell that sets the limits and becomes the program."""
    # Limits set from here would come after the program began, and code between fork and exec is not
    # safe in a process with threads. A limit that the system does not know is left out.
    lines = ["ulimit -c 0"]
    if limits.memory_bytes is not None:
        # Of the data, not of the addresses: runtimes reserve many GiB of those without use.
        lines.append(f"ulimit -d {max(1, limits.memory_bytes >> 10)}")
    if limits.cpu_s is not None:
        lines.append(f"ulimit -S -t {limits.cpu_s}")
        lines.append(f"ulimit -H -t {limits.cpu_s + 1}")  # for those that ignore the first
    if limits.n_processes is not None:
        most = n_tasks_of_user() + limits.n_processes
        lines.append(f"ulimit -u {most} 2>/dev/null || ulimit -p {most}")  # bash; dash, busybox
    script = "".join(f"{{ {line}; }} 2>/dev/null\n" for line in lines)
    return [_SHELL, "-c", f'{script}exec "$@"', _SHELL]


def _too_large(most_bytes: int, stderr: str) -> ProcessFailedError:
    most = f"{most_bytes / 2**20:.3g} MiB"
    return ProcessFailedError(f"it wrote more than {most}", kind="too_large", stderr=stderr)


def _bad_ending(exit_code: int, stderr: str, limits: Limits) -> ProcessFailedError:
    if exit_code == -signal.SIGXCPU and limits.cpu_s is not None:
        message = f"it used more than {limits.cpu_s} s of CPU time"
        return ProcessFailedError(message, kind="timeout", stderr=stderr)
    if limits.memory_bytes is not None and _OUT_OF_MEMORY.search(stderr):
        message = f"it needed more than {limits.memory_bytes / 2**20:.4g} MiB of memory"
        return ProcessFailedError(message, kind="memory", stderr=stderr)
    if exit_code < 0:
        message = f"it was killed by {_signal_name(-exit_code)}"
        return ProcessFailedError(message, kind="signal", stderr=stderr)
    message = f"it ended with exit code {exit_code}"
    return ProcessFailedError(message, kind="exit", stderr=stderr, exit_code=exit_code)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
