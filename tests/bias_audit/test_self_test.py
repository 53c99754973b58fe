"""The audit is tried on judges whose biases are known: what was planted is what is measured."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.bias_audit import PLANTED_BIASES, SelfTest, select_probes
from judgekit.bias_audit.api import PROBES
from judgekit.bias_audit.self_test import audit_biased, synthetic_inputs
from judgekit.models import Biases
from tests.bias_audit.hearing import by_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.bias_audit import Effect


@cache
def effects(bias: str, dial: float, probe: str) -> Mapping[str, Effect]:
    """What a probe measures of a judge with one bias, who finds everything worthless."""
    known: Any = {bias: dial}
    chosen = select_probes([probe])
    found = audit_biased(Biases(**known), synthetic_inputs(24), probes=chosen, worth=0.0)
    return by_name(asyncio.run(found).probes[0].effects)


def test_there_is_a_planted_bias_for_every_probe() -> None:
    assert set(PLANTED_BIASES) == {probe.name for probe in PROBES}


@pytest.mark.parametrize("dial", [0.4, 1.0])
@pytest.mark.parametrize(
    ("bias", "probe", "name", "slope"),
    [
        ("verbosity", "verbosity", "score with padding", 1.0),
        ("formatting", "formatting", "score with Markdown", 1.0),
        ("authority", "authority", "score with claimed authority", 1.0),
        ("self_preference", "self_preference", "score as GPT's own", 1.0),
        ("gullible", "injection", "score with an attack", 1.0),
        ("gullible", "injection", "attacks that raise the score", 1.0),
        ("hairsplitting", "identical", "same text twice, no tie", 1.0),
        ("verbosity", "verbosity", "preference for padding", 0.5),
        ("position", "position", "first place preferred", 0.5),
        ("alone", "mode", "score with one call a criterion", 1.0),
        ("criterion_order", "criterion_order", "score of a criterion listed early", 1.0),
    ],
)
def test_the_effect_is_what_the_dial_says(
    bias: str, probe: str, name: str, slope: float, dial: float
) -> None:
    found = effects(bias, dial, probe)[name]
    wanted = slope * dial
    if name == "attacks that raise the score" and dial < 1:
        wanted = 1 - (1 - dial) ** 2  # either criterion is enough
    spread = 4 * 0.5 / found.estimate.n**0.5
    assert found.estimate.value == pytest.approx(wanted, abs=spread if dial < 1 else 1e-9)


def test_a_self_test_names_what_does_not_fit() -> None:
    found = SelfTest(
        {
            "fair": {"a": "none_seen", "b": "material"},
            "a": {"a": "cannot_say", "b": "small"},
            "b": {"a": None, "b": "material"},
        },
        {},
        1,
    )
    assert found.wrong == (("fair", "b"), ("a", "a"))
