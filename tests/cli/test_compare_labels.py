"""`compare --labels`: the result corrected by human labels of some of the cases."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.factories import reply
from tests.judge.comparing import prefers

if TYPE_CHECKING:
    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran

CASES = [f"c{k:02}" for k in range(60)]
HOW = ("--rubric", "one.yaml", "--judge", "recorded:replies.jsonl")
RUBRIC = """\
name: answers
criteria:
  - {name: right, question: "Is it right?", scale: one_to_five}
"""


def label_rows(n: int) -> list[dict[str, object]]:
    """People prefer B in two of three cases; every third case is drawn, then the others."""
    drawn = [*CASES[::2], *CASES[1::2]]
    return [
        {"case_id": case, "annotator": "Ada", "winner": "a" if CASES.index(case) % 3 == 0 else "b"}
        for case in drawn[:n]
    ]


@pytest.fixture
def sides(bench: Bench) -> Bench:
    """60 cases; the judge takes A in two of three, and B only where people do."""
    bench.write("one.yaml", RUBRIC)
    for name in ("a", "b"):
        bench.write(
            f"{name}.jsonl", *({"case_id": c, "input": c, "text": f"{name} {c}"} for c in CASES)
        )
    bench.write(
        "replies.jsonl",
        *(
            {"case_id": case, "order": order, "text": prefers(first if k % 3 != 1 else second)}
            for k, case in enumerate(CASES)
            for order, first, second in (("ab", "first", "second"), ("ba", "second", "first"))
        ),
    )
    return bench


def compare(sides: Bench, n_labels: int, *options: object) -> Ran:
    sides.write("labels.jsonl", *label_rows(n_labels))
    what = ("compare", "a.jsonl", "b.jsonl", *HOW, "--labels", "labels.jsonl")
    return sides.run(*what, "--no-progress", *options)


def test_the_corrected_figure_decides_and_the_judges_own_is_shown_beside_it(sides: Bench) -> None:
    alone = sides.run("compare", "a.jsonl", "b.jsonl", *HOW, "--no-progress")
    assert "a.jsonl is better: 40 of 60 decided pairs" in alone.out
    ran = compare(sides, 40, "--labels-are", "random", "-o", "page.html", "-o", "page.md")
    assert ran.code == 0
    assert "b.jsonl is better: A wins 33 % [" in ran.out
    assert ", corrected by 40 labelled pairs" in ran.out
    assert "A's share of wins, corrected by human labels: the overall figure decides" in ran.out
    assert "The judge alone\n  a.jsonl is better: 40 of 60 decided pairs" in ran.out
    for name in ("page.html", "page.md"):
        page = (sides.folder / name).read_text(encoding="utf-8")
        assert "corrected by 40 labelled pairs" in page
        assert "corrected by human labels" in page


def test_the_json_has_both_decisions_and_the_corrected_figure(sides: Bench) -> None:
    found = compare(sides, 40, "--json").json
    labels = found["human_labels"]
    assert (found["decision"]["winner"], labels["judge_decision"]["winner"]) == ("b", "a")
    assert labels["whole"]["n_labels"] == labels["n_labels"] == 40
    assert labels["whole"]["corrected"]["value"] == pytest.approx(1 / 3, abs=0.05)
    assert labels["whole"]["raw"]["value"] == pytest.approx(2 / 3)
    assert labels["whole"]["labels_are"] == "random, assumed"
    assert found["whole"]["wins"] == 40, "the judge's own figures stay what they are"


def test_a_correction_that_is_refused_is_shown_with_its_reason(sides: Bench) -> None:
    """Only pairs that the judge gives to B were labelled: no random part of all."""
    rows = [{"case_id": c, "annotator": "Ada", "winner": "b"} for c in CASES[1::3]]
    sides.write("labels.jsonl", *rows)
    ran = sides.run("compare", "a.jsonl", "b.jsonl", *HOW, "--labels", "labels.jsonl")
    assert ran.code == 4
    assert "no decision: the human labels allow no correction: the judge scores" in ran.out
    assert "overall: not corrected: the judge scores labelled items differently" in ran.out


def test_too_few_labels_make_no_call_and_exit_with_4(sides: Bench) -> None:
    ran = compare(sides, 19)
    assert (ran.code, ran.out) == (4, "")
    assert "19 cases have a human label of which output is better overall" in ran.err
    assert "a correction needs 20" in ran.err
    assert not (sides.folder / ".judgekit/judgekit.db").exists()


def test_labels_that_cannot_be_used_are_named_with_their_line(sides: Bench) -> None:
    unknown = {"case_id": "c30", "annotator": "Bob", "winner": "neither"}
    sides.write("labels.jsonl", *label_rows(30), unknown)
    ran = sides.run("compare", "a.jsonl", "b.jsonl", *HOW, "--labels", "labels.jsonl")
    assert (ran.code, ran.out) == (2, "")
    assert "labels.jsonl" in ran.err
    assert "31" in ran.err
    assert "it names no winner" in ran.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--labels", "labels.jsonl", "--until-decided"], "corrects a fixed number of cases"),
        (["--labels", "labels.jsonl", "--scores", "--anytime"], "corrects a fixed number of cases"),
        (["--labels-are", "random"], "--labels-are describes --labels"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    sides: Bench, options: list[str], words: str
) -> None:
    sides.write("labels.jsonl", *label_rows(30))
    ran = sides.run("compare", "a.jsonl", "b.jsonl", *options)
    assert ran.code == 2
    assert words in ran.err


def test_a_stored_comparison_is_corrected_later_without_a_call(sides: Bench) -> None:
    compared = sides.run("compare", "a.jsonl", "b.jsonl", *HOW, "--json").json
    later = compare(sides, 40, "--resume", compared["id"], "--json").json
    assert later["id"] == compared["id"]
    assert later["spent"] == compared["spent"]
    assert (compared["decision"]["winner"], later["decision"]["winner"]) == ("a", "b")


SUITE = {
    "name": "small",
    "dataset": "cases.jsonl",
    "rubric": "one.yaml",
    "judge": "recorded:scores.jsonl",
    "variants": [{"id": "v1", "outputs": "v1.jsonl"}, {"id": "v2", "outputs": "v2.jsonl"}],
}


@pytest.fixture
def graded(bench: Bench) -> Bench:
    """A run of 60 cases: the judge gives v2 half a point more on average."""
    bench.write("one.yaml", RUBRIC)
    bench.write("cases.jsonl", *({"id": c, "input": c} for c in CASES))
    rows: list[dict[str, object]] = []
    for variant in ("v1", "v2"):
        bench.write(f"{variant}.jsonl", *({"case_id": c, "text": f"{variant} {c}"} for c in CASES))
        for k, case in enumerate(CASES):
            score = 3 + (k % 2 if variant == "v2" else 0)
            rows.append({"case_id": case, "variant": variant, "text": reply(score)})
    bench.write("scores.jsonl", *rows)
    bench.write("judgekit.yaml", json.dumps(SUITE))
    assert bench.run("run", "--no-progress").code in (0, 1)
    return bench


def scores_of_people(graded: Bench, n: int) -> None:
    """People give v1 a point more on four cases of five; every fourth case lacks the one of v2."""
    graded.write(
        "labels.jsonl",
        *(
            {"case_id": case, "variant": variant, "annotator": "Ada", "raw": score}
            for k, case in enumerate(CASES[:n])
            for variant, score in (("v1", 3 + k // 2 % 3), ("v2", 3 + k // 2 % 3 - (k % 5 > 0)))
            if variant == "v1" or k % 4
        ),
    )


def test_a_difference_of_scores_is_corrected_by_human_scores(graded: Bench) -> None:
    scores_of_people(graded, 48)
    what = ("compare", "latest::v1", "latest::v2", "--scores", "--labels", "labels.jsonl")
    alone = graded.run(*what[:4])
    assert "latest::v2 is better" in alone.out
    ran = graded.run(*what, "--labels-are", "random")
    assert ran.code == 0
    assert "latest::v1 is better: a difference of -0." in ran.out
    assert "corrected by 36 labelled cases" in ran.out
    assert "The judge alone\n  latest::v2 is better" in ran.out
    found = graded.run(*what, "--json", "--labels-are", "random").json
    assert found["human_labels"]["whole"]["corrected"]["value"] == pytest.approx(-0.2, abs=0.05)
    assert found["value"]["estimate"]["value"] == pytest.approx(0.125)
    scores_of_people(graded, 20)
    few = graded.run(*what)
    assert (few.code, few.out) == (4, "")
    assert "15 cases have a human label of the overall value of both outputs" in few.err


def test_human_scores_of_two_runs_of_one_variant_say_which_run_they_are_of(graded: Bench) -> None:
    graded.run("run", "--no-progress", "--refresh")
    runs = [one["id"] for one in graded.run("show", "--json").json["runs"]]
    scores_of_people(graded, 48)
    names = [f"{run}::v1" for run in runs]
    what = ("compare", *names, "--scores", "--labels", "labels.jsonl")
    ran = graded.run(*what)
    assert ran.code == 2
    assert "both sides are 'v1'" in ran.err
    assert 'write the side as its "variant": a, b' in ran.err
