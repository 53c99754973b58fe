"""How what is wrong with a file is printed: one line each, as compilers write theirs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from judgekit.cli import console as streams
from judgekit.report import view

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.datasets.problems import Problem
    from judgekit.prompts.lint import Flaw

_STYLES = {"error": "bold red", "warning": "yellow"}


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing in a file that a person should mend."""

    path: str | None
    """The file."""

    line: int | None
    """Its line, from 1."""

    severity: Literal["error", "warning"]
    """How bad it is."""

    message: str
    """What is wrong, with the case or criterion it concerns."""

    remedy: str | None
    """How to mend it."""

    rule: str | None = None
    """The rule it breaks, where rules have names."""


def from_problem(problem: Problem) -> Remark:
    """A problem of a data file as a remark."""
    case = "" if problem.case_id is None else f"case {problem.case_id!r}: "
    return Remark(
        path=problem.path,
        line=problem.line,
        severity=problem.severity,
        message=f"{case}{problem.message}",
        remedy=problem.remedy,
    )


def from_flaw(flaw: Flaw, *, path: str | None, line: int | None) -> Remark:
    """A flaw of a rubric or template as a remark."""
    place = "" if flaw.place is None else f"{flaw.place}: "
    return Remark(
        path=path,
        line=line,
        severity=flaw.severity,
        message=f"{place}{flaw.message}",
        remedy=flaw.remedy,
        rule=flaw.rule,
    )


def in_order(remarks: Iterable[Remark]) -> list[Remark]:
    """Remarks by file and line, each once."""
    unique = list(dict.fromkeys(remarks))
    files = {path: number for number, path in enumerate(dict.fromkeys(r.path for r in unique))}
    return sorted(unique, key=lambda remark: (files[remark.path], remark.line or 0))


def count(remarks: Sequence[Remark], severity: str) -> int:
    """How many remarks are that bad."""
    return sum(remark.severity == severity for remark in remarks)


def print_remarks(remarks: Sequence[Remark]) -> None:
    """Print remarks on stdout, one a line."""
    from rich.text import Text  # noqa: PLC0415 - only when printing

    console = streams.stdout()
    for remark in remarks:
        line = "" if remark.line is None else f"{remark.line}:"
        text = Text("" if remark.path is None else f"{view.printable(remark.path)}:{line} ")
        text.append(remark.severity, style=_STYLES[remark.severity])
        text.append(f": {view.printable(remark.message)}")
        if remark.remedy:
            text.append(f" ({view.printable(remark.remedy)})", style="dim")
        if remark.rule:
            text.append(f" [{remark.rule}]", style="dim")
        console.print(text, soft_wrap=True)


def totals(remarks: Sequence[Remark]) -> str:
    """How many errors and warnings there are, in words."""
    n_errors, n_warnings = count(remarks, "error"), count(remarks, "warning")
    parts = [view.count(n_errors, "error")] if n_errors else []
    parts += [view.count(n_warnings, "warning")] if n_warnings else []
    return ", ".join(parts) or "nothing to mend"


def as_json(remarks: Sequence[Remark]) -> dict[str, object]:
    """Remarks and their totals as JSON types."""
    return {
        "n_errors": count(remarks, "error"),
        "n_warnings": count(remarks, "warning"),
        "findings": [asdict(remark) for remark in remarks],
    }
