from __future__ import annotations

from typing import Any

import pytest

from judgekit.bias_audit import Audit, Effect, ProbeResult
from judgekit.evaluation import JudgeUsage
from judgekit.stats.estimate import Estimate


def probe(*verdicts: Any, **fields: Any) -> ProbeResult:
    found = Estimate(value=0.1, low=0.0, high=0.2, n=9, method="t")
    effects = tuple(
        Effect(name="x", estimate=found, scale="value", margin=0.05, verdict=verdict)
        for verdict in verdicts
    )
    known = {"name": "verbosity", "question": "?", "status": "done", "effects": effects}
    return ProbeResult(**known | fields)


def audit(*probes: ProbeResult, failures: dict[str, int] | None = None) -> Audit:
    return Audit(
        judge="j", pair_judge="j", models=(), rubric="r", rubric_fingerprint="f", n_cases=1,
        n_outputs=1, seed=0, level=0.95, probes=probes, failures=failures or {},
        failure_messages={}, spent=JudgeUsage(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("verdicts", "gravest"),
    [
        (("none_seen", "material"), "material"),
        (("small", "cannot_say"), "cannot_say"),
        (("none_seen", "small", None), "small"),
        ((None,), None),
        ((), None),
    ],
)
def test_a_probe_says_the_gravest_of_what_its_effects_say(verdicts: Any, gravest: Any) -> None:
    assert probe(*verdicts).verdict == gravest


def test_an_audit_is_complete_when_nothing_failed_and_nothing_was_broken_off() -> None:
    skipped = probe(status="skipped", reason="no pairs")
    assert audit(probe("material"), skipped).is_complete
    assert not audit(probe(status="incomplete")).is_complete
    assert not audit(probe("none_seen"), failures={"timeout": 1}).is_complete


def test_an_audit_names_the_probes_that_found_something_material() -> None:
    assert audit(probe("material"), probe("small", name="position")).found_material == (
        "verbosity",
    )
