from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from judgekit.calibration import (
    CalibrationOptions,
    PointwiseData,
    check_winner_labels,
    correct_scores,
    correct_wins,
    labels_of_sides,
)
from judgekit.calibration.inputs import OutputKey, ScoreSample
from judgekit.datasets import locate_labels
from judgekit.errors import DatasetError, InputError, NotEnoughDataError
from judgekit.evaluation import JudgedPair, compare_side_scores
from judgekit.records import Preference
from judgekit.scoring import conclude_comparison
from judgekit.stats.correction import corrected_mean
from judgekit.stats.ppi import ppi_mean
from tests.evaluation.comparison.test_scores import scored
from tests.evaluation.pairs import RUBRIC, compared, said, summed
from tests.factories import make_rubric
from tests.stats.simulation import covers_at_least

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pydantic import JsonValue

    from judgekit.calibration import LabelledComparison
    from judgekit.datasets import LocatedLabel
    from judgekit.evaluation import SideScores

RANDOM = CalibrationOptions(labels_are="random")
POINTS = {"a": 1.0, "tie": 0.5, "b": 0.0}


def preferred(winners: Mapping[str, str], **fields: JsonValue) -> list[LocatedLabel]:
    """One annotator's labels: the better output of each case."""
    return locate_labels(
        {"case_id": case, "winner": winner, "annotator": "Ada", **fields}
        for case, winner in winners.items()
    )


def judged(outcomes: Iterable[str]) -> list[JudgedPair]:
    """Judged pairs of the cases c0, c1, … with outputs of the variants `new` and `old`."""
    found = []
    for k, outcome in enumerate(outcomes):
        pair, comparison = one = compared(outcome, f"c{k}")
        a, b = (
            output.model_copy(update={"variant": name})
            for output, name in ((pair.a, "new"), (pair.b, "old"))
        )
        found.append(one._replace(pair=pair._replace(a=a, b=b), comparison=comparison))
    return found


def corrected(
    pairs: Sequence[JudgedPair],
    labels: Sequence[LocatedLabel],
    options: CalibrationOptions = RANDOM,
) -> LabelledComparison:
    return correct_wins([one.pair for one in pairs], pairs, RUBRIC, labels, summed(pairs), options)


def biased(seed: int, n: int, n_labels: int) -> tuple[list[str], dict[str, str]]:
    """A judge that calls a third of B's wins wins of A, and labels of cases drawn at random."""
    rng = random.Random(seed)
    truth = [rng.choice("abb") for _ in range(n)]
    says = ["a" if t == "b" and rng.random() < 1 / 3 else t for t in truth]
    return says, {f"c{k}": truth[k] for k in rng.sample(range(n), n_labels)}


def test_the_corrected_share_is_the_estimators_and_it_decides_against_a_biased_judge() -> None:
    says, labels = biased(1, 400, 120)
    says = ["a" if w == "b" and k % 2 else w for k, w in enumerate(says)]
    found = corrected(judged(says), preferred(labels))
    known = [int(case[1:]) for case in labels]
    expected = corrected_mean(
        [POINTS[labels[f"c{k}"]] for k in known],
        [POINTS[says[k]] for k in known],
        [POINTS[w] for k, w in enumerate(says) if k not in set(known)],
        labels_are="random",
    )
    assert found.whole is not None
    assert found.whole.corrected.value == pytest.approx(expected.corrected.value)
    assert found.whole.corrected.low == pytest.approx(expected.corrected.low)
    assert (found.whole.n_labels, found.whole.n_unlabelled) == (120, 280)
    assert found.judge_decision.winner == "a"
    assert found.decision.winner == "b"
    assert "corrected by 120 labelled pairs" in found.decision.reason


