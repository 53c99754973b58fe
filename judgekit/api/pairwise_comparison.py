"""Compares two sets of outputs in memory or in files, blind and in both orders."""

from __future__ import annotations

from contextlib import ExitStack, aclosing
from datetime import UTC, datetime
from functools import partial
from itertools import starmap
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.api.inputs import open_store, opened_panel, read_data, rubric_of
from judgekit.api.progress import progress_line
from judgekit.api.results import ComparisonResults
from judgekit.datasets import DEFAULT_CACHE_FOLDER
from judgekit.errors import InputError
from judgekit.evaluation import (
    ComparisonRecorder,
    ComparisonTerms,
    Pairing,
    Side,
    SideComparer,
    SideOutput,
    counted_pairs,
    new_comparison,
)
from judgekit.formats import frame_library
from judgekit.judge import synchronous
from judgekit.records import ComparedSide

if TYPE_CHECKING:
    from judgekit.api.inputs import CacheSource, JudgeSource
    from judgekit.datasets import CaseData, CaseOutput
    from judgekit.records import Comparison, ComparisonStatus, Rubric
    from judgekit.store import RunStore


async def compare(
    a: object,
    b: object,
    *,
    rubric: Rubric | Path | str,
    judge: JudgeSource,
    cases: CaseData | None = None,
    cache: CacheSource = DEFAULT_CACHE_FOLDER,
    frozen: bool = False,
    max_cost_usd: float | None = None,
    alpha: float = 0.05,
    store: RunStore | Path | str | None = None,
    progress: bool = True,
) -> ComparisonResults:
    """Compare two sets of outputs: each pair blind, in both orders.

    Args:
        a: The outputs of the first side, as for `grade`. Rows are paired by `case_id`; where no
            row of either side has an id, by their places.
        b: The outputs of the second side.
        rubric: The rubric, its file, or the name of a shipped one.
        judge: The name of a model, a judge, a panel of judges that vote, or an object with `name`
            and `complete`.
        cases: The cases that the outputs answer, where these do not describe them.
        cache: Folder of the reply cache, a cache, or None for none; for a model's name.
        frozen: Whether a reply that is not cached is a failure; for a model's name.
        max_cost_usd: The money that calls may cost, in US dollars; for a model's name.
        alpha: The error a decision may have, in (0, 1).
        store: Where the comparison is stored, for `judgekit show`. By default nowhere.
        progress: Whether progress is shown, in a terminal and in a notebook.

    Returns:
        The comparisons, the share of wins with its interval, and the decision. A side is named
        after its file or its only variant, else `a` and `b`.

    Raises:
        InputError: When a row, a file, a name or a setting is invalid, or no case is in both.
        StoreError: When the store or the cache cannot be used.

    Example:
        >>> import judgekit as jk
        >>> async def better(old: list[dict[str, str]], new: list[dict[str, str]]) -> str | None:
        ...     judge = jk.Judge("openai/gpt-4.1-mini")
        ...     return (await jk.compare(old, new, rubric="helpfulness", judge=judge)).winner
    """
    answers = read_data(a, cases, "a"), read_data(b, cases, "b")
    names = [side_name(*side) for side in zip((a, b), answers, strict=True)]
    if None in names or names[0] == names[1]:
        names = [None, None]
    sides = [
        new_side(one or own, rows, one) for own, rows, one in zip("ab", answers, names, strict=True)
    ]
    pairing, asked = Pairing(*sides), rubric_of(rubric)
    survey = pairing.survey()
    if not survey.n_pairs:
        raise InputError(
            "no case has an output of both sides", hint="give both the same `case_id`s and inputs"
        )
    judging = opened_panel(judge, cache=cache, frozen=frozen, max_cost_usd=max_cost_usd)
    async with judging as panel:
        with ExitStack() as stack:
            place = open_store(store, stack)
            now, terms = datetime.now(UTC), ComparisonTerms(alpha=alpha)
            info = new_comparison(pairing, survey, panel, asked, terms=terms, now=now)
            place.begin_comparison(info)
            recorder = ComparisonRecorder(place, info, panel)
            comparer = SideComparer(pairing, recorder, n_slots=panel.max_concurrency)
            advance = stack.enter_context(progress_line(comparer.total, "compared", shown=progress))
            status: ComparisonStatus = "interrupted"
            try:
                async with aclosing(comparer.ask()) as found:
                    async for one in found:
                        advance(paid_usd(one), len(one.failures))
                summary = comparer.summary()
                status = comparer.status(summary)
            finally:
                recorder.flush()  # whatever was paid for is stored
                place.end_comparison(info.id, status=status)
            pairs = list(counted_pairs(place, info))
    library = frame_library(a) or frame_library(b)
    return ComparisonResults(pairs, info=info, summary=summary, library=library)


compare_sync = synchronous(compare)


def side_name(data: object, answers: list[CaseOutput]) -> str | None:
    """What a side calls itself: by its only variant, or the name of its file."""
    variants = {output.variant for _, output in answers}
    (only,) = variants if len(variants) == 1 else (None,)
    return only or (Path(data).stem if isinstance(data, Path | str) else None)


def new_side(label: str, answers: list[CaseOutput], name: str | None) -> Side:
    """A side of outputs; its name is hidden from the judge where an output has it."""
    about = ComparedSide(label=label, variant=name)
    return Side(label, partial(starmap, SideOutput, answers), (name,) if name else (), about)


def paid_usd(found: Comparison) -> float:
    """What the replies about a pair cost now."""
    answers = (*found.preferences, *found.failures)
    return fsum(one.cost_usd or 0.0 for one in answers if not one.cached)
