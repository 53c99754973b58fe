"""Foreign text runs nothing: in every field of every page, with the page's policy and without."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import judgekit, viewing, watch_page
from tests.browser.documents import result_documents
from tests.browser.hostile_text import (
    OWN_PAYLOADS,
    USE,
    hostile_context,
    hostile_pages,
    payloads,
    published_payloads,
    times_run,
    times_run_unescaped,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from playwright.sync_api import Browser, Page


@pytest.mark.parametrize("policy", [True, False], ids=["policy", "no policy"])
def test_nothing_runs_on_any_page(browser: Browser, tmp_path: Path, *, policy: bool) -> None:
    texts, problems = payloads(), list[str]()
    documents = result_documents(tmp_path / "stores")
    context = hostile_context(browser, policy=policy)
    page = context.new_page()
    watch_page(page, problems)
    pages = hostile_pages(documents, tmp_path / "pages", texts)
    ran = {name: times_run(page, path) for name, (path, _) in pages.items()}
    context.close()
    assert ran == dict.fromkeys(documents, 0)
    # A payload that a policy had to stop would be reported there.
    assert problems == []


def test_every_place_of_a_page_was_tried(tmp_path: Path) -> None:
    documents = result_documents(tmp_path / "stores")
    pages = hostile_pages(documents, tmp_path / "pages", OWN_PAYLOADS)
    tried = {place for _, counts in pages.values() for place in counts}
    assert {
        "Document.title", "Conclusion.text", "Conclusion.more", "Column.name", "Cell.text",
        "Table.title", "Table.notes", "Lines.rows", "Notes.lines", "Passage.text",
        "Entry.headline", "Entry.lines", "Plot.caption", "Axis.title", "Axis.names",
        "Series.name", "Series.labels", "Section.intro", "Estimate.method", "index.ids",
        "index.snippets", "index.tags", "index.strata", "index.columns", "case.id",
        "case.answers.output", "case.answers.opinions.rows.rationale",
        "case.answers.opinions.rows.quotes.text", "case.answers.trace.name", "case.texts.text",
        "case.opinions.rows.rationale", "case.opinions.rows.quotes.of", "case.opinions.result",
        "case.answers.marks.note", "case.points.points.after", "case.exchanges.messages.text",
        "case.exchanges.reply",
    } <= tried  # fmt: skip


def test_the_payloads_do_run_where_they_are_not_escaped(browser: Browser, tmp_path: Path) -> None:
    """The control, without which a payload that never runs would prove nothing."""
    context = hostile_context(browser, policy=False)
    page = context.new_page()
    ran = {
        text: times_run_unescaped(page, tmp_path / "control.html", text) > 0
        for text in (*OWN_PAYLOADS[:2], *OWN_PAYLOADS[3:8], *published_payloads()[::20])
    }
    context.close()
    assert all(ran.values()), ran


def test_the_policy_stops_what_is_not_escaped(browser: Browser, tmp_path: Path) -> None:
    context = hostile_context(browser, policy=True)
    page = context.new_page()
    for text in (*OWN_PAYLOADS[:8], *published_payloads()[::40]):
        ran = times_run_unescaped(page, tmp_path / "control.html", text, patience_ms=100)
        assert ran == 0, text
    context.close()


def test_nothing_runs_from_files_to_the_viewer(browser: Browser, tmp_path: Path) -> None:
    """The whole way: files with hostile text, a run of them, its page as a file and served."""
    folder = tmp_path / "suite"
    hostile_suite(folder)
    judgekit("run", "-o", "run.html", "--no-progress", folder=folder)
    problems: list[str] = []
    context = hostile_context(browser, policy=False)
    page = context.new_page()
    watch_page(page, problems)
    assert times_run(page, folder / "run.html") == 0
    with viewing(folder) as address:
        for place in ("/?", "/runs/latest?"):
            page.goto(address.replace("/?", place))
            assert page.evaluate("globalThis.ran") == 0
    context.close()
    assert problems == []


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a packet's page, two annotators' labels and the page of their agreement."""
    folder = tmp_path_factory.mktemp("labelled")
    files = hostile_labels(folder)
    judgekit("label", "--merge", *files, "-o", "agreement.html", folder=folder)
    return folder


