"""Records the verdicts of a test for its report and properties, and describes them in words."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, TypedDict

from judgekit.report import asked_criterion, message, numbers, verdict_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from judgekit.records import CriterionVerdict, JudgeFailure, Judgment, Rubric, Verdict


class ReportPayload(TypedDict):
    """The part of a test's report that a worker sends to the process that reports."""

    # Plain texts: pytest-xdist serializes reports, and cannot serialize records.

    verdicts: list[str]
    """Verdicts, a line of JSON each."""

    rubrics: dict[str, str]
    """Their rubrics as JSON, by fingerprint."""

    calibrations: list[str]
    """The state of the calibration of each verdict's judge, in words."""


class VerdictRecorder:
    """The verdicts of one test."""

    def __init__(self, item: pytest.Item) -> None:
        # A test that is run again states its last verdicts only.
        others = [each for each in item.user_properties if not each[0].startswith("judgekit.")]
        item.user_properties[:] = others
        self._item = item
        self._n_ids = 0
        self._n_verdicts = 0
        self._texts: list[tuple[Verdict, str]] = []
        self._payload = _empty_payload()
        self.unanswered = False
        """Whether the test ended because the judge gave no usable answer."""

    def next_id(self) -> str:
        """The id of a case without one: that of the test, numbered from the second on."""
        self._n_ids += 1
        return self._item.nodeid if self._n_ids == 1 else f"{self._item.nodeid}#{self._n_ids}"

    def add(self, verdict: Verdict, rubric: Rubric, details: str, calibration: str) -> None:
        """Record a verdict, the details to show if the test fails, and its judge's calibration."""
        self._n_verdicts += 1
        prefix = "judgekit" if self._n_verdicts == 1 else f"judgekit.{self._n_verdicts}"
        self._item.user_properties += [
            (f"{prefix}.{name}", text) for name, text in verdict_properties(verdict)
        ]
        if details:
            self._texts.append((verdict, details))
        self._payload["verdicts"].append(verdict_line(verdict))
        self._payload["rubrics"].setdefault(rubric.fingerprint, rubric.model_dump_json())
        self._payload["calibrations"].append(calibration)

    def pop_details(self, verdict: Verdict) -> str:
        """The details of a verdict, which then are not shown a second time."""
        # By identity: two equal verdicts of one test are two.
        place = next(i for i, (other, _) in enumerate(self._texts) if other is verdict)
        return self._texts.pop(place)[1]

    def write_on(self, report: pytest.TestReport) -> None:
        """Add the verdicts since the last report to a report of the test."""
        # A test has a report for its setup, its call and its teardown; fixtures may grade too.
        payload, self._payload = self._payload, _empty_payload()
        if payload["verdicts"]:
            report.__dict__["judgekit"] = payload
        if report.failed and self._texts:
            whole = "\n".join(text for _, text in self._texts)
            report.sections.append(("judgekit", whole))
        if report.failed and self.unanswered:
            report.__dict__["judgekit_unanswered"] = True


def _empty_payload() -> ReportPayload:
    return {"verdicts": [], "rubrics": {}, "calibrations": []}


# None: the missing answers could still decide it either way.
_WORDS = {True: "passed", False: "failed", None: "undecided"}
# pytest prints the details of every failed test; a long rationale would bury the next one.
_LONGEST = 400
_LONGEST_REASON = 120
_LONGEST_QUOTE = 120
_MOST_QUOTES = 3


def verdict_details(verdict: Verdict, rubric: Rubric, min_pass: int | None = None) -> str:
    demand = f"{message.printable(rubric.name)} passes from {rubric.pass_threshold:g}"
    if min_pass is not None:
        demand += f", in {numbers.format_count(min_pass, 'repeat')} at least"
    lines = [f"{verdict_headline(verdict)}; {demand}"]
    if verdict.error is not None:
        lines.append(f"  no output to judge: {message.one_line(verdict.error, _LONGEST)}")
        return "\n".join(lines)
    for criterion in verdict.criteria:
        lines += _criterion_lines(criterion, verdict)
    return "\n".join(lines)


def verdict_headline(verdict: Verdict) -> str:
    """A verdict in a few words: `refund failed: value 0.43`."""
    if verdict.value is not None:
        found = f"value {verdict.value:.2f}"
    else:
        found = f"value between {verdict.value_low:.2f} and {verdict.value_high:.2f}"
    return f"{message.printable(verdict.case_id or '?')} {_WORDS[verdict.passed]}: {found}"


def verdict_summary(verdict: Verdict) -> str:
    """A verdict in a few words, with the rationale of its lowest judgment."""
    worst = min(verdict.judgments, key=lambda judgment: judgment.value, default=None)
    if verdict.passed or worst is None:
        return verdict_headline(verdict)
    reason = message.printable(worst.rationale, _LONGEST_REASON)
    return f"{verdict_headline(verdict)}; {message.printable(worst.criterion)} {numbers.format_score(worst)}: {reason}"  # noqa: E501


def unanswered_message(verdict: Verdict) -> str:
    """The message for a verdict that is undecided because the judge gave no usable answer."""
    first, others = verdict.failures[0], len(verdict.failures) - 1
    more = f" (and {others} more)" if others else ""
    case = message.printable(verdict.case_id or "?")
    head = (
        f"the judge gave no answer: {message.FAILURE_WORDS[first.kind]}{more}; {case} is undecided"
    )
    return "\n".join([head, *(_failure_line(failure) for failure in verdict.failures)])


def verdict_properties(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """A verdict as names and texts, for `--junitxml` and its like."""
    yield "case", verdict.case_id or ""
    yield "passed", _WORDS[verdict.passed]
    if verdict.value is not None:
        yield "value", f"{verdict.value:.4f}"
    texts = [f"{each.raw:g}: {each.rationale}" for each in verdict.judgments]
    texts += [f"no answer ({each.kind}): {each.message}" for each in verdict.failures]
    answers: list[Judgment | JudgeFailure] = [*verdict.judgments, *verdict.failures]
    for each, text in zip(answers, texts, strict=True):
        again = f"#{each.repeat + 1}" if each.repeat else ""
        yield f"{message.printable(asked_criterion(each))}{again}", text


def _criterion_lines(criterion: CriterionVerdict, verdict: Verdict) -> Iterator[str]:
    mark = {True: "passed", False: "FAILED", None: "no answer"}[criterion.passed]
    value = numbers.DASH if criterion.value is None else f"{criterion.value:.2f}"
    required = ", required" if criterion.required else ""
    yield f"  {message.printable(criterion.name)}: {value} {mark}{required}"
    for judgment in verdict.judgments:
        if judgment.criterion != criterion.name:
            continue
        sure = "" if judgment.confidence is None else f" (confidence {judgment.confidence:.2f})"
        reason = message.printable(judgment.rationale, _LONGEST)
        turn = "" if judgment.turn is None else f"turn {judgment.turn}: "
        yield f"    {turn}score {numbers.format_score(judgment)}{sure}: {reason}"
        for piece in islice(judgment.evidence, _MOST_QUOTES):
            mark = "" if piece.found else " (not in the output)"
            yield f"      “{message.printable(piece.quote, _LONGEST_QUOTE)}”{mark}"
    for failure in verdict.failures:
        if failure.criterion == criterion.name:
            yield f"  {_failure_line(failure)}"


def _failure_line(failure: JudgeFailure) -> str:
    text = message.one_line(failure.message, _LONGEST)
    return f"  {message.printable(asked_criterion(failure))}: {failure.kind}: {text}"
