"""Which texts the checks and scorers of an answer compare by their vectors, and what those cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from judgekit.checks.nearness import reference_text
from judgekit.checks.similar import SIMILAR
from judgekit.checks.subjects import text_of
from judgekit.errors import JudgekitError
from judgekit.models.embeddings import Embeddings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from judgekit.evaluation.preparing.case_plans import CasePlans
    from judgekit.records.case import Case
    from judgekit.records.check import Asked
    from judgekit.records.output import Output

Bought = dict[int, dict[str, "Asked"]]
"""What texts came to that were asked for, by the identity of the model that was asked."""

_SIMILAR_ONES = frozenset({SIMILAR, f"not-{SIMILAR}"})
_MEMBERS = ("assert", "assertions")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts that a check or a scorer compares."""

    kind: Literal["check", "score"]
    """What compares them."""

    index: int
    """Its place among the checks, or the scores, of the answer."""

    embed: Embeddings
    """The model that is asked for their vectors."""

    text: str | None
    """What stands in the output; None where it has no such text, which is told then."""

    reference: str | None
    """What it is compared with; None where there is nothing."""

    @property
    def texts(self) -> frozenset[str]:
        """The texts whose vectors are needed; none where there is nothing to compare."""
        if self.text is None or self.reference is None:
            return frozenset()
        return frozenset({self.text, self.reference})


def comparisons(plans: CasePlans, case: Case, output: Output) -> list[Comparison]:
    """What is compared by vectors in an answer, scorers first."""
    if not plans.embeddings:
        return []
    scorers = [*plans.suite_scorers, *plans.own_scorers(case)]
    found = [
        _comparison("score", place, spec.get("embed"), (case, output, spec, spec.get("reference")))
        for place, spec in enumerate(scorers)
    ]
    checks = [*plans.suite.assertions, *plans.own_checks(case)]
    found += [
        _comparison("check", place, plans.means.embed, (case, output, spec, spec.get("value")))
        for place, whole in enumerate(checks)
        for spec in _similar_specs([whole])
    ]
    return [one for one in found if one is not None]


def shares(compared: Sequence[Comparison], bought: Bought) -> dict[tuple[str, int], Asked]:
    """What each check and scorer asked; what several need, the first one has."""
    left = {model: dict(texts) for model, texts in bought.items()}
    found: dict[tuple[str, int], Asked] = {}
    for one in compared:
        own = left.get(id(one.embed), {})
        for text in sorted(one.texts):
            asked = own.pop(text, None)
            if asked is not None:
                key = (one.kind, one.index)
                found[key] = found[key] + asked if key in found else asked
    return found


def all_of(bought: Bought) -> Asked | None:
    """What all texts came to."""
    total: Asked | None = None
    for texts in bought.values():
        for asked in texts.values():
            total = asked if total is None else total + asked
    return total


def _comparison(
    kind: Literal["check", "score"],
    index: int,
    embed: object,
    about: tuple[Case, Output, Mapping[str, object], object],
) -> Comparison | None:
    if not isinstance(embed, Embeddings):
        return None
    case, output, spec, reference = about
    path = spec.get("path")
    return Comparison(
        kind,
        index,
        embed,
        _told(lambda: text_of(output, path if isinstance(path, str) else None)),
        _told(lambda: reference_text(reference if isinstance(reference, str) else None, case)),
    )


def _told(find: Callable[[], str]) -> str | None:
    try:
        return find()
    except JudgekitError:
        return None


def _similar_specs(specs: Sequence[object]) -> Iterator[dict[str, object]]:
    """The assertions that compare by similarity, those of groups included."""
    for spec in specs:
        if isinstance(spec, dict):
            if spec.get("type") in _SIMILAR_ONES:
                yield spec
            for name in _MEMBERS:
                members = spec.get(name)
                yield from _similar_specs(members if isinstance(members, list) else ())
