"""Notes the verdicts of one test, for its report, its properties and the end of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from judgekit.pytest_plugin.wording import properties
from judgekit.report.exports import verdict_line

if TYPE_CHECKING:
    import pytest

    from judgekit.records.rubric import Rubric
    from judgekit.records.verdict import Verdict


class Payload(TypedDict):
    """What a test's report carries from a worker to the process that sums up: plain texts."""

    verdicts: list[str]
    """Verdicts, a line of JSON each."""

    rubrics: dict[str, str]
    """Their rubrics as JSON, by fingerprint."""


class Notes:
    """What one test was told by its judge."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._n_ids = 0
        self._n_verdicts = 0
        self._texts: list[tuple[Verdict, str]] = []
        self._payload: Payload = {"verdicts": [], "rubrics": {}}
        self.unanswered = False
        """Whether the test ended because the judge gave no usable answer."""

    def next_id(self) -> str:
        """The id of a case that has none of its own: the test's, numbered from the second on."""
        self._n_ids += 1
        return self._item.nodeid if self._n_ids == 1 else f"{self._item.nodeid}#{self._n_ids}"

    def add(self, verdict: Verdict, rubric: Rubric, told: str) -> None:
        """Note a verdict."""
        self._n_verdicts += 1
        prefix = "judgekit" if self._n_verdicts == 1 else f"judgekit.{self._n_verdicts}"
        self._item.user_properties += [
            (f"{prefix}.{name}", text) for name, text in properties(verdict)
        ]
        if told:
            self._texts.append((verdict, told))
        self._payload["verdicts"].append(verdict_line(verdict))
        self._payload["rubrics"].setdefault(rubric.fingerprint, rubric.model_dump_json())

    def pop_told(self, verdict: Verdict) -> str:
        """What is to be shown of a verdict, which then is not shown a second time."""
        place = next(i for i, (noted, _) in enumerate(self._texts) if noted is verdict)
        return self._texts.pop(place)[1]

    def write_on(self, report: pytest.TestReport) -> None:
        """Hand what was noted since the last report to a report of the test."""
        payload, self._payload = self._payload, {"verdicts": [], "rubrics": {}}
        if payload["verdicts"]:
            report.__dict__["judgekit"] = payload
        if report.failed and self._texts:
            whole = "\n".join(text for _, text in self._texts)
            report.sections.append(("judgekit", whole))
        if report.failed and self.unanswered:
            report.__dict__["judgekit_unanswered"] = True
