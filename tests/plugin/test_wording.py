from __future__ import annotations

from judgekit.pytest_plugin.verdict_recorder import (
    unanswered_message,
    verdict_details,
    verdict_properties,
    verdict_summary,
)
from judgekit.scoring import conclude
from tests.factories import make_criterion, make_failure, make_judgment, make_rubric

RUBRIC = make_rubric("accuracy", make_criterion("tone", required=True))


def test_a_verdict_is_told_with_scores_reasons_quotations_and_what_is_missing() -> None:
    quotes = [
        {"quote": "within 30 days", "match": "exact"},
        {"quote": "within 60 days"},
        {"quote": "a"},
        {"quote": "b"},
    ]
    judgment = make_judgment(value=0.25, raw=2, confidence=0.5, evidence=quotes)
    failure = make_failure("tone", message="no verdict\n  ask again")
    verdict = conclude(RUBRIC, [judgment], [failure], case_id="refund")
    assert verdict_details(verdict, RUBRIC).splitlines() == [
        "refund failed: value between 0.12 and 0.62; support passes from 0.7",
        "  accuracy: 0.25 FAILED",
        "    score 2 (confidence 0.50): It says so.",
        "      “within 30 days”",
        "      “within 60 days” (not in the output)",
        "      “a” (not in the output)",
        "  tone: \N{EN DASH} no answer, required",
        "    tone: unreadable: no verdict; ask again",
    ]


def test_the_short_form_of_a_verdict_names_its_worst_criterion() -> None:
    judgments = [make_judgment(value=0.9), make_judgment("tone", 0.0, rationale="Rude\x1b[2J.")]
    verdict = conclude(RUBRIC, judgments, case_id="refund")
    assert verdict_summary(verdict) == "refund failed: value 0.45; tone 0: Rude\\x1b[2J."


def test_the_short_form_of_a_verdict_that_passes_gives_no_reason() -> None:
    verdict = conclude(RUBRIC, [make_judgment(), make_judgment("tone")], case_id="refund")
    assert verdict_summary(verdict) == "refund passed: value 1.00"


def test_an_answer_that_is_owed_is_told_with_each_failure() -> None:
    failures = [make_failure("tone", kind="timeout", message="too slow"), make_failure()]
    assert unanswered_message(conclude(RUBRIC, [], failures, case_id="refund")).splitlines() == [
        "the judge gave no answer: no answer in time (and 1 more); refund is undecided",
        "  tone: timeout: too slow",
        "  accuracy: unreadable: no",
    ]


def test_answers_about_turns_name_their_turn() -> None:
    judgments = [make_judgment(turn=1), make_judgment(value=0.0, turn=2)]
    failure = make_failure("tone", turn=3)
    verdict = conclude(RUBRIC, judgments, [failure], case_id="refund")
    assert [name for name, _ in verdict_properties(verdict)] == [
        "case", "passed", "accuracy (turn 1)", "accuracy (turn 2)", "tone (turn 3)",
    ]  # fmt: skip
    lines = verdict_details(verdict, RUBRIC).splitlines()
    assert lines[2:4] == ["    turn 1: score 1: It says so.", "    turn 2: score 0: It says so."]
    assert lines[-1] == "    tone (turn 3): unreadable: no"


def test_the_name_of_a_property_is_printable() -> None:
    verdict = conclude(make_rubric("a\x07\nb"), [make_judgment("a\x07\nb")], case_id="refund")
    assert [name for name, _ in verdict_properties(verdict)][-1] == "a\\x07 b"
