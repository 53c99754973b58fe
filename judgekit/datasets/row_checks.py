"""Checks every row of a file as the kind of row it is, and that no two say the same thing twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Self

from pydantic import ValidationError

from judgekit.datasets.cases import read_case
from judgekit.datasets.faults import Fault, explain, suggestion
from judgekit.datasets.fields import as_texts, read_cells
from judgekit.datasets.labels import label_of
from judgekit.datasets.outputs import read_answer
from judgekit.datasets.problems import Problem, problem_from_error, problem_from_fault
from judgekit.datasets.recognition import Kind, row_kind
from judgekit.errors import DatasetError
from judgekit.records.output import Usage
from judgekit.records.record import Count, Name, Record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from judgekit.datasets.rows import Row
    from judgekit.records.case import Case

Key = tuple[object, ...]
"""What tells a row from the others of its file; the first entry is the id of the case."""


class ReplyLine(Record):
    """One line of a file of recorded replies."""

    case_id: Name
    """The case that was judged."""

    variant: str | None = None
    """The variant that was judged."""

    criterion: str | None = None
    """The criterion asked about; None when all were asked at once."""

    order: Literal["ab", "ba"] | None = None
    """The order of a comparison."""

    repeat: Count = 0
    """Which time the judge was asked, from 0."""

    text: str | None = None
    """What the judge said."""

    finish_reason: str | None = None
    """Why it ended."""

    model: str | None = None
    """The model that answered."""

    usage: Usage | None = None
    """Its tokens."""


@dataclass(slots=True)
class RowCheck:
    """What the rows of a file come to."""

    path: Path
    """The file."""

    kind: Kind | None = None
    """What its rows are; None takes it from the first row that can be read."""

    case_ids: Collection[str] | None = None
    """The cases there are, for rows that refer to them; None where they are not known."""

    problems: list[Problem] = field(default_factory=list)
    """What is wrong, in file order."""

    cases: list[Case] = field(default_factory=list)
    """The sound cases, when the rows are cases."""

    lines: dict[Key, int] = field(default_factory=dict)
    """The line of every sound row, and of every unsound case that has an id."""

    def take(self, rows: Iterable[Row | DatasetError]) -> Self:
        """Check rows."""
        n_rows = 0
        for row in rows:
            n_rows += 1
            if isinstance(row, DatasetError):
                self.problems.append(problem_from_error(row))
            elif (self.kind or row_kind(row.fields)) is None:
                self._add(row, _unknown_row(row))
                return self
            else:
                self.kind = self.kind or row_kind(row.fields)
                self._check(row)
        if n_rows == 0:
            hint = "a result over nothing says nothing"
            error = DatasetError("the file holds no rows", path=self.path, hint=hint)
            self.problems.append(problem_from_error(error))
        return self

    def _check(self, row: Row) -> None:
        found = self._read(row)
        if isinstance(found, list):
            for fault in found:
                self._add(row, fault)
            name = row.fields.get("id")
            if self.kind == "cases" and isinstance(name, str) and name.strip():
                self._claim(row, (name,))  # an unsound case has its id too
            return
        self._claim(row, found)
        if self.case_ids is not None and found[0] not in self.case_ids:
            near = suggestion(str(found[0]), self.case_ids)
            self._add(row, Fault((), f"no case has the id {found[0]!r}", near))
        if row.is_repaired:
            warning = "a lone surrogate, which no file can hold, was replaced by U+FFFD"
            self._add(row, Fault((), warning), severity="warning")

    def _claim(self, row: Row, key: Key) -> None:
        if key in self.lines:
            named = ", ".join(str(part) for part in key if part is not None)
            message = f"a duplicate, it stands twice ({named}); first in line {self.lines[key]}"
            self._add(row, Fault((), message, "rename or remove one"))
        else:
            self.lines[key] = row.line

    def _read(self, row: Row) -> Key | list[Fault]:
        if self.kind == "cases":
            case = read_case(row.fields, is_table=row.is_table)
            if isinstance(case, list):
                return case
            if (case.id,) not in self.lines:
                self.cases.append(case)
            return (case.id,)
        if self.kind == "outputs":
            answer = read_answer(row)
            if isinstance(answer, list):
                return answer
            repeat = row.fields.get("repeat")  # of answers that `export` wrote
            return (answer.output.case_id, answer.output.variant, repeat)
        return _read_label(row) if self.kind == "labels" else _read_reply(row)

    def _add(
        self, row: Row, fault: Fault, *, severity: Literal["error", "warning"] = "error"
    ) -> None:
        given = row.fields.get("id", row.fields.get("case_id"))
        case_id = str(given)[:80] if isinstance(given, str | int) else None
        problem = problem_from_fault(fault, self.path, row.line, case_id=case_id)
        self.problems.append(problem.model_copy(update={"severity": severity}))


def _read_label(row: Row) -> Key | list[Fault]:
    label = label_of(row)
    if isinstance(label, list):
        return label
    return (label.case_id, label.variant, label.criterion, label.repeat, label.annotator)


def _read_reply(row: Row) -> Key | list[Fault]:
    fields = dict(row.fields)
    if row.is_table:
        fields, faults = read_cells(fields, json_names=("usage",), list_names=())
        if faults:
            return faults
    try:
        line = ReplyLine.model_validate(as_texts(fields, ("case_id", "variant")))
    except ValidationError as error:
        return explain(error, ReplyLine, fields)
    return (line.case_id, line.variant, line.criterion, line.order, line.repeat)


def _unknown_row(row: Row) -> Fault:
    names = ", ".join(list(row.fields)[:8]) or "no fields"
    remedy = (
        "cases have `id` and `input`, outputs `case_id` and `text`, replies also `criterion`, "
        "labels `annotator`"
    )
    return Fault((), f"cannot tell what these rows are from their fields: {names}", remedy)
