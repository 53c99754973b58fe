"""Answers with their checks, judgments and verdicts: the worst ones in a few lines.

Or one case in full.
"""

from __future__ import annotations

import heapq
import json
from typing import TYPE_CHECKING

from judgekit.judge import HEURISTIC
from judgekit.prompts import judged_text, steps_text, to_text
from judgekit.report import message, numbers, tables
from judgekit.report.message import safe_text
from judgekit.report.tables import HangingText, print_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, RenderableType
    from rich.text import Text

    from judgekit.evaluation import Outcome
    from judgekit.records import (
        AssertionResult,
        Case,
        CriterionVerdict,
        EmbeddingUsage,
        Evidence,
        JsonObject,
        JudgeFailure,
        Judgment,
        Output,
        Score,
        Verdict,
    )
    from judgekit.store import SupersededObservation

_MOST_WORST = 5
_MESSAGE_LENGTH = 220


class WorstAnswers:
    """Keeps the answers that did not pass, worst first, while all of them are read."""

    def __init__(self, most: int = _MOST_WORST) -> None:
        self._most = most
        self._n_wanting = 0
        self._n_seen = 0
        self._worst: list[tuple[float, int, Outcome]] = []

    def take(self, answer: Outcome) -> None:
        """Look at one answer."""
        self._n_seen += 1
        result = answer.result
        if answer.passed is True or result.output.error is not None or not result.is_done:
            return
        self._n_wanting += 1
        value = answer.verdict.value_high if answer.verdict is not None else answer.value or 0.0
        heapq.heappush(self._worst, (-value, -self._n_seen, answer))
        if len(self._worst) > self._most:
            heapq.heappop(self._worst)

    def show(self, console: Console) -> None:
        """Print them, where there are any."""
        if not self._worst:
            return
        n = len(self._worst)
        more = f" ({n} of {self._n_wanting:,}; all with -v)" if self._n_wanting > n else ""
        console.print(f"\n[bold]Not passed[/bold][dim]{more}[/dim]", highlight=False)
        for _, _, answer in sorted(self._worst, key=lambda item: (-item[0], -item[1])):
            console.print(answer_lines(answer))


def answer_lines(answer: Outcome) -> RenderableType:
    """One answer with what judges and assertions say of it."""
    result = answer.result
    repeat = f" #{result.repeat + 1}" if result.repeat else ""
    text = answer_headline(answer.passed, result.case.id, f"{result.variant}{repeat}", answer.value)
    append_uncalibrated_value(text, answer.verdict)
    if result.output.error is not None:
        text.append(f"\n  no output: {message.printable(result.output.error, _MESSAGE_LENGTH)}")
    for check in result.checks:
        if check.passed is not True:
            _append_check(text, check)
    for part in () if answer.outcome is None else answer.outcome.parts:
        if part.strategy == "semantic_sim" and part.passed is not True:  # no check says it
            text.append(f"\n  {message.one_line(part.message, _MESSAGE_LENGTH)}")
    # What the heuristic judge says are the assertions' own words.
    judgments = [one for one in result.judgments if one.source != "heuristic"]
    failures = [one for one in result.failures if one.judge != HEURISTIC]
    append_judgments(text, judgments, failures)
    return HangingText(text, margin=2)


def _append_check(text: Text, check: AssertionResult) -> None:
    text.append(f"\n  {message.printable(check.type)} ", style="dim")
    text.append("error  " if check.passed is None else "fails  ", style="yellow")
    text.append(message.one_line(check.error or check.message, _MESSAGE_LENGTH))


_RATIONALE_LENGTH = 220


def answer_headline(
    passed: bool | None,  # noqa: FBT001
    case_id: str,
    variant: str | None,
    value: float | None,
) -> Text:
    """The first line about an answer: pass, fail or open, which, and its value."""
    from rich.text import Text  # noqa: PLC0415

    text = Text()
    word, style = {
        True: ("pass", "green"),
        False: ("fail", "red"),
        None: ("open", "yellow"),
    }[passed]
    text.append(f"{word}  ", style=f"bold {style}")
    text.append(message.printable(case_id), style="bold")
    if variant:
        text.append(f"  {message.printable(variant)}", style="cyan")
    text.append("" if value is None else f"  {value:.2f}")
    return text


