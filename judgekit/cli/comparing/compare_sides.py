"""The outputs that arguments of `judgekit compare` and `rank` name, with who compares them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from judgekit.cli.comparing.pair_judges import check_judge, open_judges
from judgekit.cli.comparing.side_names import OF, is_file, named_sides, split_name, unknown_side
from judgekit.cli.running.unasked import note_unasked
from judgekit.cli.setup import grade_setup
from judgekit.cli.sources import Source
from judgekit.datasets.loading import load_rubric
from judgekit.datasets.outputs import iter_answers
from judgekit.errors import SettingsError, UnknownNameError
from judgekit.evaluation.comparing.pairing import Answered, Pairing, Side
from judgekit.evaluation.preparing.versions import file_mark
from judgekit.evaluation.running.identity import version_in
from judgekit.records.compared import ComparedSide

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from judgekit.cli.comparing.side_names import Names
    from judgekit.cli.setup import Options
    from judgekit.judge.pair_panel import PairPanel
    from judgekit.records.case import Dataset
    from judgekit.records.rubric import Rubric
    from judgekit.records.run import RunInfo
    from judgekit.store.runs import RunStore


def compare_setup(
    names: Sequence[str], options: Options, store: RunStore | None
) -> tuple[PairPanel, Rubric, Pairing]:
    """Resolve what is compared, by whom and how, where no output has to be made first."""
    named = named_sides(names, options)
    check_judge(named.suite, options)
    if named.kind == "files":
        panel, rubric, (a, b) = file_sides(named, options)
        return panel, rubric, pairing_of((a, b), options)
    if named.kind == "runs" and store is not None:
        return _of_runs(named, options, store)
    raise unknown_side(named)


def pairing_of(sides: tuple[Side, Side], options: Options) -> Pairing:
    """The pairs of two sides that the options choose."""
    return Pairing(
        *sides,
        tags=cast("Iterable[str]", options.get("filter_tag") or ()),
        limit=cast("int | None", options.get("limit")),
        sample=cast("int | None", options.get("sample")),
        seed=cast("int", options.get("seed") or 0),
    )


def run_side(name: str, run: RunInfo, variant: str, store: RunStore) -> Side:
    """The outputs of a variant in a stored run, as they were."""
    models = [
        name for one in run.variants if one.id == variant for name in one.model_by_node.values()
    ]
    version = version_in(run, variant)
    if version is not None and version.model is not None:
        models.append(version.model)

    def read() -> Iterator[Answered]:
        for result in store.results(run.id, variant=variant):
            yield Answered(result.case, result.output, result.repeat)

    about = ComparedSide(label=name, variant=variant, run_id=run.id, version=version)
    return Side(name, read, (variant, *models), about)


def variant_of(name: str, store: RunStore) -> tuple[RunInfo, str]:
    """The run and the variant that an argument names."""
    whole, wanted = split_name(name)
    run = store.run(whole)
    known = [one.id for one in run.variants]
    if wanted is not None and wanted not in known:
        raise UnknownNameError("variant of this run", wanted, known)
    if wanted is None and len(known) != 1:
        raise SettingsError(
            f"run {run.id} has the variants {', '.join(known)}",
            hint=f"name the one that is meant: {whole}{OF}{known[0] if known else 'VARIANT'}",
        )
    return run, wanted or known[0]


def file_sides(names: Names, options: Options) -> tuple[PairPanel, Rubric, list[Side]]:
    """Sides of outputs that are in files, with who compares them and how."""
    sources = [_source(name, names) for name in names.given]
    outputs = tuple(source.path for source in sources)
    with ExitStack() as opened:
        panel = open_judges(names.suite, options)
        opened.callback(panel.close)
        setup = grade_setup({**options, "outputs": outputs, "variant": None}, panel.judges[0])
        note_unasked(setup)
        # Rows that name no variant are of one that is named after the file.
        sides = [
            _file_side(name, replace(source, stem=named.stem), setup.cases)
            for name, source, named in zip(names.given, sources, setup.sources, strict=True)
        ]
        opened.pop_all()
    return panel, setup.rubric, sides


def rubric_of_runs(runs: Sequence[RunInfo], options: Options) -> Rubric:
    """What the outputs of stored runs are compared by: what is named, else the runs' own rubric."""
    if (named := cast("str | None", options.get("rubric"))) is not None:
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


def _file_side(name: str, source: Source, cases: Dataset | None) -> Side:
    about = ComparedSide(
        label=name,
        variant=source.variant or source.stem or source.path.stem,
        file=str(source.path),
        version=file_mark(source.path),
    )
    own = (source.path.name, source.path.stem, name)
    return Side(name, partial(_read, source, cases), own, about)


def _of_runs(names: Names, options: Options, store: RunStore) -> tuple[PairPanel, Rubric, Pairing]:
    found = [variant_of(name, store) for name in names.given]
    rubric = rubric_of_runs([run for run, _ in found], options)
    a, b = (
        run_side(name, run, variant, store)
        for name, (run, variant) in zip(names.given, found, strict=True)
    )
    return open_judges(names.suite, options), rubric, pairing_of((a, b), options)


def _source(name: str, names: Names) -> Source:
    if not is_file(name) and names.suite is not None:
        return Source(names.suite.resolve(cast("str", names.variants[name].outputs)), name)
    path, variant = split_name(name)
    return Source(Path(path), variant)


def _read(source: Source, cases: Dataset | None) -> Iterator[Answered]:
    answers = iter_answers(source.path, cases, variant=source.variant, needs_input=False)
    for case, output in answers:
        known = output.variant or source.variant or source.stem
        named = output.model_copy(update={"variant": known}) if output.variant is None else output
        yield Answered(case, named)
