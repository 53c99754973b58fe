"""Trends: series of comparable runs, their direction, and breaks where the measure changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from judgekit.store import RunStore
from tests.cli.test_gate import LENIENT, STRICT, judged, passing

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run


def fall(run: Run, folder: Path, *passed: int, n: int = 10) -> None:
    """Runs of which so many cases pass."""
    for n_passing in passed:
        passing(folder, n, n_passing, gate=None)
        assert run("run", "-q").code == 0


def test_eight_runs_that_fall_are_degrading_and_escalate(run: Run, tmp_path: Path) -> None:
    fall(run, tmp_path, *range(10, 2, -1))
    found = run("trend", "--json")
    assert found.code == 0
    trend = found.json
    assert (trend["direction"], trend["escalated"], trend["n_degrading"]) == ("degrading", True, 6)
    values = [point["value"] for point in trend["series"]]
    assert values == [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]
    assert all(one["low"] <= one["value"] <= one["high"] for one in trend["series"])
    assert [point["break"] for point in trend["series"]] == [None] * 8
    # Mann and Kendall's S of eight falling values is -28, two-sided p 2 / 8!.
    assert trend["test"]["s"] == -28
    assert abs(trend["test"]["p_value"] - 2 / 40320) < 1e-12
    assert abs(trend["test"]["slope"] + 0.1) < 1e-9
    shown = " ".join(run("trend").out.split())
    assert "score degrading over the last 5 runs, 0.70 → 0.30" in shown
    assert "degrading for 6 runs in a row: escalated" in shown


def test_a_trend_that_moves_by_less_than_five_percent_is_stable(run: Run, tmp_path: Path) -> None:
    fall(run, tmp_path, 50, 50, 49, 48, 48, n=50)
    trend = run("trend", "--json").json
    assert (trend["direction"], trend["reason"]) == ("stable", "within-band")
    assert not trend["escalated"]


def test_another_judge_breaks_the_series(run: Run, tmp_path: Path) -> None:
    for _ in range(3):
        judged(tmp_path, STRICT, 2, gate=None)
        run("run", "-q")
    judged(tmp_path, LENIENT, 5, gate=None)
    run("run", "-q")
    trend = run("trend", "--json").json
    assert [point["value"] for point in trend["series"]] == [0.25, 0.25, 0.25, 1.0]
    *before, last = (point["break"] for point in trend["series"])
    assert before == [None] * 3
    assert last == f"judge: recorded:{STRICT} → recorded:{LENIENT}"
    # One run since the break: what was before says nothing about it.
    assert (trend["direction"], trend["reason"]) == ("stable", "insufficient-data")
    assert "1 run since the last break" in run("trend").out


def test_other_cases_break_the_series(run: Run, tmp_path: Path) -> None:
    fall(run, tmp_path, 10, 10)
    passing(tmp_path, 12, 12, gate=None)
    run("run", "-q")
    cases = tmp_path / "cases.jsonl"
    text = cases.read_text(encoding="utf-8")
    cases.write_text(text.replace("Question c3?", "What is c3?"), encoding="utf-8")
    run("run", "-q")
    cases.write_text(cases.read_text(encoding="utf-8").replace('"t0"', '"other"'), encoding="utf-8")
    run("run", "-q")
    breaks = [point["break"] for point in run("trend", "--json").json["series"]]
    # Another tag changes neither an answer nor its judgment.
    assert breaks == [None, None, "cases: 2 added", "cases: 1 edited", None]


def test_another_threshold_is_no_break_and_scores_earlier_runs_again(
    run: Run, tmp_path: Path
) -> None:
    judged(tmp_path, STRICT, 4, gate=None)
    run("run", "-q")
    rubric = tmp_path / "rubric.yaml"
    text = rubric.read_text(encoding="utf-8")
    rubric.write_text(text.replace("pass_threshold: 0.7", "pass_threshold: 0.9"), encoding="utf-8")
    run("run", "-q")
    series = run("trend", "--measure", "pass_rate", "--json").json["series"]
    assert [(point["value"], point["break"]) for point in series] == [(0.0, None), (0.0, None)]


def test_runs_of_some_of_the_cases_are_left_out_and_counted(run: Run, tmp_path: Path) -> None:
    fall(run, tmp_path, 10, 10)
    run("run", "-q", "-n", "3")
    trend = run("trend", "--json").json
    assert (len(trend["series"]), trend["n_left_out"]) == (2, 1)
    assert "1 run of only some of the cases, or ended early" in " ".join(run("trend").out.split())


def test_a_criterion_and_a_suite_are_found_by_name(run: Run, tmp_path: Path) -> None:
    judged(tmp_path, STRICT, 2, gate=None)
    run("run", "-q")
    found = run("trend", "small", "--criterion", "good", "--json").json
    assert (found["measure"], found["series"][0]["value"]) == ("good", 0.25)
    unknown = run("trend", "--criterion", "nice")
    assert (unknown.code, "no criterion is called 'nice'" in unknown.err) == (2, True)
    assert run("trend", "other").code == 2


def test_the_page_draws_the_series(run: Run, tmp_path: Path) -> None:
    fall(run, tmp_path, 10, 8, 6)
    page = tmp_path / "trend.html"
    assert run("trend", "-o", page).code == 0
    assert "<svg" in page.read_text(encoding="utf-8")


def test_figures_are_kept_so_that_no_answers_are_read(run: Run, tmp_path: Path) -> None:
    fall(run, tmp_path, 10, 9)
    store = RunStore(tmp_path / ".judgekit" / "judgekit.db")
    try:
        (first, *_) = reversed(store.runs())
        (kept,) = [
            figures
            for (run_id, _), figures in store.figures_of_suite("small", "figures").items()
            if run_id == first.id
        ]
        # Many runs as of another year, without any answer: only what is kept can be read.
        for k in range(20):
            at = first.started_at + timedelta(days=k)
            copy = first.model_copy(update={"id": f"copy-{k}", "suite": "many", "started_at": at})
            store.begin(copy)
            key = next(k for (i, k) in store.figures_of_suite("small", "figures") if i == first.id)
            store.keep_figures(copy.id, key, kept)
    finally:
        store.close()
    trend = run("trend", "many", "--json").json
    assert [point["value"] for point in trend["series"]] == [1.0] * 20
    assert datetime.fromisoformat(trend["series"][-1]["at"]).tzinfo == UTC
