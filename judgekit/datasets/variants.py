"""Turns a variant with lists in it into one variant for each combination."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING

from judgekit.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from judgekit.datasets.suite import Suite
    from judgekit.datasets.suite_settings import VariantSettings
    from judgekit.records.record import JsonObject

_ONE_VALUE = frozenset({
    "temperature", "top_p", "top_k", "min_p", "seed", "n", "max_tokens", "max_completion_tokens",
    "frequency_penalty", "presence_penalty", "repetition_penalty", "reasoning_effort",
    "verbosity", "service_tier",
})  # fmt: skip
"""Parameters that are never lists, so that a list in their place means several variants."""


def expand_variants(suite: Suite) -> tuple[VariantSettings, ...]:
    """The variants of a suite, each with one prompt, one model and one value of each parameter."""
    # The order is the file's: the last of prompt, model and parameters changes quickest. What a
    # variant differs in from its siblings is in its id: `v2[model=openai/a,temperature=0.7]`. What
    # is no list, or a list of one, is not.
    expanded = tuple(one for variant in suite.variants for one in _expanded(variant))
    ids = [variant.id for variant in expanded]
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise SettingsError(
            f"two variants come to the id {twice[0]!r}",
            hint="a list may name each thing once; an id may not be that of a combination",
        )
    return expanded


def _expanded(variant: VariantSettings) -> list[VariantSettings]:
    prompts, models = _names(variant.prompt), _names(variant.model)
    sets = _parameter_sets(variant.parameters)
    if len(prompts) == len(models) == len(sets) == 1 and _is_plain(variant, sets[0]):
        return [variant]
    if not sets:
        raise SettingsError(f"variant {variant.id!r} has an empty list among its parameters")
    axes = list(dict.fromkeys(name for one in sets for name in one))
    shown = [name for name in axes if any(one.get(name) != sets[0].get(name) for one in sets)]
    found = []
    for prompt, model, parameters in product(prompts, models, sets):
        differs: dict[str, JsonValue] = {}
        if len(prompts) > 1:
            differs["prompt"] = prompt
        if len(models) > 1:
            differs["model"] = model
        differs |= {name: parameters.get(name) for name in shown}
        update = {"prompt": prompt, "model": model, "parameters": parameters}
        found.append(variant.model_copy(update={**update, "id": _id(variant.id, differs)}))
    return found


def _is_plain(variant: VariantSettings, parameters: JsonObject) -> bool:
    return (
        not isinstance(variant.prompt, tuple)
        and not isinstance(variant.model, tuple)
        and (variant.parameters == parameters)
    )


def _names(given: str | tuple[str, ...] | None) -> Sequence[str | None]:
    return given if isinstance(given, tuple) else (given,)


def _parameter_sets(given: JsonObject | tuple[JsonObject, ...]) -> list[JsonObject]:
    """Every set of parameters, with one value where a list stands for several."""
    found: list[JsonObject] = []
    for parameters in given if isinstance(given, tuple) else (given,):
        values = [
            value if name in _ONE_VALUE and isinstance(value, list) else [value]
            for name, value in parameters.items()
        ]
        found += [dict(zip(parameters, chosen, strict=True)) for chosen in product(*values)]
    return found


def _id(name: str, differs: JsonObject) -> str:
    if not differs:
        return name
    parts = (f"{key}={_shown(value)}" for key, value in differs.items())
    return f"{name}[{','.join(parts)}]"


def _shown(value: JsonValue) -> str:
    if value is None:
        return "default"
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
