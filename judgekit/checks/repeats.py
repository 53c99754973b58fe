"""What several answers to the same case come to: pass@k, pass^k, and cases that are flaky."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.errors import NotEnoughDataError
from judgekit.stats.variance import mean_pass_k, pass_at_k, pass_hat_k

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judgekit.stats.estimate import Estimate


@dataclass(frozen=True, slots=True)
class CaseRepeats:
    """The answers to one case."""

    case_id: str
    """The case."""

    n: int
    """Answers of which it is decided whether they pass."""

    n_passed: int
    """Answers that pass."""

    n_undecided: int
    """Answers of which it is not decided."""

    @property
    def rate(self) -> float | None:
        """Share of the decided answers that pass; None where none is decided."""
        return self.n_passed / self.n if self.n else None

    @property
    def is_flaky(self) -> bool:
        """Whether some answers pass and some do not."""
        return 0 < self.n_passed < self.n


@dataclass(frozen=True, slots=True)
class PassOfK:
    """pass@k or pass^k over the cases, with what is open about it."""

    k: int
    """How many tries are allowed, or all have to pass."""

    estimate: Estimate
    """The mean over the cases with at least k decided answers, with an interval over cases."""

    worst: float
    """What it would be if every undecided answer had failed."""

    best: float
    """What it would be if every undecided answer had passed."""

    left_out: tuple[str, ...]
    """Cases with fewer than k decided answers; they are in neither mean nor interval."""


def case_repeats(passed: Mapping[str, Sequence[bool | None]]) -> tuple[CaseRepeats, ...]:
    """The answers to each case, counted."""
    return tuple(
        CaseRepeats(
            case_id,
            n=sum(one is not None for one in answers),
            n_passed=sum(one is True for one in answers),
            n_undecided=sum(one is None for one in answers),
        )
        for case_id, answers in passed.items()
    )


def flaky_cases(passed: Mapping[str, Sequence[bool | None]]) -> tuple[CaseRepeats, ...]:
    """The cases that neither always nor never pass, most undecisive first."""
    flaky = [case for case in case_repeats(passed) if case.is_flaky]
    return tuple(sorted(flaky, key=lambda case: abs((case.rate or 0.0) - 0.5)))


def pass_at(passed: Mapping[str, Sequence[bool | None]], k: int, *, level: float = 0.95) -> PassOfK:
    """pass@k: the chance that at least one of k answers to a case passes."""
    return _of_k(passed, k, every=False, level=level)


def pass_hat(
    passed: Mapping[str, Sequence[bool | None]], k: int, *, level: float = 0.95
) -> PassOfK:
    """pass^k: the chance that all of k answers to a case pass."""
    return _of_k(passed, k, every=True, level=level)


def _of_k(
    passed: Mapping[str, Sequence[bool | None]], k: int, *, every: bool, level: float
) -> PassOfK:
    if k < 1:
        raise ValueError(f"k is 1 or more, not {k}")
    cases = case_repeats(passed)
    counted = [case for case in cases if case.n >= k]
    if not counted:
        most = max((case.n for case in cases), default=0)
        raise NotEnoughDataError(
            f"no case has {k} decided answers; the most any has is {most}",
            hint=f"answer each case at least {k} times, or take a smaller k",
        )
    estimate = mean_pass_k([(c.n, c.n_passed) for c in counted], k, every=every, level=level)
    rule = pass_hat_k if every else pass_at_k
    left_out = tuple(case.case_id for case in cases if case.n < k)
    worst = _mean(cases, k, lambda n, c, _: rule(n, c, k).value)
    best = _mean(cases, k, lambda n, c, u: rule(n, c + u, k).value)
    return PassOfK(k, estimate, worst, best, left_out)


def _mean(cases: Sequence[CaseRepeats], k: int, of: Callable[[int, int, int], float]) -> float:
    """The mean over all cases that were answered k times, decided or not."""
    values = [
        of(case.n + case.n_undecided, case.n_passed, case.n_undecided)
        for case in cases
        if case.n + case.n_undecided >= k
    ]
    return sum(values) / len(values)
