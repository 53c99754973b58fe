"""The pages of the viewer: the results of a store, and what it says where there is none."""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from judgekit.evaluation import Run, new_score_comparison
from judgekit.records import CalibrationInUse, GateDecision, LabelPacket, PacketItem
from judgekit.report import run_document
from judgekit.web import ViewContext
from judgekit.web.documents import RUNS_PER_PAGE, ResultDocuments
from tests.calibrations import make_calibration
from tests.store.observing import START, answer, key, make_run, part, said
from tests.store.test_comparisons import info as comparison_info, pair as compared_pair
from tests.web.conftest import Served, add_run, serving

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request

    from judgekit.store import RunStore


def chunks_of(page: str) -> str:
    """Where a page fetches its cases in full."""
    found = re.search('data-chunks="([^"]+)"', page)
    assert found is not None
    return found[1]


def test_the_start_page_lists_the_runs_with_their_intervals(
    store: RunStore, served: Served
) -> None:
    add_run(store)
    page = served.get("/").text
    assert '<a href="/runs/run-1">run-1</a>' in page
    assert 'data-choice="run-1::v1"' in page
    assert re.search(r"67 % \[\d+, \d+\]<svg", page)


def test_the_start_page_of_an_empty_store_says_what_fills_it(served: Served) -> None:
    assert "`judgekit run` stores runs" in served.get("/").text


def test_what_needs_attention_comes_first(store: RunStore, served: Served) -> None:
    add_run(store, "failed")
    store.record_gate(
        GateDecision(run_id="failed", at=START, outcome="failed", reason="below 0.75")
    )
    add_run(store, "now", status="running", suite="other")
    page = served.get("/").text
    attention = page[: page.index("<h2>Runs")]
    for words in ("gate failed", "below 0.75", "3 of 3 answers", "1 open finding (1 "):
        assert words in attention


def test_nothing_needs_attention_where_all_is_well(store: RunStore, served: Served) -> None:
    store.begin(make_run(n_cases=0))
    store.end("run-1", status="complete", at=START)
    assert "Nothing needs attention." in served.get("/").text


def test_older_runs_are_on_further_pages(store: RunStore, served: Served) -> None:
    for n in range(RUNS_PER_PAGE + 1):
        store.begin(make_run(f"run-{n:03}", started_at=START + timedelta(minutes=n)))
    assert 'href="/?page=2">older runs' in served.get("/").text
    second = served.get("/?page=2").text
    assert '<a href="/runs/run-000">' in second
    assert 'href="/?page=1">newer runs' in second
    assert served.get("/?page=3").status == 404


@pytest.mark.parametrize("page", ["0", "-1", "x", "", "٣", "9" * 5000])
def test_a_page_that_is_no_number_is_refused(served: Served, page: str) -> None:
    reply = served.get(f"/?page={quote(page)}")
    assert (reply.status, "is no page number" in reply.text) == (400, True)


def test_a_run_has_the_page_of_its_document(store: RunStore, served: Served) -> None:
    run = Run(add_run(store), store)
    expected = run_document(run.summary(), run.gate())
    page = served.get("/runs/run-1").text
    assert f"<title>{expected.title}</title>" in page
    assert expected.conclusion.text in page


@pytest.mark.parametrize("accepted", ["gzip", "identity"])
def test_cases_in_full_are_fetched(store: RunStore, served: Served, accepted: str) -> None:
    add_run(store)
    address = chunks_of(served.get("/runs/run-1").text)
    reply = served.get(f"{address}0", accept_encoding=accepted)
    assert reply.headers.get("content-encoding") == (None if accepted == "identity" else "gzip")
    assert '"id":"case-2"' in reply.text


def test_pages_are_compressed(store: RunStore, served: Served) -> None:
    add_run(store)
    assert served.get("/runs/run-1", accept_encoding="gzip").headers["content-encoding"] == "gzip"


def test_a_run_that_changed_is_read_again(store: RunStore, served: Served) -> None:
    add_run(store)
    before = served.get("/runs/run-1").text
    added = said("accuracy", 1.0, judge="human", source="human")
    store.add("run-1", [part(key("case-2", "v1"), place=2, said=(added,))])
    assert chunks_of(served.get("/runs/run-1").text) != chunks_of(before)


