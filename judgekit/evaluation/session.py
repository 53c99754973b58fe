"""Opens a suite with everything it names, and checks it before any model is called."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from judgekit.assertions import IS_TRANSFORMED, ScriptSettings, transform_output, with_scripts
from judgekit.datasets import (
    CaseSelection,
    PriceSettings,
    Suite,
    choose_variants,
    expand_variants,
    load_suite_rubric,
    naming_place,
    open_cases,
    resolve_suite_model,
    suite_from_path,
    suite_template_folders,
    with_benchmark,
)
from judgekit.errors import SettingsError
from judgekit.evaluation.case_checks import CaseChecks, check_suite_specs
from judgekit.evaluation.case_plans import CasePlans
from judgekit.evaluation.judges import ExecutionOptions, SuiteJudges, open_suite_judges
from judgekit.judge import Judge, Panel
from judgekit.models import (
    ModelPrice,
    PriceTable,
    check_together,
    connect,
    open_budget,
    open_embeddings,
)
from judgekit.models.cache import CacheUrl, ReplyCache, open_reply_cache
from judgekit.records import CaseSource, RunInfo, RunPanel, config_part
from judgekit.targets import (
    ContextFiller,
    GivenTarget,
    LongerContextTarget,
    RecordedTarget,
    TargetPrompt,
    code_of,
    open_target,
)

if TYPE_CHECKING:
    from judgekit.datasets import TargetKind, VariantSettings
    from judgekit.models import Budget, Connection, Embeddings, LimitsClient
    from judgekit.records import Case, CaseResult, ItemKey, JsonObject, Output, Rubric
    from judgekit.targets import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which part of a suite is run; belongs to what a run is.

    Attributes:
        variants: Only these variants; empty for all.
        tags: Only cases with one of these tags.
        case_ids: Only these cases.
        name_pattern: Only cases whose name or id matches this regular expression.
        sample: So many cases, drawn at random.
        seed: Seed of the drawing.
        limit: Only the first so many cases.
        where: Only cases whose fields have these values, each as `field=value`.
    """

    variants: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    case_ids: tuple[str, ...] = ()
    name_pattern: str | None = None
    sample: int | None = None
    seed: int = 0
    limit: int | None = None
    where: tuple[str, ...] = ()

    def as_json(self) -> JsonObject:
        """What is chosen, without what is left at its default.

        Returns:
            A JSON object.
        """
        whole = asdict(self) | {"seed": self.seed if self.sample is not None else None}
        return {
            name: [*value] if isinstance(value, tuple) else value
            for name, value in whole.items()
            if value not in (None, ())
        }


@dataclass(frozen=True, slots=True)
class RecordedAnswers:
    """Outputs that were read already and are graded as they are, with the cases they answer."""

    cases: CaseSource
    # Of each variant by the case and the number of the repeat
    outputs: Mapping[str, Mapping[tuple[str, int], Output]]
    has_gaps: bool  # a case without an output of a variant is left out; else it is an error of it
    # Variants that are named after their file, for its rows name none
    unnamed: frozenset[str] = frozenset()
    # Ids of outputs that no case has, by the name of their file
    unmatched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # The rubric of each output by case, variant and repeat; None judges all of them by the same
    rubrics: Mapping[tuple[str, str, int], Rubric] | None = None
    # Whether they came from a program, so that no file has their version
    is_from_memory: bool = False

    def with_repeats(self, suite: Suite) -> Suite:
        """The suite with as many repeats as were read; it may want more of cases that it lists."""
        n = max((1 + repeat for own in self.outputs.values() for _, repeat in own), default=1)
        own = suite.settings
        changes: dict[str, object] = {}
        if self.has_gaps:  # every output counts, and none is tried again
            changes = {"repeats": n, "retry_failed": own.retry_failed if n == 1 else 0}
        elif n > 1 + own.retry_failed:  # fewer are tries, as in a run
            changes = {"repeats": max(n, own.repeats)}
        return suite.model_copy(update={"settings": own.model_copy(update=changes)})


# How long an answer may take where neither the variant nor the suite says.
DEFAULT_TARGET_TIMEOUT_S = 60.0
# Kinds of variants that may spend money of which the budget only hears afterwards.
_ON_THEIR_OWN: frozenset[TargetKind] = frozenset({"command", "python", "http"})


