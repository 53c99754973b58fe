"""Makes the case table of a run's page: a row for each case, a column for each variant.

Its answers come one after the other, in the order of the store, and are held only as long as their
case lasts. `judge_replies` finds what the judge was sent and what it wrote.
"""

from __future__ import annotations

import json
from math import fsum
from typing import TYPE_CHECKING

from judgekit.evaluation import rubric_of_result
from judgekit.judge import HEURISTIC
from judgekit.prompts import judged_text, steps_text, to_text
from judgekit.records import Rubric, meets_threshold
from judgekit.report import message, numbers
from judgekit.report.case_table import (
    CaseRow,
    CaseTableBuilder,
    CellState,
    GridCell,
    text_snippet,
    utf16_offset,
)
from judgekit.report.document import PASS_TONES
from judgekit.report.message import TARGET_ERROR_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from judgekit.evaluation import Outcome
    from judgekit.records import (
        AssertionResult,
        Case,
        Evidence,
        JudgeFailure,
        Judgment,
        Output,
        RunInfo,
        Scale,
        Score,
        TraceEvent,
        Verdict,
    )
    from judgekit.report.document import Block, CaseTable, PageJson
    from judgekit.report.judge_replies import JudgeReplies

RUN_STATES = {
    "fail": CellState("fails", "✗", "fail", 0),
    "mixed": CellState("passes in some repeats only", "±", "inconclusive", 1),
    "open": CellState("undecided", "?", "inconclusive", 2),
    "error": CellState("no output", "!", "error", 3),
    "pass": CellState("passes", "✓", "pass", 4),
}
"""What the answer of a variant to a case can be."""

RUN_FILTERS = {
    "failed": "Failed",
    "disagree": "Judges disagree",
    "undecided": "Undecided",
    "error": "Error",
}

RUN_FILTER_TITLES = {
    "failed": "Cases with an answer that fails",
    "disagree": (
        "Cases where two judgments of one criterion lie on different sides of its threshold, or at "
        "least half its scale apart: judges of a panel, repeats and human reviewers count alike"
    ),
    "undecided": "Cases with an answer that neither passes nor fails, since judgments are missing",
    "error": "Cases where an output or a judgment is missing",
}
"""What exactly each filter takes."""

# Two judgments of one criterion this far apart, on [0, 1], are not the same opinion.
_DISAGREEMENT = 0.5

_NO_REPLIES = "The judge's prompts and raw replies are not included: add --with-replies."


