"""`judgekit calibrate`: where judgments may come from, what is written, what it exits with."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.interrupting import CtrlC
from tests.factories import reply
from tests.report.case_pages import cases_of_page
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.bench import Bench

RUBRIC = """\
name: answers
criteria: [{name: right, question: "Is it right?", scale: one_to_five}]
"""
_SOME = 4
SCORES = {f"c{k}": k % 5 + 1 for k in range(10)}


def people(*names: str, shift: int = 0, n: int = 10) -> list[dict[str, Any]]:
    """Labels like the judge's scores, or some levels off."""
    return [
        {"case_id": case, "annotator": name, "raw": min(5, max(1, score + shift))}
        for case, score in list(SCORES.items())[:n]
        for name in names or ("Ada",)
    ]


@pytest.fixture
def laid(bench: Bench) -> Bench:
    """Ten outputs, recorded replies about them, and labels that agree."""
    bench.write("rubric.yaml", RUBRIC)
    bench.write(
        "outputs.jsonl", *({"case_id": c, "text": f"Answer {c}.", "input": "?"} for c in SCORES)
    )
    bench.write("replies.jsonl", *({"case_id": c, "text": reply(s)} for c, s in SCORES.items()))
    bench.write("labels.jsonl", *people())
    return bench


def graded(bench: Bench, *options: object) -> Any:
    """Calibrate on outputs that are graded now."""
    return bench.run(
        "calibrate", "labels.jsonl", "--outputs", "outputs.jsonl", "--rubric", "rubric.yaml",
        "--judge", "recorded:replies.jsonl", *options,
    )  # fmt: skip


def test_outputs_are_graded_on_the_spot(laid: Bench) -> None:
    ran = graded(laid, "--json")
    assert ran.code == 0
    assert ran.json["overall"]["agreement"]["exact"]["value"] == 1
    assert ran.json["rubric"] == "answers"
    assert ran.json["judges"][0].startswith("recorded:replies.jsonl pointwise/criterion@")


def test_tables_go_to_stdout_and_progress_to_stderr(laid: Bench) -> None:
    ran = graded(laid, "-o", "report.html")
    assert "Judge and humans" in ran.out
    assert "Can this judge replace a human annotator? Inconclusive: one annotator" in ran.out
    assert "wrote the report to report.html" in ran.err
    assert (laid.folder / "report.html").read_text("utf-8").startswith("<!doctype html>")


def test_what_grade_wrote_is_read(laid: Bench) -> None:
    laid.run(
        "grade", "outputs.jsonl", "--rubric", "rubric.yaml", "--judge", "recorded:replies.jsonl",
        "-o", "verdicts.jsonl",
    )  # fmt: skip
    laid.write("cases.jsonl", *({"id": c, "input": "?", "stratum": "simple"} for c in SCORES))
    ran = laid.run(
        "calibrate", "labels.jsonl", "--results", "verdicts.jsonl", "--rubric", "rubric.yaml",
        "--cases", "cases.jsonl", "--json",
    )  # fmt: skip
    assert ran.code == 0
    assert ran.json["overall"]["n"] == 10
    assert ran.json["origin"] == {"file": "verdicts.jsonl"}


def test_the_page_of_a_file_of_verdicts_has_the_quotes_of_the_judge(laid: Bench) -> None:
    laid.run(
        "grade", "outputs.jsonl", "--rubric", "rubric.yaml", "--judge", "recorded:replies.jsonl",
        "-o", "verdicts.jsonl",
    )  # fmt: skip
    path = laid.folder / "verdicts.jsonl"
    verdicts = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for verdict in verdicts:
        quote = {"quote": verdict["case_id"], "match": "exact", "start": 0, "end": 2}
        verdict["judgments"][0] |= {"evidence": [quote], "judge": "m one", "source": "llm"}
    laid.write("verdicts.jsonl", *verdicts)
    ran = laid.run(
        "calibrate", "labels.jsonl", "--results", "verdicts.jsonl", "--rubric", "rubric.yaml",
        "-o", "page.html",
    )  # fmt: skip
    assert ran.code == 0
    for name, case in cases_of_page(laid.folder / "page.html").full.items():
        (quote,) = case["opinions"][0]["rows"][0]["quotes"]
        assert quote["text"] == name.split()[0]


