"""The probe of the scale: whether scores clump on one level, or at the top."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.effects import share
from judgekit.evaluation.auditing.probe import Findings, Heard, Probe, Trial, Trials, plain_ask
from judgekit.stats.bias import granularity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.evaluation.auditing.material import Material
    from judgekit.records.rubric import Criterion

MOST_ON_ONE = 0.80
"""A judge that gives one and the same score so often tells outputs hardly apart."""

_FEWEST_LEVELS = 3
_NO_LEVELS = "no criterion has a scale of three or more levels, on which scores could clump"


def plan_scale(material: Material) -> Trials:
    """Every output as it is; nothing is asked for this probe alone."""
    if not _with_levels(material):
        return Trials(skipped=_NO_LEVELS)
    return Trials(
        tuple(
            Trial(case.id, {"plain": plain_ask(case, output, material)})
            for case, output in material.items
        )
    )


def find_scale(heard: Sequence[Heard], material: Material) -> Findings:
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
    clumped = share(
        "commonest score of a criterion",
        on_one,
        cases=cases,
        margin=MOST_ON_ONE,
        level=material.level,
    )
    top = share(
        "best score",
        at_top,
        cases=cases,
        margin=MOST_ON_ONE,
        decides=False,
        level=material.level,
    )
    if clumped.verdict == "small":  # some score is always the commonest
        clumped = replace(clumped, verdict="none_seen")
    return Findings((clumped, top), _levels(scores, criteria))


def _with_levels(material: Material) -> dict[str, Criterion]:
    return {
        criterion.name: criterion
        for criterion in material.rubric.criteria
        if criterion.scale.points is None or len(criterion.scale.points) >= _FEWEST_LEVELS
    }


def _raw(heard: Sequence[Heard], name: str) -> list[float | None]:
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


SCALE = Probe(
    name="scale",
    question="Does it give the same score to nearly everything?",
    needs="a criterion with three or more levels",
    cost="1 grading (shared)",
    plan=plan_scale,
    find=find_scale,
    changes_texts=False,
)
"""The probe."""
