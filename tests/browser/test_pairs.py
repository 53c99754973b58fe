"""Pages that set things beside each other: runs, blind comparisons, rankings, labels, judges."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from judgekit.report import Conclusion, Document, TextChange
from judgekit.report.html import render_html
from tests.browser.conftest import file_url, judgekit, viewing
from tests.cli.bench import asked
from tests.factories import reply
from tests.judge.comparing import prefers
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page

    from judgekit.testing import ServedReply, ServedRequest

CASES = [f"c{k}" for k in range(6)]
LONG = "I am GPT-4.1, an AI model. 😀 Gladly: you have 30 days, and we pay the parcel."
SHORT = "You have 30 days."
QUOTE = "30 days"
RUBRIC = """\
name: answers
pass_threshold: 0.5
criteria:
  - {name: right, question: "Is it right?", scale: one_to_five}
"""
SUITE = """\
name: support
dataset: cases.jsonl
rubric: rubric.yaml
judge: {model: openai/m}
variants:
  - {id: old, outputs: old.jsonl}
  - {id: new, outputs: new.jsonl}
"""
ANALYSIS = {
    "strengths": [{"quote": QUOTE, "text": "It names the period."}],
    "weaknesses": [{"quote": "You have", "text": "It says little."}],
    "suggestions": [
        {"area": "tone", "before": "You have 30 days.", "after": "Gladly: 30 days.",
         "reasoning": "It was asked kindly."},
    ],
}  # fmt: skip


def judge(seen: ServedRequest) -> ServedReply:
    """Prefers the long output in the first cases, the first one shown in the others."""
    text = asked(seen)
    case = re.search(r"Question (c\d)\?", text)
    if '"strengths"' in text:
        return ok(json.dumps(ANALYSIS))
    if "score_first" not in text:
        score = 5 if "Gladly" in text else 2
        # A stricter wording, and the other judge, fail the last cases.
        is_strict = "exactly right" in text or seen.body["model"] == "strict"
        score = 1 if is_strict and case and case[1] in {"c4", "c5"} else score
        quote = [QUOTE, "never written"] if score > 1 else []
        return ok(reply(score, evidence=quote, rationale=f"Score {score}: it names the period."))
    gladly, short = text.find("Gladly"), text.find(f"\n{SHORT}")
    is_biased = case is not None and case[1] == "c5"
    choice = "first" if is_biased or gladly < short else "second"
    quoted = "evidence_first" if choice == "first" else "evidence_second"
    return ok(prefers(choice, **{quoted: [QUOTE]}, rationale="It names the period and pays."))


def run(folder: Path, server: OpenAILikeServer, *arguments: object, code: int = 0) -> str:
    """Run the command line with the judge on loopback."""
    done = subprocess.run(
        [sys.executable, "-m", "judgekit", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "OPENAI_API_KEY": "k", "OPENAI_API_BASE": server.url},
    )
    assert done.returncode == code, done.stderr
    return done.stdout


def write_rows(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page of each kind."""
    folder = tmp_path_factory.mktemp("pairs")
    (folder / "rubric.yaml").write_text(RUBRIC)
    (folder / "strict.yaml").write_text(RUBRIC.replace("Is it right?", "Is it exactly right?"))
    (folder / "judgekit.yaml").write_text(SUITE)
    write_rows(folder / "cases.jsonl", [{"id": c, "input": f"Question {c}?"} for c in CASES])
    for name, long in (("old", {"c0", "c1"}), ("new", {"c0", "c2", "c3", "c4"})):
        texts = {c: LONG if c in long else SHORT for c in CASES}
        write_rows(folder / f"{name}.jsonl", [{"case_id": c, "text": t} for c, t in texts.items()])
    labels = [
        {"case_id": c, "variant": "new", "annotator": name, "raw": raw, "rationale": why}
        for k, c in enumerate(CASES[:5])
        for name, raw, why in (
            ("ada", 5 if k in {0, 2} else 2, "It is enough."), ("ben", 5 - k, "It is too short."),
        )
    ]  # fmt: skip
    write_rows(folder / "labels.jsonl", labels)
    with OpenAILikeServer(judge) as server:
        model = ("--judge", "openai/m", "--api-base", server.url)
        run(folder, server, "run", *model, "--no-progress")
        run(folder, server, "report", "latest::old", "latest::new", "-o", "sides.html")
        run(
            folder,
            server,
            "compare",
            "latest::old",
            "latest::new",
            "--scores",
            "-o",
            "scores.html",
            code=4,
        )
        run(
            folder,
            server,
            "compare",
            "old",
            "new",
            *model,
            "--analysis",
            "analysis.json",
            "-o",
            "comparison.html",
            code=4,
        )
        run(folder, server, "rank", "old", "new", *model, "-o", "ranking.html", code=4)
        run(folder, server, "calibrate", "labels.jsonl", "-o", "calibration.html")
        run(
            folder,
            server,
            "rejudge",
            "latest",
            "--judge",
            "openai/strict",
            "--api-base",
            server.url,
            "-o",
            "rejudgment.html",
        )
        shown = json.loads(run(folder, server, "show", "--json"))["runs"]
        first, again = (one["id"] for one in sorted(shown, key=lambda one: one["started_at"]))
        run(folder, server, "report", f"{first}::old", f"{again}::new", "-o", "unlike.html")
    return folder


