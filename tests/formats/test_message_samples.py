from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import load_dataset
from judgekit.errors import DatasetError
from tests.formats import FOREIGN
from tests.formats.writing import write

if TYPE_CHECKING:
    from pathlib import Path


def test_samples_are_cases_called_by_their_place() -> None:
    first, second, third = load_dataset(FOREIGN / "samples.jsonl").cases
    assert [case.id for case in (first, second, third)] == ["sample-1", "sample-2", "sample-3"]
    assert isinstance(first.input, list)
    assert (len(first.input), first.reference) == (2, "Lima")
    assert (second.input, second.reference) == ("2+2?", ["4", "four"])
    assert (third.input, third.reference) == ("Colour of snow?", "white")
    assert second.metadata == {"source": "sums"}


@pytest.mark.parametrize("given", ["list", "one"])
def test_samples_may_stand_in_a_document_and_have_ids(tmp_path: Path, given: str) -> None:
    sample = {"id": 7, "input": [{"role": "assistant", "content": "Hi"}], "ideal": "Q"}
    path = write(tmp_path, [sample] if given == "list" else sample)
    [case] = load_dataset(path).cases
    assert (case.id, case.input) == ("7", [{"role": "assistant", "content": "Hi"}])


def test_an_unsound_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"input": "a", "ideal": "b"}\n\n{"input": [], "ideal": "b"}\n')
    with pytest.raises(DatasetError, match=r"a.jsonl:3: .*`input"):
        load_dataset(path)