def test_the_latest_run_is_taken_where_nothing_is_named(laid: Bench) -> None:
    laid.write("cases.jsonl", *({"id": c, "input": "?", "tags": ["t"]} for c in SCORES))
    suite = {
        "name": "small", "dataset": "cases.jsonl", "rubric": "rubric.yaml",
        "judge": {"model": "recorded:replies.jsonl"},
        "variants": [{"id": "v1", "outputs": "outputs.jsonl"}],
    }  # fmt: skip
    laid.write("judgekit.yaml", json.dumps(suite))
    assert laid.run("run").code == 0
    ran = laid.run("calibrate", "labels.jsonl", "--json")
    assert ran.json["overall"]["agreement"]["exact"]["value"] == 1
    assert ran.json["origin"]["run"]
    assert [segment["kind"] for segment in ran.json["overall"]["segments"]] == ["tag"]
    named = laid.run("calibrate", "labels.jsonl", "--run", "latest:small", "--json")
    assert named.json["overall"] == ran.json["overall"]


def test_two_sides_are_compared_on_the_spot(laid: Bench) -> None:
    laid.write("a.jsonl", *({"case_id": c, "text": f"Answer {c}.", "input": "?"} for c in SCORES))
    laid.write("b.jsonl", *({"case_id": c, "text": f"Other {c}.", "input": "?"} for c in SCORES))
    template = {"evidence_first": [], "evidence_second": [], "rationale": "So it is."}
    replies = [
        {"case_id": c, "order": order, "text": json.dumps(template | {"preference": slot})}
        for c in SCORES
        for order, slot in (("ab", "first"), ("ba", "second"))
    ]
    laid.write("pairs.jsonl", *replies)
    laid.write(
        "winners.jsonl", *({"case_id": c, "annotator": "Ada", "winner": "a"} for c in SCORES)
    )
    strata = {c: "simple" if c < "c5" else "complex" for c in SCORES}
    laid.write("cases.jsonl", *({"id": c, "input": "?", "stratum": strata[c]} for c in SCORES))
    ran = laid.run(
        "calibrate", "winners.jsonl", "--compare", "a.jsonl", "b.jsonl", "--rubric", "rubric.yaml",
        "--judge", "recorded:pairs.jsonl", "--cases", "cases.jsonl", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.json["kind"] == "pairwise"
    found = [(each["name"], each["orders"]["n"]) for each in ran.json["overall"]["segments"]]
    assert found == [("simple", 5), ("complex", 5)]
    assert ran.json["overall"]["orders"]["accuracy_both"]["value"] == 1


def test_recorded_replies_need_no_outputs(laid: Bench) -> None:
    with_outputs = graded(laid, "--json").json
    ran = laid.run(
        "calibrate", "labels.jsonl", "--rubric", "rubric.yaml",
        "--judge", "recorded:replies.jsonl", "--json",
    )  # fmt: skip
    assert ran.code == 0
    assert ran.json["overall"] == with_outputs["overall"]
    assert ran.json["joined"] == with_outputs["joined"]
    assert ran.json["origin"] == {"file": "replies.jsonl"}
    assert ran.json["judges"] == with_outputs["judges"]


def test_recorded_replies_about_two_outputs_need_no_rubric(laid: Bench) -> None:
    said = {"first": "The period is named. [[A]]", "second": "The period is named. [[B]]"}
    laid.write(
        "pairs.jsonl",
        *(
            {"case_id": c, "order": order, "text": said[slot]}
            for c in SCORES
            for order, slot in (("ab", "first"), ("ba", "second"))
        ),
    )
    laid.write("cases.jsonl", *({"id": c, "input": "?", "metadata": {"odd": c[-1] in "13579"}}
                                for c in SCORES))  # fmt: skip
    laid.write(
        "winners.jsonl", *({"case_id": c, "annotator": "Ada", "winner": "a"} for c in SCORES)
    )
    ran = laid.run(
        "calibrate", "winners.jsonl", "--judge", "recorded:pairs.jsonl",
        "--template", "pairwise/mt_bench", "--cases", "cases.jsonl", "--by", "odd", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.json["overall"]["orders"]["accuracy_both"]["value"] == 1
    parts = [segment["orders"]["n"] for segment in ran.json["overall"]["segments"]]
    assert parts == [5, 5]
    assert [segment["n_labels"] for segment in ran.json["overall"]["segments"]] == [5, 5]


def test_recorded_scores_need_a_rubric(laid: Bench) -> None:
    ran = laid.run("calibrate", "labels.jsonl", "--judge", "recorded:replies.jsonl")
    assert ran.code == 2
    assert "the scale of the recorded scores is unknown" in ran.err
    assert "--rubric FILE" in ran.err


def test_categories_are_told_and_shown_without_means(laid: Bench) -> None:
    names = ["calm", "keen", "wry"]
    levels = [{"value": at, "name": name} for at, name in enumerate(names)]
    asked = {"name": "mood", "question": "Which mood?", "scale": {"levels": levels}}
    laid.write("moods.json", json.dumps({"name": "moods", "criteria": [asked]}))
    rows = [{"case_id": f"c{n}", "raw": names[n % 3]} for n in range(9)]
    laid.write("said.jsonl", *rows)
    laid.write("told.jsonl", *({**row, "annotator": who} for row in rows for who in ("Ada", "Ben")))
    words = ("calibrate", "told.jsonl", "--results", "said.jsonl", "--rubric", "moods.json")
    ran = laid.run(*words, "--categories", "--alignment", "accuracy", "--json")
    assert ran.code == 0
    assert ran.json["overall"]["agreement"]["kappa"]["value"] == 1
    assert ran.json["overall"]["leniency"]["bias"]["value"] is None
    shown = laid.run(*words, "--categories", "-v", "-o", "report.html")
    assert shown.code == 0
    assert "nan" not in shown.out
    assert "human calm" in shown.out, "categories go by their names"


def test_sides_that_share_no_case_are_an_error(laid: Bench) -> None:
    laid.write("a.jsonl", {"case_id": "x", "text": "1", "input": "?"})
    laid.write("b.jsonl", {"case_id": "y", "text": "2", "input": "?"})
    ran = laid.run(
        "calibrate", "labels.jsonl", "--compare", "a.jsonl", "b.jsonl", "--rubric", "rubric.yaml",
        "--judge", "recorded:replies.jsonl",
    )  # fmt: skip
    assert ran.code == 2
    assert "no case is answered by both sides" in ran.err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--run", "r", "--results", "labels.jsonl"], "--run and --results are two sources"),
        (["--judge", "openai/m"], "a judge is named, but no outputs for it to judge"),
        (["-o", "report.pdf"], "use .json, .md, .html"),
        (["--results", "outputs.jsonl"], "found no judgment in the fields"),
    ],
)
def test_what_does_not_go_together_is_said(laid: Bench, options: list[str], problem: str) -> None:
    ran = laid.run("calibrate", "labels.jsonl", *options)
    assert ran.code == 2
    assert problem in ran.err


