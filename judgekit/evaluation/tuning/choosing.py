"""Asks what a tuning wants to know: candidates on training cases, the best one on unseen ones."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from math import fsum, isnan, sqrt
from typing import TYPE_CHECKING, NamedTuple

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.auditing.audit import Sitting, answered
from judgekit.evaluation.auditing.spending import spent_in, told_failures
from judgekit.evaluation.calibrating.material import Place
from judgekit.evaluation.tuning.deciding import (
    contrast,
    decide,
    held_out,
    losses,
    ranked,
    with_scores,
)
from judgekit.evaluation.tuning.examples import Shelf
from judgekit.evaluation.tuning.figures import Tried, Tuning
from judgekit.judge.gathering import gathered
from judgekit.records.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

    from judgekit.evaluation.calibrating.aligned import Aligned
    from judgekit.evaluation.tuning.candidates import Candidate
    from judgekit.evaluation.tuning.figures import Contrast, Decision, HeldOut
    from judgekit.evaluation.tuning.preparing import Bout
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Rubric

    Parts = tuple[Aligned, ...]


async def run_tuning(bout: Bout, sitting: Sitting | None = None) -> Tuning:
    """Choose a candidate, and hold it against the present rubric on the held-out cases."""
    asking = _Asking(bout, sitting or Sitting())
    trained = await _trained(asking)
    if asking.is_broken_off:
        return _told(asking, _Outcome({}))
    order = ranked(bout.present.name, trained) if bout.present.name in trained else []
    if not order:
        return _told(asking, _Outcome({}))
    chosen = next(one for one in bout.candidates if one.name == order[0])
    return _told(asking, await _tested(asking, chosen, trained, order))


@dataclass(slots=True)
class _Asking:
    """Asks, and keeps everything that was said."""

    bout: Bout
    sitting: Sitting
    said: list[Verdict] = field(default_factory=list)

    @property
    def is_broken_off(self) -> bool:
        return self.sitting.reason is not None or "frozen_miss" in self.failures()[0]

    def failures(self) -> tuple[dict[str, int], dict[str, str]]:
        return told_failures(self.said)

    async def scored(
        self, candidate: Candidate, rubric: Rubric, clusters: Collection[Hashable]
    ) -> Parts:
        """The labelled items of some clusters, scored one way."""
        asks = self.bout.asks(candidate, rubric, clusters)
        answers = (await answered(self.bout.bench, asks, self.sitting)).values()
        verdicts = [one for one in answers if isinstance(one, Verdict)]
        self.said += verdicts
        return with_scores(self.bout.labels.within(clusters), _scores(verdicts))


class _Outcome(NamedTuple):
    """What is known in the end; all but the first is missing where it was broken off."""

    trained: Mapping[str, Parts]
    order: Sequence[str] = ()
    decision: Decision = "incomplete"
    chosen: Candidate | None = None
    tuned: Rubric | None = None
    present_held_out: HeldOut | None = None
    chosen_held_out: HeldOut | None = None
    contrast: Contrast | None = None


def _scores(verdicts: Iterable[Verdict]) -> dict[tuple[Place, str], float | None]:
    """The judge's score of each item: the mean of its usable answers."""
    raws: defaultdict[tuple[Place, str], list[float]] = defaultdict(list)
    for verdict in verdicts:
        place = Place(verdict.case_id or "", verdict.variant)
        for judgment in verdict.judgments:
            raws[place, judgment.criterion].append(judgment.raw)
    return {key: fsum(found) / len(found) for key, found in raws.items()}


async def _trained(asking: _Asking) -> dict[str, Parts]:
    """All candidates on the training cases; plain ones first, for examples go by mistakes."""
    bout = asking.bout
    training = bout.split.training
    plain = [one for one in bout.candidates if one.is_plain]
    found = await gathered([asking.scored(one, one.rubric, training) for one in plain])
    trained = {one.name: parts for one, parts in zip(plain, found, strict=True)}
    showing = [one for one in bout.candidates if not one.is_plain]
    if asking.is_broken_off or not any(part.both for part in trained[bout.present.name]):
        return {}
    jobs = [
        asking.scored(one, one.dressed(_shelf(bout, one, trained), training - fold), fold)
        for one in showing
        for fold in bout.split.folds
    ]
    folds = iter(await gathered(jobs))
    for one in showing:
        parts = [next(folds) for _ in bout.split.folds]
        trained[one.name] = _joined(parts)
    return {one.name: trained[one.name] for one in bout.candidates}


