"""Turns match results into a ranking: strengths, places with intervals, and a decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import combinations
from math import ceil, comb, fsum, isnan, nan, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError

from judgekit.errors import DatasetError
from judgekit.evaluation.comparison_summary import PairJudgeTally, PairTally, flip_rate, tally_pairs
from judgekit.evaluation.ranking_result import (
    MatchResult,
    PairFigures,
    RankDecision,
    RankedSide,
    RankingProvenance,
    RankingSummary,
    RankRules,
    SegmentWins,
    canonical_match,
    match_result_of,
    sort_matches,
)
from judgekit.evaluation.strengths import fit_of_side, fit_strengths, keeps_lead, significant_order
from judgekit.formats import FileRow, iter_rows, rename_fields, validation_faults
from judgekit.records import Case, CaseStratum, Comparison, Fraction, Name, Record, Winner
from judgekit.stats.estimate import Estimate, cluster_means, undefined_estimate
from judgekit.stats.intervals import clustered_proportion, mean
from judgekit.stats.power import sample_size_paired

if TYPE_CHECKING:
    from judgekit.evaluation.strengths import SignificantOrder, Strengths

_STRATA = {name: place for place, name in enumerate(get_args(CaseStratum))}
# Strengths nearer than this are the same: what is left of Newton's steps is no difference.
_SAME = 1e-9
_SEVERAL = "there are groups of sides that never met"


def rank_matches(
    meetings: Iterable[MatchResult],
    names: Iterable[str] = (),
    *,
    rules: RankRules | None = None,
    questioned: RankingProvenance | None = None,
) -> RankingSummary:
    rules, asked = rules or RankRules(), questioned or RankingProvenance()
    all_matches = sort_matches(meetings)
    sides = sorted({*names, *(m.a for m in all_matches), *(m.b for m in all_matches)})
    rules.check(len(sides))
    known, level = [m for m in all_matches if m.winner is not None], 1 - rules.alpha
    # Each connected group has a fit of its own: strengths of groups that never met have no common
    # zero.
    groups = _groups(sides, known)
    fits = [
        fit_strengths([m for m in known if m.a in group], group, ties=rules.ties, level=level)
        for group in groups
        if len(group) > 1
    ]
    shown = significant_order(known, fits, sides, rules, is_adaptive=asked.is_adaptive)
    ranked = [
        side
        for number, group in enumerate(groups)
        for side in _places(number, group, fits, all_matches, shown)
    ]
    whole = fits[0] if len(groups) == 1 else None
    parameter = nan
    if whole is not None:
        of_ties = {"davidson": whole.fitted.nu, "rao-kupper": whole.fitted.theta}
        parameter = of_ties.get(rules.ties, nan)
    return RankingSummary(
        sides=tuple(ranked),
        pairs=_pairs([side.name for side in ranked], all_matches, fits, shown),
        decision=decide_ranking(ranked, whole, shown, rules, all_matches),
        groups=groups,
        levels=tuple(one for fit in fits if fit.is_separated for one in fit.levels),
        ties=rules.ties,
        tie_share=_tie_share(known),
        tie_parameter=None if whole is None or isnan(parameter) else parameter,
        position=None if whole is None else whole.position,
        position_reason=_SEVERAL if whole is None else whole.position_reason,
        flip_rate=_flip_rate(known, level),
        n_cases=len({m.case_id or place for place, m in enumerate(all_matches)}),
        n_comparisons=len(all_matches),
        n_undecided=len(all_matches) - len(known),
        n_identical=sum(m.is_identical for m in all_matches),
        questioned=asked,
    )


def with_segments(
    summary: RankingSummary, matches: Iterable[MatchResult], cases: Mapping[str, Case]
) -> RankingSummary:
    """A ranking with the wins on the cases of each stratum and tag."""
    known = [(match, cases[match.case_id]) for match in matches if match.case_id in cases]
    strata = ((m, case.stratum) for m, case in known if case.stratum is not None)
    tags = ((m, tag) for m, case in known for tag in case.tags)
    order = [side.name for side in summary.sides]
    level = 1 - summary.decision.alpha
    return replace(
        summary, strata=_segments(strata, order, level), tags=_segments(tags, order, level)
    )


def _segments(
    named: Iterable[tuple[MatchResult, str]], order: Sequence[str], level: float
) -> dict[str, SegmentWins]:
    groups: dict[str, list[MatchResult]] = {}
    for match, name in named:
        groups.setdefault(name, []).append(match)
    return {
        name: SegmentWins(
            n_cases=len({one.case_id for one in groups[name]}),
            win_rates={side: _segment_rate(side, groups[name], level) for side in order},
        )
        # Strata from simple to very complex; tags have no order but the alphabet's.
        for name in sorted(groups, key=lambda one: (_STRATA.get(one, len(_STRATA)), one))
    }


def _segment_rate(side: str, matches: Sequence[MatchResult], level: float) -> Estimate:
    known = [m for m in matches if side in (m.a, m.b) and m.winner is not None]
    if not known:
        return undefined_estimate("no comparison of it is decided", n=0, method="none", level=level)
    shares = [m.preferred if m.a == side else 1 - m.preferred for m in known]
    # Unlike the t interval of all cases, this one has a width where a few shares are equal.
    return clustered_proportion(shares, [m.case_id for m in known], level=level)


def _groups(sides: Sequence[str], known: Sequence[MatchResult]) -> tuple[tuple[str, ...], ...]:
    """Sides that meetings link, the largest groups first."""
    # Strengths of sides that never met, not even by way of others, cannot be compared.
    group = {side: {side} for side in sides}
    for a, b in {(m.a, m.b) for m in known}:
        if group[a] is not group[b]:
            group[a] |= group[b]
            for side in group[b]:
                group[side] = group[a]
    found = {tuple(sorted(members)) for members in group.values()}
    return tuple(sorted(found, key=lambda members: (-len(members), members)))


def _places(
    number: int,
    group: Sequence[str],
    fits: Sequence[Strengths],
    all_matches: Sequence[MatchResult],
    shown: SignificantOrder,
) -> list[RankedSide]:
    fit = fit_of_side(group[0], fits)
    if fit is None:
        return [_unmatched_side(number, group[0])]
    # Rounded: what Newton leaves of a difference must not order equal sides.
    order = sorted(group, key=lambda name: (-round(fit.rating(name), 9), name))
    found = []
    for name in order:
        own = [m for m in all_matches if name in (m.a, m.b)]
        known = [m for m in own if m.winner is not None]
        points = [m.points if m.a == name else 1 - m.points for m in known]
        # Bounds as if all undecided matches were lost, and won.
        n_open, won = len(own) - len(known), fsum(points)
        stronger = sum(shown.better(other, name) for other in group)
        weaker = sum(shown.better(name, other) for other in group)
        found.append(
            RankedSide(
                name=name,
                group=number,
                place=1 + sum(fit.rating(other) > fit.rating(name) + _SAME for other in group),
                # The rank interval counts only sides that are shown to be better or worse (all
                # pairs, Holm).
                best=1 + stronger,
                worst=len(group) - weaker,
                strength=fit.strength(name),
                elo=fit.fitted.elo[fit.names.index(name)],
                win_share=won / len(points),
                bounds=(won / len(own), (won + n_open) / len(own)),
                win_rate=_win_rate(name, known),
                n_comparisons=len(points),
                is_unbeaten=all(point == 1 for point in points),
                is_winless=not any(points),
            )
        )
    return found


def _unmatched_side(number: int, name: str) -> RankedSide:
    reason = "no comparison of it is decided"
    return RankedSide(
        name=name, group=number, place=1, best=1, worst=1,
        strength=undefined_estimate(reason, n=0, method="none"), elo=nan, win_share=nan,
        bounds=(0.0, 1.0), win_rate=undefined_estimate(reason, n=0, method="none"), n_comparisons=0,
        is_unbeaten=False, is_winless=False,
    )  # fmt: skip


def _win_rate(name: str, own: Sequence[MatchResult]) -> Estimate:
    """How far a side is preferred; a comparison that names no case is a case of its own."""
    shares = [m.preferred if m.a == name else 1 - m.preferred for m in own]
    met = [(m.case_id or f"comparison {n}", m.a, m.b) for n, m in enumerate(own)]
    # Repeats share one weight, as in the strengths.
    means = cluster_means(shares, met)
    cases = [case for case, *_ in dict.fromkeys(met)]
    found = mean([*means.values()], clusters=cases if len(set(cases)) < len(cases) else None)
    if found.reason is not None:
        # Equal shares have no spread: an interval of no width would claim certainty.
        return replace(found, low=nan, high=nan, design_effect=nan, se=nan)
    return replace(found, low=max(0.0, found.low), high=min(1.0, found.high))


def _pairs(
    names: Sequence[str],
    all_matches: Sequence[MatchResult],
    fits: Sequence[Strengths],
    shown: SignificantOrder,
) -> tuple[PairFigures, ...]:
    """Every two sides, seen from the one in the better place."""
    tallies, found = tally_pairs(all_matches), []
    for a, b in combinations(names, 2):
        pair = (a, b) if a < b else (b, a)
        tally = tallies.get(pair) or PairTally()
        counts, share = tally.counts(), tally.share()
        if a > b:
            counts = replace(counts, wins=counts.losses, losses=counts.wins)
            share = 1 - share
        fit = fit_of_side(a, fits)
        evidence, p = shown.pairs.get(pair), shown.adjusted.get(pair, nan)
        stronger = a if shown.better(a, b) else b if shown.better(b, a) else None
        found.append(
            PairFigures(
                a=a,
                b=b,
                **asdict(counts),
                share=share,
                expected=fit.expected(a, b) if fit is not None and b in fit.names else nan,
                p=None if evidence is None or isnan(evidence.p) else evidence.p,
                p_adjusted=None if isnan(p) else p,
                evidence="wald" if evidence is None else evidence.evidence,
                stronger=stronger,
            )
        )
    return tuple(found)


def _tie_share(known: Sequence[MatchResult]) -> float:
    shares = [
        fsum(tied for _, _, (_, _, tied) in m.shown()) / 2
        if m.has_both_orders
        else float(m.winner == "tie")
        for m in known
    ]
    return fsum(shares) / len(shares) if shares else nan


def _flip_rate(known: Sequence[MatchResult], level: float) -> Estimate:
    asked = [m for m in known if not m.is_identical and m.has_both_orders]
    cases = [m.case_id or place for place, m in enumerate(asked)]
    flips = [float(m.is_inconsistent) for m in asked]
    return flip_rate(flips, cases, level=level, reason="no comparison was judged in both orders")


def decide_ranking(
    ranked: Sequence[RankedSide],
    fit: Strengths | None,
    shown: SignificantOrder,
    rules: RankRules,
    all_matches: Sequence[MatchResult],
) -> RankDecision:
    """Whether each of the first places is shown to be better than all below it."""
    order = tuple(side.name for side in ranked[: rules.top])
    decision = partial(RankDecision, order=order, alpha=rules.alpha)
    if fit is None:
        met = any(side.n_comparisons for side in ranked)
        reason = "some sides are linked by no decided comparison, not even by way of others"
        reason = reason if met else "no comparison is decided"
        return decision(is_decided=False, reason=reason)
    for place, side in enumerate(ranked[: rules.top]):
        # Only the first open place is reported: those after it depend on it.
        rivals = [o.name for o in ranked[place + 1 :] if not shown.better(side.name, o.name)]
        if rivals:
            more = f" and {len(rivals) - 1} more" if rivals[1:] else ""
            reason = f"place {place + 1} is open between {side.name} and {rivals[0]}{more}"
            share = rules.alpha / comb(len(ranked), 2)
            n_to_decide = _n_to_decide(fit, side.name, rivals[0], share)
            return decision(is_decided=False, reason=reason, n_to_decide=n_to_decide)
    # A ranking that undecided matches could reverse is not called decided, however small its
    # p-values.
    if turned := _turned(order, ranked, rules, all_matches):
        up, down = turned
        reason = f"the undecided comparisons could turn it between {up} and {down}"
        return decision(is_decided=False, reason=reason)
    each = "" if rules.top == 1 else "each "
    below = "all others" if rules.top == 1 else "all below"
    reason = f"{each}shown to be better than {below}"
    return decision(is_decided=True, reason=reason)


def _turned(
    order: Sequence[str],
    ranked: Sequence[RankedSide],
    rules: RankRules,
    all_matches: Sequence[MatchResult],
) -> tuple[str, str] | None:
    """Two sides, one of them in the first places, that what failures left open could turn."""
    if all(meeting.winner is not None for meeting in all_matches):
        return None
    sides = sorted(side.name for side in ranked)
    for place, up in enumerate(order, start=1):
        for down in ranked[place:]:
            if not keeps_lead(all_matches, sides, up, down.name, ties=rules.ties):
                return up, down.name
    return None


def _n_to_decide(fit: Strengths, a: str, b: str, alpha: float) -> int | None:
    """Cases by the normal law, with an error that shrinks with the root of the cases."""
    # `alpha` is the share of the error that the smallest of all p-values has to keep to.
    found = fit.fitted.difference(fit.names.index(a), fit.names.index(b))
    if fit.is_separated or not found.se > 0 or abs(found.value) <= _SAME:
        return None
    # The standard error times the root of n is the spread of one case.
    needed = sample_size_paired(found.value, found.se * sqrt(found.n), alpha=alpha).value
    return max(found.n + 1, ceil(needed))


_ALIASES = {
    "case": "case_id", "question_id": "case_id",
    "model_a": "variant_a", "model_b": "variant_b",
}  # fmt: skip

_WINNERS: dict[str, Winner] = {
    "model_a": "a", "model_b": "b", "A": "a", "B": "b", "tie (bothbad)": "tie",
}  # fmt: skip

_OF_COMPARISONS = "rubric_fingerprint"


class PairWinnerRow(Record):
    """Who won a comparison of two sides, and nothing else."""

    # Public battle files have many other columns; unlike our own rows they are not checked.
    model_config = ConfigDict(extra="ignore")

    variant_a: Name
    variant_b: Name
    winner: Annotated[Winner | None, BeforeValidator(lambda w: _WINNERS.get(str(w), w))]
    probability: Fraction | None = None
    # JSON writers often number their cases.
    case_id: Annotated[Name, Field(coerce_numbers_to_str=True)] | None = None


class MatchCollection:
    """Gathers comparisons of several sides: their matches, who judged, and what failed."""

    def __init__(self) -> None:
        self.matches: list[MatchResult] = []
        self.rubrics: dict[str, str] = {}
        self.judges = PairJudgeTally()
        # Called with each comparison, for pages that show them
        self.watch: Callable[[Comparison], None] = lambda _: None

    def add(self, comparison: Comparison) -> None:
        """Count one more comparison, which names its variants."""
        a, b = comparison.variant_a, comparison.variant_b
        if not a or not b or a == b:
            raise DatasetError(
                f"the comparison is of {a} and {b}",
                case_id=comparison.case_id,
                hint="a ranking needs two names: give both outputs a `variant` of their own",
            )
        self.judges.add(comparison)
        self.watch(comparison)
        # By fingerprint: two rubrics of one name with other criteria are different questions.
        self.rubrics.setdefault(comparison.rubric_fingerprint, comparison.rubric)
        match = match_result_of(comparison, a, b)
        if match is not None:
            self.matches.append(match)

    def provenance(self) -> RankingProvenance:
        judges = self.judges
        # Sorted, since the order of the comparisons in files may change nothing.
        return RankingProvenance(
            rubric=" and ".join(sorted(set(self.rubrics.values()))) or None,
            judges=tuple(sorted(judges.judges)),
            models=tuple(sorted(judges.models)),
            n_errors=judges.n_errors,
            failures=dict(sorted(judges.failures.items())),
            failure_messages=judges.messages,
            rule=judges.rule,
        )


def read_comparisons(
    paths: Iterable[Path], watch: Callable[[Comparison], None] = lambda _: None
) -> MatchCollection:
    # A row is a comparison as `judgekit compare -o` writes it, or names `variant_a`, `variant_b`
    # and the `winner` (`a`, `b`, `tie`), with a `case_id`, and a `probability` that a is better,
    # where these are known. Other columns of such rows are left alone.
    collection = MatchCollection()
    collection.watch = watch
    for path in paths:
        for row in iter_rows(path):
            try:
                _add_row(collection, row)
            except ValidationError as error:
                model = Comparison if _OF_COMPARISONS in row.fields else PairWinnerRow
                fault = validation_faults(error, model, row.fields, synonyms=_ALIASES)[0]
                raise DatasetError(str(fault), path=path, line=row.line) from error
            except DatasetError as error:
                raise DatasetError(
                    error.message, path=path, line=row.line, hint=error.hint
                ) from error
            # Wins by different rubrics answer different questions.
            if len(collection.rubrics) > 1:
                raise DatasetError(
                    f"comparisons by different rubrics: {', '.join(collection.rubrics.values())}",
                    path=path,
                    line=row.line,
                    hint="rank those of each rubric by themselves",
                )
    return collection


def holds_comparisons(path: Path) -> bool:
    first = next(iter_rows(path), None)
    if first is None:
        return False
    fields, _ = rename_fields(first.fields, _ALIASES)
    return {"variant_a", "variant_b"} <= fields.keys()


def _add_row(collection: MatchCollection, row: FileRow) -> None:
    if _OF_COMPARISONS in row.fields:
        collection.add(Comparison.model_validate(row.fields))
        return
    fields, faults = rename_fields(row.fields, _ALIASES)
    if faults:
        raise DatasetError(faults[0].message, hint=faults[0].remedy)
    one = PairWinnerRow.model_validate(fields)
    if one.variant_a == one.variant_b:
        raise DatasetError(f"{one.variant_a} is compared with itself", hint="name two sides")
    sides = one.variant_a, one.variant_b
    meeting = MatchResult(one.case_id or "", *sides, one.winner, False, share=one.probability)
    collection.matches.append(canonical_match(meeting))
