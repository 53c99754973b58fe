from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from judgekit.evaluation import GradePlan, Outcome, summarize_verdicts
from judgekit.evaluation.run import verdict_outcomes
from judgekit.records import Evidence
from judgekit.report import (
    Conclusion,
    Document,
    RunAnswers,
    judging_plan_document,
    print_document,
    run_document,
)
from judgekit.report.message import message_lines
from judgekit.scoring import conclude
from tests.factories import make_failure, make_judgment, make_rubric
from tests.report.test_run_view import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.records import Rubric, Verdict

RUBRIC = make_rubric("accuracy", "clarity", name="support")
HOSTILE = "[red]x[/] [/] :warning: \x1b[31m\u202e"
SHOWN = r"[red]x[/] [/] :warning: \x1b[31m\u202e"


def shown(draw: Callable[[Console], object], width: int = 110) -> str:
    """What a console of that width shows, without the blanks at line ends."""
    stream = io.StringIO()
    draw(Console(width=width, file=stream))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def verdict(value: float | None = 1.0, *, case: str = "a", **fields: Any) -> Verdict:
    subject: dict[str, Any] = {"case_id": case, "variant": "v1", "judge": "m t@1"} | fields
    judgments = [make_judgment("accuracy", value, **subject)] if value is not None else []
    names = ("accuracy", "clarity") if value is None else ("clarity",)
    failures = [make_failure(n, message="no verdict\n  ask again", **subject) for n in names]
    if value is not None:
        judgments.append(make_judgment("clarity", value, **subject))
        failures = []
    return conclude(RUBRIC, judgments, failures, case_id=case, variant=subject["variant"])


def summary_text(*verdicts: Verdict, rubric: Rubric = RUBRIC, width: int = 110) -> str:
    document = run_document(summarize_verdicts(verdicts, rubric))
    return shown(lambda console: print_document(console, document), width)


def graded(*verdicts: Verdict) -> list[Outcome]:
    return list(verdict_outcomes(verdicts))


def print_worst(
    console: Console, answers: list[Outcome], most: int = 5, *, verbose: bool = False
) -> None:
    chosen = RunAnswers(run(), most=most, lists_all=verbose)
    for answer in answers:
        chosen.take(answer)
    document = Document("", Conclusion(""), chosen.blocks(), dict)
    print_document(console, document, verbose=verbose)


def print_all(console: Console, answers: list[Outcome]) -> None:
    """Every answer once: those that did not pass are not listed before."""
    print_worst(console, answers, most=0, verbose=True)


def plan(**fields: Any) -> GradePlan:
    known: dict[str, Any] = {
        "n_outputs": 1200,
        "n_skipped": 0,
        "n_questions": 3600,
        "n_shared": 0,
        "n_owned": 600,
        "model": "openai/gpt-4.1-mini",
        "template": "pointwise/criterion@ba72",
        "input_tokens": 2_400_000,
        "output_tokens": (540_000, 2_100_000),
        "token_source": "tiktoken o200k_base",
        "price_usd": (1.824, 4.32),
        "batch_usd": (0.912, 2.16),
        "saved_usd": 0.37,
    }
    return GradePlan(**known | fields)


def test_the_table_has_a_row_for_each_variant_and_a_column_for_each_criterion() -> None:
    text = summary_text(verdict(1.0), verdict(0.25, variant="v2"), verdict(0.75))
    lines = text.splitlines()
    header = next(line for line in lines if line.strip().startswith("variant"))
    assert header.split()[-2:] == ["accuracy", "clarity"]
    v1, v2 = (
        next(line.split() for line in lines if line.strip().startswith(f"{name}  "))
        for name in ("v1", "v2")
    )
    assert v1[1:4] == ["2/2", "100", "%"]
    assert "0.88" in v1
    assert "0.25" in v2


def test_the_title_names_the_rubric_and_what_passes() -> None:
    assert "support: 0 cases; support passes from 0.7" in summary_text(verdict())


def test_a_narrow_terminal_shows_the_criteria_below_the_table() -> None:
    narrow = summary_text(verdict(), width=50)
    assert "value, 95 %" in narrow
    assert "clarity" in narrow
    assert max(map(len, narrow.splitlines())) <= 50


