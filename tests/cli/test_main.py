from __future__ import annotations

import importlib
import signal
import subprocess
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

import click
import pytest

from judgekit import errors
from judgekit.cli.exit_codes import exit_code
from judgekit.cli.main import COMMANDS, judgekit as front_door
from tests.factories import reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.bench import Bench


def test_help_names_every_command_and_where_to_begin(bench: Bench) -> None:
    ran = bench.run("--help")
    assert (ran.code, ran.err) == (0, "")
    assert all(f"\n  {name} " in ran.out for name in COMMANDS)
    assert "judgekit demo" in ran.out


def test_without_a_command_the_help_is_shown(bench: Bench) -> None:
    ran = bench.run()
    assert ran.code == 2
    assert "Usage: " in ran.err


def test_commands_load_with_the_types_of_older_releases_of_click() -> None:
    # Until 8.3, `click.ParamType` takes no parameter of a type.
    source = """
import click
click.ParamType.__class_getitem__ = None
from judgekit.cli.main import main
main(["grade", "--help"])
"""
    ran = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("name", list(COMMANDS))
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_command_has_help(bench: Bench, name: str, option: str) -> None:
    ran = bench.run(name, option)
    assert (ran.code, ran.err) == (0, "")
    assert f"Usage: judgekit {name}" in ran.out


def test_the_version_is_that_of_the_distribution(bench: Bench) -> None:
    ran = bench.run("--version")
    assert (ran.code, ran.out) == (0, f"judgekit, version {version('judgekit-llm')}\n")


def test_an_unknown_command_is_refused_with_near_names(bench: Bench) -> None:
    ran = bench.run("grad")
    assert (ran.code, ran.out) == (2, "")
    assert "no command is called 'grad'" in ran.err
    assert "did you mean grade?" in ran.err


def test_a_command_unlike_any_other_is_refused_with_all_there_are(bench: Bench) -> None:
    ran = bench.run("xyzzy")
    assert ran.code == 2
    assert "cache, calibrate, compare, convert, data, demo, doctor, explain, export" in ran.err


def test_an_unknown_option_is_refused_with_near_names(bench: Bench) -> None:
    ran = bench.run("grade", "--rubrik", "x")
    assert (ran.code, ran.out) == (2, "")
    assert "No such option '--rubrik'" in ran.err.replace("No such option:", "No such option")
    assert "--rubric" in ran.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.DatasetError("x"), 2),
        (errors.SettingsError("x"), 2),
        (errors.StoreError("x"), 2),
        (errors.StoreError("x", is_incomplete=True), 3),
        (errors.ModelError("x", kind="auth"), 3),
        (errors.RefusalError("x"), 3),
        (errors.NotEnoughDataError("x"), 4),
        (errors.BudgetExceededError("x"), 5),
        (errors.FrozenCacheError("x", key="k"), 6),
    ],
)
def test_each_kind_of_error_has_its_exit_code(error: errors.JudgekitError, code: int) -> None:
    assert exit_code(error) == code


def test_an_interrupt_before_anything_began_is_no_traceback(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: str) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib, "import_module", interrupted)
    ran = bench.run("grade")
    assert (ran.code, ran.out) == (130, "")
    assert ran.err.strip() == "interrupted"


def test_a_fault_of_judgekit_itself_is_no_failed_gate(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: str) -> object:
        raise KeyError("what nobody thought of")

    monkeypatch.setattr(importlib, "import_module", broken)
    ran = bench.run("grade")
    # 1 is what Python would exit with, and would mean that quality is below the gate.
    assert (ran.code, ran.out) == (3, "")
    assert "KeyError: 'what nobody thought of'" in ran.err
    assert "report it with the lines above" in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to hear")
def test_sigterm_ends_a_command_as_ctrl_c_does_and_is_given_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(importlib, "import_module", lambda _: signal.raise_signal(signal.SIGTERM))
    ran = bench.run("grade")
    assert (ran.code, ran.out, ran.err.strip()) == (130, "", "interrupted")
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_file_in_the_way_is_an_error_and_no_traceback(bench: Bench) -> None:
    bench.write("file", "in the way")
    ran = bench.run("init", "file/suite")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ")


COMMAND = [sys.executable, "-m", "judgekit"]


def test_the_package_is_the_command_too(tmp_path: Path) -> None:
    ran = subprocess.run([*COMMAND, "--version"], cwd=tmp_path, capture_output=True, check=False)
    assert ran.returncode == 0
    assert ran.stdout.startswith(b"judgekit, version ")


@pytest.mark.parametrize("option", ["--json", "-v"])
def test_a_reader_that_goes_away_gets_no_traceback(bench: Bench, option: str) -> None:
    bench.write("replies.jsonl", *({"case_id": case, "text": reply(4)} for case in "abcd"))
    what = ("grade", "outputs.jsonl", "--rubric", "rubric.yaml", option, "--no-progress")
    asks = [*COMMAND, *what, "--judge", "recorded:replies.jsonl"]
    with subprocess.Popen(asks, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 130


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX closes the streams")
@pytest.mark.parametrize(
    ("closed", "least", "code"), [(">&-", "0.9", 1), ("2>&-", "0.5", 0), ("<&- >&- 2>&-", "0.5", 0)]
)
def test_a_closed_stream_does_not_change_the_exit_code(
    bench: Bench, closed: str, least: str, code: int
) -> None:
    scores = {"a": 5, "b": 5, "c": 5, "d": 1}
    bench.write("replies.jsonl", *({"case_id": c, "text": reply(n)} for c, n in scores.items()))
    what = f"grade outputs.jsonl --rubric rubric.yaml -o v.jsonl --fail-under {least}"
    line = f'"{sys.executable}" -m judgekit {what} --judge recorded:replies.jsonl {closed}'
    ran = subprocess.run(["sh", "-c", line], cwd=bench.folder, capture_output=True, check=False)
    assert ran.returncode == code
    assert b"Traceback" not in ran.stderr
    assert len((bench.folder / "v.jsonl").read_text(encoding="utf-8").splitlines()) == 4


def test_a_stream_without_unicode_gets_a_table_and_sound_json(bench: Bench) -> None:
    said = reply(1, rationale="Nicht überzeugend – leider.")
    bench.write("replies.jsonl", *({"case_id": case, "text": said} for case in "abcd"))
    what = ("grade", "outputs.jsonl", "--rubric", "rubric.yaml", "--no-progress")
    for option in ("--json", "-v"):
        ran = subprocess.run(
            [*COMMAND, *what, "--judge", "recorded:replies.jsonl", option],
            env={"PYTHONIOENCODING": "ascii", "PATH": ""},
            capture_output=True,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, b"")
        assert ran.stdout.isascii()


def test_a_command_that_is_not_there_is_none_to_click() -> None:
    assert front_door.get_command(click.Context(front_door), "xyzzy") is None
