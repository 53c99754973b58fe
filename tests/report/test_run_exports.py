from __future__ import annotations

import csv
import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from judgekit.errors import SettingsError, StoreError
from judgekit.records import AssertionResult, CaseResult, Evidence, Score, Usage
from judgekit.report import EXPORT_SUFFIXES, check_export_suffix, write_results
from judgekit.report.exports import RUN_COLUMNS, case_result_rows, result_line
from tests.factories import make_case, make_failure, make_judgment, make_output

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RAN_AT = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
CHECKS = (
    AssertionResult(passed=True, message="yes"),
    AssertionResult(passed=False, message="no", actual=[None]),
    AssertionResult(passed=None, message="what?", error="no path"),
)


def make_result(case_id: str = "refund", **fields: object) -> CaseResult:
    """A result with a judgment, a failure, checks and a score."""
    found = Evidence(quote="30 days", match="exact", start=0, end=7)
    usage = Usage(input_tokens=10, output_tokens=5, cost_usd=0.01)
    known: dict[str, object] = {
        "run_id": "run-1",
        "place": 0,
        "case": make_case(id=case_id, tags=("hard",), stratum="simple"),
        "variant": "v1",
        "output": make_output(usage=usage, duration_ms=12.5),
        "judgments": (make_judgment(evidence=(found,), judge="m", confidence=0.5),),
        "failures": (make_failure("clarity", kind="timeout", message="60 s", judge="m"),),
        "checks": CHECKS,
        "scores": (Score(name="cost", value=None, error="no price"),),
        "is_done": True,
        "ran_at": RAN_AT,
    }
    return CaseResult.model_validate(known | fields)


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "result",
    [
        make_result(),
        make_result(
            case=make_case(input=None), output=make_output(data={"k": None, "nul": "\x00"})
        ),
        make_result(judgments=(), failures=(), checks=(), scores=(), ran_at=None, is_done=False),
        make_result(output=make_output(None, error="it crashed", error_kind="exit")),
    ],
)
def test_a_line_gives_back_the_same_result(result: CaseResult) -> None:
    assert CaseResult.model_validate_json(result_line(result)) == result


def test_half_a_surrogate_pair_survives_in_a_line() -> None:
    result = make_result(output=make_output("\ud800"))
    line = result_line(result)
    assert CaseResult.model_validate(json.loads(line.encode())).output.text == "\ud800"


