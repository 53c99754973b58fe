"""The git commit from which a run was made, read from git's files."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def git_revision(folder: Path) -> str | None:
    """The commit that is checked out in a folder or above it; None where there is none."""
    # Read from git's files: a process would take longer than many a run.
    with suppress(OSError, UnicodeDecodeError):
        for place in (folder.resolve(), *folder.resolve().parents):
            if (place / ".git").exists():
                return _checked_out(place / ".git")
    return None


def _checked_out(git: Path) -> str | None:
    if git.is_file():  # of a worktree or a submodule: a line that names the folder
        git = git.parent / git.read_text(encoding="utf-8").partition("gitdir:")[2].strip()
    head = (git / "HEAD").read_text(encoding="utf-8").strip()
    if not head.startswith("ref:"):
        return head or None
    name = head.partition(":")[2].strip()
    common = git / "commondir"
    shared = git / common.read_text(encoding="utf-8").strip() if common.is_file() else git
    for place in (git, shared):
        if (place / name).is_file():
            return (place / name).read_text(encoding="utf-8").strip() or None
    packed = shared / "packed-refs"
    lines = packed.read_text(encoding="utf-8").splitlines() if packed.is_file() else []
    return next((line.split(" ")[0] for line in lines if line.endswith(f" {name}")), None)
