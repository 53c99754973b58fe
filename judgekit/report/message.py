"""Foreign text made safe for a terminal, and the words for statuses, flags and failures.

Numbers are in `numbers`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from judgekit.report import numbers

if TYPE_CHECKING:
    from rich.text import Text

FAILURE_WORDS = {
    "auth": "the provider refused the key", "not_found": "no such model or endpoint",
    "bad_request": "the request was refused", "rate_limited": "rate limit",
    "quota": "quota used up", "overloaded": "provider overloaded", "timeout": "no answer in time",
    "connection": "no connection", "protocol": "garbled answer of the server",
    "content_filter": "content filter", "context_window": "too long for the model",
    "empty": "empty reply", "truncated": "reply cut off", "refusal": "the judge refused",
    "unreadable": "no verdict could be read", "evidence_missing": "no quotation from the output",
    "cannot_assess": "the judge could not assess", "budget": "cost limit reached",
    "frozen_miss": "not in the frozen cache", "cancelled": "no call was made",
    "target_error": "no output to judge", "internal": "internal error",
}  # fmt: skip
"""Kinds of failure in tables."""


def failure_words(kind: str) -> str:
    """What a kind of failure is called in tables."""
    return FAILURE_WORDS.get(kind, kind)


# A retry sends the same question, or again none where a criterion lacks what it needs.
NOT_ASSESSED = (
    "a retry does not help where an output cannot be assessed: supply what its criteria need, make "
    "the rubric clearer, or use another judge"
)

FLAG_WORDS = {
    "degenerate_output": "the output has no content",
    "injection_suspected": "the output seems to be written to influence the judge",
    "smoke_model": "a smoke model, whose verdicts carry no information",
    "scores_disagree": "its scores contradict its choice",
    "no_rationale": "it gave no rationale",
}
"""Flags of judgments in reports."""


def printable(text: str, limit: int | None = None) -> str:
    r"""Foreign text on one line, safe for a terminal: no control or direction characters."""
    flat = " ".join(text.split())
    if limit is not None and len(flat) > limit:
        flat = flat[: limit - 1].rstrip() + "…"
    return _escaped(flat)


def message_lines(message: str) -> str:
    """A message on its own lines, safe for a terminal."""
    return "\n".join(_escaped(line) for line in message.split("\n"))


def one_line(message: str, limit: int | None = None) -> str:
    """A message and its hint, which stand on lines of their own, on one line."""
    return printable("; ".join(line.strip() for line in message.splitlines()), limit)


# The folders of an absolute path, at the beginning of a word or after a colon.
_FOLDERS = re.compile(r"(?<![^\s:])(?:/|[A-Za-z]:\\)(?:[^\s/\\]+[/\\])+")


def without_folders(name: str) -> str:
    """A name without the folders of an absolute path, which name the user and the machine."""
    return _FOLDERS.sub("…/", name)


def with_repeat(name: str, repeat: int) -> str:
    """The name of a variant or a judge, and which repeat it is, counted from 1."""
    return f"{name} #{repeat + 1}" if repeat else name


def _escaped(text: str) -> str:
    # Nearly every text is harmless, and one test of the whole is twenty times as fast.
    if text.isprintable():
        return text
    # An output may hold escape sequences, or direction marks that show one text as another.
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


# A suite with a matrix has dozens of variants with long generated names.
_LIST_LENGTH = 60


def compact_names(names: Sequence[str], many: str = "variants") -> str:
    """Names in a row, or how many there are where they would fill lines."""
    listed = ", ".join(printable(name) for name in names)
    return listed if len(names) == 1 or len(listed) <= _LIST_LENGTH else f"{len(names)} {many}"


# Both limits: one long line fills a screen as well as many short ones do.
FOLDED_LINES = 12
FOLDED_CHARACTERS = 1200
_TAB = 4


def safe_text(content: str, *, folds: bool = False) -> Text:
    """Foreign text on its own lines, of which a terminal acts on nothing."""
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    shown, n_left = fold_text(content) if folds else (content, 0)
    text = Text(message_lines(shown.expandtabs(_TAB)))
    if n_left:
        text.append(f"\n… {numbers.format_count(n_left, 'more character')}: --full", style="dim")
    return text


def fold_text(content: str) -> tuple[str, int]:
    shown = "\n".join(content.split("\n")[:FOLDED_LINES])[:FOLDED_CHARACTERS]
    return shown, len(content) - len(shown)


TARGET_ERROR_WORDS = {
    "timeout": "took too long", "exit": "ended with an error code", "signal": "was killed",
    "unreadable": "answered in a form that cannot be parsed", "too_large": "answered too much",
    "connection": "could not be reached", "http_status": "answered with an HTTP error",
    "exception": "raised an exception", "not_recorded": "has no recorded output",
    "model": "its model answered with an error", "refused": "its model refused",
    "cancelled": "was not asked", "error": "recorded as an error",
}  # fmt: skip
"""Kinds of error of the system under test in reports."""

RUN_STATUS_WORDS = {
    "running": "running, or killed", "complete": "complete", "incomplete": "incomplete",
    "interrupted": "interrupted", "stopped": "stopped", "waiting": "waits for human labels",
}  # fmt: skip
"""Statuses of runs in reports."""
