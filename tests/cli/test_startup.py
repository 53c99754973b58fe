"""Ctrl-C while the command is still being imported."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from judgekit.cli.startup import end_on_interrupt, raise_interrupts

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to send")

PRESSED_AT_IMPORT = """
import os, signal, sys

module, sys.argv[1] = sys.argv[1], "validate"

class Press:
    def find_spec(self, name, *_):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

# In the background it may be ignored, which the command respects.
signal.signal(signal.SIGINT, signal.default_int_handler)
from judgekit.__main__ import start
sys.meta_path.insert(0, Press())
start()
"""


@pytest.mark.parametrize("module", ["judgekit.cli.main", "click", "judgekit.cli.validate"])
def test_an_interrupt_during_the_imports_ends_the_command_without_a_word(
    module: str, tmp_path: Path
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PRESSED_AT_IMPORT, module],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, b"", b"")


EXIT = """
import atexit, gc, sys

# What is registered first runs last, after what the command registered.
atexit.register(lambda: print("frozen:", gc.get_freeze_count() > 0))
from judgekit.__main__ import start
sys.argv[1:] = ["--version"]
start()
"""


def test_at_the_end_the_garbage_collector_leaves_alone_what_was_imported(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", EXIT], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("judgekit, version")
    assert ran.stdout.endswith("frozen: True\n")


CTRL_BREAK = """
import os, signal, sys

signal.SIGBREAK = signal.SIGUSR1
import judgekit.cli.main as command

def press(**_):
    os.kill(os.getpid(), signal.SIGBREAK)

command.judgekit.main = press
command.main(["show"])
"""


def test_ctrl_break_of_windows_ends_a_command_as_ctrl_c_does(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", CTRL_BREAK], cwd=tmp_path, capture_output=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (130, b"interrupted\n")


def test_afterwards_an_interrupt_is_an_exception_again() -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        end_on_interrupt()
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        raise_interrupts()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_process_that_ignores_interrupts_goes_on_ignoring_them() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        end_on_interrupt()
        raise_interrupts()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
