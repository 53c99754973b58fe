"""The assertion `similar`: a text is near enough to another, measured as a run is told to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from judgekit.checks.paths import PathText  # noqa: TC001 - the seam reads the hints
from judgekit.checks.scorers.similarity import similarity
from judgekit.checks.seam import assertion
from judgekit.records.check import AssertionResult
from judgekit.records.record import Fraction  # noqa: TC001 - as above
from judgekit.registry import Entry

if TYPE_CHECKING:
    from judgekit.checks.scorers.similarity import Embed
    from judgekit.records.case import Case
    from judgekit.records.output import Output

SIMILAR = "similar"
"""The assertion's name."""

DEFAULT_SIMILARITY = 0.75
"""How similar a text must be where the assertion does not say."""

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class SimilarityMeans:
    """How the similarity of texts is measured in a run."""

    method: Literal["lexical", "semantic", "best"] = "best"
    """As for the scorer `similarity`; `best` is semantic where that is installed."""

    embed: Embed | None = None
    """What turns texts into vectors; None takes what is installed."""

    def arguments(self) -> dict[str, object]:
        """The same as parameters of the scorer."""
        given: dict[str, object] = {"method": self.method}
        return given if self.embed is None else {**given, "embed": self.embed}


def similar_entry(means: SimilarityMeans) -> Entry:
    """The assertion `similar`, for the registry of a run."""
    # `{"type": "similar", "value": "30 days", "threshold": 0.8}`; without a value the case's
    # reference is compared with.

    @assertion(SIMILAR)
    def similar(
        output: Output,
        *,
        value: str | None = None,
        threshold: Fraction = DEFAULT_SIMILARITY,
        path: PathText | None = None,
        case: Case | None = None,
    ) -> AssertionResult:
        """Pass when the output is near enough to a text."""
        found = similarity(
            output, reference=value, method=means.method, embed=means.embed, path=path, case=case
        )
        near = found.value or 0.0
        return AssertionResult(
            passed=near >= threshold - _SAME,
            actual=near,
            value=near,
            message=f"the similarity is {near:.3f} ({found.method}), {threshold:g} wanted",
        )

    return Entry(SIMILAR, similar)
