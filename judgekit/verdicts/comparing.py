"""Decides what the preferences between two outputs come to, per criterion and on the whole."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import TYPE_CHECKING

from judgekit.records.comparison import (
    Comparison,
    CriterionComparison,
    CriterionComparisons,
    JudgeComparison,
    Preference,
)
from judgekit.records.rubric import SAME
from judgekit.verdicts.reconciling import Reconciled, Vote, reconcile, vote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.records.comparison import Order, PreferenceFailure, Rule, Scrubbed, Slot, Winner
    from judgekit.records.rubric import Rubric

    Said = Preference | PreferenceFailure

_SHARES = {"first": 1.0, "tie": 0.5, "second": 0.0}
_EVEN = 0.5


def conclude_comparison(
    rubric: Rubric,
    preferences: Sequence[Preference],
    failures: Sequence[PreferenceFailure] = (),
    *,
    rule: Rule = "consistent",
    case_id: str | None = None,
    variants: tuple[str | None, str | None] = (None, None),
    labels: tuple[str, str] = ("first", "second"),
    scrubbed: tuple[Scrubbed, ...] | None = (),
    is_identical: bool = False,
    error: str | None = None,
) -> Comparison:
    """What judges conclude of two outputs that they saw in both orders."""
    # Each criterion, and the whole, is reconciled by itself. The whole is what the judge was asked
    # of the whole; where it was asked of criteria only, each order and repeat has on the whole the
    # side that its weighted criteria prefer. Of several judges each is reconciled by itself and has
    # one vote (`vote`), on each criterion it was asked about and on the whole.
    said: list[Said] = [*preferences, *failures]
    judges = list(dict.fromkeys(each.judge for each in said))
    own = [[each for each in said if each.judge == judge] for judge in judges]
    wholes = [_whole(rubric, one, rule) for one in own]
    if is_identical:
        criteria = [_EQUAL.on(criterion.name) for criterion in rubric.criteria]
        whole = _EQUAL
    else:
        asked = {each.criterion for each in said}
        criteria = [_on(c.name, own, rule).on(c.name) for c in rubric.criteria if c.name in asked]
        whole = _together(wholes) if wholes else _Part.of((), rule)
    found = whole.on("the whole")
    return Comparison(
        case_id=case_id,
        variant_a=variants[0],
        variant_b=variants[1],
        rubric=rubric.name,
        rubric_fingerprint=rubric.fingerprint,
        **found.model_dump(exclude={"name", "n", "n_failed"}),
        raw_winner=_raw_winner(found),
        rule=rule,
        criteria=CriterionComparisons(criteria),
        judges=_by_judge(judges, wholes),
        agreement=_agreement([one.found.winner for one in wholes]),
        preferences=tuple(preferences),
        failures=tuple(failures),
        is_identical=is_identical,
        labels=labels,
        scrubbed=scrubbed,
        error=error,
    )


_ORDERS: tuple[Order, Order] = ("ab", "ba")


@dataclass(frozen=True, slots=True)
class _Part:
    """What was said on one criterion, or on the whole, and what it comes to."""

    found: Reconciled
    raw_a: float | None = None
    raw_b: float | None = None
    n: int = 0
    n_failed: int = 0

    @classmethod
    def of(cls, said: Sequence[Said], rule: Rule) -> _Part:
        """The reconciled answers of one judge."""
        usable = [each for each in said if isinstance(each, Preference)]
        votes = {order: [_vote(each) for each in said if each.order == order] for order in _ORDERS}
        return cls(
            found=reconcile(votes["ab"], votes["ba"], rule),
            raw_a=_mean(_raw(each, "ab") for each in usable),
            raw_b=_mean(_raw(each, "ba") for each in usable),
            n=len(usable),
            n_failed=len(said) - len(usable),
        )

    def on(self, name: str) -> CriterionComparison:
        """The same as a record."""
        return CriterionComparison(
            name=name,
            winner=self.found.winner,
            consistent=self.found.consistent,
            probability=self.found.probability,
            probability_low=self.found.low,
            probability_high=self.found.high,
            raw_a=self.raw_a,
            raw_b=self.raw_b,
            n=self.n,
            n_failed=self.n_failed,
        )


_EQUAL = _Part(Reconciled("tie", consistent=True, probability=_EVEN, low=_EVEN, high=_EVEN))
"""The same text twice."""


def _on(criterion: str, judges: Iterable[Sequence[Said]], rule: Rule) -> _Part:
    """What the judges come to on a criterion; one that was not asked about it has no vote."""
    own = [[each for each in said if each.criterion == criterion] for said in judges]
    return _together([_Part.of(said, rule) for said in own if said])


def _together(parts: Sequence[_Part]) -> _Part:
    """What several judges come to; of one, what it says."""
    if len(parts) == 1:
        return parts[0]
    return _Part(
        found=vote([part.found for part in parts]),
        raw_a=_mean(part.raw_a for part in parts),
        raw_b=_mean(part.raw_b for part in parts),
        n=sum(part.n for part in parts),
        n_failed=sum(part.n_failed for part in parts),
    )


def _whole(rubric: Rubric, said: Sequence[Said], rule: Rule) -> _Part:
    """What one judge comes to on the whole."""
    own = [each for each in said if each.criterion is None]
    return _Part.of(own, rule) if own else _of_criteria(rubric, said, rule)


def _of_criteria(rubric: Rubric, said: Sequence[Said], rule: Rule) -> _Part:
    """The whole, where only criteria were asked about: each order and repeat has one vote."""
    places = list(dict.fromkeys((each.order, each.repeat) for each in said))
    votes: dict[Order, list[Vote]] = {"ab": [], "ba": []}
    for order, repeat in places:
        there = [each for each in said if (each.order, each.repeat) == (order, repeat)]
        votes[order].append(_weighted_vote(rubric, there))
    counting = [c for c in rubric.criteria if c.weight > 0] or rubric.criteria
    parts = [
        (c.weight or 1.0, _Part.of([s for s in said if s.criterion == c.name], rule))
        for c in counting
    ]
    return _Part(
        found=reconcile(votes["ab"], votes["ba"], rule),
        raw_a=_weighted_mean([(weight, part.raw_a) for weight, part in parts]),
        raw_b=_weighted_mean([(weight, part.raw_b) for weight, part in parts]),
    )


def _by_judge(judges: Sequence[str], wholes: Sequence[_Part]) -> tuple[JudgeComparison, ...]:
    if len(judges) == 1:
        return ()
    return tuple(
        JudgeComparison(
            judge=judge,
            winner=part.found.winner,
            consistent=part.found.consistent,
            probability=part.found.probability,
        )
        for judge, part in zip(judges, wholes, strict=True)
    )


def _agreement(winners: Iterable[Winner | None]) -> float | None:
    """Share of the pairs of judges with the same winner."""
    pairs = list(combinations([each for each in winners if each is not None], 2))
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else None


def _weighted_vote(rubric: Rubric, said: Sequence[Said]) -> Vote:
    """The side that the weighted criteria of one order prefer; a failure where one is missing."""
    shares: list[tuple[float, float, float]] = []
    for criterion in rubric.criteria:
        own = [each for each in said if each.criterion == criterion.name]
        votes = [_vote(each) for each in own]
        if criterion.weight <= 0 or not votes:
            continue
        choice = votes[0].choice
        if choice is None:
            return Vote(None)
        share = _SHARES[choice]
        exact = share if votes[0].share is None else votes[0].share
        shares.append((criterion.weight, share, exact))
    total = fsum(weight for weight, _, _ in shares)
    if not total:
        return Vote(None)
    chosen = fsum(weight * share for weight, share, _ in shares) / total
    return Vote(_side(chosen), fsum(weight * exact for weight, _, exact in shares) / total)


def _side(share: float) -> Slot:
    if abs(share - _EVEN) <= SAME:
        return "tie"
    return "first" if share > _EVEN else "second"


def _vote(said: Said) -> Vote:
    return Vote(said.choice, said.logprob_first) if isinstance(said, Preference) else Vote(None)


def _raw(said: Preference, order: Order) -> float | None:
    """The score of output a (for `ab`) or of output b (for `ba`)."""
    return said.raw_first if said.order == order else said.raw_second


def _mean(raws: Iterable[float | None]) -> float | None:
    return _weighted_mean([(1.0, raw) for raw in raws])


def _weighted_mean(raws: Iterable[tuple[float, float | None]]) -> float | None:
    known = [(weight, raw) for weight, raw in raws if raw is not None]
    total = fsum(weight for weight, _ in known)
    return fsum(weight * raw for weight, raw in known) / total if known else None


def _raw_winner(whole: CriterionComparison) -> Winner | None:
    if whole.raw_a is None or whole.raw_b is None:
        return None
    if abs(whole.raw_a - whole.raw_b) <= SAME:
        return "tie"
    return "a" if whole.raw_a > whole.raw_b else "b"
