from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from judgekit.models import ScoreDistribution, score_distribution
from judgekit.models.request import ModelReply, TokenLogprob

FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
TEN = tuple(float(n) for n in range(1, 11))


def token(text: str, **others: float) -> TokenLogprob:
    """A token; `others` are the probabilities of the alternatives, itself under `p`."""
    p = others.pop("p", 1.0)
    return weighed(text, p, others)


def weighed(text: str, p: float, others: dict[str, float]) -> TokenLogprob:
    top = {text: p, **others}
    return TokenLogprob(
        token=text, logprob=math.log(p), top=tuple((t, math.log(q)) for t, q in top.items())
    )


def reply(
    *tokens: TokenLogprob, before: str = '{"rationale": "ok", "score":', end: str = "}"
) -> ModelReply:
    every = (token(before), *tokens, token(end))
    return ModelReply(text="".join(t.token for t in every), logprobs=every)


def read(found: ScoreDistribution | None) -> dict[float, float]:
    assert found is not None
    return {point: round(p, 6) for point, p in found.probabilities}


def test_the_score_token_gives_the_weighted_score() -> None:
    found = score_distribution(reply(weighed(" 5", 0.6, {" 4": 0.2, " 3": 0.1})), FIVE)
    assert found is not None
    assert found.expected_raw == pytest.approx((5 * 0.6 + 4 * 0.2 + 3 * 0.1) / 0.9)
    assert found.confidence == pytest.approx(0.6 / 0.9)
    assert found.mass == pytest.approx(0.9)
    assert sum(p for _, p in found.probabilities) == pytest.approx(1)


def test_surfaces_of_the_same_score_are_added_up() -> None:
    others = {"5": 0.1, '"5': 0.1, " 5,": 0.05, "5.0": 0.05, " 4": 0.2, "Paris": 0.1}
    found = score_distribution(reply(weighed(" 5", 0.4, others)), FIVE)
    assert read(found)[5.0] == pytest.approx(0.7 / 0.9, abs=1e-6)
    assert found is not None
    assert found.mass == pytest.approx(0.9)


def test_the_given_score_may_be_less_likely_than_another() -> None:
    found = score_distribution(reply(weighed(" 2", 0.1, {" 4": 0.4})), FIVE)
    assert found is not None
    assert found.confidence == pytest.approx(0.2)
    assert found.expected_raw == pytest.approx(3.6)


def test_tokens_that_are_no_score_lower_the_mass_only() -> None:
    others = {" 9": 0.2, " null": 0.2, ' "': 0.1, " ": 0.1, " -": 0.02, " 1.2.3,": 0.03}
    found = score_distribution(reply(weighed(" 5", 0.2, others)), FIVE)
    assert read(found) == {1: 0, 2: 0, 3: 0, 4: 0, 5: 1}
    assert found is not None
    assert found.mass == pytest.approx(0.2)


def test_a_score_in_quotes_or_glued_to_its_neighbours_is_read() -> None:
    quoted = reply(weighed(' "5', 0.5, {' "4': 0.5}), end='"}')
    assert read(score_distribution(quoted, FIVE))[4] == 0.5
    glued = reply(weighed('": 5}', 0.5, {'": 4}': 0.5}), before='{"score', end="\n")
    assert read(score_distribution(glued, FIVE))[4] == 0.5


def test_a_decimal_is_followed_to_the_token_where_the_scores_part() -> None:
    found = score_distribution(
        reply(
            weighed(" 0", 0.8, {" 1": 0.2}),
            weighed(".", 0.9, {"}": 0.1}),
            weighed("75", 0.5, {"25": 0.3, "5": 0.2}),
        ),
        QUARTERS,
    )
    assert read(found) == {0: 0.08, 0.25: 0.216, 0.5: 0.144, 0.75: 0.36, 1: 0.2}
    assert found is not None
    assert found.mass == pytest.approx(1)
    assert found.confidence == pytest.approx(0.36)


def test_a_ten_in_two_tokens_is_told_from_a_one() -> None:
    ten = reply(weighed(" 1", 0.6, {" 9": 0.4}), weighed("0", 0.75, {"}": 0.25}))
    assert read(score_distribution(ten, TEN)) | {} == {
        **dict.fromkeys(TEN, 0.0), 1.0: 0.15, 9.0: 0.4, 10.0: 0.45
    }  # fmt: skip
    one = reply(weighed(" 1", 0.6, {" 9": 0.4}), end="}")
    closing = one.model_copy(
        update={"logprobs": (*(one.logprobs or ())[:2], weighed("}", 0.25, {"0": 0.75}))}
    )
    assert read(score_distribution(closing, TEN))[10.0] == 0.45


