"""The command line's front door: which commands there are, and what an error exits with."""

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
from judgekit.report.view import message_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

EXIT_QUALITY, EXIT_INPUT, EXIT_INCOMPLETE, EXIT_INCONCLUSIVE, EXIT_LIMIT, EXIT_FROZEN = range(1, 7)
EXIT_INTERRUPTED = 130

COMMANDS = {
    "demo": (
        "judgekit.cli.starting.demo:demo",
        "Grade real agent outputs with recorded replies; no key.",
    ),
    "init": (
        "judgekit.cli.starting.init:init",
        "Begin a working suite to edit; runs at once, no key.",
    ),
    "run": (
        "judgekit.cli.running.run:run",
        "Run a suite: targets, checks, judges; stored and resumable.",
    ),
    "grade": ("judgekit.cli.running.grade:grade", "Grade outputs against a rubric."),
    "compare": (
        "judgekit.cli.comparing.compare:compare",
        "Which of two variants is better: blind, in both orders.",
    ),
    "rank": (
        "judgekit.cli.comparing.rank:rank",
        "Three variants and more in one order, with the doubt of each place.",
    ),
    "calibrate": (
        "judgekit.cli.calibrating.calibrate:calibrate",
        "Hold a judge against people's labels: trust, correct, label next.",
    ),
    "tune": (
        "judgekit.cli.calibrating.tune:tune",
        "Word the judge's rubric better by labels, and show it on unseen cases.",
    ),
    "audit": (
        "judgekit.cli.calibrating.audit:audit",
        "What moves a judge that should not: eleven probes.",
    ),
    "rejudge": (
        "judgekit.cli.calibrating.rejudge:rejudge",
        "Grade a run's stored outputs with another judge; what changes.",
    ),
    "data": (
        "judgekit.cli.calibrating.data:data",
        "Public labelled sets to calibrate with: list, get, path.",
    ),
    "approve": (
        "judgekit.cli.comparing.approve:approve",
        "Approve a version, on stored evidence that it is better.",
    ),
    "plan": (
        "judgekit.cli.running.plan:plan",
        "What a run or a grading would ask and cost; asks nothing.",
    ),
    "show": (
        "judgekit.cli.stored.show:show",
        "The runs that are kept, a run's figures, all of a case.",
    ),
    "label": (
        "judgekit.cli.stored.label:label",
        "Answer the questions of a run that wait for a person.",
    ),
    "export": ("judgekit.cli.stored.export:export", "Write every answer of a run to a file."),
    "convert": (
        "judgekit.cli.stored.convert:convert",
        "Turn cases of one form into another, lossless.",
    ),
    "validate": (
        "judgekit.cli.checking.check:validate",
        "Check that files are sound, all problems at once.",
    ),
    "lint": (
        "judgekit.cli.checking.check:lint",
        "Check rubrics and templates for what misleads judges.",
    ),
    "cache": ("judgekit.cli.caching.cache:cache", "Look into the reply cache, move it, tidy it."),
    "doctor": (
        "judgekit.cli.starting.doctor:doctor",
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


def exit_code(error: errors.JudgekitError) -> int:
    """The exit code an error ends a command with."""
    if isinstance(error, errors.FrozenCacheError):
        return EXIT_FROZEN
    if isinstance(error, errors.BudgetExceededError):
        return EXIT_LIMIT
    if isinstance(error, errors.NotEnoughDataError):
        return EXIT_INCONCLUSIVE
    is_elsewhere = isinstance(error, errors.JudgeError | errors.DownloadError)
    return EXIT_INCOMPLETE if is_elsewhere else EXIT_INPUT


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
