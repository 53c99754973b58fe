"""Judge answers from runs, verdicts, comparisons and recorded replies, in the form of `inputs`.

Files of verdicts or plain rows are read in `files`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    pair_key,
    share_of_confidence,
)
from judgekit.calibration.join import WHOLE_CRITERION
from judgekit.datasets import load_dataset, load_rubric
from judgekit.errors import InputError
from judgekit.evaluation import (
    conclude_result,
    judging_of_judge,
    judging_of_run,
    without_human_judges,
)
from judgekit.judge import Judge, SyncRunner, with_repeat_confidence
from judgekit.models import RECORDED_PREFIX, RecordedModel
from judgekit.records import (
    WINNER_POINTS,
    Case,
    Comparison,
    JudgeFailure,
    Judgment,
    Output,
    Preference,
    Rubric,
    Verdict,
)
from judgekit.scoring import conclude

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from judgekit.evaluation import Graded, Run
    from judgekit.models.request import Subject
    from judgekit.records import (
        CalibratedPanel,
        Dataset,
        PreferenceFailure,
        PreferenceSlot,
        PresentationOrder,
        RunInfo,
        Winner,
    )

JudgmentRecord = Verdict | Judgment | JudgeFailure | Comparison
"""What a judge can have said."""

_FOLDED: dict[tuple[PreferenceSlot, str], Winner] = {
    ("first", "ab"): "a", ("second", "ab"): "b", ("tie", "ab"): "tie",
    ("first", "ba"): "b", ("second", "ba"): "a", ("tie", "ba"): "tie",
}  # fmt: skip


def judged_from_run(run: Run) -> PointwiseData:
    """What the judges of a run said; what persons said of it is left out."""
    info = _without_people(run)
    asked = without_human_judges(judging_of_run(run.info))
    grades = PointwiseData(rubric=info.rubric, asked=asked, origin={"run": run.id})
    for result in run.results():
        # A person among the judges would be compared with people, and agree too well.
        machine = result.model_copy(
            update={"judgments": tuple(j for j in result.judgments if j.source != "human")}
        )
        verdict = conclude_result(machine, info).verdict
        if verdict is None:
            continue
        place = OutputKey(result.case.id, result.variant, result.repeat)
        # Metadata of outputs makes groups too: a model version or a language.
        grades.groups[place] = groups_of(result.case, result.output.metadata)
        _take_verdict(grades, verdict, place)
    return grades


def judged_from_records(
    said: Sequence[JudgmentRecord],
    *,
    rubric: Rubric | None = None,
    cases: Mapping[str, Case] | None = None,
) -> PointwiseData | PairwiseData:
    """What a list of verdicts, judgments or comparisons says."""
    if not said:
        raise InputError("nothing was judged, so that there is nothing to hold labels against")
    comparisons = [one for one in said if isinstance(one, Comparison)]
    if comparisons and len(comparisons) < len(said):
        raise InputError("comparisons and scores are calibrated apart", hint="give one kind")
    known = cases or {}
    if comparisons:
        return _from_comparisons(comparisons, known)
    grades = PointwiseData(rubric=rubric)
    for one in said:
        place = _place(one)
        grades.groups.setdefault(place, groups_of(known.get(place.case_id)))
        if isinstance(one, Verdict):
            _take_verdict(grades, one, place)
        elif not isinstance(one, Comparison):
            grades.samples.append(_sample(one, place))
            grades.models |= {one.model: None} if isinstance(one, Judgment) and one.model else {}
    grades.asked = _asked([one for one in said if isinstance(one, Verdict)])
    return grades


def judged_from_grading(
    graded: Iterable[Graded], rubric: Rubric, asked: CalibratedPanel | None = None
) -> PointwiseData:
    """What a judge said of outputs that were graded just now."""
    grades = PointwiseData(rubric=rubric, asked=asked)
    for one in graded:
        place = OutputKey(one.case.id, one.output.variant)
        grades.groups[place] = groups_of(one.case, one.output.metadata)
        _take_verdict(grades, one.verdict, place)
    return grades


def preferred_output(choice: PreferenceSlot, order: str) -> Winner:
    """A choice by place, turned back to which output it is."""
    return _FOLDED[choice, order]


def _asked(verdicts: Iterable[Verdict]) -> CalibratedPanel | None:
    """How the judge of verdicts was asked; None where one does not say so, or they differ."""
    found = [one.asked for one in verdicts if one.judgments]
    same = found and all(asked == found[0] for asked in found)
    # Maps are only valid for one way of asking.
    return without_human_judges(found[0]) if same else None


def _place(one: JudgmentRecord) -> OutputKey:
    if one.case_id is None:
        raise InputError(
            "a judgment does not say of which case it is",
            hint="give verdicts, or judgments with a `case_id`",
        )
    # A comparison has two variants; they make its key later.
    variant = None if isinstance(one, Comparison) else one.variant
    return OutputKey(one.case_id, variant)


def _take_verdict(grades: PointwiseData, verdict: Verdict, place: OutputKey) -> None:
    if verdict.error is not None:
        grades.n_errors += 1
        return
    said: Iterable[Judgment | JudgeFailure] = (*verdict.judgments, *verdict.failures)
    grades.samples += [
        _sample(one, place) for one in said if getattr(one, "source", "llm") != "human"
    ]
    own = verdict.uncalibrated  # maps that were applied are no part of what the judge said
    by_criterion = {each.name: each.value for each in verdict.criteria}
    grades.combined[place] = CombinedScore(
        value=verdict.value if own is None else own.value,
        passed=verdict.passed if own is None else own.passed,
        by_criterion=by_criterion if own is None else own.criteria,
    )
    grades.models |= {j.model: None for j in verdict.judgments if j.model}


def _sample(one: Judgment | JudgeFailure, place: OutputKey) -> ScoreSample:
    if isinstance(one, JudgeFailure):
        return ScoreSample(
            place=place,
            criterion=one.criterion,
            raw=None,
            judge=one.judge,
            repeat=one.repeat,
            failure=one.kind,
        )
    return ScoreSample(
        place=place,
        criterion=one.criterion,
        raw=one.raw,
        value=one.value,
        confidence=one.confidence,
        rationale=one.rationale,
        judge=one.judge,
        repeat=one.repeat,
    )


def _without_people(run: Run) -> RunInfo:
    """The run, its panel without those whose judgments are a person's."""
    people = {j.judge for result in run.results() for j in result.judgments if j.source == "human"}
    people.add("human")
    panel = run.info.panel
    machines = tuple(name for name in panel.judges if name not in people)
    if len(machines) == len(panel.judges):
        return run.info
    return run.info.model_copy(update={"panel": panel.model_copy(update={"judges": machines})})


