"""Shows the pairs of blind comparisons and rankings: a line in a terminal, a case on a page.

Answers of two runs are in `store_documents`, single judged outputs in `item_cases`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING

from judgekit.evaluation import OutputPair, counted_pairs
from judgekit.judge import prepare_pair
from judgekit.prompts import WITHHELD_NAME
from judgekit.records import WINNER_POINTS, Preference, preferred_output
from judgekit.report import message
from judgekit.report.case_table import (
    NO_REPLIES,
    CaseTableBuilder,
    CellState,
    GridCell,
    Opinions,
    number_images,
    opinion_group,
    shown_output,
    utf16_offset,
)

if TYPE_CHECKING:
    from judgekit.records import (
        ComparedPair,
        Comparison,
        ComparisonAnalysis,
        ComparisonInfo,
        PairAnswer,
        PreferenceFailure,
        PresentationOrder,
        Winner,
    )
    from judgekit.report.case_table import JudgeReplies
    from judgekit.report.document import CaseTable, PageJson
    from judgekit.store import StoredComparisons

    _Meeting = tuple[Comparison, OutputPair | None]

PAIR_STATES = {
    "error": CellState("no output", "!", "error", 0),
    "open": CellState("undecided", "?", "inconclusive", 1),
    "flip": CellState("flip", "≠", "inconclusive", 2),
    "a": CellState("A wins", "◂", "neutral", 3),
    "b": CellState("B wins", "▸", "neutral", 3),
    "tie": CellState("tie", "=", "neutral", 4),
}
"""What a comparison, or one order of it, can say."""

PAIR_FILTERS = {
    "a": "A won",
    "b": "B won",
    "tie": "Tied",
    "flip": "Flipped",
    "open": "Undecided",
    "error": "Error",
}

_ORDERS: tuple[PresentationOrder, PresentationOrder] = ("ab", "ba")
_MAX_LENGTH = 220
_WINNERS = {"a": "A", "b": "B", "tie": "tie", None: "open"}


def comparison_lines(comparison: Comparison) -> str:
    """One comparison: the case, the winner, and the judge's rationale in each order."""
    conflict = "  (the two orders conflict)" if comparison.consistent is False else ""
    case = message.printable(comparison.case_id or "?")
    lines = [f"{_WINNERS[comparison.winner]:<5} {case}{conflict}"]
    if comparison.error is not None:
        lines.append(f"      no output: {message.one_line(comparison.error, _MAX_LENGTH)}")
    names = short_judge_names(one.judge for one in comparison.judges)
    if names:
        votes = [f"{names[one.judge]} {_WINNERS[one.winner]}" for one in comparison.judges]
        lines.append(f"      votes: {'; '.join(votes)}")

    def subject(answer: PairAnswer) -> str:
        criterion = message.printable(answer.criterion or "overall")
        judge = f"{names[answer.judge]}, " if names else ""
        return f"{judge}{criterion}, {answer.order.upper()}"

    for one in comparison.preferences:
        why = message.printable(one.rationale, _MAX_LENGTH)
        lines.append(f"      {subject(one)}: {one.choice}  {why}")
    for failure in comparison.failures:
        why = message.one_line(failure.message, _MAX_LENGTH)
        lines.append(f"      {subject(failure)}: {failure.kind}  {why}")
    return "\n".join(lines)


def short_judge_names(judges: Iterable[str]) -> dict[str, str]:
    """The model of each judge, and the template too where two judges share a model."""
    names = {judge: message.without_folders(judge) for judge in judges}
    models = {judge: name.rpartition(" ")[0] or name for judge, name in names.items()}
    n_of = Counter(models.values())
    return {
        judge: message.printable(model if n_of[model] == 1 else names[judge].partition("@")[0])
        for judge, model in models.items()
    }


def comparison_cases(
    store: StoredComparisons, info: ComparisonInfo, replies: JudgeReplies | None = None
) -> CaseTable:
    """The pairs of a stored comparison: the choice in each order, and what follows."""
    return pair_table(info, counted_pairs(store, info), store.analyses(info.id), replies)


def pair_table(
    info: ComparisonInfo,
    pairs: Iterable[tuple[ComparedPair, Comparison]],
    analyses: Mapping[int, ComparisonAnalysis],
    replies: JudgeReplies | None = None,
) -> CaseTable:
    """The pairs of a comparison with what follows from the choices about each."""
    columns = ("A first", "B first", "result")
    omitted = NO_REPLIES if replies is None else {}
    builder = CaseTableBuilder("comparison", columns, PAIR_STATES, PAIR_FILTERS, omitted=omitted)
    for pair, found in pairs:
        outputs = OutputPair(pair.case, pair.a, pair.b, pair.repeat)
        opinions = Opinions(replies)
        view = PairView(found, outputs, opinions, names=info.names)
        builder.add(
            pair.case,
            [*(_order_cell(found, order) for order in _ORDERS), _result_cell(found)],
            {
                # Quotes are numbered before their places are marked.
                "opinions": [*view.groups()],
                "answers": view.outputs(f"A: {info.a.label}", f"B: {info.b.label}"),
                "exchanges": opinions.exchanges,
                "points": _analysis_points(analyses.get(pair.place)),
            },
            name=message.with_repeat(pair.case.id, pair.repeat),
            filters=_pair_filters(found),
        )
    return builder.table()