def opened(page: Page, pairs: Path, name: str, case: str) -> Locator:
    """A page of the folder with one of its cases opened."""
    page.goto(file_url(pairs / name))
    page.locator("tr[data-row]", has_text=case).first.click()
    body = page.locator(".pair-body")
    body.wait_for()
    return body


CHANGES = {
    # before, after: what is removed, what is added, what is said about them
    "words": ("You get store credit.", "You get a full refund.", ["store credit"],
              ["a full refund"], "Words removed: 2. Words added: 3."),
    "identical": ("The same.", "The same.", [], [], "Both texts are the same."),
    "white space": ("One  two", "One two", [], [], "Only white space differs."),
    "both empty": ("", "", [], [], "Both texts are empty."),
    "added": ("", "All new.", [], ["All new."], "Words removed: 0. Words added: 2."),
    "unrelated": ("alpha beta gamma", "one two three", ["alpha beta gamma"], ["one two three"],
                  "The texts have little in common."),
    "Chinese": ("我喜欢红色的苹果。", "我喜欢绿色的苹果。", ["红色"], ["绿色"],
                "Words removed: 1. Words added: 1."),
    "markup": ("<b>old</b> text stays here", "<b>new</b> text stays here", ["old"], ["new"],
               "Words removed: 1. Words added: 1."),
}  # fmt: skip


def shown_change(page: Page, folder: Path, before: str, after: str) -> Locator:
    """The word diff of a page that has nothing else."""
    path = folder / "change.html"
    change = TextChange("Wording", before, after)
    path.write_text(render_html(Document("Change", Conclusion("Two words."), (change,), dict)))
    page.goto(file_url(path))
    return page.locator(".word-diff")


def texts_of(place: Locator, selector: str) -> list[str]:
    """The texts of some elements, without what only screen readers are given."""
    script = "all => all.map(one => [...one.childNodes].filter(n => n.nodeType === 3)"
    found = place.locator(selector).evaluate_all(f"{script}.map(n => n.data).join(''))")
    return [text.strip() for text in found]


@pytest.mark.parametrize("name", CHANGES)
def test_a_word_diff_shows_what_was_removed_and_what_was_added(
    page: Page, tmp_path: Path, name: str
) -> None:
    before, after, removed, added, note = CHANGES[name]
    diff = shown_change(page, tmp_path, before, after)
    assert texts_of(diff, "del") == removed
    assert texts_of(diff, "ins") == added
    assert diff.locator("p").inner_text() == note


def test_a_word_diff_of_long_unrelated_texts_gives_up_on_words(page: Page, tmp_path: Path) -> None:
    # Each word stands once, so that a diff of words would compare all with all.
    before, after = (" ".join(f"{letter}{n}" for n in range(9_000)) for letter in "ab")
    diff = shown_change(page, tmp_path, before, after)
    assert diff.locator("p").inner_text() == "The texts have little in common."
    assert texts_of(diff, "del") == [before]


