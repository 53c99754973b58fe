"""Ctrl-C and SIGTERM at the moment a module begins to be imported, from judgekit's first line on.

What must hold: exit code 130, and no traceback.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.chaos.commands import COMMANDS, lay_out

if TYPE_CHECKING:
    from pathlib import Path

INTERRUPTED = 130
# Python runs `sitecustomize` before the command: it signals its own process at the import of a
# module, or lists the modules in their order.
_HOOK = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["STOP_AT"]:
            os.kill(os.getpid(), int(os.environ["STOP_BY"]))
        if os.environ["STOP_AT"] == "*" and "judgekit.cli.startup" in sys.modules:
            print("import", name, file=sys.stderr)

sys.meta_path.insert(0, Finder())
# A process in the background ignores Ctrl-C; the shell of a user does not.
signal.signal(signal.SIGINT, signal.default_int_handler)
"""


@dataclass
class Stops:
    """The moments at which a command was stopped, and how it ended otherwise than it must."""

    command: str
    n_stops: int = 0
    complaints: list[str] = field(default_factory=list)


def stop_at_imports(
    command: str, folder: Path, *, number: int, n_stops: int | None, seed: int
) -> Stops:
    """Stop a command while it starts up: at each import, or at so many drawn at random."""
    lay_out(folder, "http://127.0.0.1:9/v1", n_cases=2)
    (folder / "sitecustomize.py").write_text(_HOOK, encoding="utf-8")
    listed = _start(command, folder, stop_at="*", number=number).stderr
    modules = [line.split()[1] for line in listed.splitlines() if line.startswith("import ")]
    moments = list(dict.fromkeys(modules))
    if n_stops is not None:
        moments = random.Random(seed).sample(moments, n_stops)
    stops = Stops(command)
    for moment in moments:
        done = _start(command, folder, stop_at=moment, number=number)
        stops.n_stops += 1
        if done.returncode != INTERRUPTED or "Traceback" in done.stderr:
            how = f"{signal.Signals(number).name} at the import of {moment}"
            stops.complaints.append(
                f"{command}: {how}: exit {done.returncode} {done.stderr[-300:]}"
            )
    return stops


def _start(
    command: str, folder: Path, *, stop_at: str, number: int
) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ, "PYTHONPATH": str(folder), "STOP_AT": stop_at, "STOP_BY": str(int(number)),
        "OPENAI_API_KEY": "k",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "judgekit", *COMMANDS[command], "--dry-run", "-q"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
