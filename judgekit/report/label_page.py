"""The pages of labelling: the items of a packet for annotators, and how far annotators agree.

A page for annotators has what they need and nothing that would tell where an output came from: no
case id, no variant, no judge, no run. Outputs that name their maker are scrubbed as they are for a
judge that compares two. The script `label.js` shows the items and keeps the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from judgekit.calibration import SLOT_FIELD, hidden_names, pair_source
from judgekit.evaluation import blind_output, rubric_of_result
from judgekit.prompts import judged_text, scale_words, scrub, steps_text, to_text
from judgekit.records import Case, Criterion, ItemKey, Label, LabelPacket, Output, PacketItem
from judgekit.report import message, numbers
from judgekit.report.case_table import pictures
from judgekit.report.document import (
    Cell,
    Column,
    Conclusion,
    Document,
    Entries,
    Entry,
    Labelling,
    Notes,
    PageJson,
    Table,
    difference_cell,
    mean_cell,
    not_empty,
    rate_cell,
    table_of,
)

if TYPE_CHECKING:
    from judgekit.calibration import (
        AnnotatorAgreement,
        AnnotatorHabits,
        Conflict,
        LabelKey,
        MergedLabels,
    )
    from judgekit.records import Image
    from judgekit.store import RunStore

    _Shown = tuple[PacketItem, Case, list[PageJson], Sequence[Criterion]]
    """An item, its case, the outputs as they are shown, and what may be asked."""

LABEL_FORMAT = "judgekit-label/1"
"""The version of what `label.js` reads."""

_MOST_KEYS = 9
# What an item takes before an annotator's own pace is known: 200 words, or two texts.
_SECONDS = 30
_PAIR_SECONDS = 25
_MINUTE = 60
_TAB = 4
_WHOLE_PAIR: PageJson = {
    "name": None, "question": "Which answer is better overall?", "guide": "", "scale": "",
    "levels": [],
}  # fmt: skip
_SLOT_WORDS = {"first": "first is better", "second": "second is better", "tie": "equally good"}

# Krippendorff (2018): below .667 no conclusions are drawn from labels, not even tentative ones.
_CLEAR = 2 / 3


def label_document(labelling: Labelling) -> Document:
    """The page on which an annotator labels: one file, or a page of the viewer."""
    blind = "Judge only what you see: who wrote an answer is hidden on purpose."
    return Document("Labelling", Conclusion(blind), (labelling,), dict)


def packet_labelling(packet: LabelPacket, store: RunStore, *, answers: str = "") -> Labelling:
    """The items of a packet; their answers go to the address `answers`, or stay in the browser."""
    shown = (_shown_pairs if packet.is_pairwise else _shown_outputs)(packet, store)
    criteria: dict[str, Criterion] = {}
    items: list[PageJson] = []
    for item, case, outputs, of_case in shown:
        # Two cases may have rubrics of their own with a criterion of one name.
        own = {f"{c.name} {c.fingerprint}": c for c in of_case if c.name in packet.criteria}
        criteria |= own
        about = {"Input": case.input, "Context": case.context, "Reference answer": case.reference}
        items.append({
            "id": item.id,
            # The drawn items come first: with these alone a rate can be estimated.
            "part": 0 if item.chosen == "random" else 1,
            "again": item.repeats or "",
            "about": [
                {"title": title, "text": _text(to_text(value)), "images": pictures(value)}
                for title, value in about.items()
                if value is not None
            ],
            "outputs": outputs,
            # A pair is judged as a whole where no criterion is named.
            "criteria": [[*criteria].index(key) for key in own] if packet.criteria else [0],
        })  # fmt: skip
    asked = [_criterion(one, is_pair=packet.is_pairwise) for one in criteria.values()]
    task = {
        "format": LABEL_FORMAT,
        "packet": packet.id,
        "pairs": packet.is_pairwise,
        "reason": packet.requires_reason,
        "seconds": _PAIR_SECONDS if packet.is_pairwise else _SECONDS,
        "criteria": asked or [_WHOLE_PAIR],
        "items": items,
    }
    return Labelling(task, _intro(packet), answers=answers)


def _intro(packet: LabelPacket) -> tuple[str, ...]:
    is_pair, n = packet.is_pairwise, len(packet.items)
    do = (
        "Read both answers and say which one is better, or that they are equally good."
        if is_pair
        else "Read each answer and score it on every criterion below."
    )
    reason = " Give a reason with each choice." if packet.requires_reason else ""
    what = ("pair", "pairs") if is_pair else ("answer", "answers")
    minutes = max(1, round(n * (_PAIR_SECONDS if is_pair else _SECONDS) / _MINUTE))
    n_minutes = numbers.format_count(minutes, "minute")
    amount = f"{'is' if n == 1 else 'are'} {numbers.format_count(n, *what)}"
    when = "You can stop at any time and continue later."
    return (
        f"{do}{reason}",
        f"There {amount}, which takes about {n_minutes}. {when}",
        "If you cannot judge one, choose “Cannot judge” instead of guessing.",
    )


def _shown_outputs(packet: LabelPacket, store: RunStore) -> Iterator[_Shown]:
    run = store.run(packet.source)
    hidden = hidden_names(run)
    keys = [ItemKey(one.case_id, one.variant or "", one.repeat) for one in packet.items]
    wanted = frozenset(keys)
    results = {result.key: result for result in store.results(run.id) if result.key in wanted}
    for item, key in zip(packet.items, keys, strict=True):
        result = results[key]
        rubric = rubric_of_result(result, run)
        outputs = [_shown_output(result.output, hidden)]
        yield item, result.case, outputs, rubric.criteria if rubric else ()


def _shown_pairs(packet: LabelPacket, store: RunStore) -> Iterator[_Shown]:
    source = pair_source(store, packet.source, packet.variants or ())
    pairs = {pair.case.id: pair for pair in source.pairs}
    for item in packet.items:
        pair = pairs[item.case_id]
        sides = (pair.a, pair.b) if item.order == "ab" else (pair.b, pair.a)
        outputs = [_shown_output(side, source.hidden) for side in sides]
        yield item, pair.case, outputs, packet.rubric.criteria if packet.rubric else ()


def _criterion(criterion: Criterion, *, is_pair: bool) -> PageJson:
    scale = criterion.scale
    points = scale.points
    # More levels than there are digits are typed in.
    has_keys = points is not None and len(points) <= _MOST_KEYS
    known = {level.value: level for level in scale.levels}
    return {
        "name": criterion.name,
        "question": criterion.question,
        "guide": criterion.scoring_guide or "",
        "min": scale.min,
        "max": scale.max,
        "whole": scale.integer,
        "scale": "" if is_pair else f"Score: {scale_words(scale)}",
        "levels": [
            {
                "value": point,
                "shown": f"{point:g}",
                "name": known[point].name or "" if point in known else "",
                "about": known[point].description or "" if point in known else "",
            }
            for point in (points or ())
        ]
        if has_keys and not is_pair
        else [],
    }


def _shown_output(output: Output, hidden: Sequence[str]) -> PageJson:
    blind = blind_output(output)
    # The name of a file may say whose output it is.
    places = {image: f"[image {number}]" for number, image in enumerate(blind.images, 1)}

    def named(image: Image) -> str:
        return places.get(image, "[image]")

    steps = scrub(steps_text(blind, named), hidden)[0] if blind.trace else ""
    text = scrub(judged_text(blind, named), hidden)[0]
    images: list[PageJson] = [{"src": image.url, "title": named(image)} for image in blind.images]
    return {"text": _text(text) or "(no text)", "steps": _text(steps), "images": images}


def _text(text: str) -> str:
    # The page shows control and direction characters by their codes; line breaks and tabs are none.
    return message.message_lines(text.replace("\r\n", "\n").expandtabs(_TAB))


def agreement_document(merged: MergedLabels, labelling: Labelling | None = None) -> Document:
    """How far annotators agree, with every conflict and its comments."""
    # With the `labelling` of their packet, a page asks a third annotator to decide the conflicts.
    decision = None if labelling is None else _adjudication(merged, labelling)
    return Document(
        "Agreement of annotators",
        _conclusion(merged),
        not_empty(
            [
                _agreement_table(merged),
                *map(_confusion_table, (one for one in merged.agreement if one.counts)),
                _habit_table(merged),
                decision,
                Entries(tuple(map(_conflict_entry, merged.conflicts)), "Conflicts"),
                Notes(_conflict_notes(merged, is_page=decision is not None)),
                Entries(
                    tuple(Entry(_place(one), (_line(one),)) for one in merged.replaced),
                    "Replaced by a later answer",
                ),
            ]
        ),
        merged.to_json,
        kind="Agreement",
    )


def _conclusion(merged: MergedLabels) -> Conclusion:
    doubly = [one for one in merged.agreement if one.n_doubly]
    if not doubly:
        return Conclusion("No item was labelled by two annotators: agreement is unknown.")
    unclear = [one for one in doubly if one.alpha.value < _CLEAR]
    n = numbers.format_count(len(merged.conflicts), "conflict")
    n_decided = sum(one.decision is not None for one in merged.conflicts)
    n += f", {n_decided:,} of them decided" if n_decided else ""
    if unclear:
        words = ", ".join(f"{one.name} (alpha {numbers.format_mean(one.alpha)})" for one in unclear)
        return Conclusion(f"Annotators do not agree well on {words}; {n}.", "inconclusive")
    if any(isnan(one.alpha.value) for one in doubly):
        return Conclusion(f"Agreement is not defined for every criterion; {n}.", "inconclusive")
    return Conclusion(f"Annotators agree on every criterion; {n}.", "pass")


def _agreement_table(merged: MergedLabels) -> Table:
    note = (
        "alpha (Krippendorff) and kappa are corrected for chance: 1 is perfect agreement, 0 is "
        "chance. From alpha .8 labels are reliable; below .667 the criterion is unclear."
    )
    chosen = (
        "Equal answers are a rate, and are counted on the random part only: the other items were "
        "chosen because their labels help calibration most, and are harder."
    )
    is_chosen = any(one.n_random < one.n_doubly for one in merged.agreement)
    columns: dict[str | Column, Callable[[AnnotatorAgreement], str | Cell]] = {
        "criterion": lambda one: one.name,
        "items": lambda one: f"{one.n_items:,}",
        "by two or more": lambda one: f"{one.n_doubly:,}",
        "random part": lambda one: f"{one.n_random:,}",
        "alpha": lambda one: mean_cell(one.alpha),
        "kappa": lambda one: mean_cell(one.kappa),
        "equal answers": lambda one: rate_cell(one.exact),
    }
    return table_of(
        merged.agreement, columns, "Agreement by criterion", (note, chosen)[: 1 + is_chosen]
    )


def _habit_table(merged: MergedLabels) -> Table:
    habits = [
        one
        for one in merged.habits
        if any(each.n for each in (one.same_again, one.drift, one.first_slot))
    ]
    columns: dict[str | Column, Callable[[AnnotatorHabits], str | Cell]] = {
        "annotator": lambda one: one.name,
        "same answer again": lambda one: rate_cell(one.same_again),
        "drift": lambda one: difference_cell(one.drift),
        "first chosen": lambda one: rate_cell(one.first_slot),
    }
    note = (
        "same answer again: of the items that were shown twice. drift: the mean value of the "
        "second half of an annotator's random items minus that of the first half; an interval "
        "without 0 shows a change of standard. first chosen: how often the answer that was shown "
        "first is preferred; sides are balanced, so that 50 % is expected."
    )
    return table_of(habits, columns, "Annotators", (note,))


def _confusion_table(one: AnnotatorAgreement) -> Table:
    head = (Column("first \u2193 second \u2192", "text"), *map(Column, one.level_names))
    rows = tuple(
        (name, *map(str, counts)) for name, counts in zip(one.level_names, one.counts, strict=True)
    )
    first, second = one.annotators[:2]
    note = f"Rows: {first}; columns: {second}."
    return Table(head, rows, f"{one.name}: who answered what", (note,))


def _adjudication(merged: MergedLabels, labelling: Labelling) -> Labelling | None:
    """The conflicts that are about items of a packet, as the packet's page shows them."""
    task: Any = labelling.task
    conflicts: dict[str, list[Conflict]] = {}
    for one in merged.conflicts:
        # The first label's item: annotators of one packet have the same.
        packet, _, item = str((one.labels[0].metadata or {}).get("item")).partition(" ")
        if packet == task["packet"]:
            conflicts.setdefault(item, []).append(one)
    items = [
        _conflict_item(item, conflicts[item["id"]], task["criteria"])
        for item in task["items"]
        if item["id"] in conflicts
    ]
    names = " or ".join(map(message.printable, merged.annotators))
    disagree = f"Annotators disagree on {numbers.format_count(len(items), 'item')}."
    intro = (
        f"{disagree} Read each one with the answers they gave, and choose the one you think right.",
        f"Only somebody other than {names} can decide. A decision is added as a label of its own.",
    )
    task = {**task, "items": items, "adjudicates": True, "others": [*merged.annotators]}
    title = "Decide the conflicts"
    return Labelling(task, intro, title, labelling.answers) if items else None


