from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import StoreError
from judgekit.exports import is_skill_file, write_comparisons
from judgekit.exports.skill_results import side_labels, skill_comparison
from judgekit.records import ComparedPair, ComparedSide, ComparisonInfo
from tests.evaluation.pairs import RUBRIC, compared
from tests.factories import make_case, make_output

if TYPE_CHECKING:
    from pathlib import Path

INFO = ComparisonInfo(
    id="cmp-1", a=ComparedSide(label="new"), b=ComparedSide(label="old"), rubric=RUBRIC, judge="j",
    started_at=datetime(2026, 3, 1, tzinfo=UTC),
)  # fmt: skip


def pair(place: int = 0, **fields: Any) -> ComparedPair:
    known = {"place": place, "case": make_case(id=f"c/{place}"), "a": make_output("x"),
             "b": make_output("y"), "is_done": True}  # fmt: skip
    return ComparedPair(**known | fields)


def test_which_side_is_a_is_drawn_for_each_case_and_stays() -> None:
    drawn = [side_labels(pair(place), INFO) for place in range(400)]
    assert set(drawn) == {("A", "B"), ("B", "A")}
    assert 150 < drawn.count(("A", "B")) < 250
    later = INFO.model_copy(update={"id": "cmp-2"})
    elsewhere = [pair(399 - place, case=make_case(id=f"c/{place}")) for place in range(400)]
    assert drawn == [side_labels(one, later) for one in elsewhere]
    other = INFO.model_copy(update={"label_seed": 1})
    assert drawn != [side_labels(pair(place), other) for place in range(400)]


def test_sides_that_are_swapped_give_the_mirrored_file() -> None:
    turned = INFO.model_copy(update={"id": "cmp-2", "a": INFO.b, "b": INFO.a})
    mirrored = {"A": "B", "B": "A"}
    for place in range(20):
        there = skill_comparison(pair(place), compared("a").comparison, INFO)
        back = skill_comparison(pair(place, a=pair().b, b=pair().a), compared("b").comparison,
                                turned)  # fmt: skip
        assert back["winner"] == mirrored[str(there["winner"])]


@pytest.mark.parametrize(
    ("outcome", "winner"), [("tie", "tie"), ("first", "tie"), ("open", None), ("error", None)]
)
def test_who_does_not_win_is_not_made_to(outcome: str, winner: str | None) -> None:
    found = skill_comparison(pair(), compared(outcome).comparison, INFO)
    assert found["winner"] == winner
    assert found["reasoning"]


def test_what_the_judge_failed_to_say_and_the_same_text_are_told() -> None:
    open_one = compared("open").comparison
    nothing = open_one.model_copy(update={"preferences": ()})
    assert skill_comparison(pair(), nothing, INFO)["reasoning"] == "No answer: no verdict"
    alike = compared("tie").comparison.model_copy(update={"is_identical": True})
    assert skill_comparison(pair(), alike, INFO)["reasoning"] == "Both outputs are the same text."
    wrong = compared("error").comparison
    said = skill_comparison(pair(), wrong, INFO)
    assert said["reasoning"] == "Not judged: output a: timed out"


def test_a_folder_gets_a_file_for_each_and_no_two_of_one_name(tmp_path: Path) -> None:
    found = compared("a").comparison
    folder = tmp_path / "each"
    assert write_comparisons(folder, INFO, [(pair(), found), (pair(0, repeat=1), found)]) == 2
    assert {path.name for path in folder.iterdir()} == {"c_0.json", "c_0_run2.json"}
    with pytest.raises(StoreError, match=r"two comparisons would both be written to c_0\.json"):
        write_comparisons(folder, INFO, [(pair(), found), (pair(1, case=pair().case), found)])
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot make the folder"):
        write_comparisons(tmp_path / "file", INFO, [(pair(), found)])


def test_none_is_an_empty_list(tmp_path: Path) -> None:
    write_comparisons(tmp_path / "comparison.json", INFO, [])
    assert json.loads((tmp_path / "comparison.json").read_text()) == []
    assert is_skill_file(tmp_path / "comparison.json")
    assert not is_skill_file(None)