def test_jsonl_has_a_line_for_each_result_and_counts_them(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    results = [make_result("a"), make_result("b")]
    assert write_results(path, iter(results)) == 2
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [CaseResult.model_validate_json(line) for line in lines] == results
    whole = tmp_path / "run.json"
    assert write_results(whole, results) == len(results)
    listed = json.loads(whole.read_text(encoding="utf-8"))
    assert listed == [json.loads(line) for line in lines]


@pytest.mark.parametrize("suffix", EXPORT_SUFFIXES)
def test_the_same_results_make_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    paths = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for path in paths:
        write_results(path, [make_result("a"), make_result("b")])
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_row_stands_for_each_judgment_and_failure() -> None:
    judged, failed = case_result_rows(make_result())
    assert (judged["criterion"], judged["raw"], judged["evidence_found"]) == ("accuracy", 1.0, 1)
    assert (failed["criterion"], failed["raw"], failed["failure_kind"]) == (
        "clarity",
        None,
        "timeout",
    )
    for row in (judged, failed):
        assert tuple(row) == tuple(RUN_COLUMNS)
        assert (row["case_id"], row["variant"], row["input_tokens"]) == ("refund", "v1", 10)
        assert (row["checks_passed"], row["checks_failed"], row["checks_in_error"]) == (1, 1, 1)


def test_an_answer_without_judgments_has_a_row_too() -> None:
    output = make_output(None, error="it crashed", error_kind="exit")
    (row,) = case_result_rows(make_result(output=output, judgments=(), failures=(), ran_at=None))
    assert (row["output_error"], row["output_error_kind"], row["criterion"]) == (
        "it crashed",
        "exit",
        None,
    )
    assert (row["input_tokens"], row["ran_at"]) == (None, None)


@pytest.mark.parametrize("text", ["=1+2", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_text_that_a_spreadsheet_would_run_is_marked_in_csv(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.csv"
    write_results(path, [make_result(text, variant=text, output=make_output(text))])
    for row in read_csv(path):
        assert [row[name][0] for name in ("case_id", "variant", "output_text")] == ["'"] * 3
        assert row["place"] == "0"


def test_what_no_file_can_hold_is_replaced_in_a_cell(tmp_path: Path) -> None:
    for suffix in (".csv", ".parquet"):
        write_results(tmp_path / f"run{suffix}", [make_result(output=make_output("a\ud800\x00"))])
    assert read_csv(tmp_path / "run.csv")[0]["output_text"] == "a\ufffd\ufffd"
    table = pq.read_table(tmp_path / "run.parquet")
    assert table.column("output_text").to_pylist()[0] == "a\ufffd\ufffd"


@pytest.mark.parametrize("n", [2**63, 2**64, 10**20])
def test_a_number_that_parquet_cannot_hold_is_refused(tmp_path: Path, n: int) -> None:
    result = make_result(output=make_output(usage=Usage(input_tokens=n)))
    with pytest.raises(SettingsError, match=r"2\^63[\s\S]*\.jsonl or \.csv"):
        write_results(tmp_path / "run.parquet", [result])
    assert not [*tmp_path.iterdir()]
    write_results(tmp_path / "run.csv", [result])
    assert read_csv(tmp_path / "run.csv")[0]["input_tokens"] == str(n)


def test_lines_quotes_and_any_script_survive_csv(tmp_path: Path) -> None:
    text = 'He said "no",\r\nthen 🙂;\r是'
    write_results(tmp_path / "run.csv", [make_result(output=make_output(text))])
    assert read_csv(tmp_path / "run.csv")[0]["output_text"] == text


def test_parquet_has_typed_columns_and_is_written_in_groups(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    result = make_result()
    assert write_results(path, (result for _ in range(2600))) == 2600
    file = pq.ParquetFile(path)
    assert (file.metadata.num_rows, file.metadata.num_row_groups) == (5200, 2)
    types = {name: str(file.schema_arrow.field(name).type) for name in RUN_COLUMNS}
    assert (types["value"], types["cached"], types["place"]) == ("double", "bool", "int64")


@pytest.mark.parametrize("suffix", EXPORT_SUFFIXES)
def test_a_run_without_results_is_still_a_sound_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run{suffix}"
    assert write_results(path, []) == 0
    if suffix == ".parquet":
        assert pq.read_table(path).num_rows == 0
    else:
        assert path.read_text(encoding="utf-8").count("\n") == (suffix in {".csv", ".json"})


def test_an_older_file_stays_when_reading_fails(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("older", encoding="utf-8")

    def broken() -> Iterator[CaseResult]:
        yield make_result()
        raise StoreError("the database is damaged")

    with pytest.raises(StoreError, match="damaged"):
        write_results(path, broken())
    assert path.read_text(encoding="utf-8") == "older"
    assert [each.name for each in tmp_path.iterdir()] == ["run.jsonl"]


def test_a_file_that_cannot_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.mkdir()
    with pytest.raises(StoreError, match=r"cannot write .*run\.csv: Is a directory"):
        write_results(path, [make_result()])


def test_what_a_run_cannot_be_written_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match=r"its suffix is \.xlsx"):
        write_results(tmp_path / "run.xlsx", [])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SettingsError, match=r"judgekit-llm\[parquet\]"):
        write_results(tmp_path / "run.parquet", [])


@pytest.mark.parametrize("suffix", EXPORT_SUFFIXES)
def test_a_file_that_can_be_written_is_accepted(tmp_path: Path, suffix: str) -> None:
    check_export_suffix(tmp_path / f"run{suffix}")


def test_the_row_of_a_judgment_has_the_time_at_which_it_was_stored() -> None:
    stored = make_judgment(judged_at=RAN_AT)
    (row,) = case_result_rows(make_result(judgments=(stored,), failures=()))
    assert row["judged_at"] == RAN_AT.isoformat()
    (row,) = case_result_rows(make_result(judgments=(make_judgment(),), failures=()))
    assert row["judged_at"] is None
