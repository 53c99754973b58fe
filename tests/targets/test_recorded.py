from __future__ import annotations

import gzip
import json
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import validate_path
from judgekit.errors import DatasetError
from judgekit.targets import RecordedTarget
from tests.factories import make_case

if TYPE_CHECKING:
    from pathlib import Path

ROWS = (
    {"case_id": "a", "text": "one"},
    {"case_id": "b", "response": "zwei", "variant": "v1"},
    {"case_id": "a", "text": "two"},
    {"case_id": "a", "text": "other", "variant": "v2"},
)


def put(folder: Path, *rows: dict[str, Any], name: str = "outputs.jsonl") -> Path:
    path = folder / name
    lines = "\ufeff" + "\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n"
    packed = lines.encode()
    path.write_bytes(gzip.compress(packed) if name.endswith(".gz") else packed)
    return path


async def texts(target: RecordedTarget, case_id: str, n: int) -> list[str | None]:
    case = make_case(id=case_id)
    outputs = [await target.answer(case, repeat=repeat) for repeat in range(n)]
    await target.aclose()
    assert {output.variant for output in outputs} == {"v1"}
    return [output.text for output in outputs]


@pytest.mark.parametrize("name", ["outputs.jsonl", "outputs.jsonl.gz"])
async def test_repeats_are_a_cases_rows_in_order(tmp_path: Path, name: str) -> None:
    target = RecordedTarget("v1", put(tmp_path, *ROWS, name=name))
    assert await texts(target, "a", 2) == ["one", "two"]
    assert await texts(target, "b", 1) == ["zwei"]


async def test_other_formats_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "outputs.csv"
    path.write_text("case_id,text\na,eins\na,zwei\n", encoding="utf-8")
    assert await texts(RecordedTarget("v1", path), "a", 2) == ["eins", "zwei"]


@pytest.mark.parametrize("name", ["outputs.jsonl", "outputs.jsonl.gz"])
async def test_a_trace_may_be_in_a_file_beside_the_outputs(tmp_path: Path, name: str) -> None:
    (tmp_path / "trace.json").write_text('[{"type": "message", "content": "looked it up"}]')
    path = put(tmp_path, {"case_id": "a", "text": "one", "trace": "trace.json"}, name=name)
    output = await RecordedTarget("v1", path).answer(make_case(id="a"))
    assert [event.content for event in output.trace] == ["looked it up"]
    assert validate_path(path) == []


async def test_a_case_without_a_row_is_not_recorded(tmp_path: Path) -> None:
    target = RecordedTarget("v1", put(tmp_path, *ROWS))
    missing = await target.answer(make_case(id="c"))
    once = await target.answer(make_case(id="b"), repeat=1)
    assert (missing.error_kind, once.error_kind) == ("not_recorded", "not_recorded")
    assert "has no output for it" in (missing.error or "")
    assert "has 1 of its outputs, and repeat 2 was wanted" in (once.error or "")


async def test_an_output_is_given_as_it_was_recorded(tmp_path: Path) -> None:
    row = {"case_id": "a", "data": {"n": 1}, "duration_ms": 5.0, "note": "ü", "run_id": "r1"}
    output = await RecordedTarget("v1", put(tmp_path, *ROWS[1:2], row)).answer(make_case(id="a"))
    assert (output.data, output.duration_ms, output.run_id) == ({"n": 1}, 5.0, "r1")
    assert output.metadata == {"note": "ü"}


def test_a_file_of_other_variants_only_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no outputs of 'v1'\n.*it has outputs of v2"):
        RecordedTarget("v1", put(tmp_path, ROWS[3]))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", r"outputs.jsonl:2: not JSON"),
        ("[1]", r"outputs.jsonl:2: a row must be an object"),
        ('{"text": "x"}', r"outputs.jsonl:2: the field `case_id` is missing"),
        ("\udcff", r"outputs.jsonl:2: the byte 0xff"),
    ],
)
def test_an_unsound_row_is_told_at_once_with_its_line(tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "outputs.jsonl"
    path.write_text(
        f'{{"case_id": "a", "text": "x"}}\n{line}\n', encoding="utf-8", errors="surrogateescape"
    )
    with pytest.raises(DatasetError, match=told):
        RecordedTarget("v1", path)


def test_a_line_longer_than_any_row_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    with path.open("wb") as stream:
        stream.write(b"x" * 40)
        stream.truncate((64 << 20) + 2)
    with pytest.raises(DatasetError, match="a line longer than 64 MiB"):
        RecordedTarget("v1", path)


@pytest.mark.parametrize("line", ['{"case_id": "z", "text": "xxx"}\n', "no json\n"])
async def test_a_file_that_changes_meanwhile_is_noticed(tmp_path: Path, line: str) -> None:
    path = put(tmp_path, *ROWS)
    target = RecordedTarget("v1", path)
    path.write_text(line, encoding="utf-8")
    output = await target.answer(make_case(id="a"))
    await target.aclose()
    assert output.error_kind == "unreadable"
    assert "has changed" in (output.error or "")


async def test_a_file_that_is_gone_is_an_error_of_the_case(tmp_path: Path) -> None:
    path = put(tmp_path, *ROWS)
    target = RecordedTarget("v1", path)
    path.unlink()
    assert (await target.answer(make_case(id="a"))).error_kind == "unreadable"


def test_many_rows_are_not_held(tmp_path: Path) -> None:
    rows = ({"case_id": f"case-{n}", "text": "x" * 5_000} for n in range(1_000))
    path = put(tmp_path, *rows)
    tracemalloc.start()
    RecordedTarget("v1", path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < path.stat().st_size / 2
