"""The fixture `judge`: grades outputs with the settings of its test.

The settings are those of marker, command line, environment, conftest and ini file. Judges, rubrics
and cases are shared by the tests of a process.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import pytest

from judgekit.datasets import DEFAULT_CACHE_FOLDER, load_dataset, load_rubric
from judgekit.errors import InputError, SettingsError, UnknownNameError
from judgekit.evaluation import judging_of_judge, resolve_calibration
from judgekit.judge import Judge
from judgekit.models import Budget
from judgekit.pytest_plugin.options import (
    OPTIONS_BY_KEY,
    PluginOption,
    parse_count,
    read_value,
    resolve_file,
    settings_of_session,
)
from judgekit.pytest_plugin.verdict_recorder import (
    VerdictRecorder,
    unanswered_message,
    verdict_details,
    verdict_summary,
)
from judgekit.records import CalibrationInUse, Case, Output, Rubric, Verdict
from judgekit.scoring import apply_calibration, passes_by_votes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.models.request import Model

    _Question = tuple[Case, Output, Rubric]


class _About(TypedDict, total=False):
    """What a call may say beside input and output; what it omits is the test's own setting."""

    reference: JsonValue
    context: JsonValue
    rubric: str | Path | Rubric | None
    case_id: str | None


NoAnswer = Literal["error", "skip", "xfail"]
"""The outcome of a test whose judge gave no usable answer."""

_MARKED = {
    key: OPTIONS_BY_KEY[key]
    for key in (
        "model", "api_base", "rubric", "cases", "mode", "repeats", "threshold", "no_answer",
    )
} | {
    "min_pass": PluginOption("min_pass", "N", "Repeats that have to pass.", parse_count),
    "template": PluginOption("template", "NAME", "Prompt template."),
}  # fmt: skip

_NAMED = ("rubric", "cases", "threshold", "min_pass", "no_answer", "calibration")
_OF_THE_RUN = ("report", "max_cost")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one test's judge."""

    rubric: str | Path | Rubric | None = None

    cases: str | Path | None = None
    """A file of cases, for the fixture `case`; their ids may be given instead of inputs."""

    threshold: float | None = None
    """The lowest value that passes; None takes the rubric's own."""

    min_pass: int | None = None
    """How many of the repeats have to pass, each by itself; None decides by their mean."""

    no_answer: NoAnswer = "error"

    calibration: str | Path | None = None
    """Calibration maps, a file or a folder; calibrated values decide where they apply."""

    model: str | Model | None = None

    arguments: Mapping[str, object] = field(default_factory=dict)
    """Further arguments of `Judge`."""


def settings_of(item: pytest.Item, own: Mapping[str, object]) -> Settings:
    # The nearest `judge` marker goes first, then the command line, the environment, the fixture
    # `judge_options`, and the ini file.
    config = item.config
    ini, run = (settings_of_session(config, from_ini=from_ini) for from_ini in (True, False))
    synonym = {"cache": own["cache_dir"]} if "cache_dir" in own else {}
    merged = {**ini, **own, **synonym, **run, **_marked(item)}
    merged.pop("cache_dir", None)
    named = {key: merged.pop(key) for key in _NAMED if key in merged}
    model = merged.pop("model", None)
    # These hold for the whole session, not for the judge of one test.
    for key in _OF_THE_RUN:
        merged.pop(key, None)
    off = merged.pop("no_cache", False)
    for name, is_set in (("no_cache", off), ("refresh", merged.get("refresh"))):
        if is_set and merged.get("frozen"):
            raise SettingsError(f"{name} and frozen contradict each other")
    if off:
        merged["cache"] = None
    merged.setdefault("cache", config.rootpath / DEFAULT_CACHE_FOLDER)
    votes, repeats = named.get("min_pass"), merged.get("repeats", 1)
    if isinstance(votes, int) and isinstance(repeats, int) and votes > repeats:
        raise SettingsError(
            f"min_pass is {votes} of {repeats} repeats", hint=f"set at least repeats={votes}"
        )
    if votes is not None and "calibration" in named:
        # A vote is a repeat's own verdict; maps are fitted to the values that decide a verdict.
        raise SettingsError(
            "min_pass and calibration contradict each other: votes count the judge's own values",
            hint="omit one of them",
        )
    return Settings(model=model, arguments=merged, **named)  # type: ignore[arg-type]  # each was read as what it is


