"""The page of a run: grid, filters, keys, cases in full; as a file and in the viewer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from judgekit.models.cache import MemoryCache
from judgekit.models.request import ModelReply
from judgekit.records import AssertionResult, Evidence, Output, TraceEvent
from judgekit.report import JudgeReplies
from tests.browser.conftest import file_url, watch_page
from tests.factories import make_case, make_failure, make_request
from tests.pictures import asked_about, data_url, image, png
from tests.report.run_pages import JUDGE, judged, make_result, make_run, quote, write_run_page

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

    from judgekit.records import CaseResult

# Two quotes overlap, one is normalized; all that makes counting hard stands before them.
OUTPUT = (
    "Oui 😀, de\u0301ja\u0300 vu 👩‍👩‍👧.\r\n"
    "Return the shoes within 30 days; store credit is given.\r\n"
    "\u202egnorw\u202c عربي"
)
QUOTES = (
    "Return the shoes within 30 days",
    "within 30 days; store credit",
    "de\u0301ja\u0300 vu 👩‍👩‍👧",
)


def results() -> list[CaseResult]:
    evidence = (*(quote(text, OUTPUT) for text in QUOTES), Evidence(quote="a full refund"))
    case = make_case(
        id="refund", input="Can I return\nthem?", reference="Yes.", tags=("hard",), stratum="simple"
    )
    trace = (
        TraceEvent(type="tool_call", name="find", arguments={"id": 7}, duration_ms=320),
        TraceEvent(type="error", name="refund", content="timeout"),
    )
    part = AssertionResult(passed=False, message="no “credit”", type="output.contains", actual="x")
    group = AssertionResult(passed=False, message="1 of 1 fails", type="all", parts=(part,))
    return [
        make_result(
            0,
            judged(0.25, evidence=evidence, rationale="Grants too much.", confidence=0.9),
            variant="a",
            case=case,
            output=Output(text=OUTPUT, trace=trace),
            checks=(group,),
        ),
        make_result(0, judged(1.0), variant="b", case=case, output=Output(text="Store credit.")),
        make_result(1, judged(0.75), judged(1.0, repeat=1), variant="a"),
        make_result(1, judged(0.25), judged(1.0, repeat=1), variant="b"),
        make_result(2, variant="a", failures=(make_failure(judge=JUDGE),)),
        make_result(2, judged(1.0), variant="b"),
        make_result(3, variant="a", output=Output(error="no answer", error_kind="timeout")),
        make_result(3, judged(1.0), variant="b"),
        *(make_result(n, judged(1.0), variant=name) for n in range(4, 9) for name in ("a", "b")),
    ]


@pytest.fixture
def small(page: Page, tmp_path: Path) -> Page:
    """A page with a case of each state."""
    write_run_page(tmp_path / "small.html", results(), make_run("a", "b"))
    page.goto(file_url(tmp_path / "small.html"))
    return page


def rows(page: Page) -> list[str]:
    """The ids of the rows shown."""
    return page.locator("tr[data-row] th").all_inner_texts()


def drawer(page: Page) -> Locator:
    return page.get_by_role("dialog", name=re.compile("^Case "))


def open_case(page: Page, fragment: str) -> Locator:
    """Go to a case of the page by a link."""
    page.goto(page.url.split("#")[0] + "#" + fragment)
    page.reload()
    expect(drawer(page).locator(".body")).to_have_attribute("aria-busy", "false")
    return drawer(page)


def test_the_file_and_the_viewer_show_the_same(page: Page, run_page: Path, viewer: str) -> None:
    texts = []
    for address in (file_url(run_page), viewer.replace("/?", "/runs/latest?")):
        page.goto(address)
        page.locator("tr[data-row] a").first.click()
        expect(drawer(page)).to_contain_text("judgments")
        shown = page.locator("#cases").inner_text()
        texts.append((shown, drawer(page).inner_text()))
    assert texts[0] == texts[1]


def test_without_a_script_the_page_has_its_result_and_a_table(
    browser: Browser, run_page: Path, problems: list[str]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    watch_page(page, problems)
    page.goto(file_url(run_page))
    expect(page.locator(".conclusion")).to_contain_text("v1 passed 7/12")
    expect(page.locator("#cases tbody tr")).to_have_count(12)
    expect(page.locator("#cases")).to_contain_text("✗ 0.19")
    # Why it failed, too.
    expect(page.locator("#cases")).to_contain_text("does not mention this case at all")
    expect(page.locator("#cases")).to_contain_text("--with-replies")
    context.close()
    assert problems == []


@pytest.mark.parametrize("width", [1200, 400, 320])
def test_nothing_is_wider_than_the_window(small: Page, width: int) -> None:
    small.set_viewport_size({"width": width, "height": 800})
    assert small.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for fragment in ("case=refund&answer=a", "case=refund&answer=a&with=b"):
        body = open_case(small, fragment).locator(".body")
        assert body.evaluate("e => e.scrollWidth <= e.clientWidth")
        assert small.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_phone_has_cards_with_all_variants(small: Page) -> None:
    small.set_viewport_size({"width": 400, "height": 800})
    card = small.locator("tr[data-row]").first
    expect(card).to_contain_text("refund")
    expect(card.locator(".cells")).to_have_text(re.compile(r"a\s*✗\s*0\.25.*b\s*✓\s*1\.00"))
    small.get_by_role("button", name="Filters").click()
    small.get_by_label("tag").select_option("hard")
    assert rows(small) == ["refund"]


def test_the_dark_page_is_dark(page: Page, run_page: Path) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(file_url(run_page))
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 27)"


def test_print_has_the_static_table(small: Page) -> None:
    small.emulate_media(media="print")
    expect(small.locator("#cases .static table")).to_be_visible()
    expect(small.locator("#cases .grid")).to_be_hidden()


def test_failures_come_first_and_every_state_is_named(small: Page) -> None:
    assert rows(small)[:4] == ["refund", "case-1", "case-2", "case-3"]
    cells = small.locator("tr[data-row]").nth(2).get_by_role("cell")
    expect(cells.nth(2)).to_contain_text("undecided")
    expect(small.locator("tr[data-row]").nth(3)).to_contain_text("no output")
    expect(small.locator(".legend")).to_have_text(re.compile("✗ fails.*[?] undecided.*no output"))


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("Failed", ["refund", "case-1"]),
        ("Judges disagree", ["case-1"]),
        ("Undecided", ["case-2"]),
        ("Error", ["case-2", "case-3"]),
    ],
)
def test_a_filter_shows_its_cases_and_how_many(small: Page, name: str, ids: list[str]) -> None:
    small.get_by_role("button", name=re.compile(f"^{name}")).click()
    assert rows(small) == ids
    expect(small.get_by_role("status").first).to_have_text(f"{len(ids)} of 9 cases")


def test_a_variant_narrows_the_filters_to_its_answers(small: Page) -> None:
    small.get_by_label("variant").select_option("b")
    small.get_by_role("button", name=re.compile("^Failed")).click()
    assert rows(small) == ["case-1"]
    expect(small.get_by_role("button", name=re.compile("^Undecided"))).to_have_text("Undecided 0")


def test_a_column_sorts_up_and_down(small: Page) -> None:
    head = small.get_by_role("columnheader", name="b", exact=True)
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert rows(small)[0] == "case-1"
    small.get_by_role("columnheader", name="case").get_by_role("button").click()
    assert rows(small)[:2] == ["case-1", "case-2"]


def test_search_finds_ids_at_once_and_all_texts_after_that(small: Page) -> None:
    small.get_by_role("searchbox").fill("case-5")
    assert rows(small) == ["case-5"]
    small.get_by_role("searchbox").fill("GRANTS TOO")
    expect(small.get_by_role("status").first).to_have_text("1 of 9 cases")
    assert rows(small) == ["refund"]
    small.get_by_role("searchbox").fill("nowhere to be found")
    expect(small.get_by_text("No case matches.")).to_be_visible()
    small.get_by_role("button", name="Show all").click()
    assert len(rows(small)) == 9


def test_search_does_not_find_how_a_judgment_is_coloured(small: Page) -> None:
    small.get_by_role("searchbox").fill("neutral")
    expect(small.locator(".count")).to_have_text("0 of 9 cases Show all")


def test_a_link_shows_the_same_and_back_closes_the_case(small: Page) -> None:
    small.goto(f"{small.url}#state=failed&q=refund")
    small.reload()
    small.locator("tr[data-row] a").click()
    expect(drawer(small)).to_be_visible()
    link = small.url
    small.go_back()
    expect(drawer(small)).to_have_count(0)
    assert small.url.endswith("#state=failed&q=refund")
    small.goto(link)
    small.reload()
    expect(drawer(small)).to_contain_text("Grants too much.")
    assert small.get_by_role("button", name=re.compile("^Failed")).get_attribute("aria-pressed")


def test_the_images_of_a_case_are_seen_below_their_texts(page: Page, tmp_path: Path) -> None:
    case = make_case(id="shoe", input=asked_about(image(url=data_url(png(), "image/png"))))
    output = Output(data=[image(url=data_url(png(9, size=20)))])
    path = write_run_page(
        tmp_path / "p.html", [make_result(0, judged(1.0), case=case, output=output)]
    )
    page.goto(file_url(path))
    pictures = open_case(page, "case=shoe").get_by_role("img", name=re.compile(r"^\[image, "))
    expect(pictures).to_have_count(2)
    sizes = pictures.evaluate_all("all => all.map((one) => one.naturalWidth)")
    assert sorted(sizes) == [8, 20]
    expect(drawer(page)).to_contain_text(re.compile(r"\[image, \d+ bytes, sha256 \w{12}…\]"))
    assert "base64" not in drawer(page).inner_text()


def test_a_link_to_a_case_that_is_not_there_says_so(small: Page) -> None:
    small.goto(f"{small.url}#case=missing")
    small.reload()
    expect(small.get_by_role("alert")).to_have_text("There is no case “missing” on this page.")


def test_everything_can_be_reached_by_keys(small: Page) -> None:
    keys = small.keyboard
    keys.press("j")
    keys.press("j")
    expect(small.locator("tr.active")).to_contain_text("case-1")
    keys.press("k")
    keys.press("ArrowDown")
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    keys.press("Enter")
    expect(drawer(small).get_by_role("tab", selected=True)).to_contain_text("b")
    keys.press("ArrowLeft")
    expect(drawer(small).get_by_role("tab", selected=True)).to_contain_text("a")
    keys.press("]")
    expect(drawer(small).get_by_role("heading", level=2)).to_have_text("case-2")
    keys.press("[")
    keys.press("[")
    expect(drawer(small).get_by_role("heading", level=2)).to_have_text("refund")
    keys.press("Escape")
    expect(drawer(small)).to_have_count(0)
    # Who closes a case goes on at its row.
    expect(small.get_by_role("link", name="refund")).to_be_focused()
    keys.press("3")
    assert rows(small) == ["case-1"]
    keys.press("1")
    assert len(rows(small)) == 9


def test_single_keys_are_off_in_text_fields_and_can_be_switched_off(small: Page) -> None:
    small.keyboard.press("/")
    small.keyboard.type("case-1")
    expect(small.get_by_role("searchbox")).to_have_value("case-1")
    assert rows(small) == ["case-1"]
    small.keyboard.press("Enter")
    expect(small.get_by_role("link", name="case-1")).to_be_focused()
    small.keyboard.press("/")
    small.keyboard.press("Escape")
    small.keyboard.press("?")
    help_dialog = small.get_by_role("dialog", name="Keyboard shortcuts")
    help_dialog.get_by_label("Use shortcuts of a single key").uncheck()
    small.keyboard.press("Escape")
    expect(help_dialog).to_have_count(0)
    small.keyboard.press("1")
    small.keyboard.press("?")
    expect(help_dialog).to_have_count(0)
    small.reload()
    small.keyboard.press("?")
    expect(help_dialog).to_have_count(0)
    small.get_by_role("button", name="Keyboard shortcuts").click()
    expect(help_dialog).to_be_visible()


def test_the_case_is_a_dialog_that_keeps_the_focus(small: Page) -> None:
    small.locator("tr[data-row] a").first.click()
    assert small.evaluate("document.activeElement.closest('dialog') !== null")
    for _ in range(40):
        small.keyboard.press("Tab")
        # The browser's own controls may come in between; the page behind must not.
        assert small.evaluate(
            "document.activeElement === document.body "
            "|| document.activeElement.closest('dialog') !== null"
        )


def test_evidence_is_marked_in_place_and_no_character_changes(small: Page) -> None:
    output = open_case(small, "case=refund&answer=a").get_by_role("group", name="output")
    marked = output.evaluate(
        "e => [1, 2, 3].map(n => [...e.querySelectorAll(`mark[data-quotes~='${n}']`)]"
        ".map(mark => mark.textContent).join(''))"
    )
    assert tuple(marked) == QUOTES
    both = output.locator("mark[data-quotes='1 2']")
    expect(both).to_have_text("within 30 days")
    # Of the direction characters there are chips, which act on nothing.
    shown = output.evaluate("e => e.textContent")
    assert shown.replace("U+202E", "\u202e").replace("U+202C", "\u202c") == OUTPUT


def test_a_quote_leads_to_its_place_and_back(small: Page) -> None:
    opened = open_case(small, "case=refund&answer=a")
    expect(opened.get_by_text("not found in the output")).to_have_count(1)
    opened.get_by_role("button", name="quote 3").click()
    expect(opened.locator("mark.at")).to_have_text(QUOTES[2])
    opened.locator("mark[data-quotes='1']").click()
    expect(opened.locator(".quotes li.at")).to_contain_text(QUOTES[0])
    small.keyboard.press("e")
    expect(opened.locator(".quotes li.at")).to_contain_text(QUOTES[1])


def test_a_quote_without_a_place_in_the_output_leads_nowhere(page: Page, tmp_path: Path) -> None:
    """A quote from one turn of a conversation is found, but not in the text of the output."""
    turn = judged(1.0, turn=1, evidence=(Evidence(quote="within 30 days", match="exact"),))
    page.goto(file_url(write_run_page(tmp_path / "turns.html", [make_result(0, turn)])))
    page.locator("tr[data-row] a").click()
    found = drawer(page).locator(".quotes li")
    expect(found).to_contain_text("within 30 days")
    expect(found.get_by_role("button")).to_have_count(0)
    expect(found.get_by_text("not found in the output")).to_have_count(0)


def test_a_case_has_verdict_reasons_checks_and_trace(small: Page) -> None:
    opened = open_case(small, "case=refund&answer=a")
    text = opened.inner_text()
    for part in (
        "fails 0.25", "How good is its accuracy?", "passes from 0.7", "scale 1 to 5",
        "confidence 0.90", "Grants too much.", "no “credit”", 'found "x"', "find", "320 ms",
        '"id": 7', "timeout", "simple · #hard", "Can I return\nthem?", "Yes.",
    ):  # fmt: skip
        assert part in text


def test_a_missing_output_and_a_missing_judgment_say_why(small: Page) -> None:
    expect(open_case(small, "case=case-3&answer=a")).to_contain_text("took too long: no answer")
    opened = open_case(small, "case=case-2&answer=a")
    expect(opened).to_contain_text("no judgment: no verdict could be read")


def test_two_answers_stand_side_by_side_with_what_changed(small: Page) -> None:
    opened = open_case(small, "case=refund&answer=a")
    opened.get_by_role("button", name="Side by side").click()
    expect(opened.locator("ins, del").first).to_be_attached()
    expect(opened.get_by_role("row", name=re.compile("accuracy"))).to_contain_text(
        "Grants too much."
    )
    opened.get_by_label("from").select_option("b")
    assert "answer=b" in small.url
    small.keyboard.press("Escape")
    expect(drawer(small)).to_have_count(0)
    assert "#" not in small.url


def test_a_phone_shows_texts_and_judgments_one_after_the_other(small: Page) -> None:
    small.set_viewport_size({"width": 400, "height": 800})
    opened = open_case(small, "case=refund&answer=a")
    expect(opened.get_by_text("Grants too much.")).to_have_count(0)
    opened.get_by_role("button", name="Judgments").click()
    expect(opened.get_by_text("Grants too much.")).to_be_visible()
    opened.get_by_role("button", name="quote 3").click()
    expect(opened.locator("mark.at")).to_be_in_viewport()


def test_prompt_and_reply_are_there_with_the_replies_only(small: Page, tmp_path: Path) -> None:
    opened = open_case(small, "case=refund&answer=a")
    small.keyboard.press("p")
    expect(opened.get_by_text("are not included: add --with-replies")).to_be_visible()
    cache, request = MemoryCache(), make_request("Judge <b>this</b>.")
    cache.put(request, ModelReply(text='{"score": 4}'))
    path = tmp_path / "replies.html"
    write_run_page(
        path, [make_result(0, judged(reply_key=request.key))], replies=JudgeReplies(cache)
    )
    small.goto(file_url(path) + "#case=case-0")
    expect(drawer(small)).to_contain_text("judgments")
    small.keyboard.press("p")
    exchange = drawer(small).locator(".exchange")
    expect(exchange.get_by_text("Judge <b>this</b>.")).to_be_visible()
    expect(exchange.get_by_text('{"score": 4}')).to_be_visible()


def test_a_link_to_the_case_is_copied_or_shown(small: Page) -> None:
    opened = open_case(small, "case=refund&answer=a")
    small.keyboard.press("c")
    expect(opened.get_by_role("status")).to_contain_text(re.compile(r"Link copied|#case=refund"))


def test_repeats_are_answers_of_their_own(page: Page, tmp_path: Path) -> None:
    run = make_run(config={"settings": {"repeats": 2}})
    answers = [make_result(0, judged(1.0)), make_result(0, judged(0.0), repeat=1)]
    write_run_page(tmp_path / "repeats.html", answers, run)
    page.goto(file_url(tmp_path / "repeats.html"))
    expect(page.locator("tr[data-row]")).to_contain_text("± 0.50")
    page.locator("tr[data-row] a").click()
    tabs = drawer(page).get_by_role("tab")
    expect(tabs.nth(1)).to_contain_text("v1, repeat 2 of 2")
    tabs.nth(1).click()
    expect(drawer(page).locator(".verdict")).to_contain_text("fails 0.00")


def test_a_run_without_cases_says_so(page: Page, tmp_path: Path) -> None:
    page.goto(file_url(write_run_page(tmp_path / "empty.html", [])))
    expect(page.get_by_text("There are no cases yet.")).to_be_visible()


def test_a_value_is_rounded_as_terminals_round_it(page: Page, tmp_path: Path) -> None:
    values = (0.125, 0.375, 0.625, 0.875, 0.005, 0.015, 0.285, 0.675)
    path = tmp_path / "run.html"
    write_run_page(path, [make_result(n, judged(value)) for n, value in enumerate(values)])
    page.goto(file_url(path))
    shown = page.locator(".grid td.cell").all_inner_texts()
    assert sorted(text.split()[1] for text in shown) == sorted(f"{value:.2f}" for value in values)
