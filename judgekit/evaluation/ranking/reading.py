"""Reads comparisons that were made before: what `compare -o` writes, or just who won."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pydantic import ValidationError

from judgekit.datasets.faults import explain
from judgekit.datasets.fields import rename
from judgekit.datasets.rows import iter_rows
from judgekit.errors import DatasetError
from judgekit.evaluation.ranking.figures import Questioned
from judgekit.evaluation.ranking.meetings import Meeting, arranged, meeting_of
from judgekit.records.comparison import Comparison, Winner
from judgekit.records.record import Fraction, Name, Record

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from judgekit.datasets.rows import Row
    from judgekit.records.comparison import Rule

_ALIASES = {
    "case": "case_id", "question_id": "case_id",
    "model_a": "variant_a", "model_b": "variant_b",
}  # fmt: skip
_WINNERS: dict[object, Winner] = {
    "model_a": "a", "model_b": "b", "A": "a", "B": "b", "tie (bothbad)": "tie",
}  # fmt: skip
_OF_COMPARISONS = "rubric_fingerprint"


class WinnerRow(Record):
    """Who won a comparison of two sides, and nothing else."""

    variant_a: Name
    """A side."""

    variant_b: Name
    """The other."""

    winner: Winner | None
    """Which is better; None where that is open."""

    probability: Fraction | None = None
    """How far a is preferred, where that is known better than by the winner."""

    case_id: Name | None = None
    """The case both answered."""


class ComparisonPile:
    """Gathers comparisons: their meetings, who judged, and what failed."""

    def __init__(self) -> None:
        self.meetings: list[Meeting] = []
        self.rubrics: dict[str, str] = {}
        self._rules: dict[Rule, None] = {}
        self._judges: dict[str, None] = {}
        self._models: dict[str, None] = {}
        self._failures: Counter[str] = Counter()
        self._messages: dict[str, str] = {}
        self._n_errors = 0

    def take(self, found: Comparison) -> None:
        """Take one more comparison."""
        if not found.variant_a or not found.variant_b or found.variant_a == found.variant_b:
            raise DatasetError(
                f"the comparison is of {found.variant_a} and {found.variant_b}",
                case_id=found.case_id,
                hint="a ranking needs two names: give both outputs a `variant` of their own",
            )
        for said in (*found.preferences, *found.failures):
            self._judges[said.judge] = None
        for preference in found.preferences:
            if preference.model:
                self._models[preference.model] = None
        for failure in found.failures:
            self._failures[failure.kind] += 1
            self._messages.setdefault(failure.kind, failure.message)
        meeting = meeting_of(found, found.variant_a, found.variant_b)
        self.rubrics.setdefault(found.rubric_fingerprint, found.rubric)
        self._rules[found.rule] = None
        if meeting is None:
            self._n_errors += 1
        else:
            self.meetings.append(meeting)

    def questioned(self) -> Questioned:
        """Who judged, and what failed."""
        return Questioned(
            rubric=" and ".join(sorted(set(self.rubrics.values()))) or None,
            judges=tuple(sorted(self._judges)),
            models=tuple(sorted(self._models)),
            n_errors=self._n_errors,
            failures=dict(sorted(self._failures.items())),
            failure_messages=self._messages,
            rule=next(iter(self._rules)) if len(self._rules) == 1 else None,
        )


def read_comparisons(paths: Iterable[Path]) -> ComparisonPile:
    """The comparisons of files."""
    # A row is a comparison as `judgekit compare -o` writes it, or names `variant_a`, `variant_b`
    # and the `winner` (`a`, `b`, `tie`), with a `case_id`, and a `probability` that a is better,
    # where these are known. Other columns of such rows are left alone.
    pile = ComparisonPile()
    for path in paths:
        for row in iter_rows(path):
            try:
                _take(pile, row)
            except ValidationError as error:
                model = Comparison if _OF_COMPARISONS in row.fields else WinnerRow
                fault = explain(error, model, row.fields, synonyms=_ALIASES)[0]
                raise DatasetError(str(fault), path=path, line=row.line) from error
            except DatasetError as error:
                raise DatasetError(
                    error.message, path=path, line=row.line, hint=error.hint
                ) from error
            if len(pile.rubrics) > 1:
                raise DatasetError(
                    f"comparisons by different rubrics: {', '.join(pile.rubrics.values())}",
                    path=path,
                    line=row.line,
                    hint="rank those of each rubric by themselves",
                )
    return pile


def is_comparisons(path: Path) -> bool:
    """Whether a file holds comparisons rather than outputs."""
    first = next(iter_rows(path), None)
    if first is None:
        return False
    fields, _ = rename(first.fields, _ALIASES)
    return {"variant_a", "variant_b"} <= fields.keys()


def _take(pile: ComparisonPile, row: Row) -> None:
    if _OF_COMPARISONS in row.fields:
        pile.take(Comparison.model_validate(row.fields))
        return
    fields, faults = rename(row.fields, _ALIASES)
    if faults:
        raise DatasetError(faults[0].message, hint=faults[0].remedy)
    kept = {name: fields[name] for name in WinnerRow.model_fields if name in fields}
    if isinstance(kept.get("case_id"), int):
        kept["case_id"] = str(kept["case_id"])
    if isinstance(said := kept.get("winner"), str):
        kept["winner"] = _WINNERS.get(said, said)
    one = WinnerRow.model_validate(kept)
    if one.variant_a == one.variant_b:
        raise DatasetError(f"{one.variant_a} is compared with itself", hint="name two sides")
    sides = one.variant_a, one.variant_b
    meeting = Meeting(one.case_id or "", *sides, one.winner, False, share=one.probability)
    pile.meetings.append(arranged(meeting))
