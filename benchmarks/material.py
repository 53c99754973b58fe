"""The work that is measured: cases, outputs, a rubric and replies, the same in every run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from judgekit.models.request import ModelReply
from judgekit.records import Case, Criterion, Level, Output, Rubric, Scale, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from judgekit.models.request import ModelRequest

MODEL = "openai/judge"
"""The judge as it is named to litellm; it is always a loopback server."""

QUOTE = "returned within 30 days of delivery"
_COST = "Return shipping costs 4.95 euros"
# As judges quote: a third of all quotations is not in the output to the letter. Half of those are
# found when white space is made alike; in the others the judge changed a figure.
_COST_AS_QUOTED = (_COST, "Return  shipping\ncosts 4.95 euros", "Return shipping costs 5.95 euros")
_INPUT = (
    "Customer {number} asks: I bought the trail shoes in the sale three weeks ago and they are "
    "too small. Can I still return them, what does it cost me, and how do I get my money back?"
)
_REFERENCE = (
    "Yes. Sale items can be returned within 30 days; return shipping costs 4.95 euros and is taken "
    "off the refund, which goes to the original means of payment within 14 days."
)
_ANSWER = (
    "Thank you for writing, customer {number}. Yes, you can still send the shoes back: items from "
    f"the sale can be {QUOTE}, as long as they are unworn and in their box. Please "
    "print the label from your account under Orders, choose the order with the trail shoes, and "
    "drop the parcel at any pick-up point. Return shipping costs 4.95 euros, which we take off the "
    "refund. You get the money back on the card or account you paid with, usually within 14 days "
    "of the parcel's arrival. If you would rather exchange them for a larger size, choose Exchange "
    "in the same place, and shipping is free both ways."
)
_LEVELS = {
    5: "Every claim is right and nothing that was asked is left open.",
    4: "Only a slip that changes nothing for the customer.",
    3: "The core is right; a side point is wrong or missing.",
    2: "The core is partly wrong, or most of it is missing.",
    1: "The core is wrong or made up.",
}


def one_criterion() -> Rubric:
    """A rubric with one criterion and five described levels, so that an output is one call."""
    scale = Scale(
        min=1,
        max=5,
        integer=True,
        levels=tuple(Level(value=n, description=text) for n, text in _LEVELS.items()),
    )
    question = "Does the answer give the customer the right rules for a return, and all of them?"
    criterion = Criterion(name="correctness", question=question, scale=scale)
    return Rubric(name="returns", criteria=(criterion,))


def answers(n: int, *, first: int = 0, apostrophe: str = "'") -> Iterator[tuple[Case, Output]]:
    """Cases with their outputs; no two are alike.

    Args:
        n: How many.
        first: The number of the first one.
        apostrophe: The one in each output; a typographic one makes it more than ASCII.

    Yields:
        A case and its output, of about 170 and 750 characters.
    """
    for number in range(first, first + n):
        case = Case(id=f"case-{number}", input=_INPUT.format(number=number), reference=_REFERENCE)
        text = _ANSWER.format(number=number).replace("'", apostrophe)
        yield case, Output(text=text, case_id=case.id, variant="a")


def reply_text(score: float = 4, number: int = 0, criteria: Sequence[str] = ()) -> str:
    """A reply in the form judgekit asks for, of about 330 characters a criterion.

    Args:
        score: The raw score.
        number: Makes the rationale its own, and decides how the output is quoted.
        criteria: Those of a joint reply; none is a reply about one criterion.
    """
    answer = {
        "evidence": [QUOTE, _COST_AS_QUOTED[number % len(_COST_AS_QUOTED)]],
        "rationale": f"In answer {number} the period, the cost and the way of the refund agree "
        "with the reference, and the offer to exchange does no harm. It is not best, because "
        "it adds conditions that the reference does not know.",
        "assessable": True,
        "score": score,
        "confidence": 0.85,
    }
    return json.dumps({"criteria": dict.fromkeys(criteria, answer)} if criteria else answer)


class FillingModel:
    """Answers every request at once, for filling a cache.

    Args:
        score: The raw score it always gives.
        criteria: The criteria of joint replies.
    """

    name = MODEL

    def __init__(self, score: float, criteria: Sequence[str] = ()) -> None:
        self._score = score
        self._criteria = criteria
        self.n_asked = 0

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The next reply.

        Args:
            request: Of no influence.
        """
        del request
        self.n_asked += 1
        return ModelReply(
            text=reply_text(self._score, self.n_asked, self._criteria),
            usage=Usage(input_tokens=700, output_tokens=90),
            model="judge-2026-01-01",
            cost_usd=0.0004,
            duration_ms=800.0,
        )


class PreferringModel:
    """Answers every joint comparison at once, with the first output as the better one.

    Args:
        criteria: The criteria of its replies.
    """

    name = MODEL

    def __init__(self, criteria: Sequence[str]) -> None:
        self._criteria = criteria
        self._n_asked = 0

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The next reply.

        Args:
            request: Of no influence.
        """
        del request
        self._n_asked += 1
        quotes = [QUOTE, _COST_AS_QUOTED[self._n_asked % len(_COST_AS_QUOTED)]]
        answer = {
            "evidence_first": quotes,
            "evidence_second": quotes,
            "rationale": f"In pair {self._n_asked} both give the period, the cost and the way of "
            "the refund; the first says it in fewer words.",
            "score_first": 8,
            "score_second": 7,
            "preference": "first",
            "confidence": 0.7,
            "assessable": True,
        }
        reply = {"criteria": dict.fromkeys(self._criteria, answer), "overall": answer}
        return ModelReply(text=json.dumps(reply))
