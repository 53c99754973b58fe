"""The `judge` fixture: grades outputs as the test's settings say, and notes every verdict."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NoReturn

import pytest

from judgekit.errors import InputError
from judgekit.pytest_plugin.wording import in_short, told, unanswered
from judgekit.records.case import Case
from judgekit.records.output import Output
from judgekit.records.verdict import Verdict
from judgekit.verdicts.voting import passes_by_votes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.judge.judge import Judge
    from judgekit.pytest_plugin.bench import Bench
    from judgekit.pytest_plugin.notes import Notes
    from judgekit.pytest_plugin.settings import Settings
    from judgekit.records.rubric import Rubric

    Question = tuple[Case, Output, Rubric]


class GradedVerdict(Verdict):
    """A verdict that says in a failing `assert verdict.passed` what it comes to."""

    def __repr__(self) -> str:
        return f"<{in_short(self)}>"


class BoundJudge:
    """A judge with everything a test's settings say: model, rubric, threshold, cache."""

    def __init__(
        self,
        bench: Bench,
        settings: Settings,
        notes: Notes,
        find_rubric: Callable[[], str | Path | Rubric],
    ) -> None:
        self._bench = bench
        self._settings = settings
        self._notes = notes
        self._find_rubric = find_rubric

    def __repr__(self) -> str:
        return f"<judge {self.judge.id}>"

    @property
    def judge(self) -> Judge:
        """The `judgekit.Judge` that is asked."""
        return self._bench.judge(self._settings)

    @property
    def rubric(self) -> Rubric:
        """The rubric of the test, with the threshold of its marker."""
        return self._bench.rubric(self._find_rubric(), self._settings.threshold)

    def grade(
        self,
        case: Case | JsonValue,
        output: Output | JsonValue,
        *,
        reference: JsonValue = None,
        context: JsonValue = None,
        rubric: str | Path | Rubric | None = None,
        case_id: str | None = None,
    ) -> Verdict:
        """Grade one output; to be asserted with `assert verdict.passed`."""
        __tracebackhide__ = True
        about = self._case(case, reference=reference, context=context, case_id=case_id)
        question = (about, _output(output), self._rubric(rubric))
        return self._settle(question, self.judge.grade_sync(*question))

    def grade_sync(
        self,
        case: Case | JsonValue,
        output: Output | JsonValue,
        rubric: str | Path | Rubric | None = None,
    ) -> Verdict:
        """`grade` by the name it has on a `Judge`, so that what takes one takes this too."""
        __tracebackhide__ = True
        return self.grade(case, output, rubric=rubric)

    async def grade_async(
        self,
        case: Case | JsonValue,
        output: Output | JsonValue,
        *,
        reference: JsonValue = None,
        context: JsonValue = None,
        rubric: str | Path | Rubric | None = None,
        case_id: str | None = None,
    ) -> Verdict:
        """`grade`, for asynchronous tests whose loop is to go on meanwhile."""
        # Several may be awaited at once. Connections stay in a loop of the judge's own, so that a
        # test's loop can end when it likes.
        __tracebackhide__ = True
        about = self._case(case, reference=reference, context=context, case_id=case_id)
        question = (about, _output(output), self._rubric(rubric))
        loop, threads = asyncio.get_running_loop(), self._bench.threads
        verdict = await loop.run_in_executor(threads, self.judge.grade_sync, *question)
        return self._settle(question, verdict)

    def assert_passes(
        self,
        input: JsonValue,  # noqa: A002 - the glossary's word for it
        output: Output | JsonValue,
        *,
        reference: JsonValue = None,
        context: JsonValue = None,
        rubric: str | Path | Rubric | None = None,
        case_id: str | None = None,
    ) -> Verdict:
        """Grade one output and fail the test unless it passes, with every reason in the message."""
        __tracebackhide__ = True
        verdict = self.grade(
            input, output, reference=reference, context=context, rubric=rubric, case_id=case_id
        )
        if not verdict.passed:
            raise AssertionError(self._notes.pop_told(verdict))
        return verdict

    def _case(
        self,
        given: Case | JsonValue,
        *,
        reference: JsonValue,
        context: JsonValue,
        case_id: str | None,
    ) -> Case:
        more = {"id": case_id, "reference": reference, "context": context}
        changes = {name: value for name, value in more.items() if value is not None}
        if isinstance(given, str) and self._settings.cases is not None:
            given = self._bench.case(self._settings.cases, given)
        if isinstance(given, Case):
            return given.model_copy(update=changes) if changes else given
        return Case.model_validate({"id": self._notes.next_id(), "input": given, **changes})

    def _rubric(self, given: str | Path | Rubric | None) -> Rubric:
        return self.rubric if given is None else self._bench.rubric(given, self._settings.threshold)

    def _settle(self, question: Question, verdict: Verdict) -> Verdict:
        """Note a verdict and give it out, unless the judge owes the answer that decides it."""
        __tracebackhide__ = True
        rubric = question[2]
        verdict = GradedVerdict(**dict(verdict))
        votes = self._settings.min_pass
        if votes is not None and verdict.error is None:
            verdict = passes_by_votes(verdict, rubric, votes)
        open_for_lack = verdict.passed is None and bool(verdict.failures)
        self._notes.add(verdict, rubric, "" if verdict.passed else told(verdict, rubric, votes))
        if open_for_lack:
            self._notes.pop_told(verdict)
            self._give_up(unanswered(verdict))
        return verdict

    def _give_up(self, message: str) -> NoReturn:
        __tracebackhide__ = True
        if self._settings.no_answer == "skip":
            pytest.skip(message.partition("\n")[0])
        if self._settings.no_answer == "xfail":
            pytest.xfail(message.partition("\n")[0])
        self._notes.unanswered = True
        pytest.fail(message, pytrace=False)


def _output(given: Output | JsonValue) -> Output:
    if isinstance(given, Output):
        return given
    if given is None:
        raise InputError(
            "the output to grade is None", hint="does the function under test return its answer?"
        )
    return Output(text=given) if isinstance(given, str) else Output(data=given)
