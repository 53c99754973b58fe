"""Pairs the outputs of sides by case, and asks about pairs in order with bounded concurrency."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import (
    AsyncGenerator,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import combinations, islice, zip_longest
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, cast, get_args

from judgekit.datasets import draw_sample
from judgekit.errors import BudgetExceededError, DatasetError, SettingsError
from judgekit.fingerprint import text_fingerprint
from judgekit.records import FATAL_FAILURE_KINDS, record_text

if TYPE_CHECKING:
    from judgekit.judge import Judge, JudgeQuestion, PairJudge
    from judgekit.records import (
        Case,
        ComparedSide,
        Comparison,
        JsonObject,
        Output,
        PreferenceFailure,
        PresentationOrder,
        Rubric,
    )

_MOST_NAMED = 3

ORDER_SEED_KEY = "order_seed"
"""The key, in a comparison's `chosen`, of the seed that its cases were shuffled by."""


class SideOutput(NamedTuple):
    """One output of a side."""

    case: Case
    output: Output
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two that are compared."""

    label: str
    # Reads its outputs from the beginning, one in memory at a time
    read: Callable[[], Iterator[SideOutput]]
    # What would give it away in an output: its models and files
    names: tuple[str, ...] = ()
    about: ComparedSide | None = None


class OutputPair(NamedTuple):
    """Two outputs for one case."""

    case: Case
    a: Output
    b: Output
    repeat: int = 0


@dataclass(slots=True)
class LeftOut:
    """What could not be paired."""

    n_only_a: int = 0
    n_only_b: int = 0
    # Pairs of one case id whose inputs differ: they answer different questions
    n_other_input: int = 0
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    other_input: tuple[str, ...] = ()


class PairingSurvey(NamedTuple):
    """What is known of two sides once both were read."""

    n_pairs: int
    left_out: LeftOut
    # Fingerprints of what each side answers, cases included
    digests: tuple[str, str]


class Pairing:
    """Pairs of outputs, in an order that does not depend on which side is called the first.

    Both sides are read abreast, and an output waits in memory only until its counterpart comes:
    of files in the same order hardly any does. `is_shuffled` puts the chosen pairs in a
    random order that the seed determines, and holds them in memory.
    """

    def __init__(
        self,
        a: Side,
        b: Side,
        *,
        tags: Iterable[str] = (),
        limit: int | None = None,
        sample: int | None = None,
        seed: int = 0,
        is_shuffled: bool = False,
        is_wanted: Callable[[OutputPair], bool] = lambda _: True,
    ) -> None:
        self.a, self.b = a, b
        self._is_wanted = is_wanted
        self._tags = frozenset(tags)
        self._limit, self._sample, self._seed = limit, sample, seed
        self._is_shuffled = is_shuffled

    @property
    def names(self) -> tuple[str, ...]:
        """What would give either side away in an output."""
        return tuple(dict.fromkeys((*self.a.names, *self.b.names)))

    @property
    def chosen(self) -> JsonObject:
        """What is chosen of the pairs, without what is left at its default."""
        chosen: JsonObject = {"tags": [*sorted(self._tags)], "limit": self._limit}
        if self._sample is not None:
            chosen |= {"sample": self._sample, "seed": self._seed}
        if self._is_shuffled:
            chosen[ORDER_SEED_KEY] = self._seed
        return {name: value for name, value in chosen.items() if value not in (None, [])}

    def survey(self) -> PairingSurvey:
        """Read both sides once, so that an invalid row is found before any call is made."""
        left_out = LeftOut()
        n, digests = 0, (sha256(), sha256())
        for pair in self._filtered(left_out):
            n += 1
            case = f"{pair.repeat} {record_text(pair.case)}"
            for output, digest in zip((pair.a, pair.b), digests, strict=True):
                # Outputs and cases in the order of pairs: a resumed comparison has to be of the
                # same ones.
                digest.update(f"{case}\n{record_text(output)}\n".encode())
        wanted = [n, *(most for most in (self._sample, self._limit) if most is not None)]
        return PairingSurvey(
            min(wanted), left_out, (digests[0].hexdigest(), digests[1].hexdigest())
        )

    def pairs(self) -> Iterator[OutputPair]:
        """The pairs, filtered, drawn and limited."""
        found = self._filtered(LeftOut())
        if self._sample is not None:
            found = iter(draw_sample(found, self._sample, self._seed))
        found = islice(found, self._limit)
        if self._is_shuffled:
            # Sorting is stable: the repeats of a case stay together and in their order.
            found = iter(sorted(found, key=lambda pair: _order_key(self._seed, pair.case.id)))
        return found

    def _filtered(self, left_out: LeftOut) -> Iterator[OutputPair]:
        tags = self._tags
        waiting = _Waiting(self.a.label), _Waiting(self.b.label)
        sides = [
            (one for one in side.read() if not tags or tags & set(one.case.tags))
            for side in (self.a, self.b)
        ]
        # Both sides in step: of files in the same order only a few outputs wait in memory.
        for abreast in zip_longest(*sides):
            for answered, own in zip(abreast, waiting, strict=True):
                if answered is not None:
                    own.add(answered)
            yield from filter(self._is_wanted, _met(waiting, abreast, left_out))
        left_out.n_only_a, left_out.n_only_b = map(len, waiting)
        left_out.only_a, left_out.only_b = (
            tuple(case for case, _ in islice(own, _MOST_NAMED)) for own in waiting
        )


class _Waiting(dict[tuple[str, int], SideOutput]):
    """Outputs of one side whose counterparts have not come yet."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._seen: set[tuple[str, int]] = set()

    def add(self, answered: SideOutput) -> None:
        key = answered.case.id, answered.repeat
        # A second output would be paired with nothing, or silently replace the first.
        if key in self._seen:
            raise DatasetError(
                f"{self._label} has a second output",
                case_id=answered.case.id,
                hint="of a file with several variants name the one that is meant: FILE::VARIANT",
            )
        self._seen.add(key)
        self[key] = answered


