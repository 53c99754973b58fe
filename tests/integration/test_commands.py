"""Commands with caches and stores on servers: merging, passwords, roles, what is refused."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from judgekit.models.cache import CacheWarning, open_reply_cache
from judgekit.testing import ChaosServer
from tests.chaos.commands import essence, judged, lay_out
from tests.cli.commanding import runner
from tests.integration.servers import PASSWORD, QUOTED, running_redis
from tests.models.cache.buying import make_reply, make_request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.commanding import Run
    from tests.integration.servers import PostgresServer, RedisServer

GRADE = ("grade", "a.jsonl", "--cases", "cases.jsonl", "--rubric", "rubric.yaml")
N_CASES = 4
_AT = re.compile(r'"at": "[^"]*"|\d{8}T\d{6}Z-[\w-]+')


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChaosServer]:
    """A working folder with outputs, and the server that judges them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with ChaosServer(reply=judged, keep_requests=False) as server:
        lay_out(tmp_path, server.url, n_cases=N_CASES)
        yield server


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


def asked(judge: ChaosServer) -> list[str]:
    return ["--judge", "openai/chaos", "--api-base", judge.url]


@pytest.mark.usefixtures("judge")
def test_caches_of_every_kind_are_merged_without_a_change(
    run: Run, tmp_path: Path, postgres: PostgresServer, redis_server: RedisServer
) -> None:
    urls = postgres.new_url(), redis_server.new_url()
    with open_reply_cache(tmp_path / "first") as cache:
        for number in range(600):
            cache.put(make_request(str(number)), make_reply(f"reply {number}"))
    places = ["first", *urls, "last"]
    for source, target in itertools.pairwise(places):
        merged = run("cache", "merge", source, target)
        assert (merged.code, merged.out) == (0, "added 600 replies, 0 already cached\n")
    for place in places:
        exported = run("cache", "export", "-", "--cache", place)
        assert exported.out == run("cache", "export", "-", "--cache-dir", "first").out
        again = run("cache", "merge", "first", place, "--json")
        assert again.code == 0, again
        assert again.json["n_same"] == 600, again
        stats = run("cache", "stats", "--cache", place, "--json").json
        assert stats["n_entries"] == 600
        assert stats["n_bytes"] > 0
    with open_reply_cache(urls[0]) as cache:
        cache.put(make_request("7"), make_reply("another"))
    merged = run("cache", "merge", "first", urls[0])
    assert "599 already cached, 1 differ and were not replaced" in merged.out
    listed = run("cache", "ls", "--cache", urls[1], "--json", "-n", "2").json
    assert len(listed["entries"]) == 2
    assert run("cache", "prune", "--older-than", "0h", "--cache", urls[1]).out.startswith("deleted")
    assert "deleted 600 replies" in run("cache", "clear", "--yes", "--cache", urls[0]).out


