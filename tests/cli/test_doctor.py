from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from judgekit.cli.doctor import (
    HealthCheck,
    cache_checks,
    key_checks,
    litellm_check,
    local_checks,
    network_file_system,
    next_steps,
    offline_checks,
    shipped_check,
    version_checks,
)
from judgekit.models import WEIGHTS_VARIABLE, PriceTable
from judgekit.models.request import ModelRequest
from tests.cli.cache_folders import buy
from tests.cli.commanding import Ran, runner
from tests.servers.answers import ok, refusing
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., Ran]

VERDICT = '{"evidence": ["4"], "rationale": "The same.", "assessable": true, "score": 1}'
REQUEST = ModelRequest(model="openai/m", messages=({"role": "user", "content": "Well?"},))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    return runner(capsys)


def found(topic: str, checks: list[HealthCheck]) -> list[tuple[str, str]]:
    return [(check.grade, check.text) for check in checks if check.topic == topic]


def test_a_sound_installation_exits_0_and_shows_no_key(run: Run) -> None:
    ran = run("doctor")
    assert (ran.code, ran.err) == (0, "")
    assert "OPENAI_API_KEY is set" in ran.out
    assert "sk-very-secret" not in ran.out
    assert ran.out.startswith("\nHealth of this installation\n0 errors, ")
    assert "\n  judgekit " in ran.out


def test_doctor_prints_json(run: Run) -> None:
    ran = run("doctor", "--json")
    assert ran.json["sound"] is True
    topics = [check["topic"] for check in ran.json["checks"]]
    assert {"Python", "litellm", "tokens", "prices", "shipped files", "cache"} <= set(topics)


def test_something_broken_exits_2(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WEIGHTS_VARIABLE, str(tmp_path / "missing.gguf"))
    ran = run("doctor")
    assert ran.code == 2
    assert "error  local model: " in ran.out
    assert "set JUDGEKIT_LOCAL_GGUF to a .gguf file" in ran.out
    probed = run("doctor", "--probe", "openai/m", "--api-base", "http://127.0.0.1:1/v1")
    assert probed.code == 2


def test_a_probe_that_answers_says_how_fast_who_and_for_how_much(run: Run) -> None:
    with OpenAILikeServer([ok(VERDICT)]) as server:
        ran = run("doctor", "--probe", "openai/m", "--api-base", server.url)
        assert server.n_requests == 1
    assert ran.code == 0
    assert "\n  probe  " in ran.out
    assert "openai/m answered in 0." in ran.out
    assert "price unknown" in ran.out
    assert "its reply has a valid verdict: score 1 on" in ran.out


def test_a_probe_whose_reply_is_no_verdict_is_a_warning(run: Run) -> None:
    with OpenAILikeServer([ok("I like it.")]) as server:
        ran = run("doctor", "--probe", "openai/m", "--api-base", server.url)
    assert ran.code == 0
    assert "its reply has no verdict" in ran.out


def test_a_probe_that_cannot_assess_is_readable(run: Run) -> None:
    verdict = VERDICT.replace("true", "false").replace('"score": 1', '"score": null')
    with OpenAILikeServer([ok(verdict)]) as server:
        ran = run("doctor", "--probe", "openai/m", "--api-base", server.url)
    assert "its reply has a valid verdict: not assessable" in ran.out


def test_a_failed_probe_exits_3_with_the_remedy(run: Run) -> None:
    with OpenAILikeServer("401") as server:
        ran = run("doctor", "--probe", "openai/m", "--api-base", server.url)
        assert server.n_requests == 1
    assert ran.code == 3
    assert "error  probe: " in ran.out
    assert "sk-very-secret" not in ran.out


def test_a_parameter_the_model_refuses_is_noted(run: Run) -> None:
    with OpenAILikeServer(refusing("temperature")) as server:
        ran = run("doctor", "--probe", "openai/m", "--api-base", server.url)
    assert ran.code == 0
    assert "it does not accept temperature" in ran.out


