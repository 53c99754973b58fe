"""The arguments of `compare` and `rank`: which outputs they name, who compares them.

By which rubric, and what it would cost.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from judgekit.cli.exit_codes import EXIT_LIMIT
from judgekit.cli.options import given_blind_settings
from judgekit.cli.outputs import show_document
from judgekit.cli.setup import (
    SUITE_FILE,
    OutputSource,
    grade_setup,
    make_judge,
    note_missing_inputs,
)
from judgekit.datasets import (
    expand_variants,
    iter_case_outputs,
    iter_cases,
    load_rubric,
    load_suite,
    names_a_file,
)
from judgekit.errors import SettingsError, UnknownNameError
from judgekit.evaluation import (
    Pairing,
    Side,
    SideOutput,
    file_mark,
    plan_comparison,
    variant_version_in,
)
from judgekit.judge import HEURISTIC, Panel, suite_template_folders
from judgekit.prompts import is_pair_template
from judgekit.records import ComparedSide, Rubric
from judgekit.report import judging_plan_document

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from judgekit.cli.setup import Options
    from judgekit.datasets import Suite, VariantSettings
    from judgekit.evaluation import OutputPair
    from judgekit.records import Case, Dataset, RunInfo
    from judgekit.store import RunStore

_SideKind = Literal["files", "generated", "runs"]
"""Where the outputs come from: files; they are made first; stored runs."""

VARIANT_SEPARATOR = "::"
"""What stands between a file or run and its variant."""

_BOTH = 2


@dataclass(frozen=True, slots=True)
class SideArguments:
    """The arguments, and what is known of the suite they may speak of."""

    given: tuple[str, ...]
    """The arguments, two or more."""

    suite: Suite | None
    """The suite, where there is one."""

    variants: Mapping[str, VariantSettings]
    """Its variants by name."""

    @property
    def kind(self) -> _SideKind | None:
        """Where the outputs come from; None where one of the names is none of these."""
        kinds = [self._kind_of(name) for name in self.given]
        if None in kinds:
            return "runs" if set(kinds) == {None} else None
        return "generated" if "generated" in kinds else "files"

    def _kind_of(self, name: str) -> _SideKind | None:
        if is_file_argument(name):
            return "generated" if is_template_argument(name) else "files"
        if name not in self.variants:
            return None
        return "files" if self.variants[name].outputs is not None else "generated"


def parse_sides(names: Sequence[str], options: Options) -> SideArguments:
    """Read the suite that the arguments may speak of."""
    given = tuple(names)
    if twice := next((name for name in given if given.count(name) > 1), None):
        both = f"both sides are {twice}" if len(given) == _BOTH else f"{twice} is named twice"
        raise SettingsError(both, hint="name different sides")
    suite = find_suite(options)
    variants = () if suite is None else expand_variants(suite)
    return SideArguments(given, suite, {variant.id: variant for variant in variants})


def find_suite(options: Options) -> Suite | None:
    """The suite file that is named, or the one that lies here."""
    config = cast("Path | None", options.get("config"))
    if config is None and Path(SUITE_FILE).is_file():
        config = Path(SUITE_FILE)
    return None if config is None else load_suite(config)


def split_name(name: str) -> tuple[str, str | None]:
    """A file or run, and the variant of it that is meant."""
    if Path(name).exists():
        return name, None
    whole, of, variant = name.rpartition(VARIANT_SEPARATOR)
    return (whole, variant) if of and whole and variant else (name, None)


def is_file_argument(name: str) -> bool:
    """Whether an argument names a file, with or without a variant."""
    return Path(split_name(name)[0]).is_file()


def is_template_argument(name: str) -> bool:
    """Whether an argument names a prompt template's file."""
    return split_name(name)[0].endswith(".j2")


def unknown_side_error(names: SideArguments) -> UnknownNameError:
    """The error for a name that is neither a file nor a variant, beside one that is."""
    strange = [
        name for name in names.given if name not in names.variants and not is_file_argument(name)
    ]
    return UnknownNameError("outputs file, template or variant", strange[0], list(names.variants))


def compare_setup(
    names: Sequence[str], options: Options, store: RunStore | None
) -> tuple[Panel, Rubric, Pairing]:
    """Resolve what is compared, by whom and how, where no output has to be made first."""
    named = parse_sides(names, options)
    check_pair_judge(named.suite, options)
    if named.kind == "files":
        panel, rubric, (a, b) = file_sides(named, options)
        return panel, rubric, pairing_of((a, b), options)
    if named.kind == "runs" and store is not None:
        return _of_runs(named, options, store)
    raise unknown_side_error(named)


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
    version = variant_version_in(run, variant)
    if version is not None and version.model is not None:
        models.append(version.model)

    def read() -> Iterator[SideOutput]:
        for result in store.results(run.id, variant=variant):
            yield SideOutput(result.case, result.output, result.repeat)

    about = ComparedSide(label=name, variant=variant, run_id=run.id, version=version)
    return Side(name, read, (variant, *models), about)


