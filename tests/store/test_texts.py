from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from judgekit.errors import StoreError
from judgekit.records import (
    AssertionResult,
    Case,
    Output,
    RunInfo,
    TraceEvent,
    judgment_slot,
    lookup_text,
    name_text,
    read_record,
    read_time,
    record_text,
    time_text,
    words_text,
)
from judgekit.records.encoding import LONGEST_NAME
from tests.factories import make_case, make_criterion, make_output, make_rubric
from tests.store.observing import answer, begun, key, make_run, only, said

if TYPE_CHECKING:
    from judgekit.store import RunStore

ANY_TEXT = st.text(st.characters(), max_size=20) | st.sampled_from(["\x00", "\ud800", "a\x00b"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
HOSTILE = [
    "",
    "a\x00b",
    "\ud800 half a pair",
    "🙂 是 e\u0301 \u202e",
    "'; DROP TABLE runs; --",
    "\\u0000 %s :b_at ?",
    "x" * 1_000_000,
]


@given(JSON, JSON)
def test_every_case_comes_back_from_its_text(value: object, metadata: object) -> None:
    case = Case.model_validate({"id": "c", "input": value, "metadata": {"m": metadata}})
    assert read_record(Case, record_text(case)) == case


@given(JSON)
def test_every_output_comes_back_from_its_text(value: object) -> None:
    event = TraceEvent.model_validate({"type": "t", "content": value, "more": value, "none": None})
    for output in (Output(text="a", data=value), Output(trace=(event,))):
        assert read_record(Output, record_text(output)) == output


@given(JSON)
def test_a_text_can_be_encoded_and_has_no_nul(value: object) -> None:
    text = record_text(Case(id="c", input=value))
    assert b"\x00" not in text.encode()


def test_a_record_with_a_time_may_hold_half_a_character() -> None:
    run = make_run().model_copy(update={"triggered_by": "a\ud83d"})
    assert read_record(RunInfo, record_text(run)) == run


def test_a_check_that_could_not_be_made_comes_back() -> None:
    check = AssertionResult(passed=None, message="no such path", error="path")
    assert read_record(AssertionResult, record_text(check)) == check


def test_the_integers_three_and_three_and_a_bit_stay_what_they_are() -> None:
    output = make_output(data=[1, 1.0, True, 10**400, -(2**70), 1e308, 5e-324])
    found = read_record(Output, record_text(output))
    assert repr(found.data) == repr(output.data)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_none_is_refused_by_its_field(number: float) -> None:
    case = make_case(input={"a": [0, {"b": number}]})
    with pytest.raises(StoreError, match=r"Case\.input\.a\.1\.b is -?(nan|inf)"):
        record_text(case)


def test_a_score_that_was_smuggled_past_validation_is_refused() -> None:
    smuggled = said().model_copy(update={"raw": float("nan")})
    with pytest.raises(StoreError, match=r"Judgment\.raw is nan"):
        record_text(smuggled)


def test_a_field_of_an_event_that_is_no_number_is_refused() -> None:
    event = TraceEvent.model_validate({"type": "t", "cost": float("inf")})
    with pytest.raises(StoreError, match=r"Output\.trace\.0\.cost is inf"):
        record_text(Output(trace=(event,)))


def test_an_integer_that_python_would_not_read_again_is_refused() -> None:
    with pytest.raises(StoreError, match=r"Output\.data is an integer too large"):
        record_text(make_output(data=10**5000))


def test_what_is_not_json_is_refused() -> None:
    smuggled = make_output().model_copy(update={"metadata": {"x": object()}})
    with pytest.raises(StoreError, match=r"Output cannot be stored as JSON"):
        record_text(smuggled)


def test_a_text_of_another_record_is_refused() -> None:
    with pytest.raises(StoreError, match=r"holds a Case that cannot be read[\s\S]*newer judgekit"):
        read_record(Case, '{"id": "c", "input": 1, "unheard_of": 2}')
    with pytest.raises(StoreError, match="holds a Case"):
        read_record(Case, "no JSON at all")


def test_a_name_that_no_column_holds_is_refused() -> None:
    for bad in ("a\x00b", "a\ud800"):
        with pytest.raises(StoreError, match=r"the case id .* that no database stores"):
            name_text("case id", bad)
    with pytest.raises(StoreError, match="has 501 characters"):
        name_text("case id", "a" * (LONGEST_NAME + 1))
    assert name_text("case id", "是" * LONGEST_NAME) == "是" * LONGEST_NAME


@given(ANY_TEXT, ANY_TEXT)
def test_different_texts_are_looked_up_differently(one: str, other: str) -> None:
    assert (lookup_text(one) == lookup_text(other)) == (one == other)
    assert "\x00" not in lookup_text(one)
    lookup_text(one).encode()


def test_long_texts_are_looked_up_by_their_beginning_and_fingerprint() -> None:
    one, other = lookup_text("a" * 5000), lookup_text("a" * 5001)
    assert one != other
    assert len(one) == len(other) < 200


def test_words_for_people_lose_only_what_cannot_be_kept() -> None:
    assert words_text("a\x00b \ud800 🙂") == "a\ufffdb \ufffd 🙂"


def test_a_slot_tells_criterion_judge_and_repeat_apart() -> None:
    slots = {
        judgment_slot(*each)
        for each in (("a", "b", 0), ("ab", "", 0), ("a", "b", 1), ("b", "a", 0))
    }
    assert len(slots) == 4


def test_times_are_kept_in_utc_and_sort() -> None:
    east = datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=3)))
    west = datetime(2026, 1, 1, 0, tzinfo=UTC)
    assert time_text(east) < time_text(west)
    assert read_time(time_text(east)) == east
    assert read_time(None) is None


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(StoreError, match="has no time zone"):
        time_text(datetime(2026, 1, 1))  # noqa: DTZ001 - that is what is refused


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_survives_in_either_database(store: RunStore, text: str) -> None:
    case = make_case(input=text, context={text: [text]}, agent=text, tags=(text, "t"))
    output = make_output(text, data={"k": text}, run_id=text, metadata={text: None})
    failed = said("clarity", rationale=f"because {text}"[:1000] if "\ud800" not in text else "why")
    begun(store, answer(case=case, output=output, said=[failed]))
    result = only(store)
    assert (result.case, result.output, result.judgments) == (case, output, (failed,))
    assert [found.id for found in store.cases_of(agent=text)] == ["refund"]
    assert [found.run_id for found in store.results_of_agent_run(text)] == ["run-1"]


