"""Estimates the calls, cost and time of a run of a suite, without making any call."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Literal, cast

from judgekit.datasets import draw_sample
from judgekit.errors import TemplateError
from judgekit.evaluation.check_runner import vector_comparisons
from judgekit.evaluation.cost_plan import RequestCounter, TextLength, estimate_judge_reply_tokens
from judgekit.evaluation.judges import HUMAN_JUDGE
from judgekit.evaluation.runner import n_answers_in_work
from judgekit.evaluation.schedule import ProgressLedger, Schedule, WorkItem, read_chosen_cases
from judgekit.evaluation.session import price_table
from judgekit.evaluation.suite_plan import (
    AnswersPlan,
    EarlierRunStatistics,
    ModelPlan,
    SuitePlan,
    detectable_effects,
    earlier_run_statistics,
    mean_length,
    text_tokens,
)
from judgekit.judge import HEURISTIC, resolve_suite_model
from judgekit.models import connect
from judgekit.records import Output, TraceEvent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.datasets import SelectionCount, VariantSettings
    from judgekit.evaluation.session import OpenSuite
    from judgekit.evaluation.suite_plan import PaceLimit, TextSource
    from judgekit.models import Connection
    from judgekit.records import Case, Rubric, RunInfo
    from judgekit.store import RunStore
    from judgekit.targets import PromptTarget

# So many cases are worked through; of more a sample of this size, scaled up.
_MOST_CASES = 2_000
# How long answers are, in tokens, where nothing is known of them.
_ASSUMED_ANSWER = TextLength(250, 1_000)
# Answers of which only the usual length is known may be so many times as long.
_MANY_TIMES = 4
_FROM_KNOWN_ANSWERS: TextSource = "owned"
# So many requests to each model have their tokens counted one by one.
_N_EXACT = 400
_SEED = 0
_PLACEHOLDER = Output(text="")
_PLACEHOLDER_TRACE = Output(text="", trace=(TraceEvent(type="message", content=""),))


async def plan_suite(
    opened: OpenSuite,
    *,
    store: RunStore | None = None,
    begun: RunInfo | None = None,
    in_flight: int | None = None,
    most_cases: int = _MOST_CASES,
) -> SuitePlan:
    """Estimate the calls and cost of a run; makes no calls, runs nothing, counts no cache hit."""
    # Judges' questions about answers that are recorded, or in the cache, are those that will
    # be asked; about other answers they are as many, and as long as answers are assumed to be: as
    # those that are known of the same variant, in the latest stored run, of the other variants, or
    # 250 tokens.
    tally = opened.cases.tally()
    if tally.n_chosen == 0:
        read_chosen_cases(opened)  # says why
    ledger = _ledger(store, begun)
    walk = _Walk(opened, ledger)
    # A plan must not take as long as the run: cases are sampled with a fixed seed, and figures are
    # scaled.
    places = frozenset(draw_sample(range(tally.n_chosen), most_cases, _SEED))
    checks = opened.case_checks()
    for place, case in enumerate(opened.cases):
        as_run = opened.plans.as_run(case)
        # Every case is checked, although only some are counted: a plan that passes must not fail at
        # the start of the run.
        checks.take(as_run)
        if place in places:
            await walk.take(place, as_run)
    checks.close()
    learned = None if store is None else earlier_run_statistics(store, opened.suite.name)
    learned = learned or EarlierRunStatistics()
    return _PlanBuilder(opened, walk, tally, learned, n_answers_in_work(opened, in_flight)).plan(
        len(places)
    )


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

    def __init__(self, opened: OpenSuite, ledger: ProgressLedger) -> None:
        self.opened = opened
        self.answers = {variant.id: _Answers(variant) for variant in opened.variants}
        self.targets = _target_countings(opened)
        self.judges = [(one, _counter(opened, one.connection)) for one in opened.judges.judges]
        self.vectors = _VectorCounter(opened)
        self.n_done = self.n_retries = self.n_newly_judged = 0
        self.human_questions = [0, 0]
        self._panel = panel = opened.judges.panel
        self._has_human_judge = HUMAN_JUDGE in panel.judges
        self._is_cascade = panel.combine == "cascade"
        # Later judges of a cascade may not be asked; the first one is, and those with a name are.
        named = {*panel.named.values()}
        plain = [judge.id for judge, _ in self.judges if judge.id not in named]
        self._sure_judges = named | {*(plain[:1] if self._is_cascade else plain)}
        self._work = Schedule(list(self.answers), opened.suite.settings.repeats)
        self._ledger = ledger

    async def take(self, place: int, case: Case) -> None:
        """Count the answers to one case, as it is run."""
        self.opened.refuse_retries_of_repeats(case)
        rubric = self.opened.plans.rubric_of(case)
        n_again = self.opened.retries_of(case)
        for item in chain.from_iterable(self._work.chains([case])):
            if self._ledger.is_done(item.key.variant, item.key.repeat, place):
                # What a resumed run has already costs nothing any more.
                self.n_done += 1
                continue
            self.n_retries += n_again
            await self._answer(replace(item, place=place), rubric, n_again)

    async def _answer(self, item: WorkItem, rubric: Rubric | None, n_again: int) -> None:
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

    async def _known_output(self, item: WorkItem, n_again: int) -> Output | None:
        """The answer, where it is there already."""
        variant, repeat = item.key.variant, item.key.repeat
        target = self.opened.targets[variant]
        kind = self.answers[variant].settings.kind
        if kind == "outputs":
            # Reading a recorded row is free. Commands and endpoints may charge, so that a plan
            # never calls them.
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

    def _judge(self, item: WorkItem, output: Output | None, rubric: Rubric, n_again: int) -> None:
        n_before = sum(counting.n_calls for _, counting in self.judges)
        for judge, counting in self.judges:
            needs_trace = judge.template.header.needs_trace
            needs_trace = needs_trace or any("trace" in c.needs for c in rubric.criteria)
            shown = output or (_PLACEHOLDER_TRACE if needs_trace else _PLACEHOLDER)
            part = self._panel.rubric_of(judge.id, rubric)
            for request in judge.requests(item.case, shown, part):
                counting.take(
                    request,
                    estimate_judge_reply_tokens(request, part),
                    # Later judges of a cascade are asked only where the first is unsure, which
                    # nobody knows before.
                    is_likely=judge.id in self._sure_judges,
                    n_again=n_again,
                    unread=item.key.variant if output is None else None,
                )
        self.n_newly_judged += sum(c.n_calls for _, c in self.judges) > n_before
        if self._has_human_judge:
            is_sure_to = not (self._is_cascade and self.judges)
            n_criteria = len(self._panel.rubric_of(HUMAN_JUDGE, rubric).criteria)
            self.human_questions[0] += n_criteria * is_sure_to
            self.human_questions[1] += n_criteria * (1 + n_again)


@dataclass(frozen=True, slots=True)
class _PlanBuilder:
    """Turns what was counted into the plan: lengths assumed, scaled up, priced, timed."""

    opened: OpenSuite
    walk: _Walk
    tally: SelectionCount
    learned: EarlierRunStatistics
    in_flight: int

    def plan(self, n_counted: int) -> SuitePlan:
        opened, walk, learned = self.opened, self.walk, self.learned
        scale = self.tally.n_chosen / n_counted
        answers = tuple(self._answers(name, scale) for name in walk.answers)
        models = self._models(answers, scale)
        panel = opened.judges.panel
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
            people=(round(walk.human_questions[0] * scale), round(walk.human_questions[1] * scale)),
            judges_by_rule=HEURISTIC in panel.judges,
            is_frozen=opened.execution.frozen,
            max_cost_usd=opened.execution.max_cost_usd,
            in_flight=self.in_flight,
            seconds=_total_seconds(
                answers,
                models,
                n_judged=round(walk.n_newly_judged * scale),
                in_flight=self.in_flight,
            ),
            detectable=detectable_effects(
                self.tally.n_chosen, discordant=learned.discordant, sd=learned.sd
            ),
            earlier=learned.run,
        )

    def _answers(self, name: str, scale: float) -> AnswersPlan:
        found, learned = self.walk.answers[name], self.learned
        text, source = (None, None) if not found.n_asked else self._text(name)
        cost = learned.cost_usd.get(name)
        is_own = found.settings.kind in {"command", "python", "http"}
        return AnswersPlan(
            variant=name,
            kind=found.settings.kind,
            n_answers=round(found.n_answers * scale),
            n_known=round(found.n_known * scale),
            n_errors=round(found.n_errors * scale),
            text=text,
            text_source=source,
            latency_s=learned.latency_s.get(name) if is_own else None,
            cost_usd=cost * found.n_asked * scale if is_own and cost is not None else None,
        )

    def _text(self, name: str) -> tuple[TextLength, TextSource]:
        """How long an answer is assumed to be, and whence that is."""
        others = mean_length([n for found in self.walk.answers.values() for n in found.lengths])
        known: dict[TextSource, TextLength | None] = {
            _FROM_KNOWN_ANSWERS: mean_length(self.walk.answers[name].lengths),
            "run": self.learned.texts.get(name),
            "others": None
            if others is None
            else TextLength(others.likely, max(others.most, _ASSUMED_ANSWER.most)),
        }
        settings = self.walk.answers[name].settings
        # The order is that of relevance: the variant itself, its last run, other variants, a
        # constant.
        for source, length in known.items():
            if length is not None:
                return _limited(length, settings), source
        return _limited(_ASSUMED_ANSWER, settings), "assumed"

    def _models(self, answers: tuple[AnswersPlan, ...], scale: float) -> tuple[ModelPlan, ...]:
        lengths = {one.variant: one.text for one in answers if one.text is not None}
        plan = partial(model_plan, lengths=lengths, scale=scale)
        asked = [s for s in self.opened.suite.judge if s.kind == "llm"]
        judges = zip(self.walk.judges, asked, strict=True)
        return (
            *(plan(one, role="answers", name=name) for name, one in self.walk.targets.items()),
            *(
                plan(one, role="judge", name=judge.id, rpm=settings.rpm, tpm=settings.tpm)
                for (judge, one), settings in judges
            ),
            *(
                plan(one, role="checks", name=name)
                for name, one in self.walk.vectors.countings.items()
            ),
        )


def _ledger(store: RunStore | None, begun: RunInfo | None) -> ProgressLedger:
    ledger = ProgressLedger()
    if store is not None and begun is not None:
        for progress in store.progress(begun.id):
            key = progress.key
            ledger.note(key.variant, key.repeat, progress.place, is_done=progress.is_done)
    return ledger


def _target_countings(opened: OpenSuite) -> dict[str, RequestCounter]:
    """One for each prompt under test; the same question of two variants is asked once."""
    suite, prices = opened.suite, price_table(opened.suite)
    keys_of_model: defaultdict[str, set[str]] = defaultdict(set)
    found: dict[str, RequestCounter] = {}
    for variant in opened.variants:
        if variant.kind == "prompt":
            model = resolve_suite_model(suite, cast("str", variant.model))
            way = connect(model, api_base=variant.api_base, cache=opened.cache, prices=prices)
            found[variant.id] = _counter(opened, way, keys_of_model[way.name])
    return found


def _counter(
    opened: OpenSuite, connection: Connection, known_keys: set[str] | None = None
) -> RequestCounter:
    return RequestCounter(
        connection,
        refresh=opened.execution.refresh is True,
        asks_once=opened.cache is not None,
        n_exact=_N_EXACT,
        known_keys=set() if known_keys is None else known_keys,
    )


def _limited(length: TextLength, settings: VariantSettings) -> TextLength:
    """With room for longer answers than those seen, as far as the variant's own limit goes."""
    most = max(length.most, _MANY_TIMES * length.likely)
    limit = settings.parameters.get("max_tokens") if isinstance(settings.parameters, dict) else None
    return (
        TextLength(min(length.likely, limit), limit)
        if isinstance(limit, int)
        else TextLength(length.likely, most)
    )


