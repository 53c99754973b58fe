"""What the arguments of `judgekit rank` name: sides to be compared, or comparisons made before."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from judgekit.cli.compare_sides import (
    blind_arguments,
    check_judge,
    is_file,
    run_side,
    split_name,
    suite_of,
    variant_of,
)
from judgekit.cli.setup import Source, grade_setup, make_judge
from judgekit.cli.unasked import note_unasked
from judgekit.datasets.loading import load_rubric
from judgekit.datasets.outputs import iter_answers
from judgekit.datasets.rows import suffix_of
from judgekit.errors import DatasetError, SettingsError, UnknownNameError
from judgekit.evaluation.comparing.pairing import Answered, Side
from judgekit.evaluation.preparing.opening import price_table
from judgekit.evaluation.ranking.contest import Contest
from judgekit.evaluation.ranking.reading import is_comparisons
from judgekit.models.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from judgekit.cli.setup import Options
    from judgekit.datasets.suite import Suite
    from judgekit.judge.judge import Judge
    from judgekit.records.case import Dataset
    from judgekit.records.rubric import Rubric
    from judgekit.records.run import RunInfo
    from judgekit.store.runs import RunStore

_FEWEST = 2


def given_comparisons(names: Sequence[str]) -> list[Path]:
    """The files of comparisons that all arguments name.

    Args:
        names: The arguments.

    Returns:
        The files; empty where they name sides.

    Raises:
        SettingsError: When some name comparisons and others do not, or there is one side only.
    """
    found = [Path(name) for name in names if _holds_comparisons(Path(name))]
    if found and len(found) < len(names):
        raise SettingsError(
            f"{found[0]} holds comparisons, and other arguments do not",
            hint="rank files of comparisons, or sides to compare",
        )
    if not found and len(names) < _FEWEST:
        alone = f"there is nobody to rank {names[0]} against"
        missing = f"{names[0]} is no file of comparisons, and nobody else is named"
        raise SettingsError(
            alone if is_file(names[0]) else missing,
            hint="name two sides or more (FILE, FILE::VARIANT, a suite's variant, RUN::VARIANT), "
            "or a file of comparisons",
        )
    return found


def rank_setup(
    names: Sequence[str], options: Options, store: RunStore | None
) -> tuple[Judge, Rubric, Contest]:
    """Resolve who is ranked, by whom and how.

    Args:
        names: The arguments, two or more.
        options: As click hands them over.
        store: Where runs are kept; None where there is no store.

    Returns:
        The judge, the rubric and the matches; nothing has been asked yet.

    Raises:
        SettingsError: When something needed is missing or contradictory; says how to give it.
        UnknownNameError: When an argument names nothing.
        InputError: When a file is unsound.
    """
    for name in names:
        if list(names).count(name) > 1:
            raise SettingsError(f"{name} is named twice", hint="name different sides")
    suite = suite_of(options)
    check_judge(suite, options)
    limit_usd = cast("float | None", options.get("max_cost"))
    prices = None if suite is None else price_table(suite)
    given = {**options, "budget": None if limit_usd is None else Budget(limit_usd, prices)}
    recorded = {} if suite is None else _recorded(suite)
    if all(is_file(name) or name in recorded for name in names):
        judge, rubric, sides = _of_files(names, suite, recorded, given)
    else:
        judge, rubric, sides = _of_runs(names, suite, recorded, given, store)
    try:
        return judge, rubric, _contest(sides, options)
    except BaseException:
        judge.close()
        raise


def _contest(sides: Sequence[Side], options: Options) -> Contest:
    return Contest(
        sides,
        tags=cast("Collection[str]", options.get("filter_tag") or ()),
        limit=cast("int | None", options.get("limit")),
        sample=cast("int | None", options.get("sample")),
        seed=cast("int", options.get("seed") or 0),
    )


def _of_files(
    names: Sequence[str], suite: Suite | None, recorded: Mapping[str, Path], options: Options
) -> tuple[Judge, Rubric, list[Side]]:
    """Files of outputs, and variants of the suite that are recorded in files."""
    sources = [_source(name, recorded) for name in names]
    given = {**options, "outputs": tuple(source.path for source in sources), "variant": None}
    setup = grade_setup(given, blind_arguments(suite, options))
    note_unasked(setup)
    sides = [
        Side(
            name,
            # Rows that name no variant are of one that is named after the file.
            partial(_read, replace(source, stem=named.stem), setup.cases),
            (source.path.name, source.path.stem, name),
        )
        for name, source, named in zip(names, sources, setup.sources, strict=True)
    ]
    return setup.judge, setup.rubric, sides


def _of_runs(
    names: Sequence[str],
    suite: Suite | None,
    recorded: Mapping[str, Path],
    options: Options,
    store: RunStore | None,
) -> tuple[Judge, Rubric, list[Side]]:
    for name in names:
        others = [variant.id for variant in suite.variants] if suite is not None else []
        if name in others and name not in recorded:
            raise SettingsError(
                f"the outputs of variant {name} are not recorded",
                hint="run the suite first, then rank what it kept: judgekit rank latest::V1 …",
            )
        if store is None and not (is_file(name) or name in recorded):
            raise UnknownNameError("outputs file or recorded variant", name, list(recorded))
    if store is None or any(is_file(name) for name in names):
        raise SettingsError(
            "stored runs and files cannot be ranked together", hint="name sides of one kind"
        )
    found = [variant_of(name, store) for name in names]
    rubric = _rubric_of([run for run, _ in found], cast("str | None", options.get("rubric")))
    sides = [
        run_side(name, run, variant, store)
        for name, (run, variant) in zip(names, found, strict=True)
    ]
    return make_judge(options, suite, blind_arguments(suite, options)), rubric, sides


def _rubric_of(runs: Sequence[RunInfo], named: str | None) -> Rubric:
    if named is not None:
        return load_rubric(named)
    # What a run without a rubric has in its place is a list of its assertions: nothing to compare.
    own = [run.rubric for run in runs if run.config.get("rubric") is not None]
    found = {rubric.fingerprint: rubric for rubric in own if rubric is not None}
    if len(own) < len(runs) or not found:
        raise SettingsError(
            "no rubric is named, and a run has none of its own", hint="give --rubric FILE"
        )
    if len(found) > 1:
        raise SettingsError(
            "the runs were judged by different rubrics", hint="name one: --rubric FILE"
        )
    return next(iter(found.values()))


def _source(name: str, recorded: Mapping[str, Path]) -> Source:
    if name in recorded and not is_file(name):
        return Source(recorded[name], name)
    path, variant = split_name(name)
    return Source(Path(path), variant)


def _read(source: Source, cases: Dataset | None) -> Iterator[Answered]:
    answers = iter_answers(source.path, cases, variant=source.variant, needs_input=False)
    for case, output in answers:
        known = output.variant or source.variant or source.stem
        yield Answered(case, output.model_copy(update={"variant": known}))


def _recorded(suite: Suite) -> dict[str, Path]:
    """The suite's variants whose outputs are in files."""
    return {
        variant.id: suite.resolve(variant.outputs)
        for variant in suite.variants
        if variant.outputs is not None
    }


def _holds_comparisons(path: Path) -> bool:
    if not (path.is_file() and suffix_of(path)):
        return False
    try:
        return is_comparisons(path)
    except DatasetError:  # it is read again as what it is, and what is wrong is said then
        return False
