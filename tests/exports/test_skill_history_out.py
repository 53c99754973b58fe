from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from judgekit.errors import DatasetError
from judgekit.evaluation import summarize_run
from judgekit.exports.skill_results import HISTORY, extended_history
from judgekit.formats import read_skill_history
from judgekit.records import Variant
from tests.exports.making import JSON, NAMES, make_answer, make_run
from tests.factories import make_output
from tests.formats import FOREIGN

if TYPE_CHECKING:
    from pathlib import Path


def loaded(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_history_is_begun_with_a_version_for_each_variant(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    run = make_run("v0", "v1", notes="shorter")
    answers = [make_answer(3, 3, variant="v0"), make_answer(5, 4, variant="v1")]
    assert HISTORY.write(path, run, iter(answers)) == 2
    history: Any = read_skill_history(path)
    assert [v["average_score"] for v in history["versions"]] == [3.0, 4.5]
    assert (history["current_version"], history["versions"][1]["version"]) == (1, 1)
    assert history["versions"][1]["description"] == "support: v1 - shorter"
    assert loaded(path)["versions"][0]["timestamp"] == "2026-11-22T09:30:00.000000Z"


def test_what_was_in_a_history_stands_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_text((FOREIGN / "history.json").read_text())
    before = loaded(path)
    HISTORY.write(path, make_run("new"), [make_answer(variant="new")])
    after = loaded(path)
    n = len(before["versions"])
    assert after["versions"][:n] == before["versions"]
    added = after["versions"][n]
    assert added["version"] == after["current_version"]
    assert added["version"] not in [v["version"] for v in before["versions"]]


def test_a_version_that_waits_for_its_score_gets_it(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    known = {"version": 0, "timestamp": "2026-02-22T20:00:00Z", "description": "baseline",
             "git_hash": None, "path": "v0/skill", "average_score": None}  # fmt: skip
    path.write_text(json.dumps({"versions": [known], "current_version": 0}))
    run = make_run("v0", "v1")
    HISTORY.write(path, run, [make_answer(3, 3, variant=name) for name in ("v0", "v1")])
    first, second = loaded(path)["versions"]
    assert first == known | {"average_score": 3.0, "run_id": run.id, "variant": "v0"}
    # The same numbers as in the gradings of the run.
    assert (second["version"], second["variant"]) == (1, "v1")


def test_a_run_that_is_written_again_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    HISTORY.write(path, make_run(), [make_answer(None, None)])
    history: Any = read_skill_history(path)
    assert history["versions"][0]["average_score"] is None
    once = loaded(path)
    HISTORY.write(path, make_run(), [make_answer(5, 5)])
    once["versions"][0]["average_score"] = 5.0
    assert loaded(path) == once


def test_variants_without_answers_are_no_versions() -> None:
    run = make_run("v0", "v1", variants=[Variant(id="v0"), Variant(id="v1", prompt_version="p@2")])
    found: Any = extended_history(summarize_run([make_answer(variant="v1").result], run))
    assert [v["description"] for v in found["versions"]] == ["support: v1 (p@2)"]


def test_an_answer_that_could_not_be_had_has_no_score() -> None:
    failed = make_answer(None, None, output=make_output(None, error="it crashed"))
    found: Any = extended_history(summarize_run([failed.result], make_run()))
    assert found["versions"][0]["average_score"] is None


@given(
    st.lists(st.dictionaries(NAMES, JSON, max_size=3), max_size=3),
    st.dictionaries(NAMES, JSON, max_size=3),
)
def test_fields_nobody_knows_survive(extra: list[dict[str, Any]], whole: dict[str, Any]) -> None:
    versions = [{**one, "version": n, "timestamp": "2026-01-01T00:00:00Z"}
                for n, one in enumerate(extra)]  # fmt: skip
    known = {**whole, "versions": versions, "current_version": 0}
    found: Any = extended_history(summarize_run([make_answer().result], make_run()), known)
    assert found["versions"][: len(versions)] == versions
    assert {k: v for k, v in found.items() if k not in {"versions", "current_version"}} == {
        k: v for k, v in whole.items() if k not in {"versions", "current_version"}
    }
    numbers = [version["version"] for version in found["versions"]]
    assert len(set(numbers)) == len(numbers) == len(versions) + 1


def test_a_file_that_is_no_history_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_text('{"versions": [], "current_version": 0}')
    with pytest.raises(DatasetError, match="versions"):
        HISTORY.write(path, make_run(), [make_answer()])
    assert loaded(path) == {"versions": [], "current_version": 0}
