"""Makes the case tables of judged items: a judge beside human labels, and a judge beside another.

A row is an output; a column is a criterion, or the decision before and now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.calibration import OutputKey, level_of, mean_rating
from judgekit.prompts import judged_text
from judgekit.report import message, numbers
from judgekit.report.case_table import (
    CaseTableBuilder,
    CellState,
    GridCell,
    Opinions,
    opinion,
    opinion_group,
    shown_output,
)
from judgekit.report.run_cases import PASS_STATES, RUN_STATES

if TYPE_CHECKING:
    from judgekit.calibration import AlignedItems, CalibrationReport, Groups, JudgedItem
    from judgekit.records import Case, Judgment, Output
    from judgekit.rejudgment import PairedVerdict
    from judgekit.report.document import Block, CaseTable, PageJson
    from judgekit.store import StoredRuns
    from judgekit.tuning import ChangedScore

ITEM_STATES = {
    "higher": CellState("the judge is higher", "▲", "fail", 0),
    "lower": CellState("the judge is lower", "▼", "fail", 0),
    "other": CellState("judge and humans differ", "≠", "fail", 0),
    "none": CellState("no judgment", "?", "inconclusive", 1),
    "next": CellState("to label next", "+", "inconclusive", 2),
    "agree": CellState("judge and humans agree", "✓", "pass", 3),
}
"""How a judge's score and the human labels of an item compare."""

ITEM_FILTERS = {
    "disagree": "Disagree",
    "higher": "Judge higher",
    "lower": "Judge lower",
    "people": "Annotators disagree",
    "next": "Label next",
}

# On a scale without levels nearly no two scores are equal: this share of it is a disagreement.
_APART = 0.1


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """What is known of a judged output beside its scores."""

    case: Case | None = None
    outputs: Sequence[Output] = ()
    """The output, or both outputs of a pair."""

    judgments: Sequence[Judgment] = ()

    def shown_outputs(self, place: OutputKey, opinions: Opinions | None = None) -> list[PageJson]:
        """The outputs, with the evidence of the judgments."""
        shown = []
        for column, one in enumerate(self.outputs):
            text, name = judged_text(one), one.variant or place.variant or "output"
            marks = () if opinions is None else opinions.marks(text)
            shown.append(
                shown_output(column, name, text, images=one.images, error=one.error, marks=marks)
            )
        return shown


KnownAnswers = Iterable[tuple[OutputKey, KnownAnswer]]
"""Judged outputs as they are read: only those that are shown are held."""


def stored_answers(store: StoredRuns, run_id: str) -> Iterator[tuple[OutputKey, KnownAnswer]]:
    """The answers of a run, with their judgments."""
    for result in store.results(run_id):
        place = OutputKey(result.case.id, result.variant, result.repeat)
        yield place, KnownAnswer(result.case, (result.output,), result.judgments)


_DISAGREEING = frozenset({"higher", "lower", "other"})


def calibration_cases(
    report: CalibrationReport, answers: KnownAnswers, summary: tuple[Block, ...] = ()
) -> CaseTable:
    """The labelled items of a calibration, and the items to label next."""
    # `answers` has the outputs of items as far as they are known.
    parts = [part for part in report.aligned.values() if part.items or part.unlabelled]
    builder = CaseTableBuilder("items", [_title(part) for part in parts], ITEM_STATES, ITEM_FILTERS)
    reasons = {
        (OutputKey(one.case_id, one.variant, one.repeat), one.criterion): one.why
        for one in report.suggestions
    }
    suggested = {place for place, _ in reasons}
    items: dict[OutputKey, dict[str, JudgedItem]] = {}
    for part in parts:
        # Of the many items without a label only those that are worth one are shown.
        new = [item for item in part.unlabelled if item.place in suggested]
        for item in (*part.items, *new):
            items.setdefault(item.place, {})[part.name] = item
    known = {place: answer for place, answer in answers if place in items}
    for place in sorted(items, key=lambda one: one.rank):
        own = [(part, items[place].get(part.name)) for part in parts]
        _add_item(builder, place, own, reasons, known.get(place, KnownAnswer()))
    return builder.table(summary, "Items: judge vs human label", comes_early=False)


