"""A growing file of outputs is sampled, graded window by window, and alerts once an episode."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.byte_lock import FileLocks
from judgekit.store import RunStore
from judgekit.testing import ChaosServer, ServedReply
from tests.cli.bench import output
from tests.cli.interrupting import CtrlC
from tests.evaluation.suites import RUBRIC, lay_suite
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.records import RunInfo
    from judgekit.testing import ServedRequest
    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran, Run

ONCE = ("--rubric", "rubric.yaml", "--judge", "recorded:replies.jsonl", "--once")


class Log:
    """A file that grows, with the replies of a judge about its rows."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "log.jsonl"
        self._replies = folder / "replies.jsonl"
        self._n = 0
        (folder / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
        self._replies.write_text("", encoding="utf-8")

    def grow(self, n: int, score: int, *, turns: int = 1) -> None:
        text = json.dumps({"score": score, "rationale": "It is so."})
        with self.path.open("a", encoding="utf-8") as log, self._replies.open("a") as replies:
            for k, turn in product(range(self._n, self._n + n), range(1, turns + 1)):
                output = f"answer {k}" if turn == 1 else f"answer {k}, turn {turn}"
                log.write(json.dumps({"id": f"r{k}", "input": "?", "output": output}) + "\n")
                for name in ("good", "short"):
                    case = f"r{k}" if turn == 1 else f"r{k}#{turn}"
                    row = {"case_id": case, "criterion": name, "text": text}
                    replies.write(json.dumps(row) + "\n")
        self._n += n


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def windows(ran: Ran) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ran.out.splitlines()]


def test_a_window_stores_what_started_the_watch(run: Run, log: Log) -> None:
    log.grow(3, 4)
    run("watch", log.path, *ONCE, "--rate", "1", "--triggered-by", "the night job")
    assert run("show", "latest", "--json").json["run"]["triggered_by"] == "the night job"


def test_new_rows_are_graded_once_and_a_watch_goes_on_where_it_stopped(
    run: Run, log: Log, tmp_path: Path
) -> None:
    log.grow(25, 4)
    first = run("watch", log.path, *ONCE, "--rate", "1", "--window", "10", "--json")
    assert first.code == 0
    assert [one["graded"] for one in windows(first)] == [10, 10, 5]
    assert {one["score"] for one in windows(first)} == {0.75}
    assert windows(run("watch", log.path, *ONCE, "--rate", "1", "--json")) == []
    log.grow(7, 4)
    again = windows(run("watch", log.path, *ONCE, "--rate", "1", "--json"))
    assert [(one["window"], one["rows"], one["graded"]) for one in again] == [(4, 7, 7)]
    store = RunStore(tmp_path / ".judgekit" / "judgekit.db")
    try:
        ids = [result.case.id for one in store.runs() for result in store.results(one.id)]
    finally:
        store.close()
    assert sorted(ids) == sorted(f"r{k}" for k in range(32))
    # Each window has other cases, and the series does not break at them.
    trend = run("trend", "log", "--json").json
    assert [point["break"] for point in trend["series"]] == [None] * 4


def test_a_share_of_the_rows_is_graded(run: Run, log: Log) -> None:
    log.grow(400, 4)
    found = windows(run("watch", log.path, *ONCE, "--rate", "0.1", "--json"))
    assert 20 <= sum(one["graded"] for one in found) <= 60
    assert sum(one["rows"] for one in found) <= 400


@pytest.mark.no_cover
def test_a_fall_alerts_once_and_the_end_of_it_is_said(run: Run, log: Log) -> None:
    options = (*ONCE, "--rate", "1", "--window", "20", "--alert-below", "0.6", "-q")
    log.grow(60, 4)
    assert run("watch", log.path, *options).code == 0
    log.grow(80, 1)
    fallen = run("watch", log.path, *options)
    assert fallen.code == 1
    assert fallen.err.count("ALERT log.jsonl: mean score 0.00") == 1
    log.grow(40, 1)
    still = run("watch", log.path, *options)
    assert (still.code, "ALERT" in still.err) == (1, False)
    log.grow(200, 5)
    over = run("watch", log.path, *options)
    assert over.code == 0
    assert "is above 0.6 again" in " ".join(over.err.split())


