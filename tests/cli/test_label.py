from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import pytest

from judgekit.cli.label import TypedLines, suggested_name
from judgekit.datasets import DEFAULT_STORE_FILE
from judgekit.records import RunPanel
from judgekit.store import RunStore
from tests.evaluation.waiting import waiting_run
from tests.report.drawing import plain_console
from tests.store.observing import START, answer, begun, key, said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from judgekit.records import Judgment
    from tests.cli.commanding import Ran, Run

    Label = Callable[..., Ran]


class Piped:
    """Lines on stdin."""

    def __init__(self, *lines: str) -> None:
        self._lines = iter(lines)

    def readline(self) -> str:
        """The next line; empty at the end."""
        return next((f"{line}\n" for line in self._lines), "")

    def isatty(self) -> bool:
        """It is no terminal."""
        return False


KEYS = [key(case, variant) for case in ("a", "b") for variant in ("version-1", "version-2")]


@pytest.fixture
def store(run: Run, tmp_path: Path) -> Iterator[RunStore]:
    """The store of the folder commands run in, with a run of four questions."""
    assert run is not None
    opened = RunStore(tmp_path / DEFAULT_STORE_FILE)
    waiting_run(opened, *KEYS)
    yield opened
    opened.close()


@pytest.fixture
def label(run: Run, store: RunStore, monkeypatch: pytest.MonkeyPatch) -> Label:
    """Label as Ada, with lines piped in."""
    assert store is not None

    def typing(*lines: str, options: tuple[object, ...] = ("--annotator", "Ada")) -> Ran:
        monkeypatch.setattr(sys, "stdin", Piped(*lines))
        return run("label", *options)

    return typing


def said_by_people(store: RunStore) -> list[Judgment]:
    """What people have said, in the order of the cases."""
    return [judgment for result in store.results("run-1") for judgment in result.judgments]


def test_a_score_a_reason_and_a_confidence_are_kept_as_a_judgment(
    label: Label, store: RunStore
) -> None:
    ran = label("4", "Right but curt.", "80%", "q")
    (judgment,) = said_by_people(store)
    assert (judgment.raw, judgment.rationale, judgment.confidence) == (4, "Right but curt.", 0.8)
    assert judgment.judge == "Ada"
    assert ran.code == 0
    assert "1 question answered\n3 questions wait for a human\nrun run-1: waits" in ran.out


def test_the_screen_says_nothing_of_variants_and_other_judges(run: Run, label: Label) -> None:
    assert run is not None
    ran = label("4", "Right.", "", "3", "Hm.", "", "q")
    assert "version-" not in ran.out
    assert ran.out.count("Yes, within 30 days.") == 2
    assert "1 of 4" in ran.out
    assert "3 of 4" in ran.out


def test_the_criteria_of_one_answer_show_it_once(run: Run, label: Label, store: RunStore) -> None:
    assert run is not None
    waiting_run(store, name="run-2", criteria=("accuracy", "clarity"))
    ran = label("4", "Right.", "", "q", options=("run-2", "--annotator", "Ada"))
    assert ran.out.count("Can I return it?") == 1
    assert "How good is its clarity?" in ran.out


def test_what_cannot_be_a_score_a_reason_or_a_confidence_is_asked_again(
    label: Label, store: RunStore
) -> None:
    ran = label("6", "4", " ", "Right.", "very", "1", "q")
    assert [judgment.raw for judgment in said_by_people(store)] == [4]
    for complaint in ("a score is one of 1, 2", "every judgment needs a reason", "from 0 to 1, or"):
        assert complaint in ran.out


def test_a_person_can_skip_take_back_and_ask_for_help(label: Label, store: RunStore) -> None:
    ran = label("s", "4", "Right.", "", "u", "u", "?", "3", "u", "2", "Wrong.", "", "q")
    assert [judgment.raw for judgment in said_by_people(store)] == [2]
    assert "last answer removed" in ran.out
    assert "there is no answer of Ada to remove" in ran.out
    assert "a score is one of 1, 2, 3, 4, 5 (5 is best); then why" in ran.out
    assert "1 question answered, 1 skipped" in ran.out