def test_unsound_labels_are_said_before_anything_is_asked(laid: Bench) -> None:
    laid.write("labels.jsonl", {"case_id": "c1", "raw": 1, "winner": "a"})
    ran = graded(laid)
    assert ran.code == 2
    assert "labels.jsonl:1: case 'c1': a label has `raw` or `winner`, not both" in ran.err
    assert not (laid.folder / ".judgekit").exists()


def test_a_judge_that_fails_makes_the_result_incomplete(laid: Bench) -> None:
    rows = [{"case_id": c, "text": reply(s)} for c, s in list(SCORES.items())[1:]]
    laid.write("replies.jsonl", *rows)
    ran = graded(laid, "--json")
    assert ran.code == 3
    assert ran.json["overall"]["n_judge_missing"] == 1
    assert ran.json["joined"]["n_judge_failures"] == 1


def test_a_frozen_cache_that_misses_exits_6(laid: Bench) -> None:
    ran = laid.run(
        "calibrate", "labels.jsonl", "--outputs", "outputs.jsonl", "--rubric", "rubric.yaml",
        "--judge", "openai/m", "--frozen",
    )  # fmt: skip
    assert ran.code == 6
    assert "some replies are not in the frozen cache" in ran.err


def test_too_little_money_exits_5(laid: Bench) -> None:
    ran = laid.run(
        "calibrate", "labels.jsonl", "--outputs", "outputs.jsonl", "--rubric", "rubric.yaml",
        "--judge", "openai/gpt-4.1-mini", "--max-cost", "0.0000001",
    )  # fmt: skip
    assert ran.code == 5
    assert "the cost limit allows no further call" in ran.err


