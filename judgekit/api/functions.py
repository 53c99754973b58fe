"""`grade`, `compare` and `rank`: judge data in memory or files, with the engine of `evaluate`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    aclosing,
    asynccontextmanager,
    closing,
    nullcontext,
)
from datetime import UTC, datetime
from functools import partial
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from judgekit import evaluation
from judgekit.api.progress import progress_line
from judgekit.api.results import ComparisonResults, GradingResults
from judgekit.datasets import (
    DEFAULT_CACHE_FOLDER,
    Suite,
    criterion_place,
    has_repeats,
    iter_case_outputs,
    load_dataset,
    load_rubric,
    read_answers,
    repeat_of,
)
from judgekit.errors import InputError, JudgeError, SettingsError
from judgekit.formats import frame_library
from judgekit.judge import Judge, Panel, synchronous
from judgekit.models import Budget
from judgekit.records import OUTPUTS_TAG, CaseResult, ComparedSide, ItemKey, PairChoice, Rubric
from judgekit.store import RunStore, temporary_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from judgekit.datasets import CaseData, CaseOutput
    from judgekit.evaluation import Outcome, RankingSummary
    from judgekit.models.cache import ReplyCache
    from judgekit.models.request import Model
    from judgekit.records import Comparison, ComparisonStatus, RunInfo, Ties

    JudgeSource = Judge | Panel | Model | str
    CacheSource = ReplyCache | Path | str | None


_SAME_CASES = "give both the same `case_id`s and inputs"


async def grade(
    outputs: object,
    *,
    rubric: Rubric | Path | str,
    judge: JudgeSource,
    cases: CaseData | None = None,
    cache: CacheSource = DEFAULT_CACHE_FOLDER,
    frozen: bool = False,
    max_cost_usd: float | None = None,
    store: RunStore | Path | str | None = None,
    progress: bool = True,
) -> GradingResults:
    """Grade many outputs at once, with as many calls in flight as the judge allows.

    Args:
        outputs: What is graded: a file as `judgekit grade` reads it; a list of mappings
            (`{"input": …, "text": …}`), of outputs, or of pairs of a case and its output; a pandas,
            polars or Arrow table, or a Hugging Face dataset, with the columns of such a file.
        rubric: The rubric, its file, or the name of a shipped one.
        judge: The name of a model, a judge, a panel of judges whose scores are averaged, or
            an object with `name` and `complete`.
        cases: The cases that the outputs answer, where these do not describe them: a file, or
            rows, records or a frame, joined by `case_id`.
        cache: Folder or address of the reply cache, a cache, or None for none; for a model's name.
        frozen: Whether a reply that is not cached is a failure; for a model's name.
        max_cost_usd: The money that calls may cost, in US dollars; for a model's name.
        store: Where the run is stored, for `judgekit show` and `trend`. By default nowhere, since
            a notebook's cell is executed many times; cached replies are not paid again.
        progress: Whether progress is shown, in a terminal and in a notebook.

    Returns:
        A verdict for each output, in their order, and the figures of all. What was not judged,
        because the money did not suffice, has a verdict that is open.

    Raises:
        InputError: When a row, a file, a name or a setting is invalid, or an output comes twice.
        JudgeError: When no output was judged, since every call would fail: a key is missing.
        StoreError: When the store or the cache cannot be used.

    Example:
        >>> import judgekit as jk
        >>> async def share_of_good(rows: list[dict[str, str]]) -> float:
        ...     results = await jk.grade(rows, rubric="helpfulness", judge="openai/gpt-4.1-mini")
        ...     return results.pass_rate.value
    """
    answers = _read_data(outputs, cases, OUTPUTS_TAG)
    asked, (recorded, variants) = _rubric_of(rubric), evaluation.record_answers(answers)
    suite = Suite(name=OUTPUTS_TAG, dataset="outputs.jsonl", tags=(OUTPUTS_TAG,))
    judging = _opened_panel(judge, rubric, cache=cache, frozen=frozen, max_cost_usd=max_cost_usd)
    async with judging as panel:
        opened = evaluation.open_recorded(panel, asked, recorded, variants, suite=suite)
        session = evaluation.Session(in_flight=max(4, panel.max_concurrency))
        arrived: list[CaseResult] = []
        with ExitStack() as stack:
            runs = _open_store(store, stack)
            info = evaluation.prepare_run(opened, runs, None, now=session.now())
            advance = stack.enter_context(progress_line(len(answers), "graded", shown=progress))

            def watch(result: CaseResult) -> None:
                arrived.append(result)
                spent = evaluation.judge_usage([*result.judgments, *result.failures])
                advance(spent.cost_usd, len(result.failures))

            session.watch = watch
            ended = await evaluation.run_suite(opened, runs, info, session)
            if session.reason == "model" and not any(one.judgments for one in arrived):
                raise JudgeError(session.detail or "no model could be called")
            keys = _keys(ended, answers)
            results = _whole(ended, zip(keys, answers, strict=True), arrived)
            places = {one.key: place for place, one in enumerate(results)}
            outcomes: list[Outcome] = []
            summary = evaluation.Run(ended, runs).summary(results=results, watch=outcomes.append)
    return GradingResults(
        outcomes,
        places=[places[key] for key in keys],
        summary=summary,
        stopped=session.words(),
        unnamed=recorded.unnamed,
        library=frame_library(outputs),
    )


grade_sync = synchronous(grade)


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
        cache: Folder or address of the reply cache, a cache, or None for none; for a model's name.
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
    pairing, asked = _pairing(a, b, cases), _rubric_of(rubric)
    survey = pairing.survey()
    if not survey.n_pairs:
        raise InputError("no case has an output of both sides", hint=_SAME_CASES)
    judging = _opened_panel(judge, rubric, cache=cache, frozen=frozen, max_cost_usd=max_cost_usd)
    async with judging as panel:
        with ExitStack() as stack:
            place = _open_store(store, stack)
            now, terms = datetime.now(UTC), evaluation.ComparisonTerms(alpha=alpha)
            info = evaluation.new_comparison(pairing, survey, panel, asked, terms=terms, now=now)
            place.begin_comparison(info)
            recorder = evaluation.ComparisonRecorder(place, info, panel)
            comparer = evaluation.SideComparer(pairing, recorder, n_slots=panel.max_concurrency)
            advance = stack.enter_context(progress_line(comparer.total, "compared", shown=progress))
            status: ComparisonStatus = "interrupted"
            try:
                async with aclosing(comparer.ask()) as found:
                    async for one in found:
                        advance(_paid_usd(one), len(one.failures))
                summary = comparer.summary()
                status = comparer.status(summary)
            finally:
                recorder.flush()  # whatever was paid for is stored
                place.end_comparison(info.id, status=status)
            info = place.comparison(info.id)  # as it ended
            pairs = list(evaluation.counted_pairs(place, info))
    library = frame_library(a) or frame_library(b)
    return ComparisonResults(pairs, info=info, summary=summary, library=library)


compare_sync = synchronous(compare)


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
        cache: Folder or address of the reply cache, a cache, or None for none; for a model's name.
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
        _new_side(name, _read_data(data, cases, f"sides[{name!r}]"), name)
        for name, data in every.items()
    ]
    rules = evaluation.RankRules(ties=ties, top=top, alpha=alpha)
    contest = evaluation.Contest(competitors, seed=seed)
    if len(competitors) > 1 and not contest.n_matches:
        raise InputError("no case has an output of two sides", hint=_SAME_CASES)
    if pairs not in (known := get_args(PairChoice)):
        raise SettingsError(f"pairs is {pairs!r}", hint=" or ".join(known))
    asked = _rubric_of(rubric)
    judging = _opened_panel(who, rubric, cache=cache, frozen=frozen, max_cost_usd=max_cost_usd)
    async with judging as panel:
        # A panel of one is asked as that judge, which its records then name.
        only = panel.judges[0] if len(panel.judges) == 1 else panel
        ranker = evaluation.Ranker(
            only, contest, asked, rules, pairs=pairs, max_comparisons=max_comparisons
        )
        with progress_line(ranker.total, "compared", shown=progress) as advance:
            async for one in ranker.ask():
                advance(_paid_usd(one), len(one.failures))
    return ranker.summary()


rank_sync = synchronous(rank)


def _whole(
    run: RunInfo, answers: Iterable[tuple[ItemKey, CaseOutput]], arrived: Sequence[CaseResult]
) -> list[CaseResult]:
    """A result for every output; where the run stopped before it, one without judgments."""
    known = {one.key for one in arrived}
    places: dict[str, int] = {}
    missing = []
    for (case_id, variant, repeat), (case, output) in answers:
        place = places.setdefault(case_id, len(places))
        if (case_id, variant, repeat) not in known:
            about = {"case": case, "variant": variant, "repeat": repeat, "output": output}
            missing.append(CaseResult(run_id=run.id, place=place, **about))
    return evaluation.ordered_results([*arrived, *missing], run)


def _keys(run: RunInfo, answers: Sequence[CaseOutput]) -> list[ItemKey]:
    """The keys of the outputs in a run of them, which has repeats where a case has several."""
    return [
        ItemKey(case.id, output.variant or OUTPUTS_TAG, repeat_of(output) if run.repeats > 1 else 0)
        for case, output in answers
    ]


def _pairing(a: object, b: object, cases: CaseData | None) -> evaluation.Pairing:
    """Both sides; they have names of their own where both know one and these differ."""
    answers = _read_data(a, cases, "a"), _read_data(b, cases, "b")
    names = [_side_name(*side) for side in zip((a, b), answers, strict=True)]
    if None in names or names[0] == names[1]:
        names = [None, None]
    sides = zip("ab", answers, names, strict=True)
    return evaluation.Pairing(*(_new_side(name or own, rows, name) for own, rows, name in sides))


def _side_name(data: object, answers: list[CaseOutput]) -> str | None:
    """What a side calls itself: by its only variant, or the name of its file."""
    variants = {output.variant for _, output in answers}
    (only,) = variants if len(variants) == 1 else (None,)
    return only or (Path(data).stem if isinstance(data, Path | str) else None)


def _new_side(label: str, answers: list[CaseOutput], name: str | None) -> evaluation.Side:
    """A side of outputs; its name is hidden from the judge where an output has it."""
    about = ComparedSide(label=label, variant=name)
    numbered = has_repeats(answers)
    rows = [evaluation.SideOutput(*one, repeat_of(one[1]) if numbered else 0) for one in answers]
    return evaluation.Side(label, partial(iter, rows), (name,) if name else (), about)


def _paid_usd(found: Comparison) -> float:
    """What the replies about a pair cost now."""
    answers = (*found.preferences, *found.failures)
    return fsum(one.cost_usd or 0.0 for one in answers if not one.cached)


def _read_data(data: object, cases: CaseData | None, name: str) -> list[CaseOutput]:
    """Outputs with their cases; those of a file without a variant are named after the file."""
    dataset = None if cases is None else load_dataset(cases, unique=True)
    if isinstance(data, Path | str):
        own, rows = Path(data).stem, iter_case_outputs(data, dataset, needs_input=False)
        return [
            (case, output.model_copy(update={"variant": output.variant or own}))
            for case, output in rows
        ]
    known = None if dataset is None else {case.id: case for case in dataset.cases}
    found = list(read_answers(data, name, known))
    if not found:
        raise InputError(f"{name}: there are no outputs", hint="pass one output or more")
    return found


def _rubric_of(source: Rubric | Path | str) -> Rubric:
    if not isinstance(source, Rubric | Path | str):
        hint = "pass its name, its file, or a jk.Rubric"
        raise InputError(f"the rubric is a {type(source).__name__}: {source!r:.80}", hint=hint)
    return source if isinstance(source, Rubric) else load_rubric(source)


@asynccontextmanager
async def _opened_panel(
    judge: JudgeSource,
    rubric: Rubric | Path | str,
    *,
    cache: CacheSource = DEFAULT_CACHE_FOLDER,
    frozen: bool = False,
    max_cost_usd: float | None = None,
) -> AsyncIterator[Panel]:
    """The judges that are meant; those that are opened here are closed at the end."""
    # An error about a criterion names the line of its file.
    if isinstance(judge, Judge | Panel):
        # A judge has settings of its own; others beside it would be ignored silently.
        if frozen or max_cost_usd is not None or cache != DEFAULT_CACHE_FOLDER:
            raise SettingsError(
                "`cache`, `frozen` and `max_cost_usd` are settings of the judge, and it exists",
                hint="set them there: jk.Judge(model, cache=…, frozen=…, budget=…)",
            )
        # It is the caller's: other calls may be using its connections at this moment.
        opening: AbstractAsyncContextManager[Judge | Panel] = nullcontext(judge)
    else:
        budget = None if max_cost_usd is None else Budget(max_cost_usd)
        opening = Judge(judge, cache=cache, frozen=frozen, budget=budget)
    try:
        async with opening as opened:
            yield Panel.of(opened)
    except InputError as error:
        if not isinstance(rubric, Rubric):
            error.message = criterion_place(rubric, error.message) + error.message
        raise


def _open_store(store: RunStore | Path | str | None, stack: ExitStack) -> RunStore:
    """The store of a run; without one a file that is deleted when the process ends."""
    if isinstance(store, RunStore):
        return store
    if store is not None:
        return stack.enter_context(closing(RunStore(store)))
    return stack.enter_context(temporary_store())