@pytest.mark.parametrize("width", [70, 80, 110, 200])
def test_no_criterion_is_lost_where_there_is_no_room_for_all(width: int) -> None:
    names = [f"criterion number {n}" for n in range(9)]
    rubric = make_rubric(*names)
    both = [
        conclude(rubric, [make_judgment(name, 0.5) for name in names], case_id="a", variant=variant)
        for variant in ("a-long-name-of-a-variant-of-2026-11-21-a", "another")
    ]
    text = summary_text(*both, rubric=rubric, width=width)
    assert all(name in text for name in names)
    assert text.count("0.50") >= 18
    assert "0/1" in text
    assert max(map(len, text.splitlines())) <= width


def test_the_end_of_a_long_name_of_a_variant_is_not_lost() -> None:
    text = summary_text(verdict(variant=f"{'long-' * 8}one"), verdict(variant=f"{'long-' * 8}two"))
    table = text[: text.index("judge ")]
    assert "one" in table
    assert "two" in table


def test_the_lines_below_say_who_judged_and_what_it_took() -> None:
    text = summary_text(verdict(cached=True, cost_usd=0.0, price_usd=0.5))
    assert re.search(r"^judge +m t@1$", text, re.MULTILINE)
    assert "2 replies, 2 from the cache, $0 spent, $1.00 saved" in text


def test_quotes_are_counted_only_where_there_are_any() -> None:
    found, invented = Evidence(quote="30 days", match="exact"), Evidence(quote="60 days")
    quoting = conclude(RUBRIC, [make_judgment(evidence=(found, invented))])
    assert "1 of 2 quoted passages are in the outputs" in summary_text(quoting)
    assert "evidence" not in summary_text(verdict())
    mixed = [make_judgment("accuracy", evidence=(invented,)), make_judgment("clarity")]
    assert (
        "0 of 1 quoted passages are in the outputs; 1 judgment quotes only others, 1 judgment "
        "quotes nothing"
    ) in " ".join(summary_text(conclude(RUBRIC, mixed)).split())


def test_undecided_outputs_show_the_bounds_of_the_rate() -> None:
    text = summary_text(verdict(1.0), verdict(None))
    assert "1/1 +1?" in text
    assert "v1: the rate would be 50 to 100 %, depending on 1 answer without a verdict" in text


def test_failures_are_named_with_their_first_message_and_are_not_zero() -> None:
    text = summary_text(verdict(None))
    assert "v1: 2 judgments: no verdict could be read" in text
    assert "left out of the means, not counted as 0" in text
    assert "no verdict; ask again" in text
    assert "0.00" not in text


def test_errors_of_the_system_under_test_are_told_apart() -> None:
    text = summary_text(conclude(RUBRIC, (), case_id="a", error="the agent crashed"))
    assert "all: 1 answer: recorded as an error" in text


def test_foreign_names_in_the_summary_are_neither_run_nor_lost() -> None:
    rubric = make_rubric(HOSTILE, name=HOSTILE)
    failure = make_failure(HOSTILE, message=HOSTILE, judge=HOSTILE)
    undecided = conclude(rubric, (), [failure], case_id="a", variant=HOSTILE)
    error = conclude(rubric, (), case_id="b", variant=HOSTILE, error=HOSTILE)
    text = summary_text(undecided, error, rubric=rubric, width=200)
    assert f"{SHOWN} passes from 0.7" in text
    for label in ("judge", "bounds", "errors", ""):
        assert re.search(rf"^{label} +{re.escape(SHOWN)}", text, re.MULTILINE)
    assert text.count(SHOWN) >= 6
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_worst_outputs_that_did_not_pass_come_first() -> None:
    items = graded(verdict(0.5, case="half"), verdict(1.0, case="good"), verdict(0.0, case="bad"))
    text = shown(lambda console: print_worst(console, items))
    assert "good" not in text
    assert 0 < text.index("bad") < text.index("half")
    assert "fail  bad, v1, 0.00" in text


def test_only_some_are_shown_and_it_is_said_of_how_many() -> None:
    items = graded(*(verdict(0.1, case=f"case-{n}") for n in range(7)))
    text = shown(lambda console: print_worst(console, items, most=2))
    assert "Not passed  2 of 7; all with -v" in text
    assert text.count("fail  case-") == 2


def test_where_all_passed_nothing_is_shown() -> None:
    assert "Not passed" not in shown(lambda console: print_worst(console, graded(verdict())))


