"""Packets of items for annotators: which are drawn or chosen, and the way back from their labels.

An annotator sees ids that say nothing. The packet, which stays in the store, has what they stand
for, so that labels of a packet can be imported, merged or calibrated with later.
"""

from __future__ import annotations

import secrets
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from math import ceil
from random import Random
from typing import TYPE_CHECKING, Any

from judgekit.calibration.breakdown import suggest_labels
from judgekit.calibration.inputs import CalibrationOptions
from judgekit.calibration.join import unlabelled_items
from judgekit.calibration.sources import judged_from_run
from judgekit.datasets import LocatedLabel, draw_sample, read_labels
from judgekit.errors import InputError, UnknownNameError
from judgekit.evaluation import (
    LabelImport,
    OutputPair,
    check_adjudicator,
    last_tries,
    record_labels,
    requires_reason,
    rubric_of_result,
    variant_version_in,
)
from judgekit.records import CHOSEN_FIELD, COMPARISON_ID_PREFIX, ItemKey, LabelPacket, PacketItem
from judgekit.store import RunStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from judgekit.evaluation import Run
    from judgekit.records import Label, PresentationOrder, Rubric, RunInfo

PACKET_FIELD = "packet"
"""The key, in a label's metadata, of the packet whose item it is about."""

SLOT_FIELD = "slot"
"""Of a resolved label of a pair: `first`, `second` or `tie`, as the annotator saw the sides."""

_PAIR = 2
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
    """A packet of a run's outputs, one item each."""
    # Of a sample, the first half (30 items or more) is drawn at random, and each of its items has
    # its probability. Where a model judged, the rest are those whose labels help calibration most.
    results = last_tries(run.results(), run.info)
    answered = [result for result in results if result.output.error is None]
    rubrics = [rubric for one in answered if (rubric := rubric_of_result(one, run.info))]
    names = _asked_criteria(rubrics, choice, run.id)
    keys = [one.key for one in answered]
    n = min(choice.sample or len(keys), len(keys))
    helpful = [] if n == len(keys) else _most_helpful(run, choice)
    n_random = min(n, max(ceil(n / 2), _LEAST_RANDOM)) if helpful else n
    sample = draw_sample(keys, n_random, choice.seed)
    # What has a human label already is better known than what has none.
    labelled = {one.key for one in answered for j in one.judgments if j.source == "human"}
    left_out = {*sample, *labelled}
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
    about = {"rubric": run.info.rubric, "requires_reason": requires_reason(run.info)}
    return _packet(run.id, items, choice, at, criteria=names, **about)


@dataclass(frozen=True, slots=True)
class PairSource:
    """The sides of a comparison, or two variants of a run, whose outputs are labelled as pairs."""

    id: str
    variants: tuple[str, str]
    hidden: tuple[str, ...]
    """What would give a side away in its output."""

    rubric: Rubric | None
    pairs: tuple[OutputPair, ...]
    """Of repeated answers the first pair: labels of a pair are matched by its case."""


def pair_source(store: RunStore, name: str, variants: Sequence[str] = ()) -> PairSource:
    """What a name of a comparison or a run stands for; of a run with more than two `variants`."""
    if name.startswith(COMPARISON_ID_PREFIX):
        found = store.comparison(name)
        a, b = (side.variant or side.label for side in (found.a, found.b))
        stored = store.compared(found.id)
        pairs = tuple(OutputPair(one.case, one.a, one.b) for one in stored if not one.repeat)
        return PairSource(found.id, (a, b), (a, b, *found.names), found.rubric, pairs)
    run = store.run(name)
    known = [one.id for one in run.variants]
    chosen = variants or known
    for one in chosen:
        if one not in known:
            raise UnknownNameError("variant of this run", one, known)
    if len(chosen) != _PAIR or len(set(chosen)) != _PAIR:
        raise InputError(
            f"run {run.id} has the variants {', '.join(known)}, and pairs are of two",
            hint="name both: --variant A --variant B",
        )
    a, b = chosen
    first, second = (
        {one.case.id: one for one in last_tries(results, run) if run.repeats == 1 or not one.repeat}
        for results in (store.results(run.id, variant=each) for each in (a, b))
    )
    shared = [(one, second[case]) for case, one in first.items() if case in second]
    pairs = tuple(OutputPair(one.case, one.output, other.output) for one, other in shared)
    return PairSource(run.id, (a, b), hidden_names(run), run.rubric, pairs)


def hidden_names(run: RunInfo) -> tuple[str, ...]:
    """What would give a variant of a run away in its output: its id, models and providers."""
    names = []
    for variant in run.variants:
        version = variant_version_in(run, variant.id)
        models = [version.model] if version is not None and version.model else []
        models += [*variant.model_by_node.values(), *variant.provider_by_node.values()]
        names += [variant.id, variant.base_id, *models]
    return tuple(dict.fromkeys(names))


