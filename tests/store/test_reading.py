from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import InputError, UnknownNameError
from judgekit.records import AssertionResult, ItemKey, Score
from tests.factories import make_case, make_failure, make_output
from tests.store.observing import JUDGE, START, answer, begun, key, make_run, only, part, said

if TYPE_CHECKING:
    from judgekit.store import RunStore

PASSED = AssertionResult(passed=True, message="it is there", type="output.contains", actual="x")
BROKEN = AssertionResult(passed=None, message="no such path", type="output.equals", error="path")
FAST = Score(name="latency", value=0.9, raw=800.0, unit="ms")
UNKNOWN = Score(name="cost", value=None, error="no price")


def places(store: RunStore, **wanted: object) -> list[tuple[int, str, int]]:
    """Where the results are that meet a wish."""
    found = store.results("run-1", **wanted)  # type: ignore[arg-type]  # any of its options
    return [(result.place, result.variant, result.repeat) for result in found]


def test_results_come_in_the_order_of_dataset_variants_and_repeats(store: RunStore) -> None:
    keys = [key(f"c{n}", variant, repeat) for n in (1, 0) for variant in "ab" for repeat in (1, 0)]
    observed = [answer(each, place=int(each.case_id[1])) for each in keys]
    store.begin(make_run("run-1", "b", "a"))
    store.add("run-1", observed)
    expected = [
        (place, variant, repeat) for place in (0, 1) for variant in "ba" for repeat in (0, 1)
    ]
    assert places(store) == expected


def test_results_of_many_answers_are_read_page_by_page(store: RunStore) -> None:
    observed = [answer(key(f"c{n}", v), place=n) for n in range(70) for v in ("v1", "v2")]
    begun(store, *observed)
    found = list(store.results("run-1"))
    assert [(r.case.id, r.variant) for r in found] == [
        (o.key.case_id, o.key.variant) for o in observed
    ]
    assert all(len(result.judgments) == 2 for result in found)


def test_long_outputs_are_read_a_few_at_a_time(store: RunStore) -> None:
    texts = [f"{n}" * 1_500_000 for n in range(6)]
    begun(
        store, *(answer(key(f"c{n}"), place=n, output=make_output(t)) for n, t in enumerate(texts))
    )
    assert [result.output.text for result in store.results("run-1")] == texts


def test_results_are_chosen_by_variant_case_and_tag(store: RunStore) -> None:
    tagged = make_case(id="c1", tags=("hard", "long"))
    begun(
        store,
        answer(key("c0", "v1"), place=0),
        answer(key("c0", "v2"), place=0),
        answer(key("c1", "v1"), place=1, case=tagged),
    )
    assert places(store, variant="v2") == [(0, "v2", 0)]
    assert places(store, case_id="c0") == [(0, "v1", 0), (0, "v2", 0)]
    assert places(store, tag="hard") == [(1, "v1", 0)]
    assert places(store, tag="hard", variant="v2") == []


def test_what_failed_is_found_and_a_low_score_is_no_failure(store: RunStore) -> None:
    begun(
        store,
        answer(key("low"), place=0, said=[said(value=0.0)]),
        answer(key("judge"), place=1, said=[said(), make_failure("clarity")]),
        answer(key("target"), place=2, output=make_output(None, error="it crashed"), said=()),
    )
    assert [result.case.id for result in store.results("run-1", failed_only=True)] == [
        "judge",
        "target",
    ]


def test_one_result_is_found_by_its_key(store: RunStore) -> None:
    begun(store, answer(), answer(key(repeat=1), output=make_output("again")))
    found = store.result("run-1", key(repeat=1))
    assert found is not None
    assert found.output.text == "again"
    assert store.result("run-1", key("nowhere")) is None


def test_checks_and_scores_come_back_in_their_order(store: RunStore) -> None:
    begun(store, answer(checks=[BROKEN, PASSED], scores=[UNKNOWN, FAST]))
    result = only(store)
    assert result.checks == (BROKEN, PASSED)
    assert result.scores == (UNKNOWN, FAST)


def test_later_checks_take_the_place_of_the_whole_list(store: RunStore) -> None:
    begun(store, answer(checks=[BROKEN, PASSED, BROKEN], scores=[FAST]))
    store.add("run-1", [part(checks=[PASSED])])
    result = only(store)
    assert (result.checks, result.scores) == ((PASSED,), (FAST,))


