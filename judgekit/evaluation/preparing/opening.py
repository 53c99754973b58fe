"""From a suite file to everything a run needs, checked before anything is asked."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from judgekit.datasets.loading import load_rubric
from judgekit.datasets.streaming import open_cases, select
from judgekit.datasets.suite_opening import suite_from
from judgekit.datasets.variants import expand_variants
from judgekit.errors import SettingsError, UnknownNameError
from judgekit.evaluation.preparing.case_checks import CaseChecks, check_suite_specs
from judgekit.evaluation.preparing.case_plans import CasePlans
from judgekit.evaluation.preparing.jury import Jury, open_jury
from judgekit.judge.opening import beside_suite, own_templates
from judgekit.models.budget import Budget
from judgekit.models.cache.on_disk import DiskCache
from judgekit.models.connecting import connect
from judgekit.models.embeddings import open_embeddings
from judgekit.models.pricing import ModelPrice, PriceTable
from judgekit.records.output import Variant
from judgekit.targets.opening import open_target
from judgekit.targets.prompt import TargetPrompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.datasets.streaming import Selection
    from judgekit.datasets.suite import Suite
    from judgekit.datasets.suite_settings import TargetKind, VariantSettings
    from judgekit.evaluation.preparing.asking import Asking, Choice
    from judgekit.models.cache.interface import ReplyCache
    from judgekit.models.connecting import Connection
    from judgekit.models.embeddings import Embeddings
    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.records.rubric import Rubric
    from judgekit.targets.target import Target

DEFAULT_TARGET_TIMEOUT_S = 60.0
"""How long an answer may take where neither the variant nor the suite says."""

_ON_THEIR_OWN: frozenset[TargetKind] = frozenset({"command", "python", "http"})
"""Kinds of variants that may spend money of which the budget only hears afterwards."""


@dataclass
class OpenSuite:
    """A suite with everything it names opened; close it after use."""

    suite: Suite
    """The suite."""

    choice: Choice
    """Which part of it is run."""

    asking: Asking
    """How it asks."""

    cases: Selection
    """The chosen cases."""

    variants: tuple[VariantSettings, ...]
    """The chosen variants."""

    targets: dict[str, Target]
    """What answers, by variant."""

    jury: Jury
    """Who judges."""

    rubric: Rubric | None
    """The suite's rubric."""

    plans: CasePlans
    """How each case is evaluated."""

    budget: Budget | None
    """The money that may be spent."""

    cache: ReplyCache | None
    """The reply cache of judges and prompts."""

    owns_cache: bool
    """Whether the cache was opened here."""

    prompts: dict[str, str]
    """The fingerprint of each prompt under test, by variant."""

    unmatched: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Ids in recorded outputs that no case of the dataset has, by variant; known once the cases
    were read."""

    @property
    def has_own_retries(self) -> bool:
        """Whether the suite has answers that do not pass tried again, whatever their case."""
        return self.suite.settings.retry_failed > 0

    @property
    def only_reads(self) -> bool:
        """Whether every answer is recorded and no model is asked, so that nothing is waited for."""
        asks_model = self.jury.models is not None or self.plans.embeddings
        return not asks_model and set(self._kinds.values()) == {"outputs"}

    def retries_of(self, case: Case) -> int:
        """How often an answer to a case is tried again when it does not pass."""
        own = 0 if case.evaluation is None else case.evaluation.retries
        return max(self.suite.settings.retry_failed, own)

    def refuse_retries_of_repeats(self, case: Case) -> None:
        """Refuse a case that would be both repeated and tried again."""
        if self.suite.settings.repeats > 1 and self.retries_of(case):
            raise SettingsError(
                f"the case {case.id!r} is to be tried again when it fails, and every case is to "
                "be repeated: the last try would stand beside repeats that were not tried again",
                hint="leave out `repeats`, or the case's `retries`",
            )

    def case_as_run(self, case: Case) -> Case:
        """A case with the rubric it names in full, so that the run stands by itself."""
        return self.plans.as_run(case)

    def rubric_of(self, case: Case) -> Rubric | None:
        """The rubric a case is judged by."""
        return self.plans.rubric_of(case)

    def case_checks(self) -> CaseChecks:
        """What looks at the cases before anything is asked."""
        source = self.suite.dataset_path or f"the suite {self.suite.name!r}"
        return CaseChecks(self.plans, judges=self.jury.panel.judges, source=str(source))

    def is_owned(self, variant: str, output: Output) -> bool:
        """Whether an answer cost nothing in this run: it was recorded, or its reply was owned."""
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

    def variant_records(self) -> tuple[Variant, ...]:
        """The chosen variants as they stand in the run's records."""
        return tuple(
            Variant(
                id=variant.id,
                model_by_node=variant.model_by_node,
                provider_by_node=variant.provider_by_node,
                tags=variant.tags,
                prompt_version=variant.prompt_version,
            )
            for variant in self.variants
        )

    async def aclose(self) -> None:
        """Close targets and judges in the running event loop, and the cache."""
        async with AsyncExitStack() as stack:
            if self.owns_cache and self.cache is not None:
                stack.callback(self.cache.close)
            stack.push_async_callback(self.jury.aclose)
            stack.push_async_callback(self.plans.aclose)
            for target in self.targets.values():
                stack.push_async_callback(target.aclose)

    @cached_property
    def _kinds(self) -> dict[str, TargetKind]:
        return {variant.id: variant.kind for variant in self.variants}


