"""Stores for tests: each test that asks for one runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.store import RunStore
from tests.store.postgres import MISSING, Server, programs, running_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server, started when a test first asks for it."""
    folder = programs()
    if folder is None:
        pytest.skip(MISSING)
    with running_server(folder) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new database goes, of one kind after the other."""
    if request.param == "sqlite":
        return str(tmp_path / "judgekit.db")
    server: Server = request.getfixturevalue("postgres")
    return server.new_url()


@pytest.fixture
def store(location: str) -> Iterator[RunStore]:
    """An empty store."""
    opened = RunStore(location)
    yield opened
    opened.close()


@pytest.fixture
def sqlite_store(tmp_path: Path) -> Iterator[RunStore]:
    """An empty store in a file."""
    opened = RunStore(tmp_path / "judgekit.db", patience_s=0.1)
    yield opened
    opened.close()