def test_a_token_that_may_begin_several_scores_makes_the_answer_none() -> None:
    assert score_distribution(reply(weighed(" 7", 0.8, {" 1": 0.2})), TEN) is None
    found = score_distribution(reply(weighed(" 7", 0.8, {" 1": 0.001, " 8": 0.199})), TEN)
    assert read(found)[8.0] == pytest.approx(0.199 / 0.999, abs=1e-6)


def test_an_empty_token_ends_the_number() -> None:
    cut = reply(weighed(" 1", 0.5, {" 2": 0.5}), end="")
    assert read(score_distribution(cut, TEN))[1.0] == 0.5


def test_a_reply_that_stops_where_a_score_may_go_on_has_no_distribution() -> None:
    tokens = (token('{"score":'), weighed(" 1", 0.5, {" 2": 0.5}))
    assert score_distribution(ModelReply(text='{"score": 1', logprobs=tokens), TEN) is None


def test_a_space_or_a_quote_after_the_digits_ends_the_number() -> None:
    ten = reply(weighed(" 1", 1.0, {}), weighed("0", 0.5, {" 0": 0.3, '"': 0.2}))
    assert read(score_distribution(ten, TEN))[1.0] == 0.5


def test_the_last_score_of_the_reply_counts_and_one_quoted_in_a_rationale_does_not() -> None:
    before = r'{"rationale": "it says \"score\": 1", "score": 2, "score":'
    assert read(score_distribution(reply(weighed(" 5", 0.5, {" 4": 0.5}), before=before), FIVE))[5]


def test_negative_scores_and_scores_without_a_leading_zero_are_read() -> None:
    found = score_distribution(
        reply(weighed(" -", 0.5, {" 1": 0.5}), weighed("1", 1.0, {})), (-1.0, 0.0, 1.0)
    )
    assert read(found) == {-1: 0.5, 0: 0, 1: 0.5}
    half = score_distribution(reply(weighed(" 1", 0.5, {" .5": 0.5})), (0.5, 1.0))
    assert read(half)[0.5] == 0.5


def test_without_logprobs_or_alternatives_nothing_is_said() -> None:
    assert score_distribution(ModelReply(text='{"score": 5}'), FIVE) is None
    assert score_distribution(reply(weighed(" 5", 0.5, {})), FIVE) is None
    assert read(score_distribution(reply(weighed(" 5", 0.999, {})), FIVE))[5] == 1


@pytest.mark.parametrize(
    "broken",
    [
        reply(token(" five")),
        reply(token(" 7")),
        reply(token(" 5"), before="{"),
        reply(token(" 5e1")),
        reply(token(" 1"), before='{"score":', end="."),
        reply(token(" 5")).model_copy(update={"text": '{"score": 4}'}),
        reply(token(" 5")).model_copy(update={"text": None}),
        reply(weighed('{"score": 5', 0.5, {"x": 0.5}), before=""),
    ],
)
def test_a_reply_whose_score_cannot_be_placed_has_no_distribution(broken: ModelReply) -> None:
    assert score_distribution(broken, FIVE) is None


def test_a_score_that_was_all_but_impossible_has_no_distribution() -> None:
    never = TokenLogprob(token=" 5", logprob=-9999, top=((" 5", -9999), ("x", -0.1)))
    assert score_distribution(reply(never), FIVE) is None


@given(st.lists(st.floats(0.001, 1), min_size=5, max_size=5), st.integers(0, 4), st.floats(0.05, 1))
def test_the_result_is_a_distribution_over_the_points(
    weights: list[float], given_at: int, total: float
) -> None:
    shares = [w / sum(weights) * total for w in weights]
    given_token = str(given_at + 1)
    others = {str(i + 1): p for i, p in enumerate(shares) if i != given_at}
    found = score_distribution(reply(weighed(given_token, shares[given_at], others)), FIVE)
    assert found is not None
    assert math.isclose(sum(p for _, p in found.probabilities), 1)
    assert 1 <= found.expected_raw <= 5
    assert math.isclose(found.mass, total)
    assert math.isclose(found.confidence, shares[given_at] / total)
