from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.public_data.made import mirrored, write_catalog
from tests.servers.files import FileServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A catalog with one made set."""
    return write_catalog(tmp_path / "catalog")


def test_the_sets_are_listed_with_licence_and_size(run: Run, tmp_path: Path) -> None:
    ran = run("data", "list", "--to", tmp_path)
    assert ran.code == 0
    assert "llmbar" in ran.out
    assert "BSD-3-Clause" in ran.out
    assert "judgekit data get NAME" in ran.err
    found = run("data", "list", "--to", tmp_path, "--json").json
    assert found["folder"] == str(tmp_path)
    assert all(one["citation"] and not one["here"] for one in found["sets"])


def test_a_set_is_got_and_found(run: Run, tmp_path: Path, made: Path) -> None:
    own = ("--to", tmp_path, "--catalog", made)
    with FileServer(mirrored()) as server:
        ran = run("data", "get", "made", *own, "--from", server.url)
        assert ran.code == 0, ran.err
        assert "licence: none stated" in ran.err
        assert "2 files fetched and verified, 0 files already there" in ran.out
        assert "pairwise.jsonl.gz" in ran.out
        again = run("data", "get", "made", *own, "--from", server.url, "--json")
    assert (again.json["n_fetched"], again.json["n_kept"]) == (0, 2)
    assert run("data", "path", "made", *own).out.strip() == str(tmp_path / "made")
    assert len(run("data", "path", "made", *own, "--json").json["files"]) == 1
    assert "yes" in run("data", "list", *own).out


def test_a_download_that_fails_exits_with_3_and_says_what_to_do(
    run: Run, tmp_path: Path, made: Path
) -> None:
    own = ("--to", tmp_path, "--catalog", made)
    with FileServer({}) as server:
        ran = run("data", "get", "made", *own, "--from", server.url)
    assert ran.code == 3
    assert "the server answered 404" in ran.err
    assert "run the command again to resume" in ran.err


def test_a_set_that_was_never_fetched_has_no_path(run: Run, tmp_path: Path) -> None:
    ran = run("data", "path", "llmbar", "--to", tmp_path)
    assert ran.code == 2
    assert "fetch it with `judgekit data get llmbar`" in ran.err
    assert "did you mean llmbar" in run("data", "get", "llmbra", "--to", tmp_path).err
