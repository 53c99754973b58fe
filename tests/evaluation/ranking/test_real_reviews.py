"""Real recorded reviews, read from the folder `JUDGEKIT_DATA` names; skipped without it."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

import judgekit as jk
from tests.cli.commanding import runner

FOLDER = os.environ.get("JUDGEKIT_DATA", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="JUDGEKIT_DATA names no folder")


@pytest.fixture
def battles(tmp_path: Path) -> Path:
    """Who won each of 1,040 reviews by GPT-4: 13 pairings of 7 systems on 80 questions."""
    rows = []
    path = Path(FOLDER) / "vicuna80/pairwise_all_models.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            x, y = row["judge_parsed"]["gpt-4-0328"]["ab"]
            winner = "a" if x > y else "b" if x < y else "tie"
            sides = {"variant_a": row["system_a"], "variant_b": row["system_b"]}
            rows.append({"question_id": row["question_id"], **sides, "winner": winner})
    written = tmp_path / "battles.jsonl"
    written.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return written


def published() -> dict[str, object]:
    values = json.loads((Path(FOLDER) / "reference_values.json").read_text())["values"]
    found: dict[str, object] = values["vicuna80_all/gpt-4-0328/bradley_terry_log_strength"]
    return found


def test_strengths_and_order_are_the_published_ones(battles: Path) -> None:
    found = jk.rank_comparisons(battles)
    assert [side.name for side in found.sides] == published()["ranking"]
    strengths = {side.name: side.strength.value for side in found.sides}
    assert strengths == pytest.approx(published()["value"], abs=1e-7)
    assert (found.n_cases, found.n_comparisons) == (80, 1040)
    for ties in ("davidson", "rao-kupper"):
        modelled = jk.rank_comparisons(battles, ties=ties)
        assert [side.name for side in modelled.sides] == published()["ranking"]


def test_the_command_says_the_same(battles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = runner(capsys)
    ran = run("rank", battles, "--json")
    assert ran.code == 0
    strengths = {side["name"]: side["strength"]["value"] for side in ran.json["sides"]}
    assert strengths == pytest.approx(published()["value"], abs=1e-7)
    assert "gpt-3.5-turbo:20230327 is first" in run("rank", battles).out
