"""No order of rows changes any figure: not of judgments, not of labels."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings, strategies as st

import judgekit as jk
from judgekit.calibration.confidence import cluster_folds

RUBRIC = jk.Rubric.model_validate(
    {
        "name": "two",
        "criteria": [
            {"name": "tone", "question": "Is it kind?", "scale": "one_to_five"},
            {"name": "right", "question": "Is it right?", "scale": "binary"},
        ],
    }
)
SEEDS = st.integers(min_value=0, max_value=10_000)


def scored(draw: random.Random) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Eight cases of two variants on two criteria: a judge asked twice, and three people."""
    said, people = [], []
    for case in range(8):
        for variant in ("v1", "v2"):
            for name, low, high in (("tone", 1, 5), ("right", 0, 1)):
                key = {"case_id": f"c{case}", "variant": variant, "criterion": name}
                truth = draw.randint(low, high)
                for repeat in (0, 1):
                    raw = draw.choice([truth, truth, draw.randint(low, high), None])
                    sure = round(draw.random(), 2)
                    said.append({**key, "repeat": repeat, "raw": raw, "confidence": sure})
                for who in draw.sample(("x", "y", "z"), draw.randint(0, 3)):
                    raw = draw.choice([truth, draw.randint(low, high)])
                    people.append({**key, "annotator": who, "raw": raw})
    return said, people


def chosen(draw: random.Random) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Twenty pairs: a judge in both orders, and two people."""
    sides = ("a", "b", "tie", None)
    said = [
        {"case_id": f"c{case}", "order": order, "winner": draw.choice(sides), "confidence": 0.8}
        for case in range(20)
        for order in ("ab", "ba")
    ]
    people = [
        {"case_id": f"c{case}", "annotator": who, "winner": draw.choice(sides[:3])}
        for case in range(20)
        for who in ("x", "y")
    ]
    return said, people


@settings(max_examples=2, deadline=None)
@given(seed=SEEDS)
def test_shuffled_scores_and_labels_come_to_the_same_report(seed: int) -> None:
    draw = random.Random(seed)
    said, people = scored(draw)
    as_is = jk.calibrate(said, people, rubric=RUBRIC).to_json()
    draw.shuffle(said)
    draw.shuffle(people)
    assert jk.calibrate(said, people, rubric=RUBRIC).to_json() == as_is


@settings(max_examples=3, deadline=None)
@given(seed=SEEDS)
def test_shuffled_choices_and_labels_come_to_the_same_report(seed: int) -> None:
    draw = random.Random(seed)
    said, people = chosen(draw)
    as_is = jk.calibrate(said, people).to_json()
    draw.shuffle(said)
    draw.shuffle(people)
    assert jk.calibrate(said, people).to_json() == as_is


@settings(max_examples=50)
@given(names=st.lists(st.text(max_size=3), min_size=1, max_size=60), seed=SEEDS)
def test_folds_follow_from_names_and_seed_and_are_of_one_size(names: list[str], seed: int) -> None:
    fold = dict(zip(names, cluster_folds(names, seed), strict=True))
    mixed = random.Random(seed).sample(names, len(names))
    assert cluster_folds(mixed, seed) == [fold[name] for name in mixed]
    sizes = [list(fold.values()).count(number) for number in range(5)]
    assert max(sizes) - min(sizes) <= 1


def test_another_seed_deals_other_folds() -> None:
    names = [f"c{n}" for n in range(30)]
    assert cluster_folds(names, 0) != cluster_folds(names, 1)
