"""Help texts: groups, rare options behind `--help-all`, examples that can be typed."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click
import pytest

from judgekit.cli.help import COMMAND_GROUPS, ExampleCommand, HelpCommand, rare_parameters
from judgekit.cli.main import COMMANDS, JOBS, judgekit as front_door

if TYPE_CHECKING:
    from collections.abc import Iterator


def commands(group: click.Group = front_door, name: str = "judgekit") -> Iterator[HelpCommand]:
    context = click.Context(group)
    for part in group.list_commands(context):
        command = group.get_command(context, part)
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {part}")
        else:
            assert isinstance(command, HelpCommand), f"{name} {part}"
            yield command


ALL = list(commands())

HELP = ["-h", "--help"]
"""A command keeps the help option of its first context, so every context here has the real one."""


def shown(command: click.Command, *arguments: str) -> str:
    """What a command prints for a help flag."""
    name = command.name or ""
    with click.Context(command, info_name=name, help_option_names=HELP) as context:
        formatter = context.make_formatter()
        context.meta["judgekit.help_all"] = "--help-all" in arguments
        command.format_help(context, formatter)
        return formatter.getvalue()


def longest(parameter: click.Parameter) -> str:
    return max(parameter.opts, key=len)


@pytest.mark.parametrize("command", ALL, ids=lambda command: str(command.name))
def test_help_all_shows_every_option(command: HelpCommand) -> None:
    text = shown(command, "--help-all")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert longest(parameter) in text


@pytest.mark.parametrize("command", ALL, ids=lambda command: str(command.name))
def test_help_hides_rare_options_only_of_commands_that_have_many(command: HelpCommand) -> None:
    text = shown(command)
    hidden = {
        one.name for one in command.params if isinstance(one, click.Option)
    } & rare_parameters()
    if "What to grade:" in text:
        for parameter in command.params:
            assert parameter.name not in hidden or f"\n  {longest(parameter)} " not in text
        assert f"Show all options, {len(hidden)} more than here." in " ".join(text.split())
    else:
        assert "Show all options and exit." in text


@pytest.mark.parametrize("command", ALL, ids=lambda command: str(command.name))
def test_every_command_ends_with_examples_of_options_it_has(command: HelpCommand) -> None:
    assert command.examples
    known = {spelling for one in command.params for spelling in one.opts}
    own = [line for line in command.examples if line.startswith("judgekit")]
    for line in own:
        used = {word for word in shlex.split(line) if word.startswith("-")}
        assert used <= known, line
    assert shown(command).rstrip().endswith(command.examples[-1])
    assert all(len(line) < 79 for line in command.examples)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_main_help_has_three_examples(name: str) -> None:
    command = front_door.get_command(click.Context(front_door), name)
    assert isinstance(command, ExampleCommand)
    assert len(command.examples) >= 3
    assert max(map(len, command.examples)) < 79
    text = shown(command).rstrip()
    assert text.endswith("".join(f"\n  {line}" for line in command.examples))


def test_the_groups_name_only_options_there_are() -> None:
    known = {one.name for command in ALL for one in command.params}
    grouped = [name for names in COMMAND_GROUPS.values() for name in names]
    assert len(grouped) == len(set(grouped))
    assert set(grouped) - known == set()
    assert rare_parameters() - known == set()


def test_every_command_has_one_job() -> None:
    assert sum(len(commands) for commands in JOBS.values()) == len(COMMANDS)


def test_help_all_is_a_flag_that_ends_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    command = next(one for one in ALL if one.name == "grade")
    command.main(["--help-all"], standalone_mode=False, help_option_names=HELP)
    assert "--max-retries" in capsys.readouterr().out
