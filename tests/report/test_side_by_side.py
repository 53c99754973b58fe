"""Two stored variants beside each other."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.evaluation import compare_stored_scores, new_score_comparison
from judgekit.records import RunPanel
from judgekit.report import document_data, score_comparison_cases, side_by_side_document
from judgekit.report.document import CaseTable
from judgekit.report.markdown import render_markdown
from judgekit.store import RunStore
from tests.factories import make_case, make_output, make_rubric
from tests.report.case_pages import ShownCases, cases_of_table
from tests.store.observing import START, answer, begun, key, said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.records import Observation
    from judgekit.report import Document

RUBRIC = make_rubric()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with closing(RunStore(tmp_path / "judgekit.db")) as store:
        yield store


def scored(number: int, value: float | None, text: str = "Yes.", **fields: Any) -> Observation:
    """The answer to a case, with its value; None where nobody judged it."""
    case = f"c{number}"
    judgments = () if value is None else (said(value=value, raw=1 + 4 * value),)
    known = {"case": make_case(id=case), "output": make_output(text), "said": judgments}
    return answer(key(case), **{"place": number} | known | fields)


def keep(store: RunStore, name: str, *answers: Observation, **fields: Any) -> None:
    begun(store, *answers, name=name, **{"rubric": RUBRIC} | fields)


def beside(store: RunStore) -> Document:
    return side_by_side_document(store, (store.run("old"), "v1"), (store.run("new"), "v1"))


def cases(document: Document) -> ShownCases:
    (table,) = (block for block in document.blocks if isinstance(block, CaseTable))
    return cases_of_table(table)


def test_each_case_is_worse_better_or_the_same(store: RunStore) -> None:
    keep(store, "old", scored(0, 0.0), scored(1, 1.0), scored(2, 0.5), scored(3, 1.0))
    keep(store, "new", scored(0, 1.0), scored(1, 0.25, "No."), scored(2, 0.5), scored(4, 1.0))
    shown = cases(beside(store))
    assert shown.columns == ["A: old", "B: new", "B - A"]
    assert shown.counts == {
        "worse": 1, "better": 1, "same": 1, "changed": 1, "alone": 2, "unknown": 0,
    }  # fmt: skip
    assert shown.ids[0] == "c1", "what got worse comes first"
    assert shown.filters("c1") == {"worse", "changed"}
    assert shown.cells("c1")[2] == ("B is worse", -0.75, "-0.75")
    assert shown.cells("c3") == [("passes", 1.0, ""), None, ("in one only", None, "only in A")]


def test_the_conclusion_has_the_difference_its_interval_and_the_cases(store: RunStore) -> None:
    keep(store, "old", *(scored(n, 0.0) for n in range(8)))
    keep(store, "new", *(scored(n, 1.0 - n / 50) for n in range(8)))
    document = beside(store)
    assert document.conclusion.tone == "better"
    assert document.conclusion.text.startswith("new is better than old: mean value +0.93 [+0.58")
    assert document.conclusion.text.endswith("over 8 cases: 0 worse, 8 better, 0 the same.")
    assert document_data(document)["cases"]["better"] == 8  # type: ignore[index]


def test_equal_scores_are_no_decision_but_the_same(store: RunStore) -> None:
    keep(store, "old", scored(0, 1.0))
    keep(store, "new", scored(0, 1.0))
    text = beside(store).conclusion.text
    assert text.startswith("new and old have the same scores: mean value 0.00")


def test_few_cases_decide_nothing(store: RunStore) -> None:
    keep(store, "old", scored(0, 1.0), scored(1, 0.0))
    keep(store, "new", scored(0, 0.0), scored(1, 0.25))
    document = beside(store)
    assert document.conclusion.tone == "inconclusive"
    assert document.conclusion.text.startswith("No decision between old and new: mean value -0.38")


def test_a_worse_side_is_called_worse(store: RunStore) -> None:
    keep(store, "old", *(scored(n, 1.0) for n in range(8)))
    keep(store, "new", *(scored(n, n / 50) for n in range(8)))
    conclusion = beside(store).conclusion
    assert (conclusion.tone, conclusion.text[:22]) == ("worse", "new is worse than old:")


def test_a_missing_value_is_not_compared(store: RunStore) -> None:
    keep(store, "old", scored(0, 1.0), scored(1, 1.0))
    keep(store, "new", scored(0, 1.0), scored(1, None, is_done=False))
    shown = cases(beside(store))
    assert shown.cells("c1")[1:] == [("undecided", None, ""), ("not compared", None, "no value")]


def test_without_any_value_there_is_no_decision(store: RunStore) -> None:
    keep(store, "old", scored(0, None))
    keep(store, "new", scored(0, None))
    text = beside(store).conclusion.text
    assert text == "No decision: no case has a score on both sides."


def test_an_edited_case_is_another_question(store: RunStore) -> None:
    keep(store, "old", scored(0, 1.0), scored(1, 1.0))
    edited = make_case(id="c1", input="Another question?")
    keep(store, "new", scored(0, 1.0), scored(1, 0.0, case=edited))
    shown = cases(beside(store))
    assert shown.cells("c1")[2] == ("not compared", None, "the case was edited")
    assert shown.counts["worse"] == 0


def test_runs_in_another_order_are_paired_by_case(store: RunStore) -> None:
    keep(store, "old", *(scored(n, 1.0, f"old {n}") for n in range(3)))
    turned = [scored(2 - n, 1.0, f"new {2 - n}", place=n) for n in range(3)]
    keep(store, "new", *turned)
    shown = cases(beside(store))
    texts = {case: [one["output"] for one in row["answers"]] for case, row in shown.full.items()}
    assert texts == {f"c{n}": [f"old {n}", f"new {n}"] for n in range(3)}


def test_repeats_are_shown_one_by_one_and_compared_by_their_mean(store: RunStore) -> None:
    config = {"settings": {"repeats": 2}}
    both = [scored(0, value, key=key("c0", repeat=n)) for n, value in enumerate((1.0, 0.0))]
    keep(store, "old", *both, config=config)
    keep(store, "new", *both, config=config)
    shown = cases(beside(store))
    assert shown.cells("c0")[0] == ("passes in some repeats only", 0.5, "")
    names = [one["name"] for one in shown.full["c0"]["answers"]]
    assert names == ["A: old", "A: old #2", "B: new", "B: new #2"]


def test_another_judge_gets_no_verdict_but_the_outputs_are_shown(store: RunStore) -> None:
    asked = {
        name: {"judging": {"judges": [{"judge": f"openai/{name} t@1", "repeats": 1}]}}
        for name in ("m", "n")
    }
    panel = RunPanel(judges=("openai/n t@1",))
    keep(store, "old", scored(0, 0.0), config=asked["m"])
    late = START + timedelta(hours=1)
    new = scored(0, 1.0, "New.")
    keep(store, "new", new, config=asked["n"], panel=panel, started_at=late)
    document = beside(store)
    shown = cases(document)
    assert document.conclusion.text.startswith("No verdict: old and new are not comparable: ")
    assert document.conclusion.text.endswith("The outputs of 1 case differ.")
    assert shown.counts == {"changed": 1, "alone": 0}
    assert shown.cells("c0") == [("fails", None, ""), ("passes", None, "")]
    data: Any = document_data(document)
    assert data["decision"] is None
    (remedy,) = data["remedy"]
    assert remedy.startswith("Judge A again with the judge of B, then compare that run with B: ")
    assert remedy.endswith("judgekit rejudge old --judge openai/n")


def test_another_rubric_needs_both_to_be_run_again(store: RunStore) -> None:
    keep(store, "old", scored(0, 0.0))
    late = START + timedelta(hours=1)
    both = make_rubric("accuracy", "clarity")
    keep(store, "new", scored(0, 0.0), rubric=both, started_at=late)
    data: Any = document_data(beside(store))
    assert "added criteria: clarity" in data["reason"]
    assert "so that one rubric judges both" in data["remedy"][0]


def test_runs_without_a_common_case_have_nothing_to_compare(store: RunStore) -> None:
    keep(store, "old", scored(0, 0.0))
    keep(store, "new", scored(1, 0.0))
    document = beside(store)
    assert document.conclusion.text.startswith("No verdict: no case is answered by both sides.")
    assert cases(document).counts == {"changed": 0, "alone": 2}


def test_two_variants_of_one_run_are_named_by_their_variants(store: RunStore) -> None:
    answers = [
        answer(key("c0", name), said=(said(value=value),))
        for name, value in (("v1", 0.0), ("v2", 1.0))
    ]
    keep(store, "run", *answers, variants=[{"id": "v1"}, {"id": "v2"}])
    run = store.run("run")
    document = side_by_side_document(store, (run, "v1"), (run, "v2"))
    assert document.title == "v1 and v2 side by side"
    assert cases(document).counts["better"] == 1


def test_only_tagged_cases_are_shown_where_only_they_are_compared(store: RunStore) -> None:
    tagged = make_case(id="c0", tags=("refund",))
    keep(store, "old", scored(0, 0.0, case=tagged), scored(1, 0.0))
    keep(store, "new", scored(0, 1.0, case=tagged), scored(1, 1.0))
    both = ((store.run("old"), "v1"), (store.run("new"), "v1"))
    info = new_score_comparison(*both, tags=("refund",), now=START)
    found = compare_stored_scores(store, info)
    shown = cases_of_table(score_comparison_cases(store, found, ("v1", "v1"), info.tags))
    assert list(shown.full) == ["c0"]
    assert shown.counts["better"] == 1


def test_repeats_that_never_pass_are_not_called_passing_in_some(store: RunStore) -> None:
    config = {"settings": {"repeats": 2}}
    failing, passing = (
        [scored(0, value, key=key("c0", repeat=n)) for n, value in enumerate(values)]
        for values in ((0.0, None), (1.0, 1.0))
    )
    keep(store, "old", *failing, config=config)
    keep(store, "new", *passing, config=config)
    assert cases(beside(store)).cells("c0")[0] == ("fails", 0.0, "")


@pytest.mark.parametrize("n", [41, 30])
def test_of_many_changed_cases_it_is_said_how_many_are_listed(store: RunStore, n: int) -> None:
    keep(store, "old", *(scored(place, 1.0) for place in range(n)))
    keep(store, "new", *(scored(place, 0.5) for place in range(n)))
    text = render_markdown(beside(store))
    assert text.count("**worse**") == 20
    assert f"## Worse cases\n\nthe 20 largest of {n} changes\n" in text


def test_a_judge_is_named_without_the_folder_of_its_file(store: RunStore) -> None:
    panel = RunPanel(judges=("recorded:/data/judges/replies.jsonl pointwise/default@1",))
    for name in ("old", "new"):
        keep(store, name, scored(0, 1.0), panel=panel)
    text = render_markdown(beside(store))
    assert "judged by recorded:…/replies.jsonl pointwise/default@1" in text
    assert "judges" not in text