def _met(
    waiting: tuple[_Waiting, _Waiting], abreast: Iterable[SideOutput | None], left_out: LeftOut
) -> Iterator[OutputPair]:
    """The pairs that are complete with what came now, in an order that is the same mirrored."""
    keys = {(one.case.id, one.repeat) for one in abreast if one is not None}
    # Sorted, because both sides may complete a pair at once and their order must not decide which
    # comes first.
    for key in sorted(key for key in keys if all(key in own for own in waiting)):
        a, b = (own.pop(key) for own in waiting)
        # The same id with another input is another question; comparing the answers would mean
        # nothing.
        if a.case.input == b.case.input:
            yield OutputPair(a.case, a.output, b.output, a.repeat)
            continue
        left_out.n_other_input += 1
        if len(left_out.other_input) < _MOST_NAMED:
            left_out.other_input += (a.case.id,)


def _order_key(seed: int, case_id: str) -> tuple[str, str]:
    # A hash of the case alone: neither the order of the files nor the other cases change it.
    return text_fingerprint(f"{seed}\n{case_id}"), case_id


_FEWEST = 2


class Match(NamedTuple):
    """Two sides that are to be compared on a case."""

    # A side; in the order of the alphabet the first of both
    a: str
    b: str
    pair: OutputPair


class Contest:
    """All the matches that several sides can have, in an order drawn by the seed.

    Outputs are held in memory: which of them meet next may hang on what came out. The order of
    the cases is drawn, so that a part of the matches is a fair part of the cases; it hangs on
    neither the order of the sides nor that of their files.
    """

    def __init__(
        self,
        sides: Sequence[Side],
        *,
        tags: Collection[str] = (),
        limit: int | None = None,
        sample: int | None = None,
        seed: int = 0,
    ) -> None:
        # Two sides of one name would be fitted as one competitor.
        labels = sorted({side.label for side in sides})
        if len(labels) < max(_FEWEST, len(sides)):
            raise SettingsError(
                f"{len(sides)} sides have {len(labels)} names: {', '.join(labels)}",
                hint="name two different ones or more",
            )
        self._seed = seed
        # By name, so that the order of arguments changes neither matches nor requests.
        ordered = sorted(sides, key=lambda side: side.label)
        answers = {side.label: list(side.read()) for side in ordered}
        cases = self._chosen(answers, frozenset(tags), limit, sample)
        sides = [
            Side(
                side.label,
                partial(iter, [one for one in answers[side.label] if one.case.id in cases]),
                side.names,
            )
            for side in ordered
        ]
        self.labels = tuple(labels)
        """The sides, in the order of the alphabet."""
        self.names = tuple(dict.fromkeys(name for side in ordered for name in side.names))
        """What would give a side away in an output."""
        self.left_out = LeftOut()
        """What could not be paired, of the two sides that miss most."""
        self.matches: dict[tuple[str, str], list[Match]] = {
            (a.label, b.label): self._matches(a, b) for a, b in combinations(sides, 2)
        }
        """The matches of every two sides, in the order they are asked."""

    @property
    def n_matches(self) -> int:
        return sum(map(len, self.matches.values()))

    def in_rounds(self) -> list[Match]:
        """All matches, case by case, so that wherever one stops the sides met equally often."""
        every = [match for matches in self.matches.values() for match in matches]
        # All sides meet on a case before the next one, so that an interrupted round-robin is
        # balanced.
        return sorted(every, key=lambda match: _order_key(self._seed, match.pair.case.id))

    def _chosen(
        self,
        answers: dict[str, list[SideOutput]],
        tags: frozenset[str],
        limit: int | None,
        sample: int | None,
    ) -> set[str]:
        known = {
            one.case.id: None
            for every in answers.values()
            for one in every
            if not tags or tags & set(one.case.tags)
        }
        found = list(known)
        if sample is not None:
            # By hash, not by a generator: a larger sample contains the smaller one, so cached
            # replies serve.
            sampled = set(sorted(found, key=partial(_order_key, self._seed))[:sample])
            found = [case for case in found if case in sampled]
        return set(found[:limit])

    def _matches(self, a: Side, b: Side) -> list[Match]:
        pairing = Pairing(a, b)
        left_out = pairing.survey().left_out
        # Pairs leave out different cases; the largest loss is the one worth a message.
        if _n_left(left_out) > _n_left(self.left_out):
            self.left_out = left_out
        found = [Match(a.label, b.label, pair) for pair in pairing.pairs()]
        return sorted(found, key=lambda match: _order_key(self._seed, match.pair.case.id))


