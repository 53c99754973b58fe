"""Grades one output: its questions, what a parsed reply says of each criterion, and the verdict.

`exchange` sends the questions. Assertions grade it where they are the judge.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from math import fsum
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from pydantic import JsonValue, TypeAdapter

from judgekit.errors import ReplyFormatError, SettingsError, TemplateError, UnknownNameError
from judgekit.fingerprint import Frozen, canonical_json
from judgekit.judge.exchange import Asker, JudgeQuestion, replace_surrogates, stream_results
from judgekit.models import refuse_secret_parameters, score_distribution
from judgekit.prompts import (
    PromptTemplate,
    assistant_turns,
    case_texts,
    judged_text,
    locate_evidence,
    output_flags,
    steps_text,
    whole_conversation,
)
from judgekit.prompts.parsing import CriterionReply, may_hold_verdict, parse_criterion_replies
from judgekit.records import (
    HEURISTIC,
    CalibratedJudge,
    CalibratedPanel,
    Criterion,
    JudgeFailure,
    Judgment,
    Rubric,
    inactive_rubric_error,
)
from judgekit.scoring import conclude, portable_judge_name, with_repeat_confidence
from judgekit.stats.votes import nearest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping, Sequence

    from judgekit.models.request import ModelReply
    from judgekit.prompts import ConversationPart, JudgePrompt
    from judgekit.records import AssertionResult, Case, JsonObject, Output, Scale, Verdict

_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)
_MATCH, _ASKED, _NAME = attrgetter("match"), attrgetter("criteria"), attrgetter("name")

# Asks a criterion that needs the trace where the judge's own template does not show it.
_TRACE_TEMPLATE = "pointwise/trajectory"

# Asks a criterion that judges conversations, where the judge's own template shows no turns.
_CONVERSATION_TEMPLATE = "pointwise/conversation"

# Parameters that do not change what a judge tends to answer; a calibration survives them.
_IRRELEVANT_PARAMETERS = frozenset({"seed", "logprobs", "top_logprobs"})

JudgmentOutcome = Judgment | JudgeFailure

AnswerKey = tuple[str, int, int | None]
"""What one answer of a judge about an output is known by: criterion, repeat and turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grader(Asker[CriterionReply, JudgmentOutcome]):
    """Grades outputs with one model and one template; knows nothing of limits and files."""

    _answer: ClassVar[str] = "score"
    _stated = attrgetter("raw")
    _declined: ClassVar[str] = "the judge cannot assess this"
    _failure: ClassVar[type[Any]] = JudgeFailure

    template: PromptTemplate
    """Asks every criterion that neither names a template nor needs what this one does not show."""

    template_folders: tuple[Path, ...] = ()
    """Folders in which a criterion's own template is looked up before the shipped ones."""

    name: str | None = None
    """The name in the suite; it grades the criteria that name it, without one all others."""

    configuration: CalibratedPanel = field(init=False, repr=False)
    _templates: dict[str, PromptTemplate] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        # `super()` does not work in a dataclass with slots, which is a second class.
        Asker.__post_init__(self)
        self.template.compile()
        # Checked here and not in each request: the same object is part of thousands of requests.
        for name, value in self.parameters.items():
            try:
                canonical_json(_JSON.validate_python(value))
            except ValueError as error:
                raise SettingsError(
                    f"the parameter {name} cannot be sent as JSON: {value!r:.100}",
                    hint="use texts, finite numbers, true, false, lists, and dicts with text keys",
                ) from error
        frozen = Frozen(cast("dict[str, object]", self.parameters))
        refuse_secret_parameters(frozen)
        object.__setattr__(self, "parameters", frozen)
        # Token probabilities and the seed do not change how strict a judge is, so that a
        # calibration made with other values of them still holds.
        sent = {name: value for name, value in frozen.items() if name not in _IRRELEVANT_PARAMETERS}
        configuration = CalibratedJudge(
            judge=portable_judge_name(self.id),
            parameters=cast("JsonObject", sent),
            repeats=self.repeats,
            asks_all=self.template.header.asks == "all",
        )
        object.__setattr__(self, "configuration", CalibratedPanel(judges=(configuration,)))

    def questions(self, case: Case, output: Output, rubric: Rubric) -> list[JudgeQuestion]:
        """Everything that is asked about one output, repeats included; nothing of a failed one."""
        if not rubric.active:
            raise inactive_rubric_error(rubric)
        if output.error is not None:
            return []
        is_plain = not (self.template.header.needs_trace or self.template.shows_turns)
        for criterion in rubric.criteria:
            if criterion.needs or criterion.template or criterion.judge or criterion.turns:
                is_plain = False
        if is_plain:
            prompts = self.template.prompts(case, output, rubric) if rubric.criteria else []
        else:
            prompts = self._prompts(case, output, rubric)
        # The trace counts as shown, too: a score that stands in a tool result is not the judge's.
        text, steps = judged_text(output), steps_text(output) if output.trace else ""
        shown = tuple(filter(None, (text, steps)))
        # The work of an agent may be in its steps alone.
        flags = output_flags(text, map(_NAME, rubric.criteria)) if text or not steps else ()
        rest: dict[str, Any] = {"shown": shown, "of": (case, output), "flags": flags}
        rest["about"] = {"variant": output.variant}
        questions: list[JudgeQuestion] = []
        for repeat in range(self.repeats):
            subject = {"case_id": case.id, "variant": output.variant, "repeat": repeat}
            questions += map(partial(self.question, subject=subject, **rest), prompts)
        quotable: Any = tuple(filter(may_hold_verdict, filter(None, case_texts(case).values())))
        if quotable or rubric.require_evidence:
            more: Any = {"needs_evidence": rubric.require_evidence}
            return [each._replace(texts=each.shown + quotable, **more) for each in questions]
        return questions

    def _prompts(self, case: Case, output: Output, rubric: Rubric) -> list[JudgePrompt]:
        """The prompts of the criteria that can be judged, in the rubric's order, turn by turn."""
        prompts: list[JudgePrompt] = []
        # For templates that review the test; criteria without a weight decide nothing.
        expected = "\n".join(f"- {c.name}: {c.question}" for c in rubric.criteria if c.weight)
        whole = whole_conversation(case, output)
        for template, group in self._groups(rubric):
            # Also where nothing of this output is asked: a rubric that does not fit is an error
            # from the first output on.
            template.check_fits(group)
            askable = [c for c in group.criteria if not _lacks(c, template, case, output)]
            for turns in (None, "whole", "each"):
                criteria = tuple(c for c in askable if c.turns == turns)
                parts: list[ConversationPart | None] = [whole if template.shows_turns else None]
                if turns == "each":
                    parts = [*assistant_turns(whole)]
                asked = group.model_copy(update={"criteria": criteria})
                for part in parts if criteria else ():
                    prompts += template.prompts(case, output, asked, part, expectations=expected)
        place = {criterion.name: number for number, criterion in enumerate(rubric.criteria)}
        return sorted(prompts, key=lambda prompt: place[prompt.criteria[0].name])

    def _groups(self, rubric: Rubric) -> list[tuple[PromptTemplate, Rubric]]:
        """The templates that ask about a rubric, each with the criteria it asks about."""
        by_template: dict[str, tuple[PromptTemplate, list[Criterion]]] = {}
        for criterion in rubric.criteria:
            template = self._template_of(criterion)
            by_template.setdefault(template.id, (template, []))[1].append(criterion)
        return [
            (template, rubric.model_copy(update={"criteria": tuple(criteria)}))
            for template, criteria in by_template.values()
        ]

    def wanted(self, case: Case, output: Output, rubric: Rubric) -> list[AnswerKey]:
        """What all answers about an output are known by, asked or not."""
        keys: list[AnswerKey] = []
        for criterion in rubric.criteria:
            turns: list[int | None] = [None]
            if criterion.turns == "each":
                template = self._template_of(criterion)
                # One that lacks what it needs fails as a whole.
                if not _lacks(criterion, template, case, output):
                    turns = [part.turn for part in _turns(case, output)]
            keys += [(criterion.name, n, turn) for n in range(self.repeats) for turn in turns]
        return keys

    def check(self, rubric: Rubric) -> None:
        """Refuse a rubric that cannot be asked about, whatever outputs are graded."""
        for template, group in self._groups(rubric):
            template.check_fits(group)

    def unmet(self, case: Case, output: Output, rubric: Rubric) -> list[JudgeFailure]:
        """The criteria that cannot be judged because something they need is missing."""
        if output.error is not None:
            return []
        return [
            JudgeFailure(
                criterion=criterion.name,
                kind="cannot_assess",
                message=f"criterion {criterion.name!r} needs {lacks}; it was not asked",
                case_id=case.id,
                variant=output.variant,
                repeat=repeat,
                judge=self.id,
                cost_usd=0.0,
                price_usd=0.0,
            )
            for criterion in rubric.criteria
            if (lacks := _lacks(criterion, self._template_of(criterion), case, output))
            for repeat in range(self.repeats)
        ]

    def configuration_for(self, rubric: Rubric) -> CalibratedPanel:
        """The settings, and the templates of a rubric's criteria that are not the judge's own."""
        used = {criterion.name: self._template_of(criterion).id for criterion in rubric.criteria}
        own = {name: template for name, template in used.items() if template != self.template.id}
        return (
            self.configuration.model_copy(update={"templates": own}) if own else self.configuration
        )

    def _template_of(self, criterion: Criterion) -> PromptTemplate:
        if criterion.judge not in {None, self.name}:
            # Another judge's judgment would stand under the name of the one the rubric wants.
            raise SettingsError(
                f"criterion {criterion.name!r} is to be graded by the judge {criterion.judge!r}, "
                f"and {self.model_name} does not have this name",
                hint=f"define it in a suite: `judge: [{{name: {criterion.judge}, model: …}}]`; or "
                "grade the outputs (of a run: judgekit export) by a rubric without `judge`",
            )
        own = criterion.template
        if own is None and criterion.turns and not self.template.shows_turns:
            own = _CONVERSATION_TEMPLATE
        if own is None:
            if "trace" not in criterion.needs or self.template.shows("trace", criterion):
                return self.template
            own = _TRACE_TEMPLATE
        if own not in self._templates:
            try:
                self._templates[own] = PromptTemplate(own, self.template_folders)
            except UnknownNameError as error:
                problem = f"criterion {criterion.name!r}: {error.message}"
                raise TemplateError(problem, hint=error.hint) from error
        return self._templates[own]

    def begin(
        self, answers: Iterable[tuple[Case, Output]], rubric: Rubric
    ) -> Iterator[PendingGrading]:
        """Grade outputs from the cache as far as that goes, with one query for all of them."""
        begun: list[tuple[Case, Output, list[JudgeQuestion]]] = []
        to_ask: list[JudgeQuestion] = []
        for case, output in answers:
            questions = self.questions(case, output, rubric)
            begun.append((case, output, questions))
            to_ask += questions
        # A generator over all outputs: it is consumed in the order in which the questions were
        # made.
        outcomes = self.cached_outcomes(to_ask)
        for case, output, questions in begun:
            known = list(islice(outcomes, len(questions)))
            asked = set(chain.from_iterable(map(_ASKED, questions)))
            if len(asked) < len(rubric.criteria):  # a failed output, or something needed is missing
                known.append([*self.unmet(case, output, rubric)])
            yield PendingGrading(case, output, rubric, questions, known, self)

    async def observe(
        self,
        case: Case,
        output: Output,
        rubric: Rubric,
        *,
        known: Collection[AnswerKey] = (),
        questions: Sequence[JudgeQuestion] | None = None,
    ) -> AsyncGenerator[tuple[JudgmentOutcome, ...], None]:
        """Ask about one output what is not known yet, and yield each answer as it arrives."""
        if questions is None:
            questions = self.questions(case, output, rubric)
        for failure in self.unmet(case, output, rubric):
            if (failure.criterion, failure.repeat, failure.turn) not in known:
                yield (failure,)
        jobs = [
            self.ask(question)
            for question in questions
            # A joint question of which only a part is known is asked whole, since it cannot be
            # split.
            if not all(
                (c.name, question.repeat, question.turn) in known for c in question.prompt.criteria
            )
        ]
        async with aclosing(stream_results(jobs)) as answers:
            async for outcomes in answers:
                yield tuple(outcomes)

    def _parse(
        self, reply: ModelReply, question: JudgeQuestion
    ) -> Mapping[str | None, CriterionReply]:
        criteria, reply_format = question.prompt.criteria, question.prompt.header.reply
        readings: Mapping[str, CriterionReply]
        if reply_format.kind == "json":
            readings = parse_criterion_replies(
                reply.text, criteria, finish_reason=reply.finish_reason, judged_text=question.texts
            )
        else:
            from judgekit.prompts.parsing import parse_formatted_reply  # noqa: PLC0415 - few templates need it

            reading = parse_formatted_reply(
                reply.text,
                criteria[0],
                reply_format=reply_format,
                finish_reason=reply.finish_reason,
                judged_text=question.shown,
            )
            readings = {criteria[0].name: reading}
        if question.needs_evidence:
            _require_evidence(readings, reply, question)
        return cast("Mapping[str | None, CriterionReply]", readings)

    def _observed(
        self,
        index: int,
        /,
        fields: dict[str, Any],
        reading: CriterionReply,
        reply: ModelReply,
        question: JudgeQuestion,
        more_flags: Sequence[str],
    ) -> Judgment:
        scale, raw = question.prompt.criteria[index].scale, cast("float", reading.raw)
        # Most quotes are ASCII and hold no surrogate.
        quotes = reading.evidence
        if not all(map(str.isascii, quotes)):
            quotes = tuple(map(replace_surrogates, quotes))
        evidence = locate_evidence(quotes, "\n".join(question.shown))
        if question.prompt.part is not None:
            # Places in messages are no places in the output's text.
            nowhere = {"start": None, "end": None}
            evidence = tuple(piece.model_copy(update=nowhere) for piece in evidence)
        chances = None
        # A joint reply states several scores, and nothing says which tokens belong to which.
        if reply.logprobs and scale.points and question.prompt.header.asks == "criterion":
            chances = score_distribution(reply, scale.points)
        # Token probabilities come first: stated confidences cluster near 1.
        sure = None if chances is None else chances.confidence
        flags = list(self.flags)
        if None in map(_MATCH, evidence):
            # Flagged and stored: the score may be right although the quote is not.
            flags.append("evidence_not_found")
        return Judgment(
            **fields,
            raw=raw,
            value=scale.value_of(raw),
            evidence=evidence,
            confidence=reading.confidence if sure is None else sure,
            logprob_confidence=sure,
            expected_raw=None if chances is None else chances.expected_raw,
            logprob_mass=None if chances is None else chances.mass,
            flags=(*flags, *more_flags),
        )


