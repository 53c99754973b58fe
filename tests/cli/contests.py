"""A folder with two prompt templates, cases and a rubric, and a server that answers and judges."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.cli.bench import asked
from tests.judge.comparing import prefers
from tests.servers.answers import ok

if TYPE_CHECKING:
    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran
    from tests.servers.openai_like import OpenAILikeServer

LONG, SHORT = "Gladly: within 30 days, and we pay.", "Yes."
EIGHT = [f"c{k}" for k in range(8)]
ANALYSIS = {
    "strengths": [{"quote": "within 30 days", "text": "It names the period."}],
    "weaknesses": [{"quote": "Yes.", "text": "It says no more than yes."}],
    "suggestions": [
        {
            "area": "completeness",
            "before": "Yes.",
            "reasoning": "It was asked.",
            "after": "30 days.",
        },
        {"area": "tone", "before": "No way", "reasoning": "Friendlier.", "after": "Gladly"},
    ],
}
SIDES = ("prompts/long.j2", "prompts/short.j2")
HOW = ("--dataset", "cases.jsonl", "-m", "openai/t", "--rubric", "rubric.yaml")


def lay_out_templates(bench: Bench) -> Bench:
    """Eight cases and two templates: one makes a long answer, the other a short one."""
    bench.write("prompts/long.j2", "Answer at length: {{ input }}")
    bench.write("prompts/short.j2", "Answer in a word: {{ input }}")
    bench.write("cases.jsonl", *({"id": c, "input": f"Question {c}?"} for c in EIGHT))
    return bench


def answers_and_judges(seen: ServedRequest) -> ServedReply:
    """Answers the templates; as a judge it prefers the long answer, wherever it stands."""
    text = asked(seen)
    if text.startswith("Answer "):
        return ok(LONG if "at length" in text else SHORT)
    if '"strengths"' in text:
        return ok(json.dumps(ANALYSIS))
    is_first = text.find(LONG) < text.find(f"\n{SHORT}\n")
    scores = (8, 3) if is_first else (3, 8)
    choice = "first" if is_first else "second"
    return ok(prefers(choice, score_first=scores[0], score_second=scores[1]))


def compare_templates(bench: Bench, server: OpenAILikeServer, *options: object) -> Ran:
    """Compare the two templates."""
    return bench.ask(server, "compare", *SIDES, *HOW, *options)
