"""What a judge would be sent about a case, what that costs, and a trial of it.

The requests are those of a run: they are made by the same judge from the same suite.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from judgekit import datasets, evaluation
from judgekit.errors import SettingsError, UnknownNameError
from judgekit.fingerprint import fingerprint
from judgekit.models import count_messages
from judgekit.models.request import IMAGE_TOKENS, ModelRequest
from judgekit.records import RECORDED_PREFIX, CaseSource, ItemKey, Output, Record, total_cost
from judgekit.report import PASS_TONES, judgment_facts, message, numbers
from judgekit.scoring import conclude, portable_judge_name
from judgekit.targets import RecordedTarget

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from judgekit.datasets import Suite
    from judgekit.judge import Judge
    from judgekit.models.cache import CacheLocation
    from judgekit.records import Case, JsonObject, Rubric, Verdict

_MOST_CASES = 1000
_TYPED = "typed"
_RECORDED_NOTE = (
    "Recorded replies belong to the recorded outputs and the prompts of that time: they do not "
    "change when the case or the rubric does."
)


class TrialSettings(Record):
    """What is previewed: a case and an output of it, before a judge."""

    case_id: str | None = None  # None for the first case of the suite
    variant: str | None = None  # whose recorded output is judged; None for the first one
    output: str | None = None  # an output in the place of a recorded one
    model: str | None = None  # a model in the place of the suite's judges


@dataclass(frozen=True, slots=True)
class _Question:
    judge: Judge
    request: ModelRequest
    counter: evaluation.RequestCounter
    is_cached: bool

    @property
    def is_recorded(self) -> bool:
        """Whether the judge is a file of replies, so that nothing is ever called."""
        return self.judge.connection.name.startswith(RECORDED_PREFIX)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A case, its output and what the judges would be asked about it."""

    opened: evaluation.OpenSuite
    case: Case
    output: Output
    variant: str | None  # None for a typed output
    choices: JsonObject
    rubric: Rubric | None
    questions: tuple[_Question, ...]

    @property
    def calls_key(self) -> str:
        """Identifies the calls whose price is shown."""
        return fingerprint([[one.request.key, one.is_cached] for one in self.questions])

    @property
    def refusal(self) -> str | None:
        """Why there is nothing to try."""
        if not self.questions:
            return "There is no question to try."
        if self.variant is None and any(one.is_recorded for one in self.questions):
            return (
                "Recorded replies judge recorded outputs only: choose one of these, or name a "
                "model to have a typed output judged."
            )
        return None

    def notes(self) -> list[str]:
        """What the reader should know about what is shown."""
        judges, rubric = self.opened.judges, self.rubric
        models = {judge.id for judge in judges.judges}
        notes = [
            f"The judge {name!r} is not a model: nothing is sent to it."
            for name in judges.panel.judges
            if name not in models
        ]
        if not judges.panel.judges:
            notes.append("The suite names no judge: nothing is sent.")
        elif rubric is None:
            notes.append("This case is decided by its checks: no judge is called for it.")
        if self.output.error is not None:
            notes.append(f"The output is an error, which is not judged: {self.output.error}")
        elif rubric is not None:
            for judge in judges.judges:
                part = judges.panel.rubric_of(judge.id, rubric)
                notes += [one.message for one in judge.grader.unmet(self.case, self.output, part)]
        if any(one.is_recorded for one in self.questions):
            notes.append(_RECORDED_NOTE)
        return notes


async def preview_or_try(
    path: Path, settings: TrialSettings, calls_key: str | None, *, cache: CacheLocation | None
) -> JsonObject:
    """The messages that the judges of a suite would be sent about one output."""
    # With the key of calls whose price was shown, the judges' verdict: no other call is made.
    async with _prepared(path, settings, cache) as prepared:
        if calls_key is not None:
            return await _tried(prepared, calls_key)
        return {
            **prepared.choices,
            "case_id": prepared.case.id,
            "variant": prepared.variant,
            "output": prepared.output.text,
            "requests": [_request_json(one) for one in prepared.questions],
            "price": _price_words(prepared.questions),
            "n_calls": sum(one.counter.n_calls for one in prepared.questions),
            "calls_key": prepared.calls_key,
            "refusal": prepared.refusal,
            "notes": [*prepared.notes()],
        }


async def _tried(prepared: _Prepared, calls_key: str) -> JsonObject:
    rubric, judges = prepared.rubric, prepared.opened.judges
    if (refusal := prepared.refusal) is not None or rubric is None:
        raise SettingsError(refusal or "no judge is called for this case")
    if prepared.calls_key != calls_key:
        raise SettingsError(
            "the calls are no longer those whose price was shown",
            hint="look at the preview, and try again",
        )
    recorded = {one.judge.id for one in prepared.questions if one.is_recorded}
    verdicts = []
    for judge in judges.judges:
        # Each further try would be a call whose price nobody saw; recorded ones are free.
        grader = judge.grader if judge.id in recorded else replace(judge.grader, max_reasks=0)
        part = judges.panel.rubric_of(judge.id, rubric)
        (pending,) = grader.begin([(prepared.case, prepared.output)], part)
        verdicts.append(await pending.finish())
    judgments = [one for verdict in verdicts for one in verdict.judgments]
    failures = [one for verdict in verdicts for one in verdict.failures]
    return _verdict_json(conclude(rubric, judgments, failures, panel=judges.panel))