def test_a_password_is_in_nothing_that_is_printed_or_stored(
    run: Run, judge: ChaosServer, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHARED_SECRET", PASSWORD)
    named = url.replace(QUOTED, "${SHARED_SECRET}")
    shown = []
    for place in (url, named):
        graded = run(
            *GRADE, *asked(judge), "--cache", place, "-o", "page.html", "-o", "r.jsonl", "-v"
        )
        assert graded.code == 0, graded.err
        shown += [
            graded,
            run("run", "--cache", place),
            run("cache", "stats", "--cache", place, "--json"),
            run("cache", "path", "--cache", place, "--json"),
            run("cache", "verify", "--cache", place),
            run("cache", "merge", place, "copy", "--json"),
            run("doctor", "--cache", place, "--json"),
            run("cache", "ls", "--cache", place.replace(":***", ":wr0ng")),
            run("cache", "stats", "--cache", place.replace("127.0.0.1", "127.0.0.1:x")),
            run("report", "latest", "--with-replies", "--cache", place, "-o", "report.html"),
        ]
    wrong = run("cache", "stats", "--cache", url.replace(QUOTED, "wr0ng"))
    assert wrong.code == 2
    secrets = [PASSWORD, QUOTED, "wr0ng"]
    printed = "".join(one.out + one.err for one in [*shown, wrong])
    assert not [secret for secret in secrets if secret in printed], printed
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [p for p in files for one in secrets if one.encode() in p.read_bytes()]
    assert json.loads(shown[3].out) == {"path": url.replace(QUOTED, "***"), "exists": True}
    assert judge.n_requests == 4 * N_CASES, "two outputs of each case, each asked once"


@pytest.mark.usefixtures("judge")
def test_the_environment_has_the_password_where_the_address_has_none(
    run: Run, postgres: PostgresServer, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, server in (("PGPASSWORD", postgres), ("REDIS_PASSWORD", redis_server)):
        url = server.new_url().replace(f":{QUOTED}", "").replace("//@", "//")
        assert run("cache", "clear", "--yes", "--cache", url).code == 2
        monkeypatch.setenv(variable, PASSWORD)
        assert run("cache", "clear", "--yes", "--cache", url).code == 0
        monkeypatch.setenv("JUDGEKIT_CACHE", url)
        assert run("cache", "path", "--json").json["path"] == url


# The command line prints it; in a test it would be an error before that.
@pytest.mark.filterwarnings("always::judgekit.models.cache.CacheWarning")
def test_who_may_only_read_makes_no_change_and_keeps_what_is_paid_for(
    run: Run,
    judge: ChaosServer,
    tmp_path: Path,
    postgres: PostgresServer,
    redis_server: RedisServer,
) -> None:
    pg, rd = postgres.new_url(), redis_server.new_url()
    database = pg.rpartition("/")[2]
    for url in (pg, rd):
        assert run(*GRADE, *asked(judge), "--cache", url, "-n", "2").code == 0
    postgres.execute(
        f"DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'",
        "GRANT SELECT ON judgekit_cache TO reader",
        database=database,
    )
    redis_server.client().acl_setuser(
        "reader",
        enabled=True,
        passwords=[f"+{PASSWORD}"],
        keys=["judgekit:*"],
        categories=["+@read", "+@connection"],
        commands=["+info"],
    )
    readers = postgres.url(database, user="reader"), rd.replace("//:", "//reader:")
    for url in readers:
        grade = [*GRADE, *asked(judge), "--cache", url]
        frozen = run(*grade, "--frozen", "-n", "2")
        assert frozen.code == 0
        assert "cannot be written (this user may not write to it" in frozen.err
        n_before = judge.n_requests
        graded = run(*grade)
        assert graded.code == 0
        assert "are saved in" in graded.err
        assert judge.n_requests == n_before + 4
        assert run("cache", "stats", "--cache", url, "--json").json["n_entries"] == 4
        assert run("cache", "clear", "--yes", "--cache", url).code in {1, 2}
    files = [*(tmp_path / ".judgekit" / "unwritten").rglob("*.jsonl")]
    assert sum(len(file.read_text().splitlines()) for file in files) == 8
    for url, file in zip((pg, rd), sorted(files, key=lambda one: one.stat().st_mtime), strict=True):
        assert "added 4 replies" in run("cache", "import", file, "--cache", url).out


@pytest.mark.usefixtures("judge")
@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_a_redis_that_may_evict_is_refused_and_can_be_moved_from(run: Run, policy: str) -> None:
    with running_redis("--save", "") as server:
        url = server.new_url()
        ran = run("cache", "clear", "--yes", "--cache", url)
        assert ran.code == 0
        assert "neither an append-only file nor a snapshot" in ran.err
        with open_reply_cache("local") as cache:
            cache.put(make_request(), make_reply())
        assert run("cache", "merge", "local", url).code == 0
        server.client().config_set("maxmemory-policy", policy)
        ran = run("cache", "merge", "local", url)
        assert ran.code == 2
        assert f"its maxmemory-policy is {policy}" in ran.err
        assert run("cache", "merge", url, "moved", "--json").json["n_added"] == 1


@pytest.mark.usefixtures("judge")
def test_a_full_redis_is_an_error_that_saves_what_was_paid_for(run: Run, tmp_path: Path) -> None:
    with running_redis() as server:
        url = server.new_url()
        with open_reply_cache(url) as cache:
            server.client().config_set("maxmemory", 1)
            with (
                pytest.warns(CacheWarning, match="did not take are saved in"),
                pytest.raises(
                    jk.StoreError, match=r"cannot be written: .*maxmemory[\s\S]*saved in"
                ),
            ):
                cache.put(make_request(), make_reply())
            server.client().config_set("maxmemory", 0)
        assert "there is no cache in" in run("cache", "stats", "--cache", url).err
        ran = run("cache", "clear", "--yes", "--cache", url)
        assert "that it did not take earlier: 1" in ran.err
        assert not [*(tmp_path / ".judgekit" / "unwritten").rglob("*.jsonl")]


def test_a_database_without_an_encoding_has_a_cache_and_a_store(
    run: Run, judge: ChaosServer, postgres: PostgresServer
) -> None:
    url = postgres.new_url(encoding="SQL_ASCII")
    for _ in range(2):
        assert run("run", "--cache", url, "--store", url).code == 0
    assert judge.n_requests == 4 * N_CASES
    assert run("cache", "verify", "--cache", url).code == 0


def test_a_text_that_a_database_has_no_letters_for_is_an_error_with_a_hint(
    run: Run, judge: ChaosServer, postgres: PostgresServer, tmp_path: Path
) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text(cases.read_text("utf-8").replace("Question", "質問"), "utf-8")
    ran = run("run", "--store", postgres.new_url(encoding="LATIN1"))
    assert (ran.code, judge.n_requests > 0) == (2, True)
    assert "createdb -T template0 -E UTF8" in ran.err


def test_every_command_reads_a_store_on_a_server_as_one_in_a_file(
    run: Run, judge: ChaosServer, postgres: PostgresServer
) -> None:
    pg = postgres.new_url()
    found: list[list[Any]] = []
    for store in ("runs.db", pg):
        at = ["--store", store]
        commands: list[list[str]] = [
            ["run", "--json"], ["run", "--json"],
            [*GRADE, *asked(judge), "--json"],
            ["compare", "a.jsonl", "b.jsonl", "--cases", "cases.jsonl", "--rubric", "rubric.yaml",
             *asked(judge), "--json"],
            ["show", "--json"], ["show", "latest", "--json"],
            ["gate", "latest", "--max-drop", "0.5", "--json"],
            ["trend", "chaos", "--json"], ["history", "chaos", "--json"], ["findings", "--json"],
            ["explain", "latest", "--json"], ["export", "latest", "-o", "x.jsonl"],
            ["rejudge", "latest", *asked(judge), "--json"],
        ]  # fmt: skip
        ran = [run(*command, *at) for command in commands]
        found.append(
            [
                (
                    one.code,
                    _AT.sub("", json.dumps(essence(one.json)))
                    if one.out.startswith(("{", "["))
                    else "",
                )
                for one in ran
            ]
        )
        assert "Traceback" not in "".join(one.err for one in ran)
        assert QUOTED not in "".join(one.out + one.err for one in ran)
    for one, other, command in zip(*found, commands, strict=True):
        assert one == other, command
    refused = [" ".join(words) for words, one in zip(commands, ran, strict=True) if one.code == 2]
    assert refused == []
