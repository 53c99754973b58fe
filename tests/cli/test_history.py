"""The versions of a suite's variants, with the figures of their latest runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.evaluation.provenance import git_revision
from tests.cli.test_gate import LENIENT, STRICT, judged, passing

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run

COMMIT, OTHER = "a" * 40, "b" * 40


def test_a_version_is_what_the_outputs_were(run: Run, tmp_path: Path) -> None:
    for n_passing in (10, 8, 8):
        passing(tmp_path, 10, n_passing, gate=None)
        run("run", "-q")
    versions = run("history", "--json").json["versions"]
    assert [(one["version"], one["n_runs"], one["is_current"]) for one in versions] == [
        (1, 1, False), (2, 2, True),
    ]  # fmt: skip
    assert [one["pass_rate"]["value"] for one in versions] == [1.0, 0.8]
    assert {one["path"] for one in versions} == {"v1.jsonl"}
    assert "2 versions; current: v1 version 2" in run("history").out


def test_a_version_that_was_measured_differently_says_so(run: Run, tmp_path: Path) -> None:
    judged(tmp_path, STRICT, 2, gate=None)
    run("run", "-q")
    judged(tmp_path, LENIENT, 5, gate=None)
    outputs = tmp_path / "v1.jsonl"
    outputs.write_text(outputs.read_text(encoding="utf-8").replace("right", "new"), "utf-8")
    run("run", "-q")
    first, second = run("history", "--json").json["versions"]
    assert "the model was" in first["not_comparable"][0]
    assert second["not_comparable"] == []
    assert run("history", "nowhere").code == 2


@pytest.mark.parametrize("form", ["loose", "packed", "detached", "worktree"])
def test_the_commit_is_read_from_git_files(tmp_path: Path, form: str) -> None:
    git = tmp_path / ".git"
    folder = tmp_path / "suites" / "one"
    folder.mkdir(parents=True)
    own = git
    if form == "worktree":
        own = tmp_path / "main" / "worktrees" / "w"
        git.write_text(f"gitdir: {own}\n", encoding="utf-8")
    own.mkdir(parents=True)
    head = COMMIT if form == "detached" else "ref: refs/heads/main"
    (own / "HEAD").write_text(f"{head}\n", encoding="utf-8")
    shared = own
    if form == "worktree":
        (own / "commondir").write_text("../..\n", encoding="utf-8")
        shared = tmp_path / "main"
    if form in {"loose", "worktree"}:
        (shared / "refs" / "heads").mkdir(parents=True)
        (shared / "refs" / "heads" / "main").write_text(f"{COMMIT}\n", encoding="utf-8")
    elif form == "packed":
        lines = f"# pack-refs\n{OTHER} refs/heads/other\n{COMMIT} refs/heads/main\n"
        (git / "packed-refs").write_text(lines, encoding="utf-8")
    assert git_revision(folder) == COMMIT


def test_without_git_there_is_no_commit(tmp_path: Path) -> None:
    assert git_revision(tmp_path) is None
    (tmp_path / ".git").mkdir()
    assert git_revision(tmp_path) is None