def _lacks(
    criterion: Criterion, template: PromptTemplate, case: Case, output: Output
) -> str | None:
    """What a criterion needs and neither the case nor the output has, in words."""
    if criterion.turns == "each" and not _turns(case, output):
        return "a turn of the assistant, and the output has none"
    if not output.trace and ("trace" in criterion.needs or template.header.needs_trace):
        return "a trace, and the output has none"
    if "reference" in criterion.needs and case.reference is None:
        return "a reference, and the case has none"
    if "context" in criterion.needs and case.context is None:
        return "context, and the case has none"
    return None


def _turns(case: Case, output: Output) -> list[ConversationPart]:
    return assistant_turns(whole_conversation(case, output))


def _require_evidence(
    readings: Mapping[str, CriterionReply], reply: ModelReply, question: JudgeQuestion
) -> None:
    """Refuse a score without a quotation that is found in the output or its steps."""
    for name, reading in readings.items():
        quotes = tuple(map(replace_surrogates, reading.evidence))
        evidence = locate_evidence(quotes, "\n".join(question.shown))
        if reading.raw is not None and not any(map(_MATCH, evidence)):
            # Part of the repeated request and with it of its cache key: it must not change.
            raise ReplyFormatError(
                f"Quote at least one passage for {name!r}, copied word for word: a score without "
                "evidence that is found in the material is not valid.",
                reason="evidence_missing",
                reply=reply.text,
            )


