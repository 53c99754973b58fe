from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from judgekit.datasets import SelectionCount
from judgekit.evaluation import AnswersPlan, CallLoad, ModelPlan, SuitePlan
from judgekit.evaluation.cost_plan import TextLength
from judgekit.evaluation.suite_plan import EarlierRun, detectable_effects
from judgekit.report import document_data, print_document, suite_plan_document

MODEL = "openai/gpt-4.1-mini"


def load(calls: int = 8, price_usd: float | None = 0.5) -> CallLoad:
    """Calls of 1,000 tokens."""
    return CallLoad(
        calls=calls, input_tokens=1000 * calls, output_tokens=100 * calls, price_usd=price_usd
    )


def answers(variant: str = "v1", **fields: Any) -> AnswersPlan:
    """Four recorded answers."""
    known: dict[str, Any] = {
        "kind": "outputs",
        "n_answers": 4,
        "n_known": 4,
        "n_errors": 0,
        "text": None,
        "text_source": None,
        "latency_s": None,
        "cost_usd": None,
    }
    return AnswersPlan(variant=variant, **known | fields)


def model(**fields: Any) -> ModelPlan:
    """A judge that is asked eight questions."""
    known: dict[str, Any] = {
        "role": "judge",
        "name": f"{MODEL} pointwise/criterion@0123abcd",
        "model": MODEL,
        "n_questions": 8,
        "n_shared": 0,
        "n_owned": 0,
        "likely": load(),
        "most": load(price_usd=2.0),
        "saved_usd": 0.0,
        "counted_by": "tiktoken:o200k_base",
        "latency_s": 3.0,
        "n_latencies": 0,
        "max_concurrency": 32,
        "seconds": 3.0,
        "bound": "concurrency",
    }
    return ModelPlan(**known | fields)


def plan(*answered: AnswersPlan, **fields: Any) -> SuitePlan:
    """A plan of four cases."""
    known: dict[str, Any] = {
        "suite": "sums",
        "cases": SelectionCount(n_chosen=4),
        "n_counted": 4,
        "repeats": 1,
        "n_answers": 4,
        "n_done": 0,
        "n_retries": 0,
        "answers": answered or (answers(),),
        "models": (model(),),
        "combine": None,
        "people": (0, 0),
        "judges_by_rule": False,
        "is_frozen": False,
        "max_cost_usd": None,
        "in_flight": 32,
        "seconds": 3.0,
        "detectable": detectable_effects(40),
        "earlier": None,
    }
    return SuitePlan(**known | fields)


def shown(made: SuitePlan, width: int = 110) -> str:
    """What is printed, its lines joined by single spaces."""
    stream = io.StringIO()
    print_document(Console(file=stream, width=width), suite_plan_document(made))
    return " ".join(stream.getvalue().split())


def test_a_plan_says_what_is_asked_of_whom() -> None:
    text = shown(plan())
    assert "sums: 4 cases by 1 variant: 4 answers" in text
    assert "judge pointwise/criterion 0 of 8 8 8,000 800 $0.50 3 s" in text
    assert f"{MODEL} at most 8 8,000 800 $2.00" in text
    assert "Price: $0.50 likely, $2.00 at most" in text
    assert "Time: about 3 s, 32 answers at a time" in text


def test_a_plan_fits_a_narrow_terminal_whole() -> None:
    stream = io.StringIO()
    long = model(role="answers", name="new[prompt=short.j2,model=openai/gpt-4.1-mini]")
    big = model(likely=load(3_600_000, 2067.0), most=load(3_600_000, 21584.0))
    print_document(Console(file=stream, width=80), suite_plan_document(plan(models=(long, big))))
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    header = next(line for line in lines if "cached" in line)
    assert header.split() == ["model", "cached", "calls", "sent", "received", "price", "time"]


def test_several_models_are_added_up() -> None:
    text = shown(plan(models=(model(), model(model="b", n_owned=3, saved_usd=0.2))))
    assert "all 3 of 16 16 16k 1,600 $1.00 3 s at most 16 16k 1,600 $4.00" in text
    assert "$1.00 likely, $4.00 at most; $0.20 saved by cached replies" in text


def test_what_is_left_out_is_said() -> None:
    cases = SelectionCount(n_chosen=4, n_draft=2, n_deprecated=1, n_filtered=3, n_undrawn=5)
    text = shown(plan(cases=cases, n_counted=2, n_done=1, repeats=2, n_retries=9))
    left = "3 filtered, 5 not drawn or after the limit, 2 drafts, 1 deprecated"
    assert f"cases left out: {left}" in text
    assert "estimated from 2 cases drawn at random; counts are scaled up" in text
    assert "done already in this run: 1 answer" in text
    assert "4 cases by 1 variant by 2 repeats" in text
    assert "up to 9 answers more" in text


def test_answers_are_said_by_kind() -> None:
    text = shown(
        plan(
            answers(n_errors=1),
            answers("v2", kind="prompt", n_known=3, text=TextLength(20, 80), text_source="owned"),
            answers("v3", kind="command", n_known=0, text=TextLength(20, 80), text_source="run"),
            answers("v4", kind="http", n_known=0, cost_usd=0.3, latency_s=2.0),
        )
    )
    assert "v1: 4 answers recorded; 1 without an output, not judged" in text
    assert "v2: 4 answers from a model, 3 cached already" in text
    assert "v3: 4 answers from a command, at an unknown price" in text
    assert "v4: 4 answers from an endpoint, about $0.30 as in the latest run" in text
    assert "Price: $0.80 likely, $2.30 at most, $0.30 of it outside these models" in text
    assert "the time of v3 is unknown" in text
    assert "answers of v2 have 20 tokens, 80 at most (from its known answers)" in text
    assert "answers of v3 have 20 tokens, 80 at most (observed)" in text


