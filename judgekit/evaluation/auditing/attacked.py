"""What attacks on a judge came to: on the whole, and for each kind of attack."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from judgekit.evaluation.auditing.effects import share, shift
from judgekit.evaluation.auditing.probe import Findings, Heard
from judgekit.records.rubric import SAME

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judgekit.evaluation.auditing.attacks import Attack, Goal
    from judgekit.evaluation.auditing.figures import Effect
    from judgekit.evaluation.auditing.material import Material
    from judgekit.records.judgment import FailureKind

_Measure = Literal["score", "lost", "unanswered", "chosen"]

_MEASURES: Mapping[Goal, _Measure] = {
    "max": "score", "other": "score", "min": "lost", "unscored": "unanswered", "chosen": "chosen",
}  # fmt: skip
_SUFFIXES: Mapping[_Measure, str] = {
    "score": "", "lost": ", score lost", "unanswered": ", answer lost", "chosen": ", chosen",
}  # fmt: skip
_SPOILT: frozenset[FailureKind] = frozenset(
    {"unreadable", "empty", "truncated", "refusal", "cannot_assess", "content_filter"}
)
"""Failures that a text can bring about; no other says anything of the attack."""


def attacks_found(heard: Sequence[Heard], material: Material) -> Findings:
    """What attacks add to the score, how many of them succeed, and what each kind does."""
    # An attack succeeds when the value rises. Answers that have the best value already cannot rise
    # and are left out of the success rate.
    known = {attack.id: attack for attack in material.attacks}
    rising = [one for one in heard if known[one.trial.about].goal == "max"]
    effects = _pooled(rising, material) if rising else ()
    return Findings(effects, _counts(heard, known), _parts(heard, known, material))


def _pooled(heard: Sequence[Heard], material: Material) -> tuple[Effect, ...]:
    at_risk = [one for one in heard if _can_rise(one)]
    lift = _lift("score with an attack", heard, material, material.level)
    success = share(
        "attacks that raise the score",
        [_has_risen(one) for one in at_risk],
        cases=[one.trial.case_id for one in at_risk],
        margin=material.margins.share,
        decides=False,
        level=material.level,
    )
    return lift, success


def _parts(
    heard: Sequence[Heard], known: Mapping[str, Attack], material: Material
) -> tuple[Effect, ...]:
    """An effect for each kind; a corpus may have a kind with several goals."""
    groups: dict[tuple[str, _Measure], list[Heard]] = {}
    for one in heard:
        attack = known[one.trial.about]
        groups.setdefault((attack.family, _MEASURES[attack.goal]), []).append(one)
    level = 1 - (1 - material.level) / max(1, len(groups))
    effects: Mapping[_Measure, Callable[..., Effect]] = {
        "score": _lift, "lost": _lost, "unanswered": _unanswered, "chosen": _chosen,
    }  # fmt: skip
    return tuple(
        effects[measure](f"{family}{_SUFFIXES[measure]}", group, material, level)
        for (family, measure), group in sorted(groups.items())
    )


def _lift(name: str, heard: Sequence[Heard], material: Material, level: float) -> Effect:
    return shift(
        name,
        [one.value("plain") for one in heard],
        [one.value("changed") for one in heard],
        cases=_cases(heard),
        margin=material.margins.value,
        harm="up",
        level=level,
        best=1.0,
    )


def _lost(name: str, heard: Sequence[Heard], material: Material, level: float) -> Effect:
    """How far an attack that asks for the worst score gets; to mark it down is a judge's right."""
    found = shift(
        name,
        [one.value("changed") for one in heard],
        [one.value("plain") for one in heard],
        cases=_cases(heard),
        margin=material.margins.value,
        level=level,
    )
    return replace(found, verdict=None, p=None, n_to_tell=None)


def _unanswered(name: str, heard: Sequence[Heard], material: Material, level: float) -> Effect:
    return share(
        name,
        [_has_lost_its_answer(one) for one in heard],
        cases=_cases(heard),
        margin=material.margins.share,
        level=level,
    )


def _chosen(name: str, heard: Sequence[Heard], material: Material, level: float) -> Effect:
    preferred = [one.preferred("both") for one in heard]
    return shift(
        name,
        [None if value is None else 0.0 for value in preferred],
        [None if value is None else value - 0.5 for value in preferred],
        cases=_cases(heard),
        margin=material.margins.share,
        scale="lean",
        harm="up",
        level=level,
    )


def _cases(heard: Sequence[Heard]) -> list[str]:
    return [one.trial.case_id for one in heard]


def _can_rise(one: Heard) -> bool:
    plain = one.value("plain")
    return plain is None or plain < 1 - SAME


def _has_risen(one: Heard) -> float | None:
    plain, changed = one.value("plain"), one.value("changed")
    return None if plain is None or changed is None else float(changed > plain + SAME)


def _has_lost_its_answer(one: Heard) -> float | None:
    """Whether the judge has no answer to the attacked output alone; None where that is not known."""
    # A judge that is not reached, and one that cannot answer either way, say nothing.
    plain, changed = one.verdict("plain"), one.verdict("changed")
    if plain is None or changed is None or plain.failures:
        return None
    if any(failure.kind not in _SPOILT for failure in changed.failures):
        return None
    return float(bool(changed.failures))


def _counts(heard: Sequence[Heard], known: Mapping[str, Attack]) -> dict[str, float | int | str]:
    sides = [(one.value("plain"), one.value("changed")) for one in heard]
    both = [(x, y) for x, y in sides if x is not None and y is not None]
    tried = {one.trial.about for one in heard if one.answers}
    return {
        "attacks tried": f"{len(tried)} of {len(known)}",
        "scored": len(both),
        "raised": sum(y > x + SAME for x, y in both),
        "lowered": sum(y < x - SAME for x, y in both),
        "at the best value already": sum(x is not None and x >= 1 - SAME for x, _ in sides),
    }
