"""What a grading or a comparison would ask and cost, worked out before anything is paid."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, TypedDict

from judgekit.evaluation.planning.counting import Counting, judge_reply_tokens, reply_tokens
from judgekit.judge.pair_panel import PairPanel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.evaluation.comparing.pairing import Paired
    from judgekit.judge.judge import Judge
    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.records.rubric import Rubric


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingPlan:
    """What one judge would be asked."""

    n_questions: int
    """Questions, repeats included; equal ones count once."""

    n_owned: int
    """Of them, replies that the cache holds already."""

    model: str
    """Who would be asked."""

    template: str
    """With which template."""

    input_tokens: int
    """Tokens that would be sent for what is not owned."""

    output_tokens: tuple[int, int]
    """Tokens that would come back: likely, and at most."""

    token_source: str
    """How the tokens were counted."""

    price_usd: tuple[float, float] | None
    """What it would cost, likely and at most, in US dollars; None where the price is unknown."""

    saved_usd: float
    """What the owned replies cost when they were bought, as far as known."""

    @property
    def n_calls(self) -> int:
        """Calls that would be made, if every reply is readable at first."""
        return self.n_questions - self.n_owned


@dataclass(frozen=True, slots=True, kw_only=True)
class GradePlan(AskingPlan):
    """What a grading would ask."""

    n_outputs: int
    """Outputs to be graded."""

    n_skipped: int
    """Outputs that are errors of the system under test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPlan(AskingPlan):
    """What a comparison would ask, each pair in both orders."""

    n_pairs: int
    """Pairs of outputs to be compared."""

    n_identical: int
    """Of them, pairs of the same text: ties, nobody is asked."""

    n_skipped: int
    """Of them, pairs with an output that is an error; they are not judged."""


def plan_grading(
    judge: Judge, answers: Iterable[tuple[Case, Output]], rubric: Rubric, *, refresh: bool = False
) -> GradePlan:
    """Work out what a grading would ask and cost; asks nothing."""
    n_outputs = n_skipped = 0
    counting = Counting(judge.connection, refresh=refresh)
    for case, output in answers:
        n_outputs += 1
        n_skipped += output.error is not None
        for request in judge.requests(case, output, rubric):
            counting.take(request, judge_reply_tokens(request, rubric))
    return GradePlan(
        n_outputs=n_outputs,
        n_skipped=n_skipped,
        template=judge.template.id,
        **_asking(counting),
    )


def plan_comparing(
    judge: Judge | PairPanel,
    pairs: Iterable[Paired],
    rubric: Rubric,
    *,
    names: Iterable[str] = (),
    refresh: bool = False,
) -> ComparisonPlan:
    """Work out what comparing pairs would ask and cost, both orders included; asks nothing."""
    n_pairs = n_identical = n_skipped = 0
    panel, given = PairPanel.of(judge), tuple(names)
    countings = [Counting(one.connection, refresh=refresh) for one in panel.judges]
    for pair in pairs:
        n_pairs += 1
        if pair.a.error is not None or pair.b.error is not None:
            n_skipped += 1
            continue
        seen = panel.comparers[0].seen(pair.a, pair.b, given)
        n_identical += seen.is_identical
        for counting, comparer in zip(countings, panel.comparers, strict=True):
            for question in comparer.questions(pair.case, seen, rubric):
                counting.take(question.request, reply_tokens(question.request, len(question.asked)))
    return ComparisonPlan(
        n_pairs=n_pairs,
        n_identical=n_identical,
        n_skipped=n_skipped,
        template=", ".join(dict.fromkeys(comparer.template.id for comparer in panel.comparers)),
        **_together([_asking(counting) for counting in countings]),
    )


class _Asked(TypedDict):
    """What both plans have in common, as it was counted."""

    n_questions: int
    n_owned: int
    model: str
    input_tokens: int
    output_tokens: tuple[int, int]
    token_source: str
    price_usd: tuple[float, float] | None
    saved_usd: float


def _asking(counting: Counting) -> _Asked:
    likely, most = counting.likely(), counting.most()
    is_priced = likely.price_usd is not None and most.price_usd is not None
    return _Asked(
        n_questions=counting.n_questions,
        n_owned=counting.n_owned,
        model=counting.connection.name,
        input_tokens=likely.input_tokens,
        output_tokens=(likely.output_tokens, most.output_tokens),
        token_source=counting.counted_by,
        price_usd=(likely.price_usd or 0.0, most.price_usd or 0.0) if is_priced else None,
        saved_usd=counting.saved_usd,
    )


def _together(asked: list[_Asked]) -> _Asked:
    """What several judges would be asked; the price is known where that of each is."""
    prices = [one["price_usd"] for one in asked if one["price_usd"] is not None]
    is_priced = len(prices) == len(asked)
    likely, most = zip(*(one["output_tokens"] for one in asked), strict=True)
    return _Asked(
        n_questions=sum(one["n_questions"] for one in asked),
        n_owned=sum(one["n_owned"] for one in asked),
        model=", ".join(one["model"] for one in asked),
        input_tokens=sum(one["input_tokens"] for one in asked),
        output_tokens=(sum(likely), sum(most)),
        token_source=", ".join(dict.fromkeys(one["token_source"] for one in asked)),
        price_usd=(fsum(p[0] for p in prices), fsum(p[1] for p in prices)) if is_priced else None,
        saved_usd=fsum(one["saved_usd"] for one in asked),
    )