def _n_left(left_out: LeftOut) -> int:
    return left_out.n_only_a + left_out.n_only_b + left_out.n_other_input


class JudgedPair(NamedTuple):
    """A pair and what the judge made of it."""

    pair: OutputPair
    comparison: Comparison


# Compares one pair, given its place among all of them.
PairQuestion: TypeAlias = "Callable[[int, OutputPair], Coroutine[object, object, Comparison]]"

# Chooses among the questions about a pair.
QuestionChoice: TypeAlias = "Callable[[OutputPair, Sequence[JudgeQuestion]], list[JudgeQuestion]]"


def pair_question(judge: PairJudge, rubric: Rubric, names: Iterable[str] = ()) -> PairQuestion:
    """What a judge is to decide about each pair, by one rubric."""
    hidden = tuple(names)

    async def ask(_: int, pair: OutputPair) -> Comparison:
        return await judge.compare(pair.case, pair.a, pair.b, rubric, names=hidden)

    return ask


def chosen_pair_question(
    judge: Judge, rubric: Rubric, names: Iterable[str], choice: QuestionChoice
) -> PairQuestion:
    """The same, with only some of the questions about each pair."""
    comparer, hidden = judge.comparer, tuple(names)

    async def ask(_: int, pair: OutputPair) -> Comparison:
        case, a, b, _repeat = pair
        blind = comparer.blind_pair(a, b, hidden)
        questions = comparer.questions(case, blind, rubric)
        chosen = {id(question) for question in choice(pair, questions)}
        known = {
            (cast("PresentationOrder", question.order), name, question.repeat)
            for question in questions
            if id(question) not in chosen
            for name in question.criteria
        }
        stream = comparer.observe(case, a, b, rubric, names=hidden, known=known)
        async with aclosing(stream) as answers:
            outcomes = [one async for some in answers for one in some]
        return comparer.conclude(case, blind, rubric, outcomes)

    return ask


