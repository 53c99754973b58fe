"""Everything about the answers to one case, in a terminal and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from judgekit.prompts.rendering import as_text, judged_text, steps_text
from judgekit.report import terminal, view
from judgekit.report.blocks import print_block, safe_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.text import Text

    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.case import Case
    from judgekit.records.check import Asked, AssertionResult, Score
    from judgekit.records.judgment import Evidence, JudgeFailure, Judgment
    from judgekit.records.output import Output
    from judgekit.records.record import JsonObject
    from judgekit.records.verdict import CriterionVerdict, Verdict
    from judgekit.store.forgetting import Earlier

_SAID_OF_QUOTES = "evidence_not_found"
_FOUND_WORDS = {"exact": "", "normalized": " (but for white space)", None: " (not in the output)"}
_PASS_WORDS = {True: "passes", False: "fails", None: "open"}
_PASS_STYLES = {True: "green", False: "red", None: "yellow"}


def print_case(console: Console, case: Case, *, full: bool) -> None:
    """Print what was to be answered."""
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    facts = [case.name, case.stratum, *(f"#{tag}" for tag in case.tags)]
    facts += [f"agent {case.agent}" if case.agent else None]
    facts += [f"skill {case.skill}" if case.skill else None]
    facts += [f"prompt {case.prompt_version}" if case.prompt_version else None]
    line = Text(f"case {view.printable(case.id)}", style="bold")
    line.append("".join(f"  {view.printable(fact)}" for fact in facts if fact), style="not bold")
    console.print(line)
    if case.description:
        console.print(safe_text(case.description, folds=not full))
    print_block(console, "input", as_text(case.input), folds=not full)
    for title, value in (("context", case.context), ("reference", case.reference)):
        if value is not None:
            print_block(console, title, as_text(value), folds=not full)


def print_answer(
    console: Console, answer: Concluded, *, full: bool, earlier: Sequence[Earlier] = ()
) -> None:
    """Print one answer: output, steps, assertions, scores, every judgment, and the verdict."""
    result = answer.result
    repeat = f" #{result.repeat + 1}" if result.repeat else ""
    console.print()
    console.print(
        terminal.headline(answer.passed, result.case.id, f"{result.variant}{repeat}", answer.value)
    )
    if about := _about(answer):
        terminal.print_lines(console, [f"  {about}"])
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


def answer_json(answer: Concluded, earlier: Sequence[Earlier] | None = None) -> JsonObject:
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


def _about(answer: Concluded) -> str:
    """When, how long, how much."""
    result, output = answer.result, answer.result.output
    facts = [] if result.ran_at is None else [f"{result.ran_at:%Y-%m-%d %H:%M} UTC"]
    if output.duration_ms is not None:
        facts.append(view.milliseconds(output.duration_ms))
    if output.usage is not None:
        facts.append(f"{output.usage.input_tokens:,} tokens in, {output.usage.output_tokens:,} out")
        facts.append(view.usd(output.usage.cost_usd))
    if output.run_id:
        facts.append(f"agent run {view.printable(output.run_id)}")
    if not result.is_done:
        facts.append("not everything has been asked")
    return " · ".join(facts)


def _check(check: AssertionResult, by: int = 0) -> Text:
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    text = Text(" " * by)
    word = "error" if check.passed is None else "holds" if check.passed else "fails"
    text.append(f"{word}  ", style=_PASS_STYLES[check.passed])
    text.append(f"{view.printable(check.type)}  ", style="dim")
    text.append(view.one_line(check.error or check.message))
    text.append(_asked(check.asked), style="dim")
    if check.passed is not True and check.actual is not None:
        found = json.dumps(check.actual, ensure_ascii=False)
        text.append(f"  found {view.printable(found, 100)}", style="dim")
    for part in check.parts:
        text.append("\n")
        text.append(_check(part, by + 2))
    return text


def _score(score: Score) -> Text:
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    value = view.DASH if score.value is None else f"{score.value:.2f}"
    parts = [view.printable(score.name), value]
    if score.raw is not None and (score.unit is not None or score.raw != score.value):
        parts.append(f"{score.raw:g} {score.unit or ''}".rstrip())
    said = view.one_line(score.error or score.message)
    if score.raw is None or said != f"{score.raw:.3f}":  # a message may be the number again
        parts.append(said)
    parts.append(view.printable(score.method or ""))
    text = Text("  ".join(part for part in parts if part))
    text.append(_asked(score.asked), style="dim")
    return text


def _asked(asked: Asked | None) -> str:
    """What was paid for the vectors it compared."""
    if asked is None:
        return ""
    return f"  {view.usd(asked.cost_usd)}" if asked.n_calls else "  from the cache"


def _judgment(judgment: Judgment, *, full: bool) -> Text:
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    text = Text(f"{view.score(judgment)} → {judgment.value:.2f}")
    text.append(f"  {_who(judgment.judge, judgment.repeat)}", style="cyan")
    facts: list[str] = [judgment.source] if judgment.source != "llm" else []
    if judgment.confidence is not None:
        facts.append(f"confidence {judgment.confidence:.2f}")
    if judgment.expected_raw is not None:
        facts.append(f"expected {judgment.expected_raw:.2f}")
    if judgment.n_calls:
        facts.append(_cost(judgment))
    flags = [flag for flag in judgment.flags if flag != _SAID_OF_QUOTES]
    facts += [view.FLAG_WORDS.get(flag, flag) for flag in flags]
    text.append("".join(f"  {view.printable(fact)}" for fact in facts), style="dim")
    text.append("\n")
    text.append(safe_text(judgment.rationale, folds=not full))
    for piece in judgment.evidence:
        text.append(_quote(piece, full=full))
    return text


def _failure(failure: JudgeFailure, *, full: bool) -> Text:
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    text = Text(f"no judgment: {view.FAILURE_WORDS[failure.kind]}", style="yellow")
    text.append(f"  {_who(failure.judge, failure.repeat)}", style="cyan")
    text.append(f"  {_cost(failure)}" if failure.n_calls else "", style="dim")
    text.append(f"\n{view.message_lines(failure.message)}", style="default")
    if failure.reply is not None:
        text.append("\nits reply:\n", style="dim")
        text.append(safe_text(failure.reply, folds=not full))
    return text


def _quote(piece: Evidence, *, full: bool) -> Text:
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    quote = view.printable(piece.quote, None if full else 200)
    return Text(f"\n“{quote}”{_FOUND_WORDS[piece.match]}", style="italic")


def _who(judge: str, repeat: int) -> str:
    return view.printable(judge) + (f" #{repeat + 1}" if repeat else "")


def _cost(said: Judgment | JudgeFailure) -> str:
    return "from the cache" if said.cached else view.usd(said.cost_usd)


def _verdict(verdict: Verdict) -> Text:
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    text = Text()
    for criterion in verdict.criteria:
        text.append(_criterion(criterion))
        if verdict.uncalibrated is not None:
            text.append(f"  {_own(verdict.uncalibrated.criteria[criterion.name])}", style="dim")
        text.append("\n")
    value = view.DASH if verdict.value is None else f"{verdict.value:.2f}"
    text.append(f"{view.printable(verdict.rubric)}  {value}  ")
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
    return f"judge's own {view.DASH if value is None else f'{value:.2f}'}"


def _criterion(criterion: CriterionVerdict) -> Text:
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    value = view.DASH if criterion.value is None else f"{criterion.value:.2f}"
    text = Text(f"{view.printable(criterion.name)}  {value}  ")
    text.append(_PASS_WORDS[criterion.passed], style=_PASS_STYLES[criterion.passed])
    facts = [f"weight {criterion.weight:g}"] + (["required"] if criterion.required else [])
    facts += [f"{criterion.n_failed:,} failed"] if criterion.n_failed else []
    text.append("".join(f"  {fact}" for fact in facts), style="dim")
    return text


def _earlier(one: Earlier) -> Text:
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    kind = type(one.what).__name__
    said = one.what.to_json()
    words = view.printable(json.dumps(said, ensure_ascii=False), 160)
    when = f"{one.at:%Y-%m-%d %H:%M}, replaced {one.superseded_at:%Y-%m-%d %H:%M} UTC"
    return Text(f"{when}  {kind}  {words}", style="dim")


def _lines(parts: Sequence[Text]) -> Text:
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    return Text("\n").join(parts)
