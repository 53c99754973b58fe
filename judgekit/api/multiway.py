"""Ranks three or more sets of outputs in memory or in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judgekit.api.inputs import opened_panel, read_data, rubric_of
from judgekit.api.pairwise_comparison import new_side, paid_usd
from judgekit.api.progress import progress_line
from judgekit.datasets import DEFAULT_CACHE_FOLDER
from judgekit.errors import SettingsError
from judgekit.evaluation import Contest, PairChoice, Ranker, RankRules
from judgekit.judge import synchronous

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.api.inputs import CacheSource, JudgeSource
    from judgekit.datasets import CaseData
    from judgekit.evaluation import RankingSummary, Ties
    from judgekit.records import Rubric


async def rank(
    judge_or_sides: JudgeSource | Mapping[str, Any] | None = None,
    sides: Mapping[str, Any] | None = None,
    rubric: Rubric | Path | str | None = None,
    *,
    judge: JudgeSource | None = None,
    cases: CaseData | None = None,
    cache: CacheSource = DEFAULT_CACHE_FOLDER,
    frozen: bool = False,
    max_cost_usd: float | None = None,
    pairs: PairChoice = "round-robin",
    max_comparisons: int | None = None,
    top: int = 1,
    ties: Ties = "half",
    alpha: float = 0.05,
    seed: int = 0,
    progress: bool = True,
) -> RankingSummary:
    """Rank several sides: every two are compared blind, in both orders, on the cases both answer.

    Called as `rank({"v1": data, "v2": data}, rubric=…, judge=…)`, or as
    `rank(judge, sides, rubric)`.

    Args:
        judge_or_sides: The sides; or who compares, with the sides after it.
        sides: What each side produced, by the side's name: data as for `grade`, such as a file, a
            list of rows, of pairs of a case and its output, or a frame.
        rubric: How outputs are compared: a rubric, its file, or the name of a shipped one.
        judge: The name of a model, a judge, a panel, or an object with `name` and `complete`; with
            a budget it stops when that is spent.
        cases: The cases that the outputs answer, where these do not describe them.
        cache: Folder of the reply cache, a cache, or None for none; for a model's name.
        frozen: Whether a reply that is not cached is a failure; for a model's name.
        max_cost_usd: The money that calls may cost, in US dollars; for a model's name.
        pairs: `round-robin` compares all; `adaptive` asks where the order is most uncertain, and
            stops when the first places are decided.
        max_comparisons: How many comparisons may be made; None for all.
        top: How many of the first places are to be decided.
        ties: `half` a win for each side, or a modelled chance: `davidson`, `rao-kupper`.
        alpha: The error a decision may have, over all pairs together, in (0, 1).
        seed: Seed of the order in which cases are asked.
        progress: Whether progress is shown, in a terminal and in a notebook.

    Returns:
        The sides in order, with a confidence interval for each rank.

    Raises:
        SettingsError: When there are fewer than two sides, or fewer places than are to be decided;
            or sides, rubric or judge are missing.
        InputError: When a row, a file or a name is invalid, or a side answers a case twice.
        TemplateError: When the template does not fit the rubric.
        StoreError: When the cache cannot keep what was paid for.

    Example:
        >>> async def best(v1, v2, v3, rubric, judge):  # doctest: +SKIP
        ...     sides = {"v1": v1, "v2": v2, "v3": v3}
        ...     found = await jk.rank(sides, rubric=rubric, judge=judge)
        ...     return found.sides[0].name, found.decision.is_decided
    """
    if isinstance(judge_or_sides, Mapping):
        every, who = judge_or_sides if sides is None else None, judge
    else:
        every, who = sides, judge_or_sides if judge is None else judge
    if every is None or rubric is None or who is None:
        raise SettingsError(
            "a ranking needs sides, a rubric and a judge",
            hint='write rank({"v1": outputs, "v2": outputs}, rubric=…, judge=…)',
        )
    competitors = [
        new_side(name, read_data(data, cases, f"sides[{name!r}]"), name)
        for name, data in every.items()
    ]
    rules, contest = RankRules(ties=ties, top=top, alpha=alpha), Contest(competitors, seed=seed)
    asked = rubric_of(rubric)
    judging = opened_panel(who, cache=cache, frozen=frozen, max_cost_usd=max_cost_usd)
    async with judging as panel:
        # A panel of one is asked as that judge, which its records then name.
        only = panel.judges[0] if len(panel.judges) == 1 else panel
        ranker = Ranker(only, contest, asked, rules, pairs=pairs, max_comparisons=max_comparisons)
        with progress_line(ranker.total, "compared", shown=progress) as advance:
            async for one in ranker.ask():
                advance(paid_usd(one), len(one.failures))
    return ranker.summary()


rank_sync = synchronous(rank)
