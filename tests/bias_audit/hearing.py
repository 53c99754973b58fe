"""Answers of judges for tests of probes; a test says only what each arm came to."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from judgekit.bias_audit import AuditInputs, AuditOptions
from judgekit.bias_audit.probe import Trial, TrialAnswers
from judgekit.records import Preference, PreferenceFailure
from judgekit.scoring import conclude
from tests.factories import make_case, make_failure, make_judgment, make_output, make_rubric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.bias_audit.probe import PairAnswers
    from judgekit.records import Rubric, Verdict


def material(*texts: str, **fields: Any) -> AuditInputs:
    """One case for each text, `c0`, `c1`, …, and a rubric of two criteria."""
    items = tuple(
        (make_case(id=f"c{number}"), make_output(text)) for number, text in enumerate(texts)
    )
    known: dict[str, Any] = {"items": items, "rubric": make_rubric("accuracy", "clarity")}
    sizes = {
        name: fields.pop(name) for name in ("seed", "n_askings", "n_attacks") if name in fields
    }
    return AuditInputs(**known | fields, options=AuditOptions(**sizes))


def graded(*values: float | None, rubric: Rubric | None = None) -> Verdict:
    """A verdict with a value for each criterion, None for a failure; `accuracy` comes first."""
    names = ("accuracy", "clarity", "tone")[: len(values)]
    known = [
        make_judgment(name, value, raw=1 + 4 * value)
        for name, value in zip(names, values, strict=True)
        if value is not None
    ]
    failed = [make_failure(n) for n, v in zip(names, values, strict=True) if v is None]
    return conclude(rubric or make_rubric(*names), known, failed)


def chose(**orders: Any) -> PairAnswers:
    """What was said of a pair, by order: `ab="first", ba=None` for a failure."""
    return tuple(
        PreferenceFailure(order=order, kind="unreadable", message="no")
        if choice is None
        else Preference(order=order, choice=choice, rationale="It says so.")
        for order, choice in _typed(orders)
    )


def heard(case_id: str = "c0", about: str = "", **answers: Verdict | PairAnswers) -> TrialAnswers:
    """A trial with its answers."""
    return TrialAnswers(Trial(case_id, {}, about), answers)


def many(n: int, about: str = "", **answers: Verdict | PairAnswers) -> list[TrialAnswers]:
    """The same answers for so many cases."""
    return [TrialAnswers(Trial(f"c{number}", {}, about), answers) for number in range(n)]


def draw(seed: int = 0) -> random.Random:
    """The draws of a rewriting."""
    return random.Random(seed)


def by_name(effects: tuple[Any, ...]) -> Mapping[str, Any]:
    """Effects by their names."""
    return {effect.name: effect for effect in effects}


def _typed(orders: dict[str, Any]) -> list[tuple[Any, Any]]:
    return list(orders.items())
