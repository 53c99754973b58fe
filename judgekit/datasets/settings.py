"""The settings in a suite: panels, variants, prices, targets, gate and run.

Those of a judge are in `judge_settings`.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self, get_args

from pydantic import BeforeValidator, Field, model_validator

from judgekit.records import (
    Fraction,
    JsonObject,
    Name,
    PanelCombination,
    ReconciliationRule,
    Record,
    Weight,
)

VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Names = Annotated[tuple[Name, ...], Field(min_length=1)]
PositiveNumber = Annotated[float, Field(gt=0, allow_inf_nan=False)]
TargetKind = Literal["outputs", "prompt", "command", "python", "http"]
"""Where outputs come from."""
DEFAULT_CACHE_FOLDER = ".judgekit/cache"
"""Where replies are cached by default."""

DEFAULT_STORE_FILE = ".judgekit/judgekit.db"
"""Where runs are stored by default."""

_KINDS: tuple[TargetKind, ...] = get_args(TargetKind)


def _named_url(value: object) -> object:
    return {"url": value} if isinstance(value, str) else value


class PanelSettings(Record):
    """How the values of several judges are combined."""

    combine: PanelCombination = "mean"
    """The rule. With `cascade` the judges are asked in the order they stand in, the next one only
    where the one before was not sure enough."""

    escalate_below: Fraction | None = None
    """For `cascade`: below this confidence, or without one, the next judge is asked."""

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


class HttpTarget(Record):
    """An endpoint that answers a case."""

    url: Annotated[str, Field(pattern=r"^https?://\S+$")]
    """Where the case is sent."""

    method: Literal["POST", "PUT"] = "POST"
    """How."""

    headers: dict[str, str] = Field(default_factory=dict)
    """Headers to send; `${NAME}` stands for an environment variable, so that no key stands here."""


class VariantSettings(Record):
    """One version to be graded, and where its outputs come from."""

    id: Name
    """Name of the variant; never shown to a judge."""

    outputs: Name | None = None
    """A file of recorded outputs."""

    prompt: Name | Names | None = None
    """A prompt template that is rendered with the case and sent to `model`; of a list each is a
    variant of its own, with each model and each set of parameters."""

    command: Names | None = None
    """A program and its arguments: the case as JSON on stdin, the output as JSON on stdout."""

    python: Annotated[str, Field(pattern=r"^[\w.]+:\w+$")] | None = None
    """A function as `module:name`, called with the case."""

    http: Annotated[HttpTarget, BeforeValidator(_named_url)] | None = None
    """An endpoint that is sent the case and returns the output."""

    environment: dict[VariableName, str] = Field(default_factory=dict)
    """Environment variables of a `command`, beside the suite's; `${NAME}` stands for a variable
    that judgekit itself was given, so that no key stands here."""

    model: Name | Names | None = None
    """The model a `prompt` is sent to; a list as for `prompt`."""

    api_base: Name | None = None
    """The endpoint of that model, where it is not the provider's own."""

    parameters: JsonObject | Annotated[tuple[JsonObject, ...], Field(min_length=1)] = Field(
        default_factory=dict
    )
    """Sampling parameters of that model (`temperature`, `max_tokens`, …); a list of sets, or a
    list in the place of a number, as for `prompt`."""

    timeout_s: PositiveNumber | None = None
    """How long one answer may take, in seconds."""

    tags: tuple[str, ...] = ()
    """Groups of variants."""

    prompt_version: str | None = None
    """The version of the prompt it uses."""

    model_by_node: dict[str, str] = Field(default_factory=dict)
    """The model each node uses."""

    provider_by_node: dict[str, str] = Field(default_factory=dict)
    """The provider each node uses."""

    @property
    def kind(self) -> TargetKind:
        """Where its outputs come from."""
        return next(kind for kind in _KINDS if getattr(self, kind) is not None)

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        present = [kind for kind in _KINDS if getattr(self, kind) is not None]
        if len(present) != 1:
            has = " and ".join(present) or "none of them"
            raise ValueError(f"a variant needs one of {', '.join(_KINDS)}; this one has {has}")
        if (self.prompt is None) != (self.model is None):
            raise ValueError("`prompt` and `model` go together")
        if self.prompt is None and (self.parameters or self.api_base is not None):
            raise ValueError("`parameters` and `api_base` are for a `prompt`")
        if self.command is None and self.environment:
            raise ValueError("`environment` is for a `command`")
        return self


class Gate(Record):
    """What a run must reach."""

    tier: Literal["production", "development", "experimental"] | None = None
    """The least overall value: production 0.8, development 0.7, experimental 0.6."""

    max_drop: Fraction | None = None
    """How far the pass rate may fall below the baseline's, 0 to 1."""

    require_calibration: bool = False
    """Whether a run is not begun without a `calibration` that holds for its judge and rubric."""


class RunSettings(Record):
    """How a suite is run."""

    timeout_s: PositiveNumber | None = None
    """How long one case may take, answer and judges together, in seconds; null for no limit."""

    in_sequence: bool = False
    """Whether each case waits for the one before."""

    max_concurrency: Annotated[int, Field(ge=1)] | None = None
    """Cases in work at most; null leaves it to the judges' own limits."""

    fail_fast: bool = False
    """Whether the first answer that does not pass ends the run."""

    retry_failed: Annotated[int, Field(ge=0, le=100)] = 0
    """How often an answer that does not pass is tried again, 0 to 100."""

    repeats: Annotated[int, Field(ge=1, le=100)] = 1
    """How often each variant answers each case, 1 to 100."""

    environment: dict[VariableName, str] = Field(default_factory=dict)
    """Environment variables of commands and scripts; keys and passwords do not belong here."""

    setup: Names | None = None
    """A program and its arguments, run before the first case."""

    teardown: Names | None = None
    """A program and its arguments, run after the last case."""

    @model_validator(mode="after")
    def _does_not_contradict_itself(self) -> Self:
        # A case that waits for the one before is the only one at work.
        if self.in_sequence and (self.max_concurrency or 1) > 1:
            raise ValueError(
                "`in_sequence` and `max_concurrency` contradict each other: leave one out"
            )
        return self


class CompareSettings(Record):
    """How two variants are shown to a judge that compares them blind."""

    scrub: bool = True
    """Whether what names an output's maker is taken out before the judge sees it."""

    draw_labels: bool = True
    """Whether the outputs get drawn labels that mean nothing beside their places."""

    seed: int = 0
    """Seed of the labels."""

    rule: ReconciliationRule = "consistent"
    """Who wins where the two orders differ: with `consistent` nobody, with `average` who is
    preferred by more than half of both, by token probabilities where the judge has `logprobs`."""


class SuiteGroup(Record):
    """Cases that belong together."""

    name: Name
    """Name of the group."""

    case_ids: Names
    """Ids of its cases, in the order they are run."""

    in_sequence: bool = False
    """Whether each of them waits for the one before."""

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        ids = self.case_ids
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise ValueError(f"the group {self.name} names the case {', '.join(twice)} twice")
        return self
