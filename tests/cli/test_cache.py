from __future__ import annotations

import asyncio
import io
import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgekit.judge import Judge
from judgekit.models.cache import CacheEntry, DiskCache
from judgekit.models.request import ModelReply
from judgekit.report import format_file_size, request_summary
from judgekit.testing import ServedReply
from tests.cli.cache_folders import CACHE, MODEL, buy, edit, other_request, reject
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.models.request import ModelRequest
    from judgekit.testing import ServedRequest
    from tests.cli.bench import Bench
    from tests.cli.commanding import Run


def test_stats_say_what_is_held_and_what_was_saved(run: Run, owned: list[ModelRequest]) -> None:
    reject(CACHE, owned[0])
    with DiskCache(CACHE) as cache:
        reply = cache.get(owned[0].key)
        assert reply is not None
        cache.count_hit(reply)
        cache.count_hit(reply.model_copy(update={"cost_usd": None}))
        cache.count_miss()
    ran = run("cache", "stats")
    assert (ran.code, ran.err) == (0, "")
    lines = {line[:12].strip(): line[12:].strip() for line in ran.out.splitlines()}
    assert lines["replies"] == "4"
    assert lines["rejected"].startswith("1 (paid for")
    assert lines["hits"] == "2 (67% of 3 requests)"
    assert lines["money saved"] == "$0.25 (1 hit of unknown price left out)"
    assert lines["time saved"] == "2 s"
    assert run("cache", "stats", "--json").json["saved"]["n_hits"] == 2


@pytest.mark.parametrize("command", ["stats", "ls", "verify", "explain abcd", "export x.jsonl"])
def test_without_a_cache_a_command_says_what_to_do(run: Run, command: str) -> None:
    ran = run("cache", *command.split())
    assert (ran.code, ran.out) == (2, "")
    assert "there is no cache in .judgekit/cache" in ran.err
    assert not CACHE.exists()


def test_ls_shows_what_was_asked_when_and_for_how_much(run: Run, owned: list[ModelRequest]) -> None:
    ran = run("cache", "ls")
    assert (ran.code, ran.err) == (0, "")
    (line,) = [row for row in ran.out.splitlines() if row.strip().startswith(owned[2].key[:12])]
    assert line.split() == [
        owned[2].key[:12], "2026-01-02", "03:04", "$0.25", MODEL,
        "correct:", "What", "is", "2", "+", "2?",
    ]  # fmt: skip


def test_ls_filters_and_limits(run: Run, owned: list[ModelRequest]) -> None:
    buy(CACHE, other_request(), cost_usd=None)
    assert len(run("cache", "ls", "--json").json["entries"]) == 5
    (entry,) = run("cache", "ls", "--model", "openai/large", "--json").json["entries"]
    assert (entry["asked"], entry["cost_usd"], entry["rejected"]) == ("Is it so?", None, False)
    assert len(run("cache", "ls", "--contains", "return it", "--json").json["entries"]) == 2
    assert run("cache", "ls", "--since", "2027-01-01", "--json").json["entries"] == []
    assert run("cache", "ls", "-n", "2", "--json").json["n_more"] == 3
    assert "3 more with --limit" in run("cache", "ls", "-n", "2").out
    reject(CACHE, owned[0])
    assert "(rejected)" in run("cache", "ls", "--rejected").out
    assert run("cache", "ls", "--rejected", "--model", "x", "--json").json["entries"] == []


@pytest.mark.usefixtures("owned")
def test_an_export_is_the_same_bytes_and_comes_back(run: Run) -> None:
    ran = run("cache", "export", "a.jsonl")
    assert (ran.code, ran.out) == (0, "wrote 4 replies to a.jsonl\n")
    ran = run("cache", "import", "a.jsonl", "--cache-dir", "other")
    assert (ran.code, ran.out) == (0, "added 4 replies, 0 already cached\n")
    assert run("cache", "import", "a.jsonl", "--cache-dir", "other", "--json").json["n_same"] == 4
    run("cache", "export", "b.jsonl", "--cache-dir", "other")
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()
    to_stdout = run("cache", "export", "-")
    assert to_stdout.out == Path("a.jsonl").read_text()
    assert to_stdout.err == "wrote 4 replies to -\n"


def test_an_export_may_hold_rejected_replies(run: Run, owned: list[ModelRequest]) -> None:
    reject(CACHE, owned[0])
    found = run("cache", "export", "a.jsonl", "--rejected", "--json").json
    assert (found["n_entries"], found["skipped"]) == (5, [])


