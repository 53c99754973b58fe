"""PostgreSQL and Redis for tests: started from the machine's own programs on free loopback ports.

Each has its files in a temporary folder, can be stopped and started again, and is gone afterwards.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
import redis

from tests.store.postgres import programs, server_owner, server_program

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORD = "c0rrect/h@rse"
"""Of all users; it must be quoted in an address, and be shown nowhere."""

QUOTED = "c0rrect%2Fh%40rse"
_NUMBERS = count()
_START_S = 20


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@dataclass
class PostgresServer:
    """A PostgreSQL server that wants passwords."""

    programs: Path
    folder: Path
    port: int = field(default_factory=free_port)

    def start(self) -> None:
        options = (
            f"-c listen_addresses=127.0.0.1 -p {self.port} -c unix_socket_directories='' "
            "-c fsync=off -c max_connections=60"
        )
        self._call(["pg_ctl", "-D", "data", "-l", "log", "-o", options, "-w", "start"])

    def stop(self) -> None:
        """At once, as in a crash."""
        self._call(["pg_ctl", "-D", "data", "-m", "immediate", "stop"])

    def create(self) -> None:
        (self.folder / "password").write_text(PASSWORD, encoding="utf-8")
        shutil.chown(self.folder / "password", server_owner())
        self._call([
            "initdb", "-D", "data", "-U", "judge", "-A", "scram-sha-256", "--pwfile=password",
            "-E", "UTF8", "--no-locale", "--no-sync", "--no-instructions",
        ])  # fmt: skip

    def new_url(self, *, encoding: str = "UTF8") -> str:
        """The address of a new, empty database, with the password."""
        name = f"cache_{next(_NUMBERS)}"
        self.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0")
        return self.url(name)

    def url(self, database: str, *, user: str = "judge", password: str = QUOTED) -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def execute(self, *statements: str, database: str = "postgres") -> None:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def _call(self, command: list[str]) -> None:
        server_program(self.programs, self.folder, command)


@dataclass
class RedisServer:
    """A Redis server that wants a password."""

    program: str
    folder: Path
    options: tuple[str, ...]
    port: int = field(default_factory=free_port)
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = ["--port", str(self.port), "--bind", "127.0.0.1", "--requirepass", PASSWORD]
        self._process = subprocess.Popen(
            [self.program, *words, "--dir", str(self.folder), *self.options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + _START_S
        while True:
            try:
                self.client().ping()
            except redis.ConnectionError:
                assert time.monotonic() < until, "redis-server does not start"
                time.sleep(0.05)
            else:
                return

    def stop(self) -> None:
        """At once, as in a crash."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port, password=PASSWORD, decode_responses=True)

    def new_url(self) -> str:
        """The address of a database that is empty, with the password."""
        number = next(_NUMBERS) % 16
        redis.Redis(port=self.port, password=PASSWORD, db=number).flushdb()
        return f"redis://:{QUOTED}@127.0.0.1:{self.port}/{number}"


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    found = programs()
    if found is None:
        pytest.skip("NOT TESTED AGAINST POSTGRESQL: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="judgekit-pg-"))
    shutil.chown(folder, server_owner())
    server = PostgresServer(found, folder)
    try:
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


@contextmanager
def running_redis(*options: str) -> Iterator[RedisServer]:
    found = shutil.which("redis-server") or shutil.which("valkey-server")
    if found is None:
        pytest.skip("NOT TESTED AGAINST REDIS: apt-get install redis-server")
    with tempfile.TemporaryDirectory(prefix="judgekit-redis-") as folder:
        # As the how-to has it: `everysec` may lose what was acknowledged in the last second.
        durable = ("--appendonly", "yes", "--appendfsync", "always")
        server = RedisServer(found, Path(folder), options or durable)
        try:
            server.start()
            yield server
        finally:
            server.stop()
