"""What a judge is tuned on: labelled outputs, each criterion's labels, and what hangs together."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.errors import DatasetError, InputError, SettingsError
from judgekit.evaluation.calibrating.aligned import Aligned, Item
from judgekit.evaluation.calibrating.joining import add_metadata, cluster_of, scored
from judgekit.evaluation.calibrating.labelling import WHOLE, Matching
from judgekit.evaluation.calibrating.material import Place, groups_of
from judgekit.evaluation.calibrating.options import CalibrationOptions

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

    from judgekit.datasets.labels import PlacedLabel
    from judgekit.evaluation.calibrating.labelling import Told
    from judgekit.evaluation.calibrating.material import Groups
    from judgekit.evaluation.tuning.options import TuneOptions
    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.records.rubric import Criterion, Rubric


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """Outputs that people scored."""

    answers: Mapping[Place, tuple[Case, Output]]
    """Cases and outputs that have a label."""

    criteria: tuple[Aligned, ...]
    """Each criterion with labels: its items, which no judge has scored yet."""

    n_labels: int
    """Labels that are used."""

    n_unused: int
    """Labels that are not: without a score, of the whole, or of outputs that are not there."""

    n_examples: int
    """Cases left out, for a rubric shows their outputs already."""

    @property
    def items(self) -> Iterable[Item]:
        """Everything that has a label, criterion by criterion."""
        return (item for part in self.criteria for item in part.items)

    def within(self, clusters: Collection[Hashable]) -> tuple[Aligned, ...]:
        """The items of some clusters."""
        return tuple(part.where(lambda item: item.cluster in clusters) for part in self.criteria)

    def cases_of(self, clusters: Collection[Hashable]) -> tuple[str, ...]:
        """The cases of some clusters."""
        return tuple(sorted({i.place.case_id for i in self.items if i.cluster in clusters}))


def labelled(
    answers: Iterable[tuple[Case, Output]],
    labels: Sequence[PlacedLabel],
    rubric: Rubric,
    options: TuneOptions,
    *,
    shown: Collection[str] = (),
) -> Labelled:
    """Bring outputs and labels together."""
    answered = [(c, o) for c, o in answers if o.error is None]
    places = {Place(c.id, o.variant): (c, o) for c, o in answered if c.id not in shown}
    names = [criterion.name for criterion in rubric.criteria]
    matching = Matching(places, names, options.annotators)
    matching.take(labels)
    by_criterion: defaultdict[str, list[Told]] = defaultdict(list)
    for each in matching.told:
        by_criterion[each.criterion].append(each)
    matching.check(_unscored(by_criterion, rubric))
    groups = {place: groups_of(case, out.metadata) for place, (case, out) in places.items()}
    add_metadata(groups, matching.told)
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
    return Labelled(
        answers={place: places[place] for place in sorted(used, key=_order)},
        criteria=criteria,
        n_labels=n_used,
        n_unused=matching.n_labels - n_used,
        n_examples=len({case.id for case, _ in answered} & set(shown)),
    )


def _unscored(told: Mapping[str, Sequence[Told]], rubric: Rubric) -> list[DatasetError]:
    """All labels that are no score of their scale; those of the whole are not used."""
    problems: list[DatasetError] = []
    for name, said in told.items():
        for each in said if name != WHOLE else ():
            try:
                scored(each.placed, rubric.criterion(name))
            except DatasetError as error:
                problems.append(error)
    return problems


def _aligned(
    criterion: Criterion,
    told: Sequence[Told],
    groups: Mapping[Place, Groups],
    options: CalibrationOptions,
) -> Aligned:
    by_place: defaultdict[Place, list[Told]] = defaultdict(list)
    for each in sorted(told, key=lambda one: one.annotator):
        by_place[each.place].append(each)
    items = [
        Item(
            place=place,
            criterion=criterion.name,
            cluster=cluster_of(place, groups[place], criterion.name, options),
            judge=None,
            ratings={one.annotator: scored(one.placed, criterion) for one in said},
            reasons={
                one.annotator: one.placed.label.rationale
                for one in said
                if one.placed.label.rationale
            },
            groups=groups[place],
        )
        for place, said in sorted(by_place.items(), key=lambda pair: _order(pair[0]))
    ]
    return Aligned(
        name=criterion.name,
        criterion=criterion,
        scale=criterion.scale,
        threshold=None,
        items=tuple(items),
        consensus=options.consensus,
    )


def _check_clusters(criteria: Sequence[Aligned], name: str) -> None:
    """What is never split has to hold whole cases, or a case would stand on both sides."""
    found: dict[str, Hashable] = {}
    for item in (item for part in criteria for item in part.items):
        if found.setdefault(item.place.case_id, item.cluster) != item.cluster:
            raise SettingsError(
                f"case {item.place.case_id!r} has outputs with different {name!r}",
                hint="what is never split has to hold whole cases: use --cluster case",
            )


def _order(place: Place) -> tuple[str, str, int]:
    return place.case_id, place.variant or "", place.repeat
