"""A short cut of the failing disk; `make chaos` tries each operation, fault and command."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest

from judgekit.testing.flawed_files import FileFault
from tests.chaos.disk import fail_at_each

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")


@pytest.mark.parametrize(
    ("command", "step"),
    [("grade", 9), ("run", 7), ("report", 3), ("export", 1), ("cache export", 1), ("convert", 1)],
)
def test_a_full_disk_leaves_old_files_and_says_so(tmp_path: Path, command: str, step: int) -> None:
    found = fail_at_each(command, "disk_full", tmp_path / "suite", step=step)
    assert found.complaints == []
    assert found.n_tried >= 4


@pytest.mark.parametrize("fault", get_args(FileFault))
def test_no_fault_of_files_leaves_half_a_file(tmp_path: Path, fault: FileFault) -> None:
    found = fail_at_each("convert", fault, tmp_path / "suite", times=1)
    assert found.complaints == []
    assert found.n_tried == found.n_operations


@pytest.mark.parametrize("start", [0, 1, 2])
def test_a_run_whose_database_cannot_be_begun_on_a_full_disk_can_be_resumed(
    tmp_path: Path, start: int
) -> None:
    found = fail_at_each("run", "disk_full", tmp_path / "suite", start=start, step=10_000)
    assert found.complaints == []
    assert found.n_tried == 1
