from __future__ import annotations

import pytest

from judgekit.datasets import SuiteGroup
from judgekit.errors import SettingsError, UnknownNameError
from judgekit.evaluation.schedule import ProgressLedger, Schedule, WorkItem, check_case_groups
from judgekit.records import ItemKey
from tests.factories import make_case

CASES = [make_case(id=name) for name in "abc"]


def keys(work: Schedule) -> list[list[str]]:
    """The chains, each item as `case variant repeat`."""
    return [
        [f"{i.key.case_id} {i.key.variant} {i.key.repeat}" for i in chain]
        for chain in work.chains(CASES)
    ]


def group(*case_ids: str, name: str = "g", in_sequence: bool = True) -> SuiteGroup:
    return SuiteGroup(name=name, case_ids=case_ids, in_sequence=in_sequence)


def test_cases_go_by_variants_by_repeats_each_by_itself() -> None:
    assert keys(Schedule(["v", "w"], repeats=2))[:5] == [
        ["a v 0"], ["a v 1"], ["a w 0"], ["a w 1"], ["b v 0"],
    ]  # fmt: skip


def test_an_item_knows_the_place_of_its_case() -> None:
    places = [chain[0].place for chain in Schedule(["v", "w"]).chains(CASES)]
    assert places == [0, 0, 1, 1, 2, 2]


def test_cases_are_read_as_slowly_as_they_are_done() -> None:
    cases = iter(CASES)
    next(Schedule(["v"]).chains(cases))
    assert next(cases).id == "b"


def test_what_is_done_is_left_out_and_what_was_begun_is_not() -> None:
    done = ProgressLedger()
    done.note("v", 0, 0, is_done=True)
    done.note("v", 0, 2, is_done=False)
    assert keys(Schedule(["v"], done=done)) == [["b v 0"], ["c v 0"]]


def test_a_group_in_sequence_is_one_chain_for_each_variant_in_the_groups_order() -> None:
    work = Schedule(["v", "w"], groups=[group("c", "a")])
    assert keys(work) == [["b v 0"], ["b w 0"], ["c v 0", "a v 0"], ["c w 0", "a w 0"]]


def test_a_group_without_a_sequence_changes_nothing() -> None:
    assert keys(Schedule(["v"], groups=[group("c", "a", in_sequence=False)])) == keys(
        Schedule(["v"])
    )


def test_a_group_of_which_some_cases_are_left_out_is_done_at_the_end() -> None:
    assert keys(Schedule(["v"], groups=[group("a", "z", "b")])) == [["c v 0"], ["a v 0", "b v 0"]]


def test_a_group_that_is_done_makes_no_chain() -> None:
    done = ProgressLedger()
    done.note("v", 0, 0, is_done=True)
    done.note("v", 0, 2, is_done=True)
    assert keys(Schedule(["v"], groups=[group("a", "c")], done=done)) == [["b v 0"]]


def test_a_case_that_may_be_tried_again_is_over_only_once_that_is_settled() -> None:
    done = ProgressLedger()
    done.note("v", 0, 0, is_done=True)
    done.note("v", 0, 1, is_done=True)
    done.settle("v", 1)
    work = Schedule(["v"], done=done, retries=lambda _: 2)
    assert keys(work) == [["a v 0"], ["c v 0"]]


def test_a_ledger_knows_what_was_begun_and_nothing_else() -> None:
    ledger = ProgressLedger()
    ledger.note("v", 1, 5, is_done=False)
    begun = WorkItem(ItemKey("x", "v", 1), 5, CASES[0])
    assert ledger.is_begun(begun)
    assert not ledger.is_done("v", 1, 5)
    assert not ledger.is_begun(WorkItem(ItemKey("x", "v", 1), 4, CASES[0]))
    assert not ledger.is_begun(WorkItem(ItemKey("x", "w", 1), 5, CASES[0]))
    assert not ledger.is_begun(begun.again())


def test_groups_of_known_cases_are_sound() -> None:
    check_case_groups([group("a", "b"), group("b", "c", name="h", in_sequence=False)], "abc")


def test_a_group_that_names_no_case_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="no case of the group 'g' is called 'refunds'"):
        check_case_groups([group("refunds")], ["refund"])


def test_a_case_in_two_sequences_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"'b' is in two groups .* in sequence: g and h"):
        check_case_groups([group("a", "b"), group("b", "c", name="h")], "abc")