class PendingGrading(NamedTuple):
    """The grading of one output: the questions, and the answers that the cache already holds."""

    case: Case
    output: Output
    rubric: Rubric
    questions: Sequence[JudgeQuestion]
    """What is asked, in the rubric's order, repeat by repeat; nothing of an output in error."""

    answers: Sequence[list[JudgmentOutcome] | None]
    """The outcomes of each question, None while it is open; then those of the criteria that lack
    what they need, where there are any."""

    grader: Grader

    @property
    def verdict(self) -> Verdict | None:
        """What the rubric concludes; None while a question is open."""
        return None if None in self.answers else self._conclude(self.answers)

    async def finish(self) -> Verdict:
        """Ask the open questions, and conclude."""
        return self._conclude(await self.grader.complete(self.questions, self.answers))

    def _conclude(self, answers: Iterable[list[JudgmentOutcome] | None]) -> Verdict:
        judgments: list[Judgment] = []
        failures: list[JudgeFailure] = []
        for outcome in chain.from_iterable(filter(None, answers)):
            if isinstance(outcome, Judgment):
                judgments.append(outcome)
            else:
                failures.append(outcome)
        return conclude(
            self.rubric,
            with_repeat_confidence(judgments) if len(judgments) > 1 else judgments,
            failures,
            case_id=self.case.id,
            variant=self.output.variant,
            error=self.output.error,
            asked=self.grader.configuration,
        )


