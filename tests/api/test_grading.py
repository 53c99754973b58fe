"""Lists, records and frames are graded at once, and the results show themselves."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import judgekit as jk
from judgekit.models import Budget
from judgekit.store import RunStore
from judgekit.testing import ScriptedModel
from tests.factories import make_case, make_rubric, reply

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.models.request import ModelRequest

RUBRIC = make_rubric("accuracy")
ROWS = [{"case_id": f"c{k}", "input": f"Question {k}?", "text": f"Answer {k}."} for k in range(4)]


def judge_by_case(request: ModelRequest) -> str:
    """The best score for even cases, the worst for odd ones."""
    return reply(5 if (request.subject.case_id or "")[-1] in "02468" else 1)


def graded(outputs: Any, **settings: Any) -> jk.GradingResults:
    model = ScriptedModel(judge_by_case)
    return jk.grade_sync(outputs, rubric=RUBRIC, judge=model, cache=None, **settings)


def pandas_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """A frame of pandas with whole numbers, a missing time and missing numbers."""
    more = {"day": pd.NaT, "n": 7, "gap": float("nan")}
    return pd.DataFrame([{**row, **more} for row in rows])


class HuggingFaceLike(list[dict[str, Any]]):
    """A dataset that is iterated row by row."""

    features: tuple[str, ...] = ()
    column_names = ("case_id", "input", "text")

    def to_dict(self) -> None: ...


class ArrowCapsule:
    """A table of a library that hands it over in Arrow's form."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._table = pa.Table.from_pylist(rows)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "form",
    [list, iter, pl.DataFrame, pandas_frame, HuggingFaceLike, pa.Table.from_pylist, ArrowCapsule],
)
def test_every_form_of_rows_is_graded_in_its_order(form: Any) -> None:
    results = graded(form(ROWS[::-1]))
    assert [(one.case_id, one.passed) for one in results] == [
        ("c3", False), ("c2", True), ("c1", False), ("c0", True),
    ]  # fmt: skip
    assert results.pass_rate.value == 0.5
    assert repr(results) == "<GradingResults: 4 outputs, pass rate 50 % [15, 85]>"
    assert len(repr(results.summary)) < 200
    if form is pandas_frame:
        assert results.outcomes[0].result.output.metadata == {"n": 7}


def test_records_pairs_and_cases_of_their_own_are_taken() -> None:
    case, output = make_case(id="c0"), jk.Output(case_id="c0", text="Yes.")
    assert [one.case_id for one in graded([(case, output)])] == ["c0"]
    joined = graded([output], cases=[{"id": "c0", "input": "May I?"}])
    assert joined.outcomes[0].result.case.input == "May I?"
    unnamed = graded([{"input": "a", "text": "b"}, {"input": "c", "text": "d"}])
    assert [one.case_id for one in unnamed] == ["row-1", "row-2"]
    again = graded([one.result for one in joined.outcomes])
    assert again[0].case_id == "c0"


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ([], "outputs: there are no outputs"),
        (7, "outputs: a int holds no rows"),
        ({"train": HuggingFaceLike(ROWS)}, "several splits: train"),
        (pd.Series(["Yes.", "No."]), "a Series is no table: "),
        ([*ROWS, {"case_id": "c9", "input": "?"}], r"^outputs\[4\]: an output needs a text"),
        ([*ROWS, "text"], r"outputs\[4\]: a str is no output"),
        ([*ROWS, ROWS[1]], r"outputs\[4\]: the case 'c1' comes twice"),
        (pa.table({"id": ["a"], "text": [float("inf")]}), r"outputs\[0\]: column 'text': an inf"),
    ],
)
def test_bad_data_is_refused_with_its_place(outputs: Any, words: str) -> None:
    with pytest.raises(jk.InputError, match=words):
        graded(outputs)