class RunCases:
    """Collects the answers of a run into a case table, as they are read.

    With `replies` each case has what the judge was sent and what it wrote, too.
    """

    def __init__(self, run: RunInfo, replies: JudgeReplies | None = None) -> None:
        self._run, self._replies = run, replies
        self._variants = [variant.id for variant in run.variants]
        self._builder = CaseTableBuilder(
            "run",
            self._variants,
            RUN_STATES,
            RUN_FILTERS,
            titles=RUN_FILTER_TITLES,
            questions={} if run.rubric is None else rubric_questions(run.rubric),
            omitted={"replies": _NO_REPLIES} if replies is None else {},
        )
        self._case: list[Outcome] = []

    def take(self, answer: Outcome) -> None:
        """Add an answer; those of one case come after each other."""
        if self._case and self._case[0].result.place != answer.result.place:
            self._close_case()
        self._case.append(answer)

    def table(self, summary: tuple[Block, ...] = (), about: tuple[Block, ...] = ()) -> CaseTable:
        """The case table of all answers taken."""
        if self._case:
            self._close_case()
        return self._builder.table(summary, about=about)

    def _close_case(self) -> None:
        answers, self._case = self._case, []
        case = answers[0].result.case
        by_variant: dict[str, list[Outcome]] = {}
        for answer in answers:
            by_variant.setdefault(answer.result.variant, []).append(answer)
        # A case may bring its own rubric, whose criteria the run's questions do not have.
        own = case.rubric if isinstance(case.rubric, Rubric) else None
        self._builder.add(
            CaseRow(
                case_id=case.id,
                snippet=text_snippet(case.name or to_text(case.input)),
                cells=[self._cell(by_variant.get(name, [])) for name in self._variants],
                full={
                    "id": message.printable(case.id),
                    **shown_case(case),
                    "questions": {} if own is None else rubric_questions(own),
                    "answers": [
                        {
                            "column": column,
                            "round": self._round(number, len(by_variant[name])),
                            **shown_answer(
                                one, rubric_of_result(one.result, self._run), self._replies
                            ),
                        }
                        for column, name in enumerate(self._variants)
                        for number, one in enumerate(by_variant.get(name, []), start=1)
                    ],
                },
                tags=case.tags,
                stratum=case.stratum,
            )
        )

    def _round(self, number: int, n: int) -> str:
        """Which of several answers of a variant it is; empty for the only one."""
        if n == 1:
            return ""
        if self._run.repeats != 1:
            return f"repeat {number} of {n}"
        return f"try {number} of {n}" + (", which counts" if number == n else ", replaced")

    def _cell(self, answers: Sequence[Outcome]) -> GridCell | None:
        # Of several tries only the last counts; repeats count alike.
        counted = answers if self._run.repeats != 1 else answers[-1:]
        if not counted:
            return None
        states = {answer_state(one) for one in counted}
        values = [one.value for one in counted if one.value is not None]
        mean = fsum(values) / len(values) if values else None
        found = {
            "failed": "fail" in states,
            "disagree": any(
                judges_disagree(one.result.judgments, rubric_of_result(one.result, self._run))
                for one in counted
            ),
            "undecided": "open" in states,
            "error": "error" in states or any(one.result.failures for one in counted),
        }
        # Where no repeat passes, the most serious of them says what is wrong.
        state = min(states, key=lambda key: RUN_STATES[key].rank)
        if len(states) > 1 and "pass" in states:
            state = "mixed"
        return GridCell(state, mean, filters=[name for name, holds in found.items() if holds])


def answer_state(answer: Outcome) -> str:
    """The key of an answer's state in `RUN_STATES`."""
    if answer.result.output.error is not None:
        return "error"
    return {True: "pass", False: "fail", None: "open"}[answer.passed]


def judges_disagree(judgments: Sequence[Judgment], rubric: Rubric | None) -> bool:
    """Whether two judgments of one criterion contradict each other.

    They do where one reaches the value from which the criterion passes and the other does not, or
    where they are at least half the scale apart. Judges of a panel, repeats of a judge and human
    reviewers count alike, each by the own value, before any calibration.
    """
    values: dict[str, list[float]] = {}
    for one in judgments:
        values.setdefault(one.criterion, []).append(one.value)
    thresholds = {} if rubric is None else _thresholds(rubric)
    for name, each in values.items():
        if max(each) - min(each) >= _DISAGREEMENT:
            return True
        threshold = thresholds.get(name)
        if threshold is not None and len({meets_threshold(v, threshold) for v in each}) > 1:
            return True
    return False


def _thresholds(rubric: Rubric) -> dict[str, float]:
    """The value from which each criterion passes."""
    return {
        one.name: rubric.pass_threshold if one.pass_value is None else one.pass_value
        for one in rubric.criteria
    }


def rubric_questions(rubric: Rubric) -> dict[str, str]:
    """What each criterion asks, for readers who do not know the rubric."""
    return {one.name: one.question for one in rubric.criteria}


def shown_case(case: Case) -> PageJson:
    """What a page shows of a case apart from its answers."""
    facts = [case.name, case.stratum, *(f"#{tag}" for tag in case.tags)]
    origin = {"agent": case.agent, "skill": case.skill, "prompt": case.prompt_version}
    facts += [f"{what} {name}" for what, name in origin.items() if name]
    texts = {
        "description": case.description or None,
        "input": case.input,
        "context": case.context,
        "reference": case.reference,
    }
    return {
        "facts": [fact for fact in facts if fact],
        "texts": [
            {"title": title, **shown_text(to_text(text))}
            for title, text in texts.items()
            if text is not None
        ],
    }


def shown_text(text: str) -> PageJson:
    """A foreign text as it is, and whether it is JSON, whose indentation needs a fixed width."""
    is_json = text.lstrip()[:1] in {"{", "["}
    if is_json:
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            is_json = False
    return {"text": text, "mono": is_json}


