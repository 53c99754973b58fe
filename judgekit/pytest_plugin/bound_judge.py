"""The fixture `judge`: grades outputs with the settings of its test.

Judges, rubrics and cases are shared by the tests of a process.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from judgekit.datasets import load_dataset, load_rubric
from judgekit.errors import InputError, SettingsError, UnknownNameError
from judgekit.judge import Judge
from judgekit.models import Budget
from judgekit.pytest_plugin.verdict_recorder import (
    unanswered_message,
    verdict_details,
    verdict_summary,
)
from judgekit.records import Case, Output, Rubric, Verdict
from judgekit.scoring import passes_by_votes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.pytest_plugin.settings import Settings
    from judgekit.pytest_plugin.verdict_recorder import VerdictRecorder

    _Question = tuple[Case, Output, Rubric]


class GradedVerdict(Verdict):
    """A verdict whose repr, which pytest shows for a failing assertion, has the reason."""

    def __repr__(self) -> str:
        return f"<{verdict_summary(self)}>"


class BoundJudge:
    """A judge with the settings of a test: model, rubric, threshold, cache."""

    def __init__(
        self,
        pool: JudgePool,
        settings: Settings,
        recorder: VerdictRecorder,
        find_rubric: Callable[[], str | Path | Rubric],
    ) -> None:
        self._pool = pool
        self._settings = settings
        self._recorder = recorder
        self._find_rubric = find_rubric

    def __repr__(self) -> str:
        return f"<judge {self.judge.id}>"

    @property
    def judge(self) -> Judge:
        """The `judgekit.Judge` that is called."""
        return self._pool.judge(self._settings)

    @property
    def rubric(self) -> Rubric:
        """The rubric of the test, with the threshold of its marker."""
        return self._pool.rubric(self._find_rubric(), self._settings.threshold)

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
        """`grade` by its name on a `Judge`, so that functions that take a judge take this too."""
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
        """`grade` for asynchronous tests, without blocking their event loop."""
        # Several may be awaited at the same time. The connections belong to an event loop of the
        # judge, because that of a test ends with the test.
        __tracebackhide__ = True
        about = self._case(case, reference=reference, context=context, case_id=case_id)
        question = (about, _output(output), self._rubric(rubric))
        loop, threads = asyncio.get_running_loop(), self._pool.threads
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
            raise AssertionError(self._recorder.pop_details(verdict))
        return verdict

    def _case(
        self,
        case: Case | JsonValue,
        *,
        reference: JsonValue,
        context: JsonValue,
        case_id: str | None,
    ) -> Case:
        more = {"id": case_id, "reference": reference, "context": context}
        changes = {name: value for name, value in more.items() if value is not None}
        # With a file of cases a text is the id of one; without it, it is the input.
        if isinstance(case, str) and self._settings.cases is not None:
            case = self._pool.case(self._settings.cases, case)
        if isinstance(case, Case):
            return case.model_copy(update=changes) if changes else case
        return Case.model_validate({"id": self._recorder.next_id(), "input": case, **changes})

    def _rubric(self, source: str | Path | Rubric | None) -> Rubric:
        if source is None:
            return self.rubric
        return self._pool.rubric(source, self._settings.threshold)

    def _settle(self, question: _Question, verdict: Verdict) -> Verdict:
        """Record a verdict and return it; end the test if a missing answer leaves it undecided."""
        __tracebackhide__ = True
        rubric = question[2]
        verdict = GradedVerdict(**dict(verdict))
        votes = self._settings.min_pass
        if votes is not None and verdict.error is None:
            verdict = passes_by_votes(verdict, rubric, votes)
        # A failed call matters only if the other answers do not decide.
        is_unanswered = verdict.passed is None and bool(verdict.failures)
        self._recorder.add(
            verdict, rubric, "" if verdict.passed else verdict_details(verdict, rubric, votes)
        )
        if is_unanswered:
            self._recorder.pop_details(verdict)
            self._give_up(unanswered_message(verdict))
        return verdict

    def _give_up(self, message: str) -> NoReturn:
        __tracebackhide__ = True
        if self._settings.no_answer == "skip":
            pytest.skip(message.partition("\n")[0])
        if self._settings.no_answer == "xfail":
            pytest.xfail(message.partition("\n")[0])
        self._recorder.unanswered = True
        pytest.fail(message, pytrace=False)


def _output(output: Output | JsonValue) -> Output:
    if isinstance(output, Output):
        return output
    # JSON null is a valid output, but here it is nearly always a missing `return`.
    if output is None:
        raise InputError(
            "the output to grade is None", hint="does the function under test return its answer?"
        )
    return Output(text=output) if isinstance(output, str) else Output(data=output)


_MOST_JUDGES = 16
_MOST_THREADS = 32


class JudgePool:
    """Makes each judge, rubric and file of cases once, and closes the judges at the end."""

    def __init__(self, limit_usd: float | None = None) -> None:
        self._budget = None if limit_usd is None else Budget(limit_usd)
        self._judges: list[tuple[Mapping[str, object], Judge]] = []
        self._rubrics: dict[str, Rubric] = {}
        self._cases: dict[str, dict[str, Case]] = {}
        self._threads: ThreadPoolExecutor | None = None

    def judge(self, settings: Settings) -> Judge:
        """The judge of some settings; tests with the same settings share it."""
        if settings.model is None:
            raise SettingsError(
                "no judge is named",
                hint="give --judgekit-judge openai/gpt-4.1-mini (or recorded:FILE, local, …), "
                "judgekit_judge in the ini file, JUDGEKIT_JUDGE, or @pytest.mark.judge(model=…)",
            )
        wanted = {"model": settings.model, **settings.arguments}
        for place, (made_of, judge) in enumerate(self._judges):
            if made_of == wanted:
                # The most recently used one is last; the first is closed when there are too many.
                self._judges.append(self._judges.pop(place))
                return judge
        arguments: dict[str, Any] = {"budget": self._budget, **settings.arguments}
        judge = Judge(settings.model, **arguments)
        self._judges.append((wanted, judge))
        if len(self._judges) > _MOST_JUDGES:  # each has a thread and the cache's file open
            self._judges.pop(0)[1].close()
        return judge

    def rubric(self, source: str | Path | Rubric | None, threshold: float | None = None) -> Rubric:
        """A rubric, read once."""
        if source is None:
            raise SettingsError(
                "no rubric is named",
                hint="give --judgekit-rubric FILE or a shipped one's name (helpfulness, …), "
                "judgekit_rubric in the ini file, JUDGEKIT_RUBRIC, @pytest.mark.judge(rubric=…), "
                "or rubric=… in the call",
            )
        rubric = source if isinstance(source, Rubric) else self._read_rubric(source)
        if threshold is None or threshold == rubric.pass_threshold:
            return rubric
        # A new rubric, not a copy: the fingerprint of the other one must not be taken along.
        fields = {name: getattr(rubric, name) for name in Rubric.model_fields}
        return Rubric(**{**fields, "pass_threshold": threshold})

    def case(self, file: str | Path, case_id: str) -> Case:
        """A case of a file of cases."""
        key = str(file)
        if key not in self._cases:
            self._cases[key] = {case.id: case for case in load_dataset(file, unique=True).cases}
        known = self._cases[key]
        if case_id not in known:
            raise UnknownNameError(f"case in {file}", case_id, known)
        return known[case_id]

    def _read_rubric(self, source: str | Path) -> Rubric:
        key = str(source)
        if key not in self._rubrics:
            self._rubrics[key] = load_rubric(source)
        return self._rubrics[key]

    @property
    def threads(self) -> ThreadPoolExecutor:
        """The threads in which asynchronous tests call a judge."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="judgekit-test")
        return self._threads

    def close(self) -> None:
        """Close the judges, with their connections and caches."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
        for _, judge in self._judges:
            judge.close()
        self._judges.clear()