def append_uncalibrated_value(text: Text, verdict: Verdict | None) -> None:
    """Append the judge's own value, where calibrated values decide."""
    if verdict is not None and verdict.uncalibrated is not None:
        own = verdict.uncalibrated.value
        said = numbers.DASH if own is None else f"{own:.2f}"
        text.append(f" calibrated, judge's own {said}", style="dim")


def append_judgments(
    text: Text, judgments: Sequence[Judgment], failures: Sequence[JudgeFailure]
) -> None:
    """Append what judges said of an answer, a line or two for each criterion."""
    for judgment in judgments:
        _append_judgment(text, judgment)
    for failure in failures:
        text.append(f"\n  {message.printable(failure.criterion)}: ", style="dim")
        text.append(f"{failure.kind}  ", style="yellow")
        text.append(message.one_line(failure.message, _RATIONALE_LENGTH))


def _append_judgment(text: Text, judgment: Judgment) -> None:
    text.append(f"\n  {message.printable(judgment.criterion)} ", style="dim")
    text.append(f"{numbers.format_score(judgment)}  ")
    text.append(message.printable(judgment.rationale, _RATIONALE_LENGTH))
    for piece in judgment.evidence[:1]:
        mark = "" if piece.found else " (not in the output)"
        text.append(f"\n    “{message.printable(piece.quote, 100)}”{mark}", style="dim italic")


_SAID_OF_QUOTES = "evidence_not_found"
_FOUND_WORDS = {"exact": "", "normalized": " (but for white space)", None: " (not in the output)"}
_PASS_WORDS = {True: "passes", False: "fails", None: "open"}
_PASS_STYLES = {True: "green", False: "red", None: "yellow"}


def print_case(console: Console, case: Case, *, full: bool) -> None:
    """Print what was to be answered."""
    from rich.text import Text  # noqa: PLC0415

    facts = [case.name, case.stratum, *(f"#{tag}" for tag in case.tags)]
    facts += [f"agent {case.agent}" if case.agent else None]
    facts += [f"skill {case.skill}" if case.skill else None]
    facts += [f"prompt {case.prompt_version}" if case.prompt_version else None]
    line = Text(f"case {message.printable(case.id)}", style="bold")
    line.append("".join(f"  {message.printable(fact)}" for fact in facts if fact), style="not bold")
    console.print(line)
    if case.description:
        console.print(safe_text(case.description, folds=not full))
    print_block(console, "input", to_text(case.input), folds=not full)
    for title, value in (("context", case.context), ("reference", case.reference)):
        if value is not None:
            print_block(console, title, to_text(value), folds=not full)


def print_answer(
    console: Console, answer: Outcome, *, full: bool, earlier: Sequence[SupersededObservation] = ()
) -> None:
    """Print one answer: output, steps, assertions, scores, every judgment, and the verdict."""
    result = answer.result
    repeat = f" #{result.repeat + 1}" if result.repeat else ""
    console.print()
    console.print(
        answer_headline(answer.passed, result.case.id, f"{result.variant}{repeat}", answer.value)
    )
    if about := _about(answer):
        tables.print_lines(console, [f"  {about}"])
    _print_output(console, result.output, folds=not full)
    if result.checks:
        print_block(console, "assertions", _lines([_check(c) for c in result.checks]), by=4)
    if result.scores:
        print_block(console, "scores", _lines([_score(score) for score in result.scores]), by=4)
    for judgment in result.judgments:
        print_block(console, judgment.criterion, _judgment(judgment, full=full), by=4)
    for failure in result.failures:
        print_block(console, failure.criterion, _failure(failure, full=full), by=4)
    if answer.verdict is not None and answer.verdict.error is None:
        print_block(console, "verdict", _verdict(answer.verdict), by=4)
    if earlier:
        print_block(console, "earlier", _lines([_earlier(one) for one in earlier]), by=4)