def _title(part: AlignedItems) -> str:
    return part.name or "whole output"


def _add_item(
    builder: CaseTableBuilder,
    place: OutputKey,
    items: Sequence[tuple[AlignedItems, JudgedItem | None]],
    reasons: Mapping[tuple[OutputKey, str], str],
    known: KnownAnswer,
) -> None:
    opinions = Opinions()
    cells: list[GridCell | None] = []
    filters: set[str] = set()
    shown: list[PageJson] = []
    groups: Groups = {}
    for part, item in items:
        if item is None:
            cells.append(None)
            continue
        groups = item.groups
        state = _item_state(part, item)
        cells.append(GridCell(state, _closeness(part, item), _item_text(part, item)))
        filters |= {state} & ITEM_FILTERS.keys()
        filters |= {"disagree"} if state in _DISAGREEING else set()
        filters |= {"people"} if _is_spread(part, [*item.ratings.values()]) else set()
        why = reasons.get((place, item.criterion))
        filters |= set() if why is None else {"next"}
        rows = [*_judge_rows(part, item, known, opinions)]
        rows += [
            opinion(f"annotator {name}", _score(part, raw), rationale=item.reasons.get(name))
            for name, raw in item.ratings.items()
        ]
        result = "" if why is None else f"label this next: {why}"
        shown.append(opinion_group(_title(part), rows, result))
    builder.add(
        known.case,
        cells,
        {"answers": known.shown_outputs(place, opinions), "opinions": shown},
        name=str(place),
        tags=groups.get("tag", ()),
        stratum=next(iter(groups.get("stratum", ())), None),
        filters=filters,
    )


def _item_state(part: AlignedItems, item: JudgedItem) -> str:
    if item.judge is None:
        return "none"
    if not item.ratings:
        return "next"
    human = part.label(item)
    if not _is_spread(part, [item.judge, human]):
        return "agree"
    if part.is_nominal or part.threshold is None:
        return "other"
    return "higher" if item.judge > human else "lower"


def _is_spread(part: AlignedItems, scores: Sequence[float]) -> bool:
    """Whether scores are not the same: by their levels, else by more than a tenth of the scale."""
    if part.levels is not None:
        return len({level_of(score, part.levels) for score in scores}) > 1
    values = [part.value(score) for score in scores]
    return bool(values) and max(values) - min(values) > _APART


def _closeness(part: AlignedItems, item: JudgedItem) -> float | None:
    """1 where judge and humans agree, 0 where they are as far apart as can be."""
    if item.judge is None or not item.ratings:
        return None
    # Categories have no distance.
    if part.is_nominal:
        return float(item.judge == part.label(item))
    return 1 - abs(part.value(item.judge) - part.value(mean_rating(item)))


def _item_text(part: AlignedItems, item: JudgedItem) -> str:
    """The judge's score and the human one, as short as a cell of the grid is."""
    judge = numbers.DASH if item.judge is None else _score(part, item.judge)
    if not item.ratings:
        return judge
    label = part.label(item) if part.is_nominal else mean_rating(item)
    return f"{judge} vs {_score(part, label)}"


def _score(part: AlignedItems, raw: float) -> str:
    names = {level.value: level.name for level in part.scale.levels if level.name}
    name = names.get(raw)
    # Categories and choices between two outputs are names, for which the numbers only stand.
    is_named = part.is_nominal or part.threshold is None
    return message.printable(name, 40) if name and is_named else f"{raw:.3g}"


def _judge_rows(
    part: AlignedItems, item: JudgedItem, known: KnownAnswer, opinions: Opinions
) -> Iterator[PageJson]:
    every = [one for one in known.judgments if one.criterion == item.criterion]
    # Judgments of humans are labels.
    own = [one for one in every if one.source != "human"]
    for one in own:
        quotes = opinions.quotes(one.evidence)
        yield opinions.of(one, _score(part, one.raw), who="judge", quotes=quotes)
    if not own:
        facts = [] if item.confidence is None else [f"confidence {item.confidence:.2f}"]
        score = "no usable answer" if item.judge is None else _score(part, item.judge)
        yield opinion("judge", score, rationale=item.rationale, facts=facts)


