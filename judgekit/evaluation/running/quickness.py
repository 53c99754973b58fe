"""Decides which assertions are over at once, so that they need no thread of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.checks.builtin import SYNONYMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records.output import Output
    from judgekit.records.record import JsonObject

_QUICK = frozenset({
    "behavior.finish_reason",
    "behavior.no_errors",
    "behavior.node_executed",
    "behavior.node_invocations.max",
    "metric.latency_ms.max",
    "metric.tokens.input.max",
    "metric.tokens.output.max",
    "metric.tokens.total.max",
    "metric.total_cost_usd.max",
    "output.contains",
    "output.equals",
    "text.char_count",
    "text.contains",
    "text.contains_all",
    "text.contains_any",
    "text.equals",
    "text.starts_with",
    "text.word_count",
})  # fmt: skip
"""Assertions that look through an output once; a thread would cost more than they do."""

_LONGEST_TEXT = 20_000
_MOST_EVENTS = 200


def are_quick(assertions: Sequence[JsonObject]) -> bool:
    """Whether all of some assertions are over at once, for an output of an ordinary size."""
    return all(_own_name(spec.get("type")) in _QUICK for spec in assertions)


def is_small(output: Output) -> bool:
    """Whether an output is of an ordinary size."""
    length = 0 if output.text is None else len(output.text)
    return length <= _LONGEST_TEXT and len(output.trace) <= _MOST_EVENTS and output.data is None


def _own_name(name: object) -> str:
    synonym = SYNONYMS.get(name) if isinstance(name, str) else None
    return str(name) if synonym is None else synonym.name
