from __future__ import annotations

import io
import json
import os
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from judgekit.cli import console
from judgekit.cli.main import main
from judgekit.models.cache import CacheWarning
from tests.factories import reply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.bench import Bench


@contextmanager
def nobody_reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A standard output whose reader has gone."""
    reading, writing = os.pipe()
    os.close(reading)
    file = os.fdopen(writing, "w", encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", file)
        yield
    os.dup2(os.open(os.devnull, os.O_WRONLY), file.fileno())
    file.close()


def stdout_in(encoding: str, monkeypatch: pytest.MonkeyPatch) -> io.BytesIO:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    return written


def test_json_that_nobody_reads_is_told_from_other_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    with nobody_reads(monkeypatch), pytest.raises(console.ReaderGoneError):
        console.print_json({"a": "x" * 100_000})


def test_a_table_that_nobody_reads_is_told_from_other_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with nobody_reads(monkeypatch), pytest.raises(console.ReaderGoneError):
        console.stdout().print("x" * 100_000)


def test_help_that_nobody_reads_is_no_failed_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    with nobody_reads(monkeypatch), pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 130


def test_a_grading_that_nobody_reads_ends_quietly(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("replies.jsonl", *({"case_id": case, "text": reply(4)} for case in "abcd"))
    what = ["grade", "outputs.jsonl", "--rubric", "rubric.yaml", "--json"]
    with nobody_reads(monkeypatch), pytest.raises(SystemExit) as stopped:
        main([*what, "--judge", "recorded:replies.jsonl"])
    assert stopped.value.code == 130


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1252"])
def test_json_is_sound_in_any_encoding(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    written = stdout_in(encoding, monkeypatch)
    console.print_json({"a": "für 是"})
    assert json.loads(written.getvalue().decode(encoding)) == {"a": "für 是"}


def test_json_keeps_its_letters_where_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    written = stdout_in("utf-8", monkeypatch)
    console.print_json({"a": "für 是"})
    assert "für 是" in written.getvalue().decode()


def test_a_table_has_gaps_where_letters_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    written = stdout_in("ascii", monkeypatch)
    console.stdout().print("für")
    sys.stdout.flush()
    assert written.getvalue() == b"f?r\n"


def test_a_table_in_a_file_is_not_squeezed_into_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stdout_in("utf-8", monkeypatch)
    assert console.stdout().width == 110
    monkeypatch.setenv("COLUMNS", "70")
    assert console.stdout().width == 70


def test_no_colour_goes_into_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    written = stdout_in("utf-8", monkeypatch)
    console.stdout().print("[red]plain[/red]")
    sys.stdout.flush()
    assert written.getvalue() == b"plain\n"


def test_no_color_is_honoured_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    stdout_in("utf-8", monkeypatch)
    assert not console.stdout().no_color
    monkeypatch.setenv("NO_COLOR", "1")
    assert console.stdout().no_color


class Terminal(io.StringIO):
    """A stream that says of itself that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_an_error_is_red_on_a_terminal_only_and_never_with_no_color(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def written(stream: io.StringIO) -> str:
        monkeypatch.setattr(sys, "stderr", stream)
        with pytest.raises(SystemExit):
            main(["data", "get", "llmbarr"])
        return stream.getvalue()

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert written(Terminal()).startswith("\x1b[31merror:\x1b[0m no ")
    assert written(io.StringIO()).startswith("error: no ")
    monkeypatch.setenv("NO_COLOR", "1")
    assert written(Terminal()).startswith("error: no ")


def test_notes_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    console.note("done")
    assert capsys.readouterr() == ("", "done\n")
    assert console.stderr().stderr


def test_our_own_warnings_are_told_without_their_place_in_the_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    others: list[str] = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: others.append(str(message)))
    with console.warnings_as_notes():
        warnings.showwarning(CacheWarning("a damaged entry"), CacheWarning, "kept.py", 110)
        warnings.showwarning(UserWarning("not ours"), UserWarning, "elsewhere.py", 1)
    assert capsys.readouterr() == ("", "warning: a damaged entry\n")
    assert others == ["not ours"]