def test_outputs_of_a_file_are_named_after_it(tmp_path: Path) -> None:
    rows = [ROWS[0], {**ROWS[1], "variant": "own"}]
    (tmp_path / "v1.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert [one.variant for one in graded(tmp_path / "v1.jsonl")] == ["v1", "own"]


def test_all_outputs_are_judged_at_once_inside_a_running_loop_too() -> None:
    """Every call waits until all of them have been made."""
    here = asyncio.Event()

    class Waiting:
        name = "waiting"
        n = 0

        async def complete(self, _: ModelRequest) -> jk.ModelReply:
            self.n += 1
            if self.n == len(ROWS):
                here.set()
            await asyncio.wait_for(here.wait(), 20)
            return jk.ModelReply(text=reply(5))

    async def notebook() -> jk.GradingResults:
        return jk.grade_sync(ROWS, rubric=RUBRIC, judge=Waiting(), cache=None)

    assert len(asyncio.run(notebook())) == len(ROWS)


def test_a_failure_stays_a_failure_and_no_score() -> None:
    model = ScriptedModel({"c0": reply(5), "c1": "no idea", "c2": reply(5), "c3": reply(5)})
    results = jk.grade_sync(ROWS, rubric=RUBRIC, judge=jk.Judge(model, cache=None, max_reasks=0))
    assert [one.value for one in results] == [1.0, None, 1.0, 1.0]
    assert [one.kind for one in results.failures] == ["unreadable"]
    assert "1 judge failure" in repr(results)
    row = results.to_dicts()[1]
    assert (row["passed"], row["accuracy.raw"]) == (None, None)
    assert row["failures"] == "accuracy: unreadable"


def test_what_the_money_does_not_suffice_for_is_open_and_said(tmp_path: Path) -> None:
    prices = jk.PriceTable({"m": jk.ModelPrice(input_usd=1e-6, output_usd=1e-6)})
    model = ScriptedModel(reply(5), name="m")
    judge = jk.Judge(model, cache=tmp_path, budget=Budget(0.0, prices))
    results = jk.grade_sync(ROWS, rubric=RUBRIC, judge=judge)
    judge.close()
    assert len(results) == len(ROWS)
    assert {one.passed for one in results} == {None}
    assert "stopped: " in repr(results)


def test_a_missing_key_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(jk.JudgekitError, match="OPENAI_API_KEY"):
        jk.grade_sync(ROWS, rubric=RUBRIC, judge="openai/gpt-4.1-mini", cache=None)


def test_settings_beside_a_judge_are_refused() -> None:
    judge = jk.Judge(ScriptedModel(reply(5)), cache=None)
    with pytest.raises(jk.SettingsError, match="settings of the judge"):
        jk.grade_sync(ROWS, rubric=RUBRIC, judge=judge, frozen=True)


def test_a_run_is_stored_only_where_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    results = graded(ROWS, store=path)
    store = RunStore(path)
    try:
        assert len(list(store.results(results.run.id))) == len(ROWS)
    finally:
        store.close()


def test_results_show_themselves_and_write_their_report(tmp_path: Path) -> None:
    rows = [{**row, "text": "<script>alert(1)</script>"} for row in ROWS]
    model = ScriptedModel(reply(1, rationale="<b>wrong</b>"))
    results = jk.grade_sync(rows, rubric=RUBRIC, judge=model, cache=None)
    shown = results._repr_html_()
    assert "outputs passed 0/4" in shown
    assert "&lt;b&gt;wrong&lt;/b&gt;" in shown
    assert "<script" not in shown
    assert "fails" in results[0]._repr_html_()
    assert len(repr(results[0])) < 200
    for name in ("x.html", "x.md", "x.json"):
        results.report(tmp_path / name)
    assert "c3" in (tmp_path / "x.html").read_text("utf-8")
    assert len(json.loads((tmp_path / "x.json").read_text("utf-8"))["verdicts"]) == 4
    with pytest.raises(jk.SettingsError, match=r"cannot be written to x\.csv"):
        results.report(tmp_path / "x.csv")
    rate = jk.summarize(list(results), RUBRIC).to_dicts()[0]
    assert "passed" in rate
    with pytest.raises(jk.InputError, match="a int is no result"):
        jk.present(7)


@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_results_become_a_frame_with_a_row_for_each_output(library: str, kind: Any) -> None:
    frame: Any = graded(ROWS).to_frame(library)
    assert isinstance(frame, kind)
    assert list(frame["case_id"]) == ["c0", "c1", "c2", "c3"]
    assert list(frame["passed"]) == [True, False, True, False]
    assert list(frame["accuracy.raw"]) == [5, 1, 5, 1]


def test_a_frame_is_of_a_library_that_is_there() -> None:
    with pytest.raises(jk.SettingsError, match="cannot be made a frame of 'spark'"):
        graded(ROWS).to_frame("spark")


def test_an_error_about_a_criterion_names_the_line_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(
        "name: r\ncriteria:\n  - name: a\n    question: Right?\n    scale: one_to_five\n"
        "    template: no/such\n"
    )
    with pytest.raises(jk.TemplateError, match=r"r\.yaml:3: criterion 'a': no template is called"):
        jk.grade_sync(ROWS, rubric=path, judge=ScriptedModel(judge_by_case), cache=None)
