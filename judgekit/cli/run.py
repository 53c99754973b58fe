"""`judgekit run`: evaluates a suite, or each suite of a folder, as a stored run."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import click

from judgekit.cli import console
from judgekit.cli.exit_codes import Exit
from judgekit.cli.help import command
from judgekit.cli.options import EXISTING_PATH
from judgekit.cli.outputs import OutputFiles, export_outputs
from judgekit.cli.run_job import carry_out
from judgekit.cli.suite_setup import RunOptions, run_setup, suite_paths
from judgekit.errors import InputError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@command("run", RunOptions)
@click.argument("suite", required=False, type=EXISTING_PATH)
def run_command(options: RunOptions, *, suite: Path | None) -> None:
    """Run SUITE: every variant answers every case, and each answer is checked, judged and stored.

    SUITE is a suite file (default: judgekit.yaml), the folder or zip file of a skill with
    eval/tests.json, any other file of cases, or a folder; of a folder, every suite and every other
    dataset is run. A suite without variants needs --outputs or one of the --target options. Cases
    without a rubric are judged by --rubric, else by the rubric of their profile, else against
    their reference.

    Every answer is stored as soon as it arrives, and every reply is cached. If the run is
    interrupted, continue it with --resume.

    Examples:
        judgekit run
        judgekit run suite.yaml --max-cost 2 --fail-under 0.8
        judgekit run --resume --retry-errors
    """
    files = export_outputs(options.output, what="a run")
    paths = suite_paths(suite, options.config)
    if len(paths) == 1:
        sys.exit(_run_one(paths[0], options, files).code)
    if single := "--output" if options.output else "--resume" if options.resume else None:
        names = ", ".join(path.name for path in paths[:3])
        raise SettingsError(
            f"{single} is for one dataset, and there are {len(paths)}", hint=f"name one: {names}, …"
        )
    sys.exit(_run_datasets(paths, options))


class _DatasetEnd(NamedTuple):
    """How the run of one dataset ended; stopped for a reason that holds for the others too."""

    code: int
    is_stopped: bool = False
    spent_usd: float = 0.0


def _run_one(path: Path, options: RunOptions, files: OutputFiles) -> _DatasetEnd:
    setup = run_setup(path, options)
    # After the setup: a suite that cannot run has no price.
    if options.dry_run:
        from judgekit.cli.plan import show_suite_plan  # noqa: PLC0415 - only for a dry run

        return _DatasetEnd(show_suite_plan(setup, options, files))
    with closing(setup):
        code = carry_out(setup, options, files)
    # `fail_fast` in a suite ends its own run, not those of the other datasets.
    is_own = setup.session.reason == "fail_fast" and not options.fail_fast
    return _DatasetEnd(
        code,
        is_stopped=(setup.session.reason is not None and not is_own) or code == Exit.INTERRUPTED,
        spent_usd=0.0 if setup.opened.budget is None else setup.opened.budget.spent_usd,
    )


_WORST_FIRST = (
    Exit.INTERRUPTED, Exit.INPUT, Exit.LIMIT, Exit.FROZEN, Exit.INCOMPLETE, Exit.QUALITY,
    Exit.INCONCLUSIVE, 0,
)  # fmt: skip
"""Exit codes: those that leave most unknown first, success last."""


def _run_datasets(paths: Sequence[Path], options: RunOptions) -> int:
    """Run several datasets in turn, within one limit of cost and time for all."""
    # An invalid dataset does not keep the others from running; an interrupted one does.
    codes: list[int] = []
    for number, path in enumerate(paths, 1):
        console.note(f"dataset {number} of {len(paths)}: {path}")
        started = time.monotonic()
        # The command that resumes this run names its dataset, not the folder of all of them.
        click.get_current_context().params["suite"] = path
        try:
            ended = _run_one(path, options, OutputFiles())
        except InputError as error:
            console.note(f"error: {error}")
            codes.append(Exit.INPUT)
            continue
        codes.append(ended.code)
        left = {
            "max_cost": _rest(options.max_cost, ended.spent_usd),
            "max_time": _rest(options.max_time, time.monotonic() - started),
        }
        options = options.model_copy(update=left)
        if ended.is_stopped or 0 in left.values():
            if number < len(paths):
                console.note(f"not started: {', '.join(map(str, paths[number:]))}")
                codes.append(ended.code or Exit.LIMIT)
            break
    return min(codes, key=_WORST_FIRST.index)


def _rest(limit: float | None, used: float) -> float | None:
    return None if limit is None else max(0.0, limit - used)
