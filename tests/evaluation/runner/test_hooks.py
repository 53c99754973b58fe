from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import Suite
from judgekit.errors import SettingsError
from judgekit.evaluation.runner import suite_hooks
from tests.factories import make_case

if TYPE_CHECKING:
    from pathlib import Path

WRITE = (
    "import os, pathlib, sys; pathlib.Path(sys.argv[1]).write_text(os.environ.get('GREETING', ''))"
)
FAIL = "import sys; sys.exit('no database here')"


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def suite(folder: Path, **settings: Any) -> Suite:
    fields = {"name": "s", "cases": [make_case()], "settings": settings}
    return Suite.model_validate(fields).in_folder(folder)


async def test_setup_runs_before_and_teardown_after(tmp_path: Path) -> None:
    own = suite(tmp_path, setup=python(WRITE, "up"), teardown=python(WRITE, "down"),
                environment={"GREETING": "hello"})  # fmt: skip
    async with suite_hooks(own, allowed=True, note=pytest.fail):
        assert (tmp_path / "up").read_text() == "hello"
        assert not (tmp_path / "down").exists()
    assert (tmp_path / "down").read_text() == "hello"


async def test_a_setup_that_fails_begins_nothing_and_is_torn_down(tmp_path: Path) -> None:
    own = suite(tmp_path, setup=python(FAIL), teardown=python(WRITE, "down"))
    with pytest.raises(SettingsError, match=r"setup of suite 's' failed.*no database here"):
        async with suite_hooks(own, allowed=True, note=pytest.fail):
            pytest.fail("nothing may be asked")
    assert (tmp_path / "down").exists()


async def test_teardown_runs_also_when_what_came_before_broke(tmp_path: Path) -> None:
    own = suite(tmp_path, teardown=python(WRITE, "down"))
    with pytest.raises(ValueError, match="broken"):
        async with suite_hooks(own, allowed=True, note=pytest.fail):
            raise ValueError("broken")
    assert (tmp_path / "down").exists()


async def test_a_teardown_that_fails_is_told_of_and_the_results_stand(tmp_path: Path) -> None:
    told: list[str] = []
    async with suite_hooks(suite(tmp_path, teardown=python(FAIL)), allowed=True, note=told.append):
        pass
    assert "teardown of suite 's' failed" in told[0]
    assert "no database here" in told[0]


@pytest.mark.parametrize("name", ["setup", "teardown"])
async def test_programs_that_nobody_allowed_are_not_run(tmp_path: Path, name: str) -> None:
    own = suite(tmp_path, **{name: python(WRITE, "ran")})
    with pytest.raises(SettingsError, match="runs programs before or after its cases"):
        async with suite_hooks(own, allowed=False, note=pytest.fail):
            pytest.fail("nothing may be asked")
    assert not (tmp_path / "ran").exists()


async def test_a_program_that_says_nothing_has_failed_all_the_same(tmp_path: Path) -> None:
    own = suite(tmp_path, setup=python("raise SystemExit(3)"))
    with pytest.raises(SettingsError, match="no call was made: it ended with exit code 3"):
        async with suite_hooks(own, allowed=True, note=pytest.fail):
            pytest.fail("nothing may be asked")
