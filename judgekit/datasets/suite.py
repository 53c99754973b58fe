"""The suite, the content of a `judgekit.yaml`; `variants` expands its variants."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from judgekit.datasets.judge_settings import (
    CompareSettings,
    HumanSettings,
    PanelSettings,
    PriceSettings,
    SuiteJudge,
    may_ask_judge,
)
from judgekit.fingerprint import omit_at_default
from judgekit.formats import as_path, is_foreign_file
from judgekit.records import (
    MODEL_BY_NODE,
    PROVIDER_BY_NODE,
    Case,
    Count,
    EvaluationProfileName,
    Finite,
    Gate,
    JsonObject,
    Name,
    Record,
    size_name,
)

VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Names = Annotated[tuple[Name, ...], Field(min_length=1)]
PositiveNumber = Annotated[float, Field(gt=0, allow_inf_nan=False)]
TargetKind = Literal["not_imported", "outputs", "prompt", "command", "python", "http"]
"""Where outputs come from; `not_imported` is a variant that nothing here calls."""
_KINDS: tuple[TargetKind, ...] = get_args(TargetKind)


def _short(field: str, *kinds: type) -> Callable[[object], object]:
    """A text, or a value of other kinds, stands for a mapping with that field."""
    return lambda value: {field: value} if isinstance(value, kinds or str) else value


class HttpTarget(Record):
    """An endpoint that answers a case."""

    url: Annotated[str, Field(pattern=r"^https?://\S+$")]
    """Where the case is sent."""

    method: Literal["POST", "PUT"] = "POST"
    """How."""

    headers: dict[str, str] = Field(default_factory=dict)
    """Headers to send; `${NAME}` stands for an environment variable, so that no key stands here."""

    body: JsonObject | None = None
    """JSON to send in place of the case; its texts are templates, and the reply is a text."""

    _without_defaults = omit_at_default("body")


def _token_size(value: object) -> object:
    """`8k` stands for 8000."""
    if not isinstance(value, str):
        return value
    if (match := _SIZE.fullmatch(value)) is None:
        raise ValueError(f"a size is a number of tokens such as 8k or 8000, not {value!r}")
    return int(match[1]) * (1000 if match[2] else 1)


_SIZE = re.compile(r"(\d{1,9})(k?)", re.IGNORECASE)
TokenSize = Annotated[int, Field(ge=0, le=10_000_000, strict=True), BeforeValidator(_token_size)]
_listed_sizes = _short("sizes", list, tuple)


class ContextSettings(Record):
    """Other text that is added to the context of every case, in several sizes."""

    sizes: Annotated[tuple[TokenSize, ...], Field(min_length=1)]
    """Tokens that are added, as `8k` or 8000; 0 adds none. Each variant is run at each size."""

    filler: Name | None = None
    """Text files to take the added text from, a path or a pattern such as `texts/*.txt`; null
    takes the contexts of other cases, and then invented records."""

    place: Literal["start", "middle", "end"] = "middle"
    """Where the case's own context stands in the longer one."""

    @model_validator(mode="after")
    def _names_each_size_once(self) -> Self:
        _refuse_twice(map(size_name, self.sizes), "the size {} is named twice")
        return self


class VariantSettings(Record):
    """One version to be graded, and where its outputs come from."""

    id: Name
    """Name of the variant; never shown to a judge."""

    outputs: Name | None = None
    """A file of recorded outputs."""

    prompt: Name | Names | None = None
    """A prompt template, a file or the text itself, that is rendered with the case and sent to
    `model`; of a list each is a variant, with each model and each set of parameters."""

    command: Names | None = None
    """A program and its arguments: the case as JSON on stdin, the output as JSON on stdout."""

    python: Annotated[str, Field(pattern=r"^[\w.]+:\w+$")] | None = None
    """A function as `module:name`, called with the case."""

    http: Annotated[HttpTarget, BeforeValidator(_short("url"))] | None = None
    """An endpoint that is sent the case and returns the output."""

    environment: dict[VariableName, str] = Field(default_factory=dict)
    """Environment variables of a `command`, beside the suite's; `${NAME}` stands for a variable
    that judgekit itself was given, so that no key stands here."""

    model: Name | Names | None = None
    """The model a `prompt` is sent to, or a function, `code:FILE:NAME`; a list as for `prompt`."""

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

    model_by_node: dict[str, str] = Field(default_factory=dict, validation_alias=MODEL_BY_NODE)
    """The model each node uses; it reaches a program under test, as `provider_by_node` does."""

    provider_by_node: dict[str, str] = Field(
        default_factory=dict, validation_alias=PROVIDER_BY_NODE
    )
    """The provider each node uses."""

    added_context_tokens: TokenSize | None = None
    """Tokens of other text that are added to each case's context, as `8k` or 8000; the suite's
    `context` sets it for each of its sizes."""

    transform: tuple[JsonObject, ...] = ()
    """Steps that each output goes through, before those of a case."""

    not_imported: Name | None = None
    """Why nothing here can call it, for a variant of another tool's file: what was not imported,
    and its place. Only its recorded outputs are graded; replace this by one of the sources above
    to run it."""

    _without_defaults = omit_at_default("added_context_tokens", "transform", "not_imported")

    @property
    def kind(self) -> TargetKind:
        """Where its outputs come from."""
        return next(kind for kind in _KINDS if getattr(self, kind) is not None)

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        present = [kind for kind in _KINDS if getattr(self, kind) is not None]
        # What is known of a variant that was not imported stays: a prompt, or a model without one.
        is_whole = self.not_imported is None
        present = [kind for kind in present if is_whole or kind != "prompt"]
        if len(present) != 1:
            has = " and ".join(present) or "none of them"
            raise ValueError(f"a variant needs one of {', '.join(_KINDS[1:])}; this one has {has}")
        if not is_whole:
            return self
        if (self.prompt is None) != (self.model is None):
            raise ValueError("`prompt` and `model` go together")
        if self.prompt is None and (self.parameters or self.api_base is not None):
            raise ValueError("`parameters` and `api_base` are for a `prompt`")
        if self.command is None and self.environment:
            raise ValueError("`environment` is for a `command`")
        return self