def _from_comparisons(comparisons: Iterable[Comparison], cases: Mapping[str, Case]) -> PairwiseData:
    pairs = PairwiseData()
    for one in comparisons:
        case_id = _place(one).case_id
        place = pair_key(case_id, one.variant_a, one.variant_b)
        pairs.groups[place] = groups_of(cases.get(case_id))
        if one.error is not None:
            pairs.n_errors += 1
            continue
        pairs.models |= {p.model: None for p in one.preferences if p.model}
        pairs.pairs += _pairs_of(one, place)
    return pairs


def _pairs_of(one: Comparison, place: OutputKey) -> Iterable[PairJudgment]:
    said: list[Preference | PreferenceFailure] = [*one.preferences, *one.failures]
    asked_whole = any(each.criterion is None for each in said)
    whole = [each for each in said if each.criterion is None]
    # A judge asked about one criterion only has decided the whole with it.
    if asked_whole or one.is_identical or len(one.criteria) != 1:
        yield _pair(place, None, whole, one.winner, one.probability)
    for criterion in one.criteria:
        own = [each for each in said if each.criterion == criterion.name]
        yield _pair(place, criterion.name, own, criterion.winner, criterion.probability)


def _pair(
    place: OutputKey,
    criterion: str | None,
    said: Sequence[Preference | PreferenceFailure],
    winner: Winner | None,
    probability: float | None,
) -> PairJudgment:
    choices = tuple(_choice(each) for each in said)
    # A judge asked in one order only has decided, as far as it was asked.
    if winner is None and len({choice.order for choice in choices}) == 1:
        winner, probability = _of_one_order(choices)
    return PairJudgment(
        place=place, criterion=criterion, choices=choices, winner=winner, probability=probability
    )


def _of_one_order(choices: Sequence[OrderedChoice]) -> tuple[Winner | None, float | None]:
    votes = [WINNER_POINTS[c.winner] for c in choices if c.winner]
    if not votes:
        return None, None
    shares = [WINNER_POINTS[c.winner] if c.share is None else c.share for c in choices if c.winner]
    return majority_winner(votes), sum(shares) / len(shares)


def _choice(said: Preference | PreferenceFailure) -> OrderedChoice:
    if not isinstance(said, Preference):
        return OrderedChoice(order=said.order, winner=None, judge=said.judge)
    winner = preferred_output(said.choice, said.order)
    return OrderedChoice(
        order=said.order,
        winner=winner,
        share=_share(said, winner),
        rationale=said.rationale,
        judge=said.judge,
    )


