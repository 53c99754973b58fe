"""What `judgekit calibrate` holds labels against: a run, a file, or a judge that is asked now."""

from __future__ import annotations

import asyncio
import random
from contextlib import aclosing, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from judgekit.cli import console as streams
from judgekit.cli.comparing.compare_sides import compare_setup
from judgekit.cli.display import progress
from judgekit.cli.interrupts import Interrupts
from judgekit.cli.main import EXIT_FROZEN, EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_LIMIT
from judgekit.cli.running.grade import grade_all
from judgekit.cli.setup import drawn, grade_setup, make_judge
from judgekit.datasets.loading import load_dataset, load_rubric
from judgekit.errors import SettingsError
from judgekit.evaluation.calibrating.files import from_file
from judgekit.evaluation.calibrating.recorded import read_recorded, recorded_in, whole_rubric
from judgekit.evaluation.calibrating.sources import from_graded, from_run, from_said
from judgekit.evaluation.comparing.asking import compare_pairs
from judgekit.evaluation.preparing.asked import asked_by
from judgekit.evaluation.run import Run
from judgekit.models.budget import Budget
from judgekit.models.recorded import PREFIX as RECORDED
from judgekit.store.runs import RunStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judgekit.cli.setup import Options
    from judgekit.evaluation.calibrating.material import Grades, Pairs
    from judgekit.evaluation.calibrating.recorded import Recorded
    from judgekit.evaluation.comparing.asking import Compared
    from judgekit.evaluation.comparing.pairing import Pairing
    from judgekit.judge.pair_panel import PairPanel
    from judgekit.records.case import Case
    from judgekit.records.rubric import Rubric


@dataclass(frozen=True, slots=True)
class Judged:
    """What judges said, and how asking them ended."""

    found: Grades | Pairs
    """Scores, or choices between two."""

    code: int = 0
    """The exit code that asking calls for; 0 where all went well, or nothing was asked."""

    note: str | None = None
    """What to say of it."""


def judged(options: Options, *, run: str | None, store: str) -> Judged:
    """What labels are held against, by what was named: else the latest run."""
    named = {
        "--run": run,
        "--results": options.get("results"),
        "--outputs": options.get("outputs"),
        "--compare": options.get("sides"),
    }
    given = [name for name, value in named.items() if value]
    if len(given) > 1:
        raise SettingsError(f"{' and '.join(given)} are two sources: name one")
    if given == ["--results"]:
        return _of_file(cast("Path", options["results"]), options)
    if given == ["--outputs"]:
        return _of_outputs(options)
    if given == ["--compare"]:
        return _of_sides(cast("tuple[str, str]", options["sides"]), options, store)
    if model := cast("str | None", options.get("judge_model")):
        if not model.startswith(RECORDED):
            raise SettingsError(
                "a judge is named, and nothing for it to judge",
                hint="give the labelled outputs: --outputs FILE (or --compare A B)",
            )
        return _of_replies(model, options)
    with closing(RunStore(store, create=False)) as kept:
        return Judged(from_run(Run(kept.run(run or "latest"), kept)))


def _of_file(path: Path, options: Options) -> Judged:
    rubric = cast("str | None", options.get("rubric"))
    cases = cast("Path | None", options.get("cases"))
    by_id = {} if cases is None else {case.id: case for case in load_dataset(cases).cases}
    loaded = None if rubric is None else load_rubric(rubric)
    found = from_file(path, rubric=loaded, cases=by_id)
    found.origin["file"] = str(path)
    return Judged(found)


def _of_replies(model: str, options: Options) -> Judged:
    """Recorded replies by themselves; what is asked, and how often, follows from them."""
    recorded = recorded_in(model)
    named = cast("str | None", options.get("rubric"))
    if named is None and not recorded.compares:
        raise SettingsError(
            "no rubric is named, so that the scale of the recorded scores is not known",
            hint="give --rubric FILE",
        )
    cases = cast("Path | None", options.get("cases"))
    by_id = {} if cases is None else {case.id: case for case in load_dataset(cases).cases}
    rubric = whole_rubric() if named is None else load_rubric(named)
    own = {"repeats": recorded.repeats, "max_reasks": recorded.reasks}
    judge = make_judge(options, None, own)
    try:
        chosen = _chosen(recorded, by_id, options)
        found = asyncio.run(read_recorded(judge, chosen, rubric, by_id))
    finally:
        judge.close()
    found.origin["file"] = str(recorded.path)
    return Judged(found)


