"""`tune` and `tune_sync`: scores candidates on training cases.

Compares the best one with the present rubric on held-out cases. Start reading here.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from math import fsum, isnan, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from judgekit.bias_audit import ProbeRunner, ProbeSession, ask_all, count_failures, total_spent
from judgekit.calibration import OutputKey
from judgekit.errors import NotEnoughDataError
from judgekit.judge import SyncRunner, gather_in_order
from judgekit.records import Verdict
from judgekit.tuning.candidates import ExamplePool
from judgekit.tuning.inputs import TuneOptions
from judgekit.tuning.plan import prepare_tuning
from judgekit.tuning.results import (
    TriedCandidate,
    Tuning,
    attach_scores,
    decide_tuning,
    held_out_contrast,
    held_out_result,
    rank_candidates,
    squared_losses,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

    from judgekit.calibration import AlignedItems
    from judgekit.judge import Judge
    from judgekit.records import Case, JsonObject, Output, Rubric
    from judgekit.tuning.candidates import Candidate
    from judgekit.tuning.plan import Labels, TuningSetup
    from judgekit.tuning.results import HeldOutContrast, HeldOutResult, TuningDecision


async def tune(
    judge: Judge,
    answers: Iterable[tuple[Case, Output]],
    labels: Labels,
    rubric: Rubric,
    *,
    candidates: Mapping[str, Rubric] | None = None,
    options: TuneOptions | None = None,
    template_folders: Sequence[Path | str] = (),
) -> Tuning:
    """Choose among wordings, anchors and examples by labels; tell what unseen labels say of it.

    Cases are split in two. What is tried is chosen on one part, an output never being shown as an
    example to itself; the other part is judged with the present rubric and with the chosen one
    only, and all figures are of that part.

    Args:
        judge: Who is tuned; with a budget it stops when the money is used up.
        answers: Cases with their outputs.
        labels: A file of labels, or labels: `case_id`, `raw`, `annotator`, and where needed
            `variant` and `criterion`.
        rubric: The present rubric.
        candidates: Other wordings of it, by name: the same criteria on the same scales.
        options: What is tried, the share that is held out, the error, the seed.
        template_folders: Folders of own templates; they come before the shipped.

    Returns:
        The decision with its figures, and the chosen rubric.

    Raises:
        InputError: When labels, candidates or settings are unsound.
        NotEnoughDataError: When there are too few labels; says how many are missing.
        StoreError: When the cache cannot keep what was paid for.

    Example:
        >>> async def better(judge, answers, rubric):  # doctest: +SKIP
        ...     how = jk.TuneOptions(few_shot=(0, 4), anchors=True)
        ...     found = await jk.tune(judge, answers, "labels.jsonl", rubric, options=how)
        ...     return found.tuned if found.decision == "better" else rubric
    """
    setup = prepare_tuning(
        ProbeRunner(judge, tuple(map(Path, template_folders))),
        answers,
        labels,
        rubric,
        others=candidates or {},
        options=options or TuneOptions(),
    )
    return await run_tuning(setup)


def tune_sync(
    judge: Judge,
    answers: Iterable[tuple[Case, Output]],
    labels: Labels,
    rubric: Rubric,
    *,
    candidates: Mapping[str, Rubric] | None = None,
    options: TuneOptions | None = None,
    template_folders: Sequence[Path | str] = (),
) -> Tuning:
    """`tune`, for callers that are not asynchronous; works inside a running loop too.

    Args:
        judge: Who is tuned.
        answers: Cases with their outputs.
        labels: A file of labels, or labels.
        rubric: The present rubric.
        candidates: Other wordings of it, by name.
        options: What is tried, the share that is held out, the error, the seed.
        template_folders: Folders of own templates.

    Returns:
        The decision with its figures, and the chosen rubric.

    Raises:
        InputError: When labels, candidates or settings are unsound.
        NotEnoughDataError: When there are too few labels; says how many are missing.
        StoreError: When the cache cannot keep what was paid for.
    """
    portal = SyncRunner()
    try:
        return portal.run(
            tune(
                judge, answers, labels, rubric, candidates=candidates, options=options,
                template_folders=template_folders,
            )
        )  # fmt: skip
    finally:
        portal.close()


if TYPE_CHECKING:
    Parts = tuple[AlignedItems, ...]


async def run_tuning(setup: TuningSetup, session: ProbeSession | None = None) -> Tuning:
    """Choose a candidate, and hold it against the present rubric on the held-out cases."""
    asking = _CandidateRunner(setup, session or ProbeSession())
    trained = await _trained(asking)
    if asking.is_stopped:
        return _result(asking, _Outcome({}))
    order = rank_candidates(setup.present.name, trained) if setup.present.name in trained else []
    if not order:
        return _result(asking, _Outcome({}))
    chosen = next(one for one in setup.candidates if one.name == order[0])
    return _result(asking, await _tested(asking, chosen, trained, order))


@dataclass(slots=True)
class _CandidateRunner:
    """Asks, and keeps everything that was said."""

    setup: TuningSetup
    session: ProbeSession
    said: list[Verdict] = field(default_factory=list)

    @property
    def is_stopped(self) -> bool:
        return self.session.reason is not None or "frozen_miss" in self.failures()[0]

    def failures(self) -> tuple[dict[str, int], dict[str, str]]:
        return count_failures(self.said)

    async def scored(
        self, candidate: Candidate, rubric: Rubric, clusters: Collection[Hashable]
    ) -> Parts:
        """The labelled items of some clusters, scored one way."""
        asks = self.setup.asks(candidate, rubric, clusters)
        answers = (await ask_all(self.setup.bench, asks, self.session)).values()
        verdicts = [one for one in answers if isinstance(one, Verdict)]
        self.said += verdicts
        return attach_scores(self.setup.labels.within(clusters), _scores(verdicts))


class _Outcome(NamedTuple):
    """What is known in the end; all but the first is missing where it was broken off."""

    trained: Mapping[str, Parts]
    order: Sequence[str] = ()
    decision: TuningDecision = "incomplete"
    chosen: Candidate | None = None
    tuned: Rubric | None = None
    present_held_out: HeldOutResult | None = None
    chosen_held_out: HeldOutResult | None = None
    contrast: HeldOutContrast | None = None


def _scores(verdicts: Iterable[Verdict]) -> dict[tuple[OutputKey, str], float | None]:
    """The judge's score of each item: the mean of its usable answers."""
    raws: defaultdict[tuple[OutputKey, str], list[float]] = defaultdict(list)
    for verdict in verdicts:
        place = OutputKey(verdict.case_id or "", verdict.variant)
        for judgment in verdict.judgments:
            raws[place, judgment.criterion].append(judgment.raw)
    # Repeats are averaged before the loss, as they are when a rubric is used.
    return {key: fsum(found) / len(found) for key, found in raws.items()}


