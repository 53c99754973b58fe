"""Grades one output: prompts to requests, answers to judgments and failures."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue, TypeAdapter

from judgekit.errors import RefusalError, ReplyFormatError, SettingsError
from judgekit.fingerprint import Frozen, canonical_json
from judgekit.judge.answers import Reader
from judgekit.judge.asked import how_asked
from judgekit.judge.asking import Answer, ask, spending
from judgekit.judge.gathering import as_answered
from judgekit.judge.grading import Grading
from judgekit.judge.questions import Question
from judgekit.models.request import ModelRequest, Subject
from judgekit.prompts.rendering import judged_text, steps_text
from judgekit.records.calibration_map import Judging

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Sequence

    from judgekit.judge.answers import Said
    from judgekit.models.caching import CachedModel
    from judgekit.models.request import Model, ModelReply
    from judgekit.prompts.rendering import Prompt, PromptTemplate
    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Rubric

_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


@dataclass(frozen=True, slots=True)
class Grader:
    """Asks one model with one template; knows nothing of caches, limits or files."""

    model: Model
    """Who is asked."""

    model_name: str
    """The model as it stands in requests: provider and name."""

    template: PromptTemplate
    """How it is asked."""

    parameters: JsonObject
    """Sampling parameters of every request."""

    api_base: str | None = None
    """The endpoint, where it is not the provider's own."""

    repeats: int = 1
    """How often each question is asked."""

    max_reasks: int = 2
    """How often an unreadable reply is asked again."""

    flags: tuple[str, ...] = ()
    """Marks that every judgment of this judge carries."""

    shelf: CachedModel | None = None
    """The model again, where it keeps replies: those that are owned are read without waiting."""

    _reader: Reader = field(init=False, repr=False)
    _asked: Judging = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, value in self.parameters.items():
            try:
                canonical_json(_JSON.validate_python(value))
            except ValueError as error:
                raise SettingsError(
                    f"the parameter {name} cannot be sent as JSON: {value!r:.100}",
                    hint="use texts, finite numbers, true, false, lists, and dicts with text keys",
                ) from error
        frozen = Frozen(cast("dict[str, object]", self.parameters))
        object.__setattr__(self, "parameters", frozen)
        object.__setattr__(self, "_reader", Reader(self.template.header, self.id, self.flags))
        asked = how_asked(
            self.id,
            self.parameters,
            repeats=self.repeats,
            asks_all=self.template.header.asks == "all",
        )
        object.__setattr__(self, "_asked", Judging(judges=(asked,)))

    @property
    def id(self) -> str:
        """Model and template: `openai/gpt-4.1-mini pointwise/criterion@1f3c…`."""
        return f"{self.model_name} {self.template.id}"

    @property
    def asked(self) -> Judging:
        """How it is asked: what a calibration is bound to."""
        return self._asked

    def questions(self, case: Case, output: Output, rubric: Rubric) -> list[Question]:
        """Everything that is asked about one output, repeats included."""
        prompts = self.template.prompts(case, output, rubric)
        judged = tuple(text for text in (judged_text(output), steps_text(output)) if text)
        return [
            Question(prompt, self._request(prompt, case, output, repeat), judged)
            for repeat in range(self.repeats)
            for prompt in prompts
        ]

    def begin(self, answers: Iterable[tuple[Case, Output]], rubric: Rubric) -> Iterator[Grading]:
        """Grade outputs as far as that goes without asking, with one look into the cache for all."""
        begun = [
            (case, output, [] if output.error is not None else self.questions(case, output, rubric))
            for case, output in answers
        ]
        replies = iter(self._owned([question for *_, asked in begun for question in asked]))
        for case, output, asked in begun:
            known = [self._known(question, next(replies)) for question in asked]
            yield Grading(case, output, rubric, asked, known, self._result, self.asked)

    async def observe(
        self,
        case: Case,
        output: Output,
        rubric: Rubric,
        *,
        known: Collection[tuple[str, int]] = (),
    ) -> AsyncGenerator[tuple[Said, ...], None]:
        """Ask about one output what is not known, and tell each answer as it comes."""
        if output.error is not None:
            return
        jobs = [
            self._result(question)
            for question in self.questions(case, output, rubric)
            if not all((c.name, question.repeat) in known for c in question.prompt.criteria)
        ]
        async with aclosing(as_answered(jobs)) as answered:
            async for found in answered:
                yield tuple(found)

    def _request(self, prompt: Prompt, case: Case, output: Output, repeat: int) -> ModelRequest:
        single = len(prompt.criteria) == 1 and self.template.header.asks == "criterion"
        return ModelRequest(
            model=self.model_name,
            messages=prompt.messages,
            parameters=self.parameters,
            reply_schema=prompt.reply_schema,
            api_base=self.api_base,
            shared_prefix=prompt.shared_prefix,
            subject=Subject(
                case_id=case.id,
                variant=output.variant,
                criterion=prompt.criteria[0].name if single else None,
                repeat=repeat,
            ),
        )

    def _owned(self, questions: Sequence[Question]) -> list[ModelReply | None]:
        if self.shelf is None:
            return [None] * len(questions)
        return self.shelf.owned([question.request for question in questions])

    def _known(self, question: Question, reply: ModelReply | None) -> list[Said] | None:
        """What the kept reply says, where there is one that can be read."""
        if self.shelf is None or reply is None:
            return None
        try:
            readings = self._reader.read(reply, question)
        except (RefusalError, ReplyFormatError):
            return None  # it is asked again, in other words
        self.shelf.took(reply)
        return self._reader.outcomes(Answer(readings, None, reply, spending([reply])), question)

    async def _result(self, question: Question) -> list[Said]:
        answer = await ask(
            self.model,
            question.request,
            lambda reply: self._reader.read(reply, question),
            max_reasks=self.max_reasks,
            shelf=self.shelf,
        )
        return self._reader.outcomes(answer, question)
