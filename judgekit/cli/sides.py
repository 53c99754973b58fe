"""The arguments of `compare` and `rank`: which outputs they name, who compares them, and how.

Missing outputs are produced here too, before anything is compared.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, aclosing, closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from judgekit import (
    datasets,
    evaluation,
    judge as judge_calls,
    models as judge_models,
    prompts,
    records,
    report,
    store as stores,
)
from judgekit.cli import console
from judgekit.cli.exit_codes import STOP_CODES, Exit
from judgekit.cli.judge_options import (
    ComparingOptions,
    ContestOptions,
    StudyOptions,
    resume_command,
)
from judgekit.cli.options import typed_options
from judgekit.cli.outputs import show_plan
from judgekit.cli.progress import run_async, run_until_stopped
from judgekit.cli.run import prepared_run, run_with_progress
from judgekit.cli.setup import (
    MISSING_INPUT_REMEDY,
    OutputSource,
    configured_suite,
    existing_store,
    grade_inputs,
    grade_rubric,
    make_judge,
    stop_words,
)
from judgekit.cli.suite_setup import RunSetup, execution_options, selected_cases
from judgekit.errors import SettingsError, UnknownNameError

if TYPE_CHECKING:
    from judgekit.evaluation import Choice, OutputPair, SuitePlan
    from judgekit.records import Case, Dataset, RunInfo

_SideKind = Literal["files", "generated", "runs"]
"""Where the outputs come from: files; they are produced first; stored runs."""

# `compare` has two sides, `rank` any number.
_PAIR = 2


@dataclass(frozen=True, slots=True)
class OpenSides:
    """Sides with outputs, who compares them and by which rubric."""

    panel: judge_calls.Panel
    rubric: records.Rubric
    sides: tuple[evaluation.Side, ...]
    run_id: str | None = None
    """The run in which their outputs were produced first, if they were."""

    answers: SuitePlan | None = None
    """The plan of their outputs, where they are only assumed."""


class SideArguments:
    """The arguments, what they may refer to, and what is opened for them; the stack closes it."""

    def __init__(
        self,
        names: Sequence[str],
        options: ContestOptions | StudyOptions,
        stack: ExitStack,
        *,
        store: str,
    ) -> None:
        self.names = tuple(names)
        if repeated := next((name for name in self.names if self.names.count(name) > 1), None):
            what = f"both sides are {repeated}"
            if len(self.names) > _PAIR:
                what = f"{repeated} is named twice"
            raise SettingsError(what, hint="name different sides")
        self.options = options
        self.suite = configured_suite(options.config)
        variants = () if self.suite is None else datasets.expand_variants(self.suite)
        self.variants = {variant.id: variant for variant in variants}
        # One limit for outputs and judges together, with the suite's prices.
        prices = None if self.suite is None else evaluation.price_table(self.suite)
        self.budget = (
            None if options.max_cost is None else judge_models.Budget(options.max_cost, prices)
        )
        own = options.judge_model
        self._judges = own if isinstance(own, tuple) else () if own is None else (own,)
        self._stack = stack
        self._location = store

    @cached_property
    def kind(self) -> _SideKind | None:
        """Where the outputs come from; None if a name is not known."""
        # Names of runs are only known to the store, so they are what is left.
        is_known = [name in self.variants or is_file_argument(name) for name in self.names]
        if not all(is_known):
            return None if any(is_known) else "runs"
        is_recorded = [
            not is_template_argument(name)
            if is_file_argument(name)
            else self.variants[name].outputs is not None
            for name in self.names
        ]
        return "files" if all(is_recorded) else "generated"

    @cached_property
    def found_store(self) -> stores.RunStore | None:
        return existing_store(self._location, self._stack)

    @cached_property
    def store(self) -> stores.RunStore:
        """The store, created where there is none: only when there is something to store."""
        return self.found_store or self._stack.enter_context(
            closing(stores.RunStore(self._location))
        )

    def open_existing(self) -> OpenSides:
        self._check_judges()
        if self.kind == "files":
            return self._open_files()
        if self.kind != "runs" or self.found_store is None:
            # A name that is neither a file nor a variant, beside one that is.
            known = self.variants
            unknown = (n for n in self.names if n not in known and not is_file_argument(n))
            if (name := next(unknown, None)) is not None:
                raise UnknownNameError("outputs file, template or variant", name, list(known))
            raise SettingsError(
                "the outputs of these sides do not exist yet",
                hint="produce them: judgekit run or judgekit compare; then name the run",
            )
        if "cases" in typed_options():
            what = "--cases is for files of outputs: stored runs have their own cases"
            raise SettingsError(what, hint="omit it")
        store = self.found_store
        chosen = [evaluation.run_and_variant(name, store) for name in self.names]
        rubric = _rubric_of_runs(chosen, store, self.options.rubric)
        panel = self._open_judges()
        sides = [
            _run_side(name, run, variant, store)
            for name, (run, variant) in zip(self.names, chosen, strict=True)
        ]
        return OpenSides(panel, rubric, tuple(sides))

    def _open_files(self) -> OpenSides:
        options, suite, sources = self.options, self.suite, []
        for name in self.names:
            outputs = self.variants[name].outputs if name in self.variants else None
            if not is_file_argument(name) and suite is not None and outputs is not None:
                sources.append(OutputSource(suite.resolve(outputs), name))
            else:
                path, variant = split_name(name)
                sources.append(OutputSource(Path(path), variant))
        panel, named_rubric = self._open_judges(), self._named_rubric()
        paths = tuple(source.path for source in sources)
        inputs = grade_inputs(options.model_copy(update={"outputs": paths}), suite)
        cases = inputs.cases
        if cases is not None and named_rubric is None:
            cases = cases.model_copy(update={"cases": tuple(map(self._with_rubric, cases.cases))})
            named_rubric = judge_calls.rubric_of_cases(cases.cases)
        rubric = named_rubric or grade_rubric(options.rubric, suite)
        sides = []
        for name, source, named in zip(self.names, sources, inputs.sources, strict=True):
            file = source.path
            # The first row only: reading all of a large file just for a warning is not worth it.
            answers = datasets.iter_case_outputs(
                file, cases, variant=source.variant, needs_input=False
            )
            if cases is None and next(iter(answers))[0].input is None:
                what = "has no inputs: the judge sees only the outputs"
                console.note(f"{file} {what}; {MISSING_INPUT_REMEDY}")
            # Rows that name no variant belong to one that is named after the file.
            variant = source.variant or named.stem or file.stem
            # The version is the content of the file: a changed file must not inherit an approval.
            version = evaluation.file_mark(file)
            about = records.ComparedSide(
                label=name, variant=variant, file=str(file), version=version
            )
            read = partial(_read, replace(source, stem=named.stem), cases)
            sides.append(evaluation.Side(name, read, (file.name, file.stem, name), about))
        return OpenSides(panel, rubric, tuple(sides))

    def _check_judges(self) -> None:
        """Refuse judges that cannot compare: the heuristic judge, a template for one output."""
        # Only --template is checked. A template in the suite or the environment may be for one
        # output: the judge grades with it, and compares with the default one.
        suite, settings = self.suite, self.options.judge_settings
        folders = [*settings.template_folders]
        folders += [] if suite is None else datasets.suite_template_folders(suite)
        named = settings.template if "template" in typed_options() else None
        if named is not None and not prompts.is_pair_template(named, folders):
            raise SettingsError(
                f"the template {named} is for a single output, but two are compared",
                hint="name one for two, for example pairwise/criterion, or omit --template",
            )
        own = [] if suite is None else [judge.model for judge in suite.judge]
        if records.HEURISTIC in self._judges or (not self._judges and own == [records.HEURISTIC]):
            raise SettingsError(
                "the heuristic judge only counts assertions, and cannot compare",
                hint="name a judge: --judge openai/gpt-4.1-mini; or compare stored scores: "
                "--scores",
            )
        if suite is None or self._judges or not isinstance(self.options, ContestOptions):
            return
        hint = "name the judges of the comparison: --judge MODEL --judge OTHER"
        if others := [judge.model for judge in suite.judge if judge.kind != "llm"]:
            raise SettingsError(
                f"the suite's judges include {others[0]}, and only models compare", hint=hint
            )
        combine = "mean" if suite.panel is None else suite.panel.combine
        if combine in {"weighted", "cascade"}:
            raise SettingsError(
                f"the suite combines its judges by `{combine}`, but in a comparison each has one "
                "equal vote",
                hint=hint,
            )

    def _open_judges(self) -> judge_calls.Panel:
        """Who compares: the judges that are named, else the suite's."""
        suite, settings = self.suite, self.options.judge_settings
        own = {} if suite is None else suite.compare.model_dump(exclude_unset=True)
        blind = {"label_seed" if name == "seed" else name: value for name, value in own.items()}
        # The command line goes before the suite, as everywhere.
        names = {"scrub", "draw_labels", "label_seed", "rule"}
        blind |= settings.model_dump(exclude_unset=True, include=names)
        # `calibrate` studies one judge; it refuses a suite's panel instead of using it.
        is_contest = isinstance(self.options, ContestOptions)
        panel = () if suite is None or not is_contest else suite.judge
        wanted: list[tuple[datasets.Suite | None, str | None]] = [
            (suite, name) for name in self._judges
        ]
        if not self._judges and suite is not None and len(panel) > 1:
            wanted = [(suite.model_copy(update={"judge": (one,)}), None) for one in panel]
        if len(wanted) > 1:
            # The members must see the same labels, which each would draw by its own seed.
            blind.setdefault("label_seed", settings.seed or 0)
        more = datasets.JudgeSettings.checked(**blind)
        return judge_calls.Panel(
            [
                self._stack.enter_context(
                    make_judge(self.options, of, name, more, budget=self.budget)
                )
                for of, name in wanted or [(suite, None)]
            ]
        )

    def _named_rubric(self) -> records.Rubric | None:
        """The rubric of the command line or of the suite; without one, cases go by their own."""
        has_one = self.options.rubric or (self.suite is not None and self.suite.rubric_source)
        return grade_rubric(self.options.rubric, self.suite) if has_one else None

    def _with_rubric(self, case: Case) -> Case:
        named = case.rubric
        if not isinstance(named, str):
            return case
        source = named if self.suite is None else self.suite.rubric_named(named)
        return case.model_copy(update={"rubric": datasets.load_rubric(source)})

    def check_one_rubric(self, cases: Iterable[Case], rubric: records.Rubric) -> None:
        """Refuse cases that have rubrics of their own beside one that is named for all."""
        # With `--rubric` all of them are compared by that one, even those that have their own.
        if self.options.rubric is not None or judge_calls.is_of_cases(rubric):
            return
        same = {None, rubric.name, rubric.fingerprint}
        for case in cases:
            own = case.rubric
            key = own.fingerprint if isinstance(own, records.Rubric) else own
            if key in same or own is None:
                continue
            own = self._with_rubric(case).rubric
            if isinstance(own, records.Rubric) and own.fingerprint != rubric.fingerprint:
                raise SettingsError(
                    f"case {case.id} has its own rubric, {own.name}, but a comparison has one for "
                    f"all cases: {rubric.name}",
                    hint="choose it with --rubric FILE|NAME; `judgekit run` grades each case by "
                    "its own rubric, and `compare --scores` compares such runs",
                )
            same.add(key)

    def produce(self, options: ContestOptions, run_id: str | None) -> OpenSides:
        """Produce the outputs first, resuming a run; ends the command if some are missing."""
        self._check_judges()
        suite, ids = self._answering_suite(options)
        # The judges are checked before an output is paid for.
        named, tags = self._named_rubric(), frozenset(options.filter_tag)
        every = datasets.open_cases(suite)
        own = judge_calls.rubric_of_cases(map(self._with_rubric, every)) if named is None else None
        rubric, panel = named or own or grade_rubric(None, self.suite), self._open_judges()
        self.check_one_rubric((one for one in every if not tags or tags & set(one.tags)), rubric)
        if options.dry_run:
            answers, assumed = self._assumed_sides(suite, ids, options)
            return OpenSides(panel, rubric, assumed, answers=answers)
        resumed = None if run_id is None else self.store.run(run_id)
        run, spent_usd = _produce(suite, options, self.store, resumed, panel)
        if self.budget is not None:
            self.budget.spend(spent_usd)
        produced = []
        for name, variant in zip(self.names, ids, strict=True):
            side = _run_side(name, run, variant, self.store)
            # The name of its file would reveal a side too.
            files = (Path(name).name, Path(name).stem) if Path(name).is_file() else ()
            produced.append(replace(side, names=(*side.names, *files)))
        return OpenSides(panel, rubric, tuple(produced), run.id)

    def _assumed_sides(
        self, suite: datasets.Suite, ids: Sequence[str], options: ContestOptions
    ) -> tuple[SuitePlan, tuple[evaluation.Side, ...]]:
        """What the outputs would cost, and sides with texts as long as they are likely to be."""
        opened = evaluation.open_suite(suite, _cases_to_answer(options), execution_options(options))

        async def planned() -> SuitePlan:
            async with aclosing(opened):
                return await evaluation.plan_suite(opened, store=self.found_store)

        plan, cases = run_async(planned()), [*opened.cases]
        known = {one.variant: one.text for one in plan.answers}
        sides, lengths = [], []
        for name, variant in zip(self.names, ids, strict=True):
            lengths.append(round((known[variant] or evaluation.ASSUMED_ANSWER).likely))
            # Each text is another, or the judge would not be asked about them.
            texts = [f"{variant} {case.id}" + " word" * lengths[-1] for case in cases]
            outputs = [records.Output(text=text, variant=variant) for text in texts]
            about = records.ComparedSide(label=name, variant=variant)
            sides.append(
                evaluation.Side(
                    name, partial(map, evaluation.SideOutput, cases, outputs), (), about
                )
            )
        words = ", ".join(f"{n} for {name}" for n, name in zip(lengths, self.names, strict=True))
        console.note(f"the outputs do not exist yet; their length is assumed, in tokens: {words}")
        if any(one.kind not in {"outputs", "prompt"} for one in plan.answers):
            console.note("what programs and endpoints under test cost themselves is not included")
        return plan, tuple(sides)

    def _answering_suite(self, options: ContestOptions) -> tuple[datasets.Suite, tuple[str, ...]]:
        variants = [self._variant(name, options) for name in self.names]
        ids = [variant.id for variant in variants]
        # Templates of one name in several folders are distinguished by their folders.
        variants = [
            one.model_copy(update={"id": str(Path(name).with_suffix(""))}) if ids.count(one.id) > 1
            else one
            for one, name in zip(variants, self.names, strict=True)
        ]  # fmt: skip
        ids = [variant.id for variant in variants]
        base = self.suite
        if base is None:
            if options.cases is None:
                raise SettingsError(
                    "there are no cases to answer",
                    hint="give --cases FILE, or a suite: --config FILE",
                )
            base = datasets.Suite(name=" against ".join(ids), dataset=str(options.cases.resolve()))
        if base.context is not None:
            # A template that is named here is one side, not one for each size.
            plain = {"added_context_tokens": 0}
            variants = [
                one.model_copy(update=plain if one.added_context_tokens is None else {})
                for one in variants
            ]
        changes: dict[str, object] = {
            # A name of its own, so that no trend and no baseline of the suite includes this run.
            "name": base.name + ("" if self.suite is None else stores.COMPARISON_OUTPUTS_SUFFIX),
            "variants": tuple(variants),
            "judge": (),
            "panel": None,
            "rubric": None,
            "extra_rubrics": (),
            "profile": None,
            "assertions": (),
            "scorers": (),
            "gate": None,
        }
        if options.cases is not None:
            changes |= {"dataset": str(options.cases.resolve()), "cases": None, "columns": {}}
        elif base.has_cases_in_outputs:  # its variant may be none of the sides
            changes |= {"dataset": None, "cases": tuple(datasets.open_cases(base))}
        return base.model_copy(update=changes), tuple(ids)

    def _variant(self, name: str, options: ContestOptions) -> datasets.VariantSettings:
        if name in self.variants and not Path(name).is_file():
            return self.variants[name]
        path, variant = split_name(name)
        file = Path(path).resolve()
        if not is_template_argument(name):
            return datasets.VariantSettings(id=variant or file.stem, outputs=str(file))
        if options.model is None:
            raise SettingsError(
                f"{name} is a prompt, and no model is named to send it to",
                hint="give -m openai/gpt-4.1-nano (key in OPENAI_API_KEY), any other model that "
                "litellm knows, or local",
            )
        base = options.judge_settings.api_base
        return datasets.VariantSettings(
            id=file.stem, prompt=str(file), model=options.model, api_base=base
        )