@pytest.mark.parametrize("version", ["1.82.7", "1.82.8", "1.107.0", "1.107.3"])
def test_a_malicious_litellm_is_an_error(version: str) -> None:
    check = litellm_check(version)
    assert (check.grade, "malicious" in check.text) == ("error", True)
    assert "change every key" in (check.remedy or "")


@pytest.mark.parametrize(
    ("version", "grade"),
    [("1.83.6", "error"), ("1.82.70", "error"), ("1.83.7", "ok"), ("1.106.2", "ok"), ("2.0", "ok")],
)
def test_other_versions_of_litellm_are_told_by_their_age(version: str, grade: str) -> None:
    assert litellm_check(version).grade == grade
    assert "malicious" not in litellm_check(version).text


def test_missing_packages_are_errors_unless_optional() -> None:
    checks = list(version_checks({"litellm": "1.82.7", "click": "8.1"}))
    assert found("click", checks) == [("ok", "8.1")]
    assert found("litellm", checks)[0][0] == "error"
    assert found("jinja2", checks) == [("error", "not installed")]
    assert found("pyarrow", checks) == [("note", "not installed (optional)")]
    remedies = [check.remedy for check in checks if check.topic in {"pyarrow", "judgekit-llm"}]
    assert remedies == ['pip install "judgekit-llm[parquet]"']


def test_keys_are_named_and_white_space_is_seen() -> None:
    checks = list(key_checks({"GROQ_API_KEY": "gsk-1", "OPENAI_API_KEY": "sk-1\n", "PATH": "x"}))
    assert [check.grade for check in checks] == ["warning", "ok"]
    assert "OPENAI_API_KEY begins or ends with white space" in checks[0].text
    assert "models begin with groq/" in checks[1].text
    (none,) = key_checks({"OPENAI_API_KEY": ""})
    assert (none.grade, none.text) == ("warning", "no API key is set")


def test_a_package_that_is_not_installed_is_told() -> None:
    checks = list(version_checks(distribution="judgekit-nowhere"))
    assert found("judgekit", checks) == [("warning", "runs without being installed")]
    assert [check.topic for check in checks] == ["judgekit", "Python", "litellm"]


def test_offline_tables_are_found() -> None:
    assert [check.grade for check in offline_checks()] == ["ok"] * 3


def test_offline_tables_that_are_missing_are_warnings(tmp_path: Path) -> None:
    checks = list(offline_checks(PriceTable(path=tmp_path / "none"), []))
    assert [check.grade for check in checks] == ["warning"] * 3
    assert checks[0].text.endswith("counts come from estimate:bytes/4")


def test_shipped_files_are_compiled() -> None:
    assert shipped_check().grade == "ok"
    check = shipped_check(["pointwise/nothing"])
    assert (check.grade, "pointwise/nothing" in check.text) == ("error", True)


def test_a_cache_that_is_not_there_yet_is_a_note(tmp_path: Path) -> None:
    (check,) = cache_checks(tmp_path / "cache", tmp_path / "no mounts")
    assert (check.grade, check.text.startswith("none yet in ")) == ("note", True)


def test_a_sound_cache_is_counted(tmp_path: Path) -> None:
    buy(tmp_path / "cache", REQUEST)
    (check,) = cache_checks(tmp_path / "cache")
    assert (check.grade, check.text.startswith("1 reply in ")) == ("ok", True)


def test_a_cache_that_others_can_read_or_write_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    buy(folder, REQUEST)
    folder.chmod(0o755)
    assert [check.grade for check in cache_checks(folder)] == ["warning", "ok"]
    folder.chmod(0o777)
    checks = list(cache_checks(folder))
    assert [check.grade for check in checks] == ["warning", "error"]
    assert "others may write" in checks[1].text


