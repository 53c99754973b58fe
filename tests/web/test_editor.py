"""The editor's routes, by real requests: what may be opened, checked, changed and written."""

from __future__ import annotations

import json
import os
import secrets
import stat
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, cast

import pytest

from judgekit.cli.validate import checked_file
from judgekit.store import RunStore
from judgekit.web import ViewContext, editor_routes
from tests.web.conftest import Reply, Served, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUITE = """\
# The support suite.
name: support
dataset: cases.jsonl
rubric: rubric.yaml
judge: {model: "recorded:replies.jsonl"}
variants: [{id: v1, outputs: outputs.jsonl}]
"""
RUBRIC = """\
name: tone
criteria:
  - name: polite   # the only one
    question: Is the reply polite?
    scale:
      - {value: 1, description: It is polite.}
      - {value: 0, description: It is rude.}
"""
CASES = '{"id": "a", "input": "Hello?", "reference": "Hi."}\n'
REPLY = {"evidence": ["Good day"], "rationale": "It greets the customer.", "score": 1}


def write_folder(folder: Path) -> Path:
    """A suite whose only judgment is recorded."""
    folder.mkdir()
    files = {
        "suite.yaml": SUITE,
        "rubric.yaml": RUBRIC,
        "cases.jsonl": CASES,
        "outputs.jsonl": '{"case_id": "a", "text": "Good day to you."}\n',
        "replies.jsonl": json.dumps(
            {"case_id": "a", "criterion": "polite", "text": json.dumps(REPLY)}
        )
        + "\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@contextmanager
def editing(folder: Path) -> Iterator[Served]:
    with closing(RunStore(folder.parent / "store.db")) as store:
        context = ViewContext(store, secrets.token_urlsafe(8), "may-write", folder)
        cache = folder.parent / "cache"
        routes = editor_routes(context, checked_file, cache=cache)
        with serving(context, routes) as served:
            yield served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "work")


@pytest.fixture
def served(folder: Path) -> Iterator[Served]:
    with editing(folder) as served:
        yield served


def ask(served: Served, what: str, **body: object) -> dict[str, object]:
    reply = served.post(f"/api/edit/{what}", body)
    assert reply.status == 200, reply.text
    return reply.json()


def messages(state: dict[str, object]) -> list[tuple[object, object, object]]:
    problems = cast("list[dict[str, object]]", state["problems"])
    return [(one["path"], one["line"], one["message"]) for one in problems]


def test_the_pages_show_files_without_a_script(served: Served) -> None:
    home, page = served.get("/edit"), served.get("/edit/suite.yaml")

    assert (home.status, page.status) == (200, 200)
    assert "5 files: no errors" in home.text
    assert "# The support suite." in page.text
    assert 'name="judgekit-token"' in page.text


def test_the_start_page_leads_to_each_file_and_says_how_to_run_a_suite(
    served: Served, folder: Path
) -> None:
    (folder / "rubric.yaml").write_text(RUBRIC.replace("question", "questoin"))
    page = served.get("/edit").text

    assert '<a href="/edit/cases.jsonl">cases.jsonl</a>' in page
    assert 'class="text fail">2 errors' in page
    assert "To run suite.yaml: judgekit run suite.yaml" in page