@dataclass
class OpenSuite:
    """A suite with everything it names opened; close it after use.

    Attributes:
        owns_cache: Whether the cache was opened here.
        prompts: The fingerprint of each prompt under test, by variant.
        recorded: The outputs, where they were read before the suite was opened.
        unmatched: Ids in recorded outputs that no case of the dataset has, by variant; known once
            the cases were read, as is `unasked`.
        unasked: How many cases name other variants, by variant, where some do.
    """

    suite: Suite
    choice: Choice
    execution: ExecutionOptions
    cases: CaseSelection
    variants: tuple[VariantSettings, ...]
    targets: dict[str, Target]
    judges: SuiteJudges
    rubric: Rubric | None
    plans: CasePlans
    budget: Budget | None
    cache: ReplyCache | None
    owns_cache: bool
    prompts: dict[str, str]
    recorded: RecordedAnswers | None = None
    unmatched: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unasked: dict[str, int] = field(default_factory=dict)

    def has_answer(self, key: ItemKey) -> bool:
        whole, one = self.recorded, (key.case_id, key.repeat)
        return whole is None or not whole.has_gaps or one in whole.outputs[key.variant]

    def rubric_of(self, case: Case, key: ItemKey) -> Rubric | None:
        """The rubric an answer is judged by: its own part of it, where only some is asked."""
        rubric, recorded = self.plans.rubric_of(case), self.recorded
        own = None if recorded is None or rubric is None else recorded.rubrics
        return rubric if own is None else own[case.id, key.variant, key.repeat]

    def has_try(self, key: ItemKey) -> bool:
        """Whether a further answer can be had: of recorded outputs, only those that there are."""
        target = self.targets[key.variant]
        return not isinstance(target, GivenTarget | RecordedTarget) or target.has(key)

    def count_answers(self, n_cases: int) -> int:
        """How many answers a run has; tries of what failed are not counted."""
        if self.recorded is not None and self.recorded.has_gaps:
            return sum(map(len, self.recorded.outputs.values()))
        n_asked = n_cases * len(self.variants) - sum(self.unasked.values())
        return n_asked * self.suite.settings.repeats

    async def answer(self, case: Case, key: ItemKey) -> Output:
        """The output of an answer, after the transforms of its variant and its case."""
        output = await self.targets[key.variant].answer(case, repeat=key.repeat)
        if not self._transforms[key.variant] and not case.transform:
            return output
        # In a thread, as a step may run a program.
        return await asyncio.to_thread(self.transformed, output, case, key.variant)

    def transformed(self, output: Output, case: Case, variant: str) -> Output:
        if output.metadata.get(IS_TRANSFORMED):
            return output
        steps = (*self._transforms[variant], *case.transform)
        return transform_output(output, steps, case=case, scripts=self.plans.scripts)

    def retries_of(self, case: Case) -> int:
        """How often an answer to a case is tried again when it does not pass."""
        own = 0 if case.evaluation is None else case.evaluation.retries
        return max(self.suite.settings.retry_failed, own)

    def check_case(self, case: Case) -> None:
        """Refuse a case that cannot be run as the suite wants it."""
        for target in self.targets.values():
            if isinstance(target, LongerContextTarget):
                target.check(case)
        if self.suite.settings.repeats > 1 and self.retries_of(case):
            raise SettingsError(
                f"the case {case.id!r} is to be retried if it fails, and every case is to be "
                "repeated: retries would hide how repeats vary",
                hint="leave out `repeats`, or the case's `retries`",
            )

    def check_recorded(self, n_wanted: int) -> None:
        """Refuse recorded outputs of which the run would take only some."""
        for target in self.targets.values():
            if isinstance(target, RecordedTarget):
                target.check(n_wanted)

    def case_checks(self) -> CaseChecks:
        is_whole = not self.choice.as_json().keys() - {"variants"}
        return CaseChecks(self.plans, judges=self.judges, is_whole=is_whole)

    def is_free(self, variant: str, output: Output) -> bool:
        """Whether an answer cost nothing in this run: it was recorded, or its reply was cached."""
        return self._kinds[variant] == "outputs" or output.metadata.get("cached") is True

    def count_own_spending(self, variant: str, output: Output) -> bool:
        """Count what an answer cost that no budget was asked for: a program's or an endpoint's."""
        if self.budget is None or self._kinds[variant] not in _ON_THEIR_OWN:
            return False
        cost = None if output.usage is None else output.usage.cost_usd
        if not cost:
            return False
        self.budget.spend(cost)
        return self.budget.spent_usd >= self.budget.limit_usd

    async def aclose(self) -> None:
        """Close targets and judges in the running event loop, and the cache."""
        # Each is closed although another fails; the cache last, as connections still write to it.
        async with AsyncExitStack() as stack:
            if self.owns_cache and self.cache is not None:
                stack.callback(self.cache.close)
            stack.push_async_callback(self.judges.aclose)
            stack.push_async_callback(self.plans.aclose)
            for target in self.targets.values():
                stack.push_async_callback(target.aclose)

    @cached_property
    def _transforms(self) -> dict[str, tuple[JsonObject, ...]]:
        return {variant.id: variant.transform for variant in self.variants}

    @cached_property
    def _kinds(self) -> dict[str, TargetKind]:
        return {variant.id: variant.kind for variant in self.variants}