def test_any_name_of_a_criterion_or_judge_survives(store: RunStore) -> None:
    names = ["a\x00b", "c" * 4000, "🙂"]
    voices = [said(name, judge=name) for name in names]
    rubric = make_rubric(*(make_criterion(name) for name in names), name="r\x00" * 2000)
    begun(store, answer(said=voices), rubric=rubric, suite="s\x00" * 900)
    assert only(store).judgments == tuple(voices)
    assert store.rubric(rubric.name) == rubric
    assert [run.suite for run in store.runs(suite="s\x00" * 900)] == ["s\x00" * 900]
    assert len(list(store.judgments_of_criterion("c" * 4000))) == 1


def test_the_longest_names_are_told_apart(store: RunStore) -> None:
    ids = ["是" * 499 + end for end in "ab"]
    variant = "🙂" * LONGEST_NAME
    begun(store, *(answer(key(each, variant), place=n) for n, each in enumerate(ids)))
    assert [result.case.id for result in store.results("run-1", variant=variant)] == ids


def test_a_name_that_cannot_be_kept_is_refused_at_once(store: RunStore) -> None:
    with pytest.raises(StoreError, match="the run id"):
        store.begin(make_run("a\x00b"))
    begun(store)
    with pytest.raises(StoreError, match="the case id"):
        store.add("run-1", [answer(key("a\x00b"))])
    with pytest.raises(StoreError, match="the variant id"):
        store.add("run-1", [answer(key(variant="v" * 501))])


def test_a_config_that_is_not_json_is_refused(store: RunStore) -> None:
    with pytest.raises(StoreError, match="config cannot be stored as JSON"):
        store.begin(make_run(config={"price": float("nan")}))
    assert store.runs() == []