def test_progress_tells_what_is_missing(store: RunStore) -> None:
    broken = make_output(None, error="it hung", error_kind="timeout")
    begun(
        store,
        answer(key("whole"), place=0),
        answer(key("begun"), place=1, output=None, said=(), is_done=False),
        answer(key("target"), place=2, output=broken, said=()),
        answer(key("judge"), place=3, said=[said(), make_failure("clarity")], is_done=False),
    )
    found = {p.key.case_id: p for p in store.progress("run-1")}
    assert list(found) == ["whole", "begun", "target", "judge"]
    assert [(p.is_done, p.has_output, p.has_error) for p in found.values()] == [
        (True, True, False),
        (False, False, False),
        (True, True, True),
        (False, True, False),
    ]
    assert [p.error_kind for p in found.values()] == [None, None, "timeout", None]
    assert [(p.n_judgments, p.n_failures) for p in found.values()] == [
        (2, 0),
        (0, 0),
        (0, 0),
        (1, 1),
    ]
    assert (found["judge"].key, found["judge"].place) == (ItemKey("judge", "v1"), 3)


def test_progress_of_many_answers_is_read_page_by_page(store: RunStore) -> None:
    case = make_case(id="c")
    observed = [answer(key("c", repeat=n), case=case, said=()) for n in range(2100)]
    begun(store, *observed)
    assert [p.key.repeat for p in store.progress("run-1")] == list(range(2100))


def test_runs_do_not_mix(store: RunStore) -> None:
    begun(store, answer())
    store.begin(make_run("run-2"))
    store.add("run-2", [answer(output=make_output("other"))])
    assert only(store).output == answer().output
    assert only(store, "run-2").output.text == "other"


def test_an_unknown_run_is_refused_wherever_it_is_named(store: RunStore) -> None:
    for ask in (store.progress, store.results, store.queue):
        with pytest.raises(UnknownNameError, match="no run is called 'nowhere'"):
            next(iter(ask("nowhere")))
    with pytest.raises(UnknownNameError, match="no run is called 'nowhere'"):
        store.result("nowhere", key())


def test_history_of_an_answer_that_was_not_begun_is_refused(store: RunStore) -> None:
    begun(store)
    with pytest.raises(InputError, match="no answer of variant 'v1' to case 'refund', repeat 0"):
        store.history("run-1", key())


def test_a_store_can_be_read_while_it_is_written(store: RunStore) -> None:
    begun(store, *(answer(key(f"c{n}"), place=n) for n in range(70)))
    reading = store.results("run-1")
    assert next(reading).case.id == "c0"
    store.add("run-1", [answer(key("late"), place=70)])
    assert [result.case.id for result in reading][-1] == "late"


def test_when_an_output_was_produced_is_not_when_it_was_judged(store: RunStore) -> None:
    begun(store, answer(said=()))
    store.add("run-1", [part(said=[said()])])
    assert only(store).ran_at == START


def test_a_judgment_has_the_time_at_which_it_was_stored(store: RunStore) -> None:
    begun(store, answer(said=[said("accuracy")]))
    store.add("run-1", [part(said=[said("clarity")])])
    times = {one.criterion: one.judged_at for one in only(store).judgments}
    assert times == {"accuracy": START, "clarity": START + timedelta(minutes=1)}


def test_the_same_judgment_at_a_later_time_replaces_nothing(store: RunStore) -> None:
    begun(store, answer(said=[said("accuracy")]))
    store.add("run-1", [part(said=only(store).judgments)])
    assert [one.judged_at for one in only(store).judgments] == [START]
    assert store.history("run-1", key()) == []


def test_progress_is_counted_by_variant(store: RunStore) -> None:
    store.begin(make_run("run-1", "a", "b", "c"))
    failed = make_failure("clarity", judge=JUDGE)
    store.add(
        "run-1",
        [
            answer(key("c1", "a"), said=(said("accuracy"), failed)),
            answer(key("c1", "b"), output=make_output(None, error="down")),
            answer(key("c2", "b"), place=1, is_done=False),
        ],
    )
    found = [
        (p.variant, p.n_done, p.n_errors, p.n_failures) for p in store.variant_progress("run-1")
    ]
    assert found == [("a", 1, 0, 1), ("b", 1, 1, 0), ("c", 0, 0, 0)]


def test_a_failure_that_a_judgment_replaced_is_counted_no_more(store: RunStore) -> None:
    begun(store, answer(said=(make_failure("accuracy", judge=JUDGE),)))
    store.add("run-1", [part(said=(said("accuracy"),))])
    assert [p.n_failures for p in store.variant_progress("run-1")] == [0]


def test_the_state_of_a_run_differs_after_each_change(store: RunStore) -> None:
    begun(store, answer(is_done=False))
    states = [store.run_state("run-1")]
    for change in (
        part(said=(said("accuracy", 0.0),)),
        part(checks=(PASSED,)),
        part(scores=(FAST,)),
        part(is_done=True),
        part(output=make_output("Another.")),
    ):
        store.add("run-1", [change])
        states.append(store.run_state("run-1"))
    assert len(set(states)) == len(states)
    assert store.run_state("run-1") == states[-1]
