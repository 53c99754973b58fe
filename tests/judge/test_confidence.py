from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from judgekit.scoring import with_repeat_confidence
from tests.factories import make_judgment

VALUES = st.lists(st.floats(0, 1), min_size=2, max_size=6)


@pytest.mark.parametrize(
    ("values", "agreement"),
    [((0.5, 0.5), 1.0), ((0.0, 1.0), 0.0), ((0.5, 1.0), 0.5), ((1, 1, 0, 0), 0.0)],
)
def test_the_agreement_of_repeats_is_one_minus_twice_their_spread(
    values: tuple[float, ...], agreement: float
) -> None:
    found = with_repeat_confidence([make_judgment(value=value) for value in values])
    assert [j.repeat_confidence for j in found] == [pytest.approx(agreement)] * len(values)
    assert [j.value for j in found] == list(values)


@given(VALUES)
def test_agreement_lies_on_0_to_1_and_knows_no_order(values: list[float]) -> None:
    one = with_repeat_confidence([make_judgment(value=value) for value in values])
    other = with_repeat_confidence([make_judgment(value=value) for value in reversed(values)])
    assert one[0].repeat_confidence is not None
    assert 0 <= one[0].repeat_confidence <= 1
    assert one[0].repeat_confidence == pytest.approx(other[0].repeat_confidence)


@given(st.floats(0, 1), st.integers(2, 5))
def test_repeats_that_agree_are_sure(value: float, n: int) -> None:
    found = with_repeat_confidence([make_judgment(value=value)] * n)
    assert found[0].confidence == pytest.approx(1.0)


def test_one_judgment_has_no_repeats_to_agree_with() -> None:
    judgments = (make_judgment(stated_confidence=0.9, confidence=0.9),)
    assert with_repeat_confidence(judgments) == judgments


def test_each_criterion_agrees_with_its_own_repeats_only() -> None:
    found = with_repeat_confidence(
        [make_judgment("style", 0.2, confidence=0.3), make_judgment(value=0), make_judgment()]
    )
    assert [j.criterion for j in found] == ["style", "accuracy", "accuracy"]
    assert (found[0].repeat_confidence, found[0].confidence) == (None, 0.3)
    assert found[1].repeat_confidence == found[2].repeat_confidence == 0.0


def test_repeats_are_trusted_before_probabilities_and_words() -> None:
    sure = make_judgment(confidence=0.2, logprob_confidence=0.2, stated_confidence=0.3)
    assert [j.confidence for j in with_repeat_confidence([sure, sure])] == [1.0, 1.0]


def test_every_confidence_is_kept_beside_the_reported_one() -> None:
    said = make_judgment(logprob_confidence=0.6, stated_confidence=0.9, confidence=0.6)
    found = with_repeat_confidence([said, said])[0]
    kept = (found.repeat_confidence, found.logprob_confidence, found.stated_confidence)
    assert kept == (1.0, 0.6, 0.9)
    assert found.confidence == 1.0