def _pair_filters(found: Comparison) -> list[str]:
    if found.error is not None:
        return ["error"]
    wanted = ["flip"] if found.consistent is False else []
    if found.winner is None:
        return [*wanted, "open"]
    # A tie because the orders disagree is no tie of the outputs.
    return wanted if wanted and found.winner == "tie" else [*wanted, found.winner]


def _result_cell(found: Comparison) -> GridCell:
    if found.error is not None:
        return GridCell("error")
    if found.consistent is False and found.winner in {"tie", None}:
        return GridCell("flip")
    return GridCell(found.winner or "open")


def _order_cell(found: Comparison, order: PresentationOrder) -> GridCell:
    """What was chosen in one order: overall, or where that was not asked, by criterion."""
    if found.error is not None:
        return GridCell("error")
    if found.is_identical:
        return GridCell("tie", text="identical")
    own = [one for one in found.preferences if one.order == order]
    chosen = [one for one in own if one.criterion is None] or own
    votes = Counter(preferred_output(one.choice, one.order) for one in chosen)
    if not votes:
        return GridCell("open")
    if len(votes) == 1:
        return GridCell(next(iter(votes)))
    # Several judges, repeats or criteria, of which none speaks for all.
    words = ", ".join(f"{_WINNERS[side]} {votes[side]}" for side in WINNER_POINTS if votes[side])
    return GridCell("open", text=words)


class PairView:
    """Two outputs as the judge saw them, with its choices in each order.

    Without `pair` there are no outputs: a file of comparisons has none.
    """

    def __init__(
        self,
        found: Comparison,
        pair: OutputPair | None,
        opinions: Opinions,
        *,
        names: Iterable[str] = (),
        labels: tuple[str, str] = ("A", "B"),
    ) -> None:
        self._found, self._pair, self._opinions, self._labels = found, pair, opinions, labels
        self._texts = ("", "")
        if pair is not None:
            # Evidence refers to the texts without the names that would give a side away.
            scrubs = found.scrubbed is not None
            self._texts = prepare_pair(pair.a, pair.b, names, scrubs=scrubs).texts

    def outputs(self, *names: str) -> list[PageJson]:
        """Both outputs, with the evidence of `groups`, and where names were removed."""
        if self._pair is None:
            return []
        shown = []
        for side, output in enumerate((self._pair.a, self._pair.b)):
            text = self._texts[side]
            quotes = self._opinions.marks(text, self._source(side))
            marks = (*quotes, *self._scrubbed(side, text))
            named = number_images(text, output.images)
            shown.append(
                shown_output(
                    side, names[side], named, images=output.images, error=output.error, marks=marks
                )
            )
        return shown

    def _source(self, side: int) -> object:
        # Which names are hidden differs from pair to pair, and quotes fit the text they are from.
        return self._labels[side], self._texts[side]

    def _scrubbed(self, side: int, text: str) -> Iterator[PageJson]:
        moved = 0
        for one in self._found.scrubbed or ():
            if one.side != "ab"[side]:
                continue
            # Places are of the unchanged text, which the words that stand for a name have moved.
            start = one.start + moved
            end = start + len(WITHHELD_NAME)
            moved += len(WITHHELD_NAME) - (one.end - one.start)
            yield {
                "start": utf16_offset(text, start),
                "end": utf16_offset(text, end),
                "no": 0,
                "exact": True,
                "note": f"hidden from the judge: {message.printable(one.text)}",
            }

    def groups(self) -> Iterator[PageJson]:
        """The choices by criterion, those about the whole first."""
        found = self._found
        results = {None: (found.winner, found.consistent)} | {
            one.name: (one.winner, one.consistent) for one in found.criteria
        }
        answers: list[Preference | PreferenceFailure] = [*found.preferences, *found.failures]
        answers.sort(key=lambda one: one.order)
        for name, (winner, consistent) in results.items():
            rows = [self._row(one) for one in answers if one.criterion == name]
            if rows or name is None:
                result = self._result(winner, consistent=consistent)
                yield opinion_group(name or "overall", rows, result)

    def _result(self, winner: Winner | None, *, consistent: bool | None) -> str:
        if self._found.error is not None:
            return self._found.error
        if self._found.is_identical:
            return "identical outputs: a tie without a call"
        words = "undecided" if winner is None else self._words(winner)
        return f"{words}; the two orders disagree" if consistent is False else words

    def _words(self, side: Winner) -> str:
        a, b = self._labels
        return {"a": f"{a} is preferred", "b": f"{b} is preferred", "tie": "tie"}[side]

    def _row(self, one: Preference | PreferenceFailure) -> PageJson:
        first = _ORDERS.index(one.order)
        who = f"{self._labels[first]} shown first"
        if not isinstance(one, Preference):
            words = f"no choice: {message.failure_words(one.kind)}"
            return self._opinions.of(one, words, who=who, tone="inconclusive")
        facts = []
        if one.raw_first is not None and one.raw_second is not None:
            facts.append(f"scores {one.raw_first:g} (first) and {one.raw_second:g} (second)")
        quotes = [
            quote
            for side, pieces in ((first, one.evidence_first), (1 - first, one.evidence_second))
            for quote in self._opinions.quotes(pieces, self._source(side), self._labels[side])
        ]
        slot = "" if one.choice == "tie" else f" (shown {one.choice})"
        words = f"{self._words(preferred_output(one.choice, one.order))}{slot}"
        return self._opinions.of(one, words, who=who, quotes=quotes, facts=facts)


