"""Runs external programs within limits on time, memory and output.

They get an environment without secrets, and no process of theirs is left behind.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Literal, cast

from judgekit.errors import JudgekitError, SettingsError

ProcessFailure = Literal["timeout", "exit", "signal", "too_large", "not_found", "memory"]

_SHELL = "/bin/sh"

_OUT_OF_MEMORY = re.compile(
    r"MemoryError|Cannot allocate memory|[Oo]ut of memory|bad_alloc|OutOfMemoryError"
)


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What a program may use; None sets no limit."""

    timeout_s: float = 30
    memory_bytes: int | None = 1 << 30
    """Memory of its own, for each of its processes."""

    output_bytes: int = 10 << 20
    stderr_bytes: int | None = None
    """How much it may write to stderr, of which only the end is stored."""

    cpu_s: int | None = None
    n_processes: int | None = None
    """How many processes and threads it may start beside those that its user has already."""


class ProcessFailedError(JudgekitError):
    """A program failed, or could not be started."""

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
    limits: ProcessLimits,
    environment: Mapping[str, str] | None,
    folder: Path | None,
) -> bytes:
    """Run a program to its end; what it wrote to stdout."""
    # It gets a session of its own. However it ends (in time or not, also when cancelled), all
    # processes of its group are killed, and on Linux also those that left the group and have its
    # environment. It works in any event loop of any thread.
    if not hasattr(os, "killpg"):
        raise ProcessFailedError(
            "external programs run on Linux and macOS only: Windows has no process groups, "
            "by which judgekit stops what a program started",
            kind="not_found",
            hint="run judgekit in WSL, or use a `python` or `http` variant instead of a `command`",
        )
    environment = scrub_environment() if environment is None else environment
    program = find_program(command, environment=environment, folder=folder)
    arguments = [*_limiting(limits), program, *command[1:]]
    try:
        child = Child(arguments, stdin, limits=limits, environment=environment, folder=folder)
    except (OSError, ValueError) as error:
        raise ProcessFailedError(f"it could not be started: {error}", kind="not_found") from error
    try:
        child.follow()
        async with asyncio.timeout(limits.timeout_s):
            await child.ended
        child.kill()  # what it left running would keep the pipes open
        await child.drain()
    except TimeoutError:
        message = f"it was stopped after {limits.timeout_s:g} s"
        raise ProcessFailedError(message, kind="timeout", stderr=child.stderr_tail) from None
    finally:
        exit_code = child.bury()
    if child.exceeded_bytes is not None:
        message = f"it wrote more than {child.exceeded_bytes / 2**20:.3g} MiB"
        raise ProcessFailedError(message, kind="too_large", stderr=child.stderr_tail)
    if exit_code != 0:
        raise _bad_ending(exit_code, child.stderr_tail, limits)
    return bytes(child.stdout)


def find_program(
    command: Sequence[str], *, environment: Mapping[str, str], folder: Path | None
) -> str:
    # Found here and not by the shell, so that a missing program is no failed one.
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


def _limiting(limits: ProcessLimits) -> list[str]:
    """A shell that sets the limits and becomes the program."""
    # Limits set from here would come after the program began, and code between fork and exec is not
    # safe in a process with threads. A limit that the system does not know is ignored.
    lines = ["ulimit -c 0"]
    if limits.memory_bytes is not None:
        # Of the data, not of the addresses: runtimes reserve many GiB of those without use.
        lines.append(f"ulimit -d {max(1, limits.memory_bytes >> 10)}")
    if limits.cpu_s is not None:
        lines.append(f"ulimit -S -t {limits.cpu_s}")
        lines.append(f"ulimit -H -t {limits.cpu_s + 1}")  # for those that ignore the first
    if limits.n_processes is not None:
        # The system counts them by user, and exempts its administrator.
        most = n_tasks_of_user() + limits.n_processes
        lines.append(f"ulimit -u {most} 2>/dev/null || ulimit -p {most}")  # bash; dash, busybox
    script = "".join(f"{{ {line}; }} 2>/dev/null\n" for line in lines)
    return [_SHELL, "-c", f'{script}exec "$@"', _SHELL]


