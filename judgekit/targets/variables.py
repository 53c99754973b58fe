"""Fills in environment variables that a suite names, so that no key stands in its file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from judgekit.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMED = re.compile(r"\$(?:(\$)|\{(\w+)\}|([A-Za-z_]\w*))")


def filled(text: str, environment: Mapping[str, str], *, where: str) -> str:
    """A text with the values of the variables it names.

    Args:
        text: May name variables as `${NAME}` or `$NAME`; `$$` stands for a dollar sign.
        environment: The variables there are.
        where: What the text is, for messages.

    Returns:
        The text with the values, which it may not be shown with.

    Raises:
        SettingsError: When a variable is not set.

    Example:
        >>> filled("Bearer ${KEY}", {"KEY": "abc"}, where="a header")
        'Bearer abc'
    """

    def value(match: re.Match[str]) -> str:
        name = match[2] or match[3]
        if name is None:
            return "$"
        if name not in environment:
            raise SettingsError(
                f"{where} names the environment variable {name}, which is not set",
                hint=f"set {name}, or write $$ for a dollar sign",
            )
        return environment[name]

    return _NAMED.sub(value, text)


def filled_all(
    texts: Mapping[str, str], environment: Mapping[str, str], *, where: str
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Texts with the values of the variables they name, and what of them must not be shown."""
    done = {
        name: filled(text, environment, where=f"{where} {name!r}") for name, text in texts.items()
    }
    named = (match[2] or match[3] for text in texts.values() for match in _NAMED.finditer(text))
    return done, tuple(environment[name] for name in named if name)