def _marked(item: pytest.Item) -> dict[str, object]:
    """The settings of the markers; for each setting the nearest marker counts."""
    found: dict[str, object] = {}
    # A marker stands in a test file, so its paths are relative to that first.
    folders = [item.path.parent, item.config.rootpath]
    for marker in item.iter_markers("judge"):
        where = f"{item.nodeid}: @pytest.mark.judge"
        if marker.args:
            raise SettingsError(
                f"{where} takes names only", hint='for example rubric="helpfulness"'
            )
        for key, value in marker.kwargs.items():
            if key not in _MARKED:
                known = ", ".join(sorted(_MARKED))
                raise SettingsError(f"{where} takes no {key!r}", hint=f"it takes {known}")
            option = _MARKED[key]
            plain = (
                value if option.read is str else read_value(option, str(value), f"{where}, {key}")
            )
            found.setdefault(key, resolve_file(key, plain, folders))
    return found


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
        self, case: Case | JsonValue, output: Output | JsonValue, **about: Unpack[_About]
    ) -> Verdict:
        """Grade one output; to be asserted with `assert verdict.passed`."""
        __tracebackhide__ = True
        question = self._question(case, output, **about)
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
        self, case: Case | JsonValue, output: Output | JsonValue, **about: Unpack[_About]
    ) -> Verdict:
        """`grade` for asynchronous tests, without blocking their event loop."""
        # Several may be awaited at the same time. The connections belong to an event loop of the
        # judge, because that of a test ends with the test.
        __tracebackhide__ = True
        question = self._question(case, output, **about)
        loop, threads = asyncio.get_running_loop(), self._pool.threads
        verdict = await loop.run_in_executor(threads, self.judge.grade_sync, *question)
        return self._settle(question, verdict)

    def assert_passes(
        self,
        input: Case | JsonValue,  # noqa: A002 - the glossary's word for it
        output: Output | JsonValue,
        **about: Unpack[_About],
    ) -> Verdict:
        """Grade one output and fail the test unless it passes, with every reason in the message."""
        __tracebackhide__ = True
        return self._assert_passed(self.grade(input, output, **about))

    async def assert_passes_async(
        self,
        input: Case | JsonValue,  # noqa: A002 - the glossary's word for it
        output: Output | JsonValue,
        **about: Unpack[_About],
    ) -> Verdict:
        """`assert_passes` for asynchronous tests."""
        __tracebackhide__ = True
        return self._assert_passed(await self.grade_async(input, output, **about))

    def _assert_passed(self, verdict: Verdict) -> Verdict:
        __tracebackhide__ = True
        if not verdict.passed:
            raise AssertionError(self._recorder.pop_details(verdict))
        return verdict

    def _question(
        self,
        case: Case | JsonValue,
        output: Output | JsonValue,
        *,
        rubric: str | Path | Rubric | None = None,
        case_id: str | None = None,
        reference: JsonValue = None,
        context: JsonValue = None,
    ) -> _Question:
        about = {"id": case_id, "reference": reference, "context": context}
        changes = {name: value for name, value in about.items() if value is not None}
        # With a file of cases a text is the id of one; without it, it is the input.
        if isinstance(case, str) and self._settings.cases is not None:
            case = self._pool.case(self._settings.cases, case)
        if not isinstance(case, Case):
            case = Case.model_validate({"id": self._recorder.next_id(), "input": case, **changes})
        elif changes:
            case = case.model_copy(update=changes)
        source = self._find_rubric() if rubric is None else rubric
        return case, _output(output), self._pool.rubric(source, self._settings.threshold)

    def _settle(self, question: _Question, verdict: Verdict) -> Verdict:
        """Record a verdict and return it; end the test if a missing answer leaves it undecided."""
        __tracebackhide__ = True
        rubric = question[2]
        use = self._pool.calibration(self._settings.calibration, rubric, self.judge)
        verdict = GradedVerdict(**dict(apply_calibration(verdict, rubric, use)))
        votes = self._settings.min_pass
        if votes is not None and verdict.error is None:
            verdict = passes_by_votes(verdict, rubric, votes)
        # A failed call matters only if the other answers do not decide.
        is_unanswered = verdict.passed is None and bool(verdict.failures)
        details = "" if verdict.passed else verdict_details(verdict, rubric, votes)
        self._recorder.add(verdict, rubric, details, use.words)
        if is_unanswered:
            self._recorder.pop_details(verdict)
            message = unanswered_message(verdict)
            if self._settings.no_answer == "skip":
                pytest.skip(message.partition("\n")[0])
            if self._settings.no_answer == "xfail":
                pytest.xfail(message.partition("\n")[0])
            self._recorder.unanswered = True
            pytest.fail(message, pytrace=False)
        return verdict


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
        self._calibrations: dict[tuple[str, str, str], CalibrationInUse] = {}
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
        if source is None:
            raise SettingsError(
                "no rubric is named",
                hint="give --judgekit-rubric FILE or a shipped one's name (helpfulness, …), "
                "judgekit_rubric in the ini file, JUDGEKIT_RUBRIC, @pytest.mark.judge(rubric=…), "
                "or rubric=… in the call",
            )
        if isinstance(source, Rubric):
            rubric = source
        elif (read := self._rubrics.get(str(source))) is not None:
            rubric = read
        else:
            rubric = self._rubrics[str(source)] = load_rubric(source)
        if threshold is None or threshold == rubric.pass_threshold:
            return rubric
        # A new rubric, not a copy: the fingerprint of the other one must not be taken along.
        fields = {name: getattr(rubric, name) for name in Rubric.model_fields}
        return Rubric(**{**fields, "pass_threshold": threshold})

    def calibration(
        self, path: str | Path | None, rubric: Rubric, judge: Judge
    ) -> CalibrationInUse:
        """Whether calibration maps hold for a rubric and a judge, looked up once."""
        # The whole configuration: judges with one id may differ in their parameters.
        panel = judging_of_judge(judge, rubric)
        key = str(path), rubric.fingerprint, panel.model_dump_json()
        if key not in self._calibrations:
            self._calibrations[key] = resolve_calibration(path, rubric, panel)
        return self._calibrations[key]

    def cases(self, file: str | Path) -> Mapping[str, Case]:
        key = str(file)
        if key not in self._cases:
            self._cases[key] = {case.id: case for case in load_dataset(file, unique=True).cases}
        return self._cases[key]

    def case(self, file: str | Path, case_id: str) -> Case:
        known = self.cases(file)
        if case_id not in known:
            raise UnknownNameError(f"case in {file}", case_id, known)
        return known[case_id]

    @property
    def threads(self) -> ThreadPoolExecutor:
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
