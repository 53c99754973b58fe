"""The editor in a browser: from an edit to a run, and that nothing typed or stored does harm."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import judgekit, viewing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Dialog, Locator, Page


@pytest.fixture(scope="module")
def served(
    suite_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, str]]:
    """A copy of the suite, whose store has a run, and its editor."""
    copy = tmp_path_factory.mktemp("editor") / "demo"
    shutil.copytree(suite_folder, copy)
    with viewing(copy, "--edit", ".") as address:
        yield copy, address


@pytest.fixture
def folder(served: tuple[Path, str], suite_folder: Path) -> Path:
    """The folder with its files as they were."""
    for extra in served[0].glob("*.yaml"):
        extra.unlink()
    store = shutil.ignore_patterns(".judgekit")
    shutil.copytree(suite_folder, served[0], dirs_exist_ok=True, ignore=store)
    return served[0]


@pytest.fixture
def editor(served: tuple[Path, str], folder: Path) -> str:
    assert folder.is_dir()
    return served[1]


def open_file(page: Page, editor: str, name: str, state: str = "") -> None:
    page.goto(editor.replace("/edit?", f"/edit/{name}?") + state)
    expect(page.get_by_role("button", name="Text", exact=True)).to_be_visible()


def text_area(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Text of")


def summary(page: Page) -> Locator:
    return page.get_by_role("region", name="Problems").get_by_role("status")


def test_an_edit_is_checked_corrected_shown_saved_and_run(
    page: Page, editor: str, folder: Path
) -> None:
    before = (folder / "judgekit.yaml").read_text()
    page.goto(editor)
    page.get_by_role("link", name="judgekit.yaml").click()
    page.get_by_role("button", name="Text", exact=True).click()

    # A misspelt field is reported as `judgekit validate` does, with its line.
    typed = before.replace("rubric:", "rubrik:") + "tags: [edited]\n"
    text_area(page).fill(typed)
    expect(summary(page)).to_have_text("1 error")
    listed = page.get_by_role("region", name="Problems")
    expect(listed.get_by_text("the field `rubrik` is not known")).to_be_visible()
    expect(page.locator(".ed-gutter .ed-error")).to_have_text("✗ 6")
    page.get_by_role("button", name="line 6").click()
    selected = "(area) => area.value.slice(area.selectionStart, area.selectionEnd)"
    expect(text_area(page)).to_be_focused()
    assert text_area(page).evaluate(selected) == "rubrik: rubrics/quality.yaml"

    # The selected line is typed over.
    page.keyboard.type("rubric: rubrics/quality.yaml")
    expect(summary(page)).to_have_text("no problems found")
    page.keyboard.press("Control+s")
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("ins")).to_have_text("added: + tags: [edited]")
    expect(dialog.locator("del")).to_have_count(0)
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved.")).to_be_visible()

    # Every comment is there, and the command line runs what was written.
    assert (folder / "judgekit.yaml").read_text() == before + "tags: [edited]\n"
    judgekit("run", "--no-progress", folder=folder)
    page.goto(editor.partition("/edit")[0] + "/runs/latest")
    expect(page.get_by_role("heading", level=1)).to_contain_text("demo")


def test_a_file_changed_on_disk_is_shown_beside_what_was_typed(
    page: Page, editor: str, folder: Path, problems: list[str]
) -> None:
    open_file(page, editor, "judgekit.yaml", "#view=text")
    text = text_area(page).input_value()
    (folder / "judgekit.yaml").write_text(text + "owner: ada\n")
    text_area(page).fill(text + "owner: ben\n")
    page.keyboard.press("Control+s")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()

    dialog = page.get_by_role("dialog", name="Changed on disk")
    expect(dialog.locator("del")).to_contain_text("owner: ada")
    expect(dialog.locator("ins")).to_contain_text("owner: ben")
    assert (folder / "judgekit.yaml").read_text() == text + "owner: ada\n"

    dialog.get_by_role("button", name="Keep mine").click()
    expect(dialog).to_be_hidden()
    page.keyboard.press("Control+s")
    expect(page.get_by_role("dialog").locator("del")).to_contain_text("owner: ada")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert (folder / "judgekit.yaml").read_text() == text + "owner: ben\n"
    # Chromium reports every answer with a status of 400 and more.
    assert [one for one in problems if "409" not in one] == []
    problems.clear()


def test_keys_held_down_and_a_double_click_save_once_and_what_was_seen(
    page: Page, editor: str, folder: Path
) -> None:
    open_file(page, editor, "judgekit.yaml", "#view=text")
    text = text_area(page).input_value()
    text_area(page).fill(text + "owner: ben\n")
    save = page.get_by_role("dialog").get_by_role("button", name="Save")
    page.keyboard.down("Control")
    page.keyboard.down("s")
    expect(save).to_be_visible()
    page.keyboard.down("s")
    page.keyboard.up("s")
    page.keyboard.up("Control")
    with page.expect_response("**/api/edit/save") as reply:
        assert (folder / "judgekit.yaml").read_text() == text
        save.dblclick()
    assert reply.value.status == 200
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert (folder / "judgekit.yaml").read_text() == text + "owner: ben\n"


def test_a_case_is_edited_in_the_form_and_only_its_line_changes(
    page: Page, editor: str, folder: Path
) -> None:
    before = (folder / "cases.jsonl").read_text().splitlines()
    open_file(page, editor, "cases.jsonl")
    page.get_by_label("Find a case").fill("jonas")
    expect(page.get_by_text("1 of 12 cases")).to_be_visible()
    page.get_by_role("button", name="private-address").click()
    page.get_by_label("tags").fill("support, edited")
    page.get_by_label("reference").fill("Declines.\nOffers a voucher.")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("dialog").locator("mark").first).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved.")).to_be_visible()

    after = (folder / "cases.jsonl").read_text().splitlines()
    assert [*after[:1], *after[2:]] == [*before[:1], *before[2:]]
    wanted = json.loads(before[1]) | {
        "tags": ["support", "edited"],
        "reference": "Declines.\nOffers a voucher.",
    }
    assert json.loads(after[1]) == wanted
    assert "case=private-address" in page.url


def test_cases_are_added_copied_moved_and_deleted(page: Page, editor: str, folder: Path) -> None:
    open_file(page, editor, "cases.jsonl")
    names = page.locator(".ed-items strong")
    ids = [json.loads(row)["id"] for row in (folder / "cases.jsonl").read_text().splitlines()]
    expect(names).to_have_text(ids)

    page.get_by_role("button", name="Duplicate").click()
    expect(names).to_have_text([ids[0], "sale-item-refund-2", *ids[1:]])
    page.get_by_role("button", name="Move down").click()
    expect(names).to_have_text([ids[0], ids[1], "sale-item-refund-2", *ids[2:]])
    page.get_by_role("button", name="Add", exact=True).click()
    expect(names).to_have_text([ids[0], ids[1], "sale-item-refund-2", "case-2", *ids[2:]])
    page.get_by_role("button", name="Delete").click()
    expect(names).to_have_text([ids[0], ids[1], "sale-item-refund-2", *ids[2:]])

    page.get_by_role("button", name="Text", exact=True).click()
    assert text_area(page).input_value().count('"id"') == len(ids) + 1


def test_the_list_of_cases_is_walked_by_the_arrow_keys(page: Page, editor: str) -> None:
    open_file(page, editor, "cases.jsonl")
    page.locator(".ed-items button").first.focus()

    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")

    expect(page.get_by_label("id", exact=True)).to_have_value("revenue-sql")
    expect(page.get_by_label("Case", exact=True)).to_have_value("revenue-sql")


def test_a_field_that_is_not_json_stays_out_of_the_file(
    page: Page, editor: str, folder: Path
) -> None:
    first, _, others = (folder / "cases.jsonl").read_text().partition("\n")
    checked = json.loads(first) | {"assertions": [{"type": "text.contains", "value": "refund"}]}
    (folder / "cases.jsonl").write_text(f"{json.dumps(checked)}\n{others}")
    open_file(page, editor, "cases.jsonl")
    field = page.get_by_label("assertions (JSON)")

    field.fill('[{"type": "text.contains", "value":')
    expect(page.get_by_text("Not in the file yet")).to_be_visible()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    field.fill('[{"type": "text.contains", "value": "credit"}]')

    expect(page.get_by_role("button", name="Save")).to_be_enabled()
    expect(summary(page)).to_have_text("no problems found")


def test_a_number_that_a_browser_would_round_is_not_in_a_field(
    page: Page, editor: str, folder: Path
) -> None:
    rows = ({"order": 2**64, "note": "x"}, {"order": 2**53 - 1, "rate": 0.1})
    lines = [
        json.dumps({"id": f"c{n}", "input": "Q", "reference": "R", "metadata": row})
        for n, row in enumerate(rows)
    ]
    (folder / "big.jsonl").write_text("\n".join(lines), encoding="utf-8")
    open_file(page, editor, "big.jsonl")
    note = page.get_by_text("metadata holds a number with more digits than this form keeps")
    field = page.get_by_label("metadata (JSON)")
    expect(note).to_be_visible()
    expect(field).to_have_count(0)
    page.get_by_role("button", name="c1").click()
    expect(field).to_have_value(re.compile(str(2**53 - 1)))
    expect(note).to_have_count(0)


def test_a_rubric_is_edited_by_criteria_and_the_prompt_follows(page: Page, editor: str) -> None:
    open_file(page, editor, "rubrics/quality.yaml")
    expect(page.locator(".ed-prompt").first).to_be_visible()

    page.get_by_label("question").fill("Is every fact of the reference kept?")
    page.get_by_label("Anchor").first.fill("Each fact is kept.")
    page.get_by_label("required").uncheck()

    prompt = page.get_by_role("complementary", name="Preview")
    expect(prompt.get_by_text("Is every fact of the reference kept?").first).to_be_visible()
    expect(prompt.get_by_text("Each fact is kept.").first).to_be_visible()
    page.get_by_role("button", name="Text", exact=True).click()
    expect(text_area(page)).to_have_value(re.compile(r"\n    required: false\n"))
    text = text_area(page).input_value()
    assert "    question: Is every fact of the reference kept?\n" in text
    assert "      - {value: 5, description: Each fact is kept.}\n" in text


def test_a_profile_shows_what_it_sets_and_is_written_into_the_suite(
    page: Page, editor: str
) -> None:
    open_file(page, editor, "judgekit.yaml")
    row = page.get_by_role("row").filter(has_text="flexible")
    expect(row).to_contain_text("semantic_sim")

    row.get_by_role("radio").check()
    page.get_by_role("button", name="Text", exact=True).click()
    expect(text_area(page)).to_have_value(re.compile(r"\nprofile: flexible\n$"))

    page.get_by_role("button", name="Suite", exact=True).click()
    page.get_by_role("row").filter(has_text="none").get_by_role("radio").check()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()


def test_a_recorded_trial_is_free_and_a_model_names_its_price_first(
    page: Page, editor: str
) -> None:
    open_file(page, editor, "cases.jsonl")
    preview = page.get_by_role("complementary", name="Preview")
    expect(preview).to_contain_text("2 recorded replies, free")
    preview.get_by_role("button", name="Try").click()
    expect(preview.get_by_text("The output fails; value 0.44")).to_be_visible()
    expect(preview.locator("blockquote").first).to_contain_text("Thank you for your purchase")

    preview.get_by_label("Model").fill("openai/gpt-4.1-mini")
    preview.get_by_label("Model").press("Tab")
    expect(preview).to_contain_text("2 calls, about $0.0")
    preview.get_by_role("button", name="Try").click()
    expect(preview.get_by_role("button", name="Confirm")).to_be_visible()
    preview.get_by_role("button", name="Cancel").click()
    expect(preview.get_by_role("button", name="Confirm")).to_have_count(0)


def test_recorded_replies_and_narrow_windows_are_read_only(page: Page, editor: str) -> None:
    open_file(page, editor, "replies.jsonl")
    expect(page.get_by_text("it can be read, but not edited")).to_be_visible()
    expect(text_area(page)).not_to_be_editable()

    page.set_viewport_size({"width": 400, "height": 900})
    open_file(page, editor, "cases.jsonl")
    expect(page.get_by_text("too narrow for editing")).to_be_visible()
    expect(page.get_by_label("reference")).to_be_disabled()
    page.get_by_role("button", name="lead-extraction").click()
    expect(page.get_by_label("id", exact=True)).to_have_value("lead-extraction")
    overflow = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert page.evaluate(overflow) is False


def test_leaving_with_unsaved_changes_is_asked_about(page: Page, editor: str) -> None:
    open_file(page, editor, "judgekit.yaml", "#view=text")
    text_area(page).press_sequentially("# x\n")
    asked: list[str] = []

    def accept(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", accept)

    page.get_by_role("link", name="cases.jsonl").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Edit cases.jsonl")
    assert asked == ["beforeunload"]


HOSTILE = (
    "<script>window.hit = 1</script>",
    '<img src=x onerror="window.hit = 1">',
    "</textarea></pre><svg onload='window.hit = 1'>",
    "javascript:window.hit=1",
    "{{ constructor.constructor('window.hit = 1')() }}",
    "\u202e<b onmouseover=window.hit=1>x</b>\u202c",
)  # fmt: skip


def _hostile_texts() -> list[str]:
    """Our own, and those of the shared corpus where it is at hand, which all did run unescaped."""
    corpus = Path(os.environ.get("JUDGEKIT_DATA", ""), "injection", "xss_live_dev.jsonl")
    lines = corpus.read_text().splitlines() if corpus.is_file() else []
    # Theirs call `alert`, which opens a dialog.
    return [*HOSTILE, *(str(json.loads(line)["payload"]) for line in lines)]


@pytest.mark.parametrize("without_policy", [False, True])
def test_hostile_text_in_files_runs_nothing(
    browser: Browser, editor: str, folder: Path, *, without_policy: bool
) -> None:
    """Escaping must hold without the content security policy, too."""
    context = browser.new_context(bypass_csp=without_policy)
    page = context.new_page()
    ran: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        ran.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    rows = [
        {"id": f"{n} {text}", "input": text, "reference": text, "tags": [text], "name": text}
        for n, text in enumerate(_hostile_texts())
    ]
    (folder / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "<img src=x onerror=alert(1)>.yaml").write_text(
        f"criteria: {json.dumps(HOSTILE[0])}\n"
    )
    # A positive control: with the policy removed such a page would run what got out of its place.
    page.goto(editor)
    if without_policy:
        with page.expect_event("dialog"):
            page.evaluate(
                "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=alert(7)>')"
            )
        assert ran == ["7"]
        ran.clear()

    page.goto(editor)
    expect(page.get_by_role("link", name="<img src=x")).to_be_visible()
    page.goto(editor.replace("/edit?", "/edit/cases.jsonl?"))
    expect(page.locator(".ed-items button")).to_have_count(min(len(rows), 500))
    for row in rows[:: max(1, len(rows) // 8)]:
        page.locator(".ed-items button").nth(rows.index(row)).click()
        expect(page.get_by_label("name", exact=True)).to_have_value(str(row["name"]))
    page.get_by_role("button", name="Text", exact=True).click()
    text_area(page).fill("".join(str(row["name"]) + "\n" for row in rows))
    expect(summary(page)).to_contain_text("error")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("dialog").locator("ins").first).to_contain_text("<script>")

    assert (page.evaluate("window.hit ?? null"), ran) == (None, [])
    context.close()


def test_the_editor_is_readable_without_a_script(editor: str, page: Page) -> None:
    plain = page.context.browser
    assert plain is not None
    context = plain.new_context(java_script_enabled=False)
    bare = context.new_page()
    bare.goto(editor.replace("/edit?", "/edit/judgekit.yaml?"))

    assert "dataset: cases.jsonl" in bare.locator("pre").inner_text()
    context.close()
