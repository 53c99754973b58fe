"""What goes with scores: shares of variance, the curve over a size, variants side by side."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.cli.explain import _good_enough
from judgekit.evaluation import ExplainedVariance
from judgekit.records import RunInfo
from judgekit.report import explain_document
from judgekit.report.numbers import format_difference
from judgekit.stats.attribution import ShapleyR2
from judgekit.stats.estimate import Estimate
from tests.evaluation.suites import NOW, lay_suite, rows
from tests.factories import make_rubric

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run

SIZES = (1000, 4000, 16000, 64000)


@pytest.fixture
def sized(tmp_path: Path, run: Run) -> Path:
    """A run of two variants whose scores fall from 16,000 tokens of context on."""
    draw = random.Random(3)
    names = ("v1", "v2")
    lay_suite(
        tmp_path,
        judge={"model": "recorded:judge.jsonl"},
        rubric="rubric.yaml",
        assertions=None,
        variants=[{"id": name, "outputs": f"{name}.jsonl"} for name in names],
    )
    sizes = {f"c{k}": SIZES[k % 4] for k in range(80)}
    cases = ({"id": i, "input": "?", "metadata": {"size": size}} for i, size in sizes.items())
    (tmp_path / "cases.jsonl").write_text(rows(*cases), encoding="utf-8")
    replies = []
    for name in names:
        answers = []
        for case, size in sizes.items():
            usage = {
                "input_tokens": size + draw.randint(0, 99),
                "output_tokens": draw.randint(5, 9),
            }
            usage["input_tokens"] *= 1 if name == "v1" else 2
            answers.append({"case_id": case, "text": "An answer.", "usage": usage})
            score = (2 if size >= 16000 else 5) - (draw.random() < 0.2)
            text = json.dumps({"score": score, "rationale": "It is so."})
            replies += [
                {"case_id": case, "variant": name, "criterion": criterion, "text": text}
                for criterion in ("good", "short")
            ]
        (tmp_path / f"{name}.jsonl").write_text(rows(*answers), encoding="utf-8")
    (tmp_path / "judge.jsonl").write_text(rows(*replies), encoding="utf-8")
    assert run("run", "-q").code == 0
    return tmp_path


def explained(run: Run, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = run("explain", *options, "--json").json
    return found


@pytest.mark.usefixtures("sized")
def test_most_of_the_variance_goes_with_what_it_was_made_of(run: Run) -> None:
    found = explained(run)
    shares = found["variance"]["shares"]
    assert shares["input_tokens"]["lmg"] > 0.5
    assert shares["input_tokens"]["low"] > shares["input_tokens"]["noise_floor"]
    # What has nothing to do with the scores gets no more than chance gives.
    assert shares["output_tokens"]["lmg"] < 0.05
    assert abs(sum(one["lmg"] for one in shares.values()) - found["variance"]["r2"]) < 1e-9
    assert found["left_out"]["run"] == "the same for all answers"
    assert "not cause" in run("explain").out


@pytest.mark.no_cover
@pytest.mark.usefixtures("sized")
def test_the_curve_has_a_cliff_and_a_safe_limit(run: Run) -> None:
    curve = explained(run, "--by", "case.metadata.size", "--threshold", "0.7")["curve"]
    assert [one["low"] for one in curve["bins"]] == list(SIZES)
    assert curve["cliff_at"] == 16000
    assert curve["safe_limit"] == 4000
    high = explained(run, "--by", "case.metadata.size", "--threshold", "0.99")["curve"]
    assert high["safe_limit"] is None
    low = explained(run, "--by", "case.metadata.size", "--threshold", "0.01")["curve"]
    assert low["safe_limit"] == 64000


@pytest.mark.usefixtures("sized")
def test_many_sizes_are_binned(run: Run) -> None:
    bins = explained(run, "--by", "input_tokens")["curve"]["bins"]
    assert 4 <= len(bins) <= 6
    assert sum(one["n_answers"] for one in bins) == 160
    assert all(one["high"] < other["low"] for one, other in pairwise(bins))


@pytest.mark.usefixtures("sized")
def test_variants_are_shown_side_by_side(run: Run) -> None:
    sides = {one["measure"]: one["estimate"] for one in explained(run)["variants"]}
    assert sides["input_tokens"]["value"] > 20_000  # v2 needs twice as many
    assert sides["input_tokens"]["low"] > 0
    assert sides["value"]["low"] <= 0 <= sides["value"]["high"]


def test_tokens_tool_calls_and_cost_are_compared_in_their_own_unit(
    run: Run, tmp_path: Path
) -> None:
    draw = random.Random(5)
    names = {"short": 1, "long": 3}
    variants = [{"id": name, "outputs": f"{name}.jsonl"} for name in names]
    lay_suite(tmp_path, 40, variants=variants)
    for name, times in names.items():
        answers = []
        for k in range(40):
            n_tokens = times * 1000 + draw.randint(0, 50)
            trace = [{"type": "tool_call", "name": "search"}] * (times + draw.randint(0, 1))
            usage = {"input_tokens": n_tokens, "output_tokens": 9, "cost_usd": n_tokens * 1e-6}
            answers.append({"case_id": f"c{k}", "text": "right", "usage": usage, "trace": trace})
        (tmp_path / f"{name}.jsonl").write_text(rows(*answers), encoding="utf-8")
    run("run", "-q")
    found = {one["measure"]: one["estimate"] for one in explained(run)["variants"]}
    # The costs differ by 0.002 dollars: an interval in steps of a score would hide it.
    assert 0.0019 < found["cost_usd"]["low"] <= 0.002 <= found["cost_usd"]["high"] < 0.0021
    assert 1980 < found["input_tokens"]["low"] < found["input_tokens"]["high"] < 2020
    assert 1.5 < found["tool_calls"]["low"] < 2 < found["tool_calls"]["high"] < 2.5
    assert found["output_tokens"]["value"] == 0
    assert " 0.0 (the same for every case)" in run("explain").out
    # The same interval as in the table of the run.
    (difference,) = (
        one["estimate"]
        for one in run("show", "latest", "--json").json["differences"]
        if one["measure"] == "value"
    )
    assert (found["value"]["low"], found["value"]["high"]) == (
        difference["low"],
        difference["high"],
    )


def test_a_cost_without_tokens_says_nothing_of_tokens(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, 20)
    answers = [
        {"case_id": f"c{k}", "text": "right", "usage": {"cost_usd": k / 100}} for k in range(20)
    ]
    (tmp_path / "v1.jsonl").write_text(rows(*answers), encoding="utf-8")
    run("run", "-q")
    assert explained(run)["left_out"]["input_tokens"] == "unknown for 20 of 20 answers"


def test_answers_of_which_something_is_unknown_are_left_out_and_counted(
    run: Run, sized: Path
) -> None:
    v1 = sized / "v1.jsonl"
    answers = [json.loads(line) for line in v1.read_text(encoding="utf-8").splitlines()]
    for one in answers[::8]:
        del one["usage"]
    for place, one in enumerate(answers):
        one["duration_ms"] = 10 + place
    v1.write_text(rows(*answers), encoding="utf-8")
    assert run("run", "-q").code == 0
    text = run("explain").out
    assert "of the variance of 150 answers" in text
    assert "10 answers left out, of which something is unknown" in text
    found = explained(run, "--by", "input_tokens")
    assert (found["variance"]["n_missing"], found["n_answers"]) == (10, 160)
    assert found["curve"]["n_unknown"] == 10
    assert "0 have it" in run("explain", "--by", "added_context_tokens").err


def test_the_largest_share_is_not_most_of_several() -> None:
    shares = ShapleyR2(
        lmg=(0.15, 0.14, 0.1), low=(0.05, 0.04, 0.03), high=(0.3, 0.3, 0.2), n=50, n_missing=0,
        first=(0.2, 0.2, 0.2), last=(0.1, 0.1, 0.1), noise_floor=(0.01, 0.01, 0.01),
        r2=0.39, adjusted_r2=0.35, level=0.95,
    )  # fmt: skip
    variance = ExplainedVariance(
        names=("stratum", "variant", "model"), shares=shares, left_out={}, n_answers=50, n_cases=50
    )
    words = "goes with what is known, more than by chance with stratum (15%)"
    assert words in explain_document("r", variance, (), ()).conclusion.text
    shares = replace(shares, r2=0.29)
    found = explain_document("r", replace(variance, shares=shares), (), ()).conclusion.text
    assert "most of it with stratum (15%)" in found


def test_a_small_difference_is_not_written_as_0() -> None:
    cost = Estimate(value=-7.3e-8, low=-1.4e-7, high=-2e-9, n=30, method="made up")
    assert format_difference(cost, 6) == "-0.000000073 [-0.000000140, -0.000000002]"
    tokens = Estimate(value=1240, low=310.5, high=2169.5, n=30, method="made up")
    assert format_difference(tokens, 1) == "+1,240.0 [+310.5, +2,169.5]"


def test_a_page_and_errors(run: Run, sized: Path) -> None:
    page = sized / "explained.html"
    assert run("explain", "--by", "input_tokens", "-o", page).code == 0
    assert "<svg" in page.read_text(encoding="utf-8")
    refused = run("explain", "--by", "nonsense")
    assert (refused.code, "is no size of an answer" in refused.err) == (2, True)
    nowhere = run("explain", "--by", "case.metadata.other")
    assert "of 160 answers 0 have it" in nowhere.err


def test_too_few_answers_are_not_explained(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=4)
    run("run", "-q")
    refused = run("explain")
    assert "4 answers have a value" in refused.err
    assert refused.code == 4


def test_the_curve_is_held_to_the_gate_else_the_rubric_else_a_usual_level() -> None:
    run = RunInfo(id="r", suite="s", started_at=NOW, status="complete")
    assert _good_enough(run) == 0.7
    assert _good_enough(run.model_copy(update={"rubric": make_rubric(pass_threshold=0.6)})) == 0.6
    assert _good_enough(run.model_copy(update={"rubric": make_rubric(pass_threshold=1)})) == 0.7
    gated = run.model_copy(update={"config": {"gate": {"tier": "production"}}})
    assert _good_enough(gated) == 0.8


def test_runs_that_were_measured_differently_are_not_explained_together(
    sized: Path, run: Run
) -> None:
    assert run("run", "-q").code == 0
    runs = [one["id"] for one in run("show", "--json").json["runs"]]
    assert run("explain", *runs).code == 0
    suite = sized / "judgekit.yaml"
    text = suite.read_text(encoding="utf-8").replace("recorded:judge.jsonl", "recorded:kind.jsonl")
    suite.write_text(text, encoding="utf-8")
    (sized / "judge.jsonl").rename(sized / "kind.jsonl")
    assert run("run", "-q").code == 0
    ran = run("explain", runs[0], "latest")
    assert (ran.code, ran.out) == (4, "")
    assert f"{runs[0]} and " in ran.err
    assert "are not comparable: the model was recorded:judge.jsonl" in ran.err.replace("\n  ", " ")
