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

    from judgekit.pytest_plugin.bound_judge import BoundJudge, JudgePool
    from judgekit.pytest_plugin.verdict_recorder import VerdictRecorder
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
    from judgekit.pytest_plugin.session_summary import SummaryPlugin  # noqa: PLC0415 - imports nothing at its top

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
