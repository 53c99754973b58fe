"""Runs a suite's setup and teardown programs, where scripts are allowed."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from judgekit.errors import SettingsError
from judgekit.processes import Limits, ProcessFailedError, run_process, scrubbed_environment

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from judgekit.datasets.suite import Suite

_TIMEOUT_S = 600
_TAIL = 400


@asynccontextmanager
async def prepared(
    suite: Suite, *, allowed: bool, note: Callable[[str], None]
) -> AsyncIterator[None]:
    """Run the suite's setup before, and its teardown after, whatever happened before it."""
    setup, teardown = suite.settings.setup, suite.settings.teardown
    if (setup or teardown) and not allowed:
        raise SettingsError(
            f"the suite {suite.name!r} runs programs before or after its cases "
            f"({', '.join((setup or teardown or ())[:1])})",
            hint="read them, then allow them with --allow-scripts",
        )
    try:
        if setup:
            await _set_up(suite, setup)
        yield
    finally:
        if teardown:
            try:
                await _run(suite, teardown)
            except ProcessFailedError as error:
                note(f"the teardown of suite {suite.name!r} failed: {_told(error)}")


async def _set_up(suite: Suite, command: tuple[str, ...]) -> None:
    try:
        await _run(suite, command)
    except ProcessFailedError as error:
        raise SettingsError(
            f"the setup of suite {suite.name!r} failed, so that nothing was asked: {_told(error)}"
        ) from error


async def _run(suite: Suite, command: tuple[str, ...]) -> None:
    await run_process(
        command,
        b"",
        limits=Limits(timeout_s=_TIMEOUT_S, memory_bytes=None),
        environment=scrubbed_environment(suite.settings.environment),
        folder=suite.folder,
    )


def _told(error: ProcessFailedError) -> str:
    last = error.stderr[-_TAIL:].strip()
    return f"{error.message}; the end of stderr: {last}" if last else error.message
