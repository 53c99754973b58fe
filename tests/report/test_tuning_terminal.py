from __future__ import annotations

import json
from dataclasses import replace
from math import nan

import pytest

from judgekit.evaluation import JudgeUsage
from judgekit.report import document_data
from judgekit.report.judge_changes import (
    tuning_conclusion,
    tuning_document,
    tuning_notes,
    tuning_plan_line,
)
from judgekit.stats.estimate import Estimate, undefined_estimate
from judgekit.stats.paired import paired_difference
from judgekit.tuning import (
    HeldOutAgreement,
    HeldOutContrast,
    HeldOutResult,
    TunePlan,
    Tuning,
    TuningDecision,
)
from judgekit.tuning.results import TriedCandidate

SIDE = HeldOutResult(
    name="present",
    overall=HeldOutAgreement(
        name="",
        distance=Estimate(value=0.2, low=0.1, high=0.3, n=9, method="t"),
        kappa=undefined_estimate("no levels", n=9, method="kappa"),
        n_items=9,
        n_failed=0,
    ),
    criteria=(),
)
CONTRAST = HeldOutContrast(
    distance=paired_difference([0.3, 0.2, None], [0.1, 0.1, 0.1], step=0.1),
    low=-0.2,
    high=0.1,
    kappa=Estimate(value=0.25, low=nan, high=nan, n=2, method="kappa difference"),
)
TUNING = Tuning(
    rubric="support",
    rubric_fingerprint="f",
    judge="openai/m pointwise/criterion@1",
    decision="not_shown",
    chosen="kinder",
    tuned=None,
    template=None,
    present_held_out=SIDE,
    chosen_held_out=SIDE,
    contrast=CONTRAST,
    tried=tuple(TriedCandidate(name=f"w{n}", place=7 - n, n_failed=0) for n in range(1, 7)),
    training_cases=("a", "b"),
    held_out_cases=("c",),
    n_labels=30,
    n_unused=0,
    n_examples=0,
    seed=4,
    level=0.9,
    spent=JudgeUsage(n_replies=5, cost_usd=0.5),
)


def test_the_notes_say_what_changed_and_what_lies_beneath() -> None:
    said = tuning_notes(replace(TUNING, n_unused=2, n_examples=1, failures={"timeout": 1},
                         failure_messages={"timeout": "late\n  wait"}))  # fmt: skip
    assert said[0][1].startswith("-0.150 [")
    assert "below 0 is closer" in said[0][1]
    assert said[1] == ("", "+0.25 in kappa")
    assert said[2] == ("", "from -0.200 to +0.100, depending on the failed answers")
    assert said[3] == (
        "tried",
        "6 candidates, best on training cases first: w6, w5, w4, w3, and 2 more",
    )
    assert "30 used, 2 unused (no score, or no such output), 1 case excluded" in said[4][1]
    assert "seed 4; 90 % intervals" in said[5][1]
    assert said[-2:] == [("failed", "1 question: no answer in time"), ("", "late; wait")]


def test_what_was_broken_off_has_no_figures() -> None:
    early = replace(TUNING, decision="incomplete", contrast=None,
                    tried=(TriedCandidate(name="present", place=None, n_failed=None),))  # fmt: skip
    assert tuning_notes(early)[0] == ("tried", "1 candidate: present")
    assert tuning_conclusion(early) == "no decision: too few answers"


def test_a_p_that_is_undefined_is_said_to_be() -> None:
    same = paired_difference([0.1, 0.2], [0.1, 0.2], step=0.1)
    none = undefined_estimate("none", n=0, method="kappa")
    said = tuning_notes(replace(TUNING, contrast=replace(CONTRAST, distance=same, kappa=none)))
    assert "p undefined" in said[0][1]
    assert said[1][0] == "tried"


@pytest.mark.parametrize("decision", ["not_shown", "worse", "open", "none_better"])
def test_whatever_is_not_shown_is_no_better(decision: TuningDecision) -> None:
    said = tuning_conclusion(replace(TUNING, decision=decision))
    assert said.startswith("no candidate is significantly better: ")
    assert ("'kinder'" in said) == (decision != "none_better")


def test_json_has_null_for_what_is_undefined() -> None:
    found = json.loads(json.dumps(document_data(tuning_document(TUNING))))
    assert found["present_held_out"]["overall"]["kappa"]["value"] is None
    assert found["conclusion"] == tuning_conclusion(TUNING)


def test_a_plan_says_calls_and_price() -> None:
    plan = TunePlan(model="openai/m", template="pointwise/criterion", n_candidates=3, n_training=18,
                    n_held_out=12, n_questions=78, n_owned=1, n_shared=0, input_tokens=9,
                    output_tokens=(9, 18), token_source="exact", price_usd=(0.5, 0.9),
                    saved_usd=0.0)  # fmt: skip
    assert tuning_plan_line(plan) == (
        "3 candidates, 18 training cases, 12 held-out cases: up to 77 calls to openai/m, 1 reply "
        "cached already; about $0.50"
    )
    assert tuning_plan_line(replace(plan, price_usd=None)).endswith("; price unknown")
    assert tuning_plan_line(replace(plan, price_usd=(0.0, 0.0))).endswith("; $0")
