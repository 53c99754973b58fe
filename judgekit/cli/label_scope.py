"""Matches labels with outputs or pairs, so that a judge is called for labelled items only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from judgekit.calibration import OutputKey, cover_outputs, cover_pairs, pair_key
from judgekit.cli import console
from judgekit.cli.sides import no_common_case_error, pairing_of
from judgekit.evaluation import Pairing
from judgekit.models import RecordedModel
from judgekit.report import labelled_share_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.calibration import LabelledShare
    from judgekit.cli.options import LabelledStudyOptions, LabelOptions
    from judgekit.cli.setup import GradeSetup
    from judgekit.datasets import LocatedLabel
    from judgekit.evaluation import OutputPair, QuestionChoice, Side
    from judgekit.judge import Judge, JudgeQuestion
    from judgekit.records import Rubric


def labelled_setup(
    setup: GradeSetup,
    located: Sequence[LocatedLabel],
    options: LabelOptions,
    *,
    judges_all: bool,
) -> tuple[GradeSetup, LabelledShare]:
    """Match labels with outputs; the set-up for the labelled ones, and their share."""
    judge, rubric, answers = setup.judge, setup.rubric, setup.every_answer()
    places = {OutputKey(case.id, output.variant): case for case, output in answers}
    coverage = cover_outputs(places, located, rubric, annotators=options.annotator)
    asks_all = judge.template.header.asks == "all"
    rubrics = {key[:2]: own for key, own in coverage.rubrics(rubric, asks_all=asks_all).items()}

    def n_calls(*parts: Rubric) -> int:
        return judge.grader.repeats * sum(1 if asks_all else len(one.criteria) for one in parts)

    chosen = [key for key, case in places.items() if setup.is_wanted(case)]
    # The system under test failed there, and a judge is not called.
    errors = {(case.id, output.variant) for case, output in answers if output.error is not None}
    asked = [key[:2] for key in chosen if key[:2] not in errors]
    share = coverage.share(
        chosen,
        rubric,
        n_calls=n_calls(*[rubric] * len(asked)),
        n_labelled_calls=n_calls(*(rubrics[key] for key in asked if key in rubrics)),
    )
    # Recorded replies cost nothing, and judgments of the other outputs sharpen the figures.
    if judges_all or is_recorded(judge):
        return setup, share
    return replace(setup, rubrics=rubrics), share


def is_recorded(judge: Judge) -> bool:
    """Whether a judge's replies are in a file, so that they cost nothing."""
    return isinstance(judge.connection.model, RecordedModel)


def note_share(share: LabelledShare, *, judges_all: bool) -> None:
    """Report what the calls are for, before they are made."""
    n_other = (share.n_calls or 0) - (share.n_labelled_calls or 0)
    more = ""
    if n_other:
        more = "; only these are made; --all makes the others too, which the corrected rate needs"
        more = "; the others are made too (--all)" if judges_all else more
    console.note(f"labels {labelled_share_words(share)}{more}")


def labelled_pairs(
    sides: tuple[Side, Side],
    asked: tuple[Judge, Rubric],
    located: Sequence[LocatedLabel],
    options: LabelledStudyOptions,
    *,
    judges_all: bool,
) -> tuple[Pairing, QuestionChoice, LabelledShare]:
    """Match labels with pairs; what is asked about which, and the share of the labels."""
    judge, rubric = asked
    every = Pairing(*sides)
    cases = {_pair_key(pair): pair.case for pair in every.pairs()}
    if not cases:
        raise no_common_case_error()
    coverage = cover_pairs(cases, located, rubric, annotators=options.annotator)
    tags = frozenset(options.filter_tag)
    chosen = [key for key, case in cases.items() if not tags or tags & set(case.tags)]
    comparer = judge.comparer
    # What is asked about a pair does not depend on its texts, so that one pair is rendered for all.
    questions: list[JudgeQuestion] = []
    n_calls = n_labelled_calls = 0
    for pair in Pairing(*sides, tags=tags).pairs():
        blind = comparer.blind_pair(pair.a, pair.b, every.names)
        if blind.is_identical or pair.a.error is not None or pair.b.error is not None:
            continue
        questions = questions or comparer.questions(pair.case, blind, rubric)
        n_calls += len(questions)
        n_labelled_calls += len(coverage.questions(pair, questions))
    share = coverage.share(
        chosen, rubric, unit="pair", n_calls=n_calls, n_labelled_calls=n_labelled_calls
    )
    if judges_all or is_recorded(judge):
        return pairing_of(sides, options), lambda _, every_one: [*every_one], share
    labelled = pairing_of(
        sides, options, is_wanted=lambda pair: _pair_key(pair) in coverage.criteria
    )
    return labelled, coverage.questions, share


def _pair_key(pair: OutputPair) -> OutputKey:
    return pair_key(pair.case.id, pair.a.variant, pair.b.variant)
