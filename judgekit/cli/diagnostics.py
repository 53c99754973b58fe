"""Problems found in files, shown like compiler diagnostics or as JSON.

Used by `validate` and `lint`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from judgekit.report import Conclusion, Document, Notes, not_empty, numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from judgekit.formats import Problem
    from judgekit.prompts import Flaw

TEMPLATE_SUFFIX = ".j2"


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


def is_failed(remarks: Sequence[Diagnostic], *, strict: bool) -> bool:
    """Whether there is an error, or with `strict` anything at all."""
    return any(strict or remark.severity == "error" for remark in remarks)


def diagnostics_document(
    title: str,
    checked: str,
    remarks: Sequence[Diagnostic],
    data: dict[str, object],
    notes: Sequence[str] = (),
) -> Document:
    """The problems, one per line, as compilers do, so that editors can jump to them."""
    counts = {
        severity: sum(remark.severity == severity for remark in remarks)
        for severity in ("error", "warning")
    }
    parts = [numbers.format_count(n, severity) for severity, n in counts.items() if n]
    lines = [*notes]
    for remark in remarks:
        place = "" if remark.path is None else f"{remark.path}:"
        place += "" if remark.line is None else f"{remark.line}:"
        remedy = f" ({remark.remedy})" if remark.remedy else ""
        rule = f" [{remark.rule}]" if remark.rule else ""
        lines.append(f"{place} {remark.severity}: {remark.message}{remedy}{rule}".lstrip())
    tone: Literal["fail", "inconclusive", "pass"] = "inconclusive" if remarks else "pass"
    return Document(
        title,
        Conclusion(
            f"{checked}: {', '.join(parts) or 'no problems found'}",
            "fail" if counts["error"] else tone,
        ),
        not_empty([Notes(tuple(lines))]),
        lambda: {
            **data,
            "n_errors": counts["error"],
            "n_warnings": counts["warning"],
            "findings": [asdict(remark) for remark in remarks],
        },
    )


# A judge template fills the blocks of a base template; a prompt of a system under test has none.
def is_judge_template(path: Path) -> bool:
    """Whether a template is one of a judge."""
    return "block" in path.read_text(encoding="utf-8", errors="replace")