CHANGE_FILTERS = {"up": "Passes now", "down": "Fails now"}
SCORE_STATES = {
    "farther": CellState("farther from the human label", "▼", "worse", 0),
    "closer": CellState("closer to the human label", "▲", "better", 1),
    "same": CellState("as far from the human label", "=", "neutral", 2),
}
"""What a reworded rubric does to a score."""


def score_changes(changed: Sequence[ChangedScore], answers: KnownAnswers) -> CaseTable:
    """The held-out items that a reworded rubric scores differently."""
    filters = {"farther": "Farther", "closer": "Closer"}
    names = [*dict.fromkeys(one.criterion for one in changed)]
    builder = CaseTableBuilder("changes", names, SCORE_STATES, filters)
    items: dict[OutputKey, dict[str, ChangedScore]] = {}
    for one in changed:
        items.setdefault(one.place, {})[one.criterion] = one
    known = {place: answer for place, answer in answers if place in items}
    for place, own in items.items():
        cells = [_change_cell(own[name]) if name in own else None for name in names]
        answer = known.get(place, KnownAnswer())
        opinions = []
        for one in own.values():
            scores = {"before": one.present, "now": one.chosen, "human label": one.human}
            rows = [opinion(who, f"{score:.3g}") for who, score in scores.items()]
            opinions.append(opinion_group(one.criterion, rows))
        builder.add(
            answer.case,
            cells,
            {"answers": answer.shown_outputs(place), "opinions": opinions},
            name=str(place),
            filters={cell.state for cell in cells if cell is not None} & filters.keys(),
        )
    return builder.table(title="Changed scores on held-out cases", comes_early=False)


def _change_cell(one: ChangedScore) -> GridCell:
    gap = abs(one.chosen - one.human) - abs(one.present - one.human)
    state = "closer" if gap < 0 else "farther" if gap > 0 else "same"
    return GridCell(state, text=f"{one.present:.3g} → {one.chosen:.3g}, human {one.human:.3g}")


def changed_verdicts(
    flips: Sequence[PairedVerdict], answers: KnownAnswers, summary: tuple[Block, ...] = ()
) -> CaseTable:
    """The decisions that another judge changes, with the reasons of both."""
    builder = CaseTableBuilder("changes", ("before", "now"), RUN_STATES, CHANGE_FILTERS)
    places = [OutputKey(one.case_id, one.variant or None, one.repeat) for one in flips]
    wanted = frozenset(places)
    answer_of = {place: answer for place, answer in answers if place in wanted}
    for place, one in zip(places, flips, strict=True):
        known = answer_of.get(place, KnownAnswer())
        builder.add(
            known.case,
            [GridCell(PASS_STATES[side.passed], side.value) for side in (one.old, one.new)],
            {"answers": known.shown_outputs(place), "opinions": [*_criterion_changes(one)]},
            name=str(place),
            filters=["up" if one.new.passed else "down"],
        )
    return builder.table(summary, "Changed decisions", comes_early=False)


def _criterion_changes(one: PairedVerdict) -> Iterator[PageJson]:
    names = dict.fromkeys((*one.old.criteria, *one.new.criteria))
    for name in names:
        rows = []
        for who, side in (("before", one.old), ("now", one.new)):
            answer = side.criteria.get(name)
            if answer is None:
                rows.append(opinion(who, "not asked", tone="inconclusive"))
                continue
            score = "no judgment" if answer.raw is None else f"{answer.raw:g}"
            facts = [f"first of {answer.n:,}"] if answer.n > 1 else []
            value, reason = numbers.format_decimal(answer.value), answer.rationale
            rows.append(opinion(who, score, value=value, rationale=reason, facts=facts))
        yield opinion_group(name, rows)
