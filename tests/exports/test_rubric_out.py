from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from judgekit.datasets import load_rubric
from judgekit.errors import SettingsError
from judgekit.exports import convert_to_rubric, write_rubric
from tests.exports.making import NAMES
from tests.exports.test_converting import own
from tests.factories import make_case, make_criterion, make_rubric
from tests.formats import FOREIGN

if TYPE_CHECKING:
    from pathlib import Path


def test_the_rubric_that_cases_share_is_found(tmp_path: Path) -> None:
    rubric = make_rubric("accuracy", "clarity")
    path = own(tmp_path, make_case(rubric=rubric), make_case(id="b", rubric=rubric))
    assert convert_to_rubric(path) == (rubric, ())


def test_no_rubric_and_several_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="holds no rubric"):
        convert_to_rubric(own(tmp_path, make_case()))
    with pytest.raises(SettingsError, match="holds 2 rubrics"):
        convert_to_rubric(FOREIGN / "evals.json")


def test_checks_alone_make_no_rubric_and_are_written_out(tmp_path: Path) -> None:
    grader = {
        "type": "string_check",
        "name": "same",
        "input": "{{sample.output_text}}",
        "reference": "cat",
        "operation": "eq",
    }
    path = tmp_path / "grader.json"
    path.write_text(json.dumps(grader), "utf-8")
    with pytest.raises(SettingsError, match="only checks that need no model") as found:
        convert_to_rubric(path)
    assert '"value": "cat"' in str(found.value.hint)


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
@given(name=NAMES, question=NAMES, weight=st.floats(0.1, 9), guide=st.none() | NAMES)
def test_a_rubric_is_read_again_as_it_was(
    tmp_path_factory: pytest.TempPathFactory,
    suffix: str,
    name: str,
    question: str,
    weight: float,
    guide: str | None,
) -> None:
    criterion = make_criterion(name, question=question, weight=weight, scoring_guide=guide)
    path = tmp_path_factory.mktemp("r") / f"rubric{suffix}"
    rubric = make_rubric(criterion, description=question)
    write_rubric(path, rubric)
    assert load_rubric(path) == rubric


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="a rubric to"):
        write_rubric(tmp_path / "a.csv", make_rubric())
