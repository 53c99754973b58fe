from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.datasets import iter_case_outputs, repeat_of, validate_path
from judgekit.errors import DatasetError, JudgekitError
from judgekit.records import Case, CaseResult, Dataset, Output, TraceEvent, Usage
from judgekit.report.exports import result_line
from tests.datasets.reading import iter_outputs

if TYPE_CHECKING:
    from pathlib import Path

CASES = Dataset(name="d", cases=(Case(id="refund", input="Q1"), Case(id="c2", input="Q2")))


def put(folder: Path, *rows: object, name: str = "o.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read_one(folder: Path, row: object) -> Output:
    return next(iter_outputs(put(folder, row)))


def test_every_field_of_an_output_is_read(tmp_path: Path) -> None:
    row = {
        "case_id": "a", "variant": "v1", "text": "t", "data": {"x": 1}, "duration_ms": 3,
        "usage": {"input_tokens": 2, "cost_usd": 0.1}, "trace": [{"type": "tool_call", "id": 7}],
        "run_id": 12, "metadata": {"k": 1}, "colour": "red",
    }  # fmt: skip
    found = read_one(tmp_path, row)
    assert found.usage == Usage(input_tokens=2, cost_usd=0.1)
    assert found.trace == (TraceEvent.model_validate({"type": "tool_call", "id": 7}),)
    assert (found.run_id, found.metadata) == ("12", {"k": 1, "colour": "red"})


@pytest.mark.parametrize("name", ["text", "output", "response", "answer", "completion"])
def test_common_spellings_are_understood(tmp_path: Path, name: str) -> None:
    found = read_one(tmp_path, {"id": 7, name: "hello"})
    assert (found.case_id, found.text) == ("7", "hello")


def test_an_alias_beside_the_real_name_goes_into_the_metadata(tmp_path: Path) -> None:
    found = read_one(tmp_path, {"id": "row", "case_id": "c", "text": "t", "answer": 4})
    assert (found.case_id, found.metadata) == ("c", {"id": "row", "answer": 4})


def test_an_output_that_is_no_text_is_data(tmp_path: Path) -> None:
    assert read_one(tmp_path, {"id": "a", "output": {"x": 1}}).data == {"x": 1}
    with pytest.raises(DatasetError, match="`text` must be a text, not a list"):
        read_one(tmp_path, {"id": "a", "output": [1], "data": 2})


def test_an_answer_that_was_exported_is_an_output_again(tmp_path: Path) -> None:
    output = Output(text="t", data={"x": 1}, usage=Usage(input_tokens=2), run_id="a", duration_ms=3)
    result = CaseResult(
        run_id="r", place=4, case=Case(id="c", input="Q", reference="R"), variant="v1", repeat=1,
        output=output, is_done=True,
    )  # fmt: skip
    path = tmp_path / "o.jsonl"
    path.write_text(result_line(result), encoding="utf-8")
    found = next(iter_outputs(path))
    named = {"case_id": "c", "variant": "v1", "metadata": {"repeat": 1}}
    assert found == output.model_copy(update=named)
    ((case, _),) = iter_case_outputs(path)
    assert (case.id, case.input, case.reference) == ("c", "Q", "R")


def test_a_result_row_is_the_output_it_was_made_of(tmp_path: Path) -> None:
    row = {
        "testName": "A", "testCaseId": "a", "status": "passed", "strategy": "exact_match",
        "score": 1.0, "output": "t", "feedback": "", "durationMs": 3, "variant": "v1",
    }  # fmt: skip
    found = read_one(tmp_path, row)
    assert found == Output(text="t", case_id="a", variant="v1", duration_ms=3)
    broken = {**row, "status": "error", "output": None, "feedback": "it crashed"}
    assert read_one(tmp_path, broken).error == "it crashed"
    assert read_one(tmp_path, {**broken, "feedback": None}).error == "an error"


def test_repeats_of_an_exported_answer_are_not_doubles(tmp_path: Path) -> None:
    case = Case(id="c", input="Q")
    lines = [
        result_line(CaseResult(run_id="r", place=0, case=case, variant="v", repeat=repeat,
                               output=Output(text="t"), is_done=True))
        for repeat in (0, 1)
    ]  # fmt: skip
    path = tmp_path / "o.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    assert validate_path(path) == []
    assert [repeat_of(output) for _, output in iter_case_outputs(path)] == [0, 1]
    path.write_text("".join([*lines, lines[0]]), encoding="utf-8")
    (problem,) = validate_path(path)
    assert "a duplicate" in problem.message


@pytest.mark.parametrize("numbers", [(0.0, 1.0), ("0.0", "1.0"), ("0", "1")])
def test_repeats_may_be_numbers_of_a_data_frame(
    tmp_path: Path, numbers: tuple[object, object]
) -> None:
    rows = [{"case_id": "refund", "input": "q", "text": "t", "repeat": one} for one in numbers]
    path = put(tmp_path, *rows)
    assert len(list(iter_case_outputs(path, CASES))) == 2
    assert validate_path(path) == []


def test_repeats_in_rows_of_strategies_are_not_doubles(tmp_path: Path) -> None:
    row = {"testCaseId": "refund", "strategy": "assertions", "status": "passed", "output": "t"}
    path = put(tmp_path, *({**row, "repeat": repeat} for repeat in (0, 1)))
    assert [repeat_of(output) for _, output in iter_case_outputs(path, CASES)] == [0, 1]


def test_rows_without_numbers_of_repeats_are_doubles_wherever_they_are_read(tmp_path: Path) -> None:
    names = ("first", "second")
    rows = [{"case_id": "refund", "input": "q", "text": "t", "repeat": name} for name in names]
    path = put(tmp_path, *rows)
    with pytest.raises(DatasetError, match="a second output for the same case"):
        list(iter_case_outputs(path, CASES))
    assert "a duplicate" in validate_path(path)[0].message


MESSAGES = [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"text": "A", "trace": None, "error": None}, Output(text="A")),
        ({"messages": MESSAGES, "error": None}, Output(data={"messages": MESSAGES})),
        ({"text": "", "error": None}, Output(text="")),
    ],
)
def test_fields_that_say_nothing_are_left_out(
    tmp_path: Path, row: dict[str, object], expected: Output
) -> None:
    found = read_one(tmp_path, {"id": "a", **row})
    assert found == expected.model_copy(update={"case_id": "a"})


