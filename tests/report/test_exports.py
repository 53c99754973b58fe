from __future__ import annotations

import csv
import json
import stat
import sys
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from judgekit.errors import SettingsError, StoreError
from judgekit.records import Evidence, Verdict
from judgekit.report import EXPORT_SUFFIXES, check_export_suffix, verdict_json, write_verdicts
from judgekit.report.exports import VERDICT_COLUMNS, verdict_rows
from judgekit.scoring import conclude
from tests.factories import make_failure, make_judgment, make_rubric

if TYPE_CHECKING:
    from pathlib import Path

RUBRIC = make_rubric("accuracy", "clarity")
FOUND = Evidence(quote="30 days", match="exact", start=0, end=7)


def verdicts() -> list[Verdict]:
    """One that passes, one left open by a failure, one that was not judged."""
    subject = {"variant": "v1", "judge": "m t@1"}
    accuracy = make_judgment("accuracy", 1.0, evidence=(FOUND,), cost_usd=0.01, **subject)
    clarity = make_judgment("clarity", 0.75, confidence=0.9, **subject)
    failed = make_failure("clarity", kind="timeout", message="60 s", n_calls=1, **subject)
    return [
        conclude(RUBRIC, [accuracy, clarity], case_id="a", variant="v1"),
        conclude(RUBRIC, [accuracy], [failed], case_id="b", variant="v1"),
        conclude(RUBRIC, (), case_id="c", variant="v1", error="the agent crashed"),
    ]


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_jsonl_gives_back_the_same_verdicts(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    write_verdicts(path, verdicts())
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [Verdict.model_validate_json(line) for line in lines] == verdicts()


def test_a_line_of_jsonl_says_what_json_says_in_the_same_order(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    write_verdicts(path, verdicts())
    lines = [list(json.loads(line).items()) for line in path.read_text("utf-8").splitlines()]
    assert lines == [list(verdict_json(verdict).items()) for verdict in verdicts()]


def test_json_gives_back_the_same_verdicts(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.JSON"
    write_verdicts(path, verdicts())
    whole = json.loads(path.read_text(encoding="utf-8"))
    assert [Verdict.model_validate(item) for item in whole] == verdicts()


def test_an_open_conclusion_is_null_and_not_left_out() -> None:
    found = verdict_json(verdicts()[1])
    assert (found["passed"], found["value"], found["required_value"]) == (None, None, None)


def test_a_row_stands_for_each_judgment_failure_and_unjudged_output() -> None:
    rows = list(verdict_rows(verdicts()))
    assert [(r["case_id"], r["criterion"], r["failure_kind"]) for r in rows] == [
        ("a", "accuracy", None),
        ("a", "clarity", None),
        ("b", "accuracy", None),
        ("b", "clarity", "timeout"),
        ("c", None, "target_error"),
    ]
    assert all(tuple(row) == tuple(VERDICT_COLUMNS) for row in rows)


def test_a_row_carries_scores_evidence_and_what_it_cost() -> None:
    row = next(verdict_rows(verdicts()))
    assert (row["raw"], row["value"], row["criterion_passed"]) == (1.0, 1.0, True)
    assert (row["evidence"], row["evidence_found"]) == ('["30 days"]', 1)
    assert (row["cost_usd"], row["cached"], row["judge"]) == (0.01, False, "m t@1")
    assert (row["verdict_value"], row["verdict_passed"]) == (0.875, True)


def test_a_failure_has_no_score_in_any_row() -> None:
    row = list(verdict_rows(verdicts()))[3]
    assert (row["raw"], row["value"], row["criterion_passed"]) == (None, None, None)
    assert (row["failure_kind"], row["failure_message"]) == ("timeout", "60 s")
    assert (row["verdict_value"], row["verdict_passed"]) == (None, None)


def test_csv_has_a_header_and_leaves_missing_cells_empty(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.csv"
    write_verdicts(path, verdicts())
    rows = read_csv(path)
    assert tuple(rows[0]) == tuple(VERDICT_COLUMNS)
    assert (rows[0]["value"], rows[1]["confidence"]) == ("1.0", "0.9")
    assert (rows[3]["value"], rows[4]["failure_message"]) == ("", "the agent crashed")


@pytest.mark.parametrize("text", ["=1+2", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_text_that_a_spreadsheet_would_run_is_marked_in_csv(tmp_path: Path, text: str) -> None:
    path = tmp_path / "verdicts.csv"
    judgment = make_judgment(rationale=f"{text} is what it says")
    write_verdicts(path, [conclude(RUBRIC, [judgment], case_id=text, variant=text)])
    (row,) = read_csv(path)
    for name in ("case_id", "variant", "rationale"):
        assert row[name].startswith("'")
    assert row["criterion"] == "accuracy"


def test_a_negative_score_stays_a_number_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.csv"
    write_verdicts(path, [conclude(RUBRIC, [make_judgment(raw=-2.0, value=0.0)])])
    assert read_csv(path)[0]["raw"] == "-2.0"


def test_lines_quotes_and_any_script_survive_csv(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.csv"
    rationale = 'It says "no",\nthen 是 and 🙂; that is, both.'
    write_verdicts(path, [conclude(RUBRIC, [make_judgment(rationale=rationale)])])
    assert read_csv(path)[0]["rationale"] == rationale


def test_parquet_has_typed_columns_and_nulls(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.parquet"
    write_verdicts(path, verdicts())
    table = pq.read_table(path)
    assert tuple(table.column_names) == tuple(VERDICT_COLUMNS)
    assert str(table.schema.field("value").type) == "double"
    assert str(table.schema.field("verdict_passed").type) == "bool"
    assert table.column("value").to_pylist() == [1.0, 0.75, 1.0, None, None]
    assert table.column("case_id").to_pylist() == ["a", "a", "b", "b", "c"]


@pytest.mark.parametrize("suffix", EXPORT_SUFFIXES)
def test_nothing_graded_is_still_a_sound_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"verdicts{suffix}"
    write_verdicts(path, [])
    if suffix == ".parquet":
        assert pq.read_table(path).num_rows == 0
    elif suffix == ".csv":
        assert read_csv(path) == []
    else:
        assert path.read_text(encoding="utf-8") in {"", "[]\n"}


def test_an_unknown_suffix_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"\.xlsx[\s\S]*\.jsonl, \.json, \.csv, \.parquet"):
        check_export_suffix(tmp_path / "verdicts.xlsx")
    with pytest.raises(SettingsError, match="suffix is missing"):
        check_export_suffix(tmp_path / "verdicts")


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no folder"):
        check_export_suffix(tmp_path / "nowhere" / "verdicts.csv")


def test_every_known_suffix_may_be_written(tmp_path: Path) -> None:
    for suffix in EXPORT_SUFFIXES:
        check_export_suffix(tmp_path / f"verdicts{suffix}")


def test_a_file_that_cannot_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    target = tmp_path / "verdicts.csv"
    target.mkdir()
    with pytest.raises(StoreError, match=r"cannot write .*verdicts\.csv: Is a directory"):
        write_verdicts(target, verdicts())
    assert [path.name for path in tmp_path.iterdir()] == ["verdicts.csv"]


def test_an_older_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    path.write_text("older and much longer than what comes\n" * 500, encoding="utf-8")
    write_verdicts(path, verdicts()[:1])
    assert len(path.read_text(encoding="utf-8").splitlines()) == 1
    assert stat.S_ISREG(path.stat().st_mode)
    assert [path.name for path in tmp_path.iterdir()] == ["verdicts.jsonl"]


def test_parquet_without_pyarrow_is_refused_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SettingsError, match=r"judgekit-llm\[parquet\]"):
        check_export_suffix(tmp_path / "verdicts.parquet")


def test_control_characters_of_csv_are_shown_by_their_codes(tmp_path: Path) -> None:
    judgment = make_judgment("accuracy", 1.0, rationale="a\x1b[2J\x07b\x9b\tc\nd", variant="v1")
    verdict = conclude(make_rubric("accuracy"), [judgment], case_id="\x00c", variant="v1")
    write_verdicts(tmp_path / "verdicts.csv", [verdict])
    (row,) = read_csv(tmp_path / "verdicts.csv")
    assert row["case_id"] == "\\x00c"
    assert row["rationale"] == "a\\x1b[2J\\x07b\\x9b\tc\nd"
