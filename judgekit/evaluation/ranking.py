"""Ranks several sides: selects the next matches, has a judge compare them, and concludes."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from judgekit.errors import BudgetExceededError
from judgekit.evaluation.comparison_summary import PanelTally
from judgekit.evaluation.pairing import ComparisonLoop, Contest, pair_question
from judgekit.evaluation.ranking_result import RankingProvenance, RankRules, sort_matches
from judgekit.evaluation.ranking_summary import (
    MatchCollection,
    rank_matches,
    read_comparisons,
    with_segments,
)
from judgekit.evaluation.strengths import fit_strengths, significant_order
from judgekit.stats.logistic import expit

if TYPE_CHECKING:
    from judgekit.evaluation.pairing import Match, OutputPair
    from judgekit.evaluation.ranking_result import EndReason, MatchResult, RankingSummary
    from judgekit.judge import Judge, Panel
    from judgekit.records import Case, Comparison, PairChoice, Rubric, Ties


def rank_comparisons(
    comparisons: Iterable[Comparison] | Path | str,
    *,
    top: int = 1,
    ties: Ties = "half",
    alpha: float = 0.05,
) -> RankingSummary:
    """Rank the sides of comparisons that were made before; no judge is called.

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
        DatasetError: When a comparison is invalid or names no variants.
        SettingsError: When there are fewer places than are to be decided.
    """
    if isinstance(comparisons, Path | str):
        collection = read_comparisons([Path(comparisons)])
    else:
        collection = MatchCollection()
        for comparison in comparisons:
            collection.add(comparison)
    rules = RankRules(ties=ties, top=top, alpha=alpha)
    return rank_matches(collection.matches, rules=rules, questioned=collection.provenance())


class Ranker(ComparisonLoop):
    """A ranking while it is made: has a judge compare the matches that a selector wants."""

    def __init__(
        self,
        judge: Judge | Panel,
        contest: Contest,
        rubric: Rubric,
        rules: RankRules,
        *,
        pairs: PairChoice = "round-robin",
        max_comparisons: int | None = None,
        in_flight: int = 32,
    ) -> None:
        rules.check(len(contest.labels))
        super().__init__(pair_question(judge, rubric, contest.names), in_flight=in_flight)
        self._contest, self._rubric, self._rules = contest, rubric, rules
        self._is_adaptive = pairs == "adaptive"
        self._selector = (
            AdaptiveSelector(contest, rules, max_comparisons)
            if self._is_adaptive
            else RoundRobinSelector(contest, max_comparisons)
        )
        n = contest.n_matches
        # Called with each comparison and the outputs it is of, for pages that show them
        self.watch: Callable[[Comparison, OutputPair], None] = lambda _, __: None
        # How many comparisons are made at most
        self.total = n if max_comparisons is None else min(n, max_comparisons)
        self._collection, self._panel = MatchCollection(), PanelTally()
        self._case_numbers: dict[str, int] = {}
        self._cases: dict[str, Case] = {}

    async def ask(self) -> AsyncGenerator[Comparison, None]:
        """Ask about every match that the selector wants; variants are named as the sides are."""
        chosen: Iterator[Match] = iter(())

        def next_round() -> list[OutputPair] | None:
            nonlocal chosen
            matches = self._selector.next_round(self._collection.matches)
            # Comparisons come back in the order of their pairs, so that this walks along with
            # them.
            chosen = iter(matches)
            return [match.pair for match in matches] or None

        async with aclosing(self.run(next_round)) as judged:
            async for pair, found in judged:
                match = next(chosen)
                comparison = found.model_copy(update={"variant_a": match.a, "variant_b": match.b})
                if comparison.error is None and not comparison.is_identical:
                    number = self._case_numbers.setdefault(pair.case.id, len(self._case_numbers))
                    self._panel.add(number, comparison)
                # As if it had not been asked: as undecided it would widen the bounds of its sides.
                if self.is_cut_short(comparison):
                    self._collection.judges.add(comparison)
                    continue
                self._cases[pair.case.id] = pair.case
                self._collection.add(comparison)
                self.watch(comparison, pair)
                yield comparison

    def summary(self) -> RankingSummary:
        judges = self._collection.judges
        by_money = BudgetExceededError.kind
        asked = RankingProvenance(
            rubric=self._rubric.name,
            judges=tuple(judges.judges),
            models=tuple(judges.models),
            is_adaptive=self._is_adaptive,
            ended=self._selector.ended if self.ended in {None, "decided"} else self.ended,
            n_planned=self._contest.n_matches,
            n_errors=judges.n_errors,
            failures={kind: n for kind, n in judges.failures.most_common() if kind != by_money},
            failure_messages={k: m for k, m in judges.messages.items() if k != by_money},
            left_out=self._contest.left_out,
            spent=judges.spent,
            rule=judges.rule or "consistent",
            panel=self._panel.figures(),
        )
        matches, sides = self._collection.matches, self._contest.labels
        summary = rank_matches(matches, sides, rules=self._rules, questioned=asked)
        return with_segments(summary, matches, self._cases)


# Matches an adaptive round has at least; the pairs are chosen after each round.
_ROUND = 8
# Without it the information about sides that have not met is singular.
# What is known of each strength beforehand, in units of one even match.
_FLOOR = 0.25


class RoundRobinSelector:
    """Everybody meets everybody, case by case."""

    def __init__(self, contest: Contest, most: int | None = None) -> None:
        every = contest.in_rounds()
        self._left = every[:most]
        self.ended: EndReason = "comparisons" if len(self._left) < len(every) else "all"

    def next_round(self, met: Sequence[MatchResult]) -> list[Match]:
        del met
        found, self._left = self._left, []
        return found


class AdaptiveSelector:
    """Asks where the order that matters is most uncertain, until the first places are decided.

    First every two sides meet once. Then, of the pairs of a side in one of the first places and
    one below it that is not shown to be weaker, those meet whose difference the next match shows
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

    def next_round(self, met: Sequence[MatchResult]) -> list[Match]:
        # A round has a fixed size: with as many as are in flight, the matches would depend on the
        # machine.
        size = min(max(_ROUND, len(self._contest.matches)), self._most - self._n_asked)
        # Without a match there are no strengths to choose by.
        if not self._n_asked:
            pairs = [pair for pair, matches in self._contest.matches.items() if matches][:size]
        else:
            pairs = self._informative(sort_matches(met), size)
        found = []
        for pair in pairs:
            found.append(self._contest.matches[pair][self._asked[pair]])
            self._asked[pair] += 1
        self._n_asked += len(found)
        return found

    def _informative(self, met: Sequence[MatchResult], size: int) -> list[tuple[str, str]]:
        labels = self._contest.labels
        # Undecided matches tell nothing of strengths; they count only in the bounds.
        known = [m for m in met if m.winner is not None]
        shown = significant_order(known, (), labels, self._rules, is_adaptive=True)
        ratings = _ratings(known, labels)
        order = sorted(labels, key=lambda name: (-ratings[name], name))
        # Pairs already decided bring nothing, however close their strengths are.
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
    # By winners alone: the pull of the first place matters little here, and its fit takes time.
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
    # The Fisher information of the Bradley-Terry model; its inverse is the covariance of strengths.
    information = np.eye(len(place)) * _FLOOR
    for (a, b), n in asked.items():
        x = _contrast(place, a, b)
        information += n * _weight(ratings, a, b) * np.outer(x, x)
    covariance = np.linalg.inv(information)
    chosen: list[tuple[str, str]] = []
    room = dict(left)
    while len(chosen) < size and any(room.values()):
        gains: dict[tuple[str, str], float] = {}
        for pair in sorted(pair for pair, n in room.items() if n):
            x = _contrast(place, *pair)
            gains[pair] = _weight(ratings, *pair) * float(x @ covariance @ x)
        # Rounded, so that two gains that differ by rounding choose alike on every machine.
        best = max(gains, key=lambda pair: round(gains[pair], 9))
        x = covariance @ _contrast(place, *best)
        # Sherman-Morrison: the inverse after one more match, without inverting again.
        covariance -= _weight(ratings, *best) * np.outer(x, x) / (1 + gains[best])
        room[best] -= 1
        chosen.append(best)
    return chosen


def _contrast(place: dict[str, int], a: str, b: str) -> np.ndarray:
    x = np.zeros(len(place))
    x[place[a]], x[place[b]] = 1.0, -1.0
    return x


def _weight(ratings: dict[str, float], a: str, b: str) -> float:
    p = float(expit(np.array(ratings[a] - ratings[b])))
    return p * (1 - p)