# The assumed duration of a call where no cached reply has one, in seconds.
_ASSUMED_LATENCY_S = 3.0
# The same for a model on this machine.
ASSUMED_LOCAL_LATENCY_S = 20.0
_MINUTE_S = 60


def model_plan(
    counting: RequestCounter,
    *,
    role: Literal["answers", "judge", "checks"],
    name: str,
    lengths: Mapping[str, TextLength],
    scale: float,
    rpm: int | None = None,
    tpm: int | None = None,
) -> ModelPlan:
    """What was counted of one model, priced and timed."""
    reply = lengths.get(name) if role == "answers" else None
    likely = counting.likely(lengths, reply=reply, scale=scale)
    way = counting.connection
    is_local = way.name.startswith("local/")
    assumed_s = ASSUMED_LOCAL_LATENCY_S if is_local else _ASSUMED_LATENCY_S
    latency_s = counting.latency_s or assumed_s
    # A last round of calls that is not full takes as long as a full one.
    n_rounds = max(likely.calls / way.max_concurrency, float(likely.calls > 0))
    paces: dict[PaceLimit, float] = {"concurrency": n_rounds * latency_s}
    if rpm is not None:
        paces["rpm"] = likely.calls / rpm * _MINUTE_S
    if tpm is not None:
        paces["tpm"] = (likely.input_tokens + likely.output_tokens) / tpm * _MINUTE_S
    bound = max(paces, key=lambda pace: paces[pace])
    return ModelPlan(
        role=role,
        name=name,
        model=way.name,
        n_questions=round(counting.n_questions * scale),
        n_owned=round(counting.n_owned * scale),
        likely=likely,
        most=counting.most(lengths, reply=reply, scale=scale),
        saved_usd=counting.saved_usd * scale,
        counted_by=counting.counted_by,
        latency_s=latency_s,
        n_latencies=counting.n_latencies,
        max_concurrency=way.max_concurrency,
        seconds=paces[bound],
        bound=bound,
    )


