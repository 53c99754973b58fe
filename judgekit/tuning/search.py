"""`tune` and `tune_sync`: choose a candidate on training cases, verify it on held-out cases.

Start reading here.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum, isnan, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.bias_audit import (
    GradeProbe,
    ProbeRunner,
    ProbeSession,
    ask_all,
    count_failures,
    total_spent,
)
from judgekit.calibration import LabelCoverage, OutputKey, cover_outputs, output_key
from judgekit.datasets import LocatedLabel, locate_labels, read_labels
from judgekit.errors import InputError, NotEnoughDataError, SettingsError
from judgekit.evaluation import (
    JudgePlan,
    RequestCounter,
    estimate_judge_reply_tokens,
    judge_plan_fields,
)
from judgekit.judge import Judge, gather_in_order, synchronous
from judgekit.models import RecordedModel
from judgekit.records import Case, JsonObject, Label, Output, Rubric, Verdict
from judgekit.tuning.inputs import (
    ExamplePool,
    TuneOptions,
    build_candidates,
    join_labelled_outputs,
    shown_cases,
    split_cases,
)
from judgekit.tuning.results import (
    TriedCandidate,
    Tuning,
    attach_scores,
    changed_scores,
    decide_tuning,
    held_out_contrast,
    held_out_result,
    rank_candidates,
    squared_losses,
)

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.calibration import AlignedItems, LabelledShare
    from judgekit.tuning.inputs import Candidate, LabelledOutputs, Split

    Labels = Path | str | Iterable[Label | Mapping[str, JsonValue]]
    Parts = tuple[AlignedItems, ...]


@dataclass(frozen=True)
class TuningSetup:
    """Everything a tuning needs; the present rubric is the first of the candidates."""

    runner: ProbeRunner
    rubric: Rubric
    labels: LabelledOutputs
    split: Split
    candidates: tuple[Candidate, ...]
    options: TuneOptions
    share: LabelledShare

    @cached_property
    def n_gradings(self) -> int:
        """Gradings, if another candidate than the present rubric is chosen."""
        asks = [self.asks(c, c.rubric, self.split.training) for c in self.candidates]
        asks += 2 * [self.asks(self.present, self.rubric, self.split.held_out)]
        # Equal outputs are asked about once.
        return sum(len({ask.key for ask in own}) for own in asks)

    @property
    def present(self) -> Candidate:
        return self.candidates[0]

    def asks(
        self, candidate: Candidate, rubric: Rubric, clusters: Collection[Hashable]
    ) -> list[GradeProbe]:
        """The gradings of all labelled outputs of some clusters."""
        # Without a joint question, only the labelled criteria of an output are asked and paid for.
        names: defaultdict[OutputKey, set[str]] = defaultdict(set)
        for item in self.labels.items:
            if item.cluster in clusters:
                names[item.place].add(item.criterion)
        asks_all = self.runner.judge.template.header.asks == "all" and candidate.template is None
        parts = LabelCoverage(names).rubrics(rubric, asks_all=asks_all)
        return [
            GradeProbe(case=case, output=output, rubric=parts[place], template=candidate.template)
            for place, (case, output) in self.labels.answers.items()
            if place in parts
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class TunePlan(JudgePlan):
    """The questions of a tuning and their price, if the candidate with the longest prompts wins."""

    n_candidates: int
    n_training: int
    n_held_out: int


def prepare_tuning(
    runner: ProbeRunner,
    answers: Iterable[tuple[Case, Output]],
    labels: Labels,
    rubric: Rubric,
    *,
    others: Mapping[str, Rubric],
    options: TuneOptions,
    only: Collection[OutputKey] | None = None,
    note: Callable[[str], None] = warnings.warn,
) -> TuningSetup:
    """Check the inputs and split the labels, without any call; `only` these outputs are judged."""
    if isinstance(runner.judge.connection.model, RecordedModel):
        raise SettingsError(
            "the judge's replies are recorded, and do not depend on the rubric",
            hint="tune a model that answers: --judge openai/gpt-4.1-mini, or any other",
        )
    if isinstance(labels, str | Path):
        located: Sequence[LocatedLabel] = read_labels(labels, note=note)
    else:
        located = locate_labels(labels)
        if not located:
            raise InputError("there are no labels to tune the judge on")
    every = list(answers)
    places = [output_key(case, output) for case, output in every]
    coverage = cover_outputs(
        places, located, rubric, annotators=options.annotators, uses_whole=False
    )
    candidates = build_candidates(rubric, others, options, runner.judge.template)
    shown = shown_cases((one.rubric for one in candidates), every)
    judged = [at for at, key in enumerate(places) if only is None or key in only]
    chosen = [every[at] for at in judged]
    labelled = join_labelled_outputs(chosen, located, rubric, options, shown=shown)
    split = split_cases(labelled, holdout=options.holdout, seed=options.seed)
    # Examples for every fold are needed, and their lack has to be found before any call is paid.
    for candidate in candidates:
        for fold in split.folds:
            candidate.with_examples(ExamplePool(labelled, seed=options.seed), split.training - fold)
    share = coverage.share([places[at] for at in judged], rubric)
    return TuningSetup(runner, rubric, labelled, split, candidates, options, share)


def plan_tuning(setup: TuningSetup, *, refresh: bool = False) -> TunePlan:
    """The questions of a tuning and their price, without any call."""
    # The examples depend on the judge's errors, which are unknown here, so that other examples are
    # counted: the price is about right, and replies with examples do not count as cached.
    counting = RequestCounter(setup.runner.judge.connection, refresh=refresh, n_exact=200)
    pool = ExamplePool(setup.labels, seed=setup.options.seed)
    training = setup.split.training
    # The chosen candidate is unknown: the one with the longest prompts gives an upper bound.
    longest = max(setup.candidates, key=lambda one: (one.n_examples, one.anchors, not one.is_plain))
    last = longest if longest is not setup.present else setup.candidates[-1]
    gradings = [
        *((one, training - fold, fold) for one in setup.candidates for fold in setup.split.folds),
        *((one, training, setup.split.held_out) for one in (setup.present, last)),
    ]
    for candidate, among, clusters in gradings:
        for ask in setup.asks(candidate, candidate.with_examples(pool, among), clusters):
            for request in setup.runner.requests(ask):
                counting.take(request, estimate_judge_reply_tokens(request, ask.rubric))
    return TunePlan(
        n_candidates=len(setup.candidates),
        n_training=len(training),
        n_held_out=len(setup.split.held_out),
        template=setup.runner.judge.template.id,
        **judge_plan_fields([counting]),
    )


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
    """Improve a rubric's wording, anchors and examples using labels; verify on held-out cases.

    Cases are split in two. The candidate is chosen on one part, where no output is an example for
    itself. The other part is judged only with the present rubric and the chosen candidate, and all
    figures come from that part.

    Args:
        judge: The judge to tune; with a budget the tuning stops when it is spent.
        answers: Cases with their outputs.
        labels: A file of labels, or labels: `case_id`, `raw`, `annotator`, and where needed
            `variant` and `criterion`.
        rubric: The present rubric.
        candidates: Other wordings of it, by name: the same criteria on the same scales.
        options: What is tried, the held-out share, the error rate, the seed.
        template_folders: Folders of your own templates; they take precedence over the shipped one.

    Returns:
        The decision with its figures, and the chosen rubric.

    Raises:
        InputError: When labels, candidates or settings are invalid, or a label is of no output.
            It is raised before the first call, with the place of each such label.
        NotEnoughDataError: When there are too few labels; the message has the missing number.
        StoreError: When the cache cannot store a reply that was paid for.

    Example:
        >>> async def better(judge, answers, rubric):  # doctest: +SKIP
        ...     options = jk.TuneOptions(few_shot=(0, 4), anchors=True)
        ...     result = await jk.tune(judge, answers, "labels.jsonl", rubric, options=options)
        ...     return result.tuned if result.decision == "better" else rubric
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


