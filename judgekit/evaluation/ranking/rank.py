"""The doors to ranking for Python: ask a judge, or rank comparisons that were made before."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.evaluation.comparing.pairing import Answered, Side
from judgekit.evaluation.ranking.asking import Ranker
from judgekit.evaluation.ranking.choosing import Adaptive, RoundRobin
from judgekit.evaluation.ranking.contest import Contest
from judgekit.evaluation.ranking.figures import RankRules
from judgekit.evaluation.ranking.reading import ComparisonPile, read_comparisons
from judgekit.evaluation.ranking.summary import rank_meetings
from judgekit.judge.portal import Portal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from judgekit.evaluation.ranking.choosing import Chooser, PairChoice
    from judgekit.evaluation.ranking.figures import RankingSummary, Ties
    from judgekit.judge.judge import Judge
    from judgekit.judge.pair_panel import PairPanel
    from judgekit.records.case import Case
    from judgekit.records.comparison import Comparison
    from judgekit.records.output import Output
    from judgekit.records.rubric import Rubric

    Sides = Mapping[str, Sequence[tuple[Case, Output]]]


async def rank(
    judge: Judge | PairPanel,
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
    chooser = make_chooser(contest, rules, pairs, max_comparisons)
    ranker = Ranker(judge, contest, rubric, chooser=chooser)
    async for _ in ranker.ask():
        pass
    asked = ranker.questioned(is_adaptive=pairs == "adaptive")
    return rank_meetings(ranker.meetings, contest.labels, rules=rules, questioned=asked)


def rank_sync(
    judge: Judge | PairPanel,
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
    portal = Portal()
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
        pile = ComparisonPile()
        for found in comparisons:
            pile.take(found)
    rules = RankRules(ties=ties, top=top, alpha=alpha)
    return rank_meetings(pile.meetings, rules=rules, questioned=pile.questioned())


def make_chooser(
    contest: Contest, rules: RankRules, pairs: PairChoice, max_comparisons: int | None
) -> Chooser:
    """What chooses who meets next."""
    if pairs == "adaptive":
        return Adaptive(contest, rules, max_comparisons)
    return RoundRobin(contest, max_comparisons)


def _read(answers: Sequence[tuple[Case, Output]]) -> Iterator[Answered]:
    for case, output in answers:
        yield Answered(case, output)
