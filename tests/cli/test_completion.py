"""What the shell proposes at TAB: commands, options, and the names in the store and its files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

import pytest

from tests.cli.commanding import runner

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.commanding import Run

    Complete = Callable[[str], dict[str, str]]

SUITE = """\
name: replies
cases: [{id: a, input: What?, name: First}, {id: b, input: Why?}]
variants: [{id: v1, outputs: outputs.jsonl}]
judge: heuristic
assertions: [{type: word-count, value: {max: 20}}]
"""


@pytest.fixture
def complete(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Complete:
    monkeypatch.chdir(tmp_path)
    command = runner(capsys)

    def ask(line: str) -> dict[str, str]:
        words = line.split(" ")
        monkeypatch.setenv("_JUDGEKIT_COMPLETE", "zsh_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        done = command()
        monkeypatch.delenv("_JUDGEKIT_COMPLETE")
        assert (done.code, done.err) == (0, "")
        lines = done.out.split("\n")
        # zsh reads three lines for each item: its type, the word and what is said of it.
        return dict(zip(lines[1::3], lines[2::3], strict=True))

    return ask


@pytest.fixture
def stored(run: Run, tmp_path: Path) -> Path:
    (tmp_path / "judgekit.yaml").write_text(SUITE)
    rows = '{"case_id": "a", "text": "A."}\n{"case_id": "b", "text": "B."}\n'
    (tmp_path / "outputs.jsonl").write_text(rows)
    (tmp_path / "rubrics").mkdir()
    rubric = "name: own\ncriteria: [{name: c, question: Right?, scale: binary}]\n"
    (tmp_path / "rubrics" / "own.yaml").write_text(rubric)
    assert run("run").code == 0
    (tmp_path / "judgekit.yaml").write_text(SUITE.replace("heuristic", "openai/gpt-4.1-mini"))
    return tmp_path


def test_commands_options_and_choices_complete(complete: Complete) -> None:
    assert complete("judgekit gra") == {"grade": "Grade existing outputs against a rubric."}
    assert complete("judgekit cache ex").keys() == {"explain", "export"}
    assert complete("judgekit grade --max-co").keys() == {"--max-concurrency", "--max-cost"}
    assert complete("judgekit schema ").keys() == {"suite", "rubric", "case", "output", "label"}
    assert complete("judgekit run --mode j").keys() == {"joint"}
    assert complete("judgekit nothing --x ") == {}


@pytest.mark.usefixtures("stored")
def test_names_in_the_store_complete(complete: Complete) -> None:
    runs = complete("judgekit show ")
    latest, run_id = runs
    assert (latest, runs[run_id].split(",")[0]) == ("latest", "replies")
    assert complete("judgekit show latest ") == {"a": "First", "b": "case"}
    assert complete(f"judgekit show {run_id[:20]} b").keys() == {"b"}
    assert complete("judgekit show latest:other ") == {}
    assert complete("judgekit trend ").keys() == {"replies"}
    assert complete("judgekit trend --variant ").keys() == {"v1"}
    assert list(complete("judgekit gate --baseline "))[:3] == ["previous", "best", "accepted"]
    assert complete("judgekit show --store other.db latest ") == {}


@pytest.mark.usefixtures("stored")
def test_names_of_rubrics_and_judges_complete(complete: Complete) -> None:
    assert complete("judgekit grade --rubric ")["rubrics/own.yaml"] == "file"
    assert complete("judgekit grade --rubric help") == {"helpfulness": "shipped"}
    assert complete("judgekit grade --judge o") == {"openai/gpt-4.1-mini": "judgekit.yaml"}
    assert "anthropic/claude-sonnet-4-5" in complete("judgekit grade --judge anthropic/claude-s")


def test_a_damaged_or_missing_store_is_no_message(complete: Complete, tmp_path: Path) -> None:
    assert complete("judgekit show ") == {"latest": "the last run"}
    assert not (tmp_path / ".judgekit").exists()
    (tmp_path / ".judgekit").mkdir()
    (tmp_path / ".judgekit" / "judgekit.db").write_bytes(b"no database" * 999)
    assert complete("judgekit show ") == {"latest": "the last run"}


IMPORTS = """
import sys
from judgekit.cli.main import main
try:
    main()
finally:
    heavy = {"numpy", "sqlalchemy", "pydantic", "litellm", "rich"} & set(sys.modules)
    assert not heavy, heavy
"""


def test_completion_imports_nothing_heavy(stored: Path) -> None:
    words = {"_JUDGEKIT_COMPLETE": "bash_complete", "COMP_WORDS": "judgekit show latest "}
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], cwd=stored, env={**os.environ, **words, "COMP_CWORD": "3"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["plain,a", "plain,b"]


BASH = """
eval "$(_JUDGEKIT_COMPLETE=bash_source judgekit)"
COMP_WORDS=(judgekit show latest ""); COMP_CWORD=3
_judgekit_completion judgekit
echo "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(which("bash") is None, reason="bash is not installed")
def test_bash_completes_by_the_function_it_is_given(stored: Path) -> None:
    program = stored / "judgekit"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m judgekit "$@"\n')
    program.chmod(0o755)
    places = {
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "PATH": f"{stored}:{os.environ['PATH']}",
    }
    done = subprocess.run(
        [str(which("bash")), "-c", BASH], cwd=stored, capture_output=True, text=True, check=True,
        env={**os.environ, **places},
    )  # fmt: skip
    assert done.stdout.split() == ["a", "b"]
