from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.assertions import score_output
from judgekit.records import Output
from judgekit.scoring import conclude
from tests.factories import make_failure, make_judgment, make_rubric

if TYPE_CHECKING:
    from judgekit.records import Score


def score(**spec: Any) -> Score:
    """The score of what a judge concluded."""
    return score_output(Output(text="a"), [{"type": "judge", **spec}]).scores[0]


def test_a_verdict_becomes_a_score_that_names_judge_and_rubric() -> None:
    verdict = conclude(make_rubric(), [make_judgment(value=0.75, judge="gpt")])
    found = score(verdict=verdict)
    assert (found.value, found.raw) == (0.75, 0.75)
    assert found.method == "gpt, rubric support"


def test_a_value_becomes_a_score() -> None:
    found = score(value=0.5, raw=3, method="a person")
    assert (found.value, found.raw, found.method) == (0.5, 3, "a person")


def test_an_open_verdict_has_no_score() -> None:
    verdict = conclude(make_rubric(), [], [make_failure()])
    assert score(verdict=verdict).error == "the verdict is open: 1 judgments are missing"


def test_without_a_judge_there_is_no_score() -> None:
    assert score().error == "no judge was called"
