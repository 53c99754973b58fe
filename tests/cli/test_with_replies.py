"""`--with-replies`: prompts and raw replies in pages of runs and comparisons, without any key."""

from __future__ import annotations

import re
from base64 import b64decode
from gzip import decompress
from typing import TYPE_CHECKING

import pytest

from judgekit.cli.options import TalkOptions
from judgekit.cli.outputs import LARGE_PAGE, OutputFiles, show_document
from judgekit.report import CaseTable, Conclusion, Document
from tests.cli.bench import output, scores
from tests.judge.comparing import prefers
from tests.report.case_pages import cases_of_page
from tests.report.run_pages import case_table, judged, make_result
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.bench import Bench

KEY = "sk-planted-0123456789"
PROMPT = "answer a"
PAGE = ("-o", "page.html")


def cases_in_full(page: Path) -> str:
    """What the page holds of all cases, unpacked."""
    chunks = re.findall(r'id="chunk-\d+">([^<]*)<', page.read_text(encoding="utf-8"))
    return "".join(decompress(b64decode(chunk)).decode() for chunk in chunks)


def test_a_page_has_prompts_and_replies_only_where_they_are_wanted(bench: Bench) -> None:
    page = bench.folder / "page.html"
    with OpenAILikeServer(scores(a=2)) as server:
        assert bench.grade(server, *PAGE).code == 0
        assert '"messages"' not in cases_in_full(page)
        assert "not included: add --with-replies" in page.read_text(encoding="utf-8")
        assert bench.grade(server, *PAGE, "--with-replies").code == 0
        assert server.n_requests == 8
    found = cases_in_full(page)
    assert found.count('"messages":[{') == 8
    assert '"reply":"{\\"evidence\\"' in found
    assert "not included: add" not in page.read_text(encoding="utf-8")


def test_a_site_has_prompts_and_replies_where_they_are_wanted(bench: Bench) -> None:
    with OpenAILikeServer(scores(a=2)) as server:
        bench.grade(server)
    assert bench.run("view", "--export", "site", "--with-replies").code == 0
    (page,) = (bench.folder / "site").glob("runs-*.html")
    assert '"messages":[{' in cases_in_full(page)
    assert bench.run("view", "--export", "site").code == 0
    assert '"messages":[{' not in cases_in_full(page)


@pytest.mark.parametrize("command", ["show", "report"])
def test_a_stored_run_is_shown_with_the_replies_of_the_cache(bench: Bench, command: str) -> None:
    with OpenAILikeServer(scores(a=2)) as server:
        bench.grade(server)
    assert bench.run(command, "latest", *PAGE, "--with-replies").code == 0
    assert '"messages":[{' in cases_in_full(bench.folder / "page.html")
    # Without the cache the page says so in each place.
    ran = bench.run("show", "latest", *PAGE, "--with-replies", "--cache-dir", "nowhere")
    assert ran.code == 0
    assert "The cache does not hold this prompt" in cases_in_full(bench.folder / "page.html")


def test_no_key_and_no_endpoint_is_in_a_page_with_replies(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with OpenAILikeServer(scores()) as server:
        bench.grade(server, *PAGE, "--with-replies")
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    page = bench.folder / "page.html"
    whole = page.read_text(encoding="utf-8") + cases_in_full(page)
    assert KEY not in whole
    assert f":{server.port}" not in whole


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--with-replies",), "--with-replies is for pages"),
        (("--with-replies", "-o", "page.md"), "--with-replies is for pages"),
        ((*PAGE, "--with-replies", "--no-cache"), "--no-cache and --with-replies contradict"),
    ],
)
def test_the_option_is_refused_where_it_would_have_no_effect(
    bench: Bench, options: tuple[str, ...], words: str
) -> None:
    with OpenAILikeServer(scores()) as server:
        ran = bench.grade(server, *options)
        assert server.n_requests == 0
    assert ran.code == 2
    assert words in ran.err


@pytest.mark.parametrize("arguments", [(), ("latest", "a"), ("latest", "--failed")])
def test_only_a_whole_run_is_shown_with_replies(bench: Bench, arguments: tuple[str, ...]) -> None:
    with OpenAILikeServer(scores()) as server:
        bench.grade(server)
    ran = bench.run("show", *arguments, *PAGE, "--with-replies")
    assert ran.code == 2
    assert "--with-replies is for the page of a whole run" in ran.err


COMPARE = ("compare", "new.jsonl", "old.jsonl", "--rubric", "rubric.yaml")


@pytest.fixture
def compared(bench: Bench) -> Bench:
    """A bench with two pairs, compared by a judge on loopback."""
    for name in ("new", "old"):
        bench.write(f"{name}.jsonl", *(output(case, text=f"{name} {case}") for case in "ab"))
    with OpenAILikeServer(ok(prefers("first"))) as server:
        bench.ask(server, *COMPARE, *PAGE, "--with-replies")
    return bench


def exchanges_of(bench: Bench) -> list[tuple[str, str]]:
    """The order of each choice of a page, and the raw reply that it comes from."""
    return [
        (row["who"], case["exchanges"][row["exchange"]]["reply"])
        for case in cases_of_page(bench.folder / "page.html").full.values()
        for group in case["opinions"]
        for row in group["rows"]
    ]


def test_the_page_of_a_comparison_has_the_exchange_of_each_order(compared: Bench) -> None:
    found = exchanges_of(compared)
    # Two pairs, in both orders, by each of three criteria.
    assert [who for who, _ in found] == ["A shown first", "B shown first"] * 6
    assert all('"preference"' in reply for _, reply in found)


@pytest.mark.parametrize("command", ["show", "report"])
def test_a_stored_comparison_is_shown_with_its_replies(compared: Bench, command: str) -> None:
    (stored,) = compared.run("show", "--comparisons", "--json").json
    name = stored["id"]
    assert compared.run(command, name, *PAGE, "--with-replies").code == 0
    assert len(exchanges_of(compared)) == 12
    assert compared.run(command, name, *PAGE).code == 0
    page = compared.folder / "page.html"
    assert "not included: add --with-replies" in page.read_text(encoding="utf-8")


def test_runs_side_by_side_have_their_replies(bench: Bench) -> None:
    with OpenAILikeServer(scores(a=2)) as server:
        bench.grade(server)
        bench.grade(server, "-n", 1)
    names = [one["id"] for one in bench.run("show", "--json").json["runs"]]
    assert bench.run("report", *names, *PAGE, "--with-replies").code == 0
    assert '"messages":[{' in cases_in_full(bench.folder / "page.html")


def test_a_file_of_results_has_no_replies(bench: Bench) -> None:
    with OpenAILikeServer(scores()) as server:
        bench.grade(server, "-o", "verdicts.jsonl")
    ran = bench.run("report", "verdicts.jsonl", *PAGE, "--with-replies")
    assert ran.code == 2
    assert "--with-replies is for stored runs and comparisons" in ran.err


@pytest.mark.parametrize(("n_bytes", "is_large"), [(LARGE_PAGE, True), (1000, False)])
def test_a_large_page_names_the_viewer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], n_bytes: int, *, is_large: bool
) -> None:
    index = case_table([make_result(0, judged())]).index
    table = CaseTable(index, (bytes(n_bytes),))
    path = tmp_path / "page.html"
    document = Document("large", Conclusion("done"), (table,), dict)
    show_document(document, TalkOptions(), OutputFiles(documents=(path,)))
    assert ("judgekit view shows the same" in capsys.readouterr().err) is is_large
