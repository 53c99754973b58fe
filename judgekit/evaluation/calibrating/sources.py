"""From runs, verdicts, judgments and comparisons to what labels can be held against."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.errors import InputError
from judgekit.evaluation.calibrating.material import (
    Choice,
    Combined,
    Grades,
    Pair,
    Pairs,
    Place,
    Sample,
    groups_of,
)
from judgekit.evaluation.figures.concluding import conclude_result
from judgekit.evaluation.preparing.asked import asked_in, machines_of
from judgekit.records.comparison import Comparison, Preference
from judgekit.records.judgment import JudgeFailure, Judgment
from judgekit.records.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judgekit.evaluation.grading import Graded
    from judgekit.evaluation.run import Run
    from judgekit.records.calibration_map import Judging
    from judgekit.records.case import Case
    from judgekit.records.comparison import PreferenceFailure, Slot, Winner
    from judgekit.records.rubric import Rubric
    from judgekit.records.run import RunInfo

Said = Verdict | Judgment | JudgeFailure | Comparison
"""What a judge can have said."""

_FOLDED: dict[tuple[Slot, str], Winner] = {
    ("first", "ab"): "a", ("second", "ab"): "b", ("tie", "ab"): "tie",
    ("first", "ba"): "b", ("second", "ba"): "a", ("tie", "ba"): "tie",
}  # fmt: skip
_SHARES = {"a": 1.0, "tie": 0.5, "b": 0.0}


def from_run(run: Run) -> Grades:
    """What the judges of a run said; what persons said of it is left out."""
    info = _without_people(run)
    asked = machines_of(asked_in(run.info))
    grades = Grades(rubric=info.rubric, asked=asked, origin={"run": run.id})
    for result in run.results():
        machine = result.model_copy(
            update={"judgments": tuple(j for j in result.judgments if j.source != "human")}
        )
        verdict = conclude_result(machine, info).verdict
        if verdict is None:
            continue
        place = Place(result.case.id, result.variant, result.repeat)
        grades.groups[place] = groups_of(result.case, result.output.metadata)
        _take_verdict(grades, verdict, place)
    return grades


def from_said(
    said: Sequence[Said],
    *,
    rubric: Rubric | None = None,
    cases: Mapping[str, Case] | None = None,
) -> Grades | Pairs:
    """What a list of verdicts, judgments or comparisons says."""
    if not said:
        raise InputError("nothing was judged, so that there is nothing to hold labels against")
    comparisons = [one for one in said if isinstance(one, Comparison)]
    if comparisons and len(comparisons) < len(said):
        raise InputError("comparisons and scores are calibrated apart", hint="give one kind")
    known = cases or {}
    if comparisons:
        return _from_comparisons(comparisons, known)
    grades = Grades(rubric=rubric)
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


def from_graded(graded: Iterable[Graded], rubric: Rubric, asked: Judging | None = None) -> Grades:
    """What a judge said of outputs that were graded just now."""
    grades = Grades(rubric=rubric, asked=asked)
    for one in graded:
        place = Place(one.case.id, one.output.variant)
        grades.groups[place] = groups_of(one.case, one.output.metadata)
        _take_verdict(grades, one.verdict, place)
    return grades


def folded(choice: Slot, order: str) -> Winner:
    """A choice by place, turned back to which output it is."""
    return _FOLDED[choice, order]


def _asked(verdicts: Iterable[Verdict]) -> Judging | None:
    """How the judge of verdicts was asked; None where one does not say so, or they differ."""
    found = [one.asked for one in verdicts if one.judgments]
    same = found and all(asked == found[0] for asked in found)
    return machines_of(found[0]) if same else None


def _place(one: Said) -> Place:
    if one.case_id is None:
        raise InputError(
            "a judgment does not say of which case it is",
            hint="give verdicts, or judgments with a `case_id`",
        )
    variant = None if isinstance(one, Comparison) else one.variant
    return Place(one.case_id, variant)


def _take_verdict(grades: Grades, verdict: Verdict, place: Place) -> None:
    if verdict.error is not None:
        grades.n_errors += 1
        return
    said: Iterable[Judgment | JudgeFailure] = (*verdict.judgments, *verdict.failures)
    grades.samples += [
        _sample(one, place) for one in said if getattr(one, "source", "llm") != "human"
    ]
    own = verdict.uncalibrated  # maps that were applied are no part of what the judge said
    by_criterion = {each.name: each.value for each in verdict.criteria}
    grades.combined[place] = Combined(
        value=verdict.value if own is None else own.value,
        passed=verdict.passed if own is None else own.passed,
        by_criterion=by_criterion if own is None else own.criteria,
    )
    grades.models |= {j.model: None for j in verdict.judgments if j.model}


def _sample(one: Judgment | JudgeFailure, place: Place) -> Sample:
    if isinstance(one, JudgeFailure):
        return Sample(
            place=place,
            criterion=one.criterion,
            raw=None,
            judge=one.judge,
            repeat=one.repeat,
            failure=one.kind,
        )
    return Sample(
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


def _from_comparisons(comparisons: Iterable[Comparison], cases: Mapping[str, Case]) -> Pairs:
    pairs = Pairs()
    for one in comparisons:
        case_id = _place(one).case_id
        both = (one.variant_a, one.variant_b)
        place = Place(case_id, "::".join(v or "" for v in both) if any(both) else None)
        pairs.groups[place] = groups_of(cases.get(case_id))
        if one.error is not None:
            pairs.n_errors += 1
            continue
        pairs.models |= {p.model: None for p in one.preferences if p.model}
        pairs.pairs += _pairs_of(one, place)
    return pairs


def _pairs_of(one: Comparison, place: Place) -> Iterable[Pair]:
    said: list[Preference | PreferenceFailure] = [*one.preferences, *one.failures]
    asked_whole = any(each.criterion is None for each in said)
    whole = [each for each in said if each.criterion is None]
    if asked_whole or one.is_identical or len(one.criteria) != 1:
        yield _pair(place, None, whole, one.winner, one.probability)
    for criterion in one.criteria:
        own = [each for each in said if each.criterion == criterion.name]
        yield _pair(place, criterion.name, own, criterion.winner, criterion.probability)


def _pair(
    place: Place,
    criterion: str | None,
    said: Sequence[Preference | PreferenceFailure],
    winner: Winner | None,
    probability: float | None,
) -> Pair:
    choices = tuple(_choice(each) for each in said)
    # A judge asked in one order only has decided, as far as it was asked.
    if winner is None and len({choice.order for choice in choices}) == 1:
        winner, probability = _of_one_order(choices)
    return Pair(
        place=place, criterion=criterion, choices=choices, winner=winner, probability=probability
    )


def _of_one_order(choices: Sequence[Choice]) -> tuple[Winner | None, float | None]:
    known = [_SHARES[c.winner] if c.share is None else c.share for c in choices if c.winner]
    votes = [_SHARES[c.winner] for c in choices if c.winner]
    if not votes:
        return None, None
    mean = sum(votes) / len(votes)
    winner: Winner = "tie" if mean == _SHARES["tie"] else "a" if mean > _SHARES["tie"] else "b"
    return winner, sum(known) / len(known)


def _choice(said: Preference | PreferenceFailure) -> Choice:
    if not isinstance(said, Preference):
        return Choice(order=said.order, winner=None, judge=said.judge)
    winner = folded(said.choice, said.order)
    return Choice(
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
    if said.confidence is None or winner == "tie":
        return None
    return said.confidence if winner == "a" else 1 - said.confidence
