"""The part of a run's page about its judges and its cost."""

from __future__ import annotations

from dataclasses import replace

from judgekit.evaluation import summarize_run
from judgekit.records import Output, RunPanel, Usage
from judgekit.report import Document, judging_and_cost
from judgekit.report.document import Conclusion
from judgekit.report.markdown import render_markdown
from tests.report.run_pages import JUDGE, judged, make_result, make_run

ASKED = {
    "asked": {
        "combine": "mean",
        "judges": [
            {"judge": JUDGE, "parameters": {"temperature": 0.0}, "repeats": 3, "asks_all": True}
        ],
        "weights": [],
    }
}


def shown(*results: object, **fields: object) -> str:
    summary = summarize_run(results, make_run(**fields))  # type: ignore[arg-type]  # results
    blocks = judging_and_cost(summary)
    return render_markdown(Document("run", Conclusion("done"), blocks, dict))


def test_the_settings_of_the_judge_and_its_calibration_are_named() -> None:
    found = shown(make_result(0, judged()), config=ASKED)
    assert (
        "| openai/m | pointwise/default@1 | all criteria in one call | 3 | temperature 0.0 |"
        in (" ".join(found.split(" ")))
    )
    assert "uncalibrated: the judge has not been compared with human labels" in found


def test_settings_that_nobody_recorded_are_unknown_not_absent() -> None:
    found = shown(make_result(0, judged()))
    assert "| – | – | unknown |" in found


def test_a_panel_names_how_it_combines_its_judges() -> None:
    panel = RunPanel(judges=(JUDGE, "openai/n pointwise/default@1"), combine="median")
    assert "median" in shown(make_result(0, judged()), panel=panel)


def test_costs_are_shown_by_part_with_what_the_cache_saved() -> None:
    output = Output(text="Yes.", usage=Usage(cost_usd=1.0))
    paid = judged(cost_usd=0.25, usage=Usage(input_tokens=900, output_tokens=80))
    cached = judged(cached=True, cost_usd=0.0, price_usd=0.5)
    found = shown(make_result(0, paid, output=output), make_result(1, cached, output=output))
    assert "| v1 | $2.00 | $0.25 | – | $2.25 | $0.50 |" in found
    assert "900 sent, 80 received" in found


def test_a_run_without_judges_has_no_judges_to_show() -> None:
    found = shown(make_result(0), panel=RunPanel(), rubric=None)
    assert "Judges and calibration" not in found


def test_what_was_paid_for_replaced_answers_is_shown_too() -> None:
    summary = replace(summarize_run([make_result(0, judged())], make_run()), replaced_usd=0.5)
    shown_blocks = Document("run", Conclusion("done"), judging_and_cost(summary), dict)
    assert "$0.50 for what was replaced since" in render_markdown(shown_blocks)