def run_and_variant(name: str, store: RunStore) -> tuple[RunInfo, str]:
    """The run and the variant that an argument names."""
    whole, wanted = split_name(name)
    run = store.run(whole)
    known = [one.id for one in run.variants]
    if wanted is not None and wanted not in known:
        raise UnknownNameError("variant of this run", wanted, known)
    if wanted is None and len(known) != 1:
        raise SettingsError(
            f"run {run.id} has the variants {', '.join(known)}",
            hint=f"name the one that is meant: {whole}{VARIANT_SEPARATOR}{known[0] if known else 'VARIANT'}",  # noqa: E501
        )
    return run, wanted or known[0]


def file_sides(names: SideArguments, options: Options) -> tuple[Panel, Rubric, list[Side]]:
    """Sides of outputs that are in files, with who compares them and how."""
    sources = [_source(name, names) for name in names.given]
    outputs = tuple(source.path for source in sources)
    with ExitStack() as opened:
        panel = open_pair_judges(names.suite, options)
        opened.callback(panel.close)
        setup = grade_setup({**options, "outputs": outputs, "variant": None}, panel.judges[0])
        note_missing_inputs(setup)
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


def _file_side(name: str, source: OutputSource, cases: Dataset | None) -> Side:
    about = ComparedSide(
        label=name,
        variant=source.variant or source.stem or source.path.stem,
        file=str(source.path),
        version=file_mark(source.path),
    )
    own = (source.path.name, source.path.stem, name)
    return Side(name, partial(_read, source, cases), own, about)


def _of_runs(
    names: SideArguments, options: Options, store: RunStore
) -> tuple[Panel, Rubric, Pairing]:
    found = [run_and_variant(name, store) for name in names.given]
    rubric = rubric_of_runs([run for run, _ in found], options)
    a, b = (
        run_side(name, run, variant, store)
        for name, (run, variant) in zip(names.given, found, strict=True)
    )
    return open_pair_judges(names.suite, options), rubric, pairing_of((a, b), options)


def _source(name: str, names: SideArguments) -> OutputSource:
    if not is_file_argument(name) and names.suite is not None:
        return OutputSource(names.suite.resolve(cast("str", names.variants[name].outputs)), name)
    path, variant = split_name(name)
    return OutputSource(Path(path), variant)


def _read(source: OutputSource, cases: Dataset | None) -> Iterator[SideOutput]:
    answers = iter_case_outputs(source.path, cases, variant=source.variant, needs_input=False)
    for case, output in answers:
        known = output.variant or source.variant or source.stem
        named = output.model_copy(update={"variant": known}) if output.variant is None else output
        yield SideOutput(case, named)


_FEWEST_JUDGES = 2


def check_pair_judge(suite: Suite | None, options: Options) -> None:
    """Refuse a judge that cannot compare: one that counts assertions, a template for one output."""
    # The template of a suite's judge may be for one output: it grades with it, and compares with
    # the default.
    template = cast("str | None", options.get("template"))
    folders = [*cast("Iterable[Path]", options.get("template_folders") or ())]
    folders += [] if suite is None else suite_template_folders(suite)
    if template is not None and not is_pair_template(template, folders):
        raise SettingsError(
            f"the template {template} is for one output, and two are compared",
            hint="name one for two, for example pairwise/criterion, or leave --template out",
        )
    own = [] if suite is None else [judge.model for judge in suite.judge]
    named = _named(options)
    if HEURISTIC in named or (not named and own == [HEURISTIC]):
        raise SettingsError(
            "the heuristic judge only counts assertions, and cannot compare",
            hint="name a judge: --judge openai/gpt-4.1-mini; or compare what runs have: --scores",
        )
    if suite is not None and not named and _takes_several(options):
        _check_panel(suite)


