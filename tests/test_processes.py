"""Strangers' programs run within limits, and nothing of them is left."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from judgekit import subprocess
from judgekit.errors import SettingsError
from judgekit.subprocess import (
    ProcessFailedError,
    ProcessLimits,
    find_program,
    printable_text,
    run_process,
    scrub_environment,
)

if TYPE_CHECKING:
    from collections.abc import Callable

MIB = 1 << 20


async def run(*command: str, stdin: bytes = b"", limits: ProcessLimits | None = None) -> bytes:
    return await run_process(
        command, stdin, limits=limits or ProcessLimits(), environment=None, folder=None
    )


def python(program: str) -> tuple[str, str, str]:
    return sys.executable, "-c", program


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def called(name: str) -> list[int]:
    """The processes that were begun with an argument."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if name.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def is_gone_soon(pid: int) -> bool:
    give_up = time.monotonic() + 60
    while is_alive(pid) and time.monotonic() < give_up:
        os.sched_yield()
    return not is_alive(pid)


async def test_a_program_gets_its_stdin_and_gives_its_stdout() -> None:
    finished = await run("cat", stdin=b"x" * (3 * MIB))
    assert finished == b"x" * (3 * MIB)


async def test_where_there_are_no_process_groups_no_program_is_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delattr(os, "killpg")
    with pytest.raises(ProcessFailedError, match="programs run on Linux and macOS only") as caught:
        await run("touch", str(tmp_path / "started"))
    assert caught.value.kind == "not_found"
    assert "run judgekit in WSL" in str(caught.value)
    assert not (tmp_path / "started").exists()


async def test_a_program_that_reads_nothing_is_no_fault() -> None:
    assert await run("true", stdin=b"x" * (3 * MIB)) == b""


async def test_a_program_that_closes_its_stdin_and_goes_on_is_no_fault() -> None:
    program = "import os, time; os.close(0); time.sleep(0.05); print('done')"
    assert (await run(*python(program), stdin=b"x" * (3 * MIB))) == b"done\n"


async def test_the_end_of_stderr_is_kept_and_tame() -> None:
    program = "import sys; sys.stderr.write('a' * 9000 + '\\x1b[31mred\\u202e\\n'); sys.exit(1)"
    with pytest.raises(ProcessFailedError) as caught:
        await run(*python(program))
    assert len(caught.value.stderr) < 5000
    assert caught.value.stderr.endswith("a\\x1b[31mred\\u202e")


async def test_an_exit_code_is_a_failure_with_stderr() -> None:
    with pytest.raises(ProcessFailedError, match="ended with exit code 3") as caught:
        await run("sh", "-c", "echo because >&2; exit 3")
    error = caught.value
    assert (error.kind, error.exit_code, error.stderr) == ("exit", 3, "because")


@pytest.mark.parametrize(("number", "name"), [(11, "SIGSEGV"), (40, "signal 40")])
async def test_a_signal_is_a_failure_of_its_own(number: int, name: str) -> None:
    with pytest.raises(ProcessFailedError, match=f"killed by {name}") as caught:
        await run("sh", "-c", f"kill -{number} $$")
    assert caught.value.kind == "signal"


async def test_a_program_that_hangs_is_stopped() -> None:
    name = f"hangs-{uuid4()}"
    with pytest.raises(ProcessFailedError, match=r"stopped after 0\.2 s") as caught:
        await run("sh", "-c", "trap '' TERM; sleep 600", name, limits=ProcessLimits(timeout_s=0.2))
    assert caught.value.kind == "timeout"
    assert called(name) == []


async def test_a_program_that_burns_cpu_is_stopped() -> None:
    with pytest.raises(ProcessFailedError, match="more than 1 s of CPU time") as caught:
        await run("sh", "-c", "while :; do :; done", limits=ProcessLimits(cpu_s=1))
    assert caught.value.kind == "timeout"