async def compare_in_order(
    pairs: Iterable[OutputPair],
    ask: PairQuestion,
    *,
    in_flight: int = 64,
    stop: asyncio.Event | None = None,
) -> AsyncGenerator[JudgedPair, None]:
    """Ask about pairs, several at a time, and yield the comparisons in the order of the pairs."""
    # The order matters where somebody stops at what was yielded so far: were quick answers yielded
    # first, what decides could depend on how quickly a judge answers.
    source = enumerate(pairs)
    begun: deque[tuple[OutputPair, asyncio.Task[Comparison]]] = deque()
    try:
        while True:
            while len(begun) < max(1, in_flight) and not (stop is not None and stop.is_set()):
                following = next(source, None)
                # Tasks end in any order, and results are yielded in the order of the pairs.
                if following is None:
                    break
                # Enough in flight, but never all: a comparison can have a million pairs.
                begun.append((following[1], asyncio.create_task(ask(*following))))
            if not begun:
                return
            pair, task = begun[0]
            comparison = (await task).model_copy(update={"repeat": pair.repeat})
            begun.popleft()
            yield JudgedPair(pair, comparison)
    finally:
        for _, task in begun:
            task.cancel()
        await asyncio.gather(*(task for _, task in begun), return_exceptions=True)


# Why no more pairs were asked about, the most important reason first.
LoopEnd = Literal["cost", "model", "interrupted", "decided"]


class ComparisonLoop:
    """Asks about pairs round by round, until none is left or something ends it.

    A comparison of two sides is one round of all pairs; a ranking has as many rounds as its
    selector wants.
    """

    def __init__(self, ask: PairQuestion, *, in_flight: int, ends_at_cost: bool = True) -> None:
        self._ask, self._in_flight, self._ends_at_cost = ask, in_flight, ends_at_cost
        self._stop = asyncio.Event()
        self._reasons: set[LoopEnd] = set()
        self.fatal_error: str | None = None
        """The error after which no model is called any more; None where there was none."""

    @property
    def ended(self) -> LoopEnd | None:
        """Why it ended before its last round; None where it did not."""
        return next((reason for reason in get_args(LoopEnd) if reason in self._reasons), None)

    def end(self, reason: LoopEnd) -> None:
        """Begin no further pair; what is in flight is still awaited and yielded."""
        self._reasons.add(reason)
        self._stop.set()

    def interrupt(self) -> None:
        self.end("interrupted")

    def is_cut_short(self, comparison: Comparison) -> bool:
        """Whether questions about a pair were not asked: the money or the time was over."""
        is_interrupted = "interrupted" in self._reasons and fatal_failure(comparison) is not None
        return is_interrupted or _is_out_of_budget(comparison)

    async def run(
        self, next_round: Callable[[], Iterable[OutputPair] | None]
    ) -> AsyncGenerator[JudgedPair, None]:
        """Yield the comparisons of each round in order; no round ends the loop."""
        while not self._stop.is_set() and (pairs := next_round()) is not None:
            judged = compare_in_order(pairs, self._ask, in_flight=self._in_flight, stop=self._stop)
            async with aclosing(judged) as answers:
                async for one in answers:
                    # The budget is a promise: after the first refused call nothing more is begun.
                    if self._ends_at_cost and _is_out_of_budget(one.comparison):
                        self.end("cost")
                    # Nor after an error that every further call would end in.
                    fatal = fatal_failure(one.comparison)
                    if fatal and not self.is_cut_short(one.comparison):
                        self.fatal_error = self.fatal_error or fatal.message
                        self.end("model")
                    yield one


def fatal_failure(comparison: Comparison) -> PreferenceFailure | None:
    """The failure of a comparison after which every further call would fail, if there is one."""
    fatal = (one for one in comparison.failures if one.kind in FATAL_FAILURE_KINDS)
    return next(fatal, None)


def _is_out_of_budget(comparison: Comparison) -> bool:
    return any(failure.kind == BudgetExceededError.kind for failure in comparison.failures)
