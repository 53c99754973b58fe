"""No file that a command writes, and nothing that it prints, holds a key.

A gateway repeats the key in errors, in replies that cannot be read, and in a judge's rationale; a
system under test repeats the header it was sent. Only the cache holds what came, as it came.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import judgekit as jk
from judgekit.models.cache import CacheEntry, DiskCache
from judgekit.testing import ChaosServer, ServedReply
from tests.cli.commanding import runner

if TYPE_CHECKING:
    from judgekit.testing import ServedRequest
    from tests.cli.commanding import Ran

KEY = "s3ntinel-key-4711"
HEADER = "s3ntinel-header-0815"
SENTINELS = (KEY, HEADER)
CACHE = "cache"

RUBRIC = """\
name: support
criteria:
  - {name: polite, question: Is it polite?, scale: one_to_five}
"""
LABEL = {"criterion": "polite", "raw": 4, "annotator": "kim"}


def repeat_key(request: ServedRequest) -> ServedReply:
    """What a server sends that repeats every key it was sent."""
    sent = request.headers.get("authorization", "")
    if request.path.endswith("/agent"):
        return ServedReply(body={"text": f"I was sent {sent}.", "metadata": {"header": sent}})
    verdict = {"evidence": [], "rationale": f"Good, says {sent}.", "score": 4}
    replies = [
        ServedReply(json.dumps(verdict)),
        ServedReply(status=500, body={"error": {"message": f"{sent} is overloaded"}}),
        ServedReply(f"I cannot read this; {sent} told me so."),
        ServedReply(json.dumps(verdict)),
        ServedReply(status=400, body={"error": {"message": f"bad request of {sent}"}}),
    ]
    return replies[request.number % len(replies)]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("APP_TOKEN", HEADER)
    (tmp_path / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    ids = [f"c{n}" for n in range(6)]
    rows = [{"case_id": one, "input": "Hello?", "text": f"Good day {one}."} for one in ids]
    labels = [{"case_id": one, **LABEL} for one in ids]
    for name, lines in (("outputs.jsonl", rows), ("labels.jsonl", labels)):
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def suite(url: str) -> str:
    return f"""\
name: support
dataset: outputs.jsonl
rubric: rubric.yaml
judge: {{model: openai/any, api_base: "{url}", max_retries: 0}}
variants:
  - {{id: a, outputs: outputs.jsonl}}
  - {{id: h, http: {{url: "{url}/agent", headers: {{Authorization: "Bearer ${{APP_TOKEN}}"}}}}}}
  - {{id: p, prompt: "Answer: {{{{ input }}}}", model: openai/any, api_base: "{url}"}}
