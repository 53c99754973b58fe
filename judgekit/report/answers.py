"""Builds the document of one case of a run, and the list of answers that did not pass.

What is known of a case, an answer and a judgment is put into words here for pages, too. The figures
of a run are in `run`.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Sequence
from math import fsum
from typing import TYPE_CHECKING

from judgekit.prompts import judged_text, steps_text, to_text
from judgekit.records import (
    HEURISTIC,
    JudgeFailure,
    Judgment,
    Preference,
    PreferenceFailure,
    images_in,
)
from judgekit.report import message, numbers
from judgekit.report.document import (
    ANSWER_WORDS,
    PASS_TONES,
    Block,
    Conclusion,
    Details,
    Document,
    Entries,
    Entry,
    Notes,
    Passage,
    Section,
    not_empty,
)
from judgekit.report.message import FOLDED_CHARACTERS
from judgekit.report.numbers import format_decimal

if TYPE_CHECKING:
    from judgekit.evaluation import Outcome
    from judgekit.records import (
        AssertionResult,
        Case,
        CaseResult,
        EmbeddingUsage,
        JsonObject,
        RunInfo,
        Score,
        Verdict,
    )
    from judgekit.store import SupersededObservation

CHECK_WORDS = {True: "holds", False: "fails", None: "error"}
"""What an assertion does."""

_PASS_WORDS = {True: "passes", False: "fails", None: "open"}
_QUOTE_WORDS = {"exact": "", "normalized": " (but for white space)", None: " (not in the output)"}
_EARLIER_LENGTH = 160
_MOST_WORST = 5
_MESSAGE_LENGTH = 220
_QUOTE_LENGTH = 100


def case_document(
    case: Case,
    answers: Sequence[Outcome],
    *,
    earlier: Sequence[Sequence[SupersededObservation]] = (),
    notes: Sequence[str] = (),
    data: Callable[[], object],
) -> Document:
    """A case with its answers, and for each the observations that later ones replaced."""
    texts = (("input", case.input), ("context", case.context), ("reference", case.reference))
    histories = earlier or [()] * len(answers)
    return Document(
        kind="Case",
        title=", ".join((f"Case {case.id}", *case_facts(case))),
        conclusion=_conclusion(answers),
        blocks=not_empty([
            Notes((case.description,) if case.description else ()),
            *(
                Passage(to_text(text), name, images_in(text))
                for name, text in texts
                if text is not None
            ),
            *map(_answer_section, answers, histories),
            Notes(tuple(notes)),
        ]),
        data=data,
    )  # fmt: skip


def case_facts(case: Case) -> list[str]:
    """What a case is called and where it belongs."""
    facts = [case.name, case.stratum, *(f"#{tag}" for tag in case.tags)]
    origin = {"agent": case.agent, "skill": case.skill, "prompt": case.prompt_version}
    facts += [f"{what} {name}" for what, name in origin.items() if name]
    return [fact for fact in facts if fact]


def _conclusion(answers: Sequence[Outcome]) -> Conclusion:
    words = {True: "passes", False: "fails", None: "is undecided"}
    texts = []
    for answer in answers:
        name = message.with_repeat(answer.result.variant, answer.result.repeat)
        texts.append(f"{name} {words[answer.passed]}")
    # Variants differ: one colour for all of them would be wrong for some.
    verdicts = {answer.passed for answer in answers}
    tone = PASS_TONES[verdicts.pop()] if len(verdicts) == 1 else "neutral"
    return Conclusion("; ".join(texts), tone)


def _answer_section(answer: Outcome, earlier: Sequence[SupersededObservation]) -> Section:
    result = answer.result
    word, tone = ANSWER_WORDS[answer.passed], PASS_TONES[answer.passed]
    blocks: list[Block] = [
        *_output_blocks(answer),
        Entries(tuple(e for one in result.checks for e in _check_entries(one)), "assertions"),
        Notes(
            tuple(
                ", ".join((one.name, format_decimal(one.value), *score_facts(one)))
                for one in result.scores
            ),
            "scores",
        ),
        Entries(
            (*map(_judgment_entry, result.judgments), *map(_judgment_entry, result.failures)),
            "judgments",
            # In full, the rationale is what a reader looks for.
            line_length=FOLDED_CHARACTERS,
        ),
    ]
    # Of an output that is an error no criterion was judged, so that there is nothing to explain.
    if answer.verdict is not None and answer.verdict.error is None:
        blocks.append(_verdict_entries(answer.verdict))
    blocks.append(Notes(tuple(map(_earlier_text, earlier)), "earlier"))
    intro = " · ".join(answer_facts(answer))
    return Section(f"{word}: {answer_headline(answer)}", not_empty(blocks), intro, tone)


def _output_blocks(answer: Outcome) -> list[Block]:
    output = answer.result.output
    blocks: list[Block] = []
    if output.error is not None:
        kind = f" ({output.error_kind})" if output.error_kind else ""
        blocks.append(Passage(output.error, f"no output{kind}"))
    elif text := judged_text(output):
        blocks.append(Passage(text, "output", output.images))
    # Agents may act without a final text: their steps are the output then.
    if output.trace:
        blocks.append(Passage(steps_text(output), "steps"))
    # A judge grades an empty output as well: without a block the answer would not be shown.
    return blocks or [Notes(("The output is empty.",))]


def answer_facts(answer: Outcome) -> list[str]:
    """When an answer was given, and what it and its judgments took."""
    result, output = answer.result, answer.result.output
    facts = [] if result.ran_at is None else [f"{result.ran_at:%Y-%m-%d %H:%M} UTC"]
    if output.duration_ms is not None:
        facts.append(numbers.format_milliseconds(output.duration_ms))
    if output.usage is not None:
        facts.append(f"{output.usage.input_tokens:,} tokens in, {output.usage.output_tokens:,} out")
        facts.append(numbers.format_usd(output.usage.cost_usd))
    if (paid := fsum(one.cost_usd or 0.0 for one in result.judgments)) > 0:
        facts.append(f"{numbers.format_usd(paid)} for its judgments")
    if output.run_id:
        facts.append(f"agent run {output.run_id}")
    if not result.is_done:
        facts.append("not fully judged")
    return facts


def _check_entries(check: AssertionResult, depth: int = 0) -> list[Entry]:
    text = f"{check.type}: {message.one_line(check.error or check.message)}"
    text += f", {price}" if (price := _price(check.asked)) else ""
    if check.passed is not True and check.actual is not None:
        actual = json.dumps(check.actual, ensure_ascii=False)
        text += f", found {message.printable(actual, 100)}"
    tone = PASS_TONES[check.passed]
    parts = [entry for part in check.parts for entry in _check_entries(part, depth + 1)]
    # Leading spaces are stripped from foreign text, so that dots show the depth.
    return [Entry("· " * depth + text, badge=CHECK_WORDS[check.passed], tone=tone), *parts]


def score_facts(score: Score) -> list[str]:
    """What a score rests on: the measured value, its method, and what is wrong with it."""
    facts = []
    if score.raw is not None and (score.unit is not None or score.raw != score.value):
        facts.append(f"{score.raw:g} {score.unit or ''}".rstrip())
    reason = message.one_line(score.error or score.message)
    # Scorers without more to report give the number again as their message.
    if score.raw is None or reason != f"{score.raw:.3f}":
        facts.append(reason)
    facts += [score.method or "", _price(score.asked)]
    return [fact for fact in facts if fact]


def _price(usage: EmbeddingUsage | None) -> str:
    if usage is None:
        return ""
    return numbers.format_usd(usage.cost_usd) if usage.n_calls else "from the cache"


def _judgment_entry(one: Judgment | JudgeFailure) -> Entry:
    facts = (judge_name(one), *judgment_facts(one))
    if isinstance(one, JudgeFailure):
        headline = ", ".join((one.criterion, message.failure_words(one.kind), *facts))
        reply = [] if one.reply is None else ["its reply:", *one.reply.splitlines()]
        lines = (*one.message.splitlines(), *reply)
        return Entry(headline, lines, "no judgment", "inconclusive")
    score = f"{numbers.format_score(one)} → {one.value:.2f}"
    quotes = [f"“{piece.quote}”{_QUOTE_WORDS[piece.match]}" for piece in one.evidence]
    headline = ", ".join((one.criterion, score, *facts))
    return Entry(headline, (*one.rationale.splitlines(), *quotes))


def judge_name(one: Judgment | JudgeFailure | Preference | PreferenceFailure) -> str:
    """The judge of an answer, and which of its repeats and turns it is."""
    name = message.with_repeat(message.without_folders(one.judge), one.repeat)
    turn = one.turn if isinstance(one, Judgment | JudgeFailure) else None
    return name if turn is None else f"{name}, turn {turn}"


def asked_criterion(one: Judgment | JudgeFailure) -> str:
    """The criterion of an answer, with the turn where it is about one."""
    return one.criterion if one.turn is None else f"{one.criterion} (turn {one.turn})"


def judgment_facts(one: Judgment | JudgeFailure | Preference | PreferenceFailure) -> list[str]:
    """How sure a judge was, what its answer cost, and what is odd about it."""
    cost = ["from the cache" if one.cached else numbers.format_usd(one.cost_usd)]
    cost = cost if one.n_calls else []
    if isinstance(one, JudgeFailure | PreferenceFailure):
        return cost
    # Nearly all judgments are a model's: only the others name their source.
    facts: list[str] = [] if one.source == "llm" else [one.source]
    if isinstance(one, Judgment) and one.source == "human" and one.judged_at is not None:
        # Annotators often answer days after the output was made.
        facts.append(f"{one.judged_at:%Y-%m-%d %H:%M} UTC")
    if one.confidence is not None:
        facts.append(f"confidence {one.confidence:.2f}")
    if isinstance(one, Judgment) and one.expected_raw is not None:
        facts.append(f"expected score {one.expected_raw:.2f}")
    # Each quote says for itself whether it is in the output.
    flags = [flag for flag in one.flags if flag != "evidence_not_found"]
    return [*facts, *cost, *(message.FLAG_WORDS.get(flag, flag) for flag in flags)]


def _verdict_entries(verdict: Verdict) -> Entries:
    own = verdict.uncalibrated
    entries = []
    for criterion in verdict.criteria:
        parts = [criterion.name, format_decimal(criterion.value), f"weight {criterion.weight:g}"]
        parts += ["required"] if criterion.required else []
        parts += [f"{criterion.n_failed:,} failed"] if criterion.n_failed else []
        if own is not None:
            parts.append(f"judge's own {format_decimal(own.criteria[criterion.name])}")
        badge, tone = _PASS_WORDS[criterion.passed], PASS_TONES[criterion.passed]
        entries.append(Entry(", ".join(parts), badge=badge, tone=tone))
    parts = [verdict.rubric, format_decimal(verdict.value)]
    lines: tuple[str, ...] = ()
    if verdict.value_low != verdict.value_high:
        low, high = verdict.value_low, verdict.value_high
        parts.append(f"{low:.2f} to {high:.2f}, depending on what is missing")
    if own is not None:
        parts.append(f"judge's own {format_decimal(own.value)} {_PASS_WORDS[own.passed]}")
        lines = ("calibrated values decide where there is a map",)
    badge, tone = _PASS_WORDS[verdict.passed], PASS_TONES[verdict.passed]
    return Entries((*entries, Entry(", ".join(parts), lines, badge, tone)), "verdict")


def _earlier_text(one: SupersededObservation) -> str:
    record = message.printable(json.dumps(one.what.to_json(), ensure_ascii=False), _EARLIER_LENGTH)
    when = f"{one.at:%Y-%m-%d %H:%M}, replaced {one.superseded_at:%Y-%m-%d %H:%M} UTC"
    return f"{when}: {type(one.what).__name__} {record}"


def answer_json(
    answer: Outcome, earlier: Sequence[SupersededObservation] | None = None
) -> JsonObject:
    """An answer as JSON: all observations of it, and its verdict."""
    whole: JsonObject = {
        **answer.result.to_json(),
        "passed": answer.passed,
        "value": answer.value,
        "verdict": None,
    }
    if answer.verdict is not None:
        apart = {"judgments", "failures"}
        whole["verdict"] = answer.verdict.model_dump(mode="json", exclude=apart)
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


class RunAnswers:
    """The answers that a run's document shows, chosen while all of them are read."""

    def __init__(self, run: RunInfo, *, most: int = _MOST_WORST, lists_all: bool = False) -> None:
        # Without repeats a further answer to a case is another try, of which the last counts.
        self._has_tries = run.repeats == 1
        self._last: Outcome | None = None
        self._most = most
        self._all: list[Entry] | None = [] if lists_all else None
        self._n_not_passed = 0
        # A run may be larger than memory: of the answers that did not pass only the worst stay.
        self._worst: list[tuple[float, int, Outcome]] = []

    def take(self, answer: Outcome) -> None:
        if self._all is not None:
            self._all.append(answer_entry(answer))
        # The answers to a case by a variant come one after the other.
        last, self._last = self._last, answer
        if last is not None and not (self._has_tries and _is_next_try(answer, last)):
            self._count(last)

    def _count(self, answer: Outcome) -> None:
        # An error is no bad answer, and an unfinished one may still pass.
        is_judged = answer.result.output.error is None and answer.result.is_done
        if answer.passed is True or not is_judged:
            return
        self._n_not_passed += 1
        value = answer.verdict.value_high if answer.verdict is not None else answer.value or 0.0
        heapq.heappush(self._worst, (-value, -self._n_not_passed, answer))
        if len(self._worst) > self._most:
            heapq.heappop(self._worst)

    def blocks(self) -> tuple[Block, ...]:
        """The worst answers, and all of them where they were listed."""
        if self._last is not None:
            self._count(self._last)
            self._last = None
        n = len(self._worst)
        note = f"{n} of {self._n_not_passed:,}" if self._n_not_passed > n else ""
        hint = "all with -v" if note else ""
        worst = [one for *_, one in sorted(self._worst, key=lambda row: (-row[0], -row[1]))]
        return not_empty((
            Entries(tuple(map(answer_entry, worst)), "Not passed", note, hint),
            Details("All answers", not_empty([Entries(tuple(self._all or ()))])),
        ))  # fmt: skip


