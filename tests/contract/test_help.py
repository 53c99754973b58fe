"""Every command with its options and arguments; not the words that explain them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.pinning import read
from tests.contract.terminal import judgekit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.contract.pinning import Pins

_OPTION = re.compile(r"^  (-\S.*?)(?:  +(\S.*))?$")
_CONTINUED = re.compile(r"^ {10,}(\S.*)$")
_COMMAND = re.compile(r"^  ([a-z]\S*)(?:  .*)?$")
_TAIL = re.compile(r"\[((?:default: |required|[\d.]*<?=?x[<>=])[^\[\]]*)\]$")
"""The default and the range, which stand in brackets after the words."""

_PROSE = {"", "Examples"}
"""What is under no heading, and what shows how a command is used."""

HERE = Path(__file__).parent


def help_of(command: str, flag: str = "--help") -> str:
    """What the help of a command prints; "" is judgekit itself."""
    ran = judgekit(*command.split(), flag, folder=HERE)
    assert (ran.code, ran.err) == (0, "")
    return ran.out


def sections(text: str) -> dict[str, list[str]]:
    """The lines of a help text by heading; those of the usage line by `Usage`."""
    parts: dict[str, list[str]] = {}
    heading = "Usage"
    for line in text.removeprefix("Usage:").splitlines():
        if not line.strip():
            heading = ""
        elif re.fullmatch(r"[A-Z][\w ]+:", line):
            heading = line.removesuffix(":")
        parts.setdefault(heading, []).append(line)
    return parts


def options(lines: list[str]) -> list[str]:
    """Each option: all its spellings, its metavar or choices, its default and range."""
    entries: list[tuple[str, list[str]]] = []
    for line in lines:
        begun, continued = _OPTION.match(line), _CONTINUED.match(line)
        if begun:
            entries.append((begun[1], [begun[2] or ""]))
        elif continued and entries:
            entries[-1][1].append(continued[1])
    tails = [(left, _TAIL.search(" ".join(words))) for left, words in entries]
    return sorted(f"{left}  [{tail[1]}]" if tail else left for left, tail in tails)


def interface(command: str) -> dict[str, Any]:
    """The arguments, options and subcommands of a command."""
    is_group = "COMMAND" in help_of(command).splitlines()[0]
    parts = sections(help_of(command) if is_group else help_of(command, "--help-all"))
    usage = " ".join(" ".join(parts.pop("Usage")).split())
    # The options and the commands stand in groups, whose names are words of the help as well.
    lines = [line for heading, part in parts.items() if heading not in _PROSE for line in part]
    shown = {"usage": usage, "options": options(lines)}
    commands = [match[1] for line in lines if (match := _COMMAND.match(line))]
    return shown | ({"commands": sorted(commands)} if is_group else {})


def all_commands(command: str = "") -> Iterator[str]:
    """A command and all below it."""
    yield command
    for name in interface(command).get("commands", []):
        yield from all_commands(f"{command} {name}".strip())


def test_the_commands_are_as_pinned(pins: Pins) -> None:
    commands = sorted(all_commands())
    if pins.updates:
        for command in commands:
            pins.check("help", command, interface(command))
    assert commands == sorted(read("help"))


@pytest.mark.parametrize("command", sorted(read("help")))
def test_a_command_takes_the_options_that_are_pinned(command: str, pins: Pins) -> None:
    pins.check("help", command, interface(command))


@pytest.mark.parametrize("command", [command for command in sorted(read("help")) if command])
def test_help_has_a_short_form(command: str) -> None:
    ran = judgekit(*command.split(), "-h", folder=HERE)
    assert ran.code == 0
    assert ran.out == help_of(command)


@pytest.mark.parametrize("command", sorted(read("help")))
def test_every_command_that_answers_can_answer_in_json(command: str) -> None:
    pinned = read("help")[command]
    assert "commands" in pinned or "--json" in pinned["options"]
