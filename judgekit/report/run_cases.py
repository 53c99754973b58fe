"""Makes the case table of a run's page: a row for each case, a column for each variant.

Its answers come one after the other, in the order of the store, and are held only as long as their
case lasts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence, Set as AbstractSet
from math import fsum
from typing import TYPE_CHECKING

from judgekit.evaluation import VERDICTS_RUN, Outcome, rubric_of_result
from judgekit.prompts import judged_text, steps_text, to_text
from judgekit.records import HEURISTIC, JudgeFailure, Judgment, Rubric, meets_threshold
from judgekit.report import message, numbers
from judgekit.report.answers import CHECK_WORDS, answer_facts, score_facts
from judgekit.report.case_table import (
    NO_REPLIES,
    CaseTableBuilder,
    CellState,
    GridCell,
    Opinions,
    opinion_group,
    shown_output,
    shown_text,
)
from judgekit.report.document import PASS_TONES, Block, CaseTable, PageJson
from judgekit.report.message import TARGET_ERROR_WORDS

if TYPE_CHECKING:
    from judgekit.records import AssertionResult, RunInfo, TraceEvent
    from judgekit.report.case_table import JudgeReplies

RUN_STATES = {
    "fail": CellState("fails", "✗", "fail", 0),
    "mixed": CellState("passes in some repeats only", "±", "inconclusive", 1),
    "open": CellState("undecided", "?", "inconclusive", 2),
    "error": CellState("no output", "!", "error", 3),
    "pass": CellState("passes", "✓", "pass", 4),
}
"""What the answer of a variant to a case can be."""

PASS_STATES = {True: "pass", False: "fail", None: "open"}
"""The states of a decision."""

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
            omitted=NO_REPLIES if replies is None else {},
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
            case,
            [self._cell(by_variant.get(name, [])) for name in self._variants],
            {
                "questions": {} if own is None else rubric_questions(own),
                "answers": [
                    {
                        "round": self._round(number, len(by_variant[name])),
                        **shown_answer(one, column, self._rubric(one), self._replies),
                    }
                    for column, name in enumerate(self._variants)
                    for number, one in enumerate(by_variant.get(name, []), start=1)
                ],
            },
        )

    def _rubric(self, answer: Outcome) -> Rubric | None:
        return rubric_of_result(answer.result, self._run)

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
                judges_disagree(one.result.judgments, self._rubric(one)) for one in counted
            ),
            "undecided": "open" in states,
            "error": "error" in states or any(one.result.failures for one in counted),
        }
        filters = [name for name, holds in found.items() if holds]
        return GridCell(shared_state(states), mean, filters=filters)


def answer_state(answer: Outcome) -> str:
    """The key of an answer's state in `RUN_STATES`."""
    if answer.result.output.error is not None:
        return "error"
    return PASS_STATES[answer.passed]


def shared_state(states: AbstractSet[str]) -> str:
    """The state of several answers to one case."""
    if len(states) > 1 and "pass" in states:
        return "mixed"
    # Where no repeat passes, the most serious of them says what is wrong.
    return min(states, key=lambda key: RUN_STATES[key].rank)


def judges_disagree(judgments: Sequence[Judgment], rubric: Rubric | None) -> bool:
    """Whether two judgments of one criterion, and of one turn, contradict each other."""
    # They do where one reaches the value from which the criterion passes and the other does not, or
    # where they are at least half the scale apart. Judges of a panel, repeats of a judge and human
    # reviewers count alike, each by the own value, before any calibration.
    values: dict[tuple[str, int | None], list[float]] = {}
    for one in judgments:
        values.setdefault((one.criterion, one.turn), []).append(one.value)
    thresholds = {} if rubric is None else _thresholds(rubric)
    for (name, _), each in values.items():
        if max(each) - min(each) >= _DISAGREEMENT:
            return True
        threshold = thresholds.get(name)
        if threshold is not None and len({meets_threshold(v, threshold) for v in each}) > 1:
            return True
    return False


def _thresholds(rubric: Rubric) -> dict[str, float]:
    return {
        one.name: rubric.pass_threshold if one.pass_value is None else one.pass_value
        for one in rubric.criteria
    }


