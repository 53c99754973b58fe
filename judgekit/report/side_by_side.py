"""Builds the document of two stored variants side by side: what got worse, and which words changed.

A difference is shown only where both were measured the same way; the outputs are shown always.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import groupby, zip_longest
from math import fsum
from typing import TYPE_CHECKING

from judgekit.errors import NotComparableError, NotEnoughDataError
from judgekit.evaluation import (
    case_content,
    compare_measures,
    compare_stored_scores,
    conclude_result,
    judging_of_run,
    last_tries,
    new_score_comparison,
)
from judgekit.prompts import judged_text, to_text
from judgekit.report import message, numbers
from judgekit.report.case_table import CaseRow, CaseTableBuilder, CellState, GridCell, text_snippet
from judgekit.report.comparison import score_comparison_document
from judgekit.report.document import Conclusion, Document, Lines, Notes, not_empty
from judgekit.report.run_cases import RUN_STATES, answer_state, shown_answer, shown_case

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from judgekit.evaluation import ComparedScores, Outcome, ScoreComparison
    from judgekit.records import RunInfo
    from judgekit.report.document import CaseTable, Tone
    from judgekit.store import RunStore

    RunVariant = tuple[RunInfo, str]
    _Answers = Sequence[Outcome]

_CHANGES = {
    "worse": CellState("B is worse", "▼", "worse", 0),
    "unknown": CellState("not compared", "?", "inconclusive", 1),
    "alone": CellState("in one only", "1", "inconclusive", 2),
    "better": CellState("B is better", "▲", "better", 3),
    "same": CellState("same", "=", "neutral", 4),
}
SIDE_STATES = _CHANGES | {
    # The change orders the rows; what each side got only orders equal changes.
    name: replace(state, rank=state.rank + len(_CHANGES))
    for name, state in RUN_STATES.items()
}
"""What a side got on a case, and what changed between both."""

SIDE_FILTERS = {
    "worse": "Worse",
    "better": "Better",
    "same": "Same",
    "changed": "Text changed",
    "alone": "In one only",
    "unknown": "Not compared",
}
# Without a common measure nothing is worse or better.
_TEXT_FILTERS = ("changed", "alone")

# Values are rounded when they are computed: less than this is no difference.
_SAME = 1e-9


def side_by_side_document(store: RunStore, a: RunVariant, b: RunVariant) -> Document:
    """Two variants of stored runs, case by case: B is what A is compared with.

    Args:
        store: The store of both runs.
        a: A run and one of its variants.
        b: Another run, or the same, and a variant of it.

    Returns:
        The paired difference of their scores with its interval, or the reason why there is none;
        all cases with both outputs.
    """
    info = new_score_comparison(a, b, now=datetime.now(UTC))
    labels = (info.a.label, info.b.label)
    try:
        found = compare_stored_scores(store, info, labels)
    except (NotComparableError, NotEnoughDataError) as error:
        return _refused(store, (a, b), labels, error)
    cases, counts = score_comparison_cases(store, found, (a[1], b[1]))
    document = score_comparison_document(found.result)
    # The id and time of a comparison that is not stored would name nothing.
    return replace(
        document,
        title=f"{labels[0]} and {labels[1]} side by side",
        conclusion=_conclusion(found.result, counts),
        blocks=(_sides_lines((a, b)), *document.blocks, cases),
        data=lambda: {**asdict(found.result), "cases": dict(counts)},
    )


def score_comparison_cases(
    store: RunStore, found: ComparedScores, variants: tuple[str, str], tags: Sequence[str] = ()
) -> tuple[CaseTable, Mapping[str, int]]:
    """The cases of a comparison of stored scores, and how many are worse, better, the same."""
    measure, result = found.measure, found.result
    # The runs as the comparison concludes them: by one rubric, on one scale.
    sides = ((measure.a, variants[0]), (measure.b, variants[1]))
    return _case_table(store, sides, (result.a, result.b), tags=tags)


def _case_table(
    store: RunStore,
    sides: tuple[RunVariant, RunVariant],
    labels: tuple[str, str],
    *,
    tags: Sequence[str] = (),
    is_compared: bool = True,
) -> tuple[CaseTable, Counter[str]]:
    columns = [f"A: {labels[0]}", f"B: {labels[1]}", *(["B - A"] if is_compared else [])]
    filters = {
        key: label for key, label in SIDE_FILTERS.items() if is_compared or key in _TEXT_FILTERS
    }
    builder = CaseTableBuilder("sides", columns, SIDE_STATES, filters)
    counts: Counter[str] = Counter()
    for a, b in _abreast(*(_by_case(store, side, frozenset(tags)) for side in sides)):
        change = _change(a, b)
        wanted = [change.state, *(["changed"] if _has_new_text(a, b) else [])]
        counts.update(wanted)
        cells = [_answers_cell(answers, shows_value=is_compared) for answers in (a, b)]
        case = (b or a)[0].result.case
        answers = [
            {
                **shown_answer(one),
                "column": column,
                "name": f"{side}: {message.with_repeat(labels[column], one.result.repeat)}",
            }
            for column, (side, own) in enumerate(zip("AB", (a, b), strict=True))
            for one in own
        ]
        builder.add(
            CaseRow(
                case_id=case.id,
                snippet=text_snippet(case.name or to_text(case.input)),
                cells=[*cells, *([change] if is_compared else [])],
                full={"id": message.printable(case.id), **shown_case(case), "answers": answers},
                tags=case.tags,
                stratum=case.stratum,
                filters=[key for key in wanted if key in filters],
            )
        )
    return builder.table(), counts


def _by_case(
    store: RunStore, side: RunVariant, tags: frozenset[str]
) -> Iterator[tuple[str, _Answers]]:
    run, variant = side
    results = last_tries(store.results(run.id, variant=variant), run)
    for case_id, group in groupby(results, key=lambda one: one.case.id):
        answers = [conclude_result(one, run) for one in group]
        if not tags or tags & set(answers[0].result.case.tags):
            yield case_id, answers


def _abreast(
    first: Iterator[tuple[str, _Answers]], second: Iterator[tuple[str, _Answers]]
) -> Iterator[tuple[_Answers, _Answers]]:
    """The answers of both sides to each case; of runs in the same order hardly any waits."""
    waiting: tuple[dict[str, _Answers], dict[str, _Answers]] = ({}, {})
    for both in zip_longest(first, second):
        for side, one in enumerate(both):
            if one is None:
                continue
            case_id, answers = one
            other = waiting[1 - side].pop(case_id, None)
            if other is None:
                waiting[side][case_id] = answers
            else:
                yield (other, answers) if side else (answers, other)
    yield from ((answers, ()) for answers in waiting[0].values())
    yield from (((), answers) for answers in waiting[1].values())


def _mean(answers: _Answers) -> float | None:
    values = [one.value for one in answers if one.value is not None]
    return fsum(values) / len(values) if values else None


def _change(a: _Answers, b: _Answers) -> GridCell:
    """What B has other than A."""
    if not a or not b:
        return GridCell("alone", text=f"only in {'B' if b else 'A'}")
    # Another question has another answer.
    if case_content(a[0].result.case) != case_content(b[0].result.case):
        return GridCell("unknown", text="the case was edited")
    before, after = _mean(a), _mean(b)
    if before is None or after is None:
        return GridCell("unknown", text="no value")
    gap = after - before
    if abs(gap) <= _SAME:
        return GridCell("same", text="0.00")
    return GridCell("better" if gap > 0 else "worse", text=numbers.format_decimal(gap, "+.2f"))


def _has_new_text(a: _Answers, b: _Answers) -> bool:
    texts = [[judged_text(one.result.output) for one in side] for side in (a, b)]
    return bool(a and b) and texts[0] != texts[1]


def _answers_cell(answers: _Answers, *, shows_value: bool) -> GridCell | None:
    if not answers:
        return None
    states = {answer_state(one) for one in answers}
    state = states.pop() if len(states) == 1 else "mixed"
    return GridCell(state, _mean(answers) if shows_value else None)


def _conclusion(found: ScoreComparison, counts: Mapping[str, int]) -> Conclusion:
    """Whether B is better, the difference with its interval, and in how many cases."""
    a, b = (message.printable(name, 40) for name in (found.a, found.b))
    cases = ", ".join(
        f"{counts[key]:,} {words}"
        for key, words in (("worse", "worse"), ("better", "better"), ("same", "the same"))
    )
    leading = found.value or found.pass_rate
    if leading is None:
        return Conclusion(f"No decision: {found.decision.reason}.", "inconclusive")
    what = "mean value" if found.value is not None else "pass rate"
    difference = f"{what} {numbers.format_difference(leading.estimate)} (B - A)"
    n = numbers.format_count(leading.estimate.n, "case")
    ending = f"{difference} over {n}: {cases}."
    winner = found.decision.winner
    if winner is not None:
        tone: Tone = "better" if winner == "b" else "worse"
        return Conclusion(f"{b} is {tone} than {a}: {ending}", tone)
    if leading.p is None:
        return Conclusion(f"{b} and {a} have the same scores: {ending}", "neutral")
    return Conclusion(f"No decision between {a} and {b}: {ending}", "inconclusive")


def _refused(
    store: RunStore,
    sides: tuple[RunVariant, RunVariant],
    labels: tuple[str, str],
    error: NotComparableError | NotEnoughDataError,
) -> Document:
    """Both outputs without a verdict, and what would make one possible."""
    cases, counts = _case_table(store, sides, labels, is_compared=False)
    reason = error.message
    changed = numbers.format_count(counts["changed"], "case")
    remedy = _remedy(sides[0][0], sides[1][0])
    return Document(
        title=f"{labels[0]} and {labels[1]} side by side",
        conclusion=Conclusion(
            f"No verdict: {reason}. The outputs of {changed} differ.", "inconclusive"
        ),
        blocks=not_empty([
            _sides_lines(sides), Notes(remedy, "To compare their scores"), cases
        ]),
        data=lambda: {
            "a": labels[0],
            "b": labels[1],
            "decision": None,
            "reason": reason,
            "remedy": list(remedy),
            "cases": {key: counts[key] for key in _TEXT_FILTERS},
        },
    )  # fmt: skip


def _remedy(a: RunInfo, b: RunInfo) -> tuple[str, ...]:
    """How both would be measured the same way."""
    if compare_measures(a, b, apart_from_judges=True).changes:
        return ("Run the suite as it is now for both variants, so that one rubric judges both.",)
    asked = judging_of_run(b)
    if asked is None or not compare_measures(a, b).changes:
        return ()
    models = [judge.model for judge in asked.judges]
    # A panel has no name on the command line.
    judge = models[0] if len(models) == 1 else "MODEL"
    command = f"judgekit rejudge {a.id} --judge {judge}"
    return (f"Judge A again with the judge of B, then compare that run with B: {command}",)


def _sides_lines(sides: tuple[RunVariant, RunVariant]) -> Lines:
    return Lines(
        tuple(
            (
                name,
                f"{variant} of run {run.id}, judged by {', '.join(run.panel.judges) or 'nobody'}",
            )
            for name, (run, variant) in zip("AB", sides, strict=True)
        )
    )