def test_a_screen_reader_is_told_what_was_removed(page: Page, tmp_path: Path) -> None:
    diff = shown_change(page, tmp_path, "You get store credit.", "You get a refund.")
    assert "removed: store credit" in (diff.text_content() or "")
    assert "added: a refund" in (diff.text_content() or "")


def test_two_variants_stand_side_by_side(page: Page, pairs: Path) -> None:
    body = opened(page, pairs, "sides.html", "c2")
    conclusion = page.locator(".conclusion").inner_text()
    assert "1 worse, 3 better, 2 the same" in conclusion
    assert "over 6 cases" in conclusion
    assert body.locator(".side h4").all_inner_texts() == ["A: old", "B: new"]
    assert "and we pay the parcel." in body.locator(".side").nth(1).inner_text()
    assert [one.inner_text() for one in body.locator(".opinion strong").all()] == ["2", "5"]
    facts = body.locator(".opinion .facts").all_inner_texts()
    assert all(text.startswith("openai/m pointwise/") for text in facts), facts


def test_the_words_that_differ_are_shown_by_a_key(page: Page, pairs: Path) -> None:
    body = opened(page, pairs, "sides.html", "c2")
    page.keyboard.press("d")
    added = texts_of(body, ".word-diff ins")
    assert "Gladly" in " ".join(added)
    page.keyboard.press("n")
    assert page.evaluate("document.activeElement.matches('ins, del')")
    page.keyboard.press("s")
    assert texts_of(body, ".word-diff del") == added
    assert body.locator("h4").first.text_content() == "From B: new to A: old"


def test_a_blind_pair_is_shown_as_the_judge_saw_it(page: Page, pairs: Path) -> None:
    body = opened(page, pairs, "comparison.html", "c1")
    first = body.locator(".side").first
    hidden = first.locator("mark.scrubbed")
    assert texts_of(first, "mark.scrubbed") == ["[name withheld]"]
    assert hidden.get_attribute("title") == "hidden from the judge: GPT-4.1"
    # Behind a name that was taken out, and a character of two UTF-16 units.
    assert texts_of(first, "mark:not(.scrubbed)") == [QUOTE]
    assert body.locator(".result").first.inner_text() == "A is preferred"
    choices = body.locator(".opinion strong").all_inner_texts()
    assert choices[:2] == ["A is preferred (shown first)", "A is preferred (shown second)"]


def test_an_analysis_says_why_an_output_lost(page: Page, pairs: Path) -> None:
    text = opened(page, pairs, "comparison.html", "c1").inner_text()
    assert "Strengths of A" in text
    assert "It names the period." in text
    assert "tone: It was asked kindly." in text


def test_the_viewer_has_the_prompt_and_the_reply_of_each_order(page: Page, pairs: Path) -> None:
    stored = json.loads(judgekit("show", "--comparisons", "--json", folder=pairs).stdout)
    name = next(one["id"] for one in stored if one.get("judge"))
    with viewing(pairs, "--with-replies") as address:
        page.goto(address.replace("/?", f"/comparisons/{name}?"))
        page.locator("tr[data-row]", has_text="c1").first.click()
        rows = page.locator(".pair-body .opinion")
        expect(rows.first).to_be_visible()
        page.keyboard.press("p")
        for row in (rows.first, rows.nth(1)):
            exchange = row.locator(".exchange")
            expect(exchange).to_contain_text("Question c1?")
            expect(exchange.get_by_label("reply")).to_contain_text("It names the period and pays.")
        expect(page.locator(".pair-body")).not_to_contain_text("add --with-replies")


def test_a_number_of_a_quote_leads_to_its_place(page: Page, pairs: Path) -> None:
    body = opened(page, pairs, "sides.html", "c2")
    second = body.locator(".opinion").nth(1)
    second.get_by_role("button", name="quote 1").click()
    # Both answers have a first quote: only the one of this answer is meant.
    expect(body.locator("mark.at")).to_have_count(1)
    expect(body.locator(".side").nth(1).locator("mark.at")).to_have_text(QUOTE)