def _bad_ending(exit_code: int, stderr: str, limits: ProcessLimits) -> ProcessFailedError:
    kind: ProcessFailure = "exit"
    message = f"it ended with exit code {exit_code}"
    if exit_code == -signal.SIGXCPU and limits.cpu_s is not None:
        kind, message = "timeout", f"it used more than {limits.cpu_s} s of CPU time"
    elif limits.memory_bytes is not None and _OUT_OF_MEMORY.search(stderr):
        needed = f"{limits.memory_bytes / 2**20:.4g} MiB"
        kind, message = "memory", f"it needed more than {needed} of memory"
    elif exit_code < 0:
        try:
            name = signal.Signals(-exit_code).name
        except ValueError:  # a real-time signal has no name
            name = f"signal {-exit_code}"
        kind, message = "signal", f"it was killed by {name}"
    own = exit_code if kind == "exit" else None
    return ProcessFailedError(message, kind=kind, stderr=stderr, exit_code=own)


# An allowlist: keys, tokens, judgekit's own settings and variables that change what an interpreter
# loads (`PYTHONPATH`, `LD_PRELOAD`) are not passed on.
_KEPT_NAMES = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP",
    "VIRTUAL_ENV", "SSL_CERT_FILE", "SSL_CERT_DIR",
})  # fmt: skip

