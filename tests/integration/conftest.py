"""Servers for tests: one of each for all of them, and some with settings of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.servers import running_postgres, running_redis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.servers import PostgresServer, RedisServer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """They need servers: `make integration` runs them."""
    for item in items:
        if "/integration/" in item.path.as_posix():
            item.add_marker("integration")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    with running_redis() as server:
        yield server


@pytest.fixture(params=["postgres", "redis_server"])
def server(request: pytest.FixtureRequest) -> PostgresServer | RedisServer:
    """A server of either kind."""
    found: PostgresServer | RedisServer = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def url(server: PostgresServer | RedisServer) -> str:
    """The address of an empty cache, with its password."""
    return server.new_url()
