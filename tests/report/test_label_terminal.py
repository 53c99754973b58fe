from __future__ import annotations

from typing import Any

from judgekit.cli.label import print_keys, print_question
from judgekit.evaluation import LabelQuestion
from judgekit.records import TraceEvent
from tests.factories import make_case, make_criterion, make_output
from tests.report.drawing import drawn, plain_console


def shown(*, with_answer: bool = True, **fields: Any) -> str:
    """A question as a terminal shows it."""
    known: dict[str, Any] = {
        "number": 7,
        "total": 40,
        "case": make_case(),
        "output": make_output(),
        "criterion": make_criterion(),
    }
    console = plain_console()
    print_question(console, LabelQuestion(**known | fields), with_answer=with_answer)
    return drawn(console)


def test_a_question_shows_how_far_one_is_and_what_is_asked() -> None:
    text = shown(criterion=make_criterion(scoring_guide="Look twice.", scale="binary"))
    assert "7 of 40" in text
    assert "accuracy\n  How good is its accuracy?\n  Look twice.\n  score: one of 0, 1" in text
    assert "    1  yes: The criterion is met.\n" in text


def test_case_steps_and_output_stand_above_the_question() -> None:
    case = make_case(input={"q": 1}, context="The policy.", reference="30 days")
    output = make_output(trace=(TraceEvent(type="tool_call", name="look"),))
    text = shown(case=case, output=output)
    order = ['"q": 1', "The policy.", "30 days", "1. tool_call look", "Yes, within", "accuracy"]
    assert sorted(order, key=text.index) == order


def test_an_output_that_is_only_a_trace_says_so() -> None:
    output = make_output(None, trace=(TraceEvent(type="tool_call"),))
    assert "(no text; see the steps)" in shown(output=output)


def test_the_next_criterion_of_an_answer_does_not_show_it_again() -> None:
    text = shown(with_answer=False)
    assert "Can I return it?" not in text
    assert "How good is its accuracy?" in text


def test_the_keys_are_listed_with_the_scores_where_they_are_known() -> None:
    console = plain_console()
    print_keys(console)
    assert drawn(console).startswith("s  skip")
    print_keys(console, make_criterion())
    assert "a score is one of 1, 2, 3, 4, 5 (5 is best)" in drawn(console)
