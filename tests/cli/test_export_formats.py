from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import DEFAULT_STORE_FILE
from judgekit.exports import RUN_FORMATS
from judgekit.store import RunStore
from tests.store.observing import answer, begun, key, said

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run


@pytest.fixture(autouse=True)
def _kept(run: Run, tmp_path: Path) -> None:
    assert run is not None
    with closing(RunStore(tmp_path / DEFAULT_STORE_FILE)) as store:
        begun(store, answer(key("a")), answer(key("b"), place=1))


@pytest.mark.parametrize("name", RUN_FORMATS)
def test_a_stored_run_is_written_in_every_form(run: Run, tmp_path: Path, name: str) -> None:
    file = f"a{RUN_FORMATS[name].suffixes[0]}"
    ran = run("export", "-o", file, "--format", name)
    assert (ran.code, ran.err) == (0, f"wrote 2 answers of run-1 to {file}\n")
    assert (tmp_path / file).stat().st_size > 0


@pytest.mark.parametrize("more", [(), ("--failed",)])
def test_of_several_tries_only_the_last_is_a_test(
    run: Run, tmp_path: Path, more: tuple[str, ...]
) -> None:
    with closing(RunStore(tmp_path / DEFAULT_STORE_FILE)) as store:
        begun(
            store,
            answer(key("a"), said=(said(value=0), said("clarity", 0))),
            answer(key("a", repeat=1)),
            answer(key("b"), place=1),
            name="tried",
            status="complete",
            config={"settings": {"retry_failed": 1}},
        )
    assert run("export", "tried", "-o", "ci.xml", *more).code == 0
    text = (tmp_path / "ci.xml").read_text()
    assert f'tests="{0 if more else 2}" failures="0"' in text
    # Results are all that was observed and paid for.
    assert run("export", "tried", "-o", "all.jsonl", "--json").json["n_answers"] == 3


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("history", ("--failed",)),
        ("history", ("--filter-tag", "a")),
        ("validation", ("--failed",)),
        ("quality", ("--failed",)),
    ],
)
def test_figures_of_a_run_are_not_written_of_a_part(
    run: Run, tmp_path: Path, name: str, part: tuple[str, ...]
) -> None:
    file = f"a{RUN_FORMATS[name].suffixes[0]}"
    ran = run("export", "-o", file, "--format", name, *part)
    assert ran.code == 2
    assert f"{part[0]} does not go with {name}, which has figures of a run" in ran.err
    assert not (tmp_path / file).exists()


def test_gradings_may_fill_a_folder(run: Run, tmp_path: Path) -> None:
    assert run("export", "-o", "grading", "--format", "grading").code == 0
    names = sorted(path.name for path in (tmp_path / "grading").iterdir())
    assert names == ["a_v1_run1.json", "b_v1_run1.json"]


def test_the_form_is_seen_from_the_name(run: Run, tmp_path: Path) -> None:
    assert run("export", "-o", "ci.xml").code == 0
    assert (tmp_path / "ci.xml").read_text().startswith("<?xml")


def test_a_file_that_does_not_fit_is_refused_before_the_store_is_read(run: Run) -> None:
    ran = run("export", "-o", "a.csv", "--format", "junit")
    assert ran.code == 2
    assert "cannot write a JUnit report to a.csv: its suffix is .csv" in ran.err


def test_a_page_of_a_run_is_written_by_report(run: Run) -> None:
    ran = run("export", "-o", "r.html")
    assert ran.code == 2
    assert "judgekit report RUN -o r.html" in ran.err
    refused = run("export", "-o", "r.txt").err
    assert "judgekit report" not in refused
    assert ".parquet, .xml (junit), .yaml (validation)" in refused
