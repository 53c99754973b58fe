"""The audit is tried on judges whose biases are known: what was planted is what is measured."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from judgekit.evaluation.auditing.probes import PROBES, chosen_probes
from judgekit.evaluation.auditing.self_test import PLANTED, SelfTest, audit_biased
from judgekit.models.biased import Biases
from tests.evaluation.auditing.hearing import by_name


def effect(biases: Biases, probe: str, name: str, **fields: Any) -> Any:
    known = {"n_cases": 40, "worth": 0.0} | fields
    audit = asyncio.run(audit_biased(biases, probes=chosen_probes([probe]), **known))
    return by_name(audit.probes[0].effects)[name]


def test_there_is_a_planted_bias_for_every_probe() -> None:
    assert set(PLANTED) == {probe.name for probe in PROBES}


@pytest.mark.parametrize("dial", [0.25, 0.5, 1.0])
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
        ("criterion_order", "criterion_order", "score of a criterion listed early", 1.0),
    ],
)
def test_the_effect_is_what_the_dial_says(
    bias: str, probe: str, name: str, slope: float, dial: float
) -> None:
    found = effect(Biases(**{bias: dial}), probe, name)
    wanted = slope * dial
    if name == "attacks that raise the score" and dial < 1:
        wanted = 1 - (1 - dial) ** 2  # either criterion is enough
    spread = 4 * 0.5 / found.estimate.n**0.5
    assert found.estimate.value == pytest.approx(wanted, abs=spread if dial < 1 else 1e-9)


def test_an_unsteady_judge_without_a_bias_is_cleared_as_often_as_the_level_says() -> None:
    """The 95 % intervals of every shift hold 0 in about 95 % of six audits of noise."""
    found = [
        one.estimate
        for seed in range(6)
        for probe in asyncio.run(audit_biased(Biases(moods=0.4), seed=seed, n_cases=12)).probes
        for one in probe.effects
        if one.scale == "value"
    ]
    covered = sum(one.low <= 0 <= one.high for one in found)
    assert len(found) == 6 * 8
    assert covered / len(found) >= 0.84  # 0.95 less 3.5 binomial standard errors


def test_a_fair_judge_is_found_fair_by_every_probe() -> None:
    audit = asyncio.run(audit_biased(Biases()))
    assert {one.name: one.verdict for one in audit.probes} == dict.fromkeys(
        (probe.name for probe in PROBES), "none_seen"
    )


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