def split_name(name: str) -> tuple[str, str | None]:
    """A file or run, and the variant of it."""
    # A file may have the separator in its name.
    if Path(name).exists():
        return name, None
    whole, of, variant = name.rpartition(evaluation.VARIANT_SEPARATOR)
    return (whole, variant) if of and whole and variant else (name, None)


def is_file_argument(name: str) -> bool:
    """Whether an argument names a file, with or without a variant."""
    return Path(split_name(name)[0]).is_file()


def is_template_argument(name: str) -> bool:
    return split_name(name)[0].endswith(".j2")


def no_common_case_error() -> SettingsError:
    return SettingsError(
        "no case is answered by both sides",
        hint="both need the same case_id, and the same input for it; see --filter-tag too",
    )


def pairing_of(
    sides: tuple[evaluation.Side, evaluation.Side],
    options: ComparingOptions,
    *,
    is_shuffled: bool = False,
    is_wanted: Callable[[OutputPair], bool] = lambda _: True,
) -> evaluation.Pairing:
    """The pairs of two sides that the options choose, in the order of the files or shuffled."""
    order = {"is_shuffled": is_shuffled, "is_wanted": is_wanted}
    return options.fill(
        evaluation.Pairing, a=sides[0], b=sides[1], tags=options.filter_tag, **order
    )