def shown_answer(
    answer: Outcome, rubric: Rubric | None = None, replies: JudgeReplies | None = None
) -> PageJson:
    """What a page shows of one answer: output with marks, judgments, checks, scores and trace."""
    result, output = answer.result, answer.result.output
    # The heuristic judge repeats the messages of the assertions, which are listed already.
    judgments = [one for one in result.judgments if one.source != HEURISTIC]
    failures = [one for one in result.failures if one.judge != HEURISTIC]
    quotes = [(n, piece) for n, piece in enumerate(_pieces(judgments), start=1)]
    numbers_of = iter(n for n, _ in quotes)
    exchanges = None if replies is None else replies.of([*judgments, *failures])
    return {
        "state": [*RUN_STATES].index(answer_state(answer)),
        "name": message.with_repeat(result.variant, result.repeat),
        "value": None if answer.value is None else numbers.format_decimal(answer.value),
        "facts": _facts(answer),
        "error": _error_text(output),
        **_shown_output(output, quotes),
        "judgments": [_judgment_json(one, numbers_of, answer.verdict) for one in judgments],
        "failures": [_failure_json(one) for one in failures],
        "exchanges": [] if exchanges is None else exchanges.shown,
        "exchange_of": [] if exchanges is None else exchanges.places,
        "criteria": [] if answer.verdict is None else _criteria_json(answer.verdict, rubric),
        "checks": [shown_check(one) for one in result.checks],
        "scores": [_score_json(one) for one in (*result.scores, *answer.scores)],
        "trace": [_event_json(event) for event in output.trace],
    }


def _shown_output(output: Output, quotes: Sequence[tuple[int, Evidence]]) -> PageJson:
    """The output with the places of quotes; those of its steps stand in a text of their own."""
    text, steps = judged_text(output), steps_text(output)
    shown = shown_text(text)
    # A judge that is shown the steps gets them below the output: offsets continue across the line
    # break between the two.
    start = len(text) + 1 if text else 0
    of_steps = evidence_marks(steps, quotes, start) if steps else []
    return {
        "output": shown["text"],
        "mono": shown["mono"],
        "marks": evidence_marks(text, quotes),
        "steps": {"text": steps, "marks": of_steps} if of_steps else None,
    }


def evidence_marks(
    text: str, quotes: Sequence[tuple[int, Evidence]], offset: int = 0
) -> list[PageJson]:
    """Where quotes stand in a text, in UTF-16 units; those not found have no mark.

    Args:
        text: A part of what the judge was shown.
        quotes: The quotes with their numbers; their places are those in all that was shown.
        offset: Where the text begins in it.
    """
    marks: list[PageJson] = []
    for number, piece in quotes:
        if piece.match is None or piece.start is None or piece.end is None:
            continue
        start, end = max(0, piece.start - offset), min(len(text), piece.end - offset)
        if start < end:
            units = {"start": utf16_offset(text, start), "end": utf16_offset(text, end)}
            marks.append({**units, "no": number, "exact": piece.match == "exact"})
    return marks


def _pieces(judgments: Sequence[Judgment]) -> list[Evidence]:
    return [piece for one in judgments for piece in one.evidence]


def _error_text(output: Output) -> str | None:
    if output.error is None:
        return None
    kind = f"{TARGET_ERROR_WORDS[output.error_kind]}: " if output.error_kind else ""
    return f"{kind}{output.error}"


