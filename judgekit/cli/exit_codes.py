"""The exit codes of all commands, and the code that each error ends a command with."""

from __future__ import annotations

from judgekit import errors

EXIT_QUALITY, EXIT_INPUT, EXIT_INCOMPLETE, EXIT_INCONCLUSIVE, EXIT_LIMIT, EXIT_FROZEN = range(1, 7)
# 128 + SIGINT, as shells report a program that Ctrl-C has ended.
EXIT_INTERRUPTED = 130


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