def show_pair_plan(
    panel: judge_calls.Panel,
    pairs: Iterable[OutputPair],
    rubric: records.Rubric,
    names: Iterable[str],
    options: ComparingOptions,
    answers: SuitePlan | None = None,
) -> int:
    """Estimate and print the calls and the cost of comparing pairs; makes no call."""
    note_grading_only(rubric)
    plan = evaluation.plan_comparison(
        panel, pairs, rubric, names=names, refresh=bool(options.judge_settings.refresh)
    )
    plan = plan if answers is None else evaluation.with_answer_calls(plan, answers)
    connections = [judge.connection for judge in panel.judges]
    return show_plan(plan, options, connections, max_cost=options.max_cost)


def check_panel_keys(
    panel: judge_calls.Panel,
    pairs: Callable[[], Iterable[OutputPair]],
    rubric: records.Rubric,
    names: Iterable[str],
    options: ComparingOptions,
) -> None:
    """Refuse judges that need a key which is missing, before anything is stored or called."""
    doubtful = [one.connection for one in panel.judges if one.connection.may_lack_key]
    refresh = bool(options.judge_settings.refresh)
    # What is cached needs no key.
    if (
        doubtful
        and evaluation.plan_comparison(panel, pairs(), rubric, names=names, refresh=refresh).n_calls
    ):
        for one in doubtful:
            one.check()


