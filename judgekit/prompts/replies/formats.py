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
    """The form in which a template asks for its verdict."""

    kind: Literal["json", "choice", "score_line", "result", "brackets", "stated"] = "json"
    choices: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    asks_rationale: bool = True


@dataclass(frozen=True, slots=True)
class PairReplyFormat:
    """The form in which a template asks which of two outputs is better."""

    kind: Literal["json", "choice", "brackets", "stated", "two_scores"] = "json"
    choices: Mapping[str, Slot] = field(default_factory=lambda: MappingProxyType({}))
    asks_rationale: bool = True
