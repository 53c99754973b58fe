"""A person's sitting over the questions that wait: which is next, what was answered, undo, skip."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from judgekit.errors import InputError, StoreError
from judgekit.evaluation.people.persons_word import criterion_of, persons_judgment
from judgekit.fingerprint import fingerprint
from judgekit.records.output import Output, TraceEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from judgekit.records.case import Case
    from judgekit.records.judgment import Judgment
    from judgekit.records.label import HumanItem
    from judgekit.records.rubric import Criterion
    from judgekit.records.run import CaseResult, RunInfo
    from judgekit.store.runs import RunStore

_TELLING = frozenset({
    "model", "models", "provider", "variant", "version", "usage", "cost", "costUsd",
    "totalCostUsd", "cost_usd", "durationMs", "duration_ms",
})  # fmt: skip
"""Fields of a trace event by which a variant could be recognised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a person is asked, without anything that says who answered the case."""

    number: int
    """Its place among all the questions of the run, from 1."""

    total: int
    """All questions of the run, the answered ones included."""

    case: Case
    """What was to be answered."""

    output: Output
    """What was produced; its text, data and steps only."""

    criterion: Criterion
    """What is to be judged."""


class Labelling:
    """One sitting of one person; every answer is on disk when `answer` returns.

    Answers come in an order drawn with the seed, the same in every sitting, so that variants
    cannot be told by it; the criteria of one answer follow each other.
    """

    def __init__(
        self,
        store: RunStore,
        run: RunInfo,
        annotator: str,
        *,
        seed: int = 0,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.annotator = annotator
        self._store = store
        self._run = run
        self._now = now
        items = blind_order(store.queue(run.id, open_only=False), run, seed)
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
        """Questions answered in this sitting, less those taken back."""
        return len(self._given)

    @property
    def n_skipped(self) -> int:
        """Questions passed over in this sitting; they go on waiting."""
        return self._place - self.n_answered - self.n_taken

    def current(self) -> Question | None:
        """The question to be answered now."""
        # Questions that somebody else has answered meanwhile are counted in `n_taken` and left out.
        self._asked = None
        while self._place < len(self._open):
            item = self._open[self._place]
            result = self._store.result(self._run.id, item.key)
            if result is not None and _persons(result, item) is None:
                self._asked = (item, criterion_of(item, result, self._run))
                return Question(
                    number=len(self._closed) + self._place + 1,
                    total=self.total,
                    case=result.case,
                    output=_blind(result.output),
                    criterion=self._asked[1],
                )
            self._place += 1
            self.n_taken += 1
        return None

    def answer(self, raw: float, rationale: str, confidence: float | None = None) -> bool:
        """Keep what the person says of the question `current` gave last, and go on to the next."""
        if self._asked is None:
            self.current()
        if self._asked is None:
            raise InputError("no question is left to answer")
        item, criterion = self._asked
        said = persons_judgment(
            item, criterion, raw, rationale, annotator=self.annotator, confidence=confidence
        )
        is_kept = self._is_kept(item, said)
        self._given += [item] if is_kept else []
        self.n_taken += not is_kept
        self._place += 1
        self._asked = None
        return is_kept

    def skip(self) -> None:
        """Leave the current question waiting, and go on to the next."""
        self._asked = None
        if self._place < len(self._open):
            self._place += 1

    def undo(self) -> bool:
        """Take back this person's last answer, of this sitting or one before; it is asked again."""
        item = self._given[-1] if self._given else self._last_before()
        if item is None:
            return False
        self._store.withdraw_answer(item, at=self._now())
        self._asked = None
        if self._given:
            self._given.pop()
            self._open.remove(item)
            self._place -= 1
        else:
            self._closed.remove(item)
        self._open.insert(self._place, item)
        return True

    def _is_kept(self, item: HumanItem, said: Judgment) -> bool:
        """Keep a judgment; not where somebody else was quicker."""
        try:
            self._store.answer_item(item, said, at=self._now())
        except StoreError:
            result = self._store.result(self._run.id, item.key)
            if result is None or _persons(result, item) is None:
                raise
            return False
        return True

    def _last_before(self) -> HumanItem | None:
        for item in reversed(self._closed):
            result = self._store.result(self._run.id, item.key)
            said = None if result is None else _persons(result, item)
            if said is not None and said.judge == self.annotator:
                return item
        return None


def blind_order(items: Iterable[HumanItem], run: RunInfo, seed: int) -> list[HumanItem]:
    """Questions in an order that says nothing about the variants."""
    places = {c.name: place for place, c in enumerate(run.rubric.criteria)} if run.rubric else {}
    return sorted(
        items,
        key=lambda item: (
            fingerprint([seed, item.run_id, *item.key]),
            places.get(item.criterion, len(places)),
        ),
    )


def _persons(result: CaseResult, item: HumanItem) -> Judgment | None:
    """What a person has said already of a question."""
    for judgment in result.judgments:
        same = (judgment.criterion, judgment.repeat) == (item.criterion, item.repeat)
        if same and judgment.source == "human":
            return judgment
    return None


def _blind(output: Output) -> Output:
    """What was produced, without where it came from and what it cost."""
    return Output(
        text=output.text,
        data=output.data,
        error=output.error,
        trace=tuple(
            TraceEvent.model_validate(
                event.model_dump(exclude=set(_TELLING & set(event.model_extra or {})))
            )
            for event in output.trace
        ),
    )
