"""`judgekit report`: which results it takes, what it writes, what it refuses."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import DEFAULT_STORE_FILE
from judgekit.store import RunStore
from tests.cli.bench import output, scores
from tests.cli.contests import EIGHT, LONG, SHORT, answers_and_judges
from tests.factories import make_case, make_output, make_rubric
from tests.report.case_pages import cases_of_page, conclusion_of
from tests.servers.openai_like import OpenAILikeServer
from tests.store.observing import answer, begun, key, said

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran

SCORES = {"v1": (1.0, 0.0, 1.0), "v2": (1.0, 1.0, 1.0)}


@pytest.fixture
def kept(bench: Bench) -> Bench:
    """A run of three cases and two variants."""
    with closing(RunStore(bench.folder / DEFAULT_STORE_FILE)) as store:
        answers = [
            answer(
                key(f"c{place}", name),
                place=place,
                case=make_case(id=f"c{place}"),
                output=make_output(f"{name} {place}"),
                said=(said(value=values[place], raw=1 + 4 * values[place]),),
            )
            for place in range(3)
            for name, values in SCORES.items()
        ]
        run = begun(
            store, *answers, variants=[{"id": name} for name in SCORES], rubric=make_rubric()
        )
        store.end(run.id, status="complete", at=run.started_at)
    return bench


def page(bench: Bench, *arguments: object) -> Path:
    """Write a report, and give its page."""
    ran = bench.run("report", *arguments, "-o", "report.html")
    assert ran.code == 0, ran.err
    return bench.folder / "report.html"


def refusal(ran: Ran) -> str:
    assert ran.code == 2
    return ran.err


def test_a_stored_run_is_written_with_all_its_cases(kept: Bench) -> None:
    ran = kept.run("report", "latest", "-o", "report.html", "-o", "report.md")
    assert (ran.code, ran.out) == (0, "")
    assert "wrote the report to report.html; it contains the data of the cases" in ran.err
    assert conclusion_of(kept.folder / "report.html") == "v1 passed 2/3; v2 passed 3/3"
    assert set(cases_of_page(kept.folder / "report.html").full) == {"c0", "c1", "c2"}
    assert "**v1 passed 2/3; v2 passed 3/3**" in (kept.folder / "report.md").read_text()


def test_what_was_written_is_named_as_json(kept: Bench) -> None:
    ran = kept.run("report", "run-1", "-o", "report.html", "--json")
    assert ran.json["files"] == ["report.html"]
    assert ran.json["conclusion"]["text"] == "v1 passed 2/3; v2 passed 3/3"
    assert "contains the data of the cases" in ran.err


def test_two_variants_are_written_side_by_side(kept: Bench) -> None:
    written = page(kept, "latest::v1", "latest::v2")
    assert "1 better, 2 the same" in conclusion_of(written)
    assert cases_of_page(written).filters("c1") == {"better", "changed"}


def test_sides_have_the_names_that_are_given_and_markdown_lists_what_changed(kept: Bench) -> None:
    names = ("--name", "base", "--name", "this branch")
    kept.run("report", "latest::v2", "latest::v1", *names, "-o", "sides.md")
    shown = (kept.folder / "sides.md").read_text(encoding="utf-8")
    assert shown.startswith("# base and this branch side by side\n\n**No decision between base")
    assert "- A: base, v2 of run " in shown
    # Lists one after the other stay apart.
    assert "## Worse cases\n\n- **worse** " in shown
    assert "\n\n<!-- -->\n\n- test: " in shown
    for wrong in (names[:2], (*names, "--name", "c"), ("--name", "a", "--name", "a")):
        refused = kept.run("report", "latest::v2", "latest::v1", *wrong, "-o", "sides.md")
        assert "--name is for two runs side by side: give it twice" in refused.err
    refused = kept.run("report", "latest", *names, "-o", "sides.md")
    assert "--name is for two runs side by side" in refused.err


def test_a_comparison_of_scores_has_its_cases_too(kept: Bench) -> None:
    kept.run("compare", "latest::v1", "latest::v2", "--scores", "-o", "scores.html")
    written = cases_of_page(kept.folder / "scores.html")
    (stored,) = kept.run("show", "--comparisons", "--json").json
    again = cases_of_page(page(kept, stored["id"]))
    assert written.kind == again.kind == "sides"
    assert written.full.keys() == again.full.keys() == {"c0", "c1", "c2"}


def test_a_blind_comparison_is_written_from_the_store_and_from_its_file(bench: Bench) -> None:
    bench.write("new.jsonl", *(output(c, text=LONG, variant="new") for c in EIGHT))
    bench.write("old.jsonl", *(output(c, text=SHORT, variant="old") for c in EIGHT))
    with OpenAILikeServer(answers_and_judges) as server:
        ran = bench.ask(
            server, "compare", "new.jsonl", "old.jsonl", "--rubric", "rubric.yaml",
            "-o", "made.jsonl", "-o", "compared.html", "-o", "compared.md",
            "--analysis", "analysis.json",
        )  # fmt: skip
    assert ran.code == 0
    drawing = "the output shown first"
    assert drawing in (bench.folder / "compared.html").read_text(encoding="utf-8")
    assert drawing not in (bench.folder / "compared.md").read_text(encoding="utf-8")
    compared = cases_of_page(bench.folder / "compared.html")
    assert compared.counts["a"] == 8
    titles = [one["title"] for one in compared.full["c0"]["points"]]
    assert titles == ["Strengths of A", "Weaknesses of B", "Suggestions for B"]
    (stored,) = bench.run("show", "--comparisons", "--json").json
    assert cases_of_page(page(bench, stored["id"])).full == compared.full
    written = page(bench, "made.jsonl")
    assert "new is first" in conclusion_of(written)
    recorded = cases_of_page(written)
    assert recorded.columns == ["new", "old"]
    assert recorded.full["c0"]["answers"] == [], "a file of comparisons has no outputs"


def test_a_ranking_shows_the_outputs_of_each_case(bench: Bench) -> None:
    bench.write("new.jsonl", *(output(c, text=LONG, variant="new") for c in EIGHT))
    bench.write("old.jsonl", *(output(c, text=SHORT, variant="old") for c in EIGHT))
    with OpenAILikeServer(answers_and_judges) as server:
        ran = bench.ask(
            server, "rank", "new.jsonl", "old.jsonl", "--rubric", "rubric.yaml", "-o", "rank.html"
        )
    assert ran.code == 0
    ranked = cases_of_page(bench.folder / "rank.html")
    names = {one["name"]: one["output"] for one in ranked.full["c0"]["answers"]}
    assert list(names.values()) == [LONG, SHORT]


def test_verdicts_of_a_file_are_written(bench: Bench) -> None:
    with OpenAILikeServer(scores(a=1)) as server:
        bench.grade(server, "-o", "verdicts.jsonl")
    written = page(bench, "verdicts.jsonl")
    assert conclusion_of(written).startswith("outputs passed ")
    shown = cases_of_page(written)
    assert shown.columns == ["outputs"]
    # An output that is not in the file is not said to be empty.
    assert all(
        answer["is_verdict_only"] for row in shown.full.values() for answer in row["answers"]
    )
    assert "The file holds verdicts only, and no outputs." in written.read_text()
    # They were concluded already: a rubric would change nothing.
    ran = bench.run("report", "verdicts.jsonl", "--rubric", "rubric.yaml", "-o", "again.html")
    assert "and verdicts.jsonl has none" in refusal(ran)


def test_results_of_a_file_are_concluded_by_the_rubric_that_is_named(kept: Bench) -> None:
    kept.run("export", "latest", "-o", "results.json")
    ran = kept.run("report", "results.json", "-o", "report.html")
    assert "results.json does not say by which rubric its answers pass" in refusal(ran)
    assert "judgekit report run-1" in ran.err
    kept.write("own.yaml", make_rubric().model_dump_json())
    written = page(kept, "results.json", "--rubric", "own.yaml")
    assert conclusion_of(written) == "v1 passed 2/3; v2 passed 3/3"
    assert cases_of_page(written).full["c1"]["answers"][0]["output"] == "v1 1"


def test_a_file_that_holds_no_results_is_refused_with_what_it_holds(bench: Bench) -> None:
    ran = bench.run("report", "outputs.jsonl", "-o", "report.html")
    assert "it holds no results of judgekit; the fields of its first row: case_id" in refusal(ran)
    assert "outputs are graded first: judgekit grade FILE" in ran.err
    bench.write("empty.jsonl")
    assert "fields of its first row: none" in refusal(
        bench.run("report", "empty.jsonl", "-o", "report.html")
    )


def test_a_damaged_row_is_named_by_its_line(kept: Bench) -> None:
    kept.run("export", "latest", "-o", "results.jsonl")
    path = kept.folder / "results.jsonl"
    first, second, *_ = path.read_text().splitlines()
    row = json.loads(second)
    row["place"] = "first"
    kept.write("results.jsonl", first + "\n", row)
    ran = kept.run("report", "results.jsonl", "-o", "report.html")
    assert "results.jsonl:2" in refusal(ran)
    assert "place" in ran.err


def test_a_report_needs_a_file_and_only_files_a_rubric(kept: Bench) -> None:
    assert "no file is named to write the report to" in refusal(kept.run("report", "latest"))
    ran = kept.run("report", "latest", "--rubric", "rubric.yaml", "-o", "report.html")
    assert "--rubric is for files: what is stored has its own" in refusal(ran)
    ran = kept.run("report", "latest", "-o", "report.csv")
    assert "cannot write a report to report.csv" in refusal(ran)


def test_a_run_that_is_not_there_is_refused(kept: Bench) -> None:
    assert "run-2" in refusal(kept.run("report", "run-2", "-o", "report.html"))
    ran = kept.run("report", "latest::v1", "latest::v3", "-o", "report.html")
    assert "v3" in refusal(ran)
