"""Gathers what the assertions of a promptfoo test come to, and lets the test pass by their mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.datasets.foreign.reading import Reading
    from judgekit.datasets.json_text import KeyPath
    from judgekit.records.record import JsonObject

_SCORED = frozenset({"bleu", "meteor", "rouge-n", "similar", "tool-call-f1"})
"""Assertions whose score promptfoo puts into a mean as it is."""


@dataclass(slots=True)
class Checks:
    """What the assertions of one test come to."""

    assertions: list[JsonObject] = field(default_factory=list)
    """Those that need no model."""

    places: list[KeyPath] = field(default_factory=list)
    """Where each of those stands."""

    criteria: list[JsonValue] = field(default_factory=list)
    """The others, as the fields of a `Criterion`."""

    reference: str | None = None
    """The first good answer one of them names."""

    similarities: list[float] = field(default_factory=list)
    """The threshold of each assertion that asks for likeness to one text."""

    def add(self, spec: JsonObject, at: KeyPath) -> None:
        """Take an assertion."""
        self.assertions.append(spec)
        self.places.append(at)


def hold_to_mean(checks: Checks, threshold: JsonValue, at: KeyPath, reading: Reading) -> None:
    """Let a test pass by the mean of its assertions, where none of them asks a model."""
    if checks.criteria and checks.assertions:
        message = "the `threshold` is held against the criteria; every other assertion must hold"
        reading.warn((*at, "threshold"), message, "write a test for the other assertions")
    elif any(spec.get("weight") != 0 for spec in checks.assertions):
        warn_of_scores(checks, at, reading)
        members: list[JsonValue] = [*checks.assertions]
        checks.assertions = [{"type": "all", "assertions": members, "threshold": threshold}]
        checks.places = [(*at, "assert")]
        checks.similarities = []


def warn_of_scores(checks: Checks, at: KeyPath, reading: Reading) -> None:
    """Tell of assertions that are counted as passed or not in a mean."""
    types = {str(spec.get("type")).removeprefix("not-") for spec in checks.assertions}
    if graded := sorted(types & _SCORED):
        message = f"the mean counts {', '.join(graded)} as passed or not, not by its score"
        reading.warn((*at, "threshold"), message, "set its own `threshold`")
