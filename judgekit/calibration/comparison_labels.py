"""Corrects a comparison of two sides by human labels of some of its cases.

The labels are joined in `pairs` (which of two outputs is better) and `join` (scores); the
estimators are those of `correction`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, isnan
from typing import TYPE_CHECKING

from judgekit.calibration.correction import CorrectedFigure, correct_figure
from judgekit.calibration.inputs import (
    CalibrationOptions,
    OutputKey,
    PairJudgment,
    PairwiseData,
    PointwiseData,
    pair_key,
)
from judgekit.calibration.items import AlignedItems, JudgedItem, mean_rating
from judgekit.calibration.join import WHOLE_OUTPUT, CalibrationData, join_labels
from judgekit.calibration.pairs import join_pairs
from judgekit.errors import NotEnoughDataError
from judgekit.evaluation import (
    BetterSide,
    ComparisonDecision,
    ComparisonSummary,
    OutputPair,
    ScoreComparison,
    SideScores,
)
from judgekit.records import ComparedPair, Comparison, Rubric, Scale, Winner
from judgekit.stats.estimate import Estimate, carried, cluster_means, undefined_estimate
from judgekit.stats.quantiles import SLACK

if TYPE_CHECKING:
    from judgekit.datasets import LocatedLabel

# Below, the interval of a corrected mean is too short (`stats.ppi`), and there is none at all.
_FEWEST = 20
_UNIT = Scale(min=0, max=1)
_EVEN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledComparison:
    """The result of a comparison, corrected by human labels of some of its cases.

    Attributes:
        decision: Rests on the corrected overall figure.
        is_scores: Whether the figures are differences of scores, B less A, in [-1, 1]; else they
            are A's shares of wins, in [0, 1].
        whole: The overall figure; None where no label is of the whole. `corrected` is nan with a
            reason where the labels do not allow it, and is the human figure where every case has a
            label.
        criteria: The figures of the criteria that have labels; they decide nothing.
        n_not_judged: Labels that belong to none of the outputs that are compared, with examples.
    """

    decision: ComparisonDecision
    judge_decision: ComparisonDecision
    is_scores: bool
    whole: CorrectedFigure | None
    criteria: dict[str, CorrectedFigure]
    n_labels: int
    n_not_judged: int
    not_judged: tuple[str, ...]
    notes: tuple[str, ...] = ()


def check_winner_labels(
    pairs: Iterable[OutputPair],
    rubric: Rubric,
    labels: Sequence[LocatedLabel],
    options: CalibrationOptions,
) -> None:
    """Refuse labels that are invalid or too few, before a judge is called about any pair."""
    data = join_pairs(_judged_pairs(pairs, {}, rubric), labels, options)
    whole = _whole_of(data, is_single=len(rubric.criteria) == 1)
    _require_labels(() if whole is None else whole.items, "which output is better overall")


def correct_wins(
    pairs: Iterable[OutputPair],
    judged: Iterable[tuple[ComparedPair | OutputPair, Comparison]],
    rubric: Rubric,
    labels: Sequence[LocatedLabel],
    summary: ComparisonSummary,
    options: CalibrationOptions,
) -> LabelledComparison:
    """Correct A's share of wins in a blind comparison; `pairs` are all of them, judged or not."""
    found = {(pair.case.id, pair.repeat): comparison for pair, comparison in judged}
    data = join_pairs(_judged_pairs(pairs, found, rubric), labels, options)
    whole = _whole_of(data, is_single=len(rubric.criteria) == 1)
    parts = {} if whole is None else {WHOLE_OUTPUT: whole}
    parts |= {part.name: part for part in data.criteria if part is not whole and part.both}
    figures = {name: _figure(part, "win rate of a", options) for name, part in parts.items()}
    n_pairs, n_undecided = summary.whole.n_pairs, summary.whole.n_undecided
    undecided = n_undecided / n_pairs if n_pairs else 0.0
    return _labelled(figures, summary.decision, [data], undecided=undecided, is_scores=False)


def correct_scores(
    compared: ScoreComparison,
    sides: tuple[SideScores, SideScores],
    judged: tuple[PointwiseData, PointwiseData],
    labels: tuple[Sequence[LocatedLabel], Sequence[LocatedLabel]],
    options: CalibrationOptions,
) -> LabelledComparison:
    """Correct the difference of the scores of two sides, B less A."""
    # `labels` are those of the outputs of A, and of B. A case counts as labelled where both of its
    # outputs have a score.
    for name, own in zip((compared.a, compared.b), labels, strict=True):
        if not own:
            raise NotEnoughDataError(
                f"no label is of an output of {name}, and a difference needs labels of both sides"
            )
    data = [join_labels(*one, options) for one in zip(judged, labels, strict=True)]
    human = [_human_values(*one) for one in zip(data, judged, strict=True)]
    a, b = sides
    scored = {WHOLE_OUTPUT: (a.values, b.values)}
    names = [name for name in compared.criteria if name in human[0] and name in human[1]]
    scored |= {name: (a.criteria[name], b.criteria[name]) for name in names}
    parts = {
        name: _differences(name, points, (human[0].get(name, {}), human[1].get(name, {})))
        for name, points in scored.items()
    }
    _require_labels(parts[WHOLE_OUTPUT].items, "the overall value of both outputs")
    figures = {n: _figure(p, "difference", options) for n, p in parts.items() if p.items}
    undecided = compared.n_unscored / len(a.cases & b.cases)
    return _labelled(figures, compared.decision, data, undecided=undecided, is_scores=True)