def test_the_answer_of_a_trace_is_read_beside_empty_fields(tmp_path: Path) -> None:
    row = {"id": "a", "trace": MESSAGES, "text": None, "error": None}
    assert read_one(tmp_path, row).text == "A"


def test_a_total_without_its_parts_is_not_lost(tmp_path: Path) -> None:
    found = read_one(tmp_path, {"id": "a", "text": "", "usage": {"total_tokens": 7}})
    assert found.metadata == {"usage": {"total_tokens": 7}}


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details":
         {"cached_tokens": 64}, "completion_tokens_details": {"reasoning_tokens": 5},
         "other_details": {"cached_tokens": None}},
        {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 64}, "output_tokens": 20,
         "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 120},
        {"input_tokens": 36, "cache_read_input_tokens": 64, "cache_creation_input_tokens": None,
         "output_tokens": 20, "reasoning_tokens": 5},
        {"promptTokenCount": 100, "cachedContentTokenCount": 64, "candidatesTokenCount": 15,
         "thoughtsTokenCount": 5, "totalTokenCount": 120},
        {"prompt_token_count": 100, "cached_content_token_count": 64,
         "candidates_token_count": 20, "thoughts_token_count": 5, "total_token_count": 120},
    ],
)  # fmt: skip
def test_tokens_of_a_providers_cache_are_of_the_tokens_sent(
    tmp_path: Path, usage: dict[str, object]
) -> None:
    found = read_one(tmp_path, {"id": "a", "text": "", "usage": usage}).usage
    wanted = Usage(input_tokens=100, output_tokens=20, cached_input_tokens=64, reasoning_tokens=5)
    assert found == wanted


def test_tokens_written_to_a_providers_cache_were_sent(tmp_path: Path) -> None:
    usage = {"input_tokens": 36, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 4}
    found = read_one(tmp_path, {"id": "a", "text": "", "usage": usage}).usage
    assert found == Usage(input_tokens=100, cached_input_tokens=60, cache_write_tokens=4)