def _facts(answer: Outcome) -> list[str]:
    result, output = answer.result, answer.result.output
    facts = [] if result.ran_at is None else [f"{result.ran_at:%Y-%m-%d %H:%M} UTC"]
    if output.duration_ms is not None:
        facts.append(f"took {numbers.format_milliseconds(output.duration_ms)}")
    if output.usage is not None:
        usage = output.usage
        facts.append(f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out")
        if usage.cost_usd is not None:
            facts.append(f"{numbers.format_usd(usage.cost_usd)} for the answer")
    costs = [one.cost_usd for one in result.judgments if one.cost_usd is not None]
    if fsum(costs) > 0:
        facts.append(f"{numbers.format_usd(fsum(costs))} for its judgments")
    if output.run_id:
        facts.append(f"agent run {output.run_id}")
    if not result.is_done:
        facts.append("not fully judged")
    return facts


def _judgment_json(
    judgment: Judgment, numbers_of: Iterator[int], verdict: Verdict | None
) -> PageJson:
    facts: list[str] = [] if judgment.source == "llm" else [judgment.source]
    if judgment.confidence is not None:
        facts.append(f"confidence {judgment.confidence:.2f}")
    if judgment.expected_raw is not None:
        facts.append(f"expected score {judgment.expected_raw:.2f}")
    if judgment.n_calls:
        paid = numbers.format_usd(judgment.cost_usd)
        facts.append("from the cache" if judgment.cached else paid)
    facts += [
        message.FLAG_WORDS.get(flag, flag)
        for flag in judgment.flags
        if flag != "evidence_not_found"  # each quote reports it
    ]
    passed = None if verdict is None else _criterion_passed(verdict, judgment.criterion)
    return {
        "criterion": judgment.criterion,
        "score": numbers.format_score(judgment),
        "value": numbers.format_decimal(judgment.value),
        "tone": PASS_TONES[passed],
        "judge": message.with_repeat(message.without_folders(judgment.judge), judgment.repeat),
        "facts": facts,
        "rationale": judgment.rationale,
        "quotes": [
            {"no": next(numbers_of), "text": piece.quote, "match": piece.match}
            for piece in judgment.evidence
        ],
    }


def _criterion_passed(verdict: Verdict, name: str) -> bool | None:
    return next((one.passed for one in verdict.criteria if one.name == name), None)


def _failure_json(failure: JudgeFailure) -> PageJson:
    return {
        "criterion": failure.criterion,
        "kind": message.FAILURE_WORDS[failure.kind],
        "judge": message.with_repeat(message.without_folders(failure.judge), failure.repeat),
        "message": failure.message,
        "reply": failure.reply,
    }


def _criteria_json(verdict: Verdict, rubric: Rubric | None) -> list[PageJson]:
    thresholds = {} if rubric is None else _thresholds(rubric)
    scales = {} if rubric is None else {one.name: one.scale for one in rubric.criteria}
    return [
        {
            "name": one.name,
            "value": numbers.format_decimal(one.value),
            "tone": PASS_TONES[one.passed],
            "facts": [
                *(["required"] if one.required else []),
                f"weight {one.weight:g}",
                *([f"passes from {thresholds[one.name]:g}"] if one.name in thresholds else []),
                *([_scale_words(scales[one.name])] if one.name in scales else []),
                *([f"{one.n_failed:,} failed"] if one.n_failed else []),
            ],
        }
        for one in verdict.criteria
    ]


def _scale_words(scale: Scale) -> str:
    return f"scale {scale.min:g} to {scale.max:g}"


def shown_check(check: AssertionResult) -> PageJson:
    """One assertion with what it found, and the parts of a group."""
    actual = None if check.actual is None else json.dumps(check.actual, ensure_ascii=False)
    return {
        "type": check.type,
        "tone": PASS_TONES[check.passed],
        "word": "error" if check.passed is None else "holds" if check.passed else "fails",
        "message": check.error or check.message,
        "actual": actual,
        "parts": [shown_check(part) for part in check.parts],
    }


def _score_json(score: Score) -> PageJson:
    raw = "" if score.raw is None else f"{score.raw:g} {score.unit or ''}".rstrip()
    return {
        "name": score.name,
        "value": numbers.format_decimal(score.value),
        "text": ", ".join(part for part in (raw, score.error or score.message) if part),
    }


def _event_json(event: TraceEvent) -> PageJson:
    extra = {k: v for k, v in (event.model_extra or {}).items() if v is not None}
    duration = extra.pop("duration_ms", extra.pop("durationMs", None))
    is_timed = isinstance(duration, int | float) and not isinstance(duration, bool)
    parts = {**({} if event.content is None else {"": event.content}), **extra}
    return {
        "type": event.type,
        "name": event.name or "",
        "is_error": "error" in event.type.lower() or bool(extra.get("error")),
        "ms": duration if is_timed else None,
        "took": numbers.format_milliseconds(duration) if is_timed else "",
        "parts": [
            {"title": title, **shown_text(value if isinstance(value, str) else to_text(value))}
            for title, value in parts.items()
        ],
    }
