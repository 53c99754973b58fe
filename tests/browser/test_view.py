"""The viewer in a browser: its start page, its links, a run being followed, a site on disk."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import file_url, judgekit, viewing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

WAITING = """
import json, pathlib, sys, time
case = json.load(sys.stdin)
while not pathlib.Path(case["id"]).exists():
    time.sleep(0.02)
print(json.dumps({"text": "yes"}))
"""
SUITE = """
name: waiting
dataset: cases.jsonl
variants: [{id: v1, command: [PYTHON, wait.py]}]
assertions: [{type: output.contains, path: outputs.main.text, value: "yes"}]
settings: {in_sequence: true}
"""


@pytest.fixture(scope="session")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite that ran twice."""
    folder = tmp_path_factory.mktemp("two") / "demo"
    judgekit("init", folder, folder=folder.parent)
    for _ in range(2):
        judgekit("run", "--no-progress", folder=folder)
    return folder


@pytest.fixture(scope="session")
def of_two_runs(two_runs: Path) -> Iterator[str]:
    """The address of a viewer of both."""
    with viewing(two_runs) as address:
        yield address


def test_two_ticked_rows_are_put_side_by_side(page: Page, of_two_runs: str) -> None:
    page.goto(of_two_runs)
    status = page.get_by_role("status")
    assert "Tick two rows" in status.inner_text()
    ticks = page.get_by_role("checkbox")
    assert page.get_by_role("button", name="Side by side").is_disabled()
    chosen = [ticks.nth(n).input_value() for n in range(3)]
    for n in range(3):
        ticks.nth(n).check()
    # The third tick took the place of the first.
    assert [tick.input_value() for tick in ticks.all() if tick.is_checked()] == chosen[1:]
    assert " and ".join(chosen[1:]) == status.inner_text()
    page.get_by_role("link", name="Side by side").click()
    page.wait_for_url("**/diff?a=*")
    assert page.locator(".conclusion").count() == 1


def test_rows_are_ticked_by_the_keyboard(page: Page, of_two_runs: str) -> None:
    page.goto(of_two_runs)
    page.get_by_role("checkbox").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.get_by_role("button", name="Clear").press("Enter")
    assert not [tick for tick in page.get_by_role("checkbox").all() if tick.is_checked()]


def links_of(page: Page) -> list[str]:
    """The addresses that a page leads to, also from its plots."""
    found = page.eval_on_selector_all(
        "a[href]", "all => all.map((one) => new URL(one.getAttribute('href'), location.href).href)"
    )
    return [link for link in found if "#" not in link]


