"""The summary and the report file of a pytest session, with the verdicts of all workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from judgekit.evaluation import RunSummary
    from judgekit.pytest_plugin.verdict_recorder import ReportPayload


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
