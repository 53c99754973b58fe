from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import LocatedLabel, locate_labels, read_labels, score_on_scale
from judgekit.errors import DatasetError, InputError
from judgekit.formats import FileRow
from judgekit.records import Label
from tests.factories import make_criterion

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.records import Criterion

GRADES = make_criterion(
    scale={"levels": [{"value": 1, "name": "Good"}, {"value": 0.5, "name": "fair"}, {"value": 0}]}
)
YES_NO = make_criterion(scale={"min": 0, "max": 1, "integer": True})


def lines(tmp_path: Path, *rows: dict[str, object], name: str = "labels.jsonl") -> Path:
    """A file of labels."""
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def one(raw: Any) -> LocatedLabel:
    """A label with a score."""
    (placed,) = locate_labels([{"case_id": "c", "annotator": "Ada", "raw": raw}])
    return placed


def test_every_label_knows_its_line(tmp_path: Path) -> None:
    path = lines(
        tmp_path, {"case_id": "a", "annotator": "Ada", "raw": 4}, {"case": "b", "score": 2}
    )
    first, second = read_labels(path)
    assert (first.label.raw, first.line, first.where) == (4, 1, f"{path}:1")
    assert (second.label.case_id, second.label.raw, second.label.annotator) == ("b", 2, None)


def test_a_table_of_labels_is_read_and_its_empty_cells_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        "id,rater,rating,comment,metadata.doc\na,Ada,4.5,,d1\n7,Ben,,why,\nb,Ben,good,,\n",
        encoding="utf-8",
    )
    scored, blank, named = read_labels(path)
    assert scored.label == Label(case_id="a", annotator="Ada", raw=4.5, metadata={"doc": "d1"})
    assert (blank.label.case_id, blank.label.is_missing, blank.label.rationale) == (
        "7",
        True,
        "why",
    )
    assert named.label.raw == "good"


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_label_without_a_score_is_missing_and_no_error(value: object) -> None:
    assert one(value).label.is_missing


def test_a_winner_is_no_missing_label() -> None:
    (placed,) = locate_labels([{"case_id": "c", "annotator": "Ada", "preference": "a"}])
    assert not placed.label.is_missing
    assert placed.where == "label 1"


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    path = lines(tmp_path, {"case_id": "a", "raws": 1}, {"raw": 1}, {"case_id": "c", "raw": 3})
    with pytest.raises(InputError, match=r"2 labels cannot be used:") as caught:
        read_labels(path)
    assert f"{path}:1: case 'a': the field `raws` is not known" in str(caught.value)
    assert f"{path}:2: the field `case_id` is missing" in str(caught.value)


def test_of_many_faults_the_first_twenty_are_named() -> None:
    with pytest.raises(InputError, match=r"25 labels cannot be used") as caught:
        locate_labels([{"raw": 1}] * 25)
    assert str(caught.value).endswith("… and 5 more")


def test_one_fault_is_an_error_of_its_own(tmp_path: Path) -> None:
    path = lines(tmp_path, {"case_id": "a", "raw": 1, "score": 2, "rating": 3})
    with pytest.raises(DatasetError, match="the field `score` is not known"):
        read_labels(path)


def test_two_names_of_one_field_are_a_fault(tmp_path: Path) -> None:
    path = lines(tmp_path, {"case_id": "a", "score": 2, "rating": 3})
    with pytest.raises(DatasetError, match="`score` and `rating` both mean `raw`"):
        read_labels(path)


def test_a_row_that_is_no_object_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text("3\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r":1: a row must be an object"):
        read_labels(path)


def test_a_file_without_labels_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="holds no labels"):
        read_labels(lines(tmp_path))


def test_labels_of_either_form_can_be_given() -> None:
    label = Label(case_id="a", raw=1)
    assert [placed.label for placed in locate_labels([label, {"case_id": "b", "raw": 2}])] == [
        label,
        Label(case_id="b", raw=2),
    ]
    assert FileRow(1, {}).fields == {}


def memory(tmp_path: Path, *judgments: dict[str, object], **run: object) -> Path:
    """A quality memory with two runs of one case, and judgments."""
    scale = {"name": "Right", "description": "d", "minScore": 0, "maxScore": 1}
    objects: list[tuple[str, str, dict[str, object]]] = [
        ("rubric-criterion", "c", scale),
        *(("test-run", key, {"testCaseId": "t", "actualOutput": "A", **run}) for key in "ab"),
        *(("eval-judgment", f"j{n}", {"maxScore": 1, "criterionId": "c", "rationale": "So.", **one})
          for n, one in enumerate(judgments)),
    ]  # fmt: skip
    rows: list[dict[str, object]] = [
        {"type": kind, "id": key, "fields": fields} for kind, key, fields in objects
    ]
    return lines(tmp_path, *rows, name="memory.jsonl")