class NotifySettings(Record):
    """What is notified, once an episode, when quality breaks down."""

    command: Names | None = None
    """A program and its arguments; it gets the alarm as JSON on stdin."""

    environment: dict[Name, str] = Field(default_factory=dict)
    """Environment variables of that program, which gets no keys by itself; `${NAME}` stands for a
    variable of judgekit's own."""

    file: Name | None = None
    """A file to which a line of JSON is added."""

    webhook: Name | None = None
    """An address to which the JSON is sent; `${NAME}` stands for an environment variable, so that
    no address that works like a key stands here."""

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if sum(one is not None for one in (self.command, self.file, self.webhook)) != 1:
            raise ValueError("`notify` needs `command`, `file` or `webhook`, one of the three")
        if self.environment and self.command is None:
            raise ValueError("`environment` is for `command` only")
        return self


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

    dependencies: tuple[Name, ...] = ()
    """Programs and packages the cases need: a run checks that they are there, and installs none."""

    setup: Names | None = None
    """A program and its arguments, run before the first case."""

    teardown: Names | None = None
    """A program and its arguments, run after the last case."""

    _without_defaults = omit_at_default("dependencies")

    @model_validator(mode="after")
    def _does_not_contradict_itself(self) -> Self:
        # A case that waits for the one before is the only one at work.
        if self.in_sequence and (self.max_concurrency or 1) > 1:
            raise ValueError(
                "`in_sequence` and `max_concurrency` contradict each other: leave one out"
            )
        return self


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
        twice = f"the group {self.name} names the case {{}} twice"
        _refuse_twice(self.case_ids, twice, at="case_ids")
        return self


def _short_items(field: str, *, may_be_one: bool = False) -> Callable[[object], object]:
    """The same for each item of a list; where there may be one alone, the list may be left out."""
    short = _short(field)

    def whole(value: object) -> object:
        items = [value] if may_be_one and isinstance(value, str | dict) else value
        return [short(item) for item in items] if isinstance(items, list | tuple) else items

    return whole


@dataclass(frozen=True, slots=True)
class _Origin:
    """The file of a suite; two suites of the same content are equal, wherever they stand."""

    file: Path | None = field(default=None, compare=False)