@pytest.mark.parametrize("policy", [True, False], ids=["policy", "no policy"])
def test_nothing_runs_from_labels_to_their_pages(
    browser: Browser, labelled: Path, tmp_path: Path, *, policy: bool
) -> None:
    """Names of cases, criteria, levels and annotators, and comments: on every page of labelling."""
    shutil.copytree(labelled, tmp_path, dirs_exist_ok=True)
    problems: list[str] = []
    context = hostile_context(browser, policy=policy)
    page = context.new_page()
    watch_page(page, problems)
    for name in ("label.html", "agreement.html"):
        assert times_run(page, tmp_path / name) == 0
        page.reload()
        label_one(page)
    for path in ("first.jsonl", "second.jsonl"):
        judgekit("label", "--import", path, folder=tmp_path)
    with viewing(tmp_path, verb=("label", "--page")) as address:
        page.goto(address)
        label_one(page)
        page.get_by_text("stored at").wait_for()
        page.goto(f"{page.url}/agreement")
        page.get_by_role("heading", name="Conflicts", exact=True).wait_for()
        assert page.locator(".entries li").count() > len(OWN_PAYLOADS)
        # Whoever has labelled decides no conflict.
        label_one(page, OWN_PAYLOADS[6])
        page.get_by_text("stored at").wait_for()
    context.close()
    assert problems == []


def label_one(page: Page, name: str = OWN_PAYLOADS[4]) -> None:
    """Label an item under a name that would run, with a comment that would."""
    page.get_by_label("Your name").fill(name)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Item 1").wait_for()
    for key in ("1", "m"):
        page.keyboard.press(key)
    page.keyboard.type(OWN_PAYLOADS[7])
    page.keyboard.press("Control+Enter")
    page.evaluate(USE)
    assert page.evaluate("globalThis.ran") == 0


def hostile_labels(folder: Path) -> tuple[Path, Path]:
    """The page of a packet, and the labels of two annotators who agree on nothing in it."""
    texts = [text.encode("utf-8", "replace").decode() for text in OWN_PAYLOADS]
    outputs = [
        {"case_id": f"{n} {text}", "input": text, "reference": text, "text": text, "variant": text}
        for n, text in enumerate(texts)
    ]
    replies = [
        {
            "case_id": one["case_id"], "variant": one["variant"], "criterion": criterion,
            "text": '{"score": 1, "rationale": "It is so."}',
        }
        for one in outputs
        for criterion in texts[:3]
    ]  # fmt: skip
    levels = [{"value": value, "name": f"{value} {texts[value]}"} for value in range(4)]
    rubric = {
        "name": "r",
        "criteria": [
            {"name": text, "question": text, "scoring_guide": text, "scale": levels}
            for text in texts[:3]
        ],
    }
    (folder / "rubric.yaml").write_text(json.dumps(rubric), encoding="utf-8")
    write_rows(folder / "outputs.jsonl", outputs)
    write_rows(folder / "replies.jsonl", replies)
    judge = ("--rubric", "rubric.yaml", "--judge", "recorded:replies.jsonl")
    judgekit("grade", "outputs.jsonl", *judge, folder=folder)
    judgekit("label", "-o", "label.html", folder=folder)
    page = (folder / "label.html").read_text(encoding="utf-8")
    task = json.loads(page.partition('id="label-data">')[2].partition("</script>")[0])
    files = folder / "first.jsonl", folder / "second.jsonl"
    for place, path in enumerate(files):
        rows = [
            {
                "case_id": item["id"], "annotator": texts[place], "raw": 3 * place,
                "criterion": criterion, "rationale": texts[n % len(texts)],
                "metadata": {"packet": task["packet"], "labelled_at": texts[0]},
            }
            for n, item in enumerate(task["items"])
            for criterion in texts[:3]
        ]  # fmt: skip
        write_rows(path, rows)
    return files


def write_rows(path: Path, rows: Iterable[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def hostile_suite(folder: Path) -> None:
    """A case for each of our payloads, with it in every field that a file may have."""
    folder.mkdir()
    texts = [text.encode("utf-8", "replace").decode() for text in OWN_PAYLOADS]
    cases = [
        {
            "id": f"{n} {text}", "name": text, "input": text, "reference": text, "tags": [text],
            "description": text, "agent": text, "skill": text, "context": text,
        }
        for n, text in enumerate(texts)
    ]  # fmt: skip
    answers = [
        {
            "case_id": case["id"], "text": case["input"],
            "trace": [{"type": "tool_call", "name": case["input"], "content": case["input"]}],
        }
        for case in cases
    ]  # fmt: skip
    suite = {
        "name": "s <img src=x onerror=alert(1)>",
        "dataset": "cases.jsonl",
        "judge": "heuristic",
        "variants": [{"id": "v <svg onload=alert(1)>", "outputs": "answers.jsonl"}],
        "assertions": [{"type": "contains", "value": "<script>alert(1)</script>"}],
    }
    for name, rows in (("cases.jsonl", cases), ("answers.jsonl", answers)):
        write_rows(folder / name, rows)
    # JSON is YAML.
    (folder / "judgekit.yaml").write_text(json.dumps(suite), encoding="utf-8")
