"""People's labels in files: read to answer the questions that wait, and written from a run."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.datasets.labels import read_labels, score_on
from judgekit.errors import StoreError
from judgekit.evaluation.people.persons_word import criterion_of, persons_judgment
from judgekit.records.label import Label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from judgekit.datasets.labels import PlacedLabel
    from judgekit.records.judgment import Judgment
    from judgekit.records.label import HumanItem
    from judgekit.records.record import JsonObject
    from judgekit.records.run import CaseResult, RunInfo
    from judgekit.store.runs import RunStore


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
    """Answer the questions of a run that wait with the labels of a file."""
    # The whole file is checked before the first question is answered.
    asked: defaultdict[str, list[HumanItem]] = defaultdict(list)
    for item in store.queue(run.id, open_only=False):
        asked[item.key.case_id].append(item)
    matched: list[_Matched] = []
    n_labels = n_not_asked = n_before = 0
    seen: set[tuple[object, ...]] = set()
    for placed in read_labels(path):
        n_labels += 1
        found = _meant(placed, asked.get(placed.label.case_id, ()))
        if found is None:
            n_not_asked += 1
        elif found.answered_at is not None or (*found.key, found.criterion) in seen:
            n_before += 1
        else:
            seen.add((*found.key, found.criterion))
            judgment = _judgment(store, run, found, placed, annotator)
            matched.append(_Matched(found, judgment))
    n_answered = sum(_answer(store, run, one, at) for one in matched)
    return Taken(n_labels, n_answered, n_before + len(matched) - n_answered, n_not_asked)


def labels_said(results: Iterable[CaseResult]) -> Iterator[JsonObject]:
    """What people said of the answers of a run, as rows of a file of labels."""
    for result in results:
        for judgment in result.judgments:
            if judgment.source == "human":
                yield Label(
                    case_id=result.case.id,
                    variant=result.variant,
                    criterion=judgment.criterion,
                    repeat=result.repeat,
                    annotator=judgment.judge or None,
                    raw=judgment.raw,
                    rationale=judgment.rationale,
                    confidence=judgment.confidence,
                ).to_json()


def _meant(placed: PlacedLabel, asked: Sequence[HumanItem]) -> HumanItem | None:
    """The question a label answers; None where it was not asked."""
    found = [item for item in asked if _fits(placed.label, item)]
    if len(found) <= 1:
        return found[0] if found else None
    choices = {
        "variant": {item.key.variant for item in found},
        "criterion": {item.criterion for item in found},
        "repeat": {str(item.key.repeat) for item in found},
    }
    name, known = next((n, names) for n, names in choices.items() if len(names) > 1)
    names = ", ".join(sorted(known))
    raise placed.fault(
        f"it does not say which {name} it is of; a person was asked about {names}",
        f'add "{name}" to the label',
    )


def _fits(label: Label, item: HumanItem) -> bool:
    wishes = (
        (label.variant, item.key.variant),
        (label.criterion, item.criterion),
        (label.repeat, item.key.repeat),
    )
    return all(wanted is None or wanted == given for wanted, given in wishes)


def _judgment(
    store: RunStore, run: RunInfo, item: HumanItem, placed: PlacedLabel, annotator: str | None
) -> Judgment:
    result = store.result(run.id, item.key)
    if result is None:
        raise StoreError(f"the answer to case {item.key.case_id!r} that was asked about is gone")
    criterion = criterion_of(item, result, run)
    label = placed.label
    if label.raw is None:
        raise placed.fault("the field `raw` is missing", "a person's answer is a score")
    who = label.annotator or annotator
    if who is None:
        raise placed.fault(
            "it does not say who said it", "add `annotator`, or give --annotator NAME"
        )
    raw = score_on(placed, criterion)
    where = "" if placed.path is None else f" from {placed.path.name}, line {placed.line},"
    return persons_judgment(
        item,
        criterion,
        raw,
        label.rationale or f"Label{where} without a reason.",
        annotator=who,
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
