"""The verbs of Python, from case to conclusion, with judges that are scripted or recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from tests.contract.judging import CASES, OUTPUTS, RUBRICS, scripted
from tests.contract.material import laboratory, preferred, said
from tests.contract.shapes import figures, plain, shape
from tests.contract.terminal import repeatable

if TYPE_CHECKING:
    from judgekit.models.request import ModelRequest
    from tests.contract.pinning import Pins

SCORES: dict[str, dict[str, float]] = {
    "best": {"accuracy": 5, "tone": 10},
    "middling": {"accuracy": 4, "tone": 3},
    "worst": {"accuracy": 1, "tone": 0},
    "required fails": {"accuracy": 2, "tone": 10},
}


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The laboratory's files, in the working directory."""
    for name, text in laboratory().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stated(record: Any) -> dict[str, Any]:
    """A record as JSON, without what takes time."""
    known = json.loads(repeatable(json.dumps(plain(record)), Path.cwd()))
    return {"figures": figures(known), "shape": shape(known)}


@pytest.mark.parametrize("name", SCORES)
def test_a_verdict_is_as_pinned(name: str, pins: Pins) -> None:
    with jk.Judge(scripted(SCORES[name]), cache=None) as judge:
        verdict = judge.grade_sync(CASES["plain"], OUTPUTS["plain"], RUBRICS["two"])
    assert jk.Verdict.model_validate(verdict.to_json()) == verdict
    pins.check("verdicts", name, stated(verdict))


