"""The suite: the content of a `judgekit.yaml`, and the variants it expands to.

Its settings are in `settings`.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections import Counter
from itertools import pairwise, product
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from judgekit.datasets.judge_settings import SuiteJudge
from judgekit.datasets.settings import (
    CompareSettings,
    Gate,
    HttpTarget,
    PanelSettings,
    PriceSettings,
    RunSettings,
    SuiteGroup,
    VariantSettings,
)
from judgekit.errors import SettingsError
from judgekit.formats import as_path
from judgekit.records import Case, Count, EvaluationProfileName, Finite, JsonObject, Name, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic import JsonValue

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SMALLEST_PANEL = 2


def _named_model(value: object) -> object:
    return {"model": value} if isinstance(value, str) else value


def _panel(value: object) -> object:
    """One judge may stand without the list, and a judge may be its model's name alone."""
    if isinstance(value, str | dict):
        return [_named_model(value)]
    return [_named_model(item) for item in value] if isinstance(value, list) else value


def _is_weight(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf


def _scorers(value: object) -> object:
    """A scorer may be its name alone."""
    if not isinstance(value, list | tuple):
        return value
    return [{"type": item} if isinstance(item, str) else item for item in value]


class Suite(Record):
    """A suite file, as it stands; paths in it are relative to its folder."""

    name: Name
    """Name of the suite."""

    dataset: Name | None = None
    """A file of cases; or give them inline as `cases`."""

    cases: Annotated[tuple[Case, ...], Field(min_length=1)] | None = None
    """The cases themselves."""

    columns: dict[Name, Name] = Field(default_factory=dict)
    """The dataset's names of columns with the fields of a case they are (`question: input`); all
    others go into the metadata."""

    profile: EvaluationProfileName | None = None
    """The kind of skill: how a case without an evaluation of its own is evaluated."""

    rubric: Name | None = None
    """A rubric file, or the name of a shipped rubric."""

    judge: Annotated[tuple[SuiteJudge, ...], BeforeValidator(_panel)] = ()
    """One judge, or a list of them: a panel."""

    panel: PanelSettings | None = None
    """How the values of several judges are combined; null takes their mean."""

    variants: tuple[VariantSettings, ...] = ()
    """The versions to grade."""

    assertions: tuple[JsonObject, ...] = ()
    """Deterministic checks of every output, each with a `type`."""

    scorers: Annotated[tuple[JsonObject, ...], BeforeValidator(_scorers)] = ()
    """Measures of every output, each its name or a mapping with its `type` and parameters; with a
    `name` where two are of one type, and a `weight` in the overall score."""

    calibration: Name | None = None
    """A file of calibration maps, or a folder of them, from `judgekit calibrate --write-map`: while
    they hold, the values they make of the judge's decide."""

    gate: Gate | None = None
    """What a run must reach."""

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

    _folder: Path = PrivateAttr(default=Path())

    @property
    def folder(self) -> Path:
        """The folder its paths are relative to: the suite file's own."""
        return self._folder

    @property
    def dataset_path(self) -> Path | None:
        """The file of cases; None where they are inline."""
        return None if self.dataset is None else self.resolve(self.dataset)

    @property
    def rubric_source(self) -> Path | str | None:
        """What `load_rubric` takes: the rubric's file, or a shipped rubric's name."""
        if self.rubric is None or not names_a_file(self.rubric):
            return self.rubric
        return self.resolve(self.rubric)

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
        if twice := _twice(variant.id for variant in self.variants):
            raise ValueError(f"two variants are called {twice}")
        untyped = [
            n for n, c in enumerate(self.assertions, 1) if not isinstance(c.get("type"), str)
        ]
        if untyped:
            raise ValueError(f"assertion {untyped[0]} needs a `type`, such as `output.contains`")
        if self.columns and self.dataset is None:
            raise ValueError("`columns` are those of a `dataset`")
        if twice := _twice(case.id for case in self.cases or ()):
            raise ValueError(f"two cases have the id {twice}: rename one, ids name results")
        if twice := _twice(group.name for group in self.suites):
            raise ValueError(f"two suites are called {twice}")
        return self

    @model_validator(mode="after")
    def _measures_what_it_names(self) -> Self:
        for place, scorer in enumerate(self.scorers, 1):
            if not isinstance(scorer.get("type"), str):
                raise ValueError(f"scorer {place} needs a `type`, such as `latency`")  # noqa: TRY004
            if not _is_weight(scorer.get("weight", 1)):
                raise ValueError(f"the `weight` of scorer {place} must be a number, 0 or more")
        if twice := _twice(scorer_name(scorer) for scorer in self.scorers):
            raise ValueError(f"two scorers are called {twice}: give one a `name`")
        return self

    @model_validator(mode="after")
    def _judges_can_judge(self) -> Self:
        if any(judge.kind != "heuristic" for judge in self.judge) and not self._may_have_rubric():
            raise ValueError("a judge needs a `rubric`, or cases with a `reference`")
        if any(judge.kind == "heuristic" for judge in self.judge) and not self.assertions:
            raise ValueError("the judge `heuristic` needs `assertions`")
        combine = "mean" if self.panel is None else self.panel.combine
        if self.panel is not None and len(self.judge) < _SMALLEST_PANEL:
            raise ValueError("a `panel` needs two judges or more")
        if combine != "weighted" and any(judge.weight != 1 for judge in self.judge):
            raise ValueError("the `weight` of a judge needs `panel: {combine: weighted}`")
        if combine == "weighted" and not any(judge.weight > 0 for judge in self.judge):
            raise ValueError("at least one judge needs a `weight` above 0")
        return self

    def _may_have_rubric(self) -> bool:
        """Whether answers may be judged; of cases in a file that is known when they are read."""
        if self.cases is None or self.rubric is not None or self.profile is not None:
            return True
        return any(case.rubric is not None or case.reference is not None for case in self.cases)


def _twice(names: Iterable[str]) -> str:
    """The names that occur more than once, as a list in words."""
    counted = Counter(names)
    return ", ".join(sorted(name for name, n in counted.items() if n > 1))


def scorer_name(scorer: JsonObject) -> str:
    """The name of the scores of a scorer."""
    return str(scorer.get("name") or scorer.get("type"))


def names_a_file(name: str) -> bool:
    """Whether a rubric is given as a file rather than by the name of a shipped one."""
    return "/" in name or "\\" in name or name.lower().endswith((".yaml", ".yml", ".json"))


def suite_schema() -> JsonObject:
    """The JSON Schema of a suite file, for editors."""
    schema: dict[str, Any] = {"$schema": _DIALECT, **Suite.model_json_schema()}
    records = (
        PanelSettings, HttpTarget, VariantSettings, Gate, RunSettings,
        CompareSettings, SuiteGroup, PriceSettings, Case,
    )  # fmt: skip
    definitions = schema["$defs"]
    for record in records:
        _describe(definitions[record.__name__], record)
    _describe(schema, Suite)
    _allow_short_forms(schema)
    return schema


def _allow_short_forms(schema: dict[str, Any]) -> None:
    """Add the short forms that a file may have, though the record has the long form."""
    one: dict[str, Any] = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/SuiteJudge"}]}
    many: dict[str, Any] = {"type": "array", "items": one}
    scorers = schema["properties"]["scorers"]
    scorers["items"] = {"anyOf": [{"type": "string"}, scorers["items"]]}
    judge = schema["properties"]["judge"]
    del judge["items"], judge["type"]
    judge["anyOf"] = [*one["anyOf"], many]
    variant = schema["$defs"]["VariantSettings"]["properties"]["http"]
    variant["anyOf"].insert(0, {"type": "string"})


def _describe(schema: dict[str, Any], record: type[Record]) -> None:
    """Take the descriptions of the fields from the strings under them."""
    body = ast.parse(textwrap.dedent(inspect.getsource(record))).body[0].body  # type: ignore[attr-defined]  # a class
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            name, words = ast.unparse(field.target), ast.literal_eval(text.value)
            if name in record.model_fields:
                schema["properties"][name]["description"] = inspect.cleandoc(words)


# Parameters that are never lists, so that a list in their place means several variants.
_ONE_VALUE = frozenset({
    "temperature", "top_p", "top_k", "min_p", "seed", "n", "max_tokens", "max_completion_tokens",
    "frequency_penalty", "presence_penalty", "repetition_penalty", "reasoning_effort",
    "verbosity", "service_tier",
})  # fmt: skip


def expand_variants(suite: Suite) -> tuple[VariantSettings, ...]:
    """The variants of a suite, each with one prompt, one model and one value of each parameter."""
    # The order is the file's: the last of prompt, model and parameters changes first. The id of a
    # variant has its differences from its siblings: `v2[model=openai/a,temperature=0.7]`.
    expanded = tuple(one for variant in suite.variants for one in _expanded(variant))
    ids = [variant.id for variant in expanded]
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise SettingsError(
            f"two variants would have the id {twice[0]!r}",
            hint="a list may name each thing once; an id may not be that of a combination",
        )
    return expanded


def _expanded(variant: VariantSettings) -> list[VariantSettings]:
    prompts, models = _as_tuple(variant.prompt), _as_tuple(variant.model)
    sets = _parameter_sets(variant.parameters)
    if not sets:
        raise SettingsError(f"variant {variant.id!r} has an empty list among its parameters")
    names = dict.fromkeys(name for one in sets for name in one)
    shown = [name for name in names if any(one.get(name) != sets[0].get(name) for one in sets)]
    found = []
    for prompt, model, parameters in product(prompts, models, sets):
        differs: dict[str, JsonValue] = {}
        if len(prompts) > 1:
            differs["prompt"] = prompt
        if len(models) > 1:
            differs["model"] = model
        differs |= {name: parameters.get(name) for name in shown}
        parts = ",".join(f"{name}={_shown(value)}" for name, value in differs.items())
        update = {"prompt": prompt, "model": model, "parameters": parameters}
        name = f"{variant.id}[{parts}]" if parts else variant.id
        found.append(variant.model_copy(update={**update, "id": name}))
    return found


def _as_tuple(names: str | tuple[str, ...] | None) -> Sequence[str | None]:
    return names if isinstance(names, tuple) else (names,)


def _parameter_sets(sets: JsonObject | tuple[JsonObject, ...]) -> list[JsonObject]:
    """Every set of parameters, with one value where a list stands for several."""
    found: list[JsonObject] = []
    for parameters in sets if isinstance(sets, tuple) else (sets,):
        values = [
            value if name in _ONE_VALUE and isinstance(value, list) else [value]
            for name, value in parameters.items()
        ]
        found += [dict(zip(parameters, chosen, strict=True)) for chosen in product(*values)]
    return found


def _shown(value: JsonValue) -> str:
    if value is None:
        return "default"
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