def test_usage_in_a_providers_words_is_understood(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7, "details": {"a": 1}}
    found = read_one(tmp_path, {"id": "a", "text": "", "usage": usage})
    assert found.usage == Usage(input_tokens=3, output_tokens=4)
    assert found.metadata == {"usage": {"details": {"a": 1}}}
    both = {"input_tokens": 1, "prompt_tokens": 2}
    found = read_one(tmp_path, {"id": "a", "text": "", "usage": both})
    assert found.metadata == {"usage": {"prompt_tokens": 2}}


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"text": "t"}, "the field `case_id` is missing"),
        ({"case_id": " ", "text": "t"}, "the field `case_id` is missing"),
        ({"case_id": "a"}, "an output needs a text, data, a trace or an error"),
        ({"case_id": "a", "text": 3}, r"`text` must be a text, not 3"),
        ({"case_id": "a", "output": "x", "answer": "y"}, "`output` and `answer` both mean `text`"),
        (
            {"case_id": "a", "text": "", "k": 1, "metadata": {"k": 2}},
            "`k` is a column and an entry",
        ),
        ({"case_id": "a", "text": "", "metadata": 3}, "`metadata` must be a mapping"),
        ({"case_id": "a", "text": "", "usage": 3}, "`usage` must be a mapping"),
        ({"case_id": "a", "text": "", "usage": {"input_tokens": -1}}, "must be 0 or more, not -1"),
        ({"case_id": "a", "text": "", "trace": [{"name": "x"}]}, r"`trace\[0\]\.type` is missing"),
    ],
)
def test_an_unsound_row_is_an_error_with_its_line(tmp_path: Path, row: object, what: str) -> None:
    path = put(tmp_path, {"case_id": "fine", "text": "t"}, row)
    with pytest.raises(DatasetError, match=rf"o\.jsonl:2: .*{what}"):
        list(iter_outputs(path))


def test_a_table_holds_json_in_its_cells_and_an_empty_text_is_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    path.write_text(
        'id,text,usage,metadata.lang,duration_ms\na,,"{""input_tokens"": 2}",de,12\nb,x,,,\n'
    )
    first, second = iter_outputs(path)
    assert (first.text, first.usage, first.duration_ms) == ("", Usage(input_tokens=2), 12)
    assert (first.metadata, second.metadata) == ({"lang": "de"}, {})


def test_a_cell_that_is_not_json_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    path.write_text("id,text,usage\na,t,12 tokens\n")
    with pytest.raises(DatasetError, match="the column `usage` holds JSON: not JSON: Extra data"):
        list(iter_outputs(path))


def test_a_repaired_row_is_marked(tmp_path: Path) -> None:
    assert read_one(tmp_path, {"id": "a", "text": "\ud800"}).metadata == {"text_repaired": True}


def test_a_second_output_for_a_case_and_variant_names_both_lines(tmp_path: Path) -> None:
    row = {"case_id": "a", "variant": "v", "text": "t"}
    path = put(tmp_path, row, {**row, "variant": "w"}, row)
    with pytest.raises(DatasetError, match=r":3: case 'a': a second .*'v'.*first is in line 1"):
        list(iter_outputs(path))
    bare = {"case_id": "a", "text": "t"}
    with pytest.raises(DatasetError, match="a second output for the same case"):
        list(iter_outputs(put(tmp_path, bare, bare)))


def test_a_wanted_variant_takes_its_own_rows_and_unnamed_ones(tmp_path: Path) -> None:
    rows = [{"case_id": c, "variant": v, "text": "t"} for c, v in (("a", "v"), ("b", "w"))]
    path = put(tmp_path, *rows, {"case_id": "c", "text": "t"})
    found = [(output.case_id, output.variant) for output in iter_outputs(path, variant="v")]
    assert found == [("a", "v"), ("c", "v")]
    with pytest.raises(DatasetError, match="no outputs of 'x'") as caught:
        list(iter_outputs(put(tmp_path, *rows), variant="x"))
    assert caught.value.hint == "it has outputs of v, w"