def test_the_turns_of_a_conversation_are_one_piece_of_evidence(run: Run, log: Log) -> None:
    options = (*ONCE, "--rate", "1", "--window", "200", "--alert-below", "0.6", "-q")
    for score in (1, 5, 1, 1, 5):
        log.grow(1, score, turns=40)
    assert run("watch", log.path, *options).code == 0
    log.grow(40, 1, turns=5)
    said = " ".join(run("watch", log.path, *options).err.split())
    assert "mean score 0.00 [0.00, 0.23] over the last 40 cases is below 0.6" in said


def test_another_rubric_begins_the_series_and_its_alert_again(
    run: Run, log: Log, tmp_path: Path
) -> None:
    options = (*ONCE, "--rate", "1", "--window", "20", "--alert-below", "0.6", "-q")
    log.grow(40, 1)
    assert run("watch", log.path, *options).code == 1
    edited = RUBRIC.replace("Is it good?", "Is it very good?")
    (tmp_path / "rubric.yaml").write_text(edited, encoding="utf-8")
    log.grow(4, 1)
    again = run("watch", log.path, *options)
    # Four scores show nothing by themselves.
    assert again.code == 0
    said = " ".join(again.err.split())
    assert "are not comparable and are no longer included: criterion 1 (good) edited" in said
    trend = run("trend", "--json").json["series"]
    assert [one["break"] is None for one in trend] == [True, True, False]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("name: short,", "name: short, weight: 3,", 0),
        ("pass_threshold: 0.7", "pass_threshold: 0.6", 1),
    ],
)
def test_other_weights_begin_the_series_again_and_another_threshold_does_not(
    run: Run, log: Log, tmp_path: Path, old: str, new: str, code: int
) -> None:
    options = (*ONCE, "--rate", "1", "--window", "20", "--alert-below", "0.6", "-q")
    log.grow(40, 1)
    assert run("watch", log.path, *options).code == 1
    edited = RUBRIC.replace(old, new)
    assert edited != RUBRIC
    (tmp_path / "rubric.yaml").write_text(edited, encoding="utf-8")
    log.grow(4, 1)
    again = run("watch", log.path, *options)
    assert again.code == code
    assert ("the weights or the calibration of the scores changed" in again.err) is (code == 0)


def test_a_window_without_a_row_of_the_chosen_tag_ends_no_watch(
    run: Run, log: Log, tmp_path: Path
) -> None:
    log.grow(4, 4)
    cases = [{"id": f"r{k}", "input": "?", "tags": ["late"] if k > 1 else []} for k in range(4)]
    text = "".join(f"{json.dumps(case)}\n" for case in cases)
    (tmp_path / "cases.jsonl").write_text(text, encoding="utf-8")
    what = ("--rate", "1", "--window", "2", "--cases", "cases.jsonl", "--filter-tag", "late")
    ran = run("watch", log.path, *ONCE, *what, "--json")
    assert (ran.code, [one["graded"] for one in windows(ran)]) == (0, [2])
    assert "no row of this window has a tag of --filter-tag" in ran.err


def test_a_window_without_a_row_of_a_case_ends_no_watch(run: Run, log: Log, tmp_path: Path) -> None:
    log.grow(4, 4)
    cases = "".join(json.dumps({"id": f"r{k}", "input": "?"}) + "\n" for k in (2, 3))
    (tmp_path / "cases.jsonl").write_text(cases, encoding="utf-8")
    what = ("--rate", "1", "--window", "2", "--cases", "cases.jsonl")
    ran = run("watch", log.path, *ONCE, *what, "--json")
    assert (ran.code, [one["graded"] for one in windows(ran)]) == (0, [2])
    assert "no row of this window has a case of --cases" in ran.err