def answer_json(
    answer: Outcome, earlier: Sequence[SupersededObservation] | None = None
) -> JsonObject:
    """One answer with all that was observed of it, and what it comes to."""
    verdict = answer.verdict
    whole: JsonObject = {
        **answer.result.to_json(),
        "passed": answer.passed,
        "value": answer.value,
        "verdict": None
        if verdict is None
        else verdict.model_dump(mode="json", exclude={"judgments", "failures"}),
    }
    if earlier is not None:
        whole["earlier"] = [
            {
                "at": one.at.isoformat(),
                "replaced_at": one.superseded_at.isoformat(),
                type(one.what).__name__: one.what.to_json(),
            }
            for one in earlier
        ]
    return whole


def _print_output(console: Console, output: Output, *, folds: bool) -> None:
    if output.error is not None:
        kind = f" ({output.error_kind})" if output.error_kind else ""
        print_block(console, f"no output{kind}", output.error, by=4, folds=folds, style="yellow")
    elif judged := judged_text(output):
        print_block(console, "output", judged, by=4, folds=folds)
    if output.trace:
        print_block(console, "steps", steps_text(output), by=4, folds=folds)


def _about(answer: Outcome) -> str:
    """When, how long, how much."""
    result, output = answer.result, answer.result.output
    facts = [] if result.ran_at is None else [f"{result.ran_at:%Y-%m-%d %H:%M} UTC"]
    if output.duration_ms is not None:
        facts.append(numbers.format_milliseconds(output.duration_ms))
    if output.usage is not None:
        facts.append(f"{output.usage.input_tokens:,} tokens in, {output.usage.output_tokens:,} out")
        facts.append(numbers.format_usd(output.usage.cost_usd))
    if output.run_id:
        facts.append(f"agent run {message.printable(output.run_id)}")
    if not result.is_done:
        facts.append("not everything has been asked")
    return " · ".join(facts)


def _check(check: AssertionResult, by: int = 0) -> Text:
    from rich.text import Text  # noqa: PLC0415

    text = Text(" " * by)
    word = "error" if check.passed is None else "holds" if check.passed else "fails"
    text.append(f"{word}  ", style=_PASS_STYLES[check.passed])
    text.append(f"{message.printable(check.type)}  ", style="dim")
    text.append(message.one_line(check.error or check.message))
    text.append(_asked(check.asked), style="dim")
    if check.passed is not True and check.actual is not None:
        found = json.dumps(check.actual, ensure_ascii=False)
        text.append(f"  found {message.printable(found, 100)}", style="dim")
    for part in check.parts:
        text.append("\n")
        text.append(_check(part, by + 2))
    return text


def _score(score: Score) -> Text:
    from rich.text import Text  # noqa: PLC0415

    value = numbers.DASH if score.value is None else f"{score.value:.2f}"
    parts = [message.printable(score.name), value]
    if score.raw is not None and (score.unit is not None or score.raw != score.value):
        parts.append(f"{score.raw:g} {score.unit or ''}".rstrip())
    said = message.one_line(score.error or score.message)
    if score.raw is None or said != f"{score.raw:.3f}":  # a message may be the number again
        parts.append(said)
    parts.append(message.printable(score.method or ""))
    text = Text("  ".join(part for part in parts if part))
    text.append(_asked(score.asked), style="dim")
    return text


def _asked(asked: EmbeddingUsage | None) -> str:
    """What was paid for the vectors it compared."""
    if asked is None:
        return ""
    return f"  {numbers.format_usd(asked.cost_usd)}" if asked.n_calls else "  from the cache"


def _judgment(judgment: Judgment, *, full: bool) -> Text:
    from rich.text import Text  # noqa: PLC0415

    text = Text(f"{numbers.format_score(judgment)} → {judgment.value:.2f}")
    text.append(f"  {_who(judgment.judge, judgment.repeat)}", style="cyan")
    facts: list[str] = [judgment.source] if judgment.source != "llm" else []
    if judgment.confidence is not None:
        facts.append(f"confidence {judgment.confidence:.2f}")
    if judgment.expected_raw is not None:
        facts.append(f"expected {judgment.expected_raw:.2f}")
    if judgment.n_calls:
        facts.append(_cost(judgment))
    flags = [flag for flag in judgment.flags if flag != _SAID_OF_QUOTES]
    facts += [message.FLAG_WORDS.get(flag, flag) for flag in flags]
    text.append("".join(f"  {message.printable(fact)}" for fact in facts), style="dim")
    text.append("\n")
    text.append(safe_text(judgment.rationale, folds=not full))
    for piece in judgment.evidence:
        text.append(_quote(piece, full=full))
    return text


