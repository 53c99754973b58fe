"""Asks reviewers the open questions of a run, blind; imports and exports files of labels."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from judgekit.datasets import LocatedLabel, read_labels, score_on_scale
from judgekit.errors import InputError, StoreError
from judgekit.evaluation.outcome import rubric_of_result
from judgekit.evaluation.run_config import REVIEWER
from judgekit.prompts import scale_words
from judgekit.records import (
    CHOSEN_FIELD,
    HUMAN_JUDGE,
    HumanItem,
    ItemKey,
    Judgment,
    Label,
    Output,
    TraceEvent,
    config_part,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from judgekit.records import (
        Case,
        CaseResult,
        Criterion,
        JsonObject,
        LabelPacket,
        RunInfo,
        Scale,
    )
    from judgekit.store import RunStore

# Flags a human judgment that decides a conflict of two others.
_ADJUDICATES = "adjudicates"

_WORD = 0xFFFFFFFF

# Fields of a trace event by which a variant could be recognised.
_REVEALING_FIELDS = frozenset({
    "model", "models", "provider", "variant", "version", "usage", "cost", "costUsd",
    "totalCostUsd", "cost_usd", "durationMs", "duration_ms",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelQuestion:
    """One question for a reviewer, without anything that identifies the variant."""

    number: int
    # All questions of the run, the answered ones included
    total: int
    case: Case
    output: Output
    criterion: Criterion


class LabellingSession:
    """One session of one annotator; every answer is on disk when `answer` returns.

    Answers come in the annotator's own order (see `blind_order`), the same in every session; the
    criteria of one answer follow each other.
    """

    def __init__(self, store: RunStore, run: RunInfo, annotator: str, *, seed: int = 0) -> None:
        self.annotator = annotator
        self._store = store
        self._run = run
        asked, packets = store.queue(run.id, open_only=False), store.packets(run.id)
        items = blind_order(asked, run, annotator, seed=seed, packets=packets)
        self._open = [item for item in items if item.answered_at is None]
        self._closed = [item for item in items if item.answered_at is not None]
        self._closed.sort(key=lambda item: item.answered_at or item.asked_at)
        self._given: list[HumanItem] = []
        self._asked: tuple[HumanItem, Criterion] | None = None
        self._place = 0
        self.n_taken = 0

    @property
    def total(self) -> int:
        """All questions of the run, the answered ones included."""
        return len(self._open) + len(self._closed)

    @property
    def n_answered(self) -> int:
        """Questions answered in this session, without those withdrawn."""
        return len(self._given)

    @property
    def n_skipped(self) -> int:
        """Questions skipped in this session; they stay open."""
        return self._place - self.n_answered - self.n_taken

    def current(self) -> LabelQuestion | None:
        # Questions that somebody else has answered meanwhile are counted in `n_taken` and left out.
        self._asked = None
        while self._place < len(self._open):
            item = self._open[self._place]
            result = self._store.result(self._run.id, item.key)
            if result is not None and _stored_judgment(result, item) is None:
                self._asked = (item, criterion_of_item(item, result, self._run))
                return LabelQuestion(
                    number=len(self._closed) + self._place + 1,
                    total=self.total,
                    case=result.case,
                    output=blind_output(result.output),
                    criterion=self._asked[1],
                )
            self._place += 1
            self.n_taken += 1
        return None

    def answer(self, raw: float, rationale: str, confidence: float | None = None) -> bool:
        """Store the answer to the question that `current` returned last; the next one follows."""
        if self._asked is None:
            self.current()
        if self._asked is None:
            raise InputError("no question is left to answer")
        item, criterion = self._asked
        judgment = human_judgment(
            item, criterion, raw, rationale, annotator=self.annotator, confidence=confidence
        )
        is_kept = _is_kept(self._store, self._run, item, judgment, at=datetime.now(UTC))
        self._given += [item] if is_kept else []
        self.n_taken += not is_kept
        self._place += 1
        self._asked = None
        return is_kept

    def skip(self) -> None:
        """Leave the current question open and take the next."""
        self._asked = None
        if self._place < len(self._open):
            self._place += 1

    def undo(self) -> bool:
        """Withdraw this annotator's last answer, also of an earlier session; it is open again."""
        # An annotator who comes back can withdraw the last answer of an earlier session too, but
        # never that of another annotator.
        item = self._given[-1] if self._given else self._last_before()
        if item is None:
            return False
        self._store.withdraw_answer(item, at=datetime.now(UTC))
        self._asked = None
        if self._given:
            self._given.pop()
            self._open.remove(item)
            self._place -= 1
        else:
            self._closed.remove(item)
        self._open.insert(self._place, item)
        return True

    def _last_before(self) -> HumanItem | None:
        for item in reversed(self._closed):
            result = self._store.result(self._run.id, item.key)
            judgment = None if result is None else _stored_judgment(result, item)
            if judgment is not None and judgment.judge == self.annotator:
                return item
        return None