"""


def leaks(folder: Path) -> list[str]:
    """The files with a key in them, outside of the cache."""
    return [
        f"{path.relative_to(folder)}: {found}"
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] != CACHE
        for found in SENTINELS
        if found.encode() in path.read_bytes()
    ]


def commands(url: str) -> list[list[str]]:
    judge = [
        "--rubric",
        "rubric.yaml",
        "--judge",
        "openai/any",
        "--api-base",
        url,
        "--max-retries",
        "0",
    ]
    stored = ["--cache-dir", CACHE, "--store", "runs.db"]
    files = ["-o", "r.csv", "-o", "r.jsonl", "-o", "r.json", "-o", "r.html", "-o", "r.md"]
    pages = ["--with-replies", "--cache-dir", CACHE, "--store", "runs.db"]
    exports = [["export", "latest", "--store", "runs.db", "-o", f"x{suffix}"]
               for suffix in (".csv", ".jsonl", ".json", ".xml", ".parquet")]  # fmt: skip
    return [
        ["grade", "outputs.jsonl", *judge, *stored, *files, "-v"],
        ["run", "suite.yaml", *stored, "-o", "run.html", "-v"],
        *exports,
        ["show", "latest", *pages, "-v", "-o", "show.html"],
        ["show", "latest", "c0", "--store", "runs.db", "-v"],
        ["report", "latest", *pages, "-o", "report.html"],
        ["report", "latest", "--store", "runs.db", "-o", "report.md"],
        ["calibrate", "labels.jsonl", "--outputs", "outputs.jsonl", *judge, "--cache-dir", CACHE,
         "-o", "calibration.html"],
        ["audit", "outputs.jsonl", *judge, "--cache-dir", CACHE, "-n", "1", "-o", "audit.html"],
        ["cache", "export", "replies.jsonl", "--rejected", "--cache-dir", CACHE],
        ["cache", "ls", "--cache-dir", CACHE],
        ["cache", "ls", "--json", "--cache-dir", CACHE],
        ["cache", "stats", "--cache-dir", CACHE],
        ["cache", "verify", "--cache-dir", CACHE],
        ["doctor"],
        ["validate", "suite.yaml"],
    ]  # fmt: skip


@pytest.mark.parametrize("transport", ["direct", "litellm"])
def test_nothing_that_a_command_writes_or_prints_holds_a_key(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    transport: str,
) -> None:
    monkeypatch.setenv("JUDGEKIT_TRANSPORT", transport)
    run, codes = runner(capsys), {}
    with ChaosServer(repeat_key) as server:
        (project / "suite.yaml").write_text(suite(server.url), encoding="utf-8")
        for number, command in enumerate(commands(server.url)):
            ran: Ran = run(*command)
            assert ran.code in {0, 3, 4}, ran.err
            codes[" ".join(command[:3])] = ran.code
            (project / f"printed-{number}.txt").write_text(ran.out + ran.err, encoding="utf-8")
        assert server.n_requests > 20
    assert leaks(project) == [], codes
    # It was there to be found, in replies alone.
    with DiskCache(project / CACHE, read_only=True) as cache:
        entries = [each for _, each in cache.entries() if isinstance(each, CacheEntry)]
    assert any(KEY in (each.reply.text or "") for each in entries)
    assert not any(KEY in str(each.request) for each in entries)
    assert "[redacted]" in (project / "x.jsonl").read_text(encoding="utf-8")


def test_a_notebook_and_a_traceback_do_not_show_a_key(project: Path) -> None:
    with ChaosServer(repeat_key) as server:
        judge = jk.Judge("openai/any", api_base=server.url, cache=None, max_retries=0)
        results = jk.grade_sync(project / "outputs.jsonl", rubric=RUBRIC_FILE, judge=judge)
        shown = [results._repr_html_(), repr(results), repr(judge), str(results.to_dicts())]
    assert [text for text in shown if KEY in text or HEADER in text] == []


RUBRIC_FILE = Path("rubric.yaml")


@pytest.mark.parametrize(
    "address",
    [
        "http://user:{}@127.0.0.1:9/v1",
        "http://{}@127.0.0.1:9/v1",
        "http://127.0.0.1:9/v1?api_key={}",
        "http://127.0.0.1:9/v1?a=b&token={}",
    ],
)
def test_an_address_with_a_key_is_refused_before_anything_is_stored(
    project: Path, capsys: pytest.CaptureFixture[str], address: str
) -> None:
    secret = "s3cr3t-in-an-address"
    url = address.format(secret)
    run = runner(capsys)
    ran = run("grade", "outputs.jsonl", "--rubric", "rubric.yaml", "--judge", "openai/any",
              "--api-base", url, "--cache-dir", CACHE, "--store", "runs.db")  # fmt: skip
    assert (ran.code, secret in ran.out + ran.err) == (2, False)
    assert "has a user, a password or a key in it" in ran.err
    (project / "suite.yaml").write_text(suite("http://127.0.0.1:9/v1").replace(
        'url: "http://127.0.0.1:9/v1/agent"', f'url: "{url}"'), encoding="utf-8")  # fmt: skip
    ran = run("run", "suite.yaml", "--cache-dir", CACHE, "--store", "runs.db")
    assert (ran.code, secret in ran.out + ran.err) == (2, False)
    assert "suite.yaml:7: the address" in ran.err
    (project / "suite.yaml").unlink()
    written = [path for path in project.rglob("*") if path.is_file()]
    assert [path for path in written if secret.encode() in path.read_bytes()] == []
