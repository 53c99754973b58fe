"""Judge answers from runs, verdicts, comparisons and recorded replies, in the form of `inputs`.

Files of verdicts or plain rows are read in `files`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.calibration.inputs import (
    CombinedScore,
    OrderedChoice,
    OutputKey,
    PairJudgment,
    PairwiseData,
    PointwiseData,
    ScoreSample,
    groups_of,
    majority_winner,
    output_key,
    pair_key,
    share_of_confidence,
)
from judgekit.calibration.join import WHOLE_CRITERION
from judgekit.datasets import load_dataset, load_rubric
from judgekit.errors import InputError
from judgekit.evaluation import (
    Graded,
    Run,
    conclude_result,
    judging_of_judge,
    judging_of_run,
    last_tries,
    rubric_of_result,
    without_human_judges,
)
from judgekit.judge import Judge, SyncRunner
from judgekit.models import RecordedModel
from judgekit.records import (
    RECORDED_PREFIX,
    WINNER_POINTS,
    CalibratedPanel,
    Case,
    Comparison,
    Dataset,
    JudgeFailure,
    Judgment,
    Output,
    Preference,
    PreferenceFailure,
    PresentationOrder,
    Rubric,
    TraceEvent,
    Verdict,
    Winner,
    preferred_output,
)
from judgekit.scoring import conclude, with_repeat_confidence

if TYPE_CHECKING:
    from judgekit.models.request import Subject

JudgmentRecord = Verdict | Judgment | JudgeFailure | Comparison
"""A record of a judge's answer."""

_ORDERS: tuple[PresentationOrder, PresentationOrder] = ("ab", "ba")
_VARIANT_SEPARATOR = " vs "
_UNKNOWN_TEXT = "(not kept)"

_Output = tuple[str, str | None]
"""A case and a variant; for a comparison both variants, `one vs other`."""

_Question = tuple[str | None, str | None, int]
"""Order, criterion and repeat of a reply; without a criterion it answers all."""


def judged_from_run(run: Run, variant: str | None = None) -> PointwiseData:
    """The judgments of a run, or of one variant of it, without those of human judges."""
    # A human judge would be compared with human labels, and agreement would be overstated.
    humans = {j.judge for result in run.results() for j in result.judgments if j.source == "human"}
    machines = [name for name in run.info.panel.judges if name not in {"human", *humans}]
    only_machines = run.info.panel.model_copy(update={"judges": tuple(machines)})
    info = run.info.model_copy(update={"panel": only_machines})
    panel = without_human_judges(judging_of_run(run.info))
    grades = PointwiseData(rubric=info.rubric, asked=panel, origin={"run": run.id})
    if info.rubric is not None:
        grades.judged_by[info.rubric.fingerprint] = info.rubric.name
    for result in last_tries(run.results(variant=variant), run.info):
        machine = result.model_copy(
            update={"judgments": tuple(j for j in result.judgments if j.source != "human")}
        )
        verdict = conclude_result(machine, info).verdict
        if verdict is None:
            continue
        place = OutputKey(result.case.id, result.variant, result.repeat)
        # Metadata of outputs defines groups too, such as a model version or a language.
        grades.add_groups(place, groups_of(result.case, result.output.metadata))
        own, whole = rubric_of_result(result, run.info), info.rubric
        if own is not None and whole is not None and own.fingerprint != whole.fingerprint:
            verdict, others = _without_foreign(verdict, own, whole)
            grades.foreign |= {(place, name) for name in others}
        _add_verdict(grades, verdict, place)
    return grades


