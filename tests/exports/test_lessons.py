"""Lessons that are read back from a file."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import DatasetError
from judgekit.exports import Lesson, read_lessons

if TYPE_CHECKING:
    from pathlib import Path

FIELDS = {
    "suite": "s", "variant": "v", "finding_type": "refusal", "severity": "major",
    "status": "resolved", "what_failed": "it refused",
}  # fmt: skip
ROW = json.dumps({"type": "memory-item", "id": "a", "fields": FIELDS})


def put(folder: Path, content: bytes, name: str = "lessons.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_a_byte_order_mark_and_compression_are_understood(tmp_path: Path) -> None:
    lesson = Lesson.model_validate({"id": "a", **FIELDS})
    marked = f"\ufeff{ROW}\r\n".encode()
    assert read_lessons(put(tmp_path, marked)) == [lesson]
    assert read_lessons(put(tmp_path, gzip.compress(marked), "lessons.jsonl.gz")) == [lesson]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such file"),
        (b"\xff\n", "UTF-8"),
        (f"{ROW}\n[]".encode(), r"jsonl:2: "),
        (b'{"id": "a", "fields": 5}', r"jsonl:1: no lesson"),
        (b'{"id": "a", "fields": {}}', r"jsonl:1: no lesson"),
        (b'{"fields": {}}', r"jsonl:1: no lesson"),
    ],
)
def test_what_is_no_lesson_has_its_place(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "none.jsonl" if content is None else put(tmp_path, content)
    with pytest.raises(DatasetError, match=message):
        read_lessons(path)