def note_grading_only(rubric: records.Rubric) -> None:
    """Report what a rubric sets for grading only, before a comparison is paid."""
    for criterion in rubric.criteria:
        name = report.printable(criterion.name)
        if "trace" in criterion.needs:
            console.note(f"{name} needs the trace, which comparisons do not show: not compared by")
        elif criterion.judge is not None:
            console.note(f"{name} names a judge: in comparisons every judge grades it")


def _run_side(name: str, run: RunInfo, variant: str, store: stores.RunStore) -> evaluation.Side:
    # A judge that prefers its own model must not learn it from the output: these are scrubbed.
    models = [
        name for one in run.variants if one.id == variant for name in one.model_by_node.values()
    ]
    version = evaluation.variant_version_in(run, variant)
    if version is not None and version.model is not None:
        models.append(version.model)

    def read() -> Iterator[evaluation.SideOutput]:
        # Of several tries the last counts, which has the place of an answer without any.
        for result in evaluation.last_tries(store.results(run.id, variant=variant), run):
            repeat = result.repeat if run.repeats > 1 else 0
            yield evaluation.SideOutput(result.case, result.output, repeat)

    about = records.ComparedSide(label=name, variant=variant, run_id=run.id, version=version)
    return evaluation.Side(name, read, (variant, *models), about)