def test_a_folder_without_files_says_what_makes_one(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with editing(tmp_path / "empty") as served:
        assert "`judgekit init` makes a suite" in served.get("/edit").text


def test_a_link_out_of_the_folder_is_refused_by_a_page_that_leads_back(
    served: Served, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.yaml").write_text("name: secret")
    (folder / "out.yaml").symlink_to(tmp_path / "secret.yaml")
    reply = served.get("/edit/out.yaml")

    assert reply.status == 403
    assert "out.yaml is a link to a file that cannot be opened" in reply.text
    assert "It leads out of the folder" in reply.text
    assert '<a href="/edit">Editor</a>' in reply.text


def test_the_listing_counts_what_is_wrong_with_each_file(served: Served, folder: Path) -> None:
    (folder / "rubric.yaml").write_text(RUBRIC.replace("question", "questoin"))
    (folder / "package.json").write_text('{"name": "x", "scripts": {}}')
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "cases.jsonl").write_text(CASES)

    listed = cast("list[dict[str, object]]", ask(served, "files")["files"])

    errors = {one["path"]: one["n_errors"] for one in listed}
    assert errors["rubric.yaml"] == 2
    assert errors["suite.yaml"] == 2
    assert {*errors} == {
        "suite.yaml",
        "rubric.yaml",
        "cases.jsonl",
        "outputs.jsonl",
        "replies.jsonl",
    }
    commands = {one["path"]: one["command"] for one in listed}
    assert commands["suite.yaml"] == "judgekit run suite.yaml"
    assert commands["cases.jsonl"] is None


def test_only_files_of_the_folder_can_be_opened(served: Served, folder: Path) -> None:
    outside = folder.parent / "secret.yaml"
    outside.write_text("name: secret\n")
    for name in ("notes.md", "run.py", ".hidden.yaml"):
        (folder / name).write_text("name: hidden\n")
    (folder / "out.yaml").symlink_to(outside)
    (folder / "away").symlink_to(folder.parent)
    (folder / "renamed.yaml").symlink_to(folder / "run.py")
    (folder / "hid.yaml").symlink_to(folder / ".hidden.yaml")
    (folder / "dir.yaml").mkdir()
    os.mkfifo(folder / "pipe.yaml")
    names = [
        "../secret.yaml", "sub/../../secret.yaml", "/etc/passwd.yaml", "a//b.yaml", "./suite.yaml",
        "..\\secret.yaml", ".hidden.yaml", ".judgekit/x.json", "id_rsa", "notes.md", "run.py",
        "suite.yaml/", "", "out.yaml", "away/secret.yaml", "renamed.yaml", "hid.yaml", "pipe.yaml",
        "nul\0.yaml", "dir.yaml",
    ]  # fmt: skip

    replies = {
        (name, what): served.post(f"/api/edit/{what}", {"path": name} | body)
        for name in names
        for what, body in {
            "open": {},
            "check": {"text": "name: x"},
            "save": {"text": "name: x", "version": ""},
            "preview": {"text": "name: x", "suite": "suite.yaml"},
        }.items()
    }

    assert {key: reply.status for key, reply in replies.items() if reply.status != 403} == {}
    assert not any("hidden\n" in reply.text for reply in replies.values())
    assert "only files that end in" in replies["run.py", "open"].text
    assert outside.read_text() == "name: secret\n"


@pytest.mark.parametrize("path", ["/edit/../x.yaml", "/edit/%2e%2e/x.yaml", "/edit/..%2fx.yaml"])
def test_an_address_that_leads_out_is_forbidden(served: Served, path: str) -> None:
    assert served.get(path).status == 403


def test_links_within_the_folder_are_followed_and_stay_links(served: Served, folder: Path) -> None:
    (folder / "alias.yaml").symlink_to(folder / "suite.yaml")
    version = ask(served, "open", path="alias.yaml")["version"]

    ask(served, "save", path="alias.yaml", text=SUITE + "tags: [x]\n", version=version)

    assert (folder / "alias.yaml").is_symlink()
    assert (folder / "suite.yaml").read_text() == SUITE + "tags: [x]\n"


def test_a_missing_and_a_large_file_have_a_message(served: Served, folder: Path) -> None:
    (folder / "large.jsonl").write_text("{}\n" * 800_000)
    listed = cast("list[dict[str, object]]", ask(served, "files")["files"])
    kinds = {one["path"]: str(one["kind"]) for one in listed}
    assert kinds["large.jsonl"].startswith("larger than 2")

    assert served.post("/api/edit/open", {"path": "none.yaml"}).status == 404
    large = served.post("/api/edit/open", {"path": "large.jsonl"})
    assert large.status == 413
    assert "larger than 2" in large.text


def test_what_is_typed_is_checked_as_validate_checks_a_file(served: Served, folder: Path) -> None:
    typed = SUITE.replace("rubric:", "rubrik:")

    state = ask(served, "check", path="suite.yaml", text=typed)

    (folder / "suite.yaml").write_text(typed)
    saved = checked_file(folder / "suite.yaml")
    assert messages(state) == [("suite.yaml", 4, "the field `rubrik` is not known")]
    assert saved.problems[0]["message"] == "the field `rubrik` is not known"
    assert state["summary"] == saved.summary == "1 error"


def test_problems_of_lint_and_of_templates_are_listed_too(served: Served, folder: Path) -> None:
    template = (
        "{% block system %}Grade.{% endblock %}\n{% block shared %}{{ output }}{% endblock %}"
    )
    (folder / "own.j2").write_text("{% block system %}{% endblock %}")

    state = ask(served, "check", path="own.j2", text=template)
    broken = ask(served, "check", path="own.j2", text="{% block system %}\n{% if %}\n")

    assert state["kind"] == "template"
    rules = {one["rule"] for one in cast("list[dict[str, object]]", state["problems"])}
    assert rules
    assert [line for _, line, _ in messages(broken)] == [2]


def test_other_files_are_read_from_disk_and_named_within_the_folder(
    served: Served, folder: Path
) -> None:
    (folder / "cases.jsonl").write_text('{"id": "a"}\n')

    state = ask(served, "check", path="suite.yaml", text=SUITE)

    assert messages(state) == [("cases.jsonl", 1, "case 'a': the field `input` is missing")]
    assert str(folder) not in json.dumps(state)


def test_what_is_typed_is_seen_by_its_own_request_only(served: Served, folder: Path) -> None:
    ask(served, "check", path="cases.jsonl", text="{")

    assert ask(served, "check", path="suite.yaml", text=SUITE)["problems"] == []
    assert checked_file(folder / "cases.jsonl").problems == ()


def test_the_forms_get_the_data_and_the_lines_of_cases(served: Served) -> None:
    rows = ask(served, "open", path="cases.jsonl")
    inline = SUITE.replace("dataset: cases.jsonl", "cases:\n  - {id: a, input: x}")
    suite = ask(served, "check", path="suite.yaml", text=inline)
    rubric = ask(served, "check", path="rubric.yaml", text=RUBRIC)
    broken = ask(served, "check", path="rubric.yaml", text="criteria: [")
    row = ask(served, "check", path="cases.jsonl", text=CASES + "{")

    assert (rows["form"], rows["cases_at"], rows["lines"]) == ("cases", [], [1])
    assert (suite["form"], suite["cases_at"], suite["lines"]) == ("suite", ["cases"], [4])
    assert (rubric["form"], rubric["cases_at"]) == ("rubric", None)
    assert (broken["form"], broken["data"]) == (None, None)
    assert (row["kind"], row["form"], row["summary"]) == ("cases", None, "1 error")
    assert cast("list[dict[str, object]]", rows["profiles"])[3] == {
        "name": "creative", "strategies": "llm_judge", "threshold": "0.7", "rubric": "creative",
    }  # fmt: skip


def test_a_change_of_a_field_gives_the_new_text_with_its_state(served: Served) -> None:
    changed = ask(
        served, "change", path="rubric.yaml", text=RUBRIC, kind="set",
        where=["criteria", 0, "weight"], value=2,
    )  # fmt: skip

    assert changed["text"] == RUBRIC + "    weight: 2\n"
    assert changed["problems"] == []


def test_a_saved_file_keeps_its_mode_line_ends_and_mark(served: Served, folder: Path) -> None:
    path = folder / "cases.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + CASES.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    opened = ask(served, "open", path="cases.jsonl")
    text = str(opened["text"]).replace("Hello?", "Grüße 😀")

    saved = ask(served, "save", path="cases.jsonl", text=text, version=opened["version"])

    assert path.read_bytes() == b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert ask(served, "open", path="cases.jsonl")["version"] == saved["version"]
    assert [one.name for one in folder.iterdir() if one.name.endswith(".part")] == []


def test_a_file_with_several_kinds_of_line_ends_is_not_opened(served: Served, folder: Path) -> None:
    (folder / "cases.jsonl").write_bytes(CASES.encode() + CASES.encode().replace(b"\n", b"\r\n"))

    reply = served.post("/api/edit/open", {"path": "cases.jsonl"})

    assert reply.status == 400
    assert "several kinds of line ends" in reply.text


def test_a_file_that_was_changed_on_disk_is_not_overwritten(served: Served, folder: Path) -> None:
    opened = ask(served, "open", path="suite.yaml")
    (folder / "suite.yaml").write_text(SUITE + "owner: ada\n")

    reply = served.post(
        "/api/edit/save",
        {"path": "suite.yaml", "text": SUITE + "owner: ben\n", "version": opened["version"]},
    )

    assert reply.status == 409
    assert "changed on disk" in str(reply.json()["error"])
    assert reply.json()["text"] == SUITE + "owner: ada\n"
    assert (folder / "suite.yaml").read_text() == SUITE + "owner: ada\n"
    again = ask(
        served, "save", path="suite.yaml", text=SUITE + "owner: ben\n",
        version=reply.json()["version"],
    )  # fmt: skip
    assert again["version"]
    assert (folder / "suite.yaml").read_text() == SUITE + "owner: ben\n"


def test_a_file_with_errors_is_saved_only_where_that_is_confirmed(
    served: Served, folder: Path
) -> None:
    body = {
        "path": "suite.yaml",
        "text": "nam: x\n",
        "version": ask(served, "open", path="suite.yaml")["version"],
    }

    refused = served.post("/api/edit/save", body)

    assert (refused.status, (folder / "suite.yaml").read_text()) == (422, SUITE)
    ask(served, "save", **body, allow_errors=True)
    assert (folder / "suite.yaml").read_text() == "nam: x\n"


def test_recorded_replies_are_not_edited(served: Served) -> None:
    opened = ask(served, "open", path="replies.jsonl")

    reply = served.post(
        "/api/edit/save", {"path": "replies.jsonl", "text": CASES, "version": opened["version"]}
    )

    assert opened["is_recorded"] is True
    assert reply.status == 403


def test_a_text_that_no_file_can_hold_is_refused(served: Served, folder: Path) -> None:
    version = ask(served, "open", path="cases.jsonl")["version"]

    reply = served.post(
        "/api/edit/save", {"path": "cases.jsonl", "text": '{"id": "\ud800"}\n', "version": version}
    )

    assert reply.status == 400
    assert "the request is not valid: text" in reply.text
    assert (folder / "cases.jsonl").read_text() == CASES


@pytest.mark.parametrize("body", [{}, {"path": 3}, {"path": "suite.yaml", "more": 1}])
def test_a_request_with_other_fields_is_refused(served: Served, body: dict[str, object]) -> None:
    reply: Reply = served.post("/api/edit/open", body)

    assert reply.status == 400
    assert "the request is not valid" in reply.text
