from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run


def test_schema_prints_or_writes_a_schema_and_lists_the_kinds(run: Run, tmp_path: Path) -> None:
    printed = run("schema", "label")
    assert printed.code == 0
    assert printed.json["properties"]["annotator"]["description"]
    assert run("schema", "label", "--json").json == printed.json
    path = tmp_path / "a.schema.json"
    assert run("schema", "label", "-o", path, "--json").json == {"kind": "label", "file": str(path)}
    written = run("schema", "label", "-o", tmp_path / "label.schema.json")
    assert (written.out, written.code) == ("", 0)
    assert json.loads((tmp_path / "label.schema.json").read_bytes()) == printed.json
    kinds = ["suite", "rubric", "case", "output", "label"]
    assert [line.split()[0] for line in run("schema").out.splitlines()] == kinds
    assert list(run("schema", "--json").json) == kinds


def test_schema_refuses_a_file_without_a_kind_and_an_unknown_kind(run: Run, tmp_path: Path) -> None:
    nothing = run("schema", "-o", tmp_path / "x.json")
    assert (nothing.code, "-o needs a KIND" in nothing.err) == (2, True)
    assert run("schema", "rubrik").code == 2
