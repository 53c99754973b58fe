from __future__ import annotations

import datetime as dt
import decimal
import gzip
import json
import math
import tracemalloc
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import DatasetError, InputError, JudgekitError
from judgekit.formats import FileRow, iter_rows, memory_rows, scan_rows

if TYPE_CHECKING:
    from pathlib import Path


def rows(folder: Path, text: str | bytes, name: str) -> list[FileRow]:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(iter_rows(path))


def test_lines_of_json_are_rows_and_blank_ones_are_not(tmp_path: Path) -> None:
    found = rows(tmp_path, '\ufeff{"a": 1}\r\n\n{"a": "\\ud800"}', "a.jsonl")
    assert found == [FileRow(1, {"a": 1}), FileRow(3, {"a": "\ufffd"}, is_repaired=True)]
    packed = gzip.compress(b'{"a": 1}\n')
    assert rows(tmp_path, packed, "a.jsonl.gz") == [FileRow(1, {"a": 1})]


@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
def test_a_list_in_a_document_is_rows(tmp_path: Path, name: str) -> None:
    assert rows(tmp_path, '[\n{"a": 1},\n{"a": 2}]', name) == [
        FileRow(2, {"a": 1}),
        FileRow(3, {"a": 2}),
    ]
    assert rows(tmp_path, '{"v": 1,\n"things": [\n{"a": 1}]}', name) == [FileRow(3, {"a": 1})]
    assert rows(tmp_path, '{"x": [], "cases": [{"a": 1}]}', name) == [FileRow(1, {"a": 1})]


@pytest.mark.parametrize(
    ("text", "what"),
    [('{"a": [], "b": []}', "several lists: a, b"), ("{}", "no list of objects"), ("3", "no list")],
)
def test_a_document_without_one_list_is_an_error(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(DatasetError, match=what):
        rows(tmp_path, text, "a.json")


@pytest.mark.parametrize(
    ("text", "kind"), [("[1]", "list"), ('"x"', "text"), ("true", "truth value"), ("3", "number")]
)
def test_a_row_that_is_no_object_is_an_error(tmp_path: Path, text: str, kind: str) -> None:
    with pytest.raises(DatasetError, match=rf":2: a row must be an object, not a {kind}"):
        rows(tmp_path, "{}\n" + text, "a.jsonl")
    with pytest.raises(DatasetError, match=f"not a {kind}"):
        rows(tmp_path, f"[{text}]", "a.json")


def test_scanning_goes_on_after_a_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": \n\xff\n{"a": 2}')
    found = list(scan_rows(path))
    assert [row.line for row in found] == [1, 2, 3, 4]
    assert [isinstance(row, DatasetError) for row in found] == [False, True, True, False]


def test_a_table_keeps_line_ends_quotes_and_lines(tmp_path: Path) -> None:
    found = rows(tmp_path, '\ufeffid,text\r\n1,"a\nb ""c"""\r\n\r\n2,\r\n', "a.csv")
    assert found == [
        FileRow(2, {"id": "1", "text": 'a\nb "c"'}, is_table=True),
        FileRow(5, {"id": "2", "text": ""}, is_table=True),
    ]
    assert rows(tmp_path, "a\tb\n1,2\t3", "a.tsv") == [
        FileRow(2, {"a": "1,2", "b": "3"}, is_table=True)
    ]


def test_the_mark_before_a_formula_is_taken_off(tmp_path: Path) -> None:
    assert rows(tmp_path, "a,b\n'=1,-1.5", "a.csv")[0].fields == {"a": "=1", "b": "-1.5"}


def test_a_cell_longer_than_the_librarys_limit_is_read(tmp_path: Path) -> None:
    assert len(str(rows(tmp_path, "a\n" + "x" * 200_000, "a.csv")[0].fields["a"])) == 200_000


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        ("a,b\n1\n", "1 cells where the header names 2", 2),
        ("a,b\n1,2\n1,2,3\n", "3 cells where", 3),
        ('a,b\n1,2\n3,"x\n4,5\n', "opened here and never closed", 3),
        ('a\n"x"y\n', "not a valid table", 2),
        ("a,b\r1,2\r", "lone carriage return", 1),
        ("a,a\n", "two columns are called 'a'", 1),
        ("a,\n", "column 2 has no name", 1),
        ("a;b\n1;2", "not separated by commas", 1),
        ("a\n\xff\n".encode("latin-1"), "0xff", 2),
    ],
)
def test_an_unsound_table_is_an_error(
    tmp_path: Path, text: str | bytes, what: str, line: int
) -> None:
    with pytest.raises(DatasetError, match=what) as caught:
        rows(tmp_path, text, "a.csv")
    assert caught.value.line == line


