"""The entry point: the table of commands, imported when called.

The error handling around them.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

import click

from judgekit import errors
from judgekit.cli.console import ReaderGoneError, warnings_as_notes
from judgekit.cli.exit_codes import EXIT_INPUT, EXIT_INTERRUPTED, exit_code
from judgekit.report import message_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

COMMANDS = {
    "demo": (
        "judgekit.cli.demo:demo_command",
        "Grade real agent outputs with recorded replies; no key.",
    ),
    "init": (
        "judgekit.cli.init:init_command",
        "Begin a working suite to edit; runs at once, no key.",
    ),
    "run": (
        "judgekit.cli.run:run_command",
        "Run a suite: targets, checks, judges; stored and resumable.",
    ),
    "grade": ("judgekit.cli.grade:grade_command", "Grade outputs against a rubric."),
    "compare": (
        "judgekit.cli.compare:compare_command",
        "Which of two variants is better: blind, in both orders.",
    ),
    "rank": (
        "judgekit.cli.rank:rank_command",
        "Three variants and more in one order, with the doubt of each place.",
    ),
    "calibrate": (
        "judgekit.cli.calibrate:calibrate_command",
        "Hold a judge against people's labels: trust, correct, label next.",
    ),
    "tune": (
        "judgekit.cli.tune:tune_command",
        "Word the judge's rubric better by labels, and show it on unseen cases.",
    ),
    "audit": (
        "judgekit.cli.audit:audit_command",
        "What moves a judge that should not: eleven probes.",
    ),
    "rejudge": (
        "judgekit.cli.rejudge:rejudge_command",
        "Grade a run's stored outputs with another judge; what changes.",
    ),
    "data": (
        "judgekit.cli.data:data_command",
        "Public labelled sets to calibrate with: list, get, path.",
    ),
    "approve": (
        "judgekit.cli.approve:approve_command",
        "Approve a version, on stored evidence that it is better.",
    ),
    "plan": (
        "judgekit.cli.plan:plan_command",
        "What a run or a grading would ask and cost; asks nothing.",
    ),
    "show": (
        "judgekit.cli.show:show_command",
        "The runs that are kept, a run's figures, all of a case.",
    ),
    "label": (
        "judgekit.cli.label:label_command",
        "Answer the questions of a run that wait for a person.",
    ),
    "export": ("judgekit.cli.export:export_command", "Write every answer of a run to a file."),
    "convert": (
        "judgekit.cli.convert:convert_command",
        "Turn cases of one form into another, lossless.",
    ),
    "validate": (
        "judgekit.cli.validate:validate_command",
        "Check that files are sound, all problems at once.",
    ),
    "lint": (
        "judgekit.cli.lint:lint_command",
        "Check rubrics and templates for what misleads judges.",
    ),
    "cache": ("judgekit.cli.cache:cache_command", "Look into the reply cache, move it, tidy it."),
    "doctor": (
        "judgekit.cli.doctor:doctor_command",
        "Check the installation, keys, cache and a model.",
    ),
}
"""Each command, where it lives and what it does; its module is imported when it is called."""


class LazyGroup(click.Group):
    """Imports a command's module only when that command is called, so that help is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order a newcomer meets them."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), name)
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which ones are near."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            error = errors.UnknownNameError("command", args[0], COMMANDS)
            raise click.UsageError(str(error), ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
    epilog="New here? Run `judgekit demo`, then `judgekit init my-suite`.",
)
@click.version_option(package_name="judgekit-llm", prog_name="judgekit")
def judgekit() -> None:
    """Grade what agents and prompts produce, and be able to defend the number."""


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    try:
        code = _run(args)
        sys.stdout.flush()
    except (BrokenPipeError, ReaderGoneError):
        # What is left in the buffer goes nowhere, so that Python does not complain of it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_INTERRUPTED
    sys.exit(code if isinstance(code, int) else 0)


def _run(args: Sequence[str] | None) -> object:
    """Run a command; the exit code, or what the command returned."""
    listening = sys.stdout
    try:
        given = None if args is None else list(args)
        with warnings_as_notes(), _sigterm_as_ctrl_c():
            return judgekit.main(args=given, prog_name="judgekit", standalone_mode=False)
    except SystemExit as stop:
        # When its reader has gone, click replaces stdout and exits with 1, which is a verdict here.
        return stop.code if sys.stdout is listening else EXIT_INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED
    except errors.JudgekitError as error:
        click.echo(f"error: {message_lines(str(error))}", err=True)
        return exit_code(error)
    except OSError as error:
        click.echo(f"error: {message_lines(str(error))}", err=True)
        return EXIT_INPUT


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """Containers and CI end a job with SIGTERM; what Ctrl-C would leave in order, it does too."""

    def interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = None
    with suppress(ValueError):  # not the main thread
        before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