def test_with_ties_the_corrected_share_is_by_ppi() -> None:
    says, labels = biased(2, 200, 60)
    says[::5] = ["tie"] * 40
    found = corrected(judged(says), preferred(labels))
    known = [int(case[1:]) for case in labels]
    expected = ppi_mean(
        [POINTS[labels[f"c{k}"]] for k in known],
        [POINTS[says[k]] for k in known],
        [POINTS[w] for k, w in enumerate(says) if k not in set(known)],
        tuning="leave-one-out",
    )
    assert found.whole is not None
    assert found.whole.estimator == "ppi++"
    assert found.whole.corrected.value == pytest.approx(expected.value)


def test_a_winner_may_be_named_by_its_variant_and_the_sides_turned_round_are_mirrored() -> None:
    says, labels = biased(3, 150, 50)
    names = {"a": "new", "b": "old"}
    by_name = preferred({case: names[winner] for case, winner in labels.items()})
    there = corrected(judged(says), by_name)
    turned = [
        one._replace(
            pair=one.pair._replace(a=one.pair.b, b=one.pair.a), comparison=other.comparison
        )
        for one, other in zip(
            judged(says), judged({"a": "b", "b": "a"}[w] for w in says), strict=True
        )
    ]
    back = corrected(turned, by_name)
    assert there.whole is not None
    assert back.whole is not None
    assert back.whole.corrected.value == pytest.approx(1 - there.whole.corrected.value)
    assert back.whole.corrected.low == pytest.approx(1 - there.whole.corrected.high)
    assert corrected(judged(says), preferred(labels)).whole == there.whole


@pytest.mark.no_cover
def test_the_corrected_share_covers_the_human_one() -> None:
    """The judge alone finds 56 % where people find 33 %; 50 of 120 cases have a label."""
    found = [corrected(judged(says), preferred(labels)).whole
             for says, labels in (biased(seed, 120, 50) for seed in range(80))]  # fmt: skip
    assert covers_at_least([one.corrected for one in found if one is not None], 1 / 3)
    assert not covers_at_least([one.raw for one in found if one is not None], 1 / 3)


def test_too_few_labels_are_refused_before_anything_is_judged() -> None:
    pairs = [one.pair for one in judged("ab" * 30)]
    few = preferred({f"c{k}": "a" for k in range(19)})
    with pytest.raises(NotEnoughDataError, match="19 cases have a human label of which output"):
        check_winner_labels(pairs, RUBRIC, few, RANDOM)
    check_winner_labels(pairs, RUBRIC, preferred({f"c{k}": "a" for k in range(20)}), RANDOM)
    with pytest.raises(InputError, match="no label is of an output that was judged"):
        check_winner_labels(pairs, RUBRIC, preferred({"z1": "a"}), RANDOM)
    with pytest.raises(DatasetError, match="it names no winner"):
        check_winner_labels(pairs, RUBRIC, preferred({"c1": "the first"}), RANDOM)


def test_labels_of_pairs_that_the_judge_failed_on_do_not_count() -> None:
    says = ["open"] * 10 + ["a", "b"] * 20
    found = corrected(judged(says), preferred({f"c{k}": "a" for k in range(25)}))
    assert found.whole is not None
    assert math.isnan(found.whole.corrected.value)
    assert found.decision.winner is None
    assert "15 labelled cases; a correction needs 20" in found.decision.reason


def test_undecided_pairs_that_could_turn_the_corrected_result_leave_it_open() -> None:
    says, labels = biased(5, 300, 150)
    assert corrected(judged(says), preferred(labels)).decision.winner == "b"
    failed = [*says, *["open"] * 200]
    found = corrected(judged(failed), preferred(labels))
    assert found.decision.winner is None
    assert "the undecided pairs could turn it" in found.decision.reason


def test_outputs_in_error_are_no_pairs_to_correct() -> None:
    says, labels = biased(5, 100, 60)
    pairs = judged(says)
    broken = [
        one._replace(pair=one.pair._replace(a=one.pair.a.model_copy(update={"error": "timed out"})))
        if f"c{k}" in labels and k % 2
        else one
        for k, one in enumerate(pairs)
    ]
    found = corrected(broken, preferred(labels))
    n_broken = sum(int(case[1:]) % 2 for case in labels)
    assert found.whole is not None
    assert (found.whole.n_labels, found.n_not_judged) == (60 - n_broken, n_broken)