@pytest.mark.parametrize(
    ("shift", "least", "code"), [(0, "0.5", 4), (-1, "0.2", 0), (-1, "0.99", 1), (-1, "0.8", 4)]
)
def test_agreement_can_be_required(laid: Bench, shift: int, least: str, code: int) -> None:
    """Full agreement of ten items shows no spread, so that its interval is open."""
    laid.write("labels.jsonl", *people(shift=shift))
    ran = graded(laid, "--min-kappa", least, "-q")
    assert ran.code == code, ran.out + ran.err


def test_a_stand_in_can_be_required(laid: Bench) -> None:
    ran = graded(laid, "--require-stand-in")
    assert ran.code == 4
    assert "--require-stand-in: inconclusive" in ran.err


def test_options_reach_the_figures(laid: Bench) -> None:
    laid.write("labels.jsonl", *people("Ada", "Ben"))
    ran = graded(laid, "--json", "--annotator", "Ben", "--alpha", "0.1", "--cluster", "item",
                 "--labels-are", "random", "--consensus", "majority", "--right", "exact",
                 "--by", "doc", "--suggest", "0", "--worst", "1")  # fmt: skip
    options = ran.json["options"]
    assert (options["annotators"], options["level"]) == (["Ben"], 0.9)
    assert (options["cluster"], options["consensus"], options["by"]) == (
        "item",
        "majority",
        ["doc"],
    )
    assert ran.json["suggestions"] == []
    assert ran.json["joined"]["annotators"] == ["Ben"]


def test_an_interrupt_shows_what_there_is(laid: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    ctrl_c = CtrlC(monkeypatch)

    def interrupts(seen: ServedRequest) -> ServedReply:
        if seen.number == _SOME:
            ctrl_c.press()
        return ok(reply(4))

    asked = ("--outputs", "outputs.jsonl", "--rubric", "rubric.yaml", "-j", 1)
    with OpenAILikeServer(interrupts) as server:
        ran = laid.ask(server, "calibrate", "labels.jsonl", *asked)
    assert ran.code == 130
    assert "Judge and humans" in ran.out
    assert "cached replies are not requested again" in ran.err


def test_two_interrupts_stop_at_once(laid: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    ctrl_c = CtrlC(monkeypatch)

    def interrupts(seen: ServedRequest) -> ServedReply:
        if seen.number == _SOME:
            ctrl_c.press_twice()
        return replace(ok(reply(4)), is_held=seen.number >= _SOME)

    asked = ("--outputs", "outputs.jsonl", "--rubric", "rubric.yaml", "-j", 1)
    with OpenAILikeServer(interrupts) as server:
        ran = laid.ask(server, "calibrate", "labels.jsonl", *asked)
    assert (ran.code, ran.out) == (130, "")
    assert "stopped at once" in ran.err


def test_recorded_replies_are_chosen_among_as_outputs_are(laid: Bench) -> None:
    tagged = [{"id": c, "input": "?", "tags": ["late"] if c > "c5" else []} for c in SCORES]
    laid.write("cases.jsonl", *tagged)
    alone = ("--judge", "recorded:replies.jsonl", "--rubric", "rubric.yaml", "--json")
    wanted = [
        ("--limit", 3),
        ("--sample", 4, "--seed", 2),
        ("--filter-tag", "late", "--cases", "cases.jsonl", "--limit", 2),
    ]
    for options in wanted:
        found = laid.run("calibrate", "labels.jsonl", *alone, *options).json
        same = laid.run(
            "calibrate", "labels.jsonl", *alone, *options, "--outputs", "outputs.jsonl"
        ).json
        assert found["overall"] == same["overall"]
        assert found["joined"] == same["joined"]
        assert found["joined"]["n_judged"] < len(SCORES)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ((), "--filter-tag uses the tags of cases, and recorded replies have none"),
        (("--cases", "cases.jsonl"), "no recorded reply is about a case with the tag late"),
    ],
)
def test_tags_of_recorded_replies_are_those_of_their_cases(
    laid: Bench, more: tuple[str, ...], problem: str
) -> None:
    laid.write("cases.jsonl", *({"id": c, "input": "?"} for c in SCORES))
    ran = laid.run(
        "calibrate", "labels.jsonl", "--rubric", "rubric.yaml",
        "--judge", "recorded:replies.jsonl", "--filter-tag", "late", *more,
    )  # fmt: skip
    assert ran.code == 2
    assert problem in ran.err