def draw_pair_packet(source: PairSource, choice: PacketChoice, *, at: datetime) -> LabelPacket:
    """A packet of pairs; each side is shown first in one half of them, in a drawn order."""
    every = [pair.case.id for pair in source.pairs if pair.a.error is None and pair.b.error is None]
    if not every:
        raise InputError(f"{source.id} has no pair of outputs to label")
    rubrics = [source.rubric] if source.rubric else []
    names = _asked_criteria(rubrics, choice, source.id) if choice.criteria else ()
    n = min(choice.sample or len(every), len(every))
    orders: list[PresentationOrder] = ["ab" if place % 2 else "ba" for place in range(n)]
    Random(choice.seed).shuffle(orders)
    sample = zip(draw_sample(every, n, choice.seed), orders, strict=True)
    share = n / len(every)
    items = [
        PacketItem(id=_new_id("i"), case_id=case_id, order=order, probability=share)
        for case_id, order in sample
    ]
    about = {"rubric": source.rubric, "variants": source.variants}
    return _packet(source.id, items, choice, at, criteria=names, **about)


def _packet(
    source: str, items: Sequence[PacketItem], choice: PacketChoice, at: datetime, **about: Any
) -> LabelPacket:
    every, seed = (*items, *_repeats(items, choice.seed)), choice.seed
    return LabelPacket(id=_new_id("p"), source=source, made_at=at, seed=seed, items=every, **about)


def _new_id(kind: str) -> str:
    # Random, so that it says nothing and nobody can guess another one.
    return f"{kind}-{secrets.token_hex(6)}"


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


def packet_of(label: Label) -> str | None:
    """The packet whose item a label is about; None where it names its case."""
    found = (label.metadata or {}).get(PACKET_FIELD)
    return found if isinstance(found, str) else None


def read_label_files(
    paths: Iterable[Path], store: str, *, note: Callable[[str], None]
) -> ResolvedLabels:
    """The labels of files; those of packets are resolved by the store, opened only for them."""
    labels = [one for path in paths for one in read_labels(path, note=note)]
    with ExitStack() as stack:

        def find(packet: str) -> LabelPacket:
            return stack.enter_context(closing(RunStore(store, create=False))).packet(packet)

        return resolve_labels(labels, find)


def resolve_labels(
    labels: Sequence[LocatedLabel], find_packet: Callable[[str], LabelPacket]
) -> ResolvedLabels:
    """Replace the items of packets by what they stand for; other labels are left as they are."""
    named = dict.fromkeys(name for one in labels if (name := packet_of(one.label)))
    packets = {name: find_packet(name) for name in named}
    items = {name: {item.id: item for item in one.items} for name, one in packets.items()}
    resolved: list[LocatedLabel] = []
    repeats: list[LocatedLabel] = []
    for placed in labels:
        name = packet_of(placed.label)
        if name is None:
            resolved.append(placed)
            continue
        item = items[name].get(placed.label.case_id)
        if item is None:
            raise placed.fault(
                f"the packet {name} has no item {placed.label.case_id!r}",
                "the file was edited, or joined from several ones",
            )
        known = replace(placed, label=_resolved(placed, item, packets[name]))
        (repeats if item.repeats else resolved).append(known)
    return ResolvedLabels(tuple(resolved), tuple(repeats), tuple(packets.values()))


def store_labels(
    store: RunStore, labels: Sequence[LocatedLabel], *, annotator: str | None, at: datetime
) -> LabelImport:
    """Store labels of one packet: in its run, or in the packet where the run has no place."""
    found = resolve_labels(labels, store.packet)
    (packet,) = found.packets
    before = {(one.case_id, one.annotator): one.adjudicates for one in packet.labels}
    # A second answer to an item that is shown again measures its annotator, not the output.
    apart = {one.id for one in packet.items if one.repeats or packet.is_pairwise}
    in_packet = []
    for placed in labels:
        who = placed.label.annotator or annotator
        is_decision = before.get((placed.label.case_id, who), placed.label.adjudicates)
        check_adjudicator(placed, who, is_decision=is_decision)
        if placed.label.case_id in apart:
            in_packet.append(placed.label.model_copy(update={"annotator": who}))
    if packet.is_pairwise:
        stored = LabelImport(len(labels), len(labels), 0, 0)
    else:
        run = store.run(packet.source)
        stored = record_labels(store, run, found.labels, annotator=annotator, at=at)
    store.add_labels(packet.id, in_packet)
    return stored


def _resolved(placed: LocatedLabel, item: PacketItem, packet: LabelPacket) -> Label:
    label = placed.label
    about = {**(label.metadata or {}), "item": f"{packet.id} {item.id}", CHOSEN_FIELD: item.chosen}
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
        about[SLOT_FIELD] = label.winner
    return label.model_copy(update=update)


def _winner(placed: LocatedLabel, item: PacketItem, variants: tuple[str, str]) -> str | None:
    shown = variants if item.order == "ab" else variants[::-1]
    places = {"first": shown[0], "second": shown[1], "tie": "tie", None: None}
    if placed.label.winner not in places:
        raise placed.fault(
            f"{placed.label.winner!r} is no choice", "a pair's winner is first, second or tie"
        )
    return places[placed.label.winner]
