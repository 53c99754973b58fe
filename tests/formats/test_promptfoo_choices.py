"""What compares the outputs of all providers: `select-best` and `max-score`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import load_dataset, suite_from_path, validate_path
from judgekit.errors import NotImportedWarning
from tests.formats.test_promptfoo import asserting, config
from tests.formats.writing import write

if TYPE_CHECKING:
    from pathlib import Path

BEST = {"type": "select-best", "value": "the shortest of {{q}}", "provider": "openai:gpt-4.1"}
HIGHEST = {"type": "max-score", "value": {"method": "sum", "weights": {"python": 3, "bleu": 2}}}


def test_what_compares_outputs_stands_outside_of_every_group(tmp_path: Path) -> None:
    test = asserting({"type": "is-json"}, BEST, {"type": "max-score"}, threshold=0.5)
    whole = config(test, prompts=["Ask {{q}}"], providers=["echo"])
    suite = suite_from_path(write(tmp_path, whole))
    assert suite.cases is not None
    group, best, highest = suite.cases[0].assertions
    assert (group["type"], highest) == ("all", {"type": "max-score"})
    question = {"type": "select-best", "value": "the shortest of Q", "judge": "openai:gpt-4.1"}
    assert best == question
    assert [judge.name for judge in suite.judge] == ["openai:gpt-4.1"]


def test_weights_of_scores_are_by_the_names_that_assertions_have_here(tmp_path: Path) -> None:
    [case] = load_dataset(write(tmp_path, config(asserting(HIGHEST, {"type": "is-json"})))).cases
    weights = {"custom.code": 3, "text.word_bleu": 2}
    assert case.assertions[-1] == {"type": "max-score", "method": "sum", "weights": weights}


@pytest.mark.parametrize(
    ("spec", "fields", "reason"),
    [
        ({**BEST, "type": "not-select-best"}, {}, "it is negated"),
        ({**BEST, "value": None}, {}, "its `value` is null"),
        ({**BEST, "transform": "output.trim()"}, {}, "a judge sees the whole output"),
        (HIGHEST, {"threshold": 0.5}, "its `weights` name assertions that are one here"),
        ({"type": "max-score", "value": "most"}, {}, "its `value` is a text"),
    ],
)
def test_a_comparison_that_is_not_imported_marks_its_case(
    tmp_path: Path, spec: dict[str, Any], fields: dict[str, Any], reason: str
) -> None:
    path = write(tmp_path, config(asserting({"type": "is-json"}, spec, **fields)))
    [problem] = validate_path(path)
    assert (problem.severity, reason in problem.message) == ("left_out", True), problem.message
    with pytest.warns(NotImportedWarning):
        [case] = load_dataset(path).cases
    assert "not_imported" in {one["type"] for one in case.assertions}