def test_with_a_label_of_every_pair_people_decide() -> None:
    truth = ["b"] * 30 + ["a"] * 10
    labels = preferred({f"c{k}": winner for k, winner in enumerate(truth)})
    found = corrected(judged(["a"] * 40), labels)
    assert found.decision.winner == "b"
    assert "A wins 25 % [14, 40], by 40 labelled pairs" in found.decision.reason


def test_labels_that_do_not_look_random_are_refused_unless_they_are_said_to_be() -> None:
    says = ["a"] * 50 + ["b"] * 50
    labels = preferred({f"c{k}": "a" if k % 5 else "b" for k in range(40)})
    found = corrected(judged(says), labels, CalibrationOptions())
    assert found.decision.winner is None
    assert "do not look like a random subset" in found.decision.reason
    assert corrected(judged(says), labels).whole.corrected.value > 0  # type: ignore[union-attr]  # a figure, as stated


def test_a_criterion_has_a_figure_of_its_own_which_does_not_decide() -> None:
    rubric = make_rubric("accuracy", "tone")
    pairs = []
    for k, one in enumerate(judged("ab" * 40)):
        answers = [
            answer
            for outcome, criterion in (("ab"[k % 2], None), ("b", "accuracy"), ("a", "tone"))
            for answer in said(outcome, f"c{k}", criterion=criterion)
        ]
        comparison = conclude_comparison(
            rubric, [a for a in answers if isinstance(a, Preference)], (), case_id=f"c{k}"
        )
        pairs.append(one._replace(comparison=comparison))
    whole = preferred({f"c{k}": "b" if k % 6 else "a" for k in range(30)})
    tone = preferred({f"c{k}": "b" if k % 6 else "a" for k in range(24)}, criterion="tone")
    outputs = [one.pair for one in pairs]
    found = correct_wins(outputs, pairs, rubric, [*whole, *tone], summed(pairs), RANDOM)
    assert found.decision.winner == "b"
    assert list(found.criteria) == ["tone"]
    assert (found.criteria["tone"].n_labels, found.criteria["tone"].raw.value) == (24, 1)
    with pytest.raises(NotEnoughDataError, match="0 cases have"):
        check_winner_labels(outputs, rubric, tone, RANDOM)