HUMAN = {"testRunId": "b", "score": 1, "judgedByType": "human"}


def test_human_judgments_of_a_memory_are_labels(tmp_path: Path) -> None:
    said = {**HUMAN, "judgedBy": "Ada", "judgedAt": "2026-01-05", "confidence": 0.5}
    (found,) = read_labels(memory(tmp_path, said, variant="v", promptVersionRef="p@1"))
    assert found.line == 4
    assert found.label == Label(
        case_id="t", variant="v", criterion="Right", repeat=1, annotator="Ada", raw=1,
        rationale="So.", confidence=0.5,
        metadata={"judgment_id": "j0", "test_run_id": "b", "judged_at": "2026-01-05"},
    )  # fmt: skip


def test_a_run_may_say_which_repeat_it_is(tmp_path: Path) -> None:
    (found,) = read_labels(memory(tmp_path, HUMAN, repeat=2))
    assert found.label.repeat == 2


def test_judgments_of_models_are_no_labels_and_are_counted(tmp_path: Path) -> None:
    path = memory(tmp_path, HUMAN, {**HUMAN, "judgedByType": "llm"})
    with pytest.warns(UserWarning, match="human judgments are the labels; left out: 1 llm"):
        assert len(read_labels(path)) == 1
    heard: list[str] = []
    read_labels(path, note=heard.append)
    assert heard == ["memory.jsonl: human judgments are the labels; left out: 1 llm judgment"]


def test_a_memory_without_criteria_names_them_by_their_ids(tmp_path: Path) -> None:
    path = memory(tmp_path, HUMAN)
    kept = [row for row in path.read_text().splitlines() if "rubric-criterion" not in row]
    path.write_text("\n".join(kept))
    (found,) = read_labels(path)
    assert (found.label.criterion, found.label.annotator, found.label.variant) == ("c", None, None)


@pytest.mark.parametrize(("raw", "score"), [(0.5, 0.5), ("GOOD", 1), ("fair", 0.5), (0, 0)])
def test_the_name_of_a_level_is_its_score(raw: object, score: float) -> None:
    assert score_on_scale(one(raw), GRADES) == score


@pytest.mark.parametrize(("raw", "score"), [("yes", 1), ("Fail", 0), (True, 1), (False, 0)])
def test_yes_and_no_are_the_ends_of_a_scale_of_two(raw: object, score: float) -> None:
    assert score_on_scale(one(raw), YES_NO) == score


@pytest.mark.parametrize(
    ("raw", "criterion", "problem"),
    [
        (6, make_criterion(), r"6 is not a score of 'accuracy'\n  a score is one of 1, 2, 3, 4, 5"),
        (True, make_criterion(), r"'true' is not a score"),
        ("great", GRADES, r"'great' .*\n  a score is one of 0, 0.5, 1, or Good, fair"),
        (2, make_criterion(scale={"min": 0, "max": 1}), r"a score is a number from 0 to 1"),
    ],
)
def test_what_is_no_score_of_the_scale_is_said(
    raw: Any, criterion: Criterion, problem: str
) -> None:
    with pytest.raises(DatasetError, match=problem):
        score_on_scale(one(raw), criterion)


def test_a_label_of_a_turn_is_told_what_a_label_is_of() -> None:
    with pytest.raises(DatasetError, match="a label is of the whole output, not of a turn"):
        locate_labels([{"case_id": "a", "annotator": "ada", "raw": 1, "turn": 2}])


@pytest.fixture
def another_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine's own time is not UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-03-01T12:00:00+02:00", "2026-03-01T10:00:00+00:00"),
        ("2026-03-01T12:00:00", "2026-03-01T12:00:00+00:00"),
        ("0001-01-01T00:00:00+05:00", "None"),
        ("yesterday", "None"),
    ],
)
@pytest.mark.usefixtures("another_zone")
def test_the_time_of_a_label_is_read(text: str, at: str) -> None:
    fields: dict[str, JsonValue] = {"case_id": "c", "raw": 1, "metadata": {"labelled_at": text}}
    given_at = locate_labels([fields])[0].given_at
    assert str(given_at and given_at.isoformat()) == at
