"""What a script can reach that is run with `--allow-scripts`: the table of SECURITY.md, measured.

A script is the operator's code. It runs in a process with limits, which is no sandbox: this table
says what is prevented and what is not, so that nobody has to guess.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgekit.assertions import ScriptFailedError, ScriptSettings
from judgekit.assertions.scripts import run_script
from judgekit.records import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
SENTINEL = "sk-sentinel-1f3c"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what systems allow differs")

# What it tries; whether it succeeds; the script, which answers with that, or fails.
REACH: list[tuple[str, bool, str]] = [
    ("is given judgekit's environment variables", False,
     "import os\ndef evaluate(o): return 'OPENAI_API_KEY' in os.environ"),
    ("reads judgekit's environment through `/proc`", True,
     ("def evaluate(o):\n"
     "  text = open('/proc/{parent}/environ', 'rb').read()\n  return b'PATH=' in text")),
    ("reads files of yours, such as those of your home folder", True,
     "def evaluate(o): return open('{outside}/secret').read() == 'mine'"),
    ("writes, changes or deletes files outside of its folder", True,
     "def evaluate(o):\n  open('{outside}/made', 'w').write('x')\n  return True"),
    ("connects to the network", True,
     ("import socket\ndef evaluate(o):\n"
     "  socket.create_connection(('127.0.0.1', {port}), 5).close()\n  return True")),
    ("sends signals to judgekit", True,
     "import os\ndef evaluate(o):\n  os.kill({parent}, 0)\n  return True"),
    ("runs longer than its time limit", False,
     "import time\ndef evaluate(o):\n  time.sleep(30)\n  return True"),
    ("ignores the signals that stop it", False,
     ("import signal, time\nfor n in (1, 2, 15, 24): signal.signal(n, signal.SIG_IGN)\n"
     "def evaluate(o):\n  while True: pass")),
    ("uses more memory than its limit in one process", False,
     "def evaluate(o):\n  data = bytearray(400 << 20)\n  return True"),
    ("uses more memory than its limit in several processes", True,
     ("import os\ndef evaluate(o):\n  pids = [os.fork() for _ in range(1)]\n"
     "  data = b'x' * (150 << 20)\n"
     "  if 0 in pids: os._exit(0)\n  return os.waitpid(pids[0], 0)[1] == 0")),
    ("writes more to stdout or stderr than its limit", False,
     "import sys\ndef evaluate(o):\n  sys.stderr.write('x' * (20 << 20))\n  return True"),
    ("writes a file of any size", True,
     "def evaluate(o):\n  f = open('{outside}/big', 'wb')\n  f.truncate(1 << 34)\n  return True"),
    ("starts other programs", True,
     "import subprocess\ndef evaluate(o): return subprocess.call(['true']) == 0"),
    ("answers with what is no verdict (NaN, text, nothing)", False,
     "def evaluate(o): return float('nan')"),
    ("makes a crash count as a verdict", False,
     "import ctypes\ndef evaluate(o): ctypes.string_at(0)"),
]  # fmt: skip

# How a process stays behind; whether it lives on when the script has answered.
LEFT_BEHIND: list[tuple[str, bool, str]] = [
    ("leaves a process behind: in the background", False, "sleep 60 & echo $! > {noted}"),
    ("leaves a process behind: in a session of its own (a daemon)", False,
     "setsid sleep 60 & echo $! > {noted}"),
    ("leaves a process behind: after a double fork, ignoring signals", False,
     "(setsid sh -c 'echo $$ > {noted}; trap \"\" 1 2 15; sleep 60; :' &) & sleep 0.1"),
    ("leaves a process behind: in a session of its own, with an empty environment", True,
     "setsid env -i sleep 60 & echo $! > {noted}; sleep 0.1"),
]  # fmt: skip


@pytest.fixture
def answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., bool]]:
    """Runs a script in a folder of its own; whether it did what it tried."""
    inside, outside = tmp_path / "suite", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("mine", encoding="utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", SENTINEL)
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        known = {"parent": os.getpid(), "port": server.getsockname()[1], "outside": outside}

        def run(source: str, timeout_s: float) -> bool:
            for name, value in known.items():
                source = source.replace(f"{{{name}}}", str(value))
            (inside / "check.py").write_text(source, encoding="utf-8")
            settings = ScriptSettings(
                inside, is_allowed=True, timeout_s=timeout_s, memory_bytes=256 << 20
            )
            try:
                answer = asyncio.run(run_script("check.py", Output(text="x"), settings=settings))
            except ScriptFailedError:
                return False
            return answer.passed is True

        yield run


@pytest.mark.parametrize(("what", "succeeds", "source"), REACH, ids=[row[0] for row in REACH])
def test_what_a_script_can_reach(
    answered: Callable[..., bool], what: str, *, succeeds: bool, source: str
) -> None:
    # A busy machine may take long for what succeeds.
    assert answered(source, 20.0 if succeeds else 1.5) is succeeds, what


@pytest.mark.parametrize(("what", "stays", "command"), LEFT_BEHIND, ids=[r[0] for r in LEFT_BEHIND])
def test_what_a_script_leaves_behind(
    answered: Callable[..., bool], tmp_path: Path, what: str, *, stays: bool, command: str
) -> None:
    noted = tmp_path / "outside" / "pid"
    shell = command.replace("{noted}", str(noted))
    source = (
        "import subprocess\ndef evaluate(o):\n"
        f"  subprocess.run({shell!r}, shell=True, stdout=-3, stderr=-3)\n  return True"
    )
    assert answered(source, 20.0)
    pid = int(noted.read_text(encoding="utf-8"))
    # What was killed takes a moment to end on a machine with other work.
    found = not ends(pid, 0 if stays else 20)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    assert found is stays, what


def ends(pid: int, within_s: float) -> bool:
    """Whether a process is gone, or goes within a time."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    with os.fdopen(process) as ended:
        return bool(select.select([ended], [], [], within_s)[0])


def test_the_table_of_what_a_script_can_reach_is_the_one_measured() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| A s")]
    assert rows == [
        [f"A script {what}", "possible" if is_possible else "prevented"]
        for what, is_possible, _ in (*REACH, *LEFT_BEHIND)
    ]