def _rubric_of_runs(
    chosen: Sequence[tuple[RunInfo, str]], store: stores.RunStore, name: str | None
) -> records.Rubric:
    """The rubric that is named, else the one all runs share, else those of their cases."""
    if name is not None:
        return datasets.load_rubric(name)
    # A run without a rubric has one made of its assertions in that place: nothing to compare by.
    own = [run.rubric for run, _ in chosen if run.config.get("rubric") is not None]
    distinct = {rubric.fingerprint: rubric for rubric in own if rubric is not None}
    if not own:
        results = (store.results(run.id, variant=variant) for run, variant in chosen)
        of_cases = judge_calls.rubric_of_cases(result.case for each in results for result in each)
        if of_cases is not None:
            return of_cases
    if len(own) < len(chosen) or not distinct:
        raise SettingsError("no rubric is named, and a run has none", hint="give --rubric FILE")
    if len(distinct) > 1:
        raise SettingsError(
            "the runs were judged by different rubrics", hint="name one: --rubric FILE"
        )
    return next(iter(distinct.values()))


def _read(source: OutputSource, cases: Dataset | None) -> Iterator[evaluation.SideOutput]:
    read = partial(
        datasets.iter_case_outputs, source.path, cases, variant=source.variant, needs_input=False
    )
    # Counted only where rows have numbers, because it reads the file once more.
    first = next(iter(read()), None)
    numbered = first is not None and "repeat" in first[1].metadata and datasets.has_repeats(read())
    for case, output in read():
        known = output.variant or source.variant or source.stem
        named = output.model_copy(update={"variant": known}) if output.variant is None else output
        yield evaluation.SideOutput(case, named, datasets.repeat_of(output) if numbered else 0)


