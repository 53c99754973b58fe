"""A suite is built in Python, and cases are loaded from parsed JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import judgekit as jk
from tests.cli.commanding import runner
from tests.factories import reply

if TYPE_CHECKING:
    from pathlib import Path


def test_a_suite_built_in_python_runs(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text('{"case_id": "a", "text": "Yes."}\n', "utf-8")
    recorded = json.dumps({"case_id": "a", "text": reply(5)})
    (tmp_path / "replies.jsonl").write_text(recorded, "utf-8")
    suite = jk.Suite(
        name="built",
        cases=(jk.Case(id="a", input="May I?"),),
        rubric="helpfulness",
        judge=(jk.SuiteJudge(model=f"recorded:{tmp_path / 'replies.jsonl'}"),),
        variants=(jk.VariantSettings(id="v1", outputs=str(tmp_path / "out.jsonl")),),
        gate=jk.Gate(tier="development"),
    )
    with jk.evaluate_sync(suite, store=tmp_path / "runs.db", cache=None) as run:
        assert repr(run).startswith("<Run ")
        assert run.to_dicts()[0]["case_id"] == "a"
        assert "built" in run._repr_html_()
        run.report(tmp_path / "run.html")
    assert "May I?" in (tmp_path / "run.html").read_text("utf-8")


@pytest.mark.parametrize(
    "parsed",
    [
        [{"id": "a", "input": "May I?"}],
        {"name": "mine", "version": "2", "cases": [{"id": "a", "input": "May I?"}]},
        [jk.Case(id="a", input="May I?")],
        jk.Dataset(name="mine", cases=(jk.Case(id="a", input="May I?"),)),
    ],
)
def test_parsed_json_is_a_dataset(parsed: object) -> None:
    dataset = jk.load_dataset(parsed)  # type: ignore[arg-type]  # each form by itself is accepted
    assert [case.input for case in dataset.cases] == ["May I?"]
    if isinstance(parsed, dict):
        assert (dataset.name, dataset.version) == ("mine", "2")


def test_faults_of_parsed_cases_have_their_place() -> None:
    with pytest.raises(jk.DatasetError, match=r"^cases\[1\]: .*input"):
        jk.load_dataset([{"id": "a", "input": "x"}, {"id": "b", "inptu": "y"}])
    with pytest.raises(jk.DatasetError, match=r"cases\[1\]: the id 'a' is a duplicate"):
        jk.load_dataset([{"id": "a", "input": "x"}] * 2, unique=True)
    with pytest.raises(jk.DatasetError, match="holds no cases"):
        jk.load_dataset([])


def test_a_file_is_validated_as_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('{"id": "a", "input": "x"}\n{"id": "A", "input": " "}\n{"id": "a"}\n', "utf-8")
    ran = runner(capsys)("validate", str(path), "--json")
    found = json.loads(ran.out)["findings"]
    problems = jk.validate_dataset(path)
    assert {one.line for one in problems if one.severity == "error"} == {3}
    assert sorted(filter(None, (one.line for one in problems))) == sorted(
        one["line"] for one in found if one["line"]
    )


@pytest.mark.parametrize(
    ("assertion", "what"),
    [
        ({"type": "bogus"}, "(bogus): no assertion is called so"),
        ({"type": "metric.latency_ms.max", "value": "fast"}, "`value` must be a valid number"),
    ],
)
@pytest.mark.parametrize("form", ["dataset", "file"])
def test_an_assertion_that_cannot_be_checked_is_an_error_of_its_case(
    tmp_path: Path, assertion: dict[str, object], what: str, form: str
) -> None:
    good = {"type": "behavior.no_errors"}
    whole = {"id": "d", "workflowName": "w", "version": "1", "cases": [
        {"id": "c", "input": "Q", "assertions": [good, assertion]},
    ]}  # fmt: skip
    path = tmp_path / "d.json"
    path.write_text(json.dumps(whole), "utf-8")
    [problem] = jk.validate_dataset(path if form == "file" else jk.load_dataset(whole))
    assert (problem.severity, problem.case_id) == ("error", "c")
    assert f"assertions[1] ({assertion['type']})" in problem.message
    assert what in problem.message
