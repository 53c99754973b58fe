"""Every test has a project of its own, and hears nothing of the machine's settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.plugin.project import Project

if TYPE_CHECKING:
    from pathlib import Path

_HEARD = ("CI", "BUILD_NUMBER", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "TERM")
"""What pytest listens to: with some of them it says more, or in colours."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with a rubric and recorded replies, in which pytest is run."""
    settings = [name for name in os.environ if name.startswith(("JUDGEKIT_", "PYTEST_"))]
    for name in {*_HEARD, *settings} - {"PYTEST_CURRENT_TEST"}:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)