def open_suite(
    suite: Suite | Path | str,
    choice: Choice,
    execution: ExecutionOptions,
    *,
    recorded: RecordedAnswers | None = None,
    limits: LimitsClient | None = None,
) -> OpenSuite:
    """Open everything a suite names; `recorded` has chosen outputs, `limits` are shared ones."""
    loaded = suite_from_path(suite) if isinstance(suite, Path | str) else with_benchmark(suite)
    # Variants first: a suite that cannot run fails before a file of cases or a cache is opened.
    variants = choose_variants(expand_variants(loaded), choice.variants)
    _check_settings(loaded, execution)
    cases = _chosen_cases(loaded, choice, recorded, allow_scripts=execution.allow_scripts)
    rubric = load_suite_rubric(loaded)
    # One budget and one price table for targets, judges and embeddings: the limit is for the run.
    prices = price_table(loaded)
    budget = open_budget(execution.max_cost_usd, prices, limits)
    cache = open_reply_cache(at) if isinstance(at := execution.cache, Path | CacheUrl) else at
    try:
        judges = open_suite_judges(
            loaded, cache=cache, execution=execution, prices=prices, budget=budget
        )
        filler = _context_filler(loaded, variants)
        means = _Means(loaded, execution, cache, prices, budget, judges, filler, limits)
        plans = CasePlans(
            loaded,
            rubric=judges.implied_rubric if rubric is None else rubric,
            is_judged=not judges.asks_nobody,
            allow_scripts=execution.allow_scripts,
            open_embeddings=means.embeddings,
        )
        check_suite_specs(plans)
        return OpenSuite(
            suite=loaded,
            choice=choice,
            execution=execution,
            cases=cases,
            variants=variants,
            targets={variant.id: means.target(variant, recorded) for variant in variants},
            judges=judges,
            rubric=plans.rubric,
            plans=plans,
            budget=budget,
            cache=cache,
            owns_cache=cache is not execution.cache,
            prompts={v.id: means.prompt(v) for v in variants if isinstance(v.prompt, str)},
            recorded=recorded,
        )
    except BaseException:
        if cache is not None and cache is not execution.cache:
            cache.close()
        raise


def open_recorded(
    judge: Judge | Panel,
    rubric: Rubric,
    recorded: RecordedAnswers,
    variants: Sequence[VariantSettings] = (),
    *,
    suite: Suite | None = None,
) -> OpenSuite:
    """Outputs for one judge or panel and one rubric as a suite, by default one without a file."""
    # What cases bring along (rubrics, assertions, plans) is left out: labels and earlier verdicts
    # are about this rubric alone.
    plain = {"rubric": None, "assertions": (), "evaluation": None}
    whole = recorded.cases
    source = CaseSource(
        whole.name, whole.version, lambda: (case.model_copy(update=plain) for case in whole.read())
    )
    suite = recorded.with_repeats(suite or Suite(name="outputs", dataset="outputs.jsonl"))
    members = Panel.of(judge).judges
    judges = SuiteJudges(members, RunPanel(judges=tuple(member.id for member in members)))
    return OpenSuite(
        suite=suite,
        choice=Choice(),
        execution=ExecutionOptions(cache=None),
        cases=CaseSelection(source),
        variants=tuple(variants),
        targets={name: GivenTarget(name, outputs) for name, outputs in recorded.outputs.items()},
        judges=judges,
        rubric=rubric,
        plans=CasePlans(
            suite,
            rubric=rubric,
            is_judged=True,
            allow_scripts=False,
            open_embeddings=lambda model, api_base: open_embeddings(model, api_base=api_base),
        ),
        budget=None,
        cache=members[0].connection.cache,
        owns_cache=False,
        prompts={},
        recorded=recorded,
    )


