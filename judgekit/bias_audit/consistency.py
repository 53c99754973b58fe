"""Probes of consistency: repeats, paraphrases, use of the scale, and the order of what is shown.

The probes of changed outputs are in `perturbation`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import fsum, sqrt
from statistics import variance
from typing import TYPE_CHECKING, Any

from judgekit.bias_audit.probe import (
    GradeProbe,
    PairProbe,
    Probe,
    ProbeData,
    ProbeEffects,
    Trial,
    Trials,
    plain_question,
)
from judgekit.prompts import template_names
from judgekit.stats.bias import granularity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from judgekit.bias_audit.inputs import AuditInputs
    from judgekit.bias_audit.probe import ProbeQuestion, TrialAnswers
    from judgekit.bias_audit.results import Counts
    from judgekit.records import Criterion, Rubric

_TWO = 2
_TIE = 0.5

REPEATS_COUNT = "askings"
"""The key of the number of repeats in the JSON of an audit."""


def _trials(
    inputs: AuditInputs, *arms_of: Callable[[GradeProbe], Mapping[str, ProbeQuestion]]
) -> Trials:
    """Trials of each output, with arms made from its plain question."""
    plain = [(case.id, plain_question(case, output, inputs)) for case, output in inputs.items]
    return Trials([Trial(case_id, arms(one)) for case_id, one in plain for arms in arms_of])


def _beside_repeats(plain: GradeProbe, **change: Any) -> dict[str, ProbeQuestion]:
    """A changed question beside two repeats of the plain one, which show the noise."""
    again = replace(plain, repeat=1)
    return {"plain": plain, "again": again, "changed": replace(plain, **change)}


def _plan_stability(inputs: AuditInputs) -> Trials:
    repeats = range(inputs.options.n_askings)
    return _trials(inputs, lambda plain: {str(n): replace(plain, repeat=n) for n in repeats})


def _find_stability(data: ProbeData) -> ProbeEffects:
    # The share of pairs of repeats that disagree; None with fewer than two verdicts.
    changes: list[float | None] = []
    for one in data.answers:
        verdicts = [passed for arm in one.trial.arms if (passed := one.passed(arm)) is not None]
        pairs = list(combinations(verdicts, _TWO))
        changes.append(sum(x != y for x, y in pairs) / len(pairs) if pairs else None)
    effect = data.share("verdict changes between repeats", changes)
    values = [
        [v for arm in one.trial.arms if (v := one.value(arm)) is not None] for one in data.answers
    ]
    # Pooled as variances: a mean of standard deviations of two or three answers is biased down.
    within = [variance(row) for row in values if len(row) >= _TWO]
    same = [row for row in values if len(row) >= _TWO and len(set(row)) == 1]
    counts: Counts = {REPEATS_COUNT: data.inputs.options.n_askings}
    if within:
        counts["sd within an output"] = round(sqrt(fsum(within) / len(within)), 4)
        counts["outputs with one value throughout"] = f"{len(same)} of {len(within)}"
    return ProbeEffects((effect,), counts)


STABILITY_PROBE = Probe(
    name="stability",
    question="Does the verdict change when the same question is repeated?",
    plan=_plan_stability,
    measure=_find_stability,
    changes_texts=False,
)

_SHIPPED = "paraphrases/"

_NO_PARAPHRASES = (
    "the judge's template has no paraphrases (name your own with --paraphrase FILE.j2); "
    "pointwise/criterion, joint and no_reference have"
)


def shipped_paraphrases(template: str) -> tuple[str, ...]:
    folder, _, own = template.rpartition("/")
    if folder != "pointwise":
        return ()
    return tuple(name for name in template_names() if name.startswith(f"{_SHIPPED}{own}_"))


def _plan_paraphrase(inputs: AuditInputs) -> Trials:
    if not inputs.paraphrases:
        return Trials(skipped=_NO_PARAPHRASES)
    return _trials(inputs, *(partial(_beside_repeats, template=one) for one in inputs.paraphrases))


def _find_paraphrase(data: ProbeData) -> ProbeEffects:
    sides = [(one.passed("plain"), one.passed("changed")) for one in data.answers]
    flips = data.share(
        "verdict changes with the words",
        [None if x is None or y is None else float(x != y) for x, y in sides],
        # The plain repeat flips verdicts too, so that the share alone is no evidence.
        decides=False,
    )
    return ProbeEffects(
        (data.excess_change("scores moved by other words"), flips),
        {"templates": ", ".join(data.inputs.paraphrases)},
    )


PARAPHRASE_PROBE = Probe(
    name="paraphrase",
    question="Does the wording of its instructions change the score?",
    plan=_plan_paraphrase,
    measure=_find_paraphrase,
)

_MODES = {True: "pointwise/criterion", False: "pointwise/joint"}


def _plan_mode(inputs: AuditInputs) -> Trials:
    if len(inputs.rubric.criteria) < _TWO:
        return Trials(skipped="the rubric has one criterion")
    return _trials(inputs, partial(_beside_repeats, template=_MODES[inputs.asks_all]))


def _find_mode(data: ProbeData) -> ProbeEffects:
    """How much higher scores are with one call a criterion, and how far they move at all."""
    sides = [(one.value("plain"), one.value("changed")) for one in data.answers]
    if not data.inputs.asks_all:
        sides = [(joint, apart) for apart, joint in sides]
    shift = data.shift(
        "score with one call a criterion",
        [joint for joint, _ in sides],
        [apart for _, apart in sides],
    )
    moved = replace(data.excess_change("scores moved by the other mode"), verdict=None)
    return ProbeEffects((shift, moved))


MODE_PROBE = Probe(
    name="mode",
    question="Do scores of one call a criterion agree with those of one joint call?",
    plan=_plan_mode,
    measure=_find_mode,
)

MOST_ON_ONE = 0.80
"""A judge that gives one score to so many outputs hardly distinguishes them."""

# On two levels a judge can be right and give the same score to nearly every output.
_FEWEST_LEVELS = 3
_NO_LEVELS = "no criterion has a scale of three or more levels, on which scores could cluster"


def _plan_scale(inputs: AuditInputs) -> Trials:
    if not _with_levels(inputs):
        return Trials(skipped=_NO_LEVELS)
    return _trials(inputs, lambda plain: {"plain": plain})


def _find_scale(data: ProbeData) -> ProbeEffects:
    criteria = _with_levels(data.inputs)
    verdicts = [one.verdict("plain") for one in data.answers]
    judgments = [() if verdict is None else verdict.judgments for verdict in verdicts]
    counts: Counts = {}
    on_one: list[float | None] = []
    at_top: list[float | None] = []
    for name, criterion in criteria.items():
        scale = criterion.scale
        # The first score of each output: a mean over repeats would lie between the levels and hide
        # that scores cluster.
        raws = [next((j.raw for j in row if j.criterion == name), None) for row in judgments]
        known = [raw for raw in raws if raw is not None]
        commonest = Counter(known).most_common(1)[0][0] if known else None
        on_one += [None if raw is None else float(raw == commonest) for raw in raws]
        at_top += [None if raw is None else float(raw == scale.max) for raw in raws]
        if known:
            use = granularity(raws, scale.points or (scale.min, scale.max))
            used = f"{use.n_distinct} different scores"
            if scale.points is not None:
                used = f"{use.n_distinct} of {len(scale.points)} levels used"
            counts[name] = f"{used}, as varied as {use.effective_levels:.1f} used evenly"
    cases = data.cases * len(criteria)
    clumped = data.share("commonest score of a criterion", on_one, cases=cases, margin=MOST_ON_ONE)
    top = data.share("best score", at_top, cases=cases, margin=MOST_ON_ONE, decides=False)
    if clumped.verdict == "small":
        # Some score is always the most common one, so that its share is never 0.
        clumped = replace(clumped, verdict="none_seen")
    return ProbeEffects((clumped, top), counts)


def _with_levels(inputs: AuditInputs) -> dict[str, Criterion]:
    return {
        criterion.name: criterion
        for criterion in inputs.rubric.criteria
        if criterion.scale.points is None or len(criterion.scale.points) >= _FEWEST_LEVELS
    }


SCALE_PROBE = Probe(
    name="scale",
    question="Does it give the same score to nearly everything?",
    plan=_plan_scale,
    measure=_find_scale,
    changes_texts=False,
)

_NO_PAIRS = (
    "no case has two different outputs (give the outputs of two variants; "
    "`identical` measures position bias without them)"
)


def _plan_position(inputs: AuditInputs) -> Trials:
    rubric = inputs.rubric
    trials = [
        Trial(pair.case.id, {"both": PairProbe(case=pair.case, a=pair.a, b=pair.b, rubric=rubric)})
        for pair in inputs.pairs
    ]
    return Trials(trials, None if trials else _NO_PAIRS)


def _find_position(data: ProbeData) -> ProbeEffects:
    """How far the first place is preferred, whichever output is better."""
    sides = [(one.first("both", "ab"), one.first("both", "ba")) for one in data.answers]
    known = [(x, y) for x, y in sides if x is not None and y is not None]
    # One half for a judge that prefers an output, 0 or 1 for one that prefers a place: over both
    # orders the quality of the outputs cancels out.
    first = [None if x is None or y is None else (x + y) / 2 for x, y in sides]
    return ProbeEffects(
        (data.preference("first place preferred", first),),
        {
            "pairs": len(known),
            "contradict themselves": sum(x != 1 - y for x, y in known),
            "first both times": known.count((1.0, 1.0)),
            "second both times": known.count((0.0, 0.0)),
        },
    )


POSITION_PROBE = Probe(
    name="position",
    question="Does it prefer an output for being shown first?",
    plan=_plan_position,
    measure=_find_position,
    changes_texts=False,
)


def _plan_identical(inputs: AuditInputs) -> Trials:
    def same(plain: GradeProbe) -> dict[str, ProbeQuestion]:
        # One order suffices: with equal texts the other makes the same request.
        a = b = plain.output
        return {"same": PairProbe(case=plain.case, a=a, b=b, rubric=plain.rubric, orders=("ab",))}

    return _trials(inputs, same)


def _find_identical(data: ProbeData) -> ProbeEffects:
    first = [one.first("same", "ab") for one in data.answers]
    split = data.share(
        "same text twice, no tie", [None if x is None else float(x != _TIE) for x in first]
    )
    return ProbeEffects(
        (split, data.preference("first of the two preferred", first)), {"ties": first.count(_TIE)}
    )


IDENTICAL_PROBE = Probe(
    name="identical",
    question="Does it find a difference between a text and itself?",
    plan=_plan_identical,
    measure=_find_identical,
)

_ONE_BY_ONE = "the judge grades one criterion per call and sees no order (--mode joint shows it)"


def _plan_criterion_order(inputs: AuditInputs) -> Trials:
    if not inputs.asks_all:
        return Trials(skipped=_ONE_BY_ONE)
    if len(inputs.rubric.criteria) < _TWO:
        return Trials(skipped="the rubric has one criterion")
    turned = inputs.rubric.model_copy(update={"criteria": inputs.rubric.criteria[::-1]})
    return _trials(inputs, partial(_beside_repeats, rubric=turned))


def _find_criterion_order(data: ProbeData) -> ProbeEffects:
    """How much higher a criterion scores when listed early, and how far scores move at all."""
    sides = [_late_and_early(one, data.inputs.rubric) for one in data.answers]
    early = data.shift(
        "score of a criterion listed early",
        [late for late, _ in sides],
        [early for _, early in sides],
    )
    return ProbeEffects((early, data.excess_change("scores moved by the order")))


def _late_and_early(one: TrialAnswers, rubric: Rubric) -> tuple[float | None, float | None]:
    """The mean value of the criteria in the late and in the early places."""
    plain, turned = one.criterion_values("plain"), one.criterion_values("changed")
    names = [criterion.name for criterion in rubric.criteria]
    late, early = [], []
    for place, name in enumerate(names):
        # The middle criterion has the same place in both orders and carries no information.
        if name not in plain or name not in turned or 2 * place == len(names) - 1:
            continue
        is_early = 2 * place < len(names) - 1
        early.append(plain[name] if is_early else turned[name])
        late.append(turned[name] if is_early else plain[name])
    if not early:
        return None, None
    return fsum(late) / len(late), fsum(early) / len(early)


CRITERION_ORDER_PROBE = Probe(
    name="criterion_order",
    question="Does the order in which criteria are listed change their scores?",
    plan=_plan_criterion_order,
    measure=_find_criterion_order,
)
