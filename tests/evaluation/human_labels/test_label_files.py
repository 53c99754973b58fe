from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import locate_labels
from judgekit.errors import DatasetError, StoreError
from judgekit.evaluation import import_labels, label_rows, record_labels
from judgekit.evaluation.human_labels import LabelImport
from judgekit.records import Label, LabelPacket, RunPanel
from judgekit.store import RunStore
from tests.evaluation.waiting import Contested, Full, question, waiting_run
from tests.factories import make_case
from tests.store.observing import START, answer, begun, key, part, said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.records import Judgment


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[RunStore]:
    """An empty store."""
    with closing(RunStore(tmp_path / "judgekit.db", patience_s=0.1)) as store:
        yield store


def label(**fields: object) -> dict[str, object]:
    """A row of a file of labels."""
    return {"case_id": "refund", "annotator": "Ada", "raw": 4} | fields


def take(
    store: RunStore, tmp_path: Path, *rows: dict[str, object], annotator: str | None = None
) -> LabelImport:
    """Take the labels of a file in."""
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return import_labels(store, store.run("run-1"), path, annotator=annotator, at=START)


def stored(store: RunStore, row: dict[str, Any]) -> LabelImport:
    """Store a label of a packet, which names what it is of."""
    named = row | {"variant": "v1", "criterion": "accuracy", "repeat": 0}
    return record_labels(
        store, store.run("run-1"), locate_labels([named]), annotator=None, at=START
    )


def judgments(store: RunStore) -> list[Judgment]:
    """What people have said."""
    return [judgment for result in store.results("run-1") for judgment in result.judgments]


def test_a_label_answers_the_question_it_is_about(kept: RunStore, tmp_path: Path) -> None:
    waiting_run(kept, criteria=("accuracy", "clarity"))
    row = label(criterion="clarity", variant="v1", rationale="Plain.", confidence=0.6)
    assert take(kept, tmp_path, row) == LabelImport(1, 1, 0, 0)
    (judgment,) = judgments(kept)
    assert (judgment.criterion, judgment.raw, judgment.judge) == ("clarity", 4, "Ada")
    assert (judgment.rationale, judgment.confidence) == ("Plain.", 0.6)


def test_a_label_without_a_reason_says_where_it_came_from(kept: RunStore, tmp_path: Path) -> None:
    waiting_run(kept)
    take(kept, tmp_path, label())
    assert "labels.jsonl, line 1" in judgments(kept)[0].rationale


def test_a_label_that_names_nobody_is_the_given_annotators(kept: RunStore, tmp_path: Path) -> None:
    waiting_run(kept)
    take(kept, tmp_path, {"case_id": "refund", "raw": 2}, annotator="Grace")
    assert judgments(kept)[0].judge == "Grace"


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"case_id": "refund", "raw": 2}, r":1: case 'refund': it has no annotator"),
        (label(raw=7), r":1: case 'refund': 7 is not a score of 'accuracy'\n  a score is one of"),
        (label(score=7), r":1: case 'refund': the field `score` is not known; did you mean `raw`"),
        ({"case_id": "refund"}, "the field `raw` is missing"),
    ],
)
def test_an_unsound_label_is_named_with_its_line(
    kept: RunStore, tmp_path: Path, row: dict[str, object], problem: str
) -> None:
    waiting_run(kept)
    with pytest.raises(DatasetError, match=problem):
        take(kept, tmp_path, row)


@pytest.mark.parametrize(
    ("row", "missing"),
    [
        (label(criterion="accuracy"), "which variant it is of; .* about v1, v2"),
        (label(variant="v2"), "which criterion it is of; .* about accuracy, clarity"),
        (label(variant="v1", criterion="accuracy"), "which repeat it is of; .* about 0, 1"),
    ],
)
def test_a_label_that_could_be_of_several_answers_is_refused(
    kept: RunStore, tmp_path: Path, row: dict[str, object], missing: str
) -> None:
    keys = (key(), key(repeat=1), key(variant="v2"))
    waiting_run(kept, *keys, criteria=("accuracy", "clarity"))
    with pytest.raises(DatasetError, match=missing):
        take(kept, tmp_path, row)


def test_nothing_is_answered_by_a_file_with_an_unsound_label(
    kept: RunStore, tmp_path: Path
) -> None:
    waiting_run(kept, key("a"), key("b"))
    with pytest.raises(DatasetError, match=":2: case 'b'"):
        take(kept, tmp_path, label(case_id="a"), label(case_id="b", raw=9))
    assert judgments(kept) == []


def test_what_somebody_has_answered_only_they_can_change(kept: RunStore, tmp_path: Path) -> None:
    waiting_run(kept)
    rows = [label(), label(annotator="Grace", raw=1)]
    assert take(kept, tmp_path, *rows) == LabelImport(2, 1, 1, 0)
    assert take(kept, tmp_path, *rows) == LabelImport(2, 0, 2, 0)
    assert [judgment.raw for judgment in judgments(kept)] == [4]
    assert take(kept, tmp_path, label(raw=2)) == LabelImport(1, 1, 0, 0)
    assert [judgment.raw for judgment in judgments(kept)] == [2]


