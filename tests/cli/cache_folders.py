"""A small grading and a cache that owns its replies, without asking anybody."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judgekit.cli.judge_options import GradingOptions
from judgekit.cli.setup import grade_setup
from judgekit.datasets import JudgeSettings
from judgekit.models.cache import DiskCache
from judgekit.models.request import ModelReply, ModelRequest

CACHE = Path(".judgekit/cache")
MODEL = "openai/gpt-4.1-mini"
REPLY = '{"evidence": [], "rationale": "So it is.", "assessable": true, "score": 4}'
BOUGHT_AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)

RUBRIC = """name: r
criteria:
  - name: correct
    question: Is the answer correct?
    scoring_guide: Compare with the reference.
    scale: one_to_five
  - name: short
    question: Is the answer free of filler?
    scoring_guide: Count the sentences that could be cut.
    scale: one_to_five
"""


def write_suite(folder: Path) -> None:
    """Cases, outputs, a rubric and the suite file that names them."""
    (folder / "cases.jsonl").write_text(
        '{"id": "refund", "input": "Can I return it?", "reference": "Within 30 days."}\n'
        '{"id": "sum", "input": "What is 2 + 2?", "reference": "4"}\n'
    )
    (folder / "outputs.jsonl").write_text(
        '{"case_id": "refund", "text": "Yes, within 30 days."}\n'
        '{"case_id": "sum", "text": "It is 4 [bold]."}\n'
    )
    (folder / "rubric.yaml").write_text(RUBRIC)
    (folder / "judgekit.yaml").write_text(
        "name: s\ndataset: cases.jsonl\nrubric: rubric.yaml\n"
        f"judge: {MODEL}\nvariants: [{{id: v1, outputs: outputs.jsonl}}]\n"
    )


def requests(**settings: Any) -> list[ModelRequest]:
    """What grading the suite in the working folder would ask, with settings of its judge."""
    judge_settings = JudgeSettings.checked(**settings)
    setup = grade_setup(GradingOptions(no_cache=True, judge_settings=judge_settings))
    with setup.judge as judge:
        return [
            request
            for case, output in setup.answers()
            for request in judge.requests(case, output, setup.rubric)
        ]


def buy(folder: Path, *bought: ModelRequest, cost_usd: float | None = 0.25) -> None:
    """Put replies to requests into a cache."""
    reply = ModelReply(text=REPLY, cost_usd=cost_usd, duration_ms=900.0, model="small-1")
    with DiskCache(folder, now=lambda: BOUGHT_AT) as cache:
        for request in bought:
            cache.put(request, reply)


def reject(folder: Path, request: ModelRequest) -> None:
    """Put a reply that was cut short into a cache."""
    with DiskCache(folder, now=lambda: BOUGHT_AT) as cache:
        cache.put_rejected(request, ModelReply(text="So", finish_reason="length"))


def edit(name: str, old: str, new: str) -> None:
    """Put other words into a file."""
    path = Path(name)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def other_request(text: str = "Is it so?", model: str = "openai/large") -> ModelRequest:
    """A request of no suite."""
    return ModelRequest(model=model, messages=({"role": "user", "content": text},))