def rubric_questions(rubric: Rubric) -> dict[str, str]:
    """What each criterion asks, for readers who do not know the rubric."""
    return {one.name: one.question for one in rubric.criteria}


def shown_answer(
    answer: Outcome, column: int, rubric: Rubric | None = None, replies: JudgeReplies | None = None
) -> PageJson:
    """What a page shows of one answer: output with marks, judgments, checks, scores and trace."""
    result, output = answer.result, answer.result.output
    error = output.error
    if error is not None and output.error_kind:
        error = f"{TARGET_ERROR_WORDS[output.error_kind]}: {error}"
    opinions = Opinions(replies)
    # Quotes are numbered before their places are marked.
    groups = [*_criteria(answer, rubric, opinions)]
    text, steps = judged_text(output), steps_text(output)
    # A judge that is shown the steps gets them below the output: offsets continue across the line
    # break between the two.
    start = len(text) + 1 if text else 0
    of_steps = [*opinions.marks(steps, offset=start)] if steps else []
    return {
        **shown_output(
            column,
            message.with_repeat(result.variant, result.repeat),
            text,
            images=output.images,
            error=error,
            marks=opinions.marks(text),
            facts=answer_facts(answer),
        ),
        **({"is_verdict_only": True} if result.run_id == VERDICTS_RUN else {}),
        "state": [*RUN_STATES].index(answer_state(answer)),
        "value": None if answer.value is None else numbers.format_decimal(answer.value),
        "steps": {"text": steps, "marks": of_steps} if of_steps else None,
        "opinions": groups,
        "exchanges": opinions.exchanges,
        "checks": [_shown_check(one) for one in result.checks],
        "scores": [
            {
                "name": one.name,
                "value": numbers.format_decimal(one.value),
                "text": ", ".join(score_facts(one)),
            }
            for one in (*result.scores, *answer.scores)
        ],
        "trace": [_shown_event(event) for event in output.trace],
    }


def _criteria(answer: Outcome, rubric: Rubric | None, opinions: Opinions) -> Iterator[PageJson]:
    """The judgments of each criterion, in the order of the rubric; those it lacks come last."""
    verdict = {} if answer.verdict is None else {one.name: one for one in answer.verdict.criteria}
    judged: dict[str, list[Judgment | JudgeFailure]] = {name: [] for name in verdict}
    answers: Iterable[Judgment | JudgeFailure] = (*answer.result.judgments, *answer.result.failures)
    for one in answers:
        # The heuristic judge repeats the messages of the assertions, which are listed already.
        if one.judge != HEURISTIC:
            judged.setdefault(one.criterion, []).append(one)
    thresholds = {} if rubric is None else _thresholds(rubric)
    for name, each in judged.items():
        if (found := verdict.get(name)) is None:
            yield opinion_group(name, [_opinion(one, opinions) for one in each])
            continue
        facts = [*(["required"] if found.required else []), f"weight {found.weight:g}"]
        if rubric is not None and name in thresholds:
            scale = rubric.criterion(name).scale
            facts.append(f"passes from {thresholds[name]:g}")
            facts.append(f"scale {scale.min:g} to {scale.max:g}")
        facts += [f"{found.n_failed:,} failed"] if found.n_failed else []
        rows = [_opinion(one, opinions) for one in each]
        value, tone = numbers.format_decimal(found.value), PASS_TONES[found.passed]
        yield opinion_group(name, rows, value, tone=tone, facts=facts)


def _opinion(one: Judgment | JudgeFailure, opinions: Opinions) -> PageJson:
    if isinstance(one, JudgeFailure):
        return opinions.of(one, f"no judgment: {message.failure_words(one.kind)}", tone="error")
    score, value = numbers.format_score(one), numbers.format_decimal(one.value)
    return opinions.of(one, score, value=value, quotes=opinions.quotes(one.evidence))


def _shown_check(check: AssertionResult) -> PageJson:
    actual = None if check.actual is None else json.dumps(check.actual, ensure_ascii=False)
    return {
        "type": check.type,
        "tone": PASS_TONES[check.passed],
        "word": CHECK_WORDS[check.passed],
        "message": check.error or check.message,
        "actual": actual,
        "parts": [_shown_check(part) for part in check.parts],
    }


def _shown_event(event: TraceEvent) -> PageJson:
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