def test_every_verdict_is_printed_with_every_reason() -> None:
    items = graded(verdict(1.0, case="good"), verdict(None, case="open"))
    text = shown(lambda console: print_all(console, items))
    assert "pass  good, v1, 1.00" in text
    assert "accuracy 1: It says so." in text
    assert "open  open, v1" in text
    assert "clarity: unreadable: no verdict; ask again" in text


def test_an_output_that_is_an_error_says_why() -> None:
    error = conclude(RUBRIC, (), case_id="a", error="the agent\ncrashed")
    text = shown(lambda console: print_all(console, graded(error)))
    assert "no output: the agent crashed" in text


def test_a_quote_is_shown_and_marked_where_the_output_does_not_hold_it() -> None:
    found, invented = Evidence(quote="30 days", match="exact"), Evidence(quote="60 days")
    judgments = [
        make_judgment("accuracy", evidence=(found, invented)),
        make_judgment("clarity", evidence=(invented,)),
    ]
    items = graded(conclude(RUBRIC, judgments, case_id="a"))
    text = shown(lambda console: print_all(console, items))
    assert "“30 days”\n" in text
    assert "“60 days” (not in the output)" in text


def test_foreign_text_in_verdicts_is_neither_run_nor_lost() -> None:
    quote = Evidence(quote=HOSTILE, match="exact")
    judgment = make_judgment(HOSTILE, rationale=HOSTILE, evidence=(quote,))
    failure = make_failure(HOSTILE, message=HOSTILE)
    rubric = make_rubric(HOSTILE)
    found = conclude(rubric, [judgment], [failure], case_id=HOSTILE, variant=HOSTILE, error=HOSTILE)
    text = shown(lambda console: print_all(console, graded(found)), width=200)
    assert text.count(SHOWN) == 8
    assert "\x1b" not in text


def test_a_long_rationale_is_cut() -> None:
    item = graded(conclude(RUBRIC, [make_judgment(rationale="so " * 500)], case_id="a"))
    text = shown(lambda console: print_all(console, item))
    assert len(text) < 400
    assert text.endswith("…")


def test_a_plan_says_calls_tokens_and_price() -> None:
    text = shown(lambda console: print_document(console, judging_plan_document(plan())))
    rows = dict(line.split("  ", 1) for line in text.splitlines() if "  " in line)
    assert {name: cell.strip() for name, cell in rows.items()} == {
        "outputs": "1,200",
        "questions": "3,600",
        "cached already": "600 ($0.37 when fetched)",
        "calls to make": "3,000, if no reply has to be retried",
        "tokens to send": "2,400,000 (tiktoken o200k_base)",
        "tokens to receive": "540,000 likely, 2,100,000 at most (estimate)",
        "price": "$1.82 likely, $4.32 at most",
        "in batches": "$0.91 likely, $2.16 at most, within 24 hours: judgekit batch submit",
        "judge": "openai/gpt-4.1-mini",
        "template": "pointwise/criterion@ba72",
    }


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"price_usd": None}, "unknown (litellm's table has no price for this model)"),
        ({"n_owned": 3600, "price_usd": None}, "$0 (no calls needed)"),
        ({"n_skipped": 4}, "1,200, 4 without an output"),
        ({"model": "[red]m[/] [/]"}, "[red]m[/] [/]"),
    ],
)
def test_a_plan_says_what_is_unknown_skipped_or_odd(fields: dict[str, Any], words: str) -> None:
    assert words in shown(
        lambda console: print_document(console, judging_plan_document(plan(**fields)))
    )


def test_a_plan_without_savings_does_not_speak_of_them() -> None:
    assert "when fetched" not in shown(
        lambda console: print_document(console, judging_plan_document(plan(saved_usd=0.0)))
    )


def test_judgments_of_a_smoke_model_are_marked_as_worth_nothing() -> None:
    smoke = make_judgment(flags=("smoke_model", "evidence_not_found"))
    text = summary_text(conclude(RUBRIC, [smoke]))
    assert "1 judgment: a smoke model, whose verdicts carry no information" in text
    assert "evidence_not_found" not in text


def test_a_message_keeps_its_lines_and_moves_no_cursor() -> None:
    text = message_lines("no \x1b[2Jfile\r\x9b1A\n  rename \u202ea\x07")
    assert text.count("\n") == 1
    assert all(sign.isprintable() or sign == "\n" for sign in text)