def _analysis_points(analysis: ComparisonAnalysis | None) -> list[PageJson]:
    """Why an output lost, and what would improve it."""
    if analysis is None:
        return []
    winner, loser = ("A", "B") if analysis.winner == "a" else ("B", "A")
    parts = (
        (f"Strengths of {winner}", analysis.strengths),
        (f"Weaknesses of {loser}", analysis.weaknesses),
    )
    shown: list[PageJson] = [
        {"title": title, "points": [{"text": one.text, "quote": one.quote} for one in points]}
        for title, points in parts
        if points
    ]
    changes = [
        {"text": f"{one.area}: {one.reasoning}", "before": one.before, "after": one.after}
        for one in analysis.suggestions
    ]
    return [*shown, {"title": f"Suggestions for {loser}", "points": changes}] if changes else shown


RANK_STATES = {
    "open": CellState("undecided", "?", "inconclusive", 0),
    "lost": CellState("lost more than it won", "▼", "worse", 1),
    "even": CellState("won as often as it lost", "=", "neutral", 2),
    "won": CellState("won more than it lost", "▲", "better", 3),
}
"""What a variant did on a case."""

RANK_FILTERS = {"flip": "Flipped", "open": "Undecided", "error": "Error"}
_HALF = 0.5


class RankingCases:
    """Collects the comparisons of a ranking by their cases."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = tuple(names)
        self._cases: defaultdict[str, list[_Meeting]] = defaultdict(list)

    def take(self, found: Comparison, pair: OutputPair | None = None) -> None:
        """Add a comparison; one that was read from a file has no outputs."""
        self._cases[found.case_id or "?"].append((found, pair))

    def table(self, variants: Sequence[str]) -> CaseTable:
        """A row for each case, a column for each variant in the order given."""
        builder = CaseTableBuilder("ranking", variants, RANK_STATES, RANK_FILTERS)
        for case_id, meetings in self._cases.items():
            found = [one for one, _ in meetings]
            filters = {name for one in found for name in _pair_filters(one)}
            builder.add(
                next((pair.case for _, pair in meetings if pair is not None), None),
                [_rank_cell(name, found) for name in variants],
                self._views(meetings, variants),
                name=case_id,
                filters=filters & RANK_FILTERS.keys(),
            )
        return builder.table()

    def _views(self, meetings: Sequence[_Meeting], variants: Sequence[str]) -> PageJson:
        """The outputs once each, and the choices of every pair."""
        opinions = Opinions()
        groups: list[PageJson] = []
        views = []
        for found, pair in meetings:
            labels = (found.variant_a or "", found.variant_b or "")
            view = PairView(found, pair, opinions, names=self._names, labels=labels)
            names = " and ".join(labels)
            groups += [{**one, "title": f"{names}: {one['title']}"} for one in view.groups()]
            views.append((labels, view))
        outputs: dict[str, PageJson] = {}
        for labels, view in views:
            for label, shown in zip(labels, view.outputs(*labels), strict=False):
                outputs.setdefault(label, shown | {"column": variants.index(label)})
        return {
            "opinions": groups,
            "answers": [outputs[name] for name in variants if name in outputs],
        }


def _rank_cell(name: str, found: Sequence[Comparison]) -> GridCell | None:
    """The share of wins of a variant on a case."""
    own = [one for one in found if name in {one.variant_a, one.variant_b}]
    if not own:
        return None
    # Points are those of side a, and a variant can be on either side.
    points = [
        WINNER_POINTS[one.winner] if one.variant_a == name else 1 - WINNER_POINTS[one.winner]
        for one in own
        if one.winner is not None
    ]
    if not points:
        return GridCell("open")
    share = fsum(points) / len(points)
    state = "won" if share > _HALF else "lost" if share < _HALF else "even"
    return GridCell(state, share)
