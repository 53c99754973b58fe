"""`judgekit view`: its address, how it ends, and what it refuses."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from judgekit.store import RunStore
from tests.web.conftest import add_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.commanding import Run


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The file of a store with a run."""
    file = tmp_path / "runs.db"
    with closing(RunStore(file)) as store:
        add_run(store)
    return file


@contextmanager
def viewing(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """The process of `judgekit view --json --no-open`, and its stdout."""
    command = [sys.executable, "-m", "judgekit", "view", "--no-open", "--json"]
    with subprocess.Popen(
        [*command, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout
        finally:
            process.kill()


def open_page(url: str) -> tuple[int, str]:
    """The status of a page by its address with the token, and where it leads."""
    parts = urlsplit(url)
    with closing(HTTPConnection("127.0.0.1", parts.port or 0, timeout=30)) as connection:
        connection.request("GET", f"{parts.path}?{parts.query}")
        reply = connection.getresponse()
        return reply.status, reply.getheader("location", "")


@pytest.mark.parametrize("pressed", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_interrupted(store: Path, pressed: signal.Signals) -> None:
    with viewing("latest", "--store", store) as (process, stdout):
        said = json.loads(stdout.readline())
        assert said["url"].startswith(f"http://127.0.0.1:{said['port']}/runs/run-1?token=")
        assert open_page(said["url"]) == (303, "/runs/run-1")
        process.send_signal(pressed)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")


def test_an_open_stream_does_not_hold_up_its_end(store: Path) -> None:
    with closing(RunStore(store)) as stored:
        add_run(stored, "now", status="running")
    with viewing("--store", store) as (process, stdout):
        parts = urlsplit(json.loads(stdout.readline())["url"])
        cookie = f"judgekit-{parts.port}={parts.query.removeprefix('token=')}"
        with closing(HTTPConnection("127.0.0.1", parts.port or 0, timeout=30)) as connection:
            connection.request("GET", "/api/events?run=now", headers={"cookie": cookie})
            assert connection.getresponse().readline() == b"event: progress\n"
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")


def test_a_port_in_use_is_an_error(run: Run, store: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = run("view", "--no-open", "--store", store, "--port", port)
    assert ran.code == 2
    assert f"error: port {port} of 127.0.0.1 cannot be used" in ran.err
    assert "--port" in ran.err


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_cannot_be_is_refused(run: Run, store: Path, port: str) -> None:
    ran = run("view", "--no-open", "--store", store, "--port", port)
    assert ran.code == 2
    assert "port" in ran.err


def test_a_store_that_is_missing_is_an_error(run: Run, tmp_path: Path) -> None:
    ran = run("view", "--no-open", "--store", tmp_path / "none.db")
    assert ran.code == 2
    assert "there is no database" in ran.err
    assert not (tmp_path / "none.db").exists()


def test_an_unknown_run_is_an_error(run: Run, store: Path) -> None:
    ran = run("view", "run-7", "--no-open", "--store", store)
    assert ran.code == 2
    assert "no run is called 'run-7'" in ran.err


def test_a_site_is_written(run: Run, store: Path, tmp_path: Path) -> None:
    ran = run("view", "--export", tmp_path / "site", "--store", store, "--limit", 1)
    assert ran.code == 0
    assert ran.out == ""
    assert "the pages contain the inputs and outputs of your cases" in ran.err
    assert (tmp_path / "site" / "runs-run-1.html").exists()


def test_a_site_is_counted_as_json(run: Run, store: Path, tmp_path: Path) -> None:
    ran = run("view", "--export", tmp_path / "site", "--store", store, "--json")
    assert ran.json["pages"] == len([*(tmp_path / "site").glob("*.html")])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--limit", "3"), "--limit goes with --export"),
        (("latest", "--export", "site"), "--export writes all runs, not one"),
        (("--export", "."), "is no site that judgekit exported"),
    ],
)
def test_options_that_do_not_apply_are_refused(
    run: Run, store: Path, arguments: tuple[str, ...], message: str
) -> None:
    ran = run("view", *arguments, "--store", store)
    assert ran.code == 2
    assert message in ran.err
