"""Expands the variants of a suite: one for each prompt, model, parameter and context size."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING

from judgekit.errors import SettingsError, UnknownNameError
from judgekit.records import JsonObject, size_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import JsonValue

    from judgekit.datasets.suite import ContextSettings, Suite, VariantSettings

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
    expanded = tuple(
        one
        for variant in suite.variants
        for plain in _expanded(variant)
        for one in _at_each_size(plain, suite.context)
    )
    ids = [variant.id for variant in expanded]
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise SettingsError(
            f"two variants would have the id {twice[0]!r}",
            hint="a list may name each thing once; an id may not be that of a combination",
        )
    return expanded


def choose_variants(
    variants: Sequence[VariantSettings], wanted: Sequence[str]
) -> tuple[VariantSettings, ...]:
    """The variants that are wanted; all of them where none is named."""
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


def _expanded(variant: VariantSettings) -> list[VariantSettings]:
    prompts = variant.prompt if isinstance(variant.prompt, tuple) else (variant.prompt,)
    models = variant.model if isinstance(variant.model, tuple) else (variant.model,)
    # Every set of parameters, with one value where a list stands for several.
    sets: list[JsonObject] = []
    listed = variant.parameters
    for one in listed if isinstance(listed, tuple) else (listed,):
        values = [
            value if name in _ONE_VALUE and isinstance(value, list) else [value]
            for name, value in one.items()
        ]
        sets += [dict(zip(one, chosen, strict=True)) for chosen in product(*values)]
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


def _at_each_size(
    variant: VariantSettings, context: ContextSettings | None
) -> Iterator[VariantSettings]:
    """A variant at each size of the context: `v1@0`, `v1@8k`."""
    is_longer = variant.added_context_tokens or (
        context is not None and variant.added_context_tokens is None
    )
    if is_longer and variant.outputs is not None:
        raise SettingsError(
            f"variant {variant.id!r} is recorded: no context can be added to it any more",
            hint="omit the sizes, run it, and look at the scores over the size that each answer "
            "had: judgekit explain --by input_tokens (or case.metadata.NAME)",
        )
    if context is None or variant.added_context_tokens is not None:
        yield variant
        return
    for size in context.sizes:
        update = {"id": f"{variant.id}@{size_name(size)}", "added_context_tokens": size}
        yield variant.model_copy(update=update)


def _shown(value: JsonValue) -> str:
    if value is None:
        return "default"
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