@pytest.mark.parametrize("width", [1200, 400, 320])
def test_every_page_is_reached_by_links_and_fits(page: Page, of_two_runs: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(of_two_runs)
    seen: set[str] = set()
    left = [page.url]
    while left:
        here = left.pop()
        if here in seen:
            continue
        seen.add(here)
        reply = page.goto(here)
        assert reply is not None
        assert reply.status == 200, here
        assert page.locator("h1").count() == 1, here
        assert page.evaluate("document.documentElement.scrollWidth") <= width, here
        left += links_of(page)
    kinds = {path.split("/")[3].partition("?")[0] for path in seen}
    assert {"", "runs", "trends", "findings", "cost", "diff"} <= kinds


def test_a_point_of_a_trend_tells_its_run_and_opens_it(page: Page, of_two_runs: str) -> None:
    page.goto(of_two_runs.replace("/?", "/trends/demo?"))
    points = page.locator("figure").first.locator("a.opens")
    expect(points).to_have_count(2)

    points.last.focus()
    words = str(points.last.get_attribute("aria-label"))
    assert re.fullmatch(r"\S+-demo-\S+, \d{4}-\d\d-\d\d: \d\.\d\d \[.*\]", words)
    expect(page.get_by_role("tooltip")).to_have_text(words)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{words.partition(',')[0]}")

    page.go_back()
    points.first.hover()
    expect(page.get_by_role("tooltip")).to_have_text(str(points.first.get_attribute("aria-label")))


def test_a_point_of_a_file_is_read_and_leads_nowhere(
    page: Page, result_pages: dict[str, Path]
) -> None:
    page.goto(file_url(result_pages["trend"]))
    point = page.locator("a.opens").first
    point.focus()
    expect(page.get_by_role("tooltip")).to_contain_text("run-000")
    assert point.get_attribute("href") is None


def test_the_page_says_which_of_them_is_open(page: Page, viewer: str) -> None:
    page.goto(viewer)
    for name in ("Findings", "Cost", "Results"):
        page.get_by_role("navigation").get_by_role("link", name=name).click()
        page.wait_for_load_state()
        assert page.locator("nav [aria-current=page]").inner_text() == name


def test_it_reads_without_a_script(browser: Browser, viewer: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(viewer)
    page.get_by_role("link").filter(has_text="-demo-").first.click()
    assert page.locator(".conclusion").count() == 1
    context.close()


def test_an_unknown_page_looks_like_the_others(
    page: Page, viewer: str, problems: list[str]
) -> None:
    page.goto(viewer)
    page.goto(page.url + "runs/nothing")
    assert page.locator("h1").inner_text() == "Not found"
    assert "no run is called 'nothing'" in page.locator(".conclusion").inner_text()
    page.get_by_role("navigation").get_by_role("link", name="Results").click()
    page.wait_for_load_state()
    assert page.locator("h1").inner_text() == "Results"
    # The browser reports every 404 of a page.
    problems.clear()


def test_a_page_follows_a_run_to_its_end(page: Page, tmp_path: Path) -> None:
    (tmp_path / "wait.py").write_text(WAITING)
    (tmp_path / "judgekit.yaml").write_text(SUITE.replace("PYTHON", json.dumps(sys.executable)))
    cases = [{"id": f"case-{n}", "input": "?"} for n in range(3)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    run = [sys.executable, "-m", "judgekit", "run", "--no-progress"]
    (tmp_path / "case-0").touch()
    with subprocess.Popen(run, cwd=tmp_path, stdout=subprocess.DEVNULL) as running:
        try:
            wait_for_store(tmp_path)
            with viewing(tmp_path) as address:
                page.goto(address.replace("/?", "/runs/latest?"))
                live = page.locator("#live")
                live.get_by_text("1 of 3 answers").wait_for()
                assert "there is no conclusion yet" in page.locator(".conclusion").inner_text()
                assert live.get_by_role("progressbar").get_attribute("max") == "3"
                assert "30 % of 3" in live.get_by_role("status").inner_text()
                (tmp_path / "case-1").touch()
                live.get_by_text("2 of 3 answers").wait_for()
                assert page.locator("main > dl dd").all_inner_texts() == ["2 of 3 answers"] * 2
                (tmp_path / "case-2").touch()
                page.get_by_text("v1 passed 3/3").wait_for()
                assert live.count() == 0
        finally:
            running.kill()


def wait_for_store(folder: Path) -> None:
    """Return when a run of the folder has stored an answer."""
    command = [sys.executable, "-m", "judgekit", "show", "latest", "--json"]
    while subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode:
        pass


@contextmanager
def served_files(folder: Path) -> Iterator[str]:
    """The address of a static server, as hosts of pages have."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            del format, args

    handler = partial(Quiet, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("is_served", [False, True])
def test_all_links_of_a_site_work_from_disk_and_from_a_server(
    page: Page, two_runs: Path, tmp_path: Path, *, is_served: bool
) -> None:
    site = tmp_path / "site"
    judgekit("view", "--export", site, folder=two_runs)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.resource_type))
    with served_files(site) if is_served else nullcontext(f"{site.as_uri()}/") as address:
        left, seen = [f"{address}index.html"], set[str]()
        while left:
            here = left.pop()
            if here in seen:
                continue
            seen.add(here)
            reply = page.goto(here)
            assert reply is not None
            assert reply.ok, here
            assert page.locator("h1").count() == 1
            # Only relative addresses work wherever the folder is put.
            hrefs = page.eval_on_selector_all(
                "a[href]", "all => all.map((one) => one.getAttribute('href'))"
            )
            assert [one for one in hrefs if not re.fullmatch(r"[\w.-]+\.html|#.*", one)] == []
            left += links_of(page)
    assert page.get_by_role("checkbox").count() == 0
    assert len(seen) == len([*site.glob("*.html")])
    assert set(asked) == {"document"}


def test_a_case_of_a_site_opens(page: Page, two_runs: Path, tmp_path: Path) -> None:
    judgekit("view", "--export", tmp_path / "site", folder=two_runs)
    page.goto(file_url(next((tmp_path / "site").glob("runs-*.html"))))
    page.locator("tr[data-row]").first.click()
    assert page.locator(".drawer").inner_text()


def test_a_case_that_is_not_held_any_more_is_explained_in_words(
    page: Page, viewer: str, problems: list[str]
) -> None:
    page.goto(viewer)
    page.locator("a[href^='/runs/']").first.click()
    gone = re.compile("/api/chunk/[^/]+")
    page.route(
        gone, lambda route: route.continue_(url=gone.sub("/api/chunk/gone", route.request.url))
    )
    page.locator("tr[data-row] a").first.click()
    reload = "Reload the page; if that does not help, write it again."
    words = f"This case cannot be shown: these cases are not held any more. {reload}"
    expect(page.get_by_role("dialog").get_by_text(words, exact=True)).to_be_visible()
    page.route(gone, lambda route: route.abort())
    page.keyboard.press("Escape")
    page.locator("tr[data-row] a").first.click()
    words = f"This case cannot be shown: judgekit view does not answer. {reload}"
    expect(page.get_by_role("dialog").get_by_text(words, exact=True)).to_be_visible()
    problems.clear()
