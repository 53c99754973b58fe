"""The case table of a run's page: its index, its cases in full, and what the filters take."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.models.cache import MemoryCache
from judgekit.models.request import ModelReply
from judgekit.records import AssertionResult, Evidence, Output, Score, TraceEvent, Usage
from judgekit.report import Conclusion, Document, JudgeReplies, PageLinks, html_parts
from judgekit.report.case_table import utf16_offset
from tests.evaluation.suites import NOW
from tests.factories import make_case, make_criterion, make_failure, make_request, make_rubric
from tests.report.run_pages import (
    JUDGE,
    case_table,
    filters_of,
    full_cases,
    judged,
    make_result,
    make_run,
    only_answer,
    quote,
    write_run_page,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_cases_that_fail_come_first_then_those_of_a_low_value() -> None:
    table = case_table(
        [
            make_result(0, judged(0.75)),
            make_result(1, judged(0.25)),
            make_result(2, judged(1.0)),
            make_result(3),
            make_result(4, judged(0.0)),
            make_result(5, output=Output(error="no connection", error_kind="connection")),
        ]
    )
    assert table.index["order"] == [4, 1, 3, 5, 0, 2]


def test_cells_have_state_value_and_the_filters_of_their_answer() -> None:
    run = make_run("a", "b")
    table = case_table([make_result(0, judged(0.25), variant="a")], run)
    index: Any = table.index
    (first, second), states = index["cells"], index["states"]
    assert (states[first["state"][0]]["label"], first["value"]) == ("fails", [0.25])
    assert (second["state"], second["value"], second["mask"]) == ([None], [None], [0])
    assert first["mask"] == index["masks"] == [1]


def test_cases_in_full_stand_in_chunks_of_a_hundred() -> None:
    table = case_table(make_result(n, judged()) for n in range(201))
    assert len(table.chunks) == 3
    assert [row["id"] for row in full_cases(table)] == [f"case-{n}" for n in range(201)]


@pytest.mark.parametrize(
    ("values", "disagree"),
    [
        ((0.75, 1.0), False),
        ((0.5, 0.75), True),  # on both sides of the threshold
        ((0.0, 0.25), False),
        ((0.0, 0.5), True),  # both fail, half the scale apart
    ],
)
def test_judges_disagree_across_the_threshold_or_half_the_scale(
    values: tuple[float, float], *, disagree: bool
) -> None:
    judges = [judged(value, judge=f"j{n}") for n, value in enumerate(values)]
    found = filters_of(case_table([make_result(0, *judges)]))[0]
    assert ("disagree" in found) is disagree


def test_repeats_and_human_reviewers_disagree_with_the_judge_like_another_one() -> None:
    repeat = case_table([make_result(0, judged(1.0), judged(0.25, repeat=1))])
    human = case_table([make_result(0, judged(1.0), judged(0.25, judge="ada", source="human"))])
    assert filters_of(repeat) == [["failed", "disagree"]]
    # The label of a reviewer does not decide the verdict.
    assert filters_of(human) == [["disagree"]]


def test_judgments_of_different_turns_are_no_disagreement() -> None:
    turns = [judged(value, turn=n) for n, value in enumerate((1.0, 0.0), start=1)]
    assert "disagree" not in filters_of(case_table([make_result(0, *turns)]))[0]
    again = [judged(value, turn=1, repeat=n) for n, value in enumerate((1.0, 0.0))]
    assert "disagree" in filters_of(case_table([make_result(0, *again)]))[0]


def test_the_threshold_is_that_of_the_criterion_in_the_rubric_of_the_case() -> None:
    strict = make_rubric(make_criterion(pass_value=0.9))
    case = make_case(rubric=strict)
    pair = (judged(0.75), judged(1.0, repeat=1))
    assert filters_of(case_table([make_result(0, *pair)])) == [[]]
    own = case_table([make_result(0, *pair, case=case)])
    assert filters_of(own) == [["disagree"]]
    assert full_cases(own)[0]["questions"] == {"accuracy": "How good is its accuracy?"}


def test_answers_that_differ_between_repeats_are_no_disagreement_of_judges() -> None:
    run = make_run(config={"settings": {"repeats": 2}})
    results = [make_result(0, judged(1.0)), make_result(0, judged(0.25), repeat=1)]
    table = case_table(results, run)
    assert filters_of(table) == [["failed"]]
    cell: Any = table.index["cells"][0]  # type: ignore[index]  # JSON
    states: Any = table.index["states"]
    assert states[cell["state"][0]]["label"] == "passes in some repeats only"
    assert cell["value"] == [0.625]
    assert [one["round"] for one in full_cases(table)[0]["answers"]] == [
        "repeat 1 of 2",
        "repeat 2 of 2",
    ]


def test_repeats_of_which_none_passes_have_the_state_of_the_most_serious() -> None:
    run = make_run(config={"settings": {"repeats": 2}})
    table = case_table([make_result(0, judged(0.0)), make_result(0, repeat=1)], run)
    assert filters_of(table) == [["failed", "undecided"]]
    assert table.index["cells"][0]["state"] == [0]  # type: ignore[index]  # JSON


def test_of_several_tries_the_last_one_counts() -> None:
    table = case_table([make_result(0, judged(0.0)), make_result(0, judged(1.0), repeat=1)])
    assert filters_of(table) == [[]]
    rounds = [one["round"] for one in full_cases(table)[0]["answers"]]
    assert rounds == ["try 1 of 2, replaced", "try 2 of 2, which counts"]


def test_a_judgment_that_is_missing_is_an_error_and_undecided_not_a_fail() -> None:
    table = case_table([make_result(0, failures=(make_failure(judge=JUDGE),))])
    assert filters_of(table) == [["undecided", "error"]]
    answer = only_answer(table)
    (row,) = answer["opinions"][0]["rows"]
    assert (answer["value"], row["tone"]) == (None, "error")
    assert row["score"] == "no judgment: no verdict could be read"


@pytest.mark.parametrize("text", ["a😀b", "e\u0301tude\r\nb", "\r\n\r\n💥 b", "בדיקה b"])
def test_marks_count_like_a_browser_does(text: str) -> None:
    mark = only_answer(
        case_table([make_result(0, judged(evidence=(quote("b", text),)), output=Output(text=text))])
    )["marks"][0]
    units = text.encode("utf-16-le")
    assert units[2 * mark["start"] : 2 * mark["end"]].decode("utf-16-le") == "b"
    assert utf16_offset(text, len(text)) == len(units) // 2


def test_quotes_of_the_steps_are_marked_in_the_steps() -> None:
    output = Output(text="Done.", trace=(TraceEvent(type="tool_call", name="refund"),))
    shown = "Done.\n1. tool_call refund"
    evidence = (quote("Done", shown), quote("tool_call refund", shown))
    answer = only_answer(case_table([make_result(0, judged(evidence=evidence), output=output)]))
    assert [(one["start"], one["end"], one["no"]) for one in answer["marks"]] == [(0, 4, 1)]
    steps = answer["steps"]
    (mark,) = steps["marks"]
    assert steps["text"][mark["start"] : mark["end"]] == "tool_call refund"


def test_a_quote_that_is_not_in_the_output_has_no_mark() -> None:
    missing = Evidence(quote="a full refund")
    answer = only_answer(case_table([make_result(0, judged(evidence=(missing,)))]))
    assert (answer["marks"], answer["steps"]) == ([], None)
    (row,) = answer["opinions"][0]["rows"]
    assert row["quotes"] == [{"no": 1, "text": "a full refund", "match": None, "of": ""}]


def test_criteria_have_their_weight_and_the_value_from_which_they_pass() -> None:
    rubric = make_rubric(make_criterion(weight=2, required=True, pass_value=0.5))
    answer = only_answer(case_table([make_result(0, judged(0.5))], make_run(rubric=rubric)))
    (criterion,) = answer["opinions"]
    assert criterion["facts"] == ["required", "weight 2", "passes from 0.5", "scale 1 to 5"]
    assert criterion["tone"] == "pass"


def test_json_keeps_its_form_and_is_shown_in_a_fixed_width() -> None:
    text = '{"a":\n 1}'
    answer = only_answer(case_table([make_result(0, judged(), output=Output(text=text))]))
    assert (answer["output"], answer["mono"]) == (text, True)
    prose = only_answer(case_table([make_result(0, judged(), output=Output(text="[sic] no"))]))
    assert prose["mono"] is False


def test_events_have_durations_arguments_and_errors() -> None:
    events = (
        TraceEvent(type="tool_call", name="find", arguments={"id": 7}, durationMs=1500),
        TraceEvent(type="tool_result", content="none", error="timeout"),
    )
    call, outcome = only_answer(
        case_table([make_result(0, judged(), output=Output(text="a", trace=events))])
    )["trace"]
    assert (call["ms"], call["took"], call["is_error"]) == (1500, "1.5 s", False)
    assert call["parts"][0]["title"] == "arguments"
    assert json.loads(call["parts"][0]["text"]) == {"id": 7}
    assert (outcome["is_error"], outcome["ms"]) == (True, None)
    assert outcome["parts"][0] == {"title": "", "text": "none", "mono": False}


def test_checks_and_scores_are_shown_with_what_they_found() -> None:
    part = AssertionResult(passed=False, message="no “credit”", type="output.contains", actual="x")
    group = AssertionResult(passed=False, message="1 of 1 fails", type="all", parts=(part,))
    scores = (Score(name="latency", value=0.5, raw=1200, unit="ms"),)
    answer = only_answer(case_table([make_result(0, checks=(group,), scores=scores)]))
    assert answer["checks"][0]["parts"][0]["actual"] == '"x"'
    assert answer["scores"] == [{"name": "latency", "value": "0.50", "text": "1200 ms"}]


def test_without_the_replies_the_page_says_how_to_include_them() -> None:
    table = case_table([make_result(0, judged())])
    index: Any = table.index
    assert "--with-replies" in index["omitted"]["replies"]
    assert only_answer(table)["exchanges"] == []


def test_replies_are_found_by_their_keys_once_for_all_criteria_of_a_call() -> None:
    cache, request = MemoryCache(), make_request("How good is it?", api_base="https://secret.test")
    cache.put(request, ModelReply(text="Very good."))
    other = make_request("And now?")
    cache.put_rejected(other, ModelReply(text="Cut o", finish_reason="length"))
    rubric = make_rubric("accuracy", "clarity", "tone")
    table = case_table(
        [
            make_result(
                0,
                judged(1.0, "accuracy", reply_key=request.key),
                judged(1.0, "clarity", reply_key=request.key),
                failures=(make_failure("tone", judge=JUDGE, reply_key=other.key),),
            )
        ],
        make_run(rubric=rubric),
        JudgeReplies(cache),
    )
    answer = only_answer(table)
    assert exchange_places(answer) == [0, 0, 1]
    assert answer["exchanges"] == [
        {
            "messages": [{"role": "user", "text": "How good is it?"}],
            "reply": "Very good.",
            "note": "",
        },
        {"messages": [{"role": "user", "text": "And now?"}], "reply": "Cut o", "note": ""},
    ]
    assert "secret.test" not in json.dumps(answer)
    assert table.index["omitted"] == {}


def test_a_reply_that_the_cache_lacks_is_reported_in_its_place() -> None:
    table = case_table(
        [make_result(0, judged(reply_key="0" * 64), judged(0.5, judge="ada", source="human"))],
        replies=JudgeReplies(MemoryCache()),
    )
    answer = only_answer(table)
    assert exchange_places(answer) == [0, None]
    assert "cache does not hold" in answer["exchanges"][0]["note"]


def exchange_places(answer: Any) -> list[int | None]:
    """Where the prompt and reply of each judgment stand."""
    return [row["exchange"] for group in answer["opinions"] for row in group["rows"]]


def test_without_a_script_a_page_has_the_first_hundred_rows(tmp_path: Path) -> None:
    results = [make_result(n, judged(0.25 if n == 100 else 1.0), variant="a") for n in range(101)]
    page = write_run_page(tmp_path / "run.html", results, make_run("a", "b")).read_text("utf-8")
    assert page.count('<th scope="row" class="id">case-') == 100
    first = page[page.index('class="id">case-') :]
    assert first.startswith('class="id">case-100</th>')
    assert '<td class="fail" title="fails">✗ 0.25</td>' in first
    assert "The first 100 of 101 cases" in page
    assert "Judges and calibration" in page


def _noise(n: int) -> str:
    """A text that compression leaves long."""
    return "".join(hashlib.sha512(bytes([n, k])).hexdigest() for k in range(9))


def test_a_large_page_is_written_in_parts() -> None:
    table = case_table(make_result(n, judged(), output=Output(text=_noise(n))) for n in range(250))
    document = Document("run", Conclusion("done"), (table,), dict)
    chunks = [len(chunk) for chunk in table.chunks]
    links = PageLinks(assets="/assets/", chunks="/api/chunk/r1/")
    # The chunks come one by one, and the index without them.
    whole = "".join(html_parts(document))
    assert sum(chunks) < len(whole) - len("".join(html_parts(document, links)))
    longest = max(len(part) for part in html_parts(document) if not part.startswith("/*"))
    assert longest < sum(chunks)


def test_an_answer_has_its_time_tokens_cost_and_agent_run() -> None:
    usage = Usage(input_tokens=1900, output_tokens=80, cost_usd=0.5)
    result = make_result(
        0,
        judged(cost_usd=0.25, flags=("smoke_model",), expected_raw=0.9, confidence=0.5),
        output=Output(text="Yes.", usage=usage, duration_ms=1500, run_id="agent-7"),
        ran_at=NOW,
        is_done=False,
    )
    answer = only_answer(case_table([result]))
    assert answer["facts"] == [
        f"{NOW:%Y-%m-%d %H:%M} UTC",
        "1.5 s",
        "1,900 tokens in, 80 out",
        "$0.50",
        "$0.25 for its judgments",
        "agent run agent-7",
        "not fully judged",
    ]
    assert answer["opinions"][0]["rows"][0]["facts"] == [
        "openai/m pointwise/default@1",
        "confidence 0.50",
        "expected score 0.90",
        "$0.25",
        "a smoke model, whose verdicts carry no information",
    ]


def test_a_run_without_answers_has_an_empty_table() -> None:
    table = case_table([])
    assert (table.index["n"], table.index["order"], table.chunks) == (0, [], ())
