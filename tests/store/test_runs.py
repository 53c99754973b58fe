from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import InputError, StoreError, UnknownNameError
from judgekit.records import Variant
from judgekit.store import RunStore
from tests.factories import make_failure, make_output
from tests.store.observing import JUDGE, START, answer, begun, key, make_run, only, part, said

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_comes_back_as_it_was_begun(store: RunStore) -> None:
    run = make_run(
        "run-1",
        "v1",
        "v2",
        dataset="cases",
        n_cases=3,
        notes="first try",
        tags=("nightly",),
        folder="/suites",
        triggered_by="ci",
    )
    store.begin(run)
    assert store.run("run-1") == run


def test_a_run_without_a_rubric_or_variants_comes_back(store: RunStore) -> None:
    run = make_run(rubric=None, variants=(), config={})
    store.begin(run)
    assert store.run() == run


def test_how_a_run_ended_is_kept(store: RunStore) -> None:
    begun(store)
    store.end("run-1", status="stopped", reason="the money ran out", at=START)
    run = store.run()
    assert (run.status, run.reason, run.finished_at) == ("stopped", "the money ran out", START)


def test_a_run_that_is_taken_up_again_is_running(store: RunStore) -> None:
    begun(store)
    store.end("run-1", status="interrupted", reason="ctrl-c", at=START)
    store.end("run-1", status="running", at=START)
    run = store.run()
    assert (run.status, run.reason, run.finished_at) == ("running", None, None)


def test_the_same_run_cannot_be_begun_twice(store: RunStore) -> None:
    begun(store)
    with pytest.raises(StoreError, match=r"run-1 exists already[\s\S]*--resume"):
        store.begin(make_run())


def test_a_whole_answer_comes_back_as_it_was_observed(store: RunStore) -> None:
    observed = answer()
    begun(store, observed)
    result = only(store)
    assert (result.case, result.output) == (observed.case, observed.output)
    assert result.judgments == tuple(observed.said)
    assert (result.key, result.place, result.ran_at) == (key(), 0, START)
    assert (result.is_done, result.failures) == (True, ())


def test_what_was_added_is_there_for_another_store(store: RunStore, location: str) -> None:
    begun(store, answer())
    other = RunStore(location, create=False)
    assert only(other) == only(store)
    other.close()


def test_parts_of_an_answer_come_together(store: RunStore) -> None:
    begun(store, answer(output=None, said=(), is_done=False))
    assert list(store.results("run-1")) == []
    store.add("run-1", [part(output=make_output("Yes."))])
    store.add("run-1", [part(said=[said()])])
    store.add("run-1", [part(is_done=True)])
    result = only(store)
    later = said(judged_at=START + timedelta(minutes=1))
    assert (result.output.text, result.judgments, result.is_done) == ("Yes.", (later,), True)


def test_adding_the_same_twice_adds_nothing(store: RunStore) -> None:
    begun(store, answer(), answer())
    before = only(store)
    store.add("run-1", [answer()])
    assert only(store) == before
    assert store.history("run-1", key()) == []


def test_the_last_judgment_is_current_and_the_earlier_is_history(store: RunStore) -> None:
    begun(store, answer(said=[said(value=0.25)]))
    store.add("run-1", [part(said=[said(value=0.75)])])
    assert [j.value for j in only(store).judgments] == [0.75]
    (earlier,) = store.history("run-1", key())
    assert earlier.what == said(value=0.25)
    assert (earlier.at, earlier.superseded_at) == (START, START + timedelta(minutes=1))


def test_repeats_and_judges_are_kept_apart(store: RunStore) -> None:
    voices = [said(judge=who, repeat=n) for who in ("b", JUDGE, "a") for n in (1, 0)]
    begun(store, answer(said=voices))
    found = [(j.judge, j.repeat) for j in only(store).judgments]
    assert found == [(JUDGE, 0), (JUDGE, 1), ("a", 0), ("a", 1), ("b", 0), ("b", 1)]


def test_judgments_come_in_the_order_of_the_rubric(store: RunStore) -> None:
    voices = [said("zeal"), said("clarity"), said("accuracy"), said("beauty")]
    begun(store, answer(said=voices))
    names = [j.criterion for j in only(store).judgments]
    assert names == ["accuracy", "clarity", "beauty", "zeal"]


def test_a_judgment_takes_the_place_of_a_failure(store: RunStore) -> None:
    begun(store, answer(said=[make_failure(judge=JUDGE)]))
    assert len(only(store).failures) == 1
    store.add("run-1", [part(said=[said()])])
    result = only(store)
    later = said(judged_at=START + timedelta(minutes=1))
    assert (result.failures, result.judgments) == ((), (later,))
    assert store.history("run-1", key())[0].what == make_failure(judge=JUDGE)


def test_a_failure_does_not_take_the_place_of_a_judgment(store: RunStore) -> None:
    begun(store, answer(said=[said()]))
    store.add("run-1", [part(said=[make_failure(judge=JUDGE)])])
    result = only(store)
    assert (result.failures, result.judgments) == ((), (said(),))


def test_another_output_starts_the_answer_anew(store: RunStore) -> None:
    begun(store, answer())
    store.add("run-1", [part(output=make_output("No."), said=[said("clarity", 0.1)])])
    result = only(store)
    assert result.output.text == "No."
    assert [(j.criterion, j.value) for j in result.judgments] == [("clarity", 0.1)]
    assert len(store.history("run-1", key())) == 3