def _is_next_try(answer: Outcome, last: Outcome) -> bool:
    now, then = answer.result, last.result
    return (now.case.id, now.variant) == (then.case.id, then.variant)


def answer_entry(answer: Outcome) -> Entry:
    """An answer, with the assertions that fail and what each judgment says."""
    result = answer.result
    lines = []
    if result.output.error is not None:
        lines.append(f"no output: {message.printable(result.output.error, _MESSAGE_LENGTH)}")
    lines += [
        f"{check.type} {'error' if check.passed is None else 'fails'}: "
        f"{message.one_line(check.error or check.message, _MESSAGE_LENGTH)}"
        for check in result.checks
        if check.passed is not True
    ]
    lines += [
        message.one_line(part.message, _MESSAGE_LENGTH)
        for part in (() if answer.outcome is None else answer.outcome.parts)
        # Semantic similarity is a strategy of its own and has no assertion above.
        if part.strategy == "semantic_sim" and part.passed is not True
    ]
    lines += _judgment_lines(result)
    badge, tone = ANSWER_WORDS[answer.passed], PASS_TONES[answer.passed]
    return Entry(answer_headline(answer), tuple(lines), badge, tone)


def _judgment_lines(result: CaseResult) -> list[str]:
    lines = []
    for judgment in result.judgments:
        # The heuristic judge repeats the messages of the assertions, which are listed already.
        if judgment.source == "heuristic":
            continue
        score = f"{asked_criterion(judgment)} {numbers.format_score(judgment)}"
        lines.append(f"{score}: {message.printable(judgment.rationale, _MESSAGE_LENGTH)}")
        for piece in judgment.evidence[:1]:
            missing = "" if piece.found else " (not in the output)"
            lines.append(f"“{message.printable(piece.quote, _QUOTE_LENGTH)}”{missing}")
    return lines + [
        f"{asked_criterion(one)}: {one.kind}: {message.one_line(one.message, _MESSAGE_LENGTH)}"
        for one in result.failures
        if one.judge != HEURISTIC
    ]


def answer_headline(answer: Outcome) -> str:
    """Which answer it is: case, variant, repeat and value."""
    result, verdict = answer.result, answer.verdict
    parts = [result.case.id, message.with_repeat(result.variant, result.repeat)]
    if answer.value is not None:
        parts.append(f"{answer.value:.2f}")
    if verdict is not None and verdict.uncalibrated is not None:
        own = numbers.format_decimal(verdict.uncalibrated.value)
        parts.append(f"calibrated, judge's own {own}")
    return ", ".join(part for part in parts if part)