def test_the_judge_of_a_run_is_compared_with_the_labels_of_the_run(
    store: RunStore, served: Served
) -> None:
    add_run(store)
    assert "judgekit label run-1" in served.get("/calibrations/run-1").text
    for place in range(3):
        one = said("accuracy", float(place < 2), judge="Ada", source="human")
        label = one.model_copy(update={"raw": 5.0 if place < 2 else 1.0})
        store.add("run-1", [part(key(f"case-{place}", "v1"), place=place, said=(label,))])
    page = served.get("/calibrations/run-1").text
    assert "Judge and humans" in page
    assert len(json.loads(served.get(f"{chunks_of(page)}0").text)) == 3
    # How the labelled answers were chosen is in a packet, and decides what is estimated.
    item = PacketItem(id="i-1", case_id="case-0", variant="v1", chosen="informative")
    store.add_packet(
        LabelPacket(id="p-1", source="run-1", made_at=START, criteria=("accuracy",), items=(item,))
    )
    assert chunks_of(served.get("/calibrations/run-1").text) != chunks_of(page)


def test_unknown_cases_ask_for_a_reload(served: Served) -> None:
    reply = served.get("/api/chunk/none/0")
    message = "these cases are not held any more"
    assert (reply.status, reply.json()) == (404, {"error": message})


def test_the_cases_of_the_last_page_are_held_whatever_their_size(store: RunStore) -> None:
    documents = ResultDocuments(store, most_bytes=0)
    shown = [documents.run(add_run(store, name)) for name in ("run-1", "run-2")]
    first, last = map(documents.held.name_of, shown)
    assert not first
    assert documents.held.table(last) is not None


def test_a_run_is_read_once_for_many_requests(store: RunStore) -> None:
    documents = ResultDocuments(store)
    info = add_run(store)
    assert documents.run(info) is documents.run(info)


def test_a_comparison_that_is_stored_later_is_on_the_page_of_its_run(store: RunStore) -> None:
    documents = ResultDocuments(store)
    infos = [add_run(store, name) for name in ("run-1", "run-2")]
    before = documents.run(infos[0])
    a, b = ((info, "v1") for info in infos)
    store.add_score_comparison(new_score_comparison(a, b, now=START))
    assert documents.run(infos[0]) is not before


def test_a_new_run_is_there_after_a_reload(store: RunStore, served: Served) -> None:
    assert served.get("/runs/run-1").status == 404
    add_run(store)
    assert served.get("/runs/run-1").status == 200


def test_a_name_with_slashes_and_spaces_leads_to_its_page(store: RunStore, served: Served) -> None:
    add_run(store, "team/run 1", suite="team/näme ?")
    home = served.get("/").text
    assert 'href="/runs/team%2Frun%201"' in home
    assert served.get("/runs/team%2Frun%201").status == 200
    assert served.get("/trends/team%2Fn%C3%A4me%20%3F").status == 200


def test_an_unknown_run_is_a_page_that_says_what_there_is(store: RunStore, served: Served) -> None:
    add_run(store)
    reply = served.get("/runs/run-l")
    assert reply.status == 404
    assert "no run is called &#39;run-l&#39;" in reply.text
    assert "did you mean run-1?" in reply.text
    assert "judgekit show" in reply.text


@pytest.mark.parametrize("path", ["/nothing", "/runs/", "/assets/../pages.py", "/assets/x.js"])
def test_an_unknown_address_is_a_page(served: Served, path: str) -> None:
    reply = served.get(path)
    assert (reply.status, reply.headers["content-type"]) == (404, "text/html; charset=utf-8")


def test_a_damaged_store_is_an_error_without_a_traceback(store: RunStore, served: Served) -> None:
    add_run(store)
    file = store.location.file
    assert file is not None
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TABLE runs")
    reply = served.get("/runs/run-1")
    assert reply.status == 500
    assert "no such table: runs" in reply.text
    assert "Traceback" not in reply.text
    assert str(file.parent) not in reply.text


def test_an_error_of_ours_shows_nothing_of_itself(store: RunStore) -> None:
    def broken(_: Request) -> PlainTextResponse:
        raise RuntimeError("/home/somebody")

    context = ViewContext(store, secrets.token_urlsafe())
    with serving(context, [Route("/broken", broken)]) as served:
        reply = served.get("/broken")
    assert reply.status == 500
    assert "somebody" not in reply.text
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_a_page_that_takes_long_holds_up_no_other(store: RunStore) -> None:
    is_begun, may_end = threading.Event(), threading.Event()

    def slow(_: Request) -> PlainTextResponse:
        is_begun.set()
        may_end.wait(30)
        return PlainTextResponse("done")

    replies = []
    with serving(ViewContext(store, secrets.token_urlsafe()), [Route("/slow", slow)]) as served:
        waiting = threading.Thread(target=lambda: replies.append(served.get("/slow").text))
        waiting.start()
        assert is_begun.wait(30)
        assert served.get("/").status == 200
        may_end.set()
        waiting.join()
    assert replies == ["done"]


