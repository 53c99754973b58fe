"""What the two arguments of `judgekit compare` name: outputs files, a suite's variants or runs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from judgekit.cli.setup import SUITE_FILE, Source, grade_setup, make_judge
from judgekit.datasets.loading import load_rubric, load_suite
from judgekit.datasets.outputs import iter_answers
from judgekit.errors import SettingsError, UnknownNameError
from judgekit.evaluation.comparing.pairing import Answered, Pairing, Side
from judgekit.judge.heuristic import HEURISTIC

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from judgekit.cli.setup import Options
    from judgekit.datasets.suite import Suite
    from judgekit.judge.judge import Judge
    from judgekit.records.case import Dataset
    from judgekit.records.rubric import Rubric
    from judgekit.records.run import RunInfo
    from judgekit.store.runs import RunStore

_OF = "::"


def split_name(name: str) -> tuple[str, str | None]:
    """A file or run, and the variant of it that is meant.

    Args:
        name: `FILE`, `RUN`, or either with `::VARIANT`.

    Returns:
        Both parts; None where no variant is named.
    """
    if Path(name).exists():
        return name, None
    whole, of, variant = name.rpartition(_OF)
    return (whole, variant) if of and whole and variant else (name, None)


def is_file(name: str) -> bool:
    """Whether an argument names a file of outputs, with or without a variant.

    Args:
        name: The argument.

    Returns:
        Whether there is such a file.
    """
    return Path(split_name(name)[0]).is_file()


def compare_setup(
    names: tuple[str, str], options: Options, store: RunStore | None
) -> tuple[Judge, Rubric, Pairing]:
    """Resolve what is compared, by whom and how.

    Args:
        names: The two arguments.
        options: As click hands them over.
        store: Where runs are kept; None where there is no store.

    Returns:
        The judge, the rubric and the pairs; nothing has been asked yet.

    Raises:
        SettingsError: When something needed is missing or contradictory; says how to give it.
        UnknownNameError: When an argument names nothing.
        InputError: When a file is unsound.
    """
    if names[0] == names[1]:
        raise SettingsError(f"both sides are {names[0]}", hint="name two different ones")
    suite = _suite(options)
    recorded = {} if suite is None else _recorded(suite)
    _check_judge(suite, options)
    if all(map(is_file, names)) or all(name in recorded for name in names):
        return _of_files(names, recorded, options)
    for name in names:
        if is_file(name) or name in recorded or store is None:
            other = names[1] if name == names[0] else names[0]
            wrong = other if is_file(name) or name in recorded else name
            raise UnknownNameError("outputs file or recorded variant", wrong, list(recorded))
    return _of_runs(names, options, cast("RunStore", store))


def run_side(name: str, run: RunInfo, variant: str, store: RunStore) -> Side:
    """The outputs of a variant in a stored run, as they were.

    Args:
        name: What the side is called.
        run: The run.
        variant: The variant.
        store: Where the run is kept.

    Returns:
        The side.
    """
    models = [
        name for one in run.variants if one.id == variant for name in one.model_by_node.values()
    ]

    def read() -> Iterator[Answered]:
        for result in store.results(run.id, variant=variant):
            yield Answered(result.case, result.output, result.repeat)

    return Side(name, read, (variant, *models))


def variant_of(name: str, store: RunStore) -> tuple[RunInfo, str]:
    """The run and the variant that an argument names.

    Args:
        name: `RUN` or `RUN::VARIANT`; a run's id, the beginning of one, `latest`.
        store: Where runs are kept.

    Returns:
        The run, and the variant: the only one where none is named.

    Raises:
        UnknownNameError: When there is no such run or variant.
        SettingsError: When the run has several variants and none is named.
    """
    whole, wanted = split_name(name)
    run = store.run(whole)
    known = [one.id for one in run.variants]
    if wanted is not None and wanted not in known:
        raise UnknownNameError("variant of this run", wanted, known)
    if wanted is None and len(known) != 1:
        raise SettingsError(
            f"run {run.id} has the variants {', '.join(known)}",
            hint=f"name the one that is meant: {whole}{_OF}{known[0] if known else 'VARIANT'}",
        )
    return run, wanted or known[0]


def _of_files(
    names: tuple[str, str], recorded: dict[str, Path], options: Options
) -> tuple[Judge, Rubric, Pairing]:
    sources = []
    for name in names:
        path, variant = split_name(name)
        if name in recorded and not is_file(name):
            sources.append(Source(recorded[name], name))
        else:
            sources.append(Source(Path(path), variant))
    outputs = tuple(source.path for source in sources)
    setup = grade_setup({**options, "outputs": outputs, "variant": None})
    # Rows that name no variant are of one that is named after the file.
    sources = [
        replace(source, stem=named.stem)
        for source, named in zip(sources, setup.sources, strict=True)
    ]
    sides = [
        Side(name, partial(_read, source, setup.cases), (source.path.name, source.path.stem, name))
        for name, source in zip(names, sources, strict=True)
    ]
    return setup.judge, setup.rubric, _pairing(sides, options)


def _read(source: Source, cases: Dataset | None) -> Iterator[Answered]:
    for case, output in iter_answers(source.path, cases, variant=source.variant):
        known = output.variant or source.variant or source.stem
        named = output.model_copy(update={"variant": known}) if output.variant is None else output
        yield Answered(case, named)


def _of_runs(
    names: tuple[str, str], options: Options, store: RunStore
) -> tuple[Judge, Rubric, Pairing]:
    found = [variant_of(name, store) for name in names]
    named = cast("str | None", options.get("rubric"))
    # What a run without a rubric has in its place is a list of its assertions: nothing to compare.
    own = found[0][0].rubric if found[0][0].config.get("rubric") is not None else None
    rubric = own if named is None else load_rubric(named)
    if rubric is None:
        raise SettingsError(
            "no rubric is named, and the run has none of its own", hint="give --rubric FILE"
        )
    sides = [
        run_side(name, run, variant, store)
        for name, (run, variant) in zip(names, found, strict=True)
    ]
    return make_judge(options, _suite(options)), rubric, _pairing(sides, options)


def _pairing(sides: list[Side], options: Options) -> Pairing:
    return Pairing(
        *sides,
        tags=cast("Iterable[str]", options.get("filter_tag") or ()),
        limit=cast("int | None", options.get("limit")),
        sample=cast("int | None", options.get("sample")),
        seed=cast("int", options.get("seed") or 0),
    )


def _check_judge(suite: Suite | None, options: Options) -> None:
    """The judge that counts assertions has no opinion on which of two outputs is better."""
    own = [] if suite is None else [judge.model for judge in suite.judge]
    named = options.get("judge_model")
    if named == HEURISTIC or (named is None and own == [HEURISTIC]):
        raise SettingsError(
            "the heuristic judge only counts assertions, and cannot compare",
            hint="name a judge: --judge openai/gpt-4.1-mini; or compare what runs have: --scores",
        )


def _suite(options: Options) -> Suite | None:
    config = cast("Path | None", options.get("config"))
    if config is None and Path(SUITE_FILE).is_file():
        config = Path(SUITE_FILE)
    return None if config is None else load_suite(config)


def _recorded(suite: Suite) -> dict[str, Path]:
    """The suite's variants whose outputs are in files."""
    return {
        variant.id: suite.resolve(variant.outputs)
        for variant in suite.variants
        if variant.outputs is not None
    }
