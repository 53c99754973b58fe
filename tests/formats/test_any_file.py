"""Whatever a file holds, it is read or refused in words; nothing else comes out."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.datasets import load_dataset, suite_from_path, validate_path
from judgekit.errors import InputError
from judgekit.formats import (
    ParsedDocument,
    downgrade_skill_tests,
    promptfoo_result_rows,
    quality_run_rows,
    read_document,
    read_graders,
    read_skill_history,
    upgrade_skill_tests,
)
from tests.formats import FOREIGN

DOCUMENTS = (
    "workflow.json", "evals.json", "history.json", "skill/eval/tests.json", "tests_v1.json",
    "quality.json", "promptfooconfig.yaml", "promptfoo_results.json", "graders.json",
)  # fmt: skip

TEXTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        ["fixtures/../../x", "file://x", "file://a.py", "{{a}}", "(", "eval/fixtures/a"]
    ),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def read_every_way(path: Path) -> None:
    """Let every door try a file; only what is the caller's to mend may come out."""
    doors: list[Any] = [load_dataset, suite_from_path, read_skill_history, read_graders]
    for door in doors:
        with suppress(InputError):
            door(path)
    for rows in (promptfoo_result_rows, quality_run_rows):
        with suppress(InputError):
            list(rows(read_document(path)))
    for problem in validate_path(path):
        assert problem.message
        assert problem.line is None or problem.line >= 1


def places_in(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        children = list(value.items())
    elif isinstance(value, list):
        children = list(enumerate(value))
    return [at, *(place for key, item in children for place in places_in(item, (*at, key)))]


def replaced(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    whole = copy.deepcopy(value)
    inner = whole
    for part in at[:-1]:
        inner = inner[part]
    inner[at[-1]] = new
    return whole


@pytest.mark.no_cover
@pytest.mark.parametrize("name", DOCUMENTS)
@settings(max_examples=20)
@given(data=st.data())
def test_a_wrong_value_at_any_place_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    value = read_document(FOREIGN / name).value
    at = data.draw(st.sampled_from(places_in(value)))
    path = tmp_path_factory.mktemp("any") / "tests.json"
    path.write_text(json.dumps(replaced(value, at, data.draw(VALUES))))
    read_every_way(path)


KEYS = (
    "workflowName", "cases", "skill", "testCases", "tests", "type", "fields", "providers",
    "prompts", "results", "vars", "success", "graders", "testing_criteria", "input", "ideal",
    "versions", "current_version", "scenarios", "assert", "expectations", "records", "source",
)  # fmt: skip


@settings(max_examples=60)
@given(value=st.recursive(VALUES, lambda v: st.dictionaries(st.sampled_from(KEYS), v, max_size=4)
                          | st.lists(v, max_size=2), max_leaves=6))  # fmt: skip
def test_any_structure_with_their_keys_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, value: Any
) -> None:
    path = tmp_path_factory.mktemp("any") / "a.json"
    path.write_text(json.dumps(value))
    read_every_way(path)


@settings(max_examples=40)
@given(data=st.data(), name=st.sampled_from([*DOCUMENTS, "samples.jsonl"]))
def test_a_file_cut_off_or_damaged_is_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, name: str
) -> None:
    raw = bytearray((FOREIGN / name).read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at : at + 1] = data.draw(st.binary(max_size=3))
    path = tmp_path_factory.mktemp("any") / Path(name).name
    path.write_bytes(bytes(raw[: data.draw(st.integers(0, len(raw)))]))
    read_every_way(path)


@settings(max_examples=50)
@given(data=st.data())
def test_a_damaged_zip_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("eval/tests.json", "eval/fixtures/invoice.txt", "eval/fixtures/scan.bin"):
            archive.write(FOREIGN / "skill" / name, name)
    raw = bytearray(packed.getvalue())
    for _ in range(data.draw(st.integers(0, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("any") / "skill.zip"
    path.write_bytes(bytes(raw[: data.draw(st.integers(len(raw) // 2, len(raw)))]))
    for door in (load_dataset, suite_from_path, validate_path):
        with suppress(InputError):
            door(path)


@settings(max_examples=60)
@given(value=VALUES)
def test_anything_is_upgraded_or_refused_and_downgraded(value: Any) -> None:
    with suppress(InputError):
        tests, lost = downgrade_skill_tests(upgrade_skill_tests(value))
        assert isinstance(tests, list)
        assert all(isinstance(path, str) for path in lost)


def test_a_document_without_a_file_can_be_read() -> None:
    document = ParsedDocument(Path("nowhere.json"), [{"type": "x", "fields": {}}])
    assert list(quality_run_rows(document)) == []