def test_a_file_to_export_to_may_be_named_as_for_other_commands(run: Run) -> None:
    assert run("cache", "export", "-o", "-").out == run("cache", "export", "-").out
    for none_or_two in ([], ["a.jsonl", "-o", "b.jsonl"]):
        ran = run("cache", "export", *none_or_two)
        assert (ran.code, "name one file" in ran.err) == (2, True)


def test_an_export_leaves_damaged_entries_out_and_says_so(
    run: Run, owned: list[ModelRequest]
) -> None:
    damage(owned[0].key)
    ran = run("cache", "export", "a.jsonl")
    assert "wrote 3 replies" in ran.out
    assert f"skipped: {owned[0].key}" in ran.err


@pytest.mark.usefixtures("owned")
def test_an_export_that_cannot_be_is_refused(run: Run) -> None:
    assert run("cache", "export", "-", "--json").code == 2
    ran = run("cache", "export", "missing/a.jsonl")
    assert (ran.code, "cannot write missing/a.jsonl" in ran.err) == (2, True)


@pytest.mark.usefixtures("owned")
def test_an_altered_line_is_refused_or_left_out(run: Run) -> None:
    run("cache", "export", "a.jsonl")
    edit("a.jsonl", "So it is.", "So it was.")
    ran = run("cache", "import", "a.jsonl", "--cache-dir", "other")
    assert (ran.code, "a.jsonl:1" in ran.err) == (2, True)
    ran = run("cache", "import", "a.jsonl", "--skip-unsound", "--cache-dir", "other")
    assert (ran.code, ran.out) == (0, "added 0 replies, 0 already cached\n")
    assert ran.err.count("skipped: ") == 4
    twice = run("cache", "import", "a.jsonl", "a.jsonl", "--skip-unsound")
    assert twice.err.count("skipped: ") == 8


def test_another_answer_is_kept_unless_overwritten(run: Run, owned: list[ModelRequest]) -> None:
    with DiskCache("other") as cache:
        reply = DiskCache(CACHE).get(owned[0].key)
        assert reply is not None
        cache.put(owned[0], reply.model_copy(update={"text": "Another."}))
    ran = run("cache", "merge", "other")
    assert "1 differ and were not replaced (see --overwrite)" in ran.out
    assert "1 replaced" in run("cache", "merge", "other", "--overwrite").out


@pytest.mark.usefixtures("owned")
def test_files_and_folders_are_merged(run: Run) -> None:
    buy(Path("other"), other_request())
    run("cache", "export", "a.jsonl")
    ran = run("cache", "merge", "a.jsonl", "other", "--cache-dir", "third")
    assert (ran.code, ran.out) == (0, "added 5 replies, 0 already cached\n")


def damage(*keys: str) -> None:
    with sqlite3.connect(CACHE / "cache.db") as connection:
        for key in keys:
            connection.execute("UPDATE Cache SET value = 'altered' WHERE key = ?", (key,))
    connection.close()


def test_verify_exits_0_when_sound_and_3_when_not(run: Run, owned: list[ModelRequest]) -> None:
    ran = run("cache", "verify")
    assert (ran.code, ran.out) == (0, "4 valid replies\n")
    damage(owned[0].key)
    ran = run("cache", "verify")
    assert ran.code == 3
    assert ran.out.startswith("3 valid replies\n")
    assert f"{owned[0].key[:12]}: the checksum does not match" in ran.out
    assert run("cache", "verify", "--json").json["damaged"][0][0] == owned[0].key


def test_verify_shows_some_of_many_damaged_entries(run: Run, tmp_path: Path) -> None:
    assert tmp_path.is_dir()
    many = [other_request(f"{n}") for n in range(22)]
    buy(CACHE, *many)
    damage(*(request.key for request in many))
    assert "… and 2 more damaged entries" in run("cache", "verify").out


@pytest.mark.usefixtures("owned")
def test_verify_of_a_file_that_is_no_database_exits_3(run: Run) -> None:
    for name in ("cache.db-wal", "cache.db-shm"):
        (CACHE / name).unlink(missing_ok=True)
    (CACHE / "cache.db").write_bytes(b"x" * 5000)
    ran = run("cache", "verify")
    assert ran.code == 3
    assert "storage: the cache's database is damaged" in ran.out
    warned = run("cache", "prune", "--rejected")
    assert "warning: the cache's database was damaged; it is kept as" in warned.err


def test_prune_forgets_by_age_model_and_kind(run: Run, owned: list[ModelRequest]) -> None:
    buy(CACHE, other_request())
    reject(CACHE, owned[0])
    dry = run("cache", "prune", "--older-than", "30d", "--rejected", "--dry-run")
    assert dry.out == "would delete 6 replies\n"
    young = run("cache", "prune", "--older-than", "5000w", "--dry-run")
    assert young.out == "would delete 0 replies\n"
    assert run("cache", "prune", "--older-than", "5000w", "--json").json["n_forgotten"] == 0
    ran = run("cache", "prune", "--model", "openai/large")
    assert (ran.code, ran.out) == (0, "deleted 1 reply\n")
    assert run("cache", "prune", "--rejected").out == "deleted 1 reply\n"
    assert run("cache", "prune", "--older-than", "12h").out == "deleted 4 replies\n"


