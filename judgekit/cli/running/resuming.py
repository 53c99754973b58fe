"""The command with which a run can be gone on with, as it was begun."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOT_AGAIN = frozenset({
    "dry_run", "fail_fast", "fail_under", "filter_case", "filter_name", "filter_tag", "frozen",
    "limit", "max_cost", "max_time", "notes", "output", "refresh", "resume", "retry_errors",
    "sample", "seed", "variant",
})  # fmt: skip
"""What belongs to one sitting, or what the run itself remembers."""


_PASSWORD = re.compile(r"(?<=://)([^:/@\s]*):[^@\s]*(?=@)")
"""In a database's address."""


def resume_command(
    context: click.Context, run_id: str, *, retry: bool = False, command: str = "run"
) -> str:
    """What to type to go on with a run or a comparison."""
    words = ["judgekit", command, *_given(context), "--resume", run_id]
    return shlex.join([*words, *(["--retry-errors"] if retry else [])])


def _given(context: click.Context) -> Iterator[str]:
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name in _NOT_AGAIN or source is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        if isinstance(parameter, click.Argument):
            yield from map(str, value if isinstance(value, tuple) else (value,))
        elif isinstance(value, bool):
            yield (parameter.opts if value else parameter.secondary_opts)[-1]
        else:
            for one in value if isinstance(value, tuple) else (value,):
                yield from (parameter.opts[-1], _text(one))


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else _PASSWORD.sub(r"\1:***", str(value))