def test_nothing_of_a_call_is_kept_when_a_part_cannot_be(store: RunStore) -> None:
    begun(store)
    bad = answer(key("b"), place=1, output=make_output(metadata={"x": [1.0, float("nan")]}))
    with pytest.raises(StoreError, match=r"Output\.metadata\.x\.1 is nan"):
        store.add("run-1", [answer(), bad])
    assert list(store.progress("run-1")) == []
    store.add("run-1", [answer()])
    assert only(store).is_done


def test_nothing_added_is_nothing_done(store: RunStore) -> None:
    store.add("there is no such run", [])
    assert store.runs() == []


def test_a_variant_that_was_not_announced_comes_last(store: RunStore) -> None:
    begun(store, answer(key(variant="found")), answer())
    assert store.run().variants == (Variant(id="v1"), Variant(id="found"))
    assert [result.variant for result in store.results("run-1")] == ["v1", "found"]


def test_an_answer_begins_with_its_case(store: RunStore) -> None:
    begun(store)
    with pytest.raises(StoreError, match="'refund' is not stored at index 0"):
        store.add("run-1", [part(said=[said()])])


def test_a_case_keeps_its_place(store: RunStore) -> None:
    begun(store, answer())
    with pytest.raises(StoreError, match="'refund' is not stored at index 7"):
        store.add("run-1", [answer(place=7)])
    with pytest.raises(StoreError, match="'other' is now case 0 of the dataset"):
        store.add("run-1", [answer(key("other"))])


def test_two_cases_added_at_once_cannot_have_one_place(store: RunStore) -> None:
    begun(store)
    with pytest.raises(StoreError, match="'other' is now case 0 of the dataset"):
        store.add("run-1", [answer(), answer(key("other"))])
    assert list(store.results("run-1")) == []


def test_a_case_that_is_not_the_one_named_is_refused(store: RunStore) -> None:
    begun(store)
    with pytest.raises(StoreError, match="'refund' does not match the answer to 'other'"):
        store.add("run-1", [answer(key("other"), case=answer().case)])


def test_an_unknown_run_is_named_with_near_ones(store: RunStore) -> None:
    begun(store)
    with pytest.raises(UnknownNameError, match=r"'run-2'[\s\S]*did you mean run-1"):
        store.add("run-2", [answer()])
    with pytest.raises(UnknownNameError, match=r"'zzz'[\s\S]*run-1"):
        store.run("zzz")


def test_an_empty_store_says_that_there_is_no_run(store: RunStore) -> None:
    with pytest.raises(UnknownNameError, match="no run is stored here yet"):
        store.run()


def test_a_run_is_found_by_the_beginning_of_its_id(store: RunStore) -> None:
    for name in ("2026-a", "2026-b", "2027"):
        store.begin(make_run(name))
    assert store.run("2026-b").id == "2026-b"
    assert store.run("2027").id == "2027"
    with pytest.raises(InputError, match=r"several runs begin with '2026'.*2026-b, 2026-a"):
        store.run("2026")
    with pytest.raises(UnknownNameError, match="no run is called ''"):
        store.run("")


def test_the_latest_run_is_the_one_begun_last(store: RunStore) -> None:
    store.begin(make_run("b", started_at=START + timedelta(hours=1)))
    store.begin(make_run("a", started_at=START))
    store.begin(make_run("c", started_at=START, suite="billing"))
    assert store.run().id == "b"
    assert store.run("latest:billing").id == "c"
    with pytest.raises(UnknownNameError, match="latest:other"):
        store.run("latest:other")


def test_a_run_that_only_made_outputs_to_compare_is_the_latest_where_there_is_no_other(
    store: RunStore,
) -> None:
    made = "support: outputs to compare"
    store.begin(make_run("b", started_at=START + timedelta(hours=1), suite=made))
    assert store.run().id == "b"
    store.begin(make_run("a", started_at=START))
    assert (store.run().id, store.run(f"latest:{made}").id) == ("a", "b")


def test_runs_are_listed_newest_first(store: RunStore) -> None:
    for n, name in enumerate(("a", "b", "c")):
        store.begin(make_run(name, started_at=START + timedelta(hours=n), suite=f"s{n % 2}"))
    assert [run.id for run in store.runs()] == ["c", "b", "a"]
    assert [run.id for run in store.runs(suite="s0")] == ["c", "a"]
    assert [run.id for run in store.runs(limit=1)] == ["c"]


def test_a_file_and_its_folder_are_private(tmp_path: Path) -> None:
    file = tmp_path / "state" / "deep" / "judgekit.db"
    RunStore(file).close()
    modes = [path.stat().st_mode & 0o777 for path in (file, file.parent, file.parents[1])]
    assert modes == [0o600, 0o700, 0o700]


def test_what_begins_and_ends_in_one_call_is_whole(store: RunStore) -> None:
    begun(store, answer(is_done=False), part(is_done=True), answer(is_done=False))
    assert only(store).is_done


def test_a_failure_and_a_judgment_of_one_call_are_one_word(store: RunStore) -> None:
    begun(store, answer(said=[make_failure(judge=JUDGE), said()]))
    result = only(store)
    assert (result.judgments, result.failures) == ((said(),), ())


def test_new_and_known_answers_may_come_in_one_call(store: RunStore) -> None:
    begun(store, answer(said=[said(value=0.0)]))
    store.add("run-1", [answer(key("b"), place=1), part(said=[said(value=1.0)])])
    values = [[j.value for j in result.judgments] for result in store.results("run-1")]
    assert values == [[1.0], [1.0, 0.5]]