def test_a_file_without_outputs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="holds no outputs"):
        list(iter_outputs(put(tmp_path)))


def test_outputs_are_joined_with_their_cases(tmp_path: Path) -> None:
    path = put(tmp_path, {"case_id": "c2", "text": "t"}, {"case_id": "refund", "text": "u"})
    found = [(case.id, case.input, out.text) for case, out in iter_case_outputs(path, CASES)]
    assert found == [("c2", "Q2", "t"), ("refund", "Q1", "u")]


def test_an_output_of_an_unknown_case_lists_near_ids(tmp_path: Path) -> None:
    path = put(tmp_path, {"case_id": "refnd", "text": "t"})
    with pytest.raises(DatasetError, match=r":1: no case has the id 'refnd'") as caught:
        list(iter_case_outputs(path, CASES))
    assert caught.value.hint == "did you mean `refund`?"


def test_without_cases_a_row_brings_its_own(tmp_path: Path) -> None:
    path = put(tmp_path, {"id": "a", "question": "Q", "expected": "R", "context": 1, "answer": "t"})
    [(case, output)] = iter_case_outputs(path)
    assert case == Case(id="a", input="Q", reference="R", context=1)
    assert (output.text, output.metadata) == ("t", {})
    unasked = put(tmp_path, {"id": "a", "text": "t"})
    with pytest.raises(DatasetError, match="this row has no input") as caught:
        list(iter_case_outputs(unasked))
    assert "--cases" in str(caught.value.hint)
    [(case, output)] = iter_case_outputs(unasked, needs_input=False)
    assert (case, output.text) == (Case(id="a", input=None), "t")


OUTPUTS = st.builds(
    Output,
    case_id=st.text(min_size=1).filter(str.strip),
    variant=st.none() | st.text(min_size=1),
    text=st.text(),
    data=st.none() | st.integers() | st.dictionaries(st.text(), st.text(), max_size=2),
    error=st.none() | st.text(),
    duration_ms=st.none() | st.floats(0, 1e9),
    metadata=st.dictionaries(st.text(), st.integers(), max_size=2),
)


@settings(max_examples=60)
@given(output=OUTPUTS)
def test_an_output_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, output: Output
) -> None:
    folder = tmp_path_factory.getbasetemp()
    assert read_one(folder, output.to_json()) == output


FIELDS = st.sampled_from(
    ["id", "case_id", "text", "output", "data", "usage", "trace", "metadata", "input", "k", "error"]
)
VALUES: st.SearchStrategy[object] = (
    st.none() | st.integers() | st.text(max_size=3) | st.just({"type": "x"}) | st.just([{}])
)


@settings(max_examples=60)
@given(row=st.dictionaries(FIELDS, VALUES, max_size=6), suffix=st.sampled_from([".jsonl", ".tsv"]))
def test_any_row_is_an_output_or_a_clean_error(
    tmp_path_factory: pytest.TempPathFactory, row: dict[str, object], suffix: str
) -> None:
    path = put(tmp_path_factory.getbasetemp(), row, name="fuzz.jsonl")
    if suffix == ".tsv":
        path = path.with_suffix(".tsv")
        cells = [json.dumps(value).replace('"', '""') for value in row.values()]
        path.write_text("\t".join(row) + "\n" + "\t".join(f'"{cell}"' for cell in cells) + "\n")
    try:
        assert len(list(iter_case_outputs(path))) == 1
    except JudgekitError as error:
        assert "fuzz" in str(error)  # noqa: PT017 - both ends are right; this checks one


def test_a_workflows_artifact_is_an_output(tmp_path: Path) -> None:
    events = [{"type": "agent:complete", "durationMs": 1500}]
    snapshot = {"outputs": {"main": {"text": "hi"}}}
    row = {"caseId": "refund", "runId": "r1", "snapshot": snapshot, "events": events}
    found = read_one(tmp_path, row)
    assert (found.case_id, found.run_id, found.data) == ("refund", "r1", snapshot)
    assert [event.type for event in found.trace] == ["agent:complete"]
    kept = read_one(tmp_path, {"case_id": "refund", "text": "hi", "snapshot": {"a": 1}})
    assert kept.metadata == {"snapshot": {"a": 1}}
