"""The entry point: the table of commands and the error handling around them."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from judgekit import errors
from judgekit.cli.console import ReaderGoneError, coloured, warnings_as_notes
from judgekit.cli.exit_codes import Exit, exit_code
from judgekit.cli.startup import ENDING_SIGNALS, raise_interrupts
from judgekit.report import message_lines

# Beside it are the groups of options, which `help` reads.
_TABLES = Path(__file__).with_name("commands.json")
JOBS: dict[str, dict[str, str]] = json.loads(_TABLES.read_text(encoding="utf-8"))["jobs"]
"""The commands by job, with their summaries; `run` is `run_command` in the module `run`."""

_MODULES = {"grade": "run", "history": "trend"}
"""Commands in the module of another one, of which they are a kind."""

COMMANDS = {name: summary for commands in JOBS.values() for name, summary in commands.items()}
"""The summary of each command, for lookups; the help lists them by job."""
_SURROGATE = re.compile(".*[\ud800-\udfff].*")


class LazyGroup(click.Group):
    """Imports a command's module only when that command is called, to keep help fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Names in the order a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"judgekit.cli.{_MODULES.get(cmd_name, cmd_name)}")
        raise_interrupts()
        command = getattr(module, f"{cmd_name}_command")
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands from the table, without importing them."""
        # One width for all sections, so that the summaries line up from section to section.
        width = max(map(len, COMMANDS))
        for job, commands in JOBS.items():
            with formatter.section(job):
                formatter.write_dl(
                    [(name.ljust(width), summary) for name, summary in commands.items()]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest similar names."""
        # click would only report that the command does not exist.
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            error = errors.UnknownNameError("command", args[0], COMMANDS)
            raise click.UsageError(str(error), ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
    epilog="New here? Run judgekit demo, then judgekit init my-suite. "
    "judgekit COMMAND --help describes one command.",
)
@click.version_option(package_name="judgekit-llm", prog_name="judgekit")
def judgekit() -> None:
    """Grade the outputs of agents and prompts with LLM judges you can measure and trust."""


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    # The matrices of statistics are long and narrow: threads would mostly wait for one another, and
    # the last digits of a sum would depend on their number. numpy reads it at its import.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Set by a shell's completion function. click itself would import every command for it.
    if instruction := os.environ.get("_JUDGEKIT_COMPLETE"):
        from judgekit.cli.completion import print_completions  # noqa: PLC0415 - only for a shell

        sys.exit(print_completions(judgekit, instruction))
    try:
        code = _run(args)
        sys.stdout.flush()
    except (BrokenPipeError, ReaderGoneError):
        # Python flushes stdout at exit, and would report the broken pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = Exit.INTERRUPTED
    except Exception:  # noqa: BLE001 - Python would exit with 1, which means that quality failed
        traceback.print_exc()
        words = "this is a fault of judgekit; please report it with the lines above"
        click.echo(f"{coloured('error:', 'red')} {words}", err=True)
        code = Exit.INCOMPLETE
    sys.exit(code if isinstance(code, int) else 0)


def _run(args: Sequence[str] | None) -> object:
    """Run a command; the exit code, or what the command returned."""
    stdout = sys.stdout
    try:
        words = None if args is None else list(args)
        with warnings_as_notes(), _sigterm_as_ctrl_c():
            # click's standalone mode would exit with its own codes, and end errors in tracebacks.
            return judgekit.main(args=words, prog_name="judgekit", standalone_mode=False)
    except SystemExit as stop:
        # If its reader has exited, click replaces stdout and exits with 1, which is "failed" here.
        return stop.code if sys.stdout is stdout else Exit.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return Exit.INTERRUPTED
    # A file that vanished or cannot be read: the message names it, a traceback would not help.
    except (errors.JudgekitError, OSError, ValueError) as error:
        if not isinstance(error, errors.JudgekitError | OSError):
            error = _about_argument(args, error)
        click.echo(f"{coloured('error:', 'red')} {message_lines(str(error))}", err=True)
        if isinstance(error, errors.JudgekitError):
            return exit_code(error)
        return Exit.INCOMPLETE if errors.is_disk_full(error) else Exit.INPUT


def _about_argument(args: Sequence[str] | None, error: ValueError) -> errors.SettingsError:
    """What is wrong with an argument that no record takes; else the error is raised again."""
    # Python passes bytes that are not UTF-8 on as surrogates, which pydantic and codecs refuse.
    if strange := _SURROGATE.search("\n".join(sys.argv if args is None else args)):
        hint = "rename the file: names are stored as UTF-8"
        return errors.SettingsError(f"the argument {strange[0]!r} is not UTF-8", hint=hint)
    raise error


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """End with SIGTERM as with Ctrl-C: containers and CI send it, and the store must be closed."""

    def interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = {}
    with suppress(ValueError):  # not the main thread
        before = {number: signal.signal(number, interrupt) for number in ENDING_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
