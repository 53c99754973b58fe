"""`judgekit init`: writes a working suite to edit, from a folder in `calibration/templates`."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Literal

import click

from judgekit import report
from judgekit.atomic_write import make_folder, write_text_atomically
from judgekit.cli import console
from judgekit.cli.help import command
from judgekit.cli.options import OutputOptions, option
from judgekit.errors import SettingsError
from judgekit.resources import shipped_file

Template = Literal["start", "agent", "rag", "prompts", "skill", "pytest"]

SCHEMA_FILE = "suite.schema.json"
_README, _IGNORE = "README.md", ".gitignore"

# Files that many folders have already, and that nothing else here needs.
_OPTIONAL = {_README, _IGNORE}

# The README's blocks of commands, where the line above a command says what it is for.
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^# (.+)\n(\w.+)$", re.MULTILINE)


class _InitOptions(OutputOptions):
    template: Template = option(
        "What is tested: answers to cases (start), agents with tool calls, answers from documents "
        "(rag), two prompts, a skill, or anything by pytest.",
        "start",
    )


@command("init", _InitOptions)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
def init_command(options: _InitOptions, *, folder: Path) -> None:
    """Create a working suite in FOLDER: cases, outputs, rubric, labels, recorded judge replies.

    Every command that is printed afterwards runs as it is, without a key. The README.md of the
    folder explains the files; edit them to make the suite yours.

    Existing files are never overwritten. An existing README.md or .gitignore is kept; any other
    file that exists already with another content is an error, and nothing is written.

    Examples:
        judgekit init my-suite
        judgekit init my-agent --template agent
        judgekit init . --template rag
    """
    name = folder.resolve().name or "suite"
    files = _files(options.template, name)
    # A mixture of the user's files and these would not run.
    present = [path for path in files if (folder / path).exists()]
    if len(present) < len(files):  # an `init` that was stopped is finished
        present = [p for p in present if (folder / p).read_text("utf-8", "replace") != files[p]]
    if refused := [path for path in present if path not in _OPTIONAL]:
        raise SettingsError(
            f"{folder} already has {', '.join(refused)}; nothing was written",
            hint="choose another folder: judgekit init my-suite",
        )
    written = [path for path in files if path not in present]
    for path in written:
        make_folder((folder / path).parent)
        write_text_atomically(folder / path, files[path])
    block = _BLOCK.search(files[_README])
    steps = [(step, purpose) for purpose, step in _COMMAND.findall(block[1] if block else "")]
    if options.as_json:
        commands = [step for step, _ in steps]
        data = {"folder": str(folder), "files": written, "kept": present, "commands": commands}
        console.print_json(data)
        return
    is_here = folder.resolve() == Path.cwd()
    where = "this folder" if is_here else str(folder)
    console.note(f"Wrote {report.format_count(len(written), 'file')} to {where}.")
    if present:
        console.note(f"Kept your {' and '.join(present)}.")
    if _IGNORE in present and ".judgekit" not in (folder / _IGNORE).read_text("utf-8", "replace"):
        console.note("Add .judgekit/ to your .gitignore: stored runs and cached replies are there.")
    if not is_here:
        steps = [(f"cd {shlex.quote(str(folder))}", ""), *steps]
    width = max(len(step) for step, _ in steps)
    lines = [f"  {step:{width}}  {purpose}".rstrip() for step, purpose in steps]
    console.note("\n".join(["", "Next, without a key:", "", *lines]))


def _files(template: str, name: str) -> dict[str, str]:
    """The files of a template by their path, with the name of the new suite in them."""
    root = shipped_file("calibration", "templates", template)
    files: dict[str, str] = {}
    # Sorted by parts: the same order on every system.
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            files[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
    # In a checkout, a real .gitignore would apply to the template itself.
    files[_IGNORE] = shipped_file("calibration", "templates", "gitignore").read_text("utf-8")
    if "judgekit.yaml" in files:
        quoted = json.dumps(name, ensure_ascii=False)
        files["judgekit.yaml"] = files["judgekit.yaml"].replace("NAME", quoted, 1)
        files[SCHEMA_FILE] = shipped_file("prompts", SCHEMA_FILE).read_text("utf-8")
    files[_README] = files[_README].replace("NAME", name, 1)
    return files
