from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import iter_case_outputs, load_dataset
from judgekit.errors import DatasetError
from judgekit.formats import read_document
from judgekit.formats.promptfoo import read_promptfoo_results
from tests.formats import FOREIGN
from tests.formats.writing import errors_of, write

if TYPE_CHECKING:
    from pathlib import Path

RESULTS = FOREIGN / "promptfoo_results.json"


def test_outputs_are_read_with_their_cases() -> None:
    found = read_promptfoo_results(read_document(RESULTS))
    first, second, third = found.outputs
    assert (first.text, first.case_id, first.variant) == ("Hello Ada", "test-1", "mini prompt-1")
    assert first.usage is not None
    assert (first.usage.input_tokens, first.usage.cost_usd, first.duration_ms) == (9, 0.0002, 310)
    assert (second.data, second.error) == ({"greeting": "Hi"}, None)
    assert second.metadata == {"success": False, "score": 0, "repeat": 0}
    assert (third.error, third.variant) == ("timed out", "unnamed prompt-2")
    assert [case.input for case in found.dataset.cases][2] == {"name": "Cy"}
    assert found.dataset.cases[0].name == "One name"


def test_what_promptfoo_said_is_judgments() -> None:
    judgments = read_promptfoo_results(read_document(RESULTS)).judgments
    assert [(j.criterion, j.value, j.source) for j in judgments] == [
        ("named", 1, "heuristic"), ("llm-rubric", 0.9, "llm"), ("llm-rubric-2", 1, "llm")
    ]  # fmt: skip
    assert judgments[1].rationale == "promptfoo gave no reason"


def test_results_in_a_list_and_answers_given_again_are_read(tmp_path: Path) -> None:
    result = {"vars": {"q": 1}, "success": True, "provider": "m", "response": {}}
    path = write(tmp_path, {"results": [result, result]})
    found = read_promptfoo_results(read_document(path))
    assert [output.metadata["repeat"] for output in found.outputs] == [0, 1]
    assert (found.outputs[0].error, found.outputs[0].variant) == ("there is no output", "m")
    assert len(found.dataset.cases) == 1


def test_unsound_results_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, {"results": [{"vars": {}, "success": "often"}]})
    assert [problem.message for problem in errors_of(path)] == [
        "`success` must be true or false, not 'often'"
    ]
    with pytest.raises(DatasetError, match="true or false"):
        read_promptfoo_results(read_document(path))


def test_results_are_no_dataset() -> None:
    with pytest.raises(DatasetError, match=r"results of promptfoo(?s:.*)not cases"):
        load_dataset(RESULTS)


def test_results_can_stand_where_outputs_are_read() -> None:
    answers = list(iter_case_outputs(RESULTS))
    assert answers[0][1].text == "Hello Ada"
    assert [case.id for case, _ in answers][:2] == ["test-1", answers[1][1].case_id]
    assert (
        answers[0][0].input == read_promptfoo_results(read_document(RESULTS)).dataset.cases[0].input
    )


def test_outputs_of_a_document_that_holds_none_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, {"results": [{"case_id": "a", "text": "t", "input": "Q"}, 3]})
    with pytest.raises(DatasetError, match=r"a\.json:"):
        list(iter_case_outputs(path))
