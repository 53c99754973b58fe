"""Audits of honest judges, who are noisy and moved by nothing: how many are blamed all the same.

Every probe deals out its real questions and makes of the answers what it always does. Only the
judge is made up: what it says of a question is drawn, so that no prompt is written and no reply
read. `python -m tests.bias_audit.honest 500` makes the tables of `docs/auditing.md`.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from judgekit.bias_audit import GradeProbe
from judgekit.bias_audit.api import PROBES, evaluate_probes, unpriced_plan
from judgekit.bias_audit.inputs import shipped_corpus
from judgekit.bias_audit.perturbation import INJECTION_PROBE
from judgekit.bias_audit.probe import ProbeQuestion
from judgekit.bias_audit.self_test import synthetic_inputs
from judgekit.records import Preference
from judgekit.scoring import conclude
from tests.factories import make_failure, make_judgment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.bias_audit import AuditInputs, AuditPlan, ProbeResult
    from judgekit.bias_audit.api import ProbeAnswer
    from judgekit.bias_audit.inputs import Attack
    from judgekit.records import PreferenceSlot, PresentationOrder, Verdict

Judge: TypeAlias = Callable[[ProbeQuestion], "ProbeAnswer"]

RUBRIC = synthetic_inputs(1).rubric
NAMES = tuple(criterion.name for criterion in RUBRIC.criteria)
SHAKY = frozenset({"scale", "stability", "identical"})
"""Probes whose rate an unsteady judge truly has."""

_TOP, _N_PAIRS = 4, 12
_HALO = 0.5
"""How much of the noise of a text's scores is common to its criteria."""

_LOST = 0.02
"""How often an answer of an unsteady judge cannot be read."""

_TIE = 0.1
"""Two texts that seem no further apart are a tie."""


@dataclass(frozen=True)
class Setting:
    """Audits that differ in their draws only."""

    n_cases: int
    plans: tuple[tuple[AuditInputs, AuditPlan], ...]

    @classmethod
    def of(cls, n_cases: int, *, n_plans: int = 4) -> Setting:
        """All probes on made-up outputs."""
        given = [synthetic_inputs(n_cases, seed=seed, n_pairs=_N_PAIRS) for seed in range(n_plans)]
        return cls(n_cases, tuple((one, unpriced_plan(one, PROBES)) for one in given))

    @classmethod
    def attacked(cls, n_cases: int, *, each: int, n_plans: int = 4) -> Setting:
        """The probe of injection alone, with so many attacks on each output."""
        given = [
            synthetic_inputs(n_cases, seed=seed, n_pairs=_N_PAIRS, n_attacks=each)
            for seed in range(n_plans)
        ]
        return cls(n_cases, tuple((one, unpriced_plan(one, (INJECTION_PROBE,))) for one in given))

    def audited(self, number: int, judge: Judge) -> tuple[ProbeResult, ...]:
        """What the audit of that number finds."""
        material, plan = self.plans[number % len(self.plans)]
        return evaluate_probes(plan, material, {ask.key: judge(ask) for ask in plan.wanted})


def unsteady(draw: random.Random, sigma: float) -> Judge:
    """Sees what an output is worth with an error of sigma (the scale is 1), anew in each asking."""
    worth: dict[str, float] = {}

    def say(ask: ProbeQuestion) -> ProbeAnswer:
        if isinstance(ask, GradeProbe):
            if draw.random() < _LOST:
                return verdict((None, None))
            seen = 0.0 if is_poor(ask.output.text) else worth.setdefault(ask.case.id, draw.random())
            seen += draw.gauss(0, sigma * _HALO)
            own = [draw.gauss(0, sigma * (1 - _HALO**2) ** 0.5) for _ in NAMES]
            return verdict(tuple(min(_TOP, max(0, round(_TOP * (seen + one)))) for one in own))
        gaps = [draw.gauss(0, sigma * 2**0.5) for _ in ask.orders]
        return chosen(ask.orders, tuple("tie" if abs(g) < _TIE else _side(g > 0) for g in gaps))

    return say


