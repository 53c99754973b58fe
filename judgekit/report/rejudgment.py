"""Builds the document of what changes when another judge grades the same outputs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from judgekit.report import message, numbers
from judgekit.report.document import (
    Conclusion,
    Details,
    Document,
    Entries,
    Entry,
    LabelledText,
    Lines,
    Table,
    Tone,
    count_lines,
    not_empty,
    text_columns,
)
from judgekit.report.numbers import format_decimal, format_p_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.rejudgment import CriterionShift, PairedVerdict, Rejudged
    from judgekit.stats.agreement import Kappa
    from judgekit.stats.paired import PairedDifference

_MOST_FLIPS = 10
_PASS_WORDS = {True: "pass", False: "fail", None: "undecided"}
_PASS_TONES: dict[bool | None, Tone] = {True: "pass", False: "fail", None: "inconclusive"}


def rejudgment_document(found: Rejudged) -> Document:
    """What changes with another judge: decisions, scores, money, and the decisions that flip."""
    outputs = numbers.format_count(found.n, "output")
    cases = numbers.format_count(found.n_cases, "case")
    flips = tuple(map(_flip, found.flips))
    n = len(flips)
    old, new = (numbers.format_rate(x) for x in (found.old_pass_rate, found.new_pass_rate))
    figures = (
        ("churn", f"{numbers.format_rate(found.churn)} of verdicts change"),
        ("kappa", f"{_kappa(found.kappa)} between the verdicts, beyond chance"),
        ("passed", f"{old} before, {new} now"),
        ("value", f"{_shift(found.value)} compared with before"),
    )
    part = f"{_MOST_FLIPS} of {n}; all with -v" if n > _MOST_FLIPS else ""
    return Document(
        title=f"{message.printable(found.rubric)}: {outputs} of {cases}",
        # A change is neither good nor bad: nothing here says which of the judges is right.
        conclusion=Conclusion(
            rejudgment_conclusion(found),
            "inconclusive" if found.n == found.n_undecided else "neutral",
        ),
        blocks=not_empty([
            Lines(figures),
            _table(found.criteria),
            Entries(flips[:_MOST_FLIPS], "Changed decisions", part),
            Details("Further changed decisions", not_empty([Entries(flips[_MOST_FLIPS:])])),
            Lines(tuple(rejudgment_notes(found))),
        ]),
        data=lambda: asdict(found),
    )  # fmt: skip


def rejudgment_conclusion(found: Rejudged) -> str:
    """What changes, in one line."""
    n = found.n - found.n_undecided
    if not n:
        return "no output has a verdict of both judges"
    up = sum(one.new.passed is True for one in found.flips)
    if not found.flips:
        return f"none of {n:,} decisions changes"
    verb = "changes" if len(found.flips) == 1 else "change"
    return (
        f"{len(found.flips):,} of {numbers.format_count(n, 'decision')} {verb}: "
        f"{up:,} now pass, {len(found.flips) - up:,} now fail"
    )


def rejudgment_notes(found: Rejudged) -> list[LabelledText]:
    """Everything beside the figures."""
    old, new = (numbers.format_usd(x) for x in (found.old_price_usd, found.new_price_usd))
    lines = [
        *(("before", message.printable(judge)) for judge in found.old_judges),
        *(("now", message.printable(judge)) for judge in found.new_judges),
        ("price", f"{old} before, {new} now"),
        ("human labels", message.printable(found.calibration)),
    ]
    for name, kinds in (("before", found.old_failures), ("now", found.new_failures)):
        for kind, n in kinds.items():
            words = message.FAILURE_WORDS.get(kind, kind)
            lines.append(("failed", f"{name}: {numbers.format_count(n, 'question')}: {words}"))
    lines += [
        ("left out", f"{numbers.format_count(n, 'output')}: {why}")
        for why, n in found.left_out.items()
    ]
    lines += count_lines("undecided", found.n_undecided, "output", "by one of the judges")
    # With another rubric the two judges did not answer the same questions.
    if not found.same_rubric:
        lines.append(("rubric", "differs from before: not all changes come from the judge"))
    if found.run_id is not None:
        lines.append(("stored", f"as {found.run_id}"))
    return lines


def _table(criteria: Mapping[str, CriterionShift]) -> Table:
    rows = tuple(
        (
            name + ("" if found.same_question else " (other wording)"),
            _shift(found.shift),
            format_p_value(found.p_adjusted),
            _kappa(found.kappa),
        )
        for name, found in criteria.items()
    )
    return Table(text_columns("criterion", "now - before", "p", "weighted kappa"), rows)


def _flip(one: PairedVerdict) -> Entry:
    """A changed decision; the criterion that moved most explains it, by both rationales."""
    values = " to ".join(format_decimal(side.value) for side in (one.old, one.new))
    headline = ", ".join(part for part in (one.case_id, one.variant, values) if part)
    badge = f"{_PASS_WORDS[one.old.passed]} to {_PASS_WORDS[one.new.passed]}"
    tone = _PASS_TONES[one.new.passed]
    name = _most_moved(one)
    if name is None:
        return Entry(headline, badge=badge, tone=tone)
    lines = []
    for when, side in (("before", one.old), ("now", one.new)):
        answer = side.criteria[name]
        score = format_decimal(answer.raw, "g")
        score += f" (first of {answer.n:,})" if answer.n > 1 else ""
        lines.append(f"{name} {when} {score}: {answer.rationale or 'no reason'}")
    return Entry(headline, tuple(lines), badge, tone)


def _most_moved(one: PairedVerdict) -> str | None:
    names = [name for name in one.old.criteria if name in one.new.criteria]

    def moved(name: str) -> float:
        # Without a value of both judges a criterion explains nothing, and comes last.
        sides = one.old.criteria[name].value, one.new.criteria[name].value
        return -1.0 if sides[0] is None or sides[1] is None else abs(sides[0] - sides[1])

    return max(names, key=moved, default=None)


def _shift(found: PairedDifference | None) -> str:
    return numbers.DASH if found is None else numbers.format_difference(found)


def _kappa(found: Kappa | None) -> str:
    return numbers.DASH if found is None else numbers.format_mean(found)
