from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import load_dataset
from judgekit.errors import DatasetError
from tests.formats import FOREIGN
from tests.formats.writing import errors_of, line_with, warnings_of, write

if TYPE_CHECKING:
    from pathlib import Path


def make(*cases: object, **fields: object) -> dict[str, object]:
    return {"id": "d.v1", "workflowName": "w", "version": "1", "cases": [*cases]} | fields


def test_a_workflow_dataset_is_read_with_its_assertions() -> None:
    dataset = load_dataset(FOREIGN / "workflow.json")
    first, second = dataset.cases
    assert (dataset.name, dataset.version) == ("greeter.v2", "2.1.0")
    assert (first.id, first.name, first.tags) == ("hello", "A greeting", ("smoke",))
    assert (first.input, first.agent) == ({"prompt": "Greet Ada"}, "greeter")
    assert first.assertions[0] == {"type": "behavior.no_errors"}
    assert len(second.assertions) == 7


def test_of_a_great_many_unknown_fields_the_first_are_looked_at(tmp_path: Path) -> None:
    case = {"id": "a", "input": 1, "assertions": [{"type": "behavior.no_errors"}]}
    many = {f"{n}": n for n in range(5_000)}
    path = write(tmp_path, make(case, verison=1, **many, workflowname=1))
    assert warnings_of(path) == ["the field `verison` is not known"]


def test_every_fault_is_found_at_once_with_its_line(tmp_path: Path) -> None:
    cases = [
        {"id": "a", "input": 1, "assertions": [{"type": "output.contains", "path": "p"}]},
        {"id": "b", "input": 1, "assertions": [{"tpye": "x"}]},
        {"id": "b", "input": 2, "assertions": [{"type": "behavior.no_errors"}]},
        {"input": 1},
        7,
    ]
    path = write(tmp_path, make(*cases))
    found = {problem.message: problem.line for problem in errors_of(path)}
    assert found["`output.contains` needs the field `value`"] == line_with(path, "output.con") - 1
    assert "an assertion needs a `type`" in found
    first = line_with(path, '"b"') - 1
    assert f"a duplicate id; first in line {first}" in found
    assert "the field `id` is missing" in found
    assert "must be a mapping of fields, not a number" in found


def test_a_case_without_assertions_cannot_fail(tmp_path: Path) -> None:
    path = write(tmp_path, make({"id": "a", "input": 1}))
    assert warnings_of(path) == ["the case has no assertions, so it cannot fail"]


def test_a_misspelt_field_is_told_and_others_are_kept(tmp_path: Path) -> None:
    case = {"id": "a", "input": 1, "asertions": [], "owner": "me"}
    path = write(tmp_path, make(case))
    assert "the field `asertions` is not known" in warnings_of(path)
    assert load_dataset(path).cases[0].metadata == {"asertions": [], "owner": "me"}


def test_a_dataset_without_a_version_is_refused_and_says_how_much_more_is_wrong(
    tmp_path: Path,
) -> None:
    path = write(tmp_path, {"workflowName": "w", "cases": "none"})
    with pytest.raises(DatasetError, match=r"field `id` is missing.*2 more"):
        load_dataset(path)
    assert [p.message for p in errors_of(path)][-1] == "`cases` must be a list, not a text"


def test_a_dataset_without_cases_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, make())
    assert [problem.message for problem in errors_of(path)] == ["the file holds no cases"]
    with pytest.raises(DatasetError, match="holds no cases"):
        load_dataset(path)
