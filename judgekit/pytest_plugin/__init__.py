"""The pytest plugin: fixtures `judge`, `rubric` and `case`, a marker, options and a summary.

Loading it imports pytest and the standard library only; everything else is imported when a test
uses a fixture. `-p no:judgekit` disables it.
"""

from __future__ import annotations

import inspect
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
    from judgekit.records import Case, Rubric

_MARKER = (
    "judge(model=, rubric=, cases=, threshold=, repeats=, min_pass=, mode=, template=, api_base=, "
    "no_answer=): how the fixture `judge` of judgekit judges in this test."
)

_JUDGE_POOL: pytest.StashKey[JudgePool] = pytest.StashKey()
_RECORDER: pytest.StashKey[VerdictRecorder] = pytest.StashKey()

_FIXTURES = frozenset({"judge", "rubric"})
# The markers by which other plugins run coroutines.
_ASYNC_MARKERS = ("asyncio", "anyio", "trio", "twisted", "tornado", "gen_test")


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


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes the fixture `case` once for each case of its file."""
    if not _takes_our_case(metafunc):
        return
    # Imported only where a test takes cases.
    from judgekit.errors import JudgekitError  # noqa: PLC0415
    from judgekit.pytest_plugin.bound_judge import settings_of  # noqa: PLC0415

    test = metafunc.definition
    try:
        file = settings_of(test, {}).cases
        cases = None if file is None else [*_judge_pool(test.config).cases(file).values()]
    except JudgekitError as error:
        raise pytest.Collector.CollectError(str(error)) from error
    if cases is None:
        return  # the fixture then says how to name the file
    # pytest skips a test without parameters: a file that lost its cases would look like a success.
    if not cases:
        raise pytest.Collector.CollectError(f"{test.nodeid}: {file} holds no cases")
    metafunc.parametrize("case", cases, ids=[case.id for case in cases])


def _takes_our_case(metafunc: pytest.Metafunc) -> bool:
    """Whether `case` is this plugin's: a project may have a fixture or a parameter of that name."""
    if "case" not in metafunc.fixturenames:
        return False
    for marker in metafunc.definition.iter_markers("parametrize"):
        names = marker.kwargs.get("argnames", marker.args[0] if marker.args else ())
        if "case" in (names.replace(",", " ").split() if isinstance(names, str) else names):
            return False
    # pytest has no public way to ask which of several fixtures of a name applies; the last does.
    known = metafunc.definition._fixtureinfo.name2fixturedefs.get("case", ())  # noqa: SLF001 - see above
    return bool(known) and known[-1].func.__module__ == __name__


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an asynchronous test that uses a fixture of judgekit, if no other plugin runs it."""
    # Plugins for coroutines wrap the function before this hook, or go by their marker. pytest's
    # own hook, which fails coroutines, comes last. So this is reached without any such plugin,
    # and for unmarked tests in the strict mode of pytest-asyncio or beside anyio.
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    if _FIXTURES.isdisjoint(pyfuncitem.fixturenames):
        return None
    if any(pyfuncitem.get_closest_marker(name) for name in _ASYNC_MARKERS):
        return None
    import asyncio  # noqa: PLC0415 - slow to load, and most sessions have no such test

    wanted = inspect.signature(pyfuncitem.obj).parameters
    arguments = {name: value for name, value in pyfuncitem.funcargs.items() if name in wanted}
    # With a factory the loop does not become the current one of the thread, which may be another
    # plugin's.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        runner.run(pyfuncitem.obj(**arguments))
    return True


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
    if report.failed and getattr(report, "judgekit_unanswered", False):
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
def case(request: pytest.FixtureRequest) -> Case:
    """Each case in turn of the file that the marker, an option, the environment or ini names."""
    # A named file replaces this fixture by its cases, when tests are collected.
    hint = '@pytest.mark.judge(cases="cases.jsonl"), --judgekit-cases, or judgekit_cases in the ini'
    raise pytest.fail.Exception(
        f"{request.node.nodeid}: no file of cases is named\n  give {hint} file", pytrace=False
    )


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
        self._calibrations: dict[str, None] = {}
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
        self._calibrations.update(dict.fromkeys(payload["calibrations"]))
        # Appended at once, so that an interrupted session leaves the verdicts it paid for.
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.writelines(payload["verdicts"])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print a summary of the verdicts; nothing if no test was judged."""
        if not self._lines:
            return
        terminalreporter.section("judgekit")
        for label, text in summary_lines(self._lines, self._rubrics, [*self._calibrations]):
            terminalreporter.write_line(f"{label:<12} {text}")
        if self._file is not None:
            terminalreporter.write_line(f"wrote {self._file}")


def summary_lines(
    verdicts: list[str], rubrics: dict[str, str], calibrations: list[str]
) -> Iterator[tuple[str, str]]:
    """The summary of verdicts: labels and texts about rates, judges, calls and problems."""
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
            rate = f"{format_pass_count(variant)} ({numbers.format_rate(variant.pass_rate)})"
            mean = numbers.format_mean(variant.value)
            yield "passed", f"{rate}, value {mean}: {title}{name}"
    summary = summarize_verdicts(read, Rubric.model_validate_json(text))
    yield from (("judge", message.printable(judge)) for judge in summary.judges)
    yield from (("calibration", message.printable(words)) for words in calibrations)
    yield from _common_lines(summary)


def _common_lines(summary: RunSummary) -> Iterator[tuple[str, str]]:
    from judgekit.report import message, numbers  # noqa: PLC0415

    yield "calls", numbers.format_spending(summary.spent)
    if summary.n_evidence > summary.n_evidence_found:
        missing = summary.n_evidence - summary.n_evidence_found
        yield (
            "evidence",
            f"{missing} of {summary.n_evidence} quoted passages are not in the outputs",
        )
    for flag, n in summary.flags.items():
        if flag in message.FLAG_WORDS:
            yield "marked", f"{numbers.format_count(n, 'judgment')}: {message.FLAG_WORDS[flag]}"
    for kind, n in summary.failures.items():
        count = numbers.format_count(n, "judgment")
        why = message.FAILURE_WORDS[kind]
        yield "failed", f"{count}: {why} (excluded from the means, not counted as 0)"
        yield "", message.one_line(summary.failure_messages[kind], 300)
