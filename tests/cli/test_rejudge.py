from __future__ import annotations

import json
import re
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import DEFAULT_STORE_FILE
from judgekit.store import RunStore
from judgekit.testing import ServedReply, ServedRequest
from tests.cli.bench import RUBRIC, asked, output
from tests.cli.interrupting import CtrlC
from tests.factories import make_case, make_output, make_rubric, reply
from tests.judge.comparing import prefers
from tests.report.case_pages import cases_of_page
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer
from tests.store.observing import START, answer, begun, key, said

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran

GOOD, BAD = ok(reply(5)), ok(reply(1))


@pytest.fixture
def kept(bench: Bench) -> Bench:
    """A run of four answers, the last of which did not pass."""
    with closing(RunStore(bench.folder / DEFAULT_STORE_FILE)) as store:
        run = begun(
            store,
            *(
                answer(
                    key(case),
                    place=place,
                    case=make_case(id=case),
                    output=make_output(f"answer {case}"),
                    said=(said(value=float(case != "d"), raw=1 + 4 * (case != "d")),),
                )
                for place, case in enumerate("abcd")
            ),
            rubric=make_rubric(),
            n_cases=4,
        )
        store.end(run.id, status="complete", at=START)
    return bench


def by_case(**answers: ServedReply) -> Callable[[ServedRequest], ServedReply]:
    """A judge who answers by the name at the end of an output; good otherwise."""

    def rule(seen: ServedRequest) -> ServedReply:
        named = (found for name, found in answers.items() if f"answer {name}\n" in asked(seen))
        return next(named, GOOD)

    return rule


def rejudge(bench: Bench, server: OpenAILikeServer, *what: object) -> Ran:
    return bench.ask(server, "rejudge", *what)


def test_a_run_is_judged_again_and_what_changes_is_told(kept: Bench) -> None:
    with OpenAILikeServer(by_case(a=BAD)) as server:
        ran = rejudge(kept, server, "run-1", "-o", "changed.json")
        assert server.n_requests == 4
    assert ran.code == 0
    assert "2 of 4 decisions change: 1 now pass, 1 now fail" in ran.out
    assert "pass to fail  a, v1, 1.00 to 0.00" in ran.out
    assert "measured      apart from the judge both runs measured the same " in ran.out
    assert "human labels  uncalibrated" in ran.out
    found = json.loads((kept.folder / "changed.json").read_text())
    assert found["old_run_id"] == "run-1"
    with closing(RunStore(kept.folder / DEFAULT_STORE_FILE)) as store:
        new = store.run(found["run_id"])
        assert (new.status, new.suite) == ("complete", "support (rejudged)")


