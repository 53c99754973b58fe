"""Several judges in one comparison: each has a vote, and each is seen by itself."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.bench import asked
from tests.cli.judging import TURNED, lay_out_sides, record_judge
from tests.judge.comparing import prefers
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran

TWELVE = ["A"] * 8 + ["B", "tie", "first", "A"]
JUDGES = {"one": TWELVE, "two": ["A"] * 9 + ["B", "tie", "first"], "biased": ["first"] * 12}
FILES = ("a.jsonl", "b.jsonl")


@pytest.fixture
def panel(bench: Bench) -> Bench:
    """Twelve cases, and three judges of which one always takes the first."""
    lay_out_sides(bench, 12)
    for name, outcomes in JUDGES.items():
        record_judge(bench, name, outcomes)
    return bench


def compare(bench: Bench, *options: object, judges: tuple[str, ...] = tuple(JUDGES)) -> Ran:
    named = [part for name in judges for part in ("--judge", f"recorded:{name}.jsonl")]
    return bench.run("compare", *FILES, "--rubric", "r.yaml", *named, *options)


def by_judge(summary: Any) -> dict[str, Any]:
    return {one["judge"].split(".")[0]: one for one in summary["panel"]["judges"]}


def test_the_side_that_most_judges_name_wins_and_a_biased_judge_shows(panel: Bench) -> None:
    found = compare(panel, "--json").json
    whole = found["whole"]
    assert (whole["wins"], whole["losses"]) == (8, 0)
    assert found["decision"]["winner"] == "a"
    judges = by_judge(found)
    assert [judges[f"recorded:{name}"]["flip_rate"]["value"] for name in JUDGES] == [
        pytest.approx(1 / 12), pytest.approx(1 / 12), 1,
    ]  # fmt: skip
    assert judges["recorded:biased"]["position"]["value"] == 0.5
    assert judges["recorded:biased"]["flags"] == ["position_bias", "mostly_inconsistent"]
    assert judges["recorded:one"]["flags"] == []
    assert (judges["recorded:one"]["whole"]["wins"], judges["recorded:two"]["whole"]["wins"]) == (
        9, 9,
    )  # fmt: skip


def test_more_judges_of_one_mind_are_no_surer_than_one(panel: Bench) -> None:
    record_judge(panel, "again", TWELVE)
    record_judge(panel, "still", TWELVE)
    alone = compare(panel, "--json", judges=("one",)).json
    three = compare(panel, "--json", judges=("one", "again", "still")).json
    for figures in ("whole", "criteria", "flip_rate"):
        assert three[figures] == alone[figures]
    assert three["decision"]["p"] == alone["decision"]["p"]
    assert (three["panel"]["agreed"], three["panel"]["alpha"]["value"]) == (1, 1)
    assert alone["panel"] is None
    for edge in ("value", "low", "high"):
        assert three["position"][edge] == pytest.approx(alone["position"][edge])


def test_agreement_is_that_of_the_judges_winners_with_an_interval(panel: Bench) -> None:
    found = compare(panel, "--json", judges=("one", "two")).json["panel"]
    assert found["agreed"] == pytest.approx(9 / 12)
    assert -1 <= found["alpha"]["low"] <= found["alpha"]["value"] <= found["alpha"]["high"] <= 1


def test_the_terminal_shows_each_judge_and_how_far_they_agree(panel: Bench) -> None:
    ran = compare(panel)
    assert ran.code == 0
    assert "Each judge" in ran.out
    assert "panel     each judge has one vote; two judges agree on" in ran.out
    assert (
        "warning   recorded:biased.jsonl favours the output it sees first; contradicts" in ran.out
    )
    shown = panel.run("show", "latest", "c0", "--store", ".judgekit/judgekit.db")
    assert shown.code == 2, "latest is a run; a comparison has an id"
    shown = panel.run("show", "cmp-", "c0")
    assert (
        "votes: recorded:one.jsonl A; recorded:two.jsonl A; recorded:biased.jsonl tie" in shown.out
    )
    assert "recorded:biased.jsonl, overall, BA: first" in shown.out


def test_what_is_kept_comes_to_the_same_later(panel: Bench) -> None:
    made = compare(panel, "--json").json
    shown = panel.run("show", made["id"], "--json").json
    assert shown["summary"] == {name: one for name, one in made.items() if name != "id"}
    members = [one["judge"].split(".")[0] for one in shown["comparison"]["panel"]]
    assert members == [f"recorded:{name}" for name in JUDGES]
    assert shown["comparison"]["judge"].startswith("majority of recorded:one.jsonl")


def test_the_record_keeps_every_judges_vote(panel: Bench) -> None:
    compare(panel, "-o", "out.jsonl")
    lines = (panel.folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
    row = json.loads(lines[-1])
    assert [one["winner"] for one in row["judges"]] == ["a", "tie", "tie"]
    assert (row["winner"], row["agreement"]) == ("tie", pytest.approx(1 / 3))
    assert {one["judge"] for one in row["preferences"]} == {one["judge"] for one in row["judges"]}
    ranked = panel.run("rank", "out.jsonl", "--json").json
    assert len(ranked["questioned"]["judges"]) == 3


def test_a_suites_panel_votes_and_what_cannot_vote_alike_is_refused(panel: Bench) -> None:
    cases = [{"id": f"c{k}", "input": f"c{k}"} for k in range(12)]
    judges: list[Any] = [f"recorded:{name}.jsonl" for name in JUDGES]
    suite: dict[str, Any] = {"name": "s", "rubric": "r.yaml", "cases": cases, "judge": judges}
    panel.write("judgekit.yaml", json.dumps(suite))
    found = panel.run("compare", *FILES, "--json").json
    assert len(found["panel"]["judges"]) == 3
    assert found["whole"] == compare(panel, "--json").json["whole"]
    one = panel.run("compare", *FILES, "--json", "--judge", judges[0]).json
    assert one["panel"] is None
    for more, words in (
        ({"judge": [*judges[:2], "human"]}, "include human, and only models compare"),
        ({"panel": {"combine": "weighted"}}, "combines its judges by `weighted`"),
        (
            {"panel": {"combine": "cascade", "escalate_below": 0.5}},
            "combines its judges by `cascade`",
        ),
    ):
        panel.write("judgekit.yaml", json.dumps(suite | more))
        ran = panel.run("compare", *FILES)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err
        assert "--judge MODEL --judge OTHER" in ran.err


def test_two_settings_of_one_model_are_two_judges_of_a_suite(panel: Bench) -> None:
    text = "Both are fine, the first is finer. [[A]]"
    rows = [json.loads(line) for line in (panel.folder / "one.jsonl").read_text().splitlines()]
    panel.write("free.jsonl", *(row | {"text": text} for row in rows))
    suite = {
        "name": "s",
        "rubric": "r.yaml",
        "cases": [{"id": f"c{k}", "input": f"c{k}"} for k in range(12)],
        "judge": [
            "recorded:one.jsonl",
            {"model": "recorded:free.jsonl", "template": "pairwise/mt_bench"},
        ],
    }
    panel.write("judgekit.yaml", json.dumps(suite))
    found = panel.run("compare", *FILES, "--json").json
    flips = [one["flip_rate"]["value"] for one in found["panel"]["judges"]]
    assert flips == [pytest.approx(1 / 12), 1]


def test_the_same_judge_twice_is_refused(panel: Bench) -> None:
    ran = compare(panel, judges=("one", "one"))
    assert ran.code == 2
    assert "their votes cannot be distinguished" in ran.err


def test_judges_of_the_environment_are_parted_by_commas(
    panel: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGEKIT_JUDGE", "recorded:one.jsonl,recorded:two.jsonl")
    found = panel.run("compare", *FILES, "--rubric", "r.yaml", "--json").json
    assert len(found["panel"]["judges"]) == 2


def test_a_judge_that_fails_leaves_open_only_what_it_could_turn(panel: Bench) -> None:
    record_judge(panel, "biased", ["open"] * 12)
    ran = compare(panel, "--json")
    assert ran.code == 3
    whole = ran.json["whole"]
    assert (whole["wins"], whole["n_undecided"]) == (8, 3), "of two that differ, and of one alone"
    third = by_judge(ran.json)["recorded:biased"]
    assert third["whole"]["n_undecided"] == 12


def test_swapping_the_sides_mirrors_the_votes(panel: Bench) -> None:
    there = compare(panel, "--json").json
    for name, outcomes in JUDGES.items():
        record_judge(panel, name, [TURNED.get(outcome, outcome) for outcome in outcomes])
    named = [part for name in JUDGES for part in ("--judge", f"recorded:{name}.jsonl")]
    how = ("compare", *reversed(FILES), "--rubric", "r.yaml", *named, "--json")
    back = panel.run(*how).json
    assert (back["whole"]["wins"], back["whole"]["losses"]) == (0, 8)
    for same in ("flip_rate", "flags", "position"):
        assert back[same] == there[same]
    assert back["panel"]["alpha"] == there["panel"]["alpha"]
    for one, other in zip(there["panel"]["judges"], back["panel"]["judges"], strict=True):
        assert one["whole"]["wins"] == other["whole"]["losses"]
        assert one["flip_rate"] == other["flip_rate"]


def test_until_decided_looks_at_the_panels_winner(panel: Bench) -> None:
    lay_out_sides(panel, 40)
    for name in JUDGES:
        record_judge(panel, name, ["first" if name == "biased" else "A"] * 40)
    found = compare(panel, "--until-decided", "--json").json
    assert found["evidence"]["stopped_at"] == 15


def test_a_panel_that_was_broken_off_asks_only_what_is_missing(panel: Bench) -> None:
    def judges(seen: ServedRequest) -> ServedReply:
        if "first" not in failing and str(seen.body["model"]) == "n" and "c3" in asked(seen):
            return ok("I would rather not.")
        return ok(prefers("first"))

    failing: set[str] = set()
    named = ("--judge", "openai/m", "--judge", "openai/n", "--rubric", "r.yaml", "--no-cache")
    with OpenAILikeServer(judges) as server:
        how = ("compare", *FILES, *named, "--api-base", server.url)
        first = panel.run(*how)
        n_asked = server.n_requests
        failing.add("first")
        again = panel.run(*how, "--resume", "latest")
        assert server.n_requests - n_asked == 4, "one judge's four questions of one case"
    assert (first.code, again.code) == (3, 4)
    assert "--judge openai/m --judge openai/n" in first.err


def test_an_analysis_is_asked_of_the_first_judge(panel: Bench) -> None:
    reply = json.dumps({"strengths": [], "weaknesses": [], "suggestions": []})

    def judges(seen: ServedRequest) -> ServedReply:
        if '"strengths"' in asked(seen):
            models.append(str(seen.body["model"]))
            return ok(reply)
        shown = re.search(r"([ab]) c\d+!*$", asked(seen), re.MULTILINE)
        assert shown is not None
        return ok(prefers("first" if shown[1] == "a" else "second"))

    models: list[str] = []
    with OpenAILikeServer(judges) as server:
        ran = panel.run(
            "compare", *FILES, "--rubric", "r.yaml", "--judge", "openai/m", "--judge", "openai/n",
            "--api-base", server.url, "--analysis", "analysis.json", "-n", 2,
        )  # fmt: skip
    assert ran.code == 4, ran.err
    assert models == ["m", "m"]


def test_three_sides_are_ranked_by_a_panel_and_each_judge_is_seen(panel: Bench) -> None:
    lay_out_sides(panel, 12, "a", "b", "c")
    named = [part for name in JUDGES for part in ("--judge", f"recorded:{name}.jsonl")]
    how = ("rank", *FILES, "c.jsonl", "--rubric", "r.yaml", *named)
    found = panel.run(*how, "--json").json
    assert [side["name"] for side in found["sides"]] == ["a.jsonl", "b.jsonl", "c.jsonl"]
    judges = {one["judge"].split(".")[0]: one for one in found["questioned"]["panel"]["judges"]}
    assert judges["recorded:biased"]["flip_rate"]["value"] == 1
    shown = panel.run(*how)
    assert "Each judge" in shown.out
    assert "warning   recorded:biased.jsonl favours" in shown.out
    planned = panel.run(*how, "--dry-run", "--json").json
    assert planned["n_questions"] == 3 * 12 * 3 * 4


def test_labels_are_held_against_one_judge(panel: Bench) -> None:
    suite = {
        "name": "s",
        "rubric": "r.yaml",
        "cases": [{"id": f"c{k}", "input": f"c{k}"} for k in range(12)],
        "judge": ["recorded:one.jsonl", "recorded:two.jsonl"],
    }
    panel.write("judgekit.yaml", json.dumps(suite))
    panel.write("labels.jsonl", {"case_id": "c0", "annotator": "Ada", "winner": "a"})
    ran = panel.run("calibrate", "labels.jsonl", "--compare", *FILES)
    assert ran.code == 2
    assert "a panel of judges, but this command calls a single judge" in ran.err
