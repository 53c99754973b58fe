"""Pages in a real browser: Debian's Chromium, driven by Playwright.

Tests fail on any console error, exception or request that leaves the machine, unless they expect
one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    sync_playwright,
)

from judgekit.report import write_document
from tests.browser.documents import result_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

SCRIPT_FOLDER = Path(__file__).parents[2] / "judgekit" / "report" / "script"
"""Where the sources of the pages' script are, and the tools that Node.js installs."""

# Chromium asks its maker's servers for updates at every start, which a test must not.
SWITCHES = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser/" in item.nodeid:
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None:
                item.add_marker(
                    pytest.mark.skip(reason="no Chromium here: `make browser` installs it")
                )


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*SWITCHES])
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh profile: no cookies, no storage."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    yield context
    context.close()


@pytest.fixture
def problems() -> list[str]:
    """Console errors, exceptions and requests to other machines; tests may clear expected ones."""
    return []


@pytest.fixture
def page(context: BrowserContext, problems: list[str]) -> Iterator[Page]:
    page = context.new_page()
    watch_page(page, problems)
    yield page
    assert problems == []


def watch_page(page: Page, problems: list[str]) -> None:
    """Collect what goes wrong on a page."""

    def on_console(said: ConsoleMessage) -> None:
        if said.type in {"error", "warning"}:
            problems.append(said.text)

    def on_request(asked: Request) -> None:
        if is_away(asked.url):
            problems.append(f"request to {asked.url}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", on_request)


def is_away(address: str) -> bool:
    return not address.startswith(
        ("file:", "data:", "blob:", "http://127.0.0.1:", "http://localhost:")
    )


def file_url(path: Path) -> str:
    return path.resolve().as_uri()


def judgekit(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder; its exit code must be 0."""
    done = subprocess.run(
        [sys.executable, "-m", "judgekit", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="session")
def suite_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite that `init` makes, run once; tests that change files copy it."""
    folder = tmp_path_factory.mktemp("suite") / "demo"
    judgekit("init", folder, folder=folder.parent)
    judgekit("run", "-o", "run.html", "--no-progress", folder=folder)
    return folder


@pytest.fixture(scope="session")
def result_pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of every kind of result."""
    folder = tmp_path_factory.mktemp("pages")
    pages = {}
    for name, made in result_documents(folder / "stores").items():
        pages[name] = folder / f"{name}.html"
        write_document(pages[name], made)
    return pages


@pytest.fixture
def run_page(suite_folder: Path) -> Path:
    return suite_folder / "run.html"


@pytest.fixture(scope="session")
def viewer(suite_folder: Path) -> Iterator[str]:
    """The address that `judgekit view` prints for the store of the suite."""
    with viewing(suite_folder) as address:
        yield address


@contextmanager
def viewing(folder: Path, *arguments: str, verb: Sequence[str] = ("view",)) -> Iterator[str]:
    """Serve a folder's store with `judgekit view`, or another command, and give its address."""
    command = [sys.executable, "-m", "judgekit", *verb, "--no-open", *arguments]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            line = next(line for line in server.stderr if "http://" in line)
            yield line[line.index("http://") :].strip()
        finally:
            server.terminate()
            server.wait(timeout=20)
