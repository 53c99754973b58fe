"""The settings of a judge: one field each, with its bounds, its description and its option.

Command line options, pytest options, the suite's JSON Schema and the reference page are generated
from these fields; a further setting is a further field and what makes use of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self, cast

from pydantic import Field, ValidationError, model_validator

from judgekit.datasets.options import CommandOption
from judgekit.errors import SettingsError
from judgekit.fingerprint import omit_at_default
from judgekit.records import (
    Fraction,
    JsonObject,
    Name,
    PanelCombination,
    ReconciliationRule,
    Record,
    Weight,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


JudgeMode = Literal["per_criterion", "joint"]
"""Whether each criterion is a question of its own, or all are one."""

JudgeKind = Literal["llm", "human", "heuristic"]


class CallSettings(Record):
    """How a judge model is called: what a suite file and `Judge(...)` can both set."""

    api_base: Annotated[
        Name | None,
        Field(description="Endpoint of the model, if it is not the provider's own."),
        CommandOption("--api-base", "judge", metavar="URL", in_pytest=True),
    ] = None

    # The transports are registered in `models`, a layer above: their names are checked there.
    transport: Annotated[
        Name,
        Field(
            description="How the model is called; auto: directly where the provider speaks "
            "OpenAI's protocol, else by litellm."
        ),
        CommandOption("--transport", "judge", is_rare=True),
    ] = "auto"

    mode: Annotated[
        JudgeMode,
        Field(description="One call per criterion, or one joint call for all criteria."),
        CommandOption("--mode", "judge", in_pytest=True),
    ] = "per_criterion"

    template: Annotated[
        Name | None,
        Field(description="Prompt template, by name or .j2 file; by default that of the mode."),
        CommandOption("--template", "judge", metavar="NAME"),
    ] = None

    repeats: Annotated[
        int,
        Field(ge=1, description="Judge calls for each question."),
        CommandOption("--repeats", "judge", in_pytest=True),
    ] = 1

    temperature: Annotated[
        float | None,
        Field(ge=0, description="Sampling temperature; null leaves it to the provider."),
        CommandOption("--temperature", "judge"),
    ] = 0.0

    seed: Annotated[
        int | None,
        Field(description="Sampling seed, for providers that accept one."),
        # `--seed` is that of the sample of cases.
        CommandOption("--judge-seed", "judge", parameter="judge_seed", is_rare=True),
    ] = None

    max_tokens: Annotated[
        int | None,
        Field(ge=1, description="Maximum length of a reply, in tokens."),
        CommandOption("--max-tokens", "judge", is_rare=True),
    ] = None

    logprobs: Annotated[
        bool,
        Field(description="Request token probabilities, for weighted scores and confidence."),
        CommandOption("--logprobs/--no-logprobs", "judge", is_rare=True),
    ] = False

    parameters: Annotated[
        JsonObject,
        Field(description="Further parameters of every request (top_p, reasoning_effort, …)."),
    ] = Field(default_factory=dict)

    max_concurrency: Annotated[
        int,
        Field(ge=1, description="Maximum number of simultaneous calls, for each model."),
        CommandOption("-j/--max-concurrency", "limits"),
    ] = 32

    rpm: Annotated[
        int | None,
        Field(ge=1, description="Maximum number of requests per minute."),
        CommandOption("--rpm", "limits", is_rare=True),
    ] = None

    tpm: Annotated[
        int | None,
        Field(ge=1, description="Maximum number of tokens per minute."),
        CommandOption("--tpm", "limits", is_rare=True),
    ] = None

    timeout_s: Annotated[
        float,
        Field(gt=0, allow_inf_nan=False, description="Time limit of one call, in seconds."),
        CommandOption("--timeout", "limits", is_rare=True),
    ] = 60

    max_retries: Annotated[
        int,
        Field(ge=0, description="Number of retries after a temporary provider error."),
        CommandOption("--max-retries", "limits", is_rare=True),
    ] = 5

    @classmethod
    def checked(cls, **settings: object) -> Self:
        """The settings, or a `SettingsError` that names the first one that is out of its range."""
        try:
            return cls.model_validate(settings)
        except ValidationError as error:
            from judgekit.formats import validation_faults  # noqa: PLC0415 - only for a fault

            fault = validation_faults(error, cls, cast("JsonObject", settings))[0]
            message = fault.message
            if len(fault.where) > 1:  # only `parameters` has parts
                message = f"the parameter {fault.where[1]} cannot be sent as JSON: {message}"
            raise SettingsError(message, hint=fault.remedy) from error

    def overrides(self) -> dict[str, object]:
        """The settings without their defaults, by name; a null that was set is one of them."""
        # Settings from several places are merged, and a default must not override a setting.
        return self.model_dump(exclude_unset=True, include=set(CallSettings.model_fields))


class JudgeSettings(CallSettings):
    """All settings of `Judge(...)` beside its model and the cache, prices and budget."""

    # Cache, prices and budget are live objects that judges share; they are handed over, not set.

    template_folders: Annotated[
        tuple[Path, ...],
        Field(description="Folder with your own templates; may be repeated."),
        CommandOption("--templates", "judge", has_variable=False, is_rare=True),
    ] = ()

    max_reasks: Annotated[
        int, Field(ge=0, description="Number of retries after a reply that cannot be parsed.")
    ] = 2

    refresh: Annotated[
        bool | Literal["unreadable"],
        Field(description="Ignore cached replies and fetch each one again."),
        CommandOption("--refresh", "cache", in_pytest=True),
    ] = False

    frozen: Annotated[
        bool,
        Field(description="Use cached replies only; a reply that is not cached is an error."),
        CommandOption("--frozen", "cache", in_pytest=True),
    ] = False

    scrub: Annotated[
        bool,
        Field(description="Remove passages in which an output names its model or author."),
        CommandOption("--scrub/--no-scrub", "blind", has_variable=False, is_rare=True),
    ] = True

    draw_labels: Annotated[
        bool,
        Field(description="Give the two outputs random labels besides their positions."),
        CommandOption("--draw-labels/--no-draw-labels", "blind", has_variable=False, is_rare=True),
    ] = True

    label_seed: Annotated[
        int | None,
        Field(description="Seed of the random labels; by default that of the judge, or 0."),
        CommandOption("--label-seed", "blind", has_variable=False, is_rare=True),
    ] = None

    rule: Annotated[
        ReconciliationRule,
        Field(
            description="Winner if the two orders disagree: nobody (consistent), or the side "
            "preferred in more than half of both, by probability with --logprobs (average)."
        ),
        CommandOption("--rule", "blind", has_variable=False),
    ] = "consistent"


class SuiteJudge(CallSettings):
    """One judge of a suite file."""

    model: Annotated[
        Name,
        Field(
            description="Provider and model (`openai/gpt-4.1-mini`), `recorded:replies.jsonl`, "
            "`human` for an annotator, or `heuristic` for the suite's assertions."
        ),
    ]

    name: Annotated[
        Name | None,
        Field(
            description="Name by which criteria of the rubric choose this judge (`judge: NAME`); a "
            "judge with a name grades only those criteria."
        ),
    ] = None

    weight: Annotated[
        Weight, Field(description="Weight among the judges of a panel combined by `weighted`.")
    ] = 1.0

    # A file is written once and run often: what is likely a typing error there (1000 repeats) is
    # refused, while a program may ask for it.
    repeats: Annotated[
        int, Field(ge=1, le=100, description="Judge calls for each question, 1 to 100.")
    ] = 1

    temperature: Annotated[
        float | None,
        Field(ge=0, le=2, description="Sampling temperature, 0 to 2; null: the provider's."),
    ] = 0.0

    # None and not "auto": a stored configuration, and with it a suite's history, must not change.
    transport: Annotated[
        Name | None, Field(description="How the model is called; null chooses a transport.")
    ] = None  # type: ignore[assignment]  # a suite may leave open what a judge must know

    _without_defaults = omit_at_default("name")

    @property
    def kind(self) -> JudgeKind:
        """Who judges."""
        if self.model == "human":
            return "human"
        return "heuristic" if self.model == "heuristic" else "llm"

    @model_validator(mode="after")
    def _has_settings_of_a_model_only_for_a_model(self) -> Self:
        shared = {"model", "weight", *(("name",) if self.kind == "human" else ())}
        own = self.model_dump(exclude_defaults=True, exclude=shared)
        if self.kind != "llm" and (unknown := sorted(own)):
            raise ValueError(f"the judge `{self.model}` takes no `{unknown[0]}`: it is no model")
        return self


class HumanSettings(Record):
    """What annotators of a suite's outputs are asked for."""

    reason: Literal["required", "optional"]
    """Whether each score needs a reason."""


