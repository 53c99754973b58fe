"""Notifications: who is told what, how often, and what happens when nobody can be reached."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from tests.evaluation.suites import lay_suite
from tests.targets.loopback import Loopback, Reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Ran, Run

WRITES_STDIN = """\
import json, os, sys
alarm = json.load(sys.stdin)
with open("got.jsonl", "a") as file:
    file.write(json.dumps({**alarm, "argv": sys.argv[1:], "env": sorted(os.environ)}) + "\\n")
"""


def fall(run: Run, folder: Path, notify: dict[str, Any], *n_failing: int) -> Ran:
    """Runs of which so many of ten cases fail; the last one."""
    ran = None
    for n in n_failing or (0, 4):
        wrong = dict.fromkeys((f"c{k}" for k in range(n)), "wrong")
        lay_suite(folder, n=10, texts=wrong, notify=notify)
        ran = run("run", "-q")
    assert ran is not None
    return ran


def alarms(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_fall_of_the_pass_rate_is_one_episode_until_it_recovers(run: Run, tmp_path: Path) -> None:
    fall(run, tmp_path, {"file": "alarms.jsonl"}, 0, 4, 4, 4, 0, 0, 4)
    sent = alarms(tmp_path / "alarms.jsonl")
    assert [one["kind"] for one in sent] == ["critical-finding", "critical-finding"]
    assert sent[0]["episode"] != sent[1]["episode"]
    assert "the pass rate fell from 100 % to 60 %" in sent[0]["text"]


def test_failed_cases_without_a_fall_send_nothing(run: Run, tmp_path: Path) -> None:
    fall(run, tmp_path, {"file": "alarms.jsonl"}, 5, 5, 5)
    assert not (tmp_path / "alarms.jsonl").exists()


def test_a_program_gets_the_alarm_on_stdin_and_no_keys(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("CHAT_TOKEN", "t-1")
    (tmp_path / "tell.py").write_text(WRITES_STDIN, encoding="utf-8")
    command = [sys.executable, "tell.py", "$(touch x)"]
    fall(run, tmp_path, {"command": command, "environment": {"TOKEN": "${CHAT_TOKEN}"}})
    (got,) = alarms(tmp_path / "got.jsonl")
    assert (got["kind"], got["finding"]["type"]) == ("critical-finding", "regression")
    assert got["argv"] == ["$(touch x)"]
    assert "TOKEN" in got["env"]
    assert "OPENAI_API_KEY" not in got["env"]
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("program", ["raise SystemExit('no route')", "exit(3)"])
def test_a_program_that_fails_is_reported_and_blocks_nothing(
    run: Run, tmp_path: Path, program: str
) -> None:
    ran = fall(run, tmp_path, {"command": [sys.executable, "-c", program]})
    assert ran.code == 0
    assert "not notified" in ran.err
    assert ran.err.count("the pass rate fell") == 1


def test_a_webhook_gets_the_alarm_and_its_address_is_written_nowhere(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Loopback(lambda *_: Reply({"ok": True})) as server:
        monkeypatch.setenv("HOOK", f"{server.url}?secret=s3cr3t")
        fall(run, tmp_path, {"webhook": "${HOOK}"})
        ((method, path, headers, alarm),) = server.seen
    assert (method, path) == ("POST", "/answer?secret=s3cr3t")
    assert headers["Content-Type"] == "application/json"
    assert "the pass rate fell" in alarm["text"]
    stored = b"".join(p.read_bytes() for p in (tmp_path / ".judgekit").rglob("*") if p.is_file())
    assert b"s3cr3t" not in stored


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(b"no", status=500), "the webhook answered HTTP 500"),
        (Reply(b"", status=302, Location="http://127.0.0.1:1/"), "the webhook answered HTTP 302"),
    ],
)
def test_a_webhook_that_refuses_is_reported_and_tried_after_the_next_run(
    run: Run, tmp_path: Path, reply: Reply, words: str
) -> None:
    replies = [reply]
    with Loopback(lambda *_: replies.pop() if replies else Reply({})) as server:
        notify = {"webhook": f"{server.url}?secret=s3cr3t"}
        ran = fall(run, tmp_path, notify)
        assert (ran.code, words in ran.err) == (0, True)
        assert "s3cr3t" not in ran.err + ran.out
        assert "not notified" not in fall(run, tmp_path, notify, 4).err
        fall(run, tmp_path, notify, 4)
        assert len(server.seen) == 2
    stored = b"".join(p.read_bytes() for p in (tmp_path / ".judgekit").rglob("*") if p.is_file())
    assert b"s3cr3t" not in stored


def test_a_webhook_that_cannot_be_reached_is_reported_without_its_address(
    run: Run, tmp_path: Path
) -> None:
    with Loopback(lambda *_: Reply({})) as server:
        closed = server.url
    ran = fall(run, tmp_path, {"webhook": f"{closed}?secret=s3cr3t"})
    assert ran.code == 0
    assert "not notified: the webhook: " in ran.err
    assert "s3cr3t" not in ran.err


def test_an_address_that_is_not_set_is_reported(run: Run, tmp_path: Path) -> None:
    ran = fall(run, tmp_path, {"webhook": "${NO_SUCH_HOOK}"})
    assert ran.code == 0
    assert "the environment variable NO_SUCH_HOOK, which is not set" in " ".join(ran.err.split())


@pytest.mark.parametrize(
    "notify",
    [
        {},
        {"file": "a.jsonl", "webhook": "https://example.com"},
        {"file": "a.jsonl", "environment": {"A": "b"}},
    ],
)
def test_settings_that_name_nobody_or_two_are_refused(
    run: Run, tmp_path: Path, notify: dict[str, Any]
) -> None:
    lay_suite(tmp_path, notify=notify)
    ran = run("run", "-q")
    assert ran.code == 2
    assert "notify" in ran.err


def test_a_run_from_python_is_gated_followed_and_notified_alike(run: Run, tmp_path: Path) -> None:
    gate = {"tier": "production", "rule": "point"}
    for n in (0, 4):
        wrong = dict.fromkeys((f"c{k}" for k in range(n)), "wrong")
        lay_suite(tmp_path, n=10, texts=wrong, gate=gate, notify={"file": "alarms.jsonl"})
        with jk.evaluate_sync("judgekit.yaml") as ended:
            decision = ended.store.gate_decisions("small")[ended.id]
            assert decision.outcome == ("failed" if n else "passed")
    assert [one["kind"] for one in alarms(tmp_path / "alarms.jsonl")] == ["critical-finding"]
    assert len(run("findings", "--json").json["findings"]) == 5


def test_a_notification_that_fails_in_python_is_a_warning(run: Run, tmp_path: Path) -> None:
    fall(run, tmp_path, {"file": "no/alarms.jsonl"}, 0)
    lay_suite(tmp_path, n=10, texts={"c0": "wrong", "c1": "wrong"}, notify={"file": "no/a.jsonl"})
    with pytest.warns(UserWarning, match="not notified"):
        jk.evaluate_sync("judgekit.yaml").close()
