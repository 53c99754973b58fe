from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import DatasetError
from judgekit.formats import iter_lines, read_text, text
from judgekit.formats.text import TextLine

if TYPE_CHECKING:
    from pathlib import Path


def put(folder: Path, raw: bytes, name: str = "a.txt") -> Path:
    path = folder / name
    path.write_bytes(raw)
    return path


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    path = put(tmp_path, b"\xef\xbb\xbfone\ntwo")
    assert read_text(path) == "one\ntwo"
    assert list(iter_lines(path)) == [TextLine(1, "one\n"), TextLine(2, "two")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_named(tmp_path: Path, encoding: str) -> None:
    path = put(tmp_path, '{"id": 1}\n'.encode(encoding))
    with pytest.raises(DatasetError, match="UTF-16") as caught:
        read_text(path)
    assert "UTF-8" in str(caught.value.hint)
    with pytest.raises(DatasetError, match="UTF-16"):
        list(iter_lines(path))


def test_a_bad_byte_is_named_with_its_offset_and_line(tmp_path: Path) -> None:
    path = put(tmp_path, b"\xef\xbb\xbfok\nb\xffd\n")
    with pytest.raises(DatasetError, match=r"a\.txt:2: the byte 0xff.*at byte 7"):
        read_text(path)


def test_lines_after_a_bad_line_are_still_read(tmp_path: Path) -> None:
    first, second, third = iter_lines(put(tmp_path, b"ok\nb\xffd\nok\n"))
    assert (first, third) == (TextLine(1, "ok\n"), TextLine(3, "ok\n"))
    assert isinstance(second, DatasetError)
    assert (second.line, "byte 4 of the file" in str(second)) == (2, True)


def test_a_nul_byte_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="a NUL byte at byte 3"):
        read_text(put(tmp_path, b"abc\0"))


def test_a_missing_file_lists_near_names(tmp_path: Path) -> None:
    put(tmp_path, b"", "cases.jsonl")
    with pytest.raises(DatasetError, match="no such file") as caught:
        read_text(tmp_path / "case.jsonl")
    assert caught.value.hint == "did you mean cases.jsonl?"
    with pytest.raises(DatasetError, match="no such file"):
        read_text(tmp_path / "nowhere" / "x")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="folder"):
        read_text(tmp_path)


def test_a_name_no_system_takes_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        read_text(tmp_path / "a\0b")


def test_gzip_is_read_and_damaged_gzip_named(tmp_path: Path) -> None:
    packed = gzip.compress(b"one\ntwo\n" * 100)
    assert len(list(iter_lines(put(tmp_path, packed, "a.gz")))) == 200
    for raw in (packed[:-12], b"plain", packed[:20] + b"\0\0\0" + packed[23:]):
        with pytest.raises(DatasetError, match="damaged gzip"):
            list(iter_lines(put(tmp_path, raw, "b.gz")))


def test_a_document_over_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "big.json"
    with path.open("wb") as stream:
        stream.truncate(text.MAX_DOCUMENT_BYTES + 1)
    with pytest.raises(DatasetError, match="larger than 256 MiB"):
        read_text(path)


def test_a_line_over_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    with path.open("wb") as stream:
        stream.write(b"x" * 40)
        stream.truncate(text.MAX_LINE_BYTES + 1)
    with pytest.raises(DatasetError, match="a line longer than 64 MiB"):
        list(iter_lines(path))


def test_a_text_may_have_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_bytes("id,input\nc1,\x01\x02\x1b\x7f é".encode())
    assert read_text(path).endswith("c1,\x01\x02\x1b\x7f é")
