"""An output as a whole: what the rubric concludes, against what people's scores come to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.calibrating.aligned import Aligned, Item
from judgekit.records.judgment import Judgment
from judgekit.records.rubric import Scale
from judgekit.verdicts import conclude

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.evaluation.calibrating.labelling import Told
    from judgekit.evaluation.calibrating.material import Combined, Place
    from judgekit.records.rubric import Rubric

_ALL = "all annotators"
_SAID = "a person's label"
_UNIT = Scale(min=0, max=1)


def whole_of(
    rubric: Rubric,
    criteria: Sequence[Aligned],
    combined: Mapping[Place, Combined],
    told: Sequence[Told],
) -> Aligned:
    """The verdicts of a rubric, against those that people's scores come to by the same rubric."""
    # An annotator who scored every weighted criterion of an output has a value for the whole, the
    # weighted mean; where nobody scored all, what annotators come to on each criterion makes one. A
    # label that names no criterion is of the whole, from 0 to 1.
    found: dict[Place, dict[str, Item]] = {}
    for each in criteria:
        for item in (*each.items, *each.unlabelled):
            found.setdefault(item.place, {})[each.name] = item
    by_name = {each.name: each for each in criteria}
    said: dict[Place, list[Told]] = {}
    for one in told:
        said.setdefault(one.place, []).append(one)
    items = [
        _item(rubric, by_name, parts, combined.get(place), said.get(place, ()))
        for place, parts in sorted(found.items(), key=lambda one: one[0].rank)
    ]
    return Aligned(
        name="",
        scale=_UNIT,
        threshold=rubric.pass_threshold,
        items=tuple(item for item in items if item.ratings),
        unlabelled=tuple(i for i in items if not i.ratings and i.judge is not None),
        consensus=criteria[0].consensus,
    )


def _item(
    rubric: Rubric,
    criteria: Mapping[str, Aligned],
    parts: Mapping[str, Item],
    combined: Combined | None,
    told: Sequence[Told],
) -> Item:
    any_part = next(iter(parts.values()))
    judge = _verdict(rubric, _scores(criteria, parts))
    value, passed = judge if combined is None else (combined.value, combined.passed)
    ratings = {one.annotator: float(one.placed.label.raw or 0) for one in told}
    human_passed = None
    labelled = {name: item for name, item in parts.items() if item.ratings}
    if not ratings:
        ratings, human_passed = _people(rubric, criteria, labelled)
    sure = [item.confidence for item in parts.values() if item.confidence is not None]
    return Item(
        place=any_part.place,
        criterion="",
        cluster=any_part.cluster,
        judge=value,
        ratings=ratings,
        confidence=min(sure) if len(sure) == len(parts) else None,
        rationale=_joined({n: i.rationale for n, i in parts.items() if i.rationale}),
        reasons={
            one.annotator: one.placed.label.rationale for one in told if one.placed.label.rationale
        }
        or _reasons(labelled),
        groups=any_part.groups,
        judge_passed=passed,
        human_passed=human_passed,
    )


def _scores(criteria: Mapping[str, Aligned], parts: Mapping[str, Item]) -> dict[str, float]:
    return {
        name: criteria[name].value(item.judge)
        for name, item in parts.items()
        if item.judge is not None
    }


def _people(
    rubric: Rubric, criteria: Mapping[str, Aligned], parts: Mapping[str, Item]
) -> tuple[dict[str, float], bool | None]:
    """What each annotator's scores come to, and whether their labels pass."""
    labels = {name: criteria[name].value(criteria[name].label(i)) for name, i in parts.items()}
    value, passed = _verdict(rubric, labels)
    names = dict.fromkeys(name for item in parts.values() for name in item.ratings)
    ratings: dict[str, float] = {}
    for name in names:
        own = {
            c: criteria[c].value(item.ratings[name])
            for c, item in parts.items()
            if name in item.ratings
        }
        whole, _ = _verdict(rubric, own)
        if whole is not None:
            ratings[name] = whole
    if not ratings and value is not None:
        ratings = {_ALL: value}
    return ratings, passed if ratings else None


def _verdict(rubric: Rubric, values: Mapping[str, float]) -> tuple[float | None, bool | None]:
    judgments = [
        Judgment(criterion=name, raw=value, value=min(1.0, max(0.0, value)), rationale=_SAID)
        for name, value in values.items()
    ]
    verdict = conclude(rubric, judgments)
    return verdict.value, verdict.passed


def _joined(parts: Mapping[str, str]) -> str | None:
    return "; ".join(f"{name}: {text}" for name, text in parts.items()) or None


def _reasons(parts: Mapping[str, Item]) -> dict[str, str]:
    found: dict[str, dict[str, str]] = {}
    for name, item in parts.items():
        for annotator, reason in item.reasons.items():
            found.setdefault(annotator, {})[name] = reason
    return {annotator: _joined(reasons) or "" for annotator, reasons in found.items()}
