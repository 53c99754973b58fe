"""The errors judgekit raises, as one tree.

```
JudgekitError
  InputError             the caller's files or arguments; retrying never helps
    DatasetError         a data file is unsound (path, line, case_id)
    RubricError          a rubric is unsound
    TemplateError        a prompt template is unsound or cannot be rendered
    UnknownNameError     a name that nothing answers to; lists the near ones
    SettingsError        an option, a suite file or the environment is unsound
  JudgeError             a judge gave no usable answer; becomes a JudgeFailure in a run
    ModelError           the provider answered with an error (kind, status, retryable, …)
    ReplyFormatError     no verdict can be read safely from the reply
    RefusalError         the judge declined to judge
    BudgetExceededError  the next call would cross a limit set by the caller
    FrozenCacheError     a frozen cache does not hold the reply; nothing was asked
  NotEnoughDataError     the numbers given do not identify the estimate
  DownloadError          a published file could not be fetched, or is another one
  ApprovalRefusedError   nothing that is kept shows that a version is better
  StoreError             a file of judgekit's own is newer than the code, locked or damaged
```
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_MOST_NAMES = 12
"""How many names a hint lists."""


class JudgekitError(Exception):
    """Anything judgekit raises on purpose; `str()` of it is fit to show to a user.

    Args:
        message: What was wrong.
        hint: What to do about it; shown after the message.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n  {self.hint}"


class InputError(JudgekitError):
    """The caller's files or arguments are unsound; retrying never helps."""


class DatasetError(InputError):
    """A data file is unsound.

    Args:
        message: What was wrong.
        path: The file it was found in.
        line: Its line, counted from 1.
        case_id: The case it concerns.
        hint: How to mend it.
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
        where = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        case = "" if case_id is None else f"case {case_id!r}: "
        super().__init__(f"{where}{case}{message}", hint=hint)
        self.path = None if path is None else str(path)
        self.line = line
        self.case_id = case_id


class RubricError(InputError):
    """A rubric is unsound: its file, its weights, its scale or its threshold."""


class TemplateError(InputError):
    """A prompt template is unsound, or cannot be rendered with what it was given."""


class SettingsError(InputError):
    """An option, a suite file or an environment variable is unsound."""


def known_names(names: Sequence[str]) -> str:
    """The names there are, as a hint that stays short however many they are."""
    if not names:
        return "no names are known here"
    n_more = len(names) - _MOST_NAMES
    more = f" and {n_more} more" if n_more > 0 else ""
    return f"known: {', '.join(names[:_MOST_NAMES])}{more}"


class UnknownNameError(InputError):
    """A name that nothing answers to.

    Args:
        kind: What was looked for, as a noun ("template", "scale").
        name: The name that was given.
        known: The names there are; near ones are shown first.
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
    """The provider, or the way to it, answered with an error.

    Args:
        message: What the provider said, with secrets already removed.
        kind: `auth`, `not_found`, `bad_request`, `rate_limited`, `quota`, `overloaded`,
            `timeout`, `connection`, `protocol`, `content_filter`, `context_window`, `empty`,
            `truncated` or `internal`.
        provider: The provider or endpoint that answered.
        status: HTTP status, where there was one.
        retryable: Whether asking again may help.
        retry_after_s: Seconds the provider asked to be left alone.
        request_id: The provider's own id of the request.
        hint: What to do about it.
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
        """Whether every further call to the same endpoint would fail in the same way."""
        return self.kind in {"auth", "not_found", "quota"}


class ReplyFormatError(JudgeError):
    """No verdict can be read safely from a judge's reply; it may be asked again.

    Args:
        message: What stood in the way, in words fit to be sent back to the judge.
        reason: A short name of it: `no_verdict`, `out_of_range`, `missing_criteria`,
            `ambiguous`, `truncated`, `empty`, `not_a_number`, `scale_mismatch`, `echo`,
            `cannot_assess`, ….
        reply: The reply as it came.
    """

    kind = "unreadable"

    def __init__(self, message: str, *, reason: str, reply: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.reply = reply


class RefusalError(JudgeError):
    """The judge declined to judge, or the provider filtered what it said.

    Args:
        message: The refusal, shortened.
        reply: The reply as it came.
    """

    kind = "refusal"

    def __init__(self, message: str, *, reply: str | None = None) -> None:
        super().__init__(message)
        self.reply = reply


class BudgetExceededError(JudgeError):
    """The next call would cross a limit the caller set; it was not made."""

    kind = "budget"


class FrozenCacheError(JudgeError):
    """The cache is frozen and does not hold the reply; nothing was asked.

    Args:
        message: Which request was missed.
        key: Its key in the cache.
    """

    kind = "frozen_miss"

    def __init__(self, message: str, *, key: str) -> None:
        super().__init__(message, hint="run again without --frozen, or import the missing replies")
        self.key = key


class NotEnoughDataError(JudgekitError):
    """The numbers given do not identify the estimate."""


class DownloadError(JudgekitError):
    """A published file could not be fetched, or is not the one that was pinned."""


class ApprovalRefusedError(JudgekitError):
    """A version may not be approved, for nothing that is kept shows that it is better.

    Args:
        message: Why.
        hint: What to do.
        is_worse: Whether what is kept shows that the other one is better.
    """

    def __init__(self, message: str, *, hint: str | None = None, is_worse: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.is_worse = is_worse


class StoreError(JudgekitError):
    """A file of judgekit's own is newer than the code, locked or damaged."""
