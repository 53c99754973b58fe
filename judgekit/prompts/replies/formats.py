"""Holds what a template says about the form of the replies it asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.records.comparison import Slot


@dataclass(frozen=True, slots=True)
class ReplyFormat:
    """The form in which a template asks for its verdict.

    Attributes:
        kind: `json` (judgekit's own layouts), `choice` (a final letter or word), `score_line`
            (`Score: n`), `result` (`[RESULT] n`), `brackets` (`[[n]]`) or `stated` (a sentence
            that states the score: `a 2 out of 5`, `4 stars`).
        choices: For `choice`, the raw score each letter or word stands for.
        asks_rationale: Whether the judge is told to give a reason; where it is, a reply without
            one is not valid.
    """

    kind: Literal["json", "choice", "score_line", "result", "brackets", "stated"] = "json"
    choices: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    asks_rationale: bool = True


@dataclass(frozen=True, slots=True)
class PairReplyFormat:
    """The form in which a template asks which of two outputs is better.

    Attributes:
        kind: `json` (judgekit's own layouts), `choice` (a letter or word, first or last),
            `brackets` (`[[A]]`), `stated` (`Output (a) is better`) or `two_scores` (a score for
            each side; the higher one wins).
        choices: For `choice`, `brackets` and `stated`, the slot each letter or word stands for.
        asks_rationale: Whether the judge is told to give a reason; where it is, a reply without
            one is not valid.
    """

    kind: Literal["json", "choice", "brackets", "stated", "two_scores"] = "json"
    choices: Mapping[str, Slot] = field(default_factory=lambda: MappingProxyType({}))
    asks_rationale: bool = True