def test_a_cell_without_end_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with path.open("wb") as stream:
        stream.write(b'a\n"')
        stream.writelines(b"x" * 2**20 + b"\n" for _ in range(66))
    with pytest.raises(DatasetError, match="larger than 64 MiB; is a quote left open"):
        list(iter_rows(path))


def test_an_unknown_format_lists_the_known_ones(tmp_path: Path) -> None:
    for name, what in (("a.xlsx", "a .xlsx file"), ("a", "a nameless file")):
        with pytest.raises(DatasetError, match=what) as caught:
            rows(tmp_path, "", name)
        assert ".parquet" in str(caught.value.hint)


def test_parquet_gives_json_values_and_leaves_out_what_is_missing(tmp_path: Path) -> None:
    day = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
    table = pa.table(
        {
            "id": ["a", None],
            "n": [1.5, math.nan],
            "d": [decimal.Decimal("1.25"), None],
            "at": [day, None],
            "tags": [["x"], []],
            "usage": [{"input_tokens": 1}, None],
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    first, second = iter_rows(tmp_path / "a.parquet")
    assert first.fields["at"] == "2026-01-02T00:00:00+00:00"
    assert first.fields["d"] == 1.25
    assert first.fields["usage"] == {"input_tokens": 1}
    assert second == FileRow(2, {"tags": []}, is_table=True)


@pytest.mark.parametrize(
    ("cell", "what"), [(b"x", "a bytes has no JSON form"), (math.inf, "infinite number")]
)
def test_a_parquet_value_without_a_json_form_is_an_error(
    tmp_path: Path, cell: object, what: str
) -> None:
    pq.write_table(pa.table({"a": [cell]}), tmp_path / "a.parquet")
    with pytest.raises(DatasetError, match=rf"row 1, column 'a': .*{what}"):
        list(iter_rows(tmp_path / "a.parquet"))


def test_two_parquet_columns_of_one_name_are_an_error(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array(["first"]), pa.array(["second"])], names=["a", "a"])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(DatasetError, match="two columns have the same name"):
        list(iter_rows(tmp_path / "a.parquet"))
    with pytest.raises(InputError, match="two columns have the same name"):
        list(memory_rows(table, "outputs"))


def test_a_parquet_time_finer_than_python_has_keeps_its_nanoseconds(tmp_path: Path) -> None:
    """Where pandas is installed, as here; else it is an error of the file."""
    column = pa.array([1], pa.timestamp("ns"))
    pq.write_table(pa.table({"a": column}), tmp_path / "a.parquet")
    (row,) = iter_rows(tmp_path / "a.parquet")
    assert row.fields == {"a": "1970-01-01T00:00:00.000000001"}


def test_a_damaged_or_missing_parquet_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="not a valid Parquet file"):
        rows(tmp_path, b"PAR1nonsense", "a.parquet")
    with pytest.raises(DatasetError, match="no such file"):
        list(iter_rows(tmp_path / "b.parquet"))


def test_without_pyarrow_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(DatasetError, match="pyarrow") as caught:
        rows(tmp_path, b"", "a.parquet")
    assert "judgekit-llm[parquet]" in str(caught.value.hint)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_memory_stays_flat_over_many_rows(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    line = json.dumps({"a": "x" * 10_000}) if name == "a.jsonl" else "x" * 10_000
    path.write_text("a\n" * (name == "a.csv") + f"{line}\n" * 2_000)
    tracemalloc.start()
    n_rows = sum(1 for _ in iter_rows(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_rows == 2_000
    assert peak < 2 * 2**20


@settings(max_examples=60)
@given(
    raw=st.binary(max_size=80) | st.text(alphabet='{}[]":,ab1\\u\n\r\t', max_size=60),
    name=st.sampled_from(
        ["f.jsonl", "f.csv", "f.tsv", "f.json", "f.yaml", "f.jsonl.gz", "f.parquet"]
    ),
)
def test_any_bytes_are_rows_or_a_clean_error(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes | str, name: str
) -> None:
    try:
        found = rows(tmp_path_factory.getbasetemp(), raw, name)
    except JudgekitError as error:
        assert name in str(error)  # noqa: PT017 - both ends are right; this checks one
    else:
        assert all(row.line >= 1 for row in found)


@settings(max_examples=60)
@given(
    st.lists(st.fixed_dictionaries({"a": st.text(), "b": st.integers() | st.none()}), max_size=5)
)
def test_rows_written_as_json_lines_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, written: list[dict[str, object]]
) -> None:
    text = "".join(json.dumps(row) + "\n" for row in written)
    found = rows(tmp_path_factory.getbasetemp(), text, "round.jsonl")
    assert [row.fields for row in found] == json.loads(json.dumps(written))
