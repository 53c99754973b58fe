from __future__ import annotations

import json
from statistics import stdev
from typing import TYPE_CHECKING

import pytest

import judgekit as jk
from judgekit.errors import DatasetError
from judgekit.evaluation import holds_comparisons, read_comparisons
from tests.evaluation.pairs import concluded, said

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.records import Comparison

PLAIN = {"case_id": "c", "variant_a": "x", "variant_b": "y", "winner": "a"}


def of(a: str | None, b: str | None, outcome: str = "a", case: str = "c") -> Comparison:
    """A comparison as a judge makes it."""
    named = {"variant_a": a, "variant_b": b}
    return concluded(case, said(outcome, case)).model_copy(update=named)


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_comparisons_are_the_same_from_a_file_as_in_python(tmp_path: Path) -> None:
    made = [of("x", "y", outcome, f"c{k}") for k, outcome in enumerate(["a", "a", "b", "first"])]
    path = write(tmp_path / "c.jsonl", *(one.to_json() for one in made))
    assert jk.rank_comparisons(path) == jk.rank_comparisons(made)
    found = jk.rank_comparisons(str(path))
    assert found.questioned.judges == ("fake",)
    assert found.position is not None
    assert found.questioned.spent is None


def test_failures_and_errors_are_counted(tmp_path: Path) -> None:
    failed = of("x", "y").model_copy(update={"error": "output a: timed out"})
    path = write(tmp_path / "c.jsonl", of("x", "y", "open").to_json(), failed.to_json())
    found = read_comparisons([path]).provenance()
    assert (found.n_errors, found.failures) == (1, {"unreadable": 1})
    assert found.failure_messages == {"unreadable": "no verdict"}


def test_rows_that_say_who_won_are_enough(tmp_path: Path) -> None:
    rows = [
        {"question_id": 81, "model_a": "m", "model_b": "k", "winner": "model_a", "turn": 1},
        {"question_id": 82, "model_a": "m", "model_b": "k", "winner": "tie (bothbad)"},
        {"variant_a": "k", "variant_b": "m", "winner": None},
    ]
    found = read_comparisons([write(tmp_path / "battles.jsonl", *rows)]).matches
    assert [(m.case_id, m.a, m.b, m.winner) for m in found] == [
        ("81", "k", "m", "b"), ("82", "k", "m", "tie"), ("", "k", "m", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (PLAIN | {"winner": "x"}, r"c.jsonl:1: .*winner"),
        (PLAIN | {"variant_b": "x"}, r"c.jsonl:1: x is compared with itself"),
        (
            {"variant_a": "x", "variant_b": "y", "winner": "a", "case": "c", "question_id": "d"},
            r"c.jsonl:1: `case` and `question_id` both mean `case_id`",
        ),
        (of("x", None).to_json(), r"c.jsonl:1: case 'c': the comparison is of x and None"),
        (of("x", "x").to_json(), r"a ranking needs two names"),
        (of("x", "y").to_json() | {"rubric": None}, r"c.jsonl:1: .*rubric"),
    ],
)
def test_an_unsound_row_is_named_with_its_line(
    tmp_path: Path, row: dict[str, object], words: str
) -> None:
    with pytest.raises(DatasetError, match=words):
        read_comparisons([write(tmp_path / "c.jsonl", row)])


def test_comparisons_by_different_rubrics_are_not_ranked_together(tmp_path: Path) -> None:
    other = of("x", "y").model_copy(update={"rubric": "other", "rubric_fingerprint": "0"})
    path = write(tmp_path / "c.jsonl", of("x", "y").to_json(), other.to_json())
    with pytest.raises(DatasetError, match=r"c.jsonl:2: comparisons by different rubrics"):
        read_comparisons([path])


def test_a_file_of_comparisons_is_told_from_one_of_outputs(tmp_path: Path) -> None:
    assert holds_comparisons(write(tmp_path / "c.jsonl", PLAIN))
    assert not holds_comparisons(write(tmp_path / "o.jsonl", {"case_id": "c", "text": "t"}))
    assert not holds_comparisons(write(tmp_path / "empty.jsonl"))


def test_probabilities_tell_how_far_a_side_is_preferred(tmp_path: Path) -> None:
    shares = [1, 0.75, 0.5, 0.25, None]
    winners = ["a", "a", "tie", "b", None]
    path = write(
        tmp_path / "rows.jsonl",
        *(
            {"case_id": f"c{k}", "variant_a": "z", "variant_b": "y", "winner": winner,
             "probability": share}
            for k, (winner, share) in enumerate(zip(winners, shares, strict=True))
        ),
    )  # fmt: skip
    sides = {side.name: side.win_rate for side in jk.rank_comparisons(path).sides}
    known = [1, 0.75, 0.5, 0.25]
    assert sides["z"].value == pytest.approx(sum(known) / 4)
    assert sides["y"].value == pytest.approx(1 - sides["z"].value)
    assert sides["z"].se == pytest.approx(stdev(known) / 2)
    assert 0 <= sides["z"].low < sides["z"].high <= 1
