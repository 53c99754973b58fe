"""From a calibration's report to the maps that bring a judge's values to people's."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

from judgekit.errors import InputError, NotEnoughDataError
from judgekit.evaluation.calibrating.agreeing import agreement
from judgekit.evaluation.calibrating.joining import pooled
from judgekit.evaluation.calibrating.map_fitting import fit_map, measured
from judgekit.fingerprint import fingerprint
from judgekit.records.calibration_map import Calibration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from judgekit.evaluation.calibrating.aligned import Aligned
    from judgekit.evaluation.calibrating.options import CalibrationOptions
    from judgekit.records.calibration_map import CalibrationMap, Judging
    from judgekit.records.rubric import Rubric
    from judgekit.stats.estimate import Estimate

_NO_LABELS = "nobody labelled it"


@dataclass(frozen=True, slots=True, kw_only=True)
class MapMaterial:
    """What maps are fitted on."""

    kind: Literal["pointwise", "pairwise"]
    """Whether single outputs or two at a time were judged."""

    rubric: Rubric | None
    """The rubric, where it is known."""

    asked: Judging | None
    """Who judged and how, where that is known."""

    aligned: Mapping[str, Aligned]
    """Scores and labels per criterion."""

    kappas: Mapping[str, Estimate]
    """Agreement per criterion."""

    pooled: Estimate
    """Agreement over all of them."""

    options: CalibrationOptions
    """Confidence level and seed."""


def fit_maps(material: MapMaterial, *, fitted_at: datetime) -> Calibration:
    """The maps of all criteria that have enough labels."""
    rubric, asked = _known(material)
    maps: list[CalibrationMap] = []
    without: dict[str, str] = {}
    options = material.options
    for criterion in rubric.criteria:
        aligned, kappa = material.aligned.get(criterion.name), material.kappas.get(criterion.name)
        if aligned is None or kappa is None:
            without[criterion.name] = _NO_LABELS
            continue
        try:
            maps.append(fit_map(aligned, criterion, kappa, level=options.level, seed=options.seed))
        except NotEnoughDataError as error:
            without[criterion.name] = error.message
    if not maps:
        told = "; ".join(f"{name}: {why}" for name, why in without.items())
        raise NotEnoughDataError(f"no criterion has enough labels for a map: {told}")
    kept = [material.aligned[one.criterion.name] for one in maps]
    return Calibration(
        rubric=rubric,
        asked=asked,
        maps=tuple(maps),
        without=without,
        n_labels=sum(one.n_labels for one in maps),
        annotators=tuple(sorted({n for a in kept for item in a.both for n in item.ratings})),
        kappa=measured(_kappa_of(material, kept)),
        label_set=_label_set(kept),
        fitted_at=fitted_at,
        judgekit=version("judgekit-llm"),
    )


def _known(material: MapMaterial) -> tuple[Rubric, Judging]:
    if material.kind == "pairwise":
        raise InputError(
            "choices between two outputs have no map",
            hint="label single outputs with `raw`, and hold the judge's grades against them",
        )
    if material.rubric is None:
        raise InputError("a map belongs to a rubric, and it is not known", hint="give --rubric")
    if material.asked is None:
        raise InputError(
            "a map belongs to a judge, and the judgments do not name theirs",
            hint="grade the outputs with it: --outputs FILE --judge MODEL",
        )
    return material.rubric, material.asked


def _kappa_of(material: MapMaterial, kept: Sequence[Aligned]) -> Estimate:
    """The agreement on the criteria that have maps; others that people labelled are not in it."""
    if len(kept) == len(material.aligned):
        return material.pooled
    together = pooled(kept)
    if together is None:
        return material.kappas[kept[0].name]
    return agreement(together, level=material.options.level).kappa_quadratic


def _label_set(kept: Iterable[Aligned]) -> str:
    """One name for all labels, whatever their order."""
    rows = [
        [*item.place, aligned.name, name, rating]
        for aligned in kept
        for item in aligned.items
        for name, rating in item.ratings.items()
    ]
    return fingerprint(sorted(rows, key=str))
