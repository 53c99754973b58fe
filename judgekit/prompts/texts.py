"""The texts of outputs and values, for judges and readers alike, and the labels of two outputs."""

from __future__ import annotations

import json
import random
from operator import attrgetter
from typing import TYPE_CHECKING

from judgekit import records  # loaded when used: processes that render need none

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import JsonValue

    from judgekit.records import Image, Output

# The labels of two outputs where none are drawn.
SLOT_LABELS = ("first", "second")

# No vowels, so that two of them make no word; no A, which sounds like a rank.
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"

# How an image is shown to readers.
IMAGE_TITLE: Callable[[Image], str] = attrgetter("title")


def to_text(value: JsonValue, show: Callable[[Image], str] = IMAGE_TITLE) -> str:
    """A text as it is; any other JSON value as indented JSON, its images as `show` names them."""
    if isinstance(value, str):
        return value
    return json.dumps(records.show_images(value, show), ensure_ascii=False, indent=2)


def judged_text(output: Output, show: Callable[[Image], str] = IMAGE_TITLE) -> str:
    """The text of an output for a judge: its text, and its data as JSON."""
    if output.data is None:
        return output.text or ""
    data = to_text(output.data, show)
    return data if output.text is None else f"{output.text}\n\n{data}"


def steps_text(output: Output, show: Callable[[Image], str] = IMAGE_TITLE) -> str:
    """The trace of an output, a numbered line for each event."""
    lines = []
    for number, event in enumerate(output.trace, start=1):
        more = {k: v for k, v in (event.model_extra or {}).items() if v is not None}
        content = (
            "" if event.content is None else _on_one_line(records.show_images(event.content, show))
        )
        extra = _on_one_line(more) if more else ""
        name = f" {event.name}" if event.name else ""
        details = " ".join(part for part in (content, extra) if part)
        lines.append(f"{number}. {event.type}{name}{f': {details}' if details else ''}")
    return "\n".join(lines)


def _on_one_line(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def pairwise_text(output: Output, show: Callable[[Image], str] = IMAGE_TITLE) -> str:
    """The text of an output for a judge that compares two: without a text, its steps."""
    return judged_text(output, show) or steps_text(output, show)


def draw_labels(case_id: str, seed: int = 0) -> tuple[str, str]:
    """Two labels without a meaning, for the first and the second place."""
    # They belong to the places and not to the outputs, so that the call with the other order
    # exposes a judge that prefers a label.
    draw = random.Random(f"judgekit labels {seed} {case_id}")
    first, second, third, fourth = draw.sample(_LETTERS, 4)
    return first + second, third + fourth
