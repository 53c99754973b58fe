"""The labels of several annotators: agreement, conflicts, and what each scale makes of them."""

from __future__ import annotations

from math import isnan
from typing import Any

import pytest

from judgekit.calibration import MergedLabels, merge_labels, resolve_labels
from judgekit.datasets import locate_labels
from judgekit.errors import DatasetError
from judgekit.records import Criterion, Rubric, Scale
from judgekit.report import agreement_document
from judgekit.report.markdown import render_markdown

FIVE = Scale.model_validate({"min": 1, "max": 5, "integer": True})
SHARE = Scale.model_validate({"min": 0, "max": 1})


def no_packet(name: str) -> Any:
    raise AssertionError(f"no label is of a packet, {name} neither")


def merged(
    *labels: tuple[str, str, object], scale: Scale = FIVE, field: str = "raw", **own: Any
) -> MergedLabels:
    """Labels of (case, annotator, answer), merged."""
    rows: list[Any] = [{"case_id": c, "annotator": who, field: answer} for c, who, answer in labels]
    criterion = Criterion(name="good", question="Is it good?", scale=scale, **own)
    rubric = Rubric(name="r", criteria=(criterion,))

    return merge_labels(resolve_labels(locate_labels(rows), no_packet), rubric)


def test_agreement_of_two_is_that_of_the_textbook() -> None:
    # Cohen (1960): 20 + 15 of 50 agree, by chance 25 would: kappa .4.
    table = {("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15}
    cells = [cell for cell, n in table.items() for _ in range(n)]
    labels = [(f"c{k}", who, cell[n]) for k, cell in enumerate(cells) for n, who in enumerate("ab")]
    yes_no = Scale.model_validate({"levels": [{"value": 0}, {"value": 1}]})
    (found,) = merged(*labels, scale=yes_no).agreement
    assert found.kappa.value == pytest.approx(0.4)
    assert found.exact.value == pytest.approx(0.7)
    assert found.counts == ((15, 10), (5, 20))
    assert (found.n_items, found.n_doubly) == (50, 50)


def test_three_annotators_have_a_kappa_too() -> None:
    labels = [(f"c{k}", who, 1 + k % 5) for k in range(10) for who in ("a", "b", "c")]
    (found,) = merged(*labels).agreement
    assert (found.alpha.value, found.kappa.value) == (1, 1)
    assert found.counts == ()


def test_a_single_annotator_agrees_with_nobody() -> None:
    found = merged(("c1", "a", 1), ("c2", "a", 2))
    (criterion,) = found.agreement
    assert isnan(criterion.kappa.value)
    assert isnan(criterion.exact.value)
    assert found.conflicts == ()
    assert "agreement is unknown" in agreement_document(found).conclusion.text


@pytest.mark.parametrize(
    ("low", "high", "scale", "why"),
    [
        (3, 4, FIVE, "one passes, another does not"),  # .5 and .75, threshold .7
        (1, 3, FIVE, "more than one level apart"),
        (4, 5, FIVE, None),
        (0.1, 0.4, SHARE, "far apart"),
        (0.1, 0.3, SHARE, None),
    ],
)
def test_a_conflict_says_what_makes_it_one(
    low: float, high: float, scale: Scale, why: str | None
) -> None:
    found = merged(("c", "a", low), ("c", "b", high), scale=scale)
    assert [one.why for one in found.conflicts] == ([] if why is None else [why])


def test_opposite_winners_are_a_conflict_and_a_tie_is_none() -> None:
    labels = [("c", "a", "a"), ("c", "b", "b"), ("d", "a", "a"), ("d", "b", "tie")]
    found = merged(*labels, field="winner")
    assert [one.key.case_id for one in found.conflicts] == ["c"]
    with pytest.raises(DatasetError, match="'c9' is no choice"):
        merged(("c", "a", "c9"), ("c", "b", "b"), field="winner")


def test_winners_are_named_as_in_every_file_of_pair_labels() -> None:
    same = merged(
        ("c", "a", "draw"), ("c", "b", "Tie"), ("d", "a", "A"), ("d", "b", "a"), field="winner"
    )
    assert same.agreement[0].exact.value == 1
    rows: list[Any] = [
        {"case_id": "c", "annotator": who, "variant": "new::old", "winner": side}
        for who, side in (("a", "new"), ("b", "old"))
    ]
    (conflict,) = merge_labels(resolve_labels(locate_labels(rows), no_packet), None).conflicts
    assert conflict.why == "opposite choices"


def test_whoever_cannot_judge_disagrees_with_nobody() -> None:
    found = merged(("c", "a", None), ("c", "b", 5))
    assert (found.n_missing, found.conflicts, len(found.labels)) == (1, (), 2)
    text = render_markdown(agreement_document(found))
    assert "1 label without a score: the annotator could not judge" in text


def timed(scores: list[float], **own: Any) -> MergedLabels:
    """Labels of one annotator, one a minute."""
    rows: list[Any] = [
        {
            "case_id": f"c{k:02}", "annotator": "a", "raw": score,
            "metadata": {"labelled_at": f"2026-11-23T10:{k:02}:00Z", **own},
        }
        for k, score in enumerate(scores)
    ]  # fmt: skip
    criterion = Criterion(name="good", question="Is it good?", scale=FIVE)
    rubric = Rubric(name="r", criteria=(criterion,))
    return merge_labels(resolve_labels(locate_labels(rows), no_packet), rubric)


def test_an_annotator_who_becomes_milder_drifts() -> None:
    (habits,) = timed([1, 2, 1, 2, 4, 5, 4, 5]).habits
    # From a mean of 1.5 to 4.5 on a scale from 1 to 5.
    assert habits.drift.value == pytest.approx(0.75)
    assert 0 < habits.drift.low < 0.75 < habits.drift.high
    assert isnan(habits.same_again.value)
    text = render_markdown(agreement_document(timed([1, 2, 1, 2, 4, 5, 4, 5])))
    assert "+0.75" in text


def test_items_that_were_chosen_to_help_say_nothing_of_drift_or_rates() -> None:
    (habits,) = timed([1, 2, 1, 2, 4, 5, 4, 5], chosen="informative").habits
    assert isnan(habits.drift.value)
    (plain,) = timed([1, 2, 3]).habits
    assert plain.drift.reason == "fewer than four scored items with times of their own"


def test_labels_of_one_time_show_no_drift() -> None:
    (habits,) = timed([5, 1, 4, 2, 3, 5, 1, 2], labelled_at="2026-11-23").habits
    assert isnan(habits.drift.value)
    # Those of the middle minute stay in the order of their rows, not of their scores.
    rows: list[Any] = [
        {
            "case_id": f"c{k}", "annotator": "a", "raw": score,
            "metadata": {"labelled_at": f"2026-11-23T10:{minute:02}:00Z"},
        }
        for k, (score, minute) in enumerate(
            [(3, 0), (3, 1), (5, 2), (5, 2), (1, 2), (1, 2), (3, 3), (3, 4)]
        )
    ]  # fmt: skip
    criterion = Criterion(name="good", question="Is it good?", scale=FIVE)
    rubric = Rubric(name="r", criteria=(criterion,))
    found = merge_labels(resolve_labels(locate_labels(rows), no_packet), rubric)
    assert found.habits[0].drift.value == -0.5


def test_equal_answers_are_counted_on_the_random_part() -> None:
    rows: list[Any] = [
        {
            "case_id": f"c{k}", "annotator": who, "raw": 4 if k < 5 else 3 + (who == "b"),
            "metadata": {"chosen": "random" if k < 5 else "informative"},
        }
        for k in range(10)
        for who in "ab"
    ]  # fmt: skip
    rubric = Rubric(
        name="r", criteria=(Criterion(name="good", question="Is it good?", scale=FIVE),)
    )
    found = merge_labels(resolve_labels(locate_labels(rows), no_packet), rubric)
    (one,) = found.agreement
    assert (one.n_doubly, one.n_random, one.exact.value) == (10, 5, 1)
    assert "counted on the random part only" in render_markdown(agreement_document(found))


def test_a_document_names_the_criterion_that_is_unclear() -> None:
    labels = [
        (f"c{k}", who, 1 + (k if who == "a" else 4 * k) % 5) for k in range(10) for who in "ab"
    ]
    document = agreement_document(merged(*labels))
    assert document.conclusion.text.startswith("Annotators do not agree well on good (alpha")
    same = agreement_document(merged(*[(f"c{k}", w, 1 + k % 5) for k in range(10) for w in "ab"]))
    assert same.conclusion.text == "Annotators agree on every criterion; 0 conflicts."


def test_a_criterion_that_some_files_leave_out_is_the_only_one() -> None:
    """Two annotators who label the same outputs, one of them without the name."""
    rows: list[Any] = [
        {"case_id": "c1", "annotator": who, "raw": raw, **named}
        for who, raw, named in (("a", 1, {}), ("a", 2, {"criterion": "good"}), ("b", 5, {}))
    ]
    rubric = Rubric(name="r", criteria=(Criterion(name="good", question="?", scale=FIVE),))
    found = merge_labels(resolve_labels(locate_labels(rows), no_packet), rubric)
    (criterion,) = found.agreement
    assert (criterion.n_items, criterion.n_doubly) == (1, 1)
    assert [(one.annotator, one.raw) for one in found.labels] == [("a", 2), ("b", 5)]
    assert [one.raw for one in found.replaced] == [1]
    assert len(found.conflicts) == 1


@pytest.mark.parametrize("chosen", [("random", "informative"), ("informative", "random")])
def test_what_one_packet_drew_counts_as_drawn(chosen: tuple[str, str]) -> None:
    rows: list[Any] = [
        {"case_id": "c1", "annotator": who, "raw": 5, "metadata": {"chosen": how}}
        for who, how in zip("ab", chosen, strict=True)
    ]
    rubric = Rubric(name="r", criteria=(Criterion(name="good", question="?", scale=FIVE),))
    (found,) = merge_labels(resolve_labels(locate_labels(rows), no_packet), rubric).agreement
    assert found.n_random == 1