def _failure(failure: JudgeFailure, *, full: bool) -> Text:
    from rich.text import Text  # noqa: PLC0415

    text = Text(f"no judgment: {message.FAILURE_WORDS[failure.kind]}", style="yellow")
    text.append(f"  {_who(failure.judge, failure.repeat)}", style="cyan")
    text.append(f"  {_cost(failure)}" if failure.n_calls else "", style="dim")
    text.append(f"\n{message.message_lines(failure.message)}", style="default")
    if failure.reply is not None:
        text.append("\nits reply:\n", style="dim")
        text.append(safe_text(failure.reply, folds=not full))
    return text


def _quote(piece: Evidence, *, full: bool) -> Text:
    from rich.text import Text  # noqa: PLC0415

    quote = message.printable(piece.quote, None if full else 200)
    return Text(f"\n“{quote}”{_FOUND_WORDS[piece.match]}", style="italic")


def _who(judge: str, repeat: int) -> str:
    return message.printable(judge) + (f" #{repeat + 1}" if repeat else "")


def _cost(said: Judgment | JudgeFailure) -> str:
    return "from the cache" if said.cached else numbers.format_usd(said.cost_usd)


def _verdict(verdict: Verdict) -> Text:
    from rich.text import Text  # noqa: PLC0415

    text = Text()
    for criterion in verdict.criteria:
        text.append(_criterion(criterion))
        if verdict.uncalibrated is not None:
            text.append(f"  {_own(verdict.uncalibrated.criteria[criterion.name])}", style="dim")
        text.append("\n")
    value = numbers.DASH if verdict.value is None else f"{verdict.value:.2f}"
    text.append(f"{message.printable(verdict.rubric)}  {value}  ")
    text.append(_PASS_WORDS[verdict.passed], style=f"bold {_PASS_STYLES[verdict.passed]}")
    if verdict.value_low != verdict.value_high:
        low, high = verdict.value_low, verdict.value_high
        text.append(f"  {low:.2f} to {high:.2f} by what is missing", style="dim")
    if verdict.uncalibrated is not None:
        own = verdict.uncalibrated
        text.append(f"  {_own(own.value)} {_PASS_WORDS[own.passed]}\n", style="dim")
        text.append("calibrated values decide where maps hold", style="dim")
    return text


def _own(value: float | None) -> str:
    return f"judge's own {numbers.DASH if value is None else f'{value:.2f}'}"


def _criterion(criterion: CriterionVerdict) -> Text:
    from rich.text import Text  # noqa: PLC0415

    value = numbers.DASH if criterion.value is None else f"{criterion.value:.2f}"
    text = Text(f"{message.printable(criterion.name)}  {value}  ")
    text.append(_PASS_WORDS[criterion.passed], style=_PASS_STYLES[criterion.passed])
    facts = [f"weight {criterion.weight:g}"] + (["required"] if criterion.required else [])
    facts += [f"{criterion.n_failed:,} failed"] if criterion.n_failed else []
    text.append("".join(f"  {fact}" for fact in facts), style="dim")
    return text


def _earlier(one: SupersededObservation) -> Text:
    from rich.text import Text  # noqa: PLC0415

    kind = type(one.what).__name__
    said = one.what.to_json()
    words = message.printable(json.dumps(said, ensure_ascii=False), 160)
    when = f"{one.at:%Y-%m-%d %H:%M}, replaced {one.superseded_at:%Y-%m-%d %H:%M} UTC"
    return Text(f"{when}  {kind}  {words}", style="dim")


def _lines(parts: Sequence[Text]) -> Text:
    from rich.text import Text  # noqa: PLC0415

    return Text("\n").join(parts)