@asynccontextmanager
async def _prepared(
    path: Path, settings: TrialSettings, cache: CacheLocation | None
) -> AsyncIterator[_Prepared]:
    suite = _judged_suite(datasets.suite_from_path(path), settings.model)
    case, ids = _case(suite, settings.case_id)
    recorded = [one for one in datasets.expand_variants(suite) if one.kind == "outputs"]
    choices: JsonObject = {
        "cases": list(ids),
        "variants": [one.id for one in recorded],
        "judges": [judge.model for judge in suite.judge],
    }
    name = settings.variant or (recorded[0].id if recorded else None)
    if settings.output is not None or name is None:
        name, output = None, Output(text=settings.output or "", case_id=case.id)
    else:
        own = {one.id: one.outputs for one in recorded}
        if name not in own:
            raise UnknownNameError("variant with recorded outputs", name, own)
        output = await RecordedTarget(name, suite.resolve(own[name] or "")).answer(case)
    variant = name or _TYPED
    one = CaseSource(suite.name, "1", lambda: iter((case,)))
    # Nothing but the judges is opened: no program of the suite is started.
    alone = datasets.VariantSettings(id=variant, outputs=f"{variant}.jsonl")
    opened = evaluation.open_suite(
        suite.model_copy(update={"variants": (alone,), "context": None}),
        evaluation.Choice(),
        evaluation.ExecutionOptions(cache=cache, allow_scripts=True),
        recorded=evaluation.RecordedAnswers(one, {variant: {(case.id, 0): output}}, has_gaps=False),
    )
    try:
        as_run = opened.plans.as_run(case)
        rubric = opened.rubric_of(as_run, ItemKey(case.id, variant, 0))
        questions = () if rubric is None else tuple(_questions(opened, as_run, output, rubric))
        yield _Prepared(opened, as_run, output, name, choices, rubric, questions)
    finally:
        await opened.aclose()


def _judged_suite(suite: Suite, model: str | None) -> Suite:
    if model is not None:
        judge = datasets.SuiteJudge.checked(model=model, max_retries=0)
        return suite.model_copy(update={"judge": (judge,), "panel": None})
    # A call that the provider refuses is not made again: it would be one more than was shown.
    judges = (
        one.model_copy(update={"max_retries": 0}) if one.kind == "llm" else one
        for one in suite.judge
    )
    return suite.model_copy(update={"judge": tuple(judges)})


def _case(suite: Suite, wanted: str | None) -> tuple[Case, list[str]]:
    ids = [case.id for case in islice(datasets.open_cases(suite), _MOST_CASES)]
    chosen = next((case for case in datasets.open_cases(suite) if wanted in {None, case.id}), None)
    if chosen is None:
        raise UnknownNameError("case", str(wanted), ids)
    return chosen, ids


def _questions(
    opened: evaluation.OpenSuite, case: Case, output: Output, rubric: Rubric
) -> list[_Question]:
    found: list[_Question] = []
    for judge in opened.judges.judges:
        part = opened.judges.panel.rubric_of(judge.id, rubric)
        # Of equal requests one is called, whatever judge or repeat it belongs to.
        known: set[str] = set()
        for request in judge.requests(case, output, part):
            counter = evaluation.RequestCounter(judge.connection, known_keys=known)
            n_tokens = evaluation.estimate_judge_reply_tokens(request, part)
            is_cached = counter.take(request, n_tokens) is not None
            found.append(_Question(judge, request, counter, is_cached))
    return found


def _price_words(questions: Sequence[_Question]) -> str:
    """How many calls a trial makes and what they cost, by list prices."""
    counters = [one.counter for one in questions]
    n, n_cached = sum(one.n_calls for one in counters), sum(one.is_cached for one in questions)
    is_recorded = all(one.is_recorded for one in questions)
    kind = "recorded" if is_recorded else "cached"
    replies = f"{numbers.format_count(n_cached, f'{kind} reply', f'{kind} replies')}, free"
    if n == 0:
        return replies
    likely = total_cost(counter.likely().price_usd for counter in counters)
    most = total_cost(counter.most().price_usd for counter in counters)
    price = numbers.PRICE_UNKNOWN
    if likely is not None and most is not None:
        price = f"about {numbers.format_usd(likely)}, at most {numbers.format_usd(most)}"
    calls = f"{numbers.format_count(n, 'call')}, {price}"
    if is_recorded:
        calls = f"{numbers.format_count(n, 'reply is', 'replies are')} not recorded"
    return f"{calls}; {replies}" if n_cached else calls


def _request_json(one: _Question) -> JsonObject:
    subject, counted = one.request.subject, count_messages(one.request.messages, one.request.model)
    price = one.counter.likely().price_usd
    words = numbers.PRICE_UNKNOWN if price is None else f"about {numbers.format_usd(price)}"
    if one.is_recorded:
        words = "recorded" if one.is_cached else "not recorded"
    elif one.is_cached:
        words = "cached"
    elif one.counter.n_calls == 0:
        words = "the same request as one before"
    return {
        "judge": portable_judge_name(one.judge.id),
        "criterion": subject.criterion,
        "repeat": subject.repeat,
        "messages": [dict(each) for each in one.request.messages],
        "tokens": f"{counted.n + len(one.request.images) * IMAGE_TOKENS:,} tokens",
        "token_source": counted.source,
        "price": words,
    }


def _verdict_json(verdict: Verdict) -> JsonObject:
    words = {True: "The output passes", False: "The output fails", None: "Undecided"}
    value = numbers.format_decimal(verdict.value)
    return {
        "tone": PASS_TONES[verdict.passed],
        "conclusion": f"{words[verdict.passed]}; value {value}",
        "judgments": [
            {
                **one.model_dump(
                    mode="json", include={"criterion", "raw", "rationale", "evidence"}
                ),
                "judge": portable_judge_name(one.judge),
                "value": numbers.format_decimal(one.value),
                "facts": [*judgment_facts(one)],
            }
            for one in verdict.judgments
        ],
        "notes": [
            f"{one.criterion}: {message.failure_words(one.kind)}: {one.message}"
            for one in verdict.failures
        ],
    }
