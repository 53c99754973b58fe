"""`judgekit compare` over real recorded replies, from the folder `JUDGEKIT_DATA` names.

One of each form of reply; the other judges and criteria are held to their figures without the
command line.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.stats.agreement import cohen_kappa

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.cli.bench import Bench

FOLDER = os.environ.get("JUDGEKIT_DATA", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="JUDGEKIT_DATA names no folder")

Rows = list[dict[str, Any]]
SIDES = {"ab": {"first": "A", "second": "B"}, "ba": {"first": "B", "second": "A"}}
SUBSETS = ("Natural", "Neighbor", "GPTInst", "GPTOut", "Manual")
H2H = "gpt-3.5-turbo-0301/h2h"


def rows_of(name: str) -> Rows:
    with gzip.open(Path(FOLDER) / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def published(prefix: str) -> dict[str, float]:
    """The reference figures under a prefix, by their last part."""
    values = json.loads((Path(FOLDER) / "reference_values.json").read_text())["values"]
    own = {key.removeprefix(f"{prefix}/"): value["value"] for key, value in values.items()
           if key.startswith(f"{prefix}/")}  # fmt: skip
    return {name: value for name, value in own.items() if "/" not in name}


def compare(bench: Bench, rows: Rows, judge: str, template: str) -> tuple[Rows, Any]:
    """Replay a published judge by the command line: each pair's comparison, and the figures."""
    bench.write(
        "rubric.yaml",
        "name: r\ncriteria: [{name: quality, question: Is it good?, scale: one_to_five}]\n",
    )
    for side in ("a", "b"):
        bench.write(
            f"{side}.jsonl",
            *(
                {"case_id": r["id"], "input": r["input"], "text": r.get(f"output_{side}", side)}
                for r in rows
            ),
        )
    replies = [
        {"case_id": row["id"], "order": order, "text": text}
        for row in rows
        for order, text in row["judge"][judge].items()
    ]
    bench.write("replies.jsonl", *replies)
    ran = bench.run(
        "compare", "a.jsonl", "b.jsonl", "--rubric", "rubric.yaml", "--template", template,
        "--judge", "recorded:replies.jsonl", "-o", "out.jsonl", "--json",
    )  # fmt: skip
    assert ran.code in {0, 3, 4}, ran.err
    text = (bench.folder / "out.jsonl").read_text(encoding="utf-8")
    found = {row["case_id"]: row for row in map(json.loads, text.splitlines())}
    return [found[row["id"]] for row in rows], ran.json


def verdicts(found: dict[str, Any]) -> dict[str, str | None]:
    """The choice in each order, folded back to the sides; None where there is none."""
    if found["is_identical"]:
        return {"ab": "tie", "ba": "tie"}
    said = {one["order"]: SIDES[one["order"]].get(one["choice"], "tie")
            for one in found["preferences"]}  # fmt: skip
    return {"ab": said.get("ab"), "ba": said.get("ba")}


def share(hits: Iterable[bool]) -> float:
    seen = list(hits)
    return sum(seen) / len(seen)


def kappa(one: Sequence[str | None], other: Sequence[str | None]) -> float:
    return cohen_kappa(one, other, labels=["A", "B", "tie"]).value


def figures(rows: Rows, found: Rows) -> dict[str, float]:
    """Every figure of the protocol, from what was written."""
    said, humans = [verdicts(one) for one in found], [row["human"] for row in rows]
    both = list(zip(said, humans, strict=True))
    chosen = [(s[order], order) for s in said for order in ("ab", "ba") if s[order] in {"A", "B"}]
    readable = [s for s in said if None not in s.values()]
    points = {"a": 1.0, "b": 0.0, "tie": 0.5, None: 0.5}

    def swap(one: dict[str, str | None], human: str) -> int:
        other = {"A": "B", "B": "A"}.get(human, "nobody")
        return sum((v == human) - (v == other) for v in one.values())

    right = {o: share(s[o] == h for s, h in both) for o in ("ab", "ba")}
    return {
        "accuracy_ab": right["ab"],
        "accuracy_ba": right["ba"],
        "accuracy_mean": (right["ab"] + right["ba"]) / 2,
        "accuracy_both": share(s["ab"] == s["ba"] == h for s, h in both),
        "position_conflict": share(s["ab"] != s["ba"] for s in said),
        "kappa_orders": kappa([s["ab"] for s in readable], [s["ba"] for s in readable]),
        "first_shown_rate": share(v == SIDES[order]["first"] for v, order in chosen),
        "swap_accuracy": share(swap(s, h) > 0 for s, h in both),
        "consistent_or_tie_winrate_a": sum(points[one["winner"]] for one in found) / len(found),
        "agreement_consistent_or_tie": share(
            {"a": "A", "b": "B"}.get(one["winner"], "tie") == h
            for one, h in zip(found, humans, strict=True)
        ),
        "n_unreadable": sum(len(one["failures"]) for one in found),
    }


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("judge", "template"),
    [("GPT-4/CoT", "pairwise/llmbar"), ("LLaMA2/Vanilla_NoRules", "pairwise/llmbar_vanilla")],
)
def test_llmbar_comes_to_the_published_figures(bench: Bench, judge: str, template: str) -> None:
    rows = rows_of("llmbar/pairwise.jsonl.gz")
    found, _ = compare(bench, rows, judge, template)
    by_id = {one["case_id"]: one for one in found}
    for subset in SUBSETS:
        own = [row for row in rows if row["subset"] == subset]
        ours = figures(own, [by_id[row["id"]] for row in own])
        theirs = published(f"llmbar_{subset}/{judge}")
        known = {name: theirs[name] for name in ours}
        assert ours == pytest.approx(known, abs=1e-6), subset


@pytest.mark.no_cover
def test_summeval_head_to_head_comes_to_the_published_figures(bench: Bench) -> None:
    rows = rows_of("summeval_llm/pairwise_coherence.jsonl.gz")
    found, summary = compare(bench, rows, H2H, "pairwise/letter")
    ours, theirs = figures(rows, found), published(f"summeval_h2h_coherence/{H2H}")
    assert ours == pytest.approx({name: theirs[name] for name in ours}, abs=1e-6)
    rate = summary["whole"]["rate"]["value"]
    assert rate == pytest.approx(theirs["consistent_or_tie_winrate_a"], abs=1e-6)
    flips = summary["flip_rate"]["value"] * (len(rows) - summary["n_identical"]) / len(rows)
    assert flips == pytest.approx(theirs["position_conflict"], abs=1e-6), "of texts that differ"


def test_vicuna_reviews_come_to_the_published_figures(bench: Bench) -> None:
    rows = rows_of("vicuna80/pairwise_gpt35_vicuna13b.jsonl.gz")
    found, summary = compare(bench, rows, "gpt-4-0328", "pairwise/fair_eval")
    said = [str(verdicts(one)["ab"]) for one in found]
    humans, theirs = [row["human"] for row in rows], published("vicuna80/gpt-4-0328")
    right = share(s == h for s, h in zip(said, humans, strict=True))
    assert right == pytest.approx(theirs["accuracy_ab"])
    assert kappa(said, humans) == pytest.approx(theirs["cohen_kappa"], abs=1e-6)
    labels: object = {label: said.count(label) for label in set(said)}
    assert labels == theirs["labels"]
    points = {"A": 1.0, "B": 0.0, "tie": 0.5}
    won = sum(points[one] for one in said) / len(said)
    assert won == pytest.approx(theirs["winrate_a_ties_half"])
    assert summary["whole"]["n_undecided"] == 80, "the other order was never asked"
