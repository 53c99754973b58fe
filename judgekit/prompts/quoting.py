"""Fences untrusted text with a marker its author cannot write, and never changes the text."""

from __future__ import annotations

import hashlib
from functools import lru_cache

_MARKER_BYTES = 10
"""80 bits, 16 base-32 digits: nobody writes a text that holds its own marker."""

_LONGEST_KEPT = 1000
"""Markers of texts up to so many characters are kept; 4,096 of them take 4 MB at most."""

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]
"""Two base-32 digits (RFC 4648) for each 10 bits; three times as quick as `base64.b32encode`."""

_SHIFTS = range(8 * _MARKER_BYTES - 10, -1, -10)


def fence_marker(text: str) -> str:
    """The marker that fences a text: derived from the text itself."""
    # Its author would need a text that contains its own hash; the same text always gets the same
    # marker, so that the same request stays byte-identical and the cache and the providers' prompt
    # caches hit. Should a text hold its marker all the same, the next one is drawn.
    return _kept_marker(text) if len(text) <= _LONGEST_KEPT else _marker(text)


def fenced(text: str, label: str = "text") -> str:
    """The text between an opening and a closing line that carry its marker.

    Args:
        text: Any text; it stands in the result byte for byte.
        label: What the text is, one word ("output", "input").

    Returns:
        Three parts, each on lines of their own: opening line, text, closing line.

    Example:
        >>> print(fenced("4", "output"))
        <output RIGOBZ45VMQIH2TF>
        4
        </output RIGOBZ45VMQIH2TF>
    """
    marker = fence_marker(text)
    return f"<{label} {marker}>\n{text}\n</{label} {marker}>"


def _marker(text: str) -> str:
    body = text.encode("utf-8", "surrogatepass")
    counter = 0
    while True:
        digest = hashlib.sha256(b"judgekit fence %d\n" % counter + body).digest()
        number = int.from_bytes(digest[:_MARKER_BYTES])
        marker = "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])
        if marker not in text:
            return marker
        counter += 1


@lru_cache(maxsize=4096)
def _kept_marker(text: str) -> str:
    """Questions and references stand in the prompts of every variant and criterion."""
    return _marker(text)