class PanelSettings(Record):
    """How the values of several judges are combined."""

    combine: PanelCombination = "mean"
    """The rule. With `cascade` the judges are called in the order they stand in, the next one only
    where the one before was not sure enough."""

    escalate_below: Fraction | None = None
    """For `cascade`: below this confidence, or without one, the next judge is called."""

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        # A cascade without a threshold would always ask the first judge alone.
        if (self.combine == "cascade") != (self.escalate_below is not None):
            raise ValueError("`combine: cascade` and `escalate_below` go together")
        return self


class PriceSettings(Record):
    """What a model charges, in US dollars for a million tokens, as price lists give it."""

    input_usd: Weight
    """For tokens sent."""

    output_usd: Weight
    """For tokens received, hidden reasoning included."""

    cached_input_usd: Weight | None = None
    """For tokens sent that the provider had in its prompt cache; null takes `input_usd`."""

    cache_write_usd: Weight | None = None
    """For tokens sent that the provider puts into its prompt cache; null takes `input_usd`."""


class CompareSettings(Record):
    """How two variants are shown to a judge that compares them blind."""

    scrub: bool = True
    """Whether what names an output's maker is removed before the judge sees it."""

    draw_labels: bool = True
    """Whether the outputs get drawn labels that mean nothing beside their places."""

    seed: int = 0
    """Seed of the labels."""

    rule: ReconciliationRule = "consistent"
    """Who wins where the two orders differ: with `consistent` nobody, with `average` who is
    preferred by more than half of both, by token probabilities where the judge has `logprobs`."""


def may_ask_judge(rubric: object, assertions: Iterable[JsonObject]) -> bool:
    """Whether there is a rubric, or an assertion by which a judge compares outputs."""
    names = (spec.get("type") for spec in assertions)
    return rubric is not None or any(name in {"select-best", "variants.best"} for name in names)
