"""What a verdict looks like in a failing test and in the report files."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from judgekit.report import view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.records.judgment import JudgeFailure, Judgment
    from judgekit.records.rubric import Rubric
    from judgekit.records.verdict import CriterionVerdict, Verdict

_WORDS = {True: "passed", False: "failed", None: "undecided"}
_LONGEST = 400
_LONGEST_REASON = 120
_LONGEST_QUOTE = 120
_MOST_QUOTES = 3


def told(verdict: Verdict, rubric: Rubric, min_pass: int | None = None) -> str:
    """A verdict with every score, its reason and its evidence."""
    lines = [f"{headline(verdict)}; {_demand(rubric, min_pass)}"]
    if verdict.error is not None:
        lines.append(f"  no output to judge: {view.one_line(verdict.error, _LONGEST)}")
        return "\n".join(lines)
    for criterion in verdict.criteria:
        lines += _criterion_lines(criterion, verdict)
    return "\n".join(lines)


def headline(verdict: Verdict) -> str:
    """What a verdict comes to, in a few words: `refund failed: value 0.43`."""
    if verdict.value is not None:
        found = f"value {verdict.value:.2f}"
    else:
        found = f"value between {verdict.value_low:.2f} and {verdict.value_high:.2f}"
    return f"{view.printable(verdict.case_id or '?')} {_WORDS[verdict.passed]}: {found}"


def in_short(verdict: Verdict) -> str:
    """What a verdict comes to, and why its worst criterion is as it is."""
    worst = min(verdict.judgments, key=lambda judgment: judgment.value, default=None)
    if verdict.passed or worst is None:
        return headline(verdict)
    reason = view.printable(worst.rationale, _LONGEST_REASON)
    return f"{headline(verdict)}; {view.printable(worst.criterion)} {view.score(worst)}: {reason}"


def unanswered(verdict: Verdict) -> str:
    """What to say when the judge gave no usable answer and the verdict hangs on it."""
    first, others = verdict.failures[0], len(verdict.failures) - 1
    more = f" (and {others} more)" if others else ""
    case = view.printable(verdict.case_id or "?")
    head = f"the judge gave no answer: {view.FAILURE_WORDS[first.kind]}{more}; {case} is undecided"
    return "\n".join([head, *(_failure_line(failure) for failure in verdict.failures)])


def properties(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """A verdict as names and texts, for `--junitxml` and its like."""
    yield "case", verdict.case_id or ""
    yield "passed", _WORDS[verdict.passed]
    if verdict.value is not None:
        yield "value", f"{verdict.value:.4f}"
    for judgment in verdict.judgments:
        again = f"#{judgment.repeat + 1}" if judgment.repeat else ""
        yield f"{judgment.criterion}{again}", f"{judgment.raw:g}: {judgment.rationale}"
    for failure in verdict.failures:
        again = f"#{failure.repeat + 1}" if failure.repeat else ""
        yield f"{failure.criterion}{again}", f"no answer ({failure.kind}): {failure.message}"


def _demand(rubric: Rubric, min_pass: int | None) -> str:
    name = view.printable(rubric.name)
    whole = f"{name} passes from {rubric.pass_threshold:g}"
    return whole if min_pass is None else f"{whole}, in {view.count(min_pass, 'repeat')} at least"


def _criterion_lines(criterion: CriterionVerdict, verdict: Verdict) -> Iterator[str]:
    mark = {True: "passed", False: "FAILED", None: "no answer"}[criterion.passed]
    value = view.DASH if criterion.value is None else f"{criterion.value:.2f}"
    required = ", required" if criterion.required else ""
    yield f"  {view.printable(criterion.name)}: {value} {mark}{required}"
    for judgment in verdict.judgments:
        if judgment.criterion == criterion.name:
            yield from _judgment_lines(judgment)
    for failure in verdict.failures:
        if failure.criterion == criterion.name:
            yield f"  {_failure_line(failure)}"


def _judgment_lines(judgment: Judgment) -> Iterator[str]:
    sure = "" if judgment.confidence is None else f" (confidence {judgment.confidence:.2f})"
    reason = view.printable(judgment.rationale, _LONGEST)
    yield f"    score {view.score(judgment)}{sure}: {reason}"
    for piece in islice(judgment.evidence, _MOST_QUOTES):
        mark = "" if piece.found else " (not in the output)"
        yield f"      “{view.printable(piece.quote, _LONGEST_QUOTE)}”{mark}"


def _failure_line(failure: JudgeFailure) -> str:
    message = view.one_line(failure.message, _LONGEST)
    return f"  {view.printable(failure.criterion)}: {failure.kind}: {message}"
