"""Files of what judges said, in every form they come in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.calibration import OutputKey, PairwiseData, PointwiseData, read_judged_file
from judgekit.errors import DatasetError, InputError
from judgekit.report import write_verdicts
from judgekit.scoring import conclude
from tests.evaluation.labelled import comparisons
from tests.factories import make_case, make_judgment, make_rubric

if TYPE_CHECKING:
    from pathlib import Path


def lines(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    """A file of rows."""
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_rows_of_scores_are_samples(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        {"case_id": "a", "raw": 4, "confidence": 0.8, "reason": "so", "metadata": {"doc": "d"}},
        {"id": "b", "variant": "v", "score": None, "criterion": "tone", "text": "whatever"},
        {"case_id": "c", "failure_kind": "target_error"},
    )
    found = read_judged_file(path, cases={"a": make_case(id="a", stratum="simple")})
    assert isinstance(found, PointwiseData)
    first, second = found.samples
    assert (first.raw, first.confidence, first.rationale) == (4, 0.8, "so")
    assert (second.place, second.raw, second.failure) == (OutputKey("b", "v"), None, "unreadable")
    assert found.n_errors == 1
    assert found.groups[OutputKey("a")] == {"stratum": ("simple",), "doc": ("d",)}


def test_a_table_of_the_judgments_of_turns_is_read(tmp_path: Path) -> None:
    judgments = [make_judgment(raw=raw, turn=turn) for turn, raw in ((1, 2), (2, 4))]
    write_verdicts(tmp_path / "v.csv", [conclude(make_rubric(), judgments, case_id="a")])
    found = read_judged_file(tmp_path / "v.csv")
    assert isinstance(found, PointwiseData)
    assert [(one.turn, one.raw) for one in found.samples] == [(1, 2), (2, 4)]


def test_rows_of_winners_are_pairs(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        {"case_id": "a", "winner": "A", "confidence": 0.9},
        {"case_id": "b", "winner": "b", "order": "ab", "confidence": 0.6},
        {"case_id": "b", "winner": "b", "order": "ba", "probability": 0.3},
        {"case_id": "c", "winner": "a", "order": "ab"},
        {"case_id": "c", "winner": "b", "order": "ba"},
        {"case_id": "d", "winner": None, "order": "ab"},
        {"case_id": "e", "variant_a": "x", "variant_b": "y", "winner": "tie", "probability": 0.5},
    )
    found = read_judged_file(path)
    assert isinstance(found, PairwiseData)
    assert [pair.winner for pair in found.pairs] == ["a", "b", "tie", None, "tie"]
    assert [choice.share for choice in found.pairs[1].choices] == [pytest.approx(0.4), 0.3]
    assert (found.pairs[0].confidence, found.pairs[0].probability) == (0.9, 0.9)
    assert found.pairs[4].place == OutputKey("e", "x::y")


def test_comparisons_that_compare_wrote_are_read(tmp_path: Path) -> None:
    said = comparisons({"1": "a", "2": "first"})
    found = read_judged_file(lines(tmp_path, *(one.to_json() for one in said)))
    assert isinstance(found, PairwiseData)
    assert [(pair.winner, len(pair.choices)) for pair in found.pairs] == [("a", 2), ("tie", 2)]


def test_a_second_comparison_of_a_case_names_the_file(tmp_path: Path) -> None:
    (one,) = comparisons({"1": "a"})
    path = lines(tmp_path, one.to_json(), one.to_json())
    with pytest.raises(DatasetError, match=r"rows\.jsonl: there is a second comparison of 1"):
        read_judged_file(path)


def test_a_table_of_winners_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("case_id,winner,metadata.doc\n7,A,d\n8,,d\n", encoding="utf-8")
    found = read_judged_file(path)
    assert isinstance(found, PairwiseData)
    assert [(pair.place.case_id, pair.winner) for pair in found.pairs] == [("7", "a"), ("8", None)]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([{"case_id": "a", "text": "an output"}], "found no judgment in the fields"),
        ([{"raw": 3}], r":1: the field `case_id` is missing"),
        ([{"case_id": "a", "raw": 3, "colour": 1}], "`colour` is not known"),
        ([], "the file holds no rows"),
    ],
)
def test_what_cannot_be_read_is_said(
    tmp_path: Path, rows: list[dict[str, Any]], problem: str
) -> None:
    with pytest.raises(DatasetError, match=problem):
        read_judged_file(lines(tmp_path, *rows))


def test_all_unsound_rows_are_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 rows cannot be used"):
        read_judged_file(lines(tmp_path, {"raw": 1}, {"raw": 2}))


def test_a_line_that_is_no_json_is_said(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("{\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"rows\.jsonl:1"):
        read_judged_file(path)


def test_verdicts_that_are_no_objects_are_said(tmp_path: Path) -> None:
    path = tmp_path / "graded.json"
    path.write_text(json.dumps({"verdicts": [3]}), encoding="utf-8")
    with pytest.raises(DatasetError, match="found no judgment in the fields"):
        read_judged_file(path)
