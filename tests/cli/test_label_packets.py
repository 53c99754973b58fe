"""`judgekit label` with pages: what annotators get, and what is made of what they return."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import DEFAULT_STORE_FILE
from judgekit.store import RunStore
from tests.cli.labelling import jsonl, judged, labels_of, lamp, lay_outputs, task_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.commanding import Run


def packet(run: Run, folder: Path, *arguments: object) -> dict[str, Any]:
    """The task of a new page."""
    assert run("label", *arguments, "-o", "label.html").code == 0
    return task_of(folder / "label.html")


def as_the_judge(item: dict[str, Any], name: str) -> float:
    k = lamp(item)
    return 1 + k % 5 if name == "correct" else k % 2


def scored(correct: float) -> Callable[[dict[str, Any], str], float]:
    """Always this score on `correct`, and 1 on `tone`."""
    return lambda _, name: correct if name == "correct" else 1


def stored(folder: Path) -> list[tuple[str, str, float]]:
    """The human judgments of the last run: annotator, case and score of `correct`."""
    with_store = RunStore(folder / DEFAULT_STORE_FILE)
    found = [
        (one.judge, result.case.id, one.raw)
        for result in with_store.results(with_store.run("latest").id)
        for one in result.judgments
        if one.source == "human" and one.criterion == "correct"
    ]
    with_store.close()
    return sorted(found)


def test_outputs_are_labelled_on_the_terminal_without_a_suite(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_outputs(tmp_path, 2, "prompt-v1")
    lines = iter(["4", "", "", "1", "It is friendly.", "", "q"])
    monkeypatch.setattr("sys.stdin.readline", lambda: f"{next(lines, 'q')}\n", raising=False)
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    command = ("label", "prompt-v1.jsonl", "--rubric", "rubric.yaml", "--annotator", "Ada")
    assert "2 questions answered\n2 questions wait" in run(*command).out
    again = run(*command, "--json")
    # The same command continues the same run.
    assert (again.json["n_answered"], again.json["n_waiting"]) == (0, 2)
    exported = run("label", "--export", "human.jsonl")
    assert exported.code == 0
    rows = [json.loads(line) for line in (tmp_path / "human.jsonl").read_text().splitlines()]
    assert sorted(str(row.get("rationale")) for row in rows) == ["It is friendly.", "None"]


def test_the_file_of_an_annotator_answers_the_run(run: Run, tmp_path: Path) -> None:
    judged(run, tmp_path)
    task = packet(run, tmp_path)
    jsonl(tmp_path / "ada.jsonl", *labels_of(task, "Ada", as_the_judge))
    done = run("label", "--import", "ada.jsonl", "--json")
    assert (done.json["n_labels"], done.json["n_answered"]) == (12, 12)
    assert stored(tmp_path) == [("Ada", f"case-{k:03}", 1 + k % 5) for k in range(6)]
    # The second time nothing changes.
    assert run("label", "--import", "ada.jsonl", "--json").json["n_answered_before"] == 12


def test_each_annotator_of_a_review_has_an_answer_and_may_change_it(
    run: Run, tmp_path: Path
) -> None:
    judged(run, tmp_path, 1)
    task = packet(run, tmp_path)
    for name, score in (("Ada", 2), ("Ben", 5), ("Ada", 3)):
        rows = labels_of(task, name, scored(score))
        jsonl(tmp_path / "rows.jsonl", *rows)
        assert run("label", "--import", "rows.jsonl").code == 0
    assert stored(tmp_path) == [("Ada", "case-000", 3), ("Ben", "case-000", 5)]


def test_an_answer_without_a_score_withdraws_the_earlier_one(run: Run, tmp_path: Path) -> None:
    judged(run, tmp_path, 1)
    task = packet(run, tmp_path)
    jsonl(tmp_path / "ada.jsonl", *labels_of(task, "Ada", as_the_judge))
    run("label", "--import", "ada.jsonl")
    jsonl(tmp_path / "ada.jsonl", *labels_of(task, "Ada", lambda *_: None))
    assert "2 without a score" in run("label", "--import", "ada.jsonl").out
    assert stored(tmp_path) == []


def test_where_humans_decide_the_first_answer_stands(run: Run, tmp_path: Path) -> None:
    lay_outputs(tmp_path, 1, "prompt-v1")
    task = packet(run, tmp_path, "prompt-v1.jsonl", "--rubric", "rubric.yaml")
    for name, score in (("Ada", 2), ("Ben", 5)):
        rows = labels_of(task, name, scored(score))
        jsonl(tmp_path / "rows.jsonl", *rows)
        last = run("label", "--import", "rows.jsonl", "--json")
    assert (last.json["status"], last.json["n_answered_before"]) == ("complete", 2)
    assert stored(tmp_path) == [("Ada", "case-000", 2)]


def test_calibrate_takes_the_file_as_it_is(run: Run, tmp_path: Path) -> None:
    judged(run, tmp_path, 40)
    task = packet(run, tmp_path)
    assert len(task["items"]) == 42  # two of them twice
    jsonl(tmp_path / "ada.jsonl", *labels_of(task, "Ada", as_the_judge))
    report = run("calibrate", "ada.jsonl", "--json").json
    assert report["joined"]["n_joined"] == 80
    assert report["criteria"]["correct"]["agreement"]["exact"]["value"] == 1


def test_a_sample_is_drawn_first_and_the_rest_helps_calibration(run: Run, tmp_path: Path) -> None:
    judged(run, tmp_path, 60)
    task = packet(run, tmp_path, "--sample", 40)
    once = [item for item in task["items"] if not item["again"]]
    assert [item["part"] for item in once] == [0] * 30 + [1] * 10
    with_store = RunStore(tmp_path / DEFAULT_STORE_FILE)
    key = with_store.packet(task["packet"]).items
    with_store.close()
    assert {one.probability for one in key if one.chosen == "random"} == {0.5}
    assert {one.probability for one in key if one.chosen == "informative"} == {None}
    # The judge is right on what was drawn, and wrong on all that was chosen: figures are of the
    # former, whether the labels come from the page's file or out of the run.
    wrong = lambda item, name: (1 + (lamp(item) + 2) % 5) if name == "correct" else 0  # noqa: E731
    rows = labels_of(task, "Ada", lambda i, n: (wrong if i["part"] else as_the_judge)(i, n))
    jsonl(tmp_path / "ada.jsonl", *rows)
    assert run("label", "--import", "ada.jsonl").code == 0
    assert run("label", "--export", "exported.jsonl").code == 0
    for file in ("ada.jsonl", "exported.jsonl"):
        report = run("calibrate", file, "--json").json
        correct = report["criteria"]["correct"]
        assert correct["agreement"]["exact"]["value"] == 1
        assert (correct["n"], correct["n_unlabelled"]) == (30, 30)
        assert correct["corrected_rate"]["labels_are"] == "random, assumed"
        assert correct["corrected_rate"]["n_labels"] == 30
        assert correct["disagreements"]
        assert "10 labelled outputs were chosen, not drawn" in json.dumps(report["notes"])


def test_the_page_reveals_nothing(run: Run, tmp_path: Path) -> None:
    judged(run, tmp_path)
    packet(run, tmp_path, "--criterion", "tone")
    text = (tmp_path / "label.html").read_text(encoding="utf-8")
    for secret in ("prompt-v1", "case-0", "recorded:", "correct</h2>", "replies.jsonl"):
        assert secret not in text
    assert "I am [name withheld]. Lamp 0 can be returned." in text


def test_pairs_are_balanced_and_resolve_to_variants(run: Run, tmp_path: Path) -> None:
    lay_outputs(tmp_path, 20, "prompt-v1", "prompt-v2")
    both = ("prompt-v1.jsonl", "prompt-v2.jsonl", "--pairwise")
    task = packet(run, tmp_path, *both)
    with_store = RunStore(tmp_path / DEFAULT_STORE_FILE)
    key = {one.id: one for one in with_store.packet(task["packet"]).items}
    with_store.close()
    once = [one for one in key.values() if not one.repeats]
    assert sum(one.order == "ab" for one in once) == 10
    # Ada always takes prompt-v1, whichever side it is on.
    chosen = {"ab": "first", "ba": "second"}
    rows = labels_of(task, "Ada", lambda item, _: chosen[str(key[item["id"]].order)])
    jsonl(tmp_path / "ada.jsonl", *rows)
    done = run("label", "--import", "ada.jsonl", "-o", "known.jsonl")
    assert "21 labels of pairs stored" in done.out
    known = [json.loads(line) for line in (tmp_path / "known.jsonl").read_text().splitlines()]
    assert {row["winner"] for row in known} == {"prompt-v1"}
    assert len({row["case_id"] for row in known}) == len(known) == 20
    # A run has no place for choices between two: its packet keeps them.
    assert run("label", "--pairwise", "--export", "stored.jsonl").code == 0
    stored = [json.loads(line) for line in (tmp_path / "stored.jsonl").read_text().splitlines()]
    assert sorted(map(str, stored)) == sorted(map(str, known))


def test_the_sides_that_an_annotator_prefers_are_reported(run: Run, tmp_path: Path) -> None:
    lay_outputs(tmp_path, 20, "prompt-v1", "prompt-v2")
    task = packet(run, tmp_path, "prompt-v1.jsonl", "prompt-v2.jsonl", "--pairwise")
    jsonl(tmp_path / "a.jsonl", *labels_of(task, "Ada", lambda *_: "first"))
    jsonl(tmp_path / "b.jsonl", *labels_of(task, "Ben", lambda *_: "tie"))
    ada, ben = run("label", "--merge", "a.jsonl", "b.jsonl", "--json").json["habits"]
    assert (ada["first_slot"]["value"], ada["first_slot"]["n"]) == (1, 20)
    # Sides change places when a pair is shown again: the same place is another answer.
    assert (ada["same_again"]["value"], ada["same_again"]["n"]) == (0, 1)
    assert ben["first_slot"]["value"] is None


def test_labels_of_two_pairs_of_variants_are_not_merged(run: Run, tmp_path: Path) -> None:
    lay_outputs(tmp_path, 2, "v1", "v2", "v3")
    for name, *both in (("ada", "v1.jsonl", "v2.jsonl"), ("ben", "v2.jsonl", "v3.jsonl")):
        task = packet(run, tmp_path, *both, "--pairwise")
        jsonl(tmp_path / f"{name}.jsonl", *labels_of(task, name, lambda *_: "first"))
    # Their labels of a case would be of one pair: each annotator's second one replaced the first.
    refused = run("label", "--merge", "ada.jsonl", "ben.jsonl", "-o", "all.jsonl")
    assert (refused.code, (tmp_path / "all.jsonl").exists()) == (2, False)
    assert "of several pairs of variants: v1::v2, v2::v3" in refused.err


def test_two_files_are_merged_with_their_conflicts(run: Run, tmp_path: Path) -> None:
    judged(run, tmp_path, 30)
    task = packet(run, tmp_path)

    def ben(item: dict[str, Any], name: str) -> float:
        return 1 + lamp(item) * 2 % 5 if name == "correct" else lamp(item) % 2

    jsonl(tmp_path / "a.jsonl", *labels_of(task, "Ada", as_the_judge))
    jsonl(tmp_path / "b.jsonl", *labels_of(task, "Ben", ben))
    merged = run(
        "label", "--merge", "a.jsonl", "b.jsonl", "-o", "all.jsonl", "-o", "a.html", "--json"
    )
    assert merged.json["annotators"] == ["Ada", "Ben"]
    (correct, tone) = merged.json["agreement"]
    assert (tone["alpha"]["value"], tone["exact"]["value"]) == (1, 1)
    assert 0 < correct["alpha"]["value"] < 0.6
    assert correct["kappa"]["low"] < correct["kappa"]["value"] < correct["kappa"]["high"]
    conflicts = merged.json["conflicts"]
    # 3 against 5 and 4 against 2; one level of difference on one side of the threshold is none.
    assert len(conflicts) == 12
    assert {one["why"] for one in conflicts} == {"one passes, another does not"}
    assert len((tmp_path / "all.jsonl").read_text().splitlines()) == 120
    assert "Annotators do not agree well on correct" in (tmp_path / "a.html").read_text()
    assert run("calibrate", "all.jsonl", "--json").json["joined"]["annotators"] == ["Ada", "Ben"]


def test_a_third_person_decides_conflicts_on_the_page_of_the_merge(
    run: Run, tmp_path: Path
) -> None:
    judged(run, tmp_path, 8)
    task = packet(run, tmp_path, "--criterion", "correct")

    def ada(item: dict[str, Any], _: str) -> float:
        return 1 if lamp(item) < 2 else 4

    def ben(item: dict[str, Any], _: str) -> float:
        return 5 if lamp(item) < 2 else 4

    jsonl(tmp_path / "Ada.jsonl", *labels_of(task, "Ada", ada))
    jsonl(tmp_path / "Ben.jsonl", *labels_of(task, "Ben", ben))
    both = ("label", "--merge", "Ada.jsonl", "Ben.jsonl")
    assert run(*both, "-o", "a.html").code == 0
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    decided = task_of(tmp_path / "a.html")
    assert sorted(lamp(item) for item in decided["items"]) == [0, 1]
    assert decided["items"][0]["labels"][0] == {"title": "Ada · correct", "text": "1"}
    assert "Decide the conflicts" in page
    rows = labels_of(decided, "Cy", lambda *_: 5)
    for row in rows:
        row["metadata"]["adjudicates"] = True
    jsonl(tmp_path / "Cy.jsonl", *rows)
    merged = run(*both, "Cy.jsonl", "-o", "all.jsonl", "--json").json
    # The two who differ stay as they are, and their agreement is that of the two.
    assert merged["annotators"] == ["Ada", "Ben"]
    assert [one["decision"]["annotator"] for one in merged["conflicts"]] == ["Cy", "Cy"]
    assert merged["agreement"][0]["n_doubly"] == 8
    # The median of three labels is the decision.
    report = run("calibrate", "all.jsonl", "--json").json
    assert report["joined"]["annotators"] == ["Ada", "Ben", "Cy"]
    jsonl(tmp_path / "Cy.jsonl", *[row | {"annotator": "Ada"} for row in rows])
    assert "a third annotator decides" in run(*both, "Cy.jsonl").err


def test_the_terminal_asks_a_sample_in_the_order_of_a_packet(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged(run, tmp_path, 60)
    monkeypatch.setattr("sys.stdin.readline", lambda: "s\n", raising=False)
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    command = ("label", "--sample", 40, "--criterion", "correct", "--annotator", "Ada")
    asked = re.findall(r"Can I return lamp (\d+)", run(*command).out)
    assert len(asked) == 40
    with_store = RunStore(tmp_path / DEFAULT_STORE_FILE)
    (made,) = with_store.packets(with_store.run("latest").id)
    with_store.close()
    chosen = {int(one.case_id[-3:]): one.chosen for one in made.items if not one.repeats}
    assert [chosen[int(k)] for k in asked] == ["random"] * 30 + ["informative"] * 10
    # Nothing new is asked about the same sample, so that no other packet is made.
    assert re.findall(r"Can I return lamp (\d+)", run(*command).out) == asked


def test_the_later_answer_of_one_annotator_wins_and_is_listed(run: Run, tmp_path: Path) -> None:
    judged(run, tmp_path, 2)
    task = packet(run, tmp_path)
    old = labels_of(task, "Ada", as_the_judge)
    new = [
        row | {"raw": 1, "metadata": {**row["metadata"], "labelled_at": "2026-11-24"}}
        for row in old
    ]
    # The order of the files does not decide.
    jsonl(tmp_path / "new.jsonl", *new)
    jsonl(tmp_path / "old.jsonl", *old)
    merged = run("label", "--merge", "new.jsonl", "old.jsonl", "-o", "all.jsonl", "--json")
    rows = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert {row["raw"] for row in rows} == {1}
    assert [row["raw"] for row in merged.json["replaced"]] == [0, 2]
    assert merged.json["conflicts"] == []


def test_plain_labels_are_merged_by_a_rubric(run: Run, tmp_path: Path) -> None:
    lay_outputs(tmp_path, 1, "prompt-v1")
    for name, score in (("Ada", "wrong"), ("Ben", 3)):
        row = {
            "case_id": "c",
            "criterion": "correct",
            "annotator": name,
            "raw": score,
            "rationale": "so",
        }
        jsonl(tmp_path / f"{name}.jsonl", row)
    files = ("--merge", "Ada.jsonl", "Ben.jsonl")
    refused = run("label", *files)
    assert refused.code == 2
    assert "the scale of criterion 'correct' is not known" in refused.err
    told = run("label", *files, "--rubric", "rubric.yaml")
    assert "more than one level apart" in told.out
    assert "Ada wrong: so" in told.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--merge", "a.jsonl"), "--merge joins two files or more"),
        (("--merge", "a.jsonl", "missing.jsonl"), "there is no file missing.jsonl"),
        (("prompt-v1.jsonl",), "no rubric is named"),
        (("prompt-v1.jsonl", "missing.jsonl"), "no such file: missing.jsonl"),
        (("--rubric", "rubric.yaml"), "--rubric is for files of outputs"),
        (("--pairwise",), "pairs are labelled on a page"),
        (("--pairwise", "-o", "x.html"), "pairs are of two"),
        (("--pairwise", "--variant", "zero", "-o", "x.html"), "zero"),
        (("--page", "-o", "x.html"), "--page and -o exclude each other"),
        (("-o", "x.md"), "the page for annotators is HTML"),
        (("--variant", "x"), "--variant goes with --pairwise"),
        (("--import", "a.jsonl", "-o", "x.html"), "--import writes labels"),
        (("--criterion", "zest", "-o", "x.html"), "zest"),
        (("--import", "a.jsonl"), "labelling packet"),
        (("other", "--import", "edited.jsonl"), "not other"),
        (("--import", "edited.jsonl"), "has no item 'i-x'"),
    ],
)
def test_what_cannot_be_done_is_an_error_that_says_why(
    run: Run, tmp_path: Path, arguments: tuple[object, ...], words: str
) -> None:
    judged(run, tmp_path, 1)
    jsonl(tmp_path / "a.jsonl", {"case_id": "i-1", "raw": 1, "metadata": {"packet": "p-none"}})
    if "edited.jsonl" in arguments:
        rows = labels_of(packet(run, tmp_path), "Ada", as_the_judge)
        changed = [{**rows[0], "case_id": "i-x"}] if arguments[0] == "--import" else rows
        jsonl(tmp_path / "edited.jsonl", *changed)
    ran = run("label", *arguments)
    assert ran.code == 2
    assert words in " ".join(ran.err.split())


def test_a_suite_that_demands_reasons_has_a_page_that_does(run: Run, tmp_path: Path) -> None:
    lay_outputs(tmp_path, 1, "prompt-v1")
    (tmp_path / "judgekit.yaml").write_text(
        "name: s\ndataset: prompt-v1.jsonl\nrubric: rubric.yaml\njudge: recorded:replies.jsonl\n"
        "human: {reason: required}\nvariants: [{id: prompt-v1, outputs: prompt-v1.jsonl}]\n"
    )
    assert run("run", "-q").code in {0, 4}
    assert packet(run, tmp_path)["reason"] is True


def test_calibrate_takes_the_pairs_of_a_comparison(run: Run, tmp_path: Path) -> None:
    lay_outputs(tmp_path, 20, "prompt-v1", "prompt-v2")
    replies = [
        {
            "case_id": f"case-{k:03}",
            "variant": "prompt-v1 vs prompt-v2",
            "order": order,
            "text": json.dumps({"overall": {"preference": slot, "rationale": "It is so."}}),
        }
        for k in range(20)
        for order, slot in (("ab", "first"), ("ba", "second"))
    ]
    jsonl(tmp_path / "pairs.jsonl", *replies)
    judge = ("--rubric", "rubric.yaml", "--judge", "recorded:pairs.jsonl", "-q")
    # The recorded judge says nothing about the criteria, only which is better overall.
    assert run("compare", "prompt-v1.jsonl", "prompt-v2.jsonl", *judge, "-o", "c.jsonl").code == 3
    task = packet(run, tmp_path, "cmp-")
    rows = labels_of(task, "Ada", lambda item, _: "tie" if lamp(item) == 0 else "first")
    jsonl(tmp_path / "ada.jsonl", *rows)
    report = run("calibrate", "ada.jsonl", "--results", "c.jsonl", "--json")
    assert report.json["joined"]["n_joined"] == 20
