"""Real recorded replies, read from the folder `JUDGEKIT_DATA` names; skipped without it."""

from __future__ import annotations

import gzip
import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.models.request import ModelReply
from judgekit.testing import ScriptedModel
from tests.factories import make_case, make_judge, make_output, make_rubric

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.models.request import ModelRequest
    from judgekit.records import Comparison

FOLDER = os.environ.get("JUDGEKIT_DATA", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="JUDGEKIT_DATA names no folder")

SUBSETS = ("Natural", "Neighbor", "GPTInst", "GPTOut", "Manual")
RIGHT = ("GPT-4/CoT", "ChatGPT/CoT", *(f"{judge}/{style}"
         for judge in ("GPT-4", "ChatGPT", "LLaMA2", "PaLM2")
         for style in ("Vanilla", "Vanilla_NoRules")))  # fmt: skip
"""The judges whose replies the authors read as they are written. Theirs for PaLM2/CoT takes the
output named in the last paragraph, though the first one states the verdict; one reply of
LLaMA2/CoT that declines counts there as a choice."""

FOLDED = {"ab": {"first": "A", "second": "B", "tie": "tie"},
          "ba": {"first": "B", "second": "A", "tie": "tie"}}  # fmt: skip
WINNERS = {"a": "A", "b": "B", "tie": "tie"}


@cache
def rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(Path(FOLDER) / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@cache
def reference_values() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(FOLDER) / "reference_values.json").read_text())
    return found


def published(key: str) -> float:
    return float(reference_values()["values"][key]["value"])


class Replay:
    """A published judge that says of each pair what was recorded."""

    def __init__(self, template: str) -> None:
        self._said: dict[str, str | None] = {}
        self._judge = make_judge(
            ScriptedModel(self._say), template=template, max_reasks=0, scrub=False
        )

    def _say(self, request: ModelRequest) -> ModelReply:
        return ModelReply(text=self._said.get(str(request.subject.order)))

    async def compare(
        self, row: dict[str, Any], judge: str, criterion: str = "quality"
    ) -> Comparison:
        """What the recorded replies to one pair come to."""
        self._said = row["judge"][judge]
        a, b = make_output(row.get("output_a", "A")), make_output(row.get("output_b", "B"))
        case = make_case(id=row["id"], input=row["input"])
        return await self._judge.compare(case, a, b, make_rubric(criterion))


def verdicts(found: Comparison) -> dict[str, str | None]:
    """The choice in each order, folded back; None where there is none."""
    if found.is_identical:
        return {"ab": "tie", "ba": "tie"}
    said = {p.order: FOLDED[p.order][p.choice] for p in found.preferences}
    return {"ab": said.get("ab"), "ba": said.get("ba")}


def share(hits: Iterable[bool]) -> float:
    seen = list(hits)
    return sum(seen) / len(seen)


@pytest.mark.parametrize("judge", RIGHT)
async def test_llmbar_accuracy_and_agreement_are_the_published_ones(judge: str) -> None:
    replay = Replay("pairwise/llmbar" if judge.endswith("CoT") else "pairwise/llmbar_vanilla")
    for subset in SUBSETS:
        own = [row for row in rows("llmbar/pairwise.jsonl.gz") if row["subset"] == subset]
        found = [await replay.compare(row, judge) for row in own]
        said = [verdicts(one) for one in found]
        humans = [row["human"] for row in own]
        key = f"llmbar_{subset}/{judge}"
        for order in ("ab", "ba"):
            right = share(s[order] == h for s, h in zip(said, humans, strict=True))
            assert right == pytest.approx(published(f"{key}/accuracy_{order}"), abs=1e-6)
        both = share(s["ab"] == s["ba"] == h for s, h in zip(said, humans, strict=True))
        assert both == pytest.approx(published(f"{key}/accuracy_both"), abs=1e-6)
        conflict = share(s["ab"] != s["ba"] for s in said)
        assert conflict == pytest.approx(published(f"{key}/position_conflict"), abs=1e-6)
        won = share(WINNERS.get(str(f.winner)) == h for f, h in zip(found, humans, strict=True))
        agreed = published(f"{key}/agreement_consistent_or_tie")
        assert won == pytest.approx(agreed, abs=1e-6)
        n_unreadable = sum(len(one.failures) for one in found)
        assert n_unreadable == published(f"{key}/n_unreadable")


async def test_what_the_authors_misread_is_little_but_for_one_judge() -> None:
    replay = Replay("pairwise/llmbar")
    differing = dict.fromkeys(("LLaMA2/CoT", "PaLM2/CoT"), 0)
    for row in rows("llmbar/pairwise.jsonl.gz"):
        for judge in differing:
            said = verdicts(await replay.compare(row, judge))
            theirs = row["judge_parsed"][judge]
            differing[judge] += sum(said[order] != theirs[order] for order in ("ab", "ba"))
    assert differing == {"LLaMA2/CoT": 1, "PaLM2/CoT": 147}


@pytest.mark.parametrize("criterion", ["coherence", "consistency"])
async def test_summeval_head_to_head_reconciles_to_the_published_figures(criterion: str) -> None:
    judge, replay = "gpt-3.5-turbo-0301/h2h", Replay("pairwise/letter")
    own = rows(f"summeval_llm/pairwise_{criterion}.jsonl.gz")
    found = [await replay.compare(row, judge, criterion) for row in own]
    assert [verdicts(one) for one in found] == [row["judge_parsed"][judge] for row in own]
    key = f"summeval_h2h_{criterion}/{judge}"
    share_a = {"a": 1.0, "b": 0.0, "tie": 0.5}
    won = sum(share_a[str(one.winner)] for one in found) / len(found)
    assert won == pytest.approx(published(f"{key}/consistent_or_tie_winrate_a"), abs=1e-6)
    conflict = share(one.consistent is not True for one in found)
    assert conflict == pytest.approx(published(f"{key}/position_conflict"), abs=1e-6)
    assert [one.criteria[criterion].winner for one in found] == [one.winner for one in found]


async def test_vicuna_reviews_give_the_published_scores_and_accuracy() -> None:
    replay = Replay("pairwise/fair_eval")
    own = rows("vicuna80/pairwise_gpt35_vicuna13b.jsonl.gz")
    found = [await replay.compare(row, "gpt-4-0328") for row in own]
    scores = [[one.preferences[0].raw_first, one.preferences[0].raw_second] for one in found]
    assert scores == [row["judge_parsed"]["gpt-4-0328"]["ab"] for row in own]
    said = [verdicts(one)["ab"] for one in found]
    right = share(s == row["human"] for s, row in zip(said, own, strict=True))
    assert right == pytest.approx(published("vicuna80/gpt-4-0328/accuracy_ab"))
    assert {one.winner for one in found} == {None}, "one order was never asked"


async def test_vicuna_reviews_of_all_pairings_prefer_what_was_read_from_them() -> None:
    replay = Replay("pairwise/fair_eval")
    own = rows("vicuna80/pairwise_all_models.jsonl.gz")
    for row in own:
        first, second = row["judge_parsed"]["gpt-4-0328"]["ab"]
        theirs = "tie" if first == second else "A" if first > second else "B"
        found = await replay.compare(row, "gpt-4-0328")
        assert verdicts(found)["ab"] == theirs, row["id"]
