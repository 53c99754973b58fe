from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from judgekit.datasets import Suite, expand_variants
from judgekit.errors import SettingsError


def make_suite(*variants: dict[str, Any]) -> Suite:
    cases = [{"id": "a", "input": "x"}]
    return Suite.model_validate({"name": "s", "cases": cases, "variants": variants})


def ids(*variants: dict[str, Any]) -> list[str]:
    return [variant.id for variant in expand_variants(make_suite(*variants))]


def test_variants_without_lists_stay_as_they_are() -> None:
    suite = make_suite(
        {"id": "v1", "outputs": "o.jsonl"}, {"id": "v2", "prompt": "p", "model": "m"}
    )
    assert expand_variants(suite) == suite.variants


def test_prompts_models_and_parameters_make_a_matrix() -> None:
    variant = {
        "id": "v", "prompt": ["a.j2", "b.j2"], "model": ["m", "n"],
        "parameters": {"temperature": [0, 0.7], "stop": ["x", "y"], "seed": 1},
        "model_by_node": {"planner": "m"}, "tags": ["t"],
    }  # fmt: skip
    expanded = expand_variants(make_suite(variant))
    assert len(expanded) == 8
    assert expanded[0].id == "v[prompt=a.j2,model=m,temperature=0]"
    assert expanded[-1].id == "v[prompt=b.j2,model=n,temperature=0.7]"
    assert (expanded[-1].prompt, expanded[-1].model) == ("b.j2", "n")
    assert expanded[-1].parameters == {"temperature": 0.7, "stop": ["x", "y"], "seed": 1}
    assert {one.model_by_node["planner"] for one in expanded} == {"m"}


def test_sets_of_parameters_are_told_apart_by_what_differs() -> None:
    sets = [{"top_p": 1, "seed": 3}, {"top_p": 1, "stop": ["x"], "seed": 3}]
    assert ids({"id": "v", "prompt": "p", "model": "m", "parameters": sets}) == [
        "v[stop=default]",
        'v[stop=["x"]]',
    ]


def test_a_list_of_one_keeps_the_id() -> None:
    suite = make_suite({"id": "v", "prompt": ["p"], "model": ["m"], "parameters": [{"seed": 1}]})
    (only,) = expand_variants(suite)
    assert (only.id, only.prompt, only.model, only.parameters) == ("v", "p", "m", {"seed": 1})


def test_the_same_combination_twice_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"two variants would have the id 'v\[model=m\]'"):
        ids({"id": "v", "prompt": "p", "model": ["m", "m"]})


def test_an_id_of_a_combination_may_not_be_taken() -> None:
    with pytest.raises(SettingsError, match="two variants would have the id"):
        ids(
            {"id": "v", "prompt": "p", "model": ["m", "n"]},
            {"id": "v[model=n]", "outputs": "o.jsonl"},
        )


def test_an_empty_list_of_values_is_refused() -> None:
    with pytest.raises(SettingsError, match="variant 'v' has an empty list"):
        ids({"id": "v", "prompt": "p", "model": "m", "parameters": {"seed": []}})


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"outputs": "o", "parameters": {"seed": 1}}, "are for a `prompt`"),
        ({"outputs": "o", "api_base": "http://x"}, "are for a `prompt`"),
        ({"outputs": "o", "environment": {"A": "b"}}, "is for a `command`"),
        ({"command": ["x"], "environment": {"A-B": "b"}}, "pattern"),
        ({"prompt": [], "model": "m"}, "at least 1"),
        ({"prompt": "p", "model": ["m"], "parameters": []}, "at least 1"),
    ],
)
def test_what_goes_with_nothing_is_refused(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        make_suite({"id": "v", **fields})
