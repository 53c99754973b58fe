"""The documents of stored comparisons, and of two variants of stored runs side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import groupby, zip_longest
from math import fsum
from typing import TYPE_CHECKING

from judgekit.errors import NotComparableError, NotEnoughDataError
from judgekit.evaluation import (
    approvals_resting_on,
    case_content,
    compare_measures,
    compare_stored_scores,
    conclude_result,
    judging_of_run,
    last_tries,
    new_score_comparison,
    summarize_comparison,
)
from judgekit.prompts import judged_text
from judgekit.records import ComparisonInfo, RunInfo, ScoreComparisonInfo
from judgekit.report import message, numbers
from judgekit.report.answers import answer_entry
from judgekit.report.case_table import (
    NO_REPLIES,
    CaseTableBuilder,
    CellState,
    GridCell,
    filter_counts,
)
from judgekit.report.comparison import comparison_document, score_comparison_document
from judgekit.report.document import Conclusion, Document, Entries, Entry, Lines, Notes, not_empty
from judgekit.report.listings import comparison_json, comparison_setup, score_comparison_setup
from judgekit.report.pair_cases import comparison_cases
from judgekit.report.run_cases import RUN_STATES, answer_state, shared_state, shown_answer

if TYPE_CHECKING:
    from judgekit.evaluation import ComparedScores, Outcome, ScoreComparison
    from judgekit.report.case_table import JudgeReplies
    from judgekit.report.document import Block, CaseTable, Tone
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

_MOST_CHANGED = 20
_MOST_REASONS = 4


def stored_comparison_document(
    store: RunStore,
    info: ComparisonInfo | ScoreComparisonInfo,
    replies: JudgeReplies | None = None,
    *,
    has_page: bool,
) -> Document:
    """The result of a stored comparison with what was compared; of a page also all its cases."""
    if isinstance(info, ScoreComparisonInfo):
        found = compare_stored_scores(store, info)
        table = None
        if has_page:
            variants = (info.a.variant or "", info.b.variant or "")
            table = score_comparison_cases(store, found, variants, info.tags, replies)
        document = score_comparison_document(found.result, table)
        return _with_setup(store, document, info, score_comparison_setup(info))
    cases = comparison_cases(store, info, replies) if has_page else None
    document = comparison_document(summarize_comparison(store, info), cases)
    return _with_setup(store, document, info, comparison_setup(info))


def _with_setup(
    store: RunStore, document: Document, info: ComparisonInfo | ScoreComparisonInfo, setup: Lines
) -> Document:
    """The result of a comparison with what was compared, and the approvals that rest on it."""
    resting = approvals_resting_on(store, (info.id,))
    names = ", ".join(f"{one.id} ({one.variant})" for one in resting)
    about = Lines((*setup.rows, *([("approvals", names)] if names else [])))
    return replace(
        document,
        blocks=(*document.blocks, about),
        # The JSON has the stored record too; the page has only what follows from it.
        data=lambda: {
            "comparison": comparison_json(info),
            "summary": document.data(),
            "approvals": [one.id for one in resting],
        },
    )


def side_by_side_document(
    store: RunStore,
    a: RunVariant,
    b: RunVariant,
    replies: JudgeReplies | None = None,
    *,
    names: tuple[str, str] | None = None,
) -> Document:
    """Two variants of stored runs, case by case: B is what A is compared with."""
    # The paired difference of their scores is shown only where both were measured the same way,
    # else the reason why not; the outputs are shown always.
    info = new_score_comparison(a, b, now=datetime.now(UTC))
    labels = names or (info.a.label, info.b.label)
    try:
        found = compare_stored_scores(store, info, labels)
    except (NotComparableError, NotEnoughDataError) as error:
        return _refused(store, (a, b), labels, error, replies, names)
    cases = score_comparison_cases(store, found, (a[1], b[1]), replies=replies)
    counts = filter_counts(cases)
    document = score_comparison_document(found.result, cases)
    # The id and time of a comparison that is not stored would name nothing.
    return replace(
        document,
        title=f"{labels[0]} and {labels[1]} side by side",
        conclusion=_conclusion(found.result, counts),
        blocks=(_sides_lines((a, b), names), *document.blocks),
        data=lambda: {**asdict(found.result), "cases": counts},
    )


def score_comparison_cases(
    store: RunStore,
    found: ComparedScores,
    variants: tuple[str, str],
    tags: Sequence[str] = (),
    replies: JudgeReplies | None = None,
) -> CaseTable:
    """The cases of a comparison of stored scores."""
    measure, result = found.measure, found.result
    # The runs as the comparison concludes them: by one rubric, on one scale.
    sides = ((measure.a, variants[0]), (measure.b, variants[1]))
    return _side_cases(store, sides, (result.a, result.b), tags=tags, replies=replies)


def _side_cases(
    store: RunStore,
    sides: tuple[RunVariant, RunVariant],
    labels: tuple[str, str],
    *,
    tags: Sequence[str] = (),
    replies: JudgeReplies | None = None,
    is_compared: bool = True,
) -> CaseTable:
    columns = [f"A: {labels[0]}", f"B: {labels[1]}", *(["B - A"] if is_compared else [])]
    filters = {
        key: label for key, label in SIDE_FILTERS.items() if is_compared or key in _TEXT_FILTERS
    }
    omitted = NO_REPLIES if replies is None else {}
    builder = CaseTableBuilder("sides", columns, SIDE_STATES, filters, omitted=omitted)
    changes = _ChangedCases()
    for a, b in _abreast(*(_by_case(store, side, frozenset(tags)) for side in sides)):
        change = _change(a, b)
        changes.take(change, a, b)
        texts = [[judged_text(one.result.output) for one in side] for side in (a, b)]
        wanted = {change.state, *(["changed"] if a and b and texts[0] != texts[1] else [])}
        cells = [_answers_cell(answers, shows_value=is_compared) for answers in (a, b)]
        answers = [
            shown_answer(one, column, replies=replies)
            | {"name": f"{side}: {message.with_repeat(labels[column], one.result.repeat)}"}
            for column, (side, own) in enumerate(zip("AB", (a, b), strict=True))
            for one in own
        ]
        builder.add(
            (b or a)[0].result.case,
            [*cells, *([change] if is_compared else [])],
            {"answers": answers},
            filters=wanted & filters.keys(),
        )
    return builder.table(changes.blocks() if is_compared else ())


class _ChangedCases:
    """The cases that changed most, for readers without the page: a comment, a summary."""

    def __init__(self) -> None:
        self._changed: dict[str, list[tuple[float, Entry]]] = {"worse": [], "better": []}
        self._n = Counter[str]()

    def take(self, change: GridCell, a: _Answers, b: _Answers) -> None:
        before, after = _mean(a), _mean(b)
        if change.state not in self._changed or before is None or after is None:
            return
        figures = f"{numbers.format_decimal(before)} → {numbers.format_decimal(after)}"
        # What is better needs no reason; for what is worse, B's judgments say what went wrong.
        lines = answer_entry(b[-1]).lines[:_MOST_REASONS] if change.state == "worse" else ()
        tone = SIDE_STATES[change.state].tone
        entry = Entry(f"{b[0].result.case.id}: {figures}", lines, change.state, tone)
        found = self._changed[change.state]
        found.append((-abs(after - before), entry))
        self._n[change.state] += 1
        # Large runs have many; sorted at the limit's double, so that few are held.
        if len(found) > 2 * _MOST_CHANGED:
            found.sort(key=lambda row: row[0])
            del found[_MOST_CHANGED:]

    def blocks(self) -> tuple[Block, ...]:
        blocks = []
        for state, found in self._changed.items():
            first = sorted(found, key=lambda row: row[0])[:_MOST_CHANGED]
            n = self._n[state]
            note = "" if n <= _MOST_CHANGED else f"the {_MOST_CHANGED} largest of {n:,} changes"
            entries = tuple(entry for _, entry in first)
            blocks.append(Entries(entries, f"{state.capitalize()} cases", note))
        return not_empty(blocks)


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
        return GridCell("same", 0.0, "0.00")
    return GridCell("better" if gap > 0 else "worse", gap, numbers.format_decimal(gap, "+.2f"))


def _answers_cell(answers: _Answers, *, shows_value: bool) -> GridCell | None:
    if not answers:
        return None
    state = shared_state({answer_state(one) for one in answers})
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
    replies: JudgeReplies | None,
    names: tuple[str, str] | None,
) -> Document:
    """Both outputs without a verdict, and what would make one possible."""
    cases = _side_cases(store, sides, labels, replies=replies, is_compared=False)
    counts = filter_counts(cases)
    reason = error.message
    changed = numbers.format_count(counts["changed"], "case")
    remedy = _remedy(sides[0][0], sides[1][0])
    return Document(
        kind="Comparison of stored scores",
        title=f"{labels[0]} and {labels[1]} side by side",
        conclusion=Conclusion(
            f"No verdict: {reason}. The outputs of {changed} differ.", "inconclusive"
        ),
        blocks=not_empty([
            _sides_lines(sides, names), Notes(remedy, "To compare their scores"), cases
        ]),
        data=lambda: {
            "a": labels[0],
            "b": labels[1],
            "decision": None,
            "reason": reason,
            "remedy": list(remedy),
            "cases": counts,
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


def _sides_lines(
    sides: tuple[RunVariant, RunVariant], names: tuple[str, str] | None = None
) -> Lines:
    rows = []
    for place, (side, (run, variant)) in enumerate(zip("AB", sides, strict=True)):
        name = f"{names[place]}, " if names else ""
        judges = ", ".join(map(message.without_folders, run.panel.judges)) or "nobody"
        rows.append((side, f"{name}{variant} of run {run.id}, judged by {judges}"))
    return Lines(tuple(rows))
