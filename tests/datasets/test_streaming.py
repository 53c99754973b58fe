from __future__ import annotations

import json
import random
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from judgekit.datasets import CaseSelection, SelectionCount, Suite, draw_sample, open_cases
from judgekit.errors import DatasetError, SettingsError, UnknownNameError
from judgekit.records import Case, CaseSource
from tests.formats import FOREIGN

if TYPE_CHECKING:
    from pathlib import Path


def write_cases(folder: Path, n: int, **fields: object) -> Path:
    path = folder / "cases.jsonl"
    rows = ({"id": f"c{i}", "input": i, "tags": [f"t{i % 3}"]} | fields for i in range(n))
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def make_source(*cases: Case) -> CaseSource:
    return CaseSource("made", "7", lambda: iter(cases))


def test_a_file_of_rows_can_be_gone_through_again(tmp_path: Path) -> None:
    source = open_cases(write_cases(tmp_path, 4))
    assert (source.name, source.version, source.count()) == ("cases", "1", 4)
    assert [case.id for case in source] == [case.id for case in source] == ["c0", "c1", "c2", "c3"]


def test_rows_are_not_kept_in_memory(tmp_path: Path) -> None:
    path = write_cases(tmp_path, 1000, reference="x" * 8000)
    tracemalloc.start()
    assert open_cases(path).count() == 1000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < path.stat().st_size / 3


def test_an_id_given_twice_is_an_error_with_both_lines(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"id": "a", "input": 1}\n{"id": "b", "input": 1}\n{"id": "a", "input": 2}\n')
    with pytest.raises(DatasetError, match=r"c.jsonl:3: case 'a'.*first in line 1"):
        open_cases(path).count()


def test_a_file_without_rows_is_an_error_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text("\n")
    with pytest.raises(DatasetError, match="holds no cases"):
        open_cases(path).count()


def test_documents_and_other_tools_files_are_read_whole() -> None:
    assert open_cases(FOREIGN / "workflow.json").version == "2.1.0"
    assert open_cases(FOREIGN / "samples.jsonl").count() == 3
    assert open_cases(FOREIGN / "skill").name == "skill"


def test_columns_are_mapped_while_streaming() -> None:
    source = open_cases(FOREIGN / "table.csv", columns={"question": "input", "gold": "reference"})
    assert [(case.id, case.reference) for case in source] == [("row-1", "Lima"), ("row-2", "4")]


def test_a_suite_gives_its_own_cases_or_those_of_its_dataset(tmp_path: Path) -> None:
    own = Suite(name="own", version=3, cases=(Case(id="a", input=1),))
    assert [*open_cases(own)] == [Case(id="a", input=1)]
    assert open_cases(own).version == "3"
    write_cases(tmp_path, 2)
    assert open_cases(Suite(name="s", dataset="cases.jsonl").in_folder(tmp_path)).count() == 2
    with pytest.raises(SettingsError, match="has no cases"):
        open_cases(own.model_copy(update={"cases": None}))


def test_drafts_and_deprecated_cases_are_left_out_and_counted() -> None:
    source = make_source(
        Case(id="a", input=1),
        Case(id="b", input=1, status="draft"),
        Case(id="c", input=1, status="deprecated", tags=("x",)),
        Case(id="d", input=1, tags=("x",)),
    )
    chosen = CaseSelection(source, tags=["x"])
    assert [case.id for case in chosen] == ["d"]
    assert chosen.tally() == SelectionCount(n_chosen=1, n_draft=1, n_deprecated=1, n_filtered=1)
    assert (chosen.name, chosen.version) == ("made", "7")


def test_names_are_searched_and_ids_where_there_is_no_name() -> None:
    source = make_source(Case(id="refund-1", input=1), Case(id="b", input=1, name="A refund"))
    assert CaseSelection(source, name_pattern="refund").tally().n_chosen == 2
    assert [case.id for case in CaseSelection(source, name_pattern="^refund")] == ["refund-1"]


def test_a_wanted_id_that_is_not_there_is_told_with_near_ones() -> None:
    source = make_source(Case(id="refund", input=1), Case(id="other", input=1))
    assert [case.id for case in CaseSelection(source, ids=["refund"])] == ["refund"]
    for read in (list, lambda chosen: chosen.tally()):
        with pytest.raises(UnknownNameError, match="no case is called 'refnd'") as raised:
            read(CaseSelection(source, ids=["refnd"]))
        assert "refund" in str(raised.value)


@pytest.mark.parametrize("field", ["sample", "limit"])
def test_a_number_below_one_is_refused(field: str) -> None:
    with pytest.raises(SettingsError, match=f"the {field} must be 1 or more"):
        CaseSelection(make_source(), **{field: 0})  # type: ignore[arg-type]  # either is a number


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(SettingsError, match="not a regular expression"):
        CaseSelection(make_source(), name_pattern="(")


def test_a_sample_is_in_file_order_and_the_same_for_the_same_seed(tmp_path: Path) -> None:
    source = open_cases(write_cases(tmp_path, 50))

    def drawn(seed: int) -> list[int]:
        chosen = CaseSelection(source, tags=["t0", "t1"], sample=9, seed=seed)
        assert [case.id for case in chosen] == [case.id for case in chosen]
        return [int(case.id[1:]) for case in chosen]

    assert drawn(4) == sorted(drawn(4))
    assert drawn(4) != drawn(5)


def test_the_limit_holds_after_the_drawing(tmp_path: Path) -> None:
    source = open_cases(write_cases(tmp_path, 20))
    drawn = [case.id for case in CaseSelection(source, sample=10, seed=1)]
    limited = CaseSelection(source, sample=10, seed=1, limit=3)
    assert [case.id for case in limited] == drawn[:3]
    assert limited.tally() == SelectionCount(n_chosen=3, n_undrawn=17)


@given(n=st.integers(0, 60), size=st.integers(1, 40), seed=st.integers(0, 99))
def test_places_are_drawn_as_a_reservoir_keeps_them(n: int, size: int, seed: int) -> None:
    """The same draw as of whole items, so that every command takes the same cases."""
    rng, kept = random.Random(seed), list[int]()
    for place in range(n):
        if place < size:
            kept.append(place)
        elif (slot := rng.randrange(place + 1)) < size:
            kept[slot] = place
    assert draw_sample(range(n), size, seed) == sorted(kept)
    assert len(kept) == min(n, size)


def test_a_list_in_the_metadata_is_chosen_by_its_json_in_any_script() -> None:
    source = make_source(Case(id="a", input=1, metadata={"towns": ["Köln"]}))
    assert CaseSelection(source, where=['towns=["Köln"]']).tally().n_chosen == 1
