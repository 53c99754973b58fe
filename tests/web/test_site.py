"""A static site of a store: what is in its folder, and what is never touched there."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import SettingsError, StoreError
from judgekit.evaluation import new_score_comparison
from judgekit.web import export_site
from judgekit.web.site import MARKER
from tests.factories import make_rubric
from tests.store.observing import START
from tests.web.conftest import add_run

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.store import RunStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "site"


def addresses(page: Path) -> set[str]:
    """What a page links to, besides places of its own."""
    found = re.findall(r'(?:href|src|data-chunks|data-events)="([^"#]+)"', page.read_text("utf-8"))
    return {address for address in found if not address.startswith("data:")}


def test_every_link_leads_to_a_page_of_the_site(store: RunStore, folder: Path) -> None:
    for n in (1, 2):
        add_run(store, f"run-{n}", started_at=START + timedelta(days=n))
    runs = [store.run(f"run-{n}") for n in (1, 2)]
    info = new_score_comparison((runs[0], "v1"), (runs[1], "v1"), now=datetime.now(UTC))
    store.add_score_comparison(info)
    n = export_site(store, folder)
    pages = {path.name for path in folder.glob("*.html")}
    assert len(pages) == n
    assert {"index.html", "runs-run-1.html", "trends-support.html", "cost.html"} <= pages
    assert f"comparisons-{info.id}.html" in pages
    for page in folder.glob("*.html"):
        assert addresses(page) <= pages, page.name
    assert any(name.startswith("diff-") for name in addresses(folder / "index.html"))


def test_a_page_holds_its_cases_and_cannot_tick_rows(store: RunStore, folder: Path) -> None:
    add_run(store)
    export_site(store, folder)
    assert 'id="chunk-0"' in (folder / "runs-run-1.html").read_text("utf-8")
    assert 'data-choice="' not in (folder / "index.html").read_text("utf-8")


def test_only_the_latest_runs_are_written(store: RunStore, folder: Path) -> None:
    for n in (1, 2, 3):
        add_run(store, f"run-{n}", started_at=START + timedelta(days=n))
    export_site(store, folder, limit=1)
    assert [path.name for path in folder.glob("runs-*.html")] == ["runs-run-3.html"]


def test_a_later_export_replaces_its_files_and_no_others(store: RunStore, folder: Path) -> None:
    add_run(store, "run-1")
    export_site(store, folder)
    (folder / "CNAME").write_text("example.org")
    (folder / "own.html").write_text("mine")
    add_run(store, "run-2", started_at=START + timedelta(days=1))
    export_site(store, folder, limit=1)
    assert not (folder / "runs-run-1.html").exists()
    assert (folder / "runs-run-2.html").exists()
    assert (folder / "CNAME").read_text() == "example.org"
    assert (folder / "own.html").read_text() == "mine"


def test_a_folder_with_other_files_is_refused(store: RunStore, folder: Path) -> None:
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(SettingsError, match="is no site that judgekit exported"):
        export_site(store, folder)
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_an_empty_folder_is_taken(store: RunStore, folder: Path) -> None:
    folder.mkdir()
    export_site(store, folder)
    assert (folder / "index.html").exists()


@pytest.mark.parametrize(
    "listed",
    ["[", "[]", "{}", '{"files": 1}', '{"files": ["../out.html"]}', '{"files": ["/out.html"]}'],
)
def test_a_list_that_no_export_wrote_removes_nothing(
    store: RunStore, folder: Path, listed: str
) -> None:
    folder.mkdir()
    (folder.parent / "out.html").write_text("mine")
    (folder / MARKER).write_text(listed)
    with pytest.raises(SettingsError, match="is not the list of an export"):
        export_site(store, folder)
    assert (folder.parent / "out.html").exists()


def test_a_folder_that_cannot_be_made_is_an_error(store: RunStore, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises((StoreError, SettingsError), match="cannot"):
        export_site(store, tmp_path / "file" / "site")


def test_names_that_differ_have_files_that_differ(store: RunStore, folder: Path) -> None:
    names = ("a/b", "a b", "a-b", "a_b", "A-b", "a%2Fb", "ä", "..", "x" * 150)
    for name in names:
        add_run(store, name)
    export_site(store, folder)
    # Some file systems take no notice of case.
    assert len({path.name.lower() for path in folder.glob("runs*.html")}) == len(names)


def test_runs_by_different_rubrics_are_not_compared(store: RunStore, folder: Path) -> None:
    add_run(store, "run-1")
    other = make_rubric("accuracy", "tone")
    add_run(store, "run-2", rubric=other, started_at=START + timedelta(days=1))
    export_site(store, folder)
    (page,) = folder.glob("diff-*.html")
    assert "not comparable" in page.read_text("utf-8")


def test_calibrations_and_running_runs_have_a_page(store: RunStore, folder: Path) -> None:
    use = {"state": "stale", "words": "stale: the template changed since"}
    add_run(store, "run-1", config={"name": "support", "calibrated": use})
    add_run(store, "run-2", suite="other", status="running")
    export_site(store, folder)
    assert "the template changed" in (folder / "calibrations-run-1.html").read_text("utf-8")
    running = (folder / "runs-run-2.html").read_text("utf-8")
    assert "there is no conclusion yet" in running
    assert 'data-events="' not in running


def test_a_damaged_store_ends_the_export(store: RunStore, folder: Path) -> None:
    add_run(store)
    with store.writing() as connection:
        connection.exec_driver_sql("DROP TABLE assertion_results")
    with pytest.raises(StoreError, match="no such table"):
        export_site(store, folder)
    assert not (folder / "index.html").exists()


def test_an_empty_store_makes_a_start_page(store: RunStore, folder: Path) -> None:
    export_site(store, folder)
    assert "No run is stored yet." in (folder / "index.html").read_text("utf-8")
