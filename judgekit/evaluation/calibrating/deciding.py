"""Whether this judge may stand in for a person: yes, no, or why that cannot be said."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Literal

from judgekit.evaluation.calibrating.people import alignment_of, replacement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.calibrating.agreeing import Agreement
    from judgekit.evaluation.calibrating.aligned import Aligned
    from judgekit.evaluation.calibrating.options import Alignment, CalibrationOptions
    from judgekit.evaluation.calibrating.people import Ceiling
    from judgekit.stats.replacement import AltTest

Answer = Literal["yes", "no", "open"]

_FEW = 30
_FULL = 1 - 1e-9
_SLIGHT = 0.2
"""Agreement up to here is slight (Landis & Koch 1977)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """Whether a judge may stand in for a person on one criterion, or the whole."""

    answer: Answer
    """`yes`, `no`, or `open` where the labels cannot say."""

    reason: str
    """Why, in one line."""

    test: AltTest | None
    """The alternative-annotator test; None where the labels do not allow one."""

    why_no_test: str | None
    """Why there is none."""

    scoring: Alignment | None = None
    """What the test goes by; None over several criteria."""


def stand_in(
    aligned: Aligned, found: Agreement, people: Ceiling, options: CalibrationOptions
) -> StandIn:
    """Whether the judge may stand in for a person."""
    # Yes takes the alternative-annotator test, and people who agree with one another beyond chance:
    # otherwise there is nothing to stand in for. No is said where the judge agrees with people no
    # better than slightly, or where it is shown to be further from them than they are. All else is
    # open.
    tested = replacement(aligned, options)
    test, why_no_test = (None, tested) if isinstance(tested, str) else (tested, None)
    answer, reason = _answer(aligned, found, people, test, why_no_test)
    return StandIn(
        answer=answer,
        reason=reason,
        test=test,
        why_no_test=why_no_test,
        scoring=alignment_of(aligned, options),
    )


def together(parts: Sequence[tuple[str, StandIn]]) -> StandIn:
    """What several criteria come to: yes where all are, no where one is."""
    if len(parts) == 1:
        return parts[0][1]
    by_answer: dict[Answer, list[str]] = {"yes": [], "no": [], "open": []}
    for name, part in parts:
        by_answer[part.answer].append(name)
    words = {"yes": "yes on", "no": "no on", "open": "cannot be said on"}
    said = "; ".join(
        f"{words[answer]} {', '.join(names)}" for answer, names in by_answer.items() if names
    )
    answer: Answer = "no" if by_answer["no"] else "open" if by_answer["open"] else "yes"
    return StandIn(answer=answer, reason=said, test=None, why_no_test="see each criterion")


def _answer(
    aligned: Aligned,
    found: Agreement,
    people: Ceiling,
    test: AltTest | None,
    why_no_test: str | None,
) -> tuple[Answer, str]:
    n = len(aligned.both)
    if not n:
        return "open", "no item has both a label and a score"
    chance = _at_chance(found, n) or _one_score(aligned, n)
    if chance is not None:
        return chance
    if test is None:
        return "open", _more_needed(people) or str(why_no_test)
    return _tested(test, people)


def _tested(test: AltTest, people: Ceiling) -> tuple[Answer, str]:
    # Of full agreement no interval can be seen in the data; it is no chance all the same.
    if not (people.alpha.low > 0 or people.alpha.value >= _FULL):
        alpha = "undefined" if isnan(people.alpha.value) else f"{people.alpha.value:.2f}"
        return "open", f"people do not agree beyond chance (alpha {alpha}): nothing to stand in for"
    held = f"{sum(test.rejected)} of {len(test.raters)} annotators"
    figures = f"winning rate {test.winning_rate:.2f}, epsilon {test.epsilon:g}"
    if test.passed:
        return "yes", f"it holds against {held} ({figures}){_caveat(test)}"
    if people.distance_gap.high < 0:
        return "no", f"it is further from people than they are; holds against {held} ({figures})"
    return "open", f"it holds against {held} only ({figures}), and is not shown to be worse either"


def _at_chance(found: Agreement, n: int) -> tuple[Answer, str] | None:
    """What an agreement that may be chance comes to: no where it is slight at best, else open."""
    has_levels = not isnan(found.kappa_quadratic.value)
    name, kappa = ("kappa", found.kappa_quadratic) if has_levels else ("concordance", found.ccc)
    if n < _FEW or isnan(kappa.value) or isnan(kappa.low) or kappa.low > 0:
        return None
    figure = f"{name} {kappa.value:.2f} [{kappa.low:.2f}, {kappa.high:.2f}]"
    answer: Answer = "no" if kappa.high < _SLIGHT else "open"
    return answer, f"its agreement with people cannot be told from chance: {figure}, n {n}"


def _one_score(aligned: Aligned, n: int) -> tuple[Answer, str] | None:
    """A judge who says the same of everything may be right often; it tells nothing apart."""
    if n < _FEW or len(set(aligned.judge.tolist())) > 1 or len(set(aligned.human.tolist())) == 1:
        return None
    reason = (
        f"it gives all {n} the same score: its agreement with people cannot be told from chance"
    )
    return "open", reason


def _more_needed(people: Ceiling) -> str:
    if people.n_annotators > 1:
        return ""
    return "one annotator labelled; two more, on 30 items or more, would tell"


def _caveat(test: AltTest) -> str:
    return "" if test.note is None else f"; {test.note}"