tune_sync = synchronous(tune)


async def run_tuning(setup: TuningSetup, session: ProbeSession | None = None) -> Tuning:
    """Choose a candidate and compare it with the present rubric on the held-out cases."""
    scorer = _CandidateScorer(setup, session or ProbeSession())
    trained = await _trained(scorer)
    present = setup.present.name
    if present not in trained or scorer.is_stopped:
        return _unfinished(scorer)
    order = rank_candidates(present, trained)
    return await _tested(scorer, trained, order) if order else _unfinished(scorer)


@dataclass(slots=True)
class _CandidateScorer:
    """Grades labelled outputs with candidates, and collects all verdicts."""

    setup: TuningSetup
    session: ProbeSession
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def is_stopped(self) -> bool:
        return self.session.reason is not None or "frozen_miss" in count_failures(self.verdicts)[0]

    async def scored(
        self, candidate: Candidate, rubric: Rubric, clusters: Collection[Hashable]
    ) -> Parts:
        """The labelled items of some clusters with the candidate's scores."""
        asks = self.setup.asks(candidate, rubric, clusters)
        # Equal answers to a case are one question.
        questions = {asked.key: asked for asked in asks}.values()
        answers = await ask_all(self.setup.runner, questions, self.session)
        self.verdicts += [one for one in answers.values() if isinstance(one, Verdict)]
        raws: defaultdict[tuple[OutputKey, str], list[float]] = defaultdict(list)
        for asked in asks:
            verdict = answers.get(asked.key)
            for judgment in verdict.judgments if isinstance(verdict, Verdict) else ():
                raws[output_key(asked.case, asked.output), judgment.criterion].append(judgment.raw)
        # Repeats are averaged before the loss, as they are when a rubric is used.
        scores = {key: fsum(values) / len(values) for key, values in raws.items()}
        criteria = self.setup.labels.criteria
        parts = [part.where(lambda item: item.cluster in clusters) for part in criteria]
        return attach_scores(parts, scores)


