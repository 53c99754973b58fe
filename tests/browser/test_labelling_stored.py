"""What the viewer could not store of an annotator's answers is sent again, and never forgotten."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import judgekit, viewing
from tests.browser.test_labelling import PAGE, RUBRIC, begin, press, rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Dialog, Page, Route

N = 2
LABELS = "**/api/label/*"
DISK_FULL = "the store cannot be written: database or disk is full"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    made = [{"case_id": f"c{n}", "variant": "v", "text": f"lamp {n}"} for n in range(N)]
    (tmp_path / "outputs.jsonl").write_text(rows(*made), encoding="utf-8")
    return tmp_path


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    with viewing(folder, "outputs.jsonl", "--rubric", "rubric.yaml", verb=PAGE) as served:
        yield served


def refuse(route: Route) -> None:
    """Answer as the viewer does when its disk is full."""
    route.fulfill(status=500, json={"error": DISK_FULL})


def stored(folder: Path) -> list[dict[str, Any]]:
    judgekit("label", "--export", "labels.jsonl", folder=folder)
    lines = (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_an_answer_that_was_refused_is_sent_with_the_next(
    page: Page, folder: Path, address: str, problems: list[str]
) -> None:
    page.goto(address)
    begin(page)
    page.route(LABELS, refuse)
    press(page, "3", "1", "Enter", "2")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(f"3 answers are not stored: {DISK_FULL}")
    page.unroute(LABELS)
    press(page, "2", "Enter")
    expect(page.get_by_text("Every answer is stored.")).to_be_visible()
    expect(alert).to_have_count(0)
    assert sorted((row["criterion"], row["raw"]) for row in stored(folder)) == [
        ("correct", 2), ("correct", 3), ("tone", 0), ("tone", 1),
    ]  # fmt: skip
    problems.clear()


def test_the_end_never_says_that_a_refused_answer_is_stored(
    page: Page, folder: Path, address: str, problems: list[str]
) -> None:
    page.goto(address)
    begin(page)
    press(page, "3", "1", "Enter", "2")
    expect(page.get_by_text("stored at")).to_be_visible()
    page.route(LABELS, refuse)
    press(page, "2", "Enter")
    expect(page.get_by_text("Not every answer is stored yet: not stored.")).to_be_visible()
    page.unroute(LABELS)
    page.get_by_role("button", name="Store again").press("Enter")
    expect(page.get_by_text("Every answer is stored.")).to_be_visible()
    assert len(stored(folder)) == 2 * N
    problems.clear()


def test_a_comment_that_was_refused_is_sent_after_a_reload(
    page: Page, folder: Path, address: str, problems: list[str]
) -> None:
    page.goto(address)
    begin(page)
    press(page, "3", "1")
    expect(page.get_by_text("stored at")).to_be_visible()
    page.route(LABELS, refuse)
    press(page, "m")
    page.keyboard.type("the receipt is missing")
    press(page, "Escape")
    expect(page.get_by_role("alert")).to_contain_text("1 answer is not stored")
    page.unroute(LABELS)
    page.once("dialog", lambda dialog: dialog.accept())
    page.reload()
    begin(page)
    expect(page.get_by_text("stored at")).to_be_visible()
    comments = [row["rationale"] for row in stored(folder) if "rationale" in row]
    assert comments == ["the receipt is missing"]
    problems.clear()


def test_a_deleted_comment_is_deleted_in_the_store(page: Page, folder: Path, address: str) -> None:
    page.goto(address)
    begin(page)
    press(page, "3", "1", "m")
    page.keyboard.type("Ben wrote this")
    press(page, "Escape")
    # The same key once more, with nothing between.
    press(page, "m")
    expect(page.locator("textarea:focus")).to_have_value("Ben wrote this")
    with page.expect_response(LABELS):
        press(page, "Control+a", "Delete", "Escape")
    assert [row.get("rationale") for row in stored(folder)] == [None, None]


def test_an_answer_that_was_refused_gives_way_to_a_later_one_of_another_tab(
    page: Page, folder: Path, address: str, problems: list[str]
) -> None:
    page.goto(address)
    begin(page)
    other = page.context.new_page()
    other.goto(address)
    begin(other)
    page.route(LABELS, refuse)
    press(page, "1")
    expect(other.get_by_role("radio", checked=True)).to_have_count(1)
    press(other, "ArrowUp", "3")
    expect(page.get_by_role("radio", name="agrees", checked=True)).to_have_count(1)
    page.unroute(LABELS)
    press(page, "1")
    expect(page.get_by_text("stored at")).to_be_visible()
    assert [(row["criterion"], row["raw"]) for row in stored(folder)] == [
        ("correct", 3), ("tone", 0),
    ]  # fmt: skip
    problems.clear()


def test_pairs_are_continued_after_the_server_was_started_again(page: Page, folder: Path) -> None:
    made = [{"case_id": f"c{n}", "variant": "w", "text": f"shelf {n}"} for n in range(N)]
    (folder / "other.jsonl").write_text(rows(*made), encoding="utf-8")
    for n_done in range(N):
        with viewing(folder, "outputs.jsonl", "other.jsonl", "--pairwise", verb=PAGE) as address:
            page.goto(address)
            begin(page)
            expect(page.get_by_text(f"{n_done} done")).to_be_visible()
            with page.expect_response(LABELS):
                press(page, "1")


def test_a_comment_that_is_still_typed_is_stored_when_the_page_is_left(
    page: Page, folder: Path, address: str
) -> None:
    page.goto(address)
    begin(page)
    press(page, "3", "1", "m")
    page.keyboard.type("the receipt is missing")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.once("dialog", stay)
    with page.expect_response(LABELS):
        page.close(run_before_unload=True)
    assert asked == ["beforeunload"]
    assert [row.get("rationale") for row in stored(folder)] == [None, "the receipt is missing"]
