"""Problems found in files, printed like compiler diagnostics or as JSON.

Used by `validate` and `lint`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from judgekit.cli import console as streams
from judgekit.report import message, numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.formats import Problem
    from judgekit.prompts import Flaw

_STYLES = {"error": "bold red", "warning": "yellow"}


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem in a file."""

    path: str | None
    line: int | None
    """Its line, from 1."""

    severity: Literal["error", "warning"]
    message: str
    remedy: str | None
    rule: str | None = None
    """The rule it breaks, if rules have names."""


def diagnostic_from_problem(problem: Problem) -> Diagnostic:
    """A problem of a data file."""
    case = "" if problem.case_id is None else f"case {problem.case_id!r}: "
    return Diagnostic(
        path=problem.path,
        line=problem.line,
        severity=problem.severity,
        message=f"{case}{problem.message}",
        remedy=problem.remedy,
    )


def diagnostic_from_flaw(flaw: Flaw, *, path: str | None, line: int | None) -> Diagnostic:
    """A flaw of a rubric or template."""
    place = "" if flaw.place is None else f"{flaw.place}: "
    return Diagnostic(
        path=path,
        line=line,
        severity=flaw.severity,
        message=f"{place}{flaw.message}",
        remedy=flaw.remedy,
        rule=flaw.rule,
    )


def sort_diagnostics(remarks: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Problems by file and line, each once."""
    # Files stay in the order in which they were named; a set would shuffle them.
    # A file may be checked both by itself and as a part of a suite.
    unique = list(dict.fromkeys(remarks))
    files = {path: number for number, path in enumerate(dict.fromkeys(r.path for r in unique))}
    return sorted(unique, key=lambda remark: (files[remark.path], remark.line or 0))


def count_severity(remarks: Sequence[Diagnostic], severity: str) -> int:
    """The number of errors, or of warnings."""
    return sum(remark.severity == severity for remark in remarks)


def print_diagnostics(remarks: Sequence[Diagnostic]) -> None:
    """Print problems on stdout, one per line, as compilers do, so that editors can jump to them."""
    from rich.text import Text  # noqa: PLC0415 - only when printing

    console = streams.stdout()
    for remark in remarks:
        line = "" if remark.line is None else f"{remark.line}:"
        text = Text("" if remark.path is None else f"{message.printable(remark.path)}:{line} ")
        text.append(remark.severity, style=_STYLES[remark.severity])
        text.append(f": {message.printable(remark.message)}")
        if remark.remedy:
            text.append(f" ({message.printable(remark.remedy)})", style="dim")
        if remark.rule:
            text.append(f" [{remark.rule}]", style="dim")
        console.print(text, soft_wrap=True)


def severity_totals(remarks: Sequence[Diagnostic]) -> str:
    """The number of errors and of warnings, in words."""
    n_errors, n_warnings = count_severity(remarks, "error"), count_severity(remarks, "warning")
    parts = [numbers.format_count(n_errors, "error")] if n_errors else []
    parts += [numbers.format_count(n_warnings, "warning")] if n_warnings else []
    return ", ".join(parts) or "no problems found"


def diagnostics_json(remarks: Sequence[Diagnostic]) -> dict[str, object]:
    """Problems and their totals as JSON types."""
    return {
        "n_errors": count_severity(remarks, "error"),
        "n_warnings": count_severity(remarks, "warning"),
        "findings": [asdict(remark) for remark in remarks],
    }