def blind_order(
    items: Iterable[HumanItem],
    run: RunInfo,
    annotator: str,
    *,
    seed: int = 0,
    packets: Iterable[LabelPacket] = (),
) -> list[HumanItem]:
    """Questions in the order of an annotator, which says nothing about the variants."""
    # It is the order of the packet's page: items that were drawn at random first, then those whose
    # labels help calibration most. What is in no packet is ordered by the seed.
    places = {c.name: place for place, c in enumerate(run.rubric.criteria)} if run.rubric else {}
    known = {
        ItemKey(one.case_id, one.variant or "", one.repeat): (
            one.chosen == "informative",
            packet.id,
            one.id,
        )
        for packet in packets
        for one in packet.items
        if not one.repeats
    }

    def place(item: HumanItem) -> tuple[bool, int, str, int]:
        # Seed and answer alone decide, not the run's id: the same seed asks in the same order.
        own = False, str(seed), " ".join(map(str, item.key))
        is_late, packet, name = known.get(item.key, own)
        rank = annotator_rank(packet, annotator, name)
        return is_late, rank, name, places.get(item.criterion, len(places))

    return sorted(items, key=place)


def annotator_rank(packet: str, annotator: str, item: str) -> int:
    """Where an item comes for an annotator, computed as in `label_file.js` (FNV-1a)."""
    value = 2166136261
    for character in f"{packet} {annotator} {item}":
        value = (value ^ ord(character)) * 16777619 & _WORD
    value = (value ^ value >> 15) * 2246822507 & _WORD
    return value ^ value >> 13


def _stored_judgment(result: CaseResult, item: HumanItem) -> Judgment | None:
    own = item.criterion, item.repeat
    human = (one for one in result.judgments if one.source == "human")
    return next((one for one in human if (one.criterion, one.repeat) == own), None)


def blind_output(output: Output) -> Output:
    """What was produced, without where it came from and what it cost."""
    return Output(
        text=output.text,
        data=output.data,
        error=output.error,
        trace=tuple(
            TraceEvent.model_validate(
                event.model_dump(exclude=set(_REVEALING_FIELDS & set(event.model_extra or {})))
            )
            for event in output.trace
        ),
    )


# A judgment always has a rationale; a label need not have one.
_NO_REASON = "Label without a reason."
_YES_OR_NO = {"y": 1.0, "yes": 1.0, "n": 0.0, "no": 0.0}


def criterion_of_item(item: HumanItem, result: CaseResult, run: RunInfo) -> Criterion:
    rubric = rubric_of_result(result, run)
    for one in rubric.criteria if rubric else ():
        if one.name == item.criterion:
            return one
    raise StoreError(f"the run {run.id} has no criterion {item.criterion!r} to judge")


def human_judgment(
    item: HumanItem,
    criterion: Criterion,
    raw: float,
    rationale: str,
    *,
    annotator: str,
    confidence: float | None = None,
    flags: tuple[str, ...] = (),
) -> Judgment:
    return Judgment(
        criterion=criterion.name,
        raw=raw,
        value=criterion.scale.value_of(raw),
        rationale=rationale or _NO_REASON,
        confidence=confidence,
        stated_confidence=confidence,
        source="human",
        judge=annotator,
        case_id=item.key.case_id,
        variant=item.key.variant,
        repeat=item.repeat,
        cost_usd=0.0,
        price_usd=0.0,
        n_calls=0,
        flags=flags,
    )


def parse_score(text: str, scale: Scale) -> float:
    word = text.strip().casefold()
    named = {level.name.casefold(): level.value for level in scale.levels if level.name}
    if scale.points == (0.0, 1.0):
        named = _YES_OR_NO | named
    try:
        raw = named[word] if word in named else float(word)
    except ValueError:
        raw = float("nan")
    if not scale.holds(raw):
        also = ", or y or n" if scale.points == (0.0, 1.0) else ""
        raise ValueError(f"a score is {scale_words(scale)}{also}")
    return raw