def test_what_contradicts_watching_is_refused(run: Run, log: Log) -> None:
    log.grow(3, 4)
    refused = run("watch", log.path, *ONCE, "--dry-run")
    assert (refused.code, "always stores" in refused.err) == (2, True)


def test_a_damaged_row_is_left_out_and_reported(run: Run, log: Log) -> None:
    log.grow(3, 4)
    with log.path.open("a", encoding="utf-8") as file:
        file.write("no json\n[1]\n")
    log.grow(2, 4)
    found = run("watch", log.path, *ONCE, "--rate", "1", "--json")
    assert found.code == 0
    assert [(one["rows"], one["graded"]) for one in windows(found)] == [(7, 5)]
    assert found.err.count("a sampled row is left out") == 2


def stored(folder: Path) -> list[RunInfo]:
    store = RunStore(folder / ".judgekit" / "judgekit.db")
    try:
        return store.runs()
    finally:
        store.close()


def state_file(folder: Path) -> Path:
    (found,) = (folder / ".judgekit" / "watch").glob("*.json")
    return found


def test_a_suite_in_the_folder_lends_its_judge_and_not_its_cases(
    run: Run, log: Log, tmp_path: Path
) -> None:
    lay_suite(tmp_path, rubric="rubric.yaml", judge={"model": "recorded:replies.jsonl"})
    log.grow(5, 4)
    found = run("watch", log.path, "--once", "--rate", "1", "--json")
    assert (found.code, [one["graded"] for one in windows(found)]) == (0, [5])
    assert stored(tmp_path)[0].suite == "small"


def test_a_file_that_is_not_there_is_an_error_of_once(run: Run, log: Log, tmp_path: Path) -> None:
    refused = run("watch", tmp_path / "lgo.jsonl", *ONCE)
    assert (refused.code, "lgo.jsonl: there is no such file" in refused.err) == (2, True)
    log.grow(5, 4)
    none = run("watch", log.path, *ONCE, "--rate", "0.000001", "-q")
    assert none.code == 0
    assert "5 more rows read, none of them in the sample" in none.err


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ('{"input": "?", "output": "x"}', "the field `case_id` is missing"),
        ('{"id": "a", "input": "?"}', "an output needs a text"),
        ('{"id": "a", "input": "?", "text": {"no": "text"}}', "`text` must be a text"),
        ("\xff", "the byte 0xff, which is not UTF-8"),
    ],
)
def test_a_row_that_is_no_output_ends_no_watch(run: Run, log: Log, row: str, told: str) -> None:
    log.grow(2, 4)
    with log.path.open("ab") as file:
        file.write(row.encode("latin-1") + b"\n")
    log.grow(2, 4)
    found = run("watch", log.path, *ONCE, "--rate", "1", "--json")
    assert found.code == 0
    assert [(one["rows"], one["damaged"], one["graded"]) for one in windows(found)] == [(5, 1, 4)]
    words = " ".join(found.err.split())
    offset = log.path.read_bytes().index(row.encode("latin-1"))
    assert f"a sampled row is left out, at byte {offset}: {told}" in words


def test_rows_of_one_id_are_graded_each_and_a_row_that_came_twice_once(
    run: Run, log: Log, tmp_path: Path
) -> None:
    log.grow(2, 4)
    row = {"id": "r0", "input": "And then?", "output": "another turn"}
    with log.path.open("a", encoding="utf-8") as file:
        file.write((json.dumps(row) + "\n") * 2)
    text = json.dumps({"score": 2, "rationale": "It is so."})
    with (tmp_path / "replies.jsonl").open("a", encoding="utf-8") as replies:
        for name in ("good", "short"):
            reply = {"case_id": "r0#2", "criterion": name, "text": text}
            replies.write(json.dumps(reply) + "\n")
    found = run("watch", log.path, *ONCE, "--rate", "1", "--json")
    assert [(one["rows"], one["graded"]) for one in windows(found)] == [(4, 3)]
    assert "a row that came twice is graded once" in found.err


