"""Takes secrets out of any text that leaves: known values first, then shapes of keys."""

from __future__ import annotations

import logging
import os
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

REDACTED = "[redacted]"
"""What stands where a secret stood."""

_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_SHORTEST_SECRET = 6  # blanking shorter values would eat ordinary words and digits
_SHAPES = (
    re.compile(r"(?i)(\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}"),
    re.compile(r"(?i)([?&](?:api[-_]?key|key|access_token|token|sig|signature)=)[^&\s\"'<>]+"),
    re.compile(r"(?i)(\b(?:api[-_]?key|authorization)[\"']?\s*[:=]\s*[\"']?)[\w.~+/=-]{12,}"),
    re.compile(r"(\w+://[^/\s:@]*:)[^/\s@]+(?=@)"),
    re.compile(r"()\bsk-[\w*-]{6,}"),
    re.compile(r"()\bAIza[\w-]{20,}"),
)


def redact(
    text: str, *, secrets: Iterable[str] = (), environ: Mapping[str, str] | None = None
) -> str:
    """A text without the secrets in it.

    Removed are the values of environment variables whose names end in KEY, TOKEN, SECRET or
    PASSWORD (as they are and URL-quoted), the given secrets, and what looks like a key:
    `Bearer …`, `sk-…`, a `key=` in a query, a password in a URL.

    Args:
        text: Any text.
        secrets: Further values to remove; those under 6 characters are left alone.
        environ: Where to look for secrets; the process's environment when None.

    Returns:
        The text with `[redacted]` in their places.

    Example:
        >>> redact("refused: Bearer abcdef123456", environ={})
        'refused: Bearer [redacted]'
    """
    for value in _values(secrets, os.environ if environ is None else environ):
        text = text.replace(value, REDACTED)
    for shape in _SHAPES:
        text = shape.sub(rf"\g<1>{REDACTED}", text)
    return text


class RedactingFilter(logging.Filter):
    """A logging filter that takes secrets out of a record's message and traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the record in place."""
        record.msg = redact(record.getMessage())
        record.args = None
        if record.exc_info:
            record.exc_text = redact(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True


def _values(secrets: Iterable[str], environ: Mapping[str, str]) -> list[str]:
    """The values to remove, longest first, so that none is hidden by a part of it."""
    named = (value for name, value in environ.items() if _SECRET_NAME.search(name))
    stripped = {value.strip() for value in (*secrets, *named)}  # as it is sent, and told back
    plain = {value for value in stripped if len(value) >= _SHORTEST_SECRET}
    return sorted(plain | {quote(value, safe="") for value in plain}, key=len, reverse=True)