def _produce(
    suite: datasets.Suite,
    options: ContestOptions,
    store: stores.RunStore,
    resumed: RunInfo | None,
    panel: judge_calls.Panel,
) -> tuple[RunInfo, float]:
    """Have the variants answer, without a judge; the run and its cost."""
    # Outputs are produced as `judgekit run` does, with the same cache and the same cost limit, and
    # are on disk before anything is compared.
    chosen = _cases_to_answer(options) if resumed is None else evaluation.choice_of_run(resumed)
    opened = evaluation.open_suite(suite, chosen, execution_options(options))
    judges = [one.connection for one in panel.judges]
    run_async(evaluation.check_keys(opened, store, resumed, compared_by=judges))
    session = evaluation.Session(in_flight=options.max_concurrency)
    notes, verb = "outputs to compare", ("answering", "answered")
    setup = RunSetup(opened, store, session, resumed, notes, verb=verb)
    run = prepared_run(setup, resumes=False)
    continuation = f"outputs so far are stored. Resume with: {resume_command(run.id)}"
    ended = run_until_stopped(run_with_progress(setup, options), continuation)
    if session.reason is not None:
        console.note(f"{stop_words(session)}; {continuation}")
        sys.exit(STOP_CODES[session.reason])
    if session.n_missed:
        console.note("some replies are not in the frozen cache, and no calls were made for them")
        sys.exit(Exit.FROZEN)
    return ended, 0.0 if opened.budget is None else opened.budget.spent_usd


def _cases_to_answer(options: ContestOptions) -> Choice:
    """The cases that need outputs: no more than a comparison may look at."""
    chosen = selected_cases(options)
    most = options.max_cases
    # With -n, which of the first N cases are compared is random: all of them need outputs.
    if most is None or options.limit is not None:
        return chosen
    # Drawn, not the first ones: those of a sorted dataset are no fair part of it.
    most = most if options.sample is None else min(most, options.sample)
    return replace(chosen, sample=most, seed=options.seed)