def test_each_variant_of_a_log_has_its_line(run: Run, log: Log) -> None:
    log.grow(2, 4)
    row = {"id": "r1", "variant": "canary", "input": "?", "output": "answer 1"}
    with log.path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    found = windows(run("watch", log.path, *ONCE, "--rate", "1", "--json"))
    assert {(one["variant"], one["graded"]) for one in found} >= {("log", 2)}
    assert len({one["variant"] for one in found}) == 2


def test_the_words_of_a_log_do_not_steer_the_terminal(run: Run, log: Log) -> None:
    log.grow(1, 4)
    row = {"id": "r1", "variant": "a\x1b]0;mine\x07\u202e", "input": "?", "output": "answer 1"}
    with log.path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    out = run("watch", log.path, *ONCE, "--rate", "1").out
    assert r"a\x1b]0;mine\x07\u202e" in out
    assert out.replace("\n", "").isprintable()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to send")
def test_a_second_interrupt_stops_a_window_that_the_next_watch_resumes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench.write("log.jsonl", *(output(name) for name in ("r0", "r1")))
    ctrl_c = CtrlC(monkeypatch)
    what = ("watch", "log.jsonl", "--once", "--rate", "1", "--rubric", "rubric.yaml", "-j", "1")

    presses = iter([ctrl_c.press_twice])

    def answer(_: ServedRequest) -> ServedReply:
        if press := next(presses, None):
            press()
            return ServedReply(manner="hang")
        return ok(reply(5))

    with OpenAILikeServer(answer) as server:
        stopped = bench.ask(server, *what)
        assert bench.ask(server, *what).code == 0
    assert stopped.code == 130
    assert "stopped at once; the same command resumes" in stopped.err
    assert len(stored(tmp_path)) == 1


def test_a_watch_that_was_killed_repeats_and_loses_no_row(
    run: Run, log: Log, tmp_path: Path
) -> None:
    """Killed after the last answer of a window, before its state was stored."""
    log.grow(5, 4)
    options = (*ONCE, "--rate", "1", "--json")
    assert [one["graded"] for one in windows(run("watch", log.path, *options))] == [5]
    (graded,) = stored(tmp_path)
    rows_of_window = log.path.read_text(encoding="utf-8")
    # The state as it was then: the window's rows are kept, and what is behind them.
    state = json.loads(state_file(tmp_path).read_text(encoding="utf-8"))
    pending = {"position": state["position"], "n_seen": 5}
    before = state | {"position": None, "pending": pending, "n_windows": 0, "values": []}
    state_file(tmp_path).write_text(json.dumps(before), encoding="utf-8")
    folder = state_file(tmp_path).with_suffix("")
    kept = "".join(json.dumps(json.loads(line)) + "\n" for line in rows_of_window.splitlines())
    (folder / "log.jsonl").write_text(kept, encoding="utf-8")
    log.grow(3, 4)
    again = windows(run("watch", log.path, *options))
    assert [(one["window"], one["graded"]) for one in again] == [(1, 5), (2, 3)]
    assert again[0]["run"] == graded.id
    assert len(stored(tmp_path)) == 2


def test_a_judge_that_fails_is_reported(run: Run, log: Log, tmp_path: Path) -> None:
    log.grow(4, 4)
    reply = {"case_id": "r0", "text": "no score at all"}
    (tmp_path / "replies.jsonl").write_text(json.dumps(reply) + "\n", encoding="utf-8")
    found = run("watch", log.path, *ONCE, "--rate", "1", "-q")
    assert found.code == 3
    assert "a judge failed" in found.err