def _without_foreign(
    verdict: Verdict, own: Rubric, rubric: Rubric
) -> tuple[Verdict, AbstractSet[str]]:
    """A verdict by a case's own rubric, without criteria that mean something else in the run's."""
    # Nor is it known what the run's rubric would conclude of the output.
    unknown = {"value": None, "passed": None}
    calibrated = verdict.uncalibrated
    known = {criterion.name: criterion.fingerprint for criterion in rubric.criteria}
    others = {c.name for c in own.criteria if known.get(c.name, c.fingerprint) != c.fingerprint}
    plain = verdict.model_copy(
        update={
            **unknown,
            "uncalibrated": calibrated and calibrated.model_copy(update=unknown),
            "judgments": tuple(j for j in verdict.judgments if j.criterion not in others),
            "failures": tuple(f for f in verdict.failures if f.criterion not in others),
        }
    )
    return plain, others


def judged_from_records(
    records: Iterable[JudgmentRecord],
    *,
    rubric: Rubric | None = None,
    cases: Mapping[str, Case] | None = None,
) -> PointwiseData | PairwiseData:
    """Judge answers from verdicts, judgments or comparisons, which are read one at a time."""
    records, known = iter(records), cases or {}
    if (first := next(records, None)) is None:
        raise InputError("there are no judgments to compare with labels")
    every = chain([first], records)
    if isinstance(first, Comparison):
        return _from_comparisons(every, known)
    grades = PointwiseData(rubric=rubric)
    panels: list[CalibratedPanel | None] = []  # how the judges were called, each way once
    for one in every:
        if isinstance(one, Comparison):
            raise _two_kinds()
        if isinstance(one, Verdict) and one.judgments and one.asked not in panels:
            panels.append(one.asked)
        place = _place(one)
        grades.add_groups(place, groups_of(known.get(place.case_id)))
        if isinstance(one, Verdict):
            grades.judged_by[one.rubric_fingerprint] = one.rubric
            _add_verdict(grades, one, place)
        else:
            grades.samples.append(ScoreSample.of(one, place))
            grades.models |= {one.model: None} if isinstance(one, Judgment) and one.model else {}
    # A map is valid for one judge with its settings only, so that different ones give no panel.
    if len(panels) == 1:
        grades.asked = without_human_judges(panels[0])
    return grades


def _twice(what: str, place: OutputKey) -> InputError:
    return InputError(
        f"there is a second {what} of {place}",
        hint="give one of each output, and calibrate each judge separately; several outputs of one "
        "case and variant name their `repeat`",
    )


def _two_kinds() -> InputError:
    return InputError("comparisons and scores are calibrated separately", hint="give one kind")


def judged_from_grading(
    graded: Iterable[Graded], rubric: Rubric, panel: CalibratedPanel | None = None
) -> PointwiseData:
    grades = PointwiseData(rubric=rubric, asked=panel)
    for one in graded:
        place = output_key(one.case, one.output)
        grades.add_groups(place, groups_of(one.case, one.output.metadata))
        _add_verdict(grades, one.verdict, place)
    return grades


def _place(one: JudgmentRecord) -> OutputKey:
    if one.case_id is None:
        raise InputError(
            "a judgment does not name its case", hint="give verdicts, or judgments with a `case_id`"
        )
    # A comparison has two variants, which become its key later. Other judgments have a repeat of
    # the judge.
    variant = None if isinstance(one, Comparison) else one.variant
    repeat = one.repeat if isinstance(one, Verdict) else None
    return OutputKey(one.case_id, variant, repeat or 0)


def _add_verdict(grades: PointwiseData, verdict: Verdict, place: OutputKey) -> None:
    if verdict.error is not None:
        grades.n_errors += 1
        return
    if place in grades.combined:
        raise _twice("verdict", place)
    machine = (one for one in verdict.judgments if one.source != "human")
    grades.samples += [ScoreSample.of(one, place) for one in (*machine, *verdict.failures)]
    # Calibration maps that were applied are not part of the judge's own answer.
    own = verdict.uncalibrated or verdict
    values = (
        {each.name: each.value for each in verdict.criteria}
        if verdict.uncalibrated is None
        else verdict.uncalibrated.criteria
    )
    names = _same_names(tuple(values))
    grades.combined[place] = CombinedScore(own.value, own.passed, names, tuple(values.values()))
    grades.models |= {one.model: None for one in verdict.judgments if one.model}


