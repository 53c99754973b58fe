from __future__ import annotations

import itertools

import pytest

from judgekit.assertions.outcomes import case_repeats, flaky_cases, pass_at, pass_hat
from judgekit.errors import NotEnoughDataError

TEN = [True] * 3 + [False] * 7


def test_the_answers_of_a_case_are_counted_and_undecided_ones_apart() -> None:
    (case,) = case_repeats({"a": [True, None, False, True]})
    assert (case.n, case.n_passed, case.n_undecided) == (3, 2, 1)
    assert case.rate == pytest.approx(2 / 3)
    (open_case,) = case_repeats({"a": [None]})
    assert open_case.rate is None
    assert not open_case.is_flaky


def test_a_case_is_flaky_when_it_neither_always_nor_never_passes() -> None:
    answers: dict[str, list[bool | None]] = {
        "always": [True] * 3,
        "never": [False],
        "seldom": [*TEN],
        "even": [True, False, None],
    }
    assert [case.case_id for case in flaky_cases(answers)] == ["even", "seldom"]


def test_pass_at_k_is_the_unbiased_estimate_of_chen_2021() -> None:
    assert pass_at({"a": TEN, "b": TEN}, 5).estimate.value == pytest.approx(0.916666666667)
    assert pass_at({"a": TEN, "b": TEN}, 1).estimate.value == pytest.approx(0.3)


def test_pass_hat_k_asks_that_all_of_k_pass() -> None:
    found = pass_hat({"a": [True, True, False], "b": [True, True, True]}, 2)
    assert found.estimate.value == pytest.approx((1 / 3 + 1) / 2)
    assert found.estimate.n == 2


def test_cases_with_too_few_decided_answers_are_left_out_and_bound_the_rate() -> None:
    found = pass_hat({"a": [True, True], "b": [True, None], "c": [False]}, 2)
    assert found.left_out == ("b", "c")
    assert found.estimate.n == 1
    assert (found.worst, found.best) == (0.5, 1.0)


@pytest.mark.parametrize("answers", [{}, {"a": []}, {"a": [None, None]}])
def test_too_few_answers_are_an_error(answers: dict[str, list[bool | None]]) -> None:
    with pytest.raises(NotEnoughDataError, match="no case has 2 decided answers"):
        pass_at(answers, 2)


def test_k_is_at_least_one() -> None:
    with pytest.raises(ValueError, match="k is 1 or more, not 0"):
        pass_hat({"a": [True]}, 0)


@pytest.mark.parametrize(
    ("n_passed", "n", "k"),
    [(c, n, k) for n in range(1, 6) for c in range(n + 1) for k in range(1, n + 1)],
)
def test_pass_of_k_is_the_mean_over_all_choices_of_k_answers(n_passed: int, n: int, k: int) -> None:
    answers = [True] * n_passed + [False] * (n - n_passed)
    chosen = list(itertools.combinations(answers, k))
    some, every = pass_at({"a": answers}, k), pass_hat({"a": answers}, k)
    assert some.estimate.value == pytest.approx(sum(map(any, chosen)) / len(chosen))
    assert every.estimate.value == pytest.approx(sum(map(all, chosen)) / len(chosen))
    assert every.worst <= every.estimate.value + 1e-9