def parse_confidence(text: str) -> float | None:
    word = text.strip()
    if not word:
        return None
    try:
        number = float(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    except ValueError:
        number = float("nan")
    if not 0 <= number <= 1:
        raise ValueError("a confidence is a number from 0 to 1, or nothing")
    return number


@dataclass(frozen=True, slots=True)
class LabelImport:
    """How many labels of a file were imported, and why others were not."""

    n_labels: int
    n_answered: int
    # Labels of questions that had an answer already; that stands
    n_answered_before: int
    # Labels of answers that nobody was asked about
    n_not_asked: int
    # Questions that the annotator could not answer; they keep waiting
    n_without_score: int = 0


def import_labels(
    store: RunStore,
    run: RunInfo,
    path: Path,
    *,
    annotator: str | None,
    at: datetime,
    note: Callable[[str], None] = warnings.warn,
) -> LabelImport:
    """Answer the questions of a run with the labels of a file, which may leave out what follows."""
    asked: defaultdict[str, list[HumanItem]] = defaultdict(list)
    for item in store.queue(run.id, open_only=False):
        asked[item.key.case_id].append(item)
    labels: list[LocatedLabel] = []
    n_not_asked = 0
    for placed in read_labels(path, note=note):
        meant = _meant(placed, asked[placed.label.case_id])
        if meant is None:
            n_not_asked += 1
            continue
        # The whole file is checked before the first question is answered.
        _judgment(store, run, meant, placed, annotator)
        known = meant.key._asdict() | {"criterion": meant.criterion}
        labels.append(replace(placed, label=placed.label.model_copy(update=known)))
    stored = record_labels(store, run, labels, annotator=annotator, at=at)
    n_labels = stored.n_labels + n_not_asked
    return replace(stored, n_labels=n_labels, n_not_asked=stored.n_not_asked + n_not_asked)


def record_labels(
    store: RunStore,
    run: RunInfo,
    labels: Iterable[LocatedLabel],
    *,
    annotator: str | None,
    at: datetime,
) -> LabelImport:
    """Store labels that name case, variant, repeat and criterion, as those of a packet do."""
    # Where humans decide, the first annotator's answer to a question stands. Where labels only
    # review automated verdicts, each annotator has an answer. A later one of the same annotator
    # replaces it, and one without a score withdraws it.
    counts: Counter[str] = Counter()
    for placed in labels:
        counts["n_labels"] += 1
        # A clock that is ahead must not keep out what is answered later.
        counts[_recorded(store, run, placed, annotator, min(placed.given_at or at, at))] += 1
    return LabelImport(**{field.name: counts[field.name] for field in fields(LabelImport)})


def _recorded(
    store: RunStore, run: RunInfo, placed: LocatedLabel, annotator: str | None, at: datetime
) -> str:
    """What became of a label: the counter of `LabelImport` that it belongs to."""
    label = placed.label
    key = ItemKey(label.case_id, label.variant or "", label.repeat or 0)
    result = store.result(run.id, key)
    if result is None:
        return "n_not_asked"
    answers = _answers(store, result, label.criterion or "")
    own, before = _own_answer(placed, answers, label.annotator or annotator)
    # A file may be older than the answer, as when it is imported after a later one.
    if before is not None and before.judged_at is not None and at < before.judged_at:
        return "n_answered_before"
    if label.raw is None:
        if own is not None:
            store.withdraw_answer(own, at=at)
        return "n_without_score"
    item = own or next((each for each, j in answers if j is None), None)
    if item is None and HUMAN_JUDGE in run.panel.judges:
        return "n_answered_before" if answers else "n_not_asked"
    item = item or _asked_again(store, result, label.criterion or "", len(answers), at)
    judgment = _judgment(store, run, item, placed, annotator)
    if before is not None:
        # A file may have scores alone; a page without a comment means that there is none any more.
        is_same = before.rationale == judgment.rationale or (placed.path and not label.rationale)
        if before.raw == judgment.raw and is_same:
            return "n_answered_before"
        store.answer_item(item, judgment, at=at, replaces=True)
    is_stored = before is not None or _is_kept(store, run, item, judgment, at=at)
    # Where somebody else was quicker, this answer takes the next place, if there is one.
    return "n_answered" if is_stored else _recorded(store, run, placed, annotator, at)


def _asked_again(
    store: RunStore, result: CaseResult, criterion: str, n_asked: int, at: datetime
) -> HumanItem:
    """A question that each further annotator answers once more."""
    about = {"run_id": result.run_id, "key": result.key, "criterion": criterion}
    item = HumanItem(**about, judge=REVIEWER, repeat=n_asked, asked_at=at)
    store.ask_person(result.run_id, [item])
    return item


def _answers(
    store: RunStore, result: CaseResult, criterion: str
) -> list[tuple[HumanItem, Judgment | None]]:
    """The questions about a criterion of an answer, each with the judgment that closed it."""
    # Those of its case alone: a run may have asked thousands.
    asked = store.queue(result.run_id, open_only=False, place=result.place)
    own = (item for item in asked if (item.key, item.criterion) == (result.key, criterion))
    return [(item, _stored_judgment(result, item)) for item in own]


def _own_answer(
    placed: LocatedLabel, answers: Iterable[tuple[HumanItem, Judgment | None]], who: str | None
) -> tuple[HumanItem, Judgment] | tuple[None, None]:
    """The earlier answer of a label's annotator; whoever decides a conflict has given none."""
    for item, judgment in answers:
        if judgment is not None and judgment.judge == who:
            check_adjudicator(placed, who, is_decision=_ADJUDICATES in judgment.flags)
            return item, judgment
    return None, None


def check_adjudicator(placed: LocatedLabel, who: str | None, *, is_decision: bool) -> None:
    """Refuse a decision of somebody whose earlier label is none; and the other way round."""
    if placed.label.adjudicates != is_decision:
        problem = f"{who!r} would both label this item and decide its conflict"
        raise placed.fault(problem, "a third annotator decides")


def requires_reason(run: RunInfo) -> bool:
    """Whether annotators of a run must give a reason with each score."""
    # The suite's `human: {reason: …}` decides; without it, where human judgments decide verdicts.
    own = config_part(run, "human").get("reason")
    return HUMAN_JUDGE in run.panel.judges if own is None else own == "required"


def queue_packet(store: RunStore, run: RunInfo, packet: LabelPacket, *, at: datetime) -> int:
    """Queue the items of a packet for review, and store it; the number of new questions."""
    asked = {(item.key, item.criterion) for item in store.queue(run.id, open_only=False)}
    new = []
    for item in packet.items:
        key = ItemKey(item.case_id, item.variant or "", item.repeat)
        result = None if item.repeats else store.result(run.id, key)
        rubric = None if result is None else rubric_of_result(result, run)
        new += [
            HumanItem(run_id=run.id, key=key, criterion=one.name, judge=REVIEWER, asked_at=at)
            for one in (rubric.criteria if rubric else ())
            if one.name in packet.criteria and (key, one.name) not in asked
        ]
    if new:
        store.add_packet(packet)
        store.ask_person(run.id, new)
    return len(new)


def label_rows(
    results: Iterable[CaseResult], packets: Iterable[LabelPacket] = ()
) -> Iterator[JsonObject]:
    items = [one for packet in packets for one in packet.items if not one.repeats]
    # Sorted, so that what was drawn for any packet counts as drawn.
    chosen = {
        ItemKey(one.case_id, one.variant or "", one.repeat): {CHOSEN_FIELD: one.chosen}
        for one in sorted(items, key=lambda one: one.chosen)
    }
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
                    rationale=None if judgment.rationale == _NO_REASON else judgment.rationale,
                    confidence=judgment.confidence,
                    metadata=_about(judgment) | chosen.get(result.key, {}) or None,
                ).to_json()


