"""The exit codes of all commands, and the code that each error ends a command with."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from judgekit import errors

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from judgekit.evaluation import RunStopReason


class Exit(IntEnum):
    """How a command that did not succeed ended."""

    QUALITY = 1
    INPUT = 2
    INCOMPLETE = 3
    INCONCLUSIVE = 4
    LIMIT = 5
    FROZEN = 6
    # 128 + SIGINT, as shells report a program that Ctrl-C has ended.
    INTERRUPTED = 130


STOP_CODES: Mapping[RunStopReason, int] = {
    "interrupted": Exit.INTERRUPTED,
    "budget": Exit.LIMIT,
    "time": Exit.LIMIT,
    "fail_fast": Exit.QUALITY,
    "model": Exit.INCOMPLETE,
}
"""The exit code for each reason to end a run early."""


def exit_code(error: errors.JudgekitError) -> int:
    if isinstance(error, errors.FrozenCacheError):
        return Exit.FROZEN
    if isinstance(error, errors.BudgetExceededError):
        return Exit.LIMIT
    if isinstance(error, errors.NotEnoughDataError | errors.NotComparableError):
        return Exit.INCONCLUSIVE
    is_elsewhere = isinstance(error, errors.JudgeError | errors.DownloadError)
    if isinstance(error, errors.StoreError):
        is_elsewhere = error.is_incomplete
    return Exit.INCOMPLETE if is_elsewhere else Exit.INPUT


def failures_code(kinds: Collection[str]) -> int:
    """The exit code for the kinds of failures of a judge; 0 if there are none."""
    # A frozen miss is also a failure, but retrying it with the same flags fails again.
    if "frozen_miss" in kinds:
        return Exit.FROZEN
    if "budget" in kinds:
        return Exit.LIMIT
    return Exit.INCOMPLETE if kinds else 0
