from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.formats import FolderAttachments
from judgekit.formats.attachments import (
    MAX_ATTACHMENT_BYTES,
    MAX_FILE_BYTES,
    AttachmentError,
    AttachmentReader,
)

if TYPE_CHECKING:
    from pathlib import Path


class Counting:
    """A place that counts how often it is read."""

    def __init__(self, content: bytes = b"A") -> None:
        self.content = content
        self.n_read = 0

    def read(self, name: str) -> bytes:
        assert name
        self.n_read += 1
        return self.content


def test_a_file_is_read_once_under_all_its_names() -> None:
    place = Counting()
    shelf = AttachmentReader(place)
    assert shelf.take("a/b") == {"file": "a/b", "text": "A"}
    assert shelf.take("./a/b") == {"file": "./a/b", "text": "A"}
    assert place.n_read == 1


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert AttachmentReader(Counting("\ufeffA".encode())).take("a")["text"] == "A"


def test_all_files_together_have_a_limit() -> None:
    shelf = AttachmentReader(Counting(), _n_bytes=MAX_ATTACHMENT_BYTES)
    shelf.take("a")
    with pytest.raises(AttachmentError, match="larger than 256 MiB in total"):
        shelf.take("b")


def test_a_file_larger_than_any_fixture_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as stream:
        stream.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(AttachmentError, match="larger than 64 MiB"):
        FolderAttachments(tmp_path).read("big")