def _conflict_item(item: Any, conflicts: Sequence[Conflict], criteria: Any) -> PageJson:
    names = {one.key.criterion for one in conflicts}
    labels = [
        {
            "title": " · ".join(
                filter(None, (message.printable(label.annotator or "unnamed"), one.key.criterion))
            ),
            "text": message.message_lines(_answer(label)),
        }
        for one in conflicts
        for label in one.labels
    ]
    asked = [place for place in item["criteria"] if criteria[place]["name"] in names]
    # A sole criterion may be left out of a label.
    return {**item, "criteria": asked or item["criteria"], "labels": labels}


def _conflict_entry(one: Conflict) -> Entry:
    lines = [_line(label) for label in one.labels]
    if one.decision is None:
        return Entry(_place(one.key), tuple(lines), badge=one.why, tone="inconclusive")
    lines.append(f"decided by {_line(one.decision)}")
    return Entry(_place(one.key), tuple(lines), badge="decided", tone="pass")


def _place(key: LabelKey | Label) -> str:
    variant = f" of {key.variant}" if key.variant else ""
    criterion = f", {key.criterion}" if key.criterion else ""
    return message.with_repeat(f"{key.case_id}{variant}{criterion}", key.repeat or 0)


def _line(label: Label) -> str:
    return f"{label.annotator or 'unnamed'} {_answer(label)}"


def _answer(label: Label) -> str:
    answer = label.winner if label.raw is None else label.raw
    slot = (label.metadata or {}).get(SLOT_FIELD)
    shown = f"{answer:g}" if isinstance(answer, float) else _SLOT_WORDS.get(str(slot), str(answer))
    return f"{shown}: {label.rationale}" if label.rationale else shown


def _conflict_notes(merged: MergedLabels, *, is_page: bool) -> tuple[str, ...]:
    notes = []
    if merged.conflicts:
        notes.append(
            "judgekit calibrate combines the labels of an item by their median: a decision that "
            "agrees with one of two labels is the one that counts."
        )
    if any(one.decision is None for one in merged.conflicts) and not is_page:
        notes.append(
            "A third annotator decides conflicts on the page of one packet's labels "
            '(-o FILE.html), or by a label of their own with "metadata": {"adjudicates": true}.'
        )
    if merged.n_missing:
        labels = numbers.format_count(merged.n_missing, "label")
        notes.append(f"{labels} without a score: the annotator could not judge.")
    return tuple(notes)