def open_pair_judges(suite: Suite | None, options: Options) -> Panel:
    """Who compares: the judges that are named, else the suite's."""
    more = blind_arguments(suite, options)
    named = _named(options)
    own = () if suite is None or named or not _takes_several(options) else suite.judge
    if len(named) < _FEWEST_JUDGES and len(own) < _FEWEST_JUDGES:
        only = {**options, "judge_model": named[0] if named else None}
        return Panel([make_judge(only, suite, more)])
    more.setdefault("label_seed", options.get("judge_seed") or 0)
    if named:
        wanted = [(suite, {**options, "judge_model": name}) for name in named]
    else:
        one_each = [suite.model_copy(update={"judge": (one,)}) for one in own if suite is not None]
        wanted = [(alone, {**options, "judge_model": None}) for alone in one_each]
    with ExitStack() as opened:
        judges = [opened.enter_context(make_judge(each, of, more)) for of, each in wanted]
        panel = Panel(judges)
        opened.pop_all()  # the panel closes them
    return panel


def blind_arguments(suite: Suite | None, options: Options) -> dict[str, object]:
    """How outputs are shown to the judge: the command line first, then the suite."""
    own = {} if suite is None else suite.compare.model_dump(exclude_unset=True)
    settings = {"label_seed" if name == "seed" else name: value for name, value in own.items()}
    return {**settings, **given_blind_settings(options)}


def judges_and_rubric(names: SideArguments, options: Options) -> tuple[Panel, Rubric]:
    """Who compares outputs that are made first, and how."""
    named = cast("str | None", options.get("rubric"))
    source = named or (None if names.suite is None else names.suite.rubric_source)
    if source is None:
        raise SettingsError(
            "no rubric is named",
            hint="give --rubric FILE or a shipped one's name, for example --rubric helpfulness",
        )
    rubric = load_rubric(source)
    return open_pair_judges(names.suite, options), rubric


def _takes_several(options: Options) -> bool:
    return isinstance(options.get("judge_model"), tuple)


def _named(options: Options) -> tuple[str, ...]:
    """The judges that are named: one, several, or none."""
    named = cast("str | tuple[str, ...] | None", options.get("judge_model"))
    return named if isinstance(named, tuple) else () if named is None else (named,)


def _check_panel(suite: Suite) -> None:
    """Refuse a suite's panel in which not every judge can have one vote."""
    hint = "name the judges that are to vote: --judge MODEL --judge OTHER"
    if strange := [judge.model for judge in suite.judge if judge.kind != "llm"]:
        raise SettingsError(
            f"the suite's judges include {strange[0]}, and only models compare", hint=hint
        )
    combine = "mean" if suite.panel is None else suite.panel.combine
    if combine in {"weighted", "cascade"}:
        raise SettingsError(
            f"the suite's judges are combined by `{combine}`, and in a comparison each has a vote "
            "that counts alike",
            hint=hint,
        )


def check_one_rubric(
    cases: Iterable[Case], rubric: Rubric, suite: Suite | None, options: Options
) -> None:
    """Refuse cases that have rubrics of their own: one comparison has one rubric."""
    # With `--rubric` all of them are compared by that one, whatever they have of their own.
    if options.get("rubric") is not None:
        return
    same = {None, rubric.name, rubric.fingerprint}
    for case in cases:
        named = case.rubric.fingerprint if isinstance(case.rubric, Rubric) else case.rubric
        if named in same:
            continue
        own = case.rubric if isinstance(case.rubric, Rubric) else _load(cast("str", named), suite)
        if own.fingerprint != rubric.fingerprint:
            raise SettingsError(
                f"case {case.id} has a rubric of its own, {own.name}, and a comparison has one for "
                f"all cases: {rubric.name}",
                hint="name the one that is to hold for all: --rubric FILE|NAME; `judgekit run` "
                "grades each case by its own, and `compare --scores` compares such runs",
            )
        same.add(named)


def suite_cases(suite: Suite, options: Options) -> Iterator[Case]:
    """The cases of a suite, before anything answers them."""
    tags = frozenset(cast("Collection[str]", options.get("filter_tag") or ()))
    path = suite.dataset_path
    cases = suite.cases or () if path is None else iter_cases(path, columns=suite.columns or None)
    yield from (case for case in cases if not tags or tags & set(case.tags))


def _load(named: str, suite: Suite | None) -> Rubric:
    return load_rubric(suite.resolve(named) if suite and names_a_file(named) else named)


def show_pair_plan(
    panel: Panel,
    pairs: Iterable[OutputPair],
    rubric: Rubric,
    names: Iterable[str],
    options: Options,
) -> int:
    """Work out what comparing pairs would ask and cost, and print it; asks nothing."""
    found = plan_comparison(panel, pairs, rubric, names=names, refresh=bool(options.get("refresh")))
    show_document(judging_plan_document(found), options)
    limit = cast("float | None", options.get("max_cost"))
    is_short = limit is not None and found.price_usd is not None and found.price_usd[0] > limit
    return EXIT_LIMIT if is_short else 0
