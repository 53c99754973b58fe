"""The errors judgekit raises, as one tree.

```
JudgekitError
  InputError             the caller's files or arguments; retrying never helps
    DatasetError         a data file is invalid (path, line, case_id)
      NotImportedWarning parts of another tool's file are not imported; an error with `--strict`
        ScriptsNeededWarning  those that are run where scripts are allowed
    RubricError          a rubric is invalid
    TemplateError        a prompt template is invalid or cannot be rendered
    UnknownNameError     no such name; suggests similar ones
    SettingsError        an option, a suite file or the environment is invalid
      RetiredSuiteError  the suite or benchmark is retired, and nobody asked to run it all the same
  JudgeError             a judge gave no usable answer; becomes a JudgeFailure in a run
    ModelError           the provider answered with an error (kind, status, retryable, …)
    ReplyFormatError     no verdict can be read safely from the reply
    RefusalError         the judge declined to judge
    BudgetExceededError  the next call would exceed a limit set by the caller
    FrozenCacheError     a frozen cache has no such reply; no call was made
  NotEnoughDataError     the data do not identify the estimate
  NotComparableError     two runs were not measured the same way
  DownloadError          a published file could not be fetched, or has changed
  ApprovalRefusedError   no stored evidence shows that a version is better
  StoreError             a file that judgekit maintains is newer than the code, locked or damaged
```
"""

from __future__ import annotations

import difflib
from errno import EDQUOT, ENOSPC
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_MOST_NAMES = 32
"""How many names a hint lists."""


class JudgekitError(Exception):
    """The base of all errors judgekit raises; `str()` of it can be shown to a user.

    Args:
        message: What was wrong.
        hint: How to fix it; shown after the message.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n  {self.hint}"

    def __reduce__(self) -> tuple[object, ...]:
        # Errors pass between processes, and `Exception` would leave the keyword arguments out.
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[JudgekitError], args: tuple[object, ...]) -> JudgekitError:
    return kind.__new__(kind, *args)


class InputError(JudgekitError):
    """The caller's files or arguments are invalid; retrying never helps."""


class DatasetError(InputError):
    """A data file is invalid.

    Args:
        message: What was wrong.
        path: The file it was found in.
        line: Its line, counted from 1.
        case_id: The case it concerns.
        hint: How to fix it.
    """

    def __init__(
        self,
        message: str,
        *,
        path: Path | str | None = None,
        line: int | None = None,
        case_id: str | None = None,
        hint: str | None = None,
    ) -> None:
        # Data in memory have places without lines, such as `outputs[3]`.
        line = line or None
        where = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        case = "" if case_id is None else f"case {case_id!r}: "
        super().__init__(f"{where}{case}{message}", hint=hint)
        self.path = None if path is None else str(path)
        self.line = line
        self.case_id = case_id


class NotImportedWarning(DatasetError, UserWarning):  # noqa: N818 - a warning by default
    """Parts of another tool's file are not imported; with `--strict` it is raised as an error."""


class ScriptsNeededWarning(NotImportedWarning):
    """Parts of another tool's file are code, which is run only where scripts are allowed."""


class RubricError(InputError):
    """A rubric is invalid: its file, its weights, its scale or its threshold."""


class TemplateError(InputError):
    """A prompt template is invalid, or cannot be rendered with these variables."""


class SettingsError(InputError):
    """An option, a suite file or an environment variable is invalid."""


class RetiredSuiteError(SettingsError):
    """A suite or a benchmark is retired, so that it is run only on request."""


def known_names(names: Sequence[str]) -> str:
    """A hint that lists the known names, the first of many."""
    if not names:
        return "no names are known here"
    n_more = len(names) - _MOST_NAMES
    more = f" and {n_more} more" if n_more > 0 else ""
    return f"known: {', '.join(names[:_MOST_NAMES])}{more}"