def test_repeats_of_a_case_are_clustered() -> None:
    pairs = [
        one._replace(pair=one.pair._replace(repeat=repeat))
        for one in judged("ab" * 40)
        for repeat in range(2)
    ]
    truth = {f"c{k}": "ab"[k // 2 % 2] for k in range(60)}
    labels = [label for repeat in range(2) for label in preferred(truth, repeat=repeat)]
    found = corrected(pairs, labels)
    assert found.whole is not None
    assert (found.whole.n_labels, found.whole.corrected.n) == (120, 60)
    few = [label for label in labels if int(label.label.case_id[1:]) < 15]
    with pytest.raises(NotEnoughDataError, match="15 cases have"):
        check_winner_labels([one.pair for one in pairs], RUBRIC, few, RANDOM)


def graded(values: Sequence[float]) -> PointwiseData:
    """The judgments of a side that stands in `scored` with these values."""
    samples = [
        ScoreSample(place=OutputKey(f"c{k}", "v"), criterion="accuracy", raw=1 + 4 * v, value=v)
        for k, v in enumerate(values)
    ]
    return PointwiseData(samples=samples, rubric=make_rubric())


def rated(values: Mapping[int, float]) -> list[LocatedLabel]:
    return locate_labels(
        {"case_id": f"c{k}", "raw": 1 + 4 * v, "annotator": "Ada"} for k, v in values.items()
    )


def differ(
    a: Sequence[float], b: Sequence[float], human: Mapping[int, tuple[float, float]]
) -> LabelledComparison:
    sides: tuple[SideScores, SideScores] = scored(*a), scored(*b)
    compared = compare_side_scores(*sides, ("new", "old"))
    labels = tuple(rated({k: pair[side] for k, pair in human.items()}) for side in (0, 1))
    grades = graded(a), graded(b)
    return correct_scores(compared, sides, grades, (labels[0], labels[1]), RANDOM)


def lenient(seed: int, n: int, n_labels: int) -> tuple[Any, Any, dict[int, tuple[float, float]]]:
    """A is really better by a quarter half the time; the judge adds a quarter to B."""
    rng = np.random.default_rng(seed)
    base = rng.choice([0.0, 0.25, 0.5], size=n)
    a = base + 0.25 * rng.integers(0, 2, size=n)
    b = base
    seen = b + 0.25 * (rng.random(n) < 0.9)
    known = rng.choice(n, size=n_labels, replace=False)
    return a.tolist(), seen.tolist(), {int(k): (float(a[k]), float(b[k])) for k in known}


def test_a_corrected_difference_is_by_ppi_and_decides_against_a_lenient_judge() -> None:
    a, b, human = lenient(1, 200, 60)
    found = differ(a, b, human)
    expected = ppi_mean(
        [human[k][1] - human[k][0] for k in human],
        [b[k] - a[k] for k in human],
        [b[k] - a[k] for k in range(200) if k not in human],
        tuning="leave-one-out",
    )
    assert found.whole is not None
    assert found.whole.corrected.value == pytest.approx(expected.value)
    assert found.whole.corrected.low == pytest.approx(expected.low)
    assert found.whole.corrected.se == pytest.approx(expected.se)
    assert found.whole.raw.value == pytest.approx(sum(b) / 200 - sum(a) / 200)
    assert (found.judge_decision.winner, found.decision.winner) == ("b", "a")
    assert "a difference of -0.1" in found.decision.reason


@pytest.mark.no_cover
def test_the_corrected_difference_covers_the_human_one() -> None:
    found = [differ(*lenient(seed, 100, 40)).whole for seed in range(80)]
    assert covers_at_least([one.corrected for one in found if one is not None], -0.125)


def test_a_difference_needs_labels_of_both_outputs_of_20_cases() -> None:
    a, b, human = lenient(1, 100, 19)
    with pytest.raises(NotEnoughDataError, match="19 cases have a human label of the overall"):
        differ(a, b, human)
    sides = scored(*a), scored(*b)
    compared = compare_side_scores(*sides, ("new", "old"))
    one = rated({k: pair[0] for k, pair in human.items()})
    with pytest.raises(NotEnoughDataError, match="no label is of an output of old"):
        correct_scores(compared, sides, (graded(a), graded(b)), (one, []), RANDOM)


def test_a_label_names_its_side_by_variant_argument_or_letter() -> None:
    def sides(*names: str | None, variants: tuple[str, str] = ("v1", "v2")) -> tuple[int, int]:
        labels = locate_labels(
            {"case_id": "c", "raw": 1, "annotator": f"{k}", "variant": n}
            for k, n in enumerate(names)
        )
        found = labels_of_sides(labels, variants, ("latest::v1", "run-2"))
        assert {one.label.variant for one in found[0]} <= {variants[0]}
        return len(found[0]), len(found[1])

    assert sides("v1", "v2", "latest::v1", "run-2", "a", "b", "other") == (3, 3)
    assert sides("b", "b", variants=("b", "c")) == (2, 0), "a variant's own name comes first"
    assert sides("a", "latest::v1", "run-2", variants=("v", "v")) == (2, 1)
    with pytest.raises(DatasetError, match="both sides are 'v'"):
        sides("v", variants=("v", "v"))
    with pytest.raises(DatasetError, match="it does not name its variant"):
        sides(None)
