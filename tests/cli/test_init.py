from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import load_suite

if TYPE_CHECKING:
    from tests.cli.bench import Bench

FILES = {
    "README.md",
    "cases.jsonl",
    "judgekit.yaml",
    "outputs/v1.jsonl",
    "outputs/v2.jsonl",
    "replies.jsonl",
    "rubrics/quality.yaml",
}


def files_in(bench: Bench, folder: str) -> set[str]:
    root = bench.folder / folder
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_a_new_suite_has_its_files_and_the_next_step_is_said(bench: Bench) -> None:
    ran = bench.run("init", "my-suite")
    assert (ran.code, ran.out) == (0, "")
    assert files_in(bench, "my-suite") == FILES
    assert ran.err == "wrote 7 files to my-suite\nnext: cd my-suite && judgekit grade\n"


def test_a_new_suite_runs_at_once_without_a_key(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.run("init", "my-suite")
    monkeypatch.chdir(bench.folder / "my-suite")
    ran = bench.run("grade", "--json")
    assert ran.code == 0
    assert [v["variant"] for v in ran.json["summary"]["variants"]] == ["v1", "v2"]
    assert len(ran.json["verdicts"]) == 8


def test_a_new_suite_judges_as_the_demo_does(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = bench.run("demo", "--json").json["verdicts"]
    in_demo = {(v["case_id"], v["variant"]): v["value"] for v in shown}
    bench.run("init", "s")
    monkeypatch.chdir(bench.folder / "s")
    names = {"v1": "qwen2.5-coder-0.5b", "v2": "qwen2.5-coder-1.5b"}
    for verdict in bench.run("grade", "--json").json["verdicts"]:
        assert verdict["value"] == in_demo[verdict["case_id"], names[verdict["variant"]]]


@pytest.mark.parametrize("command", [["validate"], ["lint"]])
def test_a_new_suite_is_sound(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    bench.run("init", "my-suite")
    monkeypatch.chdir(bench.folder / "my-suite")
    assert bench.run(*command).code == 0


def test_a_suite_may_begin_in_this_folder(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    (bench.folder / "here").mkdir()
    monkeypatch.chdir(bench.folder / "here")
    ran = bench.run("init")
    assert ran.code == 0
    assert ran.err.endswith("next: judgekit grade\n")
    assert load_suite(bench.folder / "here" / "judgekit.yaml").name == "here"


@pytest.mark.parametrize("name", ["2026", "my suite: v1 #2", 'the "best"', "yes", "{x}", "été"])
def test_any_name_of_a_folder_is_a_name_of_a_suite(bench: Bench, name: str) -> None:
    assert bench.run("init", name).code == 0
    assert load_suite(bench.folder / name / "judgekit.yaml").name == name


def test_the_next_step_can_be_pasted_into_a_shell(bench: Bench) -> None:
    assert "next: cd 'my suite' && judgekit grade" in bench.run("init", "my suite").err


@pytest.mark.parametrize("file", ["judgekit.yaml", "rubrics/quality.yaml"])
def test_files_that_are_there_are_kept(bench: Bench, file: str) -> None:
    mine = bench.write(f"mine/{file}", "mine")
    ran = bench.run("init", "mine")
    assert (ran.code, ran.out) == (2, "")
    assert f"mine already has {file}" in ran.err
    assert "--force" in ran.err
    assert mine.read_text(encoding="utf-8") == "mine"
    assert files_in(bench, "mine") == {file}


def test_files_that_are_there_are_replaced_when_asked_to(bench: Bench) -> None:
    mine = bench.write("mine/judgekit.yaml", "mine")
    assert bench.run("init", "mine", "--force").code == 0
    assert mine.read_text(encoding="utf-8") != "mine"


def test_the_files_may_be_had_as_json(bench: Bench) -> None:
    ran = bench.run("init", "my-suite", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["folder"] == "my-suite"
    assert set(ran.json["files"]) == FILES
