from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import iter_case_outputs, load_dataset, repeat_of
from judgekit.errors import DatasetError
from judgekit.formats import read_document
from judgekit.formats.promptfoo import promptfoo_result_rows
from tests.formats import FOREIGN
from tests.formats.writing import errors_of, write

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.records import JsonObject

RESULTS = FOREIGN / "promptfoo_results.json"


def test_outputs_are_read_with_their_cases() -> None:
    cases, (first, second, third) = zip(*iter_case_outputs(RESULTS), strict=True)
    assert (first.text, first.case_id, first.variant) == ("Hello Ada", "test-1", "mini prompt-1")
    assert first.usage is not None
    assert (first.usage.input_tokens, first.usage.cost_usd, first.duration_ms) == (9, 0.0002, 310)
    assert (second.data, second.error) == ({"greeting": "Hi"}, None)
    own = {"success": False, "score": 0, "repeat": 0, "transformed": True}
    assert second.metadata == own
    assert (third.error, third.variant) == ("timed out", "unnamed prompt-2")
    assert [case.id for case in cases][:2] == ["test-1", second.case_id]
    assert cases[2].input == {"name": "Cy"}


def test_results_in_a_list_and_answers_given_again_are_read(tmp_path: Path) -> None:
    result = {"vars": {"q": 1}, "success": True, "provider": "m", "response": {}}
    path = write(tmp_path, {"results": [result, result]})
    (_, first), (_, second) = promptfoo_result_rows(read_document(path))
    assert (first["metadata"], second["metadata"]) == (
        {"success": True, "repeat": 0}, {"success": True, "repeat": 1},
    )  # fmt: skip
    assert (first["error"], first["variant"]) == ("there is no output", "m")
    assert first["case_id"] == second["case_id"]


def test_an_answer_from_promptfoos_cache_has_no_count_of_its_tokens(tmp_path: Path) -> None:
    response = {"output": "x", "cached": True, "tokenUsage": {"cached": 30, "total": 30}}
    result = {"vars": {"q": 1}, "success": True, "response": response}
    ((_, found),) = iter_case_outputs(write(tmp_path, {"results": [result]}))
    assert found.usage is None


TESTS: list[JsonObject] = [{"vars": {"x": ["a", "b"]}}, {"vars": {"x": "c"}}, {"vars": {"x": "d"}}]


def numbered(texts: str, **more: JsonValue) -> JsonObject:
    """Results of tests in promptfoo's order, one for each letter."""
    results: list[JsonValue] = [
        {
            "testIdx": n,
            "vars": {"x": x},
            "success": True,
            "response": {"output": x},
            "testCase": {"vars": {"x": x}},
        }
        for n, x in enumerate(texts)
    ]
    return {"results": results, **more}


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        ("abcd", ["test-1.1", "test-1.2", "test-2", "test-3"]),
        ("ababccdd", [*["test-1.1", "test-1.2"] * 2, *["test-2"] * 2, *["test-3"] * 2]),
    ],
)
def test_results_are_of_the_cases_that_the_configuration_makes(
    tmp_path: Path, texts: str, names: list[str]
) -> None:
    config: JsonObject = {"prompts": ["{{x}}"], "providers": ["openai:m"], "tests": [*TESTS]}
    path = write(tmp_path, numbered(texts, config=config))
    cases = load_dataset(write(tmp_path, config, "promptfooconfig.json"))
    found = list(iter_case_outputs(path, cases))
    assert [case.id for case, _ in found] == names
    assert [case.input for case, _ in found] == [{"x": output.text} for _, output in found]


def test_repeats_are_counted_without_the_configuration(tmp_path: Path) -> None:
    configs: list[JsonValue] = [
        None,
        {"tests": "file://t.csv"},
        {"tests": [{"vars": {"x": "file://*.txt"}}]},
    ]
    for config in configs:
        path = write(tmp_path, numbered("aabb", config=config))
        found = [output for _, output in iter_case_outputs(path)]
        assert [output.case_id for output in found] == ["test-1", "test-1", "test-2", "test-2"]
        assert [repeat_of(output) for output in found] == [0, 1, 0, 1]


def test_unsound_results_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, {"results": [{"vars": {}, "success": "often"}]})
    assert [problem.message for problem in errors_of(path)] == [
        "`success` must be true or false, not 'often'"
    ]
    with pytest.raises(DatasetError, match="true or false"):
        list(iter_case_outputs(path))


def test_results_are_no_dataset() -> None:
    with pytest.raises(DatasetError, match=r"results of promptfoo(?s:.*)not cases"):
        load_dataset(RESULTS)


def test_outputs_of_a_document_that_holds_none_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, {"results": [{"case_id": "a", "text": "t", "input": "Q"}, 3]})
    with pytest.raises(DatasetError, match=r"a\.json:"):
        list(iter_case_outputs(path))