def _joined(folds: Sequence[Parts]) -> Parts:
    """The items of all folds, criterion by criterion."""
    return tuple(
        replace(parts[0], items=tuple(item for part in parts for item in part.items))
        for parts in zip(*folds, strict=True)
    )


def _shelf(bout: Bout, candidate: Candidate, trained: Mapping[str, Parts]) -> Shelf:
    """Labelled outputs with the mistakes made in the candidate's own words, else in the present."""
    known = trained.get(candidate.wording, trained[bout.present.name])
    mistakes = {key: sqrt(loss) for key, loss in losses(known).items() if not isnan(loss)}
    return Shelf(bout.labels, mistakes, bout.options.seed)


async def _tested(
    asking: _Asking, chosen: Candidate, trained: Mapping[str, Parts], order: Sequence[str]
) -> _Outcome:
    """The present rubric and the chosen one on the held-out cases."""
    bout, level = asking.bout, 1 - asking.bout.options.alpha
    unseen = bout.split.held_out
    tuned = chosen.dressed(_shelf(bout, chosen, trained), bout.split.training)
    jobs = [asking.scored(bout.present, bout.rubric, unseen)]
    if chosen is not bout.present:
        jobs.append(asking.scored(chosen, tuned, unseen))
    found = await gathered(jobs)
    if asking.is_broken_off:
        return _Outcome({})
    present = held_out(bout.present.name, found[0], level=level)
    if chosen is bout.present:
        return _Outcome(trained, order, "none_better", present_held_out=present)
    try:
        apart = contrast(found[0], found[1], level=level)
    except NotEnoughDataError:  # no held-out item was answered both ways
        return _Outcome({})
    return _Outcome(
        trained,
        order,
        decide(apart),
        chosen,
        tuned,
        present,
        held_out(chosen.name, found[1], level=level),
        apart,
    )


def _told(asking: _Asking, outcome: _Outcome) -> Tuning:
    bout = asking.bout
    labels, parts, chosen = bout.labels, bout.split, outcome.chosen
    failures, messages = asking.failures()
    reason = asking.sitting.reason or ("frozen" if "frozen_miss" in failures else None)
    training = labels.cases_of(parts.training)
    return Tuning(
        rubric=bout.rubric.name,
        rubric_fingerprint=bout.rubric.fingerprint,
        judge=bout.bench.judge.id,
        decision=outcome.decision,
        chosen=chosen.name if chosen else None,
        tuned=_noted(asking, outcome, training),
        template=chosen.template if chosen else None,
        present_held_out=outcome.present_held_out,
        chosen_held_out=outcome.chosen_held_out,
        contrast=outcome.contrast,
        tried=_tried(bout, outcome),
        training_cases=training,
        held_out_cases=labels.cases_of(parts.held_out),
        n_labels=labels.n_labels,
        n_unused=labels.n_unused,
        n_examples=labels.n_examples,
        seed=bout.options.seed,
        level=1 - bout.options.alpha,
        spent=spent_in(asking.said),
        failures=failures,
        failure_messages=messages,
        reason=reason,
    )


def _tried(bout: Bout, outcome: _Outcome) -> tuple[Tried, ...]:
    places = {name: place for place, name in enumerate(outcome.order, start=1)}
    return tuple(
        Tried(
            name=one.name,
            place=places.get(one.name),
            n_failed=sum(map(isnan, losses(outcome.trained[one.name]).values()))
            if one.name in outcome.trained
            else None,
        )
        for one in bout.candidates
    )


def _noted(asking: _Asking, outcome: _Outcome, training: Sequence[str]) -> Rubric | None:
    """The chosen rubric with a note of where it comes from."""
    bout, tuned = asking.bout, outcome.tuned
    if tuned is None or outcome.chosen is None:
        return None
    noted: JsonObject = {
        "candidate": outcome.chosen.name,
        "decision": outcome.decision,
        "n_tried": len(bout.candidates),
        "judge": bout.bench.judge.id,
        "from": bout.rubric.fingerprint,
        "seed": bout.options.seed,
        "training_cases": list(training),
    }
    return tuned.model_copy(update={"metadata": {**tuned.metadata, "tuned": noted}})
