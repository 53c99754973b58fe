"""Reads human labels from files and checks their scores against the criteria's scales."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isnan
from pathlib import Path
from sys import intern

from pydantic import JsonValue, ValidationError

from judgekit import formats
from judgekit.errors import DatasetError, InputError
from judgekit.records import Criterion, Label, Scale

LABEL_ALIASES = {
    "case": "case_id", "id": "case_id", "score": "raw", "label": "raw", "rating": "raw",
    "rater": "annotator", "reason": "rationale", "comment": "rationale", "preference": "winner",
}  # fmt: skip
"""Common names of the fields of a label."""

YES_NO = {"yes": 1, "pass": 1, "passed": 1, "true": 1, "no": 0, "fail": 0, "failed": 0, "false": 0}
"""Words for the two scores of a scale, in lower case: 1 for the higher."""

_TWO = 2
_MOST_POINTS = 12  # of a scale whose scores a message lists
_TEXTS = ("case_id", "variant", "criterion", "annotator")
_BLANKS = ("raw", "winner", "rationale", "confidence", "variant", "criterion", "annotator")
_LISTED = 20
_FIELDS = set(Label.model_fields)


@dataclass(frozen=True, slots=True)
class LocatedLabel:
    """A label and where it stands."""

    label: Label
    line: int  # the line, from 1; in a list the position
    path: Path | None = None  # None where the label came from Python

    @property
    def where(self) -> str:
        """The place in words: `labels.jsonl:12`, or `label 12`."""
        return f"label {self.line}" if self.path is None else f"{self.path}:{self.line}"

    @property
    def given_at(self) -> datetime | None:
        """When it was given, as the page or the run that it comes from states."""
        about = self.label.metadata or {}
        try:
            at = datetime.fromisoformat(str(about.get("labelled_at") or about.get("judged_at")))
            # Without a zone it is no time of this machine's own.
            return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        except (ValueError, OverflowError):  # the years 1 and 9999 have no room for a zone
            return None

    def fault(self, problem: str, hint: str | None = None) -> DatasetError:
        """An error that says which label is wrong."""
        return DatasetError(
            problem, path=self.path, line=self.line, case_id=self.label.case_id, hint=hint
        )


def read_labels(
    path: Path | str, *, note: Callable[[str], None] = warnings.warn
) -> list[LocatedLabel]:
    """The labels of a file; of a quality memory its human judgments, and a note of all others."""
    path = Path(path)
    rows, left_out = _label_rows(path)
    labels = _valid_labels(
        row if isinstance(row, DatasetError) else _read_label(row, path) for row in rows
    )
    if not labels:
        what = f"human judgments, only {left_out}" if left_out else "labels"
        raise DatasetError(f"the file holds no {what}", path=path)
    if left_out:
        note(f"{path.name}: human judgments are the labels; left out: {left_out}")
    return labels


def _label_rows(path: Path) -> tuple[Iterable[formats.FileRow | DatasetError], str]:
    """The rows of a file of labels, and in words what else it holds."""
    document = formats.read_whole_document(path) if formats.is_read_whole(path) else None
    shape = None if document is None else formats.foreign_shape(document.value)
    if document is not None and shape is not None and shape.is_log:
        return shape.read(document).rows("labels"), ""
    if document is None or shape is None or shape.name != "quality":
        return formats.scan_rows(path), ""
    rows, others = formats.human_judgments(document)
    counts = sorted(others.items())
    words = (f"{n:,} {who} judgment{'' if n == 1 else 's'}" for who, n in counts)
    return [formats.FileRow(*row) for row in rows], " and ".join(words)


# A judgment of a criterion is compared as the mean of its turns.
_TURN = formats.FieldFault(
    ("turn",),
    "a label is of the whole output, not of a turn",
    "leave `turn` out, and give one label for all turns of a criterion, such as their mean",
)


def locate_labels(labels: Iterable[Label | Mapping[str, JsonValue]]) -> list[LocatedLabel]:
    """Labels from Python, each with its position in the list."""
    return _valid_labels(
        LocatedLabel(label, number)
        if isinstance(label, Label)
        else _read_label(formats.FileRow(number, dict(label)), None)
        for number, label in enumerate(labels, start=1)
    )


def _valid_labels(labels: Iterable[LocatedLabel | DatasetError]) -> list[LocatedLabel]:
    listed = list(labels)
    raise_problems([one for one in listed if isinstance(one, DatasetError)])
    return [one for one in listed if isinstance(one, LocatedLabel)]


def _read_label(row: formats.FileRow, path: Path | None) -> LocatedLabel | DatasetError:
    label = label_from_row(row)
    if isinstance(label, Label):
        return LocatedLabel(label, row.line, path)
    # All faults of a row at once, so that a row is fixed in one go.
    what = "; ".join(str(fault) for fault in label)
    named = row.fields.get("case_id")
    case_id = named if isinstance(named, str) else None
    return DatasetError(what, path=path, line=row.line, case_id=case_id)


def score_on_scale(placed: LocatedLabel, criterion: Criterion) -> float:
    # A label may be a word such as `pass`, which only its criterion turns into a score.
    raw, scale = placed.label.raw, criterion.scale
    score = raw if isinstance(raw, float | int) else _of_word(str(raw), scale)
    if score is None or not scale.holds(score):
        shown = f"{raw:g}" if isinstance(raw, float | int) else repr(raw)
        points, names = scale.points, [level.name for level in scale.levels if level.name]
        hint = f"a score is a number from {scale.min:g} to {scale.max:g}"
        if points is not None and len(points) <= _MOST_POINTS:
            hint = f"a score is one of {', '.join(f'{point:g}' for point in points)}"
        hint += f", or {', '.join(names)}" if names else ""
        raise placed.fault(f"{shown} is not a score of {criterion.name!r}", hint)
    return float(score)


def raise_problems(problems: Sequence[DatasetError], what: str = "labels") -> None:
    """Raise everything that is wrong with labels or other rows in one error."""
    # A single error keeps its fields for file, line and case.
    if len(problems) == 1:
        raise problems[0]
    # Labels are corrected by hand, so all of them are reported in one go.
    if problems:
        lines = [f"  {'; '.join(map(str.strip, str(e).splitlines()))}" for e in problems[:_LISTED]]
        n_more = len(problems) - len(lines)
        lines += [f"  … and {n_more:,} more"] if n_more else []
        raise InputError(f"{len(problems):,} {what} cannot be used:\n" + "\n".join(lines))


def label_from_row(row: formats.FileRow) -> Label | list[formats.FieldFault]:
    fields, faults = formats.rename_fields(row.fields, LABEL_ALIASES)
    if row.is_table:
        fields, more = formats.read_cells(fields, json_names=("metadata",))
        faults += more
    if faults:
        return faults
    fields = formats.as_texts(_known_values(fields), _TEXTS)
    # Labels are many, each was read with texts of its own, and they name the same few.
    for name in _TEXTS[1:]:
        if type(text := fields.get(name)) is str:
            fields[name] = intern(text)
    try:
        label = Label.model_validate(fields)
    except ValidationError as error:
        faults = formats.validation_faults(error, Label, fields, synonyms=LABEL_ALIASES)
        return [_TURN if fault.where == _TURN.where else fault for fault in faults]
    # Which fields its row had would take as much memory as the label.
    object.__setattr__(label, "__pydantic_fields_set__", _FIELDS)
    return label


def _known_values(fields: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The fields that somebody filled in, a score as a number where it is one."""
    # Tables of labels have an empty cell, or the nan of a data frame, where nobody did.
    blank = [name for name in _BLANKS if name in fields and _is_blank(fields[name])]
    known = {name: value for name, value in fields.items() if name not in blank}
    raw = known.get("raw")
    if isinstance(raw, bool):  # a word of the scale, not the number 1
        known["raw"] = "true" if raw else "false"
    elif isinstance(raw, str):
        known["raw"] = parse_number(raw)
    return known


def _of_word(word: str, scale: Scale) -> float | None:
    folded = word.casefold()
    named = {level.name.casefold(): level.value for level in scale.levels if level.name}
    if folded in named:
        return named[folded]
    # Yes and no are the two ends of a scale with two points; on others they are ambiguous.
    ends = scale.points
    if ends is not None and len(ends) == _TWO and folded in YES_NO:
        return ends[YES_NO[folded]]
    return None


def _is_blank(value: JsonValue) -> bool:
    if isinstance(value, float):
        return isnan(value)
    return value is None or (isinstance(value, str) and not value.strip())


def parse_number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        # A word of the scale, which only the criterion can turn into a score.
        return text.strip()