def _chosen_cases(
    suite: Suite, choice: Choice, recorded: RecordedAnswers | None, *, allow_scripts: bool
) -> CaseSelection:
    with naming_place(suite, "dataset"):
        source = open_cases(suite) if recorded is None else recorded.cases
    if allow_scripts:
        source = replace(source, read=partial(map, with_scripts, source))
    if recorded is not None:
        return CaseSelection(source)
    return CaseSelection(
        source,
        tags=choice.tags,
        ids=choice.case_ids,
        name_pattern=choice.name_pattern,
        sample=choice.sample,
        seed=choice.seed,
        limit=choice.limit,
        where=choice.where,
    )


def _context_filler(suite: Suite, variants: Sequence[VariantSettings]) -> ContextFiller | None:
    largest = max((one.added_context_tokens or 0 for one in variants), default=0)
    return ContextFiller(suite, largest) if largest else None


def price_table(of: Suite | RunInfo) -> PriceTable:
    """What models charge: the prices of the suite, or of the suite of a run, first."""
    own = of.prices if isinstance(of, Suite) else config_part(of, "prices")
    prices = {name: PriceSettings.model_validate(price).model_dump() for name, price in own.items()}
    return PriceTable({name: ModelPrice.per_million(**price) for name, price in prices.items()})


@dataclass(frozen=True, slots=True)
class _Means:
    suite: Suite
    execution: ExecutionOptions
    cache: ReplyCache | None
    prices: PriceTable
    budget: Budget | None
    judges: SuiteJudges
    filler: ContextFiller | None
    limits: LimitsClient | None
    # Of judges, targets and embeddings
    connections: list[Connection] = field(default_factory=list)

    def __post_init__(self) -> None:
        for one in self.judges.connections:
            self._add(one)

    def target(self, variant: VariantSettings, recorded: RecordedAnswers | None) -> Target:
        # A worker process gets the outputs of recorded variants, and calls the others itself.
        if recorded is not None and variant.id in recorded.outputs:
            return GivenTarget(variant.id, recorded.outputs[variant.id])
        if variant.kind == "not_imported":  # which a plan counts, and a run refuses
            return GivenTarget(variant.id, {})
        with _naming_variant(self.suite, variant):
            opened = open_target(
                variant,
                self.suite,
                connect_model=self._connection,
                template_folders=self._template_folders,
                environment=os.environ,
                default_timeout_s=self._timeout_s(variant),
                scripts=ScriptSettings(
                    self.suite.folder,
                    is_allowed=self.execution.allow_scripts,
                    timeout_s=self._timeout_s(variant),
                    environment=self.suite.settings.environment,
                ),
            )
        # Nothing added is the same system under test: it asks what it asks without the sizes.
        if self.filler is None or not variant.added_context_tokens:
            return opened
        return LongerContextTarget(opened, self.filler, variant.added_context_tokens)

    def prompt(self, variant: VariantSettings) -> str:
        """The fingerprint of the prompt under test and of all it includes."""
        name = cast("str", variant.prompt)
        folders = self._template_folders
        return TargetPrompt(name, folder=self.suite.folder, template_folders=folders).fingerprint

    def embeddings(self, model: str, api_base: str | None) -> Embeddings:
        opened = open_embeddings(
            model,
            api_base=api_base,
            cache=self.cache,
            frozen=self.execution.frozen,
            refresh=self.execution.refresh is True,
            prices=self.prices,
            budget=self.budget,
        )
        self._add(opened.connection)
        return opened

    @property
    def _template_folders(self) -> list[Path]:
        return [*self.execution.template_folders, *suite_template_folders(self.suite)]

    def _connection(self, variant: VariantSettings) -> Connection:
        connection = connect(
            resolve_suite_model(self.suite, cast("str", variant.model)),
            api_base=variant.api_base,
            cache=self.cache,
            timeout_s=self._timeout_s(variant),
            frozen=self.execution.frozen,
            refresh=self.execution.refresh,
            prices=self.prices,
            budget=self.budget,
        )
        self._add(connection)
        return connection

    def _add(self, connection: Connection) -> None:
        # Otherwise outputs would be paid for that no judge can grade, because its key is missing.
        if self.limits is not None:
            self.limits.share(connection)
        self.connections.append(connection)
        check_together(self.connections)

    def _timeout_s(self, variant: VariantSettings) -> float:
        return variant.timeout_s or self.suite.settings.timeout_s or DEFAULT_TARGET_TIMEOUT_S


def _naming_variant(suite: Suite, variant: VariantSettings) -> AbstractContextManager[None]:
    # Ids of variants that stand for several begin with the id in the file: of `v1` and `v10` the
    # longer one is meant.
    ids = [one.id for one in suite.variants if variant.id.startswith(one.id)]
    longest = max(ids, key=len, default="")
    place = next((n for n, one in enumerate(suite.variants) if one.id == longest), 0)
    return naming_place(suite, "variants", place, variant.kind)


