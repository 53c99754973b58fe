from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import DatasetError, NotComparableError
from judgekit.records import CalibratedJudge, CalibratedPanel, UncalibratedVerdict
from judgekit.rejudgment import check_same_rubric, pair_verdicts, read_verdicts
from judgekit.report import write_verdicts
from judgekit.scoring import conclude
from tests.factories import make_judgment, make_rubric

if TYPE_CHECKING:
    from judgekit.records import Verdict


def verdict(case_id: str, value: float = 1.0, **fields: str) -> Verdict:
    return conclude(make_rubric(), [make_judgment(value=value)], case_id=case_id, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_what_a_grading_wrote_is_read_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"verdicts{suffix}"
    write_verdicts(path, [verdict("a"), verdict("a", variant="v2"), verdict("b", 0.5)])
    found = read_verdicts(path)
    assert list(found) == [("a", None, 0), ("a", "v2", 0), ("b", None, 0)]
    assert found["b", None, 0] == verdict("b", 0.5)


def test_a_table_of_judgments_holds_no_whole_verdicts(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.csv"
    write_verdicts(path, [verdict("a")])
    with pytest.raises(DatasetError, match=r"verdicts are read from \.jsonl and \.json"):
        read_verdicts(path)


def test_a_row_that_is_no_verdict_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(verdict("a").to_json()) + '\n{"case_id": "b"}\n')
    with pytest.raises(DatasetError, match="no verdict: variant: Field required") as caught:
        read_verdicts(path)
    assert caught.value.line == 2


def test_two_verdicts_of_one_output_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    write_verdicts(path, [verdict("a"), verdict("a")])
    with pytest.raises(DatasetError, match="a second verdict of one output"):
        read_verdicts(path)


@pytest.mark.parametrize("version", ["1", "2"])
def test_verdicts_by_an_edited_template_of_a_criterion_are_refused(version: str) -> None:
    then, now = (
        CalibratedPanel(
            judges=(CalibratedJudge(judge="m pointwise/criterion@x"),),
            templates={"accuracy": f"mine@{each}"},
        )
        for each in ("1", version)
    )
    old: dict[tuple[str | None, str | None, int], Verdict] = {
        ("a", None, 0): verdict("a").model_copy(update={"asked": then})
    }
    refused = pytest.raises(NotComparableError, match=r"not only the judge .*version of mine")
    with refused if version == "2" else nullcontext():
        check_same_rubric(Path("v.jsonl"), old, make_rubric(), now)


def test_verdicts_meet_by_case_and_variant_and_errors_are_left_out() -> None:
    before = [verdict("a", 0.5), verdict("b"), verdict("e", error="no output")]
    old = {(one.case_id, one.variant, 0): one for one in before}
    new = [verdict("b", 0.0), verdict("a"), verdict("z"), verdict("e"), verdict("b", variant="v")]
    pairs, left_out = pair_verdicts(old, new)
    assert [(one.case_id, one.old.value, one.new.value) for one in pairs] == [
        ("b", 1.0, 0.0), ("a", 0.5, 1.0),
    ]  # fmt: skip
    assert left_out == {
        "no verdict before": 2, "an error of the system under test": 1,
    }  # fmt: skip


def test_old_verdicts_of_outputs_that_are_not_judged_now_are_counted() -> None:
    old = {(one.case_id, one.variant, 0): one for one in map(verdict, "abc")}
    assert pair_verdicts(old, [verdict("a")])[1] == {"not judged now": 2}


def test_verdicts_that_maps_decided_are_compared_by_the_judges_own_values() -> None:
    """The same judge with and without its maps has not changed a decision."""
    plain = verdict("a", 0.75)
    mapped = plain.model_copy(
        update={
            "passed": False,
            "value": 0.4,
            "criteria": (plain.criteria[0].model_copy(update={"value": 0.4}),),
            "uncalibrated": UncalibratedVerdict(
                value=0.75, passed=plain.passed, criteria={"accuracy": 0.75}
            ),
        }
    )
    for before, after in ((mapped, plain), (plain, mapped), (mapped, mapped)):
        pairs, _ = pair_verdicts({("a", None, 0): before}, [after])
        (one,) = pairs
        assert one.old == one.new
        assert (one.old.value, one.old.passed) == (0.75, True)
        assert one.old.criteria["accuracy"].value == 0.75
