"""A PostgreSQL server for tests: started from the machine's own programs, gone afterwards."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import psycopg

if TYPE_CHECKING:
    from collections.abc import Iterator

MISSING = (
    "NOT TESTED AGAINST POSTGRESQL: no server on this machine; install the Debian package "
    "`postgresql` (apt-get install postgresql)"
)
_SETTINGS = "-c fsync=off -c full_page_writes=off -c synchronous_commit=off -c max_connections=50"
_NUMBERS = count()


@dataclass(frozen=True)
class Server:
    """A running server, reached through a socket in its own folder."""

    folder: Path

    def new_url(self) -> str:
        """The address of a new, empty schema."""
        name = f"judgekit_{next(_NUMBERS)}"
        with psycopg.connect(self._address("judgekit"), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return self._address(f"judgekit&options={quote(f'-c search_path={name}')}")

    def _address(self, user: str) -> str:
        return f"postgresql://judgekit@/postgres?host={quote(str(self.folder))}&user={user}"


def programs() -> Path | None:
    """The folder of `initdb` and `postgres`; None where there is no server."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "pg_ctl").exists()), None)


@contextmanager
def running_server(folder: Path) -> Iterator[Server]:
    """A server of the programs in a folder, with no safety against power cuts."""
    home = Path(tempfile.mkdtemp(prefix="judgekit-pg-"))
    user = server_owner()
    shutil.chown(home, user)
    run = ["initdb", "-D", "data", "-U", "judgekit", "-A", "trust", "-E", "UTF8", "--no-locale"]
    start = f"-c listen_addresses='' -c unix_socket_directories='{home}' {_SETTINGS}"
    try:
        server_program(folder, home, [*run, "--no-sync", "--no-instructions"])
        server_program(
            folder, home, ["pg_ctl", "-D", "data", "-l", "log", "-o", start, "-w", "start"]
        )
        try:
            yield Server(home)
        finally:
            server_program(folder, home, ["pg_ctl", "-D", "data", "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(home)


def server_owner() -> str:
    """Who runs the server: it refuses to be run by root."""
    if os.geteuid() != 0:
        return getpass.getuser()
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def server_program(folder: Path, home: Path, command: list[str]) -> None:
    """Run a program of the server in its home, as its owner."""
    user = server_owner()
    as_user = {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": ()}
    subprocess.run(
        [folder / command[0], *command[1:]],
        cwd=home,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **(as_user if os.geteuid() == 0 else {}),  # type: ignore[call-overload]  # three by name
    )