async def _trained(asking: _CandidateRunner) -> dict[str, Parts]:
    """All candidates on the training cases; plain ones first, for examples go by mistakes."""
    setup = asking.setup
    training = setup.split.training
    # First, since their mistakes choose the examples of the others.
    plain = [one for one in setup.candidates if one.is_plain]
    found = await gather_in_order([asking.scored(one, one.rubric, training) for one in plain])
    trained = {one.name: parts for one, parts in zip(plain, found, strict=True)}
    showing = [one for one in setup.candidates if not one.is_plain]
    if asking.is_stopped or not any(part.both for part in trained[setup.present.name]):
        return {}
    jobs = [
        asking.scored(
            one, one.with_examples(_example_pool(setup, one, trained), training - fold), fold
        )
        for one in showing
        for fold in setup.split.folds
    ]
    # Answers come back in the order of the jobs: fold by fold of each candidate.
    folds = iter(await gather_in_order(jobs))
    for one in showing:
        parts = [next(folds) for _ in setup.split.folds]
        trained[one.name] = _joined(parts)
    return {one.name: trained[one.name] for one in setup.candidates}


def _joined(folds: Sequence[Parts]) -> Parts:
    """The items of all folds, criterion by criterion."""
    return tuple(
        replace(parts[0], items=tuple(item for part in parts for item in part.items))
        for parts in zip(*folds, strict=True)
    )