def _about(judgment: Judgment) -> JsonObject:
    at = judgment.judged_at
    about: JsonObject = {} if at is None else {"judged_at": at.isoformat()}
    return about | ({_ADJUDICATES: True} if _ADJUDICATES in judgment.flags else {})


def _meant(placed: LocatedLabel, asked: Sequence[HumanItem]) -> HumanItem | None:
    label = placed.label
    found = [
        item
        for item in asked
        if label.variant in {None, item.key.variant}
        and label.criterion in {None, item.criterion}
        and label.repeat in {None, item.key.repeat}
    ]
    choices = {
        "variant": {item.key.variant for item in found},
        "criterion": {item.criterion for item in found},
        "repeat": {str(item.key.repeat) for item in found},
    }
    several = [(name, known) for name, known in choices.items() if len(known) > 1]
    if not several:
        return found[0] if found else None
    name, known = several[0]
    names = ", ".join(sorted(known))
    raise placed.fault(
        f"it does not say which {name} it is of; the open questions are about {names}",
        f'add "{name}" to the label',
    )


def _judgment(
    store: RunStore, run: RunInfo, item: HumanItem, placed: LocatedLabel, annotator: str | None
) -> Judgment:
    result = store.result(run.id, item.key)
    if result is None:
        raise StoreError(f"the answer to case {item.key.case_id!r} no longer exists")
    criterion = criterion_of_item(item, result, run)
    label = placed.label
    if label.raw is None:
        raise placed.fault("the field `raw` is missing", "a human answer is a score")
    who = label.annotator or annotator
    if who is None:
        raise placed.fault("it has no annotator", "add `annotator`, or give --annotator NAME")
    raw = score_on_scale(placed, criterion)
    where = "" if placed.path is None else f" from {placed.path.name}, line {placed.line},"
    return human_judgment(
        item,
        criterion,
        raw,
        label.rationale or f"Label{where} without a reason.",
        annotator=who,
        confidence=label.confidence,
        flags=(_ADJUDICATES,) if label.adjudicates else (),
    )


def _is_kept(
    store: RunStore, run: RunInfo, item: HumanItem, judgment: Judgment, *, at: datetime
) -> bool:
    """Keep a judgment; not where somebody else was quicker."""
    try:
        store.answer_item(item, judgment, at=at)
    # Another annotator may have answered since the question was shown: the first judgment stays,
    # and anything else is an error of the store.
    except StoreError:
        result = store.result(run.id, item.key)
        if result is None or _stored_judgment(result, item) is None:
            raise
        return False
    return True
