from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.assertions import evaluate_assertions, text_metrics
from judgekit.records import Output
from tests.factories import make_case

if TYPE_CHECKING:
    from judgekit.records import AssertionResult

CAT = "the cat sat on the mat"


def one(spec_type: str, text: str, reference: str | None = None, **fields: Any) -> AssertionResult:
    """The result of one assertion."""
    case = make_case(reference=reference)
    return evaluate_assertions(Output(text=text), [{"type": spec_type, **fields}], case=case)[0]


def test_the_edit_distance_is_compared_with_the_threshold() -> None:
    result = one("levenshtein", "kitten", value="sitting", threshold=3)
    assert (result.passed, result.actual) == (True, 3)
    result = one("levenshtein", "kitten", value="sitting", threshold=2)
    assert result.passed is False
    assert result.message == "the edit distance is more than 2, limit 2"


@pytest.mark.parametrize(
    ("text", "value", "passed"),
    [
        ("It is the cat.", "a CAT!", True),
        ("cat", "The cat sat.", True),
        ("cats", "cat", True),
        ("The dog", "cat", False),
        ("a, the!", "", True),
        ("", "cat", False),
    ],
)
def test_one_text_contains_the_other_but_for_case_punctuation_and_articles(
    text: str,
    value: str,
    passed: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert one("text.contains_either", text, value=value).passed is passed


def test_the_ratio_of_characters_is_worked_by_hand() -> None:
    # The longest common subsequence of "kitten" and "sitting" is "ittn": 2 * 4 / (6 + 7).
    assert one("text.character_ratio", "kitten", value="sitting").value == pytest.approx(8 / 13)
    assert one("text.character_ratio", "", value="").value == 1
    assert one("text.character_ratio", "a", value=["b", "a"], threshold=1).passed is True


@pytest.mark.parametrize("n_same", range(1, 11))
def test_a_score_that_is_the_threshold_reaches_it(n_same: int) -> None:
    # 1 of 5 characters is 0.19999999999999996 to rapidfuzz.
    text, value = ("a" * n_same + other * (10 - n_same) for other in "bc")
    found = one("text.character_ratio", text, value=value, threshold=n_same / 10)
    assert found.passed is True, found.value


def test_a_threshold_of_any_size_is_taken() -> None:
    assert one("levenshtein", "kitten", value="sitting", threshold=10**30).actual == 3


def test_rouge_is_worked_by_hand() -> None:
    # 5 of 6 words are shared, 3 of 5 pairs, and the longest common row has 5 words.
    other = "the cat lay on the mat"
    assert one("rouge-n", CAT, value=other).value == pytest.approx(5 / 6)
    assert one("rouge-n", CAT, value=other, n=2).value == pytest.approx(3 / 5)
    assert one("rouge-l", CAT, value=other).value == pytest.approx(5 / 6)


def test_bleu_and_chrf_are_those_of_sacrebleu() -> None:
    # sacrebleu 2.6.0: sentence_bleu("the cat sat on the mat", ["the cat sat on a mat"]).score is
    # 53.7285, sentence_chrf("the cat", ["the cat sat"]).score is 55.7710.
    assert one("bleu", CAT, value="the cat sat on a mat").value == pytest.approx(0.537285, abs=1e-6)
    assert one("chrf", "the cat", value="the cat sat").value == pytest.approx(0.557710, abs=1e-6)
    assert text_metrics.bleu_score(CAT, CAT) == pytest.approx(1)
    assert text_metrics.chrf_score(CAT, CAT) == pytest.approx(1)


@pytest.mark.parametrize("spec_type", ["bleu", "chrf", "rouge-n", "rouge-l"])
def test_the_case_s_reference_is_compared_with_where_nothing_else_is_given(spec_type: str) -> None:
    assert one(spec_type, CAT, reference=CAT).passed is True
    assert one(f"not-{spec_type}", CAT, reference="dogs bark").passed is True
    assert one(spec_type, CAT).error is not None


def test_a_threshold_may_be_set() -> None:
    assert one("rouge-l", CAT, value="the cat", threshold=0.4).passed is True
    assert one("rouge-l", CAT, value="the cat", threshold=0.6).passed is False


@pytest.mark.parametrize("spec_type", ["levenshtein", "rouge-n", "rouge-l"])
def test_a_megabyte_costs_at_most_the_time_limit(spec_type: str) -> None:
    text, other = "ab cd " * 170_000, "cd ba " * 170_000
    fields: dict[str, Any] = {"threshold": 10**6} if spec_type == "levenshtein" else {}
    result = one(spec_type, text, value=other, timeout_s=0.5, **fields)
    assert result.passed is not None or "longer than 0.5 s and was stopped" in result.message


@pytest.mark.parametrize(
    ("text", "other", "share"),
    [
        ("वह गया", "वह गयी", 0.5),  # he went, she went: they differ in a vowel sign
        ("caf\u00e9 noir", "cafe\u0301 noir", 1.0),
        ("cafe\u0301", "cafe", 0.0),
    ],
)
def test_marks_belong_to_their_letters(text: str, other: str, share: float) -> None:
    assert text_metrics.rouge_l_score(text, other) == share
    assert text_metrics.rouge_n_score(text, other, 1, signs=True) == share
    assert (text_metrics.word_ratio(text, other) == 1) is (share == 1)


def test_texts_without_words_share_nothing() -> None:
    assert text_metrics.rouge_n_score("", "", 1) == 0
    assert text_metrics.rouge_l_score("!", "?") == 0
    assert text_metrics.word_ratio("!", "?") == 0
    assert text_metrics.word_ratio(" ? ", "?") == 1


@settings(max_examples=60)
@given(st.text(max_size=40), st.text(max_size=40))
def test_every_score_is_a_share_and_the_same_both_ways(one_text: str, other: str) -> None:
    for measure in (text_metrics.rouge_l_score, text_metrics.word_ratio):
        assert 0 <= measure(one_text, other) <= 1
        assert measure(one_text, other) == pytest.approx(measure(other, one_text))
    assert text_metrics.edit_distance(one_text, other, 99) == text_metrics.edit_distance(
        other, one_text, 99
    )
