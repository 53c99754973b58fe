"""A disk that fails at each operation of a command in turn, until the command meets no failure.

What must hold: the exit code and a message that names the cause; a file that was there is the old
one or the new one; nothing half written is left; afterwards the same command ends as if nothing
had happened.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.cli.main import main
from judgekit.testing import ChaosServer, FlawedFiles
from tests.chaos.commands import essence, judged, lay_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.testing.flawed_files import FileFault

N_CASES = 2
OUTPUTS: dict[str, tuple[list[str], list[str]]] = {
    "grade": (
        ["grade", "a.jsonl", "--cases", "cases.jsonl", "--rubric", "rubric.yaml", "--json",
         "-o", "out.jsonl", "-o", "out.html", "-o", "out.csv", "-q"],
        ["out.jsonl", "out.html", "out.csv"],
    ),
    "run": (["run", "--json", "-q"], []),
    "report": (["report", "latest", "-o", "page.html", "-o", "page.md"], ["page.html", "page.md"]),
    "export": (["export", "latest", "-o", "results.csv"], ["results.csv"]),
    "cache export": (["cache", "export", "-o", "replies.jsonl"], ["replies.jsonl"]),
    "convert": (["convert", "cases.jsonl", "-o", "cases.yaml"], ["cases.yaml"]),
}  # fmt: skip
"""Commands that write, with the files that they replace."""

# A full disk leaves a result incomplete; a folder that may not be written to is the caller's.
EXITS: dict[FileFault, set[int]] = {
    "disk_full": {3}, "short_write": {3}, "io_error": {2, 3}, "read_only": {2, 3},
    "forbidden": {2, 3}, "vanished": {2, 3},
}  # fmt: skip
WORDS: dict[FileFault, str] = {
    "disk_full": "No space left|disk is full", "short_write": "No space left|disk is full|no room",
    "io_error": "Input/output|I/O error", "read_only": "[Rr]ead-?only",
    "forbidden": "Permission denied|unable to open", "vanished": "",
}  # fmt: skip
_OLD = "what was there before\n"


@dataclass
class FailingDisk:
    """A command on a disk that failed at each operation once, or from each one on."""

    command: str
    fault: FileFault
    n_operations: int = 0
    n_tried: int = 0
    complaints: list[str] = field(default_factory=list)


def fail_at_each(
    command: str,
    fault: FileFault,
    folder: Path,
    *,
    times: int | None = None,
    start: int = 0,
    step: int = 1,
) -> FailingDisk:
    """Let the disk fail at each operation of a command in turn."""
    found = FailingDisk(command, fault)
    with ChaosServer(reply=judged, keep_requests=False) as server, _inside(folder):
        lay_out(Path(), server.url, n_cases=N_CASES)
        arguments, written = OUTPUTS[command]
        if command == "grade":
            arguments = [*arguments, "--judge", "openai/chaos", "--api-base", server.url]
        if command not in {"grade", "run", "convert"}:
            _run(["run", "-q"])
        shutil.copytree(folder, prepared := folder.with_name("prepared"))
        undisturbed = _result(_run(arguments)[1])
        after = start
        while True:
            _restore(prepared, folder, written)
            with FlawedFiles(folder, fault, after=after, times=times) as files:
                code, out, err = _run(arguments)
            if not files.n_failed:
                found.n_operations = len(files.operations)
                return found
            found.n_tried += 1
            trial = f"{command}, {fault} at {after} {files.operations[after]}"
            _put_back(folder)
            # What failed once and was then written at another attempt needs no word.
            is_whole = times == 1 and code == 0 and _result(out) == undisturbed
            faults = [] if is_whole else [*_ending(code, err, fault)]
            faults += _left(folder, written)
            code, out, err = _run(arguments)
            if code or _result(out) != undisturbed:
                faults.append(f"afterwards exit {code}: {err[-300:]}")
            found.complaints += [f"{trial}: {one}" for one in faults]
            after += step


def _ending(code: int, err: str, fault: FileFault) -> Iterator[str]:
    if "Traceback" in err:
        yield err[-3500:]
    # A failure that is told and does not matter ends a command well.
    elif code and code not in EXITS[fault]:
        yield f"exit {code}: {err[-300:]}"
    # The rest of a short write may be written at the second attempt.
    elif (code or fault != "short_write") and not re.search(WORDS[fault], err):
        yield f"exit {code}, and nothing about {WORDS[fault]}: {err[-300:]}"


def _left(folder: Path, written: list[str]) -> Iterator[str]:
    for name in written:
        text = (folder / name).read_text("utf-8")
        if text != _OLD and not _is_whole(name, text):
            yield f"{name} is neither the old file nor the new one: {text[-60:]!r}"
    for path in folder.rglob("*.part*"):
        yield f"{path.name} is left"


def _is_whole(name: str, text: str) -> bool:
    if name.endswith(".jsonl"):
        return text.endswith("\n") and all(json.loads(line) for line in text.splitlines())
    return text.endswith(("\n", "</html>"))


def _result(out: str) -> object:
    with contextlib.suppress(ValueError):
        return essence(json.loads(out))
    return None


def _restore(prepared: Path, folder: Path, written: list[str]) -> None:
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(prepared, folder, dirs_exist_ok=True)
    for name in written:
        (folder / name).write_text(_OLD, "utf-8")


def _put_back(folder: Path) -> None:
    """The folder in its place again, when it was taken away."""
    aside = Path(f"{folder}.vanished")
    if aside.exists():
        shutil.copytree(aside, folder, dirs_exist_ok=True)
        shutil.rmtree(aside)
        os.chdir(folder)


def _run(arguments: list[str]) -> tuple[int, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    code: object = None
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        # Where warnings are errors, the command still tells them as it does to users.
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            main(arguments)
        except SystemExit as stop:
            code = stop.code
        except Exception:  # noqa: BLE001 - that nothing else is raised is what is tested
            return -1, stdout.getvalue(), traceback.format_exc()[-4000:]
    return int(str(code)), stdout.getvalue(), stderr.getvalue()


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