def _check_settings(suite: Suite, execution: ExecutionOptions) -> None:
    if not 0 <= execution.review <= 1:
        raise SettingsError(f"a share of {execution.review:g} cannot be reviewed: 0 to 1 can")
    if execution.review and any(judge.kind == "human" for judge in suite.judge):
        raise SettingsError(
            "the suite has a human judge already; a review is of automated verdicts",
            hint="omit the review, or the human judge",
        )
    if suite.extra_rubrics and not any(judge.kind != "heuristic" for judge in suite.judge):
        raise SettingsError(
            "`extra_rubrics` need a judge, and the suite has none",
            hint="name one with --judge MODEL or `judge:`, or leave them out",
        )
    if suite.settings.repeats > 1 and suite.settings.retry_failed:
        raise SettingsError(
            "`repeats` and `retry_failed` contradict each other: repeats show how much answers "
            "vary, and trying again what failed would hide it",
            hint="leave one of them out",
        )


def check_callable(opened: OpenSuite) -> None:
    """Refuse variants that nothing calls, or that run functions where scripts are not allowed."""
    variants = () if opened.recorded is not None else opened.variants
    if lost := [one for one in variants if one.kind == "not_imported"]:
        listed = [f"\n  {one.id}: {one.not_imported}" for one in lost]
        rest = [f"--variant {shlex.quote(one.id)}" for one in variants if one not in lost]
        raise SettingsError(
            f"{len(lost)} of {len(variants)} variants cannot be called:{''.join(listed)}",
            hint="grade outputs that were recorded elsewhere: --outputs FILE; or ask another "
            "program: --target-command 'PROGRAM'; or write a suite with judgekit convert and give "
            "the variant a `model` or `outputs` there"
            + (f"; or run the others: {' '.join(rest)}" if rest else ""),
        )
    for variant in () if opened.execution.allow_scripts else variants:
        for code in code_of(variant):
            raise SettingsError(
                f"the variant {variant.id!r} runs {code}, and scripts are not allowed",
                hint="read it, then allow scripts with --allow-scripts (allow_scripts=True), or "
                "choose other variants with --variant",
            )


# Why a run ended before everything was asked.
RunStopReason = Literal["interrupted", "budget", "time", "fail_fast", "model"]
_STOP_MESSAGES: dict[RunStopReason, str] = {
    "interrupted": "interrupted by the user",
    "budget": "the cost limit allows no further call",
    "time": "the time it may take is used up",
    "fail_fast": "an answer did not pass",
    "model": "a model cannot be called",
}

_FROZEN_MESSAGE = "the frozen cache lacks replies"


@dataclass(slots=True)
class Session:
    """One session of a run: its limits, its callbacks and how it ended. Each run needs its own.

    Attributes:
        max_seconds: How long it may take; what is in flight then is finished.
        fail_fast: Whether the first answer that does not pass ends it.
        in_flight: Cases in work at a time; None takes the suite's own.
        retry_errors: Whether failures of an earlier session are retried.
        watch: Called with each answer when it is complete.
        note: Called with each message for the user.
        stop: Once set, nothing new is begun; what was begun is finished.
        now: The clock.
        reason: Why it ended early, once it did.
        detail: What happened then, in words.
        n_missed: Answers of which a frozen cache lacked a reply.
        n_open: Answers that were begun and are not whole, for something was not asked.
    """

    max_seconds: float | None = None
    fail_fast: bool = False
    in_flight: int | None = None
    retry_errors: bool = False
    watch: Callable[[CaseResult], None] = field(default=lambda _: None)
    note: Callable[[str], None] = field(default=lambda _: None)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    reason: RunStopReason | None = None
    detail: str | None = None
    n_missed: int = 0
    n_open: int = 0

    def end(self, reason: RunStopReason, detail: str | None = None) -> None:
        """Begin nothing new.

        Args:
            reason: Why; the first one stands.
            detail: What happened, in words.
        """
        if self.reason is None:
            self.reason, self.detail = reason, detail
        self.stop.set()

    def words(self) -> str | None:
        """Why the run is not complete, in words; None where this session has no reason."""
        if self.reason is None:
            return _FROZEN_MESSAGE if self.n_missed else None
        return _STOP_MESSAGES[self.reason] + (f": {self.detail}" if self.detail else "")