def test_a_damaged_cache_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    buy(folder, REQUEST)
    (folder / "cache.db").write_bytes(b"x" * 5000)
    for side in folder.glob("cache.db-*"):
        side.unlink()
    (check,) = cache_checks(folder)
    assert (check.grade, "damaged" in check.text) == ("error", True)


@pytest.mark.parametrize(
    ("mounts", "kind"),
    [
        ("s:/x {} nfs4 rw 0 0\n/dev/a / ext4 rw 0 0\n", "nfs4"),
        ("s:/x / nfs4 rw 0 0\n/dev/a {} ext4 rw 0 0\n", None),
        ("garbage\n", None),
    ],
)
def test_a_network_file_system_is_told_by_its_mount(
    tmp_path: Path, mounts: str, kind: str | None
) -> None:
    table = tmp_path / "mounts"
    table.write_text(mounts.format(tmp_path))
    assert network_file_system(tmp_path / "deep" / "cache", table) == kind
    graded = [check.grade for check in cache_checks(tmp_path / "deep" / "cache", table)]
    assert graded == (["note"] if kind is None else ["warning", "note"])


def test_a_folder_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    buy(tmp_path / "cache", REQUEST)
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write everywhere
    checks = list(cache_checks(tmp_path / "cache"))
    assert [check.grade for check in checks] == ["warning", "ok"]
    assert "emergency file" in checks[0].text


def test_damaged_replies_are_counted(tmp_path: Path) -> None:
    buy(tmp_path / "cache", REQUEST)
    with closing(sqlite3.connect(tmp_path / "cache" / "cache.db")) as connection, connection:
        connection.execute("UPDATE Cache SET value = 'x' WHERE key = ?", (REQUEST.key,))
    (check,) = cache_checks(tmp_path / "cache")
    assert (check.grade, check.text.endswith(": 1 damaged reply")) == ("error", True)


def test_of_a_large_cache_only_the_storage_is_checked(tmp_path: Path) -> None:
    buy(tmp_path / "cache", REQUEST)
    (check,) = cache_checks(tmp_path / "cache", most_verified=0)
    assert check.text.startswith("1 reply in ")


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (check,) = cache_checks(tmp_path / "file" / "cache")
    assert (check.grade, "cannot be written" in check.text) == ("warning", True)


def test_local_weights_that_are_meant_but_missing_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WEIGHTS_VARIABLE, str(tmp_path / "none.gguf"))
    (check,) = local_checks(os.environ)
    assert check.grade == "error"
    (tmp_path / "own.gguf").write_bytes(b"GGUF and more")
    monkeypatch.setenv(WEIGHTS_VARIABLE, str(tmp_path / "own.gguf"))
    (check,) = local_checks(os.environ)
    assert check.text.startswith(("local/own@", "own, but not xllamacpp"))


@pytest.mark.parametrize(
    ("healthy", "has_suite", "commands"),
    [
        ([], False, ["judgekit demo", "judgekit init my-suite"]),
        (["key"], False, ["judgekit init my-suite"]),
        (["key"], True, ["judgekit run"]),
        (["store"], True, ["judgekit run", "judgekit view"]),
        (["store", "key"], False, ["judgekit view"]),
    ],
)
def test_doctor_says_what_to_do_next(
    healthy: list[str], *, has_suite: bool, commands: list[str]
) -> None:
    checks = [HealthCheck(topic, "ok", "") for topic in healthy]
    assert list(next_steps(checks, has_suite=has_suite)) == commands
    broken = HealthCheck("cache", "error", "damaged")
    assert list(next_steps([*checks, broken], has_suite=has_suite)) == ["judgekit doctor"]


def test_doctor_ends_with_the_next_step(run: Run, tmp_path: Path) -> None:
    (tmp_path / "judgekit.yaml").write_text("{}", encoding="utf-8")
    last = run("doctor").out.strip().rpartition("Next\n")[2]
    assert " ".join(last.split()).startswith("judgekit run grade what judgekit.yaml names")
    (step,) = run("doctor", "--json").json["next"]
    assert step["command"] == "judgekit run"
