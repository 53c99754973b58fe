"""The labelling page in Chromium: as one file that is sent to annotators, and in the viewer."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from judgekit.evaluation.human_labels import annotator_rank
from judgekit.report import asset_text
from tests.browser.conftest import file_url, judgekit, viewing

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Dialog, Page

N = 5
RUBRIC = """\
name: support
criteria:
  - name: correct
    question: Does the answer agree with the reference?
    scale: [{value: 1, name: wrong}, {value: 2, name: half}, {value: 3, name: agrees}]
  - name: tone
    question: Is the answer polite?
    scale: [{value: 0, name: "no"}, {value: 1, name: "yes"}]
"""


def rows(*of: object) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in of)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five outputs that a recorded judge has graded, and the pages of two packets."""
    folder = tmp_path_factory.mktemp("labelling")
    for variant in ("prompt-v1", "prompt-v2"):
        outputs = [
            {
                "case_id": f"secret-case-{n}",
                "variant": variant,
                "input": f"Can I return lamp {n}?",
                "text": f"As prompt-v1 I say: lamp {n} <b>can</b> be returned.\nOne, two.",
                "usage": {"model": "hidden-model-7"},
                "metadata": {"model": "hidden-model-7"},
            }
            for n in range(N)
        ]
        (folder / f"{variant}.jsonl").write_text(rows(*outputs), encoding="utf-8")
    replies = [
        {
            "case_id": f"secret-case-{n}",
            "variant": "prompt-v1",
            "criterion": name,
            "text": f'{{"score": {s}, "rationale": "It is so."}}',
        }
        for n in range(N)
        for name, s in (("correct", 1 + n % 3), ("tone", n % 2))
    ]
    (folder / "replies.jsonl").write_text(rows(*replies), encoding="utf-8")
    (folder / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    both = ("prompt-v1.jsonl", "prompt-v2.jsonl")
    judgekit("label", *both, "--pairwise", "-o", "pairs.html", folder=folder)
    judge = ("--rubric", "rubric.yaml", "--judge", "recorded:replies.jsonl")
    judgekit("grade", "prompt-v1.jsonl", *judge, folder=folder)
    judgekit("label", "-o", "label.html", folder=folder)
    return folder


def start(page: Page, path: Path, name: str = "Ada") -> None:
    page.goto(file_url(path))
    begin(page, name)


def begin(page: Page, name: str = "Ada") -> None:
    page.get_by_label("Your name").fill(name)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Item", exact=False).first).to_be_visible()


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def saved(page: Page, folder: Path) -> list[dict[str, Any]]:
    """What the page writes when the annotator saves it."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Save file").first.click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_five_items_are_labelled_by_keys_alone(page: Page, made: Path, tmp_path: Path) -> None:
    start(page, made / "label.html")
    for score in "12312":
        press(page, score, "2", "Enter")
    expect(page.get_by_role("heading", name="All items are done")).to_be_visible()
    found = saved(page, tmp_path)
    assert sorted(row["raw"] for row in found if row["criterion"] == "correct") == [1, 1, 2, 2, 3]
    assert {row["raw"] for row in found if row["criterion"] == "tone"} == {1}
    assert {row["annotator"] for row in found} == {"Ada"}
    assert [row["metadata"]["position"] for row in found] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def test_an_incomplete_item_is_not_left_by_enter(page: Page, made: Path) -> None:
    start(page, made / "label.html")
    press(page, "2", "Enter")
    expect(page.get_by_role("heading", name="Item 1")).to_be_visible()
    expect(page.locator(".question.active")).to_contain_text("tone")
    expect(page.get_by_role("status")).to_have_text("Not answered yet: tone.")
    press(page, "1", "Enter")
    expect(page.get_by_role("heading", name="Item 2")).to_be_visible()


def test_a_typed_score_may_begin_with_zero_and_is_undone(page: Page, tmp_path: Path) -> None:
    scales = "".join(
        f"  - {{name: {n}, question: Is it?, scale: {{min: 0, max: 1}}}}\n" for n in "ab"
    )
    (tmp_path / "rubric.yaml").write_text(f"name: r\ncriteria:\n{scales}", encoding="utf-8")
    output = {"case_id": "c", "input": "Can I?", "text": "Yes."}
    (tmp_path / "o.jsonl").write_text(rows(output), encoding="utf-8")
    judgekit("label", "o.jsonl", "--rubric", "rubric.yaml", "-o", "x.html", folder=tmp_path)
    start(page, tmp_path / "x.html")
    for score in ("0.5", "0"):
        page.keyboard.type(score)
        press(page, "Enter")
    assert [(row["criterion"], row["raw"]) for row in saved(page, tmp_path)] == [
        ("a", 0.5), ("b", 0),
    ]  # fmt: skip
    press(page, "Backspace")
    expect(page.get_by_role("spinbutton").last).to_have_value("")
    assert [row["criterion"] for row in saved(page, tmp_path)] == ["a"]


def test_undo_flag_comment_and_cannot_judge(page: Page, made: Path, tmp_path: Path) -> None:
    start(page, made / "label.html")
    press(page, "3", "Backspace", "1", "m")
    page.keyboard.type("too curt 1 2")
    press(page, "Escape", "0", "f", "?")
    expect(page.get_by_role("region", name="Keys")).to_be_visible()
    correct, tone = saved(page, tmp_path)
    assert correct["raw"] == 1
    # A digit in a comment is text, and a comment is about the score before it.
    assert correct["rationale"] == "too curt 1 2"
    assert "raw" not in tone
    about = tone["metadata"]
    assert isinstance(about, dict)
    assert (about["cannot_judge"], about["flagged"]) == (True, True)


def test_a_reload_continues_where_it_was(page: Page, made: Path) -> None:
    page.on("dialog", lambda dialog: dialog.accept())
    start(page, made / "label.html")
    press(page, "2", "1", "Enter", "3")
    page.reload()
    begin(page)
    expect(page.get_by_role("heading", name="Item 2")).to_be_visible()
    expect(page.get_by_role("radio", name="3 agrees")).to_have_attribute("aria-checked", "true")
    press(page, "ArrowLeft")
    expect(page.get_by_role("radio", name="2 half")).to_have_attribute("aria-checked", "true")


def test_the_name_is_needed_and_another_annotator_begins_anew(page: Page, made: Path) -> None:
    start(page, made / "label.html")
    press(page, "2", "1")
    page.get_by_role("button", name="Task").click()
    page.get_by_label("Your name").fill(" ")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("Type your name first.")).to_be_visible()
    begin(page, "Ben")
    expect(page.get_by_text("0 done")).to_be_visible()


def test_without_storage_the_annotator_is_warned_and_reminded(page: Page, made: Path) -> None:
    page.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('no', 'QuotaExceededError') }"
    )
    start(page, made / "label.html")
    press(page, "2")
    expect(page.get_by_role("alert").first).to_contain_text("does not keep your answers")
    press(page, "1", "Enter", *["2", "1", "Enter"] * 4)
    expect(page.get_by_text("5 items done, and this browser does not keep them")).to_be_visible()


def test_leaving_with_unsaved_answers_asks_first(page: Page, made: Path, tmp_path: Path) -> None:
    asked: list[str] = []

    def on_dialog(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", on_dialog)
    start(page, made / "label.html")
    press(page, "2")
    page.reload()
    assert asked == ["beforeunload"]
    begin(page)
    saved(page, tmp_path)
    page.reload()
    assert asked == ["beforeunload"]


def test_a_saved_file_is_resumed_in_another_browser(page: Page, made: Path, tmp_path: Path) -> None:
    start(page, made / "label.html")
    press(page, "3", "2", "Enter", "1", "m")
    page.keyboard.type("a comment")
    saved(page, tmp_path)
    page.evaluate("localStorage.clear()")
    page.goto("about:blank")
    page.goto(file_url(made / "label.html"))
    page.set_input_files("input[type=file]", tmp_path / "labels-ada.jsonl")
    expect(page.get_by_role("heading", name="Item 2")).to_be_visible()
    expect(page.get_by_text("Ada")).to_be_visible()
    again = saved(page, tmp_path)
    assert [row.get("raw") for row in again] == [3, 1, 1, None][: len(again)]


def test_nothing_of_another_annotator_is_undone_after_their_file_was_opened(
    page: Page, made: Path, tmp_path: Path
) -> None:
    start(page, made / "label.html", "Ben")
    for _ in range(N):
        press(page, "3", "2", "Enter")
    before = saved(page, tmp_path)
    page.get_by_role("button", name="Task").click()
    begin(page)
    press(page, "1")
    page.locator("input[type=file]").set_input_files(tmp_path / "labels-ben.jsonl")
    expect(page.get_by_text("Ben")).to_be_visible()
    press(page, "Backspace")
    assert saved(page, tmp_path) == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no json", "cannot be read"),
        ("", "has no answers"),
        (
            '{"case_id": "i-1", "annotator": "x", "metadata": {"packet": "p"}}',
            "another labelling page",
        ),
        (
            '{"case_id": "a", "annotator": "x"}\n{"case_id": "a", "annotator": "y"}',
            "several people",
        ),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    page: Page, made: Path, tmp_path: Path, text: str, said: str
) -> None:
    page.goto(file_url(made / "label.html"))
    (tmp_path / "bad.jsonl").write_text(text, encoding="utf-8")
    page.set_input_files("input[type=file]", tmp_path / "bad.jsonl")
    expect(page.get_by_role("alert").first).to_contain_text(said)


def test_the_practice_item_keeps_nothing(page: Page, made: Path) -> None:
    page.goto(file_url(made / "label.html"))
    page.get_by_role("button", name="Try it first").click()
    press(page, "2", "1", "Enter")
    expect(page.get_by_role("heading", name="That was the practice item")).to_be_visible()
    assert page.evaluate("localStorage.length") == 0
    page.get_by_role("button", name="Back to the start").last.click()
    expect(page.get_by_label("Your name")).to_be_visible()


def hidden_in(path: Path) -> str:
    """All text of a page besides its script, with everything in it that is packed."""
    text = path.read_text(encoding="utf-8").replace(asset_text("page.js"), "")
    for packed in re.findall(r"H4sI[A-Za-z0-9+/=]+", text):
        text += gzip.decompress(base64.b64decode(packed)).decode()
    return text


@pytest.mark.parametrize("name", ["label.html", "pairs.html"])
def test_a_packet_holds_nothing_that_reveals_who_wrote(made: Path, name: str) -> None:
    text = hidden_in(made / name)
    run = json.loads(judgekit("show", "--json", folder=made).stdout)
    ids = re.findall(r"\d{8}T\d{6}Z-[\w-]+", json.dumps(run))
    secrets = ["secret-case", "prompt-v1", "prompt-v2", "hidden-model", "recorded:", "replies"]
    for secret in (*secrets, *ids):
        assert secret not in text
    assert "Can I return lamp" in text
    assert "[name withheld]" in text


def test_foreign_markup_is_only_text(page: Page, made: Path) -> None:
    start(page, made / "label.html")
    expect(page.get_by_text("<b>can</b>").first).to_be_visible()
    assert page.locator(".texts b").count() == 0


def test_pairs_are_chosen_by_keys(page: Page, made: Path, tmp_path: Path) -> None:
    start(page, made / "pairs.html")
    expect(page.get_by_role("heading", name="FIRST")).to_be_visible()
    for key in "12301":
        press(page, key, "Enter")
    found = saved(page, tmp_path)
    assert [row.get("winner") for row in found] == ["first", "second", "tie", None, "first"]


@pytest.mark.parametrize("name", ["label.html", "pairs.html"])
def test_a_phone_shows_an_item_without_scrolling_sideways(
    page: Page, made: Path, name: str
) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(file_url(made / name))
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    begin(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 320


PAGE = ("label", "--page")


def test_the_viewer_stores_each_answer_and_shows_agreement(page: Page, made: Path) -> None:
    with viewing(made, verb=PAGE) as address:
        page.goto(address)
        for name, score in (("Ada", "1"), ("Ben", "3")):
            begin(page, name)
            press(page, score, "m")
            page.keyboard.type("by " + name)
            press(page, "Escape", "2", "Enter", "2", "1", "Backspace")
            expect(page.get_by_role("status")).to_have_text("The last answer is undone.")
            expect(page.get_by_text("stored at")).to_be_visible()
            expect(page.get_by_text("storing")).to_be_hidden()
            page.reload()
        begin(page, "Ada")
        expect(page.get_by_text("1 done")).to_be_visible()
        page.goto(page.url + "/agreement")
        expect(page.get_by_role("heading", name="Agreement of annotators")).to_be_visible()
    judgekit("label", "--export", "human.jsonl", folder=made)
    lines = (made / "human.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    assert {row.get("rationale") for row in found} == {"by Ada", "by Ben", None}
    stored = [(row["annotator"], row["criterion"], row["raw"]) for row in found]
    assert sorted(stored) == [
        ("Ada", "correct", 1), ("Ada", "correct", 2), ("Ada", "tone", 1),
        ("Ben", "correct", 2), ("Ben", "correct", 3), ("Ben", "tone", 1),
    ]  # fmt: skip


def test_the_order_of_the_page_is_that_of_the_terminal(
    page: Page, made: Path, tmp_path: Path
) -> None:
    start(page, made / "label.html", "Bée 😀")
    press(page, *["2", "1", "Enter"] * N)
    found = saved(page, tmp_path)
    asked = list(dict.fromkeys(row["case_id"] for row in found))
    packet = found[0]["metadata"]["packet"]
    assert asked == sorted(asked, key=lambda item: annotator_rank(packet, "Bée 😀", item))


def scored(page: Page, path: Path, folder: Path, name: str, *keys: str) -> Path:
    """The file of an annotator who gives every item the same answers."""
    page.goto("about:blank")
    start(page, path, name)
    press(page, *[*keys, "Enter"] * N)
    saved(page, folder)
    return folder / f"labels-{name.lower()}.jsonl"


def test_conflicts_are_decided_by_keys_in_the_page_of_a_merge(
    page: Page, made: Path, tmp_path: Path
) -> None:
    files = [
        scored(page, made / "label.html", tmp_path, name, key, "2")
        for name, key in (("Ada", "1"), ("Ben", "3"))
    ]
    judgekit("label", "--merge", *files, "-o", tmp_path / "agreement.html", folder=made)
    page.goto(file_url(tmp_path / "agreement.html"))
    page.get_by_label("Your name").fill("Ada")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Ada has labelled these items: a third annotator")).to_be_visible()
    begin(page, "Cy")
    expect(page.get_by_role("heading", name="Agreement by criterion")).to_be_hidden()
    labels = page.get_by_role("region", name="Labels that differ")
    expect(labels).to_contain_text("Ada · correct1")
    expect(labels).to_contain_text("Ben · correct3")
    # Only the criterion that they see differently is asked about.
    press(page, "2", "m")
    page.keyboard.type("half of it")
    press(page, "Escape", "Enter", *["3", "Enter"] * (N - 1))
    expect(page.get_by_role("heading", name="All items are done")).to_be_visible()
    decided = saved(page, tmp_path)
    assert [row["raw"] for row in decided] == [2, 3, 3, 3, 3]
    assert {row["metadata"]["adjudicates"] for row in decided} == {True}
    page.get_by_role("button", name="Task").click()
    expect(page.get_by_role("heading", name="Agreement by criterion")).to_be_visible()
    both = (*files, tmp_path / "labels-cy.jsonl")
    done = judgekit("label", "--merge", *both, "-o", tmp_path / "all.jsonl", folder=made)
    assert done.stdout.count("decided by Cy") == 5
    assert "decided by Cy 2: half of it" in done.stdout
    report = judgekit("calibrate", tmp_path / "all.jsonl", "--json", folder=made)
    assert json.loads(report.stdout)["joined"]["annotators"] == ["Ada", "Ben", "Cy"]


def test_pairs_are_labelled_and_decided_in_the_viewer(
    page: Page, made: Path, tmp_path: Path
) -> None:
    both = ("prompt-v1.jsonl", "prompt-v2.jsonl", "--pairwise")
    with viewing(made, *both, verb=PAGE) as address:
        page.goto(address)
        for name, key in (("Ada", "1"), ("Ben", "2")):
            begin(page, name)
            press(page, *[key, "Enter"] * N)
            expect(page.get_by_role("heading", name="All items are done")).to_be_visible()
            expect(page.get_by_text("stored at")).to_be_visible()
            expect(page.get_by_text("storing")).to_be_hidden()
            page.reload()
        begin(page, "Ada")
        expect(page.get_by_text("5 done")).to_be_visible()
        page.goto(page.url + "/agreement")
        expect(page.get_by_role("row", name="Ada", exact=False).last).to_contain_text("100 %")
        begin(page, "Cy")
        press(page, "1", "Enter", "3", "Enter")
        expect(page.get_by_text("stored at")).to_be_visible()
        expect(page.get_by_text("storing")).to_be_hidden()
        page.reload()
        expect(page.get_by_text("5 conflicts, 2 of them decided")).to_be_visible()
        begin(page, "Cy")
        expect(page.get_by_role("heading", name="Item 3")).to_be_visible()
    judgekit("label", "--pairwise", "--export", tmp_path / "pairs.jsonl", *both[:2], folder=made)
    lines = (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    winners = [(row["annotator"], row["winner"]) for row in map(json.loads, lines)]
    assert len(winners) == 2 * N + 2
    assert [winner for name, winner in winners if name == "Cy"].count("tie") == 1


def test_without_script_the_task_can_be_read(browser: Browser, made: Path) -> None:
    plain = browser.new_context(java_script_enabled=False)
    page = plain.new_page()
    page.goto(file_url(made / "label.html"))
    expect(page.get_by_text("Does the answer agree with the reference?")).to_be_visible()
    expect(page.get_by_text("this page needs JavaScript")).to_be_visible()
    plain.close()


HOSTILE = (
    "</script><script>hit=1</script><img src=x onerror='hit=1'><svg onload='hit=1'>"
    "\"><iframe srcdoc='<script>parent.hit=1</script>'></iframe>{{hit}}${hit=1}\u202e\x1b[31m"
)


def test_hostile_text_runs_nothing_even_without_the_policy(page: Page, tmp_path: Path) -> None:
    quoted = json.dumps(HOSTILE)
    (tmp_path / "rubric.yaml").write_text(
        f"name: r\ncriteria:\n  - name: {quoted}\n    question: {quoted}\n"
        f"    scoring_guide: {quoted}\n"
        f"    scale: [{{value: 1, name: {quoted}}}, {{value: 2, description: {quoted}}}]\n",
        encoding="utf-8",
    )
    output = dict.fromkeys(("input", "reference", "text", "context"), HOSTILE)
    output |= {"case_id": "c", "trace": [{"type": "call", "name": HOSTILE, "content": HOSTILE}]}  # type: ignore[dict-item]
    (tmp_path / "outputs.jsonl").write_text(rows(output), encoding="utf-8")
    judgekit("label", "outputs.jsonl", "--rubric", "rubric.yaml", "-o", "x.html", folder=tmp_path)
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    assert len(bare) < len(text)
    (tmp_path / "x.html").write_text(bare, encoding="utf-8")
    start(page, tmp_path / "x.html", HOSTILE[:80])
    press(page, "1", "m")
    page.keyboard.type(HOSTILE[:60])
    press(page, "Escape", "Enter")
    expect(page.get_by_role("heading", name="All items are done")).to_be_visible()
    press(page, "ArrowLeft")
    assert page.evaluate("typeof hit") == "undefined"
    assert page.locator("main img, main svg, main iframe, main script:not([type])").count() == 0
    saved(page, tmp_path)
