"""The documentation as a site: no link is broken, and nothing is loaded from a network."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

DOCS = Path(__file__).parents[1] / "docs"
BUILD = DOCS / "site" / "build.py"

_LOADED = re.compile(
    r"<(?:script|link|img|iframe|source|object)\b[^>]*?\b(?:src|href|data)=[\"']?(?:https?:)?//"
    r"|@import|url\([\"']?(?:https?:)?//",
    re.IGNORECASE,
)
"""What a browser would fetch from elsewhere without being asked."""


@pytest.mark.no_cover
def test_the_site_builds_and_loads_nothing(tmp_path: Path) -> None:
    pytest.importorskip("zensical", reason="the site is built by zensical, of the group `dev`")
    site = tmp_path / "site"
    assert runpy.run_path(str(BUILD))["build"](site, staged=tmp_path / "staged") == 0

    sources = [*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in sources}
    missing = [page for page in pages if not (site / page).is_file()]
    assert not missing
    files = [path for path in site.rglob("*") if path.suffix in {".html", ".css"}]
    found = {path.name: _LOADED.findall(path.read_text(encoding="utf-8")) for path in files}
    assert not {name: loads for name, loads in found.items() if loads}


@pytest.mark.no_cover
def test_the_cells_of_the_notebook_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_page = runpy.run_path(str(DOCS / "site" / "notebook.py"))["page"]
    page = make_page(DOCS / "tutorials" / "notebook.ipynb")
    for conclusion in (
        "v1 passed 7/12; v2 passed 9/12",
        "no decision:",
        "48 labels of 1 annotator",
    ):
        assert conclusion in page
    assert "Values of the plot" not in page, "a cell shows no plots: its styles are the report's"
    assert {path.name for path in tmp_path.glob("*.html")} == {
        "calibration.html",
        "comparison.html",
        "grading.html",
    }


@pytest.fixture(scope="module")
def page_text() -> Callable[..., str]:
    """How a page is rewritten for the site."""
    text: Callable[..., str] = runpy.run_path(str(BUILD))["page_text"]
    return text


def test_a_link_to_a_project_file_leads_to_its_page(page_text: Callable[..., str]) -> None:
    written = page_text("[S](../../SECURITY.md#limits)", source="docs/a/b.md", page="a/b.md")
    assert written == "[S](../project/security.md#limits)"


def test_a_file_that_is_no_page_is_only_named(page_text: Callable[..., str]) -> None:
    written = page_text("[the file](../pyproject.toml)", source="docs/a.md", page="a.md")
    assert written == "the file"


def test_a_link_that_leads_nowhere_ends_the_build(page_text: Callable[..., str]) -> None:
    with pytest.raises(SystemExit, match=r"docs/a\.md: the link to b\.md leads nowhere"):
        page_text("[b](b.md)", source="docs/a.md", page="a.md")


def test_a_list_after_a_line_of_text_is_a_list(page_text: Callable[..., str]) -> None:
    text = "Two:\n- a\n- b\n\n```text\nTwo:\n- a\n```\n"
    written = page_text(text, source="docs/a.md", page="a.md")
    assert written == "Two:\n\n- a\n- b\n\n```text\nTwo:\n- a\n```\n"
