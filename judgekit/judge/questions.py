"""A question about one output, as it is asked and sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from judgekit.models.request import ModelRequest
    from judgekit.prompts.rendering import Prompt


class Question(NamedTuple):
    """One prompt about one output, asked for one repeat."""

    prompt: Prompt
    """What is asked."""

    request: ModelRequest
    """How it is sent."""

    judged: tuple[str, ...]
    """The texts under judgment; a verdict that stands in them is no verdict."""

    @property
    def repeat(self) -> int:
        """Which time it is asked, from 0."""
        return self.request.subject.repeat
