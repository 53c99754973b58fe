from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from judgekit.store import RunStore
from tests.cli.bench import asked, lay_out
from tests.cli.commanding import runner
from tests.cli.contests import (
    EIGHT,
    HOW,
    LONG,
    SHORT,
    SIDES,
    answers_and_judges,
    compare_templates,
    lay_out_templates,
)
from tests.factories import reply
from tests.judge.comparing import prefers
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.bench import Bench

BETTER, WORSE = SIDES
WHY = ("--because", "it names the period")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders in which something costly is done once, for all tests."""
    return {name: tmp_path_factory.mktemp(name) for name in ("compared", "judged")}


def done_once(bench: Bench, server: OpenAILikeServer, *command: object) -> Bench:
    """The bench after a command that asks a judge; later tests find what was kept then."""
    kept, copy = bench.folder / ".judgekit", bench.folder / "kept"
    if copy.exists():
        shutil.rmtree(kept)
    else:
        with server:
            assert bench.ask(server, *command).code == 0
        kept.rename(copy)
    shutil.copytree(copy, kept)
    return bench


@pytest.fixture
def compared(
    folders: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Bench:
    """The two templates, compared: the first is better."""
    monkeypatch.chdir(folders["compared"])
    bench = lay_out_templates(lay_out(folders["compared"], runner(capsys)))
    return done_once(bench, OpenAILikeServer(answers_and_judges), "compare", *SIDES, *HOW)


def test_a_better_version_is_approved_with_who_why_and_the_evidence(compared: Bench) -> None:
    ran = compared.run("approve", BETTER, "--baseline", WORSE, *WHY, "--by", "Ada")
    assert ran.code == 0
    assert "approved: prompts/long.j2 is better than prompts/short.j2: 8 of 8" in ran.out
    store = RunStore(compared.folder / ".judgekit/judgekit.db", create=False)
    (found,) = store.approvals(BETTER)
    assert (found.by, found.because, found.kind) == ("Ada", "it names the period", "blind")
    assert found.evidence == (store.comparison().id,)
    assert found.version == store.comparison().a.version
    assert found.p == pytest.approx(0.0078, abs=1e-4)
    assert store.approvals("other") == []
    store.close()


def test_what_was_compared_and_approved_is_a_prompt_comparison(compared: Bench) -> None:
    compared.run("approve", BETTER, "--baseline", WORSE, *WHY, "--by", "Ada")
    store = RunStore(compared.folder / ".judgekit/judgekit.db", create=False)
    info = store.comparison()
    store.close()
    for run in (info.id, "latest"):
        compared.run("export", run, "--format", "quality", "-o", "memory.json")
        objects = json.loads((compared.folder / "memory.json").read_text())
        (found,) = (one for one in objects if one["type"] == "prompt-comparison")
        fields = found["fields"]
        assert (found["id"], fields["kind"], fields["sampleSize"]) == (info.id, "blind", 8)
        assert (fields["scoreA"], fields["scoreB"]) == (1, 0)
        assert fields["winner"] == fields["promptVersionA"] == info.a.variant
        assert fields["benchmarkRunIds"] == [
            f"{one.run_id}/{one.variant}" for one in (info.a, info.b)
        ]
        assert "approved by Ada" in fields["notes"]


def test_the_user_of_the_machine_approves_where_nobody_is_named(
    compared: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "grace")
    found = compared.run("approve", "long", "--baseline", "short", *WHY, "--json").json
    assert (found["by"], found["standing"]) == ("grace", "approved")


def test_where_the_machine_knows_no_user_somebody_has_to_be_named(
    compared: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_001)
    ran = compared.run("approve", BETTER, "--baseline", WORSE, *WHY)
    assert (ran.code, "give --by NAME" in ran.err) == (2, True)


def test_the_worse_version_is_refused_with_exit_1(compared: Bench) -> None:
    ran = compared.run("approve", WORSE, "--baseline", BETTER, *WHY)
    assert (ran.code, ran.out) == (1, "")
    assert "not approved: prompts/short.j2 is worse than prompts/long.j2" in ran.err
    assert "is better" not in ran.err
    found = compared.run("approve", WORSE, "--baseline", BETTER, *WHY, "--json")
    assert (found.code, found.json["standing"], found.json["variant"]) == (1, "refused", WORSE)
    assert "is worse than" in found.json["reason"]


def test_without_evidence_nothing_is_approved(compared: Bench) -> None:
    ran = compared.run("approve", BETTER, "--baseline", "other", *WHY)
    assert ran.code == 4
    assert "no comparison of prompts/long.j2 with other is kept" in ran.err
    strict = compared.run("approve", BETTER, "--baseline", WORSE, *WHY, "--alpha", "0.001")
    assert strict.code == 4
    assert "it is not shown that prompts/long.j2 is better" in strict.err


def test_the_last_comparison_counts_and_not_the_best_one(compared: Bench) -> None:
    with OpenAILikeServer(answers_and_judges) as server:
        compare_templates(compared, server, "-n", 2)
    ran = compared.run("approve", BETTER, "--baseline", WORSE, *WHY)
    assert ran.code == 4
    assert "2 wins and 0 losses may be chance" in ran.err


def test_a_comparison_that_was_broken_off_is_no_evidence(compared: Bench) -> None:
    store = RunStore(compared.folder / ".judgekit/judgekit.db", create=False)
    store.end_comparison(store.comparison().id, status="interrupted")
    store.close()
    ran = compared.run("approve", BETTER, "--baseline", WORSE, *WHY)
    assert ran.code == 4
    assert "is not complete" in ran.err
    assert "--resume cmp-" in ran.err


def test_an_approval_says_that_only_some_of_the_cases_were_compared(compared: Bench) -> None:
    with OpenAILikeServer(answers_and_judges) as server:
        assert compared.ask(server, "compare", *SIDES, *HOW, "--limit", 6).code == 0
    ran = compared.run("approve", BETTER, "--baseline", WORSE, *WHY, "--json")
    words = "6 of 6 decided pairs, of only some of the cases (limit 6)"
    assert (ran.code, ran.json["shown"]) == (0, words)


def test_a_changed_prompt_is_not_approved_and_no_longer_approved(compared: Bench) -> None:
    compared.run("approve", BETTER, "--baseline", WORSE, *WHY)
    assert "approved" in compared.run("approve", "--list").out
    compared.write("prompts/long.j2", "Answer at great length: {{ input }}")
    (listed,) = compared.run("approve", "--list", "--json").json
    assert listed["standing"] == "stale"
    assert "stale" in compared.run("approve", "--list").out
    again = compared.run("approve", BETTER, "--baseline", WORSE, *WHY)
    assert again.code == 4
    assert "has changed since it was compared" in again.err
    (compared.folder / "prompts/long.j2").unlink()
    (gone,) = compared.run("approve", "--list", "--json").json
    assert gone["standing"] == "unknown"


def test_a_changed_baseline_is_no_evidence(compared: Bench) -> None:
    compared.write("prompts/short.j2", "Answer at even greater length: {{ input }}")
    changed = compared.run("approve", BETTER, "--baseline", WORSE, *WHY)
    assert changed.code == 4
    assert "prompts/short.j2 has changed since it was compared" in changed.err
    # Versions that were replaced are often deleted.
    (compared.folder / "prompts/short.j2").unlink()
    assert compared.run("approve", BETTER, "--baseline", WORSE, *WHY).code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((BETTER, "--baseline", WORSE), "--because WHY"),
        ((BETTER, *WHY), "--baseline OTHER"),
        ((BETTER, "--baseline", WORSE, "--because", " "), "an approval says why"),
    ],
)
def test_an_approval_needs_a_baseline_and_a_reason(
    compared: Bench, arguments: tuple[str, ...], words: str
) -> None:
    ran = compared.run("approve", *arguments)
    assert (ran.code, words in ran.err) == (2, True)


def test_an_empty_list_says_so(compared: Bench) -> None:
    ran = compared.run("approve", "--list")
    assert (ran.code, ran.out, "nothing is approved" in ran.err) == (0, "", True)


@pytest.fixture
def judged(
    folders: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Bench:
    """A suite of two recorded variants that was run with a judge: the first is better."""
    monkeypatch.chdir(folders["judged"])
    bench = lay_out(folders["judged"], runner(capsys))
    suite = {
        "name": "small",
        "dataset": "cases.jsonl",
        "rubric": "rubric.yaml",
        "judge": "openai/m",
        "variants": [{"id": "v2", "outputs": "v2.jsonl"}, {"id": "v1", "outputs": "v1.jsonl"}],
    }
    bench.write("judgekit.yaml", json.dumps(suite))
    bench.write("cases.jsonl", *({"id": c, "input": f"Question {c}?"} for c in EIGHT))
    bench.write("v2.jsonl", *({"case_id": c, "text": f"{LONG} {c}"} for c in EIGHT))
    bench.write("v1.jsonl", *({"case_id": c, "text": f"{SHORT} {c}"} for c in EIGHT))

    def scores(seen: ServedRequest) -> ServedReply:
        place = next(k for k, c in enumerate(EIGHT) if f"Question {c}?" in asked(seen))
        return ok(reply(5 if LONG in asked(seen) else 1 + place % 3))

    return done_once(bench, OpenAILikeServer(scores), "run", "--no-progress")


def test_scores_of_a_stored_run_are_evidence_too(judged: Bench) -> None:
    ran = judged.run("approve", "v2", "--baseline", "v1", *WHY, "--json")
    assert ran.code == 0
    assert ran.json["kind"] == "scores"
    comparison, run_id = ran.json["evidence"]
    assert run_id == judged.run("show", "--json").json["runs"][0]["id"]
    shown = judged.run("show", comparison, "--json").json
    assert shown["summary"]["decision"]["reason"] == ran.json["shown"]
    assert shown["approvals"] == [ran.json["id"]]
    assert ran.json["shown"].startswith("a difference of +0."), "in favour of what is approved"
    assert judged.run("approve", "v1", "--baseline", "v2", *WHY).code == 1
    judged.write("v2.jsonl", *({"case_id": c, "text": SHORT} for c in EIGHT))
    changed = judged.run("approve", "v2", "--baseline", "v1", *WHY)
    assert (changed.code, "has changed" in changed.err) == (4, True)


def test_a_window_of_watched_outputs_is_no_evidence_beside_a_run_of_the_suite(
    judged: Bench,
) -> None:
    before = judged.run("approve", "v2", "--baseline", "v1", *WHY, "--json").json
    log = ({"id": f"live-{k}", "input": "?", "variant": "v2", "output": LONG} for k in range(4))
    judged.write("log.jsonl", *log)
    with OpenAILikeServer(lambda _: ok(reply(1))) as server:
        assert judged.ask(server, "watch", "log.jsonl", "--once", "--rate", "1").code == 0
    after = judged.run("approve", "v2", "--baseline", "v1", *WHY, "--json").json
    assert after["evidence"][1:] == before["evidence"][1:]


def test_evidence_by_another_rubric_than_the_suite_has_now_is_refused(judged: Bench) -> None:
    text = (judged.folder / "rubric.yaml").read_text(encoding="utf-8")
    judged.write("rubric.yaml", text.replace("Is it right?", "Is it polite?"))
    ran = judged.run("approve", "v2", "--baseline", "v1", *WHY)
    assert ran.code == 4
    assert "another rubric than the suite small has now: criterion" in ran.err
    judged.write("rubric.yaml", text.replace("pass_threshold: 0.7", "pass_threshold: 0.65"))
    assert judged.run("approve", "v2", "--baseline", "v1", *WHY).code == 0


def test_a_failed_gate_is_not_passed_by_another_judge(judged: Bench) -> None:
    suite = json.loads((judged.folder / "judgekit.yaml").read_text(encoding="utf-8"))
    judged.write("judgekit.yaml", json.dumps({**suite, "gate": {"threshold": 0.9}}))
    with OpenAILikeServer(lambda _: ok(reply(3))) as server:
        assert judged.ask(server, "run", "--refresh").code == 1
    with OpenAILikeServer(lambda _: ok(reply(5))) as server:
        assert judged.ask(server, "rejudge", "latest", "--judge", "openai/kind").code == 0
    with OpenAILikeServer(lambda seen: ok(prefers(_long_first(seen)))) as server:
        assert judged.ask(server, "compare", "v2", "v1").code == 0
    ran = judged.run("approve", "v2", "--baseline", "v1", *WHY)
    assert (ran.code, "v2 fails the gate of its suite in" in ran.err) == (1, True)


def _long_first(seen: ServedRequest) -> str:
    return "first" if asked(seen).find(LONG) < asked(seen).find(f"\n{SHORT} ") else "second"


def test_scores_can_be_asked_for_where_there_is_a_blind_comparison(judged: Bench) -> None:
    judge = OpenAILikeServer(lambda _: ok("no verdict"))
    with judge as server:
        judged.ask(server, "compare", "v2", "v1")
    assert judged.run("approve", "v2", "--baseline", "v1", *WHY).code == 4
    assert judged.run("approve", "v2", "--baseline", "v1", *WHY, "--scores").code == 0


def test_the_evidence_of_another_suite_does_not_count(judged: Bench) -> None:
    text = (judged.folder / "judgekit.yaml").read_text(encoding="utf-8")
    judged.write("judgekit.yaml", text.replace('"small"', '"other"'))
    ran = judged.run("approve", "v2", "--baseline", "v1", *WHY)
    assert (ran.code, "no comparison of v2 with v1 is kept" in ran.err) == (4, True)


@pytest.mark.parametrize(("n_errors", "code"), [(5, 0), (6, 4)])
def test_a_version_whose_outputs_are_often_errors_is_not_approved_for_the_others(
    compared: Bench, n_errors: int, code: int
) -> None:
    lost = [f"e{k}" for k in range(n_errors)]
    cases = [{"case_id": c, "input": f"Question {c}?"} for c in (*EIGHT[:6], *lost)]
    good = [{**c, "text": LONG} for c in cases[:6]]
    compared.write("crashing.jsonl", *good, *({**c, "error": "it crashed"} for c in cases[6:]))
    compared.write("sturdy.jsonl", *({**c, "text": SHORT} for c in cases))
    with OpenAILikeServer(answers_and_judges) as server:
        files = "sturdy.jsonl", "crashing.jsonl"
        assert compared.ask(server, "compare", *files, "--rubric", "rubric.yaml").code == 0
    ran = compared.run("approve", "crashing.jsonl", "--baseline", "sturdy.jsonl", *WHY)
    assert ran.code == code
    assert (f"{n_errors} more of its outputs are errors" in ran.err) is bool(code)
