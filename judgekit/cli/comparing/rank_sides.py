"""What the arguments of `judgekit rank` name: sides to be compared, or comparisons made before."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from judgekit.cli.comparing.compare_sides import file_sides, rubric_of_runs, run_side, variant_of
from judgekit.cli.comparing.own_rubrics import check_rubrics, suite_cases
from judgekit.cli.comparing.pair_judges import check_judge, judges_and_rubric, open_judges
from judgekit.cli.comparing.side_names import is_file, named_sides
from judgekit.datasets.rows import suffix_of
from judgekit.errors import DatasetError, SettingsError, UnknownNameError
from judgekit.evaluation.preparing.opening import price_table
from judgekit.evaluation.ranking.contest import Contest
from judgekit.evaluation.ranking.reading import is_comparisons
from judgekit.models.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from judgekit.cli.comparing.side_names import Names
    from judgekit.cli.setup import Options
    from judgekit.evaluation.comparing.pairing import Side
    from judgekit.judge.pair_panel import PairPanel
    from judgekit.records.rubric import Rubric
    from judgekit.store.runs import RunStore

_FEWEST = 2


def given_comparisons(names: Sequence[str]) -> list[Path]:
    """The files of comparisons that all arguments name."""
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


class Ranked(NamedTuple):
    """Who is ranked, by whom and how."""

    panel: PairPanel
    """Who compares."""

    rubric: Rubric
    """How."""

    contest: Contest
    """The matches."""

    run_id: str | None = None
    """The run in which outputs were made for it."""


def rank_setup(names: Sequence[str], options: Options, store: RunStore | None) -> Ranked:
    """Resolve who is ranked, by whom and how, where no output has to be made first."""
    named = named_sides(names, options)
    check_judge(named.suite, options)
    given = {**options, "budget": _budget(named, options)}
    if named.kind == "files":
        panel, rubric, sides = file_sides(named, given)
    else:
        panel, rubric, sides = _of_runs(named, given, store)
    ranked = _ranked(panel, rubric, sides, options)
    with ExitStack() as stack:
        stack.callback(panel.close)
        cases = (match.pair.case for match in ranked.contest.in_rounds())
        check_rubrics(cases, rubric, named.suite, options)
        stack.pop_all()
    return ranked


def rank_generated(
    names: Names, options: Options, opened: Callable[[], RunStore], begun: str | None
) -> Ranked | int:
    """Have the sides answer the cases, and resolve who is ranked, by whom and how."""
    from judgekit.cli.comparing.compare_generated import answering_suite, generate  # noqa: PLC0415 - slow

    check_judge(names.suite, options)
    budget = _budget(names, options)
    answering = answering_suite(names, options)
    with ExitStack() as stack:
        panel, rubric = judges_and_rubric(names, {**options, "budget": budget})  # before any output
        stack.callback(panel.close)
        check_rubrics(suite_cases(answering[0], options), rubric, names.suite, options)
        store = opened()
        made = generate(
            names, answering, options, store, None if begun is None else store.run(begun)
        )
        code = made.code()
        if code is not None:
            return code
        stack.pop_all()
    if budget is not None:
        budget.spend(made.spent_usd)
    return _ranked(panel, rubric, made.sides, options)._replace(run_id=made.run.id)


def _ranked(panel: PairPanel, rubric: Rubric, sides: Sequence[Side], options: Options) -> Ranked:
    try:
        return Ranked(panel, rubric, _contest(sides, options))
    except BaseException:
        panel.close()
        raise


def _budget(names: Names, options: Options) -> Budget | None:
    limit_usd = cast("float | None", options.get("max_cost"))
    if limit_usd is None:
        return None
    return Budget(limit_usd, None if names.suite is None else price_table(names.suite))


def _contest(sides: Sequence[Side], options: Options) -> Contest:
    return Contest(
        sides,
        tags=cast("Collection[str]", options.get("filter_tag") or ()),
        limit=cast("int | None", options.get("limit")),
        sample=cast("int | None", options.get("sample")),
        seed=cast("int", options.get("seed") or 0),
    )


def _of_runs(
    names: Names, options: Options, store: RunStore | None
) -> tuple[PairPanel, Rubric, list[Side]]:
    there = [name for name in names.given if name in names.variants or is_file(name)]
    if store is None:
        strange = next(name for name in names.given if name not in there)
        raise UnknownNameError("outputs file, template or variant", strange, list(names.variants))
    if there:
        other = "files" if is_file(there[0]) else "variants of the suite"
        raise SettingsError(
            f"stored runs and {other} cannot be ranked together", hint="name sides of one kind"
        )
    found = [variant_of(name, store) for name in names.given]
    rubric = rubric_of_runs([run for run, _ in found], options)
    sides = [
        run_side(name, run, variant, store)
        for name, (run, variant) in zip(names.given, found, strict=True)
    ]
    return open_judges(names.suite, options), rubric, sides


def _holds_comparisons(path: Path) -> bool:
    if not (path.is_file() and suffix_of(path)):
        return False
    try:
        return is_comparisons(path)
    except DatasetError:  # it is read again as what it is, and what is wrong is said then
        return False
