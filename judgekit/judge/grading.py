"""The grading of one output: what is asked, what is known of it, and what it comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.judge.confidence import with_repeat_confidence
from judgekit.judge.gathering import gathered
from judgekit.records.judgment import JudgeFailure, Judgment
from judgekit.verdicts import conclude

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Sequence

    from judgekit.judge.answers import Said
    from judgekit.judge.questions import Question
    from judgekit.records.calibration_map import Judging
    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.records.rubric import Rubric
    from judgekit.records.verdict import Verdict

    Ask = Callable[[Question], Coroutine[object, object, list[Said]]]


@dataclass(frozen=True, slots=True)
class Grading:
    """The grading of one output, begun: what is owned is known, the rest is to be asked."""

    case: Case
    """What was to be answered."""

    output: Output
    """What was produced."""

    rubric: Rubric
    """How it is judged."""

    questions: Sequence[Question]
    """What is asked, in the rubric's order, repeat by repeat; nothing of an output in error."""

    answers: Sequence[list[Said] | None]
    """What each question came to; None while it is open."""

    ask: Ask
    """Asks one question."""

    asked: Judging | None = None
    """How the judge is asked."""

    @property
    def verdict(self) -> Verdict | None:
        """What the rubric concludes; None while a question is open."""
        return None if None in self.answers else self._concluded(self.answers)

    async def finished(self) -> Verdict:
        """Ask what is open, and conclude."""
        paired = list(zip(self.questions, self.answers, strict=True))
        asked = iter(await gathered([self.ask(each) for each, known in paired if known is None]))
        return self._concluded([next(asked) if known is None else known for _, known in paired])

    def _concluded(self, answers: Iterable[list[Said] | None]) -> Verdict:
        said = [one for answer in answers for one in answer or ()]
        verdict = conclude(
            self.rubric,
            with_repeat_confidence([one for one in said if isinstance(one, Judgment)]),
            [one for one in said if isinstance(one, JudgeFailure)],
            case_id=self.case.id,
            variant=self.output.variant,
            error=self.output.error,
        )
        return verdict if self.asked is None else verdict.model_copy(update={"asked": self.asked})
