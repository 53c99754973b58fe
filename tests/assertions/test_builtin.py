from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from judgekit.assertions import (
    SYNONYMS,
    SimilaritySettings,
    assertion_registry,
    scorer_registry,
    similar_entry,
)
from judgekit.assertions.registry import ELSEWHERE, GROUPS, declaration_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.registry import Registry


@pytest.mark.parametrize("registry", [assertion_registry(), scorer_registry()])
def test_every_name_of_the_table_is_the_declared_one(registry: Registry) -> None:
    own = [name for name, entry in registry.items() if entry.source == "judgekit"]
    for name in own:
        assert declaration_of(cast("Callable[..., object]", registry.load(name))).name == name


def test_every_other_name_stands_for_parameters_there_are() -> None:
    registry = assertion_registry().plus(similar_entry(SimilaritySettings()))
    for synonym in SYNONYMS.values():
        said = declaration_of(cast("Callable[..., object]", registry.load(synonym.name)))
        assert {*synonym.renamed.values(), *synonym.fixed} <= said.parameters.keys()


def test_no_name_means_two_things() -> None:
    tables = (assertion_registry(), SYNONYMS, GROUPS, ELSEWHERE)
    names = [name for table in tables for name in table]
    assert len(names) == len(set(names))


def test_every_default_satisfies_its_own_parameter() -> None:
    for name, entry in assertion_registry().items():
        function = entry.load()
        defaults = getattr(function, "__kwdefaults__", None) or {}
        for parameter, default in defaults.items():
            if parameter != "case":
                said = declaration_of(cast("Callable[..., object]", function))
                said.parameters[parameter].adapter.validate_python(default, strict=True)
        assert name
