from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import load_dataset
from judgekit.errors import DatasetError, SettingsError

if TYPE_CHECKING:
    from pathlib import Path

MAPPED = {"q": "input", "gold": "reference", "who": "metadata.author"}


def put(folder: Path, text: str, name: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_mapped_columns_become_fields_and_others_metadata(tmp_path: Path) -> None:
    text = 'q,gold,who,topic,metadata\nQ,R,me,law,"{""x"": 1}"\n'
    [case] = load_dataset(put(tmp_path, text, "a.csv"), columns=MAPPED).cases
    assert (case.id, case.input, case.reference) == ("row-1", "Q", "R")
    assert case.metadata == {"author": "me", "topic": "law", "x": 1}


def test_lines_are_mapped_too_and_keep_their_types(tmp_path: Path) -> None:
    row = {"id": "a", "q": {"x": 1}, "gold": [1], "n": 2, "metadata": {"n": 3}, "who": "me"}
    path = put(tmp_path, json.dumps(row), "a.jsonl")
    [case] = load_dataset(path, columns=MAPPED).cases
    assert (case.input, case.reference, case.metadata) == ({"x": 1}, [1], {"author": "me", "n": 3})


def test_documents_are_mapped_even_when_they_look_like_another_tools(tmp_path: Path) -> None:
    rows = [{"input": "Q", "ideal": "R", "name": "n"}]
    path = put(tmp_path, json.dumps(rows), "a.json")
    [case] = load_dataset(path, columns={"ideal": "reference"}).cases
    assert (case.id, case.reference, case.name) == ("row-1", "R", "n")


def test_a_usual_name_beside_a_mapped_field_goes_to_the_metadata(tmp_path: Path) -> None:
    path = put(tmp_path, "id,q,question\na,Q,other\n", "a.csv")
    [case] = load_dataset(path, columns={"q": "input"}).cases
    assert (case.input, case.metadata) == ("Q", {"question": "other"})


def test_unsound_metadata_is_told_of_the_row(tmp_path: Path) -> None:
    path = put(tmp_path, '{"id": "a", "q": 1, "z": 1, "metadata": 3}', "a.jsonl")
    with pytest.raises(DatasetError, match="`metadata` must be a mapping"):
        load_dataset(path, columns={"q": "input"})


def test_a_column_that_is_not_there_is_told_with_near_ones(tmp_path: Path) -> None:
    path = put(tmp_path, "question,gold\nQ,R\n", "a.csv")
    with pytest.raises(DatasetError, match=r"no column 'qestion'(?s:.*)`question`"):
        load_dataset(path, columns={"qestion": "input"})
    with pytest.raises(DatasetError, match=r"no column 'golt'(?s:.*)`gold`"):
        load_dataset(path, columns={"question": "input", "golt": "reference"})


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ({"q": "inptu"}, "mapped to 'inptu', which is no field"),
        ({"q": "input", "p": "input"}, "'q' and 'p' are both mapped to 'input'"),
    ],
)
def test_a_mapping_that_makes_no_sense_is_refused(
    tmp_path: Path, columns: dict[str, str], what: str
) -> None:
    with pytest.raises(SettingsError, match=what):
        load_dataset(put(tmp_path, "q,p\n1,2\n", "a.csv"), columns=columns)