def test_comparisons_of_scores_have_a_page(store: RunStore, served: Served) -> None:
    runs = [add_run(store, name) for name in ("run-1", "run-2")]
    info = new_score_comparison((runs[0], "v1"), (runs[1], "v1"), now=datetime.now(UTC))
    store.add_score_comparison(info)
    home = served.get("/").text
    assert f'href="/comparisons/{info.id}"' in home
    # One variant of both: the runs tell the sides apart.
    row = home.partition(f"/comparisons/{info.id}")[2].partition("</tr>")[0]
    assert ("run-1" in row, "run-2" in row) == (True, True)
    assert "of stored scores" in served.get(f"/comparisons/{info.id}").text


def test_blind_comparisons_have_a_page(store: RunStore, served: Served) -> None:
    store.begin_comparison(comparison_info("cmp-1"))
    store.add_pairs("cmp-1", [compared_pair(n) for n in range(3)])
    store.end_comparison("cmp-1", status="complete")
    assert '<a href="/comparisons/cmp-1">cmp-1</a>' in served.get("/").text
    page = served.get("/comparisons/cmp-1").text
    assert "<dt>shown</dt><dd>in both orders" in page
    assert served.get("/comparisons/cmp-2").status == 404


def test_a_comparison_that_goes_on_is_read_again(store: RunStore, served: Served) -> None:
    store.begin_comparison(comparison_info("cmp-1", n_pairs=3))
    for n in range(1, 4):
        store.add_pairs("cmp-1", [compared_pair(n)])
        page = served.get("/comparisons/cmp-1").text
        assert len(json.loads(served.get(f"{chunks_of(page)}0").text)) == n


def test_a_comparison_of_scores_follows_its_runs(store: RunStore, served: Served) -> None:
    runs = [add_run(store, name) for name in ("run-1", "run-2")]
    info = new_score_comparison((runs[0], "v1"), (runs[1], "v1"), now=datetime.now(UTC))
    store.add_score_comparison(info)
    before = served.get(f"/comparisons/{info.id}").text
    label = said("accuracy", 0.0, judge="Ada", source="human")
    store.add("run-2", [part(key("case-0", "v1"), said=(label,))])
    assert chunks_of(served.get(f"/comparisons/{info.id}").text) != chunks_of(before)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "two sides are needed"),
        ("a=run-1::v1", "two sides are needed"),
        ("a=run-1::v1&b=run-2::v1", "no run is called &#39;run-2"),
        ("a=run-1::v1&b=run-1::v3", "no variant of this run is called &#39;v3&#39;"),
        ("a=run-1&b=run-1::v1", "run run-1 has the variants v1, v2"),
        ("a=run-1::v1&b=run-1::v1", "both sides are the same"),
    ],
)
def test_a_side_that_does_not_exist_says_why(
    store: RunStore, served: Served, query: str, message: str
) -> None:
    add_run(store, "run-1", "v1", "v2")
    reply = served.get(f"/diff?{query}")
    assert reply.status in {400, 404}
    assert message in reply.text


def test_two_variants_are_put_side_by_side(store: RunStore, served: Served) -> None:
    add_run(store, "run-1", "v1", "v2")
    reply = served.get("/diff?a=run-1::v1&b=run-1::v2")
    assert reply.status == 200
    assert "v1" in reply.text


def test_a_trend_leads_to_its_runs(store: RunStore, served: Served) -> None:
    for n in (1, 2, 3):
        add_run(store, f"run-{n}", started_at=START + timedelta(days=n))
    page = served.get("/trends/support").text
    assert '<a href="/runs/run-3">run-3</a>' in page
    assert served.get("/trends/nothing").status == 404


def test_a_suite_without_a_run_that_ended_has_no_trend_and_says_so(
    store: RunStore, served: Served
) -> None:
    add_run(store, status="interrupted")
    reply = served.get("/trends/support")
    assert reply.status in {200, 400, 404}
    assert "error of its own" not in reply.text