def _example_pool(
    setup: TuningSetup, candidate: Candidate, trained: Mapping[str, Parts]
) -> ExamplePool:
    """Labelled outputs with the mistakes made in the candidate's own words, else in the present."""
    known = trained.get(candidate.wording, trained[setup.present.name])
    mistakes = {key: sqrt(loss) for key, loss in squared_losses(known).items() if not isnan(loss)}
    return ExamplePool(setup.labels, mistakes, setup.options.seed)


async def _tested(
    asking: _CandidateRunner, chosen: Candidate, trained: Mapping[str, Parts], order: Sequence[str]
) -> _Outcome:
    """The present rubric and the chosen one on the held-out cases."""
    setup, level = asking.setup, 1 - asking.setup.options.alpha
    # Asked once, by the chosen candidate only: a second look would be a second choice.
    unseen = setup.split.held_out
    tuned = chosen.with_examples(_example_pool(setup, chosen, trained), setup.split.training)
    jobs = [asking.scored(setup.present, setup.rubric, unseen)]
    if chosen is not setup.present:
        jobs.append(asking.scored(chosen, tuned, unseen))
    found = await gather_in_order(jobs)
    if asking.is_stopped:
        return _Outcome({})
    present = held_out_result(setup.present.name, found[0], level=level)
    if chosen is setup.present:
        return _Outcome(trained, order, "none_better", present_held_out=present)
    try:
        apart = held_out_contrast(found[0], found[1], level=level)
    except NotEnoughDataError:  # no held-out item was answered both ways
        return _Outcome({})
    return _Outcome(
        trained,
        order,
        decide_tuning(apart),
        chosen,
        tuned,
        present,
        held_out_result(chosen.name, found[1], level=level),
        apart,
    )


def _result(asking: _CandidateRunner, outcome: _Outcome) -> Tuning:
    setup = asking.setup
    labels, parts, chosen = setup.labels, setup.split, outcome.chosen
    failures, messages = asking.failures()
    reason = asking.session.reason or ("frozen" if "frozen_miss" in failures else None)
    training = labels.cases_of(parts.training)
    return Tuning(
        rubric=setup.rubric.name,
        rubric_fingerprint=setup.rubric.fingerprint,
        judge=setup.bench.judge.id,
        decision=outcome.decision,
        chosen=chosen.name if chosen else None,
        tuned=_annotated_rubric(asking, outcome, training),
        template=chosen.template if chosen else None,
        present_held_out=outcome.present_held_out,
        chosen_held_out=outcome.chosen_held_out,
        contrast=outcome.contrast,
        tried=_tried(setup, outcome),
        training_cases=training,
        held_out_cases=labels.cases_of(parts.held_out),
        n_labels=labels.n_labels,
        n_unused=labels.n_unused,
        n_examples=labels.n_examples,
        seed=setup.options.seed,
        level=1 - setup.options.alpha,
        spent=total_spent(asking.said),
        failures=failures,
        failure_messages=messages,
        reason=reason,
    )


def _tried(setup: TuningSetup, outcome: _Outcome) -> tuple[TriedCandidate, ...]:
    places = {name: place for place, name in enumerate(outcome.order, start=1)}
    return tuple(
        TriedCandidate(
            name=one.name,
            place=places.get(one.name),
            n_failed=sum(map(isnan, squared_losses(outcome.trained[one.name]).values()))
            if one.name in outcome.trained
            else None,
        )
        for one in setup.candidates
    )


def _annotated_rubric(
    asking: _CandidateRunner, outcome: _Outcome, training: Sequence[str]
) -> Rubric | None:
    """The chosen rubric with a note of where it comes from."""
    setup, tuned = asking.setup, outcome.tuned
    if tuned is None or outcome.chosen is None:
        return None
    noted: JsonObject = {
        "candidate": outcome.chosen.name,
        "decision": outcome.decision,
        "n_tried": len(setup.candidates),
        "judge": setup.bench.judge.id,
        "from": setup.rubric.fingerprint,
        "seed": setup.options.seed,
        "training_cases": list(training),
    }
    return tuned.model_copy(update={"metadata": {**tuned.metadata, "tuned": noted}})
