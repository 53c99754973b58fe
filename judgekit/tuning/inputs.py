"""Options of a tuning, its labelled outputs, and the split into training and held-out cases."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import ceil, floor, fsum
from typing import TYPE_CHECKING

from judgekit.calibration import (
    CLUSTER_BY_CASE,
    CLUSTER_BY_ITEM,
    WHOLE_OUTPUT,
    CalibrationOptions,
    LabelMatcher,
    OutputKey,
    PointwiseData,
    add_metadata,
    align_items,
    groups_of,
    label_problems,
    random_key,
)
from judgekit.errors import InputError, NotEnoughDataError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

    from judgekit.calibration import AlignedItems, Consensus, JudgedItem
    from judgekit.datasets import LocatedLabel
    from judgekit.records import Case, Output, Rubric

MOST_EXAMPLES = 16
"""With more examples, the graded output would be a small part of the prompt."""

MIN_CASES_PER_SIDE = 10
"""Cases that each side of the split needs; with fewer, hardly any difference is significant."""

_FOLDS = 5
_STRATA = 4

# Random numbers are the first sixteen digits of a hexadecimal key.
_DRAWS = 2**64
_DIGITS = 9


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
                "outputs of one case are never split", hint="cluster is case, or a metadata key"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledOutputs:
    """Outputs with human labels, and the items of each criterion, which no judge has scored yet.

    The counts are those of `Tuning`.
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
        return tuple(part.where(lambda item: item.cluster in clusters) for part in self.criteria)

    def cases_of(self, clusters: Collection[Hashable]) -> tuple[str, ...]:
        return tuple(sorted({i.place.case_id for i in self.items if i.cluster in clusters}))


def join_labelled_outputs(
    answers: Iterable[tuple[Case, Output]],
    labels: Sequence[LocatedLabel],
    rubric: Rubric,
    options: TuneOptions,
    *,
    shown: Collection[str] = (),
) -> LabelledOutputs:
    """Match outputs and labels, without the cases that a rubric shows as examples."""
    # An output that records an error has no text that a judge could grade.
    answered = [(c, o) for c, o in answers if o.error is None]
    places = {OutputKey(c.id, o.variant): (c, o) for c, o in answered if c.id not in shown}
    names = [criterion.name for criterion in rubric.criteria]
    matching = LabelMatcher(places, names, options.annotators)
    matching.take(labels)
    by_criterion = matching.by_criterion()
    # Labels of the whole output are not used, so that they need no valid score.
    named = [rubric.criterion(name) for name in by_criterion if name != WHOLE_OUTPUT]
    matching.check(label_problems(by_criterion, named))
    # No judge has graded the outputs yet, so that they are aligned without answers.
    groups = {place: groups_of(case, out.metadata) for place, (case, out) in places.items()}
    add_metadata(groups, matching.matched)
    ungraded = PointwiseData(rubric=rubric, groups=groups)
    table = {place: dict.fromkeys(names, ()) for place in sorted(places, key=lambda p: p.rank)}
    wanted = CalibrationOptions(consensus=options.consensus, cluster=options.cluster)
    aligned = [
        align_items(c, by_criterion[c.name], ungraded, table, wanted) for c in rubric.criteria
    ]
    criteria = tuple(part for part in aligned if part.items)
    if not criteria:
        raise InputError(
            "every label is of the whole output, and a tuning needs labels of criteria",
            hint=f"name the `criterion` in the labels: {', '.join(names)}",
        )
    clusters: dict[str, Hashable] = {}
    for item in (item for part in criteria for item in part.items):
        # A case on both sides of the split would leak the choice into its confirmation.
        if clusters.setdefault(item.place.case_id, item.cluster) != item.cluster:
            raise SettingsError(
                f"case {item.place.case_id!r} has outputs with different {options.cluster!r}",
                hint="a cluster has to contain whole cases: use --cluster case",
            )
    used = {item.place for part in criteria for item in part.items}
    n_used = sum(len(item.ratings) for part in criteria for item in part.items)
    return LabelledOutputs(
        answers={place: places[place] for place in sorted(used, key=lambda place: place.rank)},
        criteria=criteria,
        n_labels=n_used,
        n_unused=matching.n_labels - n_used,
        n_examples=len({case.id for case, _ in answered} & set(shown)),
    )


@dataclass(frozen=True, slots=True)
class Split:
    """The training cases in folds, and the held-out cases, which take no part in the choice.

    An output is never shown as an example to its own fold.
    """

    folds: tuple[frozenset[Hashable], ...]
    held_out: frozenset[Hashable]

    @property
    def training(self) -> frozenset[Hashable]:
        """The training cases of all folds."""
        return frozenset(one for fold in self.folds for one in fold)


def split_cases(labels: LabelledOutputs, *, holdout: float, seed: int) -> Split:
    """Split clusters in two, stratified by the mean label."""
    values: defaultdict[Hashable, list[float]] = defaultdict(list)
    for part in labels.criteria:
        for item in part.items:
            values[item.cluster].append(part.value(part.label(item)))

    def stratum(cluster: Hashable) -> int:
        # Sorted, because the sum of floats depends on their order.
        known = sorted(values[cluster])
        return round(fsum(known) / len(known) * _STRATA)

    # Stratified, so that chance cannot put all low scores on one side: the order is random within
    # strata, and a systematic sample of it is held out.
    ordered = sorted(values, key=lambda one: (stratum(one), seeded_draw(seed, "order", one)))
    start = seeded_draw(seed, "split")
    training: list[Hashable] = []
    held_out: list[Hashable] = []
    for place, cluster in enumerate(ordered):
        is_held_out = floor((place + 1) * holdout + start) > floor(place * holdout + start)
        (held_out if is_held_out else training).append(cluster)
    if min(len(held_out), len(training)) < MIN_CASES_PER_SIDE:
        n_cases = len(ordered)
        needed = ceil(round(MIN_CASES_PER_SIDE / min(holdout, 1 - holdout), _DIGITS))
        low = -(-100 * MIN_CASES_PER_SIDE // n_cases)
        high = 100 * (n_cases - MIN_CASES_PER_SIDE) // n_cases
        other = f", or hold out a share from {low / 100:g} to {high / 100:g}" if low <= high else ""
        raise NotEnoughDataError(
            f"{n_cases} labelled cases are split into {len(training)} for training and "
            f"{len(held_out)} held out, and each side needs {MIN_CASES_PER_SIDE}",
            hint=f"label {needed - n_cases:,} more cases{other} (--holdout is {holdout:g})",
        )
    n = min(_FOLDS, len(training))
    return Split(tuple(frozenset(training[k::n]) for k in range(n)), frozenset(held_out))


def seeded_draw(seed: int, *what: object) -> float:
    """A random number in [0, 1) for something, which depends on that and on the seed only."""
    return int(random_key(seed, *what)[:16], 16) / _DRAWS
