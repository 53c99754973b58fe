"""Ranks several sides: selects the next matches, has a judge compare them, and concludes.

The entry points are `rank`, `rank_sync` and `rank_comparisons`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import aclosing
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, Self

import numpy as np

from judgekit.evaluation.comparison_summary import ComparisonTally
from judgekit.evaluation.pairing import Contest, Side, SideOutput, compare_pairs
from judgekit.evaluation.ranking_result import (
    MatchResult,
    RankingProvenance,
    RankRules,
    match_result_of,
    sort_matches,
)
from judgekit.evaluation.ranking_summary import ComparisonCollection, rank_matches, read_comparisons
from judgekit.evaluation.strengths import fit_strengths, significant_order
from judgekit.judge import SyncRunner
from judgekit.stats.logistic import expit

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType

    from judgekit.evaluation.pairing import JudgedPair, Match
    from judgekit.evaluation.ranking_result import EndReason, RankingSummary, Ties
    from judgekit.judge import Judge, Panel
    from judgekit.records import Case, Comparison, Output, Rubric

if TYPE_CHECKING:
    Sides = Mapping[str, Sequence[tuple[Case, Output]]]


async def rank(
    judge: Judge | Panel,
    sides: Sides,
    rubric: Rubric,
    *,
    pairs: PairChoice = "round-robin",
    max_comparisons: int | None = None,
    top: int = 1,
    ties: Ties = "half",
    alpha: float = 0.05,
    seed: int = 0,
) -> RankingSummary:
    """Rank several sides: every two are compared blind, in both orders, on the cases both answer.

    Args:
        judge: Who compares, alone or as a panel; with a budget it stops when the money is used up.
        sides: What each side produced, with the cases that it answers, by the side's name.
        rubric: How outputs are compared.
        pairs: `round-robin` compares all; `adaptive` asks where the order is most uncertain, and
            stops when the first places are decided.
        max_comparisons: How many comparisons may be made; None for all.
        top: How many of the first places are to be decided.
        ties: `half` a win for each side, or a modelled chance: `davidson`, `rao-kupper`.
        alpha: The error a decision may have, over all pairs together, in (0, 1).
        seed: Seed of the order in which cases are asked.

    Returns:
        The sides in their places, with the doubt of each.

    Raises:
        SettingsError: When there are fewer than two sides, or fewer places than are to be decided.
        DatasetError: When a side answers a case twice.
        TemplateError: When the template does not fit the rubric.
        StoreError: When the cache cannot keep what was paid for.

    Example:
        >>> async def best(judge, v1, v2, v3, rubric):  # doctest: +SKIP
        ...     found = await jk.rank(judge, {"v1": v1, "v2": v2, "v3": v3}, rubric)
        ...     return found.sides[0].name, found.decision.is_decided
    """
    rules = RankRules(ties=ties, top=top, alpha=alpha)
    read = {name: partial(_read, answers) for name, answers in sides.items()}
    contest = Contest([Side(name, each, (name,)) for name, each in read.items()], seed=seed)
    rules.check(len(contest.labels))
    chooser = make_match_selector(contest, rules, pairs, max_comparisons)
    ranker = Ranker(judge, contest, rubric, chooser=chooser)
    async for _ in ranker.ask():
        pass
    asked = ranker.questioned(is_adaptive=pairs == "adaptive")
    return rank_matches(ranker.meetings, contest.labels, rules=rules, questioned=asked)


def rank_sync(
    judge: Judge | Panel,
    sides: Sides,
    rubric: Rubric,
    *,
    pairs: PairChoice = "round-robin",
    max_comparisons: int | None = None,
    top: int = 1,
    ties: Ties = "half",
    alpha: float = 0.05,
    seed: int = 0,
) -> RankingSummary:
    """`rank`, for callers that are not asynchronous; works inside a running loop too.

    Args:
        judge: Who compares.
        sides: What each side produced, with the cases that it answers, by the side's name.
        rubric: How outputs are compared.
        pairs: `round-robin` or `adaptive`.
        max_comparisons: How many comparisons may be made; None for all.
        top: How many of the first places are to be decided.
        ties: `half`, `davidson` or `rao-kupper`.
        alpha: The error a decision may have, in (0, 1).
        seed: Seed of the order in which cases are asked.

    Returns:
        The sides in their places, with the doubt of each.

    Raises:
        SettingsError: When there are fewer than two sides, or fewer places than are to be decided.
        DatasetError: When a side answers a case twice.
        TemplateError: When the template does not fit the rubric.
        StoreError: When the cache cannot keep what was paid for.
    """
    portal = SyncRunner()
    try:
        return portal.run(
            rank(
                judge, sides, rubric, pairs=pairs, max_comparisons=max_comparisons, top=top,
                ties=ties, alpha=alpha, seed=seed,
            )
        )  # fmt: skip
    finally:
        portal.close()


def rank_comparisons(
    comparisons: Iterable[Comparison] | Path | str,
    *,
    top: int = 1,
    ties: Ties = "half",
    alpha: float = 0.05,
) -> RankingSummary:
    """Rank the sides of comparisons that were made before; no judge is asked.

    Args:
        comparisons: Comparisons that name their variants; or a file of them, as `judgekit compare
            -o` writes it or with rows of `variant_a`, `variant_b`, `winner` and `case_id`.
        top: How many of the first places are to be decided.
        ties: `half` a win for each side, or a modelled chance: `davidson`, `rao-kupper`.
        alpha: The error a decision may have, over all pairs together, in (0, 1).

    Returns:
        The sides in their places; neither the order of the comparisons nor which side is called
        a changes anything.

    Raises:
        DatasetError: When a comparison is unsound or names no variants.
        SettingsError: When there are fewer places than are to be decided.
    """
    if isinstance(comparisons, Path | str):
        pile = read_comparisons([Path(comparisons)])
    else:
        pile = ComparisonCollection()
        for found in comparisons:
            pile.take(found)
    rules = RankRules(ties=ties, top=top, alpha=alpha)
    return rank_matches(pile.meetings, rules=rules, questioned=pile.questioned())


def make_match_selector(
    contest: Contest, rules: RankRules, pairs: PairChoice, max_comparisons: int | None
) -> MatchSelector:
    """What chooses who meets next."""
    if pairs == "adaptive":
        return AdaptiveSelector(contest, rules, max_comparisons)
    return RoundRobinSelector(contest, max_comparisons)


def _read(answers: Sequence[tuple[Case, Output]]) -> Iterator[SideOutput]:
    for case, output in answers:
        yield SideOutput(case, output)


_NO_MONEY = "budget"


class JudgedMatch(NamedTuple):
    """A match and what the judge made of it."""

    match: Match
    """Who met."""

    comparison: Comparison
    """What both orders come to; its variants are called what the sides are."""


class Ranker:
    """Asks a judge, and keeps what came out."""

    def __init__(
        self,
        judge: Judge | Panel,
        contest: Contest,
        rubric: Rubric,
        *,
        chooser: MatchSelector,
        in_flight: int = 32,
    ) -> None:
        self._judge, self._contest, self._rubric = judge, contest, rubric
        self._chooser, self._in_flight = chooser, in_flight
        self._tally = ComparisonTally(rubric, ("first", "second"))
        self._ended: EndReason | None = None
        self.meetings: list[MatchResult] = []
        """What came out so far."""

    async def __aenter__(self) -> Self:
        """Open the judge's connections."""
        await self._judge.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close them."""
        await self._judge.__aexit__(kind, error, trace)

    async def ask(self, stop: asyncio.Event | None = None) -> AsyncGenerator[JudgedMatch, None]:
        """Ask all that the chooser wants."""
        # A match the money did not suffice for is left out, and none is asked after it.
        halt = stop or asyncio.Event()
        out_of_money = asyncio.Event()
        while not halt.is_set() and (chosen := self._chooser.next_round(self.meetings)):
            pairs = compare_pairs(
                self._judge,
                (match.pair for match in chosen),
                self._rubric,
                names=self._contest.names,
                in_flight=self._in_flight,
                stop=halt,
            )
            async with aclosing(pairs) as answered:
                place = 0
                async for compared in answered:
                    match, place = chosen[place], place + 1
                    self._tally.take(compared)
                    if any(each.kind == _NO_MONEY for each in compared.comparison.failures):
                        out_of_money.set()
                        halt.set()
                        continue
                    yield JudgedMatch(match, self._taken(match, compared))
        if out_of_money.is_set():
            self._ended = "cost"
        elif halt.is_set():
            self._ended = "interrupted"

    def questioned(self, *, is_adaptive: bool) -> RankingProvenance:
        """Who was asked, what that took and why it ended."""
        found = self._tally.summary()
        return RankingProvenance(
            rubric=found.rubric,
            judges=found.judges,
            models=found.models,
            is_adaptive=is_adaptive,
            ended=self._ended or self._chooser.ended,
            n_planned=self._contest.n_matches,
            n_errors=found.n_errors,
            failures={kind: n for kind, n in found.failures.items() if kind != _NO_MONEY},
            failure_messages={k: m for k, m in found.failure_messages.items() if k != _NO_MONEY},
            left_out=self._contest.left_out,
            spent=found.spent,
            rule=found.rule,
            panel=found.panel,
        )

    def _taken(self, match: Match, compared: JudgedPair) -> Comparison:
        meeting = match_result_of(
            compared.comparison, match.a, match.b, case_id=compared.pair.case.id
        )
        if meeting is not None:
            self.meetings.append(meeting)
        return compared.comparison.model_copy(update={"variant_a": match.a, "variant_b": match.b})


PairChoice = Literal["round-robin", "adaptive"]
"""How pairs are chosen."""

_ROUND = 8
"""Matches an adaptive round has at least; the choice is made anew after each round."""

_FLOOR = 0.25
"""What is known of each strength beforehand, in units of one even match."""


class MatchSelector(Protocol):
    """Chooses who meets next."""

    @property
    def ended(self) -> EndReason:
        """Why there is no further round."""
        ...

    def next_round(self, met: Sequence[MatchResult]) -> list[Match]:
        """The matches to ask next; none at the end."""
        ...


class RoundRobinSelector:
    """Everybody meets everybody, case by case."""

    def __init__(self, contest: Contest, most: int | None = None) -> None:
        every = contest.in_rounds()
        self._left = every[:most]
        self._is_cut = len(self._left) < len(every)

    @property
    def ended(self) -> EndReason:
        """Why there is no further round."""
        return "comparisons" if self._is_cut else "all"

    def next_round(self, met: Sequence[MatchResult]) -> list[Match]:
        """All at once."""
        del met
        found, self._left = self._left, []
        return found


class AdaptiveSelector:
    """Asks where the order that matters is most uncertain, until the first places are decided.

    First every two sides meet once. Then, of the pairs of a side in one of the first places and
    one below it that is not shown to be weaker, those meet whose difference the next match tells
    most about: the largest p (1 - p) times the variance of the difference (the gain in the
    determinant of the information), counting in the matches of the same round. A round does not
    hang on how many calls are in flight, so the matches are the same on any machine.
    """

    def __init__(self, contest: Contest, rules: RankRules, most: int | None = None) -> None:
        self._contest, self._rules = contest, rules
        self._most = contest.n_matches if most is None else most
        self._asked: Counter[tuple[str, str]] = Counter()
        self._n_asked = 0
        self.ended: EndReason = "all"
        """Why there is no further round."""

    def next_round(self, met: Sequence[MatchResult]) -> list[Match]:
        """The next matches, given all that came out."""
        size = min(max(_ROUND, len(self._contest.matches)), self._most - self._n_asked)
        if not self._n_asked:
            pairs = list(self._open())[:size]
        else:
            pairs = self._informative(sort_matches(met), size)
        found = []
        for pair in pairs:
            found.append(self._contest.matches[pair][self._asked[pair]])
            self._asked[pair] += 1
        self._n_asked += len(found)
        return found

    def _open(self) -> list[tuple[str, str]]:
        """Pairs that have matches left."""
        return [
            pair
            for pair, matches in self._contest.matches.items()
            if self._asked[pair] < len(matches)
        ]

    def _informative(self, met: Sequence[MatchResult], size: int) -> list[tuple[str, str]]:
        labels = self._contest.labels
        known = [m for m in met if m.winner is not None]
        shown = significant_order(known, (), labels, self._rules, is_adaptive=True)
        ratings = _ratings(known, labels)
        order = sorted(labels, key=lambda name: (-ratings[name], name))
        wanted = {
            (min(up, down), max(up, down))
            for place, up in enumerate(order[: self._rules.top])
            for down in order[place + 1 :]
            if not shown.better(up, down)
        }
        if not wanted:
            self.ended = "decided"
            return []
        if size <= 0:
            self.ended = "comparisons" if self._n_asked < self._contest.n_matches else "all"
            return []
        left = {pair: len(self._contest.matches[pair]) - self._asked[pair] for pair in wanted}
        if not any(left.values()):
            self.ended = "cases"
            return []
        return _greedy(ratings, self._asked, left, size)


def _ratings(known: Sequence[MatchResult], labels: Sequence[str]) -> dict[str, float]:
    """Log-strengths of all sides; half a win and half a loss against the mean hold them finite."""
    if not known:
        return dict.fromkeys(labels, 0.0)
    winners = [m._replace(choices=(), is_identical=False) for m in known]
    found = fit_strengths(winners, labels, ties="half", level=0.95)
    ratings = zip(labels, found.fitted.ratings, strict=True)
    return {name: 0.0 if isnan(rating) else rating for name, rating in ratings}


def _greedy(
    ratings: dict[str, float],
    asked: Counter[tuple[str, str]],
    left: dict[tuple[str, str], int],
    size: int,
) -> list[tuple[str, str]]:
    """The pairs of a round, each chosen as if the ones before it had been asked."""
    place = {name: k for k, name in enumerate(ratings)}
    information = np.eye(len(place)) * _FLOOR
    for (a, b), n in asked.items():
        x = _contrast(place, a, b)
        information += n * _weight(ratings, a, b) * np.outer(x, x)
    covariance = np.linalg.inv(information)
    chosen: list[tuple[str, str]] = []
    room = dict(left)
    while len(chosen) < size and any(room.values()):
        gains = {
            pair: _weight(ratings, *pair) * _variance(covariance, _contrast(place, *pair))
            for pair in sorted(room)
            if room[pair]
        }
        best = max(gains, key=lambda pair: round(gains[pair], 9))
        x = covariance @ _contrast(place, *best)
        covariance -= _weight(ratings, *best) * np.outer(x, x) / (1 + gains[best])
        room[best] -= 1
        chosen.append(best)
    return chosen


def _contrast(place: dict[str, int], a: str, b: str) -> np.ndarray:
    x = np.zeros(len(place))
    x[place[a]], x[place[b]] = 1.0, -1.0
    return x


def _variance(covariance: np.ndarray, x: np.ndarray) -> float:
    return float(x @ covariance @ x)


def _weight(ratings: dict[str, float], a: str, b: str) -> float:
    p = float(expit(np.array(ratings[a] - ratings[b])))
    return p * (1 - p)