def test_when_everything_is_answered_the_run_is_complete(label: Label, store: RunStore) -> None:
    ran = label(*["4", "Right.", ""] * 4)
    assert store.run("run-1").status == "complete"
    assert "no question waits for a human\nrun run-1: complete; judgekit show run-1" in ran.out


def test_the_last_answer_can_be_taken_back_too(label: Label, store: RunStore) -> None:
    label(*["4", "Right.", ""] * 4, "u", "2", "Wrong after all.", "", "")
    assert sorted(judgment.raw for judgment in said_by_people(store)) == [2, 4, 4, 4]
    assert store.run("run-1").status == "complete"


def test_taking_back_in_a_later_sitting_makes_the_run_wait_again(
    label: Label, store: RunStore
) -> None:
    label(*["4", "Right.", ""] * 4)
    ran = label("u", "q")
    assert store.run("run-1").status == "waiting"
    assert "1 question waits for a human" in ran.out


def test_input_that_ends_after_the_reason_leaves_a_whole_answer(
    label: Label, store: RunStore
) -> None:
    label("4", "Right.")
    label("3")
    assert [judgment.raw for judgment in said_by_people(store)] == [4]


def test_json_goes_to_stdout_and_the_conversation_to_stderr(label: Label) -> None:
    ran = label("4", "Right.", "", "s", "q", options=("latest", "--annotator", "Ada", "--json"))
    assert ran.json == {
        "run": "run-1", "status": "waiting", "annotator": "Ada", "n_answered": 1, "n_skipped": 1,
        "n_answered_by_others": 0, "n_waiting": 3,
    }  # fmt: skip
    assert "1 of 4" in ran.err


def test_the_seed_decides_the_order(label: Label, store: RunStore) -> None:
    order = {}
    for seed in range(8):
        label("4", "Right.", "", "u", "q", options=("--annotator", "Ada", "--seed", seed))
        label("4", "Right.", "", "q", options=("--annotator", "Ada", "--seed", seed))
        (first,) = [r.key for r in store.results("run-1") if r.judgments]
        order[seed] = first
        label("u", "q", options=("--annotator", "Ada", "--seed", seed))
    assert len(set(order.values())) > 1


def test_a_question_that_somebody_else_answers_meanwhile_is_passed_over(
    run: Run, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Meddled(Piped):
        """Input that is read while Grace answers everything."""

        def readline(self) -> str:
            for item in list(store.queue("run-1")):
                store.answer_item(item, said(source="human", judge="Grace"))
            return super().readline()

    monkeypatch.setattr(sys, "stdin", Meddled("4", "Right.", ""))
    ran = run("label", "--annotator", "Ada")
    assert "somebody else has answered a question meanwhile" in ran.out
    assert "0 questions answered, 4 answered by others meanwhile" in ran.out
    assert {judgment.judge for judgment in said_by_people(store)} == {"Grace"}


def test_ctrl_c_keeps_what_was_said(
    run: Run, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(Piped):
        """Input that ends with Ctrl-C."""

        def readline(self) -> str:
            line = super().readline()
            if not line:
                raise KeyboardInterrupt
            return line

    monkeypatch.setattr(sys, "stdin", Interrupted("4", "Right.", "", "3"))
    ran = run("label", "--annotator", "Ada")
    assert ran.code == 130
    assert "1 question answered" in ran.out
    assert len(said_by_people(store)) == 1


def test_on_a_terminal_the_person_is_asked_for_a_name_once(
    run: Run, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Keyboard(Piped):
        """Input that comes from a terminal."""

        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Keyboard("Bée", "4", "Right.", "", "q"))
    ran = run("label")
    assert ran.out.startswith("Your name? [")
    assert [judgment.judge for judgment in said_by_people(store)] == ["Bée"]


def test_without_a_name_the_one_git_knows_is_taken(
    label: Label, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "Grace H")
    label("4", "Right.", "", "q", options=())
    assert [judgment.judge for judgment in said_by_people(store)] == ["Grace H"]


def test_without_git_the_account_is_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("LOGNAME", "ada")
    assert suggested_name() == "ada"


def test_a_git_that_cannot_be_run_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "git").write_bytes(b"\x00 no program")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("LOGNAME", "ada")
    assert suggested_name() == "ada"


def test_a_terminal_edits_lines_and_ends_at_end_of_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("one\n"))
    typed = TypedLines(plain_console(), is_edited=True)
    assert (typed.line("a> "), typed.line("b> ")) == ("one", None)
    assert capsys.readouterr().out == "a> b> "


