"""What a run of a suite would ask, cost, take and be able to show; asks nothing."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from judgekit.datasets.streaming import drawn_places
from judgekit.errors import TemplateError
from judgekit.evaluation.planning.counting import Counting, Length, judge_reply_tokens
from judgekit.evaluation.planning.earlier_run import experience, mean_length, text_tokens
from judgekit.evaluation.planning.figures import AnswersPlan, EarlierRun, SuitePlan
from judgekit.evaluation.planning.power import detectable
from judgekit.evaluation.planning.timing import model_plan, seconds_of_all, workers
from judgekit.evaluation.planning.vectors import VectorsWalk
from judgekit.evaluation.preparing.jury import HUMAN
from judgekit.evaluation.preparing.opening import price_table
from judgekit.evaluation.running.identity import read_cases
from judgekit.evaluation.running.items import Item, Ledger, Work
from judgekit.judge.heuristic import HEURISTIC
from judgekit.judge.opening import beside_suite
from judgekit.models.connecting import connect
from judgekit.records.output import Output, TraceEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.datasets.streaming import Tally
    from judgekit.datasets.suite_settings import VariantSettings
    from judgekit.evaluation.planning.earlier_run import Experience
    from judgekit.evaluation.planning.figures import ModelPlan, TextSource
    from judgekit.evaluation.preparing.opening import OpenSuite
    from judgekit.judge.judge import Judge
    from judgekit.records.case import Case
    from judgekit.records.rubric import Rubric
    from judgekit.records.run import RunInfo
    from judgekit.store.runs import RunStore
    from judgekit.targets.prompt import PromptTarget

MOST_CASES = 2_000
"""So many cases are worked through; of more a sample of this size, scaled up."""

ASSUMED_ANSWER = Length(250, 1_000)
"""How long answers are, in tokens, where nothing is known of them."""

_MANY_TIMES = 4
"""Answers of which only the usual length is known may be so many times as long."""

_N_EXACT = 400
"""So many requests to each model have their tokens counted one by one."""

_SEED = 0
_PLACEHOLDER = Output(text="")
_PLACEHOLDER_TRACE = Output(text="", trace=(TraceEvent(type="message", content=""),))


async def plan_suite(
    opened: OpenSuite,
    *,
    store: RunStore | None = None,
    begun: RunInfo | None = None,
    in_flight: int | None = None,
    most_cases: int = MOST_CASES,
) -> SuitePlan:
    """Work out what a run would ask and cost; asks nothing, runs nothing, counts no hit."""
    # Judges' questions about answers that are recorded, or owned in the cache, are those that will
    # be asked; about other answers they are as many, and as long as answers are assumed to be: as
    # those that are known of the same variant, in the latest stored run, of the other variants, or
    # 250 tokens.
    tally = opened.cases.tally()
    if tally.n_chosen == 0:
        read_cases(opened)  # says why
    ledger = _ledger(store, begun)
    walk = _Walk(opened, ledger)
    places = drawn_places(tally.n_chosen, most_cases, _SEED)
    checks = opened.case_checks()
    for place, case in enumerate(opened.cases):
        as_run = opened.case_as_run(case)
        checks.take(as_run)
        if place in places:
            await walk.take(place, as_run)
    checks.close()
    learned = None if store is None else experience(store, opened.suite.name)
    return _Settling(opened, walk, tally, learned, workers(opened, in_flight)).plan(len(places))


@dataclass(slots=True)
class _Answers:
    """The answers of one variant, as they are counted."""

    settings: VariantSettings
    n_answers: int = 0
    n_known: int = 0
    n_errors: int = 0
    n_asked: int = 0
    lengths: list[float] = field(default_factory=list)


class _Walk:
    """Goes through the answers and counts what each would take."""

    def __init__(self, opened: OpenSuite, ledger: Ledger) -> None:
        self.opened = opened
        self.answers = {variant.id: _Answers(variant) for variant in opened.variants}
        self.targets = _target_countings(opened)
        models = opened.jury.models
        self.judges = (
            [(judge, _counting(opened, judge)) for judge in models.judges] if models else []
        )
        self.vectors = VectorsWalk(opened)
        self.n_done = self.n_retries = self.n_judged_anew = 0
        self.people = [0, 0]
        self._has_people = HUMAN in opened.jury.panel.judges
        self._is_cascade = opened.jury.panel.combine == "cascade"
        self._work = Work(list(self.answers), opened.suite.settings.repeats)
        self._ledger = ledger

    async def take(self, place: int, case: Case) -> None:
        """Count the answers to one case, as it is run."""
        self.opened.refuse_retries_of_repeats(case)
        rubric = self.opened.rubric_of(case)
        n_again = self.opened.retries_of(case)
        for item in self._items(place, case):
            if self._ledger.is_done(item.key.variant, item.key.repeat, place):
                self.n_done += 1
                continue
            self.n_retries += n_again
            await self._answer(item, rubric, n_again)

    def _items(self, place: int, case: Case) -> Iterator[Item]:
        for chain in self._work.chains([case]):
            for item in chain:
                yield Item(item.key, place, case)

    async def _answer(self, item: Item, rubric: Rubric | None, n_again: int) -> None:
        answers = self.answers[item.key.variant]
        answers.n_answers += 1
        output = await self._known_output(item, n_again)
        if output is None:
            answers.n_asked += 1
        else:
            answers.n_known += 1
            answers.n_errors += output.error is not None
            if output.error is None:
                answers.lengths.append(text_tokens(output))
        if output is not None and output.error is not None:
            return
        self.vectors.take(item, output, n_again=n_again)
        if rubric is not None:
            self._judge(item, output, rubric, n_again)

    async def _known_output(self, item: Item, n_again: int) -> Output | None:
        """The answer, where it is there already."""
        variant, repeat = item.key.variant, item.key.repeat
        target = self.opened.targets[variant]
        kind = self.answers[variant].settings.kind
        if kind == "outputs":
            return await target.answer(item.case, repeat=repeat)
        if kind != "prompt":
            return None
        try:
            request = cast("PromptTarget", target).request(item.case, repeat=repeat)
        except TemplateError as error:
            return Output(error=str(error), error_kind="exception")
        reply = self.targets[variant].take(request, (0, 0), n_again=n_again)  # settled at the end
        if reply is None:
            return None
        if reply.text is None or reply.finish_reason == "content_filter":
            return Output(error="no answer", error_kind="model")
        return Output(text=reply.text, variant=variant)

    def _judge(self, item: Item, output: Output | None, rubric: Rubric, n_again: int) -> None:
        n_before = sum(counting.n_calls for _, counting in self.judges)
        for place, (judge, counting) in enumerate(self.judges):
            shown = output or _placeholder(judge)
            for request in judge.requests(item.case, shown, rubric):
                counting.take(
                    request,
                    judge_reply_tokens(request, rubric),
                    is_likely=place == 0 or not self._is_cascade,
                    n_again=n_again,
                    unread=item.key.variant if output is None else None,
                )
        self.n_judged_anew += sum(c.n_calls for _, c in self.judges) > n_before
        if self._has_people:
            is_sure_to = not (self._is_cascade and self.judges)
            self.people[0] += len(rubric.criteria) * is_sure_to
            self.people[1] += len(rubric.criteria) * (1 + n_again)


@dataclass(frozen=True, slots=True)
class _Settling:
    """Turns what was counted into the plan: lengths assumed, scaled up, priced, timed."""

    opened: OpenSuite
    walk: _Walk
    tally: Tally
    learned: Experience | None
    in_flight: int

    def plan(self, n_counted: int) -> SuitePlan:
        opened, walk, learned = self.opened, self.walk, self.learned
        scale = self.tally.n_chosen / n_counted
        answers = tuple(self._answers(name, scale) for name in walk.answers)
        models = self._models(answers, scale)
        panel = opened.jury.panel
        repeats = opened.suite.settings.repeats
        return SuitePlan(
            suite=opened.suite.name,
            cases=self.tally,
            n_counted=n_counted,
            repeats=repeats,
            n_answers=self.tally.n_chosen * len(answers) * repeats,
            n_done=round(walk.n_done * scale),
            n_retries=round(walk.n_retries * scale),
            answers=answers,
            models=models,
            combine=panel.combine if len(panel.judges) > 1 else None,
            people=(round(walk.people[0] * scale), round(walk.people[1] * scale)),
            judges_by_rule=HEURISTIC in panel.judges,
            is_frozen=opened.asking.frozen,
            max_cost_usd=opened.asking.max_cost_usd,
            in_flight=self.in_flight,
            seconds=seconds_of_all(
                answers,
                models,
                n_judged=round(walk.n_judged_anew * scale),
                in_flight=self.in_flight,
            ),
            detectable=detectable(
                self.tally.n_chosen,
                discordant=None if learned is None else learned.discordant,
                sd=None if learned is None else learned.sd,
            ),
            earlier=None
            if learned is None
            else EarlierRun(id=learned.run_id, n_answers=learned.n_answers),
        )

    def _answers(self, name: str, scale: float) -> AnswersPlan:
        found, learned = self.walk.answers[name], self.learned
        text, source = (None, None) if not found.n_asked else self._text(name)
        cost = None if learned is None else learned.cost_usd.get(name)
        is_own = found.settings.kind in {"command", "python", "http"}
        return AnswersPlan(
            variant=name,
            kind=found.settings.kind,
            n_answers=round(found.n_answers * scale),
            n_known=round(found.n_known * scale),
            n_errors=round(found.n_errors * scale),
            text=text,
            text_source=source,
            latency_s=learned.latency_s.get(name) if is_own and learned is not None else None,
            cost_usd=cost * found.n_asked * scale if is_own and cost is not None else None,
        )

    def _text(self, name: str) -> tuple[Length, TextSource]:
        """How long an answer is assumed to be, and whence that is."""
        others = mean_length([n for found in self.walk.answers.values() for n in found.lengths])
        earlier = {} if self.learned is None else self.learned.texts
        known: dict[TextSource, Length | None] = {
            "owned": mean_length(self.walk.answers[name].lengths),
            "run": earlier.get(name),
            "others": None
            if others is None
            else Length(others.likely, max(others.most, ASSUMED_ANSWER.most)),
        }
        settings = self.walk.answers[name].settings
        for source, length in known.items():
            if length is not None:
                return _limited(length, settings), source
        return _limited(ASSUMED_ANSWER, settings), "assumed"

    def _models(self, answers: tuple[AnswersPlan, ...], scale: float) -> tuple[ModelPlan, ...]:
        lengths = {one.variant: one.text for one in answers if one.text is not None}
        asked = [s for s in self.opened.suite.judge if s.kind == "llm"]
        return (
            *(
                model_plan(counting, role="answers", name=name, lengths=lengths, scale=scale)
                for name, counting in self.walk.targets.items()
            ),
            *(
                model_plan(
                    counting,
                    role="judge",
                    name=judge.id,
                    lengths=lengths,
                    scale=scale,
                    rpm=settings.rpm,
                    tpm=settings.tpm,
                )
                for (judge, counting), settings in zip(self.walk.judges, asked, strict=True)
            ),
            *(
                model_plan(counting, role="checks", name=name, lengths=lengths, scale=scale)
                for name, counting in self.walk.vectors.countings.items()
            ),
        )


def _ledger(store: RunStore | None, begun: RunInfo | None) -> Ledger:
    ledger = Ledger()
    if store is not None and begun is not None:
        for seen in store.progress(begun.id):
            key = seen.key
            ledger.note(key.variant, key.repeat, seen.place, is_done=seen.is_done)
    return ledger


def _target_countings(opened: OpenSuite) -> dict[str, Counting]:
    """One for each prompt under test; the same question of two variants is asked once."""
    suite, prices = opened.suite, price_table(opened.suite)
    seen: defaultdict[str, set[str]] = defaultdict(set)
    found: dict[str, Counting] = {}
    for variant in opened.variants:
        if variant.kind == "prompt":
            model = beside_suite(suite, cast("str", variant.model))
            way = connect(model, api_base=variant.api_base, cache=opened.cache, prices=prices)
            found[variant.id] = Counting(
                way,
                refresh=opened.asking.refresh is True,
                asks_once=opened.cache is not None,
                n_exact=_N_EXACT,
                seen=seen[way.name],
            )
    return found


def _counting(opened: OpenSuite, judge: Judge) -> Counting:
    return Counting(
        judge.connection,
        refresh=opened.asking.refresh is True,
        asks_once=opened.cache is not None,
        n_exact=_N_EXACT,
    )


def _placeholder(judge: Judge) -> Output:
    return _PLACEHOLDER_TRACE if judge.template.header.needs_trace else _PLACEHOLDER


def _limited(length: Length, settings: VariantSettings) -> Length:
    """With room for longer answers than those seen, as far as the variant's own limit goes."""
    most = max(length.most, _MANY_TIMES * length.likely)
    limit = settings.parameters.get("max_tokens") if isinstance(settings.parameters, dict) else None
    return (
        Length(min(length.likely, limit), limit)
        if isinstance(limit, int)
        else Length(length.likely, most)
    )