def test_a_page_shows_the_outputs_that_were_graded(laid: Bench) -> None:
    laid.write("labels.jsonl", *people("Ada", shift=1))
    assert graded(laid, "-o", "report.html").code == 0
    shown = cases_of_page(laid.folder / "report.html")
    assert shown.columns == ["right"]
    assert shown.counts["lower"] == 8
    assert shown.full["c3"]["answers"][0]["output"] == "Answer c3."
    assert shown.rows_of("c3", "right")[1][:2] == ("annotator Ada", "5")


def test_a_page_reads_the_outputs_of_a_run_again(laid: Bench) -> None:
    laid.write("cases.jsonl", *({"id": c, "input": "?"} for c in SCORES))
    suite = {
        "name": "small", "dataset": "cases.jsonl", "rubric": "rubric.yaml",
        "judge": {"model": "recorded:replies.jsonl"},
        "variants": [{"id": "v1", "outputs": "outputs.jsonl"}],
    }  # fmt: skip
    laid.write("judgekit.yaml", json.dumps(suite))
    assert laid.run("run").code == 0
    labels = [{**label, "variant": "v1"} for label in people()]
    laid.write("labels.jsonl", *labels)
    assert laid.run("calibrate", "labels.jsonl", "-o", "report.html").code == 0
    shown = cases_of_page(laid.folder / "report.html")
    assert shown.full["c3 of v1"]["answers"][0]["output"] == "Answer c3."
    assert shown.counts["disagree"] == 0


def test_a_page_of_compared_pairs_has_both_outputs(laid: Bench) -> None:
    for name in ("a", "b"):
        laid.write(
            f"{name}.jsonl",
            *({"case_id": c, "text": f"{name} {c}.", "variant": name} for c in SCORES),
        )
    known = {"evidence_first": [], "evidence_second": [], "rationale": "So it is."}
    replies = [
        {"case_id": c, "order": order, "text": json.dumps(known | {"preference": slot})}
        for c in SCORES
        for order, slot in (("ab", "first"), ("ba", "second"))
    ]
    laid.write("pairs.jsonl", *replies)
    rows = ({"case_id": c, "annotator": "Ada", "winner": "b"} for c in SCORES)
    laid.write("winners.jsonl", *rows)
    ran = laid.run(
        "calibrate", "winners.jsonl", "--compare", "a.jsonl", "b.jsonl", "--rubric", "rubric.yaml",
        "--judge", "recorded:pairs.jsonl", "-o", "report.html",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    shown = cases_of_page(laid.folder / "report.html")
    assert shown.counts["disagree"] == 10
    texts = [one["output"] for one in shown.full["c3 of a::b"]["answers"]]
    assert texts == ["a c3.", "b c3."]
