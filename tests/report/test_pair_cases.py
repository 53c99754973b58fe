"""Blind comparisons and rankings, case by case."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.evaluation import OutputPair
from judgekit.judge import prepare_pair
from judgekit.records import (
    AnalysisPoint,
    AnalysisSuggestion,
    ComparedPair,
    ComparedSide,
    ComparisonAnalysis,
    ComparisonInfo,
    Evidence,
    Preference,
)
from judgekit.report import RankingCases, comparison_cases
from judgekit.report.pair_cases import short_judge_names
from judgekit.store import RunStore
from tests.evaluation.pairs import compared, said
from tests.factories import make_case, make_output, make_rubric
from tests.report.case_pages import ShownCases, cases_of_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

START = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
NAMED = "I am GPT-4.1, I think. 😀 Refunds take 30 days."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with closing(RunStore(tmp_path / "judgekit.db")) as store:
        yield store


def pair(place: int, outcome: str, **fields: Any) -> ComparedPair:
    case = f"c{place}"
    answers = said(outcome, case)
    known = {
        "place": place,
        "case": make_case(id=case),
        "a": make_output("one", variant="old"),
        "b": make_output("two", variant="new"),
        "preferences": [one for one in answers if isinstance(one, Preference)],
        "failures": [one for one in answers if not isinstance(one, Preference)],
        "is_done": True,
    }
    return ComparedPair(**known | fields)


def shown(store: RunStore, *pairs: ComparedPair, **fields: Any) -> ShownCases:
    known = {
        "id": "cmp-1",
        "a": ComparedSide(label="old"),
        "b": ComparedSide(label="new"),
        "rubric": make_rubric(),
        "judge": "fake",
        "started_at": START,
    }
    info = ComparisonInfo(**known | fields)
    store.begin_comparison(info)
    store.add_pairs(info.id, pairs)
    return cases_of_table(comparison_cases(store, info))


def test_each_order_and_the_result_have_a_column(store: RunStore) -> None:
    outcomes = ("a", "b", "tie", "first", "open")
    found = shown(store, *(pair(n, outcome) for n, outcome in enumerate(outcomes)))
    assert found.columns == ["A first", "B first", "result"]
    labels = {
        outcome: [cell and cell[0] for cell in found.cells(f"c{n}")]
        for n, outcome in enumerate(outcomes)
    }
    assert labels == {
        "a": ["A wins"] * 3,
        "b": ["B wins"] * 3,
        "tie": ["tie"] * 3,
        "first": ["A wins", "B wins", "flip"],
        "open": ["undecided", "B wins", "undecided"],
    }
    assert found.ids[:2] == ["c4", "c3"], "what is open comes first"
    assert found.counts == {"a": 1, "b": 1, "tie": 1, "flip": 1, "open": 1, "error": 0}


def test_an_output_that_is_an_error_is_no_tie(store: RunStore) -> None:
    error = make_output(None, error="timed out")
    found = shown(store, pair(0, "tie", a=error, preferences=()))
    assert found.filters("c0") == {"error"}
    assert found.full["c0"]["answers"][0]["error"] == "timed out"
    assert found.full["c0"]["opinions"][0]["result"] == "output a: timed out"


def test_identical_outputs_are_a_tie_without_a_call(store: RunStore) -> None:
    same = make_output("two", variant="old")
    found = shown(store, pair(0, "tie", a=same, preferences=()))
    assert found.cells("c0")[0] == ("tie", None, "identical")
    result = found.full["c0"]["opinions"][0]["result"]
    assert result == "identical outputs: a tie without a call"


def test_every_order_says_in_words_what_it_chose(store: RunStore) -> None:
    found = shown(store, pair(0, "first"), pair(1, "open"))
    assert found.rows_of("c0", "overall") == [
        ("A shown first", "A is preferred (shown first)", "So it is."),
        ("B shown first", "B is preferred (shown first)", "So it is."),
    ]
    assert found.full["c0"]["opinions"][0]["result"] == "tie; the two orders disagree"
    failure = ("A shown first", "no choice: no verdict could be read", "no verdict")
    assert found.rows_of("c1", "overall")[0] == failure


def test_judges_that_differ_in_one_order_are_counted(store: RunStore) -> None:
    answers = [one for outcome in ("a", "b") for one in said(outcome, "c0", judge=outcome)]
    found = shown(store, pair(0, "a", preferences=answers))
    assert found.cells("c0")[0] == ("undecided", None, "A 1, B 1")


def test_evidence_and_hidden_names_stand_where_the_judge_saw_them(store: RunStore) -> None:
    a = make_output(NAMED, variant="old")
    (seen, _) = prepare_pair(a, make_output("two", variant="new")).texts
    at = seen.index("30 days")
    quote = Evidence(quote="30 days", start=at, end=at + 7, match="exact")
    lost = Evidence(quote="never", match=None)
    (first, second) = said("a", "c0")
    first = first.model_copy(update={"evidence_first": (quote,), "confidence": 0.9})
    second = second.model_copy(update={"evidence_second": (quote,), "evidence_first": (lost,)})
    found = shown(store, pair(0, "a", a=a, preferences=(first, second)))
    output = found.full["c0"]["answers"][0]
    # Offsets count UTF-16 units, of which an emoji has two.
    units = output["output"].encode("utf-16-le")
    marked = [
        (units[2 * m["start"] : 2 * m["end"]].decode("utf-16-le"), m["no"], m.get("note"))
        for m in output["marks"]
    ]
    assert marked == [
        ("30 days", 1, None),
        ("30 days", 3, None),
        ("[name withheld]", 0, "hidden from the judge: GPT-4.1"),
    ]
    rows = found.full["c0"]["opinions"][0]["rows"]
    assert rows[0]["facts"] == ["fake", "confidence 0.90"]
    assert [(q["no"], q["of"], q["match"]) for q in rows[1]["quotes"]] == [
        (2, "B", None), (3, "A", "exact"),
    ]  # fmt: skip


def test_an_analysis_is_shown_with_its_changes(store: RunStore) -> None:
    analysis = ComparisonAnalysis(
        case_id="c0",
        winner="b",
        judge="fake",
        strengths=(AnalysisPoint(text="Clear.", quote="two", found=True),),
        suggestions=(AnalysisSuggestion(area="tone", before="one", after="1", reasoning="Short"),),
    )
    known = shown(store, pair(0, "b"))
    assert known.full["c0"]["points"] == []
    store.add_analysis("cmp-1", 0, analysis)
    found = cases_of_table(comparison_cases(store, store.comparison("cmp-1")))
    assert found.full["c0"]["points"] == [
        {"title": "Strengths of B", "points": [{"text": "Clear.", "quote": "two"}]},
        {
            "title": "Suggestions for A",
            "points": [{"text": "tone: Short", "before": "one", "after": "1"}],
        },
    ]


def ranked(*met: tuple[str, str, str, str], has_outputs: bool = True) -> ShownCases:
    """Comparisons by case, first side, second side and outcome."""
    cases = RankingCases()
    for case, a, b, outcome in met:
        first, second = (make_output(f"{name} {case}", variant=name) for name in (a, b))
        found = compared(outcome, case).comparison
        found = found.model_copy(update={"variant_a": a, "variant_b": b})
        both = OutputPair(make_case(id=case), first, second)
        cases.take(found, both if has_outputs else None)
    return cases_of_table(cases.table(["x", "y", "z"]))


def test_a_ranking_shows_what_each_variant_won_on_a_case() -> None:
    found = ranked(("c1", "x", "y", "a"), ("c1", "z", "x", "b"), ("c1", "y", "z", "tie"))
    assert found.cells("c1") == [
        ("won more than it lost", 1.0, ""),
        ("lost more than it won", 0.25, ""),
        ("lost more than it won", 0.25, ""),
    ]
    row = found.full["c1"]
    assert [(one["column"], one["output"]) for one in row["answers"]] == [
        (0, "x c1"), (1, "y c1"), (2, "z c1"),
    ]  # fmt: skip
    titles = [one["title"] for one in row["opinions"]]
    assert titles == ["x and y: overall", "z and x: overall", "y and z: overall"]


def test_a_variant_that_did_not_meet_has_no_cell_and_an_open_one_no_share() -> None:
    found = ranked(("c1", "x", "y", "open"), ("c2", "x", "y", "first"))
    assert found.cells("c1") == [("undecided", None, ""), ("undecided", None, ""), None]
    assert found.filters("c1") == {"open"}
    assert found.filters("c2") == {"flip"}


def test_comparisons_of_a_file_have_no_outputs() -> None:
    found = ranked(("c1", "x", "y", "a"), has_outputs=False)
    assert found.full["c1"]["answers"] == []
    assert found.rows_of("c1", "x and y: overall")[0][1] == "x is preferred (shown first)"


def test_judges_of_a_panel_are_named_without_the_folders_of_their_files() -> None:
    names = short_judge_names([
        "recorded:/data/judges/a.jsonl pairwise/criterion@1",
        "recorded:/data/judges/b.jsonl pairwise/criterion@1",
        "openai/m pairwise/criterion@1",
        "openai/m pairwise/default@2",
    ])  # fmt: skip
    assert [*names.values()] == [
        "recorded:…/a.jsonl",
        "recorded:…/b.jsonl",
        "openai/m pairwise/criterion",
        "openai/m pairwise/default",
    ]
