"""A growing file is read once, whatever happens to it: rotation, truncation, partial lines."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import GrowingLog, LogPosition, is_sampled
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    OpenLog = Callable[..., GrowingLog]


@pytest.fixture
def open_log() -> Iterator[OpenLog]:
    """Opens logs, which are closed in the end."""
    logs: list[GrowingLog] = []

    def opened(path: Path, position: LogPosition | None = None, **options: int) -> GrowingLog:
        logs.append(GrowingLog(path, position, **options))
        return logs[-1]

    yield opened
    for log in logs:
        log.close()


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def look(log: GrowingLog) -> list[str]:
    return [line.raw.decode() for line in log.read()]


def one_line_read(folder: Path, open_log: OpenLog) -> tuple[Path, GrowingLog]:
    """A log of one line, which was read."""
    path = folder / "log.jsonl"
    append(path, "a\n")
    log = open_log(path)
    assert look(log) == ["a"]
    return path, log


def test_each_complete_line_is_read_once(tmp_path: Path, open_log: OpenLog) -> None:
    path = tmp_path / "log.jsonl"
    log = open_log(path)
    assert look(log) == []  # there is no file yet
    append(path, "a\nb\r\nc")
    assert look(log) == ["a", "b"]
    assert look(log) == []
    append(path, "c\n")
    assert look(log) == ["cc"]
    assert log.n_lines == 3


def test_a_stored_position_goes_on_where_it_was(tmp_path: Path, open_log: OpenLog) -> None:
    path = tmp_path / "log.jsonl"
    append(path, "a\nb\n")
    first = open_log(path)
    assert look(first) == ["a", "b"]
    assert first.position is not None
    stored = LogPosition.model_validate_json(first.position.model_dump_json())
    first.close()
    append(path, "c\n")
    assert look(open_log(path, stored)) == ["c"]


def test_the_position_of_a_line_is_behind_it(tmp_path: Path, open_log: OpenLog) -> None:
    path = tmp_path / "log.jsonl"
    append(path, "a\nb\nc\n")
    log = open_log(path)
    next(iter(log.read()))
    stored = log.position
    assert look(open_log(path, stored)) == ["b", "c"]


def test_a_rotated_file_is_read_to_its_end_first(tmp_path: Path, open_log: OpenLog) -> None:
    path, log = one_line_read(tmp_path, open_log)
    append(path, "b\n")
    path.rename(tmp_path / "log.jsonl.1")
    append(path, "c\n")
    assert look(log) == ["b", "c"]
    assert log.notes == []


def test_a_file_that_was_rotated_between_two_watches_is_found_by_its_name(
    tmp_path: Path, open_log: OpenLog
) -> None:
    path, log = one_line_read(tmp_path, open_log)
    log.close()
    append(path, "b\n")
    path.rename(tmp_path / "log.jsonl.1")
    append(path, "c\n")
    again = open_log(path, log.position)
    assert look(again) == ["b", "c"]
    assert again.notes == []


def test_several_rotations_between_two_watches_are_read_in_order(
    tmp_path: Path, open_log: OpenLog
) -> None:
    path, log = one_line_read(tmp_path, open_log)
    log.close()
    append(path, "b\n")
    for k, text in enumerate(["c\n", "d\n", "e\n"]):
        path.rename(tmp_path / f"log.jsonl.{9 - k}")
        append(path, text)
        os.utime(path, (k + 10, k + 10))
    os.utime(tmp_path / "log.jsonl.9", (1, 1))
    assert look(open_log(path, log.position)) == ["b", "c", "d", "e"]


def test_a_truncated_file_is_read_from_its_beginning(tmp_path: Path, open_log: OpenLog) -> None:
    path = tmp_path / "log.jsonl"
    append(path, "first\nsecond\n")
    log = open_log(path)
    assert look(log) == ["first", "second"]
    path.write_text("new\n", encoding="utf-8")
    assert look(log) == ["new"]
    assert log.notes == ["log.jsonl was truncated: it is read from its beginning"]


def test_a_file_that_was_copied_and_truncated_loses_nothing(
    tmp_path: Path, open_log: OpenLog
) -> None:
    path = tmp_path / "log.jsonl"
    append(path, "a\nb\n")
    log = open_log(path)
    lines = log.read()
    assert next(lines).raw == b"a"
    (tmp_path / "log.jsonl.1").write_text("a\nb\nc\n", encoding="utf-8")
    path.write_text("", encoding="utf-8")
    again = open_log(path, log.position)
    assert look(again) == []  # the truncated file is another one than the position's
    assert look(log) == ["b", "c"]
    stored = log.position
    append(path, "d\n")
    assert look(log) == ["d"]
    assert log.notes == []
    assert look(open_log(path, stored)) == ["d"]


def test_a_file_that_was_truncated_and_has_grown_again_is_noticed(
    tmp_path: Path, open_log: OpenLog
) -> None:
    path = tmp_path / "log.jsonl"
    append(path, "a\nb\n")
    log = open_log(path)
    assert look(log) == ["a", "b"]
    path.write_text("one\ntwo\nthree\n", encoding="utf-8")
    assert look(log) == ["one", "two", "three"]
    assert log.notes == ["log.jsonl was truncated: it is read from its beginning"]


def test_a_program_may_write_into_the_rotated_file_until_it_opens_the_new_one(
    tmp_path: Path, open_log: OpenLog
) -> None:
    path, log = one_line_read(tmp_path, open_log)
    path.rename(tmp_path / "log.jsonl.1")
    append(path, "")
    assert look(log) == []
    append(tmp_path / "log.jsonl.1", "b\nc without an end")
    assert look(log) == ["b"]
    append(path, "d\n")
    # A finished file has no line that could still be completed.
    assert look(log) == ["c without an end", "d"]


def test_a_file_with_a_similar_name_is_no_part_of_the_log(
    tmp_path: Path, open_log: OpenLog
) -> None:
    path, log = one_line_read(tmp_path, open_log)
    path.rename(tmp_path / "log.jsonl-20261123")
    append(path, "b\n")
    for name in ("log.jsonl.idx", "log.jsonl.1.gz", "log.jsonl-errors.jsonl"):
        append(tmp_path / name, "no row\n")
    assert look(log) == ["b"]


def test_a_line_that_is_too_long_is_left_out_and_reported_once(
    tmp_path: Path, open_log: OpenLog
) -> None:
    path = tmp_path / "log.jsonl"
    append(path, "a\n" + "x" * 35 + "\nb\n" + "y" * 35)
    log = open_log(path, max_line_bytes=10)
    assert look(log) == ["a", "b"]
    append(path, "\n")
    assert look(log) == []
    assert look(log) == []
    assert [note.split(" is ")[0] for note in log.notes] == [
        "log.jsonl: the line at byte 2",
        "log.jsonl: the line at byte 40",
    ]
    append(path, "c\n")
    assert look(log) == ["c"]


def test_a_deleted_file_is_not_followed_by_an_older_one(tmp_path: Path, open_log: OpenLog) -> None:
    path = tmp_path / "log.jsonl"
    append(tmp_path / "log.jsonl.2", "old\n")
    append(path, "a\n")
    log = open_log(path)
    assert look(log) == ["a"]
    path.unlink()
    assert look(log) == []
    append(path, "b\n")
    assert look(log) == ["b"]


def test_what_cannot_be_read_is_an_error_of_the_file(tmp_path: Path, open_log: OpenLog) -> None:
    (tmp_path / "log.jsonl").mkdir()
    with pytest.raises(DatasetError, match="cannot be read: Is a directory"):
        look(open_log(tmp_path / "log.jsonl"))


def test_a_file_that_is_gone_is_reported(tmp_path: Path, open_log: OpenLog) -> None:
    path, log = one_line_read(tmp_path, open_log)
    log.close()
    path.unlink()
    append(path, "other\n")
    again = open_log(path, log.position)
    assert look(again) == ["other"]
    assert "another file than the one read before" in again.notes[0]


def test_a_sample_depends_on_the_content_alone() -> None:
    rows = [f"row {k}".encode() for k in range(4000)]
    chosen = [row for row in rows if is_sampled(row, 0.25)]
    assert 900 < len(chosen) < 1100
    assert chosen == [row for row in rows if is_sampled(row, 0.25)]
    # A higher rate keeps what a lower one took.
    assert set(chosen) <= {row for row in rows if is_sampled(row, 0.5)}
    assert chosen != [row for row in rows if is_sampled(row, 0.25, seed=1)]
    assert all(is_sampled(row, 1) for row in rows)
