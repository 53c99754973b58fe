from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, get_args

import pytest

from judgekit.cli.init import Template
from judgekit.datasets import load_suite
from judgekit.resources import shipped_file
from judgekit.testing import FlawedFiles

if TYPE_CHECKING:
    from tests.cli.bench import Bench

FILES = {
    ".gitignore",
    "README.md",
    "cases.jsonl",
    "judgekit.yaml",
    "labels.jsonl",
    "outputs/v1.jsonl",
    "outputs/v2.jsonl",
    "replies.jsonl",
    "rubrics/quality.yaml",
    "suite.schema.json",
}
TEMPLATES = get_args(Template)
N_OUTPUTS = 24
MAX_BYTES = 180_000


def files_in(bench: Bench, folder: str) -> set[str]:
    root = bench.folder / folder
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def readme_commands(text: str) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_a_new_suite_has_its_files_and_the_next_steps_are_printed(bench: Bench) -> None:
    ran = bench.run("init", "my-suite")
    assert (ran.code, ran.out) == (0, "")
    assert files_in(bench, "my-suite") == FILES
    assert ran.err.startswith(
        "Wrote 10 files to my-suite.\n\nNext, without a key:\n\n  cd my-suite\n"
    )
    assert "  judgekit run     " in ran.err


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_command_of_a_readme_runs_in_the_new_folder_without_a_key(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, template: str
) -> None:
    bench.run("init", "new", "--template", template)
    monkeypatch.chdir(bench.folder / "new")
    text = (bench.folder / "new" / "README.md").read_text(encoding="utf-8")
    commands = readme_commands(text)
    assert len(commands) > 1
    for line in commands:
        program, *words = shlex.split(line)
        if program == "pytest":
            words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
            tested = subprocess.run(words, capture_output=True, text=True, check=False)
            assert tested.returncode == 0, tested.stdout
            assert "4 passed" in tested.stdout
            continue
        assert program == "judgekit"
        # The viewer serves until it is stopped; its export shows the same runs.
        ran = bench.run(*(["view", "--export", "site"] if words == ["view"] else words))
        # A comparison of a few cases may be inconclusive.
        allowed = {0, 4} if words[0] == "compare" else {0}
        assert ran.code in allowed, f"{line}: {ran.err}{ran.out}"
        assert "error" not in ran.err, line
        assert "not used" not in ran.err, line


def test_a_new_suite_has_replies_to_every_pair_in_both_orders(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.run("init", "s")
    monkeypatch.chdir(bench.folder / "s")
    assert bench.run("compare", "outputs/v1.jsonl", "outputs/v2.jsonl", "-o", "all.jsonl").code == 4
    rows = [json.loads(line) for line in (bench.folder / "s/all.jsonl").read_text().splitlines()]
    assert len(rows) == N_OUTPUTS // 2
    assert not any(row["failures"] for row in rows)
    # Two criteria and the overall question in two orders; an identical pair takes no call.
    assert sorted({len(row["preferences"]) for row in rows}) in ([0, 6], [6])


def test_a_new_suite_judges_as_the_demo_does(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = bench.run("demo", "--json").json["verdicts"]
    in_demo = {(v["case_id"], v["variant"]): v["value"] for v in shown}
    bench.run("init", "s")
    monkeypatch.chdir(bench.folder / "s")
    names = {"v1": "qwen2.5-coder-0.5b", "v2": "qwen2.5-coder-1.5b"}
    verdicts = bench.run("grade", "--json").json["verdicts"]
    assert len(verdicts) == N_OUTPUTS
    for verdict in verdicts:
        assert verdict["value"] == in_demo[verdict["case_id"], names[verdict["variant"]]]


def test_the_schema_named_in_the_suite_is_beside_it(bench: Bench) -> None:
    bench.run("init", "my-suite")
    first, *_ = (bench.folder / "my-suite/judgekit.yaml").read_text("utf-8").splitlines()
    assert first == "# yaml-language-server: $schema=./suite.schema.json"
    schema = json.loads((bench.folder / "my-suite/suite.schema.json").read_text("utf-8"))
    assert "judge" in schema["properties"]


def test_a_suite_may_begin_in_this_folder(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    (bench.folder / "here").mkdir()
    monkeypatch.chdir(bench.folder / "here")
    ran = bench.run("init")
    assert ran.code == 0
    assert "  cd " not in ran.err
    assert load_suite(bench.folder / "here" / "judgekit.yaml").name == "here"


@pytest.mark.parametrize("name", ["2026", "my suite: v1 #2", 'the "best"', "yes", "{x}", "été"])
def test_any_name_of_a_folder_is_a_name_of_a_suite(bench: Bench, name: str) -> None:
    assert bench.run("init", name).code == 0
    assert load_suite(bench.folder / name / "judgekit.yaml").name == name


def test_the_next_step_can_be_pasted_into_a_shell(bench: Bench) -> None:
    assert "\n  cd 'my suite'\n" in bench.run("init", "my suite").err


@pytest.mark.parametrize("file", ["judgekit.yaml", "rubrics/quality.yaml"])
def test_an_existing_file_is_never_overwritten(bench: Bench, file: str) -> None:
    mine = bench.write(f"mine/{file}", "mine")
    ran = bench.run("init", "mine")
    assert (ran.code, ran.out) == (2, "")
    assert f"mine already has {file}; nothing was written" in ran.err
    assert mine.read_text(encoding="utf-8") == "mine"
    assert files_in(bench, "mine") == {file}


def test_an_existing_readme_and_gitignore_are_kept(bench: Bench) -> None:
    readme, ignored = bench.write("mine/README.md", "mine"), bench.write("mine/.gitignore", "*.pyc")
    ran = bench.run("init", "mine")
    assert ran.code == 0
    assert "Kept your README.md and .gitignore." in ran.err
    assert "Add .judgekit/ to your .gitignore" in ran.err
    assert "  judgekit run     " in ran.err
    assert (readme.read_text("utf-8"), ignored.read_text("utf-8")) == ("mine", "*.pyc")


def test_the_files_may_be_had_as_json(bench: Bench) -> None:
    ran = bench.run("init", "my-suite", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["folder"] == "my-suite"
    assert set(ran.json["files"]) == FILES
    assert ran.json["commands"][0] == "judgekit run"


def test_the_templates_are_small() -> None:
    root = shipped_file("calibration", "templates")
    assert sorted(path.name for path in root.iterdir() if path.is_dir()) == sorted(TEMPLATES)
    assert sum(p.stat().st_size for p in root.rglob("*") if p.is_file()) < MAX_BYTES


@pytest.mark.parametrize("after", [0, 4, 9, 20, 33])
def test_an_init_that_ran_out_of_room_is_finished_by_the_same_command(
    bench: Bench, after: int
) -> None:
    with FlawedFiles(bench.folder, "disk_full", after=after):
        full = bench.run("init", "mine")
    assert full.code == 3
    assert "No space left on device\n  free some space and run again" in full.err
    assert bench.run("init", "mine").code == 0
    assert files_in(bench, "mine") == FILES
    assert bench.run("run", "mine", "-q").code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_folder_whose_name_is_not_utf8_gets_a_suite_that_runs(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = bench.folder / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert bench.run("init").code == 0
    assert bench.run("run", "-q").code == 0
    (folder / "outputs" / "v1.jsonl").rename(name := os.fsdecode(b"v\xff.jsonl"))
    refused = bench.run("grade", name, "--rubric", "rubrics/quality.yaml", "--judge", "local")
    assert refused.code == 2
    assert "the argument 'v\\udcff.jsonl' is not UTF-8\n  rename the file" in refused.err
