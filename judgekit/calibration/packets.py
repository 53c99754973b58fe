"""Packets of items for annotators: which are drawn or chosen, and the way back from their labels.

An annotator sees ids that say nothing. The packet, which stays in the store, has what they stand
for, so that labels of a packet can be imported, merged or calibrated with later.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from math import ceil
from random import Random
from typing import TYPE_CHECKING

from judgekit.calibration.breakdown import suggest_labels
from judgekit.calibration.inputs import CalibrationOptions
from judgekit.calibration.join import unlabelled_items
from judgekit.calibration.sources import judged_from_run
from judgekit.datasets import draw_sample
from judgekit.errors import InputError, UnknownNameError
from judgekit.evaluation import requires_reason, rubric_of_result
from judgekit.records import ItemKey, LabelPacket, PacketItem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from judgekit.datasets import LocatedLabel
    from judgekit.evaluation import OutputPair, Run
    from judgekit.records import CaseResult, Label, PresentationOrder, Rubric
    from judgekit.store import RunStore

PACKET_FIELD = "packet"
"""The key, in a label's metadata, of the packet whose item it is about."""

# The key, in the metadata of a resolved label, of how its item was chosen.
_CHOSEN_FIELD = "chosen"
_REPEATED_SHARE = 0.05
# Fewer drawn items would not bound a pass rate.
_LEAST_RANDOM = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketChoice:
    """What annotators are asked about.

    Attributes:
        sample: How many items; None for all.
        seed: Seed of the drawing.
        criteria: Only these criteria; empty for all.
    """

    sample: int | None = None
    seed: int = 0
    criteria: tuple[str, ...] = ()


def draw_packet(run: Run, choice: PacketChoice, *, at: datetime) -> LabelPacket:
    """A packet of a run's outputs, one item each.

    Of a sample, the first half (30 items or more) is drawn at random, and each of its items has its
    probability. Where a model judged, the rest are those whose labels help calibration most.
    """
    answered = [result for result in run.results() if result.output.error is None]
    rubrics = [rubric for one in answered if (rubric := rubric_of_result(one, run.info))]
    names = _asked_criteria(rubrics, choice, run.id)
    keys = [one.key for one in answered]
    n = min(choice.sample or len(keys), len(keys))
    helpful = [] if n == len(keys) else _most_helpful(run, choice)
    n_random = min(n, max(ceil(n / 2), _LEAST_RANDOM)) if helpful else n
    sample = draw_sample(keys, n_random, choice.seed)
    # What has a human label already is better known than what has none.
    left_out = {*sample, *(one.key for one in answered if _is_labelled(one))}
    others = [key for key in helpful if key not in left_out][: n - n_random]
    items = [
        PacketItem(
            id=_new_id("i"),
            case_id=key.case_id,
            variant=key.variant,
            repeat=key.repeat,
            chosen="random" if is_random else "informative",
            probability=n_random / len(keys) if is_random else None,
        )
        for of, is_random in ((sample, True), (others, False))
        for key in of
    ]
    return LabelPacket(
        id=_new_id("p"),
        source=run.id,
        made_at=at,
        seed=choice.seed,
        criteria=names,
        rubric=run.info.rubric,
        requires_reason=requires_reason(run.info),
        items=(*items, *_repeats(items, choice.seed)),
    )


def draw_pair_packet(
    pairs: Iterable[OutputPair],
    source: str,
    variants: tuple[str, str],
    choice: PacketChoice,
    *,
    rubric: Rubric | None,
    at: datetime,
) -> LabelPacket:
    """A packet of pairs; each side is shown first in one half of them, in a drawn order."""
    # Of repeated answers the first pair: labels of a pair are matched by its case.
    every = [
        pair.case.id
        for pair in pairs
        if pair.repeat == 0 and pair.a.error is None and pair.b.error is None
    ]
    if not every:
        raise InputError(f"{source} has no pair of outputs to label")
    names: tuple[str, ...] = ()
    if choice.criteria:
        names = _asked_criteria([rubric] if rubric else [], choice, source)
    n = min(choice.sample or len(every), len(every))
    orders: list[PresentationOrder] = ["ab" if place % 2 else "ba" for place in range(n)]
    Random(choice.seed).shuffle(orders)
    sample = zip(draw_sample(every, n, choice.seed), orders, strict=True)
    share = n / len(every)
    items = [
        PacketItem(id=_new_id("i"), case_id=case_id, order=order, probability=share)
        for case_id, order in sample
    ]
    return LabelPacket(
        id=_new_id("p"),
        source=source,
        made_at=at,
        seed=choice.seed,
        criteria=names,
        rubric=rubric,
        variants=variants,
        items=(*items, *_repeats(items, choice.seed)),
    )


def _new_id(kind: str) -> str:
    # Random, so that it says nothing and nobody can guess another one.
    return f"{kind}-{secrets.token_hex(6)}"


