from __future__ import annotations

import pytest

from judgekit.assertions import (
    SimilaritySettings,
    assertion_registry,
    evaluate_assertions,
    similar_entry,
)
from tests.factories import make_case, make_output

LEXICAL = assertion_registry().plus(similar_entry(SimilaritySettings("lexical")))


def test_a_text_that_is_near_enough_passes_and_says_how_it_was_measured() -> None:
    spec = {"type": "similar", "value": "thirty days", "threshold": 0.9}
    (found,) = evaluate_assertions(make_output("days thirty"), [spec], registry=LEXICAL)
    assert (found.passed, found.value) == (True, 1.0)
    assert found.message == "the similarity is 1.000 (lexical: token sort ratio), 0.9 wanted"


def test_it_may_be_negated_and_compares_with_the_reference() -> None:
    case = make_case(reference="yes")
    found = evaluate_assertions(
        make_output("nothing alike"), [{"type": "similar"}, {"type": "not-similar"}],
        case=case, registry=LEXICAL,
    )  # fmt: skip
    assert [one.passed for one in found] == [False, True]


def test_vectors_are_those_of_the_run() -> None:
    def embed(texts: object) -> list[list[float]]:
        del texts
        return [[1.0, 0.0], [0.6, 0.8]]

    registry = assertion_registry().plus(similar_entry(SimilaritySettings("semantic", embed)))
    spec = {"type": "similar", "value": "x", "threshold": 0.6}
    (found,) = evaluate_assertions(make_output("y"), [spec], registry=registry)
    assert found.passed
    assert found.value == pytest.approx(0.6)
    assert SimilaritySettings("semantic", embed).arguments() == {
        "method": "semantic",
        "embed": embed,
    }