def _total_seconds(
    answers: Sequence[AnswersPlan], models: Sequence[ModelPlan], *, n_judged: int, in_flight: int
) -> float:
    """How long all of it takes: as the slowest model, or as the answers in work allow."""
    targets = [(m.likely.calls, m.latency_s) for m in models if m.role == "answers"]
    targets += [(a.n_answers - a.n_known, a.latency_s or 0.0) for a in answers]
    judges = [m.latency_s for m in models if m.role == "judge" and m.likely.calls]
    stages = [(n, s) for n, s in [*targets, (n_judged, max(judges, default=0.0))] if n]
    in_turn = sum(n * seconds for n, seconds in stages) / in_flight
    longest = max((seconds for _, seconds in stages), default=0.0)
    return max(in_turn, longest, *(m.seconds for m in models), 0.0)


# A vector is no tokens.
_NOTHING_BACK = (0, 0)
_PENDING_OUTPUT = Output(text="(not there yet)")


class _VectorCounter:
    """Counts the questions to models of embeddings, answer by answer."""

    def __init__(self, opened: OpenSuite) -> None:
        self._opened = opened
        self.countings: dict[str, RequestCounter] = {}

    def take(self, item: WorkItem, output: Output | None, *, n_again: int) -> None:
        """Count what the checks of one answer compare."""
        compared_texts: set[tuple[str, str]] = set()
        for one in vector_comparisons(self._opened.plans, item.case, output or _PENDING_OUTPUT):
            name = one.embed.name
            if name not in self.countings:
                self.countings[name] = _counter(self._opened, one.embed.connection)
            counting = self.countings[name]
            if one.reference is None or (output is not None and one.text is None):
                continue
            counting.take(one.embed.request(one.reference), _NOTHING_BACK)
            if (name, str(one.text)) in compared_texts:
                continue  # several compare the same text of an answer
            compared_texts.add((name, str(one.text)))
            if output is None:
                request = one.embed.request("")
                unread = item.key.variant
                counting.take(request, _NOTHING_BACK, n_again=n_again, unread=unread)
            else:
                counting.take(one.embed.request(str(one.text)), _NOTHING_BACK, n_again=n_again)
