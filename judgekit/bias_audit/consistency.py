"""Probes of consistency: repeated questions, paraphrased instructions.

Scores that cluster on few levels.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import fsum, sqrt
from statistics import variance
from typing import TYPE_CHECKING

from judgekit.bias_audit.probe import (
    GradeProbe,
    Probe,
    ProbeEffects,
    Trial,
    TrialAnswers,
    Trials,
    excess_change,
    plain_question,
    verdict_changes,
)
from judgekit.bias_audit.results import share_effect, shift_effect
from judgekit.prompts import template_names
from judgekit.stats.bias import granularity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.bias_audit.inputs import AuditInputs
    from judgekit.records import Criterion

_TWO = 2


def plan_stability(material: AuditInputs) -> Trials:
    """Every output several times, each time a question of its own in the cache."""
    return Trials(
        tuple(
            Trial(
                case.id,
                {
                    str(asking): plain_question(case, output, material, asking=asking)
                    for asking in range(material.n_askings)
                },
            )
            for case, output in material.items
        )
    )


def find_stability(heard: Sequence[TrialAnswers], material: AuditInputs) -> ProbeEffects:
    """How often two askings come to another verdict, and how far their values lie apart."""
    effect = share_effect(
        "verdict changes when asked again",
        [_disagreement(one) for one in heard],
        cases=[one.trial.case_id for one in heard],
        margin=material.margins.share,
        level=material.level,
    )
    values = [[v for arm in one.trial.arms if (v := one.value(arm)) is not None] for one in heard]
    # Pooled as variances: a mean of standard deviations of two or three answers is biased down.
    within = [variance(row) for row in values if len(row) >= _TWO]
    same = [row for row in values if len(row) >= _TWO and len(set(row)) == 1]
    counts: dict[str, float | int | str] = {"askings": material.n_askings}
    if within:
        counts["sd within an output"] = round(sqrt(fsum(within) / len(within)), 4)
        counts["outputs with one value throughout"] = f"{len(same)} of {len(within)}"
    return ProbeEffects((effect,), counts)


def _disagreement(one: TrialAnswers) -> float | None:
    """The share of two askings that disagree; None with fewer than two verdicts."""
    verdicts = [found for arm in one.trial.arms if (found := one.passed(arm)) is not None]
    pairs = list(combinations(verdicts, _TWO))
    return None if not pairs else sum(x != y for x, y in pairs) / len(pairs)


STABILITY_PROBE = Probe(
    name="stability",
    question="Does it change its verdict when it is asked again?",
    needs="nothing more",
    cost="3 gradings (2 shared)",
    plan=plan_stability,
    find=find_stability,
    changes_texts=False,
)
"""The probe."""

_SHIPPED = "paraphrases/"

_NONE = (
    "the judge's template has no paraphrases (name your own with --paraphrase FILE.j2); "
    "pointwise/criterion, joint and no_reference have"
)


def shipped_paraphrases(template: str) -> tuple[str, ...]:
    """The shipped templates that say the same as a shipped one in other words."""
    folder, _, own = template.rpartition("/")
    wanted = f"{_SHIPPED}{own}_"
    if folder != "pointwise":
        return ()
    return tuple(name for name in template_names() if name.startswith(wanted))


def plan_paraphrase(material: AuditInputs) -> Trials:
    """Every output with every paraphrase, and once more with the judge's own template."""
    if not material.paraphrases:
        return Trials(skipped=_NONE)
    return Trials(
        tuple(
            Trial(
                case.id,
                {
                    "plain": plain_question(case, output, material),
                    "again": plain_question(case, output, material, asking=1),
                    "changed": GradeProbe(
                        case=case, output=output, rubric=material.rubric, template=template
                    ),
                },
                about=template,
            )
            for case, output in material.items
            for template in material.paraphrases
        )
    )


