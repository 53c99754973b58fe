"""What the two arguments of `judgekit compare` name: files, variants, templates or stored runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from judgekit.cli.setup import SUITE_FILE, Source, grade_setup, make_judge
from judgekit.cli.unasked import note_unasked
from judgekit.datasets.loading import load_rubric, load_suite
from judgekit.datasets.outputs import iter_answers
from judgekit.datasets.variants import expand_variants
from judgekit.errors import SettingsError, UnknownNameError
from judgekit.evaluation.comparing.pairing import Answered, Pairing, Side
from judgekit.evaluation.preparing.versions import file_mark
from judgekit.evaluation.running.identity import version_in
from judgekit.judge.heuristic import HEURISTIC
from judgekit.judge.opening import own_templates
from judgekit.prompts.templates import is_pair_template
from judgekit.records.compared import ComparedSide

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from judgekit.cli.setup import Options
    from judgekit.datasets.suite import Suite
    from judgekit.datasets.suite_settings import VariantSettings
    from judgekit.judge.judge import Judge
    from judgekit.records.case import Dataset
    from judgekit.records.rubric import Rubric
    from judgekit.records.run import RunInfo
    from judgekit.store.runs import RunStore

Kind = Literal["files", "generated", "runs"]
"""Where the outputs of both sides come from: files; they are made first; stored runs."""

_OF = "::"


@dataclass(frozen=True, slots=True)
class Names:
    """The two arguments, and what is known of the suite they may speak of."""

    a: str
    """The first argument."""

    b: str
    """The second."""

    suite: Suite | None
    """The suite, where there is one."""

    variants: Mapping[str, VariantSettings]
    """Its variants by name."""

    @property
    def both(self) -> tuple[str, str]:
        """Both arguments."""
        return self.a, self.b

    @property
    def kind(self) -> Kind | None:
        """Where the outputs come from; None where one of the names is none of these."""
        kinds = [self._kind_of(name) for name in self.both]
        if None in kinds:
            return "runs" if kinds == [None, None] else None
        return "generated" if "generated" in kinds else "files"

    def _kind_of(self, name: str) -> Kind | None:
        if is_file(name):
            return "generated" if is_template(name) else "files"
        if name not in self.variants:
            return None
        return "files" if self.variants[name].outputs is not None else "generated"


def named_sides(names: tuple[str, str], options: Options) -> Names:
    """Read the suite that the arguments may speak of.

    Args:
        names: The two arguments.
        options: As click hands them over.

    Returns:
        Both, with the suite's variants.

    Raises:
        SettingsError: When both are the same.
        InputError: When the suite is unsound.
    """
    if names[0] == names[1]:
        raise SettingsError(f"both sides are {names[0]}", hint="name two different ones")
    suite = suite_of(options)
    variants = () if suite is None else expand_variants(suite)
    return Names(*names, suite, {variant.id: variant for variant in variants})


def suite_of(options: Options) -> Suite | None:
    """The suite file that is named, or the one that lies here.

    Args:
        options: As click hands them over.

    Returns:
        The suite, where there is one.

    Raises:
        InputError: When it is unsound.
    """
    config = cast("Path | None", options.get("config"))
    if config is None and Path(SUITE_FILE).is_file():
        config = Path(SUITE_FILE)
    return None if config is None else load_suite(config)


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
    """Whether an argument names a file, with or without a variant.

    Args:
        name: The argument.

    Returns:
        Whether there is such a file.
    """
    return Path(split_name(name)[0]).is_file()


def is_template(name: str) -> bool:
    """Whether an argument names a prompt template's file.

    Args:
        name: The argument.

    Returns:
        Whether it ends in `.j2`.
    """
    return split_name(name)[0].endswith(".j2")


def compare_setup(
    names: tuple[str, str], options: Options, store: RunStore | None
) -> tuple[Judge, Rubric, Pairing]:
    """Resolve what is compared, by whom and how, where no output has to be made first.

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
    named = named_sides(names, options)
    check_judge(named.suite, options)
    if named.kind == "files":
        return _of_files(named, options)
    if named.kind == "runs" and store is not None:
        return _of_runs(named, options, store)
    raise unknown_side(named)


def check_judge(suite: Suite | None, options: Options) -> None:
    """Refuse a judge that cannot compare: one that counts assertions, a template for one output.

    The template of a suite's judge may be for one output: it grades with it, and compares with
    the default.

    Args:
        suite: The suite, where there is one.
        options: As click hands them over.

    Raises:
        SettingsError: When it would be asked.
        UnknownNameError: When there is no such template.
    """
    template = cast("str | None", options.get("template"))
    folders = [*cast("Iterable[Path]", options.get("template_folders") or ())]
    folders += [] if suite is None else own_templates(suite)
    if template is not None and not is_pair_template(template, folders):
        raise SettingsError(
            f"the template {template} is for one output, and two are compared",
            hint="name one for two, for example pairwise/criterion, or leave --template out",
        )
    own = [] if suite is None else [judge.model for judge in suite.judge]
    named = options.get("judge_model")
    if named == HEURISTIC or (named is None and own == [HEURISTIC]):
        raise SettingsError(
            "the heuristic judge only counts assertions, and cannot compare",
            hint="name a judge: --judge openai/gpt-4.1-mini; or compare what runs have: --scores",
        )


