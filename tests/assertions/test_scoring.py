from __future__ import annotations

from typing import Any

import pytest

from judgekit.assertions import score_output, scorer, scorer_registry
from judgekit.errors import InputError
from judgekit.records import Case, Output, Score, ScoreBreakdown, Usage
from judgekit.registry import RegistryEntry
from tests.factories import make_case

OUTPUT = Output(text="a", duration_ms=15_000, usage=Usage(cost_usd=0.25))


@scorer("acme.case")
def has_case(output: Output, *, case: Case | None = None) -> Score:
    return Score(name="acme.case", value=float(case is not None), message=str(output.text))


@scorer("acme.breaks")
def breaks(output: Output) -> Score:
    raise ZeroDivisionError(output.text)


@scorer("acme.odd")
def odd(output: Output) -> Score:
    return output.text  # type: ignore[return-value]


def test_the_overall_score_is_the_weighted_mean() -> None:
    breakdown = score_output(OUTPUT, ["latency", "cost"], weights={"cost": 3})
    assert [score.value for score in breakdown.scores] == [0.75, 0.75]
    assert breakdown.overall == 0.75
    specs: list[Any] = [{"type": "latency", "max_ms": 15_000}, "cost"]
    assert score_output(OUTPUT, specs, weights={"cost": 3}).overall == pytest.approx(0.5625)


def test_what_was_not_measured_has_no_part_in_the_mean() -> None:
    breakdown = score_output(OUTPUT, ["latency", "tokens"])
    assert breakdown.overall == 0.75
    assert breakdown.scores[1].value is None
    assert "was not measured" in str(breakdown.scores[1].error)


def test_with_nothing_measured_there_is_no_overall_score() -> None:
    assert score_output(OUTPUT, ["tokens"]).overall is None
    assert score_output(OUTPUT, []).overall is None
    assert score_output(OUTPUT, ["latency"], weights={"latency": 0}).overall is None


def test_a_breakdown_round_trips() -> None:
    breakdown = score_output(OUTPUT, ["latency", "tokens"])
    assert ScoreBreakdown.model_validate(breakdown.to_json()) == breakdown


def test_a_scorer_that_breaks_is_an_error_in_its_score() -> None:
    scores = score_output(OUTPUT, [breaks, odd]).scores
    assert scores[0].error == "it raised ZeroDivisionError: a"
    assert scores[1].error == "it returned str, not a Score"


def test_a_scorer_that_asks_for_it_gets_the_case() -> None:
    registry = scorer_registry().plus(RegistryEntry("acme.case", has_case, "tests"))
    assert score_output(OUTPUT, ["acme.case"], registry=registry).overall == 0
    spec: dict[str, Any] = {"type": "acme.case", "description": "has one"}
    assert score_output(OUTPUT, [spec], case=make_case(), registry=registry).overall == 1


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("latencey", "did you mean latency"),
        ({"max_ms": 3}, r"scorers\[0\]: needs a `type`"),
        ({"type": "latency", "max": 3}, r"scorers\[0\] \(latency\): takes no `max`"),
        ({"type": "latency", "max_ms": 0}, "`max_ms` must be greater than 0"),
    ],
)
def test_an_unsound_spec_names_its_place(spec: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        score_output(OUTPUT, [spec])


def test_every_fault_is_listed_at_once() -> None:
    with pytest.raises(InputError, match="2 faults in scorers"):
        score_output(OUTPUT, ["a", "b"])


@pytest.mark.parametrize(
    ("weights", "message"),
    [({"cots": 1}, "weights name cots"), ({"cost": -1}, "must be 0 or more")],
)
def test_an_unsound_weight_is_refused(weights: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        score_output(OUTPUT, ["cost"], weights=weights)