def test_runs_of_unlike_judges_get_no_verdict(page: Page, pairs: Path) -> None:
    body = opened(page, pairs, "unlike.html", "c2")
    text = page.locator(".conclusion").inner_text()
    assert text.removeprefix("? ").startswith("No verdict: ")
    assert "the model was openai/m, is openai/strict" in text
    assert "--judge openai/strict" in page.locator("main").inner_text()
    index = json.loads(page.locator("#page-index").text_content() or "")
    assert [one["key"] for one in index["filters"]] == ["changed", "alone"]
    assert all(value is None for cell in index["cells"] for value in cell["value"])
    assert body.locator(".side").count() == 2


def test_places_that_may_be_the_same_share_a_shade(page: Page, pairs: Path) -> None:
    body = opened(page, pairs, "ranking.html", "c2")
    assert page.locator("tr:has(.shade-1)").count() == 2
    assert body.locator("h4").all_inner_texts()[:2] == ["new", "old"]
    assert body.locator("h4").nth(2).inner_text() == "new and old: overall"


def test_a_judge_stands_beside_the_annotators(page: Page, pairs: Path) -> None:
    body = opened(page, pairs, "calibration.html", "c4 of new")
    scores = dict(
        zip(
            (
                one.split(":")[0]
                for one in body.locator(".opinion > p:first-child").all_inner_texts()
            ),
            body.locator(".opinion strong").all_inner_texts(),
            strict=True,
        )
    )
    assert scores == {"judge": "5", "annotator ada": "2", "annotator ben": "1"}
    assert texts_of(body, "mark") == [QUOTE]
    expect(body.locator(".quotes li").nth(1)).to_contain_text("never written")
    expect(body.locator(".quotes li").nth(1)).to_contain_text("not found in the output")


def test_a_changed_decision_has_the_reasons_of_both_judges(page: Page, pairs: Path) -> None:
    body = opened(page, pairs, "rejudgment.html", "c4 of new")
    assert body.locator(".opinion strong").all_inner_texts() == ["5", "1"]
    assert "Score 1: it names the period." in body.inner_text()


@pytest.mark.parametrize("name", ["sides", "comparison", "ranking", "calibration", "rejudgment"])
def test_a_case_fits_a_phone(page: Page, pairs: Path, name: str) -> None:
    page.set_viewport_size({"width": 320, "height": 700})
    body = opened(page, pairs, f"{name}.html", "c4")
    assert body.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_the_largest_drop_comes_first_and_differences_are_sorted(page: Page, pairs: Path) -> None:
    page.goto(file_url(pairs / "sides.html"))
    head = page.locator("#cases").get_by_role("columnheader", name="B - A")
    shown = []
    for direction in ("ascending", "descending"):
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", direction)
        cells = page.locator("tr[data-row] td[data-column='2']").all_inner_texts()
        shown.append([float(re.sub(r"[^-+.0-9]", "", text)) for text in cells])
    assert shown[0] == sorted(shown[0]) != sorted(shown[0], reverse=True) == shown[1]


def test_choices_are_sorted_as_the_legend_has_them(page: Page, pairs: Path) -> None:
    page.goto(file_url(pairs / "comparison.html"))
    head = page.get_by_role("columnheader", name="A first")
    orders = []
    for direction in ("ascending", "descending"):
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", direction)
        orders.append(page.locator("tr[data-row] td[data-column='0'] .word").all_inner_texts())
    assert orders[0] == ["A wins"] * orders[0].count("A wins") + ["B wins"] * orders[0].count(
        "B wins"
    )
    assert orders[1] == orders[0][::-1] != orders[0]


def test_the_list_of_keys_is_that_of_the_page(page: Page, pairs: Path, run_page: Path) -> None:
    lists = []
    for place in (pairs / "sides.html", run_page):
        page.goto(file_url(place))
        page.get_by_role("button", name="Keyboard shortcuts").click()
        dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
        lists.append(dialog.locator("th").all_inner_texts())
    sides, run = ({text.strip() for text in one} for one in lists)
    assert sides - run >= {"d", "s", "n N", "1 … 7"}
    assert run - sides >= {"e", "r"}