def labels_of_sides(
    labels: Sequence[LocatedLabel], variants: tuple[str, str], names: tuple[str, str]
) -> tuple[list[LocatedLabel], list[LocatedLabel]]:
    """The labels of the outputs of A and of B; those of other variants are in neither.

    A label names the side's variant, the side as it is named in the command, or `a` or `b`.
    """
    # A variant's own name comes first: a variant may be called `b` and stand in place a.
    known: dict[str, int | None] = {"a": 0, "b": 1}
    known |= {name: side for side, name in enumerate(names)}
    known |= {variants[0]: None, variants[1]: None} if variants[0] == variants[1] else {
        name: side for side, name in enumerate(variants)
    }  # fmt: skip
    found: tuple[list[LocatedLabel], list[LocatedLabel]] = ([], [])
    for placed in labels:
        name = placed.label.variant
        side = None if name is None else known.get(name)
        if name is None or (side is None and name in known):
            what = "it does not name its variant" if name is None else f"both sides are {name!r}"
            choices = "a, b" if variants[0] == variants[1] else ", ".join(variants)
            raise placed.fault(what, f'write the side as its "variant": {choices}')
        if side is not None:
            label = placed.label.model_copy(update={"variant": variants[side]})
            found[side].append(replace(placed, label=label))
    return found


def _judged_pairs(
    pairs: Iterable[OutputPair], found: Mapping[tuple[str, int], Comparison], rubric: Rubric
) -> PairwiseData:
    """Every pair that can be judged, with its winner as far as it has one."""
    data = PairwiseData()
    names = [criterion.name for criterion in rubric.criteria]
    # Of a single criterion the winner is that of the whole; one figure, whichever a label names.
    keys = names if len(names) == 1 else [None, *names]
    for pair in pairs:
        if pair.a.error or pair.b.error:
            data.n_errors += 1
            continue
        place = pair_key(pair.case.id, pair.a.variant, pair.b.variant, pair.repeat)
        comparison = found.get((pair.case.id, pair.repeat))
        for key in keys:
            winner = _winner(comparison, key if len(names) > 1 else None)
            data.pairs.append(PairJudgment(place=place, criterion=key, choices=(), winner=winner))
    return data


def _winner(comparison: Comparison | None, criterion: str | None) -> Winner | None:
    if comparison is None or criterion is None:
        return None if comparison is None else comparison.winner
    return next((one.winner for one in comparison.criteria if one.name == criterion), None)


def _whole_of(data: CalibrationData, *, is_single: bool) -> AlignedItems | None:
    """The labels of the whole; a single criterion is the whole."""
    return next(iter(data.criteria), None) if is_single else data.whole


def _human_values(data: CalibrationData, judged: PointwiseData) -> dict[str, dict[str, float]]:
    rubric = judged.rubric
    whole = _whole_of(data, is_single=rubric is not None and len(rubric.criteria) == 1)
    parts = {part.name: part for part in data.criteria}
    parts |= {} if whole is None else {WHOLE_OUTPUT: whole}
    return {
        name: {
            str(case): value
            for case, value in cluster_means(
                [part.value(mean_rating(item)) for item in part.items],
                [item.place.case_id for item in part.items],
            ).items()
        }
        for name, part in parts.items()
    }


def _differences(
    name: str,
    points: tuple[Mapping[str, Sequence[float]], Mapping[str, Sequence[float]]],
    human: tuple[Mapping[str, float], Mapping[str, float]],
) -> AlignedItems:
    """The differences of cases that both sides have a value for, as shares in [0, 1]."""
    # (1 + B - A) / 2 is a preference for B: one half is no difference, and turning the sides round
    # mirrors it. The estimators for shares then hold for differences too.
    cases = sorted(case for case in points[0] if case in points[1])
    items = []
    for case in cases:
        a, b = (fsum(side[case]) / len(side[case]) for side in points)
        is_labelled = case in human[0] and case in human[1]
        items.append(
            JudgedItem(
                place=OutputKey(case),
                criterion=name,
                cluster=case,
                judge=(1 + b - a) / 2,
                ratings={"human": (1 + human[1][case] - human[0][case]) / 2} if is_labelled else {},
                reasons={},
                groups={},
            )
        )
    return AlignedItems(
        name=name,
        scale=_UNIT,
        threshold=None,
        items=tuple(item for item in items if item.ratings),
        unlabelled=tuple(item for item in items if not item.ratings),
    )


