"""The database of runs: its tables, and what one run leaves in them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.material import laboratory
from tests.contract.pinning import PINNED, Pins
from tests.contract.terminal import judgekit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

STORE = ".judgekit/judgekit.db"
ROWS = {
    "judgekit_schema": "version",
    "runs": "suite, suite_version, status, reason, dataset, config_fingerprint, rubric_key",
    "variants": "no, variant, json",
    "rubrics": "key, fingerprint, name, version",
    "criteria": "place, name, fingerprint, weight, is_required",
    "cases": "key, case_id, agent, skill, prompt_version",
    "case_tags": "case_key, tag",
    "answers": "place, variant_no, repeat, case_id, case_key, is_done",
    "outputs": "place, variant_no, repeat, size, is_error, error_kind, agent_run, json",
    "judgments": "place, variant_no, slot, criterion, judge, judge_repeat, raw, value, confidence, "
    "source, cost_usd, json",
    "judge_failures": "place, variant_no, slot, criterion, judge, kind",
    "comparisons": "suite, rubric_key, judge, status, reason",
    "comparison_sides": "side, label, variant, run_id, version",
    "compared_pairs": "place, case_id, case_key, repeat, a_key, b_key, is_done",
    "preferences": "place, slot, shown, criterion, judge, judge_repeat, choice, failure_kind",
    "approvals": "variant, version",
}
"""Of each table the columns that two runs of the same thing have alike."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store after a run, a comparison and an approval of three cases."""
    folder = tmp_path_factory.mktemp("place") / "lab"
    for name, text in laboratory().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert judgekit("run", "-q", "-n", "3", "--variant", "a", folder=folder).code == 0
    assert judgekit("compare", "a", "b", "-q", folder=folder).code == 0
    approval = ("approve", "a", "--baseline", "b", "--because", "It is better.", "--by", "Ann")
    assert judgekit(*approval, folder=folder).code == 0
    return folder / STORE


def query(database: Path, sql: str) -> Sequence[dict[str, Any]]:
    """The rows that answer a query, by column."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(sql)]


def test_the_tables_columns_and_indexes_are_as_pinned(database: Path, pins: Pins) -> None:
    tables = query(database, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    for table in (row["name"] for row in tables):
        columns = query(database, f"PRAGMA table_info({table})")
        shown = {
            row["name"]: f"{row['type']}{' not null' * row['notnull']}{' key' * bool(row['pk'])}"
            for row in columns
        }
        pins.check("store_schema", table, shown)
    made = query(
        database, "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    )
    pins.check("store_schema", "indexes", {row["name"]: row["sql"] for row in made})
    pins.check("store_schema", "tables", [row["name"] for row in tables])


@pytest.mark.parametrize("table", ROWS)
def test_a_run_a_comparison_and_an_approval_leave_the_rows_pinned(
    table: str, database: Path, pins: Pins
) -> None:
    found = query(database, f"SELECT {ROWS[table]} FROM {table}")  # noqa: S608 - ours, both
    order = sorted(found, key=lambda row: json.dumps(row, sort_keys=True))
    pins.check("store_rows", table, [unrepeated(row) for row in order[:4]] + [len(order)])


def unrepeated(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its JSON read, and without times."""
    if "json" not in row:
        return row
    known = json.loads(row["json"])
    return row | {"json": {name: known[name] for name in known if not name.endswith("_at")}}


def test_the_state_is_for_its_owner_alone(database: Path) -> None:
    assert database.parent.stat().st_mode & 0o777 == 0o700
    assert database.stat().st_mode & 0o077 == 0


def test_a_store_that_was_written_before_is_read_now(tmp_path: Path, pins: Pins) -> None:
    """Reads `pinned/store_before.sql`, a store as version 3 of the schema was first written."""
    text = (PINNED / "store_before.sql").read_text(encoding="utf-8")
    (tmp_path / ".judgekit").mkdir(mode=0o700)
    with closing(sqlite3.connect(tmp_path / STORE)) as connection:
        connection.executescript(text)
    shown = judgekit("show", "latest", "--json", folder=tmp_path).json
    decided = [(v["variant"], v["n_passed"], v["n_failed"]) for v in shown["variants"]]
    pins.check("store_rows", "read again", [shown["run"]["status"], decided])
    assert judgekit("show", "--comparisons", folder=tmp_path).code == 0
    assert judgekit("approve", "--list", folder=tmp_path).code == 0