class Suite(Record):
    """A suite file, as it stands; paths in it are relative to its folder."""

    name: Name
    """Name of the suite."""

    dataset: Name | None = None
    """A file of cases; or give them inline as `cases`. Where a variant names the same file as its
    `outputs`, each row has an output and its input, as in a log of production."""

    cases: Annotated[tuple[Case, ...], Field(min_length=1)] | None = None
    """The cases themselves."""

    benchmark: Name | None = None
    """Of a quality memory as `dataset`: the benchmark whose cases are run, by its id or name. What
    the suite does not set itself (owner, status, description, threshold) is the benchmark's."""

    columns: dict[Name, Name] = Field(default_factory=dict)
    """The dataset's columns that are fields (`question: input`); others go into the metadata."""

    profile: EvaluationProfileName | None = None
    """The kind of skill: how a case without an evaluation of its own is evaluated."""

    rubric: Name | None = None
    """A rubric file, a shipped rubric's name, or one of a quality memory (`memory.json#ID`)."""

    extra_rubrics: tuple[Name, ...] = ()
    """Rubrics whose criteria, called `RUBRIC.CRITERION`, are judged as well and decide nothing."""

    judge: Annotated[
        tuple[SuiteJudge, ...], BeforeValidator(_short_items("model", may_be_one=True))
    ] = ()
    """One judge, or a list of them: a panel. Criteria of the rubric that name a judge are graded
    by it alone, all others by the judges without a `name`."""

    human: HumanSettings | None = None
    """What annotators are asked for; null: a reason with each score where `judge: human` decides,
    and none where their labels only review a model's verdicts."""

    panel: PanelSettings | None = None
    """How the values of several judges are combined; null takes their mean."""

    variants: tuple[VariantSettings, ...] = ()
    """The versions to grade."""

    context: Annotated[ContextSettings, BeforeValidator(_listed_sizes)] | None = None
    """Sizes of the context at which every variant is run, as `[0, 8k, 32k]`: so many tokens of
    other text are added to each case's own. Only what is called gets them; judges do not."""

    assertions: tuple[JsonObject, ...] = ()
    """Deterministic checks of every output, each with a `type`."""

    scorers: Annotated[tuple[JsonObject, ...], BeforeValidator(_short_items("type"))] = ()
    """Measures of every output, each its name or a mapping with its `type` and parameters; with a
    `name` where two are of one type, and a `weight` in the overall score."""

    calibration: Name | None = None
    """A file of calibration maps, or a folder of them, from `judgekit calibrate --write-map`: while
    they hold, the values they make of the judge's decide."""

    gate: Gate | None = None
    """What a run must reach."""

    notify: NotifySettings | None = None
    """What is notified when quality breaks down."""

    settings: RunSettings = RunSettings()
    """How it is run."""

    compare: CompareSettings = CompareSettings()
    """How variants are compared blind."""

    suites: tuple[SuiteGroup, ...] = ()
    """Groups of cases, where some belong together."""

    prices: dict[Name, PriceSettings] = Field(default_factory=dict)
    """What models charge, by name, where the built-in table does not know it or is wrong."""

    tags: tuple[str, ...] = ()
    """Groups of runs."""

    description: str | None = None
    """What the suite is for."""

    version: Count | Finite | str = 1
    """The version its owner gives it."""

    owner: Name | None = None
    """Who is responsible for it."""

    status: Literal["active", "retired"] = "active"
    """Whether it is in use; a retired suite is run only with `--retired`."""

    _without_defaults = omit_at_default("status", "human", "extra_rubrics")
    _folder: Path = PrivateAttr(default=Path())
    _origin: _Origin = PrivateAttr(default=_Origin())

    @property
    def folder(self) -> Path:
        """The folder its paths are relative to: the suite file's own."""
        return self._folder

    @property
    def dataset_path(self) -> Path | None:
        """The file of cases; None where they are inline."""
        return None if self.dataset is None else self.resolve(self.dataset)

    @property
    def has_cases_in_outputs(self) -> bool:
        """Whether its dataset is a file of recorded outputs, with their inputs in the same rows."""
        path = self.dataset_path
        return (
            path is not None
            and not self.columns
            and any(
                variant.outputs is not None
                and self.resolve(variant.outputs).resolve() == path.resolve()
                for variant in self.variants
            )
            # Records of other tools have cases and outputs apart.
            and not is_foreign_file(path)
        )

    @property
    def rubric_source(self) -> Path | str | None:
        """What `load_rubric` takes for the suite's rubric."""
        return None if self.rubric is None else self.rubric_named(self.rubric)

    def rubric_named(self, name: str) -> Path | str:
        """What `load_rubric` takes: a path is relative to the suite, a bare name is shipped."""
        return self.resolve(name) if names_a_file(name) else name

    def resolve(self, path: str) -> Path:
        """A path of the suite as one that can be opened."""
        return self._folder / as_path(path)

    def in_folder(self, folder: Path) -> Suite:
        """The same suite with its paths relative to a folder."""
        suite = self.model_copy()
        suite._folder = folder  # noqa: SLF001 - its own, on the copy made above
        return suite

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if (self.dataset is None) == (self.cases is None):
            raise ValueError("a suite needs `dataset` or `cases`, one of the two")
        ids = (variant.id for variant in self.variants)
        _refuse_twice(ids, "two variants are called {}", at="variants")
        bad = [n for n, c in enumerate(self.assertions) if not isinstance(c.get("type"), str)]
        if bad:
            raise ValueError(f"`assertions[{bad[0]}]` needs a `type`, such as `output.contains`")
        if self.columns and self.dataset is None:
            raise ValueError("`columns` are those of a `dataset`")
        if self.benchmark is not None and (self.dataset is None or self.columns):
            raise ValueError("a `benchmark` is one of a quality memory that is the `dataset`")
        _refuse_twice(
            (case.id for case in self.cases or ()),
            "two cases have the id {}: rename one, ids name results",
            at="cases",
        )
        _refuse_twice(
            (group.name for group in self.suites), "two suites are called {}", at="suites"
        )
        return self

    @model_validator(mode="after")
    def _measures_what_it_names(self) -> Self:
        for place, scorer in enumerate(self.scorers):
            at = f"scorers[{place}]"
            if not isinstance(scorer.get("type"), str):
                raise ValueError(f"`{at}` needs a `type`, such as `latency`")  # noqa: TRY004
            weight = scorer.get("weight", 1)
            is_truth = isinstance(weight, bool)  # which Python counts as a number
            if is_truth or not (isinstance(weight, int | float) and 0 <= weight < inf):
                raise ValueError(f"`{at}.weight` must be a number, 0 or more")
        names = map(scorer_name, self.scorers)
        _refuse_twice(names, "two scorers are called {}: give one a `name`", at="scorers")
        return self

    @model_validator(mode="after")
    def _judges_can_judge(self) -> Self:
        kinds = {judge.kind for judge in self.judge}
        if kinds - {"heuristic"} and not self._may_have_rubric():
            raise ValueError("a judge needs a `rubric`, or cases with a `reference`")
        # Alone, it may go by the assertions of the cases, which are known when they are read.
        if "heuristic" in kinds and not self.assertions and len(kinds) > 1:
            raise ValueError("the judge `heuristic` needs `assertions`")
        names = (judge.name for judge in self.judge)
        _refuse_twice(names, "two judges have the name {}", at="judge")
        combine = "mean" if self.panel is None else self.panel.combine
        if self.panel is not None and len(self.judge) <= 1:
            raise ValueError("a `panel` needs two judges or more")
        if combine != "weighted" and any(judge.weight != 1 for judge in self.judge):
            raise ValueError("the `weight` of a judge needs `panel: {combine: weighted}`")
        if combine == "weighted" and not any(judge.weight > 0 for judge in self.judge):
            raise ValueError("at least one judge needs a `weight` above 0")
        return self

    def _may_have_rubric(self) -> bool:
        """Whether answers may be judged; of cases in a file that is known when they are read."""
        if self.cases is None or self.profile is not None:
            return True
        own = (may_ask_judge(c.rubric or c.reference, c.assertions) for c in self.cases)
        return may_ask_judge(self.rubric, self.assertions) or any(own)


