"""People's labels in files: read to answer the questions that wait, and written from a run."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from judgekit.datasets.faults import explain
from judgekit.datasets.rows import iter_rows
from judgekit.errors import DatasetError, StoreError
from judgekit.evaluation.people.persons_word import criterion_of, persons_judgment
from judgekit.prompts.schemas import scale_words
from judgekit.records.record import Count, Finite, Fraction, Name, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from judgekit.datasets.rows import Row
    from judgekit.records.judgment import Judgment
    from judgekit.records.label import HumanItem
    from judgekit.records.record import JsonObject
    from judgekit.records.run import CaseResult, RunInfo
    from judgekit.store.runs import RunStore

_SYNONYMS = {
    "case": "case_id", "id": "case_id", "score": "raw", "label": "raw", "rater": "annotator",
    "reason": "rationale", "comment": "rationale",
}  # fmt: skip


class PersonsLabel(Record):
    """One row of a file of labels."""

    case_id: Name
    """The case."""

    variant: Name | None = None
    """The variant; may be left out where only one was asked about."""

    criterion: Name | None = None
    """The criterion; may be left out where only one was asked about."""

    repeat: Count | None = None
    """Which of the variant's answers, from 0; may be left out where there is one."""

    annotator: Name | None = None
    """Who said it."""

    raw: Finite
    """The score on the criterion's own scale."""

    rationale: Name | None = None
    """Why."""

    confidence: Fraction | None = None
    """How sure the person was."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of the labels of a file."""

    n_labels: int
    """Labels in the file."""

    n_answered: int
    """Questions they answered."""

    n_answered_before: int
    """Labels of questions that had an answer already; that stands."""

    n_not_asked: int
    """Labels of answers that nobody was asked about."""


@dataclass(frozen=True, slots=True)
class _Matched:
    """A label and the question it answers."""

    item: HumanItem
    judgment: Judgment


def take_labels(
    store: RunStore, run: RunInfo, path: Path, *, annotator: str | None, at: datetime
) -> Taken:
    """Answer the questions of a run that wait with the labels of a file.

    The whole file is checked before the first question is answered.

    Args:
        store: Where the run is kept.
        run: The run.
        path: A file of labels: JSONL, or anything else with rows.
        annotator: Who said what names nobody.
        at: The time (UTC).

    Returns:
        What came of it.

    Raises:
        DatasetError: When a label is unsound, or does not say which question it answers.
        StoreError: When an answer cannot be kept.
    """
    asked: defaultdict[str, list[HumanItem]] = defaultdict(list)
    for item in store.queue(run.id, open_only=False):
        asked[item.key.case_id].append(item)
    matched: list[_Matched] = []
    n_labels = n_not_asked = n_before = 0
    seen: set[tuple[object, ...]] = set()
    for line, label in _read(path):
        n_labels += 1
        found = _meant(label, asked.get(label.case_id, ()), path, line)
        if found is None:
            n_not_asked += 1
        elif found.answered_at is not None or (*found.key, found.criterion) in seen:
            n_before += 1
        else:
            seen.add((*found.key, found.criterion))
            judgment = _judgment(store, run, found, label, _Source(path, line, annotator))
            matched.append(_Matched(found, judgment))
    n_answered = sum(_answer(store, run, one, at) for one in matched)
    return Taken(n_labels, n_answered, n_before + len(matched) - n_answered, n_not_asked)


def labels_said(results: Iterable[CaseResult]) -> Iterator[JsonObject]:
    """What people said of the answers of a run, as rows of a file of labels.

    Args:
        results: Answers.

    Yields:
        A row for each person's judgment; `take_labels` and `judgekit calibrate` read them.
    """
    for result in results:
        for judgment in result.judgments:
            if judgment.source == "human":
                yield PersonsLabel(
                    case_id=result.case.id,
                    variant=result.variant,
                    criterion=judgment.criterion,
                    repeat=result.repeat,
                    annotator=judgment.judge or None,
                    raw=judgment.raw,
                    rationale=judgment.rationale,
                    confidence=judgment.confidence,
                ).to_json()


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a label stands, and who said it where it does not say."""

    path: Path
    line: int
    annotator: str | None

    def refused(self, label: PersonsLabel, problem: str, hint: str) -> DatasetError:
        return DatasetError(
            problem, path=self.path, line=self.line, case_id=label.case_id, hint=hint
        )


def _read(path: Path) -> Iterator[tuple[int, PersonsLabel]]:
    for row in iter_rows(path):
        yield row.line, _label(row, path)


def _label(row: Row, path: Path) -> PersonsLabel:
    try:
        return PersonsLabel.model_validate(row.fields)
    except ValidationError as error:
        faults = explain(error, PersonsLabel, row.fields, synonyms=_SYNONYMS)
        what = "; ".join(str(fault) for fault in faults)
        raise DatasetError(what, path=path, line=row.line) from None


def _meant(
    label: PersonsLabel, asked: Sequence[HumanItem], path: Path, line: int
) -> HumanItem | None:
    """The question a label answers; None where it was not asked."""
    found = [item for item in asked if _fits(label, item)]
    if len(found) <= 1:
        return found[0] if found else None
    choices = {
        "variant": {item.key.variant for item in found},
        "criterion": {item.criterion for item in found},
        "repeat": {str(item.key.repeat) for item in found},
    }
    name, known = next((n, names) for n, names in choices.items() if len(names) > 1)
    names = ", ".join(sorted(known))
    raise DatasetError(
        f"it does not say which {name} it is of; a person was asked about {names}",
        path=path,
        line=line,
        case_id=label.case_id,
        hint=f'add "{name}" to the label',
    )


def _fits(label: PersonsLabel, item: HumanItem) -> bool:
    wishes = (
        (label.variant, item.key.variant),
        (label.criterion, item.criterion),
        (label.repeat, item.key.repeat),
    )
    return all(wanted is None or wanted == given for wanted, given in wishes)


def _judgment(
    store: RunStore, run: RunInfo, item: HumanItem, label: PersonsLabel, source: _Source
) -> Judgment:
    result = store.result(run.id, item.key)
    if result is None:
        raise StoreError(f"the answer to case {item.key.case_id!r} that was asked about is gone")
    criterion = criterion_of(item, result, run)
    annotator = label.annotator or source.annotator
    if annotator is None:
        raise source.refused(
            label, "it does not say who said it", "add `annotator`, or give --annotator NAME"
        )
    if not criterion.scale.holds(label.raw):
        problem = f"{label.raw:g} is not a score of {criterion.name!r}"
        raise source.refused(label, problem, f"a score is {scale_words(criterion.scale)}")
    return persons_judgment(
        item,
        criterion,
        label.raw,
        label.rationale or f"Label from {source.path.name}, line {source.line}, without a reason.",
        annotator=annotator,
        confidence=label.confidence,
    )


def _answer(store: RunStore, run: RunInfo, one: _Matched, at: datetime) -> bool:
    """Whether a label was kept; not when somebody was quicker."""
    try:
        store.answer_item(one.item, one.judgment, at=at)
    except StoreError:
        waiting = {(item.key, item.criterion) for item in store.queue(run.id)}
        if (one.item.key, one.item.criterion) in waiting:
            raise
        return False
    return True