def open_suite(suite: Suite | Path | str, choice: Choice, asking: Asking) -> OpenSuite:
    """Open everything a suite names."""
    loaded = suite_from(suite) if isinstance(suite, Path | str) else suite
    variants = _chosen(expand_variants(loaded), choice.variants)
    _check_settings(loaded)
    cases = select(
        open_cases(loaded),
        tags=choice.tags,
        ids=choice.case_ids,
        name_pattern=choice.name_pattern,
        sample=choice.sample,
        seed=choice.seed,
        limit=choice.limit,
    )
    rubric = None if loaded.rubric_source is None else load_rubric(loaded.rubric_source)
    prices = price_table(loaded)
    budget = None if asking.max_cost_usd is None else Budget(asking.max_cost_usd, prices)
    owns_cache = isinstance(asking.cache, Path)
    cache = DiskCache(asking.cache) if isinstance(asking.cache, Path) else asking.cache
    try:
        jury = open_jury(loaded, cache=cache, asking=asking, prices=prices, budget=budget)
        means = _Means(loaded, asking, cache, prices, budget)
        whole = rubric if rubric is not None else jury.implied_rubric(loaded.assertions)
        plans = CasePlans(
            loaded,
            rubric=whole,
            is_judged=not jury.asks_nobody,
            allow_scripts=asking.allow_scripts,
            open_embeddings=means.embeddings,
        )
        check_suite_specs(plans)
        return OpenSuite(
            suite=loaded,
            choice=choice,
            asking=asking,
            cases=cases,
            variants=variants,
            targets={variant.id: means.target(variant) for variant in variants},
            jury=jury,
            rubric=whole,
            plans=plans,
            budget=budget,
            cache=cache,
            owns_cache=owns_cache,
            prompts={v.id: means.prompt(v) for v in variants if isinstance(v.prompt, str)},
        )
    except BaseException:
        if owns_cache and cache is not None:
            cache.close()
        raise


def price_table(suite: Suite) -> PriceTable:
    """What models charge, the suite's own prices first."""
    return PriceTable(
        {
            name: ModelPrice.per_million(
                input_usd=price.input_usd,
                output_usd=price.output_usd,
                cached_input_usd=price.cached_input_usd,
            )
            for name, price in suite.prices.items()
        }
    )


@dataclass(frozen=True, slots=True)
class _Means:
    """With what targets are opened."""

    suite: Suite
    asking: Asking
    cache: ReplyCache | None
    prices: PriceTable
    budget: Budget | None

    def target(self, variant: VariantSettings) -> Target:
        return open_target(
            variant,
            self.suite,
            connect_model=self._connection,
            template_folders=self._template_folders,
            environment=os.environ,
            default_timeout_s=self._timeout_s(variant),
        )

    def prompt(self, variant: VariantSettings) -> str:
        """The fingerprint of the prompt under test and of all it includes."""
        name = cast("str", variant.prompt)
        folders = self._template_folders
        return TargetPrompt(name, folder=self.suite.folder, template_folders=folders).fingerprint

    def embeddings(self, model: str, api_base: str | None) -> Embeddings:
        """A model of embeddings, with the run's cache and budget."""
        return open_embeddings(
            model,
            api_base=api_base,
            cache=self.cache,
            frozen=self.asking.frozen,
            refresh=self.asking.refresh is True,
            prices=self.prices,
            budget=self.budget,
        )

    @property
    def _template_folders(self) -> list[Path]:
        return [*self.asking.template_folders, *own_templates(self.suite)]

    def _connection(self, variant: VariantSettings) -> Connection:
        return connect(
            beside_suite(self.suite, cast("str", variant.model)),
            api_base=variant.api_base,
            cache=self.cache,
            timeout_s=self._timeout_s(variant),
            frozen=self.asking.frozen,
            refresh=self.asking.refresh,
            prices=self.prices,
            budget=self.budget,
        )

    def _timeout_s(self, variant: VariantSettings) -> float:
        return variant.timeout_s or self.suite.settings.timeout_s or DEFAULT_TARGET_TIMEOUT_S


def _chosen(
    variants: Sequence[VariantSettings], wanted: Sequence[str]
) -> tuple[VariantSettings, ...]:
    if not variants:
        raise SettingsError(
            "the suite has no variants, so that there is nothing to run",
            hint="give what answered or answers: --outputs FILE (rows with `case_id` and `text`), "
            "--target-command 'python agent.py', --target-python MODULE:NAME or --target-http "
            "URL; or `variants:` in a suite, for example `- {id: v1, outputs: outputs/v1.jsonl}`",
        )
    known = [variant.id for variant in variants]
    for name in wanted:
        if name not in known:
            raise UnknownNameError("variant", name, known)
    return tuple(variant for variant in variants if not wanted or variant.id in wanted)


def _check_settings(suite: Suite) -> None:
    if suite.settings.repeats > 1 and suite.settings.retry_failed:
        raise SettingsError(
            "`repeats` and `retry_failed` contradict each other: repeats show how much answers "
            "vary, and trying again what failed would hide it",
            hint="leave one of them out",
        )