def test_a_file_of_a_second_reviewer_is_taken_too(kept: RunStore, tmp_path: Path) -> None:
    waiting_run(kept, panel=RunPanel(judges=("m",)))
    for name in ("Ada", "Ben", "Cy"):
        assert take(kept, tmp_path, label(annotator=name)) == LabelImport(1, 1, 0, 0)
    assert [judgment.judge for judgment in judgments(kept)] == ["Ada", "Ben", "Cy"]


def timed(raw: int | None, minute: int) -> dict[str, object]:
    """Ada's answer of some minute, as a page writes it."""
    return label(raw=raw, metadata={"labelled_at": f"2026-11-21T08:{minute:02}:00.000Z"})


@pytest.mark.parametrize("raw", [5, None])
def test_an_older_file_does_not_replace_a_newer_answer(
    kept: RunStore, tmp_path: Path, raw: int | None
) -> None:
    waiting_run(kept, panel=RunPanel(judges=("m",)))
    assert stored(kept, timed(2, 30)) == LabelImport(1, 1, 0, 0)
    assert stored(kept, timed(raw, 29)) == LabelImport(1, 0, 1, 0)
    assert [judgment.raw for judgment in judgments(kept)] == [2]
    # An answer counts as old as it is, not as its import.
    assert take(kept, tmp_path, timed(3, 31)) == LabelImport(1, 1, 0, 0)
    assert stored(kept, timed(None, 32)) == LabelImport(1, 0, 0, 0, 1)
    assert judgments(kept) == []


def test_an_answer_of_a_clock_that_is_ahead_can_be_replaced(kept: RunStore, tmp_path: Path) -> None:
    waiting_run(kept)
    ahead = label(metadata={"labelled_at": "2126-11-21T08:00:00Z"})
    assert take(kept, tmp_path, ahead) == LabelImport(1, 1, 0, 0)
    assert take(kept, tmp_path, label(raw=2)) == LabelImport(1, 1, 0, 0)
    assert [judgment.raw for judgment in judgments(kept)] == [2]


def test_an_older_choice_between_two_outputs_does_not_replace_a_newer_one(kept: RunStore) -> None:
    packet = LabelPacket(
        id="p-1", source="run-1", made_at=START, criteria=(), variants=("v1", "v2"), items=()
    )
    kept.add_packet(packet)
    for winner, minute in (("first", 30), ("second", 29), ("tie", 31)):
        row = Label.model_validate(timed(None, minute) | {"raw": None, "winner": winner})
        kept.add_labels("p-1", [row])
        if minute == 29:
            assert [one.winner for one in kept.packet("p-1").labels] == ["first"]
    assert [one.winner for one in kept.packet("p-1").labels] == ["tie"]


def test_an_answer_reads_the_questions_of_its_case_alone(kept: RunStore) -> None:
    waiting_run(kept, key("a"), key("b"), criteria=("accuracy", "clarity"))
    n_read = len([*kept.queue("run-1", place=1)])
    assert (n_read, len([*kept.queue("run-1")])) == (2, 4)


def test_labels_of_what_nobody_was_asked_about_are_counted(kept: RunStore, tmp_path: Path) -> None:
    waiting_run(kept)
    rows = [label(case_id="other"), label(criterion="charm"), label(variant="v9")]
    assert take(kept, tmp_path, *rows) == LabelImport(3, 0, 0, 3)


def test_a_question_whose_answer_is_gone_is_named(kept: RunStore, tmp_path: Path) -> None:
    begun(kept, part(key("a"), case=make_case(id="a")))
    kept.ask_person("run-1", [question(of=key("a"))])
    with pytest.raises(StoreError, match="case 'a' no longer exists"):
        take(kept, tmp_path, label(case_id="a"))


def test_a_person_who_is_quicker_than_the_file_is_not_overruled(
    kept: RunStore, tmp_path: Path
) -> None:
    waiting_run(kept)
    with closing(Contested(tmp_path / "judgekit.db")) as contested:
        assert take(contested, tmp_path, label()) == LabelImport(1, 0, 1, 0)
    assert [judgment.judge for judgment in judgments(kept)] == ["Grace"]


def test_a_store_that_fails_ends_the_import(kept: RunStore, tmp_path: Path) -> None:
    waiting_run(kept)
    with (
        closing(Full(tmp_path / "judgekit.db")) as full,
        pytest.raises(StoreError, match="disk is full"),
    ):
        take(full, tmp_path, label())


def test_what_people_said_comes_out_as_labels_that_go_in_again(
    kept: RunStore, tmp_path: Path
) -> None:
    waiting_run(kept)
    row = label(criterion="accuracy", variant="v1", repeat=0, rationale="Right.", confidence=0.5)
    take(kept, tmp_path, row)
    timed = {**row, "metadata": {"judged_at": START.isoformat()}}
    assert list(label_rows(kept.results("run-1"))) == [timed]
    kept.withdraw_answer(question())
    assert take(kept, tmp_path, row).n_answered == 1


def test_what_models_said_is_no_label(kept: RunStore) -> None:
    begun(kept, answer(said=(said(), said("clarity", source="heuristic"))))
    assert list(label_rows(kept.results("run-1"))) == []
