"""Two sides, and several, are compared from data in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from tests.factories import make_rubric
from tests.judge.comparing import fair_judge

if TYPE_CHECKING:
    from pathlib import Path

RUBRIC = make_rubric()
WORTH = {"gold": 3.0, "silver": 2.0, "tin": 1.0}


def rows(text: str, **fields: str) -> list[dict[str, str]]:
    return [{"case_id": f"c{k}", "input": f"{k}?", "text": text, **fields} for k in range(8)]


def test_the_better_of_two_lists_is_found(tmp_path: Path) -> None:
    results = jk.compare_sync(
        rows("tin"), rows("gold", variant="v2"), rubric=RUBRIC, judge=fair_judge(WORTH), cache=None
    )
    assert (results.winner, results.win_rate.value, len(results)) == ("b", 0.0, 8)
    assert repr(results).startswith("<ComparisonResults: 8 pairs, share of a 0 % [")
    assert repr(results.summary).startswith("<ComparisonSummary: b is better")
    row = results.to_dicts()[0]
    assert (row["case_id"], row["winner"], row["consistent"]) == ("c0", "b", True)
    assert "b is better" in results._repr_html_()
    assert "v2 is better" in results[0]._repr_html_()
    results.report(tmp_path / "x.html")
    assert "c7" in (tmp_path / "x.html").read_text("utf-8")


def test_a_comparison_on_many_criteria_shows_every_preference() -> None:
    rubric = make_rubric(*(f"c{k}" for k in range(7)))
    (pair,) = jk.compare_sync(
        rows("tin")[:1], rows("gold")[:1], rubric=rubric, judge=fair_judge(WORTH), cache=None
    )
    assert len(jk.present(pair).rows()) == len(pair.preferences) == 16


def test_sides_are_called_by_their_variants() -> None:
    old, new = rows("tin", variant="v1"), rows("gold", variant="v2")
    results = jk.compare_sync(old, new, rubric=RUBRIC, judge=fair_judge(WORTH), cache=None)
    assert results.winner == "v2"


def test_sides_without_a_common_case_are_refused() -> None:
    other = [{**row, "case_id": f"x{row['case_id']}"} for row in rows("gold")]
    with pytest.raises(jk.InputError, match="no case has an output of both sides"):
        jk.compare_sync(rows("tin"), other, rubric=RUBRIC, judge=fair_judge(WORTH), cache=None)


def test_sides_of_which_no_two_share_a_case_are_not_ranked() -> None:
    other = [{**row, "case_id": f"x{row['case_id']}"} for row in rows("gold")]
    with pytest.raises(jk.InputError, match="no case has an output of two sides"):
        jk.rank_sync({"a": rows("tin"), "b": other}, rubric=RUBRIC, judge=fair_judge(WORTH))


def test_what_may_not_be_chosen_is_refused_before_a_call() -> None:
    sides: Any = {"a": rows("tin"), "b": rows("gold")}
    wrong: Any = "all"
    with pytest.raises(jk.SettingsError, match="pairs is 'all'") as refused:
        jk.rank_sync(sides, rubric=RUBRIC, judge=fair_judge(WORTH), pairs=wrong)
    assert refused.value.hint == "round-robin or adaptive"
    with pytest.raises(jk.SettingsError, match="alpha is 0; it lies between 0 and 1"):
        jk.compare_sync(*sides.values(), rubric=RUBRIC, judge=fair_judge(WORTH), alpha=0)
    with pytest.raises(jk.InputError, match="the rubric is a dict"):
        jk.grade_sync(rows("tin"), rubric={"name": "r"}, judge=fair_judge(WORTH))  # type: ignore[arg-type] # what is tested


def test_lists_are_ranked() -> None:
    sides = {"v1": rows("tin"), "v2": rows("gold"), "v3": rows("silver")}
    found = jk.rank_sync(sides, rubric=RUBRIC, judge=fair_judge(WORTH), cache=None)
    assert [(row["place"], row["name"]) for row in found.to_dicts()] == [
        (1, "v2"), (2, "v3"), (3, "v1"),
    ]  # fmt: skip
    assert "v2" in found._repr_html_()
    with pytest.raises(jk.SettingsError, match="needs sides, a rubric and a judge"):
        jk.rank_sync(sides, rubric=RUBRIC)