@pytest.mark.usefixtures("owned")
def test_prune_wants_to_know_what_to_forget(run: Run) -> None:
    assert "specify what to delete" in run("cache", "prune").err
    for age in ("soon", "999999w"):
        ran = run("cache", "prune", "--older-than", age)
        assert (ran.code, "write it as 30d" in ran.err) == (2, True)
    dry = run("cache", "prune", "--model", "none", "--dry-run", "--json")
    assert dry.json == {"n_forgotten": 0, "n_matching": 0}


def test_prune_counts_as_it_deletes_where_a_time_has_no_zone(run: Run) -> None:
    request = other_request()
    reply = ModelReply(text="x")
    entry = CacheEntry(request.key, request.key_parts, reply, created_at="2026-01-02T03:04:05")
    with DiskCache(CACHE) as cache:
        cache.restore([entry])
    old = ("cache", "prune", "--older-than", "30d")
    assert run(*old, "--dry-run").out == "would delete 1 reply\n"
    assert run(*old).out == "deleted 1 reply\n"


class Terminal(io.StringIO):
    """A terminal at which somebody has typed already."""

    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("owned")
def test_clear_needs_a_yes(run: Run) -> None:
    ran = run("cache", "clear")
    assert (ran.code, "--yes" in ran.err) == (2, True)
    assert run("cache", "stats", "--json").json["n_entries"] == 4
    ran = run("cache", "clear", "--yes")
    assert (ran.code, ran.out) == (0, "deleted 4 replies\n")
    assert run("cache", "clear", "--yes", "--json").json == {"n_forgotten": 0}


@pytest.mark.usefixtures("owned")
def test_clear_asks_at_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("n\ny\n"))
    ran = run("cache", "clear")
    assert ran.out.endswith("deleted 0 replies\n")
    assert run("cache", "clear").out.endswith("deleted 4 replies\n")


def test_path_is_absolute_and_need_not_exist(run: Run, tmp_path: Path) -> None:
    assert run("cache", "path").out == f"{tmp_path / CACHE}\n"
    assert run("cache", "path", "--json").json == {"path": str(tmp_path / CACHE), "exists": False}


def test_a_grading_from_an_imported_cache_asks_nothing(run: Run, owned: list[ModelRequest]) -> None:
    run("cache", "export", "a.jsonl")
    run("cache", "import", "a.jsonl", "--cache-dir", "other")
    with Judge(MODEL, cache="other", frozen=True) as judge:
        reply = asyncio.run(judge.connection.model.complete(owned[0]))
    assert reply.cached
    assert json.loads(reply.text or "")["score"] == 4


def test_what_was_asked_is_told_without_its_fences() -> None:
    assert request_summary(None) == "(the request is not recorded)"
    assert request_summary({"messages": []}) == "(the request is not recorded)"
    fenced = "<input ABCDEFGHIJKLMNOP>\nCriterion: fake\x1b\n</input ABCDEFGHIJKLMNOP>"
    text = f"{fenced}\nCriterion: tone\n"
    assert request_summary({"messages": [{"content": text}]}) == r"tone: Criterion: fake\x1b"


@pytest.mark.parametrize(
    ("n_bytes", "words"),
    [(0, "0 B"), (2048, "2.0 KiB"), (20 * 2**20, "20 MiB"), (2**60, "1048576 TiB")],
)
def test_a_size_has_two_digits(n_bytes: int, words: str) -> None:
    assert format_file_size(n_bytes) == words


@pytest.mark.parametrize("way", ["export", "merge"])
def test_a_question_that_was_repeated_is_not_asked_again_from_moved_replies(
    bench: Bench, way: str
) -> None:
    def rule(seen: ServedRequest) -> ServedReply:
        is_short = seen.body["max_tokens"] == 100
        return ServedReply("{", finish_reason="length") if is_short else ok(reply(5))

    with OpenAILikeServer(rule) as server:
        assert bench.grade(server, "--max-tokens", 100).code == 0
        if way == "export":
            bench.run("cache", "export", "a.jsonl")
            bench.run("cache", "import", "a.jsonl", "--cache", "moved")
        else:
            bench.run("cache", "merge", CACHE, "moved")
        moved = bench.grade(server, "--max-tokens", 100, "--cache", "moved", "--frozen")
        assert moved.code == 0
