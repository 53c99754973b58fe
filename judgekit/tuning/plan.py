"""Prepares and checks a tuning before any call, and estimates its questions and price.

`search` runs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.bias_audit import GradeProbe, ProbeRunner
from judgekit.datasets import locate_labels, read_labels
from judgekit.errors import InputError, SettingsError
from judgekit.evaluation import RequestCounter, estimate_judge_reply_tokens
from judgekit.judge import select_criteria
from judgekit.models import RecordedModel
from judgekit.tuning.candidates import ExamplePool, build_candidates
from judgekit.tuning.inputs import join_labelled_outputs, split_cases

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

    from pydantic import JsonValue

    from judgekit.datasets import LocatedLabel
    from judgekit.records import Case, Label, Output, Rubric
    from judgekit.tuning.candidates import Candidate
    from judgekit.tuning.inputs import LabelledOutputs, Split, TuneOptions

    Labels = Path | str | Iterable[Label | Mapping[str, JsonValue]]


@dataclass(frozen=True)
class TuningSetup:
    """Everything a tuning needs.

    Attributes:
        candidates: What is tried, the present rubric first.
    """

    runner: ProbeRunner
    rubric: Rubric
    labels: LabelledOutputs
    split: Split
    candidates: tuple[Candidate, ...]
    options: TuneOptions

    @cached_property
    def n_gradings(self) -> int:
        """Gradings, if another candidate than the present rubric is chosen."""
        training = sum(len(self.asks(c, c.rubric, self.split.training)) for c in self.candidates)
        return training + 2 * len(self.asks(self.present, self.rubric, self.split.held_out))

    @property
    def present(self) -> Candidate:
        """The present rubric."""
        return self.candidates[0]

    def asks(
        self, candidate: Candidate, rubric: Rubric, clusters: Collection[Hashable]
    ) -> list[GradeProbe]:
        """The gradings of all labelled outputs of some clusters."""
        # Without a joint question, only the labelled criteria of an output are asked and paid for.
        names: dict[object, set[str]] = {}
        for item in self.labels.items:
            if item.cluster in clusters:
                names.setdefault(item.place, set()).add(item.criterion)
        asks_all = self.runner.judge.template.header.asks == "all" and candidate.template is None
        parts: dict[frozenset[str], Rubric] = {}
        probes = []
        for place, (case, output) in self.labels.answers.items():
            if place not in names:
                continue
            wanted = frozenset(names[place])
            if wanted not in parts:
                parts[wanted] = rubric if asks_all else select_criteria(rubric, wanted)
            probes.append(GradeProbe(case=case, output=output, rubric=parts[wanted],
                                     template=candidate.template))  # fmt: skip
        return probes


@dataclass(frozen=True, slots=True, kw_only=True)
class TunePlan:
    """The questions of a tuning and their price.

    Attributes:
        n_candidates: Candidates, including the present rubric.
        n_questions: Questions; equal ones count once.
        n_owned: Replies that are already cached.
        n_calls: Calls, if every reply can be parsed at the first attempt.
        price_usd: The likely price; None if unknown.
    """

    model: str
    n_candidates: int
    n_training: int
    n_held_out: int
    n_questions: int
    n_owned: int
    n_calls: int
    price_usd: float | None


def prepare_tuning(
    runner: ProbeRunner,
    answers: Iterable[tuple[Case, Output]],
    labels: Labels,
    rubric: Rubric,
    *,
    others: Mapping[str, Rubric],
    options: TuneOptions,
) -> TuningSetup:
    """Check the inputs and split the labels, without any call."""
    if isinstance(runner.judge.connection.model, RecordedModel):
        raise SettingsError(
            "the judge's replies are recorded, and do not depend on the rubric",
            hint="tune a model that answers: --judge openai/gpt-4.1-mini, or any other",
        )
    if isinstance(labels, str | Path):
        located: Sequence[LocatedLabel] = read_labels(labels)
    else:
        located = locate_labels(labels)
        if not located:
            raise InputError("there are no labels to tune the judge on")
    candidates = build_candidates(rubric, others, options, runner.judge.template)
    shown = {e.case_id for c in candidates for part in c.rubric.criteria for e in part.examples}
    known = {case_id for case_id in shown if case_id is not None}
    labelled = join_labelled_outputs(answers, located, rubric, options, shown=known)
    split = split_cases(labelled, holdout=options.holdout, seed=options.seed)
    # Examples for every fold are needed, and their lack has to be found before any call is paid.
    for candidate in candidates:
        for fold in split.folds:
            candidate.with_examples(ExamplePool(labelled, seed=options.seed), split.training - fold)
    return TuningSetup(runner, rubric, labelled, split, candidates, options)


def plan_tuning(setup: TuningSetup, *, refresh: bool = False) -> TunePlan:
    """The questions of a tuning and their price, without any call."""
    # The examples depend on the judge's errors, which are unknown here, so that other examples are
    # counted: the price is about right, and replies with examples do not count as cached.
    counting = RequestCounter(setup.runner.judge.connection, refresh=refresh, n_exact=200)
    pool = ExamplePool(setup.labels, seed=setup.options.seed)
    training = setup.split.training

    def count(
        candidate: Candidate, among: Collection[Hashable], asked_of: Collection[Hashable]
    ) -> None:
        rubric = candidate.with_examples(pool, among)
        for ask in setup.asks(candidate, rubric, asked_of):
            for request in setup.runner.requests(ask):
                counting.take(request, estimate_judge_reply_tokens(request, ask.rubric))

    for candidate in setup.candidates:
        for fold in setup.split.folds:
            count(candidate, training - fold, fold)
    # The chosen candidate is unknown: the one with the longest prompts gives an upper bound.
    longest = max(setup.candidates, key=lambda one: (one.n_examples, one.anchors, not one.is_plain))
    last = longest if longest is not setup.present else setup.candidates[-1]
    for candidate in (setup.present, last):
        count(candidate, training, setup.split.held_out)
    return TunePlan(
        model=setup.runner.judge.connection.name,
        n_candidates=len(setup.candidates),
        n_training=len(training),
        n_held_out=len(setup.split.held_out),
        n_questions=counting.n_questions,
        n_owned=counting.n_owned,
        n_calls=counting.n_calls,
        price_usd=counting.likely().price_usd,
    )
