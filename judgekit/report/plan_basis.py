"""What a run's plan can show and what it rests on, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.planning.power import SOUGHT
from judgekit.report import view
from judgekit.report.rough import short_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.planning.figures import SuitePlan
    from judgekit.evaluation.planning.power import Detectable

_WHOLE_POINTS = 10


def shows(plan: SuitePlan) -> list[str]:
    """What differences between two variants the cases can show."""
    return [_shown(found) for found in plan.detectable]


def assumed(plan: SuitePlan) -> list[str]:
    """What the figures rest on that is not known."""
    said = [_spreads(plan.detectable), *_latencies(plan)]
    said += _lengths(plan)
    if plan.earlier is not None:
        answers = view.count(plan.earlier.n_answers, "answer")
        said.append(f"what is seen comes from run {plan.earlier.id} ({answers})")
    counted = list(dict.fromkeys(m.counted_by for m in plan.models if m.most.calls))
    if counted:
        said.append(f"tokens by {', '.join(counted)}; every reply is readable at first")
    return said


def _shown(found: Detectable) -> str:
    """For example `pass rate: a difference of 24 points or more; 5 points need 940 cases`."""
    is_rate = found.measure == "pass_rate"

    def amount(difference: float) -> str:
        if not is_rate:
            return f"{difference:.2g}"
        points = difference * 100
        return f"{points:.0f} points" if points >= _WHOLE_POINTS else f"{points:.2g} points"

    can = "no difference, however great"
    if found.smallest is not None:
        can = f"a difference of {amount(found.smallest)} or more"
    need = view.count(found.n_for_sought, "case")
    measure = "pass rate" if is_rate else "value"
    return f"{measure}: {can}; {amount(SOUGHT)} {'need' if is_rate else 'needs'} {need}"


def _spreads(found: Sequence[Detectable]) -> str:
    """On what it rests which differences can be shown."""
    words = {
        "pass_rate": lambda spread: f"{spread * 100:.0f} % of the cases differ in passing",
        "value": lambda spread: f"differences in value have sd {spread:.2f}",
    }
    parts = [
        f"{words[one.measure](one.spread)} ({'as seen' if one.is_observed else 'a guess'})"
        for one in found
    ]
    return f"{', '.join(parts)}; 80 % power at 5 %, two variants on the same cases"


def _latencies(plan: SuitePlan) -> list[str]:
    by_words: dict[str, list[str]] = {}
    for model in plan.models:
        if model.likely.calls:
            how = f"as {model.n_latencies:,} owned took" if model.n_latencies else "a guess"
            words = f"{view.milliseconds(model.latency_s * 1000)} a call ({how})"
            by_words.setdefault(f"{words}, {model.max_concurrency} at a time", []).append(
                model.model
            )
    return [
        f"{short_names(list(dict.fromkeys(names)), 'models')}: {words}"
        for words, names in by_words.items()
    ]


def _lengths(plan: SuitePlan) -> list[str]:
    by_words: dict[str, list[str]] = {}
    for one in plan.answers:
        if one.text is None or not plan.models:
            continue
        how = {
            "owned": "as its known answers",
            "run": "as seen",
            "others": "as answers of others",
            "assumed": "a guess",
        }[one.text_source or "assumed"]
        words = f"{one.text.likely:,.0f} tokens, {one.text.most:,.0f} at most ({how})"
        by_words.setdefault(words, []).append(one.variant)
    return [f"answers of {short_names(names)} have {words}" for words, names in by_words.items()]
