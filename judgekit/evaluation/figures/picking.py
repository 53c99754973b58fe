"""Which answers of a run are looked at: a variant's, a tag's, those that did not pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.errors import UnknownNameError
from judgekit.evaluation.figures.concluding import conclude_result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.run import RunInfo
    from judgekit.store.reading import StoredRuns

_NEAR = 10_000
"""Answers looked through for the names of cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """Which answers are looked at; several wishes must all be met."""

    variants: tuple[str, ...] = ()
    """Of these variants; of all where none is named."""

    case_id: str | None = None
    """Of this case."""

    tag: str | None = None
    """Of cases with this tag."""

    failed: bool = False
    """Only those that did not pass, or could not be had or judged."""

    @property
    def is_all(self) -> bool:
        """Whether nothing is left out."""
        return self == Picked()


def picked(store: StoredRuns, run: RunInfo, wanted: Picked) -> Iterator[Concluded]:
    """The answers of a run that are looked at, and what they come to."""
    known = [variant.id for variant in run.variants]
    for name in wanted.variants:
        if name not in known:
            raise UnknownNameError("variant of this run", name, known)
    one = wanted.variants[0] if len(wanted.variants) == 1 else None
    found = store.results(run.id, variant=one, case_id=wanted.case_id, tag=wanted.tag)
    is_there = wanted.case_id is None
    for result in found:
        is_there = True
        if wanted.variants and result.variant not in wanted.variants:
            continue
        concluded = conclude_result(result, run)
        if not wanted.failed or is_wanting(concluded):
            yield concluded
    if not is_there:
        _check_case(store, run, wanted.case_id or "")


def is_wanting(answer: Concluded) -> bool:
    """Whether an answer did not pass, or could not be had or judged."""
    result = answer.result
    if answer.passed is False or result.output.error is not None or result.failures:
        return True
    return answer.passed is None and bool(answer.verdict or result.checks)


def _check_case(store: StoredRuns, run: RunInfo, case_id: str) -> None:
    """Refuse a case that the run does not have; one without an output yet is there."""
    known: set[str] = set()
    for seen, _ in zip(store.progress(run.id), range(_NEAR), strict=False):
        known.add(seen.key.case_id)
    if case_id not in known:
        raise UnknownNameError("case of this run", case_id, known)
