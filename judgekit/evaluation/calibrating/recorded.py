"""What a judge was recorded to say, read by a template, where nothing but its replies is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.datasets.loading import load_dataset, load_rubric
from judgekit.errors import InputError
from judgekit.evaluation.calibrating.joining import UNIT
from judgekit.evaluation.calibrating.material import Grades
from judgekit.evaluation.calibrating.sources import folded, from_said
from judgekit.evaluation.preparing.asked import asked_by
from judgekit.judge.confidence import with_repeat_confidence
from judgekit.judge.judge import Judge
from judgekit.judge.portal import Portal
from judgekit.models.recorded import PREFIX, RecordedModel
from judgekit.records.case import Case
from judgekit.records.judgment import JudgeFailure, Judgment
from judgekit.records.output import Output
from judgekit.records.rubric import Rubric
from judgekit.verdicts import conclude

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from judgekit.evaluation.calibrating.material import Pairs
    from judgekit.models.request import Subject
    from judgekit.records.case import Dataset
    from judgekit.records.comparison import Comparison, Order, Winner
    from judgekit.records.verdict import Verdict

_ORDERS: tuple[Order, Order] = ("ab", "ba")
_SHARES: dict[Winner, float] = {"a": 1.0, "tie": 0.5, "b": 0.0}
_AGAINST = " vs "
_NOT_KEPT = "(not kept)"

_Output = tuple[str, str | None]
"""A case and a variant; of a comparison both variants, `one vs other`."""

_Asked = tuple[str | None, str | None, int]
"""Order, criterion and repeat of a reply; without a criterion it speaks of all."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A file of recorded replies, and what it holds replies about."""

    path: Path
    """The file."""

    subjects: tuple[Subject, ...]
    """What each reply is about."""

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

    def only(self, outputs: Collection[_Output]) -> Recorded:
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


def recorded_in(path: Path | str) -> Recorded:
    """What a file of recorded replies holds replies about."""
    model = RecordedModel(path)
    found = Recorded(model.path, model.subjects)
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
    return Rubric(name="whole", criteria=(UNIT,))


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
    recorded = recorded_in(path)
    if rubric is None and not recorded.compares:
        raise InputError(
            f"{recorded.path}: the scale of the recorded scores is not known",
            hint="give the rubric they were asked by",
        )
    asked = load_rubric(rubric) if isinstance(rubric, str | Path) else rubric
    known = load_dataset(cases) if isinstance(cases, str | Path) else cases
    judge = Judge(
        f"{PREFIX}{recorded.path}",
        template=template,
        template_folders=template_folders,
        cache=None,
        repeats=recorded.repeats,
        max_reasks=recorded.reasks,
    )
    by_id = {} if known is None else {case.id: case for case in known.cases}
    portal = Portal()
    try:
        return portal.run(said_in(judge, recorded, asked or whole_rubric(), by_id))
    finally:
        portal.close()
        judge.close()


async def read_recorded(
    judge: Judge, recorded: Recorded, rubric: Rubric, cases: Mapping[str, Case]
) -> Grades | Pairs:
    """Recorded replies as what labels can be held against."""
    said = await said_in(judge, recorded, rubric, cases)
    found = from_said(said, rubric=rubric, cases=cases)
    if isinstance(found, Grades):
        found.asked = asked_by(judge)
    return found


async def said_in(
    judge: Judge, recorded: Recorded, rubric: Rubric, cases: Mapping[str, Case]
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
    found = comparer.conclude(case, a, b, comparer.seen(a, b), rubric, said)
    is_one_sided = len({order for order, _, _ in asked}) == 1
    return _as_far_as_asked(found) if is_one_sided else found


def _as_far_as_asked(found: Comparison) -> Comparison:
    """A judge that was asked in one order only has decided by that one; where it failed, nothing."""
    # Whether the orders agree stays open: `consistent` is None.
    shares: dict[str | None, list[float]] = {}
    for said in found.preferences:
        share = _SHARES[folded(said.choice, said.order)]
        shares.setdefault(said.criterion, []).append(share)
    criteria = [
        one.model_copy(update=_winner(shares[one.name])) if one.name in shares else one
        for one in found.criteria
    ]
    whole = shares.get(None) or (next(iter(shares.values())) if len(shares) == 1 else [])
    own = _winner(whole) if whole else {}
    return found.model_copy(update={**own, "criteria": type(found.criteria)(criteria)})


def _winner(shares: Sequence[float]) -> dict[str, object]:
    mean = fsum(shares) / len(shares)
    winner: Winner = "tie" if mean == _SHARES["tie"] else "a" if mean > _SHARES["tie"] else "b"
    return {"winner": winner, "probability": mean}


def _sides(output: _Output) -> tuple[str | None, str | None]:
    case_id, variant = output
    if variant is None:
        return None, None
    a, against, b = variant.partition(_AGAINST)
    if not (a and against and b):
        raise InputError(
            f"a reply about two outputs of {case_id} names the variant {variant!r}",
            hint=f'name both, "one{_AGAINST}other", or none',
        )
    return a, b