_KEPT_PREFIX = "LC_"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def scrub_environment(
    extra: Mapping[str, str] = MappingProxyType({}), *, own: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment of an external program: paths, folders and language, no secrets."""
    for name, value in extra.items():
        if not _NAME.fullmatch(name) or "\0" in value:
            raise SettingsError(
                f"{name!r} cannot be an environment variable",
                hint="a name has letters, digits and _; a value has no NUL character",
            )
    source = os.environ if own is None else own
    harmless = {
        name: value
        for name, value in source.items()
        if name in _KEPT_NAMES or name.startswith(_KEPT_PREFIX)
    }
    return {**harmless, **extra}


STDERR_TAIL_BYTES = 4096

# A random value of this variable marks a program and all that it starts.
_MARK = "_JUDGEKIT_PROCESS"
_CHUNK_BYTES = 1 << 16

# How long to wait for the end of the pipes once everything that wrote to them was killed.
_DRAIN_S = 1.0
_REAP_S = 5.0
_POLL_S = 0.01
_MAX_SWEEPS = 20
_PROC = Path("/proc")


class Child:
    """A running program, its pipes, and what it has written to them."""

    # Of asyncio it uses only callbacks on file descriptors: asyncio's own processes depend on a
    # watcher, and on pipes that a grandchild may keep open, in ways that differ between versions.

    def __init__(
        self,
        arguments: Sequence[str],
        stdin: bytes,
        *,
        limits: ProcessLimits,
        environment: Mapping[str, str],
        folder: Path | None,
    ) -> None:
        mark = secrets.token_hex(8)
        self._mark = f"{_MARK}={mark}".encode()
        self._process = process = subprocess.Popen(  # noqa: S603 - the caller's command
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**environment, _MARK: mark},
            start_new_session=True,
        )
        self._left = memoryview(stdin)
        self._loop = asyncio.get_running_loop()
        self._drained: asyncio.Future[None] = self._loop.create_future()
        self._stderr = bytearray()
        self._is_killed = False
        self.ended: asyncio.Future[None] = self._loop.create_future()
        """Done when it ended, or wrote too much."""
        self.stdout = bytearray()
        self.exceeded_bytes: int | None = None
        """Where it wrote too much, how much would have been allowed."""
        self._stdin, stdout, stderr = (
            cast("IO[bytes]", pipe) for pipe in (process.stdin, process.stdout, process.stderr)
        )
        self._sources = {stdout: self.stdout, stderr: self._stderr}
        self._most_bytes = {stdout: limits.output_bytes, stderr: limits.stderr_bytes}
        self._n_read = dict.fromkeys(self._sources, 0)
        # A descriptor that becomes readable when the process ends; None where there are none.
        # Waiting on it needs no signal handler, which only the main thread may set.
        self._exit_fd: int | None = None
        with suppress(AttributeError, OSError):
            self._exit_fd = os.pidfd_open(process.pid)

    @property
    def stderr_tail(self) -> str:
        """The end of what it wrote to stderr so far, safe for a terminal."""
        return printable_text(bytes(self._stderr[-STDERR_TAIL_BYTES:]))

    def follow(self) -> None:
        """Begin to read and write its pipes, and to wait for its end."""
        for pipe in (self._stdin, *self._sources):
            os.set_blocking(pipe.fileno(), False)
        for pipe in self._sources:
            self._loop.add_reader(pipe.fileno(), self._read, pipe)
        self._loop.add_writer(self._stdin.fileno(), self._write)
        if self._exit_fd is None:
            self._poll()
        else:
            self._loop.add_reader(self._exit_fd, self._end)

    async def drain(self) -> None:
        """Read the rest of the pipes once nothing writes to them any more."""
        await asyncio.wait({self._drained}, timeout=_DRAIN_S)

    def kill(self) -> None:
        """Kill all its processes: its group, and those with its mark."""
        if self._is_killed:
            return
        self._is_killed = True
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        # A process may start others while the first sweep goes through the list.
        killed: set[int] = set()
        for _ in range(_MAX_SWEEPS):
            found = _marked(self._mark) - killed
            if not found:
                return
            killed |= found
            for pid in found:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)

    def bury(self) -> int:
        """Kill what is left, close the pipes and return the exit code."""
        # It does not wait in the event loop, so that a second cancellation cannot interrupt it.
        self.kill()
        for pipe in list(self._sources):
            self._close_source(pipe)
        self._close_stdin()
        self._stop_waiting()
        try:
            return self._process.wait(_REAP_S)
        except subprocess.TimeoutExpired:  # it waits in the kernel, and dies when it returns
            return -signal.SIGKILL

    def _read(self, pipe: IO[bytes]) -> None:
        try:
            chunk = os.read(pipe.fileno(), _CHUNK_BYTES)
        except BlockingIOError:
            return
        buffer, most = self._sources[pipe], self._most_bytes[pipe]
        buffer += chunk
        self._n_read[pipe] += len(chunk)
        if buffer is self._stderr:
            del buffer[:-STDERR_TAIL_BYTES]
        if most is not None and self._n_read[pipe] > most:
            self.exceeded_bytes = most
            self._end()
        if not chunk or self.exceeded_bytes is not None:
            self._close_source(pipe)

    def _write(self) -> None:
        try:
            written = os.write(self._stdin.fileno(), self._left[:_CHUNK_BYTES])
        except BlockingIOError:
            return
        except BrokenPipeError:
            # A program may ignore its input; whether that is a failure, its exit code decides.
            written = len(self._left)
        self._left = self._left[written:]
        if not self._left:
            self._close_stdin()

    def _poll(self) -> None:
        if self._process.poll() is not None:
            self._end()
        elif not self._is_killed:
            self._loop.call_later(_POLL_S, self._poll)

    def _end(self) -> None:
        self._stop_waiting()
        if not self.ended.done():
            self.ended.set_result(None)

    def _stop_waiting(self) -> None:
        if self._exit_fd is not None:
            self._loop.remove_reader(self._exit_fd)
            os.close(self._exit_fd)
            self._exit_fd = None

    def _close_source(self, pipe: IO[bytes]) -> None:
        self._loop.remove_reader(pipe.fileno())
        pipe.close()
        del self._sources[pipe]
        if not self._sources and not self._drained.done():
            self._drained.set_result(None)

    def _close_stdin(self) -> None:
        if not self._stdin.closed:
            self._loop.remove_writer(self._stdin.fileno())
            self._stdin.close()


def printable_text(raw: bytes) -> str:
    r"""Bytes of an external program as text that is safe to print to a terminal."""
    text = raw.decode("utf-8", errors="replace").replace("\r\n", "\n").strip()
    return "".join(
        c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text
    )


def n_tasks_of_user() -> int:
    """How many processes and threads this process's user has."""
    user, found = os.getuid(), 0
    for pid in _pids():
        with suppress(OSError):
            if (_PROC / pid).stat().st_uid == user:
                found += len(list((_PROC / pid / "task").iterdir()))
    return found


def _marked(mark: bytes) -> set[int]:
    """The processes with the mark in their environment, on Linux."""
    # A grandchild may have left the group, but seldom empties its environment.
    found = set()
    for pid in _pids():
        with suppress(OSError):
            if mark in (_PROC / pid / "environ").read_bytes():
                found.add(int(pid))
    return found


def _pids() -> list[str]:
    try:
        return [name for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208 - names
    except OSError:  # not Linux
        return []
