"""One running program: its pipes, what came out of them, its end, and the end of all it began."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STDERR_TAIL_BYTES = 4096
"""How much of the end of stderr is kept."""

_MARK = "_JUDGEKIT_PROCESS"
_CHUNK_BYTES = 1 << 16
_DRAIN_S = 1.0
"""How long to wait for the end of the pipes once everything that wrote to them was killed."""

_REAP_S = 5.0
_POLL_S = 0.01
_MAX_SWEEPS = 20
_PROC = Path("/proc")


class Child:
    """A running program, its pipes, and what came out of them so far.

    Of asyncio it uses only callbacks on file descriptors: asyncio's own processes hang on a
    watcher, and on pipes that a grandchild may hold open, in ways that differ between versions.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        stdin: bytes,
        *,
        most_bytes: tuple[int, int | None],
        environment: Mapping[str, str],
        folder: Path | None,
    ) -> None:
        mark = secrets.token_hex(8)
        self._mark = f"{_MARK}={mark}".encode()
        self._process = process = _begun(arguments, {**environment, _MARK: mark}, folder)
        self._left = memoryview(stdin)
        self._most_bytes, self._most_stderr = most_bytes
        self._n_stderr = 0
        self._loop = asyncio.get_running_loop()
        self._drained: asyncio.Future[None] = self._loop.create_future()
        self._stderr = bytearray()
        self._is_killed = False
        self.ended: asyncio.Future[None] = self._loop.create_future()
        """Done when it ended, or wrote too much."""
        self.stdout = bytearray()
        """What it wrote so far."""
        self.is_too_large = False
        """Whether it wrote too much."""
        self.most_written = self._most_bytes
        """Where it did, how much would have been allowed."""
        self._stdin, stdout, stderr = (
            cast("IO[bytes]", pipe) for pipe in (process.stdin, process.stdout, process.stderr)
        )
        self._sources = {stdout: self._keep, stderr: self._keep_end}
        self._exit_fd = _exit_fd(process.pid)

    @property
    def stderr_tail(self) -> str:
        """The end of what it wrote to stderr so far, fit for a terminal."""
        return neutralised(bytes(self._stderr[-STDERR_TAIL_BYTES:]))

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
        """Wait for what is in the pipes, once nothing writes to them any more."""
        await asyncio.wait({self._drained}, timeout=_DRAIN_S)

    def kill(self) -> None:
        """Kill all its processes: its group, while the number is still its own, and the marked."""
        if self._is_killed:
            return
        self._is_killed = True
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
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
        """Kill what is left, close the pipes and reap."""
        # It does not wait by the loop, so that a second cancelling cannot come in between.
        self.kill()
        for pipe in list(self._sources):
            self._close_source(pipe)
        self._close_stdin()
        self._stop_waiting()
        try:
            return self._process.wait(_REAP_S)
        except subprocess.TimeoutExpired:  # the kernel holds it; it dies once that lets it go
            return -signal.SIGKILL

    def _read(self, pipe: IO[bytes]) -> None:
        try:
            chunk = os.read(pipe.fileno(), _CHUNK_BYTES)
        except BlockingIOError:
            return
        self._sources[pipe](chunk)
        if not chunk or self.is_too_large:
            self._close_source(pipe)

    def _keep(self, chunk: bytes) -> None:
        self.stdout += chunk
        if len(self.stdout) > self._most_bytes:
            self.is_too_large = True
            self._end()

    def _keep_end(self, chunk: bytes) -> None:
        self._stderr += chunk
        del self._stderr[:-STDERR_TAIL_BYTES]
        self._n_stderr += len(chunk)
        if self._most_stderr is not None and self._n_stderr > self._most_stderr:
            self.is_too_large, self.most_written = True, self._most_stderr
            self._end()

    def _write(self) -> None:
        try:
            written = os.write(self._stdin.fileno(), self._left[:_CHUNK_BYTES])
        except BlockingIOError:
            return
        except BrokenPipeError:  # it does not want to read; whether that is a fault, it says
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


def neutralised(raw: bytes) -> str:
    r"""Bytes of a stranger as text that a terminal only shows."""
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


def _begun(
    arguments: Sequence[str], environment: Mapping[str, str], folder: Path | None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - to run it is what the caller asked for
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )


def _exit_fd(pid: int) -> int | None:
    """A descriptor that can be read once the process has ended; None where there are none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _marked(mark: bytes) -> set[int]:
    """The processes with a text in their environment, on Linux."""
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