def find_paraphrase(heard: Sequence[TrialAnswers], material: AuditInputs) -> ProbeEffects:
    """How far other words move the scores, beyond what asking the same again does."""
    cases = [one.trial.case_id for one in heard]
    again, other = excess_change(heard, "changed")
    moved = shift_effect(
        "scores moved by other words",
        again,
        other,
        cases=cases,
        margin=material.margins.value,
        harm="up",
        level=material.level,
    )
    flips = share_effect(
        "verdict changes with the words",
        verdict_changes(heard, "changed"),
        cases=cases,
        margin=material.margins.share,
        decides=False,
        level=material.level,
    )
    return ProbeEffects((moved, flips), {"templates": ", ".join(material.paraphrases)})


PARAPHRASE_PROBE = Probe(
    name="paraphrase",
    question="Does the wording of its instructions change the score?",
    needs="a template with paraphrases: a shipped one, or your own",
    cost="1 grading a paraphrase and 2 (shared)",
    plan=plan_paraphrase,
    find=find_paraphrase,
)
"""The probe."""

MOST_ON_ONE = 0.80
"""A judge that gives one and the same score so often tells outputs hardly apart."""

_FEWEST_LEVELS = 3
_NO_LEVELS = "no criterion has a scale of three or more levels, on which scores could clump"


def plan_scale(material: AuditInputs) -> Trials:
    """Every output as it is; nothing is asked for this probe alone."""
    if not _with_levels(material):
        return Trials(skipped=_NO_LEVELS)
    return Trials(
        tuple(
            Trial(case.id, {"plain": plain_question(case, output, material)})
            for case, output in material.items
        )
    )


def find_scale(heard: Sequence[TrialAnswers], material: AuditInputs) -> ProbeEffects:
    """How often the commonest and the best score are given, and how many levels are used."""
    criteria = _with_levels(material)
    scores = {name: _raw(heard, name) for name in criteria}
    cases = [one.trial.case_id for one in heard for _ in criteria]
    common = {
        name: Counter(found for found in given if found is not None).most_common(1)
        for name, given in scores.items()
    }
    on_one, at_top = [], []
    for place in range(len(heard)):
        for name, criterion in criteria.items():
            raw = scores[name][place]
            is_known = raw is not None
            on_one.append(float(raw == common[name][0][0]) if is_known else None)
            at_top.append(float(raw == criterion.scale.max) if is_known else None)
    clumped = share_effect(
        "commonest score of a criterion",
        on_one,
        cases=cases,
        margin=MOST_ON_ONE,
        level=material.level,
    )
    top = share_effect(
        "best score", at_top, cases=cases, margin=MOST_ON_ONE, decides=False, level=material.level
    )
    if clumped.verdict == "small":  # some score is always the commonest
        clumped = replace(clumped, verdict="none_seen")
    return ProbeEffects((clumped, top), _levels(scores, criteria))


def _with_levels(material: AuditInputs) -> dict[str, Criterion]:
    return {
        criterion.name: criterion
        for criterion in material.rubric.criteria
        if criterion.scale.points is None or len(criterion.scale.points) >= _FEWEST_LEVELS
    }


def _raw(heard: Sequence[TrialAnswers], name: str) -> list[float | None]:
    """The first score of each output on a criterion."""
    found: list[float | None] = []
    for one in heard:
        verdict = one.verdict("plain")
        said = () if verdict is None else verdict.judgments
        found.append(next((j.raw for j in said if j.criterion == name), None))
    return found


def _levels(
    scores: Mapping[str, Sequence[float | None]], criteria: Mapping[str, Criterion]
) -> dict[str, float | int | str]:
    """Of each criterion, how many levels of how many were used, and how evenly."""
    counts: dict[str, float | int | str] = {}
    for name, criterion in criteria.items():
        if all(score is None for score in scores[name]):
            continue
        scale = criterion.scale
        use = granularity(scores[name], scale.points or (scale.min, scale.max))
        used = f"{use.n_distinct} different scores"
        if scale.points is not None:
            used = f"{use.n_distinct} of {len(scale.points)} levels used"
        counts[name] = f"{used}, as varied as {use.effective_levels:.1f} used evenly"
    return counts


SCALE_PROBE = Probe(
    name="scale",
    question="Does it give the same score to nearly everything?",
    needs="a criterion with three or more levels",
    cost="1 grading (shared)",
    plan=plan_scale,
    find=find_scale,
    changes_texts=False,
)
"""The probe."""
