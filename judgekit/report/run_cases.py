"""Makes the case table of a run's page: a row for each case, a column for each variant.

Its answers come one after the other, in the order of the store, and are held only as long as their
case lasts.
"""

from __future__ import annotations

import json
from math import fsum
from typing import TYPE_CHECKING

from judgekit.judge import HEURISTIC
from judgekit.prompts import judged_text, to_text
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
        Score,
        TraceEvent,
        Verdict,
    )
    from judgekit.report.document import Block, CaseTable, PageJson

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

# Two judgments of one criterion this far apart, on [0, 1], are not the same opinion.
_DISAGREEMENT = 0.5


class RunCases:
    """Collects the answers of a run into a case table, as they are read."""

    def __init__(self, run: RunInfo) -> None:
        self._variants = [variant.id for variant in run.variants]
        self._is_repeated = run.repeats != 1
        self._builder = CaseTableBuilder("run", self._variants, RUN_STATES, RUN_FILTERS)
        self._case: list[Outcome] = []

    def take(self, answer: Outcome) -> None:
        """Add an answer; those of one case come after each other."""
        if self._case and self._case[0].result.place != answer.result.place:
            self._close_case()
        self._case.append(answer)

    def table(self, summary: tuple[Block, ...] = ()) -> CaseTable:
        """The case table of all answers taken."""
        if self._case:
            self._close_case()
        return self._builder.table(summary)

    def _close_case(self) -> None:
        answers, self._case = self._case, []
        case = answers[0].result.case
        by_variant: dict[str, list[Outcome]] = {}
        for answer in answers:
            by_variant.setdefault(answer.result.variant, []).append(answer)
        cells = [self._cell(by_variant.get(name, [])) for name in self._variants]
        states = {cell.state for cell in cells if cell is not None}
        filters = [
            name
            for name, wanted in (
                ("failed", {"fail", "mixed"}),
                ("undecided", {"open", "mixed"}),
                ("error", {"error"}),
            )
            if states & wanted
        ]
        if "mixed" in states or any(map(judges_disagree, answers)):
            filters.append("disagree")
        self._builder.add(
            CaseRow(
                case_id=case.id,
                snippet=text_snippet(case.name or to_text(case.input)),
                cells=cells,
                full={
                    "id": message.printable(case.id),
                    **shown_case(case),
                    "answers": [
                        {"column": self._variants.index(one.result.variant), **shown_answer(one)}
                        for one in answers
                    ],
                },
                tags=case.tags,
                stratum=case.stratum,
                filters=filters,
            )
        )

    def _cell(self, answers: Sequence[Outcome]) -> GridCell | None:
        # Of several tries only the last counts; repeats count alike.
        counted = answers if self._is_repeated else answers[-1:]
        if not counted:
            return None
        states = {answer_state(one) for one in counted}
        values = [one.value for one in counted if one.value is not None]
        mean = fsum(values) / len(values) if values else None
        return GridCell(states.pop() if len(states) == 1 else "mixed", mean)


def answer_state(answer: Outcome) -> str:
    """The key of an answer's state in `RUN_STATES`."""
    if answer.result.output.error is not None:
        return "error"
    return {True: "pass", False: "fail", None: "open"}[answer.passed]


def judges_disagree(answer: Outcome) -> bool:
    """Whether two judgments of one criterion are far apart."""
    values: dict[str, list[float]] = {}
    for one in answer.result.judgments:
        values.setdefault(one.criterion, []).append(one.value)
    return any(max(each) - min(each) >= _DISAGREEMENT for each in values.values())


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
            {"title": title, "text": to_text(text)}
            for title, text in texts.items()
            if text is not None
        ],
    }


def shown_answer(answer: Outcome) -> PageJson:
    """What a page shows of one answer: output with marks, judgments, checks, scores and trace."""
    result, state = answer.result, answer_state(answer)
    output = result.output
    text = judged_text(output)
    # The heuristic judge repeats the messages of the assertions, which are listed already.
    judgments = [one for one in result.judgments if one.source != HEURISTIC]
    quotes = [(n, piece) for n, piece in enumerate(_pieces(judgments), start=1)]
    numbers_of = iter(n for n, _ in quotes)
    return {
        "state": [*RUN_STATES].index(state),
        "name": message.with_repeat(result.variant, result.repeat),
        "value": None if answer.value is None else numbers.format_decimal(answer.value),
        "facts": _facts(answer),
        "output": text,
        "error": _error_text(output),
        "marks": evidence_marks(text, quotes),
        "judgments": [_judgment_json(one, numbers_of, answer.verdict) for one in judgments],
        "failures": [_failure_json(one) for one in result.failures if one.judge != HEURISTIC],
        "criteria": [] if answer.verdict is None else _criteria_json(answer.verdict),
        "checks": [shown_check(one) for one in result.checks],
        "scores": [_score_json(one) for one in (*result.scores, *answer.scores)],
        "trace": [_event_json(event) for event in output.trace],
    }


def evidence_marks(text: str, quotes: Sequence[tuple[int, Evidence]]) -> list[PageJson]:
    """Where quotes stand in a text, in UTF-16 units; those not found have no mark."""
    return [
        {
            "start": utf16_offset(text, piece.start),
            "end": utf16_offset(text, piece.end),
            "no": number,
            "exact": piece.match == "exact",
        }
        for number, piece in quotes
        if piece.match is not None and piece.start is not None and piece.end is not None
    ]


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
    facts: list[str] = [judgment.source] if judgment.source != "llm" else []
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
        if flag != "evidence_not_found"  # each quote says so for itself
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


def _criteria_json(verdict: Verdict) -> list[PageJson]:
    return [
        {
            "name": one.name,
            "value": numbers.format_decimal(one.value),
            "tone": PASS_TONES[one.passed],
            "facts": [
                f"weight {one.weight:g}",
                *(["required"] if one.required else []),
                *([f"{one.n_failed:,} failed"] if one.n_failed else []),
            ],
        }
        for one in verdict.criteria
    ]


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
    return {
        "type": event.type,
        "name": event.name,
        "text": "" if event.content is None else to_text(event.content),
        "more": json.dumps(extra, ensure_ascii=False, default=str) if extra else "",
        "ms": duration if isinstance(duration, int | float) else None,
    }