def blind_arguments(suite: Suite | None, options: Options) -> dict[str, object]:
    """How outputs are shown to the judge: the command line first, then the suite.

    Args:
        suite: The suite, where there is one.
        options: As click hands them over.

    Returns:
        Arguments of `Judge`; those that nobody sets are left out.
    """
    own = {} if suite is None else suite.compare.model_dump(exclude_unset=True)
    settings = {"label_seed" if name == "seed" else name: value for name, value in own.items()}
    given = {name: options.get(name) for name in ("scrub", "draw_labels", "label_seed")}
    return {**settings, **{name: value for name, value in given.items() if value is not None}}


def judge_and_rubric(names: Names, options: Options) -> tuple[Judge, Rubric]:
    """Who compares outputs that are made first, and how.

    Args:
        names: The arguments.
        options: As click hands them over.

    Returns:
        The judge and the rubric.

    Raises:
        SettingsError: When one of them is not named, or a setting contradicts another.
        InputError: When a file is unsound.
    """
    named = cast("str | None", options.get("rubric"))
    source = named or (None if names.suite is None else names.suite.rubric_source)
    if source is None:
        raise SettingsError(
            "no rubric is named",
            hint="give --rubric FILE or a shipped one's name, for example --rubric helpfulness",
        )
    rubric = load_rubric(source)
    return make_judge(options, names.suite, blind_arguments(names.suite, options)), rubric


def pairing_of(sides: tuple[Side, Side], options: Options) -> Pairing:
    """The pairs of two sides that the options choose.

    Args:
        sides: Both sides.
        options: As click hands them over.

    Returns:
        The pairs; nothing was read yet.
    """
    return Pairing(
        *sides,
        tags=cast("Iterable[str]", options.get("filter_tag") or ()),
        limit=cast("int | None", options.get("limit")),
        sample=cast("int | None", options.get("sample")),
        seed=cast("int", options.get("seed") or 0),
    )


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
    version = version_in(run, variant)
    if version is not None and version.model is not None:
        models.append(version.model)

    def read() -> Iterator[Answered]:
        for result in store.results(run.id, variant=variant):
            yield Answered(result.case, result.output, result.repeat)

    about = ComparedSide(label=name, variant=variant, run_id=run.id, version=version)
    return Side(name, read, (variant, *models), about)


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


def unknown_side(names: Names) -> UnknownNameError:
    """The error for a name that is neither a file nor a variant, beside one that is.

    Args:
        names: The arguments.

    Returns:
        An error that names it and what is known.
    """
    known = [name in names.variants or is_file(name) for name in names.both]
    wrong = names.b if known[0] else names.a
    return UnknownNameError("outputs file, template or variant", wrong, list(names.variants))


def _of_files(names: Names, options: Options) -> tuple[Judge, Rubric, Pairing]:
    sources = [_source(name, names) for name in names.both]
    outputs = tuple(source.path for source in sources)
    given = {**options, "outputs": outputs, "variant": None}
    setup = grade_setup(given, blind_arguments(names.suite, options))
    note_unasked(setup)
    # Rows that name no variant are of one that is named after the file.
    a, b = (
        _file_side(name, replace(source, stem=named.stem), setup.cases)
        for name, source, named in zip(names.both, sources, setup.sources, strict=True)
    )
    return setup.judge, setup.rubric, pairing_of((a, b), options)


def _file_side(name: str, source: Source, cases: Dataset | None) -> Side:
    about = ComparedSide(
        label=name,
        variant=source.variant or source.stem or source.path.stem,
        file=str(source.path),
        version=file_mark(source.path),
    )
    own = (source.path.name, source.path.stem, name)
    return Side(name, partial(_read, source, cases), own, about)


def _of_runs(names: Names, options: Options, store: RunStore) -> tuple[Judge, Rubric, Pairing]:
    found = [variant_of(name, store) for name in names.both]
    named = cast("str | None", options.get("rubric"))
    # What a run without a rubric has in its place is a list of its assertions: nothing to compare.
    own = found[0][0].rubric if found[0][0].config.get("rubric") is not None else None
    rubric = own if named is None else load_rubric(named)
    if rubric is None:
        raise SettingsError(
            "no rubric is named, and the run has none of its own", hint="give --rubric FILE"
        )
    a, b = (
        run_side(name, run, variant, store)
        for name, (run, variant) in zip(names.both, found, strict=True)
    )
    judge = make_judge(options, names.suite, blind_arguments(names.suite, options))
    return judge, rubric, pairing_of((a, b), options)


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
