"""Estimates the calls, cost and time of a run of a suite, without making any call."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Literal, cast

from judgekit.datasets import SelectionCount, VariantSettings, draw_sample
from judgekit.errors import TemplateError
from judgekit.evaluation.check_runner import vector_comparisons
from judgekit.evaluation.comparability import compare_measures
from judgekit.evaluation.cost_plan import (
    RequestCounter,
    TextLength,
    estimate_judge_reply_tokens,
    estimate_reply_tokens,
    take_joint,
)
from judgekit.evaluation.gate import stratum_needs
from judgekit.evaluation.runner import n_answers_in_work, new_run, target_connections
from judgekit.evaluation.schedule import ProgressLedger, Schedule, WorkItem, read_chosen_cases
from judgekit.evaluation.suite_plan import (
    AnswersPlan,
    EarlierRunStatistics,
    ModelPlan,
    PaceLimit,
    SuitePlan,
    TextSource,
    detectable_effects,
    earlier_run_statistics,
    mean_length,
    text_tokens,
)
from judgekit.evaluation.variant_choice import choice_questions
from judgekit.models.request import CHARACTERS_PER_TOKEN, output_limit
from judgekit.records import HEURISTIC, HUMAN_JUDGE, Case, Output, Rubric, RunInfo, TraceEvent

if TYPE_CHECKING:
    from judgekit.evaluation.session import OpenSuite
    from judgekit.models import Connection
    from judgekit.store import RunStore
    from judgekit.targets import PromptTarget

# So many cases are worked through; of more a sample of this size, scaled up.
_MOST_CASES = 2_000
# How long answers are, in tokens, where nothing is known of them.
ASSUMED_ANSWER = TextLength(250, 1_000)
# Answers of which only the usual length is known may be so many times as long.
_MANY_TIMES = 4
_FROM_KNOWN_ANSWERS: TextSource = "owned"
# So many requests to each model have their tokens counted one by one.
_N_EXACT = 400
_SEED = 0
_TWO_POINTS = 2  # of a scale on which a criterion passes or fails
_PENDING_OUTPUT = Output(text="(not there yet)")
_NOTHING_BACK = (0, 0)  # a vector is no tokens
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
    planner = _SuitePlanner(opened, tally)
    if store is not None and begun is not None:
        # With `--retry-errors` cached replies are fetched again, at least the unreadable ones.
        retries = bool(opened.execution.refresh)
        planner.ledger.look_back(store.progress(begun.id), begun, retry_failed=retries)
    # A plan must not take as long as the run: cases are sampled with a fixed seed, and figures are
    # scaled.
    places = frozenset(draw_sample(range(tally.n_chosen), most_cases, _SEED))
    checks = opened.case_checks()
    for place, case in enumerate(opened.cases):
        as_run = opened.plans.as_run(case)
        # Every case is checked, although only some are counted: a plan that passes must not fail at
        # the start of the run.
        checks.take(as_run)
        planner.count(as_run)
        if place in places:
            await planner.take(place, as_run)
    checks.close()
    learned = None if store is None else earlier_run_statistics(store, opened.suite.name)
    if store is not None and learned is not None and not _has_its_measure(opened, store, learned):
        learned = replace(learned, values=())
    n_in_work = n_answers_in_work(opened, in_flight)
    return planner.plan(learned or EarlierRunStatistics(), len(places), in_flight=n_in_work)


async def called_models(
    opened: OpenSuite, store: RunStore, begun: RunInfo | None
) -> frozenset[str]:
    """The models of which a run needs replies that are not cached."""
    plan = await plan_suite(opened, store=store, begun=begun)
    # With too little money for a call the limit is what ends the run, and no key is looked up.
    models = () if plan.sufficiency == "short" else plan.models
    return frozenset(one.model for one in models if one.likely.calls)


def _has_its_measure(opened: OpenSuite, store: RunStore, learned: EarlierRunStatistics) -> bool:
    """Whether the values of an earlier run say what a gate may expect of the planned one."""
    gate = opened.suite.gate
    if learned.run is None or gate is None or gate.tier is None:
        return False
    # The planned run reads all cases: only where a tier is to decide.
    earlier = store.run(learned.run.id)
    return not compare_measures(earlier, new_run(opened, now=earlier.started_at)).changes


@dataclass(slots=True)
class _Answers:
    settings: VariantSettings
    n_answers: int = 0
    n_known: int = 0
    n_errors: int = 0
    n_asked: int = 0
    lengths: list[float] = field(default_factory=list)


class _SuitePlanner:
    """Counts what each answer would take; then assumes lengths, scales up, and prices it all."""

    def __init__(self, opened: OpenSuite, tally: SelectionCount) -> None:
        self._opened, self._tally = opened, tally
        self._answers = {variant.id: _Answers(variant) for variant in opened.variants}
        # One for each prompt under test; the same question of two variants is asked once.
        keys_of_model: defaultdict[str, set[str]] = defaultdict(set)
        self._targets = {
            variant: _counter(opened, way, keys_of_model[way.name])
            for variant, way in target_connections(opened)
        }
        self._judges = [(one, _counter(opened, one.connection)) for one in opened.judges.judges]
        # What the same judges would be asked in joint mode
        self._joint = {one.id: _counter(opened, one.connection) for one, _ in self._judges}
        self._vectors: dict[str, RequestCounter] = {}
        self._n_done = self._n_retries = self._n_newly_judged = 0
        self._human_questions = [0, 0]
        # The cases of each stratum, and whether any of them has a value between 0 and 1
        self._n_cases: Counter[str | None] = Counter()
        self._is_graded = False
        # What a resumed run has already
        self.ledger = ProgressLedger()
        self._panel = panel = opened.judges.panel
        self._has_human_judge = HUMAN_JUDGE in panel.judges
        self._is_cascade = panel.combine == "cascade"
        # Later judges of a cascade may not be asked; the first one is, and those with a name are.
        named = {*panel.named.values()}
        plain = [judge.id for judge, _ in self._judges if judge.id not in named]
        self._sure_judges = named | {*(plain[:1] if self._is_cascade else plain)}
        self._work = Schedule(list(self._answers), opened.suite.settings.repeats)

    def count(self, case: Case) -> None:
        self._n_cases[case.stratum] += 1
        rubric = self._opened.plans.rubric_of(case)
        criteria = () if rubric is None else rubric.criteria
        self._is_graded |= any(len(c.scale.points or ()) != _TWO_POINTS for c in criteria)

    async def take(self, place: int, case: Case) -> None:
        self._opened.check_case(case)
        rubric = self._opened.plans.rubric_of(case)
        n_again = self._opened.retries_of(case)
        outputs: defaultdict[int, dict[str, Output | None]] = defaultdict(dict)
        for item in chain.from_iterable(self._work.chains([case])):
            if self.ledger.is_done(item.key.variant, item.key.repeat, place):
                self._n_done += 1
                continue
            n_more = n_again if self._opened.has_try(item.again().key) else 0
            self._n_retries += n_more
            output = await self._take_answer(replace(item, place=place), rubric, n_more)
            outputs[item.key.repeat][item.key.variant] = output
        # The questions by which judges compare the outputs of a case
        countings = {judge.id: counting for judge, counting in self._judges}
        for of_repeat in outputs.values():
            for judge, question, unread in choice_questions(self._opened, case, of_repeat):
                back = estimate_reply_tokens(question.request, len(question.criteria))
                countings[judge.id].take(question.request, back, unread=unread)

    async def _take_answer(
        self, item: WorkItem, rubric: Rubric | None, n_again: int
    ) -> Output | None:
        """Count what an answer asks; its output, where that is known."""
        answers = self._answers[item.key.variant]
        answers.n_answers += 1
        output = await self._known_output(item, n_again)
        if output is None:
            answers.n_asked += 1
        else:
            answers.n_known += 1
            answers.n_errors += output.error is not None
            if output.error is None:
                answers.lengths.append(text_tokens(output))
        if output is not None:
            output = self._opened.transformed(output, item.case, item.key.variant)
            if output.error is not None:
                return output
        self._take_vectors(item, output, n_again)
        if rubric is not None:
            self._take_judges(item, output, rubric, n_again)
        return output

    async def _known_output(self, item: WorkItem, n_again: int) -> Output | None:
        variant, repeat = item.key.variant, item.key.repeat
        target = self._opened.targets[variant]
        kind = self._answers[variant].settings.kind
        if kind == "outputs":
            # Reading a recorded row is free. Commands and endpoints may charge, so that a plan
            # never calls them.
            return await target.answer(item.case, repeat=repeat)
        if kind != "prompt" or variant not in self._targets:
            return None
        try:
            request = cast("PromptTarget", target).request(item.case, repeat=repeat)
        except TemplateError as error:
            return Output(error=str(error), error_kind="exception")
        reply = self._targets[variant].take(request, (0, 0), n_again=n_again)  # settled at the end
        if reply is None:
            return None
        if reply.text is None or reply.finish_reason == "content_filter":
            return Output(error="no answer", error_kind="model")
        return Output(text=reply.text, variant=variant)

    def _take_judges(
        self, item: WorkItem, output: Output | None, rubric: Rubric, n_again: int
    ) -> None:
        n_before = sum(counting.n_calls for _, counting in self._judges)
        rereads = self._opened.execution.refresh == "unreadable"
        for judge, counting in self._judges:
            needs_trace = judge.template.header.needs_trace
            needs_trace = needs_trace or any("trace" in c.needs for c in rubric.criteria)
            shown = output or (_PLACEHOLDER_TRACE if needs_trace else _PLACEHOLDER)
            part = self._panel.rubric_of(judge.id, rubric)
            unread = (item.key.variant,) if output is None else ()
            if judge.id in self._sure_judges:
                take_joint(self._joint[judge.id], judge, item.case, shown, part, unread=unread)
            for question in judge.grader.questions(item.case, shown, part):
                counting.take(
                    question.request,
                    estimate_judge_reply_tokens(question.request, part),
                    read=partial(judge.grader.read, question=question) if rereads else None,
                    # Later judges of a cascade are asked only where the first is unsure, which
                    # nobody knows before.
                    is_likely=judge.id in self._sure_judges,
                    n_again=n_again,
                    unread=unread,
                )
        self._n_newly_judged += sum(c.n_calls for _, c in self._judges) > n_before
        if self._has_human_judge:
            is_sure_to = not (self._is_cascade and self._judges)
            n_criteria = len(self._panel.rubric_of(HUMAN_JUDGE, rubric).criteria)
            self._human_questions[0] += n_criteria * is_sure_to
            self._human_questions[1] += n_criteria * (1 + n_again)

    def _take_vectors(self, item: WorkItem, output: Output | None, n_again: int) -> None:
        compared_texts: set[tuple[str, str]] = set()
        for one in vector_comparisons(self._opened.plans, item.case, output or _PENDING_OUTPUT):
            name, text = one.embed.name, str(one.text)
            if name not in self._vectors:
                self._vectors[name] = _counter(self._opened, one.embed.connection)
            counting = self._vectors[name]
            if one.reference is None or (output is not None and one.text is None):
                continue
            counting.take(one.embed.request(one.reference), _NOTHING_BACK)
            if (name, text) in compared_texts:
                continue  # several compare the same text of an answer
            compared_texts.add((name, text))
            unread = (item.key.variant,) if output is None else ()
            request = one.embed.request("" if output is None else text)
            counting.take(request, _NOTHING_BACK, n_again=n_again, unread=unread)

    def plan(self, learned: EarlierRunStatistics, n_counted: int, *, in_flight: int) -> SuitePlan:
        """The plan; so many cases were worked through."""
        opened, panel = self._opened, self._panel
        scale = self._tally.n_chosen / n_counted
        answers = tuple(self._answers_plan(name, learned, scale) for name in self._answers)
        models, found = self._models(answers, scale), self._answers.values()
        repeats = opened.suite.settings.repeats
        people = round(self._human_questions[0] * scale), round(self._human_questions[1] * scale)
        return SuitePlan(
            suite=opened.suite.name,
            cases=self._tally,
            n_counted=n_counted,
            repeats=repeats,
            n_answers=round((sum(one.n_answers for one in found) + self._n_done) * scale),
            n_done=round(self._n_done * scale),
            n_retries=round(self._n_retries * scale),
            answers=answers,
            models=models,
            combine=panel.combine if len(panel.judges) > 1 else None,
            people=people,
            judges_by_rule=HEURISTIC in panel.judges,
            is_frozen=opened.execution.frozen,
            max_cost_usd=opened.execution.max_cost_usd,
            in_flight=in_flight,
            seconds=_total_seconds(
                answers, models, n_judged=round(self._n_newly_judged * scale), in_flight=in_flight
            ),
            detectable=detectable_effects(
                self._tally.n_chosen, discordant=learned.discordant, sd=learned.sd
            ),
            earlier=learned.run,
            needs=stratum_needs(
                self._n_cases, opened.suite.gate, learned.values, is_graded=self._is_graded
            ),
        )

    def _answers_plan(self, name: str, learned: EarlierRunStatistics, scale: float) -> AnswersPlan:
        found = self._answers[name]
        text, source = (None, None) if not found.n_asked else self._text(name, learned)
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

    def _text(self, name: str, learned: EarlierRunStatistics) -> tuple[TextLength, TextSource]:
        """How long an answer is assumed to be, and whence that is."""
        others = mean_length([n for found in self._answers.values() for n in found.lengths])
        known: dict[TextSource, TextLength | None] = {
            _FROM_KNOWN_ANSWERS: mean_length(self._answers[name].lengths),
            "run": learned.texts.get(name),
            "others": None
            if others is None
            else TextLength(others.likely, max(others.most, ASSUMED_ANSWER.most)),
        }
        settings = self._answers[name].settings
        # The order is that of relevance: the variant itself, its last run, other variants, a
        # constant.
        for source, length in known.items():
            if length is not None:
                return _limited(length, settings), source
        return _limited(ASSUMED_ANSWER, settings), "assumed"

    def _models(self, answers: tuple[AnswersPlan, ...], scale: float) -> tuple[ModelPlan, ...]:
        lengths = {one.variant: one.text for one in answers if one.text is not None}
        plan = partial(model_plan, lengths=lengths, scale=scale)
        # A judge that is passed in, for outputs that are, is in no suite.
        asked = [(s.rpm, s.tpm) for s in self._opened.suite.judge if s.kind == "llm"]
        judges = zip(self._judges, asked or [(None, None)] * len(self._judges), strict=True)
        return (
            *(plan(one, role="answers", name=name) for name, one in self._targets.items()),
            *(
                plan(
                    one, role="judge", name=judge.id, rpm=rpm, tpm=tpm, joint=self._joint[judge.id]
                )
                for (judge, one), (rpm, tpm) in judges
            ),
            *(plan(one, role="checks", name=name) for name, one in self._vectors.items()),
        )


def _counter(
    opened: OpenSuite, connection: Connection, known_keys: set[str] | None = None
) -> RequestCounter:
    return RequestCounter(
        connection,
        refresh=opened.execution.refresh is True,
        asks_once=connection.cache is not None,
        n_exact=_N_EXACT,
        known_keys=set() if known_keys is None else known_keys,
    )


def _limited(length: TextLength, settings: VariantSettings) -> TextLength:
    """With room for longer answers than those seen, as far as the variant's own limit goes."""
    most = max(length.most, _MANY_TIMES * length.likely)
    limit = output_limit(settings.parameters) if isinstance(settings.parameters, dict) else None
    if limit is not None:
        return TextLength(min(length.likely, limit), limit)
    return TextLength(length.likely, most)


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
    joint: RequestCounter | None = None,
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
        n_shared=round(counting.n_shared * scale),
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
        joint=None if joint is None else counting.fewer_calls(joint, lengths, scale=scale),
        reserved_usd=counting.reserved_usd(
            CHARACTERS_PER_TOKEN * max((one.most for one in lengths.values()), default=0.0)
        ),
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