@lru_cache(maxsize=64)
def _same_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The first tuple that was equal: all outputs share it."""
    return names


def _from_comparisons(
    comparisons: Iterable[JudgmentRecord], cases: Mapping[str, Case]
) -> PairwiseData:
    pairs = PairwiseData()
    known: set[OutputKey] = set()
    for one in comparisons:
        if not isinstance(one, Comparison):
            raise _two_kinds()
        case_id = _place(one).case_id
        place = pair_key(case_id, one.variant_a, one.variant_b, one.repeat)
        if place in known:
            raise _twice("comparison", place)
        known.add(place)
        pairs.add_groups(place, groups_of(cases.get(case_id)))
        if one.error is not None:
            pairs.n_errors += 1
            continue
        pairs.models |= {p.model: None for p in one.preferences if p.model}
        answers: list[Preference | PreferenceFailure] = [*one.preferences, *one.failures]
        whole = [each for each in answers if each.criterion is None]
        # A comparison by a single criterion has no separate answer for the whole output.
        if whole or one.is_identical or len(one.criteria) != 1:
            pairs.pairs.append(_pair(place, None, whole, one.winner, one.probability))
        for each in one.criteria:
            own = [answer for answer in answers if answer.criterion == each.name]
            pairs.pairs.append(_pair(place, each.name, own, each.winner, each.probability))
    return pairs


def _pair(
    place: OutputKey,
    criterion: str | None,
    answers: Sequence[Preference | PreferenceFailure],
    winner: Winner | None,
    probability: float | None,
) -> PairJudgment:
    choices = tuple(_choice(each) for each in answers)
    points = [WINNER_POINTS[choice.winner] for choice in choices if choice.winner]
    # A judge that saw one order only is evaluated by that order.
    if winner is None and points and len({choice.order for choice in choices}) == 1:
        winner = majority_winner(points)
    return PairJudgment(
        place=place, criterion=criterion, choices=choices, winner=winner, probability=probability
    )


def _choice(answer: Preference | PreferenceFailure) -> OrderedChoice:
    if not isinstance(answer, Preference):
        return OrderedChoice(order=answer.order, winner=None, judge=answer.judge)
    winner = preferred_output(answer.choice, answer.order)
    share = share_of_confidence(answer.confidence, winner)
    # Token probabilities are finer than a stated confidence.
    if answer.logprob_first is not None:
        share = answer.logprob_first if answer.order == "ab" else 1 - answer.logprob_first
    return OrderedChoice(
        order=answer.order,
        winner=winner,
        share=share,
        rationale=answer.rationale,
        judge=answer.judge,
    )


@dataclass(frozen=True, slots=True)
class RecordedReplies:
    """A file of recorded replies and their subjects."""

    path: Path
    subjects: tuple[Subject, ...]

    @property
    def compares(self) -> bool:
        return any(subject.order is not None for subject in self.subjects)

    @property
    def repeats(self) -> int:
        return 1 + max(subject.repeat for subject in self.subjects)

    @property
    def reasks(self) -> int:
        return max(subject.attempt for subject in self.subjects)

    def only(self, outputs: Collection[_Output]) -> RecordedReplies:
        subjects = [one for one in self.subjects if (str(one.case_id), one.variant) in outputs]
        return replace(self, subjects=tuple(subjects))

    def by_output(self) -> dict[_Output, set[_Question]]:
        questions: dict[_Output, set[_Question]] = {}
        for one in self.subjects:
            recorded = questions.setdefault((str(one.case_id), one.variant), set())
            if one.turn is not None:
                raise InputError(
                    f"a reply about case {one.case_id!r} is about a turn, and replies alone do not "
                    "show how many turns there are",
                    hint="calibrate a run of the conversations",
                )
            recorded.add((one.order, one.criterion, one.repeat))
        return questions


def load_recorded_replies(path: Path | str) -> RecordedReplies:
    model = RecordedModel(path)
    recorded = RecordedReplies(model.path, model.subjects)
    if not recorded.subjects:
        raise InputError(f"{recorded.path} has no replies")
    if recorded.compares and any(subject.order not in _ORDERS for subject in recorded.subjects):
        raise InputError(
            f"{recorded.path}: only some replies have the `order` in which two outputs were shown",
            hint='give "order": "ab" or "ba" with each; calibrate scores separately',
        )
    return recorded


def whole_rubric() -> Rubric:
    return Rubric(name="whole", criteria=(WHOLE_CRITERION,))


def read_replies(
    path: Path | str,
    *,
    template: str | Path | None = None,
    rubric: Rubric | Path | str | None = None,
    cases: Dataset | Path | str | None = None,
    template_folders: Sequence[Path | str] = (),
) -> list[Verdict] | list[Comparison]:
    """Parse a file of recorded replies with a judge's template, without any call.

    Args:
        path: The file, with `case_id`, `text`, and where needed `variant`, `criterion`, `order` and
            `repeat`. Replies with an order are about two outputs, which their variant may name
            (`one vs other`).
        template: The template that parses the replies; None for the default one.
        rubric: The rubric of the recorded questions, or its file; optional for comparisons.
        cases: The cases, or their file, if known.
        template_folders: Folders of your own templates.

    Returns:
        A verdict for each output, or a comparison for each pair, with a failure for each reply that
        cannot be parsed. A missing reply is not a failure: a pair that was recorded in one order is
        decided by that order.

    Raises:
        DatasetError: When a file cannot be read.
        InputError: When replies do not fit the rubric, or scores come without one.
        TemplateError: When the template is invalid or does not fit the rubric.
        UnknownNameError: When there is no such template.
    """
    recorded = load_recorded_replies(path)
    if rubric is None and not recorded.compares:
        raise InputError(
            f"{recorded.path}: the scale of the recorded scores is not known",
            hint="give the rubric of the recorded questions",
        )
    criteria = load_rubric(rubric) if isinstance(rubric, str | Path) else rubric
    known = load_dataset(cases) if isinstance(cases, str | Path) else cases
    judge = Judge(
        f"{RECORDED_PREFIX}{recorded.path}",
        template=template,
        template_folders=template_folders,
        cache=None,
        repeats=recorded.repeats,
        max_reasks=recorded.reasks,
    )
    by_id = {} if known is None else {case.id: case for case in known.cases}
    with judge, closing(SyncRunner()) as runner:
        return runner.run(
            parse_recorded_replies(judge, recorded, criteria or whole_rubric(), by_id)
        )


async def judged_from_replies(
    judge: Judge, recorded: RecordedReplies, rubric: Rubric, cases: Mapping[str, Case]
) -> PointwiseData | PairwiseData:
    records = await parse_recorded_replies(judge, recorded, rubric, cases)
    data = judged_from_records(records, rubric=rubric, cases=cases)
    if isinstance(data, PointwiseData):
        data.asked = judging_of_judge(judge, rubric)
    return data


async def parse_recorded_replies(
    judge: Judge, recorded: RecordedReplies, rubric: Rubric, cases: Mapping[str, Case]
) -> list[Verdict] | list[Comparison]:
    # A question without a recorded reply is skipped, not counted as a failure. The outputs are
    # unknown, so that quoted evidence cannot be verified.
    names = [criterion.name for criterion in rubric.criteria]
    unknown = {s.criterion for s in recorded.subjects} - {None, *names}
    if unknown:
        named = ", ".join(sorted(str(name) for name in unknown))
        raise InputError(
            f"{recorded.path} has replies about {named}, and the rubric has {', '.join(names)}",
            hint="give the rubric of the recorded questions",
        )
    outputs = [
        (output, questions, cases.get(output[0]) or Case(id=output[0], input=None))
        for output, questions in recorded.by_output().items()
    ]
    async with judge:
        if recorded.compares:
            return [
                await _compared(judge, output, qs, rubric, case) for output, qs, case in outputs
            ]
        return [await _graded(judge, output, qs, rubric, case) for output, qs, case in outputs]


async def _graded(
    judge: Judge, output: _Output, questions: set[_Question], rubric: Rubric, case: Case
) -> Verdict:
    # Parsing a reply needs neither the output nor the case: whatever a criterion needs is taken to
    # have been shown, and quotations cannot be looked up.
    event = TraceEvent(type="message", content=_UNKNOWN_TEXT)
    shown = Output(text=_UNKNOWN_TEXT, variant=output[1], trace=(event,))
    case = case.model_copy(
        update={
            field: _UNKNOWN_TEXT
            for field in ("reference", "context")
            if getattr(case, field) is None
        }
    )
    criteria = tuple(c.model_copy(update={"judge": None}) for c in rubric.criteria)
    parsed_by = rubric.model_copy(update={"criteria": criteria, "require_evidence": False})
    unrecorded = {
        (criterion.name, repeat)
        for criterion in rubric.criteria
        for repeat in range(judge.grader.repeats)
        if not questions & {(None, criterion.name, repeat), (None, None, repeat)}
    }
    stream = judge.observe(case, shown, parsed_by, known=unrecorded)
    answers = [one async for parsed in stream for one in parsed]
    judgments = with_repeat_confidence([one for one in answers if isinstance(one, Judgment)])
    return conclude(
        rubric,
        judgments,
        [one for one in answers if isinstance(one, JudgeFailure)],
        case_id=case.id,
        variant=output[1],
    )


async def _compared(
    judge: Judge, output: _Output, questions: set[_Question], rubric: Rubric, case: Case
) -> Comparison:
    comparer = judge.comparer
    case_id, variant = output
    first, separator, second = (variant or "").partition(_VARIANT_SEPARATOR)
    if variant is not None and not (first and separator and second):
        raise InputError(
            f"a reply about two outputs of {case_id} names the variant {variant!r}",
            hint=f'name both, "one{_VARIANT_SEPARATOR}other", or none',
        )
    # The texts differ, because identical outputs would be a tie without any question.
    a, b = (
        Output(text=f"{_UNKNOWN_TEXT} {side}", variant=name or None)
        for side, name in (("a", first), ("b", second))
    )
    unrecorded = {
        (order, criterion, repeat)
        for order in _ORDERS
        for criterion in (None, *(each.name for each in rubric.criteria))
        for repeat in range(comparer.repeats)
        if not questions & {(order, criterion, repeat), (order, None, repeat)}
    }
    answers = [
        one
        async for parsed in comparer.observe(case, a, b, rubric, known=unrecorded)
        for one in parsed
    ]
    comparison = comparer.conclude(case, comparer.blind_pair(a, b), rubric, answers)
    # Pairs recorded in one order are decided by it, because the other cannot be obtained any more.
    is_one_sided = len({order for order, _, _ in questions}) == 1
    return _decided_by_one_order(comparison) if is_one_sided else comparison


def _decided_by_one_order(comparison: Comparison) -> Comparison:
    """A comparison with the winners of its only order; without a winner if the judge failed."""
    # Whether the orders agree is unknown: `consistent` stays None.
    shares: dict[str | None, list[float]] = {}
    for preference in comparison.preferences:
        points = WINNER_POINTS[preferred_output(preference.choice, preference.order)]
        shares.setdefault(preference.criterion, []).append(points)
    criteria = [
        one.model_copy(update=_winner(shares[one.name])) if one.name in shares else one
        for one in comparison.criteria
    ]
    whole = shares.get(None) or (next(iter(shares.values())) if len(shares) == 1 else [])
    own = _winner(whole) if whole else {}
    return comparison.model_copy(update={**own, "criteria": type(comparison.criteria)(criteria)})


def _winner(shares: Sequence[float]) -> dict[str, object]:
    return {"winner": majority_winner(shares), "probability": fsum(shares) / len(shares)}