UNUSABLE: dict[str, Any] = {
    "unreadable": "I pass.",
    "off the scale": said(9),
    "refusal": "I'm sorry, but I can't help with evaluating this content.",
    "cut off": jk.ModelReply(text=said(4)[:20], finish_reason="length"),
    "filtered": jk.ModelReply(text="", finish_reason="content_filter"),
    "provider error": jk.ModelError("no", kind="server", provider="openai", status=500),
    "not assessable": said(None, assessable=False),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_an_unusable_answer_is_a_failure_and_no_score(name: str, pins: Pins) -> None:
    with jk.Judge(jk.ScriptedModel(UNUSABLE[name]), cache=None) as judge:
        verdict = judge.grade_sync(CASES["plain"], OUTPUTS["plain"], RUBRICS["levels"])
    assert (verdict.passed, verdict.value, verdict.judgments) == (None, None, ())
    (failure,) = verdict.failures
    pins.check("verdicts", f"failure: {name}", [failure.criterion, failure.kind])


def test_an_error_of_the_output_is_not_judged() -> None:
    model = jk.ScriptedModel("never")
    with jk.Judge(model, cache=None) as judge:
        output = jk.Output(error="timed out")
        verdict = judge.grade_sync(CASES["plain"], output, RUBRICS["two"])
    assert (verdict.passed, verdict.error, model.requests) == (None, "timed out", [])


async def test_grading_works_inside_a_running_loop() -> None:
    with jk.Judge(scripted(SCORES["best"]), cache=None) as judge:
        one = await judge.grade(CASES["plain"], OUTPUTS["plain"], RUBRICS["two"])
        other = judge.grade_sync(CASES["plain"], OUTPUTS["plain"], RUBRICS["two"])
    assert (one.value, other.value) == (1.0, 1.0)


def test_a_cached_reply_is_not_asked_again(tmp_path: Path) -> None:
    model = scripted(SCORES["best"])
    verdicts = []
    for _ in range(2):
        with jk.Judge(model, cache=tmp_path / "cache") as judge:
            verdicts.append(judge.grade_sync(CASES["plain"], OUTPUTS["plain"], RUBRICS["two"]))
    assert len(model.requests) == 2
    assert [{j.cached for j in verdict.judgments} for verdict in verdicts] == [{False}, {True}]


def test_a_frozen_judge_asks_nothing(tmp_path: Path) -> None:
    model = scripted(SCORES["best"])
    with jk.Judge(model, cache=tmp_path / "cache", frozen=True) as judge:
        verdict = judge.grade_sync(CASES["plain"], OUTPUTS["plain"], RUBRICS["two"])
    assert ({failure.kind for failure in verdict.failures}, model.requests) == ({"frozen_miss"}, [])


CHOICES = {
    "a": ("first", "second"),
    "b": ("second", "first"),
    "tie": ("tie", "tie"),
    "flip": ("first", "first"),
    "leans": ("first", "tie"),
}


@pytest.mark.parametrize("rule", ["consistent", "average"])
@pytest.mark.parametrize("name", CHOICES)
def test_a_comparison_is_as_pinned(name: str, rule: Any, pins: Pins) -> None:
    def say(request: ModelRequest) -> str:
        return preferred(CHOICES[name][request.subject.order == "ba"])

    with jk.Judge(jk.ScriptedModel(say), cache=None, rule=rule) as judge:
        compared = judge.compare_sync(
            CASES["plain"], OUTPUTS["plain"], OUTPUTS["other"], RUBRICS["binary"]
        )
    assert jk.Comparison.model_validate(compared.to_json()) == compared
    pins.check("comparisons", f"{name} {rule}", stated(compared))


def test_the_same_text_twice_is_a_tie_that_is_not_asked() -> None:
    model = jk.ScriptedModel("never")
    with jk.Judge(model, cache=None) as judge:
        plain = OUTPUTS["plain"]
        compared = judge.compare_sync(CASES["plain"], plain, plain, RUBRICS["two"])
    assert (compared.winner, compared.is_identical, model.requests) == ("tie", True, [])


def test_a_suite_is_evaluated_and_summarized_as_pinned(lab: Path, pins: Pins) -> None:
    with jk.evaluate_sync("judgekit.yaml") as run:
        summary = jk.summarize(run)
        results = list(run.results())
        pins.check("evaluated", "summary", stated(summary))
        pins.check("evaluated", "status", [run.status, len(results)])
        pins.check("evaluated", "result", stated(results[0]))
    assert (lab / ".judgekit" / "judgekit.db").exists()


def test_a_run_is_calibrated_as_pinned(lab: Path, pins: Pins) -> None:
    with jk.evaluate_sync("judgekit.yaml") as run:
        report = jk.calibrate(run, lab / "labels.jsonl")
    pins.check("calibrated", "report", stated(report)["figures"])
    calibration = report.maps()
    jk.save_calibration(lab / "map.json", calibration)
    assert jk.load_calibration(lab / "map.json") == calibration


def test_rows_of_scores_are_calibrated_without_a_run(pins: Pins) -> None:
    judged: list[dict[str, Any]] = [{"case_id": f"q{k}", "raw": 1 + k % 5} for k in range(20)]
    labels: list[dict[str, Any]] = [
        {"case_id": f"q{k}", "annotator": "Ann", "raw": 1 + (k + (k % 7 == 0)) % 5}
        for k in range(20)
    ]
    report = jk.calibrate(judged, labels)
    pins.check("calibrated", "rows", stated(report)["figures"])


def test_verdicts_are_summarized_without_a_store(pins: Pins) -> None:
    verdicts = []
    for scores in SCORES.values():
        with jk.Judge(scripted(scores), cache=None) as judge:
            verdicts.append(judge.grade_sync(CASES["plain"], OUTPUTS["plain"], RUBRICS["two"]))
    pins.check("evaluated", "verdicts", stated(jk.summarize(verdicts, RUBRICS["two"])))


def test_a_recorded_judge_answers_by_case_and_criterion(lab: Path) -> None:
    (lab / "one.jsonl").write_text(
        json.dumps({"case_id": "plain", "criterion": "right", "text": said(1)}), encoding="utf-8"
    )
    with jk.Judge(f"recorded:{lab / 'one.jsonl'}", cache=None) as judge:
        verdict = judge.grade_sync(CASES["plain"], OUTPUTS["plain"], RUBRICS["binary"])
        other = judge.grade_sync(CASES["bare"], OUTPUTS["plain"], RUBRICS["binary"])
    assert (verdict.passed, other.passed, len(other.failures)) == (True, None, 1)


async def test_any_object_with_a_name_and_complete_is_a_model() -> None:
    class Mine:
        name = "mine"

        async def complete(self, request: ModelRequest) -> jk.ModelReply:
            assert request.reply_schema is not None
            return jk.ModelReply(text=said(1))

    with jk.Judge(Mine(), cache=None) as judge:
        verdict = await judge.grade(CASES["plain"], OUTPUTS["plain"], RUBRICS["binary"])
    assert verdict.judgments[0].judge.startswith("mine pointwise/criterion@")


def test_comparisons_are_ranked_as_pinned(lab: Path, pins: Pins) -> None:
    rows = [("x", "y", "a"), ("y", "z", "a"), ("x", "z", "a"), ("x", "y", "tie"), ("z", "y", "b")]
    text = "".join(
        json.dumps({"case_id": f"q{k}", "variant_a": a, "variant_b": b, "winner": w}) + "\n"
        for k, (a, b, w) in enumerate(rows)
    )
    (lab / "pairs.jsonl").write_text(text, encoding="utf-8")
    pins.check("evaluated", "ranking", stated(jk.rank_comparisons(lab / "pairs.jsonl")))


def test_a_run_is_rejudged_as_pinned(lab: Path, pins: Pins) -> None:
    del lab
    with (
        jk.evaluate_sync("judgekit.yaml") as run,
        jk.Judge(jk.ScriptedModel(said(1)), cache=None) as judge,
    ):
        pins.check("evaluated", "rejudged", stated(jk.rejudge_sync(run, judge)))
