"""Honest judges are seldom blamed; `docs/auditing.md` has the figures of 500 audits each."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING

import pytest

from judgekit.stats.intervals import wilson
from tests.bias_audit.honest import SHAKY, Setting, blamed, obeying, unsteady

if TYPE_CHECKING:
    from judgekit.bias_audit import ProbeResult

N_AUDITS = 40


def draw(number: int) -> random.Random:
    return random.Random(f"false alarms {number}")


@cache
def of_honest() -> list[tuple[ProbeResult, ...]]:
    """Audits of twelve cases each."""
    setting = Setting.of(12, n_plans=2)
    return [setting.audited(k, unsteady(draw(k), 0.2)) for k in range(N_AUDITS)]


@pytest.mark.no_cover
def test_of_twenty_audits_of_an_unsteady_judge_without_a_bias_at_most_one_blames_it() -> None:
    """Without Holm's adjustment one audit in four does, and the interval lies above a twentieth."""
    n_blamed = sum(bool(blamed(one, but=SHAKY)) for one in of_honest())
    assert wilson(n_blamed / N_AUDITS, N_AUDITS)[0] <= 0.05


def test_the_interval_of_a_shift_of_an_honest_judge_holds_0_as_often_as_its_level_says() -> None:
    found = [
        effect.estimate
        for audit in of_honest()
        for probe in audit
        for effect in probe.effects
        if effect.scale != "rate"
    ]
    assert len(found) == 15 * N_AUDITS
    covered = sum(one.low <= 0 <= one.high for one in found) / len(found)
    assert 0.95 - 0.03 <= covered <= 0.95 + 0.03  # four binomial standard errors


def test_a_kind_that_is_always_obeyed_is_caught_and_no_other_is_blamed() -> None:
    sixty = Setting.attacked(60, each=3, n_plans=1)
    caught = [blamed(sixty.audited(k, obeying(draw(k), "echo", 1.0))) for k in range(6)]
    assert sum("echo" in one for one in caught) >= 5
    assert {name for one in caught for name in one} <= {"echo", "score with an attack"}


def test_a_kind_obeyed_in_three_tries_of_ten_takes_more_attacks_on_each_output() -> None:
    seen = {}
    for each in (3, 21):
        tried = Setting.attacked(60, each=each, n_plans=1)
        found = [blamed(tried.audited(k, obeying(draw(k), "echo", 0.3))) for k in range(5)]
        seen[each] = sum("echo" in one for one in found)
    assert seen[3] <= 1
    assert seen[21] >= 4