def resolve_suite_template(suite: Suite, template: str | None) -> str | None:
    """A template's name; a file that a suite names is found beside the suite."""
    if template is None:
        return None
    # A file beside the suite comes first, so that a suite keeps its meaning when a template of that
    # name is shipped.
    beside = suite.resolve(template)
    return str(beside) if beside.is_file() else template


def suite_template_folders(suite: Suite) -> list[Path]:
    """The suite's own templates: a `prompts/` folder beside its file."""
    folder = suite.resolve("prompts")
    return [folder] if folder.is_dir() else []


def resolve_suite_model(suite: Suite, model: str) -> str:
    """A model's name; recorded replies named in a suite lie beside it."""
    kind, colon, path = model.partition(":")
    return f"{kind}:{suite.resolve(path)}" if kind == "recorded" and colon else model


def of_file(suite: Suite, file: Path) -> Suite:
    """A suite with the file it was read from, to which its paths are relative."""
    suite = suite.in_folder(file.parent)
    suite._origin = _Origin(file)  # noqa: SLF001 - its own, on the copy made above
    return suite


def suite_file(suite: Suite) -> Path | None:
    """The file of a suite, for messages; None for one made of another tool's file or in memory."""
    return suite._origin.file  # noqa: SLF001 - its own


def _refuse_twice(names: Iterable[str | None], message: str, *, at: str = "") -> None:
    earlier: set[str] = set()
    for place, name in enumerate(names):
        if name in earlier:
            where = f" (`{at}[{place}]`)" if at else ""
            raise ValueError(message.format(name) + where)
        earlier |= {name} if name is not None else set()


def scorer_name(scorer: JsonObject) -> str:
    return str(scorer.get("name") or scorer.get("type"))


# A rubric of a quality memory is named by the file and its id: `memory.jsonl#rub-7`.
_RUBRIC_FILE = re.compile(r"\.(yaml|yml|jsonl?)(#.|$)")


def names_a_file(name: str) -> bool:
    """Whether a rubric is given as a file rather than by the name of a shipped one."""
    is_path = "/" in name or "\\" in name
    return is_path or _RUBRIC_FILE.search(name.lower()) is not None