def test_the_same_again_costs_nothing(kept: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        first = rejudge(kept, server, "run-1", "--json").json
        second = rejudge(kept, server, "run-1", "--json").json
        assert server.n_requests == 4
    assert first["churn"] == second["churn"]
    assert first["run_id"] != second["run_id"]


def test_another_rubric_is_no_change_of_the_judge_alone(kept: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        ran = rejudge(kept, server, "run-1", "--rubric", "rubric.yaml")
        assert server.n_requests == 0
    assert (ran.code, ran.out) == (4, "")
    assert "not only the judge differs from that of run-1: " in ran.err
    assert "leave out --rubric" in ran.err


def test_verdicts_out_of_a_file_are_judged_again_with_their_outputs(bench: Bench) -> None:
    with OpenAILikeServer(by_case(d=BAD)) as server:
        assert bench.grade(server, "-o", "old.jsonl").code == 0
    what = ("old.jsonl", "outputs.jsonl", "--rubric", "rubric.yaml")
    with OpenAILikeServer(by_case(a=BAD)) as server:
        ran = rejudge(bench, server, *what, "--refresh")
        as_json = rejudge(bench, server, *what, "--json").json
        assert server.n_requests == 8
    assert ran.code == 0
    assert "2 of 4 decisions change: 1 now pass, 1 now fail" in ran.out
    assert (as_json["same_rubric"], as_json["run_id"]) == (True, None)
    assert as_json["n"] == 4


def test_a_file_that_another_rubric_made_is_refused_before_anything_is_asked(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server, "-o", "old.jsonl")
        n_before = server.n_requests
        ran = rejudge(bench, server, "old.jsonl", "outputs.jsonl", "--rubric", "helpfulness")
        bench.write("rubric.yaml", RUBRIC.replace("0.7", "0.1"))
        edited = rejudge(bench, server, "old.jsonl", "outputs.jsonl", "--rubric", "rubric.yaml")
        assert server.n_requests == n_before
    assert (edited.code, "but by another version of it" in edited.err) == (4, True)
    assert (ran.code, ran.out) == (4, "")
    assert "the verdicts in old.jsonl were not made by the rubric helpfulness" in ran.err
    assert "as it is now, but by answers" in ran.err


def test_a_judge_that_fails_is_exit_3(kept: Bench) -> None:
    with OpenAILikeServer(by_case(b=ServedReply(status=400))) as server:
        ran = rejudge(kept, server, "run-1", "--max-retries", "0")
    assert ran.code == 3
    assert "now: 1 question" in ran.out
    assert "1 output by one of the judges" in ran.out


def test_a_frozen_cache_that_misses_is_exit_6(kept: Bench) -> None:
    with OpenAILikeServer() as server:
        ran = rejudge(kept, server, "run-1", "--frozen")
        assert server.n_requests == 0
    assert ran.code == 6


def test_money_that_runs_out_is_exit_5(kept: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        what = ("rejudge", "run-1", "--judge", "openai/gpt-4.1-mini", "--api-base", server.url)
        ran = kept.run(*what, "--max-cost", "0.000001")
        assert server.n_requests == 0
    assert ran.code == 5
    assert "run the same command again" in ran.err


def test_the_prices_of_the_suite_hold_when_its_run_is_judged_again(bench: Bench) -> None:
    price = {"openai/gpt-4.1-mini": {"input_usd": 0.0, "output_usd": 1_000_000.0}}
    with closing(RunStore(bench.folder / DEFAULT_STORE_FILE)) as store:
        judged = answer(key(), output=make_output("answer a"), said=(said(value=1.0, raw=5),))
        run = begun(store, judged, rubric=make_rubric(), n_cases=1, config={"prices": price})
        store.end(run.id, status="complete", at=START)
    with OpenAILikeServer(GOOD) as server:
        what = ("rejudge", "run-1", "--judge", "openai/gpt-4.1-mini", "--api-base", server.url)
        assert bench.run(*what, "--dry-run", "--json").json["price_usd"][0] > 100
        ran = bench.run(*what, "--max-cost", "1")
        assert server.n_requests == 0
    assert ran.code == 5


@pytest.mark.parametrize("how", ["run", "file"])
def test_an_interrupt_tells_what_was_judged_with_exit_130(
    kept: Bench, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    what: tuple[str, ...] = ("run-1",)
    if how == "file":
        with OpenAILikeServer(GOOD) as server:
            kept.grade(server, "-o", "old.jsonl", "--no-cache")
        what = ("old.jsonl", "outputs.jsonl", "--rubric", "rubric.yaml")
    ctrl_c = CtrlC(monkeypatch)

    def press(_: ServedRequest) -> ServedReply:
        ctrl_c.press_once()
        return GOOD

    with OpenAILikeServer(press) as server:
        ran = rejudge(kept, server, *what, "-j", "1")
    assert ran.code == 130
    assert "interrupted; run the same command again" in ran.err
    assert "judge" in ran.out or "now" in ran.out


@pytest.mark.parametrize("how", ["run", "file"])
def test_a_second_interrupt_stops_at_once(
    kept: Bench, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    what: tuple[str, ...] = ("run-1",)
    if how == "file":
        with OpenAILikeServer(GOOD) as server:
            kept.grade(server, "-o", "old.jsonl", "--no-cache")
        what = ("old.jsonl", "outputs.jsonl", "--rubric", "rubric.yaml")
    ctrl_c = CtrlC(monkeypatch)

    def press(_: ServedRequest) -> ServedReply:
        ctrl_c.press_twice()
        return ServedReply(manner="hang")

    with OpenAILikeServer(press) as server:
        ran = rejudge(kept, server, *what, "-j", "1")
    assert (ran.code, ran.out) == (130, "")
    assert "stopped at once" in ran.err


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (("run-1",), "no judge is named"),
        (("run-9", "--judge", "openai/m"), "run-9"),
        (("run-1", "outputs.jsonl", "--judge", "openai/m"), "OUTPUTS go with a file of verdicts"),
        (("run-1", "--judge", "openai/m", "-o", "x.txt"), "its suffix is .txt"),
        (("rubric.yaml", "--judge", "openai/m"), "the outputs they are about are needed too"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(
    kept: Bench, what: tuple[str, ...], words: str
) -> None:
    ran = kept.run("rejudge", *what)
    assert ran.code == 2
    assert words in ran.err


def test_verdicts_of_other_outputs_have_nothing_to_be_set_beside(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server, "-o", "old.jsonl")
        row = {"case_id": "other", "input": "?", "text": "answer"}
        bench.write("others.jsonl", row)
        ran = rejudge(bench, server, "old.jsonl", "others.jsonl", "--rubric", "rubric.yaml")
    assert ran.code == 2
    assert "no output has a verdict in old.jsonl" in ran.err


def test_a_run_of_errors_alone_has_nothing_to_judge_again(bench: Bench) -> None:
    with closing(RunStore(bench.folder / DEFAULT_STORE_FILE)) as store:
        error = make_output(None, error="it timed out")
        begun(store, answer(key("a"), case=make_case(id="a"), output=error, said=()))
        store.end("run-1", status="complete", at=START)
    with OpenAILikeServer(GOOD) as server:
        ran = rejudge(bench, server, "run-1")
        assert server.n_requests == 0
    assert ran.code == 4
    assert "no output was judged before" in ran.err


def test_a_file_with_a_frozen_cache_or_without_money_says_so_by_its_exit_code(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server, "-o", "old.jsonl", "--no-cache")
        what = ("old.jsonl", "outputs.jsonl", "--rubric", "rubric.yaml")
        assert rejudge(bench, server, *what, "--frozen").code == 6
        named = ("--judge", "openai/gpt-4.1-mini", "--api-base", server.url)
        assert bench.run("rejudge", *what, *named, "--max-cost", "0.000001").code == 5


def calibrated(bench: Bench, server: OpenAILikeServer) -> None:
    """Forty outputs judged too kindly, labels a level lower, maps of them, verdicts by the maps."""
    cases = [f"c{k:02}" for k in range(40)]
    bench.write("rubric.yaml", RUBRIC.split("  - {name: short")[0])
    bench.write("outputs.jsonl", *(output(case, text=f"answer {case}") for case in cases))
    bench.write(
        "labels.jsonl",
        *({"case_id": c, "annotator": "Ada", "raw": k % 4 + 1} for k, c in enumerate(cases)),
    )
    assert bench.grade(server, "-o", "plain.jsonl").code == 0
    maps = ("--results", "plain.jsonl", "--rubric", "rubric.yaml", "--write-map", "maps.json")
    assert bench.run("calibrate", "labels.jsonl", *maps).code == 0
    assert bench.grade(server, "--calibration", "maps.json", "-o", "mapped.jsonl").code == 0


def too_kind(seen: ServedRequest) -> ServedReply:
    number = re.search(r"answer c(\d\d)\n", asked(seen))
    return ok(reply(int(number[1]) % 4 + 2 if number else 3))


def test_maps_of_the_old_judge_are_no_change_of_the_new_one(bench: Bench) -> None:
    with OpenAILikeServer(too_kind) as server:
        calibrated(bench, server)
        what = ("mapped.jsonl", "outputs.jsonl", "--rubric", "rubric.yaml")
        plain = rejudge(bench, server, *what)
        same = rejudge(bench, server, *what, "--calibration", "maps.json")
        warm = rejudge(bench, server, *what, "--calibration", "maps.json", "--temperature", "0.7")
    assert "none of 40 decisions changes" in plain.out
    assert "the old values were calibrated, and the judges' own are compared" in plain.out
    assert "the calibration holds for this judge too: calibrated on 40 labels" in same.out
    said = " ".join(warm.out.split())
    assert "the old judge was calibrated on 40 labels" in said
    assert "for the new one that is stale: temperature was 0.0, is 0.7" in said


def test_outputs_that_one_side_lacks_are_counted(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server, "-o", "old.jsonl")
        rows = (bench.folder / "old.jsonl").read_text().splitlines(keepends=True)
        bench.write("old.jsonl", *rows[1:])
        rows = (bench.folder / "outputs.jsonl").read_text().splitlines(keepends=True)
        bench.write("outputs.jsonl", *rows[:3])
        ran = rejudge(bench, server, "old.jsonl", "outputs.jsonl", "--rubric", "rubric.yaml")
    assert "answers: 2 outputs of 2 cases" in ran.out
    assert "1 output: no verdict before" in ran.out
    assert "1 output: not judged now" in ran.out


def test_maps_that_are_named_are_held_against_both_judges_of_a_run(kept: Bench) -> None:
    with OpenAILikeServer(too_kind) as server:
        calibrated(kept, server)
        ran = rejudge(kept, server, "run-1", "--calibration", "maps.json")
    said = " ".join(ran.out.split())
    assert "the new one that is uncalibrated: these maps have none for accuracy" in said


def test_the_latest_run_is_the_one_that_made_the_outputs(kept: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        first = rejudge(kept, server, "latest", "--json").json
        second = rejudge(kept, server, "latest", "--json").json
        chained = rejudge(kept, server, first["run_id"], "--json").json
    assert first["old_run_id"] == second["old_run_id"] == "run-1"
    assert chained["old_run_id"] == first["run_id"]
    with closing(RunStore(kept.folder / DEFAULT_STORE_FILE)) as store:
        assert store.run(chained["run_id"]).suite == "support (rejudged)"


def test_a_page_has_each_changed_decision_with_its_output(kept: Bench) -> None:
    with OpenAILikeServer(by_case(a=BAD)) as server:
        assert rejudge(kept, server, "run-1", "-o", "changed.html").code == 0
    shown = cases_of_page(kept.folder / "changed.html")
    assert shown.counts == {"up": 1, "down": 1}
    assert shown.full["a of v1"]["answers"][0]["output"] == "answer a"
    assert [row[:2] for row in shown.rows_of("a of v1", "accuracy")] == [
        ("before", "5"), ("now", "1"),
    ]  # fmt: skip


def test_a_page_of_verdicts_out_of_a_file_has_the_outputs_too(bench: Bench) -> None:
    with OpenAILikeServer(by_case()) as server:
        bench.grade(server, "-o", "old.jsonl")
    what = ("old.jsonl", "outputs.jsonl", "--rubric", "rubric.yaml", "-o", "changed.html")
    with OpenAILikeServer(by_case(a=BAD)) as server:
        ran = bench.run("rejudge", *what, "--judge", "openai/n", "--api-base", server.url)
    assert ran.code == 0, ran.err
    shown = cases_of_page(bench.folder / "changed.html")
    assert shown.full["a"]["answers"][0]["output"] == "answer a"


@pytest.fixture
def retried(bench: Bench) -> Bench:
    """Two runs of two answers; in one the first case has a failed try before its answer."""
    tries = {"run-1": [("a", 0, BAD_TEXT), ("a", 1, GOOD_TEXT), ("b", 0, GOOD_TEXT)]}
    tries["run-2"] = [("a", 0, FAIR_TEXT), ("b", 0, FAIR_TEXT)]
    values = {BAD_TEXT: 0.0, FAIR_TEXT: 0.75, GOOD_TEXT: 1.0}
    with closing(RunStore(bench.folder / DEFAULT_STORE_FILE)) as store:
        for name, answers in tries.items():
            observed = [
                answer(
                    key(case, repeat=repeat),
                    place="ab".index(case),
                    case=make_case(id=case, input=f"Question {case}?"),
                    output=make_output(text),
                    said=(said(value=values[text], raw=1 + 4 * values[text]),),
                )
                for case, repeat, text in answers
            ]
            config = {"name": "support", "settings": {"retry_failed": 1}, "rubric": "rubric.yaml"}
            run = begun(store, *observed, name=name, rubric=make_rubric(), config=config)
            store.end(run.id, status="complete", at=START)
    return bench


BAD_TEXT, FAIR_TEXT, GOOD_TEXT = "No idea.", "Thirty.", "Within 30 days, for any reason."


def test_a_failed_try_is_neither_judged_again_nor_counted(retried: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        plan = rejudge(retried, server, "run-1", "--dry-run", "--json").json
        found = rejudge(retried, server, "run-1", "--json").json
        assert (plan["n_calls"], server.n_requests) == (2, 2)
    assert (found["n"], found["old_pass_rate"]["value"], found["churn"]["value"]) == (2, 1.0, 0.0)


def test_a_failed_try_is_not_compared(retried: Bench) -> None:
    def prefers_long(seen: ServedRequest) -> ServedReply:
        text = asked(seen)
        assert BAD_TEXT not in text
        is_first = text.find(GOOD_TEXT) < text.find(FAIR_TEXT)
        return ok(prefers("first" if is_first else "second"))

    with OpenAILikeServer(prefers_long) as server:
        what = ("compare", "run-1::v1", "run-2::v1", "--json")
        found = retried.ask(server, *what).json
    assert (found["whole"]["wins"], found["whole"]["n_pairs"]) == (2, 2)
    assert found["left_out"]["n_only_a"] == 0
