"""What a check looks at: the text of an output, or what stands at a path in it."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING

from judgekit.checks.paths import look_up
from judgekit.checks.seam import UndecidedError, UnmetError

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.records.output import Output

SHOWN = 60
"""How many characters of a text a message shows."""

KEPT = 2000
"""How many characters of a text a result keeps as what was found."""

# `json.dumps` makes an encoder for each call that sets an option.
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def text_of(output: Output, path: str | None) -> str:
    """The text a check looks at."""
    if path is None and output.text is not None:
        return output.text
    found = value_of(output, path)
    return found if isinstance(found, str) else json_text(found)


def value_of(output: Output, path: str | None) -> JsonValue:
    """The value a check looks at."""
    if path is not None:
        try:
            return look_up(output, path)
        except UnmetError:
            _refuse_error(output)
            raise
    if output.text is not None:
        return output.text
    if output.data is None:
        _refuse_error(output)
        raise UnmetError("the output has neither a text nor data")
    return output.data


def kept(value: JsonValue) -> JsonValue:
    """A value as a result keeps it: a long text or a large structure is cut and says so."""
    if isinstance(value, str):
        return value if len(value) <= KEPT else f"{value[:KEPT]}… ({len(value)} characters)"
    if isinstance(value, dict | list):
        text = json_text(value)
        return value if len(text) <= KEPT else f"{text[:KEPT]}… ({len(text)} characters)"
    return value


def shown(value: JsonValue) -> str:
    """A value as a message shows it."""
    if isinstance(value, str):
        return _quoted(value[: SHOWN + 1])
    text = json_text(value)
    return text if len(text) <= SHOWN + 2 else f"{text[:SHOWN]}…"


def json_text(value: JsonValue) -> str:
    """A value as one JSON text, characters as they are."""
    return _ENCODER.encode(value)


@lru_cache(maxsize=1024)
def _quoted(text: str) -> str:
    """The same values are looked for in thousands of outputs."""
    whole = json_text(text)
    return whole if len(text) <= SHOWN else f"{whole[:SHOWN]}…"


def _refuse_error(output: Output) -> None:
    """Nothing can be said of a text that was never made."""
    if output.error is not None:
        raise UndecidedError(f"there is no output: {output.error}")
