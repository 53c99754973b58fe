from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.errors import InputError
from judgekit.records import AssertionResult
from tests.factories import make_failure, make_output
from tests.store.observing import JUDGE, answer, begun, key, only, part, said

if TYPE_CHECKING:
    from judgekit.store import RunStore

CRASHED = make_output(None, error="it crashed", error_kind="exit")
SILENT = make_failure("clarity", judge=JUDGE)
CHECK = AssertionResult(passed=False, message="there is no output", type="behavior.no_errors")


def test_a_judge_that_failed_is_asked_again_and_one_that_spoke_is_not(store: RunStore) -> None:
    begun(store, answer(said=[said(), SILENT]))
    assert store.forget("run-1", [key()]) == 1
    result = only(store)
    assert (result.judgments, result.failures, result.is_done) == ((said(),), (), False)
    assert [earlier.what for earlier in store.history("run-1", key())] == [SILENT]


def test_an_output_that_is_an_error_is_produced_again(store: RunStore) -> None:
    begun(store, answer(output=CRASHED, said=(), checks=[CHECK]))
    assert store.forget("run-1", [key()]) == 1
    (progress,) = store.progress("run-1")
    assert (progress.has_output, progress.is_done) == (False, False)
    store.add("run-1", [part(output=make_output("Yes."))])
    result = only(store)
    assert (result.output.text, result.checks) == ("Yes.", ())
    assert [earlier.what for earlier in store.history("run-1", key())] == [CRASHED]


def test_only_the_kind_of_failure_that_is_named_is_asked_again(store: RunStore) -> None:
    begun(store, answer(output=CRASHED, said=()), answer(key("b"), place=1, said=[SILENT]))
    keys = [key(), key("b")]
    assert store.forget("run-1", keys, judge_failures=False, target_errors=False) == 0
    assert store.forget("run-1", keys, judge_failures=False) == 1
    assert [p.n_failures for p in store.progress("run-1")] == [0, 1]


def test_an_answer_without_failure_stays_as_it_is(store: RunStore) -> None:
    begun(store, answer())
    before = only(store)
    assert store.forget("run-1", [key()]) == 0
    assert only(store) == before


def test_the_same_failure_again_after_being_forgotten_counts_again(store: RunStore) -> None:
    begun(store, answer(said=[SILENT]))
    store.forget("run-1", [key()])
    store.add("run-1", [part(said=[SILENT])])
    assert only(store).failures == (SILENT,)


def test_what_was_not_begun_cannot_be_forgotten(store: RunStore) -> None:
    begun(store)
    with pytest.raises(InputError, match="no answer of variant 'v1'"):
        store.forget("run-1", [key()])