_YES_OR_NO = 2


def implied_rubric(
    assertions: Sequence[JsonObject], *, name: str = "assertions", pass_threshold: float = 1.0
) -> Rubric:
    """The rubric that assertions make up where there is no other: each is a yes-or-no criterion."""
    groups: dict[str, list[JsonObject]] = {}
    for place, assertion in enumerate(assertions, start=1):
        groups.setdefault(_criterion_name(assertion, place), []).append(assertion)
    criteria = [
        Criterion(
            name=criterion,
            question=f"Does this hold? {'; '.join(map(_shown, group))}",
            scale="binary",
            weight=fsum(_weight(assertion) for assertion in group),
        )
        for criterion, group in groups.items()
    ]
    return Rubric(name=name, criteria=tuple(criteria), pass_threshold=pass_threshold)


def judge_by_assertions(
    rubric: Rubric,
    assertions: Sequence[JsonObject],
    results: Sequence[AssertionResult],
    *,
    case_id: str | None = None,
    variant: str | None = None,
) -> tuple[Judgment | JudgeFailure, ...]:
    """What assertions say of the criteria they stand for."""
    # An assertion stands for the criterion it names; in an implied rubric, also for its own. On a
    # scale of two scores all assertions of a criterion must hold; on a longer one it gets the score
    # nearest to their weighted mean, the worse of two.
    names = [criterion.name for criterion in rubric.criteria]
    found: dict[str, list[tuple[float, AssertionResult]]] = {}
    for place, (assertion, result) in enumerate(zip(assertions, results, strict=True), start=1):
        name = _criterion_name(assertion, place)
        if name not in names and "criterion" in assertion:
            raise UnknownNameError("criterion", name, names)
        found.setdefault(name, []).append((_weight(assertion), result))
    return tuple(
        _criterion_outcome(criterion, found[criterion.name], case_id=case_id, variant=variant)
        for criterion in rubric.criteria
        if criterion.name in found
    )


