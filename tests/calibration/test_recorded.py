"""Recorded replies by themselves: what was recorded is read, and what was not is not asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from judgekit.errors import DatasetError, InputError
from tests.factories import joint_reply, make_case, reply

if TYPE_CHECKING:
    from pathlib import Path

RUBRIC = jk.Rubric.model_validate(
    {
        "name": "two",
        "criteria": [
            {"name": "tone", "question": "Is it kind?", "scale": "one_to_five"},
            {"name": "right", "question": "Is it right?", "scale": "one_to_five"},
        ],
    }
)
YES_NO = jk.Rubric.model_validate(
    {"name": "y", "criteria": [{"name": "done", "question": "Is it done?", "scale": "binary"}]}
)


def recorded(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    path = tmp_path / "replies.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def verdicts(path: Path, rubric: jk.Rubric = RUBRIC, **options: Any) -> list[jk.Verdict]:
    found = jk.read_replies(path, rubric=rubric, **options)
    return [one for one in found if isinstance(one, jk.Verdict)]


def compared(path: Path, **options: Any) -> list[jk.Comparison]:
    found = jk.read_replies(path, **options)
    return [one for one in found if isinstance(one, jk.Comparison)]


def test_each_reply_is_read_by_the_template_and_nothing_else_is_asked(tmp_path: Path) -> None:
    path = recorded(
        tmp_path,
        {"case_id": "a", "variant": "v", "criterion": "tone", "text": reply(4)},
        {"case_id": "a", "variant": "v", "criterion": "right", "text": reply(2)},
        {"case_id": "b", "criterion": "tone", "text": reply(5), "repeat": 1},
    )
    first, second = verdicts(path)
    assert {one.criterion: one.raw for one in first.judgments} == {"tone": 4, "right": 2}
    assert (first.variant, second.variant) == ("v", None)
    assert [(one.criterion, one.raw, one.repeat) for one in second.judgments] == [("tone", 5, 1)]
    assert not first.failures
    assert not second.failures, "what was never recorded is no failure"


def test_a_reply_of_all_criteria_needs_none(tmp_path: Path) -> None:
    path = recorded(
        tmp_path,
        {"case_id": "a", "text": "Yes, it is.", "repeat": 0},
        {"case_id": "a", "text": "No.", "repeat": 1},
    )
    (one,) = verdicts(path, YES_NO, template="pointwise/yes_no")
    assert sorted(judgment.raw for judgment in one.judgments) == [0, 1]
    assert {judgment.repeat_confidence for judgment in one.judgments} == {0.0}


def test_a_reply_that_cannot_be_read_is_a_failure_of_its_kind(tmp_path: Path) -> None:
    path = recorded(
        tmp_path, {"case_id": "a", "text": None}, {"case_id": "b", "text": "Who knows?"}
    )
    empty, unreadable = verdicts(path, YES_NO, template="pointwise/yes_no")
    assert [failure.kind for failure in empty.failures] == ["empty"]
    assert [failure.kind for failure in unreadable.failures] == ["unreadable"]


def test_what_was_asked_again_is_read_again(tmp_path: Path) -> None:
    path = recorded(
        tmp_path,
        {"case_id": "a", "text": "Who knows?"},
        {"case_id": "a", "text": "Yes.", "attempt": 1},
    )
    (one,) = verdicts(path, YES_NO, template="pointwise/yes_no")
    assert [judgment.raw for judgment in one.judgments] == [1]


def test_both_orders_come_to_a_comparison_and_may_name_their_variants(tmp_path: Path) -> None:
    path = recorded(
        tmp_path,
        {
            "case_id": "a",
            "variant": "new vs old",
            "order": "ab",
            "text": "It names the period of days. [[A]]",
        },
        {
            "case_id": "a",
            "variant": "new vs old",
            "order": "ba",
            "text": "It names the period of days. [[B]]",
        },
        {"case_id": "b", "order": "ab", "text": "It names the period of days. [[A]]"},
        {"case_id": "b", "order": "ba", "text": "It names the period of days. [[A]]"},
    )
    first, second = compared(path, template="pairwise/mt_bench")
    assert (first.variant_a, first.variant_b) == ("new", "old")
    assert (first.winner, first.consistent) == ("a", True)
    assert (second.winner, second.consistent, second.variant_a) == ("tie", False, None)


def test_of_one_order_that_order_decides_and_agreement_stays_open(tmp_path: Path) -> None:
    path = recorded(
        tmp_path,
        {"case_id": "a", "order": "ab", "text": "It names the period of days. [[A]]"},
        {"case_id": "b", "order": "ab", "text": "It names the period of days. [[C]]"},
        {"case_id": "c", "order": "ab", "text": "well"},
    )
    found = compared(path, template="pairwise/mt_bench")
    assert [one.winner for one in found] == ["a", "tie", None]
    assert [one.consistent for one in found] == [None, None, None]
    assert [one.probability for one in found] == [1, 0.5, None]
    assert [failure.order for failure in found[2].failures] == ["ab"]


def test_repeats_of_one_order_are_counted_and_criteria_decide_for_themselves(
    tmp_path: Path,
) -> None:
    answer = {
        "evidence_first": [], "evidence_second": [], "rationale": "So.", "preference": "second",
    }  # fmt: skip
    rubric = RUBRIC.model_copy(update={"criteria": RUBRIC.criteria[:1]})
    path = recorded(
        tmp_path,
        *(
            {"case_id": "a", "criterion": "tone", "order": "ab", "repeat": n,
             "text": json.dumps(answer)}
            for n in range(3)
        ),
    )  # fmt: skip
    (one,) = compared(path, rubric=rubric)
    assert [(each.name, each.winner) for each in one.criteria] == [("tone", "b")]
    assert (one.winner, one.probability) == ("b", 0)


def test_cases_and_rubric_may_be_files(tmp_path: Path) -> None:
    rubric, cases = tmp_path / "rubric.json", tmp_path / "cases.jsonl"
    rubric.write_text(YES_NO.model_dump_json(exclude_defaults=True), encoding="utf-8")
    cases.write_text(make_case(id="a").model_dump_json(), encoding="utf-8")
    path = recorded(tmp_path, {"case_id": "a", "text": "Yes."})
    found = jk.read_replies(path, rubric=rubric, cases=cases, template="pointwise/yes_no")
    assert [one.case_id for one in found] == ["a"]


@pytest.mark.parametrize(
    ("rows", "options", "problem"),
    [
        ([], {"rubric": RUBRIC}, "has no replies"),
        ([{"case_id": "a", "text": "1"}], {}, "the scale of the recorded scores is not known"),
        (
            [{"case_id": "a", "text": "1"}, {"case_id": "b", "text": "1", "order": "ab"}],
            {},
            "only some replies have the `order`",
        ),
        (
            [{"case_id": "a", "text": "1", "criterion": "wit"}],
            {"rubric": RUBRIC},
            "has replies about wit, and the rubric has tone, right",
        ),
        (
            [
                {
                    "case_id": "a",
                    "text": "It names the period of days. [[A]]",
                    "variant": "new",
                    "order": "ab",
                }
            ],
            {"template": "pairwise/mt_bench"},
            "a reply about two outputs of a names the variant 'new'",
        ),
    ],
)
def test_replies_that_do_not_fit_are_refused_with_a_reason(
    tmp_path: Path, rows: list[dict[str, Any]], options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        jk.read_replies(recorded(tmp_path, *rows), **options)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"none\.jsonl"):
        jk.read_replies(tmp_path / "none.jsonl", rubric=RUBRIC)


def test_what_is_read_is_held_against_labels(tmp_path: Path) -> None:
    scores = {f"c{n}": n % 2 for n in range(8)}
    path = recorded(
        tmp_path, *({"case_id": c, "text": "Yes." if s else "No."} for c, s in scores.items())
    )
    people: list[dict[str, Any]] = [
        {"case_id": case, "annotator": "Ada", "raw": score} for case, score in scores.items()
    ]
    said = jk.read_replies(path, rubric=YES_NO, template="pointwise/yes_no")
    assert jk.calibrate(said, people, rubric=YES_NO).overall.agreement.exact.value == 1


@pytest.mark.parametrize("template", ["pointwise/criterion", "pointwise/joint"])
def test_replies_about_criteria_with_needs_are_read_without_outputs(
    tmp_path: Path, template: str
) -> None:
    more: list[dict[str, Any]] = [{"needs": ["trace", "reference"]}, {"judge": "strong"}]
    fields = [
        {**criterion.to_json(), **extra}
        for criterion, extra in zip(RUBRIC.criteria, more, strict=True)
    ]
    needy = jk.Rubric(name="needy", criteria=fields, require_evidence=True)
    rest = {"criterion": "right", "text": reply(2)}
    if template == "pointwise/joint":
        rest = {"text": joint_reply(right=2)}
    path = recorded(
        tmp_path, {"case_id": "a", "criterion": "tone", "text": reply(4)}, {"case_id": "a", **rest}
    )
    (verdict,) = verdicts(path, needy, template=template)
    assert {one.criterion: one.raw for one in verdict.judgments} == {"tone": 4, "right": 2}
    assert verdict.failures == ()
    assert verdict.rubric_fingerprint == needy.fingerprint