def test_findings_are_listed_by_suite_and_shown_one_by_one(store: RunStore, served: Served) -> None:
    add_run(store)
    page = served.get("/findings").text
    (address,) = set(re.findall(r'href="(/findings/f-[^"]+)"', page))
    finding = served.get(address.replace("&amp;", "&")).text
    assert "case-2" in finding
    assert "first seen" in finding
    assert served.get("/findings?suite=nothing").status == 404
    assert served.get("/findings/f-nothing").status == 404


def test_resolved_findings_are_counted_and_shown_on_request(
    store: RunStore, served: Served
) -> None:
    add_run(store)
    store.begin(make_run("run-2", n_cases=3, started_at=START + timedelta(days=1)))
    passed = (said("accuracy"), said("clarity"))
    store.add("run-2", [answer(key(f"case-{n}"), place=n, said=passed) for n in range(3)])
    store.end("run-2", status="complete", at=START + timedelta(days=1))
    assert '<a href="/findings?status=all">1 resolved</a>' in served.get("/findings").text
    assert "case-2" in served.get("/findings?suite=support&status=all").text


def test_of_very_many_findings_the_first_are_shown(store: RunStore, served: Served) -> None:
    store.begin(make_run(n_cases=501))
    failed = (said("accuracy", 0.0), said("clarity", 0.0))
    store.add("run-1", [answer(key(f"c{n}"), place=n, said=failed) for n in range(501)])
    store.end("run-1", status="complete", at=START)
    page = served.get("/findings").text
    assert "The first 500 of 501; all: judgekit findings" in page
    assert "501 open findings" in page


def test_a_run_without_a_calibration_says_how_to_make_one(store: RunStore, served: Served) -> None:
    add_run(store)
    reply = served.get("/calibrations/run-1")
    assert reply.status == 400
    assert "judgekit calibrate LABELS --write-map" in reply.text


def test_a_stale_calibration_needs_attention(store: RunStore, served: Served) -> None:
    use = {"state": "stale", "words": "stale: the template changed since"}
    add_run(store, config={"name": "support", "calibrated": use})
    assert "stale calibration" in served.get("/").text
    page = served.get("/calibrations/run-1").text
    assert "the template changed since" in page
    assert "make one: judgekit calibrate LABELS --write-map" in page


def test_a_calibration_says_what_it_rests_on(store: RunStore, served: Served) -> None:
    use = CalibrationInUse(
        state="calibrated", words="calibrated on 40 labels", calibration=make_calibration()
    )
    add_run(store, config={"name": "support", "calibrated": use.to_json()})
    page = served.get("/calibrations/run-1").text
    assert "What each map does" in page
    assert "labels" in page
    assert '<a href="/runs/run-1">' in page


def test_costs_are_summed_by_suite(store: RunStore, served: Served) -> None:
    assert "No run has ended yet." in served.get("/cost").text
    paid, cached = said("accuracy", cost_usd=0.25), said("clarity", cost_usd=0.5, cached=True)
    for name, suite in (("run-1", "support"), ("run-2", "support"), ("run-3", "other")):
        store.begin(make_run(name, suite=suite))
        store.add(name, [answer(said=(paid, cached))])
        store.end(name, status="complete", at=START)
    page = served.get("/cost").text
    assert "Paid $0.75 in the last 3 runs; the cache saved $" in page
    assert served.get("/cost").text == page


def test_a_page_names_no_folder_of_this_machine(
    store: RunStore, served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    monkeypatch.setenv("USER", "planted-user")
    add_run(
        store,
        "run-1",
        "v1",
        "v2",
        folder=str(tmp_path / "planted-folder"),
        config={"name": "support", "dataset": str(tmp_path / "planted-folder" / "cases.jsonl")},
    )
    store.add_score_comparison(
        new_score_comparison(
            (store.run("run-1"), "v1"), (store.run("run-1"), "v2"), now=datetime.now(UTC)
        )
    )
    comparison = store.score_comparisons()[0].id
    paths = (
        "/", "/runs/run-1", "/cost", "/findings", "/trends/support", f"/comparisons/{comparison}",
        "/diff?a=run-1::v1&b=run-1::v2", "/runs/none", "/calibrations/run-1",
    )  # fmt: skip
    for path in paths:
        assert "planted" not in (text := served.get(path).text), path
        assert str(tmp_path) not in text, path
