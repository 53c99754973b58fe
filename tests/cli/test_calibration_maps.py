"""Maps from end to end: written by `calibrate`, applied by `grade` and `run`, told everywhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.factories import reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran

RUBRIC = """\
name: answers
criteria: [{name: right, question: "Is it right?", scale: one_to_five}]
"""
JUDGED = {f"c{k:02}": k % 4 + 2 for k in range(40)}
"""The judge is one level too kind."""

MAPS = "calibration/maps/recorded-replies.jsonl-answers.json"
GRADE = (
    "grade", "outputs.jsonl", "--rubric", "rubric.yaml", "--judge", "recorded:replies.jsonl",
)  # fmt: skip
SUITE = {
    "name": "answers",
    "dataset": "cases.jsonl",
    "rubric": "rubric.yaml",
    "judge": "recorded:replies.jsonl",
    "variants": [{"id": "v1", "outputs": "outputs.jsonl"}],
}


@pytest.fixture
def laid(bench: Bench) -> Bench:
    """Forty outputs, recorded replies about them, labels a level lower, and their maps."""
    bench.write("rubric.yaml", RUBRIC)
    bench.write("cases.jsonl", *({"id": c, "input": "?"} for c in JUDGED))
    bench.write(
        "outputs.jsonl", *({"case_id": c, "text": f"Answer {c}.", "input": "?"} for c in JUDGED)
    )
    bench.write("replies.jsonl", *({"case_id": c, "text": reply(s)} for c, s in JUDGED.items()))
    bench.write(
        "labels.jsonl",
        *({"case_id": c, "annotator": "Ada", "raw": s - 1} for c, s in JUDGED.items()),
    )
    return bench


def mapped(bench: Bench, *options: object) -> Ran:
    """Write the maps."""
    return bench.run(
        "calibrate", "labels.jsonl", "--outputs", "outputs.jsonl", "--rubric", "rubric.yaml",
        "--judge", "recorded:replies.jsonl", "--write-map", *options,
    )  # fmt: skip


def suite(bench: Bench, **more: Any) -> Path:
    """Write the suite file."""
    return bench.write("judgekit.yaml", json.dumps(SUITE | more))


def test_maps_are_written_applied_and_told(laid: Bench) -> None:
    written = mapped(laid)
    assert written.code == 0
    assert f"wrote the maps to {MAPS}" in written.err
    assert "right: shift map; 40 labels" in written.err
    raw, ran = laid.run(*GRADE, "--json"), laid.run(*GRADE, "--calibration", MAPS, "--json")
    assert raw.json["summary"]["calibration_state"] == "uncalibrated"
    summary = ran.json["summary"]
    assert summary["calibration_state"] == "calibrated"
    assert summary["calibration"].startswith("calibrated on 40 labels, kappa 0.")
    assert summary["variants"][0]["n_passed"] == 10
    assert summary["uncalibrated"][0]["n_passed"] == raw.json["summary"]["variants"][0]["n_passed"]
    one, own = ran.json["verdicts"][1], raw.json["verdicts"][1]
    assert (one["value"], one["uncalibrated"]["value"], own["value"]) == (0.25, 0.5, 0.5)
    assert one["judgments"] == own["judgments"]
    assert "uncalibrated" not in own


def test_a_grading_shows_both_values_and_which_decides(laid: Bench) -> None:
    mapped(laid)
    out = laid.run(*GRADE, "--calibration", "calibration/maps").out
    assert "calibrated on 40 labels" in out
    assert "calibrated values decide; by the judge's own values:" in out
    assert "calibrated, judge's own 0.25" in out
    assert "uncalibrated" in laid.run(*GRADE).out


def test_an_edited_criterion_is_told_and_its_map_not_applied(laid: Bench) -> None:
    mapped(laid)
    laid.write("rubric.yaml", RUBRIC.replace("Is it right?", "Is it true?"))
    summary = laid.run(*GRADE, "--calibration", MAPS, "--json").json["summary"]
    assert summary["calibration"] == "stale: criterion 1 (right) edited: its question"
    assert summary["uncalibrated"] == []


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ((), "uncalibrated: the judge has not been compared with human labels"),
        (("--calibration", MAPS, "--repeats", 2), "stale: repeats were 1, are 2"),
    ],
)
def test_a_required_calibration_that_is_not_there_stops_before_asking(
    laid: Bench, more: tuple[object, ...], why: str
) -> None:
    mapped(laid)
    ran = laid.run(*GRADE, "--require-calibration", *more)
    assert (ran.code, ran.out) == (4, "")
    assert f"no calls made: a valid calibration is required. {why}" in ran.err
    assert "judgekit calibrate LABELS --run RUN --write-map" in ran.err


def test_a_required_calibration_that_holds_is_enough(laid: Bench) -> None:
    mapped(laid)
    suite(laid, calibration="calibration/maps", gate={"require_calibration": True})
    assert laid.run("grade", "outputs.jsonl").code == 0


def test_a_run_keeps_its_maps_and_tells_them_later(laid: Bench) -> None:
    mapped(laid)
    gate = {"tier": "experimental", "require_calibration": True}
    suite(laid, calibration="calibration/maps", gate=gate)
    ran = laid.run("run")
    assert ran.code == 1
    assert "a calibration is required, met: calibrated on 40 labels" in ran.out
    (laid.folder / MAPS).unlink()
    shown = laid.run("show", "latest", "--json").json
    found = shown["calibration"]
    assert (found["state"], found["decided_by"], found["criteria"]) == (
        "calibrated", "calibrated", ["right"],
    )  # fmt: skip
    assert shown["gate"]["calibration"]["held"] == "passed"
    assert shown["variants"][0]["n_passed"] < found["uncalibrated"][0]["n_passed"]
    answer = laid.run("show", "latest", "c01").out
    assert "fails  right, 0.25, weight 1, judge's own 0.50" in answer
    assert "calibrated values decide" in answer
    assert laid.run("show", "latest", "c01", "--json").json["answers"][0]["value"] == 0.25


def test_a_run_whose_maps_are_stale_is_not_begun_where_they_are_required(laid: Bench) -> None:
    mapped(laid)
    laid.write("rubric.yaml", RUBRIC.replace("Is it right?", "Is it true?"))
    suite(laid)
    ran = laid.run("run", "--calibration", MAPS, "--require-calibration")
    assert (ran.code, ran.out) == (4, "")
    assert "stale: criterion 1 (right) edited: its question" in ran.err
    assert not laid.run("show", "--json").json["runs"]
    ran = laid.run("run", "--calibration", MAPS)
    assert ran.code == 0
    assert "stale: criterion 1 (right) edited: its question" in ran.out


def test_labels_held_against_a_calibrated_run_see_the_judges_own_values(laid: Bench) -> None:
    mapped(laid)
    suite(laid, calibration=MAPS)
    laid.run("run")
    again = laid.run("calibrate", "labels.jsonl", "--write-map", "again.json")
    assert again.code == 0
    one, other = (
        json.loads((laid.folder / name).read_text(encoding="utf-8"))
        for name in (MAPS, "again.json")
    )
    assert one["maps"] == other["maps"]
    assert one["asked"] == other["asked"]


def test_plans_say_whether_a_calibration_holds(laid: Bench) -> None:
    mapped(laid)
    assert "calibration: calibrated on" in laid.run(*GRADE, "--calibration", MAPS, "--dry-run").err
    suite(laid, calibration=MAPS)
    assert "calibration: calibrated on 40 labels" in laid.run("run", "--dry-run").err


def test_a_run_gone_on_with_keeps_the_calibration_it_was_begun_with(laid: Bench) -> None:
    mapped(laid)
    suite(laid)
    laid.run("run")
    again = laid.run("run", "--resume", "--calibration", MAPS)
    assert "the run keeps the calibration it started with: uncalibrated" in again.err


def test_a_calibrated_run_is_compared_with_another_by_the_judges_own_values(laid: Bench) -> None:
    mapped(laid)
    suite(laid)
    laid.run("run")
    laid.run("run", "--calibration", MAPS)
    runs = [one["id"] for one in laid.run("show", "--json").json["runs"]]
    ran = laid.run("compare", "--scores", *runs, "--json")
    assert any("uncalibrated values are compared" in note for note in ran.json["notes"])
    assert ran.json["value"]["estimate"]["value"] == 0


def test_another_judge_does_not_inherit_the_calibration(laid: Bench) -> None:
    mapped(laid)
    suite(laid, calibration=MAPS)
    laid.run("run")
    laid.write("kinder.jsonl", *({"case_id": c, "text": reply(5)} for c in JUDGED))
    found = laid.run("rejudge", "latest", "--judge", "recorded:kinder.jsonl", "--json").json
    assert found["calibration"].startswith("the old judge was calibrated on 40 labels")
    assert "is recorded:kinder.jsonl" in found["calibration"]
    same = laid.run("rejudge", "latest:answers", "--judge", "recorded:replies.jsonl", "--json").json
    assert same["calibration"].startswith("the calibration holds for this judge too")


def test_too_few_labels_say_how_many_are_missing_after_the_report(laid: Bench) -> None:
    laid.write(
        "labels.jsonl", *({"case_id": c, "annotator": "Ada", "raw": 3} for c in ("c01", "c02"))
    )
    ran = mapped(laid)
    assert ran.code == 4
    assert "2 labelled outputs, and a map needs 30: label 28 more" in ran.err
    assert "answers: 2 labels" in ran.out


def test_a_name_that_is_no_json_is_refused_before_anything_is_asked(laid: Bench) -> None:
    ran = mapped(laid, "maps.yaml")
    assert (ran.code, ran.out) == (2, "")


def test_maps_of_a_part_are_not_written(laid: Bench) -> None:
    ran = mapped(laid, "m.json", "--judge", "openai/m", "--frozen")
    assert ran.code == 6
    assert "no maps were written" in ran.err
    assert not (laid.folder / "m.json").exists()


@pytest.fixture
def by_file(laid: Bench) -> Bench:
    """Maps that were written from the verdicts of a grading, not from the judge itself."""
    assert laid.run(*GRADE, "-o", "verdicts.jsonl").code == 0
    what = ("--results", "verdicts.jsonl", "--rubric", "rubric.yaml", "--write-map", "maps.json")
    written = laid.run("calibrate", "labels.jsonl", *what)
    assert written.code == 0
    assert "bound to model and template only" not in written.err
    return laid


def trust(bench: Bench, *options: object, edit: str = "") -> str:
    """What a grading by the maps says of them, with the rubric changed here and there."""
    text = RUBRIC
    for old, new in EDITS.get(edit, ()):
        assert old in text
        text = text.replace(old, new)
    bench.write("rubric.yaml", text)
    ran = bench.run(*GRADE, "--calibration", "maps.json", *options, "--json")
    return str(ran.json["summary"]["calibration"])


EDITS = {
    "question": (("Is it right?", "Is it true?"),),
    "scale": (("one_to_five", "{min: 1, max: 7, integer: true}"),),
    "weight": (
        ("scale:", "weight: 7, scale:"),
        ("name: answers", "name: answers\npass_threshold: 0.3"),
    ),
}


@pytest.mark.parametrize(
    ("edit", "options", "words"),
    [
        ("", (), "calibrated on 40 labels"),
        ("weight", (), "calibrated on 40 labels"),
        ("", ("--judge-seed", "3"), "calibrated on 40 labels"),
        ("question", (), "stale: criterion 1 (right) edited: its question"),
        ("scale", (), "stale: criterion 1 (right) edited: its scale"),
        ("", ("--temperature", "0.7"), "stale: temperature was 0.0, is 0.7"),
        ("", ("--repeats", "2"), "stale: repeats were 1, are 2"),
        ("", ("--judge", "recorded:other.jsonl"), "stale: the model was recorded:replies.jsonl"),
        ("", ("--mode", "joint"), "stale: the template was pointwise/criterion, is"),
    ],
)
def test_maps_of_a_file_of_verdicts_are_bound_to_how_the_judge_was_asked(
    by_file: Bench, edit: str, options: tuple[str, ...], words: str
) -> None:
    replies = (by_file.folder / "replies.jsonl").read_text()
    by_file.write("other.jsonl", replies)
    assert trust(by_file, *options, edit=edit).startswith(words)


def test_a_template_that_was_edited_makes_the_maps_of_a_file_stale(laid: Bench) -> None:
    source = (
        "{% block shared %}{{ output | fenced('output') }}{% endblock %}"
        "{% block question %}Mine: {{ criterion.question }}{% endblock %}"
    )
    own = ("--template", laid.write("mine.j2", source))
    laid.run(*GRADE, *own, "-o", "verdicts.jsonl")
    what = ("--results", "verdicts.jsonl", "--rubric", "rubric.yaml", "--write-map", "maps.json")
    assert laid.run("calibrate", "labels.jsonl", *what).code == 0
    assert trust(laid, *own).startswith("calibrated on 40 labels")
    laid.write("mine.j2", source.replace("Mine", "My own"))
    assert trust(laid, *own) == "stale: the template mine edited"


def test_judgments_that_do_not_tell_how_they_were_asked_for_say_so(by_file: Bench) -> None:
    rows = [
        json.loads(line) for line in (by_file.folder / "verdicts.jsonl").read_text().splitlines()
    ]
    by_file.write("verdicts.jsonl", *({k: v for k, v in r.items() if k != "asked"} for r in rows))
    what = ("--results", "verdicts.jsonl", "--rubric", "rubric.yaml", "--write-map", "maps.json")
    written = by_file.run("calibrate", "labels.jsonl", *what)
    assert "these maps are bound to model and template only" in " ".join(written.err.split())
    words = trust(by_file, "--temperature", "0.7")
    assert "with which parameters is not known" in words