def _require_labels(items: Sequence[JudgedItem], what: str) -> None:
    n = len({item.cluster for item in items})
    if n < _FEWEST:
        raise NotEnoughDataError(
            f"{n} case{'s have' if n != 1 else ' has'} a human label of {what}; a correction needs "
            f"{_FEWEST}",
            hint="label more cases, drawn at random, or omit --labels",
        )


def _figure(aligned: AlignedItems, what: str, options: CalibrationOptions) -> CorrectedFigure:
    """The corrected figure, or the reason why there is none; never a value without an interval."""
    # The interval decides, so that it has to hold for few labels too.
    found = correct_figure(aligned, what, options, tuning="leave-one-out")
    if not found.n_unlabelled:
        # With a label of every case there is nothing to correct: the human figure stands.
        found = replace(found, corrected=found.labels_only)
    n = len({item.cluster for item in aligned.both})
    reason = f"{n} labelled cases; a correction needs {_FEWEST}"
    if n >= _FEWEST:
        if not isnan(found.corrected.low):
            return found
        reason = found.corrected.reason or "the labels do not vary"
    undefined = undefined_estimate(reason, n=n, method=found.estimator, level=options.level)
    return replace(found, corrected=undefined)


def _decide(
    figure: CorrectedFigure | None, *, alpha: float, undecided: float, is_scores: bool
) -> ComparisonDecision:
    """Which side is better, by a share of wins of A or a difference as a preference for B."""
    if figure is None or isnan(figure.corrected.value):
        why = "no label is of the whole" if figure is None else figure.corrected.reason
        reason = f"the human labels allow no correction: {why}"
        return ComparisonDecision(winner=None, reason=reason, p=None, alpha=alpha)
    found = figure.corrected
    by = "corrected by" if figure.n_unlabelled else "by"
    what = "cases" if is_scores else "pairs"
    reason = f"{_in_words(found, is_scores=is_scores)}, {by} {figure.n_labels} labelled {what}"
    # As in the judge's own decision: what is undecided could all be for the other side.
    low, high = found.low * (1 - undecided), found.high * (1 - undecided) + undecided
    more: BetterSide = "b" if is_scores else "a"
    less: BetterSide = "a" if is_scores else "b"
    winner = more if low > _EVEN + SLACK else less if high < _EVEN - SLACK else None
    if winner is None and (found.low > _EVEN + SLACK or found.high < _EVEN - SLACK):
        reason = f"{reason}: the undecided {what} could turn it"
    elif winner is None:
        reason = f"{reason}: may be chance (alpha {alpha:g})"
    return ComparisonDecision(winner=winner, reason=reason, p=None, alpha=alpha)


def _in_words(found: Estimate, *, is_scores: bool) -> str:
    ends = found.value, found.low, found.high
    if is_scores:
        value, low, high = (f"{2 * end - 1:+.3f}" for end in ends)
        return f"a difference of {value} [{low}, {high}]"
    value, low, high = (f"{100 * end:.0f}" for end in ends)
    return f"A wins {value} % [{low}, {high}]"


def _as_difference(found: Estimate) -> Estimate:
    value, low, high = (2 * end - 1 for end in (found.value, found.low, found.high))
    return Estimate(**carried(found, value=value, low=low, high=high, se=2 * found.se))


def _labelled(
    figures: dict[str, CorrectedFigure],
    judge_decision: ComparisonDecision,
    data: Sequence[CalibrationData],
    *,
    undecided: float,
    is_scores: bool,
) -> LabelledComparison:
    """The result; `undecided` is the share of pairs or cases that the judge left open."""
    decision = _decide(
        figures.get(WHOLE_OUTPUT),
        alpha=judge_decision.alpha,
        undecided=undecided,
        is_scores=is_scores,
    )
    if is_scores:
        figures = {
            name: replace(
                figure,
                raw=_as_difference(figure.raw),
                corrected=_as_difference(figure.corrected),
                labels_only=_as_difference(figure.labels_only),
            )
            for name, figure in figures.items()
        }
    joined = [one.joined for one in data]
    return LabelledComparison(
        decision=decision,
        judge_decision=judge_decision,
        is_scores=is_scores,
        whole=figures.pop(WHOLE_OUTPUT, None),
        criteria=figures,
        n_labels=sum(one.n_labels for one in joined),
        n_not_judged=sum(one.n_not_judged for one in joined),
        not_judged=tuple(dict.fromkeys(name for one in joined for name in one.not_judged)),
        notes=tuple(dict.fromkeys(note for one in data for note in one.notes)),
    )