async def test_much_output_is_given_up_and_not_held() -> None:
    with pytest.raises(ProcessFailedError, match="more than 1 MiB") as caught:
        await run("yes", limits=ProcessLimits(output_bytes=MIB))
    assert caught.value.kind == "too_large"


async def test_much_stderr_is_read_and_dropped() -> None:
    program = "import sys; sys.stderr.write('e' * 20_000_000); print('ok')"
    assert (await run(*python(program))) == b"ok\n"


async def test_memory_is_limited() -> None:
    limits = ProcessLimits(memory_bytes=200 * MIB)
    with pytest.raises(ProcessFailedError, match="needed more than 200 MiB") as caught:
        await run(*python("bytearray(300 << 20)"), limits=limits)
    assert caught.value.kind == "memory"


async def test_without_a_limit_memory_is_the_systems_own() -> None:
    limits = ProcessLimits(memory_bytes=None)
    with pytest.raises(ProcessFailedError, match="exit code 1") as caught:
        await run(*python("raise MemoryError"), limits=limits)
    assert caught.value.kind == "exit"


async def test_the_number_of_processes_is_limited() -> None:
    program = "import resource; print(resource.getrlimit(resource.RLIMIT_NPROC)[0])"
    finished = await run(*python(program), limits=ProcessLimits(n_processes=500))
    assert 500 < int(finished) < 500_000


@pytest.mark.parametrize("name", ["no-such-program", "./nowhere/program", "", "/etc/passwd"])
async def test_a_program_that_is_not_there_is_said_so(name: str) -> None:
    with pytest.raises(ProcessFailedError, match="can be run was found") as caught:
        await run(name)
    assert caught.value.kind == "not_found"


async def test_a_folder_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ProcessFailedError, match="there is no folder"):
        await run_process(
            ["true"], b"", limits=ProcessLimits(), environment=None, folder=tmp_path / "nowhere"
        )


async def test_an_argument_with_nul_cannot_be_begun() -> None:
    with pytest.raises(ProcessFailedError, match="could not be started: embedded null byte"):
        await run("echo", "a\0b")


async def test_a_relative_program_is_found_in_the_folder_it_runs_in(tmp_path: Path) -> None:
    script = tmp_path / "answer.sh"
    script.write_text("#!/bin/sh\npwd\n", encoding="utf-8")
    script.chmod(0o700)
    finished = await run_process(
        ["./answer.sh"], b"", limits=ProcessLimits(), environment=None, folder=tmp_path
    )
    assert finished.decode().strip() == str(tmp_path)


def test_an_empty_path_still_finds_the_systems_programs() -> None:
    assert find_program(["sh"], environment={}, folder=None).endswith("/sh")


LEAVING = {
    "in its group": "sleep 60 >/dev/null 2>&1 & echo $!",
    "holding the pipes": "sleep 60 & echo $!",
    "in a session of its own": "setsid sleep 60 & echo $!",
}


@pytest.mark.parametrize("script", LEAVING.values(), ids=LEAVING)
async def test_what_a_program_leaves_running_is_killed(script: str) -> None:
    finished = await run("sh", "-c", script)
    assert is_gone_soon(int(finished))


async def test_a_process_that_hid_and_holds_the_pipes_is_not_waited_for() -> None:
    hidden = "setsid env -i sleep 600 & echo $!"
    finished = await run("sh", "-c", hidden)
    os.kill(int(finished), 9)  # it is still there


@pytest.mark.parametrize("limits", [ProcessLimits(timeout_s=0.3), ProcessLimits(output_bytes=100)])
async def test_grandchildren_die_with_a_program_that_is_stopped(
    limits: ProcessLimits, tmp_path: Path
) -> None:
    noted = tmp_path / "pid"
    script = f"setsid sleep 60 & echo $! > {noted}; while :; do sleep 0.01; echo more; done"
    with pytest.raises(ProcessFailedError):
        await run("sh", "-c", script, limits=limits)
    assert is_gone_soon(int(noted.read_text(encoding="utf-8")))


