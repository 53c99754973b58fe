"""A problem: one thing in a file that a person should mend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from judgekit.errors import DatasetError
from judgekit.records.record import Name, Record

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.datasets.faults import Fault
    from judgekit.errors import JudgekitError


class Problem(Record):
    """One thing a person should mend."""

    severity: Literal["error", "warning"]
    """An error keeps the file from being used; a warning does not."""

    message: Name
    """What is wrong."""

    path: str | None = None
    """The file."""

    line: Annotated[int, Field(ge=1)] | None = None
    """Its line, from 1."""

    case_id: str | None = None
    """The case it concerns."""

    remedy: str | None = None
    """How to mend it."""

    def __str__(self) -> str:
        """The problem on one line, as compilers write theirs."""
        line = "" if self.line is None else f"{self.line}:"
        where = "" if self.path is None else f"{self.path}:{line} "
        case = "" if self.case_id is None else f"case {self.case_id!r}: "
        remedy = "" if self.remedy is None else f"; {self.remedy}"
        return f"{where}{self.severity}: {case}{self.message}{remedy}"


def problem_from_error(error: JudgekitError) -> Problem:
    """An error as a problem."""
    message = error.message
    path = line = case_id = None
    if isinstance(error, DatasetError):
        path, line, case_id = error.path, error.line, error.case_id
        for lead in (f"{path}:", f"{line}:", f"case {case_id!r}:"):
            message = message.removeprefix(lead).lstrip()
    return Problem(
        severity="error", message=message, path=path, line=line, case_id=case_id, remedy=error.hint
    )


def problem_from_fault(
    fault: Fault, path: Path, line: int, *, case_id: str | None = None
) -> Problem:
    """A fault as a problem."""
    return Problem(
        severity="error",
        message=fault.message,
        path=str(path),
        line=line,
        case_id=case_id,
        remedy=fault.remedy,
    )
