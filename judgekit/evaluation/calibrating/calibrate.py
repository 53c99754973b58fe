"""The one door to calibration: what judges said and what people said to a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from judgekit.datasets.labels import PlacedLabel, place_labels, read_labels
from judgekit.datasets.loading import load_dataset, load_rubric
from judgekit.datasets.rows import Row
from judgekit.errors import InputError
from judgekit.evaluation.calibrating.averaging import averaged
from judgekit.evaluation.calibrating.choosing import suggestions
from judgekit.evaluation.calibrating.criterion import calibrated
from judgekit.evaluation.calibrating.deciding import together
from judgekit.evaluation.calibrating.files import from_file, from_rows
from judgekit.evaluation.calibrating.joining import join
from judgekit.evaluation.calibrating.labelling import WHOLE
from judgekit.evaluation.calibrating.material import Grades, Pairs
from judgekit.evaluation.calibrating.options import CalibrationOptions
from judgekit.evaluation.calibrating.pair_joining import join_pairs
from judgekit.evaluation.calibrating.report import CalibrationReport
from judgekit.evaluation.calibrating.sources import Said, from_run, from_said
from judgekit.evaluation.preparing.asked import asked_by_name
from judgekit.evaluation.run import Run
from judgekit.records.label import Label

if TYPE_CHECKING:
    from types import UnionType

    from pydantic import JsonValue

    from judgekit.evaluation.calibrating.aligned import Aligned
    from judgekit.evaluation.calibrating.deciding import StandIn
    from judgekit.evaluation.calibrating.joining import Material
    from judgekit.evaluation.calibrating.material import Pair, Place
    from judgekit.evaluation.calibrating.report import CriterionCalibration
    from judgekit.records.case import Dataset
    from judgekit.records.rubric import Rubric

    Told = Said | Mapping[str, JsonValue]
    Judged = Run | Path | str | Told | Iterable[Told] | Grades | Pairs
    Labelled = Label | Mapping[str, JsonValue]
    Labels = Path | str | Labelled | Iterable[Labelled] | list[PlacedLabel]


def calibrate(
    judgments: Judged,
    labels: Labels,
    *,
    rubric: Rubric | Path | str | None = None,
    cases: Dataset | Path | str | None = None,
    options: CalibrationOptions | None = None,
) -> CalibrationReport:
    """Hold a judge against people.

    Args:
        judgments: A run; verdicts, judgments with their `case_id`, or comparisons; mappings with
            `case_id` and `raw` or `winner`; or the path of a file of any of these.
        labels: A file of labels, or labels themselves: `case_id`, `annotator`, `raw` or `winner`,
            and where needed `variant` and `criterion`.
        rubric: The rubric that was asked, or its file, for its scales and thresholds; a run knows
            its own. Without it they are inferred, which the report's notes say.
        cases: The cases, or their file, for strata, tags and metadata; a run knows its own.
        options: Levels, limits and policies; None takes the defaults.

    Returns:
        The report; `report.to_json()` is all of it, `report.stand_in` its shortest answer.

    Raises:
        DatasetError: When a file or a label is unsound.
        InputError: When several labels are, when no label is of anything that was judged, or when
            an argument is of no kind that is known.
        StoreError: When the run cannot be read.

    Example:
        >>> from judgekit.records.judgment import Judgment
        >>> said = [
        ...     Judgment(criterion="right", raw=r, value=r, rationale="so", case_id=f"c{i}")
        ...     for i, r in enumerate([1, 1, 0, 1])
        ... ]
        >>> people = [
        ...     {"case_id": f"c{i}", "annotator": "Ada", "raw": r}
        ...     for i, r in enumerate([1, 0, 0, 1])
        ... ]
        >>> calibrate(said, people).overall.agreement.exact.value
        0.75
    """
    wanted = options or CalibrationOptions()
    placed = _placed(labels)
    asked = load_rubric(rubric) if isinstance(rubric, str | Path) else rubric
    known = load_dataset(cases) if isinstance(cases, str | Path) else cases
    found = _found(judgments, asked, known)
    if isinstance(found, Pairs):
        return _of_pairs(found, placed, wanted)
    if asked is not None:
        found.rubric = asked
    return _of_scores(found, placed, wanted)


def _placed(labels: Labels) -> list[PlacedLabel]:
    if isinstance(labels, str | Path):
        return read_labels(labels)
    if isinstance(labels, list) and labels and isinstance(labels[0], PlacedLabel):
        return labels
    placed = place_labels(_listed(labels, Label, "labels", "a file, or a list of labels"))
    if not placed:
        raise InputError("there are no labels to hold the judge against")
    return placed


def _found(judgments: Judged, rubric: Rubric | None, cases: Dataset | None) -> Grades | Pairs:
    by_id = {} if cases is None else {case.id: case for case in cases.cases}
    if isinstance(judgments, Grades | Pairs):
        return judgments
    if isinstance(judgments, Run):
        return from_run(judgments)
    if isinstance(judgments, str | Path):
        found = from_file(Path(judgments), rubric=rubric, cases=by_id)
        found.origin["file"] = str(judgments)
        return found
    kinds = "a run, a file, or a list of verdicts, judgments or comparisons"
    given = _listed(judgments, Said, "judgments", kinds)
    rows = [Row(n, dict(one)) for n, one in enumerate(given, start=1) if isinstance(one, Mapping)]
    if rows and len(rows) == len(given):
        return from_rows(rows, rubric=rubric, cases=by_id)
    said = [one for one in given if not isinstance(one, Mapping)]
    if rows:
        raise InputError("records and mappings are not mixed", hint="give one kind of judgments")
    return from_said(said, rubric=rubric, cases=by_id)


def _listed(given: object, kind: type | UnionType, what: str, wanted: str) -> list[Any]:
    """What was given as a list, one by itself too; mappings stand for records."""
    one_is_fine = (Mapping, *(get_args(kind) or (kind,)))
    listed = [given] if isinstance(given, one_is_fine) else given
    if isinstance(listed, Iterable):
        listed = list(listed)
        strange = [one for one in listed if not isinstance(one, one_is_fine)]
        if not strange:
            return listed
        given = strange[0]
    kind_given = type(given).__name__
    raise InputError(f"{what}: {kind_given} is nothing of the kind", hint=f"give {wanted}")


def _of_scores(
    grades: Grades, placed: list[PlacedLabel], options: CalibrationOptions
) -> CalibrationReport:
    material = join(grades, placed, options)
    rubric = grades.rubric
    parts = _Parts.of(material, options, {})
    return CalibrationReport(
        kind="pointwise",
        judges=material.judges,
        models=tuple(grades.models),
        rubric=None if rubric is None else rubric.name,
        rubric_fingerprint=None if rubric is None else rubric.fingerprint,
        origin=grades.origin,
        joined=material.joined,
        criteria=parts.criteria,
        overall=parts.overall,
        pooled=parts.pooled,
        mean_of_criteria=averaged(list(parts.criteria.values())),
        stand_in=parts.stand_in,
        suggestions=suggestions(parts.aligned, options.n_suggested),
        notes=material.notes,
        options=options,
        aligned={each.name: each for each in parts.aligned},
        rubric_record=rubric,
        asked=grades.asked or asked_by_name(material.judges),
    )


def _of_pairs(
    pairs: Pairs, placed: list[PlacedLabel], options: CalibrationOptions
) -> CalibrationReport:
    found = join_pairs(pairs, placed, options)
    material = found.material
    parts = _Parts.of(material, options, found.pairs)
    return CalibrationReport(
        kind="pairwise",
        judges=material.judges,
        models=tuple(pairs.models),
        rubric=None,
        rubric_fingerprint=None,
        origin=pairs.origin,
        joined=material.joined,
        criteria=parts.criteria,
        overall=parts.overall,
        pooled=parts.pooled,
        mean_of_criteria=averaged(list(parts.criteria.values())),
        stand_in=parts.stand_in,
        suggestions=suggestions(parts.aligned, options.n_suggested),
        notes=material.notes,
        options=options,
        aligned={each.name: each for each in parts.aligned},
    )


@dataclass(frozen=True, slots=True)
class _Parts:
    """The figures of every criterion, of the whole and of all together."""

    criteria: dict[str, CriterionCalibration]
    overall: CriterionCalibration
    pooled: CriterionCalibration
    stand_in: StandIn
    aligned: tuple[Aligned, ...]

    @classmethod
    def of(
        cls,
        material: Material,
        options: CalibrationOptions,
        pairs: Mapping[str, Mapping[Place, Pair]],
    ) -> _Parts:
        criteria = {
            each.name: calibrated(each, options, pairs.get(each.name)) for each in material.criteria
        }
        whole = material.whole
        overall = None if whole is None else calibrated(whole, options, pairs.get(WHOLE))
        pooled = None if material.pooled is None else calibrated(material.pooled, options)
        parts = [part for part in (overall, pooled, *criteria.values()) if part is not None]
        asked = list(criteria.items()) or [(parts[0].name, parts[0])]
        return cls(
            criteria=criteria,
            overall=parts[0],
            pooled=pooled or parts[0],
            stand_in=together([(name, part.stand_in) for name, part in asked]),
            aligned=tuple(material.criteria or ([whole] if whole is not None else [])),
        )
