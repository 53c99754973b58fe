"""The fences around untrusted texts in prompts."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from itertools import product

# 80 bits, 16 base-32 digits: no author can write a text that contains its own marker.
_MARKER_BYTES = 10
_DIGIT_PAIRS = tuple(map("".join, product("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", repeat=2)))

# Markers of texts up to so many characters are cached; 4,096 of them take 4 MB at most.
_LONGEST_CACHED = 1000


def fence_marker(text: str) -> str:
    """The marker that fences a text, derived from the text itself."""
    # Only a text that contains its own hash could close its fence. The same text always gets the
    # same marker, so that requests stay byte-identical and the caches, also the providers', hit.
    # If a text contains its marker nevertheless, the next one is taken.
    body = text.encode("utf-8", "surrogatepass")
    counter = 0
    while True:
        digest = hashlib.sha256(b"judgekit fence %d\n" % counter + body).digest()
        marker, number = "", int.from_bytes(digest[:_MARKER_BYTES])
        for shift in range(70, -10, -10):  # two digits at a time; `b32encode` is slow
            marker += _DIGIT_PAIRS[number >> shift & 1023]
        if marker not in text:
            return marker
        counter += 1


# Questions and references stand in the prompts of every variant and criterion.
_cached_marker = lru_cache(maxsize=4096)(fence_marker)


def fence_text(text: str, label: str = "text") -> str:
    """The text between an opening and a closing line that carry its marker."""
    marker = _cached_marker(text) if len(text) <= _LONGEST_CACHED else fence_marker(text)
    return f"<{label} {marker}>\n{text}\n</{label} {marker}>"