def _share(said: Preference, winner: Winner) -> float | None:
    """How far a is preferred, from token probabilities or the judge's own confidence."""
    if said.logprob_first is not None:
        return said.logprob_first if said.order == "ab" else 1 - said.logprob_first
    return share_of_confidence(said.confidence, winner)


_ORDERS: tuple[PresentationOrder, PresentationOrder] = ("ab", "ba")
_VARIANT_SEPARATOR = " vs "
_NOT_KEPT = "(not kept)"
_Output = tuple[str, str | None]
"""A case and a variant; of a comparison both variants, `one vs other`."""

_Asked = tuple[str | None, str | None, int]
"""Order, criterion and repeat of a reply; without a criterion it speaks of all."""


@dataclass(frozen=True, slots=True)
class RecordedReplies:
    """A file of recorded replies and their subjects."""

    path: Path
    subjects: tuple[Subject, ...]

    @property
    def compares(self) -> bool:
        """Whether the replies are about two outputs each."""
        return any(subject.order is not None for subject in self.subjects)

    @property
    def repeats(self) -> int:
        """How often each question was asked."""
        return 1 + max(subject.repeat for subject in self.subjects)

    @property
    def reasks(self) -> int:
        """How often a question was asked again because a reply could not be read."""
        return max(subject.attempt for subject in self.subjects)

    def only(self, outputs: Collection[_Output]) -> RecordedReplies:
        """The replies about some outputs."""
        kept = [one for one in self.subjects if (str(one.case_id), one.variant) in outputs]
        return replace(self, subjects=tuple(kept))

    def by_output(self) -> dict[_Output, set[_Asked]]:
        """What was asked about each output, or pair of outputs."""
        found: dict[_Output, set[_Asked]] = {}
        for one in self.subjects:
            asked = found.setdefault((str(one.case_id), one.variant), set())
            asked.add((one.order, one.criterion, one.repeat))
        return found


def load_recorded_replies(path: Path | str) -> RecordedReplies:
    """What a file of recorded replies holds replies about."""
    model = RecordedModel(path)
    found = RecordedReplies(model.path, model.subjects)
    if not found.subjects:
        raise InputError(f"{found.path} holds no replies")
    if found.compares and any(subject.order not in _ORDERS for subject in found.subjects):
        raise InputError(
            f"{found.path}: some replies say in which `order` two outputs were shown, and some not",
            hint='give "order": "ab" or "ba" with each; calibrate scores by themselves',
        )
    return found


def whole_rubric() -> Rubric:
    """What comparisons are by, where no rubric is named: which of two outputs is better."""
    return Rubric(name="whole", criteria=(WHOLE_CRITERION,))


def read_replies(
    path: Path | str,
    *,
    template: str | Path | None = None,
    rubric: Rubric | Path | str | None = None,
    cases: Dataset | Path | str | None = None,
    template_folders: Sequence[Path | str] = (),
) -> list[Verdict] | list[Comparison]:
    """Read a file of recorded replies as a judge's template reads them; nobody is asked.

    Args:
        path: The file: `case_id`, `text`, and where there are several `variant`, `criterion`,
            `order`, `repeat`. Replies with an order are about two outputs, which their variant may
            name (`one vs other`).
        template: The template that reads; None takes the default one.
        rubric: The criteria and scales that were asked about, or their file; of comparisons None
            will do.
        cases: The cases, or their file, as far as they are known.
        template_folders: Folders of own templates.

    Returns:
        A verdict for each output, or a comparison for each pair; with a failure for each reply that
        cannot be read. What was never recorded is no failure: of a pair that was recorded in one
        order, that order decides.

    Raises:
        DatasetError: When a file cannot be read.
        InputError: When replies do not fit the rubric, or scores come without one.
        TemplateError: When the template is unsound or does not fit the rubric.
        UnknownNameError: When there is no such template.
    """
    recorded = load_recorded_replies(path)
    if rubric is None and not recorded.compares:
        raise InputError(
            f"{recorded.path}: the scale of the recorded scores is not known",
            hint="give the rubric they were asked by",
        )
    asked = load_rubric(rubric) if isinstance(rubric, str | Path) else rubric
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
    portal = SyncRunner()
    try:
        return portal.run(parse_recorded_replies(judge, recorded, asked or whole_rubric(), by_id))
    finally:
        portal.close()
        judge.close()


async def judged_from_replies(
    judge: Judge, recorded: RecordedReplies, rubric: Rubric, cases: Mapping[str, Case]
) -> PointwiseData | PairwiseData:
    """Recorded replies as what labels can be held against."""
    said = await parse_recorded_replies(judge, recorded, rubric, cases)
    found = judged_from_records(said, rubric=rubric, cases=cases)
    if isinstance(found, PointwiseData):
        found.asked = judging_of_judge(judge)
    return found


