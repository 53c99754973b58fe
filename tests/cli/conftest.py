"""Commands run in a folder of their own, and hear nothing of the machine's settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cli.bench import Bench, lay_out
from tests.cli.cache_folders import CACHE, buy, requests, write_suite
from tests.cli.commanding import runner

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.models.request import ModelRequest
    from tests.cli.commanding import Run

_HEARD = (
    "CI", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "TERM",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*_HEARD, *(name for name in os.environ if name.startswith("JUDGEKIT_"))]:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def bench(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Bench:
    monkeypatch.chdir(tmp_path)
    return lay_out(tmp_path, runner(capsys))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return runner(capsys)


@pytest.fixture
def owned(run: Run, tmp_path: Path) -> list[ModelRequest]:
    """The requests of a small suite, all of them bought."""
    assert run is not None
    write_suite(tmp_path)
    found = requests()
    buy(CACHE, *found)
    return found
