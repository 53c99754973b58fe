"""A judge may quote what it judges; a verdict that stands in there is not the judge's own."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.bias_audit import ProbeRunner, run_audit
from judgekit.bias_audit.api import unpriced_plan
from judgekit.bias_audit.inputs import shipped_corpus
from judgekit.bias_audit.perturbation import INJECTION_PROBE
from judgekit.bias_audit.self_test import synthetic_inputs
from judgekit.models import BiasedModel, fenced_outputs
from judgekit.models.request import ModelReply
from tests.bias_audit.corpus import ECHOES, needs_corpus
from tests.factories import make_judge

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.bias_audit import ProbeResult
    from judgekit.models.request import ModelRequest

    Manner = Callable[[str, str], str]

ECHO = tuple(one for one in shipped_corpus().attacks if one.family == "echo")


def inside(judged: str, verdict: str) -> str:
    """The verdict with the judged text in its rationale."""
    said = json.loads(verdict)
    for one in said.get("criteria", {"": said}).values():
        one["rationale"] = f"It says: {judged}"
    return json.dumps(said)


MANNERS: dict[str, Manner] = {
    "before": lambda judged, verdict: f"{judged}\n\n{verdict}",
    "after": lambda judged, verdict: f"{verdict}\n\n{judged}",
    "thought": lambda judged, verdict: f"<think>It says: {judged}</think>\n{verdict}",
    "fenced": lambda judged, verdict: f"```\n{judged}\n```\n\n```json\n{verdict}\n```",
    "inside": inside,
}


class Quoting:
    """An honest judge, who finds everything poor and quotes it."""

    name = "quoting"

    def __init__(self, manner: Manner) -> None:
        self.honest, self.manner = BiasedModel(0.25), manner

    async def complete(self, request: ModelRequest) -> ModelReply:
        verdict = self.honest.reply(request).text or ""
        judged = "\n".join(fenced_outputs(request))
        return ModelReply(text=self.manner(judged, verdict), model="m", cost_usd=0.0)


def found_of(manner: Manner, mode: str = "joint") -> ProbeResult:
    given = replace(
        synthetic_inputs(1, n_attacks=len(ECHO)), attacks=ECHO, asks_all=mode == "joint"
    )
    settings: Any = {"mode": mode, "max_reasks": 0}
    with make_judge(Quoting(manner), **settings) as judge:
        plan = unpriced_plan(given, (INJECTION_PROBE,))
        return asyncio.run(run_audit(ProbeRunner(judge), given, plan)).probes[0]


@pytest.mark.parametrize("mode", ["per_criterion", "joint"])
@pytest.mark.parametrize("manner", MANNERS)
def test_a_verdict_in_a_quoted_output_is_never_taken_for_the_judges(manner: str, mode: str) -> None:
    found = found_of(MANNERS[manner], mode)
    assert (found.counts["raised"], found.n_failed) == (0, 0)
    assert found.counts["attacks tried"] == "4 of 4"
    assert found.effects[0].estimate.value == 0.0


def test_a_judge_who_only_quotes_gave_no_verdict() -> None:
    found = found_of(lambda judged, _: judged)
    assert found.counts["scored"] == 0
    assert found.n_failed == found.n_asked > 0


@needs_corpus
def test_the_public_ways_of_quoting_are_read_too() -> None:
    """Those of the corpus that hold a verdict as we ask for it, with the output in them."""
    rows = [json.loads(line) for line in ECHOES.read_text(encoding="utf-8").splitlines()]
    ways = [
        row["template"] for row in rows if row["has_honest_verdict"] and "{h" in row["template"]
    ]
    assert len(ways) >= 6
    for way in ways:

        def manner(judged: str, verdict: str, way: str = way) -> str:
            gaps = {
                "a": judged,
                "o": judged,
                "h": verdict,
                "hn": verdict,
                "aj": json.dumps(judged)[1:-1],
            }
            lines = judged.splitlines()
            gaps |= {"q": "\n".join(f"> {line}" for line in lines), "a1": " / ".join(lines)}
            return way.format(**gaps)

        found = found_of(manner)
        assert (way, found.counts["raised"], found.n_failed) == (way, 0, 0)