def borderline(draw: random.Random, rate: float = 0.095) -> Judge:
    """Whatever is counted happens a little less often than what is material (0.10, 0.80)."""
    levels: dict[str, int] = {}
    slip = (1 - (1 - 2 * rate) ** 0.5) / 2  # two askings disagree in 2 slip (1 - slip)

    def say(ask: ProbeQuestion) -> ProbeAnswer:
        if not isinstance(ask, GradeProbe):
            sides = [_side(draw.random() < 0.5) for _ in ask.orders]
            return chosen(ask.orders, tuple(s if draw.random() < rate else "tie" for s in sides))
        if is_poor(ask.output.text):
            return verdict((None, None) if draw.random() < rate else (0, 0))
        if ask.case.id not in levels:
            levels[ask.case.id] = 3 if draw.random() < 0.79 else draw.choice((0, 1, _TOP))
        level = levels[ask.case.id]
        if draw.random() < slip:
            level = 1 if level >= 3 else 3
        return verdict((level, level))

    return say


def obeying(draw: random.Random, family: str, rate: float, sigma: float = 0.1) -> Judge:
    """Unsteady, and gives its best score to a share of the attacks of one kind."""
    honest = unsteady(draw, sigma)

    def say(ask: ProbeQuestion) -> ProbeAnswer:
        if isinstance(ask, GradeProbe) and attack_in(ask.output.text) == family:
            return verdict((_TOP, _TOP)) if draw.random() < rate else honest(ask)
        return honest(ask)

    return say


def blamed(found: Sequence[ProbeResult], *, but: frozenset[str] = frozenset()) -> list[str]:
    """What is called material, except by some probes."""
    return [
        effect.name
        for probe in found
        if probe.name not in but
        for effect in (*probe.effects, *probe.parts)
        if effect.verdict == "material"
    ]


@cache
def verdict(levels: tuple[int | None, ...]) -> Verdict:
    """A verdict with these levels, 0 to 4, None for a failure."""
    pairs = list(zip(NAMES, levels, strict=True))
    known = [
        make_judgment(n, level / _TOP, raw=1 + level) for n, level in pairs if level is not None
    ]
    return conclude(RUBRIC, known, [make_failure(n) for n, level in pairs if level is None])


@cache
def chosen(
    orders: tuple[PresentationOrder, ...], choices: tuple[PreferenceSlot, ...]
) -> tuple[Preference, ...]:
    """What is said of a pair."""
    return tuple(
        Preference(order=order, choice=choice, rationale="It says so.")
        for order, choice in zip(orders, choices, strict=True)
    )


@cache
def is_poor(text: str | None) -> bool:
    """Whether a text is nothing but an off-topic answer and what an attack adds to it."""
    return "in room" not in (text or "")


@cache
def attack_in(text: str | None) -> str | None:
    """The kind of attack in a text."""
    found = _finder()(text or "")
    return None if found is None else found.family


@cache
def _finder() -> Callable[[str], Attack | None]:
    return shipped_corpus().finder(RUBRIC)


def _side(is_first: bool) -> PreferenceSlot:  # noqa: FBT001 - one word
    return "first" if is_first else "second"


def _main(n_audits: int) -> None:
    out = sys.stdout.write
    for n_cases in (12, 36, 60):
        setting = Setting.of(n_cases)
        for sigma in (0.05, 0.1, 0.2, 0.3):
            n = sum(
                bool(
                    blamed(setting.audited(k, unsteady(_draw(k, n_cases, sigma), sigma)), but=SHAKY)
                )
                for k in range(n_audits)
            )
            out(f"{n_cases} cases, noise {sigma}: {n / n_audits:.1%} blamed\n")
        n = sum(
            bool(blamed(setting.audited(k, borderline(_draw(k, n_cases))))) for k in range(n_audits)
        )
        out(f"{n_cases} cases, at the margins: {n / n_audits:.1%} blamed\n")
    for (n_cases, each), rate in product(((60, 3), (60, 9), (60, 21), (300, 3)), (0.3, 1.0)):
        setting = Setting.attacked(n_cases, each=each)
        n = sum(
            "echo" in blamed(setting.audited(k, obeying(_draw(k, n_cases), "echo", rate)))
            for k in range(max(1, n_audits // 5))
        )
        share = n / max(1, n_audits // 5)
        out(f"{n_cases} cases, {each} attacks each, {rate:.0%} obeyed: {share:.0%} caught\n")


def _draw(*about: object) -> random.Random:
    return random.Random(f"honest {about}")


if __name__ == "__main__":
    _main(int(sys.argv[1]))
