from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.assertions import LEXICAL, WORDLLAMA, UndecidedError, score_output
from judgekit.assertions.builtin.text_similarity import _wordllama, cosine
from judgekit.records import Output
from tests.factories import make_case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records import Score

REFERENCE = "It may be returned within thirty days."


def score(text: str = "Within thirty days it may be returned!", **spec: Any) -> Score:
    """The similarity of a text and the case's reference."""
    case = make_case(reference=REFERENCE)
    return score_output(Output(text=text), [{"type": "similarity", **spec}], case=case).scores[0]


def letters(texts: Sequence[str]) -> list[list[float]]:
    """Counts of a few letters, as an embedding."""
    return [[float(text.count(letter)) for letter in "aeiou"] for text in texts]


def test_without_anything_else_words_are_compared_and_named_so() -> None:
    found = score()
    assert (found.value, found.method) == (1, LEXICAL)
    assert score(text="No idea.").value == pytest.approx(0.3, abs=0.2)


def test_a_reference_may_be_given() -> None:
    assert score(reference="within thirty days it may be returned").value == 1


def test_without_a_reference_there_is_no_score() -> None:
    found = score_output(Output(text="a"), ["similarity"], case=make_case()).scores[0]
    assert "there is nothing to compare with" in str(found.error)


def test_an_embedding_that_is_handed_in_is_used_and_named() -> None:
    found = score(text=REFERENCE, embed=letters)
    assert found.value == pytest.approx(1)
    assert found.method == "semantic: letters"
    assert score(embed=letters, method="lexical").method == LEXICAL


def test_an_opposite_direction_scores_0_and_keeps_its_cosine() -> None:
    found = score(embed=lambda texts: [[1.0, 0.0], [-1.0, 0.0]][: len(texts)])
    assert (found.value, found.raw) == (0, -1)


def test_vectors_that_do_not_compare_are_an_error() -> None:
    assert "has no embedding" in str(score(embed=lambda _: [[0.0], [1.0]]).error)
    with pytest.raises(UndecidedError, match="of 1 and 2 numbers do not compare"):
        cosine([1.0], [1.0, 2.0])


def test_without_the_extra_words_are_compared_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    _wordllama.cache_clear()
    monkeypatch.setitem(sys.modules, "wordllama", None)
    assert score(method="best").method == LEXICAL
    assert "judgekit-llm[semantic]" in str(score(method="semantic").error)


def test_the_extra_compares_meanings_offline() -> None:
    pytest.importorskip("wordllama")
    near = score(text="You can send it back for a month.", method="semantic")
    far = score(text="The orchestra tuned its violins.", method="best")
    assert near.method == far.method == WORDLLAMA
    assert (near.value or 0) > (far.value or 0) + 0.1
