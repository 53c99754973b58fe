"""The pytest plugin: fixtures `judge` and `rubric`, the marker `judge`, options and a summary.

Loading it imports pytest and the standard library only; everything else is imported when a test
uses a fixture. `-p no:judgekit` disables it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from judgekit.pytest_plugin.options import add_options, cost_limit, report_file

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from pathlib import Path

    from judgekit.evaluation import RunSummary
    from judgekit.pytest_plugin.bound_judge import BoundJudge, JudgePool
    from judgekit.pytest_plugin.verdict_recorder import ReportPayload, VerdictRecorder
    from judgekit.records import Rubric

_MARKER = (
    "judge(model=, rubric=, cases=, threshold=, repeats=, min_pass=, mode=, template=, api_base=, "
    "no_answer=): how the fixture `judge` of judgekit judges in this test."
)

_JUDGE_POOL: pytest.StashKey[JudgePool] = pytest.StashKey()
_RECORDER: pytest.StashKey[VerdictRecorder] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and ini entries."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and the summary in the process that reports."""
    config.addinivalue_line("markers", _MARKER)
    if hasattr(config, "workerinput"):  # a worker's verdicts travel with its tests' reports
        return
    try:
        config.pluginmanager.register(SummaryPlugin(report_file(config)), "judgekit_tally")
    except OSError as error:
        raise pytest.UsageError(f"--judgekit-report: {error}") from error


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the verdicts of a test to its report."""
    report = yield
    recorder = item.stash.get(_RECORDER, None)
    if recorder is not None:
        recorder.write_on(report)
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Report a test whose judge gave no usable answer as an error, not as a failure."""
    # The code under test did nothing wrong, and retrying the test may help.
    if getattr(report, "judgekit_unanswered", False):
        return "error", "E", "NO ANSWER"
    return None


@pytest.fixture
def judge_options() -> Mapping[str, object]:
    """Arguments of `judgekit.Judge` for the tests of a folder or file; override it."""
    # `model` may be any object with `name` and `async complete(request)`, a
    # `judgekit.ScriptedModel` for example. Options and markers go before it.
    return {}


@pytest.fixture
def rubric(request: pytest.FixtureRequest, judge_options: Mapping[str, object]) -> Rubric:
    """The rubric that the marker, an option, the environment or the ini file names."""
    # Override it to use a rubric made in Python.
    from judgekit.pytest_plugin.bound_judge import settings_of  # noqa: PLC0415

    with _without_traceback():
        settings = settings_of(request.node, judge_options)
        return _judge_pool(request.config).rubric(settings.rubric, settings.threshold)


@pytest.fixture
def judge(request: pytest.FixtureRequest, judge_options: Mapping[str, object]) -> BoundJudge:
    """A judge with the settings of this test: model, rubric, threshold, cache."""
    from judgekit.pytest_plugin.bound_judge import BoundJudge, settings_of  # noqa: PLC0415
    from judgekit.pytest_plugin.verdict_recorder import VerdictRecorder  # noqa: PLC0415

    recorder = request.node.stash[_RECORDER] = VerdictRecorder(request.node)
    with _without_traceback():
        pool = _judge_pool(request.config)
        settings = settings_of(request.node, judge_options)
        pool.judge(settings)  # an invalid setting is an error of the fixture, not of the test
    # The rubric is looked up when the test grades: one may be passed in the call instead.
    return BoundJudge(pool, settings, recorder, lambda: request.getfixturevalue("rubric"))


def _judge_pool(config: pytest.Config) -> JudgePool:
    # Made when the first test needs it: most sessions have no judge at all.
    if _JUDGE_POOL not in config.stash:
        from judgekit.pytest_plugin.bound_judge import JudgePool  # noqa: PLC0415

        config.stash[_JUDGE_POOL] = JudgePool(cost_limit(config))
        config.add_cleanup(config.stash[_JUDGE_POOL].close)
    return config.stash[_JUDGE_POOL]


@contextmanager
def _without_traceback() -> Iterator[None]:
    """Report an invalid setting without a traceback through judgekit."""
    from judgekit.errors import JudgekitError  # noqa: PLC0415

    try:
        yield
    except JudgekitError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


class SummaryPlugin:
    """A plugin of the process that reports: pytest's own, or the one that leads the workers."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._lines: list[str] = []
        self._rubrics: dict[str, str] = {}
        # Emptied at the start: verdicts of an earlier session would be counted again.
        if file is not None:
            file.write_text("", encoding="utf-8")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the verdicts of a test's report."""
        payload: ReportPayload | None = getattr(report, "judgekit", None)
        if payload is None:
            return
        self._lines += payload["verdicts"]
        self._rubrics.update(payload["rubrics"])
        # Appended at once, so that an interrupted session leaves the verdicts it paid for.
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.writelines(payload["verdicts"])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print a summary of the verdicts; nothing if no test was judged."""
        if not self._lines:
            return
        terminalreporter.section("judgekit")
        for line in summary_lines(self._lines, self._rubrics):
            terminalreporter.write_line(line)
        if self._file is not None:
            terminalreporter.write_line(f"wrote {self._file}")


def summary_lines(verdicts: list[str], rubrics: dict[str, str]) -> Iterator[str]:
    """The summary of verdicts, a line each for rates, judges, calls, problems."""
    # Imported only where tests were judged.
    from judgekit.evaluation import summarize_verdicts  # noqa: PLC0415
    from judgekit.records import Rubric, Verdict  # noqa: PLC0415
    from judgekit.report import format_pass_count, message, numbers  # noqa: PLC0415

    read = [Verdict.model_validate_json(line) for line in verdicts]
    # Rates are given for each rubric: the values of different rubrics are not comparable.
    for fingerprint, text in rubrics.items():
        of_it = [verdict for verdict in read if verdict.rubric_fingerprint == fingerprint]
        summary = summarize_verdicts(of_it, Rubric.model_validate_json(text))
        title = f"{message.printable(summary.rubric)}, passes from {summary.pass_threshold:g}"
        for variant in summary.variants:
            name = f", {message.printable(variant.variant)}" if variant.variant else ""
            yield (
                f"passed  {format_pass_count(variant)} "
                f"({numbers.format_rate(variant.pass_rate)}), "
                f"value {numbers.format_mean(variant.value)}: {title}{name}"
            )
    yield from _common_lines(summarize_verdicts(read, Rubric.model_validate_json(text)))


def _common_lines(summary: RunSummary) -> Iterator[str]:
    from judgekit.report import message, numbers  # noqa: PLC0415

    for judge in summary.judges:
        yield f"judge   {message.printable(judge)}"
    yield f"asked   {numbers.format_spending(summary.spent)}"
    if summary.n_evidence > summary.n_evidence_found:
        missing = summary.n_evidence - summary.n_evidence_found
        yield f"quotes  {missing} of {summary.n_evidence} passages are not in the outputs"
    for flag, n in summary.flags.items():
        if flag in message.FLAG_WORDS:
            yield f"marked  {numbers.format_count(n, 'judgment')}: {message.FLAG_WORDS[flag]}"
    for kind, n in summary.failures.items():
        yield (
            f"failed  {numbers.format_count(n, 'judgment')}: {message.FAILURE_WORDS[kind]} "
            "(excluded from the means, not counted as 0)"
        )
        yield f"        {message.one_line(summary.failure_messages[kind], 300)}"
