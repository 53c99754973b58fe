"""Help texts: options in groups, rare ones only with `--help-all`, examples at the end.

Commands declare their options in any order; which group an option is shown in, and whether it is
rare, follows from its name, so that it is the same for every command.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any

import click

from judgekit import datasets
from judgekit.cli.options import CommandOptions, takes
from judgekit.errors import InputError

_TABLES: dict[str, Any] = json.loads(
    Path(__file__).with_name("commands.json").read_text(encoding="utf-8")
)
COMMAND_GROUPS: dict[str, list[str]] = _TABLES["groups"]
"""The groups of long help texts, each with the parameters it shows, in this order."""


@cache
def rare_parameters() -> frozenset[str]:
    """Parameters that a first reader of the help does not need."""
    settings = datasets.command_options(datasets.JudgeSettings)
    return frozenset({
        *_TABLES["rare"], *(entry.parameter or name for name, _, entry in settings if entry.is_rare)
    })  # fmt: skip


_SHORT = 12
"""Commands with no more options than this, and those without a judge, list all of them."""

_WIDEST_OPTION = 26
"""Longer spellings have a line of their own."""

_EXAMPLES = "\nExamples:\n"
_ALL = "judgekit.help_all"


class ExampleCommand(click.Command):
    """A command whose help ends with examples: the part of the docstring below `Examples:`."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        words, _, examples = inspect.cleandoc(self.help or "").partition(_EXAMPLES)
        self.help = words.strip()
        self.examples = [line.strip() for line in examples.splitlines() if line.strip()]

    # click would wrap them as it wraps a paragraph.
    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples as they are, for a wrapped command line cannot be copied."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


class HelpGroup(ExampleCommand, click.Group):
    """A group of commands whose help ends with examples."""


class HelpCommand(ExampleCommand):
    """A command whose help has groups of options and ends with examples."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)

        def show_all(ctx: click.Context, _: click.Parameter, is_wanted: bool) -> None:
            if is_wanted and not ctx.resilient_parsing:
                ctx.meta[_ALL] = True
                click.echo(ctx.get_help(), color=ctx.color)
                ctx.exit()

        # Eager, before any other option is checked: help must not need a valid command line.
        self.params.append(
            click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=show_all,
                help="Show all options and exit.",
            )
        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, each group under its heading."""
        records = [
            (one.name or "", row)
            for one in self.get_params(ctx)
            if isinstance(one, click.Option) and (row := one.get_help_record(ctx)) is not None
        ]
        # Only commands that call a judge have so many options that groups help.
        has_groups = any(name == "judge_model" for name, _ in records) and len(records) > _SHORT
        shows_all = bool(ctx.meta.get(_ALL)) or not has_groups
        n_rare = 0 if shows_all else sum(name in rare_parameters() for name, _ in records)
        shown = [(name, row) for name, row in records if shows_all or name not in rare_parameters()]
        # One width for all groups, so that the help texts line up down the page.
        width = min(_WIDEST_OPTION, max(len(spelling) for _, (spelling, _) in shown))
        left = {name: (spelling.ljust(width), words) for name, (spelling, words) in shown}
        if has_groups:
            for title, names in COMMAND_GROUPS.items():
                if rows := [left.pop(name) for name in names if name in left]:
                    with formatter.section(title):
                        formatter.write_dl(rows, col_max=_WIDEST_OPTION)
        if n_rare:
            spelling, _ = left["help_all"]
            left["help_all"] = (spelling, f"Show all options, {n_rare} more than here.")
        with formatter.section("Options"):
            formatter.write_dl(list(left.values()), col_max=_WIDEST_OPTION)


def command(
    name: str, options: type[CommandOptions], group: click.Group | None = None
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a command with such a help, which takes the options of a model."""

    def add(function: Callable[..., None]) -> click.Command:
        made = click.command(name, cls=HelpCommand)(takes(options)(_placing_criteria(function)))
        if group is not None:
            group.add_command(made)
        return made

    return add


def _placing_criteria(function: Callable[..., None]) -> Callable[..., None]:
    """Name the file and the line in an error about a criterion, in every command."""

    @wraps(function)
    def placed(options: CommandOptions, **arguments: object) -> None:
        try:
            function(options, **arguments)
        except InputError as error:
            # A judge has only the rubric, and commands with --config may take that of the suite.
            source, is_of_one = getattr(options, "rubric", None), "criterion " in error.message
            if is_of_one and source is None and hasattr(options, "config"):
                from judgekit.cli.setup import configured_suite  # noqa: PLC0415 - help needs none

                suite = configured_suite(options.config)
                source = None if suite is None else suite.rubric_source
            error.message = datasets.criterion_place(source, error.message) + error.message
            raise

    return placed
