"""A growing file is read once, whatever happens to it: rotation, truncation, partial lines."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import GrowingLog, LogPosition, is_sampled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    OpenLog = Callable[..., GrowingLog]


@pytest.fixture
def open_log() -> Iterator[OpenLog]:
    """Opens logs, which are closed in the end."""
    logs: list[GrowingLog] = []

    def opened(path: Path, position: LogPosition | None = None) -> GrowingLog:
        logs.append(GrowingLog(path, position))
        return logs[-1]

    yield opened
    for log in logs:
        log.close()


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def look(log: GrowingLog) -> list[str]:
    return [line.raw.decode() for line in log.read()]


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
    path = tmp_path / "log.jsonl"
    append(path, "a\n")
    log = open_log(path)
    assert look(log) == ["a"]
    append(path, "b\n")
    path.rename(tmp_path / "log.jsonl.1")
    append(path, "c\n")
    assert look(log) == ["b", "c"]
    assert log.notes == []


def test_a_file_that_was_rotated_between_two_watches_is_found_by_its_name(
    tmp_path: Path, open_log: OpenLog
) -> None:
    path = tmp_path / "log.jsonl"
    append(path, "a\n")
    log = open_log(path)
    assert look(log) == ["a"]
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
    path = tmp_path / "log.jsonl"
    append(path, "a\n")
    log = open_log(path)
    assert look(log) == ["a"]
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


def test_a_file_that_is_gone_is_reported(tmp_path: Path, open_log: OpenLog) -> None:
    path = tmp_path / "log.jsonl"
    append(path, "a\n")
    log = open_log(path)
    assert look(log) == ["a"]
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
