"""A run as results of promptfoo, and read again as outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from judgekit.datasets import iter_case_outputs
from judgekit.exports import RUN_FORMATS
from tests.exports.making import JUDGE, check, make_answer, make_run
from tests.factories import make_case, make_failure, make_output

PINNED = Path(__file__).parent / "promptfoo_results.json"

REPEATED = {"settings": {"repeats": 2}}


def answers() -> list[Any]:
    """One that passes, one that fails, one without a verdict, one without an output."""
    words = make_case(id="b", input={"input": "an object"})
    failed = make_failure("clarity", kind="timeout", judge=JUDGE)
    return [
        make_answer(checks=[check()], case=make_case(id="a")),
        make_answer(1, 5, checks=[check(passed=False)], case=words, place=1, variant="v2"),
        make_answer(
            4,
            None,
            failures=[failed],
            case=words,
            place=1,
            repeat=1,
            checks=[check("json", passed=None)],
        ),
        make_answer(
            None,
            None,
            case=make_case(id="c", input={"q": [1]}, name="Third"),
            place=2,
            output=make_output(text=None, error="timed out"),
        ),
    ]


def test_results_are_as_promptfoo_imports_them(tmp_path: Path) -> None:
    rows = [{"id": "v1", "prompt": "Say {{input}}", "model": "openai/m"}, {"id": "v2"}]
    run = make_run("v1", "v2", config={"assertions": [], "variants": rows} | REPEATED)
    path = tmp_path / "results.json"
    assert RUN_FORMATS["promptfoo"].write(path, run, iter(answers())) == len(answers())
    # `promptfoo import` and `export` of version 0.121 took this file and gave it back.
    assert json.loads(path.read_text()) == json.loads(PINNED.read_text())


def test_a_try_stands_in_the_row_of_its_case(tmp_path: Path) -> None:
    tried = [make_answer(repeat=1), make_answer(variant="v2")]
    path = tmp_path / "results.json"
    for config, rows in (({}, [0, 0]), (REPEATED, [0, 1])):
        RUN_FORMATS["promptfoo"].write(path, make_run("v1", "v2", config=config), iter(tried))
        results = json.loads(path.read_text())["results"]["results"]
        assert [one["testIdx"] for one in results] == rows


def test_pinned_results_are_read_as_outputs() -> None:
    for answer, (case, output) in zip(answers(), iter_case_outputs(PINNED), strict=True):
        result = answer.result
        assert (case.id, case.input) == (result.case.id, result.case.input)
        assert (output.variant, output.text) == (result.variant, result.output.text)
        assert output.error == result.output.error
        # An answer without a verdict has the score 0 in promptfoo, and none here.
        assert output.metadata.get("score") == answer.value
        assert output.metadata.get("success") == answer.passed