def test_a_window_that_was_stopped_is_resumed_as_the_same_run(
    run: Run, log: Log, tmp_path: Path
) -> None:
    log.grow(12, 1)
    options = (*ONCE, "--rate", "1", "-j", "1", "--json")
    stopped = run("watch", log.path, *options, "--fail-fast")
    assert (stopped.code, windows(stopped)) == (1, [])
    (begun,) = stored(tmp_path)
    assert begun.status == "stopped"
    (window,) = windows(run("watch", log.path, *options))
    assert (window["run"], window["graded"]) == (begun.id, 12)
    assert len(stored(tmp_path)) == 1
    assert windows(run("watch", log.path, *options)) == []


def test_a_window_without_cached_replies_is_left_to_the_next_watch(
    run: Run, log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", "sk-none")
    log.grow(4, 4)
    with ChaosServer() as server:
        judge = ("--judge", "hosted_vllm/mock", "--api-base", server.url)
        options = (*ONCE[:2], *judge, "--once", "--rate", "1", "--json")
        frozen = run("watch", log.path, *options, "--frozen")
        assert (frozen.code, windows(frozen), server.n_requests) == (6, [], 0)
        assert "the frozen cache lacks replies; the next watch resumes" in " ".join(
            frozen.err.split()
        )
        (begun,) = stored(tmp_path)
        (window,) = windows(run("watch", log.path, *options))
    assert (window["run"], window["graded"], server.n_requests) == (begun.id, 4, 8)


def test_a_cost_limit_that_stops_a_watch_is_stated(
    run: Run, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    log.grow(4, 4)
    options = (*ONCE[:2], "--judge", "openai/gpt-4.1-mini", "--once", "--rate", "1")
    stopped = run("watch", log.path, *options, "--max-cost", "0.000001", "-q")
    assert stopped.code == 5
    assert "the cost limit allows no further call" in stopped.err


@pytest.mark.parametrize("option", [("-o", "v.jsonl"), ("--fail-under", "1"), ("--max-drop", "0")])
def test_what_concludes_on_a_run_is_no_option_of_a_watch(
    run: Run, log: Log, option: tuple[str, str]
) -> None:
    log.grow(2, 1)
    refused = run("watch", log.path, *ONCE, *option)
    assert (refused.code, f"No such option '{option[0]}'" in refused.err) == (2, True)


def test_an_alarm_that_could_not_be_sent_is_sent_after_the_next_window(
    run: Run, log: Log, tmp_path: Path
) -> None:
    judge = {"model": "recorded:replies.jsonl"}
    lay_suite(tmp_path, rubric="rubric.yaml", judge=judge, notify={"file": "later/alarms.jsonl"})
    options = ("--once", "--rate", "1", "--window", "20", "--alert-below", "0.6", "-q")
    log.grow(80, 1)
    failed = run("watch", log.path, *options)
    assert (failed.code, "not notified" in failed.err) == (1, True)
    (tmp_path / "later").mkdir()
    log.grow(20, 1)
    assert run("watch", log.path, *options).code == 1
    alarms = [
        alarm
        for line in (tmp_path / "later" / "alarms.jsonl").read_text("utf-8").splitlines()
        if (alarm := json.loads(line))["kind"] == "watch"
    ]
    assert [alarm["episode"] for alarm in alarms] == ["watch/1"]


def test_two_watches_of_one_file_do_not_grade_its_windows_twice(
    run: Run, log: Log, tmp_path: Path
) -> None:
    log.grow(3, 4)
    options = (*ONCE, "--rate", "1", "--json")
    assert run("watch", log.path, *options).code == 0
    log.grow(3, 4)
    lock = FileLocks(state_file(tmp_path).with_suffix("") / "lock")
    with closing(lock), lock.holding(0):
        second = run("watch", log.path, *options)
    assert (second.code, second.out) == (2, "")
    assert f"{log.path} is being watched already\n  wait for it" in second.err
    assert [one["graded"] for one in windows(run("watch", log.path, *options))] == [3]
    assert len(stored(tmp_path)) == 2