async def test_cancelling_leaves_no_process_and_no_zombie(tmp_path: Path) -> None:
    os.mkfifo(noted := tmp_path / "pid")
    task = asyncio.create_task(run("sh", "-c", f"echo $$ > {noted}; sleep 60"))
    pid = int(await asyncio.to_thread(noted.read_text))
    assert is_alive(pid)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_pipe_that_has_nothing_to_give_or_take_is_left_alone() -> None:
    limits = ProcessLimits(output_bytes=1)
    child = subprocess.Child(
        ["sleep", "60"], b"x" * MIB, limits=limits, environment=os.environ, folder=None
    )
    child.follow()
    for pipe in list(child._sources):
        child._read(pipe)
    for _ in range(5):
        child._write()
    assert child.bury() == -9
    assert child.stdout == b""


async def test_a_limit_to_stderr_holds_where_there_is_one() -> None:
    chatty = "head -c 3000000 /dev/zero >&2; echo done"
    finished = await run("sh", "-c", chatty)
    assert finished == b"done\n"
    with pytest.raises(ProcessFailedError, match="it wrote more than 1 MiB") as found:
        await run("sh", "-c", chatty, limits=ProcessLimits(stderr_bytes=MIB))
    assert found.value.kind == "too_large"


async def test_nothing_stays_open() -> None:
    before = sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are all that is wanted
    await run("echo", "hello")
    with pytest.raises(ProcessFailedError):
        await run("sleep", "60", limits=ProcessLimits(timeout_s=0.05))
    assert sorted(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_it_works_in_the_loop_of_another_thread_and_beside_itself() -> None:
    async def several() -> None:
        answers = await asyncio.gather(*(run("cat", stdin=str(n).encode()) for n in range(8)))
        found.extend(int(answer) for answer in answers)

    found: list[int] = []
    threads = [threading.Thread(target=asyncio.run, args=(several(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted([*range(8), *range(8)])


async def test_without_process_descriptors_it_asks_now_and_then(
    without_pidfd: Callable[[], None],
) -> None:
    without_pidfd()
    assert (await run("sh", "-c", "sleep 0.05; echo late")) == b"late\n"
    with pytest.raises(ProcessFailedError, match="stopped after"):
        await run("sleep", "60", limits=ProcessLimits(timeout_s=0.05))


@pytest.fixture
def without_pidfd(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A system as macOS is: the standard library has no `pidfd_open`."""
    return lambda: monkeypatch.delattr(os, "pidfd_open")


def test_without_a_list_of_processes_none_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> list[str]:
        raise FileNotFoundError

    monkeypatch.setattr(os, "listdir", refuse)
    assert subprocess.n_tasks_of_user() == 0


def test_keys_and_loaders_are_not_handed_on() -> None:
    own = {
        "PATH": "/bin", "LC_ALL": "C", "OPENAI_API_KEY": "k", "AWS_SESSION_TOKEN": "t",
        "JUDGEKIT_CACHE": "c", "PYTHONPATH": "p", "LD_PRELOAD": "l", "NODE_OPTIONS": "n",
    }  # fmt: skip
    assert scrub_environment({"MODE": "x"}, own=own) == {
        "PATH": "/bin", "LC_ALL": "C", "MODE": "x",
    }  # fmt: skip


async def test_a_program_does_not_see_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "hidden")
    finished = await run("env")
    assert b"hidden" not in finished
    assert b"PATH=" in finished


@pytest.mark.parametrize("extra", [{"A=B": "x"}, {"": "x"}, {"A": "x\0"}])
def test_a_variable_that_cannot_be_one_is_refused(extra: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="cannot be an environment variable"):
        scrub_environment(extra)


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    assert printable_text(b" a\r\nb\xff\x07\tc ") == "a\nb\ufffd\\x07\tc"