def test_foreign_names_are_printed_as_they_stand() -> None:
    assert "[red]x[/red]: 4 answers recorded" in shown(plan(answers("[red]x[/red]")))


def test_nothing_to_ask_costs_nothing_and_takes_no_time() -> None:
    idle = model(likely=load(0, 0.0), most=load(0, 0.0), n_owned=8, saved_usd=0.7, seconds=0.0)
    text = shown(plan(models=(idle,), seconds=0.0))
    assert "Price: $0 (no calls needed); $0.70 saved by cached replies" in text
    assert "Time: negligible" in text
    assert "8 of 8 0 0 0 $0 –" in text


def test_without_models_there_is_no_table() -> None:
    text = shown(plan(models=(), judges_by_rule=True, seconds=0.0))
    assert "at most" not in text
    assert "rules assertions decide, at no cost" in text


def test_an_unknown_price_is_said_beside_the_known_ones() -> None:
    unknown = model(model="b/x", likely=load(price_usd=None), most=load(price_usd=None))
    alone, beside = shown(plan(models=(unknown,))), shown(plan(models=(model(), unknown)))
    assert "Price: unknown: no price is known (give one in the suite's `prices`)" in alone
    assert "at least $0.50 likely, $2.00 at most and what b/x costs" in beside
    assert "> $0.50" in beside
    assert "all 0 of 16 16 16k 1,600 unknown" in shown(plan(models=(unknown, unknown)))


def test_one_price_for_likely_and_at_most_is_said_once() -> None:
    assert "Price: about $0.50" in shown(plan(models=(model(most=load()),)))


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (3.0, "--max-cost $3.00 also suffices for the upper bound"),
        (1.0, "--max-cost $1.00 likely suffices, but not for the upper bound"),
        (0.1, "--max-cost $0.10 likely does not suffice: the run would stop with exit code 5"),
    ],
)
def test_it_is_said_whether_the_money_suffices(limit: float, words: str) -> None:
    assert words in shown(plan(max_cost_usd=limit))


@pytest.mark.parametrize(("usd", "words"), [(0.4, "(20 % less)"), (0.75, "(50 % more)")])
def test_joint_calls_cost_less_or_more_than_those_that_are_left(usd: float, words: str) -> None:
    # With most replies of the other mode cached, fewer calls for all criteria are dearer.
    assert words in shown(plan(models=(model(joint=load(4, usd)),)))


def test_of_a_cascade_the_lower_figures_are_those_without_escalation() -> None:
    made = plan(combine="cascade", people=(0, 8), max_cost_usd=1.0)
    text = shown(made)
    assert "$0.50 without escalation, $2.00 at most" in text
    assert "suffices without escalation, but not" in text
    assert "0 to 8 questions for human labelling" in text
    assert "does not suffice even without" in shown(replace(made, max_cost_usd=0.1))


def test_a_panel_and_its_people_are_said() -> None:
    text = shown(plan(combine="majority", people=(12, 12)))
    assert "every judge is called; combined by majority" in text
    assert "12 questions for human labelling: judgekit label" in text


@pytest.mark.parametrize(
    ("calls", "words"), [(8, "8 replies are not cached"), (0, "every reply is cached")]
)
def test_a_frozen_cache_is_said(calls: int, words: str) -> None:
    text = shown(plan(models=(model(likely=load(calls)),), is_frozen=True, max_cost_usd=1.0))
    assert f"frozen no calls are made; {words}" in text
    assert "--max-cost" not in text


def test_the_limit_that_decides_the_time_is_said() -> None:
    text = shown(plan(models=(model(bound="rpm", seconds=1560.0),), seconds=1560.0))
    assert f"about 26 min, 32 answers at a time and within the rpm of {MODEL}" in text


def test_what_can_be_shown_and_what_that_rests_on_is_said() -> None:
    text = shown(plan(detectable=detectable_effects(40, sd=0.4)))
    assert "pass rate: a difference of 24 points or more; 5 points need 940 cases" in text
    assert "value: a difference of 0.18 or more; 0.05 needs 503 cases" in text
    assert "30 % of the cases differ in passing (assumed)" in text
    assert "differences in value have sd 0.40 (observed)" in text
    assert "no difference of any size" in shown(plan(detectable=detectable_effects(2)))
    assert "0.44 points" in shown(plan(detectable=detectable_effects(121_000)))


def test_what_is_taken_from_earlier_is_said() -> None:
    text = shown(
        plan(
            models=(model(n_latencies=7, latency_s=0.5),),
            earlier=EarlierRun(id="20260101T000000Z-sums-abcd", n_answers=120),
        )
    )
    assert f"{MODEL}: 500 ms a call (from 7 cached replies), 32 at a time" in text
    assert "come from run 20260101T000000Z-sums-abcd (120 answers)" in text
    assert "tokens counted by tiktoken:o200k_base; no reply has to be retried" in text


def test_a_plan_as_json_has_all_of_it() -> None:
    made = plan(max_cost_usd=1.0, models=(model(saved_usd=0.1),))
    found = json.loads(json.dumps(document_data(suite_plan_document(made)), allow_nan=False))
    assert (found["likely_usd"], found["most_usd"], found["saved_usd"]) == (0.5, 2.0, 0.1)
    assert (found["sufficiency"], found["is_scaled"], found["has_all_prices"]) == (
        "likely",
        False,
        True,
    )
    assert found["models"][0]["likely"]["calls"] == 8
    assert found["detectable"][0]["n_for_sought"] == 940
