from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.assertions import evaluate_assertions
from judgekit.datasets import load_dataset, validate_path
from judgekit.errors import NotImportedWarning
from tests.cli.commanding import runner
from tests.factories import make_output
from tests.formats.test_promptfoo import asserting, config
from tests.formats.writing import line_with, write

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", [
    "classifier", "guardrails",
    "human", "moderation", "perplexity", "perplexity-score",
    "pi", "promptfoo:redteam:harmful:x", "search-rubric", "skill-used",
    "trace-error-spans", "trace-span-count", "trace-span-duration",
])  # fmt: skip
def test_what_has_no_counterpart_is_told_with_what_to_do(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, config(asserting({"type": f"not-{name}", "value": "x"})))
    [problem] = validate_path(path)
    assert problem.severity == "left_out"
    assert problem.message == f"`not-{name}` is not imported: it has no counterpart here"
    assert problem.remedy is not None
    assert "known:" not in problem.remedy


@pytest.mark.parametrize("assertion", [
    {"type": "webhook", "value": "https://example.org"},
    {"type": "equals", "value": "file://made.js"},
    {"type": "contains", "value": "x", "transform": "context.vars.x"},
    {"type": "llm-rubric", "value": "x", "transform": "output.trim()"},
    {"type": "javascript", "value": "output === '{{q}}'"},
    {"type": "python", "value": "file://check.rb"},
    {"type": "moderation"},
    {"type": "max-length", "value": 3},
    {"type": "not-llm-rubric", "value": "x"},
    {"type": "llm-rubric"},
    {"type": "is-valid-openai-tools-call"},
])  # fmt: skip
def test_a_check_that_is_left_out_marks_its_case_and_leaves_the_others(
    tmp_path: Path, assertion: dict[str, Any]
) -> None:
    path = write(tmp_path, config(asserting(assertion), asserting({"type": "is-json"})))
    with pytest.warns(NotImportedWarning, match="1 part of the file is not imported"):
        marked, whole = load_dataset(path).cases
    [spec] = marked.assertions
    what = "transform" if "transform" in assertion else assertion["type"]
    assert (spec["type"], spec["what"]) == ("not_imported", what)
    assert isinstance(spec["line"], int)
    assert spec["line"] >= line_with(path, '"tests"')
    assert whole.assertions == ({"type": "is-json"},)
    for each in (spec, {**spec, "type": "not-not_imported"}):
        [result] = evaluate_assertions(make_output("{}"), [each])
        assert result.passed is None
        assert "is not imported (line" in str(result.error)


def test_with_strict_what_is_left_out_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    invoke = runner(capsys)
    path = write(tmp_path, config(asserting({"type": "ruby", "value": "true"})))
    outputs = tmp_path / "made.jsonl"
    outputs.write_text('{"case_id": "test-1", "text": "x"}\n', encoding="utf-8")
    target = tmp_path / "cases.jsonl"
    words = ["convert", str(path), "-o", str(target)]
    assert invoke("validate", str(path), "--strict").code == 2
    refused = invoke(*words, "--strict")
    assert refused.code == 2
    assert "1 part of the file is not imported" in refused.err
    assert not target.exists()
    assert invoke("run", str(path), "--outputs", str(outputs), "--strict").code == 2
    converted = invoke(*words)
    assert (converted.code, "warning: " in converted.err) == (0, True)
