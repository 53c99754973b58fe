"""Two sides to compare, and comparisons whose outcome a test chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.evaluation import JudgedPair, OutputPair, Side, SideOutput
from judgekit.evaluation.comparison_summary import ComparisonTally
from judgekit.records import Comparison, Preference, PreferenceFailure
from judgekit.scoring import conclude_comparison
from tests.factories import make_case, make_output, make_rubric

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.evaluation import ComparisonSummary
    from judgekit.records import PreferenceSlot, PresentationOrder

RUBRIC = make_rubric()
CHOICES: dict[str, tuple[PreferenceSlot | None, PreferenceSlot | None]] = {
    "a": ("first", "second"),
    "b": ("second", "first"),
    "tie": ("tie", "tie"),
    "first": ("first", "first"),
    "second": ("second", "second"),
    "open": (None, "first"),
}
"""What the judge says with A shown first and with B shown first, for each outcome."""

MIRRORED = {"a": "b", "b": "a"}


def side(label: str, *cases: str, **fields: Any) -> Side:
    """A side that answers the cases with `<label> <case>`."""

    def read() -> Iterable[SideOutput]:
        for case in cases:
            yield SideOutput(
                make_case(id=case, input=f"Question {case}?", **fields),
                make_output(f"{label} {case}"),
            )

    return Side(label, lambda: iter(read()))


def said(outcome: str, case_id: str, **fields: Any) -> list[Preference | PreferenceFailure]:
    """What a judge says of one pair on the whole, in both orders."""
    found: list[Preference | PreferenceFailure] = []
    orders: tuple[PresentationOrder, PresentationOrder] = ("ab", "ba")
    for order, choice in zip(orders, CHOICES[outcome], strict=True):
        known = {"order": order, "case_id": case_id, "judge": "fake"} | fields
        if choice is None:
            found.append(PreferenceFailure(**known, kind="unreadable", message="no verdict"))
        else:
            found.append(Preference(**known, choice=choice, rationale="So it is."))
    return found


def compared(
    outcome: str, case_id: str = "c", *, texts: tuple[str, str] = ("one", "two"), **fields: Any
) -> JudgedPair:
    """A pair with the outcome that is wanted."""
    case = make_case(id=case_id, **fields)
    a, b = (make_output(text) for text in texts)
    if outcome == "error":
        found = conclude_comparison(RUBRIC, (), case_id=case_id, error="output a: timed out")
        return JudgedPair(OutputPair(case, a, b), found)
    answers = said(outcome, case_id)
    return JudgedPair(OutputPair(case, a, b), concluded(case_id, answers))


def concluded(case_id: str, answers: list[Preference | PreferenceFailure]) -> Comparison:
    """What answers come to."""
    return conclude_comparison(
        RUBRIC,
        [each for each in answers if isinstance(each, Preference)],
        [each for each in answers if isinstance(each, PreferenceFailure)],
        case_id=case_id,
    )


def summed(outcomes: Iterable[JudgedPair], **settings: Any) -> ComparisonSummary:
    """What comparisons come to."""
    tally = ComparisonTally(RUBRIC, ("new", "old"), alpha=settings.pop("alpha", 0.05))
    for one in outcomes:
        tally.add(one)
    return tally.summary(**settings)


def several(**counts: int) -> list[JudgedPair]:
    """So many pairs of each outcome: `several(a=9, b=1)`."""
    outcomes = [outcome for outcome, n in counts.items() for _ in range(n)]
    return [compared(outcome, f"c{place}") for place, outcome in enumerate(outcomes)]