def test_a_run_that_asks_nobody_is_refused_with_a_remedy(run: Run, tmp_path: Path) -> None:
    with_store = RunStore(tmp_path / DEFAULT_STORE_FILE)
    begun(with_store, answer(said=()), panel=RunPanel())
    with_store.end("run-1", status="complete", at=START)
    with_store.close()
    ran = run("label")
    assert ran.code == 2
    assert "run run-1 has no questions for a human" in ran.err
    assert "`judge: human`" in ran.err


def test_a_run_that_a_model_judged_is_reviewed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_store = RunStore(tmp_path / DEFAULT_STORE_FILE)
    begun(with_store, answer(key("a")), answer(key("b"), place=1))
    with_store.end("run-1", status="complete", at=START)
    # A reason may be left out: the answer decides nothing.
    monkeypatch.setattr(sys, "stdin", Piped("4", "", "", "q"))
    ran = run("label", "--sample", "1", "--criterion", "accuracy", "--annotator", "Ada", "--json")
    assert (ran.json["status"], ran.json["n_answered"], ran.json["n_waiting"]) == ("complete", 1, 0)
    (human,) = [one for one in said_by_people(with_store) if one.source == "human"]
    assert (human.judge, human.raw) == ("Ada", 4)
    with_store.close()


def test_a_file_of_labels_answers_questions(run: Run, store: RunStore, tmp_path: Path) -> None:
    rows = [
        {"case_id": k.case_id, "variant": k.variant, "annotator": "Ada", "raw": 4} for k in KEYS
    ]
    rows += [rows[0], {**rows[0], "case_id": "z"}]
    (tmp_path / "labels.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    ran = run("label", "run-1", "--import", "labels.jsonl")
    assert ran.out.startswith(
        "6 labels read, 4 questions answered, 1 already answered, unchanged, "
        "1 without a question in this run\nno question waits"
    )
    assert store.run("run-1").status == "complete"
    again = run("label", "run-1", "--import", "labels.jsonl", "--json")
    assert (again.json["n_answered"], again.json["n_answered_before"]) == (0, 5)


def test_what_people_said_is_written_as_labels(label: Label, run: Run, tmp_path: Path) -> None:
    label("4", "Größe stimmt.", "", "q")
    ran = run("label", "--export", "labels.jsonl")
    (row,) = map(json.loads, (tmp_path / "labels.jsonl").read_text("utf-8").splitlines())
    assert (row["annotator"], row["raw"], row["rationale"]) == ("Ada", 4, "Größe stimmt.")
    assert "wrote 1 label to labels.jsonl" in ran.err
    assert run("label", "--export", "labels.jsonl", "--json").json["n_labels"] == 1


def test_reading_and_writing_labels_at_once_is_refused(run: Run, store: RunStore) -> None:
    assert store is not None
    ran = run("label", "--export", "x.jsonl", "--import", __file__)
    assert ran.code == 2
    assert "give one of them" in ran.err


def test_without_a_store_nothing_is_made(run: Run, tmp_path: Path) -> None:
    ran = run("label")
    assert ran.code == 2
    assert "there is no database" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_the_help_names_every_key(run: Run) -> None:
    out = " ".join(run("label", "--help").out.split())
    for words in ("s skips the question", "u removes your last answer", "q quits"):
        assert words in out