async def parse_recorded_replies(
    judge: Judge, recorded: RecordedReplies, rubric: Rubric, cases: Mapping[str, Case]
) -> list[Verdict] | list[Comparison]:
    """Read recorded replies as the judge's template reads them."""
    # What was never recorded is not asked: an output that lacks a criterion, a repeat or an order
    # lacks no answer. The outputs themselves are not known, so that quotes are not looked for.
    names = [criterion.name for criterion in rubric.criteria]
    strange = {s.criterion for s in recorded.subjects} - {None, *names}
    if strange:
        named = ", ".join(sorted(str(name) for name in strange))
        raise InputError(
            f"{recorded.path} has replies about {named}, and the rubric has {', '.join(names)}",
            hint="give the rubric they were asked by",
        )
    outputs = recorded.by_output().items()
    async with judge:
        if recorded.compares:
            return [
                await _compared(judge, output, asked, rubric, _case(cases, output[0]))
                for output, asked in outputs
            ]
        return [
            await _graded(judge, output, asked, rubric, _case(cases, output[0]))
            for output, asked in outputs
        ]


def _case(cases: Mapping[str, Case], case_id: str) -> Case:
    return cases.get(case_id) or Case(id=case_id, input=None)


async def _graded(
    judge: Judge, output: _Output, asked: set[_Asked], rubric: Rubric, case: Case
) -> Verdict:
    # The outputs were not recorded, and reading a reply needs none.
    shown = Output(text=_NOT_KEPT, variant=output[1])
    open_ones = {
        (criterion.name, repeat)
        for criterion in rubric.criteria
        for repeat in range(judge.grader.repeats)
        if not asked & {(None, criterion.name, repeat), (None, None, repeat)}
    }
    said: list[Judgment | JudgeFailure] = []
    async for found in judge.observe(case, shown, rubric, known=open_ones):
        said += found
    judgments = with_repeat_confidence([one for one in said if isinstance(one, Judgment)])
    return conclude(
        rubric,
        judgments,
        [one for one in said if isinstance(one, JudgeFailure)],
        case_id=case.id,
        variant=output[1],
    )


async def _compared(
    judge: Judge, output: _Output, asked: set[_Asked], rubric: Rubric, case: Case
) -> Comparison:
    comparer = judge.comparer
    a, b = (
        Output(text=f"{_NOT_KEPT} {side}", variant=variant)
        for side, variant in zip("ab", _sides(output), strict=True)
    )
    open_ones = {
        (order, criterion, repeat)
        for order in _ORDERS
        for criterion in (None, *(each.name for each in rubric.criteria))
        for repeat in range(comparer.repeats)
        if not asked & {(order, criterion, repeat), (order, None, repeat)}
    }
    said = [
        one
        async for found in comparer.observe(case, a, b, rubric, known=open_ones)
        for one in found
    ]
    found = comparer.conclude(case, a, b, comparer.blind_pair(a, b), rubric, said)
    # Pairs recorded in one order are decided by it; asking for the other would be impossible.
    is_one_sided = len({order for order, _, _ in asked}) == 1
    return _as_far_as_asked(found) if is_one_sided else found


def _as_far_as_asked(found: Comparison) -> Comparison:
    """A judge that was asked in one order only has decided by that one; where it failed.

    Nothing.
    """
    # Whether the orders agree stays open: `consistent` is None.
    shares: dict[str | None, list[float]] = {}
    for said in found.preferences:
        points = WINNER_POINTS[preferred_output(said.choice, said.order)]
        shares.setdefault(said.criterion, []).append(points)
    criteria = [
        one.model_copy(update=_winner(shares[one.name])) if one.name in shares else one
        for one in found.criteria
    ]
    whole = shares.get(None) or (next(iter(shares.values())) if len(shares) == 1 else [])
    own = _winner(whole) if whole else {}
    return found.model_copy(update={**own, "criteria": type(found.criteria)(criteria)})


def _winner(shares: Sequence[float]) -> dict[str, object]:
    return {"winner": majority_winner(shares), "probability": fsum(shares) / len(shares)}


def _sides(output: _Output) -> tuple[str | None, str | None]:
    case_id, variant = output
    if variant is None:
        return None, None
    a, against, b = variant.partition(_VARIANT_SEPARATOR)
    if not (a and against and b):
        raise InputError(
            f"a reply about two outputs of {case_id} names the variant {variant!r}",
            hint=f'name both, "one{_VARIANT_SEPARATOR}other", or none',
        )
    return a, b