def _chosen(recorded: Recorded, cases: Mapping[str, Case], options: Options) -> Recorded:
    """The replies about the outputs that are wanted, chosen as they would be from a file."""
    tags = frozenset(cast("Iterable[str]", options.get("filter_tag") or ()))
    if tags and not cases:
        raise SettingsError(
            "--filter-tag goes by the tags of cases, and recorded replies have none",
            hint="give the file of the cases: --cases FILE",
        )
    outputs = [
        one
        for one in recorded.by_output()
        if not tags or (one[0] in cases and tags & set(cases[one[0]].tags))
    ]
    if not outputs:
        raise SettingsError(
            f"no recorded reply is about a case with the tag {' or '.join(sorted(tags))}",
            hint="look at `tags` in the file of cases, or leave --filter-tag out",
        )
    if (size := cast("int | None", options.get("sample"))) is not None:
        outputs = list(drawn(outputs, size, random.Random(cast("int", options.get("seed") or 0))))
    return recorded.only(set(outputs[: cast("int | None", options.get("limit"))]))


def _of_outputs(options: Options) -> Judged:
    budget = _budget(options)
    setup = grade_setup({**options, "budget": budget})
    try:
        graded, interrupted = asyncio.run(grade_all(setup, options))
    finally:
        setup.judge.close()
    graded.sort(key=lambda item: item.index)
    kinds = {failure.kind for one in graded for failure in one.verdict.failures}
    code, note = _ended(kinds, budget, interrupted=interrupted)
    return Judged(from_graded(graded, setup.rubric, asked_by(setup.judge)), code, note)


def _of_sides(sides: tuple[str, str], options: Options, store: str) -> Judged:
    budget = _budget(options)
    is_there = "://" in store or Path(store).is_file()
    kept = RunStore(store, create=False) if is_there else None
    try:
        panel, rubric, pairing = compare_setup(sides, {**options, "budget": budget}, kept)
        try:
            found, interrupted = asyncio.run(_compare_all(panel, rubric, pairing, options))
        finally:
            panel.close()
    finally:
        if kept is not None:
            kept.close()
    if not found:
        raise SettingsError(
            "no case is answered by both sides",
            hint="both need the same case_id, and the same input for it; see --filter-tag too",
        )
    kinds = {failure.kind for one in found for failure in one.comparison.failures}
    code, note = _ended(kinds, budget, interrupted=interrupted)
    cases = {one.pair.case.id: one.pair.case for one in found}
    return Judged(from_said([one.comparison for one in found], cases=cases), code, note)


async def _compare_all(
    judge: PairPanel, rubric: Rubric, pairing: Pairing, options: Options
) -> tuple[list[Compared], bool]:
    """All comparisons that could be had, and whether the user broke it off."""
    stop = asyncio.Event()
    shown = not (options.get("quiet") or options.get("no_progress") or options.get("as_json"))
    total, _ = pairing.count()
    found: list[Compared] = []
    verb = ("comparing", "compared")
    with (
        progress(streams.stderr(), total, shown=shown, verb=verb) as display,
        Interrupts(stop.set),
    ):
        slots = max(4, judge.max_concurrency)
        async with judge:
            pairs = compare_pairs(
                judge, pairing.pairs(), rubric, names=pairing.names, in_flight=slots, stop=stop
            )
            async with aclosing(pairs) as told:
                async for one in told:
                    found.append(one)
                    said = [*one.comparison.preferences, *one.comparison.failures]
                    paid = sum(each.cost_usd or 0.0 for each in said if not each.cached)
                    display.advance([], target_usd=paid)
    return found, stop.is_set()


def _budget(options: Options) -> Budget | None:
    limit = cast("float | None", options.get("max_cost"))
    return None if limit is None else Budget(limit)


def _ended(
    kinds: Iterable[str], budget: Budget | None, *, interrupted: bool
) -> tuple[int, str | None]:
    """The exit code and the note that asking a judge ends with."""
    again = "run the same command again to go on: nothing that was answered is asked twice"
    if interrupted:
        return EXIT_INTERRUPTED, f"interrupted, so that figures are of a part; {again}"
    found = set(kinds)
    if "frozen_miss" in found:
        return EXIT_FROZEN, "the frozen cache does not hold every reply: figures are of a part"
    if budget is not None and budget.is_exhausted:
        return EXIT_LIMIT, f"--max-cost is reached, so that figures are of a part; {again}"
    return (EXIT_INCOMPLETE, None) if found else (0, None)