async def _trained(scorer: _CandidateScorer) -> dict[str, Parts]:
    setup = scorer.setup
    training = setup.split.training
    # Plain candidates come first, because their errors determine the examples of the others.
    plain = [one for one in setup.candidates if one.is_plain]
    scored = await gather_in_order([scorer.scored(one, one.rubric, training) for one in plain])
    trained = {one.name: parts for one, parts in zip(plain, scored, strict=True)}
    showing = [one for one in setup.candidates if not one.is_plain]
    if scorer.is_stopped or not any(part.both for part in trained[setup.present.name]):
        return {}
    jobs = [
        scorer.scored(
            one, one.with_examples(_example_pool(setup, one, trained), training - fold), fold
        )
        for one in showing
        for fold in setup.split.folds
    ]
    # Results are in the order of the jobs: fold by fold of each candidate.
    by_fold = iter(await gather_in_order(jobs))
    for one in showing:
        folds = [next(by_fold) for _ in setup.split.folds]
        trained[one.name] = tuple(
            replace(parts[0], items=tuple(item for part in parts for item in part.items))
            for parts in zip(*folds, strict=True)
        )
    return {one.name: trained[one.name] for one in setup.candidates}


def _example_pool(
    setup: TuningSetup, candidate: Candidate, trained: Mapping[str, Parts]
) -> ExamplePool:
    """Labelled outputs with the errors of the candidate's wording, else of the present one."""
    known = trained.get(candidate.wording, trained[setup.present.name])
    mistakes = {key: sqrt(loss) for key, loss in squared_losses(known).items() if not isnan(loss)}
    return ExamplePool(setup.labels, mistakes, setup.options.seed)


async def _tested(
    scorer: _CandidateScorer, trained: Mapping[str, Parts], order: Sequence[str]
) -> Tuning:
    setup, level = scorer.setup, 1 - scorer.setup.options.alpha
    chosen = next(one for one in setup.candidates if one.name == order[0])
    # Only the chosen candidate sees these cases: comparing several would be a second choice, and
    # its figures would be optimistic.
    held_out = setup.split.held_out
    tuned = chosen.with_examples(_example_pool(setup, chosen, trained), setup.split.training)
    jobs = [scorer.scored(setup.present, setup.rubric, held_out)]
    if chosen is not setup.present:
        jobs.append(scorer.scored(chosen, tuned, held_out))
    scored = await gather_in_order(jobs)
    if scorer.is_stopped:
        return _unfinished(scorer)
    result = _unfinished(scorer, trained, order)
    present = held_out_result(setup.present.name, scored[0], level=level)
    if chosen is setup.present:
        return replace(result, decision="none_better", present_held_out=present)
    try:
        contrast = held_out_contrast(scored[0], scored[1], level=level)
    except NotEnoughDataError:  # no held-out item has answers of both
        return _unfinished(scorer)
    decision = decide_tuning(contrast)
    # The training cases are listed, because the rubric's figures are optimistic on them.
    provenance: JsonObject = {
        "candidate": chosen.name,
        "decision": decision,
        "n_tried": len(setup.candidates),
        "judge": setup.runner.judge.id,
        "from": setup.rubric.fingerprint,
        "seed": setup.options.seed,
        "training_cases": list(result.training_cases),
    }
    return replace(
        result,
        decision=decision,
        chosen=chosen.name,
        tuned=tuned.model_copy(update={"metadata": {**tuned.metadata, "tuned": provenance}}),
        template=chosen.template,
        present_held_out=present,
        chosen_held_out=held_out_result(chosen.name, scored[1], level=level),
        contrast=contrast,
        changed=changed_scores(scored[0], scored[1]),
    )


def _unfinished(
    scorer: _CandidateScorer, trained: Mapping[str, Parts] | None = None, order: Sequence[str] = ()
) -> Tuning:
    setup, trained = scorer.setup, trained or {}
    labels, parts = setup.labels, setup.split
    failures, messages = count_failures(scorer.verdicts)
    places = {name: place for place, name in enumerate(order, start=1)}
    return Tuning(
        rubric=setup.rubric.name,
        rubric_fingerprint=setup.rubric.fingerprint,
        judge=setup.runner.judge.id,
        decision="incomplete",
        chosen=None,
        tuned=None,
        template=None,
        present_held_out=None,
        chosen_held_out=None,
        contrast=None,
        tried=tuple(
            TriedCandidate(
                name=one.name,
                place=places.get(one.name),
                n_failed=sum(map(isnan, squared_losses(trained[one.name]).values()))
                if one.name in trained
                else None,
            )
            for one in setup.candidates
        ),
        training_cases=labels.cases_of(parts.training),
        held_out_cases=labels.cases_of(parts.held_out),
        n_labels=labels.n_labels,
        n_unused=labels.n_unused,
        n_examples=labels.n_examples,
        seed=setup.options.seed,
        level=1 - setup.options.alpha,
        spent=total_spent(scorer.verdicts),
        failures=failures,
        failure_messages=messages,
        reason=scorer.session.reason or ("frozen" if "frozen_miss" in failures else None),
    )
