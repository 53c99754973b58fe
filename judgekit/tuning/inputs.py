"""Options of a tuning, the labelled outputs it uses.

The seeded split into training folds and held-out cases.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from math import ceil, floor, fsum
from typing import TYPE_CHECKING

from judgekit.calibration import (
    CLUSTER_BY_CASE,
    CLUSTER_BY_ITEM,
    WHOLE_OUTPUT,
    AlignedItems,
    CalibrationOptions,
    JudgedItem,
    LabelMatcher,
    OutputKey,
    add_metadata,
    cluster_of,
    groups_of,
    label_problems,
    label_reasons,
    label_score,
    labels_by_place,
)
from judgekit.errors import InputError, NotEnoughDataError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

    from judgekit.calibration import Consensus, Groups, MatchedLabel
    from judgekit.datasets import LocatedLabel
    from judgekit.records import Case, Criterion, Output, Rubric

MOST_EXAMPLES = 16
"""More examples than this crowd the output that is to be graded out of the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneOptions:
    """What is tried, how labels are split, and the error rate of the decision.

    Attributes:
        few_shot: Numbers of examples to try with each wording; 0 is the wording alone.
        anchors: Whether to try each wording with anchors: quoted outputs in its scoring guide.
        holdout: The share of cases held out from the choice, in (0, 1).
        alpha: The error rate of the decision; intervals have level 1 - alpha.
        consensus: How several annotators combine to the label that the judge is compared with.
        annotators: Only these annotators; empty for all.
        cluster: The unit that is never split: `case`, or a metadata key that several cases share.
        seed: Seed of the split and of the choice among equally good examples.

    Raises:
        SettingsError: When one is out of its range.
    """

    few_shot: tuple[int, ...] = (0,)
    anchors: bool = False
    holdout: float = 0.4
    alpha: float = 0.05
    consensus: Consensus = "median"
    annotators: tuple[str, ...] = ()
    cluster: str = CLUSTER_BY_CASE
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("holdout", "alpha"):
            if not 0 < getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name):g}; it lies between 0 and 1")
        for n in self.few_shot:
            if not 0 <= n <= MOST_EXAMPLES:
                raise SettingsError(f"few_shot has {n}; it goes from 0 to {MOST_EXAMPLES}")
        if self.cluster == CLUSTER_BY_ITEM:
            raise SettingsError(
                "outputs of one case are never split", hint="cluster is case, or a metadata entry"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledOutputs:
    """Outputs with human labels.

    Attributes:
        answers: Cases and outputs that have a label.
        criteria: The labelled items of each criterion; no judge has scored them yet.
        n_labels: Labels that are used.
        n_unused: Unused labels: without a score, of the whole output, or of unknown outputs.
        n_examples: Cases excluded because a rubric shows their outputs as examples.
    """

    answers: Mapping[OutputKey, tuple[Case, Output]]
    criteria: tuple[AlignedItems, ...]
    n_labels: int
    n_unused: int
    n_examples: int

    @property
    def items(self) -> Iterable[JudgedItem]:
        """Everything that has a label, criterion by criterion."""
        return (item for part in self.criteria for item in part.items)

    def within(self, clusters: Collection[Hashable]) -> tuple[AlignedItems, ...]:
        """The items of some clusters."""
        return tuple(part.where(lambda item: item.cluster in clusters) for part in self.criteria)

    def cases_of(self, clusters: Collection[Hashable]) -> tuple[str, ...]:
        """The cases of some clusters."""
        return tuple(sorted({i.place.case_id for i in self.items if i.cluster in clusters}))


def join_labelled_outputs(
    answers: Iterable[tuple[Case, Output]],
    labels: Sequence[LocatedLabel],
    rubric: Rubric,
    options: TuneOptions,
    *,
    shown: Collection[str] = (),
) -> LabelledOutputs:
    """Bring outputs and labels together."""
    # An error of the system under test has nothing that a judge could be tuned on.
    answered = [(c, o) for c, o in answers if o.error is None]
    places = {OutputKey(c.id, o.variant): (c, o) for c, o in answered if c.id not in shown}
    names = [criterion.name for criterion in rubric.criteria]
    matching = LabelMatcher(places, names, options.annotators)
    matching.take(labels)
    by_criterion: defaultdict[str, list[MatchedLabel]] = defaultdict(list)
    for each in matching.matched:
        by_criterion[each.criterion].append(each)
    # Labels of the whole output are not used, so that they need no score.
    named = [rubric.criterion(name) for name in by_criterion if name != WHOLE_OUTPUT]
    matching.check(label_problems(by_criterion, named))
    groups = {place: groups_of(case, out.metadata) for place, (case, out) in places.items()}
    add_metadata(groups, matching.matched)
    wanted = CalibrationOptions(consensus=options.consensus, cluster=options.cluster)
    made = [_aligned(c, by_criterion[c.name], groups, wanted) for c in rubric.criteria]
    criteria = tuple(part for part in made if part.items)
    if not criteria:
        raise InputError(
            "every label is of the output as a whole, and criteria are what is tuned",
            hint=f"name the `criterion` in the labels: {', '.join(names)}",
        )
    _check_clusters(criteria, options.cluster)
    used = {item.place for part in criteria for item in part.items}
    n_used = sum(len(item.ratings) for part in criteria for item in part.items)
    return LabelledOutputs(
        answers={place: places[place] for place in sorted(used, key=_order)},
        criteria=criteria,
        n_labels=n_used,
        n_unused=matching.n_labels - n_used,
        n_examples=len({case.id for case, _ in answered} & set(shown)),
    )


def _aligned(
    criterion: Criterion,
    labels: Sequence[MatchedLabel],
    groups: Mapping[OutputKey, Groups],
    options: CalibrationOptions,
) -> AlignedItems:
    items = [
        JudgedItem(
            place=place,
            criterion=criterion.name,
            cluster=cluster_of(place, groups[place], criterion.name, options),
            judge=None,
            ratings={one.annotator: label_score(one.placed, criterion) for one in said},
            reasons=label_reasons(said),
            groups=groups[place],
        )
        for place, said in sorted(labels_by_place(labels).items(), key=lambda pair: _order(pair[0]))
    ]
    return AlignedItems(
        name=criterion.name,
        criterion=criterion,
        scale=criterion.scale,
        threshold=None,
        items=tuple(items),
        consensus=options.consensus,
    )


def _check_clusters(criteria: Sequence[AlignedItems], name: str) -> None:
    """What is never split has to hold whole cases, or a case would stand on both sides."""
    found: dict[str, Hashable] = {}
    for item in (item for part in criteria for item in part.items):
        # A case on both sides would leak what was chosen into the confirmation.
        if found.setdefault(item.place.case_id, item.cluster) != item.cluster:
            raise SettingsError(
                f"case {item.place.case_id!r} has outputs with different {name!r}",
                hint="what is never split has to hold whole cases: use --cluster case",
            )


def _order(place: OutputKey) -> tuple[str, str, int]:
    return place.case_id, place.variant or "", place.repeat


MIN_CASES_PER_SIDE = 10
"""Cases each side of the split needs: fewer let no difference be labels."""

_FOLDS = 5
_STRATA = 4
_DRAWS = 2**64
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Split:
    """The training and held-out cases.

    Attributes:
        folds: The training cases in parts; an output is never shown as an example to its own part.
        held_out: Cases that take no part in the choice.
    """

    folds: tuple[frozenset[Hashable], ...]
    held_out: frozenset[Hashable]

    @property
    def training(self) -> frozenset[Hashable]:
        """Cases that candidates are chosen by."""
        return frozenset(one for fold in self.folds for one in fold)


def split_cases(labels: LabelledOutputs, *, holdout: float, seed: int) -> Split:
    """Split cases, or groups of them, in two, with as many of each level on either side."""
    # Within strata of people's mean score, the order is drawn; then every so many-th is held out.
    # Stratified, so that chance cannot put all low scores on one side of the split.
    ordered = _ordered(labels, seed)
    start = seeded_draw(seed, "split")
    is_held = [
        floor((place + 1) * holdout + start) > floor(place * holdout + start)
        for place in range(len(ordered))
    ]
    held = [one for one, out in zip(ordered, is_held, strict=True) if out]
    training = [one for one, out in zip(ordered, is_held, strict=True) if not out]
    if min(len(held), len(training)) < MIN_CASES_PER_SIDE:
        _too_few(len(ordered), len(training), len(held), holdout)
    n = min(_FOLDS, len(training))
    return Split(tuple(frozenset(training[k::n]) for k in range(n)), frozenset(held))


def seeded_draw(seed: int, *what: object) -> float:
    """A number that is drawn for something: the same for the same seed.

    Whatever comes before it.
    """
    digest = hashlib.sha256(repr((seed, *what)).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) / _DRAWS


def _ordered(labels: LabelledOutputs, seed: int) -> Sequence[Hashable]:
    values: defaultdict[Hashable, list[float]] = defaultdict(list)
    for part in labels.criteria:
        for item in part.items:
            values[item.cluster].append(part.value(part.label(item)))
    return sorted(values, key=lambda one: (_stratum(values[one]), seeded_draw(seed, "order", one)))


def _stratum(values: Iterable[float]) -> int:
    known = sorted(values)
    return round(fsum(known) / len(known) * _STRATA)


def _too_few(n: int, n_training: int, n_held: int, holdout: float) -> None:
    needed = ceil(round(MIN_CASES_PER_SIDE / min(holdout, 1 - holdout), _DIGITS))
    low, high = -(-100 * MIN_CASES_PER_SIDE // n), 100 * (n - MIN_CASES_PER_SIDE) // n
    other = f", or hold out a share from {low / 100:g} to {high / 100:g}" if low <= high else ""
    raise NotEnoughDataError(
        f"{n} labelled cases are split into {n_training} to choose by and {n_held} held out, and "
        f"either side needs {MIN_CASES_PER_SIDE}",
        hint=f"label {needed - n:,} more cases{other} (--holdout is {holdout:g})",
    )