def _criterion_outcome(
    criterion: Criterion,
    found: Sequence[tuple[float, AssertionResult]],
    *,
    case_id: str | None,
    variant: str | None,
) -> Judgment | JudgeFailure:
    errors = [f"{result.type}: {result.error}" for _, result in found if result.passed is None]
    if errors:
        return JudgeFailure(
            criterion=criterion.name,
            kind="internal",
            message="\n".join(errors),
            case_id=case_id,
            variant=variant,
            judge=HEURISTIC,
            cost_usd=0.0,
            price_usd=0.0,
        )
    raw = _raw(found, criterion.scale)
    return Judgment(
        criterion=criterion.name,
        raw=raw,
        value=criterion.scale.value_of(raw),
        rationale="\n".join(result.message for _, result in found),
        source="heuristic",
        judge=HEURISTIC,
        case_id=case_id,
        variant=variant,
        cost_usd=0.0,
        price_usd=0.0,
        n_calls=0,
    )


def _raw(found: Sequence[tuple[float, AssertionResult]], scale: Scale) -> float:
    points = scale.points
    if points is not None and len(points) == _YES_OR_NO:
        return points[all(result.passed for _, result in found)]
    total = fsum(weight for weight, _ in found)
    values = [(weight if total else 1.0, _value(result)) for weight, result in found]
    mean = fsum(weight * value for weight, value in values) / (total or len(values))
    raw = min(scale.max, scale.min + mean * (scale.max - scale.min))
    if points is not None:
        return nearest(raw, points)
    return float(round(raw)) if scale.integer else raw


def _value(result: AssertionResult) -> float:
    return float(bool(result.passed)) if result.value is None else result.value


def _criterion_name(assertion: JsonObject, place: int) -> str:
    named = assertion.get("criterion")
    return named if isinstance(named, str) else f"{assertion.get('type')} {place}"


def _weight(assertion: JsonObject) -> float:
    weight = assertion.get("weight")
    return float(weight) if isinstance(weight, int | float) else 1.0


def _shown(assertion: JsonObject) -> str:
    more = {k: v for k, v in assertion.items() if k not in {"type", "weight", "criterion"}}
    return (
        f"{assertion.get('type')} {json.dumps(more, ensure_ascii=False)}"
        if more
        else str(assertion.get("type"))
    )
