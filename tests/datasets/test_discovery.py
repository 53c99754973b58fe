from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import discover_datasets, sources
from judgekit.errors import DatasetError
from tests.formats import FOREIGN
from tests.formats.writing import pack

if TYPE_CHECKING:
    from pathlib import Path

CASE = '{"id": "a", "input": "Q"}\n'


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_datasets_are_found_by_what_they_hold(tmp_path: Path) -> None:
    wanted = [
        put(tmp_path, "b/c.jsonl", CASE),
        put(tmp_path, "a.csv", "id,question\na,Q\n"),
        put(tmp_path, "b/d.yaml", "cases: [{id: a, input: Q}]"),
        put(tmp_path, "evals.json", json.dumps({"skill": "s", "cases": []})),
    ]
    put(tmp_path, "outputs.jsonl", '{"case_id": "a", "text": "t"}')
    put(tmp_path, "rubric.yaml", "criteria: []")
    put(tmp_path, "suite.yaml", "dataset: b/c.jsonl")
    put(tmp_path, "broken.json", "{")
    put(tmp_path, "empty.jsonl", "")
    put(tmp_path, "bad.csv", 'id,"')
    put(tmp_path, "grading.json", '{"case_id": "a", "results": [], "overall_score": 1}')
    put(tmp_path, "notes.txt", CASE)
    with pytest.warns(UserWarning, match="passed over") as raised:
        assert discover_datasets(tmp_path) == sorted(wanted)
    texts = sorted(str(one.message) for one in raised)
    assert len(texts) == 2
    assert f"{tmp_path / 'bad.csv'}:1: a quote is opened here and never closed" in texts[0]
    assert f"{tmp_path / 'broken.json'}:1" in texts[1]


@pytest.mark.parametrize("name", [".judgekit/c.jsonl", ".hidden.jsonl", "node_modules/c.jsonl"])
def test_hidden_and_foreign_folders_are_left_out(tmp_path: Path, name: str) -> None:
    put(tmp_path, name, CASE)
    assert discover_datasets(tmp_path) == []


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    put(tmp_path, "a/c.jsonl", CASE)
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert discover_datasets(tmp_path) == [tmp_path / "a" / "c.jsonl"]


def test_a_document_too_large_to_look_into_is_left_out(tmp_path: Path) -> None:
    path = put(tmp_path, "c.json", f"[{CASE}]")
    assert discover_datasets(tmp_path) == [path]
    put(tmp_path, "c.json", f"[{CASE}]" + " " * (16 * 2**20))
    assert discover_datasets(tmp_path) == []


def test_a_folder_with_too_many_files_is_an_error(tmp_path: Path) -> None:
    for number in range(sources.MAX_FILES + 1):
        os.close(os.open(tmp_path / f"{number}.x", os.O_CREAT))
    with pytest.raises(DatasetError, match="more than 10000 files"):
        discover_datasets(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    os.mkfifo(tmp_path / "b.json")
    (tmp_path / "c.json").symlink_to("c.json")
    assert discover_datasets(tmp_path) == []
    assert sources.discover_suites(tmp_path) == []


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no such folder"):
        discover_datasets(tmp_path / "no")


def test_datasets_of_other_tools_are_found(tmp_path: Path) -> None:
    shutil.copytree(FOREIGN, tmp_path / "all")
    packed = pack(tmp_path / "all" / "skill.zip", {"eval/tests.json": '{"testCases": []}'})
    pack(tmp_path / "all" / "other.zip", {"readme.md": "x"})
    put(tmp_path, "export.jsonl", '{"checksum": "a", "key": "b", "request": {}}\n')
    names = [
        "evals.json", "promptfooconfig.yaml", "quality.json", "samples.jsonl", "tests_v1.json",
        "workflow.json",
    ]  # fmt: skip
    skill = tmp_path / "all" / "skill" / "eval" / "tests.json"
    wanted = [skill, packed, *(tmp_path / "all" / name for name in names)]
    assert discover_datasets(tmp_path) == sorted(wanted)
