"""A project of tests in a folder of its own, and pytest sessions that run in it."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import coverage
import pytest

from judgekit import pytest_plugin
from tests.factories import answer

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parents[2]

INI = """[pytest]
filterwarnings = error
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
"""

SUPPORT = """name: support
pass_threshold: 0.7
criteria:
  - {name: accuracy, question: Is it right?, scale: {min: 1, max: 5, integer: true}}
  - {name: tone, question: Is it polite?, scale: {min: 1, max: 5, integer: true}}
"""

JUDGE = ("--judgekit-judge=recorded:replies.jsonl", "--judgekit-rubric=support.yaml")
"""Options that name the recorded judge and the rubric of a project."""


@dataclass(frozen=True)
class Ran:
    """What came of a pytest session."""

    code: int
    """Its exit code."""

    out: str
    """What it printed."""

    @property
    def outcomes(self) -> dict[str, int]:
        """The counts of its last line: `{"passed": 2, "error": 1}`."""
        last = self.out.strip().splitlines()[-1]
        counts = re.findall(r"(\d+) ([a-z]+?)s?\b", last.partition(" in ")[0])
        return {word: int(n) for n, word in counts}


class Project:
    """Tests with a rubric and recorded replies, of cases `good`, `bad` and `half`.

    Args:
        folder: Where it lies.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("pytest.ini", INI)
        self.write("support.yaml", SUPPORT)
        self.record(
            line("good", accuracy=5, tone=4), line("bad", accuracy=1, tone=4), line("half", tone=4)
        )

    def write(self, name: str, text: str) -> Path:
        """Write a file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def record(self, *lines: str) -> None:
        """Record the judge's replies."""
        self.write("replies.jsonl", "".join(lines))

    def ini(self, *lines: str) -> None:
        """Add lines to the ini file."""
        self.write("pytest.ini", INI + "\n".join(lines) + "\n")

    def test(self, body: str, *arguments: str) -> Ran:
        """Run one file of tests in this process."""
        self.write("test_it.py", body)
        return self.run(*arguments)

    def run(self, *arguments: str) -> Ran:
        """Run its tests in this process."""
        modules, path, out = dict(sys.modules), list(sys.path), io.StringIO()
        try:
            with redirect_stdout(out):
                code = pytest.main([*_plugins(), "--color=no", *arguments], plugins=[pytest_plugin])
        finally:
            for name in set(sys.modules) - set(modules):
                if getattr(sys.modules[name], "__file__", None) and name.startswith("test_"):
                    del sys.modules[name]
            sys.modules.pop("conftest", None)
            sys.path[:] = path
        return Ran(int(code), out.getvalue())

    def run_alone(self, *arguments: str, is_measured: bool = False) -> Ran:
        """Run its tests in a process of their own; on demand measured where this one is."""
        plugins = _plugins("xdist.plugin", "judgekit.pytest_plugin")
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", *plugins, "--color=no", *arguments],
            cwd=self.folder, env=os.environ | (measured() if is_measured else {}),
            capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        return Ran(ran.returncode, ran.stdout + ran.stderr)


def line(case_id: str, *, repeat: int = 0, **scores: int) -> str:
    """Recorded replies to the questions about a case, a line for each criterion."""
    rows: Iterable[dict[str, Any]] = (
        {
            "case_id": case_id,
            "criterion": name,
            "repeat": repeat,
            "text": json.dumps(answer(score, rationale=f"{name} is {score}.")),
        }
        for name, score in scores.items()
    )
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def measured() -> dict[str, str]:
    """Variables that measure another process from its first line, where this one is measured."""
    if coverage.Coverage.current() is None:
        return {}
    start = {"COVERAGE_PROCESS_START": str(ROOT / "pyproject.toml")}
    return start | {"COVERAGE_FILE": str(ROOT / ".coverage")}


def _plugins(*more: str) -> list[str]:
    """Only what is named here is loaded: whatever else is installed has no part in a test."""
    return [part for name in ("pytest_asyncio.plugin", *more) for part in ("-p", name)]