class UnknownNameError(InputError):
    """There is nothing of that name.

    Args:
        kind: The kind of thing, as a noun ("template", "scale").
        name: The unknown name.
        known: The names that exist; similar ones are suggested.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else known_names(names)
        super().__init__(f"no {kind} is called {name!r}", hint=hint)
        self.name = name
        self.known = tuple(names)


class JudgeError(JudgekitError):
    """A judge gave no usable answer; in a run it becomes a `JudgeFailure`, never a score.

    Attributes:
        kind: A name from the closed list in `judgekit.records.judgment.FailureKind`.
    """

    kind = "internal"


class ModelError(JudgeError):
    """The provider or the connection to it failed.

    Args:
        message: The provider's message, with secrets already removed.
        kind: `auth`, `not_found`, `bad_request`, `rate_limited`, `quota`, `overloaded`,
            `timeout`, `connection`, `protocol`, `content_filter`, `context_window`, `empty`,
            `truncated` or `internal`.
        provider: The provider or endpoint that answered.
        status: HTTP status, where there was one.
        retryable: Whether a retry may succeed.
        retry_after_s: Seconds to wait, as the provider requested.
        request_id: The provider's id of the request.
        hint: How to fix it.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        provider: str | None = None,
        status: int | None = None,
        retryable: bool = False,
        retry_after_s: float | None = None,
        request_id: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind
        self.provider = provider
        self.status = status
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.request_id = request_id

    @property
    def fatal(self) -> bool:
        """Whether every further call to this endpoint would fail in the same way."""
        return self.kind in {"auth", "not_found", "quota"}


class ReplyFormatError(JudgeError):
    """No verdict can be read safely from a judge's reply; the call may be retried.

    Args:
        message: Why the reply cannot be read.
        reason: A short name for it: `no_verdict`, `out_of_range`, `missing_criteria`,
            `ambiguous`, `truncated`, `empty`, `not_a_number`, `scale_mismatch`, `echo`,
            `in_prose`, `cannot_assess`, ….
        reply: The raw reply.
        instruction: What to tell the judge when the question is repeated; without it, the message.
    """

    kind = "unreadable"

    def __init__(
        self, message: str, *, reason: str, reply: str | None = None, instruction: str | None = None
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.reply = reply
        self.instruction = message if instruction is None else instruction


class RefusalError(JudgeError):
    """The judge declined to judge, or the provider filtered its reply.

    Args:
        message: The refusal, shortened.
        reply: The raw reply.
    """

    kind = "refusal"

    def __init__(self, message: str, *, reply: str | None = None) -> None:
        super().__init__(message)
        self.reply = reply


class BudgetExceededError(JudgeError):
    """The next call would exceed a limit set by the caller; it was not made."""

    kind = "budget"


class FrozenCacheError(JudgeError):
    """The cache is frozen and has no such reply; no call was made.

    Args:
        message: Which request has no cached reply.
        key: Its key in the cache.
    """

    kind = "frozen_miss"

    def __init__(self, message: str, *, key: str) -> None:
        super().__init__(message, hint="run again without --frozen, or import the missing replies")
        self.key = key


class NotEnoughDataError(JudgekitError):
    """The data do not identify the estimate."""


class NotComparableError(JudgekitError):
    """Two runs were not measured the same way, so that nothing is decided between them."""


class DownloadError(JudgekitError):
    """A published file could not be fetched, or differs from the pinned checksum."""


class ApprovalRefusedError(JudgekitError):
    """A version may not be approved: no stored evidence shows that it is better.

    Args:
        message: Why.
        hint: What to do.
        is_worse: Whether the evidence is against the version: the other one is better, or it fails
            its own gate.
    """

    def __init__(self, message: str, *, hint: str | None = None, is_worse: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.is_worse = is_worse


class StoreError(JudgekitError):
    """A file that judgekit maintains is newer than the code, locked or damaged, or cannot grow.

    Args:
        message: What was wrong.
        hint: How to fix it.
        is_incomplete: Whether what is done cannot be stored, for example on a full disk; the
            same command can be resumed afterwards.
    """

    def __init__(
        self, message: str, *, hint: str | None = None, is_incomplete: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.is_incomplete = is_incomplete


def is_disk_full(error: BaseException) -> bool:
    """Whether there is no room to write to, so that the work can be resumed later."""
    is_of_sqlite = getattr(error, "sqlite_errorname", None) == "SQLITE_FULL"
    return is_of_sqlite or (isinstance(error, OSError) and error.errno in {ENOSPC, EDQUOT})


def write_error(message: str, error: OSError, *, hint: str | None = None) -> StoreError:
    """What could not be written, and why: a full disk leaves the work to be resumed."""
    is_full = is_disk_full(error)
    hint = "free some space and run again" if is_full else hint
    return StoreError(f"{message}: {error.strerror}", hint=hint, is_incomplete=is_full)