def _is_labelled(result: CaseResult) -> bool:
    return any(judgment.source == "human" for judgment in result.judgments)


def _asked_criteria(
    rubrics: Sequence[Rubric], choice: PacketChoice, source: str
) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(one.name for rubric in rubrics for one in rubric.criteria))
    if not names:
        raise InputError(
            f"{source} has no rubric, so that there is nothing to ask an annotator",
            hint="label outputs with --rubric FILE|NAME",
        )
    for wanted in choice.criteria:
        if wanted not in names:
            raise UnknownNameError("criterion", wanted, names)
    return tuple(name for name in names if not choice.criteria or name in choice.criteria)


def _most_helpful(run: Run, choice: PacketChoice) -> list[ItemKey]:
    """The outputs that a model judged, the most informative first."""
    parts = [
        part
        for part in unlabelled_items(judged_from_run(run), CalibrationOptions())
        if not choice.criteria or part.name in choice.criteria
    ]
    suggested = suggest_labels(parts, sum(len(part.unlabelled) for part in parts))
    places = (ItemKey(one.case_id, one.variant or "", one.repeat) for one in suggested)
    return list(dict.fromkeys(places))


def _repeats(items: Sequence[PacketItem], seed: int) -> list[PacketItem]:
    """Some items once more, by which an annotator is compared with themselves."""
    # Sides change places: an annotator who always takes the first is noticed.
    turned = {"ab": "ba", "ba": "ab"}
    return [
        one.model_copy(
            update={"id": _new_id("i"), "repeats": one.id, "order": turned.get(one.order or "")}
        )
        for one in draw_sample(items, round(_REPEATED_SHARE * len(items)), seed + 1)
    ]


@dataclass(frozen=True, slots=True)
class ResolvedLabels:
    """Labels by case and variant instead of by item."""

    labels: tuple[LocatedLabel, ...]
    repeats: tuple[LocatedLabel, ...]
    """Labels of items that were shown before; no further evidence about the output."""

    packets: tuple[LabelPacket, ...]
    is_random: bool | None
    """Whether all their items were drawn; None where no label is of a packet."""


def packet_of(label: Label) -> str | None:
    """The packet whose item a label is about; None where it names its case."""
    found = (label.metadata or {}).get(PACKET_FIELD)
    return found if isinstance(found, str) else None


def resolve_labels(
    labels: Sequence[LocatedLabel], open_store: Callable[[], RunStore]
) -> ResolvedLabels:
    """Replace the items of packets by what they stand for; other labels are left as they are.

    The store is opened only where a label is of a packet.
    """
    named = dict.fromkeys(name for one in labels if (name := packet_of(one.label)))
    store = open_store() if named else None
    packets = {name: store.packet(name) for name in named} if store else {}
    items = {name: {item.id: item for item in one.items} for name, one in packets.items()}
    resolved: list[LocatedLabel] = []
    repeats: list[LocatedLabel] = []
    chosen: set[object] = set()
    for placed in labels:
        name = packet_of(placed.label)
        if name is None:
            chosen |= {(placed.label.metadata or {}).get(_CHOSEN_FIELD)}
            resolved.append(placed)
            continue
        item = items[name].get(placed.label.case_id)
        if item is None:
            raise placed.fault(
                f"the packet {name} has no item {placed.label.case_id!r}",
                "the file was edited, or joined from several ones",
            )
        chosen.add(item.chosen)
        known = replace(placed, label=_resolved(placed, item, packets[name]))
        (repeats if item.repeats else resolved).append(known)
    is_random = None if chosen <= {None} else "informative" not in chosen
    return ResolvedLabels(tuple(resolved), tuple(repeats), tuple(packets.values()), is_random)


def _resolved(placed: LocatedLabel, item: PacketItem, packet: LabelPacket) -> Label:
    label = placed.label
    about = {**(label.metadata or {}), "item": f"{packet.id} {item.id}", _CHOSEN_FIELD: item.chosen}
    # Without it the label is one of its case, and is not resolved again.
    del about[PACKET_FIELD]
    if item.probability is not None:
        about["probability"] = item.probability
    update: dict[str, object] = {
        "case_id": item.case_id,
        "variant": item.variant,
        "repeat": item.repeat,
        "metadata": about,
    }
    if packet.variants is not None:
        update |= {"repeat": None, "winner": _winner(placed, item, packet.variants)}
    return label.model_copy(update=update)


def _winner(placed: LocatedLabel, item: PacketItem, variants: tuple[str, str]) -> str | None:
    """The variant that an annotator chose by its place."""
    shown = variants if item.order == "ab" else variants[::-1]
    places = {"first": shown[0], "second": shown[1], "tie": "tie", None: None}
    if placed.label.winner not in places:
        raise placed.fault(
            f"{placed.label.winner!r} is no choice", "a pair's winner is first, second or tie"
        )
    return places[placed.label.winner]
